"""What ``amem demo`` tells: the short story, and with ``--all`` the rest."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

from amem.cli.render import (
    cell_width,
    console,
    count,
    cut,
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
from amem.labels import title
from amem.note import LinkType, Status
from amem.query import Filter

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from rich.console import Console
    from rich.style import StyleType

    from amem.interop.demo_data import Question
    from amem.interop.importing import ImportReport
    from amem.memory_system import AgenticMemorySystem
    from amem.note import Link, MemoryNote, Overturned
    from amem.receipt import Receipt


_WIDTH = 100
_SAMPLES = 8
_LINKS = 10
_REWRITES = 20


class _Teller:
    """Prints paragraphs and headings on what a collection holds."""

    def __init__(self, memory: AgenticMemorySystem, width: int, out: Console | None = None) -> None:
        self._memory = memory
        self._zone = zone(memory.settings.timezone)
        self._out = out or console()
        if out is None and not on_terminal():
            self._out.width = width

    def _heading(self, text: str) -> None:
        self._out.print()
        self._out.print(styled((text, "bold underline")))

    def _say(self, *parts: str | tuple[str, StyleType], indent: int = 0, hanging: int = 0) -> None:
        print_wrapped(self._out, styled(*parts), indent=indent, hanging=hanging)


class Story(_Teller):
    """Tells what became of a collection's notes."""

    def __init__(self, memory: AgenticMemorySystem, receipts: Sequence[Receipt]) -> None:
        super().__init__(memory, _WIDTH)
        self._receipts = receipts
        self._notes: dict[str, MemoryNote] = {}

    def opening(self, seconds: float) -> None:
        """How many notes, how quickly, by whom."""
        stored = [receipt for receipt in self._receipts if receipt.stored]
        by = stored[0].analyst if stored else "nobody"
        by = "built-in rules" if by == "offline" else by
        rate = f"{len(stored) / seconds:.1f} a second" if seconds > 0 else ""
        self._out.print()
        self._say(("A year of somebody's notes", "bold"), f"  {count(len(stored), 'note')} in {seconds:.1f} s, {rate}")
        self._say((f"Analysed by {by}, in English and Chinese; everything stays in {self._memory.folder}.", "dim"))

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


def _common(before: str, after: str) -> int:
    """How many characters of the beginning two texts share, to the end of a word."""
    shared = 0
    while shared < min(len(before), len(after)) and before[shared] == after[shared]:
        shared += 1
    if 0 < shared < len(before) and before[shared - 1].isascii():
        shared = before.rfind(" ", 0, shared) + 1
    return shared


# The demo's short story: what was written, what amem did with it, what it answers, how to take it back.


WIDTH = 80
_LABEL = 10


_BY = {"offline": ("built-in rules, without a model", "内置规则（不需要模型）")}


def language_of_reader(given: str | None = None) -> str:
    """``zh`` or ``en``: as `given`, else as the locale has it."""
    if given is not None:
        return given
    named = next((value for name in ("LC_ALL", "LC_MESSAGES", "LANG") if (value := os.environ.get(name))), "")
    return "zh" if named.lower().startswith(("zh", "chinese")) else "en"


