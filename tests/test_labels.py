"""What a note is called in lists, wherever they are shown."""

from __future__ import annotations

import pytest

from amem.labels import short_id, short_ids, title


@pytest.mark.parametrize(
    ("text", "called"),
    [
        ("```python\n# Phase of the moon\ndef phase(day):\n    ...\n```", "Phase of the moon"),
        ("```\ndef phase(day):\n    return day % 29.53\n```", "def phase(day):"),
        ("~~~ c++\nint main() {}\n~~~", "int main() {}"),
        ("# Tom Tom #\n\nThe cat next door.", "Tom Tom"),
        ("### 芝麻\n六岁的橘白猫", "芝麻"),
        ("---\n\nBuy milk", "Buy milk"),
        ("<!-- written by hand -->\n> **Never** boil `tea`", "Never boil tea"),
        ("- [x] call [Inês](https://example.org/ines)", "call Inês"),
        ("1. see [[notes/2026|last year]] and [[Porto]]", "see last year and Porto"),
        ("-5 degrees in Tromsø", "-5 degrees in Tromsø"),
        ("#garden the peas are out", "#garden the peas are out"),
        ("call __init__ twice", "call __init__ twice"),
        ("???", "???"),
        ("\n \n", ""),
    ],
)
def test_a_note_is_called_by_its_first_words_without_marks(text: str, called: str) -> None:
    assert title(text) == called


def test_a_long_title_is_cut_where_it_was_asked_for() -> None:
    assert title("word " * 20, 12) == "word word w…"


def test_a_random_id_is_shortened_and_a_chosen_name_is_not() -> None:
    assert short_id("3f2b1c9e-0000-4000-8000-000000000000") == "3f2b1c9e"
    assert short_id("3f2b1c9e00004000800000000000000f") == "3f2b1c9e"
    assert short_id("shopping-list") == "shopping-list"
    assert short_ids("see 3f2b1c9e-0000-4000-8000-000000000000 first") == "see 3f2b1c9e first"
