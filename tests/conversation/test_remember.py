"""Learning from conversations: what is stored before any model is asked, and what becomes of what models answer."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from learning_home import LearningHome

from amem.analysis import Extraction, Passage, Procedure, Statement
from amem.analysts.model_analyst import ModelAnalyst
from amem.analysts.rules import OfflineAnalyst
from amem.errors import Cancelled, InvalidInput, NoteNotFound, ServiceUnavailable
from amem.llm.ollama_chat import OllamaChat
from amem.note import Enrichment, Kind, LinkType, Message, Role, Status
from amem.retrieval.budget import as_recalled
from amem.testing import FakeOllama, ScriptedAnalyst, ScriptedChat
from amem.writing.worker import RETRY_SECONDS, JobHand

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from amem.protocols import Vocabulary


def say(content: str, role: str = "user", **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **more}


CHAT = [
    say("I moved to Lisbon last week. I am allergic to peanuts!", name="Ana", at="2026-03-01T10:00"),
    say("How lovely, you must enjoy the 3 beaches there.", "assistant", at="2026-03-01T10:01"),
    say("Thanks! Which tram goes to Belém?", name="Ana", at="2026-03-01T10:02"),
    say("Our sprint review is every second Friday.", name="Ana", at="2026-03-01T13:00"),
]
MOVED = Statement("Ana moved to Lisbon last week.", Kind.FACT, ("m1",))
ALLERGY = Statement("Ana is allergic to peanuts.", Kind.CONSTRAINT, ("m1",))
REVIEW = Statement("Ana's sprint review is every second Friday.", Kind.FACT, ("m1",))
FIRST = Extraction("Ana told of her move to Lisbon and her allergy.", (MOVED, ALLERGY))
SECOND = Extraction("Ana said when her sprint review is.", (REVIEW,))
DOWN = ServiceUnavailable("nobody answers at 127.0.0.1:11434", passing=True)


def model(*extractions: Extraction, **how: Any) -> ScriptedAnalyst:
    """A model's stand-in: not local, so that notes are stored before it is asked."""
    return ScriptedAnalyst(extractions=list(extractions), local=False, name="scripted/model", **how)


# -- what was said -----------------------------------------------------------------------------------------------------


def test_each_episode_becomes_a_note_that_expands_word_for_word_to_its_messages(tmp_path: Path) -> None:
    with LearningHome(tmp_path, model(FIRST, SECOND)) as home:
        report = home.learner.remember(CHAT, conversation="chat")
        assert [len(home.expanded(note)) for note in report.episodes] == [3, 1]
        said = [message for note in report.episodes for message in home.expanded(note)]
        assert [message.content for message in said] == [each["content"] for each in CHAT]
        assert [message.role for message in said] == [Role.USER, Role.ASSISTANT, Role.USER, Role.USER]
        assert [message.speaker for message in said] == ["Ana", None, "Ana", "Ana"]
        assert said[3].at == datetime(2026, 3, 1, 13, tzinfo=UTC)
        first = home.notes()["Ana told of her move to Lisbon and her allergy."]
        assert first.id == report.episodes[0]
        assert (first.kind, first.enrichment, first.analyst) == (Kind.EPISODE, Enrichment.DONE, "scripted/model")
        episode = first.metadata["episode"]
        assert (episode["first"], episode["last"], episode["participants"]) == (1, 3, ["Ana", "assistant"])
        with pytest.raises(NoteNotFound):
            home.expanded("nothing")


def test_statements_become_notes_with_their_messages_their_episode_their_speaker_and_their_time(tmp_path: Path) -> None:
    with LearningHome(tmp_path, model(FIRST, SECOND)) as home:
        report = home.learner.remember(CHAT, conversation="chat")
        note = home.facts()["Ana is allergic to peanuts."]
        assert (note.kind, note.speaker, note.at) == (Kind.CONSTRAINT, "Ana", datetime(2026, 3, 1, 10, tzinfo=UTC))
        assert (note.conversation_id, note.ordinal) == ("chat", 1)
        assert [source.text for source in home.memory.sources([note.id])[note.id]] == [CHAT[0]["content"]]
        derived = [link.target for link in home.links(note) if link.type is LinkType.DERIVED_FROM]
        assert derived == [report.episodes[0]]
        assert {receipt.id for receipt in report.learnt} == {note.id for note in home.facts().values()}
        assert report.stored == 3
        assert not report.dropped
        assert home.waiting() == 0


