"""``amem fade``: notes that would fade or change layer, why, and curves of what is kept of them."""

import math
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from amem.cli.command import Drawing, Shown, command
from amem.cli.invocation import Invocation, tell
from amem.cli.options import argument, option
from amem.cli.render import Page, cell_width, count, on_terminal, one_line, short_id, styled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.maintenance.forgetting_preview import Curve, FadePreview, Foreseen
    from amem.strength import Strength


_SHOWN = 10
_DRAWN = (".png", ".svg", ".pdf")
_HEADINGS = {
    "faded": "to be archived: out of default search, never destroyed",
    "demoted": "back to short-term memory",
    "promoted": "to long-term memory",
    "stays": "unchanged",
}


@command()
def fade(
    call: Invocation,
    ids: Annotated[list[str] | None, argument("ID", "Only these notes; default: all.")] = None,
    days: Annotated[float, option("--days -d", "How many days to look ahead.")] = 30,
    everything: Annotated[bool, option("--all -a", f"All of them, not {_SHOWN} of each sort.")] = False,
    plot: Annotated[bool, option("--plot", "Draw what is kept of them, day by day.")] = False,
    output: Annotated[str | None, option("--output -o", "Draw that into a .png, .svg or .pdf file.")] = None,
) -> Shown:
    """Show which notes would fade or change layer if nothing recalled them, and why. Changes nothing."""
    with call.browsed(empty={}) as memory:
        preview = memory.fade(days, [memory.resolve(id) for id in ids] if ids else None)
    if output is not None:
        _save(preview, output)
    if not call.as_json:
        shown = Drawing(
            None, map(_cells, preview.notes), lambda page: _draw(page, preview, None if everything else _SHOWN)
        )
        shown.show(call)
        print_curves(preview.curves() if plot else ())
    told = []
    if not preview.notes:
        told.append(f"nothing fades or changes layer within {count_days(days)}")
    if preview.own and not ids:
        stay = "would be as weak and stay: what you wrote is archived only with archive_own_notes = true"
        told.append(f"{count(preview.own, 'note')} of your own {stay}")
    return Shown(preview, told=told)


def count_days(days: float) -> str:
    """``1 day``, ``30 days``."""
    return "1 day" if days == 1 else f"{days:g} days"


def _save(preview: "FadePreview", path: str) -> None:
    from amem.errors import InvalidInput

    file = Path(path).expanduser()
    if file.suffix.lower() not in _DRAWN:
        raise InvalidInput(f"cannot draw into {path}: it is no .png, .svg or .pdf file")
    if not file.parent.is_dir():
        raise InvalidInput(f"cannot draw into {path}: there is no folder {file.parent}", hint="make it first")
    preview.figure().savefig(file)
    tell(f"drawn into {path}")


def _cells(note: "Foreseen") -> tuple[str, ...]:
    """What, id, kind, strength now and then, importance, trust, recalls, age, stability, kept, the note."""
    now, then = note.now, note.then
    numbers = [f"{each:.3f}" for each in (now.value, then.value, now.importance, then.trust)]
    numbers += [str(then.recalls), f"{then.age_days:.1f}", f"{then.stability_days:.1f}", f"{then.retention:.3f}"]
    return (note.what, short_id(note.id), note.kind, *numbers, note.content)


def _draw(page: Page, preview: "FadePreview", most: int | None) -> None:
    for what, heading in _HEADINGS.items():
        notes = [note for note in preview.notes if note.what == what]
        if not notes:
            continue
        page.write((f"{len(notes):,} ", "bold"), (heading, "bold"))
        for note in notes[:most]:
            _draw_note(page, note)
        if more := len(notes) - len(notes[:most]):
            page.write((f"and {more:,} more: --all", "dim"), indent=2)
        page.out.print()


