"""The state of the collection and what maintenance did, in words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content

from amem.labels import short_id
from amem.maintenance.health import Line, Mark, amounts, health_lines
from amem.writing.worker import is_gone
from amem_tui.formatting import clean, moment, one_line, plural, title
from amem_tui.lists import Line as NoteLine
from amem_tui.lists import fit
from amem_tui.page import Block, remark

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import tzinfo

    from amem.maintenance.doctor import Finding
    from amem.maintenance.health import Health, Maintained
    from amem.maintenance.shift import MaintenanceReport
    from amem.memory_system import AgenticMemorySystem
    from amem.storage.activity import Deed
    from amem.writing.worker import EnrichReport


_LEVELS = {"ok": Mark.GOOD, "warning": Mark.WATCH, "error": Mark.WATCH}
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
    """What was found. `deeds` are those of the last run, and `titles` name their notes.

    `gone` tells that the process that held the open run has ended.
    """

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
    cards = memory.cards_of(list(dict.fromkeys(deed.note for deed in deeds)))
    gone = health.open is not None and health.open.owner is not None and is_gone(health.open.owner)
    return State(
        health=health,
        turns=memory.turns_waiting(),
        read_only=memory.read_only,
        deeds=deeds,
        titles={id: title(card.text) for id, card in cards.items()},
        gone=gone,
    )


def state_words(state: State, models: Sequence[tuple[str, str]] | None, zone: tzinfo) -> list[Line | str]:
    """The notes, what waits and the models, a line each; `models` None while they are being asked."""
    lines: list[Line | str] = [_keyed(line) for line in _state_lines(state, zone) if line.about not in _ELSEWHERE]
    lines += ["", "Models"]
    if models is None:
        return [*lines, Line("", "asking…")]
    return [*lines, *(Line(about, what, Mark.WATCH if about == "problem" else Mark.PLAIN) for about, what in models)]


def finding_words(findings: Iterable[Finding]) -> list[Line | str]:
    lines: list[Line | str] = ["", "Full check"]
    for each in findings:
        hint = f": {each.hint}" if each.hint and each.level != "ok" else ""
        lines.append(Line(each.about, each.what + hint, _LEVELS[each.level]))
    return lines


def retry_words(report: EnrichReport) -> list[Line | str]:
    lines: list[Line | str] = ["", "The last try", Line("", retried(report))]
    errors = list(dict.fromkeys(report.errors))
    lines += [Line("failed", error, Mark.WATCH) for error in errors[:_MOST_ERRORS]]
    if len(errors) > _MOST_ERRORS:
        lines.append(Line("", f"and {len(errors) - _MOST_ERRORS:,} more"))
    return lines


def retried(report: EnrichReport) -> str:
    """``3 analysed, 1 failed, 1 still waits``."""
    parts = [f"{report.done:,} analysed"]
    if report.failed:
        parts.append(f"{report.failed:,} failed")
    if report.remaining:
        parts.append(f"{report.remaining:,} still wait")
    return ", ".join(parts)


def by_whom(run: Maintained) -> str:
    """The process that holds a run: ``process 4711 on host``."""
    host, _, rest = (run.owner or "").partition(":")
    number = rest.partition(":")[0].partition("+")[0]
    return clean(f"process {number} on {host}")


def _state_lines(state: State, zone: tzinfo) -> Iterator[Line]:
    yield from health_lines(state.health, partial(moment, zone=zone))
    if state.turns:
        yield Line("chats", f"{plural(state.turns, 'turn')} to be learnt from", Mark.WATCH)
    if state.read_only:
        yield Line("read-only", "nothing can be changed here; check the folder's permissions", Mark.WATCH)


def _keyed(line: Line) -> Line:
    """The line with the key to press in place of the command; of what is to come, by whom."""
    if line.about == "due" and line.mark is Mark.GOOD:
        # Whether a schedule is installed is the machine's to know, whether one works its collection's to see.
        return replace(line, what=f"{line.what}, {_BY_WHOM}")
    return replace(line, command=_KEYS.get(line.about, "") if line.mark is Mark.WATCH else "")


_ACTIONS = {
    "promote": "promoted",
    "demote": "demoted",
    "fade": "faded",
    "merge": "merged",
    "compress": "summed up",
    "topic": "topic",
}
_MADE = {"merge": "merged to", "compress": "summed to", "topic": "new topic"}
_ACTION_CELLS = 12
#: What a dry run names in other words, since nothing was done.
_PLANNED = {
    "promoted": "would rise",
    "demoted": "would fall",
    "faded": "would fade",
    "merged": "would merge",
    "compressed": "would sum",
    "topic": "would write",
}
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
        lines += [_phase(each.name, amounts(each.counts.items())) for each in last.phases if each.finished is not None]
        lines += [_problem(problem) for problem in last.problems]
    return Content("\n").join(lines)


def rehearsal_words(report: MaintenanceReport) -> Content:
    """What a dry run says that would be done."""
    lines = [
        Content.assemble((f"{report.cycle} maintenance, if it ran now", "bold"), ("  nothing was changed", "$muted"))
    ]
    lines.append(Content(f"  {amounts(report.counts(), planned=True)}"))
    lines += [_problem(problem) for problem in report.problems]
    return Content("\n").join(lines)


def run_lines(state: State) -> list[NoteLine]:
    """What the last run did, note by note."""
    lines = []
    for deed in state.deeds:
        what = _MADE.get(deed.action, "made") if deed.made else _ACTIONS.get(deed.action, deed.action)
        name = state.titles.get(deed.note, short_id(deed.note))
        why = ["undone"] if deed.undone else []
        why += [deed.cause] if deed.cause != name else []
        lines.append(_line(deed.note, what, name, "; ".join(why), dim=deed.undone))
    if len(lines) >= MOST_DEEDS:
        lines.append(NoteLine("", "and more: the log (l) has all of it", look="$muted"))
    return lines


def rehearsal_lines(memory: AgenticMemorySystem, report: MaintenanceReport) -> list[NoteLine]:
    """What a dry run would do, note by note; a page that would be new has no note yet."""
    shown = report.reasons[:MOST_DEEDS]
    cards = memory.cards_of(list(dict.fromkeys(reason.id for reason in shown if reason.id)))
    lines = []
    for reason in shown:
        name = title(cards[reason.id].text) if reason.id in cards else "a new note"
        what = _PLANNED.get(reason.what, reason.what)
        lines.append(_line(reason.id, what, name, reason.why, sign=_SIGNS.get(reason.what)))
    if len(report.reasons) > len(shown):
        lines.append(NoteLine("", f"and {len(report.reasons) - len(shown):,} more", look="$muted"))
    return lines


def done_words(report: MaintenanceReport) -> str:
    goes_on = "Went on with what was stopped. " if report.resumed else ""
    failed = f" {len(report.problems)} phases failed." if report.problems else ""
    what = amounts(report.counts(), planned=report.dry_run)
    return f"{goes_on}{report.cycle} maintenance: {what}.{failed}"


def _open_words(run: Maintained, zone: tzinfo, *, gone: bool) -> Content:
    at = f", now at {run.phase}" if run.phase else ""
    if run.owner is None or gone:
        said = f"A {run.cycle} maintenance, begun {moment(run.began, zone)}, was stopped{at}; m goes on with it."
    else:
        said = f"{by_whom(run)} is at it: {run.cycle}, since {moment(run.began, zone)}{at}."
    return Content.styled(said, "$warning")


def _phase(name: str, what: str) -> Content:
    return Content.assemble(("✓ ", "$success"), f"{name:<10}", (what, "$muted"))


def _problem(problem: str) -> Content:
    return Content.assemble(("! ", "$warning"), clean(problem))


def _line(id: str, what: str, name: str, why: str, *, dim: bool = False, sign: str | None = None) -> NoteLine:
    return NoteLine(
        key=id,
        title=name,
        head=((f" {what:<{_ACTION_CELLS}}", "$muted" if dim else sign or _SIGNS.get(what, "$accent")),),
        below=" " * (_ACTION_CELLS - 2) + one_line(why, 600),
        look="$muted" if dim else "",
    )


_MARKS = {Mark.GOOD: ("✓ ", "$success"), Mark.WATCH: ("! ", "$warning"), Mark.PLAIN: ("  ", "")}
_LABEL = 14
_LONGEST = 2_000


def block_of(line: Line | str) -> Block:
    """A line, whose `command` is the key to press, or a heading, which may be empty, as a block of a page."""
    if isinstance(line, str):
        return remark(line, "bold $primary")
    key = (f"  {line.command}", "bold $accent") if line.command else ""
    label = fit(line.about, max(_LABEL - 1, cell_len(line.about))) + " "
    head = Content.assemble(_MARKS[line.mark], (label, "bold"))
    rest = Content(" " * head.cell_length)
    return Block(Content.assemble(one_line(line.what, _LONGEST), key), first=head, rest=rest)
