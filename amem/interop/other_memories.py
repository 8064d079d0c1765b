"""Memories that other programs keep: mem0's and Letta's JSON, ``memory.json`` of the MCP memory server, A-Mem's Chroma.

mem0 gives a list of memories, or an object that holds one under ``results``. A file of Letta's holds whole agents: what
they remember is in blocks, each of which becomes a note. The MCP server writes a line for each
entity with its observations, and each relation: an entity becomes a note, each of its observations another that is part
of it, so that only what the server learnt since the last import is new; a relation becomes a link between two entities.
A-Mem stores each field as metadata of a Chroma document, lists as JSON: what is read is a copy of the folder's SQLite
file alone, so that nothing in it changes, and none of its index files is ever loaded.
"""

from __future__ import annotations

import codecs
import json
import re
import shutil
import tempfile
from collections import defaultdict
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from amem.clock import parse_time
from amem.errors import InvalidInput
from amem.index.chroma import ENVELOPE, ChromaFailed, close_client, failures_as_exceptions, open_folder
from amem.interop.decoding import decode, elements_of, leads_out, lines_of, object_of, whole
from amem.interop.formats import MEM0_LIST
from amem.interop.items import Incoming, Read, Refused, Wanted, said_time, source_id
from amem.note import LinkType, Source
from amem.writing.intake import NewNote

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime, tzinfo

    from chromadb.api.models.Collection import Collection

_PEEK = 1 << 16
#: Whose memory it is, by our name for it and theirs.
_SCOPE = {"user_id": "user_id", "agent_id": "agent_id", "session_id": "run_id"}
#: Relations whose words say what one of our types of link says; all others are `related`, with their words as reason.
_RELATIONS = {
    "part_of": LinkType.PART_OF,
    "is_part_of": LinkType.PART_OF,
    "caused_by": LinkType.CAUSED_BY,
    "derived_from": LinkType.DERIVED_FROM,
    "supports": LinkType.SUPPORTS,
    "contradicts": LinkType.CONTRADICTS,
}
_CHROMA_FILE = "chroma.sqlite3"
_AT_ONCE = 500
#: What A-Mem writes where its model said nothing.
_UNSAID = {"context": "General", "category": "Uncategorized"}
#: Who makes the links between their notes.
_SERVER, _A_MEM = "mcp-memory", "a-mem"


def read_mem0(stream: BinaryIO, name: str, zone: tzinfo) -> Iterator[Read]:
    """The memories of a stream, one by one; one that cannot be used is refused by its number, the others go on.

    Each keeps its id, its times, its metadata, and whose it is. Raises InvalidInput where there is no list of them.
    """
    start, head = stream.tell(), stream.read(_PEEK)
    bare = head.removeprefix(codecs.BOM_UTF8)
    found = MEM0_LIST.match(bare)
    if found is None:
        raise InvalidInput(f"{name} is no list of mem0's memories", hint='each has an id and a "memory"')
    stream.seek(start + len(head) - len(bare) + found.start(1))
    for number, held in enumerate(elements_of(stream, name, "memories"), start=1):
        where = f"memory {number}"
        try:
            yield _memory(held, where, name, zone)
        except InvalidInput as error:
            yield Refused(where, str(error))


def _memory(held: Any, where: str, file: str, zone: tzinfo) -> Incoming:
    if not isinstance(held, dict) or not isinstance(held.get("memory"), str):
        raise InvalidInput('no "memory" in it that is text')
    text, id = held["memory"], held.get("id")
    if id is not None and (not isinstance(id, str) or not id.strip()):
        raise InvalidInput("its id is no text")
    fields: dict[str, Any] = {"metadata": _metadata(held)}
    for ours, theirs in _SCOPE.items():
        if held.get(theirs) is not None:
            fields[ours] = held[theirs]
    if isinstance(held.get("categories"), list):
        fields["tags"] = [each for each in held["categories"] if isinstance(each, str)]
    at = said_time(held.get("created_at"), zone)
    source = Source(source_id("mem0", id, text), "file", None, f"{file}: {id or where}", None, at, text)
    return Incoming(NewNote(text, at, source, fields), where, id=id)


