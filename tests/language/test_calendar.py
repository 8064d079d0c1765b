"""The names of months and weekdays."""

from __future__ import annotations

from datetime import date

import pytest

from amem.language.numerals import month_number, weekday_number
from amem.language.times import mentions


@pytest.mark.parametrize(("name", "number"), [("January", 1), ("sept", 9), ("DEC", 12), ("may", 5)])
def test_a_month_is_known_by_its_first_three_letters(name: str, number: int) -> None:
    assert month_number(name) == number


@pytest.mark.parametrize(("name", "number"), [("Monday", 0), ("thurs", 3), ("一", 0), ("日", 6), ("天", 6)])
def test_a_weekday_is_known_in_both_languages(name: str, number: int) -> None:
    assert weekday_number(name) == number


@pytest.mark.parametrize("name", ["noon", "八", "", "一二"])
def test_other_words_are_no_weekday(name: str) -> None:
    with pytest.raises(KeyError):
        weekday_number(name)


def test_a_number_with_a_nought_before_it_is_read_as_any() -> None:
    (told,) = mentions("We met 05 days ago.", date(2024, 5, 10))
    assert told.span is not None
    assert told.span.first == date(2024, 5, 5)
    assert [each.span.first for each in mentions("0天前见过", date(2024, 5, 10)) if each.span] == [date(2024, 5, 10)]
