"""What the demo prints: readable in a terminal of 100 columns, and as plain text in a pipe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.cli.render import (
    console,
    count,
    in_words,
    on_terminal,
    one_line,
    print_hits,
    print_wrapped,
    short_id,
    styled,
    when,
)
from amem.clock import zone

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from rich.style import StyleType

    from amem.interop.demo_data import Question
    from amem.interop.importing import ImportReport
    from amem.memory_system import AgenticMemorySystem
    from amem.note import Link, MemoryNote
    from amem.receipt import Receipt

_WIDTH = 100
_SAMPLES = 8
_LINKS = 10
_REWRITES = 20


class Story:
    """Tells what became of a collection's notes."""

    def __init__(self, memory: AgenticMemorySystem, receipts: Sequence[Receipt]) -> None:
        self._memory = memory
        self._receipts = receipts
        self._zone = zone(memory.settings.timezone)
        self._out = console()
        if not on_terminal():
            self._out.width = _WIDTH
        self._notes: dict[str, MemoryNote] = {}

    def opening(self, seconds: float) -> None:
        """How many notes, how quickly, by whom."""
        stored = [receipt for receipt in self._receipts if receipt.stored]
        by = stored[0].analyst if stored else "nobody"
        by = "built-in rules" if by == "offline" else by
        rate = f"{len(stored) / seconds:.1f} a second" if seconds > 0 else ""
        self._out.print()
        self._say(("A year of somebody's notes", "bold"), f"  {count(len(stored), 'note')} in {seconds:.1f} s, {rate}")
        self._say(
            (f"Analysed by {by}, in English and Chinese; everything stays in {self._memory.folder}.", "dim"),
        )

    def analysis(self) -> None:
        """Some notes with what analysis gave them."""
        self._heading(f"How notes were analysed ({_SAMPLES} of {len(self._receipts)})")
        step = max(1, len(self._receipts) // _SAMPLES)
        for receipt in self._receipts[step // 2 :: step][:_SAMPLES]:
            note = self._note(receipt.id)
            tags = " ".join(f"#{tag}" for tag in note.tags)
            head = f"  {when(note.at, self._zone, minutes=False)}  {note.kind}  "
            self._say((short_id(note.id), "cyan"), head, (tags, "green"), indent=2)
            self._say(one_line(note.content, 2 * _WIDTH - 20), indent=4)
            self._say(("keywords ", "dim"), ", ".join(note.keywords), indent=4, hanging=9)
            self._say(("context  ", "dim"), note.context, indent=4, hanging=9)

    def links(self) -> None:
        """The strongest links, each with its reason."""
        made = [link for receipt in self._receipts for link in receipt.links]
        strongest = sorted(made, key=lambda link: -link.confidence)[:_LINKS]
        self._heading(f"How notes were linked (the {len(strongest)} surest of {len(made)})")
        for link in strongest:
            self._link(link)

    def evolution(self) -> None:
        """Older notes that took newer ones into account: before and after."""
        changes = [(receipt, change) for receipt in self._receipts for change in receipt.evolved]
        shown = changes[:: max(1, -(-len(changes) // _REWRITES))]
        among = "" if len(shown) == len(changes) else f" ({len(shown)} of {len(changes)})"
        self._heading(f"How older notes evolved when newer ones arrived{among}")
        if not changes:
            self._say(("none did", "dim"), indent=2)
        for receipt, change in shown:
            note = self._note(change.id)
            self._say((short_id(note.id), "cyan"), f"  {one_line(note.content, _WIDTH - 14)}", indent=2)
            for name, (before, after) in self._version(change.id, change.version).items():
                self._change(name, before, after)
            new = one_line(self._note(receipt.id).content, _WIDTH - 30)
            self._say(("arrived  ", "dim"), (short_id(receipt.id), "cyan"), (f"  {new}", "dim"), indent=4)
            self._say((f"because: {change.reason}", "dim"), indent=4)

    def summary(self, report: ImportReport) -> None:
        """The counts."""
        linked = {end for receipt in self._receipts for link in receipt.links for end in (link.source, link.target)}
        parts = (
            count(report.imported, "note"),
            f"{count(report.links, 'link')} ({len(linked)} notes have one)",
            count(report.evolved, "rewrite"),
            f"{report.queued:,} waiting for your review",
            f"{count(len(self._memory.tags()), 'tag')}",
        )
        self._heading("In all")
        self._say(", ".join(parts), indent=2)

    def answer(self, question: Question, k: int) -> None:
        """A question, its best hits, and why each was found."""
        self._heading(question.question)
        hits = self._memory.search_agentic(question.question, k, touch=False)
        print_hits(hits, self._zone, out=self._out)

    def closing(self, commands: Sequence[tuple[str, str]]) -> None:
        """What to try next."""
        self._heading("Try next")
        for command, purpose in commands:
            self._out.print(styled("  ", (command, "bold")), soft_wrap=True)
            self._say((purpose, "dim"), indent=6)

    def _link(self, link: Link) -> None:
        room = _WIDTH - 16 - len(link.type)
        source, target = (one_line(self._note(id).content, room) for id in (link.source, link.target))
        self._say((short_id(link.source), "cyan"), f"  {source}", indent=2)
        self._say((f"{link.type} → ", "bold"), (short_id(link.target), "cyan"), f"  {target}", indent=4)
        self._say((f"because: {link.reason} ({link.confidence:.2f})", "dim"), indent=4)

    def _change(self, name: str, before: Any, after: Any) -> None:
        label = (f"{name:<9}", "bold")
        if isinstance(before, list) and isinstance(after, list):
            gone, new = ([each for each in a if each not in b] for a, b in ((before, after), (after, before)))
            parts = " ".join([*(f"+{each}" for each in new), *(f"-{each}" for each in gone)])
            self._say(label, f"{in_words(before)}  ", (parts, "green"), indent=4, hanging=9)
            return
        old, new_words = in_words(before), in_words(after)
        kept = _common(old, new_words)
        self._say(label, (old[:kept], "dim"), (old[kept:], "red strike"), indent=4, hanging=9)
        self._say(("now      ", "bold"), ("… ", "dim"), (new_words[kept:], "green"), indent=4, hanging=9)

    def _version(self, id: str, version: int) -> Mapping[str, tuple[Any, Any]]:
        return next((each.changes for each in self._memory.history(id) if each.version == version), {})

    def _note(self, id: str) -> MemoryNote:
        if id not in self._notes:
            note = self._memory.read(id)
            assert note is not None
            self._notes[id] = note
        return self._notes[id]

    def _heading(self, text: str) -> None:
        self._out.print()
        self._out.print(styled((text, "bold underline")))

    def _say(self, *parts: str | tuple[str, StyleType], indent: int = 0, hanging: int = 0) -> None:
        print_wrapped(self._out, styled(*parts), indent=indent, hanging=hanging)


def _common(before: str, after: str) -> int:
    """How many characters of the beginning two texts share, to the end of a word."""
    shared = 0
    while shared < min(len(before), len(after)) and before[shared] == after[shared]:
        shared += 1
    if 0 < shared < len(before) and before[shared - 1].isascii():
        shared = before.rfind(" ", 0, shared) + 1
    return shared
