"""Sentences, and text that is too long for one note."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amem.errors import InvalidInput
from amem.language import sentences, split_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Dr. Smith met Mr. Lee. They talked.", ["Dr. Smith met Mr. Lee.", "They talked."]),
        ("It costs 3.5 euros. Use v15.3 now.", ["It costs 3.5 euros.", "Use v15.3 now."]),
        ("See https://a.b/c.d?e=f for more. Bye.", ["See https://a.b/c.d?e=f for more.", "Bye."]),
        ('"Really?" she asked. Yes.', ['"Really?" she asked.', "Yes."]),
        ("Use tools, e.g. Vim. It works.", ["Use tools, e.g. Vim.", "It works."]),
        ("At 5 p.m. we left. J. Doe came.", ["At 5 p.m. we left.", "J. Doe came."]),
        ("No, I haven't. It's Ana's. She won’t. Bye.", ["No, I haven't.", "It's Ana's.", "She won’t.", "Bye."]),
        ("今天下雨。我没带伞！你呢？", ["今天下雨。", "我没带伞！", "你呢？"]),
        ("他说：“走吧。”我们就走了。", ["他说：“走吧。”", "我们就走了。"]),
        ("今天用 Python 3.11。It works. 好的。", ["今天用 Python 3.11。", "It works.", "好的。"]),
        ("Steps:\n1. Boil water\n2. Add tea", ["Steps:", "1. Boil water", "2. Add tea"]),
        ("", []),
        ("no stop", ["no stop"]),
        ("...", ["..."]),
    ],
)
def test_sentences_end_where_a_reader_says(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_a_wrapped_line_is_one_sentence() -> None:
    wrapped = "This sentence was wrapped by an editor at some width around seventy\ncharacters and goes on."
    assert sentences(wrapped) == [wrapped]


@given(st.text(alphabet=st.sampled_from(list('aB1. 。!？\n\t"”eé中')), max_size=80))
def test_sentences_lose_nothing_but_white_space(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


def test_long_text_is_cut_at_paragraphs_first() -> None:
    assert split_text("First one here.\n\nSecond one. Still second.", 30) == [
        "First one here.",
        "Second one. Still second.",
    ]


def test_long_text_is_cut_at_sentences_next() -> None:
    assert split_text("One is short. Two is longer. Three ends.", 30) == ["One is short. Two is longer.", "Three ends."]
    assert split_text("第一句话在这里。第二句话也在这里。", 12) == ["第一句话在这里。", "第二句话也在这里。"]


def test_text_without_boundaries_is_cut_hard() -> None:
    assert split_text("a" * 25, 10) == ["a" * 10, "a" * 10, "a" * 5]


def test_visible_characters_stay_whole() -> None:
    family, flag, accented = "👨‍👩‍👧", "🇵🇹", "e\u0301"
    for cluster in (family, flag, accented, "👍🏽"):
        for piece in split_text(cluster * 6, len(cluster) + 1):
            assert piece == cluster


def test_text_that_fits_is_left_alone() -> None:
    assert split_text("  short  ", 100) == ["short"]
    assert split_text(" \n ", 3) == []


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(InvalidInput):
        split_text("text", 0)


ALPHABET = "ab ,.!?。，\n1中文é\u0301👩\u200d👧🇵🇹\ufe0f"


@given(st.one_of(st.text(max_size=300), st.text(alphabet=ALPHABET, max_size=300)), st.integers(1, 40))
def test_pieces_fit_and_lose_nothing_but_white_space(text: str, limit: int) -> None:
    pieces = split_text(text, limit)
    assert all(0 < len(piece) <= limit and piece == piece.strip() for piece in pieces)
    assert "".join("".join(pieces).split()) == "".join(text.split())
