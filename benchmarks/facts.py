"""How well the offline rules read facts out of ordinary sentences: labelled phrasings in English and Chinese.

    python benchmarks/facts.py [--half tuned|everyday|...|days_held|both] [--errors]

Each line of tests/data/facts is a sentence, as somebody may say it on 15 June 2026, with the facts it states or none;
those of the held-out half are of other domains than the tuned ones. ``--errors`` lists what comes out wrong, of the
open parts alone (tuned, everyday, ordinary, diary, days), so that nobody tunes rules on the other.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from amem.analysis import Draft
from amem.language import normalize
from amem.language.predicates import load_predicates
from amem.language.statements import facts_in

DATA = Path(__file__).resolve().parents[1] / "tests" / "data" / "facts"
HALVES = ("tuned", "everyday", "ordinary", "diary", "days", "held_out", "ordinary_held", "diary_held", "days_held")
SAID = datetime(2026, 6, 15, 9, tzinfo=UTC)

Triple = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Read:
    """A labelled sentence: its row, the facts that were found, those among them that are right, and those missed."""

    row: dict[str, Any]
    found: frozenset[Triple]
    right: frozenset[Triple]
    missed: frozenset[Triple]

    @property
    def wrong(self) -> frozenset[Triple]:
        """Found without being stated."""
        return self.found - self.right - {_key(each) for each in self.row.get("may", ())}


def read_half(half: str) -> list[Read]:
    """Every sentence of a half, read by the rules."""
    predicates = load_predicates()
    found = []
    for line in (DATA / f"{half}.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        facts = facts_in(Draft(row["text"], at=SAID), predicates)
        stated = frozenset(_key((each.subject, each.predicate, each.object)) for each in facts if each.holds)
        expected = frozenset(_key(each) for each in row["facts"])
        found.append(Read(row, stated, stated & expected, expected - stated))
    return found


def scores(reads: list[Read]) -> tuple[float, float, int, int]:
    """Precision and recall (0..1), facts expected, facts found."""
    right, wrong = sum(len(each.right) for each in reads), sum(len(each.wrong) for each in reads)
    missed = sum(len(each.missed) for each in reads)
    return right / max(1, right + wrong), right / max(1, right + missed), right + missed, right + wrong


def _key(triple: Any) -> Triple:
    subject, predicate, value = triple
    return normalize(subject), predicate, normalize(value)


def _table(half: str, reads: list[Read]) -> Table:
    table = Table("of these", "sentences", "precision", "recall", "facts", "found", title=f"{half}: facts by rules")
    parts = Counter(each.row["language"] for each in reads) + Counter(each.row["domain"] for each in reads)
    for part in (None, *sorted(parts)):
        some = [each for each in reads if part is None or part in (each.row["language"], each.row["domain"])]
        precision, recall, facts, found = scores(some)
        table.add_row(part or "all", str(len(some)), f"{precision:.3f}", f"{recall:.3f}", str(facts), str(found))
    return table


def main() -> None:
    """Print a table for each half."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--half", choices=(*HALVES, "both"), default="both")
    parser.add_argument("--errors", action="store_true", help="list what comes out wrong, of the open parts")
    options = parser.parse_args()
    console = Console()
    for half in HALVES if options.half == "both" else (options.half,):
        reads = read_half(half)
        console.print(_table(half, reads))
        for each in reads if options.errors and "held" not in half else ():
            if each.wrong or each.missed:
                console.print(f"{each.row['text']}  missed {sorted(each.missed)}  wrong {sorted(each.wrong)}")


if __name__ == "__main__":
    main()
