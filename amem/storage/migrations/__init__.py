"""Numbered schema migrations: ``NNNN_name.sql`` beside this file, counted by ``PRAGMA user_version``.

The collection is backed up beside itself before an existing schema is changed.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from amem.errors import SchemaTooNew, StorageReadOnly
from amem.storage.copies import write_copy


def scripts() -> dict[int, str]:
    """Every migration: its number and its SQL."""
    return {number: path.read_text(encoding="utf-8") for number, path in _numbered().items()}


def _numbered() -> dict[int, Path]:
    return {int(path.name.split("_")[0]): path for path in sorted(Path(__file__).parent.glob("*.sql"))}


def migrate(connection: sqlite3.Connection, path: Path | None, *, read_only: bool = False) -> None:
    """Bring the database up to the newest schema; a no-op when it is there already.

    Raises SchemaTooNew when a later amem wrote it, StorageReadOnly when it is old and cannot be changed.
    """
    newest = max(_numbered())
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
    from amem.language import normalize, search_terms
    from amem.language.predicates import subject_key
    from amem.storage.vectors import repacked
    from amem.token_vectors import halved

    known = scripts()
    connection.create_function("folded", 1, normalize, deterministic=True)
    connection.create_function("halved", 1, halved, deterministic=True)
    connection.create_function("named", 1, subject_key, deterministic=True)
    connection.create_function("repacked", 1, repacked, deterministic=True)
    connection.create_function("searched", 1, lambda text: " ".join(search_terms(text)), deterministic=True)
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have done it while this one waited for the lock.
        version = _version(connection)
        if 0 < version < newest and path is not None:
            # By a connection of its own: SQLite copies nothing from one that writes.
            with closing(sqlite3.connect(path)) as unchanged:
                write_copy(unchanged, path.with_name(f"{path.name}.schema-{version}.bak"))
        for number in range(version + 1, newest + 1):
            for statement in _statements(known[number]):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {number}")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def backups(path: Path) -> list[Path]:
    """The copies of a database that were made before its schema was changed, and those that were never finished."""
    patterns = (f"{path.name}.schema-*.bak*", f".{path.name}.schema-*.bak*")
    return sorted(found for pattern in patterns for found in path.parent.glob(pattern))


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


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
