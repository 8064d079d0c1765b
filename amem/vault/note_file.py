"""A note as a Markdown file and back: front matter, the text to the letter, and a marked section of links.

What a person added to the file (front matter of their own, blank lines, line ends) stays as it stands.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from amem.interop.decoding import decode
from amem.interop.front_matter import Entry, Value, as_list, front_matter_entries, scalar
from amem.note import LinkType

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


#: Around the links that amem writes; comments, which no reader of Markdown shows.
OPEN, CLOSE = "<!-- amem:links -->", "<!-- /amem:links -->"
_HEADING = "## Links"
#: The order in which front matter is written.
NAMES = (
    *("id", "kind", "tags", "created", "valid_from", "valid_to", "status"),
    *("user_id", "agent_id", "session_id", "generated"),
)
_LINE = re.compile(
    r"\s*[-*+]\s+(?:(?P<type>\w+)\s+)?\[\[(?P<name>[^\[\]|#^\n]+)(?:[#^][^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]"
    r"(?:\s*[:：]\s*(?P<reason>.*?))?\s*"
)


@dataclass(frozen=True, slots=True)
class LinkLine:
    """A line of the section of links: ``- supports [[Name]]: reason``."""

    type: str
    name: str
    reason: str = ""

    @property
    def text(self) -> str:
        """As it is written."""
        return f"- {self.type} [[{self.name}]]" + (f": {' '.join(self.reason.split())}" if self.reason.strip() else "")


@dataclass(frozen=True, slots=True)
class NoteFile:
    """A file, taken apart: joining the parts again (`encoded`) gives the same bytes.

    `body` has no line feeds around it: those stand in `lead` and `trail`. `links` is None where there is no section.
    """

    body: str
    entries: tuple[Entry, ...] = ()
    fences: tuple[str, str] | None = None
    lead: str = ""
    trail: str = "\n"
    links: tuple[LinkLine, ...] | None = None
    newline: str = "\n"
    bom: bool = False
    _values: dict[str, Value] = field(default_factory=dict, compare=False)

    def value(self, name: str) -> str:
        """What the front matter says under this name, as text; '' for nothing."""
        held = self._value(name)
        return held.strip() if isinstance(held, str) else ", ".join(held)

    def values(self, name: str) -> list[str]:
        """What it lists under this name."""
        return as_list(self._value(name))

    @property
    def aliases(self) -> tuple[str, ...]:
        """By which other names it goes."""
        return tuple(dict.fromkeys([*self.values("aliases"), *self.values("alias")]))

    def says(self, name: str) -> bool:
        """Whether it has this name at all."""
        return any(entry.name == name for entry in self.entries)

    def _value(self, name: str) -> Value:
        if name not in self._values:
            self._values[name] = next((entry.value for entry in self.entries if entry.name == name), "")
        return self._values[name]

    def with_front(self, wanted: Mapping[str, str | Sequence[str] | None]) -> NoteFile:
        """The same file with these values (None: without); a value that is said already keeps its lines."""
        entries = list(self.entries)
        for name in sorted(wanted, key=_place):
            value = wanted[name]
            at = next((place for place, entry in enumerate(entries) if entry.name == name), None)
            if value is None or value == () or value == []:
                if at is not None:
                    del entries[at]
            elif at is None:
                before = [place for place, entry in enumerate(entries) if _place(entry.name) <= _place(name)]
                entries.insert(max(before, default=-1) + 1, _entry(name, value))
            elif (self.value(name) if isinstance(value, str) else self.values(name)) != (
                value if isinstance(value, str) else list(value)
            ):
                entries[at] = _entry(name, value)
        return replace(self, entries=tuple(entries), _values={})

    def with_body(self, body: str) -> NoteFile:
        """The same file with another text, exactly; the text as it is when it differs in line feeds around it only."""
        if body.strip("\n") == self.body:
            return self
        return replace(self, body=body)

    def with_links(self, links: Iterable[LinkLine]) -> NoteFile:
        """The same file with these links in its section; without any there is none."""
        return replace(self, links=tuple(links) or None)

    @property
    def text(self) -> str:
        """The whole file, with ``\\n`` at line ends."""
        front = "".join(f"{line}\n" for entry in self.entries for line in entry.lines)
        first, last = self.fences or ("---", "---")
        out = (f"{first}\n{front}{last}\n" if front or self.fences else "") + self.lead + self.body
        links = self.links
        if links is None and OPEN in self.body:
            links = ()  # or a text that ends as a section does would be read as one
        if links is None:
            return out + self.trail
        lines = [OPEN, _HEADING, "", *(link.text for link in links), CLOSE] if links else [OPEN, CLOSE]
        return out.rstrip("\n") + "\n\n" + "\n".join(lines) + "\n"

    @property
    def encoded(self) -> bytes:
        """The whole file as bytes, with its own line ends."""
        text = self.text if self.newline == "\n" else self.text.replace("\n", self.newline)
        return (codecs.BOM_UTF8 if self.bom else b"") + text.encode()


def read_note_file(data: bytes, name: str) -> NoteFile:
    """Take a file apart. Raises InvalidInput for other encodings than UTF-8 and for broken front matter."""
    text = decode(data, name)
    newline = "\n"
    if "\r\n" in text and text.count("\r\n") == text.count("\n"):
        text, newline = text.replace("\r\n", "\n"), "\r\n"
    file = parse(text)
    return replace(file, newline=newline, bom=data.startswith(codecs.BOM_UTF8))


def parse(text: str) -> NoteFile:
    """Take a text apart. Raises InvalidInput for broken front matter, of which nothing is used then."""
    entries, fences, rest = front_matter_entries(text)
    for entry in entries:
        if entry.name in NAMES or entry.name in ("aliases", "alias", "conflict_of"):
            _ = entry.value  # or it is broken
    before, links, after = _part_links(rest)
    if after:
        before = before.rstrip("\n") + "\n\n" + after
    body = before.strip("\n")
    lead = before[: len(before) - len(before.lstrip("\n"))] if body else ""
    trail = before[len(lead) + len(body) :] if links is None else "\n"
    return NoteFile(body, entries, fences, lead, trail, links)


def _part_links(text: str) -> tuple[str, tuple[LinkLine, ...] | None, str]:
    """(what stands before the section of links, the links, what a person wrote into or after it)."""
    lines = text.split("\n")
    start = next((place for place in reversed(range(len(lines))) if lines[place].strip() == OPEN), None)
    if start is None:
        return text, None, ""
    end = next((place for place in range(start, len(lines)) if lines[place].strip() == CLOSE), None)
    inside = lines[start + 1 : end]
    links: list[LinkLine] = []
    others: list[str] = []
    for number, line in enumerate(inside):
        match = _LINE.fullmatch(line)
        if match is not None:
            links.append(
                LinkLine((match["type"] or LinkType.RELATED).lower(), match["name"].strip(), match["reason"] or "")
            )
        elif line.strip() not in ("", _HEADING):
            if end is None:  # the closing mark is gone: what does not look like the section is the text again
                others += inside[number:]
                break
            others.append(line)
    after = [] if end is None else lines[end + 1 :]
    return "\n".join(lines[:start]), tuple(links), "\n".join([*others, *after]).strip("\n")


def _entry(name: str, value: str | Sequence[str]) -> Entry:
    if isinstance(value, str):
        plain = name in _AS_IT_IS or (name == "id" and _PLAIN_ID.fullmatch(value))
        return Entry(name, (f"{name}: {value if plain else scalar(value)}",))
    return Entry(name, (f"{name}:", *(f"  - {scalar(each)}" for each in value)))


#: What is written without quotes: times, and ids of the shape that amem makes.
_AS_IT_IS = frozenset({"created", "valid_from", "valid_to", "generated"})
_PLAIN_ID = re.compile(r"[\w-]+")


def _place(name: str) -> int:
    return NAMES.index(name) if name in NAMES else len(NAMES)
