"""Undo, redo and rollback, exact by construction: everything is what the last operation that stands made of it.

Each change is kept with its operation, and so is each flag, witness, proposal and decision. A field, a link or a flag
holds what the last of its changes says whose operation is not undone; where none is left, what it was at first.
So undo says of an operation and of all that it set off that it stands no more, redo that it stands again, and both set
what these had touched to what follows. Later work is never overwritten, and what it covers goes back with it.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from amem.errors import InvalidInput, NothingToUndo
from amem.note import LinkType, Status
from amem.storage.rows import from_cell, link_plain, plain

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from amem.storage.store import Session

REVERSALS = ("undo", "redo")
#: What nobody asked for: it is taken back by its id only, so that a bare undo is still that of one's own last step on
#: the morning after.
UNASKED = ("maintain", "return")
#: What is no work on a note, for which it would stay when its making is undone.
_NOBODYS = (*REVERSALS, *UNASKED, "purge")


@dataclass(frozen=True, slots=True)
class Change:
    """A value before and after an operation; `stands` says that the operation is not undone."""

    operation: int
    before: Any
    after: Any
    stands: bool


def last_standing(history: Sequence[Change]) -> int | None:
    """The place of the change that holds: the last that stands."""
    return next((place for place in reversed(range(len(history))) if history[place].stands), None)


def held_by(history: Sequence[Change]) -> Any:
    """The value after the last change that stands; without any, the value before the first change."""
    last = last_standing(history)
    return history[0].before if last is None else history[last].after


class NoteHistory:
    """The changes of one note, from its `versions`, by field, by overturned statement and by whose the words are.

    `made` is its making, `work` what people and agents did to it later; it is `present` as long as one of these
    stands.
    """

    def __init__(self, versions: Sequence[Mapping[str, Any]]) -> None:
        self.fields: dict[str, list[Change]] = defaultdict(list)
        self.statements: dict[str, list[Change]] = defaultdict(list)
        self.owners: dict[str, list[Change]] = defaultdict(list)
        self._rows: list[tuple[Mapping[str, Any], dict[str, Any]]] = []
        self.made = Change(versions[0]["operation"], False, True, versions[0]["undone_by"] is None)
        self.work: list[Change] = []
        status: Any = None
        successor: Any = None
        for row in versions:
            changes = json.loads(row["changes"])
            # That a note does not stand, and what took its place, is said together.
            if "superseded_by" in changes:
                changes.setdefault("status", (status, status))
            elif changes.get("status", (0, 0))[1] == Status.SUPERSEDED:
                changes["superseded_by"] = (successor, successor)
            status = changes.get("status", (0, status))[1]
            successor = changes.get("superseded_by", (0, successor))[1]
            # What is done to a note that is gone does not bring it back.
            if self._rows and row["parent"] is None and row["action"] not in _NOBODYS and status != Status.DELETED:
                self.work.append(Change(row["operation"], False, True, row["undone_by"] is None))
            self._rows.append((row, changes))
        self.holder = next((each.operation for each in reversed(self.work) if each.stands), None)
        self.present = self.made.stands or self.holder is not None
        for row, changes in self._rows:
            if row["action"] not in REVERSALS:
                self._take(row, changes)

    def _take(self, row: Mapping[str, Any], changes: Mapping[str, Any]) -> None:
        operation, first = row["operation"], row["version"] == 1
        # What a note was made with stays its own for as long as it is there.
        stands = row["undone_by"] is None or (first and self.present)
        for field, (before, after) in changes.items():
            if field != "overturned":
                self.fields[field].append(Change(operation, before, after, stands))
                continue
            gone, come = ({each["text"]: each for each in side} for side in (before, after))
            for text in {**gone, **come}:
                if gone.get(text) != come.get(text):
                    self.statements[text].append(Change(operation, gone.get(text), come.get(text), stands))
        for field, how in json.loads(row["owned"] or "{}").items():
            self.owners[field].append(Change(operation, None, how, stands or first))

    def went(self, meant: Collection[int], *, deleted: bool) -> int:
        """The operation (one of those meant, else the last) by which the note was deleted, or no longer stood."""
        moves = [(row["operation"], *changes["status"]) for row, changes in self._rows if "status" in changes]
        gone = [
            operation
            for operation, before, after in moves
            if (after == Status.DELETED if deleted else before == Status.ACTIVE != after)
        ]
        return next((operation for operation in gone if operation in meant), gone[-1] if gone else 0)

    def since(self, went: int) -> dict[str, tuple[Any, int]]:
        """The fields changed after this operation, without the status: {field: (value then, last operation)}."""
        found: dict[str, tuple[Any, int]] = {}
        for row, changes in self._rows:
            for field in changes.keys() - {"status"} if row["operation"] > went else ():
                found[field] = (found.get(field, changes[field])[0], row["operation"])
        return found


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that is not as it was before: `item` is ``note`` (all of it), a field, or a link, flag, witness or
    proposal with what tells it from others. `why` says so in words: ``changed since by operation 12``.
    """

    note: str
    item: str
    operation: int
    why: str


