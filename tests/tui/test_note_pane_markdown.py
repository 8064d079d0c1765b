"""Markdown as it is laid out: what a person reads of it, and what a hostile note cannot do with it."""

from __future__ import annotations

import pytest
from amem_tui.browse.note_markdown import LONGEST, parts_of
from amem_tui.page import Address, Named, Sheet, ToNote, lay_out

WIDTHS = (12, 37, 80)


def sheet(text: str, width: int = 40, **notes: str) -> Sheet:
    return lay_out(parts_of(text, lambda names: {name: notes[name] for name in names if name in notes}), width)


def lines(text: str, width: int = 40) -> list[str]:
    return [line.plain.rstrip() for line in sheet(text, width).lines]


def chosen(text: str, **notes: str) -> list[tuple[str, object]]:
    """(the words, what they lead to) of every place."""
    made = sheet(text, 80, **notes)
    return [
        ("".join(made.lines[line].plain[start:end] for line, start, end in each.spans), each.destination)
        for each in made.choices
    ]


def styles(text: str, words: str) -> str:
    """How these words are drawn."""
    for line in sheet(text, 80).lines:
        if (start := line.plain.find(words)) >= 0:
            return " ".join(str(span.style) for span in line.spans if span.start <= start < span.end)
    raise AssertionError(f"{words!r} is not there")


def test_headings_lists_quotes_and_code_look_like_what_they_are() -> None:
    text = "# Tea\n\nGreen.\n\n- one\n  goes on\n  - two\n\n> said\n\n```py\nx  =  1\n```\n\n3. third\n4. fourth"
    assert lines(text) == [
        "Tea",
        "",
        "Green.",
        "",
        "• one goes on",
        "  ◦ two",
        "",
        "▌ said",
        "",
        "│ py",
        "│ x  =  1",
        "",
        "3. third",
        "4. fourth",
    ]
    assert "bold" in styles(text, "Tea")


def test_emphasis_is_drawn_and_its_marks_are_not() -> None:
    assert lines("**b** *i* ~~s~~ `c`") == ["b i s c"]
    assert "bold" in styles("a **b**", "b")
    assert "strike" in styles("a ~~s~~", "s")


def test_lines_break_after_words_and_between_chinese_characters() -> None:
    assert lines("Hello 芝麻是只六岁的橘白猫", 12) == ["Hello 芝麻是", "只六岁的橘白", "猫"]
    assert lines("- one two three", 12) == ["• one two", "  three"]


def test_a_link_leads_to_the_note_its_name_means_and_says_so_when_there_is_none() -> None:
    found = chosen("[[Tea]] [[Cat|the cat]] [[Cat#food]] [pot](Pot.md) `[[code]]`", Cat="cat-id")
    assert [words for words, _ in found] == ["Tea?", "the cat", "Cat#food", "pot?"]
    aims = [destination for _, destination in found]
    assert isinstance(aims[0], Named)
    assert isinstance(aims[1], ToNote)
    assert isinstance(aims[2], ToNote)
    assert isinstance(aims[3], Named)
    assert (aims[0].name, aims[1].id, aims[2].id, aims[3].name) == ("Tea", "cat-id", "cat-id", "Pot.md")
    assert lines("[[Tea]]") == ["Tea?"]


def test_of_hundreds_of_links_none_is_said_to_lead_nowhere_without_being_looked_up() -> None:
    asked: list[str] = []
    text = " ".join(f"[[name {number}]]" for number in range(900))
    made = lay_out(parts_of(text, lambda names: asked.extend(names) or {}), 80)
    shown = " ".join(line.plain for line in made.lines)
    assert "name 0?" in shown
    assert "name 899?" not in shown
    assert "name 899" in shown
    assert len(asked) < 900
    assert len(made.choices) == 900


def test_a_link_over_two_lines_is_one_choice() -> None:
    made = sheet("see [[A long name of a note]] there", 12, **{"A long name of a note": "id"})
    assert len(made.choices) == 1
    assert [line for line, _, _ in made.choices[0].spans] == [0, 1, 2]


def test_addresses_outside_are_shown_to_be_copied() -> None:
    found = chosen("https://amem.example/a and [here](https://elsewhere.example)")
    assert [words for words, _ in found] == ["https://amem.example/a", "here"]
    assert [destination.url for _, destination in found if isinstance(destination, Address)] == [
        "https://amem.example/a",
        "https://elsewhere.example",
    ]


