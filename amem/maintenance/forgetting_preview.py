"""Preview what would move or fade by some day if nothing were recalled, why, and as curves; nothing is written."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from amem.errors import InvalidInput, MissingExtra
from amem.labels import short_id
from amem.maintenance.forgetting_phases import FADING, OWN, What, fade_plan, lasting, layer_moves, plan_fading
from amem.note import Kind, Layer, MemoryNote, Plain, Status
from amem.rendering import one_line
from amem.storage.rows import time_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from amem.language.predicates import Predicates
    from amem.maintenance.forgetting_phases import Move
    from amem.settings import Settings
    from amem.storage.store import Session
    from amem.strength import Strength


# What is to become of one note: when it leaves its layer and when it fades, if nothing recalls it until then.

#: Nobody plans farther than ten years.
_FARTHEST = 3_650
#: How much of the past a curve shows at most, how much of the future that of one note at least, in days; its points.
_PAST, _LEAST_AHEAD, _POINTS = 120.0, 60.0, 240


@dataclass(frozen=True, slots=True)
class Outlook:
    """How one note stands at `at`, and what time will do to it.

    `moves` is the first day on which maintenance would change its layer, to `moves_to`; `fades` the first on which it
    would archive it; None for never (in ten years). `stays` says why it never fades, '' when it does. `days` from now
    and the share `kept` (0..1) then are its retention curve, from its last use (120 days ago at most) on.
    """

    id: str
    kind: Kind
    content: str
    status: Status
    pinned: bool
    at: datetime
    now: Strength
    moves: datetime | None
    moves_to: Layer | None
    fades: datetime | None
    stays: str
    days: NDArray[np.float64]
    kept: NDArray[np.float64]


def strength_of(session: Session, id: str, at: datetime) -> Strength:
    """How strong a note is `at` a time, by the uses counted until now. Raises NoteNotFound."""
    return session.usage.standings([session.notes.key_of(id)]).terms(at)[0]


def look_ahead(
    session: Session, settings: Settings, predicates: Predicates, id: str, ahead: float | None = None
) -> Outlook:
    """The outlook of a note; its curve reaches `ahead` days from now. Raises NoteNotFound."""
    key = session.notes.key_of(id)
    at, late = session.now, session.now + timedelta(days=_FARTHEST)
    standings = session.usage.standings([key])
    note, _ = session.notes.bare([key])[key]

    def layer_on(day: int) -> What | None:
        found = layer_moves(session, standings, at + timedelta(days=day), settings)
        return found[0].what if found else None

    def fades_on(day: int) -> bool:
        return bool(fade_plan(session, standings, at + timedelta(days=day), settings, predicates)[0])

    # Only the strong rise, and they do it at once; from then on time takes without ever giving back.
    moves = 0 if layer_on(0) else _first_day(lambda day: layer_on(day) is not None)
    moved = None if moves is None else layer_on(moves)
    fades = _first_day(fades_on)
    now = standings.terms(at)[0]
    if ahead is None:
        ahead = max(_LEAST_AHEAD, 1.25 * max((day for day in (moves, fades) if day is not None), default=0))
    days = np.linspace(-min(now.age_days, _PAST), max(ahead, 1.0), _POINTS)
    return Outlook(
        id=note.id,
        kind=note.kind,
        content=note.content,
        status=note.status,
        pinned=note.pinned,
        at=at,
        now=now,
        moves=None if moves is None else at + timedelta(days=moves),
        moves_to=None if moved is None else Layer(moved.change["layer"]),
        fades=None if fades is None else at + timedelta(days=fades),
        stays=""
        if fades is not None
        else _why(session, note, key, plan_fading(standings, late, settings), late, settings, predicates),
        days=days,
        kept=now.kept_after(days),
    )


def _first_day(happens: Callable[[int], bool]) -> int | None:
    """The first day on which it happens, given that what has happened once goes on happening."""
    if not happens(_FARTHEST):
        return None
    low, high = -1, _FARTHEST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if happens(middle) else (middle, high)
    return high


def _why(
    session: Session,
    note: MemoryNote,
    key: int,
    planned: Sequence[Move],
    late: datetime,
    settings: Settings,
    predicates: Predicates,
) -> str:
    if note.status is not Status.ACTIVE:
        return f"it is {note.status} already"
    if note.pinned:
        return "it is pinned"
    if note.kind not in FADING:
        return f"a {note.kind} never fades by time alone"
    if not planned:
        return "it stays strong enough"
    held = lasting(session, [key], late, settings, predicates)
    return held.get(key, "somebody wanted it to stay")


# What would move or fade by some day if nothing were recalled until then, and why: the same plan, nothing written.

#: A note that was asked about and that does not move.
STAYS = "stays"
_FARTHEST_DAYS = 36_500


@dataclass(frozen=True, slots=True)
class Curve:
    """What is kept of a note (0..1) by days from now: from its last use (120 days ago at most) to the preview's end.

    `alike` counts the other notes that are forgotten as fast.
    """

    id: str
    kind: Kind
    content: str
    days: NDArray[np.float64]
    kept: NDArray[np.float64]
    alike: int


@dataclass(frozen=True, slots=True)
class Foreseen(Plain):
    """What would become of one note: `what` is promoted, demoted, faded or (of notes asked about by id) stays.

    `now` and `then` are its strength at the preview's two ends.
    """

    id: str
    kind: Kind
    content: str
    what: str
    why: str
    now: Strength
    then: Strength


@dataclass(frozen=True, slots=True)
class FadePreview:
    """What ``maintain()`` would do on `until` to the notes as they are at `at`: what fades first, then what moves.

    `active` is how many notes were looked at, `counts` how many would be promoted, demoted and faded: all of them,
    also where `notes` names the first of each sort alone. `own` counts the notes that are as weak as what fades and
    stay because a person wrote them (0 with ``archive_own_notes``).
    """

    at: datetime
    until: datetime
    active: int
    notes: tuple[Foreseen, ...]
    counts: Mapping[str, int]
    own: int = 0

    def curves(self, most: int = 8) -> list[Curve]:
        """The first `most` retention curves that differ by a day of age or stability."""
        ahead = (self.until - self.at).total_seconds() / 86_400
        shapes: dict[tuple[float, float, str], dict[str, Foreseen]] = {}
        for note in self.notes:
            stability = note.now.stability_days
            held = stability if math.isinf(stability) else round(stability)
            shape = (round(note.now.age_days), held, str(note.now.layer))
            shapes.setdefault(shape, {}).setdefault(note.id, note)
        return [_curve([*notes.values()], ahead) for notes in list(shapes.values())[:most]]

    def figure(self, most: int = 8) -> Figure:
        """Retention curves as a matplotlib figure, for notebooks and files. Raises MissingExtra without matplotlib."""
        return draw(self.curves(most))

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "at": time_text(self.at),
            "until": time_text(self.until),
            "active": self.active,
            **self.counts,
            "own": self.own,
            "notes": [note.to_dict() for note in self.notes],
        }


def foresee(
    session: Session,
    settings: Settings,
    predicates: Predicates,
    days: float,
    ids: Sequence[str] | None = None,
    *,
    most: int | None = None,
) -> FadePreview:
    """What would move or fade `days` from now; of the notes `ids` alone, those that stay included.

    With `most` only so many of each sort are named, though all are counted. Raises InvalidInput for days that are
    none, and NoteNotFound.
    """
    if not (math.isfinite(days) and 0 <= days <= _FARTHEST_DAYS):
        raise InvalidInput(f"cannot look {days} days ahead", hint=f"give a number from 0 to {_FARTHEST_DAYS:,}")
    keys = None if ids is None else list(dict.fromkeys(map(session.notes.key_of, ids)))
    at, until = session.now, session.now + timedelta(days=days)
    standings = session.usage.standings(keys)
    fading, weak = fade_plan(session, standings, until, settings, predicates)
    moves = fading + layer_moves(session, standings, until, settings)
    counted = Counter(move.what for move in moves)
    strong = dict(zip(standings.keys.tolist(), standings.strength(at).tolist(), strict=True))
    moves = _first(_sorted(moves, strong), most)
    wanted = [move.key for move in moves] if keys is None else keys
    chosen = standings.where(np.isin(standings.keys, wanted))
    now = dict(zip(chosen.keys.tolist(), chosen.terms(at), strict=True))
    later = dict(zip(chosen.keys.tolist(), chosen.terms(until), strict=True))
    notes = session.notes.bare(wanted)

    def foreseen(key: int, what: str, why: str, then: Strength) -> Foreseen:
        note, _ = notes[key]
        return Foreseen(note.id, note.kind, note.content, what, why, now[key], then)

    found = [foreseen(move.key, str(move.what), move.why, move.strength) for move in moves]
    moving = {move.key for move in moves}
    staying = [key for key in keys or () if key not in moving]
    held = lasting(session, [key for key in staying if notes[key][0].kind in FADING], until, settings, predicates)
    for key in staying:
        status = notes[key][0].status
        why = later[key].words() if status is Status.ACTIVE else f"is {status} already"
        if status is Status.ACTIVE and key in held:
            why += f"; does not fade: {held[key]}"
        found.append(foreseen(key, STAYS, why, later[key]))
    counts = {str(what): counted[what] for what in What}
    own = sum(why == OWN for why in weak.values())
    return FadePreview(at, until, int(standings.active.sum()), tuple(found), counts, own)


def _sorted(moves: Sequence[Move], strong: Mapping[int, float]) -> list[Move]:
    """What fades, then what is demoted, then what is promoted; of each first what is strongest now."""
    order = (What.FADED, What.DEMOTED, What.PROMOTED)
    return sorted(moves, key=lambda move: (order.index(move.what), -strong[move.key], move.key))


def _first(moves: Sequence[Move], most: int | None) -> list[Move]:
    """The first `most` of each sort."""
    return [
        move
        for what in dict.fromkeys(each.what for each in moves)
        for move in [each for each in moves if each.what is what][:most]
    ]


def _curve(notes: Sequence[Foreseen], ahead: float) -> Curve:
    note = notes[0]
    days = np.linspace(-min(note.now.age_days, _PAST), max(ahead, 1.0), _POINTS)
    return Curve(note.id, note.kind, note.content, days, note.now.kept_after(days), len(notes) - 1)


# The curves drawn: as a figure, or as text.

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
    words = one_line(curve.content, _LABEL_CHARS)
    if not _writes(words, fonts):  # they would be boxes
        words = f"{curve.kind} {short_id(curve.id)}"
    # A dollar sign would begin a formula.
    return words.replace("$", r"\$") + (f" (+{curve.alike})" if curve.alike else "")


def _writes(words: str, fonts: Sequence[str]) -> bool:
    from matplotlib.font_manager import FontProperties, findfont, get_font

    held = [get_font(findfont(FontProperties(family=name))) for name in fonts]
    return all(any(font.get_char_index(ord(char)) for font in held) for char in words)


#: plotext draws on one canvas of its own.
_CANVAS = Lock()


def as_text(
    curves: Sequence[Curve | Outlook],
    width: int,
    *,
    colours: bool,
    height: int = _HEIGHT,
    markers: Sequence[str] = LETTERS,
) -> str:
    """The first eight curves as text of `width` x `height` cells; without colours, each is made of its own marker."""
    with _CANVAS:
        return _plotted(curves, width, height, colours, markers)


def _plotted(curves: Sequence[Curve | Outlook], width: int, height: int, colours: bool, markers: Sequence[str]) -> str:
    from plotext import figure, marker

    figure.clear.all()
    figure.theme("simple" if colours else "colorless")
    today = figure.signal([0, 0], [0, 1], marker="┊")
    figure.draw(today.lines())
    for mark, colour, curve in zip(markers, COLOURS, curves, strict=False):
        look = marker("braille", colour) if colours else mark
        figure.draw(figure.signal(curve.days.tolist(), curve.kept.tolist(), marker=look).lines())
    figure.plot_size(width, height)
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