@dataclass(frozen=True, slots=True)
class UndoReport:
    """What an undo (or redo) did. `operation` is the new log entry, `undone` the one it took back.

    `reverted` holds (note id, item) pairs, `kept` what did not go back to what it was, and `settled` what changed
    beside it, since it follows: a note stands again whose successor is gone, or is overturned by what came meanwhile.
    What is in neither is exactly as it was. `passed_over` is a newer maintenance that stands, where no operation was
    named.
    """

    operation: int
    undone: int
    reverted: tuple[tuple[str, str], ...]
    kept: tuple[Difference, ...]
    settled: tuple[Difference, ...] = ()
    passed_over: int | None = None


#: What cannot be taken back: purge leaves nothing to restore, and settings of the collection are not notes.
_FINAL = ("purge", "reindex")
#: Settings of the collection are nothing that a bare undo is about.
_PASSED = ("reindex",)
#: What was changed by accepting proposals of some operations, where the acceptance stands.
_ACCEPTED = (
    "SELECT n.id, v.changes, v.operation FROM reviews AS r JOIN decisions AS d ON d.review = r.id"
    " JOIN operations AS o ON o.id = d.operation JOIN versions AS v ON v.operation = d.operation AND v.note = r.note"
    " JOIN notes AS n ON n.key = v.note WHERE r.operation IN :these AND d.state = 'accepted' AND o.undone_by IS NULL"
    " ORDER BY v.id"
)
#: What tells of a change whether it counts.
_BY = "o.action, o.parent, o.undone_by"
#: In a report, a note as a whole.
_NOTE = "note"
_SINCE = "changed since by operation {}"
_WORKED_ON = "worked on since by operation {}"
_UNDONE = "set before by operation {}, which was undone since"
_REDONE = "set before by operation {}, which was redone since"
_APART = "between notes of different users, agents or sessions since; by operation {}"
_UNMADE = "made by operation {}, which was undone before"


def own_last(session: Session, actor: str, among: Sequence[int]) -> int | None:
    """The newest operation of these that this actor asked for and that can be taken back; None when there is none."""
    return session.operations.newest(excluding=REVERSALS + _PASSED + UNASKED, actor=actor, among=among)


def own_undone(session: Session, actor: str, among: Sequence[int]) -> int | None:
    """The newest undo of these that this actor asked for and that can be redone; None when there is none."""
    return session.operations.newest(actions=("undo",), actor=actor, among=among)


def undo(session: Session, actor: str, operation: int | None = None) -> UndoReport:
    """Take back an operation and all it set off; None means the newest one that a person or agent asked for, never a
    maintenance. In a scope, one that touched no other notes.

    Raises NothingToUndo, OperationNotFound, or InvalidInput for what cannot be taken back.
    """
    unasked = session.operations.newest(actions=UNASKED) if operation is None else None
    target = session.operations.newest(excluding=REVERSALS + _PASSED + UNASKED) if operation is None else operation
    if target is None:
        hint = "" if unasked is None else f"a maintenance is taken back by its number: amem undo {unasked}"
        raise NothingToUndo("there is nothing left to undo", hint=hint)
    found = session.operations.get(target)
    if found.undone:
        raise InvalidInput(f"operation {target} is undone already", hint="amem redo does it again")
    if found.action in _FINAL:
        before = session.operations.newest(excluding=REVERSALS + _FINAL + UNASKED, below=target)
        hint = "" if before is None else f"amem undo {before} takes back what was done before it"
        raise InvalidInput(f"operation {target} ({found.action}) cannot be undone; nothing was taken back", hint=hint)
    if found.action in REVERSALS:
        raise InvalidInput(f"operation {target} is itself an {found.action}", hint="use amem redo, or undo by its id")
    report = _reverse(session, actor, target, "undo")
    return report if unasked is None or unasked < target else replace(report, passed_over=unasked)


