"""Chats as they are kept: sessions, turns, what waits, and what a purge leaves."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from amem.errors import AmbiguousId, SessionNotFound
from amem.note import MemoryNote, Source
from amem.storage.chats import Learning, Recollection, TurnState
from amem.storage.store import Store
from amem.testing import FrozenClock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from amem.storage.chats import Turn


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock("2026-03-01T10:00")


@pytest.fixture
def store(clock: FrozenClock) -> Iterator[Store]:
    made = Store(None, clock)
    yield made
    made.close()


def ask(store: Store, question: str, chat: str = "c1", learning: Learning = Learning.WAITING) -> Turn:
    with store.write() as session:
        session.chats.begin(chat)
        return session.chats.ask(chat, question, session.now, learning=learning)


def answer(store: Store, turn: Turn, text: str = "Yes.", state: TurnState = TurnState.ANSWERED) -> None:
    with store.write() as session:
        session.chats.answer(turn.key, state, text, model="scripted/chat", tokens_in=12, tokens_out=3)


def read(store: Store, chat: str = "c1") -> list[Turn]:
    with store.read() as session:
        return session.chats.turns(chat)


def test_a_turn_is_there_before_it_is_answered_and_reads_back_as_it_ended(store: Store) -> None:
    turn = ask(store, "我住在哪里？")
    (held,) = read(store)
    assert (held.number, held.question, held.answer, held.state) == (1, "我住在哪里？", "", TurnState.ASKED)
    found = Recollection("n1", 3, 0.75, "1st by words (里斯本).", True, "recalled", True)
    with store.write() as session:
        session.chats.recalled(turn.key, [found], supported=True, prompt="chat 1")
    answer(store, turn, "里斯本。")
    (held,) = read(store)
    assert held.recalled == (found,)
    assert (held.answer, held.state, held.supported, held.prompt) == ("里斯本。", TurnState.ANSWERED, True, "chat 1")
    assert (held.model, held.tokens_in, held.tokens_out) == ("scripted/chat", 12, 3)


def test_turns_are_numbered_within_their_session(store: Store) -> None:
    assert [ask(store, q, chat).number for q, chat in (("a", "c1"), ("b", "c2"), ("c", "c1"), ("d", "c1"))] == [
        1,
        1,
        2,
        3,
    ]
    with store.read() as session:
        assert [turn.question for turn in session.chats.turns("c1", last=2)] == ["c", "d"]
        assert session.chats.turn("c1", 2) is not None
        assert session.chats.turn("c1", 4) is None


def test_sessions_come_the_last_used_first_and_show_how_they_begin(store: Store, clock: FrozenClock) -> None:
    with store.write() as session:
        session.chats.begin("empty")
    ask(store, "first", "c1")
    clock.advance(hours=1)
    ask(store, "second", "c2")
    clock.advance(hours=1)
    ask(store, "third", "c1")
    with store.read() as session:
        heads = session.chats.sessions()
        assert session.chats.newest() == "c1"
    assert [(head.id, head.turns, head.opening) for head in heads] == [("c1", 2, "first"), ("c2", 1, "second")]
    assert heads[0].last_at - heads[0].started_at == timedelta(hours=2)


def test_a_session_is_found_by_the_beginning_of_its_id(store: Store) -> None:
    for chat in ("abc-1", "abc-2", "xyz"):
        ask(store, "hi", chat)
    with store.read() as session:
        assert session.chats.resolve("x") == "xyz"
        assert session.chats.resolve("abc-1") == "abc-1"
        with pytest.raises(AmbiguousId, match="several"):
            session.chats.resolve("abc")
        for unknown in ("nope", ""):
            with pytest.raises(SessionNotFound):
                session.chats.resolve(unknown)


def test_a_question_for_an_unknown_session_is_refused(store: Store) -> None:
    with store.write() as session, pytest.raises(SessionNotFound):
        session.chats.ask("nobody", "hi", session.now)


def test_what_waits_is_answered_unclaimed_and_oldest_first(store: Store, clock: FrozenClock) -> None:
    answered, second, off, asked = (ask(store, q) for q in "abcd")
    for turn in (answered, second, off):
        answer(store, turn)
    with store.write() as session:
        session.chats.learnt([off.key], Learning.OFF)
        assert [turn.question for turn in session.chats.waiting()] == ["a", "b"], "d is still being answered"
        assert session.chats.claim([answered.key, second.key, off.key], "me", seconds=60) == {answered.key, second.key}
        assert session.chats.claim([answered.key], "you", seconds=60) == set()
        assert session.chats.waiting() == []
    clock.advance(minutes=2)
    with store.write() as session:
        assert [turn.question for turn in session.chats.waiting()] == ["a", "b"], "the lease ran out"
        assert session.chats.waiting(before=answered.at) == []
        session.chats.claim([answered.key], "you", seconds=60)
        operation = session.begin("remember", "user")
        session.chats.learnt([answered.key], Learning.DONE, operation=operation)
        session.chats.summed_up([answered.key], "e1")
        assert [turn.question for turn in session.chats.waiting()] == ["b"]
    assert (read(store)[0].learnt_by, read(store)[0].episode) == (operation, "e1")
    clock.advance(hours=1)
    with store.read() as session:
        assert asked.key in {turn.key for turn in session.chats.waiting()}, "whoever asked was killed long ago"


def test_purging_a_note_blanks_the_words_it_was_made_of_but_no_others(store: Store) -> None:
    first, second = ask(store, "My locker code is 4711."), ask(store, "Tea at five.")
    answer(store, first, "Noted: 4711.")
    answer(store, second, "Fine.")
    with store.write() as session:
        operation = session.begin("remember", "user")
        for turn, note in ((first, "n1"), (second, "n2")):
            key = session.notes.insert(
                MemoryNote(turn.question, id=note, timestamp="now", at=session.now),
                operation,
                reliability=0.9,
                text_hash=None,
            )
            for role, text in (("user", turn.question), ("assistant", "...")):
                source = Source(turn.message_id(role), "message", "c1", None, None, session.now, text)
                session.sources.attach(key, session.sources.put(source, operation), operation)
        held = [Recollection("n1", 1, 0.9, "1st by words (4711)."), Recollection("n2", 1, 0.2, "2nd by words (tea).")]
        session.chats.recalled(second.key, held, supported=True)
    with store.write() as session:
        session.notes.purge(["n1"])
    one, two = read(store)
    assert (one.question, one.answer) == ("", "")
    assert (two.question, two.answer) == ("Tea at five.", "Fine.")
    assert [(each.note, each.why) for each in two.recalled] == [("n1", ""), ("n2", "2nd by words (tea).")]


@pytest.mark.parametrize("id", ["c1", "c1:x:user", ":1:user", "c1:1:system", "c1:1:", "other:1:user"])
def test_a_source_that_is_no_message_of_a_chat_blanks_nothing(store: Store, id: str) -> None:
    ask(store, "hello")
    with store.write() as session:
        session.chats.blank([id])
    assert read(store)[0].question == "hello"