def test_the_messages_and_a_note_for_each_episode_are_stored_before_the_model_is_asked(tmp_path: Path) -> None:
    seen: list[tuple[int, int, int]] = []

    class Looking(ScriptedAnalyst):
        def extract(self, passage: Passage) -> Extraction:
            with home.store.read() as session:
                seen.append((session.sources.count(), len(home.notes()), home.waiting()))
            return super().extract(passage)

    with LearningHome(tmp_path, Looking(extractions=[FIRST, SECOND], local=False)) as home:
        home.learner.remember(CHAT)
    assert seen == [(4, 2, 2), (4, 4, 1)]


def test_the_model_is_asked_once_for_each_episode_with_what_was_said_before_as_context(tmp_path: Path) -> None:
    analyst = model(FIRST, SECOND)
    with LearningHome(tmp_path, analyst) as home:
        report = home.learner.remember(CHAT, conversation="chat")
        assert [len(passage.said) for passage in analyst.passages] == [3, 1]
        assert [len(passage.earlier) for passage in analyst.passages] == [0, 3]
        assert "Worth remembering" in analyst.passages[0].rules
        assert report.cost.seconds > 0


def test_no_more_than_thirty_earlier_messages_are_shown(tmp_path: Path) -> None:
    analyst = ScriptedAnalyst(local=False)
    with LearningHome(tmp_path, analyst) as home:
        home.learner.remember(
            [say(f"Point number {number}.", at="2026-03-01T10:00") for number in range(40)], conversation="c"
        )
        home.learner.remember([say("And so on.", at="2026-03-01T12:00")], conversation="c")
        assert [message.content for message in analyst.passages[1].earlier][::29] == [
            "Point number 10.",
            "Point number 39.",
        ]
        home.learner.remember([say("Hm.")], conversation="d", earlier=[say("Something else.", "assistant")])
        assert [message.content for message in analyst.passages[2].earlier] == ["Something else."]


def test_remembering_the_same_messages_again_adds_nothing_and_asks_nobody(tmp_path: Path) -> None:
    analyst = model(FIRST, SECOND)
    with LearningHome(tmp_path, analyst) as home:
        home.learner.remember(CHAT)
        before = home.notes().keys()
        again = home.learner.remember(CHAT)
        assert (again.operation, again.known, again.episodes) == (None, 4, ())
        assert home.notes().keys() == before
        assert len(analyst.passages) == 2


def test_a_conversation_that_went_on_adds_only_what_is_new(tmp_path: Path) -> None:
    with LearningHome(tmp_path, OfflineAnalyst()) as home:
        home.learner.remember(CHAT[:1], conversation="chat")
        report = home.learner.remember(CHAT, conversation="chat")
        assert report.known == 1
        assert [len(home.expanded(note)) for note in report.episodes] == [2, 1]
        last = home.memory.sources([report.episodes[1]])[report.episodes[1]]
        assert [source.ordinal for source in last] == [4]


def test_the_same_words_said_twice_are_two_messages_and_a_message_with_an_id_is_one(tmp_path: Path) -> None:
    with LearningHome(tmp_path, OfflineAnalyst()) as home:
        twice = home.learner.remember([say("ok"), say("ok")], conversation="a")
        assert len(home.expanded(twice.episodes[0])) == 2
        home.learner.remember([say("I like tea.", id="m7")], conversation="b")
        assert home.learner.remember([say("I like tea.", id="m7")], conversation="b").known == 1
        assert home.learner.remember([say("I like tea.", id="m7")], conversation="c").known == 0


def test_two_threads_that_remember_the_same_conversation_store_it_once(tmp_path: Path) -> None:
    with LearningHome(tmp_path, OfflineAnalyst()) as home, ThreadPoolExecutor(4) as threads:
        done = [threads.submit(home.learner.remember, CHAT, conversation="chat") for _ in range(4)]
        reports = [each.result() for each in done]
        assert sorted(report.known for report in reports) == [0, 4, 4, 4]
        assert len([note for note in home.notes().values() if "episode" in note.metadata]) == 2
        with home.store.read() as session:
            assert session.sources.count() == 4