def redo(session: Session, actor: str, undone_by: int | None = None) -> UndoReport:
    """Do again what the undo with the id `undone_by` took back (None: the newest undo, unless work came after it).

    Raises NothingToUndo when there is none, OperationNotFound, or InvalidInput for what is no undo that stands.
    """
    target = session.operations.newest(actions=("undo",)) if undone_by is None else undone_by
    if target is None:
        raise NothingToUndo("there is nothing to redo")
    since = session.operations.newest(excluding=REVERSALS + _PASSED + UNASKED) if undone_by is None else None
    if since is not None and since > target:
        raise NothingToUndo(
            f"there is nothing to redo: operation {since} was done after the last undo",
            hint=f"amem undo {since} takes that back",
        )
    found = session.operations.get(target)
    if found.action != "undo" or found.undone:
        raise InvalidInput(f"operation {target} is no undo that stands", hint="amem log lists what was undone")
    above = session.operations.undone_above(found.undoes or 0)
    if above is not None:
        raise InvalidInput(
            f"operation {found.undoes} was a part of operation {above}, which is undone", hint="redo that one first"
        )
    return _reverse(session, actor, target, "redo")


def rollback(session: Session, actor: str, id: str, version: int) -> tuple[str, ...]:
    """Set a note back to what it was at `version`, as a new version; returns the fields that changed."""
    values = {field: then for field, (_, then) in session.notes.would_roll_back(id, version).items()}
    operation = session.begin("rollback", actor, f"back to version {version}")
    return session.notes.change(id, values, operation)


def turn_back(session: Session, operation: int, own: int) -> None:
    """Change back what an operation changed, as a part of operation `own`, but for what later work has changed."""
    session.operations.mark_undone([operation], own)
    work = _Reversal(session, own, [operation], [], [operation], redone=False)
    work.notes()
    work.links()
    session.operations.mark_redone(own)


def _reverse(session: Session, actor: str, target: int, action: str) -> UndoReport:
    own = session.begin(action, actor, f"{action} of operation {target}", undoes=target)
    fallen, risen = session.operations.standing(target), session.operations.undone_by(target)
    # A part that was undone before is a part of what an undo is about, though it makes no difference any more.
    meant = risen if action == "redo" else session.operations.family(target)
    session.operations.mark_redone(target)
    session.operations.mark_undone(fallen, own)
    work = _Reversal(session, own, fallen, risen, meant, redone=action == "redo")
    work.notes()
    work.links()
    work.changed_meanwhile()
    work.marks()
    if action == "undo":
        work.accepted_since()
    return UndoReport(own, target, tuple(work.reverted), tuple(work.kept()))


