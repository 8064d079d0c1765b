"""What a second import of the same files means: which notes they are, and what became of each. Nothing is written here.

A note is held against its file by what the file said when it was read last (`FilePlace`), so that what happened to the
note in amem and what happened to the file are told apart. What a person edited in amem stays as it is.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from amem.interop.items import FilePlace, Incoming, Listing
from amem.note import FILE, Scope, Status
from amem.writing.intake import scope_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from amem.storage.whole import FileNote

#: Metadata that a file gives each of its notes; `part` is how earlier versions numbered them.
_OF_FILES = ("title", "path", "aliases", "part", FILE)
#: How alike two pieces of a file must be for the one to be what became of the other (0..1).
_ALIKE = 0.5
_COMPARED = 2_000
_EDITED = "edited"


class Fate(StrEnum):
    """What became of a file since it was imported last."""

    NEW = "new"
    CHANGED = "changed"
    RENAMED = "renamed"
    GONE = "gone"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class Kept:
    """A note that is not what its file says, since somebody changed it in amem: `why` tells, and what to do."""

    file: str
    note: str
    why: str


@dataclass(frozen=True, slots=True)
class Revision:
    """What a note becomes: other `fields`; with `back` it is shown again, as its file is there again.

    `version` is that of the note when this was planned. `item` is what stands in the file now.
    """

    note: FileNote
    fields: Mapping[str, Any]
    item: Incoming | None
    back: bool = False

    @property
    def rewords(self) -> bool:
        """Whether the text changes."""
        return "content" in self.fields


@dataclass(slots=True)
class FilePlan:
    """What is to be done about one `file`, absolute; people read its `path`.

    `same` are its notes that need no change, with what stands there.
    """

    file: str
    path: str
    fate: Fate
    same: list[tuple[FileNote, Incoming]] = field(default_factory=list)
    revised: list[Revision] = field(default_factory=list)
    fresh: list[Incoming] = field(default_factory=list)
    hidden: list[FileNote] = field(default_factory=list)
    kept: list[Kept] = field(default_factory=list)


class KnownFiles:
    """The files that a collection holds notes of, and those of them that are there no more.

    `exists` says of an absolute path whether a file is there now.
    """

    def __init__(self, notes: Sequence[FileNote], listing: Listing, exists: Callable[[str], bool]) -> None:
        self._listing = listing
        self._exists = exists
        self._held: dict[str, list[FileNote]] = defaultdict(list)
        self._before: dict[str, list[FileNote]] = defaultdict(list)
        self._with_text: dict[str, set[str]] = defaultdict(set)
        self._seen: set[str] = set()
        self._emptied: set[str] = set()
        for note in notes:
            if note.status is Status.DELETED and note.put_by == "undo":
                continue  # taken back: as if it had never been
            place = FilePlace.of(note.metadata)
            if place is not None:
                self._held[place.file].append(note)
                self._with_text[place.text].add(place.file)
            elif note.status is not Status.DELETED and isinstance(note.metadata.get("path"), str):
                self._before[note.metadata["path"]].append(note)

    def plan(self, items: Sequence[Incoming]) -> FilePlan:
        """What is to be done about one file, given all that stands in it. Raises InvalidInput for a bad user_id."""
        place = _place(items[0])
        scope = scope_of(items[0].note.fields.get("metadata", {}))
        fate = Fate.UNCHANGED
        notes = self._held.get(place.file, [])
        if place.file in self._seen:
            notes = []
        if not notes and (source := self._moved_from(items, scope)):
            notes, fate = self._held[source], Fate.RENAMED
            self._seen.add(source)
        self._seen.add(place.file)
        own = [note for note in notes if Scope.of(note.metadata) == scope]
        before = [] if own else self._adopted(items, scope)
        others = [note for note in notes if note not in own and _is_shown(note)]
        plan = FilePlan(place.file, place.path, fate, hidden=others)
        pairs, left = paired([*own, *before], items)
        for note, item in pairs:
            if note is None:
                plan.fresh.append(placed(item))
            else:
                _hold_against(plan, note, item)
        for note in left:
            _let_go(plan, note)
        if fate is Fate.UNCHANGED:
            moved = any(each.rewords or each.back for each in plan.revised) or _says_more(plan)
            if plan.fresh and not (own or before or others):
                plan.fate = Fate.NEW
            elif moved or plan.fresh or plan.hidden:
                plan.fate = Fate.CHANGED
        return plan

    def emptied(self, file: str) -> None:
        """Say that a file is there and has no text any more: that is as if it were gone."""
        self._emptied.add(file)

    def gone(self) -> Iterator[FilePlan]:
        """What is to be done about the files that are there no more; ask when all others were planned."""
        for file, notes in self._held.items():
            if file in self._seen or not self._is_missed(file):
                continue
            shown = [note for note in notes if _is_shown(note)]
            plan = FilePlan(file, _path(shown[0]) if shown else file, Fate.GONE)
            for note in shown:
                _let_go(plan, note)
            if plan.hidden or plan.revised:
                yield plan

    def names(self) -> Iterator[tuple[str, str, str]]:
        """(name, heading, id) for all that links may call the notes that are there; '' for a whole file."""
        for notes in (*self._held.values(), *self._before.values()):
            for note in notes:
                if not _is_shown(note):
                    continue
                place = FilePlace.of(note.metadata)
                aliases = note.metadata.get("aliases")
                names = [note.metadata.get("title"), *(aliases if isinstance(aliases, list) else [])]
                if place is not None:
                    names += [place.path, place.path.rsplit("/", 1)[-1]]
                heading = "" if place is None else place.heading.rsplit(" > ", 1)[-1]
                for name in filter(None, names):
                    if place is None or place.part == 1:
                        yield str(name), "", note.id
                    if heading:
                        yield str(name), heading, note.id

    def unseen(self) -> list[FileNote]:
        """The notes of files that were not read this time."""
        return [note for file, notes in self._held.items() if file not in self._seen for note in notes]

    def _is_missed(self, file: str) -> bool:
        """Whether a file should be among those that are read, and is not."""
        listing = self._listing
        below = listing.whole and file.startswith(f"{listing.root.rstrip('/')}/")
        return file in self._emptied or (below and file not in listing.files)

    def _moved_from(self, items: Sequence[Incoming], scope: Scope) -> str | None:
        """The file, there no more, that most of these words stood in."""
        shared: Counter[str] = Counter()
        for item in items:
            shared.update(self._with_text.get(_place(item).text, ()))
        path = _place(items[0]).path
        best = sorted(shared, key=lambda file: (-shared[file], -_common(file, path), file))
        for file in best:
            notes = [note for note in self._held[file] if Scope.of(note.metadata) == scope]
            if file in self._seen or not notes or 2 * shared[file] < max(len(items), len(notes)):
                continue
            if self._is_missed(file) or (file not in self._listing.files and not self._exists(file)):
                return file
        return None

    def _adopted(self, items: Sequence[Incoming], scope: Scope) -> list[FileNote]:
        """Notes of an earlier version, which told only the path, that say nothing but what stands in the file."""
        found = [note for note in self._before.get(_place(items[0]).path, ()) if Scope.of(note.metadata) == scope]
        if not found:
            return []
        here = {line for item in items for line in _lines(item.note.content)}
        here |= {_bare(each) for item in items for each in _place(item).heading.split(" > ")}
        here.add(_bare(str(items[0].note.fields["metadata"].get("title", ""))))
        return [note for note in found if _lines(note.content) <= here]


def paired(
    notes: Sequence[FileNote], items: Sequence[Incoming]
) -> tuple[list[tuple[FileNote | None, Incoming]], list[FileNote]]:
    """Each piece of a file with the note it is, None for a new one; and the notes that are no piece any more.

    The same words are the same piece, then what stands under the same heading, then the only ones left or, between
    two that are known, what is most alike.
    """
    left = list(notes)
    found: dict[int, FileNote] = {}

    def take(number: int, note: FileNote) -> None:
        found[number] = note
        left.remove(note)

    for name in ("text", "heading"):
        by: dict[str, list[FileNote]] = defaultdict(list)
        for note in left:
            place = FilePlace.of(note.metadata)
            if place is not None and (said := getattr(place, name)):
                by[said].append(note)
        for number, item in enumerate(items):
            if number not in found and (same := by.get(getattr(_place(item), name))):
                take(number, same.pop(0))
    rest = [number for number in range(len(items)) if number not in found]
    if len(items) == len(notes) == 1 and rest and FilePlace.of(notes[0].metadata) is not None:
        take(0, notes[0])
        rest = []
    for number in rest:
        alike = [(_likeness(note.content, items[number].note.content), note) for note in left]
        share, best = max(alike, key=lambda each: each[0], default=(0.0, None))
        if best is not None and share >= _ALIKE:
            take(number, best)
    return [(found.get(number), item) for number, item in enumerate(items)], left


def _hold_against(plan: FilePlan, note: FileNote, item: Incoming) -> None:
    """Decide what becomes of a note whose piece of the file is this now."""
    before, now = FilePlace.of(note.metadata), _place(item)
    if before is not None and before.root != now.root and now.file.startswith(f"{before.root.rstrip('/')}/"):
        # The same file, imported with a folder inside the one it was first imported with.
        now = replace(now, root=before.root, path=now.file.removeprefix(f"{before.root.rstrip('/')}/"))
        item = replace(item, place=now)
    moved = before is None or before.content != now.content
    agreed = note.content == item.note.content
    if note.status is Status.DELETED and note.put_by != "import":
        if before is None or before.text != now.text:
            hint = f"amem restore {note.id[:8]} brings it back"
            plan.kept.append(Kept(plan.path, note.id, f"was deleted in amem and stays so; {hint}"))
        return
    if moved and not agreed and _is_persons(note) and (before is None or before.text != now.text):
        why = "was edited in amem, and its file has changed since: the note stays as you left it"
        plan.kept.append(Kept(plan.path, note.id, why))
        plan.same.append((note, replace(item, wanted=())))
        return
    fields: dict[str, Any] = {}
    if moved and not agreed and not _is_persons(note):
        fields["content"] = item.note.content
    if before is not None and (before.text != now.text or before.head != now.head):
        given = {"timestamp": item.note.time, **{name: item.note.fields.get(name) for name in ("tags", "category")}}
        fields |= {name: value for name, value in given.items() if value and note.owned.get(name) != _EDITED}
    metadata = _merged(note.metadata, placed(item).note.fields["metadata"], before)
    if metadata != note.metadata:
        fields["metadata"] = metadata
    by_hand = note.put_by == "supersede"
    if by_hand and "content" in fields and note.status is Status.SUPERSEDED:
        why = "was superseded by hand, and its file has changed since: its new text stays out of search"
        plan.kept.append(Kept(plan.path, note.id, f"{why}; amem unsupersede {note.id[:8]} changes that"))
    back = not _is_shown(note) or (
        "content" in fields and (note.status is Status.ARCHIVED or (note.status is Status.SUPERSEDED and not by_hand))
    )
    if fields or back:
        plan.revised.append(Revision(note, fields, item, back))
    else:
        plan.same.append((note, item))


def _let_go(plan: FilePlan, note: FileNote) -> None:
    """Decide what becomes of a note that stands in its file no more."""
    if not _is_shown(note) or note.put_by == "restore":
        return  # hidden already, or brought back on purpose
    if _is_persons(note):
        metadata = {name: value for name, value in note.metadata.items() if name != FILE}
        plan.revised.append(Revision(note, {"metadata": metadata}, None))
        why = "was edited in amem, and stands in no file any more: it stays as a note of its own"
        plan.kept.append(Kept(plan.path, note.id, why))
    else:
        plan.hidden.append(note)


def _merged(held: Mapping[str, Any], given: Mapping[str, Any], before: FilePlace | None) -> dict[str, Any]:
    """A note's metadata with what its file says now; what the file said before and does not say any more goes."""
    own = {*_OF_FILES, *(() if before is None else before.keys)}
    return {name: value for name, value in held.items() if name not in own} | dict(given)