def test_many_chats_begin_with_hi_and_each_is_remembered_whole(tmp_path: Path) -> None:
    with LearningHome(tmp_path, OfflineAnalyst()) as home:
        one = home.learner.remember([say("hi"), say("I like tea.")])
        other = home.learner.remember([say("hi"), say("I like coffee.")])
        assert one.conversation != other.conversation
        assert [message.content for message in home.expanded(other.episodes[0])] == ["hi", "I like coffee."]


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ([{"role": "user", "content": "x", "tool_calls": []}], "message 1 .* unknown 'tool_calls'"),
        ([say("fine"), say("x", "narrator")], "message 2 .* role is 'narrator'"),
        ([{"role": "user", "content": ["x"]}], "content must be text"),
        ([say("x", at="yesterday")], "cannot read 'yesterday' as a time"),
        ([say("x", at=17)], "its time is 17"),
        ([say("x", at="2026-03-01T10:00", timestamp="2026-03-02T10:00")], "something else"),
        ([say("\ud800")], "not text"),
        (["hello"], "it is a str"),
        ("hello", "must be a list"),
    ],
)
def test_a_message_that_cannot_be_used_is_refused_by_its_number_and_nothing_is_stored(
    tmp_path: Path, messages: Any, words: str
) -> None:
    with LearningHome(tmp_path, OfflineAnalyst()) as home:
        with pytest.raises(InvalidInput, match=words):
            home.learner.remember(messages)
        with home.store.read() as session:
            assert session.sources.count() == 0


def test_messages_without_a_word_are_left_out_and_none_at_all_are_nothing(tmp_path: Path) -> None:
    with LearningHome(tmp_path, OfflineAnalyst()) as home:
        assert home.learner.remember([]).operation is None
        assert home.learner.remember([say("  \n"), say(as_recalled("[1] Ana likes tea"))]).operation is None
        report = home.learner.remember([Message(Role.USER, "I like tea."), say("")])
        assert [message.content for message in home.expanded(report.episodes[0])] == ["I like tea."]


def test_times_without_a_zone_are_in_that_of_the_settings_and_messages_without_a_time_are_of_now(
    tmp_path: Path,
) -> None:
    with LearningHome(tmp_path, OfflineAnalyst()) as home:
        home.learner.remember([say("I like tea.", timestamp="202603011000"), say("I like cake.")])
        assert home.facts()["I like tea."].at == datetime(2026, 3, 1, 10, tzinfo=UTC)
        assert home.facts()["I like cake."].at == home.clock.now()


# -- what a model may not do -------------------------------------------------------------------------------------------


LIES = [
    (Statement("Ana enjoys the 3 beaches.", Kind.FACT, ("m2",)), "only the assistant said so"),
    (Statement("Ana moved to Porto.", Kind.FACT, ("m1",)), "nobody spoke of Porto"),
    (Statement("Ana moved to Lisbon in 2019.", Kind.FACT, ("m1",)), "nobody said 2019"),
    (Statement("Ana loves jazz.", Kind.PREFERENCE, ("m1",)), "not in the messages it names"),
    (Statement("Ana moved.", Kind.FACT, ("m9",)), "no message that was shown"),
    (Statement("Ana moved.", Kind.FACT, ()), "no message that was shown"),
    (Statement("Ana enjoys the beaches in Lisbon.", Kind.FACT, ("m2", "m3")), None),
]


@pytest.mark.parametrize(("lie", "why"), LIES)
def test_what_nobody_stated_is_dropped_with_the_reason(tmp_path: Path, lie: Statement, why: str | None) -> None:
    with LearningHome(tmp_path, model(Extraction("", (lie, ALLERGY)))) as home:
        report = home.learner.remember(CHAT[:3])
        if why is None:
            # "Thanks!" after the assistant's guess neither confirms it nor answers it.
            assert len(report.dropped) == 1
        else:
            assert [sentence for sentence in report.dropped if why in sentence]
        assert list(home.facts()) == ["Ana is allergic to peanuts."]


def test_a_question_of_the_assistants_that_was_answered_with_yes_is_stated(tmp_path: Path) -> None:
    chat = [say("I got a dog."), say("Is it a corgi called Rex?", "assistant"), say("Yes!")]
    told = Statement("The user's dog is a corgi called Rex.", Kind.FACT, ("m2", "m3"))
    with LearningHome(tmp_path, model(Extraction("", (told,)))) as home:
        home.learner.remember(chat)
        assert list(home.facts()) == ["The user's dog is a corgi called Rex."]


def test_a_summary_that_names_what_nobody_spoke_of_is_not_taken(tmp_path: Path) -> None:
    with LearningHome(tmp_path, model(Extraction("Ana and Pedro talked of Madrid.", ()))) as home:
        report = home.learner.remember(CHAT[:1])
        assert [sentence for sentence in report.dropped if "summary" in sentence]
        assert "Lisbon" in home.memory.read(report.episodes[0]).content


