"""Plain text: one note for each paragraph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.interop.decoding import check_utf8
from amem.interop.items import Incoming, source_id
from amem.note import Source
from amem.writing.intake import NewNote

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from typing import BinaryIO


def read_text(stream: BinaryIO, name: str, written: datetime | None) -> Iterator[Incoming]:
    """The paragraphs of a text, read as it streams. Raises InvalidInput, before the first, when it is not UTF-8."""
    check_utf8(stream, name)
    for number, paragraph in _paragraphs(stream):
        where = f"line {number}"
        source = Source(source_id("file", name, paragraph), "file", None, f"{name}:{number}", None, written, paragraph)
        yield Incoming(NewNote(paragraph, written, source), where)


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
