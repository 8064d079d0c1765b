"""``wait=False``: the note is safe at once, a thread finishes it, and closing never hangs nor loses anything."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest

from amem import AsyncMemory, load_settings
from amem.analysis import Analysis
from amem.errors import BudgetSpent, Cancelled, ServiceUnavailable
from amem.note import Enrichment
from amem.testing import FakeOllama, Fault, HashEmbedder, ScriptedAnalyst

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from amem import AgenticMemorySystem
    from amem.analysis import Draft
    from amem.testing import FrozenClock

    Open = Callable[..., AgenticMemorySystem]

FOUND = Analysis(("boiler",), "By the model.", ("house",))


def model(analysis: object = FOUND, **options: object) -> ScriptedAnalyst:
    return ScriptedAnalyst(analysis, local=False, **options)


def states(memory: AgenticMemorySystem) -> list[str]:
    return [str(note.enrichment) for note in memory.memories.values()]


def test_a_note_that_is_not_waited_for_is_pending_and_searchable_and_finished_in_the_background(open_memory: Open):
    go_on = threading.Event()

    def analyse(draft: Draft) -> Analysis:
        assert go_on.wait(30)
        return FOUND

    memory = open_memory(analyst=model(analyse))
    receipt = memory.add("the boiler hums", wait=False)
    assert (receipt.status, receipt.enrichment, receipt.analyst) == ("stored", "pending", "")
    assert [hit.id for hit in memory.search("boiler")] == [receipt.id]
    assert not memory.wait(0.02)
    go_on.set()
    assert memory.wait(30)
    note = memory.memories[receipt.id]
    assert (note.enrichment, note.context) == ("done", "By the model.")
    memory.undo()
    assert len(memory.memories) == 0


def test_many_notes_are_not_waited_for_either_and_a_program_of_a_mem_may_say_so(open_memory: Open):
    memory = open_memory(analyst=model())
    receipts = memory.add_notes([f"note {number}" for number in range(20)], wait=False)
    id = memory.add_note("one more", wait=False)
    assert {receipt.enrichment for receipt in receipts} == {Enrichment.PENDING}
    assert memory.wait(30)
    assert set(states(memory)) == {"done"}
    assert memory.read(id) is not None
    assert memory.enrich().done == 0


def test_an_edit_need_not_wait_for_the_model_either(open_memory: Open):
    go_on = threading.Event()

    def analyse(draft: Draft) -> Analysis:
        assert "hums" in draft.content or go_on.wait(30)
        return Analysis(("boiler",), f"By the model: {draft.content}", ("house",))

    memory = open_memory(analyst=model(analyse))
    id = memory.add_note("the boiler hums")
    assert memory.update(id, content="the boiler whistles", wait=False)
    assert memory.memories[id].content == "the boiler whistles"
    assert not memory.wait(0.02)
    go_on.set()
    assert memory.wait(30)
    assert memory.memories[id].context == "By the model: the boiler whistles"


def test_the_offline_rules_need_no_background(memory: AgenticMemorySystem):
    assert memory.add("the boiler hums", wait=False).enrichment == "done"
    assert memory.wait(0)
    assert not [each for each in threading.enumerate() if each.name == "amem-worker"]


def test_what_fails_in_the_background_is_degraded_and_waits_for_enrich(open_memory: Open):
    analyst = model(fail=ServiceUnavailable("the server is down"))
    memory = open_memory(analyst=analyst)
    memory.add("the boiler hums", wait=False)
    assert memory.wait(30)
    assert states(memory) == ["degraded"]
    analyst.fail = None
    assert memory.enrich().done == 1


def test_a_spent_budget_leaves_the_note_to_the_rules_and_keeps_the_job(open_memory: Open):
    analyst = model(fail=BudgetSpent("today's tokens are spent"))
    memory = open_memory(analyst=analyst)
    receipt = memory.add("Mara is allergic to walnuts")
    assert (receipt.enrichment, receipt.analyst) == ("degraded", "offline")
    assert receipt.cost.rungs == {"offline": 2} or receipt.cost.rungs == {"offline": 1}
    operations = len(memory.log())
    assert memory.enrich().remaining == 1
    assert len(memory.log()) == operations, "failing again is no news for the log"
    analyst.fail = None
    assert memory.enrich().done == 1


def test_what_was_called_off_is_pending_and_free_for_others(open_memory: Open):
    memory = open_memory(analyst=model(fail=Cancelled("closing")))
    receipts = memory.add_notes(["the boiler hums", "the roof leaks"])
    assert [receipt.enrichment for receipt in receipts] == ["pending", "pending"]
    assert [receipt.error for receipt in receipts] == [None, None]
    assert states(memory) == ["pending", "pending"]
    with pytest.raises(Cancelled):
        memory.enrich()
    assert open_memory(analyst=model()).enrich().done == 2


def test_closing_calls_a_slow_model_off_long_before_its_time_is_up_and_loses_nothing(
    home: Path, clock: FrozenClock, open_memory: Open
):
    with FakeOllama({}, fault=Fault.SLOW) as ollama:
        settings = load_settings(home, llm_backend="ollama", llm_model="llama3.2", ollama_host=ollama.host)
        memory = open_memory(settings=settings, analyst=None)
        for number in range(5):
            memory.add(f"note {number}", wait=False)
        deadline = time.monotonic() + 30
        while not ollama.asked("/api/chat") and time.monotonic() < deadline:
            time.sleep(0.01)
        assert ollama.asked("/api/chat")
        began = time.monotonic()
        memory.close()
        assert time.monotonic() - began < 15
    other = open_memory(analyst=model())
    assert states(other) == ["pending"] * 5
    report = other.enrich()
    assert (report.done, report.failed, report.remaining) == (5, 0, 0)


def test_closing_over_a_call_that_cannot_be_broken_off_frees_its_note_and_drops_what_comes_late(open_memory: Open):
    thinking, go_on = threading.Event(), threading.Event()

    def analyse(draft: Draft) -> Analysis:
        thinking.set()
        assert go_on.wait(30)
        return Analysis(context="Too late.")

    memory = open_memory(analyst=model(analyse))
    memory.add("the boiler hums", wait=False)
    assert thinking.wait(30)
    (thread,) = [each for each in threading.enumerate() if each.name == "amem-worker"]
    began = time.monotonic()
    memory.close()
    assert time.monotonic() - began < 15
    other = open_memory(analyst=model())
    assert other.enrich().done == 1
    go_on.set()
    thread.join(30)
    assert not thread.is_alive()
    assert [note.context for note in other.memories.values()] == ["By the model."]


def test_closing_while_another_thread_waits_for_a_model_leaves_its_note_pending(open_memory: Open):
    thinking, closed = threading.Event(), threading.Event()
    receipts = []

    def analyse(draft: Draft) -> Analysis:
        thinking.set()
        assert closed.wait(30)
        raise Cancelled("closing")

    memory = open_memory(analyst=model(analyse))
    thread = threading.Thread(target=lambda: receipts.append(memory.add("the boiler hums")))
    thread.start()
    assert thinking.wait(30)
    memory.parts.called_off.set()
    closed.set()
    thread.join(30)
    memory.close()
    assert [receipt.enrichment for receipt in receipts] == ["pending"]
    assert states(open_memory()) == ["pending"]


def test_another_process_may_be_left_the_work(open_memory: Open):
    memory = open_memory(analyst=model(), background=False)
    memory.add("the boiler hums", wait=False)
    assert memory.wait(0)
    assert states(memory) == ["pending"]
    heard = []
    open_memory(analyst=model()).work(once=True, heard=heard.append)
    assert [receipt.enrichment for receipt in heard] == ["done"]
    assert states(memory) == ["done"]


def test_work_goes_on_as_notes_come_until_it_is_closed(open_memory: Open):
    memory = open_memory(analyst=model(), background=False)
    worker = open_memory(analyst=model())
    heard = threading.Semaphore(0)
    thread = threading.Thread(target=worker.work, kwargs={"poll": 0.01, "heard": lambda receipt: heard.release()})
    thread.start()
    for number in range(3):
        memory.add(f"note {number}", wait=False)
        assert heard.acquire(timeout=30)
    worker.close()
    thread.join(30)
    assert not thread.is_alive()
    assert states(memory) == ["done"] * 3


def test_a_worker_that_goes_on_leaves_what_failed_in_peace_for_a_while(open_memory: Open, clock: FrozenClock):
    analyst = model(fail=ServiceUnavailable("down"))
    memory = open_memory(analyst=analyst)
    memory.add("the boiler hums", wait=False)
    assert memory.wait(30)
    asked = len(analyst.drafts)
    memory.add("the roof leaks", wait=False)
    assert memory.wait(30)
    assert len(analyst.drafts) == asked + 1
    clock.advance(minutes=6)
    analyst.fail = None
    memory.add("the pump drips", wait=False)
    assert memory.wait(30)
    assert states(memory) == ["done"] * 3


async def test_asyncio_programs_need_not_wait_either(clock: FrozenClock):
    async with AsyncMemory(embedder=HashEmbedder(64), analyst=model(), clock=clock) as memory:
        receipt = await memory.add("the boiler hums", wait=False)
        receipts = await memory.add_notes(["a", "b"], wait=False)
        assert {receipt.enrichment, *(each.enrichment for each in receipts)} == {Enrichment.PENDING}
        assert await memory.wait(30)
        assert (await memory.read(receipt.id)).enrichment == "done"
        assert (await memory.enrich()).done == 0