def test_nothing_is_learnt_from_a_system_message_and_no_model_is_shown_one(tmp_path: Path) -> None:
    analyst = model(Extraction("", (Statement("Ana likes tea.", Kind.FACT, ("m1",)),)))
    with LearningHome(tmp_path, analyst) as home:
        report = home.learner.remember([say("The user's name is Bob. He likes tea.", "system"), say("Hello there")])
        assert [message.content for message in analyst.passages[0].said] == ["Hello there"]
        assert not home.facts()
        assert [message.role for message in home.expanded(report.episodes[0])] == [Role.SYSTEM, Role.USER]
    with LearningHome(tmp_path / "other", OfflineAnalyst()) as home:
        home.learner.remember([say("The user likes tea.", "system"), say("You like tea.", "assistant")])
        assert not home.facts()


def test_recalled_notes_inside_a_prompt_are_neither_stored_nor_learnt_again(tmp_path: Path) -> None:
    prompt = f"{as_recalled('[1] 2026-01-01: Ana hates cilantro.')}\n\nI like mint."
    with LearningHome(tmp_path, OfflineAnalyst()) as home:
        report = home.learner.remember([say(prompt), say("You hate cilantro, as you told me.", "assistant")])
        assert list(home.facts()) == ["I like mint."]
        assert home.expanded(report.episodes[0])[0].content == "I like mint."
        assert not [note for note in home.notes().values() if "cilantro" in note.content]


def test_what_is_said_again_by_another_person_raises_corroboration_instead_of_making_a_note(tmp_path: Path) -> None:
    with LearningHome(tmp_path, OfflineAnalyst()) as home:
        home.learner.remember([say("The office closes at 18:00.", name="Ana")])
        before = home.facts()["The office closes at 18:00."]
        report = home.learner.remember([say("The office closes at 18:00.", name="Ben")])
        after = home.facts()["The office closes at 18:00."]
        assert (report.duplicates, report.stored, report.corroborated) == ((before.id,), 0, 1)
        assert after.trust > before.trust
        assert len(home.memory.sources([before.id])[before.id]) == 2


# -- rules -------------------------------------------------------------------------------------------------------------


def test_what_the_rules_never_keep_becomes_no_note_and_what_they_always_keep_does(tmp_path: Path) -> None:
    (tmp_path / "rules.md").write_text("always: medication\nnever: salary, 工资\n", encoding="utf-8")
    chat = [say("My salary is 5000 euros. I take my medication at 8. I like tea.")]
    greedy = Extraction(
        "The user spoke of a salary of 5000 euros.",
        (
            Statement("The user's salary is 5000 euros.", Kind.FACT, ("m1",)),
            Statement("The user likes tea.", Kind.FACT, ("m1",)),
        ),
    )
    with LearningHome(tmp_path, model(greedy)) as home:
        report = home.learner.remember(chat)
        assert sorted(home.facts()) == ["I take my medication at 8.", "The user likes tea."]
        assert [sentence for sentence in report.dropped if "never keep salary" in sentence]
        assert not [note for note in home.notes().values() if "5000" in note.content]
    with LearningHome(tmp_path / "sub", OfflineAnalyst()) as home:
        (tmp_path / "sub" / "rules.md").write_text("从不：工资\n", encoding="utf-8")
        home.learner.remember([say("我的工资是五千。我喜欢喝茶。")])
        assert list(home.facts()) == ["我喜欢喝茶。"]


def test_a_secret_is_in_no_note_no_source_no_prompt_and_no_receipt(tmp_path: Path) -> None:
    key, password = "sk-proj-abcdefghijklmnop1234", "hunter2"
    analyst = model(
        Extraction("The password is hunter2.", (Statement("The wifi password is hunter2.", Kind.FACT, ("m1",)),))
    )
    with LearningHome(tmp_path, analyst) as home:
        report = home.learner.remember(
            [say(f"The wifi password is {password}. Our key is {key}. I like tea."), say(f"Got it: {key}", "assistant")]
        )
        everything = [
            str(report),
            *(str(note) for note in home.notes().values()),
            *(message.content for message in home.expanded(report.episodes[0])),
            *(message.content for passage in analyst.passages for message in passage.said),
        ]
        assert not [text for text in everything if key in text]
        assert not [text for text in everything[1:] if password in text]


# -- procedures --------------------------------------------------------------------------------------------------------


