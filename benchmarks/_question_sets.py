"""The collections and questions in ``tests/data/recall``, asked as their README says."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from _locomo_file import Question
from _scores import SINGLE_HOP

from amem import AgenticMemorySystem
from amem.interop.importing import Importer
from amem.interop.reader import read_path
from amem.testing import FrozenClock

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from amem import Hit, Source
    from amem.protocols import Embedder
    from amem.settings import Settings

_ROOT = Path(__file__).parents[1]
_DATA = _ROOT / "tests" / "data" / "recall"


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Notes to import and questions about them, asked at `now` in `zone`; `about` says what is in it."""

    name: str
    about: str
    notes: Path
    now: str
    zone: str

    def questions(self, half: str = "") -> list[Question]:
        """Each with its answers as evidence, any one of which answers; those of one half, or all."""
        lines = (_DATA / f"{self.name}_questions.jsonl").read_text(encoding="utf-8").splitlines()
        return [
            Question(number, each["question"], SINGLE_HOP, "", "", tuple(str(answer) for answer in each["answers"]))
            for number, each in enumerate(json.loads(line) for line in lines if line.strip())
            if half in ("", each["half"])
        ]

    def collection(self, settings: Settings, embedder: Embedder) -> AgenticMemorySystem:
        """The set's notes in a collection of their own, open; imported if they are not there yet."""
        memory = self.opened(settings, embedder)
        try:
            if not memory.count():
                Importer(memory, cause="question sets").run(
                    read_path(self.notes, settings.replaced(timezone=self.zone))
                )
        except BaseException:
            memory.close()
            raise
        return memory

    def opened(self, settings: Settings, embedder: Embedder) -> AgenticMemorySystem:
        """The collection as it is, under these settings, at the time of the questions."""
        return AgenticMemorySystem(
            settings=settings.replaced(timezone=self.zone),
            collection=self.name,
            embedder=embedder,
            clock=FrozenClock(self.now, seed=self.name),
            background=False,
        )

    def made_from(self, hit: Hit) -> Collection[str]:
        """What a hit counts as."""
        return self.names(hit.id, hit.content, hit.sources)

    def names(self, id: str, content: str, sources: Sequence[Source]) -> Collection[str]:
        """What questions may call a note: its id, its line in the file, or its path in the vault."""
        return {id, *(source.ref for source in sources if source.ref), *self._lines(content)}

    def _lines(self, content: str) -> list[str]:
        if self.notes.is_dir():
            return []
        lines = self.notes.read_text(encoding="utf-8").splitlines()
        return [str(number) for number, line in enumerate(lines) if json.loads(line)["content"] == content]


SETS = (
    QuestionSet("zh", "Chinese notes and chats", _DATA / "zh_notes.jsonl", "2026-06-20T10:00", "Asia/Shanghai"),
    QuestionSet(
        "demo", "notes, no order", _ROOT / "examples" / "data" / "year.jsonl", "2026-12-01T10:00", "Europe/Lisbon"
    ),
    QuestionSet("vault", "Markdown vault", _DATA / "vault", "2026-01-10T10:00", "Europe/Stockholm"),
)