def _metadata(held: Mapping[str, Any]) -> dict[str, Any]:
    own = held.get("metadata")
    metadata = dict(own) if isinstance(own, dict) else {}
    if isinstance(held.get("updated_at"), str):
        metadata["updated_at"] = held["updated_at"]
    return metadata


def read_letta(stream: BinaryIO, name: str, zone: tzinfo) -> Iterator[Read]:
    """The memory blocks of an agent file, each under the tag of its label; one that cannot be used is refused.

    The agents' prompts, tools and messages are left out. Raises InvalidInput where there are no blocks.
    """
    held = object_of(decode(whole(stream, name), name))
    blocks = held.get("blocks", held.get("core_memory"))
    if not isinstance(blocks, list):
        raise InvalidInput(f"{name} is no file of Letta's agents", hint='it holds a list of "blocks"')
    for number, block in enumerate(blocks, start=1):
        where = f"block {number}"
        try:
            if (found := _block(block, where, name, zone)) is not None:
                yield found
        except InvalidInput as error:
            yield Refused(where, str(error))


def _block(held: Any, where: str, file: str, zone: tzinfo) -> Incoming | None:
    """The note of a block; None for an empty one."""
    if not isinstance(held, dict) or not all(isinstance(held.get(name), str) for name in ("label", "value")):
        raise InvalidInput("a block has a label and a value, both text")
    label, text = held["label"].strip(), held["value"].strip()
    if not text:
        return None
    at = said_time(held.get("updated_at") or held.get("created_at"), zone)
    fields = {"tags": [label] if label else [], "metadata": {"block": label}}
    source = Source(source_id("letta", label, text), "file", None, f"{file}: {label or where}", None, at, text)
    return Incoming(NewNote(text, at, source, fields), where)


def read_knowledge_graph(stream: BinaryIO, name: str, written: datetime | None) -> Iterator[Read]:
    """The entities and observations of a stream, which is read twice: relations stand behind what they relate.

    A line that cannot be used is refused by its number, the others go on. `written` is when the file was.
    """
    start = stream.tell()
    relations: dict[str, list[Wanted]] = defaultdict(list)
    refused: list[Refused] = []
    for where, held in _objects(stream):
        if isinstance(held, Refused):
            refused.append(held)
        elif held.get("type") == "relation":
            source, wanted = _relation(held)
            if wanted is None:
                refused.append(Refused(where, "a relation has a from, a to and a relationType, all text"))
            else:
                relations[source].append(wanted)
    yield from refused
    stream.seek(start)
    for where, held in _objects(stream):
        if isinstance(held, Refused) or held.get("type") == "relation":
            continue
        if held.get("type") == "entity":
            yield from _entity(held, where, name, written, tuple(relations.get(str(held.get("name")), ())))
        else:
            yield Refused(where, "neither an entity nor a relation")


def _objects(stream: BinaryIO) -> Iterator[tuple[str, dict[str, Any] | Refused]]:
    for number, place, line in lines_of(stream):
        where = f"line {number}"
        if line is None:
            yield where, Refused(where, "longer than a line may be")
        elif line.strip():
            try:
                yield where, object_of(decode(line, "the line", at=place))
            except InvalidInput as error:
                yield where, Refused(where, str(error))


def _relation(held: Mapping[str, Any]) -> tuple[str, Wanted | None]:
    source, target, said = held.get("from"), held.get("to"), held.get("relationType")
    if not (isinstance(source, str) and isinstance(target, str) and isinstance(said, str) and said.strip()):
        return "", None
    type = _RELATIONS.get(re.sub(r"[\s-]+", "_", said.strip().lower()), LinkType.RELATED)
    return source, Wanted(_entity_name(target), said.strip().replace("_", " "), type, made_by=_SERVER)


