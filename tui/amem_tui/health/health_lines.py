"""How the collection is, in words: its notes, what waits, its models, and what a full check or a retry found."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from amem.maintenance.health import Line, Mark, health_lines
from amem.writing.worker import is_gone
from amem_tui.phrases import clean, moment, plural, title

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import tzinfo

    from amem.maintenance.doctor import Finding
    from amem.maintenance.health import Health, Maintained
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
        """How much waits for somebody to analyse it."""
        return self.health.pending + self.health.degraded + self.turns


def read_state(memory: AgenticMemorySystem) -> State:
    """Look at the collection."""
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
    """What a full check found."""
    lines: list[Line | str] = ["", "Full check"]
    for each in findings:
        hint = f": {each.hint}" if each.hint and each.level != "ok" else ""
        lines.append(Line(each.about, each.what + hint, _LEVELS[each.level]))
    return lines


def retry_words(report: EnrichReport) -> list[Line | str]:
    """What a retry could not do, and why."""
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
