"""A-Mem's behaviour with a model that answers well: real links, neighbours that evolve, and every step undoable.

The model's judgement is scripted, everything else is real: prompts, schemas, HTTP, guards, versions, undo.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from amem import load_settings
from amem.analysts.model_analyst import ModelAnalyst
from amem.note import LinkType
from amem.testing import FakeOllama, ScriptedChat

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from amem import AgenticMemorySystem

    Open = Callable[..., AgenticMemorySystem]
    Judge = Callable[[str, dict[str, str]], dict[str, Any]]

BOILER = "The boiler in the cellar is a Vaillant of 2019."
NOISE = "The Vaillant boiler hums whenever the heating starts."
PUMP = "The boiler hums because its circulation pump is worn, says the plumber."

ANNEALING = "模拟退火算法是一种随机搜索方法，借鉴了金属退火的过程。"
QUANTUM = "量子退火利用量子隧穿求解组合优化问题，是模拟退火算法的量子版本。"


def note_in(prompt: str) -> str:
    """The new note, the last thing between marks in a prompt."""
    return re.findall(r"<<<(.*?)>>>", prompt, re.DOTALL)[-1].strip()


def shown_in(prompt: str) -> dict[str, str]:
    """Which old note stands behind each handle, by its text."""
    return dict(re.findall(r"^(n\d)\b(.*?)(?=^n\d\b|^NEW NOTE|^【新笔记】|\Z)", prompt, re.DOTALL | re.MULTILINE))


def handle_of(text: str, shown: dict[str, str]) -> str:
    return next(handle for handle, old in shown.items() if text[:20] in old)


def english(note: str, shown: dict[str, str]) -> dict[str, Any]:
    if note == NOISE:
        link = {
            "to": handle_of(BOILER, shown),
            "type": "related",
            "quote": "boiler in the cellar",
            "reason": "the same boiler",
        }
        return {"links": [link], "rewrites": [], "tags": []}
    if note != PUMP:
        return {"links": [], "rewrites": [], "tags": []}
    noise = handle_of(NOISE, shown)
    return {
        "links": [
            {"to": noise, "type": "supports", "quote": "boiler hums", "reason": "why it hums", "confidence": "sure"},
            {"to": handle_of(BOILER, shown), "type": "related", "quote": "The boiler", "reason": "a part of it"},
        ],
        "rewrites": [
            {
                "note": noise,
                "quote": "hums whenever the heating starts",
                "context": "The Vaillant boiler hums at the start because of a worn pump.",
                "tags": ["boiler", "noise", "repair"],
                "reason": "the cause is known now",
                "confidence": "sure",
            },
            {
                "note": handle_of(BOILER, shown),
                "quote": "Vaillant of 2019",
                "context": "The Vaillant boiler of 2019 needs a new pump.",
                "tags": [],
                "reason": "perhaps",
                "confidence": "likely",
            },
        ],
        "tags": ["boiler", "pump", "repair"],
    }


def chinese(note: str, shown: dict[str, str]) -> dict[str, Any]:
    if note != QUANTUM:
        return {"links": [], "rewrites": [], "tags": []}
    old = handle_of(ANNEALING, shown)
    return {
        "links": [{"to": old, "type": "related", "quote": "模拟退火算法", "reason": "量子退火源于模拟退火"}],
        "rewrites": [
            {
                "note": old,
                "quote": "随机搜索方法",
                "context": "",
                "tags": ["算法", "优化算法", "量子计算"],
                "reason": "学习了量子退火之后，它属于优化算法，并与量子计算相关",
                "confidence": "sure",
            }
        ],
        "tags": ["量子计算", "优化算法"],
    }


def answering(judge: Judge) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A model that analyses plainly and judges as told."""

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        prompt = request["messages"][-1]["content"]
        note = note_in(prompt)
        if "links" in request["format"]["properties"]:
            return judge(note, shown_in(prompt))
        zh = any("一" <= char <= "鿿" for char in note)
        return {
            "keywords": ["模拟退火算法"] if zh else ["boiler"],
            "context": f"关于{note[:6]}" if zh else f"On the boiler: {note.split('.')[0]}.",
            "tags": ["算法"] if zh else ["boiler"],
            "kind": "fact",
            "importance": 0.6,
            "entities": ["模拟退火算法"] if zh else [name for name in ("Vaillant",) if name in note],
            "facts": [{"subject": "量子退火", "predicate": "利用", "object": "量子隧穿"}] if note == QUANTUM else [],
        }

    return answer