STEPS = ("Stop the worker.", "Run the migration.", "Start the worker.")
TELLS = say("To deploy: stop the worker, run the migration, start the worker.", name="Ana", at="2026-03-01T10:00")
TELLS_MORE = say("When we deploy, also back up the database before the migration.", name="Ana", at="2026-03-02T10:00")
DEPLOY = Extraction("", (), (Procedure("Deploy", "a new version is to be deployed", STEPS, ("m1",)),))


def newer(passage: Passage) -> Extraction:
    if not passage.procedures:
        return DEPLOY
    steps = (STEPS[0], "Back up the database.", *STEPS[1:])
    return Extraction(
        "", (), (Procedure("Deploy", "a new version is to be deployed", steps, ("m1",), passage.procedures[0].handle),)
    )


def test_a_procedure_becomes_a_note_of_its_name_its_trigger_and_its_numbered_steps(tmp_path: Path) -> None:
    with LearningHome(tmp_path, model(DEPLOY)) as home:
        home.learner.remember([TELLS])
        (note,) = home.facts().values()
        assert note.kind is Kind.PROCEDURE
        assert note.content == (
            "Deploy\nWhen: a new version is to be deployed\n"
            "1. Stop the worker.\n2. Run the migration.\n3. Start the worker."
        )
        assert note.metadata["procedure"]["steps"] == list(STEPS)


def test_a_newer_form_of_a_known_procedure_takes_its_place_and_the_older_one_is_in_its_history(tmp_path: Path) -> None:
    analyst = ScriptedAnalyst(extractions=newer, local=False, name="scripted/model")
    with LearningHome(tmp_path, analyst) as home:
        home.learner.remember([TELLS], conversation="c")
        (note,) = home.facts().values()
        report = home.learner.remember([TELLS_MORE], conversation="c")
        assert [known.steps for known in analyst.passages[1].procedures] == [STEPS]
        (now,) = home.facts().values()
        assert (report.renewed, report.updated, now.id) == ((note.id,), 1, note.id)
        assert "2. Back up the database." in now.content
        assert len(home.memory.sources([note.id])[note.id]) == 2
        changed = [version for version in home.memory.history(note.id) if "content" in version.changes]
        assert changed[-1].changes["content"][0] == note.content
        assert changed[-1].actor == "scripted/model"
        home.memory.undo()
        assert list(home.facts()) == [note.content]


def test_a_procedure_that_a_person_edited_is_only_proposed_to_change(tmp_path: Path) -> None:
    with LearningHome(tmp_path, ScriptedAnalyst(extractions=newer, local=False)) as home:
        home.learner.remember([TELLS], conversation="c")
        (note,) = home.facts().values()
        home.memory.update(note.id, content="Deploy\n1. Ask Ben.")
        report = home.learner.remember([TELLS_MORE], conversation="c")
        assert list(home.facts()) == ["Deploy\n1. Ask Ben."]
        assert [item.id for item in report.queued] == [note.id]
        (review,) = home.memory.reviews()
        home.memory.accept(review.id)
        assert "2. Back up the database." in home.memory.read(note.id).content


@pytest.mark.parametrize("agrees", [False, True])
def test_steps_that_only_the_assistant_told_replace_no_known_procedure_unless_a_person_agrees(
    tmp_path: Path, agrees: bool
) -> None:
    def answer(passage: Passage) -> Extraction:
        if not passage.procedures:
            return DEPLOY
        steps = ("Stop the worker.", "Drop the staging tables.")
        return Extraction("", (), (Procedure("Deploy", "", steps, ("m1", "m2", "m3"), "p1"),))

    asks = [
        say("How do I deploy a new version?"),
        say("Stop the worker, then drop the staging tables.", "assistant"),
        say("Exactly, that's right." if agrees else "And what is the weather like?"),
    ]
    with LearningHome(tmp_path, ScriptedAnalyst(extractions=answer, local=False)) as home:
        home.learner.remember([TELLS], conversation="c")
        (note,) = home.facts().values()
        report = home.learner.remember(asks, conversation="d")
        assert bool(report.renewed) == agrees
        if agrees:
            return
        assert list(home.facts()) == [note.content]
        (queued,) = report.queued
        assert (queued.id, "only" in queued.reason or "assistant" in queued.reason) == (note.id, True)
        (review,) = home.memory.reviews()
        assert "Drop the staging tables." in review.changes["content"][1]
        home.memory.undo()
        assert home.memory.reviews() == []


# -- models that fail --------------------------------------------------------------------------------------------------


