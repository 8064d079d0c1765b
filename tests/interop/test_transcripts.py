"""Session files of coding agents: what was said in them is remembered, once, and what was not said is not."""

from __future__ import annotations

import json
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

from amem.errors import InvalidInput
from amem.interop.formats import Format
from amem.interop.transcripts import conversations_in, read_export, read_session, remember_sessions, session_files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from amem import AgenticMemorySystem

SESSION = "0b7e1f9e-6a44-4c1c-9a3f-2f6d0a3c9b11"


def claude(number: int, role: str, content: Any, **more: Any) -> dict[str, Any]:
    return {
        "parentUuid": None,
        "isSidechain": False,
        "userType": "external",
        "cwd": "/home/ana/buoys",
        "sessionId": SESSION,
        "version": "2.1.47",
        "gitBranch": "main",
        "type": role,
        "message": {"role": role, "content": content},
        "uuid": f"00000000-0000-4000-8000-{number:012d}",
        "timestamp": f"2026-10-05T09:{number:02d}:00.000Z",
        **more,
    }


CLAUDE: list[Any] = [
    {"type": "summary", "summary": "Buoy catalogue", "leafUuid": "x"},
    {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}},
    claude(1, "user", "<command-name>/clear</command-name>\n<command-message>clear</command-message>"),
    claude(2, "user", "Caveat: made by a command", isMeta=True),
    claude(
        3, "user", "We decided to keep the buoy catalogue in PostgreSQL 15.3.<system-reminder>be kind</system-reminder>"
    ),
    claude(4, "assistant", [{"type": "thinking", "thinking": "hm", "signature": "s"}]),
    claude(5, "assistant", [{"type": "text", "text": "I set up the schema."}]),
    claude(6, "assistant", [{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}]),
    claude(7, "user", [{"type": "tool_result", "tool_use_id": "t", "content": "secret-file.txt"}]),
    claude(8, "user", [{"type": "text", "text": "Tests run with make check."}, {"type": "image", "source": {}}]),
    claude(9, "assistant", "Between agents.", isSidechain=True),
    claude(10, "user", "This session is being continued from a previous one.", isCompactSummary=True),
    {"type": "system", "content": "compacted", "subtype": "compact_boundary", "sessionId": SESSION},
]
CODEX: list[Any] = [
    {"type": "session_meta", "payload": {"id": "s-1", "cwd": "/home/ana/buoys"}},
    *(
        {"timestamp": f"2026-10-06T09:0{number}:00.000Z", "type": kind, "payload": payload}
        for number, (kind, payload) in enumerate(
            [
                (
                    "response_item",
                    {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "x"}]},
                ),
                (
                    "response_item",
                    {
                        "type": "message",
                        "role": "user",
                        "content": [{"type": "input_text", "text": "<environment_context>\n</environment_context>"}],
                    },
                ),
                (
                    "response_item",
                    {
                        "type": "message",
                        "role": "user",
                        "content": [{"type": "input_text", "text": "Releases go out on Tuesdays."}],
                    },
                ),
                ("event_msg", {"type": "user_message", "message": "Releases go out on Tuesdays."}),
                ("response_item", {"type": "reasoning", "summary": []}),
                ("response_item", {"type": "function_call", "name": "shell", "arguments": "{}"}),
                (
                    "response_item",
                    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Noted."}]},
                ),
            ]
        )
    ),
]
SAID = {
    Format.CLAUDE_CODE: [
        ("user", "We decided to keep the buoy catalogue in PostgreSQL 15.3."),
        ("assistant", "I set up the schema."),
        ("user", "Tests run with make check."),
    ],
    Format.CODEX: [("user", "Releases go out on Tuesdays."), ("assistant", "Noted.")],
}
LINES = {Format.CLAUDE_CODE: CLAUDE, Format.CODEX: CODEX}


def write(path: Path, lines: list[Any], *, end: str = "\n") -> Path:
    path.write_text("\n".join(json.dumps(line, ensure_ascii=False) for line in lines) + end, encoding="utf-8")
    return path


@pytest.mark.parametrize("format", SAID)
def test_what_was_said_is_read_and_nothing_else(tmp_path: Path, format: Format) -> None:
    path = write(tmp_path / "session.jsonl", LINES[format])
    assert session_files(path, None) == [(path, format)]
    with path.open("rb") as stream:
        said = [each for each in read_session(stream, path.name, format) if hasattr(each, "message")]
    assert [(str(each.message.role), each.message.content) for each in said] == SAID[format]
    assert all(each.message.at is not None and each.message.at.year == 2026 for each in said)
    (conversation,) = {each.conversation for each in said}
    assert conversation in (f"claude-code-{SESSION}", "codex-s-1")


