"""Numbered schema migrations: ``NNNN_name.sql`` beside this file, counted by ``PRAGMA user_version``.

The collection is backed up beside itself before an existing schema is changed.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from importlib.resources import files
from typing import TYPE_CHECKING

from amem.errors import SchemaTooNew, StorageReadOnly
from amem.text import normalize, search_terms
from amem.truth.subjects import subject_key

if TYPE_CHECKING:
    from pathlib import Path


def scripts() -> dict[int, str]:
    """Every migration: its number and its SQL."""
    found = {}
    for entry in files(__package__).iterdir():
        if entry.name.endswith(".sql"):
            found[int(entry.name.split("_")[0])] = entry.read_text(encoding="utf-8")
    return dict(sorted(found.items()))


def migrate(connection: sqlite3.Connection, path: Path | None, *, read_only: bool = False) -> None:
    """Bring the database up to the newest schema; a no-op when it is there already.

    Raises SchemaTooNew when a later amem wrote it, StorageReadOnly when it is old and cannot be changed.
    """
    known = scripts()
    newest = max(known)
    version = _version(connection)
    if version == newest:
        return
    if version > newest:
        raise SchemaTooNew(
            f"{path or 'the collection'} was written by a newer amem (schema {version}, this one knows {newest})",
            hint="upgrade amem",
        )
    if read_only:
        raise StorageReadOnly(f"{path} has an old schema and cannot be changed", hint="make it writable once")
    if version > 0 and path is not None:
        _back_up(connection, path.with_name(f"{path.name}.schema-{version}.bak"))
    connection.create_function("folded", 1, normalize, deterministic=True)
    connection.create_function("named", 1, subject_key, deterministic=True)
    connection.create_function("searched", 1, lambda text: " ".join(search_terms(text)), deterministic=True)
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have done it while this one waited for the lock.
        for number in range(_version(connection) + 1, newest + 1):
            for statement in _statements(known[number]):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {number}")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _back_up(connection: sqlite3.Connection, target: Path) -> None:
    target.touch(mode=0o600)
    with closing(sqlite3.connect(target)) as copy:
        connection.backup(copy)


def _statements(script: str) -> list[str]:
    """The script's statements; ``executescript`` would commit the transaction we are in."""
    statements: list[str] = []
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            statements.append(pending)
            pending = ""
    return statements
