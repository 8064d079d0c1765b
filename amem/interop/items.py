"""What every reader yields: notes on their way in, each saying where it stood, and lines that could not be used."""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from amem.clock import parse_time
from amem.errors import InvalidInput
from amem.language import split_text
from amem.note import FILE, LinkType, Overturned, Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime, tzinfo

    from amem.writing.intake import NewNote
    from amem.writing.restoring import Exported


@dataclass(frozen=True, slots=True)
class Wanted:
    """A link to make once every note is stored. `target` is a name (see `Incoming.names`) or, with `by_id`, an id.

    `heading` names the part of the target that is meant, where that is a note of its own. `beside` is the path that the
    target has if it is a file in the folder of the one that links to it, which is then meant.
    """

    target: str
    reason: str
    type: LinkType = LinkType.RELATED
    by_id: bool = False
    confidence: float = 1.0
    made_by: str | None = None
    at: datetime | None = None
    heading: str = ""
    beside: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """A note's status, and its statements that no longer hold, in the collection it was exported from."""

    status: Status
    superseded_by: str | None = None
    overturned: tuple[Overturned, ...] = ()


@dataclass(frozen=True, slots=True)
class FilePlace:
    """Where in a file a note's text stands, and what stood there; a note keeps it in its metadata under `FILE`.

    `root` is the folder, absolute, that `path` is told from; `part` numbers the notes of a file from 1. `text` is the
    hash of the words of this place alone, which a renamed file takes along; `content` that of the note's content as it
    was read, `head` that of what else the file says of it. `keys` are the metadata that the file brought.
    """

    root: str
    path: str
    part: int
    heading: str
    text: str
    content: str
    head: str
    keys: tuple[str, ...] = ()

    @property
    def file(self) -> str:
        """The file, absolute."""
        return f"{self.root.rstrip('/')}/{self.path}"

    def told(self) -> dict[str, Any]:
        """As metadata holds it."""
        told = {name: getattr(self, name) for name in self.__slots__ if name != "keys"}
        return told | ({"keys": list(self.keys)} if self.keys else {})

    @classmethod
    def of(cls, metadata: Mapping[str, Any]) -> FilePlace | None:
        """That of a note with this metadata; None for a note that came from no file, or says so in a way of its own."""
        held = metadata.get(FILE)
        texts = ("root", "path", "heading", "text", "content", "head")
        if not isinstance(held, dict) or not all(isinstance(held.get(name), str) for name in texts):
            return None
        keys, part = held.get("keys", []), held.get("part")
        if type(part) is not int or not isinstance(keys, list):
            return None
        return cls(part=part, keys=tuple(map(str, keys)), **{name: held[name] for name in texts})


@dataclass(frozen=True, slots=True)
class Listing:
    """The files that a reader is about to read, told before their notes.

    `files` are those that are there, absolute, whether they can be read or not. With `whole` they are all of the
    folder `root`: what else is known of it is there no more.
    """

    root: str
    files: frozenset[str]
    whole: bool


@dataclass(frozen=True, slots=True)
class Emptied:
    """A file without any text; `file` is its absolute path, where it has one."""

    where: str
    file: str | None = None


@dataclass(frozen=True, slots=True)
class Incoming:
    """A note to store. `where` is where it stood, for messages; `names` are what links may call it.

    `id` is the id it had in the collection it was exported from, `place` where it stands in which file,
    `sections` the (name, heading) that links may call it by as a part of a longer text,
    `exported` all that the line of an export tells of it.
    """

    note: NewNote
    where: str
    names: tuple[str, ...] = ()
    wanted: tuple[Wanted, ...] = ()
    id: str | None = None
    standing: Standing | None = None
    place: FilePlace | None = None
    sections: tuple[tuple[str, str], ...] = ()
    exported: Exported | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """Something that could not be read as a note, where it stood, and why."""

    where: str
    why: str


Read = Incoming | Refused | Listing | Emptied


def source_id(*parts: str | None) -> str:
    """An id that the same raw input always gets, so that importing it again is recognised."""
    joined = "\x1f".join("" if part is None else part for part in parts)
    return blake2b(joined.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def said_time(said: Any, zone: tzinfo) -> datetime | None:
    """The time that a file gives; None where it gives none. Raises InvalidInput for what is no text, or no time."""
    if said is None:
        return None
    if not isinstance(said, str):
        raise InvalidInput(f"a time must be text, not {type(said).__name__}")
    return parse_time(said, zone)


def split_long(items: Iterable[Read], limit: int) -> Iterator[Read]:
    """The same items, with content over `limit` characters cut into notes that are `part_of` their first."""
    for item in items:
        if isinstance(item, Incoming) and isinstance(item.note.content, str) and len(item.note.content) > limit:
            yield from parts_of(item, split_text(item.note.content, limit))
        else:
            yield item


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
