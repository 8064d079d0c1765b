"""Summaries of operations for the log, a line each, and of what an undo or a redo changed."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from amem.errors import AmbiguousId, NoteNotFound, NotFound
from amem.labels import counted, cut, short_id, short_ids, title
from amem.note import Status
from amem.note_changes import field_name
from amem.storage.undo import REVERSALS, Difference, UndoReport

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from amem.memory_system import AgenticMemorySystem
    from amem.storage.operations import Doings, LinkChange, Operation


#: Characters of a title where it stands alone and beside others, and how many notes are named.
_WORDS, _FEWER, _NAMED = 40, 24, 2
#: What each action did to the notes it changed.
_DID = {
    "add": "wrote",
    "learn": "wrote",
    "publish": "published",
    "sync": "synced",
    "undo": "undid",
    "redo": "redid",
    "remember": "learnt",
    "link": "linked",
    "unlink": "unlinked",
    "maintain": "maintained",
    "purge": "purged",
    "reindex": "embedded again",
    "propose": "proposed",
    "declare": "declared",
    "undeclare": "gave up",
    "evolve": "rewrote",
    "enrich": "analysed",
    "extract": "learnt from",
    "update": "edited",
    "delete": "deleted",
    "restore": "restored",
    "pin": "pinned",
    "unpin": "unpinned",
    "accept": "accepted a change of",
    "rollback": "rolled back",
    "retag": "retagged",
    "import": "imported",
    "reinstate": "reinstated",
    "merge": "merged",
    "merge fork": "merged a fork into",
    "fade": "let fade",
    "promote": "moved to long-term memory",
    "demote": "moved back to short-term memory",
    "return": "brought back",
    "supersede": "superseded",
    "unsupersede": "reinstated",
    "retract": "retracted",
    "keep": "confirmed",
    "mend": "mended",
    "reject": "left as it is",
    "compress": "summed up",
    "topic": "wrote the page of",
}
#: Of an import so many notes are looked at for what became of them.
_LOOKED_AT = 1_000
#: These may come to nothing.
_LEARNING = ("remember", "extract")
#: Actions that are about the notes; the links that came of it are said after them.
_FOREMOST = ("supersede", "unsupersede", "retract", "update", "rollback")
#: Of these a note may lose one statement and stand.
_ENDING = ("supersede", "retract")
#: Actions whose cause the summary says in better words.
_SAID_ALREADY = ("evolve", "delete", "restore", "pin", "unpin", "extract", "retract", "unsupersede")


def deed(action: str) -> str:
    """What an operation of this action did, in a word or two: ``rewrote`` for ``evolve``."""
    did = _DID.get(action, action)
    return next((did.removesuffix(end) for end in (" of", " from", " into") if did.endswith(end)), did)


def deed_of(operation: Operation) -> str:
    """As `deed`, of an operation: one that only linked a note that arrived rewrote none."""
    return "linked" if operation.action == "evolve" and not operation.notes else deed(operation.action)


@dataclass(slots=True)
class Tree:
    """An operation with what it set off, oldest child first."""

    operation: Operation
    children: list[Tree] = field(default_factory=list)

    @property
    def taught(self) -> bool:
        """Whether a conversation, or a part of one, taught anything, or still waits to be learnt from."""
        operation = self.operation
        if operation.action not in _LEARNING or operation.created or operation.notes or operation.links:
            return True
        return any(each.taught for each in self.children) or (operation.action == "remember" and not self.children)


def nested(operations: Iterable[Operation]) -> list[Tree]:
    """The operations as trees, newest first; a child whose parent is not among them stands on its own."""
    trees = {each.id: Tree(each) for each in sorted(operations, key=lambda each: each.id)}
    tops: list[Tree] = []
    for tree in trees.values():
        parent = trees.get(tree.operation.parent or 0)
        (tops if parent is None else parent.children).append(tree)
    return tops[::-1]


class Summaries:
    """Says in words what operations did, reading each note at most once."""

    def __init__(self, memory: AgenticMemorySystem) -> None:
        self._memory = memory
        self._texts: dict[str, str] = {}

    def of(self, tree: Tree) -> str:
        """One line: what was written, rewritten and linked; of a conversation also that it taught nothing."""
        if tree.taught:
            return self._summary(tree.operation)
        cause = short_ids(tree.operation.cause)
        if tree.operation.action == "extract":
            return f"learnt nothing ({cause.removeprefix('learnt ')})"
        return f"learnt nothing from a conversation ({cause})"

    def record(self, tree: Tree) -> dict[str, Any]:
        """The tree as JSON: an operation with a summary in words and its children."""
        from amem.interop.json_records import operation_record

        children = [self.record(child) for child in tree.children]
        return operation_record(tree.operation) | {"summary": self.of(tree), "children": children}

    def _summary(self, operation: Operation) -> str:
        if operation.action in REVERSALS and (operation.notes or operation.links):
            return f"{'redid' if operation.action == 'redo' else 'undid'} {described(self._memory, operation)}"
        parts = []
        did = _DID.get(operation.action, operation.action)
        if operation.action == "purge":
            # Its notes are those that stand: what was destroyed is known by its id, in the cause, alone.
            parts += [f"rewritten without it: {self.names(operation.notes, _FEWER)}"] if operation.notes else []
            return "; ".join([f"{did}: {short_ids(operation.cause)}", *parts])
        if operation.created:
            parts.append(f"wrote {self.names(operation.created, _WORDS, written=True)}")
        if operation.notes and operation.action in _FOREMOST:
            parts += self._ended(operation) or [f"{did} {self.names(operation.notes, _WORDS)}"]
        if operation.links:
            parts.append(self._linked(operation))
        if operation.notes and operation.action == "import":
            parts += self._became(operation)
        elif operation.notes and operation.action not in _FOREMOST:
            parts.append(f"{did} {self.names(operation.notes, _FEWER if parts else _WORDS)}")
        cause = "" if parts and operation.action in _SAID_ALREADY else short_ids(_in_plain_words(operation.cause))
        if not parts:
            return cause if cause.startswith((operation.action, did)) else ": ".join(filter(None, (did, cause)))
        return f"{'; '.join(parts)}{f' ({cause})' if cause else ''}"

    def _ended(self, operation: Operation) -> list[str]:
        """Of notes that stand but for a statement: ``ended “Ana works at Kestrel” of “Ana: work and home”``."""
        if operation.action not in _ENDING:
            return []
        changes = self._memory.doings(operation.id).changes
        found = []
        for id in operation.notes:
            before, after = changes.get(id, {}).get("overturned", ([], []))
            if "status" in changes.get(id, {}) or not after:
                return []
            said = [f"“{cut(' '.join(each['text'].split()), _WORDS)}”" for each in after if each not in (before or [])]
            found.append(f"ended {', '.join(said)} of {self._name(id, _FEWER)}" if said else "")
        return list(filter(None, found))

    def _became(self, operation: Operation) -> list[str]:
        """What an import made of notes that were there: ``hid “boat”``."""
        changes = self._memory.doings(operation.id, most=_LOOKED_AT).changes
        found: dict[str, list[str]] = {}
        for id in operation.notes:
            found.setdefault(_fate(changes.get(id, {})), []).append(id)
        width = _WORDS if len(found) == 1 else _FEWER
        return [f"{did} {self.names(ids, width)}" for did, ids in sorted(found.items())]

    def _linked(self, operation: Operation) -> str:
        if operation.action in ("link", "unlink"):
            link = self._memory.doings(operation.id).links[0]
            return f"{operation.action}ed {' → '.join(self._name(id, _FEWER) for id in (link.source, link.target))}"
        arrived = operation.cause.split(" ", 1)[0] if operation.action == "evolve" else ""
        if not arrived:
            return f"changed {counted(operation.links, 'link')}"
        with suppress(NotFound, AmbiguousId):  # one that was purged is known by its id alone
            arrived = self._name(self._memory.resolve(arrived, deleted=True), _FEWER)
        return f"linked {arrived} to {counted(operation.links, 'note')}"

    def names(self, ids: Sequence[str], width: int = _WORDS, *, written: bool = False) -> str:
        """The first two of these notes by their titles, of `width` cells at most, and how many there are.

        With `written` the titles are those that they were written with.
        """
        words = ", ".join(self._name(id, width, written=written) for id in ids[:_NAMED])
        if len(ids) == 1:
            return words
        return f"{counted(len(ids), 'note')}: {words}{', …' if len(ids) > _NAMED else ''}"

    def _name(self, id: str, width: int, *, written: bool = False) -> str:
        if id not in self._texts:
            self._texts[id] = _texts(self._memory, [id]).get(id, "")
        text = self._texts[id]
        if written and text:
            changes = (each.changes.get("content") for each in self._memory.history(id))
            text = next((before for before, _ in filter(None, changes) if before), text)
        return f"“{cut(title(text), width)}”" if text else f"{short_id(id)} (purged)"


def _texts(memory: AgenticMemorySystem, ids: Sequence[str]) -> dict[str, str]:
    """The texts of notes by id, of deleted ones by their cards, which alone load NumPy."""
    found = {id: note.content for id, note in memory.read_many(ids).items()}
    gone = [id for id in ids if id not in found]
    return found | {id: card.text for id, card in (memory.cards_of(gone) if gone else {}).items()}


def _fate(changes: Mapping[str, tuple[Any, Any]]) -> str:
    before, now = changes.get("status", (None, None))
    if now == Status.DELETED:
        return "hid"
    if before == Status.DELETED:
        return "brought back"
    if now == Status.SUPERSEDED:
        return "superseded"
    return "updated" if "content" in changes else "moved" if changes.keys() == {"metadata"} else "changed"


# Causes of operations in words.

_ID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f-]{27})?\b")
_LONGEST = 50
#: How the cause of what a conflict changed is kept.
_WEIGHED = re.compile(r"(\S+) was weighed")
#: How the cause of an edit is kept.
_EDITED = re.compile(r"changed ([a-z_]+(?:, [a-z_]+)*)")
_REVERSAL = re.compile(r"(?:undo|redo) of operation (\d+)")


def causes_in_words(memory: AgenticMemorySystem, causes: Iterable[str]) -> dict[str, str]:
    """Each cause in words for people: ``“Green tea at 80 …” arrived``; what names no note stays as it is.

    Of what was undone or redone it says what that had been: ``edited: changed content (operation 18)``.
    """
    found = {cause: _in_plain_words(cause) for cause in causes}
    found |= _reversed(memory, found)
    ids = {short: _resolved(memory, short) for cause in found.values() for short in _ID.findall(cause)}
    texts = _texts(memory, [id for id in ids.values() if id is not None])

    def named(match: re.Match[str]) -> str:
        text = texts.get(ids[match.group()] or "")
        return short_id(match.group()) if text is None else f"“{title(text, _LONGEST)}”"

    return {cause: _ID.sub(named, words) for cause, words in found.items()}


def _in_plain_words(cause: str) -> str:
    if edited := _EDITED.fullmatch(cause):
        return f"changed {', '.join(map(field_name, edited[1].split(', ')))}"
    return _WEIGHED.sub(r"compared with \1", cause)


def _reversed(memory: AgenticMemorySystem, causes: Iterable[str]) -> dict[str, str]:
    """In place of the number of what was undone or redone, what it was and the number."""
    numbers = {cause: int(match[1]) for cause in causes if (match := _REVERSAL.fullmatch(cause))}
    held = {each.id: each for each in memory.operations(list(set(numbers.values())))} if numbers else {}
    # A redo takes back an undo: what is wanted is what that had taken back.
    before = {each.undoes for each in held.values() if each.undoes is not None}
    first = {each.id: each for each in memory.operations(list(before))} if before else {}
    found = {}
    for cause, number in numbers.items():
        undo = held.get(number)
        done = undo if undo is None or undo.undoes is None else first.get(undo.undoes, undo)
        if done is not None:
            found[cause] = ": ".join(filter(None, (deed(done.action), _in_plain_words(done.cause))))
            found[cause] += f" (operation {done.id})"
    return found


def _resolved(memory: AgenticMemorySystem, short: str) -> str | None:
    try:
        return memory.resolve(short, deleted=True)
    except (NoteNotFound, AmbiguousId):
        return None


# What an undo or a redo did, as the command line, the browser and notebooks show it.

#: Notes and links of one operation that are looked at.
_MOST = 20_000
#: What each action is called when it is undone; others go by their own name.
_NOUNS = {
    "add": "addition",
    "update": "edit",
    "delete": "deletion",
    "restore": "restoring",
    "pin": "pinning",
    "unpin": "unpinning",
    "unlink": "removal of the link",
    "retag": "retagging",
    "rollback": "rollback",
    "supersede": "superseding",
    "unsupersede": "reinstating",
    "retract": "retraction",
    "accept": "accepted change",
    "remember": "learning",
    "extract": "learning",
    "enrich": "analysis",
    "evolve": "rewriting",
    "maintain": "maintenance",
}
#: Fields by other names than their own, and those that change with the rest.
_FIELDS = {"content": "text", "timestamp": "time", "evolution_history": "", "at": "", "entities": "", "facts": ""}


def reversal_lines(memory: AgenticMemorySystem, report: UndoReport) -> list[str]:
    """Return what an undo or a redo did, then a line for each thing that it left alone or changed with it.

    ``undone: edit of “Buy milk” (text and 1 link restored)``, ``left alone: tags of “Buy milk”, changed since by
    operation 12``.
    """
    (operation,) = memory.operations([report.operation])
    done, left = ("redone", "do again") if operation.action == "redo" else ("undone", "take back")
    lines = [f"{done}: {described(memory, operation)}"]
    if report.kept and not report.reverted:
        lines.append(f"nothing of it was left to {left}")
    lines += [f"left alone: {_difference(memory, each)}" for each in report.kept]
    return lines + [f"changed with it: {_difference(memory, each)}" for each in report.settled]


def _difference(memory: AgenticMemorySystem, each: Difference) -> str:
    what, *rest = each.item.split()
    item = "all" if what == "note" else f"a link ({rest[0]})" if what == "link" else what
    return f"{item} of {Summaries(memory).names([each.note])}, {each.why}"


def _original(memory: AgenticMemorySystem, operation: Operation) -> Operation:
    """The operation that this undo or redo is of, whatever was undone and redone in between."""
    while operation.undoes is not None and (found := memory.operations([operation.undoes])):
        (operation,) = found
    return operation


def described(memory: AgenticMemorySystem, operation: Operation) -> str:
    """Return what an undo or a redo was of, and what it did: ``edit of “Buy milk” (text and 1 link restored)``."""
    done = memory.doings(operation.id, most=_MOST)
    of = _original(memory, operation)
    ends = list(dict.fromkeys((link.source, link.target) for link in done.links))
    if of.created or of.notes:
        whom = Summaries(memory).names(of.created or of.notes)
    elif len(ends) == 1:
        whom = " → ".join(Summaries(memory).names([end]) for end in ends[0])
    else:
        whom = Summaries(memory).names(list(done.changes)) if done.changes else ""
    noun = _NOUNS.get(of.action, of.action)
    what = f"{noun}{' of' if whom and not noun.endswith('link') else ''} {whom}".strip()
    details = _details(done, redone=operation.action == "redo")
    return f"{what} ({details})" if details else what


def _details(done: Doings, *, redone: bool) -> str:
    """``1 note removed``, ``text, tags and 2 links restored``."""
    moved: Counter[str] = Counter()
    names: dict[str, None] = {}
    for changes in done.changes.values():
        became = _became(changes)
        if became:
            moved[became] += 1
        else:
            names |= {_FIELDS.get(name, name): None for name in changes if _FIELDS.get(name, name)}
    parts = [f"{counted(number, 'note')} {became}" for became, number in moved.items()]
    made, gone = ({_ends(link) for link in done.links if link.added is added} for added in (True, False))
    # Taken away and put back with another reason.
    reworded, made, gone = made & gone, made - gone, gone - made
    fields = [name.replace("_", " ") for name in names]
    again = "changed again" if redone else "restored"
    fields += ["reason"] if reworded else []
    restored = [*fields, *([counted(len(made), "link")] if made and not redone else [])]
    if restored:
        parts.append(f"{_listed(restored)} {again}")
    if made and redone:
        parts.append(f"{counted(len(made), 'link')} made")
    if gone:
        parts.append(f"{counted(len(gone), 'link')} removed")
    return "; ".join(parts)


def _became(changes: Mapping[str, tuple[Any, Any]]) -> str:
    """What a change made of the note's status; '' when that is as before."""
    if "status" not in changes:
        return ""
    before, after = changes["status"]
    if after == Status.DELETED:
        return "removed"
    return "restored" if before in (None, Status.DELETED) else f"{after} again"


def _ends(link: LinkChange) -> tuple[str, str, str]:
    return link.source, link.target, link.type


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
