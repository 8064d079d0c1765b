"""Collections whose model answers whatever it is given, each the same as every other, and what came of an answer."""

from __future__ import annotations

import itertools
import json
from contextlib import closing, contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from malformed import ANALYSIS

from amem import AgenticMemorySystem
from amem.analysts.model_analyst import ModelAnalyst
from amem.note import Status
from amem.query import Filter
from amem.testing import FrozenClock, HashEmbedder, ScriptedChat

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence, Set

    from amem.note import Link, MemoryNote
    from amem.storage.operations import Version

BYSTANDER = {
    "keywords": ["Ragù"],
    "context": "Für das Ragù braucht es zwei Eier.",
    "tags": ["Küche"],
    "entities": ["Ragù"],
}
NO_LINKS = '{"links": []}'
#: No rung of the ladder can read it.
UNUSABLE = "I would rather not."
EVERY = Filter(statuses=tuple(Status))


def readable(*texts: str) -> None:
    """What goes into a note can be stored and printed."""
    for text in texts:
        text.encode()
        assert not any(ord(character) < 32 for character in text)


class Collection:
    """A collection in memory, begun as a copy of another; what its model answers is set from outside."""

    def __init__(self, ground: Collection | None = None) -> None:
        self.analysis = self.evolution = self.extraction = ""
        self.chat = ScriptedChat(self._answer)
        self.memory = AgenticMemorySystem(
            embedder=HashEmbedder(),
            analyst=ModelAnalyst(self.chat),
            llm_backend="offline",
            clock=FrozenClock(seed="ground" if ground is None else "copy"),
        )
        self._before: dict[str, MemoryNote] = {}
        if ground is not None:
            _connection(ground.memory).backup(_connection(self.memory))
            self._before = ground.after

    @property
    def old(self) -> Set[str]:
        """The notes it began with."""
        return self._before.keys()

    def _answer(self, prompt: str) -> str:
        if "MESSAGES" in prompt:
            return self.extraction
        return self.evolution if "OLD NOTES" in prompt else self.analysis

    @property
    def bystander(self) -> str:
        """A note that has nothing in common with the others, so that no prompt ever shows it."""
        return next(id for id, note in self._before.items() if "Ragù" in note.content)

    def answers(self, analysis: str, evolution: str, extraction: str = "") -> None:
        """Let the model say this from now on, with the bystander's id where it says UNSHOWN."""
        self.analysis, self.evolution, self.extraction = (
            answer.replace("UNSHOWN", self.bystander) for answer in (analysis, evolution, extraction)
        )

    @cached_property
    def after(self) -> dict[str, MemoryNote]:
        """All notes, as they are when this is first asked for: when everything has happened."""
        return {note.id: note for note in self.memory.list(EVERY, limit=1_000)}

    def new(self) -> list[MemoryNote]:
        return [note for id, note in self.after.items() if id not in self._before]

    def shown(self) -> set[str]:
        """The notes whose text stands in a prompt that asks what notes are to each other."""
        asked = "\n".join(prompt for prompt in self.chat.prompts if "OLD NOTES" in prompt or " OLDER " in prompt)
        return {id for id, note in self.after.items() if _stands_in(asked, note.content)}

    def close(self) -> None:
        self.memory.close()

    def lost(self) -> set[str]:
        """The old notes that are gone or reworded."""
        now = self.after
        return {id for id, note in self._before.items() if id not in now or now[id].content != note.content}

    def changes(self, by: str | None = None) -> dict[str, list[Version]]:
        """The versions that old notes got since; only those that this analyst is the actor of."""
        now = self.after
        found = {
            id: [each for each in self.memory.history(id)[note.version :] if by in (None, each.actor)]
            for id, note in self._before.items()
            if now[id].version != note.version
        }
        return {id: versions for id, versions in found.items() if versions}

    def links(self, by: str | None = None) -> list[Link]:
        """The links that were made since; only those that this analyst made."""
        found = itertools.chain.from_iterable(
            self.memory.links(id)
            for id, note in self.after.items()
            if id not in self._before or note.links != self._before[id].links
        )
        held = {(id, target) for id, note in self._before.items() for target in note.links}
        return [each for each in found if (each.source, each.target) not in held and by in (None, each.made_by)]


class Ground:
    """The collection that others are copies of.

    Eight notes on one thing, four questions on it that the rules read in the model's place, and one note apart. All
    that a new note shares a rare word with are its neighbours; the model is shown the best eight alone.
    """

    def __init__(self) -> None:
        self._collection = Collection()
        self._add(["Zwei Eier ins Ragù."], json.dumps(BYSTANDER))
        self._add([f"The kiln number {each} fires the celadon at night." for each in range(8)], json.dumps(ANALYSIS))
        self._add([f"Does the kiln fire celadon number {each} at night?" for each in range(90, 94)], UNUSABLE)

    def _add(self, contents: Sequence[str], answer: str) -> None:
        self._collection.analysis, self._collection.evolution = answer, answer if answer == UNUSABLE else NO_LINKS
        self._collection.memory.add_notes(contents)

    @contextmanager
    def copy(self) -> Iterator[Collection]:
        """One that nobody has touched; it is thrown away afterwards."""
        with closing(Collection(self._collection)) as copied:
            yield copied

    def close(self) -> None:
        self._collection.close()


def _connection(memory: AgenticMemorySystem) -> sqlite3.Connection:
    # A collection in memory is one connection, and nobody but a test has a use for a copy of it.
    with memory.parts.store.read() as session:
        return session.connection


def _stands_in(asked: str, content: str) -> bool:
    return any(f"<<<{content}{end}" in asked for end in ("\n", ">>>"))
