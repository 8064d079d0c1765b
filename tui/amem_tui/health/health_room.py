"""The health room: how the collection is, its maintenance, and what waits for a model."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual import on, work
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from amem.errors import AmemError, Cancelled
from amem.labels import counted, short_id
from amem.maintenance.cycle import CYCLES
from amem.maintenance.health import Mark, amounts, health_lines
from amem.storage.jobs import is_gone
from amem.summaries import deed as did
from amem_tui import changes
from amem_tui.client import Refresher, in_own_thread
from amem_tui.dialogs import Lines, Picker, Question, remark_line
from amem_tui.formatting import clean, moment, one_line, titles_of
from amem_tui.lists import fit
from amem_tui.page import Block, Page, labelled, remark, space
from amem_tui.rooms import PanedScreen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import tzinfo

    from textual.app import ComposeResult

    from amem.maintenance.health import Health, Maintained
    from amem.maintenance.phase import MaintenanceReport
    from amem.memory_system import AgenticMemorySystem
    from amem.storage.operations import Deed
    from amem_tui.client import Answer, CollectionClient


#: What is said of maintenance stands in a pane of its own.
_ELSEWHERE = ("maintenance", "maintained")
#: The key that does something about it.
_KEYS = {"due": "m", "waiting": "e", "chats": "e", "conflicts": "r"}
#: A maintenance that nobody does is only due.
_BY_WHOM = "if amem work or amem chat runs then, or amem maintain --install was done"
_MOST_ERRORS = 30
#: So many lines of a run's report are read.
MOST_DEEDS = 1_000


@dataclass(frozen=True, slots=True)
class State:
    """What was found: `deeds` of the last run, `titles` of their notes, whether the open run's holder is `gone`."""

    health: Health
    turns: int
    read_only: bool
    deeds: Sequence[Deed]
    titles: dict[str, str]
    gone: bool

    @property
    def waiting(self) -> int:
        return self.health.pending + self.health.degraded + self.turns


def read_state(memory: AgenticMemorySystem) -> State:
    health = memory.health()
    last = health.last
    deeds = [] if last is None or last.operation is None else memory.deeds(last.operation, MOST_DEEDS)
    titles = titles_of(memory, (deed.note for deed in deeds))
    gone = health.open is not None and health.open.owner is not None and is_gone(health.open.owner)
    return State(health, memory.turns_waiting(), memory.read_only, deeds, titles, gone)


_MARKS = {Mark.GOOD: ("✓ ", "$success"), Mark.WATCH: ("! ", "$warning"), Mark.PLAIN: ("  ", "")}
_LABEL = 13


def block(about: str, what: str, mark: Mark = Mark.PLAIN, key: str = "") -> Block:
    """What a line is about, what there is to say, and the `key` that does something about it."""
    head = Content.assemble(_MARKS[mark], (fit(about, max(_LABEL, cell_len(about))) + " ", "bold"))
    return labelled(head, Content.assemble(one_line(what, 2_000), (f"  {key}" if key else "", "bold $accent")))


def heading(words: str) -> list[Block]:
    return [space(), remark(words, "bold $primary")]


def state_blocks(state: State, models: Sequence[tuple[str, str]] | None, zone: tzinfo) -> Iterator[Block]:
    """The notes, what waits and the models, a line each; `models` None while they are being asked."""
    for line in health_lines(state.health, partial(moment, zone=zone)):
        if line.about in _ELSEWHERE:
            continue
        # Whether a schedule is installed is the machine's to know, whether one works its collection's to see.
        by_whom = f", {_BY_WHOM}" if line.about == "due" and line.mark is Mark.GOOD else ""
        key = _KEYS.get(line.about, "") if line.mark is Mark.WATCH else ""
        yield block(line.about, f"{line.what}{by_whom}", line.mark, key)
    if state.turns:
        yield block("chats", f"{counted(state.turns, 'turn')} to be learnt from", Mark.WATCH, _KEYS["chats"])
    if state.read_only:
        yield block("read-only", "nothing can be changed here; check the folder's permissions", Mark.WATCH)
    yield from heading("Models")
    for about, what in [("", "asking…")] if models is None else models:
        yield block(about, what, Mark.WATCH if about == "problem" else Mark.PLAIN)


_ACTIONS = {"promote": "promoted", "demote": "demoted", "fade": "faded", "topic": "topic"}
_MADE = {"merge": "merged to", "compress": "summed to", "topic": "new topic"}
_ACTION_CELLS = 12
#: What a dry run names in other words, since nothing was done.
_PLANNED = {"promoted": "would rise", "demoted": "would fall", "faded": "would fade"}
_PLANNED |= {"merged": "would merge", "compressed": "would sum", "topic": "would write"}
_SIGNS = {"promoted": "$success", "demoted": "$primary", "faded": "$warning", "superseded": "$warning"}


