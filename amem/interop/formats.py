"""Which format an input has: what the caller says, else what its shape shows."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import TYPE_CHECKING, BinaryIO

from amem.errors import InvalidInput

if TYPE_CHECKING:
    from pathlib import Path

MARKDOWN_SUFFIXES = (".md", ".markdown")
JSONL_SUFFIXES = (".jsonl", ".ndjson")
_PEEK = 1 << 16


class Format(StrEnum):
    """What ``amem import`` reads."""

    MARKDOWN = "markdown"
    TEXT = "text"
    JSONL = "jsonl"
    LOCOMO = "locomo"


def recognise(stream: BinaryIO, path: Path | None) -> Format:
    """The format by suffix and first bytes; the stream is left where it was. Raises InvalidInput for other JSON."""
    suffix = "" if path is None else path.suffix.lower()
    if suffix in MARKDOWN_SUFFIXES:
        return Format.MARKDOWN
    if suffix in JSONL_SUFFIXES:
        return Format.JSONL
    start = stream.tell()
    head = stream.read(_PEEK)
    stream.seek(start)
    opening = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if opening.startswith((b"[", b"{")):
        if b'"conversation"' in opening and b'"session_' in opening:
            return Format.LOCOMO
        if opening.startswith(b"{") and _is_object(opening.split(b"\n", 1)[0]):
            return Format.JSONL
        if suffix == ".json":
            raise InvalidInput(
                f"{path} is JSON, but neither a LoCoMo conversation nor notes line by line",
                hint="write one JSON object with a content per line, or name the --format",
            )
    return Format.TEXT


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False
