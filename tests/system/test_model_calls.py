"""How often a model is asked, over the wire, and what becomes of answers that leave something out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from _judging_model import judging_model

from amem import load_settings
from amem.analysts.model_analyst import ModelAnalyst
from amem.cli.render import print_card
from amem.note import Kind
from amem.storage.jobs import ADD, ANSWER, LEARNING, REMEMBER
from amem.testing import FakeOllama, ScriptedChat
from amem.writing.fields import BY_RULES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest

    from amem import AgenticMemorySystem

    Open = Callable[..., AgenticMemorySystem]

SIX = (
    "I work at a pottery in Graça.",
    "My kiln is a Rohde of 2018.",
    "We decided to sell at the market on Sundays.",
    "Inês must never eat peanuts.",
    "I prefer stoneware to porcelain.",
    "My workshop has three wheels.",
)


def over_the_wire(open_memory: Open, home: Path, ollama: FakeOllama) -> AgenticMemorySystem:
    settings = load_settings(home, llm_backend="ollama", llm_model="llama3.2", ollama_host=ollama.host)
    return open_memory(settings=settings, analyst=None)


def split(request: dict[str, Any]) -> Any:
    """The judging model, with a statement for each sentence of a message."""
    said = judging_model(request)
    if isinstance(said, dict) and "statements" in said:
        one = said["statements"]
        said["statements"] = [
            {**each, "text": f"{part}."} for each in one for part in each["text"].strip(".").split(". ")
        ]
    return said


def test_an_add_costs_two_calls_a_turn_three_and_remember_two_and_the_costs_are_kept(open_memory: Open, home: Path):
    with FakeOllama(split) as ollama:
        memory = over_the_wire(open_memory, home, ollama)

        def calls(work: Callable[[], object]) -> int:
            before = len(ollama.asked("/api/chat"))
            work()
            return len(ollama.asked("/api/chat")) - before

        assert calls(lambda: memory.add("My kiln is old.")) == 1, "there is nothing to hold the first note against"
        assert calls(lambda: memory.add("My kiln is a new Rohde.")) == 2
        messages = [{"role": "user", "content": text, "at": "2026-03-02T18:00"} for text in SIX]
        report = memory.remember(messages, conversation="pottery")
        assert report.cost.calls <= 2
        assert len(report.learnt) == len(SIX)
        assert all(receipt.enrichment == "done" for receipt in report.learnt)
        assert all(memory.memories[receipt.id].context for receipt in report.learnt)
        with memory.assistant() as assistant:
            for text in ("I drive a Volvo.", " ".join(SIX[:3]).replace("kiln", "oven"), "我对花生过敏。"):

                def turn(text: str = text) -> None:
                    assistant.say(text)
                    assert assistant.wait(60)

                assert calls(turn) == 3
        with memory.parts.store.read() as session:
            found = {each.purpose: each for each in session.costs.report()}
    assert {purpose: (each.times, each.most_calls) for purpose, each in found.items()} == {
        ADD: (2, 2),
        ANSWER: (3, 1),
        LEARNING: (3, 2),
        REMEMBER: (1, 2),
    }
    assert all(each.tokens_in > each.calls for each in found.values())


def test_unusable_answers_cost_two_more_calls_for_a_note_and_for_what_a_conversation_taught(open_memory: Open):
    chat = ScriptedChat("I would rather chat.")
    memory = open_memory(analyst=ModelAnalyst(chat))
    memory.add("The boiler in the cellar hums.")
    chat.prompts.clear()
    receipt = memory.add("The boiler in the cellar hums loudly.")
    assert receipt.enrichment == "degraded"
    assert len(chat.prompts) == receipt.cost.calls == 4
    chat.prompts.clear()
    report = memory.remember([{"role": "user", "content": "I drive a Volvo."}])
    assert report.degraded
    assert len(chat.prompts) == 4


def test_what_a_model_leaves_empty_or_useless_is_filled_in_by_the_rules_and_the_note_says_so(
    open_memory: Open, capsys: pytest.CaptureFixture[str]
):
    useless = {"keywords": ["Volvo"], "context": "7", "tags": ["12", "!"], "kind": "musing", "importance": 0.6}
    useful = {**useless, "context": "Ana drives a Volvo to work.", "tags": ["cars"], "kind": "episode"}
    answers = [useless]
    memory = open_memory(analyst=ModelAnalyst(ScriptedChat(lambda prompt: answers[0])))
    id = memory.add("I like driving the old Volvo to the beach for a swim.").id
    note = memory.memories[id]
    assert note.keywords == ["Volvo"]
    assert note.context not in ("", "7")
    assert note.tags
    assert note.kind is Kind.PREFERENCE, "not a fact, which would never fade"
    assert note.analyst == "scripted/chat"
    assert note.metadata[BY_RULES] == {
        "context": "it has no word of the note",
        "kind": "'musing' is none",
        "tags": "none is a word",
    }
    print_card(memory, note)
    shown = " ".join(capsys.readouterr().out.split())
    assert "context by the rules: it has no word of the note" in shown
    answers[0] = useful
    memory.process_memory(note)
    assert BY_RULES not in memory.memories[id].metadata


def test_a_note_that_shares_a_rare_name_is_seen_by_the_model_as_by_the_rules(open_memory: Open):
    chat = ScriptedChat(judging_model_of)
    memory = open_memory(analyst=ModelAnalyst(chat))
    memory.add("我把 Quillfeather 的合同在抽屉里找到了。")
    memory.add_notes([f"The harbour ferry number {n} leaves the pier at {n} o'clock" for n in range(1, 12)])
    chat.prompts.clear()
    memory.add("The harbour ferry leaves the pier with Quillfeather at nine")
    assert "的合同在抽屉里" in chat.prompts[-1]
    assert "n8 (" in chat.prompts[-1]
    assert "n9 (" not in chat.prompts[-1]


def judging_model_of(prompt: str) -> Any:
    fields = {"links": {}} if "OLD NOTES" in prompt or "旧笔记" in prompt else {"keywords": {}}
    return judging_model({"messages": [{"content": prompt}], "format": {"properties": fields}})
