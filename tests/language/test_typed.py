"""What is typed letter by letter goes on finding the text it is the beginning of."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amem.interop.demo_data import demo_folder
from amem.language import index_terms, search_terms, typed_words

if TYPE_CHECKING:
    from collections.abc import Iterator

#: What somebody would call a word when copying it letter by letter.
WORDS = re.compile(r"\w[\w'’.+#@-]*")


def holds(text: str, typed: str) -> bool:
    terms, words = search_terms(text), typed_words(typed)
    return bool(words) and all(word.held_by(terms, text) for word in words)


def beginnings(text: str) -> Iterator[str]:
    for word in dict.fromkeys(WORDS.findall(text)):
        yield from (word[:length] for length in range(1, len(word) + 1) if re.search(r"[^\W_]", word[:length]))


@pytest.fixture(scope="module")
def demo() -> list[str]:
    lines = (demo_folder() / "year.jsonl").read_text(encoding="utf-8").splitlines()
    return [str(json.loads(line)["content"]) for line in lines]


def test_every_beginning_of_every_word_of_the_demos_notes_finds_its_note(demo: list[str]) -> None:
    lost = {begun: text for text in demo for begun in beginnings(text) if not holds(text, begun)}
    assert not lost
    lost = {begun: text for text in demo for begun in beginnings(text) if not holds(text, begun.upper())}
    assert not lost


@pytest.mark.parametrize(
    "word",
    [
        "running",
        "hoping",
        "hopping",
        "controller",
        "cancellation",
        "nationalization",
        "reliability",
        "reliably",
        "happily",
        "studies",
        "dying",
        "skies",
        "generously",
        "canonicalizes",
        "unrepresentative",
        "embeddings",
        "agreed",
        "excellently",
        "crystallized",
        "sensational",
        "programmed",
        "databases",
        "evenings",
        "news",
        "relational",
        "frequencies",
        "goodness",
        "we'll",
        "don't",
        "Ana's",
        "O'Brien",
        "rock'n'roll",
        "snake_case",
        "CamelCase",
        "v15.3",
        "foo-bar",
        "C++",
        "C#",
        "user@host.org",
        "__init__",
        "naïveté",
        "Straße",
        "Dąbrowałski",
        "éłan",
        "ﬁnally",
    ],
)
def test_no_letter_of_a_word_loses_it(word: str) -> None:
    text = f"They said {word} again"
    assert [begun for begun in beginnings(word) if not holds(text, begun)] == []
    assert [begun for begun in beginnings(word) if not holds(text, begun.swapcase())] == []


@given(st.text(max_size=40))
def test_any_text_is_found_by_all_of_itself(text: str) -> None:
    assert not index_terms(text) or holds(text, text)


def test_several_words_may_be_unfinished_and_all_must_be_there() -> None:
    assert holds("Green tea at 80 degrees", "gre te")
    assert holds("Green tea at 80 degrees", "te gre")
    assert not holds("Green tea at 80 degrees", "gre co")


def test_what_is_typed_is_no_more_than_a_beginning() -> None:
    assert not holds("green tea", "een")
    assert not holds("green tea", "tear")
    assert not holds("evening", "even if")
    assert not holds("a hop", "hope")


def test_chinese_is_found_by_one_character_two_and_more() -> None:
    text = "我们决定把数据库换掉了。"
    assert all(
        holds(text, typed) for typed in ("数", "数据", "数据库", "据库", "库", "换掉了", "了", "我们", "数据 换")
    )
    assert not any(holds(text, typed) for typed in ("数库", "数据表", "他", "据数"))


def test_characters_must_stand_side_by_side() -> None:
    assert not holds("数据很多，据库不知", "数据库")


@pytest.mark.parametrize("typed", ["", "  ", "...", "🐱", "“”", "_", "-", "'"])
def test_without_a_letter_or_digit_there_is_no_word(typed: str) -> None:
    assert typed_words(typed) == ()
