"""What a note says as a file would, what a file says, both merged three ways, and the file that a note is to have."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from posixpath import normpath
from typing import TYPE_CHECKING, Any

from amem.clock import local_time
from amem.errors import InvalidInput
from amem.interop.wikilinks import wanted_links
from amem.language.scripts import link_name
from amem.note import SCOPES, Kind, LinkType, MemoryNote, Status
from amem.three_way import either, merged_items, merged_lines
from amem.vault.names import folded, stem
from amem.vault.note_file import LinkLine, NoteFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime, tzinfo


#: A link as (type, id of the note it leads to).
Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Said:
    """What one side says of a note. `fields` are texts by name, where it says any; tags keep their order."""

    body: str
    fields: Mapping[str, str] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    links: frozenset[Pair] = frozenset()


@dataclass(frozen=True, slots=True)
class Merged:
    """What both sides are to say, and what they contradict each other in: there it is what the note says."""

    said: Said
    conflicts: tuple[str, ...] = ()


def merge(base: Said | None, file: Said, note: Said) -> Merged:
    """What both changed alike or only one changed, field by field; without a base, all that differs was changed."""
    conflicts: list[str] = []
    fields: dict[str, str] = {}
    for name in sorted({*file.fields, *note.fields}):
        one, other = file.fields.get(name, ""), note.fields.get(name, "")
        # Without a base nobody can have taken something away.
        value = either("" if base is None else base.fields.get(name, ""), one, other)
        if value is None:
            conflicts.append(name)
        if held := other if value is None else value:
            fields[name] = held
    body = either(None if base is None else base.body, file.body, note.body)
    if body is None and base is not None:
        body = merged_lines(base.body, file.body, note.body)
    if body is None or not body.strip():
        conflicts.append("text")
        body = note.body
    tags = merged_items(() if base is None else base.tags, file.tags, note.tags)
    known = frozenset() if base is None else base.links
    links = (note.links | (file.links - known)) - (known - file.links)
    return Merged(Said(body, fields, tags, links), tuple(conflicts))


#: Front matter that both sides may change, but for tags.
_TIMES = ("created", "valid_from", "valid_to")
GENERATED = "<!-- Written by amem from the notes it names. A change made here is not taken over. -->"
_CITED = re.compile(r"\[\[([^\[\]|#\n]+)\]\]")
#: (target, type, reason, maker) of a link, as storage gives them.
Led = tuple[str, str, str, str]


class Index:
    """Which note a [[name]] means, and by which name a note is linked to."""

    def __init__(self, paths: Mapping[str, str], aliases: Mapping[str, Iterable[str]]) -> None:
        self._paths = dict(paths)
        self._ids: dict[str, str] = {}
        for id, path in sorted(paths.items(), key=lambda each: (each[1].count("/"), each[1])):
            self._ids.setdefault(link_name(path), id)
            self._ids.setdefault(link_name(stem(path)), id)
        for id, names in aliases.items():
            for name in names:
                self._ids.setdefault(link_name(name), id)

    @cached_property
    def _stems(self) -> Counter[str]:
        """How many files have each name."""
        return Counter(folded(stem(path)) for path in self._paths.values())

    @cached_property
    def _sorted(self) -> list[str]:
        return sorted(self._paths)

    def __contains__(self, id: str) -> bool:
        return id in self._paths

    def find(self, name: str, path: str = "") -> str | None:
        """The note of the file that a link of this name in the file at `path` leads to, if there is one.

        Of several files of one name it is the one beside that file, else the first of the highest folder.
        """
        base = path.rpartition("/")[0]
        beside = self._ids.get(link_name(normpath(f"{base}/{name}"))) if base else None
        return self._ids.get(link_name(name)) if beside is None else beside

    def name(self, id: str) -> str:
        """What to write between the brackets."""
        path = self._paths[id]
        short = stem(path)
        return short if self._stems[folded(short)] == 1 else path.rsplit(".", 1)[0]

    def beginning(self, prefix: str) -> str | None:
        """The one note whose id begins so."""
        at = bisect_left(self._sorted, prefix)
        found = [id for id in self._sorted[at : at + 2] if id.startswith(prefix)]
        return found[0] if len(found) == 1 else None


@dataclass(frozen=True, slots=True)
class Refs:
    """Which notes the names in a file lead to; None for a name that leads to none yet.

    `lines` are those of its section of links by (type, name), `wiki` the links in its text by name.
    """

    lines: Mapping[tuple[str, str], str | None] = field(default_factory=dict)
    wiki: Mapping[str, str | None] = field(default_factory=dict)
    aliases: tuple[str, ...] = ()

    @property
    def linked(self) -> frozenset[str]:
        """The notes that the text links to."""
        return frozenset(id for id in self.wiki.values() if id is not None)

    @property
    def pairs(self) -> frozenset[tuple[str, str]]:
        """The links of the section, as (type, note)."""
        return frozenset((type, id) for (type, _), id in self.lines.items() if id is not None)

    def to_json(self) -> str:
        """As it is stored."""
        held: dict[str, Any] = {}
        if self.lines:
            held["lines"] = [[type, name, id] for (type, name), id in self.lines.items()]
        if self.wiki:
            held["wiki"] = dict(self.wiki)
        if self.aliases:
            held["aliases"] = list(self.aliases)
        return json.dumps(held, ensure_ascii=False)

    @classmethod
    def of_json(cls, text: str) -> Refs:
        """The inverse of `to_json`."""
        if text == "{}":
            return _NO_REFS
        held = json.loads(text)
        lines = {(type, name): id for type, name, id in held.get("lines", ())}
        return cls(lines, held.get("wiki", {}), tuple(held.get("aliases", ())))

    @classmethod
    def of_file(cls, file: NoteFile, before: Refs, index: Index, path: str) -> Refs:
        """Those of the file at `path`. A name that stood there before still means the note that it meant then."""
        lines: dict[tuple[str, str], str | None] = {}
        for line in file.links or ():
            if line.type in LinkType.__members__.values():
                held = before.lines.get((line.type, line.name))
                lines[line.type, line.name] = index.find(line.name) if held is None else held
        wiki: dict[str, str | None] = {}
        for wanted in wanted_links(file.body) if "[" in file.body else ():
            held = before.wiki.get(wanted.target)
            wiki[wanted.target] = held if held is not None and held in index else index.find(wanted.target, path)
        return cls(lines, wiki, file.aliases)


_NO_REFS = Refs()


def moment_text(moment: datetime, zone: tzinfo) -> str:
    """A time as front matter has it: in the collection's zone, to the second; a midnight is a date."""
    local = moment.astimezone(zone)
    if not (local.hour or local.minute or local.second):
        return f"{local:%Y-%m-%d}" if local.year > 999 else local.date().isoformat()
    return local.replace(microsecond=0, tzinfo=None).isoformat()