def _entity(
    held: Mapping[str, Any], where: str, file: str, written: datetime | None, relations: tuple[Wanted, ...]
) -> Iterator[Read]:
    name, kind, observations = held.get("name"), held.get("entityType"), held.get("observations", [])
    if not (isinstance(name, str) and name.strip() and isinstance(observations, list)):
        yield Refused(where, "an entity has a name, and a list of observations")
        return
    name, kind = name.strip(), kind.strip() if isinstance(kind, str) else ""
    fields = {"entities": [name], "tags": [kind] if kind else [], "metadata": {"entity": name}}

    def note(content: str, *of: str) -> NewNote:
        source = Source(source_id("mcp-memory", name, *of), "file", None, f"{file}: {name}", None, written, content)
        return NewNote(content, written, source, fields)

    whole = f"{name} ({kind})" if kind else name
    yield Incoming(note(whole, kind), where, names=(_entity_name(name),), wanted=relations)
    for number, said in enumerate(observations, start=1):
        place = f"{where}, observation {number}"
        if not isinstance(said, str) or not said.strip():
            yield Refused(place, "an observation is text")
            continue
        # Found alone, it must say whom it is about.
        about = said.strip() if name.lower() in said.lower() else f"{name}: {said.strip()}"
        yield Incoming(
            note(about, kind, said), place, wanted=(Wanted(_entity_name(name), "observed", LinkType.PART_OF),)
        )


def _entity_name(name: str) -> str:
    # Beside the names that links between Markdown files go by.
    return f"entity {name.strip()}"


def read_chroma(folder: Path, zone: tzinfo) -> Iterator[Read]:
    """The notes of every collection of the folder; one that cannot be used is refused by its id, the others go on.

    Links to positions in a list, which older A-Mem made, are left out. Raises InvalidInput where this is no Chroma
    folder, or one that cannot be read.
    """
    file = folder / _CHROMA_FILE
    if not file.is_file() or leads_out(file, folder.resolve()):
        raise InvalidInput(
            f"{folder} is no Chroma folder: it holds no {_CHROMA_FILE}", hint="name the folder A-Mem wrote"
        )
    with ExitStack() as stack:
        copy = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="amem-chroma-")))
        try:
            for each in (file, file.with_name(f"{_CHROMA_FILE}-wal")):
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
                yield from _documents(collection, zone)
        except ChromaFailed as error:
            raise InvalidInput(
                f"Chroma cannot read {folder}: {error}", hint="was it written by Chroma 0.4 or newer?"
            ) from error


def _documents(collection: Collection, zone: tzinfo) -> Iterator[Read]:
    began = 0
    while True:
        with failures_as_exceptions():
            held = collection.get(limit=_AT_ONCE, offset=began, include=["documents", "metadatas"])
        documents, metadatas = held["documents"] or [], held["metadatas"] or []
        for id, document, metadata in zip(held["ids"], documents, metadatas, strict=True):
            where = f"{collection.name}, {id}"
            try:
                yield _document(id, document, metadata or {}, collection.name, zone)
            except InvalidInput as error:
                yield Refused(where, str(error))
        if len(held["ids"]) < _AT_ONCE:
            return
        began += _AT_ONCE


def _document(id: str, document: str | None, metadata: Mapping[str, Any], collection: str, zone: tzinfo) -> Incoming:
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
        Wanted(_document_name(collection, target), "linked by A-Mem", made_by=_A_MEM)
        for target in _list(metadata, "links")
        if not target.isdecimal()
    )
    source = Source(source_id("a-mem", id, content), "file", None, f"{collection}: {id}", None, at, content)
    note = NewNote(content, time, source, fields)
    return Incoming(note, f"{collection}, {id}", names=(_document_name(collection, id),), wanted=wanted, id=id)


def _document_name(collection: str, id: str) -> str:
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