class _Reversal:
    """One undo or redo under way: `fallen` stand no more, `risen` stand again. What went back, and what did not.

    The report is about the operations `meant`; others only go with them.
    """

    def __init__(
        self,
        session: Session,
        own: int,
        fallen: Sequence[int],
        risen: Sequence[int],
        meant: Sequence[int],
        *,
        redone: bool,
    ) -> None:
        self.reverted: list[tuple[str, str]] = []
        self._session = session
        self._own = own
        self._touched = {*fallen, *risen}
        self._redone = redone
        self._meant = set(meant)
        self._kept: dict[tuple[str, str], Difference] = {}
        self._gone: set[str] = set()
        #: Notes that are there again, with the operation by which they went.
        self._back: dict[str, int] = {}
        #: Notes that stand again, with the operation by which they did not: flags of others are not shown.
        self._standing_again: dict[str, int] = {}
        self._moves: dict[int, set[int]] = {}

    def kept(self) -> list[Difference]:
        """The differences that remain; for a note that is gone, only that it is gone."""
        return [each for each in self._kept.values() if each.note not in self._gone or each.item == _NOTE]

    # -- notes -------------------------------------------------------------------------------------------------

    def notes(self) -> None:
        """Set the fields of all notes that were touched to what follows."""
        these = {note for (note,) in self._rows("versions", "note")}
        versions: dict[int, list[dict[str, Any]]] = defaultdict(list)
        sql = f"SELECT v.*, {_BY} FROM versions AS v JOIN operations AS o ON o.id = v.operation WHERE v.note IN :these"
        for row in self._session.records(f"{sql} ORDER BY v.id", these=these):
            versions[row["note"]].append(row)
        for row in self._session.records("SELECT * FROM notes WHERE key IN :these ORDER BY key", these=these):
            self._note(row, NoteHistory(versions[row["key"]]))

    def _note(self, row: Mapping[str, Any], told: NoteHistory) -> None:
        id, now = row["id"], {field: from_cell(field, row[field]) for field in told.fields}
        # Who restores a note knows that it was not there.
        states = told.fields["status"]
        restored = any(states[place].before == Status.DELETED for place in self._mine(states))
        back = {field: held_by(history) for field, history in told.fields.items() if self._is_touched(history)}
        if not told.present:
            back["status"] = str(Status.DELETED)
            self._gone.add(id)
            if told.made.operation not in self._touched and not restored and row["status"] != Status.DELETED:
                self._keep(id, _NOTE, told.made.operation, _UNMADE)
        elif not self._stood(told):
            back["status"] = held_by(told.fields["status"])
            if not told.made.stands and not restored:
                self._keep(id, _NOTE, told.made.operation, _UNMADE)
        unmade = told.made.operation in self._meant and not self._redone
        if unmade and told.holder is not None:
            self._keep(id, _NOTE, told.holder, _WORKED_ON)
        for field, history in told.fields.items():
            if field != "status" or not unmade:
                self._compare(id, field, history, back.get(field, now.get(field)))
        content = back.get("content", row["content"])
        back |= self._statements(row, told, content, moved="content" in back)
        becomes = back.get("status", row["status"])
        if row["status"] != Status.ACTIVE and becomes == Status.ACTIVE:
            self._standing_again[id] = told.went(self._meant, deleted=False)
        if row["status"] == Status.DELETED and becomes != Status.DELETED:
            now["overturned"] = from_cell("overturned", row["overturned"])
            self._back[id] = told.went(self._meant, deleted=True)
            for field, (before, operation) in told.since(self._back[id]).items():
                if (now | back)[field] != before:
                    self._keep(id, field, operation, _SINCE)
            for field, history in told.owners.items():
                self._compare_with_then(id, field, history, self._back[id], made=told.made.operation)
        self.reverted += [(id, field) for field in self._session.notes.change(id, back, self._own)]
        for field, history in () if unmade else told.owners.items():
            self._compare_held(id, field, history, made=told.made.operation)
        self._owners(row, told)

    def _stood(self, told: NoteHistory) -> bool:
        """Whether the note was there before this reversal."""
        return any((each.operation in self._touched) != each.stands for each in (told.made, *told.work))

    def _statements(self, row: Mapping[str, Any], told: NoteHistory, content: str, *, moved: bool) -> dict[str, Any]:
        """The overturned statements, each by itself: those that were touched, or all where the text went back."""
        now = {each["text"]: each for each in from_cell("overturned", row["overturned"])}
        then = dict(now)
        for text, history in told.statements.items():
            if moved or self._is_touched(history):
                then[text] = held_by(history)
            self._compare(row["id"], "overturned", history, then.get(text) if text in content else None)
        held = [each for text, each in then.items() if each is not None and text in content]
        held.sort(key=lambda each: content.index(each["text"]))
        return {} if held == list(now.values()) else {"overturned": held}

    def _owners(self, row: Mapping[str, Any], told: NoteHistory) -> None:
        owned = json.loads(row["edited"])
        held = {name: held_by(history) for name, history in told.owners.items() if self._is_touched(history)}
        moved = {name: how for name, how in held.items() if how != owned.get(name)}
        if moved:
            self._session.notes.own(row["key"], moved)

    # -- links -------------------------------------------------------------------------------------------------

    def links(self) -> None:
        """Put links back or take them away again."""
        cells = dict.fromkeys(self._rows("link_changes", "source, target, type"))
        histories: dict[tuple[str, str, str], list[Change]] = {cell: [] for cell in cells}
        sql = (
            f"SELECT c.*, {_BY} FROM link_changes AS c JOIN operations AS o ON o.id = c.operation"
            " WHERE c.source IN :sources AND c.target IN :targets AND o.action NOT IN :reversals ORDER BY c.id"
        )
        sources, targets = ({cell[side] for cell in cells} for side in (0, 1))
        for row in self._session.records(sql, sources=sources, targets=targets, reversals=REVERSALS):
            history = histories.get((row["source"], row["target"], row["type"]))
            if history is not None:
                before, after = (_plain(row[side]) for side in ("before", "after"))
                history.append(Change(row["operation"], before, after, row["undone_by"] is None))
        for (source, target, type), history in histories.items():
            if history:
                self._link(source, target, LinkType(type), history)

    def changed_meanwhile(self) -> None:
        """Name the links and flags of notes that are there again which were changed while these were away."""
        sql = "SELECT * FROM link_changes WHERE operation BETWEEN :first AND :last"
        sql += " AND (source IN :these OR target IN :these) ORDER BY id"
        since = min(self._back.values(), default=0) + 1
        first: dict[tuple[str, str, str], Any] = {}
        for row in self._session.records(sql, first=since, last=self._own - 1, these=self._back):
            went = max(self._back.get(row[end], 0) for end in ("source", "target"))
            if row["operation"] > went:
                cell = (row["source"], row["target"], row["type"])
                before, _ = first.get(cell, (_plain(row["before"]), 0))
                first[cell] = (before, row["operation"])
        for (source, target, type), (before, operation) in first.items():
            now = self._session.links.get(source, target, LinkType(type))
            if _shown(before) != (None if now is None else _shown(link_plain(now))):
                self._keep(source, f"link {type} {target}", operation, _SINCE)
        for id, went in self._standing_again.items():
            self._flags_meanwhile(id, went)

    def _flags_meanwhile(self, id: str, went: int) -> None:
        histories: dict[str, list[Change]] = defaultdict(list)
        sql = "SELECT f.*, o.undone_by FROM flags AS f JOIN operations AS o ON o.id = f.operation"
        sql += " WHERE f.note = (SELECT key FROM notes WHERE id = :id) ORDER BY f.id"
        for row in self._session.records(sql, id=id):
            said = None if row["dismissed"] else row["reason"]
            histories[row["because"]].append(Change(row["operation"], None, said, row["undone_by"] is None))
        for because, history in histories.items():
            self._compare_with_then(id, f"flag {because}", history, went)

    def _link(self, source: str, target: str, type: LinkType, history: Sequence[Change]) -> None:
        links, item, held = self._session.links, f"link {type} {target}", held_by(history)
        now = links.get(source, target, type)
        self._compare(source, item, history, held)
        if _shown(held) == (None if now is None else _shown(link_plain(now))):
            return
        if now is not None:
            links.remove(source, target, type, self._own)
        if held is not None and not links.restore(source, target, type, held, self._own):
            return self._keep(source, item, history[-1].operation, _APART)
        self.reverted.append((source, item))

    # -- what counts by its operation alone --------------------------------------------------------------------

    def marks(self) -> None:
        """Name the flags, witnesses and proposals that are, or are not, what they were: they need not be set."""
        for note, item, history in self._marks():
            before = [replace(each, stands=each.stands != (each.operation in self._touched)) for each in history]
            if held_by(before) != held_by(history):
                self.reverted.append((note, item))
            self._compare_held(note, item, history)

    def _marks(self) -> Iterator[tuple[str, str, list[Change]]]:
        """(note, what it is, its history) for each that one of the operations meant had to do with."""
        session = self._session
        found: dict[tuple[int, str], list[tuple[int, Any]]] = defaultdict(list)
        for table, about, item, order in (
            ("flags", "because", "flag", "id"),
            ("corroborations", "who", "witness", "operation"),
        ):
            meant = set(self._rows(table, f"note, {about}", meant=True))
            sql = f"SELECT * FROM {table} WHERE note IN :these ORDER BY {order}"
            for row in session.records(sql, these={note for note, _ in meant}):
                if (row["note"], row[about]) in meant:
                    said = True if item == "witness" else None if row["dismissed"] else row["reason"]
                    found[row["note"], f"{item} {row[about]}"].append((row["operation"], said))
        for review in session.reviews.of(session.reviews.concerned(sorted(self._meant))):
            decided = "SELECT operation FROM decisions WHERE review = :review ORDER BY id"
            key = session.notes.keys_of([review.note])[review.note]
            found[key, f"proposal {review.id}"] = [(review.operation, True)] + [
                (operation, None) for operation in session.column(decided, review=review.id)
            ]
        ids = session.notes.ids_of([key for key, _ in found])
        stand = self._standing({operation for told in found.values() for operation, _ in told})
        for (key, item), told in found.items():
            yield ids[key], item, [Change(operation, None, what, operation in stand) for operation, what in told]

    def accepted_since(self) -> None:
        """Name what a person has made of notes by accepting proposals of the operations meant: it is later work."""
        for id, text, operation in self._session.rows(_ACCEPTED, these=sorted(self._meant)):
            note = self._session.notes.get_many([id], history=False, usage=False, deleted=True).get(id)
            for field, (before, _) in json.loads(text).items():
                if note is not None and plain(field, getattr(note, field)) != before:
                    self._keep(id, field, operation, _SINCE)

    def _standing(self, operations: Collection[int]) -> set[int]:
        sql = "SELECT id FROM operations WHERE id IN :these AND undone_by IS NULL"
        return set(self._session.column(sql, these=operations))

    def _moved(self, since: int) -> set[int]:
        """Operations that stood at operation `since` and do not any more, or the other way round, but for our own."""
        if since in self._moves:
            return self._moves[since]
        moved: set[int] = set()
        sql = "SELECT coalesce(u.undoes, u.id) FROM operations AS u JOIN operations AS o ON o.undoes = u.id"
        for id in self._session.column(f"{sql} WHERE o.id > :since AND o.id < :own", since=since, own=self._own):
            moved ^= set(self._session.operations.family(id))
        self._moves[since] = moved
        return moved

    # -- what is the same for all ------------------------------------------------------------------------------

    def _rows(self, table: str, columns: str, *, meant: bool = False) -> list[Any]:
        """These columns of the rows that the operations wrote."""
        these = sorted(self._meant if meant else self._touched | self._meant)
        return self._session.rows(f"SELECT {columns} FROM {table} WHERE operation IN :these", these=these)

    def _is_touched(self, history: Sequence[Change]) -> bool:
        return any(each.operation in self._touched for each in history)

    def _mine(self, history: Sequence[Change]) -> list[int]:
        return [place for place, each in enumerate(history) if each.operation in self._meant]

    def _compare(self, note: str, item: str, history: Sequence[Change], held: Any) -> None:
        """Name what is not what it was before an undo, or what the operations had made of it before a redo."""
        mine = self._mine(history)
        # What had followed from an undo goes with it: a redo is about what was before that.
        places = mine or [place for place, each in enumerate(history) if each.operation in self._touched]
        if not places:
            return
        redone = bool(mine) and self._redone
        place = places[-1 if redone else 0]
        wanted = history[place].after if redone else history[place].before
        if _shown(held) == _shown(wanted):
            return
        last = last_standing(history)
        if last is not None and last > place:
            return self._keep(note, item, history[last].operation, _SINCE)
        behind = next((each for each in reversed(history[:place]) if not each.stands), history[last or 0])
        self._keep(note, item, behind.operation, _REDONE if behind.stands else _UNDONE)

    def _compare_held(self, note: str, item: str, history: Sequence[Change], made: int | None = None) -> None:
        """As `_compare` with what is held, where the changes do not tell what was before them."""
        mine = self._mine(history)
        if mine and not self._redone:
            first = history[mine[0]]
            before = self._then(history[: mine[0]], first.operation, made)
            history = [*history[: mine[0]], replace(first, before=before), *history[mine[0] + 1 :]]
        self._compare(note, item, history, held_by(history))

    def _compare_with_then(
        self, note: str, item: str, history: Sequence[Change], went: int, made: int | None = None
    ) -> None:
        """Name what others made of it since the note went by this operation; what is reversed is named apart."""
        holder = last_standing(history)
        if holder is not None and history[holder].operation in self._meant:
            return
        others = [each for each in history if each.operation not in self._meant]
        now = next((each.after for each in reversed(others) if each.stands), None)
        if now != self._then([each for each in others if each.operation <= went], went, made):
            moved = self._moved(went) ^ self._touched
            later = [each.operation for each in others if each.operation in moved or each.operation > went]
            self._keep(note, item, max(later), _SINCE)

    def _then(self, history: Sequence[Change], since: int, made: int | None) -> Any:
        """The value by these changes at operation `since`; what a note was `made` with counts while it is there."""
        moved = (self._moved(since) ^ self._touched) - {made}
        stood = [each.after for each in history if each.stands != (each.operation in moved)]
        return stood[-1] if stood else None

    def _keep(self, note: str, item: str, operation: int, why: str) -> None:
        self._kept.setdefault((note, item), Difference(note, item, operation, why.format(operation)))


def _plain(text: str | None) -> Any:
    return None if text is None else json.loads(text)


def _shown(held: Any) -> Any:
    """A value to compare by: of a link not its place among the others."""
    return {name: each for name, each in held.items() if name != "key"} if isinstance(held, dict) else held
