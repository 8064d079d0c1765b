"""Many notes and a slow model: analysed several at a time, evolved one after the other, resumed where it stopped."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from amem import load_settings
from amem.analysis import Analysis, Evolution, ProposedLink
from amem.analysts.choose import served_here
from amem.analysts.model_analyst import ModelAnalyst
from amem.errors import BadModelAnswer, InvalidInput
from amem.note import LinkType
from amem.testing import ScriptedAnalyst, ScriptedChat
from amem.writing.worker import ahead

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from amem import AgenticMemorySystem
    from amem.analysis import Draft, Neighbour

    Open = Callable[..., AgenticMemorySystem]

ANSWER: dict[str, Any] = {
    "keywords": ["boiler"],
    "context": "By the model.",
    "tags": ["house"],
    "kind": "fact",
    "importance": 0.7,
    "entities": [],
    "links": [],
    "rewrites": [],
}


def settings(home: Path, **given: Any) -> Any:
    return load_settings(home, llm_parallel=4, **given)


def test_analyses_run_side_by_side_and_no_more_of_them_than_the_setting_allows(open_memory: Open, home: Path):
    together = threading.Barrier(4, timeout=30)
    running, most, lock = set[int](), 0, threading.Lock()

    def analyse(draft: Draft) -> Analysis:
        nonlocal most
        with lock:
            running.add(threading.get_ident())
            most = max(most, len(running))
        if draft.content[-1] in "0123":
            together.wait()  # breaks unless four notes are analysed at the same time
        with lock:
            running.discard(threading.get_ident())
        return Analysis(context=f"On {draft.content}.")

    memory = open_memory(settings=settings(home), analyst=ScriptedAnalyst(analyse, local=False))
    receipts = memory.add_notes([f"note {number}" for number in range(8)])
    assert most == 4
    assert [memory.memories[each.id].context for each in receipts] == [f"On note {number}." for number in range(8)]


def test_links_and_rewrites_come_one_note_after_the_other_and_in_order(open_memory: Open, home: Path):
    evolving: list[str] = []
    alone = threading.Lock()

    def evolve(draft: Draft, analysis: Analysis, neighbours: Sequence[Neighbour]) -> Evolution:
        assert alone.acquire(blocking=False), "two notes evolve at the same time"
        evolving.append(draft.content)
        alone.release()
        return Evolution(links=(ProposedLink("n1", LinkType.RELATED, "both", 0.9),))

    texts = [f"heron number {number} stands in the pond" for number in range(9)]
    memory = open_memory(settings=settings(home), analyst=ScriptedAnalyst(evolutions=evolve, local=False))
    receipts = memory.add_notes(texts)
    assert evolving == texts
    enriched = [each for each in reversed(memory.log(limit=100)) if each.action == "enrich"]
    assert [each.notes[0] for each in enriched] == [receipt.id for receipt in receipts]
    memory.undo()
    assert len(memory.memories) == 0


def test_what_each_note_cost_is_its_own_even_when_they_are_analysed_together(open_memory: Open, home: Path):
    chat = ScriptedChat(lambda prompt: ANSWER)
    memory = open_memory(settings=settings(home), analyst=ModelAnalyst(chat))
    # Questions, which no rule takes for a conflict: no model is asked to judge them.
    receipts = memory.add_notes([f"does the boiler hum on day {number}?" for number in range(6)])
    assert sum(receipt.cost.calls for receipt in receipts) == chat.usage.calls == 12
    assert sum(receipt.cost.tokens_in for receipt in receipts) == chat.usage.tokens_in
    for receipt in receipts:
        assert receipt.cost.calls == 2
        assert receipt.cost.rungs == {"constrained": 2}
        assert receipt.to_dict()["cost"]["rungs"] == {"constrained": 2}


def test_one_analysis_that_fails_does_not_stop_the_others(open_memory: Open, home: Path):
    def analyse(draft: Draft) -> Analysis:
        if "3" in draft.content:
            raise BadModelAnswer("nonsense")
        return Analysis(context="By the model.")

    memory = open_memory(settings=settings(home), analyst=ScriptedAnalyst(analyse, local=False))
    receipts = memory.add_notes([f"note {number}" for number in range(6)])
    assert [str(each.enrichment) for each in receipts] == ["done"] * 3 + ["degraded"] + ["done"] * 2
    assert receipts[3].cost.rungs["offline"] == 1
    assert memory.enrich().failed == 1


def test_all_notes_are_safe_before_the_model_is_asked_and_an_interrupt_loses_none(open_memory: Open, home: Path):
    memory: AgenticMemorySystem
    seen: list[int] = []

    def analyse(draft: Draft) -> Analysis:
        seen.append(len(memory.memories))
        return Analysis(context="By the model.")

    def stop(done: int, of: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    memory = open_memory(settings=load_settings(home, batch_size=4), analyst=ScriptedAnalyst(analyse, local=False))
    with pytest.raises(KeyboardInterrupt):
        memory.add_notes([f"note {number}" for number in range(10)], progress=stop)
    assert set(seen) == {10}
    states = [str(note.enrichment) for note in memory.memories.values()]
    assert (states.count("done"), states.count("pending")) == (3, 7)
    heard: list[tuple[int, int]] = []
    report = open_memory(analyst=ScriptedAnalyst(local=False)).enrich(progress=lambda *how: heard.append(how))
    assert (report.done, report.remaining) == (7, 0), "no job stays locked by what was interrupted"
    assert heard == [(done, 7) for done in range(1, 8)]


def test_progress_is_told_of_each_note_with_a_model(open_memory: Open):
    heard: list[tuple[int, int]] = []
    memory = open_memory(analyst=ScriptedAnalyst(local=False))
    memory.add_notes(["a", "b", "a"], progress=lambda *how: heard.append(how))
    assert heard == [(2, 3), (3, 3)]


@pytest.mark.parametrize(
    ("model", "given", "here"),
    [
        ("ollama/llama3.2", {}, True),
        ("ollama/llama3.2", {"ollama_host": "http://localhost:11434"}, True),
        ("ollama/llama3.2", {"ollama_host": "http://192.168.1.7:11434"}, False),
        ("ollama/llama3.2", {"ollama_host": "gpu.example:11434"}, False),
        ("openai/gpt-4o-mini", {}, False),
        ("openai/local", {"api_base": "http://127.0.0.1:8000/v1"}, True),
        ("openai/local", {"api_base": "http://[::1]:8000/v1"}, True),
        ("anthropic/claude", {}, False),
    ],
)
def test_a_model_on_this_machine_is_asked_one_thing_at_a_time(
    home: Path, model: str, given: dict[str, Any], here: bool
):
    assert served_here(model, load_settings(home, **given)) is here


def test_results_come_in_the_order_of_the_items_and_errors_with_them():
    done = threading.Event()

    def work(item: int) -> int:
        if item == 0:
            assert done.wait(30)
        if item == 2:
            done.set()
            raise InvalidInput("two")
        return item * 10

    found = [(item, future.exception() or future.result()) for item, future in ahead(work, range(5), 3)]
    assert [item for item, _ in found] == [0, 1, 2, 3, 4]
    assert [str(result) for _, result in found] == ["0", "10", "two", "30", "40"]


def test_items_are_taken_only_when_there_is_a_thread_for_them():
    taken: list[int] = []

    def items() -> Any:
        for number in range(6):
            taken.append(number)
            yield number

    for item, _ in ahead(lambda item: item, items(), 2):
        assert len(taken) <= item + 2
    assert taken == list(range(6))