def _draw_note(page: Page, note: "Foreseen") -> None:
    change = f"{note.now.value:.2f} → {note.then.value:.2f}"
    head = styled("  ", (short_id(note.id), "cyan"), f"  {note.kind}  ", (change, "bold"))
    room = page.width - cell_width(head.plain) - 2
    if room >= 24:
        page.whole(head, f"  {one_line(note.content, room)}")
    else:
        page.whole(head)
        page.write(one_line(note.content, 2 * (page.width - 6)), indent=4)
    page.write((_terms(note.then, note.why), "dim"), indent=4)


def _terms(then: "Strength", why: str) -> str:
    if why.endswith(" already"):
        return why
    layer = str(then.layer).replace("_", "-")
    used = "never recalled" if not then.recalls else f"recalled {count(then.recalls, 'time')}"
    kept = f"{then.retention:.0%} kept"
    if math.isinf(then.stability_days):
        kept = "does not decay"
    else:
        kept += f" after {count_days(round(then.age_days))} (stability {count_days(round(then.stability_days))})"
    return f"importance {then.importance:.2f} · trust {then.trust:.2f} · {used} · {kept} · {layer}"


# Retention curves in the terminal, by plotext, with a line below for each curve that says whose it is.


_HEIGHT, _WIDEST = 16, 100
_QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)
#: The terminal's own bright colours first.
_COLOURS = (12, 10, 9, 13, 14, 11, 4, 2)
_LETTERS = "abcdefgh"
#: How far apart, in days, the marks below may be.
_STEPS = (1, 2, 5, 7, 10, 14, 30, 60, 90, 180, 365, 3_650)


def print_curves(curves: "Sequence[Curve]") -> None:
    """What is kept of each note, by days from now; nothing for no notes."""
    if not curves:
        return
    colours = on_terminal() and not os.environ.get("NO_COLOR")
    print(drawn(curves, min(shutil.get_terminal_size().columns, _WIDEST), colours=colours))
    page = Page()
    for letter, colour, curve in zip(_LETTERS, _COLOURS, curves, strict=False):
        mark = ("━━ ", f"color({colour})") if colours else f"{letter} "
        alike = f" (and {curve.alike:,} like it)" if curve.alike else ""
        page.write(mark, (short_id(curve.id), "cyan"), f"{alike}  {one_line(curve.content, 60)}", indent=1, hanging=3)


def drawn(curves: "Sequence[Curve]", width: int, *, colours: bool) -> str:
    """The first eight curves as text, `width` cells wide; without colours, each is made of a letter of its own."""
    from plotext import figure, marker

    # plotext draws on one canvas of its own, which is ours for as long as the command runs.
    figure.clear.all()
    figure.theme("simple" if colours else "colorless")
    today = figure.signal([0, 0], [0, 1], marker="┊")
    figure.draw(today.lines())
    for letter, colour, curve in zip(_LETTERS, _COLOURS, curves, strict=False):
        look = marker("braille", colour) if colours else letter
        figure.draw(figure.signal(curve.days.tolist(), curve.kept.tolist(), marker=look).lines())
    figure.plot_size(width, _HEIGHT)
    figure.ruler("y").lim(0, 1)
    figure.ruler("y").ticks(list(_QUARTERS), [f"{each:.0%}" for each in _QUARTERS])
    marks = _marks(min(curve.days[0] for curve in curves), max(curve.days[-1] for curve in curves), width // 9)
    figure.ruler("x").ticks(marks, [str(mark) for mark in marks])
    figure.label("kept, by days from now")
    text: str = figure.build().string(colorless=not colours)
    return "\n".join(line.rstrip() for line in text.rstrip("\n").splitlines())


def _marks(first: float, last: float, most: int) -> list[int]:
    """Round numbers of days between two, 0 among them, no more than `most`."""
    step = next((each for each in _STEPS if (last - first) / each <= most), _STEPS[-1])
    return [day for day in range(-step * int(-first // step), int(last) + 1, step) if day >= first]
