"""Files of every format become notes, or say where and why they do not."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from amem.errors import InvalidInput
from amem.interop.items import Emptied, Incoming, Refused
from amem.interop.locomo import session_time
from amem.interop.reader import read_path

if TYPE_CHECKING:
    from pathlib import Path

    from amem.settings import Settings


def notes_of(path: Path, settings: Settings) -> list[Incoming]:
    return [item for item in read_path(path, settings) if isinstance(item, Incoming)]


def refusals_of(path: Path, settings: Settings) -> list[tuple[str, str]]:
    return [(item.where, item.why) for item in read_path(path, settings) if isinstance(item, Refused)]


def write_lines(path: Path, *lines: Any) -> Path:
    text = "\n".join(line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines)
    path.write_text(text + "\n", encoding="utf-8")
    return path


# -- text ------------------------------------------------------------------------------------------------------


def test_each_paragraph_of_a_text_is_a_note_that_knows_its_line(tmp_path: Path, settings: Settings) -> None:
    path = write_lines(tmp_path / "a.txt", "Ana lives in Porto.", "She runs.", "", "", "安娜住在波尔图。")

    found = notes_of(path, settings)

    assert [item.note.content for item in found] == ["Ana lives in Porto.\nShe runs.", "安娜住在波尔图。"]
    assert [item.note.source.ref for item in found if item.note.source] == ["a.txt:1", "a.txt:5"]


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path, settings: Settings) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("\ufeff里斯本".encode())

    assert [item.note.content for item in notes_of(path, settings)] == ["里斯本"]


@pytest.mark.parametrize("before", ["", "x" * ((1 << 20) - 1), "é" * (1 << 19)])
def test_invalid_utf8_is_refused_by_its_byte_position_before_any_note(
    tmp_path: Path, settings: Settings, before: str
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"good\n\n" + before.encode() + b"\xff\xfe")

    with pytest.raises(InvalidInput, match=f"byte 0xff at position {6 + len(before.encode()):,}"):
        next(iter(read_path(path, settings)))


def test_a_character_cut_in_half_at_the_end_is_refused(tmp_path: Path, settings: Settings) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("里".encode()[:2])

    with pytest.raises(InvalidInput, match="position 0"):
        notes_of(path, settings)


def test_utf16_is_named(tmp_path: Path, settings: Settings) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("hello".encode("utf-16"))

    with pytest.raises(InvalidInput, match="is UTF-16, not UTF-8"):
        notes_of(path, settings)


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.md", "a.json"])
def test_an_empty_file_is_told_of_and_is_no_failure(tmp_path: Path, settings: Settings, name: str) -> None:
    (tmp_path / name).write_text("")

    assert [item.where for item in read_path(tmp_path / name, settings) if isinstance(item, Emptied)] == [name]


def test_a_paragraph_longer_than_a_note_becomes_parts_of_one(tmp_path: Path, settings: Settings) -> None:
    short = settings.model_copy(update={"max_note_chars": 60})
    path = write_lines(
        tmp_path / "a.txt", "The first sentence is here. The second one follows it. The third one ends it."
    )

    first, second = notes_of(path, short)

    assert first.note.content == "The first sentence is here. The second one follows it."
    assert second.note.content == "The third one ends it."
    assert second.wanted[0].type == "part_of"
    assert second.wanted[0].target in first.names


# -- JSON Lines ------------------------------------------------------------------------------------------------


def test_jsonl_keys_become_the_notes_fields(tmp_path: Path, settings: Settings) -> None:
    line = {
        "content": "Tea at five.",
        "time": "2026-05-01T17:00",
        "tags": ["tea"],
        "kind": "preference",
        "speaker": "Ana",
    }
    (item,) = notes_of(write_lines(tmp_path / "a.jsonl", line), settings)

    assert item.note.content == "Tea at five."
    assert item.note.time == "2026-05-01T17:00"
    assert dict(item.note.fields) == {"tags": ["tea"], "kind": "preference", "speaker": "Ana"}
    assert item.note.source is not None
    assert item.note.source.at == datetime(2026, 5, 1, 16, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{not json}", "not JSON"),
        ('["a list"]', "not a JSON object"),
        ('{"text": "no content"}', "no content (unknown key 'text')"),
        ('{"content": "x", "colour": "red"}', "unknown key 'colour'"),
        ('{"content": "x", "time": "soon"}', "cannot read 'soon' as a time"),
        ('{"content": "x", "time": 5}', "a time must be text"),
        ('{"content": "x", "time": "2026-01-01", "timestamp": "2026-01-01"}', "mean the same"),
        ('{"content": "x", "id": 7}', "an id must be text"),
        ("[" * 100_000, "not JSON|nested too deeply"),
    ],
)
def test_a_bad_line_is_refused_by_its_number_and_the_rest_is_read(
    tmp_path: Path, settings: Settings, line: str, why: str
) -> None:
    path = write_lines(tmp_path / "a.jsonl", {"content": "before"}, line, "", {"content": "after"})

    assert [item.note.content for item in notes_of(path, settings)] == ["before", "after"]
    ((where, said),) = refusals_of(path, settings)
    assert where == "line 2"
    assert any(each in said for each in why.split("|"))


def test_a_jsonl_line_that_is_not_utf8_is_refused_by_its_position_in_the_file(
    tmp_path: Path, settings: Settings
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"content": "ok"}\n{"content": "\xff"}\n')

    assert refusals_of(path, settings) == [("line 2", "the line is not UTF-8: byte 0xff at position 31")]


# -- Markdown --------------------------------------------------------------------------------------------------


def test_a_markdown_file_is_a_note_with_the_title_tags_and_date_of_its_front_matter(
    tmp_path: Path, settings: Settings
) -> None:
    path = write_lines(
        tmp_path / "sourdough.md",
        "---",
        "title: Sourdough bread",
        "tags: [baking, 面包]",
        "aliases:",
        "  - levain",
        "created: 2026-02-03",
        "rating: 5",
        "---",
        "Feed the starter every evening. #kitchen",
    )

    (item,) = notes_of(path, settings)

    assert item.note.content == "# Sourdough bread\n\nFeed the starter every evening. #kitchen"
    assert item.note.time == "2026-02-03"
    assert item.note.fields["tags"] == ["baking", "面包", "kitchen"]
    assert item.note.fields["metadata"] == {
        "rating": "5",
        "title": "Sourdough bread",
        "path": "sourdough.md",
        "aliases": ["levain"],
    }
    assert {"sourdough", "Sourdough bread", "levain"} <= set(item.names)


@pytest.mark.parametrize(("tags", "of_each"), [(50, 51), (51, 2)])
def test_the_tags_in_a_long_markdown_file_are_those_of_all_its_notes_or_where_they_are_many_of_the_note_they_stand_in(
    tmp_path: Path, settings: Settings, tags: int, of_each: int
) -> None:
    parts = "".join(f"# Part {at}\n\nThe tea of part {at}, #茶{at}. {'It is hot. ' * 10}\n\n" for at in range(tags))
    (tmp_path / "tea.md").write_text(f"---\ntags: [kitchen]\n---\n{parts}", encoding="utf-8")
    items = notes_of(tmp_path / "tea.md", settings)
    assert len(items) == tags
    for at, item in enumerate(items):
        assert {"kitchen", f"茶{at}"} <= set(item.note.fields["tags"])
        assert len(item.note.fields["tags"]) == of_each


def test_a_long_markdown_file_is_cut_at_its_headings(tmp_path: Path, settings: Settings) -> None:
    short = settings.model_copy(update={"max_note_chars": 60})
    path = write_lines(
        tmp_path / "a.md",
        "# One",
        "The first part.",
        "",
        "## Two",
        "The second part of it all.",
        "",
        "## Three",
        "End.",
    )

    assert [item.note.content for item in notes_of(path, short)] == [
        "# One\n\nThe first part.",
        "# One > Two\n\nThe second part of it all.",
        "# One > Three\n\nEnd.",
    ]


def test_links_in_code_are_not_links(tmp_path: Path, settings: Settings) -> None:
    path = write_lines(
        tmp_path / "a.md",
        "See [[Porto|the city]], [[Lisbon#Food]] and [tea](notes/tea%20time.md).",
        "`[[inline]]`",
        "```",
        "[[fenced]]",
        "```",
    )

    (item,) = notes_of(path, settings)

    assert [wanted.target for wanted in item.wanted] == ["Porto", "Lisbon", "notes/tea time.md"]


def test_hidden_files_and_folders_of_a_vault_are_left_out(tmp_path: Path, settings: Settings) -> None:
    for name in ("b.md", "sub/a.md", ".obsidian/x.md", ".trash/y.md", "picture.png"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("Something.")

    assert [item.where for item in notes_of(tmp_path, settings)] == ["b.md", "sub/a.md"]


def test_a_bad_file_of_a_vault_is_refused_by_its_path_and_the_rest_is_read(tmp_path: Path, settings: Settings) -> None:
    (tmp_path / "bad.md").write_bytes(b"ab\xe9")
    (tmp_path / "empty.md").write_text("---\ntags: x\n---\n")
    (tmp_path / "good.md").write_text("Good.")

    assert refusals_of(tmp_path, settings) == [
        ("bad.md", "it is not UTF-8: byte 0xe9 at position 2 (convert it to UTF-8 first, for instance with iconv)")
    ]
    assert [item.where for item in read_path(tmp_path, settings) if isinstance(item, Emptied)] == ["empty.md"]
    assert len(notes_of(tmp_path, settings)) == 1


def test_a_folder_without_markdown_is_refused(tmp_path: Path, settings: Settings) -> None:
    with pytest.raises(InvalidInput, match="holds no Markdown files"):
        notes_of(tmp_path, settings)


# -- LoCoMo ----------------------------------------------------------------------------------------------------

SAMPLE = {
    "sample_id": "conv-7",
    "conversation": {
        "speaker_a": "Ana",
        "speaker_b": "Bo",
        "session_2_date_time": "12:05 am on 1 January, 2024",
        "session_2": [{"speaker": "Bo", "dia_id": "D2:1", "text": "", "blip_caption": "a red boat"}],
        "session_1_date_time": "1:47 pm on 9 May, 2022",
        "session_1": [
            {"speaker": "Ana", "dia_id": "D1:1", "text": "Hello Bo!"},
            {"speaker": "Bo", "dia_id": "D1:2", "text": "Look at this.", "blip_caption": "a dog on a wall"},
            {"speaker": "Bo", "dia_id": "D1:3", "text": " "},
        ],
    },
}


def test_each_turn_of_a_locomo_conversation_is_a_note_in_order(tmp_path: Path, settings: Settings) -> None:
    path = tmp_path / "conversation.json"
    path.write_text(json.dumps([SAMPLE]))

    found = notes_of(path, settings)

    assert [item.note.content for item in found] == [
        "Hello Bo!",
        "Look at this. [shares a photo: a dog on a wall]",
        "[shares a photo: a red boat]",
    ]
    assert [item.note.time for item in found] == ["2022-05-09T13:47", "2022-05-09T13:47", "2024-01-01T00:05"]
    sources = [item.note.source for item in found if item.note.source is not None]
    assert [(s.kind, s.conversation, s.ref, s.speaker, s.ordinal) for s in sources] == [
        ("message", "conv-7", "D1:1", "Ana", 1),
        ("message", "conv-7", "D1:2", "Bo", 2),
        ("message", "conv-7", "D2:1", "Bo", 4),
    ]
    assert refusals_of(path, settings) == [("conv-7, D1:3", "the turn says nothing")]


def test_one_locomo_sample_alone_is_recognised_too(tmp_path: Path, settings: Settings) -> None:
    path = tmp_path / "one.json"
    path.write_text(json.dumps(SAMPLE))

    assert len(notes_of(path, settings)) == 3


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("1:47 pm on 9 May, 2022", datetime(2022, 5, 9, 13, 47)),
        ("12:17 am on 14 September, 2022", datetime(2022, 9, 14, 0, 17)),
        ("12:30 PM on 1 Jan 2024", datetime(2024, 1, 1, 12, 30)),
    ],
)
def test_session_times_are_read_whatever_the_machines_language(said: str, read: datetime) -> None:
    assert session_time(said) == read


def test_other_json_says_what_would_be_read(tmp_path: Path, settings: Settings) -> None:
    path = tmp_path / "a.json"
    path.write_text('[{"a": 1}]')

    with pytest.raises(InvalidInput, match="nor notes line by line"):
        notes_of(path, settings)
