"""Retention curves as a matplotlib figure, which comes with the extra ``plot``, and as text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.errors import MissingExtra
from amem.labels import short_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from amem.maintenance.forgetting_preview import Curve


#: Fonts that can write Chinese, as systems come with them.
_CHINESE = (
    *("Noto Sans CJK SC", "Noto Sans CJK JP", "Source Han Sans SC", "PingFang SC", "Hiragino Sans GB"),
    *("Microsoft YaHei", "SimHei", "WenQuanYi Micro Hei", "WenQuanYi Zen Hei", "Arial Unicode MS"),
)
_LABEL_CHARS = 28
#: Lines of the curves as text, and the shares that are named beside them.
_HEIGHT, _QUARTERS = 16, (0.0, 0.25, 0.5, 0.75, 1.0)
#: What curves are drawn in: the terminal's own bright colours first; where there are none, letters.
COLOURS, LETTERS = (12, 10, 9, 13, 14, 11, 4, 2), "abcdefgh"
#: How far apart, in days, marks below a curve may be.
_STEPS = (1, 2, 5, 7, 10, 14, 30, 60, 90, 180, 365, 3_650)


def draw(curves: Sequence[Curve]) -> Figure:
    """A line for each note, with its first words where a font can write them. Raises MissingExtra."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra(
            "drawing a figure needs matplotlib", hint='install it: pip install "amem[plot]"; --plot draws without it'
        ) from error
    # Not through pyplot, which keeps every figure it made.
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.add_subplot()
    fonts = _fonts()
    for curve in curves:
        axes.plot(curve.days, curve.kept, label=_label(curve, fonts))
    axes.axvline(0.0, color="0.6", linewidth=1, linestyle=":")
    axes.set(xlabel="days from now", ylabel="kept", ylim=(0.0, 1.02))
    axes.yaxis.set_major_formatter(lambda kept, _: f"{kept:.0%}")
    axes.spines[["top", "right"]].set_visible(False)
    if curves:
        axes.legend(frameon=False, prop={"family": [*fonts], "size": 9})
    return figure


def _fonts() -> list[str]:
    from matplotlib.font_manager import fontManager

    known = set(fontManager.get_font_names())
    return ["DejaVu Sans", *(name for name in _CHINESE if name in known)]


def _label(curve: Curve, fonts: Sequence[str]) -> str:
    words = " ".join(curve.content.split())
    words = words if len(words) <= _LABEL_CHARS else f"{words[: _LABEL_CHARS - 1].rstrip()}…"
    if not _writes(words, fonts):  # they would be boxes
        words = f"{curve.kind} {short_id(curve.id)}"
    # A dollar sign would begin a formula.
    return words.replace("$", r"\$") + (f" (+{curve.alike})" if curve.alike else "")


def _writes(words: str, fonts: Sequence[str]) -> bool:
    from matplotlib.font_manager import FontProperties, findfont, get_font

    held = [get_font(findfont(FontProperties(family=name))) for name in fonts]
    return all(any(font.get_char_index(ord(char)) for font in held) for char in words)


def as_text(curves: Sequence[Curve], width: int, *, colours: bool) -> str:
    """The first eight curves as text, `width` cells wide; without colours, each is made of a letter of its own."""
    from plotext import figure, marker

    # plotext draws on one canvas of its own, which is ours for as long as the command runs.
    figure.clear.all()
    figure.theme("simple" if colours else "colorless")
    today = figure.signal([0, 0], [0, 1], marker="┊")
    figure.draw(today.lines())
    for letter, colour, curve in zip(LETTERS, COLOURS, curves, strict=False):
        look = marker("braille", colour) if colours else letter
        figure.draw(figure.signal(curve.days.tolist(), curve.kept.tolist(), marker=look).lines())
    figure.plot_size(width, _HEIGHT)
    figure.ruler("y").lim(0, 1)
    figure.ruler("y").ticks(list(_QUARTERS), [f"{each:.0%}" for each in _QUARTERS])
    marks = day_marks(min(curve.days[0] for curve in curves), max(curve.days[-1] for curve in curves), width // 9)
    figure.ruler("x").ticks(marks, [str(mark) for mark in marks])
    figure.label("kept, by days from now")
    text: str = figure.build().string(colorless=not colours)
    return "\n".join(line.rstrip() for line in text.rstrip("\n").splitlines())


def day_marks(first: float, last: float, most: int) -> list[int]:
    """Round numbers of days between two, 0 among them, no more than `most`."""
    step = next((each for each in _STEPS if (last - first) / each <= most), _STEPS[-1])
    return [day for day in range(-step * int(-first // step), int(last) + 1, step) if day >= first]