def test_a_model_that_is_down_costs_no_word_and_the_rules_stand_in_until_it_answers(tmp_path: Path) -> None:
    analyst = model(FIRST, fail=DOWN)
    with LearningHome(tmp_path, analyst) as home:
        report = home.learner.remember(CHAT[:3], conversation="chat")
        assert report.degraded
        assert "nobody answers" in report.error
        assert "I am allergic to peanuts!" in home.facts()
        (episode,) = report.episodes
        assert home.memory.read(episode).enrichment is Enrichment.DEGRADED
        assert (home.waiting(), report.cost.rungs) == (1, {"offline": 1 + 2 * report.stored})

        analyst.fail = None
        done = home.learner.work("worker")
        assert (done.done, done.remaining) == (1, 0)
        assert sorted(home.facts()) == ["Ana is allergic to peanuts.", "Ana moved to Lisbon last week."]
        note = home.memory.read(episode)
        assert note is not None
        assert (note.content, note.enrichment) == (FIRST.summary, Enrichment.DONE)

        home.memory.undo()
        assert not home.notes()
        home.memory.redo()
        assert sorted(home.facts()) == ["Ana is allergic to peanuts.", "Ana moved to Lisbon last week."]


def test_what_the_rules_had_made_stays_where_somebody_touched_it_since(tmp_path: Path) -> None:
    analyst = model(FIRST, fail=DOWN)
    with LearningHome(tmp_path, analyst) as home:
        home.learner.remember(CHAT[:3])
        touched = home.facts()["I am allergic to peanuts!"]
        home.memory.pin(touched.id)
        analyst.fail = None
        home.learner.work("worker")
        assert "I am allergic to peanuts!" in home.facts()
        assert "I moved to Lisbon last week." not in home.facts()
        deleted = home.memory.list(limit=100)
        assert touched.id in {note.id for note in deleted}


def test_a_process_killed_while_the_model_thinks_loses_nothing(tmp_path: Path) -> None:
    class Killed(ScriptedAnalyst):
        def extract(self, passage: Passage) -> Extraction:
            raise KeyboardInterrupt

    with LearningHome(tmp_path, Killed(local=False)) as home, pytest.raises(KeyboardInterrupt):
        home.learner.remember(CHAT, conversation="chat")
    with LearningHome(tmp_path, model(FIRST, SECOND), seed="second") as home:
        assert (home.waiting(), len(home.notes()), len(home.facts())) == (2, 2, 0)
        assert home.learner.work("worker").done == 2
        assert len(home.facts()) == 3
        assert home.waiting() == 0
        assert home.learner.remember(CHAT, conversation="chat").known == 4


def test_a_process_killed_while_its_notes_are_written_leaves_no_second_ones_behind(tmp_path: Path) -> None:
    class KilledLater(ScriptedAnalyst):
        def analyze(self, draft: Any, vocabulary: Vocabulary) -> Any:
            raise KeyboardInterrupt

    with (
        LearningHome(tmp_path, KilledLater(extractions=[FIRST], local=False)) as home,
        pytest.raises(KeyboardInterrupt),
    ):
        home.learner.remember(CHAT[:3])
    reworded = Extraction("", (Statement("Ana has moved to Lisbon.", Kind.FACT, ("m1",)), ALLERGY))
    with LearningHome(tmp_path, model(reworded), seed="second") as home:
        assert len(home.facts()) == 2
        home.learner.work("worker")
        assert sorted(home.facts()) == ["Ana has moved to Lisbon.", "Ana is allergic to peanuts."]


def test_work_that_was_called_off_is_given_back_and_done_by_whoever_comes_next(tmp_path: Path) -> None:
    analyst = model(FIRST, fail=Cancelled("called off"))
    with LearningHome(tmp_path, analyst) as home:
        with pytest.raises(Cancelled):
            home.learner.remember(CHAT[:3])
        with pytest.raises(Cancelled):
            home.learner.work("one")
        assert (home.waiting(), home.facts()) == (1, {})
        analyst.fail = None
        assert home.learner.work("other").done == 1


def test_learning_can_be_left_to_a_worker(tmp_path: Path) -> None:
    analyst = model(FIRST, SECOND)
    with LearningHome(tmp_path, analyst) as home:
        report = home.learner.remember(CHAT, wait=False)
        assert (report.waiting, len(analyst.passages), home.waiting()) == (2, 0, 2)
        heard: list[tuple[int, int]] = []
        assert home.learner.work("w", limit=1, progress=lambda *at: heard.append(at)).remaining == 1
        assert home.learner.work("w", progress=lambda *at: heard.append(at)).done == 1
        assert heard == [(1, 2), (1, 1)]
        assert len(home.facts()) == 3


