"""Which format an input has: what the caller says, else what its shape shows."""

from __future__ import annotations

import json
import re
from enum import StrEnum
from typing import TYPE_CHECKING, BinaryIO

from amem.errors import InvalidInput

if TYPE_CHECKING:
    from pathlib import Path

MARKDOWN_SUFFIXES = (".md", ".markdown")
JSONL_SUFFIXES = (".jsonl", ".ndjson")
_PEEK = 1 << 16
#: A session begins with a line or two of other things: a summary, a snapshot of files.
_FIRST_LINES = 20
#: A list of messages, or an object with one: what comes first in each is its role, or perhaps its content or id.
_MESSAGES = re.compile(rb'\s*(?:\{\s*"messages"\s*:\s*)?\[\s*\{(?=[^{}\[\]]*"role"\s*:)')

#: Where mem0's list of memories begins; what stands before it are counts and addresses of pages.
MEM0_LIST = re.compile(rb'\s*(?:\{[^\[\]{}]*"(?:results|memories)"\s*:\s*)?(\[)\s*\{(?=[^{}\[\]]*"memory"\s*:\s*")')

#: How a file of Letta's begins that holds whole agents, now or before there could be several in one.
_LETTA = re.compile(rb'\s*\{\s*(?:"agents"\s*:\s*\[|"agent_type"\s*:\s*"[^"]*"\s*,\s*"core_memory"\s*:)')


class Format(StrEnum):
    """What ``amem import`` reads."""

    MARKDOWN = "markdown"
    TEXT = "text"
    JSONL = "jsonl"
    LOCOMO = "locomo"
    CLAUDE_CODE = "claude-code"
    CODEX = "codex"
    CHATGPT = "chatgpt"
    CLAUDE = "claude"
    MESSAGES = "messages"
    MCP_MEMORY = "mcp-memory"
    MEM0 = "mem0"
    LETTA = "letta"


def recognise(stream: BinaryIO, path: Path | None) -> Format:
    """The format by suffix and first bytes; the stream is left where it was. Raises InvalidInput for other JSON."""
    suffix = "" if path is None else path.suffix.lower()
    if suffix in MARKDOWN_SUFFIXES:
        return Format.MARKDOWN
    start = stream.tell()
    head = stream.read(_PEEK)
    stream.seek(start)
    if suffix in JSONL_SUFFIXES:
        return _session(head) or Format.JSONL
    opening = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if opening.startswith((b"[", b"{")):
        if b'"conversation"' in opening and b'"session_' in opening:
            return Format.LOCOMO
        if opening.startswith(b"[") and b'"mapping"' in opening and b'"parent"' in opening:
            return Format.CHATGPT
        if opening.startswith(b"[") and b'"chat_messages"' in opening:
            return Format.CLAUDE
        if _MESSAGES.match(opening):
            return Format.MESSAGES
        if MEM0_LIST.match(opening):
            return Format.MEM0
        if _LETTA.match(opening):
            return Format.LETTA
        if opening.startswith(b"{") and _is_object(opening.split(b"\n", 1)[0]):
            return Format.MCP_MEMORY if _session(opening) is Format.MCP_MEMORY else Format.JSONL
        if suffix == ".json":
            if (fault := _fault_in(stream.read())) is not None:
                raise InvalidInput(f"{path} is not valid JSON: {fault}", hint="mend the file, then import it again")
            raise InvalidInput(
                f"{path} is JSON, but neither conversations, nor another program's memories, nor notes line by line",
                hint="write one JSON object with a content per line, or name the --format",
            )
    return Format.TEXT


def _fault_in(text: bytes) -> str | None:
    """What is wrong with a JSON text, and in which line and column; None for a valid one."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return f"{error.msg} in line {error.lineno}, column {error.colno}"
    except (UnicodeDecodeError, RecursionError) as error:
        return str(error)
    return None


def _session(head: bytes) -> Format | None:
    """Which conversation begins so, line by line; None for notes."""
    for line in head.splitlines()[:_FIRST_LINES]:
        try:
            held = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if not isinstance(held, dict):
            continue
        if (held.get("type"), type(held.get("name"))) == ("entity", str) and "observations" in held:
            return Format.MCP_MEMORY
        if held.get("type") == "relation" and "relationType" in held:
            return Format.MCP_MEMORY
        if held.get("type") == "session_meta" and "payload" in held:
            return Format.CODEX
        if isinstance(held.get("sessionId"), str) and isinstance(held.get("type"), str):
            return Format.CLAUDE_CODE
        if isinstance(held.get("messages"), list) or {"role", "content"} <= held.keys():
            return Format.MESSAGES
    return None


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False
