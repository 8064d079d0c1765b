"""The changes of each side of a fork since both were last the same: notes, fields, links, facts, supersessions."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from amem.errors import InvalidInput
from amem.forks.fork import FORKS
from amem.note import LinkType, MemoryNote, Status
from amem.storage.copies import Mark, Point, base_point, identity, origin, purged_ids, undone_merges
from amem.storage.rows import VERSIONED, link_plain, plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from amem.storage.store import Session, Store

_VERSIONS = (
    "SELECT versions.note, versions.version, versions.changes, operations.id, operations.actor, operations.at"
    " FROM versions JOIN operations ON operations.id = versions.operation WHERE versions.id > :after"
    " ORDER BY versions.id"
)
#: Lists whose order says nothing.
_LABELS = frozenset({"keywords", "tags", "entities"})
_LINKS = "SELECT source, target, type, before, operation FROM link_changes WHERE id > :after ORDER BY id"
#: One end, the other end and the type of a link.
Cell = tuple[str, str, LinkType]


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A field of a note, as plain values: what it was at the fork point, and what it is."""

    field: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class NoteChange:
    """The change of a note: ``added``, ``changed``, ``removed`` (deleted) or ``purged``; `text` is what it says."""

    id: str
    what: str
    text: str
    fields: tuple[FieldChange, ...] = ()


@dataclass(frozen=True, slots=True)
class LinkChange:
    """A link that was made or taken away, or has another reason: `before` and `after` are reasons, None for no link."""

    source: str
    target: str
    type: str
    before: str | None
    after: str | None

    @property
    def what(self) -> str:
        """``linked``, ``unlinked`` or ``relinked``."""
        return "linked" if self.before is None else "unlinked" if self.after is None else "relinked"


@dataclass(frozen=True, slots=True)
class Side:
    """The changes of one side."""

    notes: tuple[NoteChange, ...] = ()
    links: tuple[LinkChange, ...] = ()

    @property
    def facts(self) -> tuple[tuple[str, FieldChange], ...]:
        """Of notes that were there before: those whose facts changed, by id."""
        return self._of("facts")

    @property
    def supersessions(self) -> tuple[tuple[str, FieldChange], ...]:
        """Notes that another took the place of, or no longer does, by id; the values are ids of what took it."""
        return self._of("superseded_by")

    def _of(self, name: str) -> tuple[tuple[str, FieldChange], ...]:
        return tuple((note.id, each) for note in self.notes for each in note.fields if each.field == name)


@dataclass(frozen=True, slots=True)
class ForkDiff:
    """The changes of the source and the fork since the fork was made or last merged."""

    source: Side
    fork: Side

    def as_dict(self) -> dict[str, Any]:
        """The same as JSON-ready data."""
        return asdict(self)


@dataclass(slots=True)
class Changed:
    """A note that one side worked on since a mark, with all that a merge needs to know of it.

    `base` holds, of fields that were changed, what they were; `last` when and by whom each was changed last. `freed`
    says that it was superseded since and is no longer.
    """

    note: MemoryNote
    key: int
    added: bool
    owners: Mapping[str, str]
    base: dict[str, Any] = field(default_factory=dict)
    last: dict[str, tuple[str, str]] = field(default_factory=dict)
    freed: bool = False

    @property
    def now(self) -> dict[str, Any]:
        return {name: plain(name, getattr(self.note, name)) for name in VERSIONED}

    def fields(self) -> tuple[FieldChange, ...]:
        """The changed fields, in their order."""
        now = self.now
        return tuple(
            FieldChange(name, self.base[name], now[name])
            for name in VERSIONED
            if name in self.base and differs(name, self.base[name], now[name])
        )


def differs(name: str, before: Any, after: Any) -> bool:
    """Whether two plain values of a field say different things: labels in another order do not."""
    if name in _LABELS and isinstance(before, list) and isinstance(after, list):
        return sorted(before) != sorted(after)
    return bool(before != after)


