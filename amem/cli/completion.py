"""What a shell offers for a word that is half typed: ids with titles, tags, kinds, topics and collections.

Read from SQLite alone, without opening the collection, so that pressing Tab waits for nothing and changes nothing.
Only plain words are offered: a shell would run, expand or obey what else a note, a tag or a name may hold.
"""

from __future__ import annotations

import os
import re
import shlex
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Most offers at a time.
_MOST = 60
#: Characters of a title: a line of a shell has room for so many, Chinese ones too.
_TITLE = 36
#: A collection that another process is at, that may not be read, or that is damaged.
_CANNOT_BE_READ = (
    *(sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH),
    *(sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB),
)
_PLAIN = re.compile(r"[\w@%+/:.,-]*")
_UNSPOKEN = re.compile(r"[^\w .,，。、：？！-]+")
_BEGINNING = 400
_KEEPING = (
    "SELECT id, substr(content, 1, ?) FROM notes WHERE status {} AND substr(id, 1, ?) = ? ORDER BY key DESC LIMIT ?"
)


def complete_id(incomplete: str) -> list[tuple[str, str]]:
    """Ids of notes that are not deleted, the newest first, each with its title."""
    return _notes(incomplete, "!= 'deleted'")


def complete_hidden(incomplete: str) -> list[tuple[str, str]]:
    """Ids of deleted, archived and superseded notes."""
    return _notes(incomplete, "!= 'active'")


def complete_tag(incomplete: str) -> list[str]:
    """Tags of active notes, the most used first."""
    rows = _rows(
        "SELECT value, count(*) FROM notes, json_each(notes.tags) WHERE status = 'active' AND substr(value, 1, ?) = ?"
        " GROUP BY value ORDER BY count(*) DESC, value LIMIT ?",
        (len(incomplete), incomplete, _MOST),
    )
    return [tag for tag, _ in rows if _PLAIN.fullmatch(tag)]


def complete_kind(incomplete: str) -> list[str]:
    """Every kind of note."""
    from amem.note import Kind

    return [str(kind) for kind in Kind if kind.startswith(incomplete)]


def complete_topic(incomplete: str) -> list[tuple[str, str]]:
    """Topics by name, or by id where the name is more than a word, with the name beside it."""
    rows = _rows(
        "SELECT id, json_extract(metadata, '$.topic.name') FROM notes WHERE kind = 'topic' AND status = 'active'"
        " ORDER BY key DESC LIMIT ?",
        (_MOST,),
    )
    named = [(name if name and _PLAIN.fullmatch(name) else id[:8], _spoken(name or "")) for id, name in rows]
    return [(value, name) for value, name in named if value.startswith(incomplete) and _PLAIN.fullmatch(value)]


def complete_collection(incomplete: str) -> list[str]:
    """The collections of the home."""
    home = _home()
    names = sorted(each.parent.name for each in home.glob("*/amem.db")) if home.is_dir() else []
    return [name for name in names if name.startswith(incomplete) and _PLAIN.fullmatch(name)]


def _notes(incomplete: str, status: str) -> list[tuple[str, str]]:
    from amem.labels import short_id, title

    asked = (_BEGINNING, len(incomplete), incomplete, _MOST)
    offers = []
    for id, content in _rows(_KEEPING.format(status), asked):
        # What was typed beyond the short form has to stay.
        shown = id if len(incomplete) > len(short_id(id)) else short_id(id)
        if _PLAIN.fullmatch(shown):
            offers.append((shown, _spoken(title(content, _TITLE))))
    return offers


def _spoken(text: str) -> str:
    """A title without what means something to a shell or a terminal."""
    return " ".join(_UNSPOKEN.sub(" ", text).split())[:_TITLE]


def _rows(statement: str, values: tuple[object, ...]) -> list[tuple[str, str]]:
    """What the collection holds; nothing where it cannot be read at once."""
    path = _home() / _collection() / "amem.db"
    if not path.is_file():
        return []
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=0.2)) as database:
            return list(database.execute(statement, values))
    except sqlite3.Error as error:
        # There is no room for an error in a line that is being typed: amem doctor tells of these.
        if error.sqlite_errorcode & 0xFF in _CANNOT_BE_READ:
            return []
        raise


def _home() -> Path:
    from platformdirs import user_data_path

    named = _given("--home") or os.environ.get("AMEM_HOME")
    return Path(named).expanduser() if named else user_data_path("amem", appauthor=False)


def _collection() -> str:
    from dotenv import dotenv_values

    named = _given("-c", "--collection") or os.environ.get("AMEM_COLLECTION")
    file = Path(_given("--env-file") or _home() / ".env")
    if not named and file.is_file():
        named = dotenv_values(file).get("AMEM_COLLECTION")
    return named or "memories"


def _given(*names: str) -> str:
    """The value of a global option on the line that is being typed; '' where it is not there."""
    words = list(_typed())
    for place, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in names:
            return value if equals else "".join(words[place + 1 : place + 2])
    return ""


def _typed() -> Iterator[str]:
    line = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS") or ""
    try:
        yield from shlex.split(line.replace("\n", " "))
    except ValueError:  # a quote that is still open
        yield from line.split()