def test_a_worker_leaves_an_episode_in_peace_for_a_while_after_it_failed(tmp_path: Path) -> None:
    analyst = model(FIRST, fail=DOWN)
    with LearningHome(tmp_path, analyst) as home:
        home.learner.remember(CHAT[:3], wait=False)
        hand = JobHand(home.learner.work, home.clock)
        assert hand.work("w").failed == 1
        analyst.fail = None
        assert hand.work("w").done == 0
        home.clock.advance(minutes=RETRY_SECONDS / 60 + 1)
        assert hand.work("w").done == 1


def test_an_episode_deleted_while_the_model_thinks_stays_deleted_and_waits_should_it_be_restored(
    tmp_path: Path,
) -> None:
    class Deleting(ScriptedAnalyst):
        def extract(self, passage: Passage) -> Extraction:
            (note,) = home.notes().values()
            home.memory.delete(note.id)
            return Extraction("Ana told of Lisbon.")

    with LearningHome(tmp_path, Deleting(local=False)) as home:
        report = home.learner.remember(CHAT[:3])
        assert not home.notes()
        home.memory.restore(report.episodes[0])
        assert home.waiting() == 1


def test_a_summary_that_a_person_wrote_is_theirs(tmp_path: Path) -> None:
    with LearningHome(tmp_path, model(FIRST)) as home:
        report = home.learner.remember(CHAT[:3], wait=False)
        home.memory.update(report.episodes[0], content="The day I moved.")
        home.learner.work("w")
        assert "The day I moved." in home.notes()


# -- undo --------------------------------------------------------------------------------------------------------------


def test_one_undo_takes_all_of_it_back_one_redo_restores_it_and_it_can_be_told_anew(tmp_path: Path) -> None:
    analyst = model(FIRST, SECOND, FIRST, SECOND)
    with LearningHome(tmp_path, analyst) as home:
        report = home.learner.remember(CHAT)
        before = {note.id for note in home.notes().values()}
        undone = home.memory.undo()
        assert undone.undone == report.operation
        assert not home.notes()
        home.memory.redo()
        assert {note.id for note in home.notes().values()} == before
        assert [len(home.expanded(note)) for note in report.episodes] == [3, 1]
        home.memory.undo()
        again = home.learner.remember(CHAT)
        assert (again.known, again.stored) == (0, 3)
        assert [len(home.expanded(note)) for note in again.episodes] == [3, 1]


# -- turn by turn ------------------------------------------------------------------------------------------------------


def test_a_turn_is_learnt_from_without_an_episode_and_the_episode_is_summed_up_later(tmp_path: Path) -> None:
    analyst = model(FIRST)
    turn = [{**message, "id": f"chat:{number}"} for number, message in enumerate(CHAT[:3])]
    with LearningHome(tmp_path, analyst) as home:
        report = home.learner.remember(turn, conversation="chat", episodes=False)
        assert (report.episodes, report.stored) == ((), 2)
        assert not [
            link for note in home.notes().values() for link in home.links(note) if link.type is LinkType.DERIVED_FROM
        ]
        assert home.learner.remember(turn, conversation="chat", episodes=False).known == 3
        summed = home.learner.remember(turn, conversation="chat", extract=False)
        assert (len(summed.episodes), summed.stored, len(analyst.passages)) == (1, 0, 1)
        assert [message.id for message in home.expanded(summed.episodes[0])] == ["chat:0", "chat:1", "chat:2"]
        assert [source.id for source in home.memory.sources(summed.episodes)[summed.episodes[0]]] == [
            "chat:0",
            "chat:1",
            "chat:2",
        ]
        assert home.waiting() == 0
        with pytest.raises(InvalidInput):
            home.learner.remember(turn, episodes=False, wait=False)


def test_a_turn_learnt_by_rules_gives_way_to_what_a_model_makes_of_it(tmp_path: Path) -> None:
    analyst = model(FIRST, fail=DOWN)
    with LearningHome(tmp_path, analyst) as home:
        poor = home.learner.remember(CHAT[:3], conversation="chat", episodes=False)
        assert poor.degraded
        analyst.fail = None
        home.learner.remember(CHAT[:3], conversation="chat", episodes=False, replaces=poor.operation)
        assert sorted(home.facts()) == ["Ana is allergic to peanuts.", "Ana moved to Lisbon last week."]


