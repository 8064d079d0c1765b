"""Messages as programs really hand them in: no word is lost over an id, and what cannot be used is named."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest
from learning_home import LearningHome

from amem.analysts.rules import OfflineAnalyst
from amem.errors import InvalidInput
from amem.note import Message, Role

if TYPE_CHECKING:
    from pathlib import Path


def say(content: str, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": content, **more}


def kept(home: LearningHome, messages: list[Any], conversation: str | None = None) -> list[str]:
    """The words of all messages that are kept of these, as the notes of their episodes give them back."""
    report = home.learner.remember(messages, conversation=conversation)
    return [message.content for note in report.episodes for message in home.expanded(note)]


def test_messages_of_two_conversations_are_kept_apart_whatever_colons_their_names_and_ids_hold(tmp_path: Path) -> None:
    with LearningHome(tmp_path, OfflineAnalyst()) as home:
        assert kept(home, [say("My cat is grey.", id="work:x:1")], "work") == ["My cat is grey."]
        assert kept(home, [say("My dog is brown.", id="work:x:1")], "work:x") == ["My dog is brown."]
        assert kept(home, [say("My dog is brown.", id="work:x:1")], "work:x") == []


@pytest.mark.parametrize("id", ["7", "chat:7", ":", "chat:", "", "x" * 100_000, "a'\"; DROP TABLE notes --\u202e%_*"])
def test_messages_that_were_given_the_same_id_are_all_kept_and_none_of_them_twice(tmp_path: Path, id: str) -> None:
    messages = [say("My cat is grey.", id=id), say("My dog is brown.", id=id), say("My fish is red.", id=id)]
    with LearningHome(tmp_path, OfflineAnalyst()) as home:
        assert kept(home, messages, "chat") == ["My cat is grey.", "My dog is brown.", "My fish is red."]
        assert kept(home, messages, "chat") == []


@pytest.mark.parametrize(
    "name", ["a:b", ":", " ", "'\"%_*", "line\nbreak", "\u202eright to left", "对话：一", "👩\u200d👩"]
)
def test_a_conversation_may_be_called_anything(tmp_path: Path, name: str) -> None:
    with LearningHome(tmp_path, OfflineAnalyst()) as home:
        assert kept(home, [say("My cat is grey.")], name) == ["My cat is grey."]
        assert kept(home, [say("My cat is grey."), say("My dog is brown.")], name) == ["My dog is brown."]


@pytest.mark.parametrize("name", [5, ["a"], "\ud800", "a\0b", Message])
def test_what_is_no_text_cannot_name_a_conversation(tmp_path: Path, name: Any) -> None:
    with LearningHome(tmp_path, OfflineAnalyst()) as home:
        with pytest.raises(InvalidInput, match="cannot name a conversation"):
            home.learner.remember([say("My cat is grey.")], conversation=name)
        assert home.notes() == {}


@pytest.mark.parametrize("messages", [None, 5, 1.5, "hello", b"hello", say("hello"), Message(Role.USER, "hello")])
def test_what_is_no_list_of_messages_is_refused(tmp_path: Path, messages: Any) -> None:
    with LearningHome(tmp_path, OfflineAnalyst()) as home:
        with pytest.raises(InvalidInput, match="messages must be a list"):
            home.learner.remember(messages)
        with pytest.raises(InvalidInput, match="messages must be a list"):
            home.learner.remember([say("My cat is grey.")], earlier=messages)
        assert home.notes() == {}


@pytest.mark.parametrize(
    "message",
    [
        say("too late", at="9999-12-31T23:59:59-12:00"),
        say("too early", at="0001-01-01T00:00:00+14:00"),
        say("too late", at=datetime.max.replace(tzinfo=timezone(timedelta(hours=-1)))),
        say("a number", at=1_700_000_000),
        say("not even a number", at=float("nan")),
        Message("bot", "an unknown role"),
        Message(Role.USER, "a number", 1_700_000_000),
        {"role": ["user"], "content": "a list"},
        {"role": "USER", "content": "shouted"},
        say("half \ud800 of a pair"),
        say("a NUL \0"),
        say("", tool_calls=[]),
        [say("nested")],
    ],
)
def test_a_message_that_cannot_be_used_is_named_and_nothing_of_the_others_is_stored(
    tmp_path: Path, message: Any
) -> None:
    with LearningHome(tmp_path, OfflineAnalyst()) as home:
        with pytest.raises(InvalidInput, match="message 2 cannot be remembered"):
            home.learner.remember([say("My cat is grey."), message])
        assert home.notes() == {}


def test_a_message_whose_role_is_plain_text_is_learnt_from(tmp_path: Path) -> None:
    with LearningHome(tmp_path, OfflineAnalyst()) as home:
        report = home.learner.remember([Message("user", "My cat is grey and likes tuna.")])
        assert report.stored == 1


def test_the_first_and_the_last_time_with_a_date_everywhere_and_times_out_of_order_are_kept_as_they_came(
    tmp_path: Path,
) -> None:
    messages = [
        say("Then light again.", at=datetime(2024, 1, 3, tzinfo=UTC)),
        say("In the beginning it was dark.", at="0001-01-02T00:00:00"),
        say("At last it was quiet.", at="9999-12-31T09:59:59"),
        say("A naive time among the others.", at=datetime(2024, 1, 2)),
        say("A time of its own zone.", at="2024-01-02T08:00:00+08:00"),
        say("No time at all."),
    ]
    with LearningHome(tmp_path, OfflineAnalyst()) as home:
        assert kept(home, messages, "odd") == [message["content"] for message in messages]
        assert home.waiting() == 0
        assert [found for found in home.memory.doctor() if found.level == "error"] == []


def test_a_message_may_be_longer_than_a_note_but_not_without_end(tmp_path: Path) -> None:
    with LearningHome(tmp_path, OfflineAnalyst()) as home:
        assert kept(home, [say(long := "why and how " * 2_000)], "long") == [long]
        before = home.notes().keys()
        with pytest.raises(InvalidInput, match=r"message 2 .* has 1,000,001 characters; the limit is 1,000,000"):
            home.learner.remember([say("Short."), say("字" * 1_000_001)], conversation="longer")
        assert home.notes().keys() == before
