"""Operations and versions in words: the log on one screen."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from amem.cli.render import (
    console,
    count,
    fitting,
    in_words,
    on_terminal,
    one_line,
    print_wrapped,
    say_row,
    short_id,
    short_ids,
    styled,
    when,
)
from amem.errors import AmbiguousId, NotFound
from amem.interop.json_records import operation_record
from amem.labels import title
from amem.note import Status
from amem.query import Filter
from amem.reversal import described

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import tzinfo

    from amem.memory_system import AgenticMemorySystem
    from amem.storage.records import Operation, Version


_WORDS = 40
_FEWER = 24
_NAMED = 2
_CHILDREN = 3
#: On a terminal of so many columns a line of the log says enough.
_ROOMY = 72
#: What each action did to the notes it changed.
_DID = {
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
    "import": "changed",
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
#: What these did depends on what they reversed.
_REVERSALS = ("undo", "redo")
#: Actions that are about the notes; the links that came of it are said after them.
_FOREMOST = ("supersede", "unsupersede", "retract", "update", "rollback")
#: Of these a note may lose one statement and stand.
_ENDING = ("supersede", "retract")
#: Actions whose cause the summary says in better words.
_SAID_ALREADY = ("evolve", "delete", "restore", "pin", "unpin", "extract", "retract", "unsupersede")


@dataclass(slots=True)
class Tree:
    """An operation with what it set off, oldest child first."""

    operation: Operation
    children: list[Tree] = field(default_factory=list)


def nested(operations: Iterable[Operation]) -> list[Tree]:
    """The operations as trees, newest first; a child whose parent is not among them stands on its own."""
    trees = {each.id: Tree(each) for each in sorted(operations, key=lambda each: each.id)}
    tops: list[Tree] = []
    for tree in trees.values():
        parent = trees.get(tree.operation.parent or 0)
        (tops if parent is None else parent.children).append(tree)
    return tops[::-1]


class Logbook:
    """Says in words what operations did, reading each note at most once."""

    def __init__(self, memory: AgenticMemorySystem) -> None:
        self._memory = memory
        self._words: dict[str, str] = {}
        self._deleted: dict[str, str] | None = None

    def summary(self, operation: Operation) -> str:
        """One line: what was written, rewritten and linked."""
        if operation.action in _REVERSALS and (operation.notes or operation.links):
            return f"{'redid' if operation.action == 'redo' else 'undid'} {described(self._memory, operation)}"
        parts = []
        did = _DID.get(operation.action, operation.action)
        if operation.created:
            parts.append(f"wrote {self._name(operation.created, _WORDS)}")
        if operation.notes and operation.action in _FOREMOST:
            parts += self._ended(operation) or [f"{did} {self._name(operation.notes, _WORDS)}"]
        if operation.links:
            parts.append(self._linked(operation))
        if operation.notes and operation.action == "import":
            parts += self._became(operation)
        elif operation.notes and operation.action not in _FOREMOST:
            parts.append(f"{did} {self._name(operation.notes, _FEWER if parts else _WORDS)}")
        cause = "" if parts and operation.action in _SAID_ALREADY else short_ids(operation.cause)
        if not parts:
            return cause if cause.startswith(operation.action) else ": ".join(filter(None, (operation.action, cause)))
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
            said = [f"“{one_line(each['text'], _WORDS)}”" for each in after if each not in (before or [])]
            found.append(f"ended {', '.join(said)} of {self._of(id, _FEWER)}" if said else "")
        return list(filter(None, found))

    def _became(self, operation: Operation) -> list[str]:
        """What an import made of notes that were there: ``hid “boat”``."""
        changes = self._memory.doings(operation.id, most=_LOOKED_AT).changes
        found: dict[str, list[str]] = {}
        for id in operation.notes:
            found.setdefault(_fate(changes.get(id, {})), []).append(id)
        return [f"{did} {self._name(ids, _WORDS if len(found) == 1 else _FEWER)}" for did, ids in sorted(found.items())]

    def told(self, tree: Tree) -> str:
        """As `summary`, where what an operation set off tells that there was nothing to learn."""
        return self.summary(tree.operation) if self.taught(tree) else _nothing_learnt(tree.operation)

    def taught(self, tree: Tree) -> bool:
        """Whether a conversation, or a part of one, taught anything, or still waits to be learnt from."""
        operation = tree.operation
        if operation.action not in _LEARNING or operation.created or operation.notes or operation.links:
            return True
        return any(map(self.taught, tree.children)) or (operation.action == "remember" and not tree.children)

    def _linked(self, operation: Operation) -> str:
        links = count(operation.links, "link")
        if operation.action in ("link", "unlink"):
            link = self._memory.doings(operation.id).links[0]
            ends = " → ".join(self._of(end, _FEWER) for end in (link.source, link.target))
            return f"{'linked' if operation.action == 'link' else 'unlinked'} {ends}"
        arrived = operation.cause.split(" ", 1)[0] if operation.action == "evolve" else ""
        return f"linked {self._of_prefix(arrived)} to {operation.links}" if arrived else f"changed {links}"

    def record(self, tree: Tree) -> dict[str, Any]:
        """The tree as JSON: an operation with a summary in words and its children."""
        return operation_record(tree.operation) | {
            "summary": self.told(tree),
            "children": [self.record(child) for child in tree.children],
        }

    def _name(self, ids: Sequence[str], width: int) -> str:
        words = ", ".join(self._of(id, width) for id in ids[:_NAMED])
        if len(ids) == 1:
            return words
        return f"{count(len(ids), 'note')}: {words}{', …' if len(ids) > _NAMED else ''}"

    def _of(self, id: str, width: int) -> str:
        if id not in self._words:
            note = self._memory.read(id)
            self._words[id] = note.content if note is not None else self._of_deleted(id)
        content = self._words[id]
        return f"“{one_line(title(content), width)}”" if content else f"{short_id(id)} (purged)"

    def _of_prefix(self, prefix: str) -> str:
        try:
            return self._of(self._memory.resolve(prefix, deleted=True), _FEWER)
        except (NotFound, AmbiguousId):
            return prefix

    def _of_deleted(self, id: str) -> str:
        if self._deleted is None:
            gone = self._memory.list(Filter(statuses=(Status.DELETED,)), limit=10_000)
            self._deleted = {note.id: note.content for note in gone}
        return self._deleted.get(id, "")


def _fate(changes: Mapping[str, tuple[Any, Any]]) -> str:
    before, now = changes.get("status", (None, None))
    if now == Status.DELETED:
        return "hid"
    if before == Status.DELETED:
        return "brought back"
    if now == Status.SUPERSEDED:
        return "superseded"
    return "updated" if "content" in changes else "moved" if changes.keys() == {"metadata"} else "changed"


def _nothing_learnt(operation: Operation) -> str:
    """``learnt nothing from a conversation (2 messages of 3f2b1c9e)``."""
    cause = short_ids(operation.cause)
    return (
        f"learnt nothing ({cause.removeprefix('learnt ')})"
        if operation.action == "extract"
        else (f"learnt nothing from a conversation ({cause})")
    )


def print_log(book: Logbook, trees: Sequence[Tree], zone: tzinfo, *, everything: bool) -> None:
    """Newest first, what each set off below it; in a pipe ``id, parent, time, actor, action, state, summary``."""
    if not on_terminal():
        for tree in _flat(trees):
            operation = tree.operation
            state = "undone" if operation.undone else ""
            made = operation.at.isoformat(), operation.actor, operation.action
            say_row(operation.id, operation.parent or "", *made, state, book.told(tree))
        return
    rows = [row for tree in trees for row in _rows(book, tree, zone, everything, depth=0)]
    _print_rows(rows)


#: A line of the log: operation, time, who, what (in parts, some of them dim).
_Row = tuple[str, str, str, "tuple[tuple[str, str], ...]"]


def _print_rows(rows: Sequence[_Row]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    out = console()
    names = ("op", "when", "who", "what")
    kept = fitting(names, [(*row[:3], "") for row in rows], out.width, wide="what", spare=("who", "when"))
    made = Table(box=SIMPLE_HEAD, pad_edge=False, expand=True)
    for place in kept:
        if names[place] == "what":
            # Where little room is left, two lines say more than half a line.
            roomy = out.width >= _ROOMY
            made.add_column("what", ratio=1, no_wrap=roomy, overflow="ellipsis" if roomy else "fold")
        else:
            made.add_column(names[place], no_wrap=True, justify="right" if place == 0 else "left")
    for row in rows:
        cells = (*row[:3], styled(*row[3]))
        made.add_row(*(cells[place] for place in kept))
    out.print(made)


def _rows(book: Logbook, tree: Tree, zone: tzinfo, everything: bool, *, depth: int) -> Iterable[_Row]:
    operation = tree.operation
    taught = book.taught(tree)
    style = "dim strike" if operation.undone else "dim" if depth or not taught else ""
    undone = " undone" if operation.undone else ""
    what = (("  " * depth + ("↳ " if depth else ""), "dim"), (book.told(tree), style), (undone, "yellow"))
    yield str(operation.id), when(operation.at, zone) if not depth else "", operation.actor, what
    if not (taught or everything):
        return
    shown = tree.children if everything else tree.children[:_CHILDREN]
    for child in shown:
        yield from _rows(book, child, zone, everything, depth=depth + 1)
    rest = [child.operation for child in tree.children[len(shown) :]]
    if rest:
        links, rewritten = sum(each.links for each in rest), sum(len(each.notes) for each in rest)
        more = f"{len(rest):,} more (--all): {count(links, 'link')}, {count(rewritten, 'rewrite')}"
        yield "", "", "", (("  " * (depth + 1) + f"… {more}", "dim"),)


def _flat(trees: Iterable[Tree]) -> Iterable[Tree]:
    for tree in trees:
        yield tree
        yield from _flat(tree.children)


def print_versions(versions: Sequence[Version], zone: tzinfo) -> None:
    """Each version with what changed in it; in a pipe ``version, time, actor, action, fields``."""
    if not on_terminal():
        for version in versions:
            made = version.at.isoformat(), version.actor, version.action
            say_row(version.version, *made, ",".join(version.changes))
        return
    out = console()
    for version in versions:
        head = f"  {when(version.at, zone)}  {version.actor}  {version.action}  (operation {version.operation})"
        out.print(styled((f"version {version.version}", "bold cyan"), head))
        if version.cause or version.prompts:
            asked = f"prompts {version.prompts}" if version.prompts else ""
            out.print(styled((f"    {'; '.join(filter(None, (version.cause, asked)))}", "dim")))
        if version.version > 1:
            print_changes(version.changes)


def print_changes(changes: Any) -> None:
    """Fields with what they were and what they became."""
    out = console()
    for name, (before, after) in changes.items():
        out.print(styled((f"    {name}", "bold")))
        print_wrapped(out, styled(("- ", "red"), one_line(in_words(before), 600)), indent=6, hanging=2)
        print_wrapped(out, styled(("+ ", "green"), one_line(in_words(after), 600)), indent=6, hanging=2)