class DemoStory(_Teller):
    """Tells it from the demo's collection, as it is now."""

    def __init__(
        self, memory: AgenticMemorySystem, language: str, command: Callable[..., str], *, out: Console | None = None
    ) -> None:
        super().__init__(memory, WIDTH, out)
        self._command = command
        words = tomllib.loads((Path(__file__).parent / "demo_story.toml").read_text(encoding="utf-8"))
        self._words = SimpleNamespace(**words[language])
        self._chinese = language == "zh"
        if out is None:
            self._out.width = min(self._out.width, WIDTH)
        every = memory.list(Filter(statuses=(Status.ACTIVE, Status.SUPERSEDED)), limit=1000)
        found = (next((note for note in every if note.content.startswith(start)), None) for start in self._words.notes)
        self._notes = [note for note in found if note is not None]
        self._total = len(every)

    def tell(self, *, seconds: float, folder: str, by: str, links: int, changes: int) -> None:
        """The whole story; figures are those of the import."""
        words = self._words
        told = _BY.get(by, (by, by))[self._chinese]
        self._say((words.heading.format(notes=self._total), "bold"))
        self._say((words.opening.format(seconds=seconds, by=told, folder=folder), "dim"))
        notes = self._notes
        self._heading(f"1 {words.written.format(notes=self._total)}")
        for note in notes:
            self._dated(note)
        self._heading(f"2 {words.did}")
        made = f"{links} 条链接" if self._chinese else count(links, "link")
        self._say(words.counts.format(links=made, changes=changes), indent=2)
        undone = self._done(notes)
        self._heading(f"3 {words.answers}")
        for question in words.questions:
            self._answer(question)
        self._heading(f"4 {words.back}")
        self._say(words.safe, indent=2)
        if undone is not None:
            self._offer(self._command("undo", str(undone)), words.one_back)
        self._offer(self._command("undo"), words.all_back.format(notes=self._total))

    def closing(self, *, more: str = "") -> None:
        """The one thing to do next; `more` is the command that tells the rest."""
        self._out.print()
        self._say((self._words.next, "bold"))
        self._offer(self._command("tui"), "")
        if more:
            self._say((self._words.rest.format(command=more), "dim"))

    # -- parts -------------------------------------------------------------------------------------------------

    def _done(self, notes: Sequence[MemoryNote]) -> int | None:
        words, told = self._words, {note.id: note for note in notes}
        links = [link for note in notes for link in self._memory.links(note.id) if link.target in told]
        cause = next((link for link in links if link.type is LinkType.CAUSED_BY), None)
        ended = [(note, each) for note in notes for each in note.overturned if each.by in told]
        about = told[cause.source] if cause is not None else notes[-1] if notes else None
        if about is not None:
            self._labelled(words.tags, (" ".join(f"#{tag}" for tag in about.tags), "green"))
            self._labelled(words.context, cut(one_line(about.context), 2 * (WIDTH - _LABEL - 6)))
        if cause is not None:
            other = cut(title(told[cause.target].content), WIDTH - _LABEL - 18)
            because = words.because.format(reason=cause.reason)
            self._labelled(words.link, (words.caused.format(other=other), ""), (f"\n{because}", "dim"))
        for note, each in ended[:1]:
            until = f"{each.until.astimezone(self._zone):%Y-%m-%d}"
            self._labelled(words.ended, words.until.format(said=each.text.rstrip(".。"), until=until))
            return self._operation(note, each)
        return None

    def _operation(self, note: MemoryNote, ended: Overturned) -> int | None:
        for version in reversed(self._memory.history(note.id)):
            if "overturned" in version.changes:
                return version.operation
        return None

    def _answer(self, question: str) -> None:
        answer = self._memory.answer(question, 6)
        self._say(("> ", "dim"), (question, "bold"), indent=2)
        self._say(answer.text, indent=4)
        hits = {hit.id: hit for hit in answer.hits}
        for each in answer.citations[:1]:
            if each.note in hits and title(hits[each.note].content, 30).rstrip("…") not in answer.text:
                note = self._memory.read(each.note)
                if note is not None:
                    self._dated(note, number=each.number)

    def _dated(self, note: MemoryNote, *, number: int = 0) -> None:
        lead = f"[{number}] " if number else ""
        head = f"{lead}{when(note.at, self._zone, minutes=False)}  "
        indent = 4 if number else 2
        room = 2 * (WIDTH - indent - cell_width(head)) - 4
        self._say((head, "dim"), cut(one_line(note.content), room), indent=indent, hanging=cell_width(head))

    def _labelled(self, label: str, *parts: str | tuple[str, StyleType]) -> None:
        head = f"{label}{' ' * max(1, _LABEL - cell_width(label))}"
        self._say((head, "cyan"), *parts, indent=2, hanging=_LABEL)

    def _offer(self, command: str, purpose: str) -> None:
        together = cell_width(f"  {command}  {purpose}") <= self._out.width
        told = styled("  ", (command, "bold"), (f"  {purpose}" if together else "", "dim"))
        self._out.print(told, soft_wrap=True)  # a command that is copied must not be broken
        if purpose and not together:
            self._say((purpose, "dim"), indent=4)
