"""Texts and rules that would take minutes, crash what reads them, or keep everything after them from being learnt."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

import pytest
from learning_home import LearningHome

from amem.analysts.rules import OfflineAnalyst
from amem.conversation import grounding as stated
from amem.conversation.admission import DETECTORS, REMOVED, without
from amem.conversation.rule_file import FILE_NAME, read_rules
from amem.errors import InvalidInput
from amem.note import Message, Role

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.thorough

#: Seconds: each of these took from twenty to many hours.
_SOON = 60.0
_LONG = 20_000


@pytest.mark.parametrize(
    "number",
    ["1" * 6_000, "3." + "14159" * 1_200, "三" * 6_000, "９" * 6_000, "9" * 6_000 + " thousand", "𝟙𝟚" * 3_000],
    ids=["ones", "a fraction", "Chinese", "full width", "thousands", "mathematical"],
)
def test_a_number_of_thousands_of_digits_is_learnt_from_like_any_other(tmp_path: Path, number: str) -> None:
    with LearningHome(tmp_path, OfflineAnalyst()) as home:
        said = f"The number on the wall of my office is {number} and I like it."
        report = home.learner.remember([{"role": "user", "content": said}])
        assert report.stored > 0
        assert home.waiting() == 0
        assert [message.content for message in home.expanded(report.episodes[0])] == [said]


@pytest.mark.parametrize(
    "text",
    [
        "my token" + " " * _LONG + "for you",
        "a" + "\n" * _LONG + "b",
        "the password for" + " " * _LONG + "x",
        "token=" * (_LONG // 6),
        "1 " * (_LONG // 2),
        "- " + "\n" * _LONG,
        "hi, " * (_LONG // 4),
        "好，" * (_LONG // 4),
    ],
    ids=[
        *("blanks after a key's name", "empty lines", "blanks after a password's name", "names", "digits", "a list"),
        *("greetings", "greetings in Chinese"),
    ],
)
def test_pages_of_blanks_and_repetitions_are_read_in_no_time(tmp_path: Path, text: str) -> None:
    with LearningHome(tmp_path, OfflineAnalyst()) as home:
        started = monotonic()
        report = home.learner.remember([{"role": "user", "content": text}])
        assert monotonic() - started < _SOON
        assert [message.content for message in home.expanded(report.episodes[0])] == [text]


@pytest.mark.parametrize(
    "text",
    [
        "api key:               a8f3k2m9x7q1w5",
        "token is\n\n  a8f3k2m9x7q1w5",
        "access token = 'a8f3k2m9x7q1w5'",
        "令牌：a8f3k2m9x7q1w5",
        "密钥是 a8f3k2m9x7q1w5",
    ],
)
def test_keys_are_found_however_much_space_stands_before_them(text: str) -> None:
    assert "a8f3k2m9x7q1w5" not in without(text, tuple(DETECTORS))
    assert REMOVED in without(text, tuple(DETECTORS))


@pytest.mark.parametrize("sentence", ["I like tea and Anna lives in Paris. ", "我喜欢喝茶，也喜欢在巴黎散步。"])
def test_a_page_that_says_one_thing_a_thousand_times_says_it_once(tmp_path: Path, sentence: str) -> None:
    with LearningHome(tmp_path, OfflineAnalyst()) as home:
        started = monotonic()
        report = home.learner.remember([{"role": "user", "content": sentence * 2_000}])
        assert monotonic() - started < 2 * _SOON
        assert (report.stored, len(report.duplicates)) == (1, 0)


def test_each_sentence_of_a_long_message_is_held_against_it_in_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    dated: list[int] = []
    monkeypatch.setattr(stated, "dated_text", lambda message: dated.append(1) or message.content)
    sentences = [f"I bought {number} books in Paris with Anna." for number in range(300)]
    said = stated.Said([Message(Role.USER, " ".join(sentences))], [], [])
    assert all(said.refuses(sentence, ["m1"]) is None for sentence in sentences)
    assert said.refuses("I bought 999 books in Paris with Anna.", ["m1"]) == "nobody said 999"
    assert len(dated) <= 3


def test_a_rule_that_would_take_for_ever_ends_in_time_and_forbids_what_it_could_not_judge(
    caplog: pytest.LogCaptureFixture,
) -> None:
    rules = read_rules("always: /(b|b|a?b)*$/\nnever: /(a|a|b?a)*$/", "rules.md")
    started = monotonic()
    assert rules.forbids("a" * 5_000 + "!")
    assert not rules.demands("b" * 5_000 + "!")
    for _ in range(50):
        rules.forbids("a" * 5_000 + "!")
    assert monotonic() - started < _SOON
    assert "/(a|a|b?a)*$/ (rules.md, line 2) took too long" in caplog.text


def test_what_a_rule_took_too_long_for_is_stored_all_the_same(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text("never: /(a|a|b?a)*$/\n", encoding="utf-8")
    said = "My car is red. " + "a" * 3_000 + "!"
    with LearningHome(tmp_path, OfflineAnalyst()) as home:
        report = home.learner.remember([{"role": "user", "content": said}])
        assert [message.content for message in home.expanded(report.episodes[0])] == [said]
        assert home.waiting() == 0


@pytest.mark.parametrize("broken", ["(", "[", "a{99999999999999}", "(" * 3_000, r"\p{Foo}", "*", r"(?P<a>x)(?P=b)"])
def test_a_rule_that_is_no_regular_expression_is_refused_with_its_line(broken: str) -> None:
    with pytest.raises(InvalidInput, match=r"rules\.md, line 2: /.{1,80}/ is no regular expression"):
        read_rules(f"never: politics\nnever: /{broken}/", "rules.md")
