"""How things are put on lines, and how times and global options are read."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from amem.cli.app import as_utf8, globals_first
from amem.cli.command import pairs
from amem.cli.render import counted, fitting, one_line, short_id
from amem.errors import InvalidInput
from amem.labels import visible
from amem.language.sentence_parts import breaks
from amem.language.times import moment_of


def lines(text: str, width: int) -> list[str]:
    cuts = [0, *breaks(text, width, first=width), len(text)]
    return [text[start:end] for start, end in pairwise(cuts)]


def test_english_breaks_after_spaces_and_chinese_anywhere() -> None:
    assert lines("The ship sails at dawn", 10) == ["The ship ", "sails at ", "dawn"]
    assert lines("芝麻住在Graça的三楼", 10) == ["芝麻住在", "Graça的三", "楼"]


def test_a_blank_that_binds_is_no_place_to_break() -> None:
    assert lines("one two\u00a0three", 9) == ["one ", "two\u00a0three"]


def test_punctuation_never_begins_a_line() -> None:
    assert lines("一二三四五。六", 10) == ["一二三四", "五。六"]
    assert lines("去了（很远）", 6) == ["去了", "（很", "远）"]


def test_a_word_longer_than_the_line_is_cut() -> None:
    assert lines("abcdefghij", 4) == ["abcd", "efgh", "ij"]


@given(st.text(alphabet=st.sampled_from("ab 一。（）,\n"), max_size=80), st.integers(4, 20))
def test_no_line_is_too_wide_and_nothing_is_lost(text: str, width: int) -> None:
    broken = lines(text, width)
    assert "".join(broken) == text
    assert all(cell_len(line.rstrip()) <= width for line in broken)


def test_control_and_direction_characters_are_shown_not_obeyed() -> None:
    assert visible("a\x1b[2Jb\x07\u202ec\x9b") == "a␛[2Jb␇�c�"
    assert visible("two\nlines\tand 里斯本 🐱") == "two\nlines\tand 里斯本 🐱"


def test_cutting_counts_cells_not_characters() -> None:
    assert one_line("里斯本  的\n猫", 7) == "里斯本…"
    assert cell_len(one_line("里斯本的猫很多", 8)) <= 8


def test_random_ids_are_shortened_and_chosen_ones_are_not() -> None:
    assert short_id("1347ecc9-d3c8-4e71-8068-91f920a6ea65") == "1347ecc9"
    assert short_id("note-about-tea") == "note-about-tea"


def test_numbers_agree_with_their_nouns() -> None:
    assert [counted(1, "note"), counted(1451, "note"), counted(2, "reply", "replies")] == [
        "1 note",
        "1,451 notes",
        "2 replies",
    ]


NOW = datetime(2026, 3, 10, 15, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("today", "2026-03-10T00:00"),
        ("yesterday", "2026-03-09T00:00"),
        ("7d", "2026-03-03T15:30"),
        ("12h", "2026-03-10T03:30"),
        ("2W", "2026-02-24T15:30"),
        ("2026-01-05", "2026-01-05T00:00"),
        ("2026-01-05T08:00+01:00", "2026-01-05T07:00"),
    ],
)
def test_times_are_read_as_people_give_them(said: str, meant: str) -> None:
    assert moment_of(said, UTC, NOW) == datetime.fromisoformat(meant).replace(tzinfo=UTC)


@pytest.mark.parametrize("said", ["", "whenever", "d", "999999999999d", "-3d"])
def test_other_times_are_refused(said: str) -> None:
    with pytest.raises(InvalidInput):
        moment_of(said, UTC, NOW)


def test_metadata_values_that_are_numbers_become_numbers() -> None:
    given_as = ["a=1", "b=2.5", "c=true", "d=text", 'e="quoted"', "f=x=y", "g=", "h=null", "i=[1]"]
    assert pairs(given_as) == {
        "a": 1, "b": 2.5, "c": True, "d": "text", "e": '"quoted"', "f": "x=y", "g": "", "h": "null", "i": "[1]",
    }  # fmt: skip


def test_global_options_are_moved_to_the_front() -> None:
    words = ["add", "text", "-c", "work", "--json", "--home=/x", "--debug", "--", "-c", "stays"]
    assert globals_first(words) == ["-c", "work", "--home=/x", "--debug", "add", "text", "--json", "--", "-c", "stays"]
    assert globals_first(["list", "--home"]) == ["--home", "list"]


def test_arguments_of_a_foreign_locale_are_read_as_utf8() -> None:
    import sys

    garbled = "里".encode().decode("ascii", "surrogateescape")
    assert as_utf8(garbled) == ("里" if sys.getfilesystemencoding() == "utf-8" else garbled)
    assert as_utf8("caf\udce9") == "caf\udce9"


@pytest.mark.parametrize(
    ("width", "shown"),
    [(120, "id when kind note tags"), (80, "id when kind note"), (50, "id when note"), (20, "id when note")],
)
def test_a_narrow_terminal_shows_fewer_columns_and_those_readable(width: int, shown: str) -> None:
    names = ("id", "when", "kind", "note", "tags")
    rows = [
        ("01234567", "2026-03-01", "preference", "我住在里斯本，喜欢喝绿茶。" * 3, "#面包店 #drinks #where_people_live")
    ]
    kept = fitting(names, rows, width, wide="note", spare=("tags", "kind"))
    assert " ".join(names[place] for place in kept) == shown
