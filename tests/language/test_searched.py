"""What notes are searched by in Chinese: pairs, characters, and numbers in either script."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amem.language import asked_terms, held_terms, index_terms, located_terms, query_terms, search_terms
from amem.language.numerals import in_characters, value_of


def finds(question: str, note: str) -> bool:
    return bool(set(asked_terms(question)) & set(search_terms(note)))


@pytest.mark.parametrize(
    ("question", "note"),
    [
        ("我们租的是谁的？", "房租每个月三千八"),
        ("哪天拔的？", "智齿要拔，约了星期三"),
        ("２ 只猫", "家里有两只鸟"),
        ("两千八的那张", "花了 2800 块"),
        ("卖了305万吗", "以三百零五万成交"),
        ("28号的", "二十八号开会"),
        ("二零二五年的", "写于 2025 年"),
        ("2025年的", "写于二零二五年"),
    ],
)
def test_a_chinese_question_meets_the_note_whose_pairs_differ(question: str, note: str) -> None:
    assert finds(question, note)


@pytest.mark.parametrize(
    ("question", "note"), [("你知道吗", "我不知道"), ("我们什么时候去", "他们去过了"), ("一直在吗", "一起吃的")]
)
def test_words_that_only_bind_find_nothing_by_their_characters(question: str, note: str) -> None:
    said = {each for each in asked_terms(question) if len(each) == 1}
    assert not said & set(search_terms(note))


def test_japanese_and_korean_letters_stay_in_pairs() -> None:
    assert [each for each in search_terms("東京で働いています") if len(each) == 1] == ["東", "京", "働"]
    assert all(len(each) == 2 for each in search_terms("서울에서"))


def test_other_languages_are_searched_as_they_are_indexed() -> None:
    for text in ("we moved to Lisbon in 2025", "déménagé à Lisbonne", "Привет, мир", "🎉", ""):
        assert search_terms(text) == index_terms(text)
        assert asked_terms(text) == query_terms(text)


def test_a_question_of_words_that_only_ask_keeps_them() -> None:
    assert asked_terms("是什么") == query_terms("是什么") != []


@given(st.text(max_size=120))
def test_what_is_asked_can_be_indexed(text: str) -> None:
    for term in (*asked_terms(text), *search_terms(text)):
        assert term.strip() == term != ""
        assert " " not in term
    assert set(index_terms(text)) <= set(search_terms(text))


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("十二", 12),
        ("两百", 200),
        ("三百五", 350),
        ("三千八", 3_800),
        ("三千零八", 3_008),
        ("一万二", 12_000),
        ("三百零五万", 3_050_000),
        ("三千二百万", 32_000_000),
        ("一亿三千万", 130_000_000),
        ("一万亿", 1_000_000_000_000),
        ("3万", 30_000),
        ("12万5千", 125_000),
        ("二零二五", 2_025),
        ("万", None),
        ("", None),
        ("点", None),
    ],
)
def test_numbers_are_read_as_people_write_them(written: str, number: int | None) -> None:
    assert value_of(written) == number


@given(st.integers(0, 99_999_999))
def test_a_number_in_characters_reads_back(number: int) -> None:
    assert value_of(in_characters(number)) == number


@pytest.mark.parametrize(
    "text",
    [
        "Dying, lying and tying; the skies, an early sky, ugly ties. Skiing idly, singly, gently, only.",
        "Ana's CamelCase iPhone at v15.3, snake_case and foo-bar, USA, Café, O'Brien, C++ and yes, aged eyes.",
        "家里有两只猫，房租每个月三千八 at the Kafka broker",
    ],
)
def test_the_terms_that_are_asked_of_a_text_are_those_it_is_searched_by(text: str) -> None:
    terms = set(search_terms(text))
    assert held_terms(text, terms) == terms
    for term in terms:
        assert held_terms(text, {term, "nowhere"}) == {term}


@given(st.text(), st.text())
def test_any_terms_of_another_text_are_told_apart(text: str, other: str) -> None:
    wanted = set(search_terms(other)) | set(search_terms(text[: len(text) // 2]))
    assert held_terms(text, wanted) == wanted & set(search_terms(text))


@given(st.text(), st.text())
def test_a_text_is_searched_for_the_places_of_some_terms_as_for_those_of_all(text: str, other: str) -> None:
    wanted = set(search_terms(other)) | set(search_terms(text[: len(text) // 2]))
    every = [(start, end, held) for start, end, terms in located_terms(text) if (held := wanted.intersection(terms))]
    some = [(start, end, wanted.intersection(terms)) for start, end, terms in located_terms(text, wanted)]
    assert [each for each in some if each[2]] == every
