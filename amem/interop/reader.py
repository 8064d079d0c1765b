"""One door for everything ``amem import`` reads: a path or a stream in, notes out."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, BinaryIO

from amem.clock import zone
from amem.errors import InvalidInput
from amem.interop.decoding import decode, reading, whole
from amem.interop.formats import Format, recognise
from amem.interop.items import Emptied, Listing, Read, split_long
from amem.interop.jsonl import read_jsonl
from amem.interop.locomo import read_locomo
from amem.interop.markdown import read_folder, read_markdown
from amem.interop.other_memories import read_knowledge_graph, read_letta, read_mem0
from amem.interop.text_file import read_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from amem.settings import Settings


def read_path(path: Path, settings: Settings, format: Format | None = None) -> Iterator[Read]:
    """The notes of a file or folder. Raises InvalidInput when it cannot be read at all or its format is not known."""
    if path.is_dir():
        if format not in (None, Format.MARKDOWN):
            raise InvalidInput(f"{path} is a folder; only Markdown is read from folders")
        limit = settings.max_note_chars
        yield from split_long(read_folder(path, zone(settings.timezone), limit), limit)
        return
    root = path.parent.resolve()
    listing = Listing(root.as_posix(), frozenset([(root / path.name).as_posix()]), whole=False)
    with reading(path) as stream:
        if not stream.read(1):
            yield listing
            yield Emptied(path.name, (root / path.name).as_posix())
            return
        stream.seek(0)
        written = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        items = _read(stream, path.name, path, written, settings, format)
        # A file that cannot be read at all is refused before anything is told of it.
        first = next(items, None)
        yield listing
        if first is not None:
            yield first
            yield from items


def read_stream(stream: BinaryIO, settings: Settings, format: Format | None = None) -> Iterator[Read]:
    """The notes of a stream that can be rewound, such as standard input kept in a temporary file."""
    if not stream.read(1):
        raise InvalidInput("standard input is empty", hint="there is nothing to import")
    stream.seek(0)
    yield from _read(stream, "stdin", None, None, settings, format)


def _read(
    stream: BinaryIO,
    name: str,
    path: Path | None,
    written: datetime | None,
    settings: Settings,
    format: Format | None,
) -> Iterator[Read]:
    where, limit = zone(settings.timezone), settings.max_note_chars
    root = None if path is None else path.parent.resolve().as_posix()
    items: Iterator[Read]
    match format or recognise(stream, path):
        case Format.MARKDOWN:
            text = decode(whole(stream, name), name)
            items = read_markdown(text, name, written, where, limit, root=root)
        case Format.JSONL:
            items = read_jsonl(stream, name, where)
        case Format.LOCOMO:
            items = read_locomo(stream, name, where)
        case Format.MCP_MEMORY:
            items = read_knowledge_graph(stream, name, written)
        case Format.MEM0:
            items = read_mem0(stream, name, where)
        case Format.LETTA:
            items = read_letta(stream, name, where)
        case Format.CLAUDE_CODE | Format.CODEX | Format.CHATGPT | Format.CLAUDE | Format.MESSAGES as session:
            raise InvalidInput(
                f"{name} holds conversations of {session}, to be remembered rather than read as notes",
                hint="name the file to amem import",
            )
        case _:
            items = read_text(stream, name, written, limit, root=root)
    yield from split_long(items, limit)
