"""Plain text: one note for each paragraph, and more for one that is too long for a note."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import TYPE_CHECKING, BinaryIO

from amem.interop.decoding import WHOLE, check_utf8
from amem.interop.items import FilePlace, Incoming, parts_of, source_id
from amem.language import split_text
from amem.note import Source
from amem.writing.intake import NewNote

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime


def read_text(
    stream: BinaryIO, name: str, written: datetime | None, limit: int, *, root: str | None = None
) -> Iterator[Incoming]:
    """The paragraphs of a text, read as it streams, cut to notes of at most `limit` characters.

    `root` is the folder, absolute, that a file lies in (None: it is no file): its notes know their place, so that the
    file can be read again as an update, unless it is larger than what is held in memory (`decoding.WHOLE`). Raises
    InvalidInput, before the first, when it is not UTF-8.
    """
    check_utf8(stream, name)
    start = stream.tell()
    if stream.seek(0, io.SEEK_END) - start > WHOLE:
        root = None
    stream.seek(start)
    part = 0
    for number, paragraph in _paragraphs(stream):
        identity = source_id("file", name, paragraph)
        source = Source(identity, "file", None, f"{name}:{number}", None, written, paragraph.strip())
        whole = Incoming(NewNote(paragraph, written, source, {"metadata": {}}), f"line {number}")
        for item in parts_of(whole, split_text(paragraph, limit)):
            part += 1
            yield item if root is None else replace(item, place=_place(root, name, part, item.note.content))


def _place(root: str, name: str, part: int, text: str) -> FilePlace:
    digest = source_id(text)
    return FilePlace(root, name, part, "", digest, digest, "")


def _paragraphs(stream: BinaryIO) -> Iterator[tuple[int, str]]:
    """(line number of its first line, paragraph), paragraphs being what blank lines part."""
    held: list[str] = []
    began = 1
    for number, raw in enumerate(stream, start=1):
        line = raw.decode("utf-8").removeprefix("\ufeff" if number == 1 else "").rstrip()
        if line:
            if not held:
                began = number
            held.append(line)
        elif held:
            yield began, "\n".join(held)
            held = []
    if held:
        yield began, "\n".join(held)