def test_an_image_is_its_name_and_an_address() -> None:
    ((words, destination),) = chosen("![a cat](https://tracker.example/1.png)")
    assert words == "▣ a cat"
    assert isinstance(destination, Address)


def test_html_comments_and_definitions_hide_nothing() -> None:
    text = "<!-- hidden --> <b>bold</b>\n\n[a]: https://evil.example 'words'\n\n<script>alert(1)</script>"
    shown = "\n".join(lines(text, 80))
    for words in ("hidden", "<b>bold</b>", "evil.example", "alert(1)"):
        assert words in shown


def test_addresses_that_run_something_are_no_links() -> None:
    assert chosen("[click](javascript:alert(1)) [file](file:///etc/passwd) [d](data:text/html,x)") == []


def test_textual_markup_and_rich_markup_are_text() -> None:
    assert lines("[bold]x[/bold] [@click=app.quit]y[/] [red]z", 80) == ["[bold]x[/bold] [@click=app.quit]y[/] [red]z"]


@pytest.mark.parametrize(
    "text",
    ["a\x1b[2Jb\x07\x9b", "a&#27;[2J&#x9b;b", "[a\x1b](b\x1b)", "`a\x1bb`", "```\na\x1b]0;x\x07b\n```", "[[a\x1bb]]"],
)
def test_no_control_character_survives(text: str) -> None:
    for line in lines(text):
        assert not any(ord(char) < 32 or 0x7F <= ord(char) < 0xA0 for char in line)


def test_a_character_written_as_a_number_cannot_turn_the_line_around() -> None:
    assert "\u202e" not in "".join(lines("abc &#8238;def&#x2067;"))


def test_a_table_takes_columns_as_wide_as_there_is_room() -> None:
    text = "| a | n |\n|---|--:|\n| tea [[Pot]] | 5 |\n| some more words than fit | 12 |"
    assert lines(text, 24) == [
        "a                      n",
        "────────────────────  ──",
        "tea Pot?               5",
        "some more words than  12",
        "fit",
    ]
    assert lines(text, 14)[:2] == ["a: tea Pot?", "n: 5"]
    assert [words for words, _ in chosen(text)] == ["Pot?"]


def test_a_table_of_5000_rows_is_laid_out_whole() -> None:
    made = sheet("| a |\n|---|\n" + "".join(f"| {n} |\n" for n in range(5000)), 20)
    assert len(made.lines) == 5002
    assert made.lines[-1].plain.strip() == "4999"


@pytest.mark.parametrize(
    "text",
    [
        ">" * 3000 + " deep",
        "\n".join("  " * depth + "- deep" for depth in range(300)),
        "[" * 20_000 + " deep",
        "[[" * 10_000 + " deep",
        "*a **b " * 2_800 + "deep",
        "`" * 20_000 + " deep",
        "![" * 10_000 + " deep",
        "<" * 20_000 + " deep",
        "x" * 20_000 + " deep",
        "| a " * 4_000 + "|\n" + "|---" * 4_000 + "|\n| deep |",
    ],
    ids=["quotes", "lists", "brackets", "wikilinks", "stars", "ticks", "images", "angles", "one word", "columns"],
)
def test_nothing_is_too_tangled_to_be_shown(text: str) -> None:
    for width in (12, 40):
        made = sheet(text, width)
        assert all(line.cell_length <= width for line in made.lines)
        assert "deep" in "".join(line.plain for line in made.lines)


def test_a_very_long_text_is_shown_as_it_was_written_and_says_so() -> None:
    shown = lines("**word** " * (LONGEST // 9 + 1) + "the end", 80)
    assert "too long" in shown[0]
    assert "**word**" in shown[2]
    assert "end" in shown[-1]


@pytest.mark.parametrize("width", WIDTHS)
def test_every_script_stays_within_the_page(width: int) -> None:
    text = "芝麻🐱👨‍👩‍👧 שלום עולם مرحبا بالعالم e\u0301 — *斜体* [[链接|一个很长的链接的名字]]\n\n> 引用" * 5
    made = sheet(text, width)
    assert all(line.cell_length <= width for line in made.lines)
    assert "שלום" in "".join(line.plain for line in made.lines)
