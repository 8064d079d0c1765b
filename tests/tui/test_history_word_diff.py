"""Texts compared word by word: what is gone, what is new, and nothing else."""

from __future__ import annotations

import random

import pytest
from amem_tui.history.history_room import changed_text, compared, items

from amem.clock import zone
from amem.note_changes import DiffKind, condensed, field_words, list_diff, word_diff


def marked(before: str, after: str) -> str:
    """The comparison as text: ``[-gone-]``, ``{+new+}``."""
    frames = {DiffKind.SAME: "{}", DiffKind.REMOVED: "[-{}-]", DiffKind.ADDED: "{{+{}+}}", DiffKind.SKIPPED: "<{}>"}
    return "".join(frames[piece.kind].format(piece.text) for piece in word_diff(before, after))


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ("", "", ""),
        ("tea", "tea", "tea"),
        ("", "green tea", "{+green tea+}"),
        ("green tea", "", "[-green tea-]"),
        ("tea at 80 degrees", "tea at 75 degrees", "tea at [-80-]{+75+} degrees"),
        ("tea at 80 degrees", "tea at 80 degrees, never boiling", "tea at 80 degrees{+, never boiling+}"),
        ("one two three four five", "one 2 3 four five", "one [-two three-]{+2 3+} four five"),
        ("I use Chroma. It works.", "I use SQLite. It works.", "I use [-Chroma-]{+SQLite+}. It works."),
        ("First.\n\nLast.\n", "First.\n\nNew.\n\nLast.\n", "First.\n\n{+New.\n\n+}Last.\n"),
        ("As I have.", "As I have. One more.", "As I have.{+ One more.+}"),
        ("naïve café", "naïve cafés", "naïve [-café-]{+cafés+}"),
    ],
)
def test_words_are_compared_as_wholes(before: str, after: str, shown: str) -> None:
    assert marked(before, after) == shown


def test_chinese_and_japanese_are_compared_by_characters() -> None:
    assert marked("芝麻是六岁的猫，怕吸尘器", "芝麻是七岁的猫，不怕吸尘器") == (
        "芝麻是[-六-]{+七+}岁的猫，{+不+}怕吸尘器"
    )
    assert marked("お茶を飲む", "お茶を飲まない") == "お茶を飲[-む-]{+まない+}"
    assert marked("数据库用PostgreSQL", "数据库用MySQL") == "数据库用[-PostgreSQL-]{+MySQL+}"


def test_an_emoji_of_several_parts_is_one_sign() -> None:
    assert marked("cat 🐱 here", "cat 👩‍👩‍👧 here") == "cat [-🐱-]{+👩‍👩‍👧+} here"
    assert marked("flag 🇵🇹", "flag 🇵🇱") == "flag [-🇵🇹-]{+🇵🇱+}"


def test_a_text_that_was_written_anew_is_not_shown_as_confetti() -> None:
    before, after = "The old approach uses Chroma for the store", "We keep everything within SQLite now, as rows"
    assert marked(before, after) == f"[-{before}-]{{+{after}+}}"


def texts(seed: int) -> tuple[str, str]:
    """Two random texts in mixed scripts, one made from the other."""
    chance = random.Random(seed)
    alphabet = ["tea ", "pot ", "the ", "the ", "80 ", "。", "茶", "壶", ". ", "\n", "🐱", "\n\n", "é"]
    before = [chance.choice(alphabet) for _ in range(chance.randrange(200))]
    after = [part for part in before if chance.random() > 0.2]
    for _ in range(chance.randrange(20)):
        after.insert(chance.randrange(len(after) + 1), chance.choice(alphabet))
    return "".join(before), "".join(after)


@pytest.mark.parametrize("seed", range(40))
def test_the_pieces_make_both_texts_again(seed: int) -> None:
    before, after = texts(seed)
    pieces = word_diff(before, after)
    assert "".join(piece.text for piece in pieces if piece.kind is not DiffKind.ADDED) == before
    assert "".join(piece.text for piece in pieces if piece.kind is not DiffKind.REMOVED) == after


