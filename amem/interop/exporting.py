"""A collection as JSON Lines that ``amem import`` reads back (notes, links with reasons, sources, versions).

Chosen notes can be written as Markdown, too: front matter that ``amem import`` and Obsidian read, text, and links.
"""

from __future__ import annotations

import json
import os
import stat
import tempfile
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from amem.errors import InvalidInput
from amem.interop.formats import JSONL_SUFFIXES, MARKDOWN_SUFFIXES
from amem.interop.json_records import EXPORT_MARK, kept_record, link_record, note_record, source_record, version_record
from amem.query import UNDELETED, Filter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import tzinfo
    from pathlib import Path

    from amem.note import Link, MemoryNote, Source
    from amem.storage.operations import Version
    from amem.storage.whole import Whole


def markdown(note: MemoryNote, links: Sequence[Link], zone: tzinfo, *, alone: bool) -> str:
    """The note as a page of its own, or (not `alone`) as one of several in a file, parted by rules."""
    at = note.at or note.recorded_at
    when = "" if at is None else at.astimezone(zone).strftime("%Y-%m-%d %H:%M")
    body = [note.content.rstrip(), *([""] if links else []), *(_led(link) for link in links)]
    if alone:
        front = {"id": note.id, "created": when, "kind": str(note.kind), "context": _flat(note.context)}
        lines = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in front.items() if value]
        if note.tags:
            lines += ["tags:", *(f"  - {_flat(tag)}" for tag in note.tags)]
        return "\n".join(["---", *lines, "---", "", *body])
    tags = " ".join(f"#{_flat(tag)}" for tag in note.tags)
    about = " · ".join(part for part in (when, str(note.kind), tags, f"`{note.id}`") if part)
    return "\n".join([*body, "", f"*{about}*", "", "---", ""])


def _led(link: Link) -> str:
    return f"- {link.type} [[{link.target}]]{': ' if link.reason else ''}{_flat(link.reason)}"


def _flat(text: str) -> str:
    return " ".join(text.split())


_PAGE = 500
SHAPE = 1


class Collection(Protocol):
    """The part of a memory system that an export reads."""

    def read(self, id: str) -> MemoryNote | None: ...

    def links(self, id: str) -> Sequence[Link]: ...

    def sources(self, ids: Sequence[str]) -> dict[str, list[Source]]: ...

    def count(self, filter: Filter | None = None) -> int: ...

    def history(self, id: str) -> Sequence[Version]: ...

    def wholes(self, ids: Sequence[str]) -> dict[str, Whole]: ...

    def list(
        self, filter: Filter | None = None, *, limit: int = 50, offset: int = 0, order: str = "time"
    ) -> Sequence[MemoryNote]: ...


def exported(collection: Collection, filter: Filter = UNDELETED, *, versions: bool = False) -> Iterator[dict[str, Any]]:
    """One JSON-ready record for each note, in the order in which they arrived."""
    total = collection.count(filter)
    for end in range(total, 0, -_PAGE):
        # Pages come newest first, so the oldest is the last of the last page.
        start = max(0, end - _PAGE)
        page = list(collection.list(filter, limit=end - start, offset=start, order="recorded"))[::-1]
        ids = [note.id for note in page]
        sources, beside = collection.sources(ids), collection.wholes(ids)
        for note in page:
            record = _record(collection, note, sources[note.id])
            record["kept"] = kept_record(note, beside[note.id])
            if versions:
                record["versions"] = [version_record(version) for version in collection.history(note.id)]
            yield record


def export_chosen(
    collection: Collection, ids: Sequence[str], path: Path, zone: tzinfo, *, replace: bool = False
) -> int:
    """Write these notes to a file, in this order; returns how many there were to write.

    As Markdown to read (``.md``, times in `zone`), or as the JSON Lines of `exported` (``.jsonl``): the file's ending
    says which. Raises InvalidInput for another ending and, unless it may `replace` it, for a file that is there;
    OSError when the file cannot be written.
    """
    shape = path.suffix.lower()
    if shape not in (*MARKDOWN_SUFFIXES, *JSONL_SUFFIXES):
        raise InvalidInput(
            f"{path.name!r} does not say in what form to write", hint="end it in .md to read, or in .jsonl to import"
        )
    refuse_existing(path, replace=replace)
    notes = [note for id in ids if (note := collection.read(id)) is not None]
    if shape in JSONL_SUFFIXES:
        sources = collection.sources([note.id for note in notes])
        records = (_record(collection, note, sources[note.id]) for note in notes)
        return write_lines(path, (json.dumps(record, ensure_ascii=False) for record in records))
    pages = (markdown(note, collection.links(note.id), zone, alone=len(notes) == 1) for note in notes)
    return write_lines(path, pages)


def refuse_existing(path: Path, *, replace: bool, hint: str = "") -> None:
    """Raise InvalidInput for a file that is there and may not be replaced; `hint` says how it may be."""
    if path.exists() and not replace:
        raise InvalidInput(f"{path} is there already", hint=hint)


def write_lines(path: Path, lines: Iterable[str]) -> int:
    """Write beside the file and then put it in its place, so that a failure leaves no half export; returns how many.

    Raises InvalidInput where a link, a device, a pipe or a folder is in that place, OSError when it cannot be written.
    """
    if os.path.lexists(path) and not stat.S_ISREG(path.lstat().st_mode):
        raise InvalidInput(f"{path} is not a regular file", hint="name a file; - is standard output")
    number = 0
    # A name that nobody can foresee, and so nobody can have put a link at.
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name[:50]}.", suffix=".part", dir=path.parent)
    except OSError as error:
        error.filename = str(path)  # the one that the caller knows of
        raise
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            for line in lines:
                stream.write(f"{line}\n")
                number += 1
        os.replace(name, path)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(name)
    return number


def _record(collection: Collection, note: MemoryNote, sources: Sequence[Source]) -> dict[str, Any]:
    record = {EXPORT_MARK: SHAPE} | note_record(note)
    record["links_out"] = [link_record(link) for link in collection.links(note.id)]
    record["sources"] = [source_record(source) for source in sources]
    return record
