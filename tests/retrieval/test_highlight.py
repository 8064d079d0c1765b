"""Highlighting: which words of a note answer a question, and which of its sentences holds them."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amem.language import index_terms, query_terms
from amem.note import Overturned
from amem.rendering import holding_text
from amem.retrieval.explanation import LONGEST, bounds, excerpt, matched_words, passage, spans

if TYPE_CHECKING:
    from types import FrameType


def marked(text: str, found: tuple[tuple[int, int], ...]) -> str:
    """The text with the spans in brackets."""
    for start, end in reversed(found):
        text = f"{text[:start]}[{text[start:end]}]{text[end:]}"
    return text


@pytest.mark.parametrize(
    ("content", "words", "shown"),
    [
        ("We are moving the invoices.", ["moved", "invoice"], "We are [moving] the [invoices]."),
        ("Ana's café is closed", ["cafe", "ana"], "[Ana's] [café] is closed"),
        ("妈妈对花生过敏。", ["花生过敏"], "妈妈对[花生过敏]。"),
        ("他住在里斯本的老城。", ["里斯本"], "他住在[里斯本]的老城。"),
        ("Upgrade to PostgreSQL v15.3 now", ["15.3"], "Upgrade to PostgreSQL [v15.3] now"),
        ("see parse_time in clock", ["time"], "see parse_[time] in clock"),
        ("Ｆｕｌｌ width ﬁre", ["full", "fire"], "[Ｆｕｌｌ] width [ﬁre]"),
        ("😀 tea 👨‍👩‍👧 and tea", ["tea"], "😀 [tea] 👨‍👩‍👧 and [tea]"),
        ("Nothing here", ["tea"], "Nothing here"),
        ("", ["tea"], ""),
    ],
)
def test_words_are_found_as_the_lexical_leg_finds_them(content: str, words: list[str], shown: str) -> None:
    assert marked(content, spans(content, words)) == shown


def test_the_sentence_with_most_of_the_words_is_shown() -> None:
    content = "We talked about tea. The server moved to Lisbon on Friday! Lisbon is warm."
    found = passage(content, ["server", "lisbon"])
    assert marked(found.text, found.spans) == "The [server] moved to [Lisbon] on Friday!"
    assert content[found.start : found.end] == found.text


def test_where_no_word_stands_the_sentence_named_is_shown_or_else_the_first() -> None:
    content = "First this. Then that."
    assert passage(content, ["tea"]).text == "First this."
    assert passage(content, ["tea"], sentence=(12, 22)).text == "Then that."
    assert passage(content, []).spans == ()
    assert passage("  ", ["tea"]).text == ""


def test_a_long_sentence_is_cut_to_what_lies_around_the_words() -> None:
    content = "word " * 300 + "the server is in Lisbon " + "more " * 300
    found = passage(content, ["server", "lisbon"])
    assert len(found.text) <= LONGEST
    assert "[server] is in [Lisbon]" in marked(found.text, found.spans)
    assert not found.text.startswith("ord")


def test_words_of_a_question_are_named_as_they_were_typed() -> None:
    assert matched_words("Why did Ana's servers move?", {"ana", "server"}) == ("ana", "servers")
    assert matched_words("谁对花生过敏？", {"花生", "生过", "过敏"}) == ("花生过敏",)
    assert matched_words("花生和过敏", {"花生", "过敏"}) == ("花生", "过敏")


@given(st.text(max_size=80), st.text(max_size=20))
def test_spans_lie_within_the_text_in_order_and_hold_what_was_asked_for(content: str, asked: str) -> None:
    found = spans(content, [asked])
    assert all(0 <= start < end <= len(content) for start, end in found)
    assert all(one[1] <= other[0] for one, other in pairwise(found))
    if set(query_terms(asked)) & set(index_terms(content)):
        assert found
    part = passage(content, [asked])
    assert content[part.start : part.end] == part.text
    assert all(0 <= start < end <= len(part.text) for start, end in part.spans)


@given(st.text(max_size=200))
def test_sentences_hold_everything_but_white_space(content: str) -> None:
    assert "".join("".join(content[a:b].split()) for a, b in bounds(content)) == "".join(content.split())


@pytest.mark.parametrize(
    ("content", "gone", "rest"),
    [
        (
            "The billing service belongs to Ana, is written in Java, and runs on Hetzner.",
            "The billing service belongs to Ana",
            "is written in Java, and runs on Hetzner.",
        ),
        ("My flat is in Porto; and my boss is Petra Sommer.", "My flat is in Porto", "my boss is Petra Sommer."),
        ("I quit. .NET pays the rent.", "I quit", ".NET pays the rent."),
        ("青鸟用 MySQL，而且缓存用 Redis。", "青鸟用 MySQL", "缓存用 Redis。"),
    ],
)
def test_what_is_left_of_a_note_does_not_begin_with_the_comma_before_it(content: str, gone: str, rest: str) -> None:
    assert holding_text(content, [Overturned(gone, datetime(2026, 5, 1, tzinfo=UTC))]) == rest


def test_a_short_sentence_is_shown_with_the_whole_ones_around_it() -> None:
    long = "It was a day on which " + "a great deal happened and " * 8 + "nothing came of it."
    content = f"{long} Tom left. He had a cold.\nNobody knew why.\n\n{long}"
    assert excerpt(content, ["Tom"]).text == "Tom left. He had a cold.\nNobody knew why."
    assert excerpt("Tom left.\nHe had a cold. ", ["cold"]).pieces() == [
        ("Tom left. He had a ", False), ("cold", True), (".", False),
    ]  # fmt: skip
    assert excerpt(content, ["happened"]).text == long
    code = "# Tom\n\n```python\nfeed('tuna')\n```\n> Tom is my cat."
    assert excerpt(code, ["tuna"]).pieces() == [("Tom feed('", False), ("tuna", True), ("') Tom is my cat.", False)]
    assert excerpt(" \n", ["Tom"]).text == ""


def test_a_passage_that_is_cut_does_not_begin_with_a_comma() -> None:
    content = "甲" * 241 + "，" + "乙" * 59 + "密码是四六八" + "丙" * 200
    found = passage(content, ["密码"])
    assert found.text[0] in "甲乙"
    assert content[found.start : found.end] == found.text
    assert [found.text[start:end] for start, end in found.spans] == ["密码"]


@pytest.mark.parametrize("unit", ["虾", "虾。", "shrimp ", "shrimp. "])
def test_four_times_as_long_a_note_takes_about_four_times_as_many_steps_to_highlight(unit: str) -> None:
    def steps(length: int) -> int:
        """Calls and lines of the module that finding the passage takes."""
        count = 0

        def trace(frame: FrameType, event: str, argument: object) -> Any:
            nonlocal count
            if not frame.f_code.co_filename.endswith("retrieval/explanation.py"):
                return None
            count += 1
            return trace

        content = (unit * length)[:length]
        before = sys.gettrace()
        sys.settrace(trace)
        try:
            passage(content, ["虾虾", "虾", "shrimp"])
        finally:
            sys.settrace(before)
        return count

    assert steps(4_000) < 6 * steps(1_000)
