"""How a collection's health and what maintenance did are said to people, whatever shows it: pure functions."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from amem.maintenance.health import Health, Maintained

#: What the numbers of a report are called; ``{s}`` where there are several.
WORDS: Mapping[str, str] = {
    "promoted": "moved to long-term memory",
    "demoted": "moved back to short-term memory",
    "faded": "faded into the archive",
    "conflicts_found": "conflict{s} found",
    "conflicts_resolved": "conflict{s} settled",
    "consolidated": "merged",
    "merges_proposed": "merge{s} proposed (amem review)",
    "topics_updated": "topic page{s} written",
    "compressed": "summed up and archived",
    "reembedded": "embedded anew",
    "reweighted": "link{s} weighed anew",
}
#: What they are called where nothing was done yet.
PLANNED: Mapping[str, str] = {
    "promoted": "would move to long-term memory",
    "demoted": "would move back to short-term memory",
    "faded": "would fade into the archive",
    "conflicts_found": "conflict{s} would be found",
    "conflicts_resolved": "conflict{s} would be settled",
    "consolidated": "would be merged",
    "merges_proposed": "merge{s} would be proposed",
    "topics_updated": "topic page{s} would be written",
    "compressed": "would be summed up and archived",
    "reembedded": "would be embedded anew",
    "reweighted": "link{s} would be weighed anew",
}
_BARS = "▁▂▃▄▅▆▇█"


class Mark(Enum):
    """Whether something is well, wants looking at, or is neither."""

    GOOD = "good"
    WATCH = "watch"
    PLAIN = "plain"


@dataclass(frozen=True, slots=True)
class Line:
    """One line: what it is about, what there is to say, and the command that does something about it, if one does."""

    about: str
    what: str
    mark: Mark = Mark.PLAIN
    command: str = ""


def amount(name: str, number: int, *, planned: bool = False) -> str:
    """A number of the report in words: ``1 topic page written``, `planned` ``1 topic page would be written``."""
    words = PLANNED if planned else WORDS
    return f"{number:,} {words[name].format(s='' if number == 1 else 's')}"


def amounts(counts: Iterable[tuple[str, int]], *, planned: bool = False) -> str:
    """All that was done (or would be), or that nothing was."""
    return ", ".join(amount(name, number, planned=planned) for name, number in counts) or "nothing to do"


def health_lines(found: Health, when: Callable[[datetime], str]) -> Iterator[Line]:
    """How the notes are, line by line; `when` says a time."""
    yield Line("notes", f"{size(found)}; {_counts(found.statuses)}")
    yield Line("layers", _counts(found.layers))
    yield Line("kinds", _counts(found.kinds))
    yield Line("growth", f"{bars(found.growth)}  {found.growth[-1]:,} this week, {sum(found.growth):,} in eight")
    lean = "leans" if found.stale == 1 else "lean"
    leaning = f"{_count(found.stale, 'note')} ({found.stale_share:.1%}) {lean} on what is no longer so"
    yield _checked("stale", found.stale, leaning)
    yield _checked(
        "conflicts", found.conflicts, f"{_count(found.conflicts, 'pair')} of notes in doubt", "amem conflicts"
    )
    if found.lost_successors:
        lost = f"{_count(found.lost_successors, 'note')} superseded by one that was deleted"
        yield _checked("chains", found.lost_successors, lost)
    dangling = f"{_count(found.dangling_links, 'link')} to notes that are not there"
    yield _checked("dangling", found.dangling_links, dangling)
    orphans = found.orphans / max(1, found.statuses.get("active", 0))
    yield Line("orphans", f"{_count(found.orphans, 'note')} ({orphans:.0%}) without a link")
    waiting = [
        f"{number:,} {what}"
        for number, what in (
            (found.pending, "to be analysed"),
            (found.degraded, "whose analysis failed"),
            (found.reviews, "proposed changes to decide"),
        )
        if number
    ]
    yield _checked("waiting", len(waiting), ", ".join(waiting))
    behind = f"{_count(found.unembedded, 'note')} found by their words only" if found.unembedded else ""
    wrong = "" if found.index == "in step" else found.index
    if behind or wrong:
        yield Line("index", "; ".join(filter(None, (wrong, behind))), Mark.WATCH)
    else:
        yield Line("index", "in step", Mark.GOOD)
    if found.language:
        yield Line("language", found.language, Mark.WATCH)
    yield from _maintenance(found, when)


def size(found: Health) -> str:
    """``25 notes, 1.2 MB``."""
    return _count(found.notes, "note") + ("" if found.bytes is None else f", {found.bytes / 1e6:.1f} MB")


def bars(numbers: Sequence[int]) -> str:
    """Numbers as a line of bars, the largest one full height, and nothing as nothing."""
    most = max(numbers, default=0)
    return "".join(_BARS[-(-number * (len(_BARS) - 1) // most)] if number else "·" for number in numbers)


def _maintenance(found: Health, when: Callable[[datetime], str]) -> Iterator[Line]:
    if found.open is not None:
        state = "runs" if found.open.owner else "was stopped, and goes on next time"
        yield Line("maintenance", f"{found.open.cycle}, begun {when(found.open.began)}, {state}")
    if found.last is None:
        yield Line("maintained", "never")
    else:
        undo = "" if found.last.operation is None or found.last.undone else f"amem undo {found.last.operation}"
        yield Line("maintained", last_run(found.last, when), command=undo)
    if found.due is not None:
        yield Line("due", f"{found.due} maintenance", Mark.WATCH, f"amem maintain --{found.due}")
    elif found.next:
        soonest = min(found.next, key=lambda cycle: found.next[cycle])
        yield Line("due", f"{soonest} from {when(found.next[soonest])}", Mark.GOOD)


def last_run(run: Maintained, when: Callable[[datetime], str]) -> str:
    """``2026-03-01 03:30, nightly: 3 merged``."""
    at = run.began if run.finished is None else run.finished
    return f"{when(at)}, {run.cycle}: {amounts(run.counts.items())}{' (undone)' if run.undone else ''}"


def _checked(about: str, number: int, what: str, command: str = "") -> Line:
    return Line(about, what, Mark.WATCH, command) if number else Line(about, "none", Mark.GOOD)


def _counts(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {name.replace('_', '-')}" for name, number in numbers.items()) or "none"


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"