def _says_more(plan: FilePlan) -> bool:
    """Whether anything but the place of a note changes."""
    for each in plan.revised:
        before = FilePlace.of(each.note.metadata)
        if each.item is not None and before is not None and before.head != _place(each.item).head:
            return True
    return False


def placed(item: Incoming) -> Incoming:
    """The item with its place in the note's metadata, as it is stored."""
    place, metadata = _place(item), item.note.fields["metadata"]
    told = {**metadata, "path": place.path, FILE: place.told()}
    return replace(item, note=replace(item.note, fields={**item.note.fields, "metadata": told}))


def _place(item: Incoming) -> FilePlace:
    assert item.place is not None
    return item.place


def _path(note: FileNote) -> str:
    place = FilePlace.of(note.metadata)
    return "" if place is None else place.path


def _is_shown(note: FileNote) -> bool:
    return note.status is not Status.DELETED


def _is_persons(note: FileNote) -> bool:
    """Whether the text is a person's own, written in amem."""
    return note.owned.get("content") == _EDITED or note.said_by == "rollback"


def _common(file: str, path: str) -> int:
    """How many of the last parts of two paths are the same."""
    ends = zip(reversed(file.split("/")), reversed(path.split("/")), strict=False)
    return next((number for number, (one, other) in enumerate(ends) if one != other), len(path.split("/")))


def _likeness(one: str, other: str) -> float:
    matcher = SequenceMatcher(None, one[:_COMPARED], other[:_COMPARED], autojunk=False)
    return matcher.ratio() if matcher.quick_ratio() >= _ALIKE else 0.0


def _lines(text: str) -> set[str]:
    return {bare for line in text.splitlines() if (bare := _bare(line))}


def _bare(line: str) -> str:
    return line.strip().lstrip("#").strip()