@pytest.mark.parametrize("format", SAID)
def test_a_session_that_goes_on_is_remembered_where_it_stopped(
    tmp_path: Path, open_memory: Callable[..., AgenticMemorySystem], format: Format
) -> None:
    memory = open_memory()
    lines, said = LINES[format], SAID[format]
    half = write(tmp_path / "session.jsonl", lines[: len(lines) // 2])
    with half.open("a", encoding="utf-8") as file:
        file.write(json.dumps(lines[len(lines) // 2])[:40])  # being written
    first = remember_sessions(memory, [(half, format)])
    assert first.refused == []
    whole = write(tmp_path / "session.jsonl", lines)
    second = remember_sessions(memory, [(whole, format)])
    assert (first.messages + second.messages, second.known) == (len(said), first.messages)
    notes = memory.count()
    third = remember_sessions(memory, [(whole, format)])
    assert (third.messages, third.known, third.operations) == (0, len(said), [])
    assert memory.count() == notes
    for operation in reversed(first.operations + second.operations):
        memory.undo(operation)
    assert memory.count() == 0


def test_lines_that_are_no_json_are_named_and_the_others_remembered(
    tmp_path: Path, open_memory: Callable[..., AgenticMemorySystem]
) -> None:
    path = write(tmp_path / "session.jsonl", CLAUDE[:5])
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], "{broken", "[1]", *lines[1:]]) + "\n")
    report = remember_sessions(open_memory(), session_files(path, None))
    assert [each.where for each in report.refused] == ["session.jsonl, line 2", "session.jsonl, line 3"]
    assert report.messages == 1


def test_a_folder_of_sessions_is_read_where_its_format_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "projects" / "-home-ana-buoys"
    folder.mkdir(parents=True)
    write(folder / "a.jsonl", CLAUDE)
    write(folder / "agent-1.jsonl", CLAUDE)
    assert [path.name for path, _ in session_files(tmp_path, Format.CLAUDE_CODE)] == ["a.jsonl"]
    assert session_files(tmp_path, None) == []


def test_notes_line_by_line_are_still_notes(tmp_path: Path) -> None:
    path = write(tmp_path / "notes.jsonl", [{"content": "a note", "kind": "fact"}, {"content": "another"}])
    assert session_files(path, None) == []


def test_a_folder_without_sessions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no session files"):
        session_files(tmp_path, Format.CODEX)


def chatgpt(number: int, *said: tuple[str, str]) -> dict[str, Any]:
    """A conversation as ChatGPT exports it, with a hidden first message and a branch that was left."""
    mapping: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None, "children": ["m0"]}}
    parent = "root"
    for place, (role, text) in enumerate((("system", ""), *said)):
        id = f"m{number}-{place}"
        mapping[id] = {
            "id": id,
            "parent": parent,
            "children": [],
            "message": {
                "id": id,
                "author": {"role": role, "name": None, "metadata": {}},
                "create_time": 1_790_000_000.5 + 60 * place,
                "content": {"content_type": "text", "parts": [text]},
                "metadata": {"is_visually_hidden_from_conversation": True} if role == "system" else {},
            },
        }
        parent = id
    left = {"id": "left", "author": {"role": "user"}, "content": {"content_type": "text", "parts": ["Left."]}}
    mapping["left"] = {"id": "left", "parent": "root", "children": [], "message": left}
    return {
        "title": "Chat",
        "create_time": 1.0,
        "mapping": mapping,
        "current_node": parent,
        "conversation_id": f"c{number}",
    }


def claude_chat(number: int, *said: tuple[str, str]) -> dict[str, Any]:
    """A conversation as Claude exports it."""
    messages = [
        {
            "uuid": f"m{number}-{place}",
            "text": text if place % 2 == 0 else "",
            "content": [{"type": "text", "text": text}],
            "sender": {"user": "human"}.get(role, role),
            "created_at": f"2026-10-05T09:0{place}:00.000000Z",
        }
        for place, (role, text) in enumerate(said)
    ]
    return {"uuid": f"c{number}", "name": "Chat", "account": {"uuid": "a"}, "chat_messages": messages}


TALK = (("user", "My dentist is Dr. Alvarez. 我住在杭州。"), ("assistant", "Noted."))


