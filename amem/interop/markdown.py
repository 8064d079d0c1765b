"""Markdown, one file or a folder of them such as an Obsidian vault: one note for each file, more for a long one."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amem.clock import parse_time
from amem.errors import InvalidInput
from amem.interop.decoding import decode, leads_out, reading, whole
from amem.interop.formats import MARKDOWN_SUFFIXES
from amem.interop.front_matter import Value, as_list, split_front_matter
from amem.interop.items import Incoming, Read, Refused, parts_of, source_id
from amem.interop.wikilinks import wanted_links
from amem.note import Source
from amem.text import hashtags, split_text
from amem.writing.intake import NewNote

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import tzinfo

_HEADING = re.compile(r"^#{1,6}\s", re.MULTILINE)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_CREATED = ("created", "date", "time", "created_at")
#: What the front matter says that a note has a field for; everything else goes to its metadata.
_KNOWN = frozenset({*_CREATED, "title", "aliases", "alias", "tags", "tag", "category"})


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
            yield Refused(name, str(error).removeprefix(f"{name} "))
        else:
            yield from read_markdown(text, name, written, zone, limit)


def read_markdown(text: str, name: str, written: datetime | None, zone: tzinfo, limit: int) -> Iterator[Read]:
    """The note (or the parts) of one file called `name`, a path relative to its vault."""
    values, body = split_front_matter(text.replace("\r\n", "\n"))
    title = _text(values.get("title")) or Path(name).stem
    body = body.strip()
    if not body:
        yield Refused(name, "the file is empty")
        return
    aliases = [*as_list(values.get("aliases")), *as_list(values.get("alias"))]
    content = body if _HEADING.match(body) else f"# {title}\n\n{body}"
    time, at = _time(values, name, written, zone)
    source = Source(source_id("file", Path(name).name, content), "file", None, name, None, at, content)
    whole = Incoming(
        NewNote(content, time, source, _fields(values, title, name, aliases, body)),
        name,
        names=(Path(name).with_suffix("").as_posix(), Path(name).stem, title, *aliases),
    )
    for part in parts_of(whole, _pieces(content, limit)):
        yield replace(part, wanted=(*part.wanted, *wanted_links(part.note.content)))


def _fields(values: dict[str, Value], title: str, name: str, aliases: list[str], body: str) -> dict[str, Any]:
    metadata: dict[str, Any] = {key: value for key, value in values.items() if key not in _KNOWN and value}
    metadata |= {"title": title, "path": name} | ({"aliases": aliases} if aliases else {})
    fields: dict[str, Any] = {"metadata": metadata}
    given = [tag.lstrip("#") for tag in (*as_list(values.get("tags")), *as_list(values.get("tag")))]
    tags = [*given, *(tag for tag in hashtags(body) if tag not in given)]
    if tags:
        fields["tags"] = list(dict.fromkeys(tags))
    if category := _text(values.get("category")):
        fields["category"] = category
    return fields


def _time(
    values: dict[str, Value], name: str, written: datetime | None, zone: tzinfo
) -> tuple[str | datetime | None, datetime | None]:
    """What the front matter says, else a date in the file's name, else when the file was written."""
    said = [_text(values.get(key)) for key in _CREATED] + _DATE.findall(Path(name).stem)
    for text in filter(None, said):
        try:
            return text, parse_time(text, zone)
        except InvalidInput:
            continue
    return written, written


def _text(value: Value | None) -> str:
    return value.strip() if isinstance(value, str) else ""


def _pieces(content: str, limit: int) -> list[str]:
    """The text, cut before headings into pieces of at most `limit` characters, and inside a section that is longer."""
    if len(content) <= limit:
        return [content]
    starts = [match.start() for match in _HEADING.finditer(content)]
    sections = [
        content[start:end].strip()
        for start, end in zip([0, *starts], [*starts, len(content)], strict=True)
        if content[start:end].strip()
    ]
    pieces: list[str] = []
    for section in sections:
        if pieces and len(pieces[-1]) + len(section) + 2 <= limit:
            pieces[-1] += f"\n\n{section}"
        else:
            pieces += split_text(section, limit)
    return pieces
