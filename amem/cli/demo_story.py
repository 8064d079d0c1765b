"""The demo's short story: what was written, what amem did with it, what it answers, how to take it back.

At most 60 lines of 80 columns, in English or Chinese.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.cli.render import cell_width, console, count, cut, on_terminal, one_line, print_wrapped, styled, when
from amem.clock import zone
from amem.labels import title
from amem.note import LinkType, Status
from amem.query import Filter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import Console
    from rich.style import StyleType

    from amem.memory_system import AgenticMemorySystem
    from amem.note import MemoryNote, Overturned

WIDTH = 80
_LABEL = 10


@dataclass(frozen=True, slots=True)
class Words:
    """The story in one language; `notes` are the beginnings of those it is about, in their order."""

    notes: tuple[str, ...]
    questions: tuple[str, ...]
    heading: str
    opening: str
    written: str
    did: str
    counts: str
    tags: str
    context: str
    link: str
    because: str
    caused: str
    ended: str
    until: str
    answers: str
    back: str
    safe: str
    one_back: str
    all_back: str
    next: str
    rest: str


ENGLISH = Words(
    notes=(
        "Signed up for the Rotterdam marathon",
        "Knee pain on the outside",
        "Decision: I withdraw from the Rotterdam",
    ),
    questions=("Where do I work now?", "Why did I leave Kestrel Freight?"),
    heading="A year in {notes} notes",
    opening="Somebody's notes of a year, in English and Chinese. amem has read them in {seconds:.0f} s by {by},"
    " and keeps them in {folder}.",
    written="What was written (3 of {notes})",
    did="What amem did with it",
    counts="It gave each note keywords, tags and a context, made {links}, and updated older notes {changes} times when"
    " newer ones came. The last note above, for instance:",
    tags="tags",
    context="context",
    link="link",
    because="because it {reason}",
    caused="caused by “{other}”",
    ended="ends",
    until="“{said}”, which was so until {until}",
    answers="What it answers",
    back="How to take it back",
    safe="Every change is an operation that can be undone, and redone; amem log lists them.",
    one_back="makes what the note ended hold again",
    all_back="takes back all {notes} notes; amem redo brings them back",
    next="Next: browse these notes in the terminal",
    rest="{command} tells more: every rewrite, the surest links, five questions",
)
CHINESE = Words(
    notes=("我和芝麻住在鹿特丹", "芝麻最近喝水特别多", "从今天起芝麻只吃低磷", "搬到里斯本了"),
    questions=("我现在住在哪里？", "芝麻吃什么？"),
    heading="一年，{notes} 条笔记",
    opening="某人一年的笔记，中文和英文都有。amem 用{by}在 {seconds:.0f} 秒内读完，保存在 {folder}。",
    written="写下了什么（{notes} 条中的 4 条）",
    did="amem 做了什么",
    counts="每条笔记都有了关键词、标签和背景；笔记之间建立了 {links}；新笔记到来时，旧笔记更新了 {changes} 次。比如：",
    tags="标签",
    context="背景",
    link="链接",
    because="{reason}",
    caused="起因是“{other}”",
    ended="不再成立",
    until="“{said}”，到 {until} 为止",
    answers="它能回答什么",
    back="怎样撤销",
    safe="每次改动都是一个可以撤销、也可以重做的操作；amem log 列出全部操作。",
    one_back="让上面那句话重新成立",
    all_back="{notes} 条笔记全部撤回；amem redo 把它们找回来",
    next="下一步：在终端里浏览这些笔记",
    rest="{command} 讲得更多：每次改写、最确定的链接、五个问题",
)
_BY = {"offline": ("built-in rules, without a model", "内置规则（不需要模型）")}


def language_of_reader(given: str | None = None) -> str:
    """``zh`` or ``en``: as `given`, else as the locale has it."""
    if given is not None:
        return given
    named = next((value for name in ("LC_ALL", "LC_MESSAGES", "LANG") if (value := os.environ.get(name))), "")
    return "zh" if named.lower().startswith(("zh", "chinese")) else "en"


class DemoStory:
    """Tells it from the demo's collection, as it is now."""

    def __init__(
        self, memory: AgenticMemorySystem, language: str, command: Callable[..., str], *, out: Console | None = None
    ) -> None:
        self._memory, self._command = memory, command
        self._words = CHINESE if language == "zh" else ENGLISH
        self._chinese = language == "zh"
        self._zone = zone(memory.settings.timezone)
        self._out = out or console()
        if out is None and (not on_terminal() or self._out.width > WIDTH):
            self._out.width = WIDTH
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
        self._heading(1, words.written.format(notes=self._total))
        for note in notes:
            self._dated(note)
        self._heading(2, words.did)
        made = f"{links} 条链接" if self._chinese else count(links, "link")
        self._say(words.counts.format(links=made, changes=changes), indent=2)
        undone = self._done(notes)
        self._heading(3, words.answers)
        for question in words.questions:
            self._answer(question)
        self._heading(4, words.back)
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
        """Tell of tags, context, a link and an ended statement; return the operation of that."""
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
        """The operation that ended a statement."""
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

    def _heading(self, number: int, text: str) -> None:
        self._out.print()
        self._out.print(styled((f"{number} {text}", "bold underline")))

    def _say(self, *parts: str | tuple[str, StyleType], indent: int = 0, hanging: int = 0) -> None:
        print_wrapped(self._out, styled(*parts), indent=indent, hanging=hanging)
