"""``amem demo``: a year of an invented person's notes, written, linked, evolved and asked about before your eyes.

Its words are in ``demo_story.toml``; what is told with ``--all`` is the rest: samples of everything that was done.
"""

import shutil
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from amem.cli.command import Shown, command, option
from amem.cli.history import draw_changes
from amem.cli.invocation import Invocation, program, progress
from amem.cli.render import (
    Page,
    cell_width,
    draw_hits,
    draw_receipt,
    language_of_reader,
    on_terminal,
    one_line,
    styled,
    tagged,
    when,
)
from amem.clock import zone
from amem.errors import InvalidInput
from amem.labels import counted, cut, short_id, title
from amem.note import LinkType, MemoryNote, Receipt, Status

if TYPE_CHECKING:
    from rich.console import Console

    from amem.interop.importing import ImportReport
    from amem.memory_system import AgenticMemorySystem
    from amem.settings import Settings

CAUSE = "amem demo"
_COLLECTION = "demo"
#: Says that the folder beside it was made by the demo, which may therefore start it afresh.
_MARK = ".made-by-amem-demo"
_HITS = 3
_FIRST = "The bakery on the corner is closed on Mondays"


@command()
def demo(
    call: Invocation,
    fresh: Annotated[bool, option("--fresh", "Start over even if you added notes of your own.")] = False,
    everything: Annotated[
        bool, option("--all", "Also show samples of analysis, links and rewrites, and five questions.")
    ] = False,
    language: Annotated[
        str | None, option("", "en or zh: the story's language; default that of your locale.", show_default=False)
    ] = None,
) -> None:
    """Watch a year of somebody's notes become a linked collection, and ask it five questions."""
    if language not in (None, "en", "zh"):
        raise typer.BadParameter("--language is en or zh")
    call = replace(call, collection=call.collection or _COLLECTION)
    settings = call.settings()
    if settings.llm_backend == "auto":
        # Quick, and the same for everybody; name a backend in the settings to see a model do it.
        settings = settings.model_copy(update={"llm_backend": "offline"})
    folder = _clear(call, settings, fresh=fresh)
    started = perf_counter()
    receipts: list[Receipt] = []
    with call.memory(create=True, settings=settings, chroma=True) as memory:
        (folder / _MARK).touch(mode=0o600)
        report = _load(memory, settings, receipts)
        seconds = perf_counter() - started
        if call.as_json:
            Shown(_record(memory, report, seconds)).show(call)
        else:
            story = DemoStory(memory, language_of_reader(language), call.command)
            by = next((receipt.analyst for receipt in receipts if receipt.stored), "")
            story.tell(seconds=seconds, folder=str(memory.folder), by=by, links=report.links, changes=report.evolved)
            if everything:
                _Rest(memory, receipts).tell(call, report, seconds)
            story.closing(more="" if everything else call.command("demo", "--all"))
            if report.refused:
                call.remarks.append(f"{counted(report.refused, 'line')} could not be read")
        memory.feed_chroma()


def _clear(call: Invocation, settings: "Settings", *, fresh: bool) -> Path:
    """The demo's folder, emptied if the demo made it. Raises InvalidInput when it holds somebody's notes."""
    from amem.collection_folders import folder_of

    folder = folder_of(settings.home, settings.collection)
    if not folder.exists():
        return folder
    other = f"amem --collection {settings.collection}-2 demo"
    if not (folder / _MARK).is_file() or folder.is_symlink():
        raise InvalidInput(f"the collection {settings.collection!r} was not made by the demo", hint=f"try {other}")
    if not fresh:
        with call.memory(settings=settings) as memory:
            own = [each.cause != CAUSE for each in memory.log(limit=10_000) if each.action in ("add", "import")]
        if any(own):
            held = f"the collection {settings.collection!r} holds notes that were added since the last demo"
            raise InvalidInput(held, hint=f"give --fresh to lose them, or try {other}")
    try:
        shutil.rmtree(folder)
    except OSError as error:
        error.filename = str(folder)
        raise
    return folder


def _load(memory: "AgenticMemorySystem", settings: "Settings", receipts: "list[Receipt]") -> "ImportReport":
    from amem.interop.demo_data import demo_folder
    from amem.interop.formats import Format
    from amem.interop.importing import Importer
    from amem.interop.reader import read_path

    items = read_path(demo_folder() / "year.jsonl", settings, Format.JSONL)
    with progress("reading a year of notes") as bar:
        return Importer(memory, cause=CAUSE, progress=bar, on_receipt=receipts.append).run(items)


def _record(memory: "AgenticMemorySystem", report: "ImportReport", seconds: float) -> dict[str, Any]:
    from amem.interop.demo_data import demo_questions

    answers = [
        {
            "question": each.question,
            "good_answer": each.good_answer,
            "hits": [hit.to_dict() for hit in memory.search_agentic(each.question, _HITS, touch=False)],
        }
        for each in demo_questions()
    ]
    where = {"collection": memory.settings.collection, "path": str(memory.folder)}
    return where | report.to_dict() | {"seconds": round(seconds, 2), "questions": answers}


