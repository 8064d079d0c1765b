"""The collections and questions of ``tests/data/recall``, imported and asked as a user would."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amem import AgenticMemorySystem, load_settings
from amem.interop.importing import Importer
from amem.interop.reader import read_path
from amem.testing import FrozenClock

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from amem.protocols import Embedder

_ROOT = Path(__file__).parents[2]
_DATA = _ROOT / "tests" / "data" / "recall"
_DEMO = _ROOT / "examples" / "data" / "year.jsonl"
#: Notes, the time of the questions, and where they are asked.
_SETS = {
    "zh": (_DATA / "zh_notes.jsonl", "2026-06-20T10:00", "Asia/Shanghai"),
    "demo": (_DEMO, "2026-12-01T10:00", "Europe/Lisbon"),
    "vault": (_DATA / "vault", "2026-01-10T10:00", "Europe/Stockholm"),
}


@dataclass(frozen=True, slots=True)
class Answered:
    """A question and the place of its first answer among ten, from 1; None when it is not among them."""

    question: str
    half: str
    kind: str
    across: bool
    place: int | None


@contextmanager
def collection(name: str, home: Path, embedder: Embedder, **settings: Any) -> Iterator[AgenticMemorySystem]:
    """The set's notes, imported, at the time of its questions."""
    notes, now, zone = _SETS[name]
    chosen = load_settings(home, collection=name, llm_backend="offline", timezone=zone, **settings)
    clock = FrozenClock(now, seed=name)
    with AgenticMemorySystem(settings=chosen, clock=clock, embedder=embedder, background=False) as memory:
        report = Importer(memory, cause="test").run(read_path(notes, chosen))
        assert report.refused == 0
        yield memory


def answered(name: str, memory: AgenticMemorySystem) -> list[Answered]:
    """Every question of the set, asked."""
    names = _names(name, memory)
    found = []
    for line in (_DATA / f"{name}_questions.jsonl").read_text(encoding="utf-8").splitlines():
        asked = json.loads(line)
        hits = memory.search(asked["question"], 10, touch=False)
        place = next((at for at, hit in enumerate(hits, 1) if names[hit.id] in asked["answers"]), None)
        across = asked.get("across", False)
        found.append(Answered(asked["question"], asked["half"], asked.get("kind", ""), across, place))
    return found


def hit_rate(found: Sequence[Answered], k: int) -> float:
    """The share of the questions that one of the first k answers."""
    return sum(each.place is not None and each.place <= k for each in found) / len(found)


def reciprocal_rank(found: Sequence[Answered]) -> float:
    """Mean over the questions of one over the place of the first answer."""
    return sum(1 / each.place for each in found if each.place is not None) / len(found)


def figures(found: Sequence[Answered]) -> str:
    """Of all and of either half, for whoever runs this with -s, or sees it fail."""
    halves = {"all": found} | {half: [each for each in found if each.half == half] for half in ("tuned", "untouched")}
    return "; ".join(
        f"{name} ({len(some)}): Hit@1 {hit_rate(some, 1):.3f}, Hit@5 {hit_rate(some, 5):.3f},"
        f" MRR {reciprocal_rank(some):.3f}"
        for name, some in halves.items()
    )


def _names(name: str, memory: AgenticMemorySystem) -> dict[str, object]:
    """What the questions call each note: its id, its line, or its path."""
    notes = memory.list(limit=1_000)
    if name == "zh":
        return {note.id: note.id for note in notes}
    if name == "vault":
        return {note.id: note.metadata["path"] for note in notes}
    lines = [json.loads(line)["content"] for line in _DEMO.read_text(encoding="utf-8").splitlines()]
    return {note.id: lines.index(note.content) for note in notes}
