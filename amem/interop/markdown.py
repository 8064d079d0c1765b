"""Markdown, one file or a folder of them such as an Obsidian vault: one note for each file, more for a long one.

A long file is cut where its author cut it, at headings, then at paragraphs; its notes are `part_of` the first of them.
"""

from __future__ import annotations

import json
import os
import re
from bisect import bisect_right
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amem.clock import parse_time
from amem.errors import InvalidInput
from amem.interop.decoding import decode, leads_out, reading, refusal, whole
from amem.interop.formats import MARKDOWN_SUFFIXES
from amem.interop.front_matter import CREATED, Value, as_list, split_front_matter
from amem.interop.items import Emptied, FilePlace, Incoming, Listing, Read, Refused, Wanted, source_id
from amem.interop.wikilinks import wanted_links
from amem.language import hashtags, split_text
from amem.note import LinkType, Source
from amem.writing.intake import NewNote

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: Characters from which on a text is cut; a piece that is longer is cut again, at the headings or paragraphs in it.
LONG = 2_000
_HEADING = re.compile(r"^(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$", re.MULTILINE)
_FENCE = re.compile(r"^(```|~~~).*?(?:^\1|\Z)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Section:
    """A piece of a document: the headings it stands under, outermost first, and its text without them."""

    headings: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class _Mark:
    """A heading where it stands in a text."""

    start: int
    end: int
    level: int
    words: str


def sections(text: str, longest: int = LONG) -> list[Section]:
    """A text over `longest` characters as sections of at most so many; a shorter one whole, under no heading.

    Every line of the text is in one of the sections, or a heading of one.
    """
    text = text.strip()
    return [Section((), text)] if len(text) <= longest else list(_cut(text, (), longest))


def opens_with_heading(text: str) -> bool:
    """Whether the first line of a text is a heading."""
    return _HEADING.match(text) is not None


def _cut(text: str, headings: tuple[str, ...], longest: int) -> Iterator[Section]:
    marks = _marks(text)
    if len(text) <= longest or not marks:
        yield from (Section(headings, piece) for piece in split_text(text, longest))
        return
    least = min(mark.level for mark in marks)
    marks = [mark for mark in marks if mark.level == least]
    bare = text[: marks[0].start].strip()
    if bare:
        yield from _cut(bare, headings, longest)
    over_nothing: list[str] = []
    for mark, end in zip(marks, [*(mark.start for mark in marks[1:]), len(text)], strict=True):
        body = text[mark.end : end].strip()
        if not body:
            over_nothing.append(text[mark.start : mark.end].strip())
            continue
        if over_nothing:
            yield Section(headings, "\n".join(over_nothing))
            over_nothing = []
        yield from _cut(body, (*headings, mark.words), longest)
    if over_nothing:
        yield Section(headings, "\n".join(over_nothing))


def _marks(text: str) -> list[_Mark]:
    """The headings of a text, those in code left out."""
    code = [match.span() for match in _FENCE.finditer(text)]
    starts = [start for start, _ in code]

    def in_code(place: int) -> bool:
        at = bisect_right(starts, place)
        return at > 0 and place < code[at - 1][1]

    return [
        _Mark(match.start(), match.end(), len(match[1]), match[2].strip())
        for match in _HEADING.finditer(text)
        if match[2].strip() and not in_code(match.start())
    ]


#: Characters that the way to a section may take of what a note may have.
_ROOM = 500
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
#: The tags that a file's text holds go to all of its notes; where they are more, each note has those of its own text.
_TAGS_OF_ALL = 50
#: What the front matter says that a note has a field for; everything else goes to its metadata.
_KNOWN = frozenset({*CREATED, "title", "aliases", "alias", "tags", "tag", "category"})


def markdown_files(folder: Path) -> list[Path]:
    """Every Markdown file below a folder in order of their paths, hidden files and folders left out."""
    found: list[Path] = []
    for base, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [
            Path(base, name) for name in files if name.lower().endswith(MARKDOWN_SUFFIXES) and not name.startswith(".")
        ]
    return sorted(found)


def read_folder(folder: Path, zone: tzinfo, limit: int) -> Iterator[Read]:
    """The notes of a vault; a file that cannot be read is refused by its path, the others go on."""
    files = markdown_files(folder)
    if not files:
        raise InvalidInput(f"{folder} holds no Markdown files", hint="name a folder with .md files in it")
    root = folder.resolve()
    relative = [path.relative_to(folder).as_posix() for path in files]
    yield Listing(root.as_posix(), frozenset(f"{root.as_posix().rstrip('/')}/{name}" for name in relative), whole=True)
    for path in files:
        name = path.relative_to(folder).as_posix()
        if leads_out(path, root):
            yield Refused(name, "it is a link that leads out of the folder")
            continue
        try:
            with reading(path) as stream:
                text = decode(whole(stream, name), name)
            written = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        except (InvalidInput, OSError) as error:
            yield Refused(name, refusal(error, name))
        else:
            yield from read_markdown(text, name, written, zone, limit, root=root.as_posix())


def read_markdown(
    text: str, name: str, written: datetime | None, zone: tzinfo, limit: int, *, root: str | None = None
) -> Iterator[Read]:
    """The notes of one file called `name`, a path relative to its vault, which is at `root` (None: it is no file)."""
    values, body = split_front_matter(text.replace("\r\n", "\n"))
    title = _text(values.get("title")) or Path(name).stem
    body = body.strip()
    if not body:
        yield Emptied(name, None if root is None else f"{root.rstrip('/')}/{name}")
        return
    aliases = [*as_list(values.get("aliases")), *as_list(values.get("alias"))]
    time, at = _time(values, name, written, zone)
    fields = _fields(values, title, name, aliases)
    given, written_in = fields.get("tags", []), hashtags(body)
    fields |= _tagged([*given, *written_in])
    head = source_id(json.dumps([values, fields.get("tags"), None if time is written else str(time)], sort_keys=True))
    names = (Path(name).with_suffix("").as_posix(), Path(name).stem, title, *aliases)
    first = f"\x00{source_id(root, name)}"
    found = sections(body, max(1, min(LONG, limit - min(_ROOM, limit // 2))))
    over_all = {section.headings[:1] for section in found}
    # A heading over all of the file is its title, whatever the file is called.
    whole = title if over_all == {()} or len(over_all) > 1 else next(iter(over_all))[0]
    every = len(found) == 1 or len(written_in) <= _TAGS_OF_ALL
    for part, section in enumerate(found, start=1):
        own = fields if every else fields | {"tags": []} | _tagged([*given, *hashtags(section.text)])
        content = _content(section, whole, limit)
        place = None
        if root is not None:
            told = (source_id(section.text), source_id(content), head)
            place = FilePlace(root, name, part, " > ".join(section.headings), *told, keys=tuple(fields["metadata"]))
        identity = source_id("file", root, name, str(part), content)
        source = Source(identity, "file", None, name, None, at, section.text if len(found) > 1 else content)
        under = tuple((each, heading) for each in names for heading in section.headings[-1:])
        wanted = wanted_links(section.text, within=names[0])
        yield Incoming(
            NewNote(content, time, source, own),
            name if part == 1 else f"{name}, part {part}",
            names=(*names, first) if part == 1 else (),
            sections=under,
            wanted=wanted if part == 1 else (Wanted(first, f"part of {title}", LinkType.PART_OF), *wanted),
            place=place,
        )


def _content(section: Section, title: str, limit: int) -> str:
    """A section below the way to it: "# Journal > Monday"."""
    if not section.headings and opens_with_heading(section.text):
        return section.text
    way = " > ".join(dict.fromkeys((title, *section.headings)))
    room = limit - len(section.text) - len("# \n\n")
    return f"# {way[:room]}\n\n{section.text}" if room > 0 else section.text


def _fields(values: dict[str, Value], title: str, name: str, aliases: list[str]) -> dict[str, Any]:
    metadata: dict[str, Any] = {key: value for key, value in values.items() if key not in _KNOWN and value}
    metadata |= {"title": title, "path": name} | ({"aliases": aliases} if aliases else {})
    fields = {"metadata": metadata} | _tagged(
        [tag.lstrip("#") for tag in (*as_list(values.get("tags")), *as_list(values.get("tag")))]
    )
    if category := _text(values.get("category")):
        fields["category"] = category
    return fields


def _tagged(tags: Sequence[str]) -> dict[str, Any]:
    return {"tags": list(dict.fromkeys(tags))} if tags else {}


def _time(
    values: dict[str, Value], name: str, written: datetime | None, zone: tzinfo
) -> tuple[str | datetime | None, datetime | None]:
    """What the front matter says, else a date in the file's name, else when the file was written."""
    said = [_text(values.get(key)) for key in CREATED] + _DATE.findall(Path(name).stem)
    for text in filter(None, said):
        try:
            return text, parse_time(text, zone)
        except InvalidInput:
            continue
    return written, written


def _text(value: Value | None) -> str:
    return value.strip() if isinstance(value, str) else ""
