"""Canaries in each collection and catalog: none is found, told, placed or stored where it does not belong."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from amem.settings import load_settings
from amem.testing import ScriptedChat
from amem.tools import Toolbox

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from amem import AgenticMemorySystem

    Open = Callable[..., AgenticMemorySystem]

#: Which collections each agent may read, its own first.
READS = {
    "alice": ("alice", "team", "house"),
    "bob": ("bob", "team"),
    "carol": ("carol",),
}
PUBLISHES = {"alice": ("team",), "bob": ()}
SAYINGS = ("My dentist is Dr. {}.", "The server crashed because of {}.", "We decided to use {}.", "我的邻居叫{}。")
QUESTIONS = ("Who is my dentist?", "Why did the server crash?", "What did we decide?", "我的邻居叫什么？")
CANARY = re.compile(r"qz(\w+?)x\d+qz", re.IGNORECASE)


@pytest.fixture
def crew(open_memory: Open, home: Path) -> dict[str, AgenticMemorySystem]:
    """Every agent's memory, open at once, after each collection was filled with canaries of its own."""
    for name in ("team", "house", "alice", "bob", "carol"):
        memory = open_memory(collection=name)
        memory.add_notes([saying.format(f"Qz{name}x{number}qz") for number, saying in enumerate(SAYINGS)])
        memory.close()
    agents = {
        name: {"catalogs": reads[1:], "publish": PUBLISHES.get(name, ())} for name, reads in READS.items()
    }  # fmt: skip
    settings = load_settings(home, agents=agents)
    return {name: open_memory(settings=settings.as_agent(name)) for name in READS}


def whose(told: object) -> set[str]:
    """The collections whose canaries stand in what was told."""
    plain: Any = told.to_dict() if hasattr(told, "to_dict") else told
    return {each.lower() for each in CANARY.findall(f"{told!r} {json.dumps(plain, ensure_ascii=False, default=repr)}")}


def told(memory: AgenticMemorySystem, question: str) -> dict[str, object]:
    """All ways to ask, and what a model was shown."""
    chat = ScriptedChat(lambda prompt: "I see.")
    with memory.assistant(chat=chat) as assistant:
        reply = assistant.say(question)
        replayed = assistant.replay()
    tools = Toolbox(memory, names=("search", "ask", "context"))
    return {
        "search": memory.search(question, k=50),
        "search_agentic": memory.search_agentic(question, k=50),
        "answer": memory.answer(question),
        "context": memory.context(question),
        "tiers": memory.recall_tiers(question),
        "chat": (reply, replayed, chat.conversations),
        "tools": [tools.run("search", {"query": question}), tools.run("context", {"query": question})],
    }


def test_each_agent_is_told_of_what_it_may_read_and_of_nothing_else(crew: dict[str, AgenticMemorySystem]) -> None:
    for name, memory in crew.items():
        found: set[str] = set()
        for question in QUESTIONS:
            for how, what in told(memory, question).items():
                assert whose(what) <= set(READS[name]), (name, how)
                found |= whose(what)
        assert found == set(READS[name])
        alone = [memory.list(limit=100), memory.tags(), memory.facts("user"), memory.core_notes(), memory.log()]
        assert whose(alone) <= {name}


def test_nothing_is_stored_where_it_does_not_belong(crew: dict[str, AgenticMemorySystem], open_memory: Open) -> None:
    for memory in crew.values():
        for question in QUESTIONS:
            told(memory, question)
        memory.add("Never mind what I said about the dentist.")
        memory.maintain()
    own = next(note.id for note in crew["alice"].list() if "dentist is" in note.content)
    published = crew["alice"].publish(own)

    held = {name: open_memory(collection=name) for name in ("team", "house", "alice", "bob", "carol")}
    for name, memory in held.items():
        everything = [(note, memory.links(note.id), memory.history(note.id)) for note in memory.list(limit=1_000)]
        assert whose(everything) <= {name} | ({"alice"} if name == "team" else set()), name
        assert all(note.retrieval_count == 0 for note in memory.list() if name in ("team", "house"))
    assert whose(held["team"].note(published.id)) == {"alice"}
    assert {each.actor for each in held["house"].log()} == {"user"}
    assert whose(crew["bob"].search("Who is my dentist?", k=50)) >= {"alice"}
    assert "alice" not in whose(crew["carol"].search("Who is my dentist?", k=50))