def test_a_small_change_in_a_text_of_20000_characters_is_found_and_the_rest_left_out() -> None:
    chance = random.Random(1)
    for vocabulary in ([f"word{n} " for n in range(500)], [chr(0x4E00 + n) for n in range(300)]):
        parts = [chance.choice(vocabulary) for _ in range(20_000 // len(vocabulary[0]))]
        changed = list(parts)
        changed[len(parts) // 2] = "CHANGED "
        pieces = word_diff("".join(parts), "".join(changed))
        assert [piece.text.strip() for piece in pieces if piece.kind is DiffKind.ADDED] == ["CHANGED"]
        short = condensed(pieces, 80)
        assert sum(len(piece.text) for piece in short if piece.kind is not DiffKind.SKIPPED) < 300
        assert sum(len(piece.text) for piece in short if piece.kind is not DiffKind.ADDED) == len("".join(parts))


@pytest.mark.parametrize("text", ["a b ", "是", "\n", ". "])
def test_long_texts_of_one_part_again_and_again_are_compared_too(text: str) -> None:
    before = text * (20_000 // len(text))
    pieces = word_diff(before, before[:-100] + "x" + text * 3)
    assert "".join(piece.text for piece in pieces if piece.kind is not DiffKind.ADDED) == before


def test_items_of_a_list_are_compared_each() -> None:
    assert [(piece.text, str(piece.kind)) for piece in list_diff(["tea", "cat"], ["tea", "pot"])] == [
        ("tea", "same"),
        ("cat", "removed"),
        ("pot", "added"),
    ]
    before, after, both = items(["tea", "cat"], ["tea", "pot"])
    assert [content.plain for content in (before, after, both)] == ["tea, cat", "tea, pot", "tea, cat, pot"]


def test_what_is_gone_is_struck_and_red_and_what_is_new_is_green() -> None:
    content = changed_text("old tea", "new tea")[2]
    assert content.plain == "oldnew tea"
    assert [(content.plain[span.start : span.end], span.style) for span in content.spans if span.style] == [
        ("old", "strike $error"),
        ("new", "$success"),
    ]
    assert [side.plain for side in changed_text("old tea", "new tea")[:2]] == ["old tea", "new tea"]


def test_what_a_note_says_cannot_command_the_terminal_nor_be_read_as_markup() -> None:
    content = changed_text("[red]tea[/red]", "[red]tea[/red] \x1b[31mhot")[2]
    assert content.plain == "[red]tea[/red] [31mhot"


def test_values_of_every_sort_are_said_in_words() -> None:
    utc = zone("UTC")
    assert field_words("pinned", True, utc) == "yes"
    assert field_words("tags", ["tea", "pot"], utc) == "tea, pot"
    assert field_words("valid_to", "2026-03-01T09:30:00.000000Z", utc) == "2026-03-01 09:30"
    assert field_words("superseded_by", "abc", utc, {"abc": "Lisbon"}) == "Lisbon"
    assert field_words("superseded_by", "0123456789abcdef" * 2, utc) == "01234567"
    assert field_words("facts", [["Ana", "lives_in", "Ghent"]], utc) == "Ana lives in Ghent"
    fact = ["Ana", "lives_in", "Ghent", False, "2026-01-01T00:00:00.000000Z", None]
    assert field_words("facts", [fact], utc) == "not: Ana lives in Ghent (from 2026-01-01 00:00)"
    assert field_words("metadata", {"ref": "a.md", "n": 3}, utc) == "ref: a.md; n: 3"
    assert field_words("context", None, utc) == ""


def test_a_change_says_what_a_field_was_and_what_it_is() -> None:
    changes = {"pinned": (False, True), "tags": (["a"], ["a", "b"]), "content": ("Tea", "Green tea")}
    found = compared(changes, zone("UTC"), {})
    assert [(each.name, each.both.plain) for each in found] == [
        ("content", "Tea → Green tea"),
        ("tags", "a, b"),
        ("pinned", "no → yes"),
    ]