def changed_since(session: Session, mark: Mark) -> dict[str, Changed]:
    """The notes that were made or changed since, by id, in the order in which they were made."""
    passing = undone_merges(session, mark.operation)
    told: dict[int, tuple[bool, dict[str, Any], dict[str, tuple[str, str]], bool]] = {}
    for key, version, text, operation, actor, at in session.rows(_VERSIONS, after=mark.version):
        added, base, last, hidden = told.get(key, (version == 1, {}, {}, False))
        for name, (before, after) in json.loads(text).items():
            base.setdefault(name, before)
            last[name] = (at, actor)
            hidden |= after == Status.SUPERSEDED and name == "status" and operation not in passing
        told[key] = (added, base, last, hidden)
    found: dict[str, Changed] = {}
    for key, (note, owners) in sorted(session.notes.bare(list(told)).items()):
        added, base, last, hidden = told[key]
        freed = hidden and note.status is Status.ACTIVE
        found[note.id] = Changed(note, key, added, owners, {} if added else base, last, freed)
    return found


def links_since(session: Session, mark: Mark) -> tuple[dict[Cell, dict[str, Any] | None], set[Cell]]:
    """By link what it was at the mark (None: not there), and those that are not worked on by undone merges alone."""
    passing = undone_merges(session, mark.operation)
    base: dict[Cell, dict[str, Any] | None] = {}
    touched: set[Cell] = set()
    for source, target, type, before, operation in session.rows(_LINKS, after=mark.link):
        cell = (source, target, LinkType(type))
        base.setdefault(cell, None if before is None else bare_link(json.loads(before)))
        if operation not in passing:
            touched.add(cell)
    return base, touched


def bare_link(held: Mapping[str, Any]) -> dict[str, Any]:
    """A recorded link without its key."""
    return {name: value for name, value in held.items() if name != "key"}


def link_now(session: Session, cell: Cell) -> dict[str, Any] | None:
    """The link as it is now; None where there is none."""
    link = session.links.get(*cell)
    return None if link is None else link_plain(link)


def fork_name(fork: Store) -> str:
    """The name of a collection for people: a temporary one has no name of its own."""
    return "private" if fork.folder is None or fork.folder.parent.name == FORKS else fork.folder.name


def common_point(source: Session, fork: Session, here: str, name: str) -> Point:
    """The moment since which both are compared. Raises InvalidInput for collections that have none in common.

    `here` is what the source is called, `name` what the fork is.
    """
    point = base_point(source, fork)
    if point is None:
        held = origin(source)
        if held is not None and held.identity == identity(fork):
            raise InvalidInput(
                f"{name} is no fork of this collection: {here} is a fork of {name}",
                hint=f"the other way round: amem -c {name} merge {here}",
            )
        raise InvalidInput(
            f"{name} is no fork of this collection",
            hint="amem fork NAME makes one; amem export and import carry notes between any two",
        )
    return point


def diff(source: Store, fork: Store) -> ForkDiff:
    """Compare both since the fork point. Raises InvalidInput for an unrelated collection."""
    with source.read() as ours, fork.read() as theirs:
        point = common_point(ours, theirs, fork_name(source), fork_name(fork))
        return ForkDiff(_side(ours, point.source), _side(theirs, point.fork))


def _side(session: Session, mark: Mark) -> Side:
    notes: list[NoteChange] = []
    for id, each in changed_since(session, mark).items():
        gone = each.note.status is Status.DELETED
        fields = each.fields()
        if each.added and not gone:
            notes.append(NoteChange(id, "added", each.note.content))
        elif not each.added and fields:
            removed = gone and each.base.get("status", Status.DELETED) != Status.DELETED
            notes.append(NoteChange(id, "removed" if removed else "changed", each.note.content, fields))
    notes += [NoteChange(id, "purged", "") for id in sorted(purged_ids(session, mark.counter))]
    links: list[LinkChange] = []
    for cell, before in sorted(links_since(session, mark)[0].items()):
        now = link_now(session, cell)
        if now != before:
            reasons = (None if each is None else each["reason"] for each in (before, now))
            links.append(LinkChange(cell[0], cell[1], str(cell[2]), *reasons))
    return Side(tuple(notes), tuple(links))
