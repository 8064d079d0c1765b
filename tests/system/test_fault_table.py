"""What a user sees, and what state notes are in, whatever goes wrong with a model: the table of docs/models.md.

Each row of that table is run over the wire, and has to say what happened. Whatever it says: no exception, no note lost,
no note touched that was not shown, and what the rules stood in for is done by the model once it is well again.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from _judging_model import judging_model

from amem import AgenticMemorySystem, load_settings
from amem.note import Enrichment, Status
from amem.storage.chats import TurnState
from amem.testing import SMUGGLED, FakeOllama, Fault, HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

pytestmark = pytest.mark.thorough

PAGE = Path(__file__).resolve().parents[2] / "docs" / "models.md"
OLD = ("Amélia is our landlord in Lisbon.", "阿梅莉亚下周回里斯本。", SMUGGLED)
NEW = "Amélia, the landlord, raised the rent in Lisbon."
SAID = "The landlord Amélia lives in Porto."
#: Names of the table's rows that are no fault of the fake's.
WELL, REFUSED = "well", "refused"
RUNGS = {
    "constrained": "by the model",
    "repaired": "by the model, repaired",
    "retried": "by the model, asked again",
    "sections": "by the model, in plain lines",
}


def documented() -> dict[str, tuple[str, str, str]]:
    """The rows of the table: fault -> (add, remember, chat)."""
    rows = re.findall(r"^\| [^|]+ \(`([\w-]+)`\) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", PAGE.read_text("utf-8"), re.M)
    return {name: (add.strip(), remember.strip(), chat.strip()) for name, add, remember, chat in rows}


TABLE = documented()


@pytest.fixture
def ollama() -> Iterator[FakeOllama]:
    with FakeOllama(judging_model, pace=0.01) as server:
        yield server


def opened(home: Path, ollama: FakeOllama, row: str = WELL) -> AgenticMemorySystem:
    settings = load_settings(
        home,
        llm_backend="ollama",
        llm_model="llama3.2",
        ollama_host=ollama.host,
        # Long for all that answers at all, however busy the machine.
        llm_timeout=0.5 if row == Fault.SLOW else 30,
        llm_retries=0,
        timezone="UTC",
    )
    return AgenticMemorySystem(settings=settings, embedder=HashEmbedder())


def break_it(ollama: FakeOllama, row: str) -> None:
    if row == REFUSED:
        ollama.stop()
    elif row != WELL:
        ollama.fault = Fault(row)


def mend_it(ollama: FakeOllama) -> None:
    ollama.fault = None
    ollama.start()


def how(rungs: Mapping[str, int], *, degraded: bool) -> str:
    """What a user is told of an answer: who gave it in the end, and how hard that was."""
    if degraded:
        assert rungs.get("offline")
        return "by the rules for now"
    said = RUNGS[max((rung for rung in RUNGS if rungs.get(rung)), key=list(RUNGS).index)]
    # Two further calls are spent on what was said; its notes wait for `amem enrich`.
    return f"{said}; its notes by the rules" if rungs.get("offline") else said


def test_the_table_has_a_row_for_everything_that_can_go_wrong() -> None:
    assert set(TABLE) == {WELL, REFUSED, *map(str, Fault)}


@pytest.mark.parametrize("row", TABLE)
def test_add_says_what_became_of_the_note(tmp_path: Path, ollama: FakeOllama, row: str) -> None:
    with opened(tmp_path, ollama) as memory:
        old = [memory.add(content).id for content in OLD]
        bystander = memory.add("Zwei Eier ins Ragù.").id
        untouched = memory.history(bystander)
        described = {id: (memory.memories[id].context, memory.memories[id].tags) for id in (*old, bystander)}
    with opened(tmp_path, ollama, row) as memory:
        break_it(ollama, row)
        receipt = memory.add(NEW)
        degraded = receipt.enrichment is Enrichment.DEGRADED
        assert how(receipt.cost.rungs, degraded=degraded) == TABLE[row][0]
        assert bool(receipt.error) == degraded
        note = memory.read(receipt.id)
        assert note is not None
        assert (note.content, note.status) == (NEW, Status.ACTIVE)
        assert note.keywords
        assert receipt.id in [hit.id for hit in memory.search("Who raised the rent?", k=3)]
        for id, content in zip(old, OLD, strict=True):
            kept = memory.read(id)
            assert kept is not None
            assert (kept.content, kept.status) == (content, Status.ACTIVE)
        assert len(receipt.evolved) <= 3
        if bystander not in {evolved.id for evolved in receipt.evolved}:
            assert memory.history(bystander) == untouched
        if row == Fault.OBEDIENT:
            # What a note ordered is a proposal at most, which a person sees before anything comes of it.
            assert {id: (memory.memories[id].context, memory.memories[id].tags) for id in described} == described
            assert [review.changes["context"][1] for review in memory.reviews()] == ["deleted"]
            assert {review.note for review in memory.reviews()} <= set(described)
        mend_it(ollama)
    with opened(tmp_path, ollama) as memory:
        report = memory.enrich()
        assert (report.done, report.remaining) == (int(degraded), 0)
        note = memory.read(receipt.id)
        assert note is not None
        assert (note.enrichment, note.analyst) == (Enrichment.DONE, "ollama/llama3.2")


@pytest.mark.parametrize("row", TABLE)
def test_remember_says_what_became_of_the_conversation(tmp_path: Path, ollama: FakeOllama, row: str) -> None:
    said = [
        {"role": "user", "content": SAID, "at": "2026-03-02T18:00"},
        {"role": "assistant", "content": "Noted.", "at": "2026-03-02T18:01"},
    ]
    with opened(tmp_path, ollama, row) as memory:
        break_it(ollama, row)
        report = memory.remember(said, conversation="kitchen")
        assert how(report.cost.rungs, degraded=report.degraded) == TABLE[row][1]
        assert bool(report.error) == report.degraded
        (episode,) = report.episodes
        assert [message.content for message in memory.expand(episode)] == [SAID, "Noted."]
        assert all(memory.sources([receipt.id])[receipt.id] for receipt in report.learnt)
        mend_it(ollama)
    with opened(tmp_path, ollama) as memory:
        memory.enrich()
        assert [message.content for message in memory.expand(episode)] == [SAID, "Noted."]
        held = [note for note in memory.list() if note.id != episode]
        # Whoever learns too little, by half an answer or half a list, still has every word in the episode.
        learnt = [note.content for note in held if "Porto" in note.content]
        assert learnt == ([] if row in (Fault.TRUNCATED, Fault.WRONG_LENGTHS) else [SAID])
        assert all(note.enrichment is Enrichment.DONE for note in memory.list())


@pytest.mark.parametrize("row", TABLE)
def test_chat_says_why_there_is_no_answer_and_what_is_remembered(tmp_path: Path, ollama: FakeOllama, row: str) -> None:
    said = {
        TurnState.ANSWERED: "what the model wrote",
        TurnState.INTERRUPTED: "its beginning, and why it broke off",
        TurnState.UNANSWERED: "why there is none, and what is remembered",
    }
    with opened(tmp_path, ollama) as memory:
        memory.add(OLD[0])
    with opened(tmp_path, ollama, row) as memory:
        break_it(ollama, row)
        with memory.assistant() as assistant:
            reply = assistant.say("Who is our landlord?")
            assert said[reply.state] == TABLE[row][2]
            assert reply.text.strip()
            # Without a model memory itself answers.
            assert reply.state is not TurnState.UNANSWERED or "Amélia" in reply.text
            assert bool(reply.error and reply.hint) == (reply.state is not TurnState.ANSWERED)
            assert OLD[0] in [recalled.text for recalled in reply.recalled]
            session = assistant.session
            mend_it(ollama)
    with opened(tmp_path, ollama) as memory, memory.assistant(session=session) as assistant:
        assert [turn.question for turn in assistant.turns()] == ["Who is our landlord?"]
        kept = memory.list()
        assert OLD[0] in [note.content for note in kept]
        assert all(note.status is Status.ACTIVE for note in kept)
