"""Which texts count as the same text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amem.language import cjk_share, is_cjk, normalize


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ana likes tea.", "ana  likes\ntea"),
        ("MySQL", "ＭｙＳＱＬ"),
        ("我喜欢茶。", "我喜欢茶"),
        ("It’s “fine”", 'it\'s "fine"'),
        ("Great!!!", "great"),
        ("I ❤️ tea", "I ❤ tea"),
    ],
)
def test_cosmetic_differences_fold(one: str, other: str) -> None:
    assert normalize(one) == normalize(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("42", "4 2"),
        ("3.5", "35"),
        ("x²", "x2"),
        ("C++", "C"),
        ("-5", "5"),
        ("Is it done?", "Is it done."),
        ("Ana is allergic", "Ana is not allergic"),
        ("v1.0", "v10"),
        ("a.b", "a b"),
    ],
)
def test_different_things_stay_different(one: str, other: str) -> None:
    assert normalize(one) != normalize(other)


def test_punctuation_alone_does_not_vanish() -> None:
    assert normalize("...") == "..."
    assert normalize("。") == "。"


@given(st.text(max_size=100))
def test_the_normal_form_of_a_normal_form_is_itself(text: str) -> None:
    assert normalize(normalize(text)) == normalize(text)


def test_cjk_share_tells_the_languages_apart() -> None:
    assert cjk_share("plain English") == 0
    assert cjk_share("我们把 PostgreSQL 换成了 MySQL 数据库") > 0.5
    assert cjk_share("Ana said 你好 to everyone in the office this morning") < 0.3
    assert cjk_share("42 !?") == cjk_share("") == 0


def test_chinese_japanese_and_korean_are_cjk() -> None:
    assert all(is_cjk(character) for character in "中あカ한𠀀")
    assert not any(is_cjk(character) for character in "aé1。!🎉")
    assert not is_cjk("")