class _Teller:
    """Prints paragraphs and headings on what a collection holds, in lines of at most `width` cells in a pipe."""

    def __init__(self, memory: "AgenticMemorySystem", width: int, out: "Console | None" = None) -> None:
        self.memory = memory
        self.zone = zone(memory.settings.timezone)
        self.page = Page(out)
        if out is None and not on_terminal():
            self.page.out.width = width
        self.write = self.page.write

    def heading(self, text: str) -> None:
        self.page.out.print("", styled((text, "bold underline")), sep="\n")


# The story: what was written, what amem did with it, what it answers, how to take it back.


WIDTH, _LABEL = 80, 10
_BY = {"offline": ("built-in rules, without a model", "内置规则（不需要模型）")}


class DemoStory(_Teller):
    """Tells it from the demo's collection, as it is now."""

    def __init__(
        self, memory: "AgenticMemorySystem", language: str, command: Callable[..., str], out: "Console | None" = None
    ) -> None:
        from amem.query import Filter

        super().__init__(memory, WIDTH, out)
        self._command = command
        words = tomllib.loads((Path(__file__).parent / "demo_story.toml").read_text(encoding="utf-8"))
        self._words = SimpleNamespace(**words[language])
        self._chinese = language == "zh"
        if out is None:
            self.page.out.width = min(self.page.width, WIDTH)
        every = memory.list(Filter(statuses=(Status.ACTIVE, Status.SUPERSEDED)), limit=1000)
        found = (next((note for note in every if note.content.startswith(start)), None) for start in self._words.notes)
        self._notes = [note for note in found if note is not None]
        self._total = len(every)
        self._superseded = sum(note.status is Status.SUPERSEDED for note in every)

    def tell(self, *, seconds: float, folder: str, by: str, links: int, changes: int) -> None:
        """The whole story; figures are those of the import."""
        words = self._words
        told = _BY.get(by, (by, by))[self._chinese]
        self.write((words.heading.format(notes=self._total, superseded=self._superseded), "bold"))
        self.write((words.opening.format(seconds=seconds, by=told, folder=folder), "dim"))
        self.heading(f"1 {words.written.format(notes=self._total)}")
        for note in self._notes:
            self._dated(note)
        self.heading(f"2 {words.did}")
        made = f"{links} 条链接" if self._chinese else counted(links, "link")
        self.write(words.counts.format(links=made, changes=changes), indent=2)
        undone = self._done()
        self.heading(f"3 {words.answers}")
        for question in words.questions:
            self._answer(question)
        self.heading(f"4 {words.back}")
        self.write(words.safe, indent=2)
        if undone is not None:
            self._offer(self._command("undo", str(undone)), words.one_back)
        self._offer(self._command("undo"), words.all_back.format(notes=self._total))

    def closing(self, *, more: str = "") -> None:
        """The one thing to do next; `more` is the command that tells the rest."""
        self.page.line()
        self.write((self._words.next, "bold"))
        self._offer(self._command("tui"), "")
        if more:
            self.write((self._words.rest.format(command=more), "dim"))

    def _done(self) -> int | None:
        """Tell what was done with the notes of the story; the operation that ended a statement of one, if any did."""
        words, notes, told = self._words, self._notes, {note.id: note for note in self._notes}
        links = [link for note in notes for link in self.memory.links(note.id) if link.target in told]
        cause = next((link for link in links if link.type is LinkType.CAUSED_BY), None)
        about = told[cause.source] if cause is not None else notes[-1] if notes else None
        if about is not None:
            self._labelled(words.tags, (tagged(about.tags), "green"))
            self._labelled(words.context, cut(one_line(about.context), 2 * (WIDTH - _LABEL - 6)))
        if cause is not None:
            other = cut(title(told[cause.target].content), WIDTH - _LABEL - 18)
            because = (f"\n{words.because.format(reason=cause.reason)}", "dim")
            self._labelled(words.link, words.caused.format(other=other), because)
        ended = [(note, each) for note in notes for each in note.overturned if each.by in told]
        for note, each in ended[:1]:
            until = f"{each.until.astimezone(self.zone):%Y-%m-%d}"
            self._labelled(words.ended, words.until.format(said=each.text.rstrip(".。"), until=until))
            versions = reversed(self.memory.history(note.id))
            return next((version.operation for version in versions if "overturned" in version.changes), None)
        return None

    def _answer(self, question: str) -> None:
        answer = self.memory.answer(question, 6)
        self.write(("> ", "dim"), (question, "bold"), indent=2)
        self.write(answer.text, indent=4)
        hits = {hit.id: hit for hit in answer.hits}
        for each in answer.citations[:1]:
            said = each.note not in hits or title(hits[each.note].content, 30).rstrip("…") in answer.text
            if not said and (note := self.memory.read(each.note)) is not None:
                self._dated(note, number=each.number)

    def _dated(self, note: "MemoryNote", *, number: int = 0) -> None:
        head = f"{f'[{number}] ' if number else ''}{when(note.at, self.zone, minutes=False)}  "
        indent = 4 if number else 2
        words = cut(one_line(note.content), 2 * (WIDTH - indent - len(head)) - 4)
        self.write((head, "dim"), words, indent=indent, hanging=len(head))

    def _labelled(self, label: str, *parts: Any) -> None:
        head = f"{label}{' ' * max(1, _LABEL - cell_width(label))}"
        self.write((head, "cyan"), *parts, indent=2, hanging=_LABEL)

    def _offer(self, command: str, purpose: str) -> None:
        beside = f"  {purpose}" if purpose and cell_width(f"  {command}  {purpose}") <= self.page.width else ""
        # A command that is copied must not be broken.
        self.page.whole("  ", (command, "bold"), (beside, "dim"))
        if purpose and not beside:
            self.write((purpose, "dim"), indent=4)


