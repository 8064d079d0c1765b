"""``amem health``: how the notes are, on one screen."""

# No ``from __future__ import annotations`` here: Typer reads annotations at run time.

from typing import TYPE_CHECKING

import typer

from amem.cli.context import invocation
from amem.cli.options import Json
from amem.cli.render import console, count, on_terminal, print_json, print_wrapped, styled, when

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import tzinfo

    from amem.maintenance.health import Health, Maintained

_PANEL = "Look after"
_BARS = "▁▂▃▄▅▆▇█"
_GOOD, _WATCH = "green", "yellow"


def register(app: typer.Typer) -> None:
    """Add this room's command."""
    app.command(rich_help_panel=_PANEL)(health)


def health(context: typer.Context, as_json: Json = False) -> None:
    """How the notes are: stale, contradicting, loose, waiting, growing (that everything works: amem doctor)."""
    from amem.clock import zone

    with invocation(context).memory() as memory:
        found = memory.health()
        where = zone(memory.settings.timezone)
        name = memory.settings.collection
    if as_json:
        return print_json(found.to_dict())
    if not on_terminal():
        for about, what, _ in _lines(found, where):
            print(f"{about}\t{what}")
        return None
    out = console()
    out.print(styled((name, "bold"), ("  " + _size(found), "dim")))
    for about, what, style in _lines(found, where):
        mark = {_GOOD: ("✓ ", _GOOD), _WATCH: ("! ", _WATCH)}.get(style, ("  ", ""))
        print_wrapped(out, styled(mark, (f"{about:<13}", "bold"), what), hanging=15)
    return None


def _lines(found: "Health", zone: "tzinfo") -> "Iterator[tuple[str, str, str]]":
    """(about, what, style) of each line."""
    yield "notes", f"{_size(found)}; {_counts(found.statuses)}" if not on_terminal() else _counts(found.statuses), ""
    yield "layers", _counts(found.layers), ""
    yield "kinds", _counts(found.kinds), ""
    yield "growth", f"{bars(found.growth)}  {found.growth[-1]:,} this week, {sum(found.growth):,} in eight", ""
    lean = "leans" if found.stale == 1 else "lean"
    leaning = f"{count(found.stale, 'note')} ({found.stale_share:.1%}) {lean} on what is no longer so"
    yield _checked("stale", found.stale, leaning)
    yield _checked("conflicts", found.conflicts, f"{count(found.conflicts, 'pair')} of notes in doubt: amem conflicts")
    lost = f"{count(found.lost_successors, 'note')} superseded by one that was deleted"
    yield _checked("chains", found.lost_successors, lost)
    dangling = f"{count(found.dangling_links, 'link')} to notes that are not there"
    yield _checked("dangling", found.dangling_links, dangling)
    orphans = found.orphans / max(1, found.statuses.get("active", 0))
    yield "orphans", f"{count(found.orphans, 'note')} ({orphans:.0%}) without a link", ""
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
    behind = f"{count(found.unembedded, 'note')} found by their words only" if found.unembedded else ""
    wrong = "" if found.index == "in step" else found.index
    if behind or wrong:
        yield "index", "; ".join(filter(None, (wrong, behind))), _WATCH
    else:
        yield "index", "in step", _GOOD
    if found.language:
        yield "language", found.language, _WATCH
    yield from _maintenance(found, zone)


def _maintenance(found: "Health", zone: "tzinfo") -> "Iterator[tuple[str, str, str]]":
    if found.open is not None:
        state = "runs" if found.open.owner else "was stopped, and goes on next time"
        yield "maintenance", f"{found.open.cycle}, begun {when(found.open.began, zone)}, {state}", ""
    yield "maintained", "never" if found.last is None else _last(found.last, zone), ""
    if found.due is not None:
        yield "due", f"{found.due} maintenance: amem maintain --{found.due}", _WATCH
    elif found.next:
        soonest = min(found.next, key=lambda cycle: found.next[cycle])
        yield "due", f"{soonest} from {when(found.next[soonest], zone)}", _GOOD


def _last(run: "Maintained", zone: "tzinfo") -> str:
    from amem.cli.maintain import amount

    done = ", ".join(amount(name, number) for name, number in run.counts.items()) or "nothing to do"
    undo = f" (amem undo {run.operation})" if run.operation is not None else ""
    return f"{when(run.finished, zone)}, {run.cycle}: {done}{undo}"


def _checked(about: str, number: int, what: str) -> tuple[str, str, str]:
    return (about, what, _WATCH) if number else (about, "none", _GOOD)


def _counts(numbers: "Mapping[str, int]") -> str:
    return ", ".join(f"{number:,} {name.replace('_', '-')}" for name, number in numbers.items()) or "none"


def _size(found: "Health") -> str:
    size = "" if found.bytes is None else f", {found.bytes / 1e6:.1f} MB"
    return f"{count(found.notes, 'note')}{size}"


def bars(numbers: "Sequence[int]") -> str:
    """Numbers as a line of bars, the largest one full height, and nothing as nothing."""
    most = max(numbers, default=0)
    return "".join(_BARS[-(-number * (len(_BARS) - 1) // most)] if number else "·" for number in numbers)
