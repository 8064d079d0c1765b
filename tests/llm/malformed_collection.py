"""A collection whose model answers whatever it is given, and what may be asked of it afterwards."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from malformed import ANALYSIS

from amem import AgenticMemorySystem
from amem.llm.analyst import ModelAnalyst
from amem.note import Status
from amem.query import Filter
from amem.testing import HashEmbedder, ScriptedChat

if TYPE_CHECKING:
    from amem.note import MemoryNote

#: A collection serves so many examples before a new one is made.
NOTES_A_COLLECTION = 12
BYSTANDER = {
    "keywords": ["Ragù"],
    "context": "Für das Ragù braucht es zwei Eier.",
    "tags": ["Küche"],
    "entities": ["Ragù"],
}
EVERY = Filter(statuses=tuple(Status))


def readable(*texts: str) -> None:
    """What goes into a note can be stored and printed."""
    for text in texts:
        text.encode()
        assert not any(ord(character) < 32 for character in text)


@dataclass(slots=True)
class Collection:
    """Collections in memory, one after the other, whose model answers whatever it is given."""

    analysis: str = ""
    evolution: str = ""
    extraction: str = ""
    chat: ScriptedChat = field(init=False)
    memory: AgenticMemorySystem = field(init=False)
    added: int = NOTES_A_COLLECTION
    bystander: str = ""
    """A note that has nothing in common with the others, so that no prompt ever shows it."""
    contents: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.chat = ScriptedChat(self._answer)
        self._open()

    def _answer(self, prompt: str) -> str:
        if "MESSAGES" in prompt:
            return self.extraction
        return self.evolution if self.evolves(prompt) else self.analysis

    def _open(self) -> None:
        self.memory = AgenticMemorySystem(
            embedder=HashEmbedder(), analyst=ModelAnalyst(self.chat), llm_backend="offline"
        )
        self.contents = {}
        self.analysis, self.evolution = json.dumps(BYSTANDER), '{"links": []}'
        self.bystander = self.add("Zwei Eier ins Ragù.")
        self.analysis = json.dumps(ANALYSIS)
        for number in range(8):
            self.add(f"The kiln number {number} fires the celadon at night.")
        self.added = 0

    def add(self, content: str) -> str:
        id = self.memory.add(content).id
        self.contents[id] = content
        return id

    def renew(self) -> None:
        """Another collection once this one has served its time."""
        self.added += 1
        if self.added > NOTES_A_COLLECTION:
            self.close()
            self._open()

    def close(self) -> None:
        self.memory.close()

    def notes(self) -> dict[str, MemoryNote]:
        return {note.id: note for note in self.memory.list(EVERY, limit=1_000)}

    def shown(self, first_prompt: int) -> set[str]:
        """The notes whose text stands in a prompt that asks about neighbours."""
        asked = "\n".join(prompt for prompt in self.chat.prompts[first_prompt:] if self.evolves(prompt))
        return {id for id, content in self.contents.items() if f"<<<{content}\n" in asked}

    @staticmethod
    def evolves(prompt: str) -> bool:
        return "OLD NOTES" in prompt