def over_the_wire(open_memory: Open, home: Path, ollama: FakeOllama) -> AgenticMemorySystem:
    settings = load_settings(home, llm_backend="ollama", llm_model="llama3.2", ollama_host=ollama.host)
    return open_memory(settings=settings, analyst=None)


def test_three_notes_on_one_subject_are_linked_and_evolve_and_undo_brings_the_old_version_back(
    open_memory: Open, home: Path
):
    with FakeOllama(answering(english)) as ollama:
        memory = over_the_wire(open_memory, home, ollama)
        boiler, noise = memory.add_note(BOILER), memory.add_note(NOISE)
        before = memory.memories[noise]
        receipt = memory.add(PUMP)

    assert {(link.target, link.type) for link in memory.links(receipt.id)} >= {
        (noise, LinkType.SUPPORTS),
        (boiler, LinkType.RELATED),
    }
    assert [link.target for link in memory.links(noise)] == [boiler]
    assert memory.memories[receipt.id].tags == ["boiler", "pump", "repair"]

    (change,) = receipt.evolved
    assert (change.id, set(change.fields), change.confidence) == (noise, {"context", "tags"}, 0.95)
    after = memory.memories[noise]
    assert (after.context, after.tags) == (
        "The Vaillant boiler hums at the start because of a worn pump.",
        ["boiler", "noise", "repair"],
    )
    version = memory.history(noise)[-1]
    assert version.changes["context"] == (before.context, after.context)
    assert (version.action, version.actor) == ("evolve", "ollama/llama3.2")
    assert re.fullmatch(r"evolve(\.\w+)? \d+", version.prompts)

    # What it was not sure of waits for a person; accepted, it is applied.
    (queued,) = receipt.queued
    assert queued.id == boiler
    (review,) = memory.reviews()
    assert review.changes["context"][1] == "The Vaillant boiler of 2019 needs a new pump."
    assert memory.memories[boiler].context != review.changes["context"][1]

    assert receipt.cost.calls == 2
    assert receipt.cost.tokens_in > 0
    assert receipt.cost.rungs == {"constrained": 2}

    memory.undo()
    restored = memory.memories[noise]
    assert (restored.context, restored.tags) == (before.context, before.tags)
    assert memory.read(receipt.id) is None
    assert memory.reviews() == []
    assert memory.links(noise)[0].target == boiler
    memory.redo()
    assert memory.memories[noise].tags == ["boiler", "noise", "repair"]


@pytest.mark.parametrize("wire", [True, False])
def test_learning_of_quantum_annealing_retags_the_older_note_on_simulated_annealing(
    open_memory: Open, home: Path, wire: bool
):
    answer = answering(chinese)
    if wire:
        with FakeOllama(answer) as ollama:
            memory = over_the_wire(open_memory, home, ollama)
            older, newer = memory.add_note(ANNEALING), memory.add_note(QUANTUM)
    else:

        def scripted(prompt: str) -> dict[str, Any]:
            fields = {"links": {}} if shown_in(prompt) else {"keywords": {}}
            return answer({"messages": [{"content": prompt}], "format": {"properties": fields}})

        memory = open_memory(analyst=ModelAnalyst(ScriptedChat(scripted)))
        older, newer = memory.add_note(ANNEALING), memory.add_note(QUANTUM)

    note = memory.memories[older]
    assert {"优化算法", "量子计算"} <= set(note.tags)
    assert "模拟退火算法" in note.content
    assert [link.target for link in memory.links(newer)] == [older]
    assert memory.memories[newer].facts[0].object == "量子隧穿"
    version = memory.history(older)[-1]
    assert version.changes["tags"][0] == ["算法"]
    assert json.dumps(note.tags, ensure_ascii=False).count("算法") == 2
    memory.undo()
    assert memory.memories[older].tags == ["算法"]
    assert memory.read(newer) is None


def test_a_person_may_ask_for_the_chat_model_and_its_cost_is_kept(open_memory: Open, home: Path):
    with FakeOllama(["Hello."]) as ollama:
        memory = over_the_wire(open_memory, home, ollama)
        chat = memory.chat_model()
        assert memory.chat_model() is chat
        assert chat.complete("Say hello.") == "Hello."
    with memory.parts.store.read() as session:
        (spent,) = session.spending.report(1)
    assert (spent.model, spent.calls) == ("ollama/llama3.2", 1)
