"""Labelled pairs of notes, and what a collection makes of one: told to it through the public API, by rules alone."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from amem import AgenticMemorySystem, Filter
from amem.note import LinkType, Status
from amem.testing import FrozenClock

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from amem.note import MemoryNote, Receipt
    from amem.protocols import Embedder

FOLDER = Path(__file__).parents[1] / "tests" / "data" / "conflicts"
HALVES = ("tuned", "unseen")
#: Pairs by another hand, of which a third (``held``) was never looked at while anything was tuned.
FRESH = ("fresh", "fresh-held")
#: Pairs that agree, add, introduce or plainly replace, split in the same way.
KINDS = ("kinds", "kinds-held")
#: The same said with and without a no, each beside a twin that turns it round, split in the same way.
NEGATIONS = ("negations", "negations-held")
#: Pairs in ordinary wording, three fifths of which overturn nothing; a half, drawn by lot, is held.
EVERYDAY = ("everyday", "everyday-held")
#: Earlier notes each with a change and with a look-alike that changes nothing; a third, drawn by lot, is held.
TWINS = ("twins", "twins-held")
#: Plain changes and their look-alikes, the same in both languages; all but one are held.
BLIND = ("blind", "blind-held")
#: Every set of which a part is held.
SPLIT = (*FRESH, *KINDS, *NEGATIONS, *EVERYDAY, *TWINS, *BLIND)
#: Each half as it was until 2026-11-23, so that older figures can be compared: without pairs of several statements, and
#: the unseen half with the forty pairs that have been looked at since.
BEFORE = ("tuned-before", "unseen-before")
_ADDED_SINCE = ("tuned-statement-", "unseen-fresh-", "unseen-statement-")
#: From what says most to what says least: where a pair has several links, the first counts.
LABELS = ("supersedes", "contradicts", "supports", "related", "none")
#: After every pair was said.
_TODAY = "2026-01-01T12:00"
_SUPERSEDED = Filter(statuses=(Status.SUPERSEDED,))


@dataclass(frozen=True, slots=True)
class Said:
    """One note of a pair: what was said, when (ISO 8601), and by whom (None: by the user)."""

    text: str
    at: str
    speaker: str | None


@dataclass(frozen=True, slots=True)
class Pair:
    """Two notes, `earlier` true before `later`, and the label: what the later one is to the earlier one.

    `overturned` quotes the statements of the earlier note that the later one ends or denies, `stands` those that stay
    true; both are empty where nothing is overturned or the file does not say."""

    id: str
    category: str
    lang: str
    label: str
    earlier: Said
    later: Said
    overturned: tuple[str, ...] = ()
    stands: tuple[str, ...] = ()
    held: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a pair: a label, and which of the two left default search (``""``, ``earlier``, ``later``,
    ``both``). `reason` is the deciding link's.

    `ended` quotes the statements of the earlier note that were marked as overturned, `named` those and the ones that a
    person is asked about; `ended_later` those of the later note, which should be none. `judge` is whose verdict it is
    (slot, nli, heuristic; '' without one)."""

    label: str
    hidden: str
    reason: str
    ended: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    ended_later: tuple[str, ...] = ()
    judge: str = ""


def read_pairs(half: str) -> list[Pair]:
    """All pairs of a half, in the order of the files: one of HALVES, SPLIT or BEFORE."""
    if half in SPLIT:
        return [pair for pair in _file(half.removesuffix("-held")) if pair.held == half.endswith("-held")]
    if half not in BEFORE:
        return _file(half)
    seen = _file("seen") if half == "unseen-before" else []
    return seen + [pair for pair in _file(half.removesuffix("-before")) if not pair.id.startswith(_ADDED_SINCE)]


def _file(name: str) -> list[Pair]:
    lines = (FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines()
    return [_pair(json.loads(line)) for line in lines]


def _pair(row: Mapping[str, Any]) -> Pair:
    return Pair(
        row["id"],
        row["category"],
        row["lang"],
        row["label"],
        Said(**row["earlier"]),
        Said(**row["later"]),
        tuple(row.get("overturned", ())),
        tuple(row.get("stands", ())),
        row.get("held", False),
    )


class Remembered:
    """An embedder's vectors, each text embedded once however many collections ask for it."""

    def __init__(self, embedder: Embedder, texts: Sequence[str]) -> None:
        self._embedder = embedder
        self.name, self.dimension = embedder.name, embedder.dimension
        self._rows = {text: row for text, row in zip(texts, embedder.embed(texts), strict=True)}

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row for each text."""
        for text in texts:
            if text not in self._rows:
                self._rows[text] = self._embedder.embed([text])[0]
        return np.stack([self._rows[text] for text in texts])


class Bench:
    """One collection in memory that pairs are told to, each destroyed before the next: opening is most of the time."""

    def __init__(self, embedder: Embedder) -> None:
        clock = FrozenClock(_TODAY)
        self._memory = AgenticMemorySystem(llm_backend="offline", embedder=embedder, clock=clock)

    def judge(self, pair: Pair, *, later_first: bool = False) -> Outcome:
        """Tell both notes with their times, and read off what the collection made of them."""
        told = {"earlier": pair.earlier, "later": pair.later}
        receipts = {side: self._tell(told[side]) for side in (reversed(told) if later_first else told)}
        ids = {side: receipt.id for side, receipt in receipts.items()}
        superseded = {note.id for note in self._memory.list(_SUPERSEDED)}
        hidden = [side for side in told if ids[side] in superseded]
        found = {str(link.type): link.reason for id in ids.values() for link in self._memory.links(id)}
        marks = {side: tuple(each.text for each in self._note(id).overturned) for side, id in ids.items()}
        conflicts = [each for receipt in receipts.values() for each in receipt.conflicts]
        doubts = (each for each in conflicts if each.earlier == ids["earlier"])
        named = marks["earlier"] + tuple(quote for each in doubts for quote in each.verdict.quotes)
        judge = next((each.verdict.judge for each in conflicts), "")
        for id in ids.values():
            self._memory.purge(id)
        if hidden and LinkType.SUPERSEDES not in found:
            found[str(LinkType.SUPERSEDES)] = "taken back"
        label = next((name for name in LABELS if name in found), "none")
        out = "both" if len(hidden) == 2 else "".join(hidden)
        return Outcome(label, out, found.get(label, ""), marks["earlier"], named, marks["later"], judge)

    def _tell(self, said: Said) -> Receipt:
        who = {} if said.speaker is None else {"speaker": said.speaker}
        return self._memory.add(said.text, time=said.at, **who)

    def _note(self, id: str) -> MemoryNote:
        note = self._memory.read(id)
        assert note is not None
        return note

    def close(self) -> None:
        """End the collection."""
        self._memory.close()