def tag_text(tag: str) -> str:
    """A tag as Obsidian takes it: in one word."""
    return "-".join(tag.lstrip("#").split())


def said_by_note(note: MemoryNote, links: Sequence[Led], refs: Refs, index: Index, zone: tzinfo) -> Said:
    """What a note says, as its file would; links that its text says are not said again."""
    fields = {"kind": str(note.kind)}
    for name, moment in zip(_TIMES, (note.at, note.valid_from, note.valid_to), strict=True):
        if moment is not None:
            fields[name] = moment_text(moment, zone)
    linked = refs.linked
    pairs = frozenset(
        (type, target)
        for target, type, _, _ in links
        if target in index and target != note.id and not (type == LinkType.RELATED and target in linked)
    )
    tags = tuple(dict.fromkeys(filter(None, map(tag_text, note.tags))))
    return Said(note_body(note, index).strip("\n"), fields, tags, pairs)


def said_by_file(file: NoteFile, base: Said | None, refs: Refs, zone: tzinfo) -> tuple[Said, list[str]]:
    """(what a file says, remarks on what of its front matter amem cannot use).

    What a file without front matter, or with words of its own there, leaves open is as in the base.
    """
    remarks: list[str] = []
    before: Mapping[str, str] = {} if base is None else base.fields
    fields: dict[str, str] = {}
    cleared = file.says("id")
    for name in ("kind", *_TIMES):
        text = file.value(name)
        value = canonical(name, text, zone) if text else ""
        if text and not value:
            remarks.append(f"its {name} is left as it is: {text[:40]!r} is no {'kind' if name == 'kind' else 'time'}")
        if not value and not (cleared and not text and name in ("valid_from", "valid_to")):
            value = before.get(name, "")
        if value:
            fields[name] = value
    tags = tuple(dict.fromkeys(filter(None, map(tag_text, file.values("tags")))))
    if not tags and not cleared and base is not None:
        tags = base.tags
    # A section that was taken out whole, by a program that knows nothing of it, says nothing of each link in it.
    return Said(file.body, fields, tags, refs.pairs), remarks