@pytest.mark.parametrize(("format", "make"), [(Format.CHATGPT, chatgpt), (Format.CLAUDE, claude_chat)])
def test_an_export_is_remembered_conversation_by_conversation_and_a_newer_one_adds_what_is_new(
    tmp_path: Path, open_memory: Callable[..., AgenticMemorySystem], format: Format, make: Callable[..., Any]
) -> None:
    memory = open_memory()
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([make(1, *TALK)], ensure_ascii=False), encoding="utf-8")
    assert session_files(path, None) == [(path, format)]
    first = remember_sessions(memory, session_files(path, None))
    assert (first.messages, first.known, first.refused) == (2, 0, [])
    archive = tmp_path / "export.zip"
    newer = [make(1, *TALK, ("user", "My cat is called Miso.")), make(2, ("user", "x " * 200_000)), {"uuid": "broken"}]
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("user.json", "{}")
        file.writestr("data/conversations.json", json.dumps(newer, indent=2, ensure_ascii=False))
    assert session_files(archive, None) == [(archive, format)]
    with conversations_in(archive) as stream:
        read = list(read_export(stream, "export.zip", format))
    assert [getattr(each, "conversation", "refused")[-2:] for each in read] == ["c1", "c1", "c1", "c2", "ed"]
    assert str(getattr(read[-1], "where", "")) == "export.zip, conversation 3"
    second = remember_sessions(memory, session_files(archive, None))
    assert (second.messages, second.known, len(second.refused)) == (2, 2, 1)
    assert remember_sessions(memory, session_files(archive, None)).messages == 0


@pytest.mark.parametrize(
    ("text", "says"), [("{}", "not a list"), ('[{"a": 1}, {"b":', "not a list"), ("[", "not a list")]
)
def test_an_export_that_is_none_or_was_cut_off_is_refused(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "conversations.json"
    path.write_text(text)
    with conversations_in(path) as stream, pytest.raises(InvalidInput, match=says):
        list(read_export(stream, path.name, Format.CLAUDE))


@pytest.mark.parametrize("content", [b"no archive", None])
def test_an_archive_without_conversations_is_refused(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "export.zip"
    if content is None:
        with zipfile.ZipFile(path, "w") as file:
            file.writestr("other.json", "[]")
    else:
        path.write_bytes(content)
    with pytest.raises(InvalidInput, match="no export of conversations"):
        session_files(path, None)


MESSAGES = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "My dentist is Dr. Alvarez.", "timestamp": "2026-03-01T09:00:00Z"},
    {"role": "assistant", "content": [{"type": "text", "text": "Noted."}], "tool_calls": []},
    {"role": "tool", "content": "42", "tool_call_id": "t"},
    {"role": "user", "content": "我住在杭州。", "created_at": 1790000000},
]


@pytest.mark.parametrize(
    ("name", "text", "conversations"),
    [
        ("chat.json", json.dumps(MESSAGES), {"chat"}),
        ("chat.json", json.dumps({"messages": MESSAGES}, indent=1), {"chat-1"}),
        ("chat.jsonl", "".join(json.dumps(each) + "\n" for each in MESSAGES), {"chat"}),
        (
            "chats.jsonl",
            json.dumps({"messages": MESSAGES[:2], "id": "a"}) + "\n" + json.dumps({"messages": MESSAGES[2:]}),
            {"chats-a", "chats-2"},
        ),
    ],
)
def test_messages_with_a_role_and_a_content_are_remembered_however_they_are_written(
    tmp_path: Path, open_memory: Callable[..., AgenticMemorySystem], name: str, text: str, conversations: set[str]
) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert session_files(path, None) == [(path, Format.MESSAGES)]
    with path.open("rb") as stream:
        said = list(read_export(stream, name, Format.MESSAGES))
    assert {getattr(each, "conversation", "refused") for each in said} == conversations
    memory = open_memory()
    report = remember_sessions(memory, session_files(path, None))
    assert (report.messages, report.refused) == (3, [])
    assert remember_sessions(memory, session_files(path, None)).messages == 0


def test_a_line_that_is_no_message_is_refused_by_its_number(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_text(json.dumps(MESSAGES[1]) + "\n{broken\n" + json.dumps(MESSAGES[4]) + "\n")
    with path.open("rb") as stream:
        said = list(read_export(stream, path.name, Format.MESSAGES))
    assert [getattr(each, "where", "") for each in said] == ["", "chat.jsonl, line 2", ""]


def test_a_message_without_a_role_is_refused_by_its_number(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    path.write_text(json.dumps([MESSAGES[1], {"content": "who said it?"}, 5]))
    with path.open("rb") as stream:
        said = list(read_export(stream, path.name, Format.MESSAGES))
    assert [getattr(each, "where", "") for each in said] == ["", "chat.json, 2", "chat.json, 3"]
