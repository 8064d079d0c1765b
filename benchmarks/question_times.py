"""How often the time that a question names is read as the days it means.

    python benchmarks/question_times.py [--errors]

The questions are those of ``tests/data/times``: 40 tuned, 92 further ones that the rules were written with, and 40 held
out, of which only totals are printed. A question is right if amem reads the first and the last day that the set gives,
or those of another reading that the set allows. A question that names no time is right if amem finds none.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from amem.retrieval.question_times import dated

if TYPE_CHECKING:
    from collections.abc import Sequence

FOLDER = Path(__file__).parents[1] / "tests" / "data" / "times"
PARTS = ("tuned", "further", "held_out")


@dataclass(frozen=True, slots=True)
class Read:
    """One question of the set and the first and last day that amem read, each None where open."""

    asked: dict[str, Any]
    days: tuple[str | None, str | None]

    @property
    def right(self) -> bool:
        """Whether these are the days meant."""
        meant = [(self.asked["first"], self.asked["last"]), *map(tuple, self.asked["also"])]
        return self.days in meant


def read_part(part: str) -> list[Read]:
    """Each question of ``tuned``, ``further`` or ``held_out``, read in UTC on the day it was asked."""
    lines = (FOLDER / f"{part}.jsonl").read_text(encoding="utf-8").splitlines()
    return [Read(asked, _days(asked)) for asked in map(json.loads, lines)]


def _days(asked: dict[str, Any]) -> tuple[str | None, str | None]:
    found = dated(asked["question"], datetime.fromisoformat(asked["asked_at"]), UTC)
    if found is None:
        return None, None
    since, until = found.period.since, found.period.until
    # A period ends before `until`; the set names the last day that lies in it.
    return since and f"{since:%Y-%m-%d}", until and f"{until - timedelta(days=1):%Y-%m-%d}"


def main(argv: Sequence[str] | None = None) -> None:
    """Print the shares by part and language, and with ``--errors`` what is read wrong of the parts not held out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--errors", action="store_true", help="list the tuned and further questions that are read wrong"
    )
    given = parser.parse_args(argv)
    console = Console()
    table = Table("part", "language", "questions", "right", "%")
    for part in PARTS:
        groups = defaultdict(list)
        for each in read_part(part):
            groups["all"].append(each.right)
            groups[each.asked["lang"]].append(each.right)
        for lang, right in groups.items():
            table.add_row(part, lang, str(len(right)), str(sum(right)), f"{100 * sum(right) / len(right):.0f}")
    console.print(table)
    if given.errors:
        for each in (*read_part("tuned"), *read_part("further")):
            if not each.right:
                meant = each.asked["first"], each.asked["last"]
                console.print(each.asked["id"], each.asked["question"], "meant", meant, "read", each.days)


if __name__ == "__main__":
    main()