# The rest: what became of the notes, by samples, and the answers to five questions.


_WIDTH, _SAMPLES, _REWRITES = 100, 8, 20


class _Rest(_Teller):
    """Tells what became of a collection's notes."""

    def __init__(self, memory: "AgenticMemorySystem", receipts: "Sequence[Receipt]") -> None:
        super().__init__(memory, _WIDTH)
        self._receipts = receipts

    def tell(self, call: Invocation, report: "ImportReport", seconds: float) -> None:
        """All of it."""
        from amem.interop.demo_data import demo_questions

        self._opening(seconds)
        self._samples()
        self._evolution()
        receipts = self._receipts
        linked = {end for receipt in receipts for link in receipt.links for end in (link.source, link.target)}
        parts = (
            counted(report.imported, "note"),
            f"{counted(report.links, 'link')} ({len(linked)} notes have one)",
            counted(report.evolved, "rewrite"),
            f"{report.queued:,} waiting for your review",
            counted(len(self.memory.tags()), "tag"),
        )
        self.heading("In all")
        self.write(", ".join(parts), indent=2)
        for each in demo_questions():
            self.heading(each.question)
            draw_hits(self.page, self.memory.search_agentic(each.question, _HITS, touch=False), self.zone)
        best_linked = max(receipts, key=lambda receipt: len(receipt.links)).id
        self.heading("Try next")
        for words, purpose in (
            (call.command("search", "who is Inês?"), "ask something else"),
            (call.command("why", "why did I leave Kestrel Freight?"), "see how every answer earned its place"),
            (call.command("log", "--since", "today"), "see what was written, linked and rewritten; undo any of it"),
            (call.command("show", short_id(best_linked)), "see one note with its links"),
            (f'{program()} add "{_FIRST}"', "begin your own memory"),
        ):
            self.page.whole("  ", (words, "bold"))
            self.write((purpose, "dim"), indent=6)

    def _opening(self, seconds: float) -> None:
        """How many notes, how quickly, by whom."""
        stored = [receipt for receipt in self._receipts if receipt.stored]
        by = stored[0].analyst if stored else "nobody"
        by = "built-in rules" if by == "offline" else by
        rate = f"{len(stored) / seconds:.1f} a second" if seconds > 0 else ""
        self.page.line()
        self.write(
            ("A year of somebody's notes", "bold"), f"  {counted(len(stored), 'note')} in {seconds:.1f} s, {rate}"
        )
        self.write((f"Analysed by {by}, in English and Chinese; everything stays in {self.memory.folder}.", "dim"))

    def _samples(self) -> None:
        """Some notes with what became of them as they arrived."""
        self.heading(f"How notes were analysed and linked ({_SAMPLES} of {len(self._receipts)})")
        linked = [receipt for receipt in self._receipts if receipt.links]
        step = max(1, len(linked) // _SAMPLES)
        for receipt in linked[step // 2 :: step][:_SAMPLES]:
            if (note := self.memory.read(receipt.id)) is not None:
                head = f"{when(note.at, self.zone, minutes=False)}  "
                self.write((head, "dim"), one_line(note.content, 2 * _WIDTH - 20), indent=2)
                draw_receipt(self.page, note, receipt, mark="  ")
                self.page.line()

    def _evolution(self) -> None:
        """Older notes that took newer ones into account: before and after."""
        changes = [(receipt, change) for receipt in self._receipts for change in receipt.evolved]
        shown = changes[:: max(1, -(-len(changes) // _REWRITES))]
        among = "" if len(shown) == len(changes) else f" ({len(shown)} of {len(changes)})"
        self.heading(f"How older notes evolved when newer ones arrived{among}")
        if not changes:
            self.write(("none did", "dim"), indent=2)
        for receipt, change in shown:
            texts = self.memory.cards_of([change.id, receipt.id])
            old, new = (one_line(texts[id].text, _WIDTH - 30) for id in (change.id, receipt.id))
            self.write((short_id(change.id), "cyan"), f"  {old}", indent=2)
            versions = self.memory.history(change.id)
            for version in (each for each in versions if each.version == change.version):
                draw_changes(self.page, version.changes, self.zone)
            self.write(("arrived  ", "dim"), (short_id(receipt.id), "cyan"), (f"  {new}", "dim"), indent=4)
            self.write((f"because: {change.reason}", "dim"), indent=4)