def run_words(state: State, zone: tzinfo, *, ours: bool) -> Content:
    """The run that is open, unless it is `ours` and shown above, and the one that was last, phase by phase."""
    health, lines = state.health, []
    if health.open is not None and not ours:
        lines.append(_open_words(health.open, zone, gone=state.gone))
    last = health.last
    if last is None:
        lines.append(Content.styled("Nothing was maintained here yet.", "$muted"))
    else:
        ended = moment(last.finished, zone)
        lines.append(Content.assemble((f"{last.cycle} maintenance", "bold"), (f"  {ended}", "$muted")))
        if last.undone:
            lines.append(Content.styled("undone", "$warning"))
        for each in last.phases:
            if each.finished is not None:
                what = (amounts(each.counts.items()), "$muted")
                lines.append(Content.assemble(("✓ ", "$success"), f"{each.name:<10}", what))
        lines += _problems(last.problems)
    return Content("\n").join(lines)


def _problems(problems: Iterable[str]) -> list[Content]:
    return [Content.assemble(("! ", "$warning"), clean(problem)) for problem in problems]


def run_lines(state: State) -> Iterator[Option]:
    for number, deed in enumerate(state.deeds):
        what = _MADE.get(deed.action, "made") if deed.made else _ACTIONS.get(deed.action, did(deed.action))
        name = state.titles.get(deed.note, short_id(deed.note))
        why = ["undone"] * deed.undone + [deed.cause] * (deed.cause != name)
        yield _line(number, deed.note, what, name, "; ".join(why), dim=deed.undone)
    if len(state.deeds) >= MOST_DEEDS:
        yield remark_line("and more: the log (l) has all of it")


def rehearsal_lines(memory: AgenticMemorySystem, report: MaintenanceReport) -> Iterator[Option]:
    """What a dry run would do, note by note; a page that would be new has no note yet."""
    shown = report.reasons[:MOST_DEEDS]
    titles = titles_of(memory, (reason.id for reason in shown))
    for number, reason in enumerate(shown):
        name, what = titles.get(reason.id, "a new note"), _PLANNED.get(reason.what, reason.what)
        yield _line(number, reason.id, what, name, reason.why, sign=_SIGNS.get(reason.what))
    if len(report.reasons) > len(shown):
        yield remark_line(f"and {len(report.reasons) - len(shown):,} more")


def _open_words(run: Maintained, zone: tzinfo, *, gone: bool) -> Content:
    at = f", now at {run.phase}" if run.phase else ""
    if run.owner is None or gone:
        said = f"A {run.cycle} maintenance, begun {moment(run.began, zone)}, was stopped{at}; m goes on with it."
    else:
        host, _, number = run.owner.partition(":")
        process = clean(f"process {number.partition(':')[0].partition('+')[0]} on {host}")
        said = f"{process} is at it: {run.cycle}, since {moment(run.began, zone)}{at}."
    return Content.styled(said, "$warning")


def _line(
    number: int, id: str, what: str, name: str, why: str, *, dim: bool = False, sign: str | None = None
) -> Option:
    """What was done with a note, and why below it; a note may have more than one line."""
    did = (f" {what:<{_ACTION_CELLS}}", "$muted" if dim else sign or _SIGNS.get(what, "$accent"))
    below = (f"\n{' ' * (_ACTION_CELLS + 1)}{one_line(why, 600)}" if why else "", "$muted")
    return Option(Content.assemble(did, (name, "$muted" if dim else ""), below), id=f"{number} {id}")


_WHAT = {
    "nightly": "layers, fading, conflicts, merging, topics",
    "weekly": "that, and sums up what is old and fading",
    "monthly": "all that, the index, and links by use",
}


@dataclass(slots=True)
class Job:
    """What `screen` is doing: `phase`, `done` and `of` say how far it is; `through` are the phases before this one."""

    title: str
    screen: HealthScreen
    stoppable: bool = True
    cancelled: threading.Event = field(default_factory=threading.Event)
    phase: str = ""
    done: int = 0
    of: int = 0
    through: list[str] = field(default_factory=list)

    def hear(self, phase: str, done: int, of: int) -> None:
        if not self.screen.call_later(self._note, phase, done, of):  # the program has ended meanwhile
            self.cancelled.set()

    def words(self, width: int) -> Content:
        far = f"{self.phase}  {self.done:,} of {self.of:,}" if self.of else f"{self.phase} …"
        state = "stopping…" if self.cancelled.is_set() else far.strip()
        full = round(width * min(self.done, self.of) / self.of) if self.of else 0
        through = f"  ✓ {' '.join(self.through)}" if self.through else ""
        return Content.assemble(
            (self.title, "bold"),
            (f"  {state}", "$primary"),
            (through, "$muted"),
            "\n",
            ("━" * full, "$primary"),
            ("─" * (width - full), "$panel-lighten-1"),
        )

    def _note(self, phase: str, done: int, of: int) -> None:
        if phase != self.phase and self.phase and self.phase not in self.through:
            self.through.append(self.phase)
        self.phase, self.done, self.of = phase, done, of
        self.screen.show_job()


