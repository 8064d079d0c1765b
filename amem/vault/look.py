"""A look at a vault before anything is done: which file is which note's, what changed, what cannot be used."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING

from amem import checks
from amem.errors import InvalidInput
from amem.interop.decoding import refusal
from amem.vault.folder import Folder, Scan, Stat, plain_path
from amem.vault.note_file import NoteFile, read_note_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from amem.storage.vaults import KnownFile

_ID = re.compile(rb"^id:[ \t]*[\"']?([^\"'\s]+)", re.MULTILINE)
#: A file whose time is this near to the last sync's is read again: it may have changed in the same tick of the clock.
_TICK = 2_000_000_000
#: Front matter of what a conflict left beside a file.
CONFLICT_OF = "conflict_of"


@dataclass(frozen=True, slots=True)
class Seen:
    """A file that is new, changed or elsewhere: what is in it, as it was read."""

    path: str
    stat: Stat
    digest: bytes
    file: NoteFile


@dataclass(slots=True)
class Look:
    """What is in the folder, told by notes.

    `same` are notes whose file is as it was, by path; `seen` those whose file is to be read; `fresh` are files of no
    note yet, `copies` those of them that say the id of another's; `missing` are notes whose file is gone. `blocked` are
    notes whose file cannot be used now: nothing is done about them. `reread` says that any file was read.
    """

    scan: Scan
    same: dict[str, tuple[str, Stat]] = field(default_factory=dict)
    seen: dict[str, Seen] = field(default_factory=dict)
    fresh: list[Seen] = field(default_factory=list)
    copies: set[str] = field(default_factory=set)
    missing: list[str] = field(default_factory=list)
    blocked: set[str] = field(default_factory=set)
    waiting: dict[str, str] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    empty: list[str] = field(default_factory=list)
    reread: bool = False


def digest_of(data: bytes) -> bytes:
    """By what two files are told apart."""
    return blake2b(data, digest_size=16).digest()


def look_at(folder: Folder, known: Mapping[str, KnownFile], *, synced_ns: int, tidy: bool) -> Look:
    """Find out which file is which note's, reading only files whose time or size changed."""
    look = Look(folder.scan(tidy=tidy))
    at = {plain_path(each.path): id for id, each in known.items() if each.path and not each.gone}
    claims: dict[str, list[Seen]] = {}
    for path, why in look.scan.refused.items():
        _refuse(look, path, why, at.get(plain_path(path)))
        if path.endswith("/"):
            look.blocked |= {id for there, id in at.items() if there.startswith(plain_path(path))}
    for path, held in look.scan.files.items():
        id = at.get(plain_path(path))
        before = known[id] if id is not None else None
        as_before = before is not None and held == Stat(before.mtime_ns, before.size)
        if id is not None and as_before and held.mtime_ns < synced_ns - _TICK:
            look.same[id] = path, held
            continue
        data = b""
        look.reread = True
        try:
            data = folder.read(path)
            digest = digest_of(data)
            if id is not None and before is not None and digest == before.digest and not before.is_new:
                look.same[id] = path, held
                continue
            seen = Seen(path, held, digest, read_note_file(data, path))
        except InvalidInput as error:
            _refuse(look, path, refusal(error, path), id or _said_id(data))
            continue
        _claim(look, claims, seen, id)
    _find_moved(look, claims, known)
    _settle(look, claims, known, at)
    look.missing = [
        id
        for id, each in known.items()
        if each.path and not each.gone and id not in look.same and id not in look.seen and id not in look.blocked
    ]
    for id in list(look.missing):
        path = known[id].path
        if folder.is_there(path) and look.scan.ignores(path):
            look.missing.remove(id)
            look.blocked.add(id)
    return look


def _claim(look: Look, claims: dict[str, list[Seen]], seen: Seen, known_id: str | None) -> None:
    file = seen.file
    if file.says(CONFLICT_OF):
        look.waiting[seen.path] = file.value(CONFLICT_OF)
        return
    said = file.value("id")
    try:
        claimed = checks.identifier("its id", said) if said else known_id
        checks.text("its text", file.text)
    except InvalidInput as error:
        return _refuse(look, seen.path, refusal(error, seen.path), known_id)
    if not file.body.strip():
        if claimed is None:
            look.empty.append(seen.path)
        else:
            _refuse(look, seen.path, "it is empty: write something, or delete the file to delete its note", claimed)
    elif claimed is None:
        look.fresh.append(seen)
    else:
        claims.setdefault(claimed, []).append(seen)


def _find_moved(look: Look, claims: dict[str, list[Seen]], known: Mapping[str, KnownFile]) -> None:
    """Give files that were moved before their id was written into them to the notes that were made from them."""
    waiting = {each.digest: id for id, each in known.items() if each.is_new and id not in claims}
    for seen in list(look.fresh) if waiting else ():
        id = waiting.pop(seen.digest, None)
        if id is not None and id not in look.blocked:
            look.fresh.remove(seen)
            claims[id] = [seen]


def _settle(look: Look, claims: dict[str, list[Seen]], known: Mapping[str, KnownFile], at: Mapping[str, str]) -> None:
    """Give each id to one file; the others that say it are copies, which become notes of their own."""
    for id, seen in claims.items():
        before = plain_path(known[id].path) if id in known else ""
        ordered = sorted(seen, key=lambda each: (plain_path(each.path) != before, each.path))
        if id not in look.same and id not in look.blocked:
            look.seen[id] = ordered.pop(0)
        for each in ordered:
            owner = at.get(plain_path(each.path))
            if owner is not None and owner != id and owner not in claims and owner not in look.same:
                look.seen[owner] = each  # the file of another note, overwritten with a copy of this one
            else:
                look.fresh.append(each)
                look.copies.add(each.path)


def _refuse(look: Look, path: str, why: str, id: str | None) -> None:
    look.problems[path] = why
    if id is not None:
        look.blocked.add(id)


def _said_id(data: bytes) -> str | None:
    """The id that a file which cannot be used seems to say: its note must not pass for one without a file."""
    found = _ID.search(data[:4096])
    return None if found is None else found[1].decode("utf-8", "replace")