# -- real answers ------------------------------------------------------------------------------------------------------


def answering(extraction: dict[str, Any]) -> Callable[[str], dict[str, Any]]:
    """A model that extracts this, and analyses and evolves without a thought of its own."""

    def answer(prompt: str) -> dict[str, Any]:
        if "procedures" in prompt and "statements" in prompt:
            return extraction
        return {
            "keywords": ["移居"],
            "context": "",
            "tags": ["life"],
            "kind": "fact",
            "importance": 0.5,
            "entities": [],
            "facts": [],
            "should_evolve": False,
            "links": [],
            "rewrites": [],
            "tags_to_update": [],
        }

    return answer


CHINESE = [
    say("我上周搬到了杭州，对花生过敏。", name="小梅", at="2026-03-01T10:00"),
    say("杭州真美，您一定喜欢西湖吧？", "assistant", at="2026-03-01T10:01"),
    say("谢谢！", name="小梅", at="2026-03-01T10:02"),
]


def test_a_chinese_conversation_teaches_in_chinese_with_a_model(tmp_path: Path) -> None:
    chat = ScriptedChat(
        answering(
            {
                "summary": "小梅说她搬到了杭州，并且对花生过敏。",
                "statements": [
                    {"text": "小梅上周搬到了杭州。", "kind": "fact", "messages": ["m1"]},
                    {"text": "小梅对花生过敏。", "kind": "constraint", "messages": ["m1"]},
                    {"text": "小梅喜欢西湖。", "kind": "preference", "messages": ["m2"]},
                    {"text": "小梅住在上海。", "kind": "fact", "messages": ["m1"]},
                ],
                "procedures": [],
            }
        )
    )
    with LearningHome(tmp_path, ModelAnalyst(chat)) as home:
        report = home.learner.remember(CHINESE)
        assert not report.degraded
        assert sorted(home.facts()) == ["小梅上周搬到了杭州。", "小梅对花生过敏。"]
        assert "小梅说她搬到了杭州，并且对花生过敏。" in home.notes()
        assert len(report.dropped) == 2
        assert report.cost.calls >= 1 + len(report.learnt)
        with home.store.read() as session:
            prompts = [operation.prompts for operation in session.operations.log() if operation.action == "extract"]
        assert prompts[0].startswith("extract")


def test_a_chinese_conversation_teaches_in_chinese_without_a_model(tmp_path: Path) -> None:
    with LearningHome(tmp_path, OfflineAnalyst()) as home:
        report = home.learner.remember(CHINESE)
        assert "我上周搬到了杭州，对花生过敏。" in home.facts()
        assert "谢谢！" not in home.facts(), "thanks are no note, but stay in what was said"
        assert (report.degraded, report.analyst) == (False, "offline")
        assert "杭州" in home.memory.read(report.episodes[0]).content


def test_a_model_that_talks_nonsense_is_a_model_that_is_down(tmp_path: Path) -> None:
    with LearningHome(tmp_path, ModelAnalyst(ScriptedChat("I am a teapot."))) as home:
        report = home.learner.remember(CHAT[:3])
        assert report.degraded
        assert home.waiting() == 1
        assert "I am allergic to peanuts!" in home.facts()


def test_a_conversation_is_learnt_from_over_the_wire_and_by_rules_once_the_server_is_gone(tmp_path: Path) -> None:
    def answers(request: dict[str, Any]) -> dict[str, Any]:
        prompt = str(request.get("messages") or request.get("prompt"))
        return answering(
            {
                "summary": "Ana moved to Lisbon.",
                "statements": [{"text": "Ana moved to Lisbon last week.", "kind": "fact", "messages": ["m1"]}],
                "procedures": [],
            }
        )(prompt)

    with FakeOllama(answers) as ollama:
        analyst = ModelAnalyst(OllamaChat("llama3.2", host=ollama.host, timeout=5))
        with LearningHome(tmp_path, analyst) as home:
            report = home.learner.remember(CHAT[:3], conversation="one")
            assert not report.degraded
            # The second is what amem's own rules always keep.
            assert sorted(home.facts()) == ["Ana moved to Lisbon last week.", "I am allergic to peanuts!"]
            ollama.stop()
            report = home.learner.remember(CHAT[3:], conversation="two")
            assert report.degraded
            assert "Our sprint review is every second Friday." in home.facts()
            ollama.start()
            assert home.learner.work("worker").done == 1
            assert all(note.status is Status.ACTIVE for note in home.notes().values())
