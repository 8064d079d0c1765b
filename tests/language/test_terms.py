"""What a text is found by."""

from __future__ import annotations

import sqlite3
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amem.language import FTS5_TOKENIZE, index_terms, normalize, query_terms, sentences


def finds(question: str, note: str) -> bool:
    return bool(set(query_terms(question)) & set(index_terms(note)))


@pytest.mark.parametrize(
    ("question", "note"),
    [
        ("databases", "one database"),
        ("Running", "she runs"),
        ("cafe", "a Café in Lisbon"),
        ("PostgreSQL 15", "PostgreSQL v15.3"),
        ("15.3", "upgrade to v15.3"),
        ("camel", "CamelCase"),
        ("camelcase", "CamelCase"),
        ("snake_case", "use snake_case"),
        ("case", "use snake_case"),
        ("bar", "foo-bar"),
        ("ana@example.com", "write to ana@example.com"),
        ("C++", "she writes C++"),
        ("C#", "she writes C# now"),
        ("OBrien", "Conan O'Brien"),
        ("what is Ana's job?", "Ana works in a bakery"),
        ("ＭｙＳＱＬ", "MySQL"),
        ("数据库用什么？", "我们的数据库换了"),
        ("我的猫叫什么名字", "家里养了一只猫，叫咪咪"),
        ("用 MySQL 吗", "数据库改成MySQL了"),
    ],
)
def test_a_question_meets_the_note_it_is_about(question: str, note: str) -> None:
    assert finds(question, note)


def test_c_sharp_and_c_plus_plus_stay_two_things() -> None:
    assert not {"c++", "c#"} <= set(index_terms("C++"))
    assert "c#" not in index_terms("C++")


def test_chinese_runs_become_overlapping_bigrams() -> None:
    assert index_terms("数据库") == ["数据", "据库"]
    assert index_terms("糖") == ["糖"]


def test_repeated_words_keep_their_frequency() -> None:
    assert Counter(index_terms("tea, tea and more tea"))["tea"] == 3


def test_nothing_to_index_gives_no_terms() -> None:
    assert index_terms("") == index_terms("?!… 。") == index_terms("🎉") == []


def test_function_words_are_left_out_of_a_question() -> None:
    assert query_terms("What did we decide about the databases, and don't we?") == ["decid", "databas"]
    assert query_terms("你知道我们的数据库是什么吗") == ["数据", "据库"]
    assert query_terms("什么是过敏") == ["过敏"]


def test_a_question_of_function_words_alone_keeps_them() -> None:
    assert query_terms("who is he") == ["who", "is", "he"]
    assert query_terms("是什么") == ["是什", "什么"]


def test_terms_of_a_question_are_unique_and_in_order() -> None:
    assert query_terms("tea or coffee or tea") == ["tea", "coffe"]


FTS_TEXTS = [
    "The PostgreSQL v15.3 server: snake_case, CamelCase, foo-bar, user@host, C++ and C#, don't, __init__",
    "我们决定把数据库从 PostgreSQL 换成 MySQL，猫也喜欢。",
    "हिन्दी में लिखा, العَرَبِيَّة, עִבְרִית, ไทยที่นี่, naïve Ελληνικά",
    "1_000 x² ½ ① ﬁne",
]


def fts5_counts(text: str) -> dict[str, int]:
    database = sqlite3.connect(":memory:")
    try:
        database.execute(f'create virtual table f using fts5(t, tokenize="{FTS5_TOKENIZE}")')
        database.execute("create virtual table v using fts5vocab(f, row)")
        database.execute("insert into f values (?)", (" ".join(index_terms(text)),))
        return {term: count for term, _, count in database.execute("select * from v")}
    finally:
        database.close()


@pytest.mark.parametrize("text", FTS_TEXTS)
def test_sqlite_keeps_our_terms_as_they_are(text: str) -> None:
    assert fts5_counts(text) == Counter(index_terms(text))


@given(st.text(max_size=200))
def test_any_text_has_clean_terms(text: str) -> None:
    for term in index_terms(text):
        assert term
        assert term.strip() == term
        assert " " not in term
    assert set(query_terms(text)) <= set(index_terms(text))


@pytest.mark.parametrize(
    "text",
    ["a" + " " * 20_000 + "b", "!" * 20_000 + "x", "_" * 20_000, "." * 20_000 + "x", "\n" * 20_000 + "x"],
    ids=["spaces", "exclamations", "underscores", "dots", "lines"],
)
def test_endless_runs_of_one_character_take_no_time(text: str) -> None:
    # Each of these once took seconds: a pattern that backtracks is quadratic on them.
    assert len(index_terms(text)) <= 2
    assert len(sentences(text)) <= 2
    assert normalize(text)
