"""Retention curves as a matplotlib figure; matplotlib comes with the extra ``plot``."""

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
