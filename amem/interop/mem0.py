"""mem0's JSON: a list of memories, or an object that holds one under ``results``, as its API and exports give it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amem.clock import parse_time
from amem.errors import InvalidInput
from amem.interop.elements import elements_of
from amem.interop.formats import MEM0_LIST
from amem.interop.items import Incoming, Read, Refused, source_id
from amem.note import Source
from amem.writing.intake import NewNote

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime, tzinfo
    from typing import BinaryIO

_PEEK = 1 << 16
#: Whose memory it is, by our name for it and theirs.
_SCOPE = {"user_id": "user_id", "agent_id": "agent_id", "session_id": "run_id"}


def read_mem0(stream: BinaryIO, name: str, zone: tzinfo) -> Iterator[Read]:
    """The memories of a stream, one by one; one that cannot be used is refused by its number, the others go on.

    Each keeps its id, its times, its metadata, and whose it is. Raises InvalidInput where there is no list of them.
    """
    start = stream.tell()
    found = MEM0_LIST.match(stream.read(_PEEK).removeprefix(b"\xef\xbb\xbf"))
    if found is None:
        raise InvalidInput(f"{name} is no list of mem0's memories", hint='each has an id and a "memory"')
    mark = 3 if _marked(stream, start) else 0
    stream.seek(start + mark + found.start(1))
    for number, held in enumerate(elements_of(stream, name, "memories"), start=1):
        where = f"memory {number}"
        try:
            yield _memory(held, where, name, zone)
        except InvalidInput as error:
            yield Refused(where, str(error))


def _marked(stream: BinaryIO, start: int) -> bool:
    stream.seek(start)
    return stream.read(3) == b"\xef\xbb\xbf"


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
    at = _time(held.get("created_at"), zone)
    source = Source(source_id("mem0", id, text), "file", None, f"{file}: {id or where}", None, at, text)
    return Incoming(NewNote(text, at, source, fields), where, id=id)


def _metadata(held: Mapping[str, Any]) -> dict[str, Any]:
    own = held.get("metadata")
    metadata = dict(own) if isinstance(own, dict) else {}
    if isinstance(held.get("updated_at"), str):
        metadata["updated_at"] = held["updated_at"]
    return metadata


def _time(said: Any, zone: tzinfo) -> datetime | None:
    if said is None:
        return None
    if not isinstance(said, str):
        raise InvalidInput(f"a time must be text, not {type(said).__name__}")
    return parse_time(said, zone)
