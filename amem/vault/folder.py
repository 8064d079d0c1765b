"""A folder of Markdown files: what is in it, read and written without ever leaving it or losing what stood there.

Some files are nobody's notes: hidden ones, templates, and what ``.gitignore`` and ``.amemignore`` say. The rules are
git's (``man gitignore``): a file of rules counts for its folder and all below it, a later rule overrules an earlier
one, ``!`` takes back, and what lies in an ignored folder cannot be taken back.
"""

from __future__ import annotations

import json
import os
import re
import stat
import unicodedata
import uuid
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from amem.errors import InvalidInput
from amem.interop.decoding import leads_out, reading, whole
from amem.interop.formats import MARKDOWN_SUFFIXES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from re import Pattern

RULE_FILES = (".gitignore", ".amemignore")
#: Ignored whatever is said, besides all that is hidden: .obsidian, .trash, .git, .amem.
_FOLDERS = frozenset({"templates"})


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of a file of rules that stands in the folder `base` ('' for the top)."""

    base: str
    pattern: Pattern[str]
    negated: bool
    folders_only: bool

    def matches(self, path: str, *, folder: bool) -> bool:
        """Whether it is about this path, given from the top."""
        if self.folders_only and not folder:
            return False
        if self.base and not path.startswith(f"{self.base}/"):
            return False
        return self.pattern.fullmatch(path[len(self.base) + 1 :] if self.base else path) is not None


def rules_of(text: str, base: str) -> list[Rule]:
    """The rules of a file that stands in the folder `base`."""
    return [rule for line in text.splitlines() if (rule := _rule(line, base)) is not None]


def is_ignored(path: str, *, folder: bool, rules: Iterable[Rule]) -> bool:
    """Whether a path is left out, its parents being looked at: built-in rules first, then of the `rules` the last."""
    name = path.rsplit("/", 1)[-1]
    if name.startswith(".") or (folder and name.casefold() in _FOLDERS):
        return True
    said = False
    for rule in rules:
        if rule.negated == said and rule.matches(path, folder=folder):
            said = not rule.negated
    return said


def _rule(line: str, base: str) -> Rule | None:
    line = re.sub(r"(?<!\\) +$", "", line.rstrip("\n\r"))
    if not line or line.startswith("#"):
        return None
    negated = line.startswith("!")
    line = line[1:] if negated else line
    folders_only = line.endswith("/")
    line = line.rstrip("/") if folders_only else line
    anchored = "/" in line
    line = line.removeprefix("/")
    if not line:
        return None
    try:
        pattern = re.compile(("" if anchored else "(?:.*/)?") + _regex(line))
    except re.error:
        return None
    return Rule(base, pattern, negated, folders_only)


def _regex(glob: str) -> str:
    out = ""
    at = 0
    while at < len(glob):
        char = glob[at]
        if glob.startswith("**/", at) and (at == 0 or glob[at - 1] == "/"):
            out, at = out + "(?:.*/)?", at + 3
            continue
        if glob.startswith("/**", at) and at + 3 == len(glob):
            out, at = out + "/.*", at + 3
            continue
        if char == "*":
            while glob.startswith("*", at + 1):
                at += 1
            out += "[^/]*"
        elif char == "?":
            out += "[^/]"
        elif char == "[" and (end := glob.find("]", at + 2)) > 0:
            inside = glob[at + 1 : end]
            inside = ("^" + inside[1:]) if inside[0] in "!^" else inside
            out += "(?!/)[" + inside.replace("\\", "\\\\").replace("[", "\\[") + "]"
            at = end
        elif char == "\\" and at + 1 < len(glob):
            at += 1
            out += re.escape(glob[at])
        else:
            out += re.escape(char)
        at += 1
    return out


#: What amem keeps in the folder itself: what the folder is called, and a lock.
OWN, TRASH = ".amem", ".trash"
_IDENTITY, _LOCK = "vault.json", "lock"
_PART = ".amem-part"
#: Seconds to wait for another sync of the same folder.
_PATIENCE = 30.0


@dataclass(frozen=True, slots=True)
class Stat:
    """What tells whether a file changed without reading it."""

    mtime_ns: int
    size: int


@dataclass(slots=True)
class Scan:
    """What a look through a folder found: Markdown files by path, and what cannot be one, with the reason."""

    files: dict[str, Stat] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    rules: list[Rule] = field(default_factory=list)

    def ignores(self, path: str) -> bool:
        """Whether the path is left out, or lies in a folder that is."""
        parts = path.split("/")
        return any(
            is_ignored("/".join(parts[: end + 1]), folder=end < len(parts) - 1, rules=self.rules)
            for end in range(len(parts))
        )


class Changed(Exception):
    """The file is not what it was when it was looked at: whoever changed it meanwhile comes first."""


class Folder:
    """The folder at `root`. Paths are given from there, with slashes."""

    def __init__(self, root: Path) -> None:
        self.root = root.expanduser().absolute()
        self._resolved = self.root.resolve()
        self._safe: dict[str, bool] = {}
        #: In the names of files that are being written: nobody else's, and each once.
        self._draft, self._written = os.urandom(8).hex(), 0

    @property
    def exists(self) -> bool:
        """Whether there is a folder. Raises InvalidInput where something else is in its place."""
        if self.root.is_dir():
            return True
        if os.path.lexists(self.root):
            raise InvalidInput(f"{self.root} is not a folder", hint="name a folder, or one that is not there yet")
        return False

    @property
    def holds_files(self) -> bool:
        """Whether any Markdown file is in it, but for hidden ones and templates."""
        for _, folders, names in os.walk(self.root):
            folders[:] = [name for name in folders if not is_ignored(name, folder=True, rules=())]
            if any(name.lower().endswith(MARKDOWN_SUFFIXES) and not name.startswith(".") for name in names):
                return True
        return False

    def identity(self) -> str:
        """What the folder calls itself since its first sync; '' before that. Raises InvalidInput."""
        path = self.root / OWN / _IDENTITY
        try:
            with reading(path) as stream:
                held = json.loads(stream.read(1 << 16))
        except (InvalidInput, ValueError) as error:
            if not os.path.lexists(path):
                return ""
            raise InvalidInput(
                f"{path} cannot be read: {error}", hint="remove it: the next sync begins anew"
            ) from error
        found = held.get("vault") if isinstance(held, dict) else None
        if not isinstance(found, str) or not found:
            raise InvalidInput(f"{path} names no vault", hint="remove it: the next sync begins anew")
        return found

    def identify(self) -> str:
        """Give the folder a new identity, and make it where there is none."""
        found = str(uuid.uuid4())
        own = self.root / OWN
        own.mkdir(parents=True, exist_ok=True)
        path = own / _IDENTITY
        self.put(path, (json.dumps({"vault": found}) + "\n").encode(), lambda: None)
        return found

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other syncs of the folder waiting; makes it where there is none.

        Raises InvalidInput when one takes too long, and where something else than a folder is in its place.
        """
        own = self.root / OWN
        if not self.exists or not own.is_dir():
            own.mkdir(parents=True, exist_ok=True)
        try:
            with FileLock(own / _LOCK, timeout=_PATIENCE):
                yield
        except Timeout as error:
            raise InvalidInput(f"another sync of {self.root} is running", hint="wait until it has ended") from error

    def scan(self, *, tidy: bool = False) -> Scan:
        """Look through the folder, following no links; with `tidy` remove what a killed sync left half written."""
        found = Scan()
        if self.exists:
            self._look("", found, [], tidy)
        return found

    def _look(self, base: str, found: Scan, above: list[Rule], tidy: bool) -> None:
        try:
            with os.scandir(self.root / base) as entries:
                held = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            found.refused[f"{base}/"] = error.strerror or str(error)
            return
        rules = [*above, *(rule for entry in held if entry.name in RULE_FILES for rule in self._rules(entry, base))]
        found.rules += rules[len(above) :]
        for entry in held:
            path = f"{base}/{entry.name}" if base else entry.name
            folder = entry.is_dir(follow_symlinks=False)
            if tidy and entry.name.endswith(_PART) and entry.name.startswith(".") and not folder:
                with suppress(OSError):
                    os.unlink(entry.path)
                continue
            if not folder and not entry.name.lower().endswith(MARKDOWN_SUFFIXES):
                continue
            if is_ignored(path, folder=folder, rules=rules):
                continue
            if "\udc80" <= max(path) <= "\udfff":
                found.refused[path] = "its name is not UTF-8"
            elif folder:
                self._look(path, found, rules, tidy)
            else:
                self._file(entry, path, found)

    def _file(self, entry: os.DirEntry[str], path: str, found: Scan) -> None:
        if entry.is_symlink():
            # One that stays inside leads to a file that is met anyway.
            if leads_out(Path(entry.path), self._resolved):
                found.refused[path] = "it is a link that leads out of the folder"
            return
        held = entry.stat(follow_symlinks=False)
        if stat.S_ISREG(held.st_mode):
            found.files[path] = Stat(held.st_mtime_ns, held.st_size)
        else:
            found.refused[path] = "it is not a regular file"

    def _rules(self, entry: os.DirEntry[str], base: str) -> list[Rule]:
        try:
            if not entry.is_file(follow_symlinks=False):
                return []
            with reading(Path(entry.path)) as stream:
                return rules_of(stream.read(1 << 20).decode("utf-8", "replace"), base)
        except InvalidInput:
            return []

    def read(self, path: str) -> bytes:
        """The bytes of a file. Raises InvalidInput for what is too large, cannot be read, or is no file."""
        with reading(self.root / path) as stream:
            return whole(stream, path)

    def is_there(self, path: str) -> bool:
        """Whether anything is at this path, a dangling link too."""
        return os.path.lexists(self.root / path)

    def write(self, path: str, data: bytes, *, expect: Stat | None) -> Stat:
        """Put these bytes in the file's place in one step; None where there must be no file.

        Raises Changed when the file is not as expected, InvalidInput where the way to it leads out of the folder.
        """
        target = self._inside(path)
        if expect is None:
            target.parent.mkdir(parents=True, exist_ok=True)
        return self.put(target, data, lambda: self._expected(target, expect))

    def check_writable(self, path: str) -> None:
        """Raise InvalidInput where no file can be written at this path."""
        base = self._inside(path).parent
        if not os.access(base, os.W_OK | os.X_OK):
            raise InvalidInput(f"{path} cannot be written", hint=f"check the permissions of {base}")

    def destroy(self, path: str, *, expect: Stat) -> None:
        """Remove the file for good. Raises Changed."""
        target = self._inside(path)
        self._expected(target, expect)
        target.unlink()

    def to_trash(self, path: str, *, expect: Stat) -> None:
        """Move the file to where `trashed` says, as Obsidian does. Raises Changed."""
        target, trash = self._inside(path), self._inside(self.trashed(path))
        self._expected(target, expect)
        trash.parent.mkdir(parents=True, exist_ok=True)
        target.rename(trash)

    def trashed(self, path: str) -> str:
        """Where in the folder the file at this path is put when it is removed now: under a name that is free."""
        base, end = os.path.splitext(f"{TRASH}/{path}")
        names = (f"{base}{'' if number == 1 else f' {number}'}{end}" for number in count(1))
        return next(name for name in names if not self.is_there(name))

    def _inside(self, path: str) -> Path:
        """The path, whose folders are none but folders of the vault. Raises InvalidInput."""
        base, _, name = path.rpartition("/")
        if base not in self._safe:
            plain = not path.startswith("/") and ".." not in base.split("/")
            self._safe[base] = plain and (self.root / base).resolve().is_relative_to(self._resolved)
        if not self._safe[base] or name == "..":
            raise InvalidInput(f"{path} leads out of the folder", hint="a folder in it is a link to elsewhere")
        return self.root / path

    @staticmethod
    def _expected(target: Path, expect: Stat | None) -> os.stat_result | None:
        try:
            held = os.lstat(target)
        except FileNotFoundError:
            held = None
        now = None if held is None else Stat(held.st_mtime_ns, held.st_size)
        if now != expect or (held is not None and not stat.S_ISREG(held.st_mode)):
            raise Changed(str(target))
        return held

    def put(self, target: Path, data: bytes, before: Callable[[], os.stat_result | None]) -> Stat:
        """Replace the file in one step, unless `before`, asked last of all, refuses; it tells whose mode is kept."""
        # Reading random bytes for each file takes longer than writing it.
        self._written += 1
        name = f"{os.path.dirname(target)}/.{self._draft}-{self._written}{_PART}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
        descriptor = os.open(name, flags, 0o600)
        try:
            try:
                left = memoryview(data)
                while left:
                    left = left[os.write(descriptor, left) :]
                written = os.fstat(descriptor)
                held = before()
                if held is not None and (mode := stat.S_IMODE(held.st_mode)) != 0o600 and hasattr(os, "fchmod"):
                    os.fchmod(descriptor, mode)
            finally:
                os.close(descriptor)
            os.replace(name, target)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(name)
            raise
        return Stat(written.st_mtime_ns, written.st_size)


def plain_path(path: str) -> str:
    """A path in the one form that macOS and others give names in differently."""
    return unicodedata.normalize("NFC", path)