def canonical(name: str, text: str, zone: tzinfo) -> str:
    """A kind or a time of front matter as amem writes it; '' where it is none."""
    if name == "kind":
        return text.strip().lower() if text.strip().lower() in Kind.__members__.values() else ""
    try:
        return moment_text(local_time(text, zone), zone)
    except InvalidInput:
        return ""


def note_body(note: MemoryNote, index: Index) -> str:
    """The text of a note's file: the note's own, but for a topic's page, whose ids become names."""
    if not is_generated(note):
        return note.content

    def named(match: re.Match[str]) -> str:
        id = index.beginning(match[1])
        return match[0] if id is None else f"[[{index.name(id)}]]"

    return _CITED.sub(named, note.content)


def is_generated(note: MemoryNote) -> bool:
    """Whether amem writes the note anew by itself, so that an edit of it would be lost."""
    return note.kind is Kind.TOPIC and "topic" in note.metadata


def rendered(
    file: NoteFile | None, refs: Refs, note: MemoryNote, said: Said, links: Sequence[Led], index: Index, zone: tzinfo
) -> NoteFile:
    """The file that the note is to have: what is there, with what differs from the note put right.

    What a person wrote in front matter in words of their own stays; so do lines of links that lead nowhere yet.
    """
    page = NoteFile("") if file is None else file
    front: dict[str, str | Sequence[str] | None] = {}
    if page.value("id") != note.id:
        front["id"] = note.id
    for name in ("kind", *_TIMES):
        text, wanted = page.value(name), said.fields.get(name)
        if (canonical(name, text, zone) != wanted) if text and wanted else bool(text) != bool(wanted):
            if text and not canonical(name, text, zone):
                continue  # a word of the user's own
            front[name] = wanted
    if tuple(dict.fromkeys(map(tag_text, page.values("tags")))) != said.tags:
        front["tags"] = said.tags
    status = page.value("status")
    if not status or (status != note.status and status in Status.__members__.values()):
        front["status"] = str(note.status)
    for name in SCOPES:
        owner = note.metadata.get(name)
        if owner is not None and page.value(name) != str(owner):
            front[name] = str(owner)
    if is_generated(note):
        front["generated"] = "true"
        page = replace(page, lead=f"{GENERATED}\n\n")
    page = page.with_front(front) if front else page
    page = page.with_body(note_body(note, index))
    return _with_links(page, refs, said, links, index)


def _with_links(page: NoteFile, refs: Refs, said: Said, links: Sequence[Led], index: Index) -> NoteFile:
    wanted = {
        (type, index.name(target)): LinkLine(type, index.name(target), reason)
        for target, type, reason, _ in links
        if (type, target) in said.links
    }
    held = page.links or ()
    open_ends = [line for line in held if refs.lines.get((line.type, line.name)) is None]
    as_they_stand = {(line.type, line.name): line for line in held if line not in open_ends}
    if as_they_stand.keys() == wanted.keys() and held:
        return page
    return page.with_links([*(as_they_stand.get(key, line) for key, line in wanted.items()), *open_ends])
