"""How many model calls a note costs, and how many tokens it sends: mean and maximum of one ``add_note``.

    python benchmarks/prompt_sizes.py [FILE] [--turns 200] [--tokenizer o200k_base]

FILE is anything ``amem import`` reads, such as a LoCoMo conversation file; the example notes of the project, a third of
them Chinese, are measured in any case, and last some notes of the greatest length. Counted where amem hands a prompt
to a chat model; ``_judging_model`` stands in for one, so the sizes of contexts and tags that come back are
a guess, and the longest notes show how far they can grow. Neighbours are found by the real embedder. The targets are 2
calls and 1,900 tokens a note.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from _tokens import NAMES, counter
from _willing import WillingChat

from amem import AgenticMemorySystem, AmemError, NewNote, load_settings
from amem.analysts.model_analyst import ModelAnalyst
from amem.embedding import make_embedder
from amem.interop.items import Incoming
from amem.interop.reader import read_path
from amem.language import is_cjk
from amem.llm.prompts import CHINESE, load_prompt

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from _tokens import Count

    from amem.protocols import Embedder
    from amem.settings import Settings

EXAMPLES = Path(__file__).parents[1] / "examples" / "data" / "year.jsonl"
PROMPTS = ("analyze", "evolve")
MOST_TOKENS, MOST_CALLS = 1900, 2


@dataclass(slots=True)
class Cost:
    """The calls of one note, in tokens of their prompts, of their schemas as JSON, and of their answers."""

    note: NewNote
    prompts: list[int] = field(default_factory=list)
    schemas: list[int] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)


def measure(notes: Iterable[NewNote], settings: Settings, embedder: Embedder, count: Count) -> list[Cost]:
    """Add the notes one after the other to a new collection; what each sent."""
    costs: list[Cost] = []

    def heard(prompt: str, schema: Mapping[str, object] | None, answer: str) -> None:
        costs[-1].prompts.append(count(prompt))
        costs[-1].schemas.append(count(json.dumps(schema)) if schema is not None else 0)
        costs[-1].answers.append(count(answer))

    analyst = ModelAnalyst(WillingChat(heard))
    with AgenticMemorySystem(embedder=embedder, analyst=analyst, llm_backend=settings.llm_backend) as memory:
        for note in notes:
            costs.append(Cost(note))
            receipt = memory.add(note.content, time=note.time, source=note.source, **note.fields)
            if receipt.error:
                raise SystemExit(
                    f"the note was stored without its analysis, so its cost means nothing: {receipt.error}"
                )
    return costs


def read(path: Path, settings: Settings, most: int | None = None) -> list[NewNote]:
    """The first notes of a file."""
    return list(islice((item.note for item in read_path(path, settings) if isinstance(item, Incoming)), most))


def longest(settings: Settings) -> list[NewNote]:
    """Notes as long as they may be, four in each language: what a prompt may grow to."""
    words = "The harbour office postponed the migration of its billing database because Ana wanted another rehearsal. "
    signs = "港口办公室推迟了计费数据库的迁移，因为安娜想再演练一次，确认备份能够恢复。"
    return [
        NewNote(f"{number}. {(text * settings.max_note_chars)[: settings.max_note_chars - 3]}")
        for text in (words, signs)
        for number in range(4)
    ]


def is_chinese(note: NewNote) -> bool:
    """Whether most of the note's letters are Chinese."""
    letters = [character for character in note.content if character.isalpha()]
    return 2 * sum(map(is_cjk, letters)) > len(letters)


def row(name: str, costs: Sequence[Cost]) -> str:
    """One line of the table."""
    tokens = [sum(cost.prompts) for cost in costs]
    calls = [len(cost.prompts) for cost in costs]
    each = "".join(
        f"{_of([cost.prompts[at] for cost in costs if len(cost.prompts) > at]):>16}" for at in range(len(PROMPTS))
    )
    return (
        f"{name:<34}{len(costs):>6}{fmean(calls):>7.2f}{max(calls):>5}{fmean(tokens):>9,.0f}{max(tokens):>7,}{each}"
        f"{fmean(sum(cost.answers) for cost in costs):>9,.0f}{fmean(sum(cost.schemas) for cost in costs):>9,.0f}"
    )


def _of(tokens: Sequence[int]) -> str:
    return f"{fmean(tokens):,.0f} / {max(tokens):,}" if tokens else "-"


def main(arguments: Sequence[str] | None = None, embedder: Embedder | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, help="anything amem import reads, such as a LoCoMo file")
    parser.add_argument("--turns", type=int, default=200, help="how many of its notes (200)")
    parser.add_argument("--tokenizer", choices=NAMES, default=NAMES[0])
    given = parser.parse_args(arguments)
    try:
        settings = load_settings(llm_backend="offline")
        count = counter(given.tokenizer, settings.cache)
        embedder = embedder or make_embedder(settings)
        year = measure(read(EXAMPLES, settings), settings, embedder, count)
        groups = {
            "example notes, English": [cost for cost in year if not is_chinese(cost.note)],
            "example notes, Chinese": [cost for cost in year if is_chinese(cost.note)],
            f"notes of {settings.max_note_chars:,} characters": measure(longest(settings), settings, embedder, count),
        }
        if given.file is not None:
            turns = measure(read(given.file, settings, given.turns), settings, embedder, count)
            groups = {given.file.name: turns} | groups
    except AmemError as error:
        print(f"{error}\n{error.hint}".strip(), file=sys.stderr)
        return 1
    print(f"tokens by {given.tokenizer}\n")
    print(
        f"{'':<34}{'notes':>6}{'calls':>7}{'max':>5}{'tokens':>9}{'max':>7}"
        + "".join(f"{f'{name}, max':>16}" for name in PROMPTS)
        + f"{'answers':>9}{'schemas':>9}"
    )
    for name, costs in groups.items():
        print(row(name, costs))
    bare = [(name, count(load_prompt(name).text), count(load_prompt(name, language=CHINESE).text)) for name in PROMPTS]
    own = ", ".join(f"{name} {english} (Chinese {chinese})" for name, english, chinese in bare)
    print(f"\nOf which the prompts' own words: {own}.")
    print("answers and schemas: means. Ollama keeps a schema out of the prompt; some other servers count it in.")
    over = [cost for costs in groups.values() for cost in costs if sum(cost.prompts) > MOST_TOKENS]
    many = [cost for costs in groups.values() for cost in costs if len(cost.prompts) > MOST_CALLS]
    print(f"{len(over)} notes over {MOST_TOKENS:,} tokens, {len(many)} over {MOST_CALLS} calls.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
