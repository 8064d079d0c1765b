"""What an undo or a redo did, in the sentences that the command line, the browser and notebooks show."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from amem.labels import counted, short_id, title
from amem.note import Status

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from amem.memory_system import AgenticMemorySystem
    from amem.storage.operations import Doings, LinkChange, Operation
    from amem.storage.undo import Difference, UndoReport

#: Characters of a title, and how many notes are named.
_WORDS, _NAMED = 40, 2
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


def _names(memory: AgenticMemorySystem, ids: Sequence[str]) -> str:
    cards = memory.cards_of(ids[:_NAMED])
    named = [f"“{title(cards[id].text, _WORDS)}”" if id in cards else f"{short_id(id)} (purged)" for id in ids[:_NAMED]]
    more = ", …" if len(ids) > _NAMED else ""
    return named[0] if len(ids) == 1 else f"{counted(len(ids), 'note')}: {', '.join(named)}{more}"


def _difference(memory: AgenticMemorySystem, each: Difference) -> str:
    what, *rest = each.item.split()
    item = "all" if what == "note" else f"a link ({rest[0]})" if what == "link" else what
    return f"{item} of {_names(memory, [each.note])}, {each.why}"


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
        whom = _names(memory, of.created or of.notes)
    elif len(ends) == 1:
        whom = " → ".join(_names(memory, [end]) for end in ends[0])
    else:
        whom = _names(memory, list(done.changes)) if done.changes else ""
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
