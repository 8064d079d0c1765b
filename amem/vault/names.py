"""Names of files: readable, each once whatever the file system folds, and safe on Linux, macOS and Windows."""

from __future__ import annotations

import re
import unicodedata
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from amem.labels import title

if TYPE_CHECKING:
    from collections.abc import Container

    from amem.note import MemoryNote

#: Characters, and bytes in UTF-8, of a name before its ending: room for " (conflict of amem 2026-05-01) 12.md" is left.
_CHARACTERS, _BYTES = 60, 120
#: What some file system refuses (< > : " / \ | ? *), what a [[link]] cannot hold (# ^ [ ]), and what is not seen.
_UNSAFE = re.compile(
    r'[<>:"/\\|?*#^\[\]\x00-\x1f\x7f-\x9f\ud800-\udfff\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]'
)
_COLON = re.compile(r"(?<=\w):\s+(?=\w)")
#: What no name begins or ends with.
_EDGES = ". ,;-，；、。：…"
#: Names of devices on Windows, with any ending.
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(?=\.|$)", re.IGNORECASE)
NAMELESS = "Note"


def folded(name: str) -> str:
    """What two names share that some file system takes for one: case and the two ways to write an accent."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def title_for(note: MemoryNote) -> str:
    """The name that a note's file gets: the title it was given, else its first words."""
    given = note.metadata.get("title")
    return safe_name(given if isinstance(given, str) and given.strip() else title(note.content))


def safe_name(title: str) -> str:
    """The title as a file's name without its ending; `NAMELESS` where nothing is left of it."""
    name = _COLON.sub(" - ", title).replace("/", "-")
    name = unicodedata.normalize("NFC", _UNSAFE.sub(" ", name))
    name = " ".join(name.split()).strip(_EDGES)
    name = _cut(name, _CHARACTERS, _BYTES).rstrip(_EDGES)
    if not name:
        return NAMELESS
    return f"{name[: match.end()]}_{name[match.end() :]}" if (match := _DEVICES.match(name)) else name


def free_name(wanted: str, taken: Container[str]) -> str:
    """The wanted name, or with a number after it the first that is not among the `folded` names that are taken."""
    name, number = wanted, 1
    while folded(name) in taken:
        number += 1
        name = f"{wanted} {number}"
    return name


def stem(path: str) -> str:
    """The name in a path without folder and ending."""
    name = path.rpartition("/")[2]
    end = name.rfind(".")
    return name[:end] if 0 < end < len(name) - 1 else name


def in_folder_of(path: str, name: str) -> str:
    """The path of a Markdown file of this name beside another file."""
    return (PurePosixPath(path).parent / f"{name}.md").as_posix()


def _cut(text: str, characters: int, size: int) -> str:
    if len(text) <= characters and len(text.encode()) <= size:
        return text
    cut = text[:characters]
    while len(cut.encode()) > size:
        cut = cut[:-1]
    # Not between a letter and its accents, nor inside a joined emoji.
    while cut and len(cut) < len(text) and (unicodedata.combining(text[len(cut)]) or text[len(cut)] in "\u200d\ufe0f"):
        cut = cut[:-1]
    words = cut.rsplit(" ", 1)[0]
    return words if len(words) > characters // 2 else cut
