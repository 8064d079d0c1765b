"""Analysis after the fact: raw notes first, finished by one worker or another, never twice."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest

from amem.analysis import Analysis, Evolution, ProposedLink
from amem.analysts.model_analyst import ModelAnalyst
from amem.errors import ServiceUnavailable
from amem.note import LinkType, Source
from amem.testing import FakeOllama, Fault, FrozenClock, ScriptedAnalyst, ScriptedChat

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from amem import AgenticMemorySystem
    from amem.analysis import Draft, Neighbour

    Open = Callable[..., AgenticMemorySystem]

ANSWER = {
    "keywords": ["boiler"],
    "context": "About the boiler, by the model.",
    "tags": ["house"],
    "kind": "fact",
    "importance": 0.7,
    "entities": [],
    "links": [],
    "rewrites": [],
}


def model(analysis: Analysis | None = None, evolutions: Evolution | None = None) -> ScriptedAnalyst:
    """An analyst that amem takes for a slow model."""
    return ScriptedAnalyst(analysis or Analysis(("boiler",), "By the model.", ("house",)), evolutions, local=False)


def test_a_note_is_stored_and_searchable_before_the_model_has_answered(open_memory: Open):
    thinking, go_on = threading.Event(), threading.Event()

    def analyse(draft: Draft) -> Analysis:
        thinking.set()
        assert go_on.wait(30)
        return Analysis(context="By the model.")

    memory = open_memory(analyst=ScriptedAnalyst(analyse, local=False))
    other = open_memory()
    thread = threading.Thread(target=memory.add, args=("the boiler hums",))
    thread.start()
    assert thinking.wait(30)
    # Killed now, the note would be there; and nobody waits for the model to write.
    (hit,) = other.search("boiler")
    assert other.memories[hit.id].enrichment == "pending"
    assert other.add("something else meanwhile").stored
    assert open_memory(analyst=model()).enrich().done == 0, "another worker took what is being worked on"
    go_on.set()
    thread.join(30)
    assert other.memories[hit.id].enrichment == "done"
    assert other.memories[hit.id].context == "By the model."


def test_a_model_that_comes_back_finishes_what_it_owed(open_memory: Open):
    chat_answers: list[object] = [ServiceUnavailable("nobody there")]
    chat = ScriptedChat(lambda prompt: chat_answers[0])  # type: ignore[arg-type,return-value]
    memory = open_memory(analyst=ModelAnalyst(chat))
    ids = [memory.add_note(f"the boiler hums, day {number}") for number in range(3)]
    assert {memory.memories[id].enrichment for id in ids} == {"degraded"}
    # The offline rules stand in meanwhile.
    assert all(memory.memories[id].keywords for id in ids)
    assert all(memory.memories[id].analyst == "offline" for id in ids)
    assert any(finding.about == "analysis" and finding.level == "warning" for finding in memory.doctor())

    chat_answers[0] = ANSWER
    heard: list[tuple[int, int]] = []
    report = memory.enrich(progress=lambda done, total: heard.append((done, total)))
    assert (report.done, report.failed, report.remaining) == (3, 0, 0)
    assert heard == [(1, 3), (2, 3), (3, 3)]
    for id in ids:
        note = memory.memories[id]
        assert (note.enrichment, note.context, note.analyst) == ("done", "About the boiler, by the model.", chat.name)
    assert memory.add("a new boiler").cost.calls == 2


def test_enrich_can_be_limited(open_memory: Open):
    analyst = model()
    analyst.fail = ServiceUnavailable("down")
    memory = open_memory(analyst=analyst)
    memory.add_notes([f"note {number}" for number in range(5)])
    analyst.fail = None
    report = memory.enrich(2)
    assert (report.done, report.remaining) == (2, 3)


def test_a_model_server_that_breaks_off_costs_no_note(open_memory: Open, home: Path):
    with FakeOllama(ANSWER, fault=Fault.RESET) as ollama:
        from amem import load_settings

        settings = load_settings(
            home, llm_backend="ollama", llm_model="llama3.2", ollama_host=ollama.host, llm_timeout=5, llm_retries=0
        )
        memory = open_memory(settings=settings, analyst=None)
        receipts = []
        for fault in (Fault.RESET, Fault.ERROR, Fault.TRUNCATED, None, Fault.FENCED):
            ollama.fault = fault
            receipts.append(memory.add(f"the boiler hums, fault {fault}"))
        assert len(memory.memories) == 5
        assert [receipt.enrichment for receipt in receipts][:2] == ["degraded", "degraded"]
        assert [receipt.enrichment for receipt in receipts][3:] == ["done", "done"]
        assert "ollama/llama3.2" in (receipts[0].error or "")
        ollama.fault = None
        report = memory.enrich()
        assert (report.failed, report.remaining) == (0, 0)
    assert memory.add("the boiler hums, and the server is gone").enrichment == "degraded"


@pytest.mark.thorough
def test_two_workers_never_enrich_one_note_twice(open_memory: Open):
    asked: list[str] = []
    lock = threading.Lock()

    def analyse(draft: Draft) -> Analysis:
        with lock:
            asked.append(draft.content)
        time.sleep(0.005)
        return Analysis(context="By the model.")

    down = model()
    down.fail = ServiceUnavailable("down")
    memory = open_memory(analyst=down)
    texts = [f"note {number} that waits" for number in range(40)]
    memory.add_notes(texts)
    workers = [open_memory(analyst=ScriptedAnalyst(analyse, local=False)) for _ in range(3)]
    reports = []
    threads = [threading.Thread(target=lambda each=each: reports.append(each.enrich())) for each in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(asked) == sorted(texts)
    assert sum(report.done for report in reports) == 40
    assert all(note.enrichment == "done" for note in memory.memories.values())
    assert all(note.version == 3 for note in memory.memories.values())


def test_a_worker_that_died_loses_its_lease(open_memory: Open, clock: FrozenClock):
    down = model()
    down.fail = ServiceUnavailable("down")
    memory = open_memory(analyst=down)
    memory.add_note("a note that waits")
    with memory.parts.store.write() as session:
        job = session.jobs.lease("enrich", "a worker that dies", seconds=600)
    assert job is not None
    helper = open_memory(analyst=model())
    assert helper.enrich().done == 0
    clock.advance(minutes=10, hours=0)
    assert helper.enrich().done == 1


def test_a_note_edited_while_the_model_thinks_keeps_the_edit_and_waits_again(open_memory: Open):
    memory: AgenticMemorySystem

    def analyse(draft: Draft) -> Analysis:
        if draft.content == "the boiler hums":
            (id,) = memory.memories
            memory.update(id, content="the boiler is silent")
        return Analysis(context=f"By the model, on: {draft.content}")

    memory = open_memory(analyst=ScriptedAnalyst(analyse, local=False))
    receipt = memory.add("the boiler hums")
    assert memory.memories[receipt.id].content == "the boiler is silent"
    # The edit had it analysed; what the model says of the old text comes too late, and is not asked for again.
    assert any("changed" in words for words in receipt.dropped)
    assert memory.enrich().done == 0
    assert memory.memories[receipt.id].context == "By the model, on: the boiler is silent"


def test_a_field_edited_while_the_model_thinks_stays_the_persons(open_memory: Open):
    memory: AgenticMemorySystem

    def analyse(draft: Draft) -> Analysis:
        (id,) = memory.memories
        memory.update(id, context="My own words.")
        return Analysis(("boiler",), "By the model.", ("house",))

    memory = open_memory(analyst=ScriptedAnalyst(analyse, local=False))
    note = memory.memories[memory.add_note("the boiler hums")]
    assert (note.context, note.tags, note.enrichment) == ("My own words.", ["house"], "done")


def test_a_note_deleted_while_the_model_thinks_stays_deleted(open_memory: Open):
    memory: AgenticMemorySystem

    def analyse(draft: Draft) -> Analysis:
        memory.delete(next(iter(memory.memories)))
        return Analysis(context="By the model.")

    memory = open_memory(analyst=ScriptedAnalyst(analyse, local=False))
    receipt = memory.add("the boiler hums")
    assert memory.read(receipt.id) is None
    assert any("deleted" in words for words in receipt.dropped)
    assert memory.enrich().remaining == 0


def test_a_note_purged_while_the_model_thinks_is_no_error(open_memory: Open):
    memory: AgenticMemorySystem

    def analyse(draft: Draft) -> Analysis:
        memory.purge(next(iter(memory.memories)))
        return Analysis(context="By the model.")

    memory = open_memory(analyst=ScriptedAnalyst(analyse, local=False))
    receipt = memory.add("the boiler hums")
    assert memory.read(receipt.id) is None
    assert len(memory.memories) == 0


def test_a_deleted_note_that_waits_is_no_ones_work_until_it_is_restored(open_memory: Open):
    down = model()
    down.fail = ServiceUnavailable("down")
    memory = open_memory(analyst=down)
    id = memory.add_note("the boiler hums")
    memory.add_note("a second note that waits")
    memory.delete(id)
    down.fail = None
    report = memory.enrich()
    assert (report.done, report.failed, report.remaining) == (1, 0, 0)
    memory.restore(id)
    assert memory.enrich().done == 1
    assert memory.memories[id].enrichment == "done"


def test_enrichment_is_part_of_the_add_that_set_it_off(open_memory: Open):
    def evolve(draft: Draft, analysis: Analysis, neighbours: Sequence[Neighbour]) -> Evolution:
        return Evolution(links=(ProposedLink("n1", LinkType.RELATED, "both boilers", 0.9),))

    memory = open_memory(analyst=ScriptedAnalyst(evolutions=evolve, local=False))
    first = memory.add_note("the boiler hums")
    second = memory.add("the boiler in the cellar hums")
    assert [link.target for link in second.links] == [first]
    memory.undo()
    assert memory.read(second.id) is None
    assert memory.backlinks(first) == []
    memory.redo()
    note = memory.read(second.id)
    assert note is not None
    assert (note.links, note.context) == ([first], "the boiler in the cellar hums")


def test_turns_of_a_conversation_are_read_with_those_before_them(open_memory: Open):
    local, remote = ScriptedAnalyst(), ScriptedAnalyst(local=False)
    for name, analyst in (("local", local), ("remote", remote)):
        memory = open_memory(analyst=analyst, collection=name)
        for number in range(5):
            source = Source(f"c:{number}", "message", "c", f"D1:{number}", "AB"[number % 2], None, f"t{number}", number)
            memory.add(f"turn {number}", source=source)
        assert analyst.drafts[4].previous == ("B: turn 1", "A: turn 2", "B: turn 3")
        assert analyst.drafts[0].previous == ()
        assert analyst.drafts[4].speaker == "A"
