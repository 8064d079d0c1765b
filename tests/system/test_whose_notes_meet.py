"""What is done with several notes at once, each way of it held to the notes of one user, agent and session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from _judging_model import judging_model

from amem import AgenticMemorySystem, load_settings
from amem.analysis import Analysis, Evolution, Extraction, Procedure, Rewrite
from amem.errors import NoteNotFound, NothingToUndo, OperationNotFound, ReviewNotFound, SessionNotFound
from amem.maintenance.sameness import difference
from amem.note import Kind, MemoryNote, Scope, Status
from amem.query import Filter
from amem.scoped import ScopedMemory
from amem.testing import FakeOllama, ScriptedAnalyst

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from amem.analysis import Passage
    from amem.protocols import Embedder
    from amem.testing import FrozenClock

    Open = Callable[..., AgenticMemorySystem]
    Asked = tuple[AgenticMemorySystem, FakeOllama]

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

    analyst = ScriptedAnalyst(extractions=taught, local=False)
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


class TestChats:
    """`scoped(...).assistant()`: what it recalls, learns, lists and resumes is of its user alone."""

    @pytest.fixture
    def asked(self, open_memory: Open, home: Path, minilm: Embedder) -> Iterator[Asked]:
        with FakeOllama(judging_model) as ollama:
            model = {"llm_backend": "ollama", "llm_model": "llama3.2", "ollama_host": ollama.host}
            yield open_memory(analyst=None, embedder=minilm, settings=load_settings(home, **model)), ollama

    def test_a_chat_recalls_and_learns_for_its_own_user(self, asked: Asked) -> None:
        memory, ollama = asked
        memory.add("Wen's patient number is 77123.", **BO)
        ana, bo = memory.scoped(**ANA), memory.scoped(**BO)
        with ana.assistant() as chat:
            del ollama.requests[:]
            chat.say("My dentist is Dr. Alvarez.")
            reply = chat.say("What is Wen's patient number?")
            assert chat.wait(60)
            chat.remember("Tea at five.")
        assert "77123" not in f"{reply} {ollama.requests}"
        assert "Dr. Alvarez" in str(ana.list())
        assert "Tea at five." in str(ana.list())
        assert [note.content for note in bo.list()] == ["Wen's patient number is 77123."]
        with bo.assistant(incognito=True) as chat:
            assert "Alvarez" not in str(chat.say("Who is my dentist?").recalled)

    def test_a_chat_is_listed_resumed_and_replayed_by_its_own_user(self, asked: Asked) -> None:
        memory, _ = asked
        ana, bo = memory.scoped(**ANA), memory.scoped(**BO)
        with ana.assistant() as chat:
            chat.say("My locker code is blue.")
            chat.wait(60)
            hers = chat.session
            learnt = chat.turns()[-1].learnt_by
        with bo.assistant() as chat:
            assert chat.sessions() == []
            assert chat.learning.waiting() == 0
            for ask in (lambda: chat.replay(hers), lambda: bo.assistant(session=hers[:8])):
                with pytest.raises(SessionNotFound):
                    ask()
            assert learnt is not None
            with pytest.raises(OperationNotFound):
                chat.taught(learnt)
            assert chat.forget("locker").candidates == ()
            with pytest.raises(NothingToUndo):
                chat.undo()
        with ana.assistant(session=hers[:8]) as chat:
            assert [turn.question for turn in chat.turns()] == ["My locker code is blue."]
            assert chat.undo().reverted

    def test_whoever_has_the_whole_collection_goes_on_with_a_chat_in_its_users_name(self, asked: Asked) -> None:
        memory, ollama = asked
        memory.add("Wen's patient number is 77123.", **BO)
        with memory.scoped(**ANA).assistant() as chat:
            chat.say("Hello.")
            hers = chat.session
        with memory.assistant(session=hers) as chat:
            del ollama.requests[:]
            chat.say("My dentist is Dr. Alvarez.")
            chat.say("What is Wen's patient number?")
            assert chat.wait(60)
        assert "77123" not in str(ollama.requests)
        assert "Alvarez" in str(memory.scoped(**ANA).list())

    def test_what_another_process_learns_from_a_chat_it_learns_for_its_user(
        self, open_memory: Open, home: Path, minilm: Embedder, clock: FrozenClock
    ) -> None:
        settings = load_settings(home, llm_backend="offline", chat_learning="night")
        memory = open_memory(analyst=None, embedder=minilm, settings=settings)
        with memory.scoped(**ANA).assistant() as chat:
            chat.say("My dentist is Dr. Alvarez.")
        clock.advance(days=2)
        memory.enrich()
        notes = memory.list(EVERY, limit=100)
        assert {note.kind for note in notes} > {Kind.EPISODE}
        assert {note.metadata["user_id"] for note in notes} == {"ana"}

    def test_a_purge_takes_the_words_out_of_the_users_chat(self, asked: Asked) -> None:
        memory, _ = asked
        ana = memory.scoped(**ANA)
        with ana.assistant() as chat:
            chat.say("My locker code is marzipan.")
            assert chat.wait(60)
            for note in ana.list(EVERY):
                ana.purge(note.id)
            assert "marzipan" not in str(chat.turns())


def test_a_conversation_that_is_named_like_one_of_a_user_is_another(open_memory: Open) -> None:
    analyst = ScriptedAnalyst()
    memory = open_memory(analyst=analyst)
    memory.remember([{"role": "user", "content": "My locker code is 4711."}], conversation="chat-1", **ANA)
    forged = Scope.of(ANA).naming("chat-1")
    report = memory.remember([{"role": "user", "content": "What did I say?"}], conversation=forged)
    assert report.conversation == forged
    assert "4711" not in str(analyst.passages[-1])


#: Public methods of the collection that are of all of it, whosever its notes are, and why.
WHOLE = {
    "opens, closes, copies and cares for files": (
        "backup close collections consolidate_memories copy diff doctor enrich feed_chroma finish_purges folder fork"
        " health maintain_when_quiet maintenance_due merge passed_over propose_shared read_only reindex retriever"
        " turns_waiting wait work"
    ),
    "is about models, not about notes": (
        "analyze_content chat_model language_advice llm_controller model_name survey evo_cnt evo_threshold"
    ),
    "is the log and the lists of the browser, which is a person's with the whole file before them": (
        "actors cards cards_of deeds doings log_order named operations own_undone place pulse shelf surroundings today"
    ),
    "is worked out over the whole collection": "fade rename_tag",
    "hands out every note as A-Mem's programs read them": "memories process_memory",
    "is what imports and vaults bring and ask after": (
        "file_notes notes_of_sources notes_titled restore_notes revise settle vault"
    ),
    "says whose notes are": "scopes_of",
    "hands out the services of the whole collection": "parts",
}


def test_every_method_of_a_collection_is_there_for_one_user_or_is_of_the_whole() -> None:
    def public(cls: type) -> set[str]:
        return {name for name in dir(cls) if not name.startswith("_")}

    whole = {name for names in WHOLE.values() for name in names.split()}
    assert public(AgenticMemorySystem) - public(ScopedMemory) == whole


def test_looking_through_ones_own_part_shows_nothing_of_others(shared: AgenticMemorySystem) -> None:
    job = shared.add("I work at Google in Zurich. #work", **ANA, time="2026-01-01").id
    shared.add("My manager is Pieter.", **ANA, time="2026-01-02")
    shared.retract(job)
    shared.declare_topic("vault", scope=Scope.of(ANA))
    shared.add("The vault opens with 4711. #secret", **ANA)
    bo = shared.scoped(**BO)
    his = bo.add("Tea at five.").id
    assert (bo.flags(), bo.doubted(), bo.conflicts_open(), bo.supersessions()) == ([], [], [], [])
    assert (bo.topic_map().topics, bo.topic_map().loose) == ((), 1)
    assert (bo.census().notes, "secret" in bo.census().tags, list(bo.census().topics)) == (1, False, [])
    assert sum(bo.days().values()) == 1
    assert bo.similar(his) == []
    assert list(bo.graph(his).cards) == list(bo.neighbourhood(his, 3).notes) == [his]
    assert bo.read_many([job, his]).keys() == {his}
    for ask in (bo.graph, bo.neighbourhood, bo.ancestors, bo.flags, bo.similar, bo.strength, bo.keep, bo.expand):
        with pytest.raises(NoteNotFound):
            ask(job)
    with pytest.raises(NoteNotFound):
        bo.remove_topic("vault")
    assert (bo.pin(job), bo.delete_notes([job]), bo.unlink(job, his)) == (False, 0, False)


def test_a_review_is_decided_by_whose_note_it_is(open_memory: Open) -> None:
    unsure = Evolution(rewrites=(Rewrite("n1", "It hums.", None, "there is news", 0.3),))
    memory = open_memory(analyst=ScriptedAnalyst(Analysis(context="A boiler."), lambda *_: unsure))
    memory.add("The boiler in the cellar hums", **ANA)
    memory.add("The boiler in the cellar hums, says the neighbour", **ANA)
    (review,) = memory.reviews()
    for decide in (memory.scoped(**BO).accept, memory.scoped(**BO).reject):
        with pytest.raises(ReviewNotFound):
            decide(review.id)
    assert memory.scoped(**ANA).accept(review.id) == ("context",)


def test_a_purge_takes_no_words_from_another_user_and_tells_nothing_of_theirs(shared: AgenticMemorySystem) -> None:
    """Who guesses a sentence of Bo's, adds it and purges it, must neither hear of it nor take it from him."""
    ana, bo = shared.scoped(**ANA), shared.scoped(**BO)
    told = ("We paint the boat on Friday.", "My locker code is blue seven.", "The vault opens at nine.")
    hers = [ana.add(text).id for text in told]
    bo.add(f"On the boat: {told[0]} Bring brushes.", context=f"Bo says: {told[0]}")
    bo.remember([{"role": "user", "content": f"{told[2]} I love tea."}, {"role": "user", "content": "Ah, well."}])
    with bo.assistant() as chat:
        chat.say(f"{told[1]} Nice weather today.")
        assert chat.wait(60)

        def seen() -> str:
            notes = bo.list(EVERY, limit=100)
            return str((notes, [(bo.expand(note.id), bo.history(note.id)) for note in notes], chat.turns()))

        before = seen()
        reports = [ana.purge(id) for id in hers]
        assert seen() == before
    for report, id in zip(reports, hers, strict=True):
        assert report is not None
        assert report.notes == (id,)
        assert set(report.rewritten) < set(hers)
        assert (report.left, report.stands_again) == ((), ())
        assert set(report.removed or {}) <= {"versions", "links"}
    assert ana.count() == 0


def test_what_one_user_purges_goes_although_another_says_the_same(shared: AgenticMemorySystem) -> None:
    ana, bo = shared.scoped(**ANA), shared.scoped(**BO)
    bo.add("The vault opens with marzipan 77123.")
    hers = ana.add("The vault opens with marzipan 77123.").id
    ana.remember([{"role": "user", "content": "The vault opens with marzipan 77123. I love tea."}])
    with ana.assistant() as chat:
        chat.say("The vault opens with marzipan 77123. Nice weather today.")
        assert chat.wait(60)
        for id in [hers, *(note.id for note in ana.list(EVERY) if "marzipan" in note.content)]:
            ana.purge(id)
        assert "marzipan" not in str((ana.list(EVERY), [ana.expand(note.id) for note in ana.list(EVERY)], chat.turns()))
    assert bo.count() == 1