#: What the models said is believed for so many seconds.
_FRESH = 20.0


class HealthScreen(PanedScreen):
    """`_job` is what is being done; it goes on when the room is left, and is called off when the app ends."""

    ROOM = "health"
    PANES: ClassVar[Mapping[str, tuple[str, str]]] = {
        "state": ("state", "#state"),
        "maintenance": ("maintenance", "#run-lines"),
    }
    TABS: ClassVar = {"state": ("State",), "maintenance": ("Maintenance",)}

    def __init__(self, client: CollectionClient) -> None:
        super().__init__(client)
        self._state: State | None = None
        self._models: Sequence[tuple[str, str]] | None = None
        self._asked = float("-inf")
        self._below: list[Block] = []
        self._rehearsal: tuple[Content, list[Option]] | None = None
        self.job: Job | None = None
        self._refresher = Refresher(self._look, partial(self.run_worker, group="state"))

    def furnish(self) -> ComposeResult:
        yield self.tabs()
        yield Static(id="job")
        with Horizontal(id="sides"):
            yield Page(id="state")
            with Vertical(id="maintenance"):
                yield Static(id="run-words")
                yield Lines(id="run-lines")
                yield Static(id="why")

    def on_mount(self) -> None:
        self.query_one("#state").border_title = "How it is"
        self.query_one("#maintenance").border_title = "Maintenance"
        self.show_tab("state")
        self.query_one("#state").focus()

    def load(self) -> None:
        self._refresher.want()
        if monotonic() - self._asked > _FRESH:
            self._asked = monotonic()
            self._ask_models()

    async def _look(self) -> None:
        with self.client.refusals(lambda words: self._show_state([block("", words, Mark.WATCH)])):
            self._state = await self.ask(read_state, self.memory)
            self._show()

    @work(exclusive=True, group="models")
    async def _ask_models(self) -> None:
        try:
            self._models = await in_own_thread(self.memory.survey)
        except AmemError as error:
            self._models = [("problem", str(error))]
        self._show()

    def _show(self) -> None:
        if self._state is None or not self.is_attached:
            return
        zone = self.client.zone
        self._show_state([*state_blocks(self._state, self._models, zone), *self._below])
        run = run_words(self._state, zone, ours=self.job is not None), list(run_lines(self._state))
        head, lines = self._rehearsal or run
        self.query_one("#run-words", Static).update(head)
        self.query_one(Lines).fill(lines)
        self._show_why()
        self.query_one("#maintenance").border_title = "Dry run" if self._rehearsal else "Maintenance"
        self.show_job()

    def _show_why(self) -> None:
        """All of what the line under the cursor says below its title, which may be too long for one row."""
        shown = self.query_one(Lines)
        option = shown.highlighted_option
        why = "" if option is None else str(option.prompt).partition("\n")[2].strip()
        self.query_one("#why", Static).update(Content.styled(why, "$muted"))
        self.query_one("#why").set_class(len(why) > max(12, shown.size.width - 12), "-long")

    def _show_state(self, blocks: Sequence[Block]) -> None:
        self.call_later(self.query_one(Page).show, blocks, keep=True)

    def show_job(self) -> None:
        if not self.is_attached:
            return
        shown = self.query_one("#job", Static)
        shown.set_class(self.job is not None, "-on")
        if self.job is not None:
            shown.update(self.job.words(max(10, self.size.width - 2)))
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        state, busy = self._state, self.job is not None
        writable = state is not None and not state.read_only and not busy
        last = None if state is None else state.health.last
        return {
            "maintain": state is not None and not busy if parameters else writable,
            "stop": self.job is not None and self.job.stoppable and not self.job.cancelled.is_set(),
            "retry": writable and state is not None and state.waiting > 0,
            "undo_run": writable and last is not None and last.operation is not None and not last.undone,
            "check": writable if parameters else state is not None and not busy,
            "open": isinstance(self.focused, Lines) and self.focused.chosen is not None,
        }.get(action, True)

    @work(group="asking")
    async def action_maintain(self, dry_run: bool = False) -> None:
        heading = "Dry run: changes nothing" if dry_run else "Maintain"
        due, choices = None if self._state is None else self._state.health.due, []
        for cycle in CYCLES:
            mark = ("  due", "$warning") if cycle == due else ""
            choices.append((cycle, Content.assemble((f" {cycle:<9}", "bold"), (_WHAT[cycle], "$muted"), mark)))
        picker = Picker(heading, choices, chosen=due or CYCLES[0], keys={cycle[0]: cycle for cycle in CYCLES})
        if chosen := await self.app.push_screen_wait(picker):
            self._maintain(chosen, dry_run=dry_run)

    @work(group="job")
    async def _maintain(self, cycle: str, *, dry_run: bool) -> None:
        title = f"{cycle} maintenance{', dry run' if dry_run else ''}"
        job = Job(title, self)
        maintain = partial(self.memory.maintain, cycle, dry_run=dry_run, progress=job.hear, cancelled=job.cancelled)
        if (report := await self._carry_out(job, maintain)) is None:
            return
        self._rehearsal = None
        if dry_run:
            lines = await self.ask(lambda: list(rehearsal_lines(self.memory, report)))
            said = (f"{cycle} maintenance, if it ran now", "bold"), ("  nothing was changed", "$muted")
            would = Content(f"  {amounts(report.counts(), planned=True)}")
            head = Content("\n").join([Content.assemble(*said), would, *_problems(report.problems)])
            self._rehearsal = head, lines
        begun = "Dry run, " if dry_run else "Went on with what was stopped. " if report.resumed else ""
        failed = f" {len(report.problems)} phases failed." if report.problems else ""
        done = amounts(report.counts(), planned=report.dry_run)
        self.client.say(f"{begun}{report.cycle} maintenance: {done}.{failed}")
        await self._settle()
        self.go_to("maintenance")

    @work(group="job")
    async def action_retry(self) -> None:
        job = Job("Analysing what waits", self)
        progress = partial(job.hear, "")
        report = await self._carry_out(job, lambda: self.memory.enrich(progress=progress, cancelled=job.cancelled))
        if report is not None:
            failed = f", {report.failed:,} failed" if report.failed else ""
            left = f", {report.remaining:,} still wait" if report.remaining else ""
            retried, errors = f"{report.done:,} analysed{failed}{left}", list(dict.fromkeys(report.errors))
            self._below = [*heading("The last try"), block("", retried)]
            self._below += [block("failed", error, Mark.WATCH) for error in errors[:_MOST_ERRORS]]
            more = len(errors) - _MOST_ERRORS
            self._below += [block("", f"and {more:,} more")] if more > 0 else []
            self.client.say(f"What waited: {retried}")
            await self._settle()

    @work(group="job")
    async def action_check(self, repair: bool = False) -> None:
        question = "Embed the notes that have no vector and rebuild the copies of the index? No note is changed."
        if repair and not await self.app.push_screen_wait(Question("Repair", question)):
            return
        job = Job("Repairing" if repair else "Checking everything", self, stoppable=False)
        findings = await self._carry_out(job, lambda: self.memory.doctor(repair=repair))
        if findings is not None:
            self._below = heading("Full check")
            for each in findings:
                hint = f": {each.hint}" if each.hint and each.level != "ok" else ""
                mark = Mark.GOOD if each.level == "ok" else Mark.WATCH
                self._below.append(block(each.about, each.what + hint, mark))
            wrong = sum(1 for each in findings if each.level != "ok")
            self.client.say("Everything is well." if not wrong else f"{wrong} findings; see below “Full check”.")
            await self._settle()
            self.go_to("state")
            self.query_one("#state").scroll_end(animate=False)

    async def _carry_out(self, job: Job, work: Callable[[], Answer]) -> Answer | None:
        """Do something long beside everything else; None when it was called off or could not be done."""
        self.job = job
        self.show_job()
        try:
            return await in_own_thread(work)
        except Cancelled:
            self.client.say("Stopped. What was done stays; the next maintenance goes on from there.")
        except AmemError as error:
            self.client.refuse(error)
        finally:
            # Where the app is closing, whoever does it in its thread hears of it here.
            job.cancelled.set()
            self.job = None
            self.show_job()
        await self._settle()
        return None

    async def _settle(self) -> None:
        with self.client.refusals():
            await self.client.look()
        self.reload()

    def action_stop(self) -> None:
        if self.job is not None:
            self.job.cancelled.set()
            self.show_job()

    def action_undo_run(self) -> None:
        last = None if self._state is None else self._state.health.last
        if last is not None and last.operation is not None:
            self._rehearsal = None
            self.change(changes.undo, self.memory, last.operation)

    @on(OptionList.OptionSelected)
    def action_open(self) -> None:
        if (chosen := self.query_one(Lines).chosen) is not None:
            self.client.app.read_note(chosen.partition(" ")[2])

    @on(OptionList.OptionHighlighted)
    def _moved(self) -> None:
        self._show_why()
        self.refresh_bindings()

    def on_resize(self) -> None:
        self.show_job()
