"""The changes of a note as its versions tell them, and what follows from those whose operations stand."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from amem.note import Status

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence


REVERSALS = ("undo", "redo")
#: What nobody asked for: it is taken back by its id only, so that a bare undo is still that of one's own last step on
#: the morning after.
UNASKED = ("maintain", "return")
#: What is no work on a note, for which it would stay when its making is undone.
_NOBODYS = (*REVERSALS, *UNASKED, "purge")


@dataclass(frozen=True, slots=True)
class Change:
    """What an operation made of something; `stands` says that the operation is not undone."""

    operation: int
    before: Any
    after: Any
    stands: bool


def last_standing(history: Sequence[Change]) -> int | None:
    """The place of the change that holds: the last that stands."""
    return next((place for place in reversed(range(len(history))) if history[place].stands), None)


def held_by(history: Sequence[Change]) -> Any:
    """What follows from the changes that stand: what the last of them says, without any what was before the first."""
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
        """What was changed after this operation but for the status: {field: (what it was then, the last operation)}."""
        found: dict[str, tuple[Any, int]] = {}
        for row, changes in self._rows:
            for field in changes.keys() - {"status"} if row["operation"] > went else ():
                found[field] = (found.get(field, changes[field])[0], row["operation"])
        return found
