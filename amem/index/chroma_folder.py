"""A folder of Chroma's on disk: labelled with what it holds, opened, closed, and moved aside when it is broken."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
import time
import zlib
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from amem.index.chroma import ChromaFailed, ChromaIndex, close_client, open_folder

if TYPE_CHECKING:
    from pathlib import Path

    from chromadb.api import ClientAPI

NAME, LOCK, BROKEN = "chroma", "chroma.lock", "chroma.broken-"
#: The collection in it. Another program reads it with
#: ``chromadb.PersistentClient(folder).get_collection(COLLECTION)``.
COLLECTION = "memories"
_LABEL, _DATABASE, _SYNCHRONISED = "amem.json", "chroma.sqlite3", "index_metadata.pickle"
#: Twice Chroma's own: recall@10 of 0.92 instead of 0.77 on vectors without any structure, for 0.5 ms a query.
_EFFORT = 200
_BLOCK = 1 << 20
#: Seconds between two looks at what another process is at.
_MOMENT = 0.05


@dataclass(frozen=True, slots=True)
class Label:
    """What the folder holds: notes as of the change counter `seq`, in which vector space.

    `files` has size and checksum of each file of vectors; None means that one may be half written.
    """

    space: str
    dimension: int
    seq: int
    files: dict[str, list[int]] | None


class ChromaFolder:
    """The folder ``chroma`` of a collection. Only the holder of the lock beside it may use this.

    Chroma can take the whole process with it (a segmentation fault) when its files are not as it left them. So the
    folder is labelled while it is at rest, and opened only when every file of vectors is as the label says and the
    database is sound. Another program may have read it meanwhile, which changes some bytes of the database.
    """

    def __init__(self, parent: Path) -> None:
        self._parent, self._path = parent, parent / NAME
        self._client: ClientAPI | None = None
        self._label = Label("", 0, 0, None)

    @property
    def settled(self) -> bool:
        """Whether a process that ends now, however it ends, leaves a folder that can be opened again."""
        return self._label.files is not None

    def open(self, space: str, dimension: int) -> tuple[ChromaIndex, int]:
        """The index of that space, and the change counter up to which it holds the notes; 0 for a new folder.

        A folder of another space, or of a process that was killed while it wrote, is thrown away. Raises ChromaFailed
        and whatever Chroma raises.
        """
        label = self.label()
        if label is None or label.files is None or (label.space, label.dimension) != (space, dimension):
            shutil.rmtree(self._path, ignore_errors=True)
            label = None
        elif not self.intact(label):
            raise ChromaFailed("its files are not as they were left")
        seq = 0 if label is None else label.seq
        self._path.mkdir(mode=0o700, exist_ok=True)
        self._write(Label(space, dimension, seq, None))
        self._client = open_folder(self._path)
        # Chroma's own embedding function, which a plain client then takes, is all-MiniLM-L6-v2: amem's default model.
        collection = self._client.get_or_create_collection(
            COLLECTION, embedding_function=None, configuration={"hnsw": {"space": "cosine", "ef_search": _EFFORT}}
        )
        return ChromaIndex(collection, self._client), seq

    def label(self) -> Label | None:
        """What the folder says of itself; None where there is none. Raises ChromaFailed for a label that is broken."""
        try:
            found = json.loads((self._path / _LABEL).read_text(encoding="utf-8"))
            # Before it had a `seq`, a folder held no notes, only vectors: such a one is made anew.
            return Label(**found) if "seq" in found else None
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError) as error:
            raise ChromaFailed(f"its label cannot be read: {error}") from error

    def intact(self, label: Label) -> bool:
        """Whether the files of vectors are as the label says, and the database is sound."""
        return label.files == self._fingerprints() and _is_sound(self._path / _DATABASE)

    def disturb(self) -> None:
        """Say so before something is written."""
        if self.settled:
            self._write(replace(self._label, files=None))

    def settle(self, seq: int) -> None:
        """Label the folder as it lies, with the change counter up to which it holds the notes.

        Chroma changes no file unless it is told to store or delete.
        """
        self._write(replace(self._label, seq=seq, files=self._fingerprints()))

    def forget_others(self, space: str) -> None:
        """Remove a folder, which is not open, of another space: it would be made anew. Raises ChromaFailed."""
        label = self.label()
        if label is None or label.space != space:
            shutil.rmtree(self._path, ignore_errors=True)

    def close(self) -> None:
        """Let go of Chroma; a folder that is not open is fine."""
        client, self._client = self._client, None
        if client is not None:
            close_client(client)

    def set_aside(self) -> None:
        """Close it and move it out of the way; of folders moved aside only the newest is kept."""
        self.close()
        for old in self._parent.glob(f"{BROKEN}*"):
            shutil.rmtree(old, ignore_errors=True)
        if not self._path.exists():
            return
        try:
            self._path.rename(self._parent / f"{BROKEN}{time.strftime('%Y%m%dT%H%M%S')}")
        except OSError:
            shutil.rmtree(self._path, ignore_errors=True)

    def _write(self, label: Label) -> None:
        self._label = label
        path = self._path / _LABEL
        draft = path.with_suffix(".tmp")
        draft.write_text(json.dumps(asdict(label)), encoding="utf-8")
        draft.replace(path)

    def _fingerprints(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for path in sorted(self._path.glob("*/*")):
            size, checksum = path.stat().st_size, 0
            # Until the first synchronisation (1,000 notes) the vectors lie in the database's log, and whoever opens the
            # folder writes these files anew with whatever lay in memory.
            if (path.parent / _SYNCHRONISED).exists():
                with path.open("rb") as file:
                    while block := file.read(_BLOCK):
                        checksum = zlib.crc32(block, checksum)
            found[path.relative_to(self._path).as_posix()] = [size, checksum]
        return found


def _is_sound(path: Path) -> bool:
    """Whether SQLite can read all of a database."""
    try:
        with contextlib.closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            return bool(connection.execute("PRAGMA quick_check(1)").fetchone() == ("ok",))
    except sqlite3.Error:
        return False


def forget_purged(parent: Path, space: str, timeout: float) -> bool:
    """Have no folder of Chroma's hold notes from before a purge, which gave the vectors another `space`.

    Folders that were moved aside are removed, and the one in use, unless a process keeps it: that one makes it anew.
    False when it has not begun to within `timeout` seconds.
    """
    from filelock import FileLock, Timeout

    until = time.monotonic() + timeout
    while _holds_other(parent, space):
        with contextlib.suppress(Timeout), FileLock(parent / LOCK, mode=0o600).acquire(timeout=0):
            shutil.rmtree(parent / NAME)
            break
        if time.monotonic() >= until:
            return False
        time.sleep(_MOMENT)
    for broken in parent.glob(f"{BROKEN}*"):
        shutil.rmtree(broken)
    return True


def _holds_other(parent: Path, space: str) -> bool:
    """Whether there is a folder that is not labelled as one of this space."""
    try:
        label = ChromaFolder(parent).label()
    except ChromaFailed:
        return True
    return label.space != space if label is not None else (parent / NAME).exists()


@dataclass(frozen=True, slots=True)
class Look:
    """A folder as it lies, not opened: `seq` is the change counter it holds, None where that cannot be said."""

    what: str
    seq: int | None = None
    broken: bool = False
    hint: str = ""


def look_at(parent: Path, space: str, *, read_only: bool) -> Look:
    """Say how the Chroma folder in a collection's folder is, without importing Chroma; `space` is the notes' own.

    In a `read_only` collection nobody can keep it, and no lock can be taken.
    """
    from filelock import FileLock, Timeout

    folder = ChromaFolder(parent)
    try:
        with contextlib.nullcontext() if read_only else FileLock(parent / LOCK, mode=0o600).acquire(timeout=0):
            label = folder.label()
            if label is None or label.space != space:
                return Look("no copy of the notes yet", hint="amem maintain makes one")
            if label.files is None:
                hint = "the next process that keeps it makes it anew, amem doctor --repair does so now"
                return Look("its last keeper was killed while writing", broken=True, hint=hint)
            if not folder.intact(label):
                return Look("its files are not as they were left", broken=True, hint="amem doctor --repair rebuilds it")
            return Look("whole", label.seq)
    except Timeout:
        return Look("kept in step by another process")
    except ChromaFailed as failure:
        return Look(str(failure), broken=True, hint="amem doctor --repair rebuilds it")
    except OSError as error:
        return Look(f"cannot be read ({error})", broken=True)
