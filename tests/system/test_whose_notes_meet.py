"""What is done with several notes at once, each way of it held to the notes of one user, agent and session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from amem.analysis import Analysis, Evolution, Extraction, Procedure, Rewrite
from amem.errors import NoteNotFound
from amem.maintenance.merging.same import difference
from amem.note import Kind, MemoryNote, Scope, Status
from amem.query import Filter
from amem.testing import ScriptedAnalyst

if TYPE_CHECKING:
    from collections.abc import Callable

    from amem import AgenticMemorySystem
    from amem.analysis import Passage
    from amem.protocols import Embedder
    from amem.testing import FrozenClock

    Open = Callable[..., AgenticMemorySystem]

ANA, BO = {"user_id": "ana"}, {"user_id": "bo"}
EVERY = Filter(statuses=tuple(Status))


@pytest.fixture
def shared(open_memory: Open, minilm: Embedder) -> AgenticMemorySystem:
    """A collection that the offline rules read."""
    return open_memory(analyst=None, llm_backend="offline", embedder=minilm)


def test_a_topic_is_found_by_name_among_ones_own(shared: AgenticMemorySystem) -> None:
    shared.add("The garden needs water in July.", **ANA)
    shared.add("The garden gate has the code 4711.", **BO)
    for ids in (ANA, BO):
        shared.declare_topic("garden", scope=Scope.of(ids))
    shared.declare_topic("vault", scope=Scope.of(BO))
    ana = shared.scoped(**ANA)
    assert "4711" not in str(ana.topic("garden"))
    theirs = shared.scoped(**BO).topic("garden").topic.id
    for name in ("vault", "va", theirs, theirs[:8]):
        with pytest.raises(NoteNotFound):
            ana.topic(name)


def test_the_review_queue_shows_what_is_proposed_for_ones_own_notes(open_memory: Open) -> None:
    unsure = Evolution(rewrites=(Rewrite("n1", "It hums in {0}.", None, "there is news", 0.3),))
    memory = open_memory(analyst=ScriptedAnalyst(Analysis(context="A boiler."), lambda *_: unsure))
    for ids in (ANA, BO):
        memory.add("The boiler in the cellar hums", **ids)
        memory.add("The boiler in the cellar hums, says the neighbour", **ids)
    assert len(memory.reviews()) == 2
    (hers,) = memory.scoped(**ANA).reviews()
    assert memory.memories[hers.note].metadata == ANA


def test_a_model_that_reads_a_conversation_is_shown_no_procedure_of_others(open_memory: Open) -> None:
    def taught(passage: Passage) -> Extraction:
        return Extraction("", (), (Procedure("Deploy", "a new version is there", ("tag it", "push it"), ("m1",)),))

    analyst = ScriptedAnalyst(extractions=taught)
    memory = open_memory(analyst=analyst)
    said = [{"role": "user", "content": "To deploy a new version: tag it, then push it."}]
    for ids in (ANA, BO):
        memory.remember(said, **ids)
    assert [passage.procedures for passage in analyst.passages] == [(), ()]
    memory.remember(said, conversation="again", **BO)
    (known,) = analyst.passages[-1].procedures
    assert known.name == "Deploy"


def test_a_digest_of_old_notes_sums_up_and_cites_those_of_one_user(
    shared: AgenticMemorySystem, clock: FrozenClock
) -> None:
    told: dict[str, dict[str, str]] = {}
    for number in range(4):
        for ids in (ANA, BO):
            text = f"Small talk {number} of {ids['user_id']} about Lisbon."
            chat = {"kind": "chitchat", "importance": 0.1, "conversation_id": "chat-1", "entities": ["Lisbon"]}
            told[shared.add(text, **chat, **ids).id] = ids
    clock.advance(days=60)
    shared.maintain(cycle="weekly")
    digests = [note for note in shared.list(EVERY, limit=100) if "digest" in note.metadata]
    assert sorted(note.metadata["user_id"] for note in digests) == ["ana", "bo"]
    for digest in digests:
        cited = {id for id in told if id[:8] in digest.content}
        assert cited
        assert {told[id]["user_id"] for id in cited} == {digest.metadata["user_id"]}
        assert {link.target for link in shared.links(digest.id)} == cited


def test_taking_a_fact_back_casts_doubt_on_no_note_of_another_user(shared: AgenticMemorySystem) -> None:
    job = shared.add("I work at Google.", **ANA, time="2026-01-01").id
    hers = shared.add("My manager is Pieter.", **ANA, time="2026-01-02").id
    shared.add("My manager is Fatima.", **BO, time="2026-01-02")
    shared.retract(job)
    assert [flag.note for flag in shared.doubted()] == [hers]


@pytest.mark.parametrize(("local", "size"), [(True, 1), (True, 3), (False, 1)])
def test_what_was_said_before_a_turn_was_said_in_its_own_users_conversation(
    open_memory: Open, local: bool, size: int
) -> None:
    analyst = ScriptedAnalyst(local=local)
    memory = open_memory(analyst=analyst)
    said = [("My locker code is 4711.", ANA), ("What do we eat?", BO), ("Soup, I think.", BO)]
    notes: list[dict[str, Any]] = [
        {"content": text, "conversation_id": "chat-1", "ordinal": ordinal, **ids}
        for ordinal, (text, ids) in enumerate(said, start=1)
    ]
    for batch in [[note] for note in notes] if size == 1 else [notes]:
        memory.add_notes(batch)
    assert [draft.previous for draft in analyst.drafts] == [(), (), ("What do we eat?",)]


def test_two_users_who_say_the_same_keep_a_note_each(shared: AgenticMemorySystem) -> None:
    text, again = "The office closes at 6 pm on Fridays", "On Fridays the office closes at 6 pm"
    hers = shared.add(text, **ANA).id
    his = shared.add(again, **BO).id
    assert shared.maintain(cycle="weekly").consolidated == 0
    assert {shared.memories[id].status for id in (hers, his)} == {Status.ACTIVE}
    shared.add(again, **ANA)
    assert shared.maintain(cycle="weekly").consolidated == 2
    assert shared.memories[his].status is Status.ACTIVE


def test_notes_that_say_the_same_differ_by_whose_they_are() -> None:
    # Asked where the neighbours were looked up among all, too: each of the two guards holds by itself.
    one, other = (MemoryNote(content="Tea at five.", kind=Kind.FACT, metadata=ids) for ids in (ANA, BO))
    assert difference(one, other, 45) == "another user, agent or session"


def test_a_turn_is_not_found_by_what_another_user_said_before_it(shared: AgenticMemorySystem) -> None:
    turn = {"conversation_id": "chat-1", "speaker": "user"}
    shared.add("Shall we paint the boat?", **turn, ordinal=1, **BO)
    hers = shared.add("Yes, on Friday.", **turn, ordinal=2, **ANA).id
    ana = shared.scoped(**ANA)
    (hit,) = ana.search("paint the boat", touch=False)
    assert hit.id == hers
    assert "turn before" not in hit.explanation.words()
    shared.add("Shall we paint the boat?", **turn, ordinal=1, **ANA)
    lent = next(each for each in ana.search("paint the boat", touch=False) if each.id == hers)
    assert "turn before" in lent.explanation.words()
