"""What every reader yields: notes on their way in, each saying where it stood, and lines that could not be used."""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING

from amem.note import LinkType, Status
from amem.text import split_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from amem.note import Overturned
    from amem.writing.intake import NewNote


@dataclass(frozen=True, slots=True)
class Wanted:
    """A link to make once every note is stored. `target` is a name (see `Incoming.names`) or, with `by_id`, an id."""

    target: str
    reason: str
    type: LinkType = LinkType.RELATED
    by_id: bool = False
    confidence: float = 1.0
    made_by: str | None = None
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """A note's status, and its statements that no longer hold, in the collection it was exported from."""

    status: Status
    superseded_by: str | None = None
    overturned: tuple[Overturned, ...] = ()


@dataclass(frozen=True, slots=True)
class Incoming:
    """A note to store. `where` is where it stood, for messages; `names` are what links may call it.

    `id` is the id it had in the collection it was exported from.
    """

    note: NewNote
    where: str
    names: tuple[str, ...] = ()
    wanted: tuple[Wanted, ...] = ()
    id: str | None = None
    standing: Standing | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """Something that could not be read as a note, where it stood, and why."""

    where: str
    why: str


Read = Incoming | Refused


def source_id(*parts: str | None) -> str:
    """An id that the same raw input always gets, so that importing it again is recognised."""
    joined = "\x1f".join("" if part is None else part for part in parts)
    return blake2b(joined.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def split_long(items: Iterable[Read], limit: int) -> Iterator[Read]:
    """The same items, with content over `limit` characters cut into notes that are `part_of` their first."""
    for item in items:
        if isinstance(item, Refused) or not isinstance(item.note.content, str) or len(item.note.content) <= limit:
            yield item
        else:
            yield from parts_of(item, split_text(item.note.content, limit))


def parts_of(whole: Incoming, pieces: list[str]) -> Iterator[Incoming]:
    """One note for each piece of `whole`; the first keeps its names and id, all carry which part they are."""
    if len(pieces) == 1:
        yield replace(whole, note=replace(whole.note, content=pieces[0]))
        return
    source = whole.note.source
    first = f"\x00{source.id if source is not None else source_id(whole.where, whole.note.content)}"
    for number, piece in enumerate(pieces, start=1):
        part = f"{number} of {len(pieces)}"
        fields = dict(whole.note.fields)
        fields["metadata"] = {**fields.get("metadata", {}), "part": part}
        if number > 1:
            fields.pop("id", None)
        own = None if source is None else replace(source, id=source_id(source.id, str(number), piece), text=piece)
        note = replace(whole.note, content=piece, source=own, fields=fields)
        if number == 1:
            yield replace(whole, note=note, names=(*whole.names, first))
        else:
            yield Incoming(note, f"{whole.where}, part {number}", wanted=(Wanted(first, part, LinkType.PART_OF),))
