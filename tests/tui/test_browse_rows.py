"""Rows of the list: which columns there is room for, and that every line is exactly as wide as the list."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from amem_tui.browse.note_list import FOUND, Row, author, below, laid_out
from amem_tui.browse.sidebar import Condition, Conditions
from rich.cells import cell_len
from textual.content import Content

from amem.note import Enrichment, Kind, Layer, Status
from amem.storage.note_lists import Card

TITLES = (
    "Green tea at 80 degrees, never boiling, and not for longer than two minutes",
    "芝麻是只六岁的橘白猫，怕吸尘器，也怕下雨天打雷的声音，喜欢睡在窗台上",
    "🐱🐱 emoji 🫖 in the middle 👩‍👩‍👧 of a title that is long enough to be cut somewhere",
    "مرحبا بالعالم، هذه ملاحظة باللغة العربية طويلة بما يكفي",
    "e\u0301a\u0300 combining",
    "",
)
AT = datetime(2026, 3, 4, tzinfo=UTC)
CARD = Card(
    key=1, id="id", text="", kind=Kind.DECISION, layer=Layer.SHORT_TERM, status=Status.ACTIVE, at=AT, recorded_at=AT,
    pinned=True, strength=0.6, links=12, recalls=0, speaker=None, analyst="", enrichment=Enrichment.PENDING,
    author="user",
)  # fmt: skip
ROW = Row(CARD, "", AT)


def of(**changes: Any) -> Row:
    """The row with these fields of its card."""
    return replace(ROW, card=replace(CARD, **changes))


def text(row: Row, width: int, **told: int) -> str:
    return laid_out(row, width, marked=False, year=told.get("year", 2026)).plain


def looks(line: Content) -> list[tuple[str, str]]:
    """The pieces of a line, each with its style."""
    return [(line.plain[span.start : span.end], str(span.style)) for span in line.spans]


def excerpt(*pieces: tuple[str, bool]) -> Content:
    return Content.assemble(*((text, FOUND if matched else "") for text, matched in pieces))


@pytest.mark.parametrize("width", [12, 20, 26, 30, 38, 45, 60, 100, 200])
@pytest.mark.parametrize("title", TITLES)
def test_every_line_is_exactly_as_wide_as_the_list(title: str, width: int) -> None:
    found = replace(ROW, score=0.5, catalog="产品团队的笔记")
    for row in (
        ROW,
        found,
        replace(of(pinned=False), score=0.5),
        of(links=123_456, status=Status.SUPERSEDED),
    ):
        assert cell_len(text(replace(row, title=title), width)) == width


def test_columns_drop_out_one_by_one_as_the_list_gets_narrow() -> None:
    row = of(pinned=False, enrichment=Enrichment.DONE, layer=Layer.LONG_TERM)
    row = replace(row, title="Green tea " * 20)
    wide = text(row, 80)
    assert all(part in wide for part in ("● =", "▁▃▅", " L ", "12↔", "2026-03-04"))
    assert "2026-03-04" not in text(row, 46)
    assert "03-04" in text(row, 46)
    assert "12↔" not in text(row, 38)
    assert "▅" in text(row, 38)
    assert "●" not in text(row, 33)
    assert "▅" not in text(row, 35)
    assert "03-04" not in text(row, 30)
    assert text(row, 46).count("Green tea") == 2


@pytest.mark.parametrize("catalog", ["team", "团队"])
def test_a_hit_in_a_catalog_names_it_where_there_is_room(catalog: str) -> None:
    row = replace(ROW, title="Green tea", score=0.5, catalog=catalog)
    assert all(part in text(row, 40) for part in ("Green tea", f" {catalog} ", "0.50"))
    assert "12↔" not in text(row, 80)
    assert catalog not in text(row, 30)


def test_dates_of_other_years_show_the_year_where_there_is_room_for_one_of_both() -> None:
    row = replace(ROW, title="Old", at=datetime(2019, 3, 4, tzinfo=UTC))
    assert "2019-03-04" in text(row, 90)
    assert " 2019 " in text(row, 40)
    assert "03-04" in text(row, 40, year=2019)


def test_people_agents_and_machines_look_different() -> None:
    assert [author(actor) for actor in ("user", "user:ana", "agent:x", "agent", "offline", "")] == [
        "person", "person", "agent", "agent", "machine", "machine",
    ]  # fmt: skip
    found = [looks(laid_out(of(author=who), 60, marked=False, year=2026))[1] for who in ("user", "agent:x", "offline")]
    assert len({text for text, _ in found}) == len({look for _, look in found}) == 3


def test_what_was_superseded_looks_so() -> None:
    line = laid_out(replace(of(status=Status.SUPERSEDED), title="Old"), 60, marked=True, year=2026)
    assert any("strike" in look and "Old" in text for text, look in looks(line))
    assert line.plain.startswith("✓")


def test_a_period_ends_where_the_next_begins() -> None:
    def bounds(value: str) -> tuple[str, str]:
        found = Conditions((Condition("period", value, value),)).filter(UTC)
        return str(found.since)[:10], str(found.until)[:10]

    assert bounds("2026") == ("2026-01-01", "2027-01-01")
    assert bounds("2026-12") == ("2026-12-01", "2027-01-01")
    assert bounds("2024-02") == ("2024-02-01", "2024-03-01")
    assert bounds("9999-12") == ("9999-12-01", "None")


def test_one_topic_takes_the_place_of_another_and_tags_add_up() -> None:
    topics = Conditions().toggled(Condition("topic", "a", "A")).toggled(Condition("topic", "b", "B"))
    assert topics.filter(UTC).part_of == "b"
    tags = Conditions().toggled(Condition("tag", "a", "a")).toggled(Condition("tag", "b", "b"))
    assert tags.filter(UTC).tags == ("a", "b")
    assert tags.words == "#a · #b"
    assert tags.toggled(Condition("tag", "a", "a")).filter(UTC).tags == ("b",)


@pytest.mark.parametrize("width", [12, 26, 45, 80, 200])
def test_the_second_line_of_a_hit_shows_the_words_that_matched(width: int) -> None:
    far = "Monday was long, and then it rained, and nobody came to the bakery on the corner before noon "
    for before, word in ((far, "kettle"), ("周一很长，后来下雨了，没有人来，" * 3, "芝麻"), ("", "kettle")):
        row = replace(
            ROW, title="Journal", score=0.5, excerpt=excerpt((before, False), (word, True), (" and so on" * 9, False))
        )
        line = below(row, width)
        assert line.cell_length == width
        if width >= 26:
            assert (word, FOUND) in looks(line)


def test_a_hit_that_begins_with_its_sentence_marks_the_words_in_its_title() -> None:
    row = replace(ROW, title="I left Kestrel in May. Pieter was kind about it and asked for notes.", score=0.5)
    row = replace(row, excerpt=excerpt(("I left ", False), ("Kestrel", True), (" in May.", False), (" …", False)))
    assert ("Kestrel", FOUND) in looks(laid_out(row, 50, marked=False, year=0))
    assert below(row, 50).plain.strip().startswith("May. Pieter was kind")


def test_a_hit_whose_first_line_says_all_tells_why_it_was_found() -> None:
    row = replace(ROW, title="Buy milk", score=0.5, why="1st by words (milk).")
    row = replace(row, excerpt=excerpt(("Buy ", False), ("milk", True)))
    assert "1st by words (milk)" in below(row, 60).plain


def test_the_second_line_of_a_hit_goes_on_where_its_title_was_cut() -> None:
    text = "Told Pieter that I leave Kestrel Freight at the end of May because of the nights on call."
    first, rest = text.split("Kestrel")
    row = replace(of(pinned=False, enrichment=Enrichment.DONE), title=text, score=0.5)
    row = replace(row, excerpt=excerpt((first, False), ("Kestrel", True), (rest, False)), why="1st by words (kestrel).")
    for width in (45, 60, 78):
        line, under = laid_out(row, width, marked=False, year=0), below(row, width)
        assert line.cell_length == width
        assert under.cell_length == width
        assert ("Kestrel", FOUND) in [*looks(line), *looks(under)]
        title = line.plain[5:].partition("…")[0].strip()
        goes_on = under.plain.strip().removesuffix("…").rstrip()
        assert goes_on in text
        assert text.index(goes_on) <= len(title) + 1
    assert "1st by words" in below(row, 160).plain
