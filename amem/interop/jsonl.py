"""JSON Lines: one note for each line, written by hand, by another program, or by ``amem export``."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING, Any, BinaryIO

from amem.clock import parse_time
from amem.errors import InvalidInput
from amem.interop.decoding import LONGEST_LINE, decode, lines_of, object_of
from amem.interop.items import Incoming, Read, Refused, Standing, Wanted, said_time, source_id
from amem.interop.json_records import EXPORT_MARK, source_of
from amem.language import normalize
from amem.note import LinkType, Overturned, Source, Status
from amem.storage.rows import overturned_of
from amem.writing.intake import NewNote
from amem.writing.restoring import Exported

if TYPE_CHECKING:
    from collections.abc import Iterator


_PLAIN = frozenset(
    {
        "content",
        "id",
        "time",
        "timestamp",
        "keywords",
        "tags",
        "entities",
        "facts",
        "links",
        "context",
        "category",
        "kind",
    }
    | {"layer", "importance", "pinned", "valid_from", "valid_to", "metadata", "speaker", "conversation_id", "ordinal"}
)
#: So many unknown keys of a line are named.
_MOST_KEYS = 5


def read_jsonl(stream: BinaryIO, name: str, zone: tzinfo) -> Iterator[Read]:
    """The notes of a JSONL stream; a line that cannot be used is refused by its number, the others go on.

    Keys are those of a note (``time`` and ``timestamp`` mean the same). Unknown keys refuse the line, since a typing
    error would otherwise lose what it names.
    """
    for number, place, line in lines_of(stream):
        where = f"line {number}"
        if line is None:
            yield Refused(where, f"longer than {LONGEST_LINE >> 20} MB")
            continue
        if not line.strip():
            continue
        try:
            yield _incoming(object_of(decode(line, "the line", at=place)), name, number, zone)
        except InvalidInput as error:
            yield Refused(where, str(error))


def _incoming(held: dict[str, Any], name: str, number: int, zone: tzinfo) -> Incoming:
    unknown = sorted(held.keys() - _PLAIN)
    if "content" not in held:
        raise InvalidInput(f"no content{f' (unknown key {_named(unknown)})' if unknown else ''}")
    if held.get(EXPORT_MARK) is not None:
        return _exported(held, number)
    if unknown:
        raise InvalidInput(f"unknown key {_named(unknown)}")
    if "time" in held and "timestamp" in held:
        raise InvalidInput("time and timestamp mean the same; give one")
    content, time = held["content"], held.get("time", held.get("timestamp"))
    fields = {key: value for key, value in held.items() if key not in ("content", "time", "timestamp", "id")}
    at = said_time(time, zone)
    speaker = held.get("speaker") if isinstance(held.get("speaker"), str) else None
    ref = f"{name}:{number}"
    identity = source_id("line", name, held.get("conversation_id"), str(time), str(speaker), str(content))
    source = Source(identity, "line", held.get("conversation_id"), ref, speaker, at, str(content), held.get("ordinal"))
    return Incoming(NewNote(content, time, source, fields), f"line {number}", id=_id(held))


def _named(keys: list[str]) -> str:
    return ", ".join(map(repr, keys[:_MOST_KEYS]))


def _exported(held: dict[str, Any], number: int) -> Incoming:
    """A line of ``amem export``: for a collection that holds other notes, what amem keeps itself is made anew."""
    fields = {key: held[key] for key in _PLAIN - {"content", "id", "time", "timestamp", "links"} if key in held}
    try:
        sources = [source_of(each) for each in held.get("sources", [])]
        wanted = tuple(_wanted(each) for each in held.get("links_out", []))
        status = Status(held.get("status", Status.ACTIVE))
        overturned = tuple(_overturned(each) for each in held.get("overturned", []))
        successor = _id({"id": held.get("superseded_by")})
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InvalidInput(f"not a line amem exported: {error}") from error
    as_new = status is Status.ACTIVE and not overturned
    standing = None if as_new else Standing(status, successor, overturned)
    own = sources[:1] if sources and _is_own(sources[0], held["content"]) else []
    gathered = tuple(sources[len(own) :])
    source = own[0] if own else None
    note = NewNote(held["content"], held.get("timestamp"), source, fields, gathers=gathered, distinct=True)
    whole = Exported(held, tuple(sources), bool(own)) if "kept" in held else None
    return Incoming(note, f"line {number}", wanted=wanted, id=_id(held), standing=standing, exported=whole)


def _is_own(source: Source, content: Any) -> bool:
    """Whether a source is the note's very text, not a message that it was learnt from and may share with others."""
    return source.kind != "message" or (isinstance(content, str) and normalize(content) == normalize(source.text))


def _wanted(link: dict[str, Any]) -> Wanted:
    return Wanted(
        str(link["target"]),
        str(link["reason"]),
        LinkType(link["type"]),
        by_id=True,
        confidence=_confidence(link["confidence"]),
        made_by=str(link["made_by"]),
        at=parse_time(link["at"], UTC),
    )


def _overturned(held: dict[str, Any]) -> Overturned:
    told = overturned_of(held)
    if not all(isinstance(each, str) for each in (told.text, told.by, told.then, told.reason)):
        raise TypeError("an overturned statement must be text")
    parse_time(told.until, UTC)
    return replace(told, confidence=_confidence(told.confidence))


def _confidence(value: Any) -> float:
    number = float(value)
    if not 0.0 <= number <= 1.0:
        raise ValueError(f"a confidence lies between 0 and 1, not {value!r}")
    return number


def _id(held: dict[str, Any]) -> str | None:
    id = held.get("id")
    if id is not None and (not isinstance(id, str) or not id.strip()):
        raise InvalidInput(f"an id must be text, not {id!r}")
    return id
