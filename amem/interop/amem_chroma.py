"""The notes that A-Mem keeps in a Chroma folder: content, keywords, tags, context, times and links between them.

A-Mem stores each field as metadata of a document: lists as JSON, all else as text. What is read is a copy of the
folder's SQLite file alone, so that nothing in it changes, and none of its index files is ever loaded.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amem.clock import parse_time
from amem.errors import InvalidInput
from amem.index.chroma import ENVELOPE, ChromaFailed, close_client, failures_as_exceptions, open_folder
from amem.interop.decoding import leads_out
from amem.interop.items import Incoming, Read, Refused, Wanted, source_id
from amem.note import Source
from amem.writing.intake import NewNote

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import tzinfo

    from chromadb.api.models.Collection import Collection

_FILE = "chroma.sqlite3"
_AT_ONCE = 500
_MAKER = "a-mem"
#: What A-Mem writes where its model said nothing.
_UNSAID = {"context": "General", "category": "Uncategorized"}


def read_chroma(folder: Path, zone: tzinfo) -> Iterator[Read]:
    """The notes of every collection of the folder; one that cannot be used is refused by its id, the others go on.

    Links to positions in a list, which older A-Mem made, are left out. Raises InvalidInput where this is no Chroma
    folder, or one that cannot be read.
    """
    file = folder / _FILE
    if not file.is_file() or leads_out(file, folder.resolve()):
        raise InvalidInput(f"{folder} is no Chroma folder: it holds no {_FILE}", hint="name the folder A-Mem wrote")
    with ExitStack() as stack:
        copy = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="amem-chroma-")))
        try:
            for each in (file, file.with_name(f"{_FILE}-wal")):
                if each.is_file() and not each.is_symlink():
                    shutil.copyfile(each, copy / each.name)
        except OSError as error:
            raise InvalidInput(f"cannot read {folder}: {error.strerror}", hint="check its permissions") from error
        try:
            with failures_as_exceptions():
                client = open_folder(copy)
                stack.callback(close_client, client)
                collections = sorted(client.list_collections(), key=lambda each: each.name)
            for collection in collections:
                yield from _notes(collection, zone)
        except ChromaFailed as error:
            raise InvalidInput(
                f"Chroma cannot read {folder}: {error}", hint="was it written by Chroma 0.4 or newer?"
            ) from error


def _notes(collection: Collection, zone: tzinfo) -> Iterator[Read]:
    began = 0
    while True:
        with failures_as_exceptions():
            held = collection.get(limit=_AT_ONCE, offset=began, include=["documents", "metadatas"])
        documents, metadatas = held["documents"] or [], held["metadatas"] or []
        for id, document, metadata in zip(held["ids"], documents, metadatas, strict=True):
            where = f"{collection.name}, {id}"
            try:
                yield _note(id, document, metadata or {}, collection.name, zone)
            except InvalidInput as error:
                yield Refused(where, str(error))
        if len(held["ids"]) < _AT_ONCE:
            return
        began += _AT_ONCE


def _note(id: str, document: str | None, metadata: Mapping[str, Any], collection: str, zone: tzinfo) -> Incoming:
    if ENVELOPE in metadata:
        raise InvalidInput("amem wrote this, not A-Mem; its notes are in amem.db, see amem export")
    # Newer A-Mem embeds the content with its context and keywords behind it.
    content = _text(metadata, "content") or document or ""
    if not content.strip():
        raise InvalidInput("it has no content")
    fields: dict[str, Any] = {name: found for name in ("keywords", "tags") if (found := _list(metadata, name))}
    for name, unsaid in _UNSAID.items():
        if (said := _text(metadata, name)) and said != unsaid:
            fields[name] = said
    time = _text(metadata, "timestamp") or None
    at = None if time is None else parse_time(time, zone)
    wanted = tuple(
        Wanted(_called(collection, target), "linked by A-Mem", made_by=_MAKER)
        for target in _list(metadata, "links")
        if not target.isdecimal()
    )
    source = Source(source_id("a-mem", id, content), "file", None, f"{collection}: {id}", None, at, content)
    note = NewNote(content, time, source, fields)
    return Incoming(note, f"{collection}, {id}", names=(_called(collection, id),), wanted=wanted, id=id)


def _called(collection: str, id: str) -> str:
    return f"a-mem {collection} {id}"


def _text(metadata: Mapping[str, Any], name: str) -> str:
    said = metadata.get(name)
    return said.strip() if isinstance(said, str) and said.strip() != "None" else ""


def _list(metadata: Mapping[str, Any], name: str) -> list[str]:
    said = metadata.get(name)
    if isinstance(said, str):
        try:
            said = json.loads(said)
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"its {name} are no JSON list") from error
    if said is None:
        return []
    if not isinstance(said, list):
        raise InvalidInput(f"its {name} are no list")
    return [str(each) for each in said if isinstance(each, str | int) and str(each).strip()]
