"""The labelled questions in ``tests/data/answers``: collections of notes, and questions with the notes that answer."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amem import AgenticMemorySystem
from amem.testing import FrozenClock

if TYPE_CHECKING:
    from collections.abc import Mapping

    from amem.protocols import Embedder

DATA = Path(__file__).parents[1] / "tests" / "data" / "answers"
#: Where the sets of a part lie: notebooks of 40 notes and more, and the few notes of a first day.
SIZES = {"notebook": DATA, "few notes": DATA / "small"}
#: Notebooks that are asked about times, lists and plans; no calibration is fitted on them.
TIMES = {"times": DATA / "times"}
#: Notebooks in which later notes change what earlier ones said, in words that state no fact as often as not.
UPDATES = {"updates": DATA / "updates"}


@dataclass(frozen=True, slots=True)
class Asked:
    """A question about a collection: `answers` are the ids of the notes that answer it, none where nothing does.

    `size` is a key of `SIZES`, `TIMES` or `UPDATES`. A list may also cite `also`;
    a right answer holds none of `not_says`.
    """

    size: str
    collection: str
    text: str
    language: str
    note_language: str
    kind: str
    at: str
    answers: tuple[str, ...]
    says: tuple[str, ...]
    not_says: tuple[str, ...] = ()
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Collection:
    """Notes and the questions about them."""

    name: str
    notes: tuple[dict[str, Any], ...]
    questions: tuple[Asked, ...]

    def opened(self, embedder: Embedder) -> AgenticMemorySystem:
        """A memory in which the notes are, at the time of the first question; ids are the set's own."""
        memory = AgenticMemorySystem(
            llm_backend="offline", embedder=embedder, clock=FrozenClock(self.questions[0].at, seed=self.name)
        )
        memory.add_notes(
            [
                {"content": each["text"], "id": each["id"], "time": each["at"]}
                | ({"speaker": each["speaker"]} if each.get("speaker") else {})
                for each in self.notes
            ]
        )
        return memory


def collections(part: str, homes: Mapping[str, Path] = SIZES) -> list[Collection]:
    """The collections of ``development`` or ``held_out``, by size and name."""
    return [
        _read(size, folder)
        for size, home in homes.items()
        for folder in sorted((home / part).iterdir())
        if (folder / "questions.jsonl").is_file()
    ]


def _read(size: str, folder: Path) -> Collection:
    questions = tuple(
        Asked(
            size,
            folder.name,
            each["text"],
            each["lang"],
            each.get("note_lang") or "",
            each["kind"],
            each["asked_at"],
            tuple(each["answers"]),
            tuple(each.get("says") or ()),
            tuple(each.get("not_says") or ()),
            tuple(each.get("also") or ()),
        )
        for each in _lines(folder / "questions.jsonl")
    )
    return Collection(folder.name, tuple(_lines(folder / "notes.jsonl")), questions)


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
