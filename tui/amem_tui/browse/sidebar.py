"""What narrows the list: the sidebar, with how many notes each choice leaves, and the line to type in."""

from __future__ import annotations

from calendar import month_name
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby, islice
from typing import TYPE_CHECKING, ClassVar, Literal

from textual import events, on
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from amem.collection_folders import listed_collection
from amem.note import Kind, Layer, Status
from amem.query import Filter
from amem_tui.formatting import one_line
from amem_tui.lists import CursorList, fit

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import tzinfo

    from textual.app import ComposeResult

    from amem.memory_system import AgenticMemorySystem


Facet = Literal["kind", "tag", "topic", "period", "layer", "status"]

#: Facets of which a note has one value: another one takes the place of the first. Several kinds are alternatives.
_ONE_AT_A_TIME = ("topic", "period", "layer", "status")


@dataclass(frozen=True, slots=True)
class Condition:
    """One choice: `value` is the tag, the kind's name, the topic's note id, or a period (``2026`` or ``2026-03``)."""

    facet: Facet
    value: str
    label: str = field(compare=False)

    @property
    def words(self) -> str:
        """As the heading says it."""
        label = one_line(self.label, 30)
        return f"#{label}" if self.facet == "tag" else label


@dataclass(frozen=True, slots=True)
class Conditions:
    """Those that are chosen, in the order in which they were."""

    chosen: tuple[Condition, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.chosen)

    def toggled(self, condition: Condition) -> Conditions:
        left = tuple(each for each in self.chosen if each != condition)
        if len(left) < len(self.chosen):
            return Conditions(left)
        if condition.facet in _ONE_AT_A_TIME:
            left = tuple(each for each in left if each.facet != condition.facet)
        return Conditions((*left, condition))

    @property
    def words(self) -> str:
        """All of them: ``#tea · preference · 2026-03``."""
        return " · ".join(each.words for each in self.chosen)

    def filter(self, zone: tzinfo) -> Filter:
        """The same as a Filter; a period is one of the calendar of `zone`."""
        since = until = None
        for period in self._values("period"):
            year, _, month = period.partition("-")
            since = datetime(int(year), int(month or 1), 1, tzinfo=zone)
            months = int(year) * 12 + (int(month) if month else 12)
            last = months // 12 > datetime.max.year
            until = None if last else datetime(months // 12, months % 12 + 1, 1, tzinfo=zone)
        topics = self._values("topic")
        statuses = tuple(Status(value) for value in self._values("status"))
        return Filter(
            tags=self._values("tag"),
            kinds=tuple(Kind(value) for value in self._values("kind")),
            layers=tuple(Layer(value) for value in self._values("layer")),
            statuses=statuses or (Status.ACTIVE,),
            part_of=topics[0] if topics else None,
            since=since,
            until=until,
        )

    def _values(self, facet: Facet) -> tuple[str, ...]:
        return tuple(each.value for each in self.chosen if each.facet == facet)


#: The sections, in their order, by what is chosen in them.
_TITLES: Mapping[Facet, str] = {
    "kind": "Kinds",
    "tag": "Tags",
    "topic": "Topics",
    "period": "Timeline",
    "layer": "Memory",
    "status": "Status",
}
_LAYERS = {Layer.LONG_TERM: "long-term", Layer.SHORT_TERM: "short-term"}
#: A collection of a hundred thousand notes has tens of thousands of tags; nobody looks through more than these.
_TAGS = 2000


@dataclass(frozen=True, slots=True)
class Facets:
    """For each value of a facet its name and how many notes one would see with it chosen. Periods are months.

    `total` are all active notes, `collections` those of the home with their notes (None for one that does not open).
    """

    here: str = ""
    total: int = 0
    collections: Mapping[str, int | None] = field(default_factory=dict)
    choices: Mapping[Facet, Mapping[str, tuple[str, int]]] = field(default_factory=dict)
    more_tags: int = 0


def read_facets(
    memory: AgenticMemorySystem, known: Mapping[str, int | None], wanted: Filter | None = None, starting: str = ""
) -> Facets:
    """All that there is besides what is `wanted`, for notes that hold the words of `starting`.

    Other collections that are `known` are not counted again: each is opened for it.
    """
    census = memory.census(wanted, starting=starting)
    months = Counter[str]()
    for day, number in census.days.items():
        months[f"{day.year:04}-{day.month:02}"] += number
    topics = {topic.id: topic.name for topic in memory.topics()}
    choices: dict[Facet, dict[str, tuple[str, int]]] = {
        "kind": {kind: (kind, number) for kind, number in sorted(census.kinds.items(), key=lambda each: -each[1])},
        "tag": {tag: (tag, number) for tag, number in islice(census.tags.items(), _TAGS)},
        "topic": {id: (topics[id], number) for id, number in census.topics.items() if id in topics},
        "period": {each: (f"{month_name[int(each[5:])]} {each[:4]}", months[each]) for each in sorted(months)[::-1]},
        "layer": {layer: (_LAYERS[layer], census.layers[layer]) for layer in sorted(census.layers)},
        "status": {status: (status, census.statuses[status]) for status in Status if status in census.statuses},
    }
    here, home, total = memory.settings.collection, memory.settings.home, memory.count(Filter())
    others = [] if memory.folder is None else [name for name in memory.collections() if name != here]
    counts = {name: known[name] for name in others if name in known} | {here: total}
    for found in (listed_collection(home, name) for name in others if name not in known):
        counts[found.name] = None if found.problem else found.active
    collections = dict(sorted(counts.items()))
    return Facets(here, total, collections, choices, max(0, len(census.tags) - _TAGS))


#: Sections that are open from the start.
_OPEN = frozenset({"kind", "tag", "topic", "period"})
#: Tags and topics that are shown at first, and when one asks for more.
_FEW, _MANY = 12, 500


@dataclass(frozen=True, slots=True)
class SidebarLine:
    """A line called `key`. `opened` says that it can be opened, and whether it is; `section` that it is a heading.

    What can be chosen has a `condition` or a `collection`; "All notes" and "… more" have neither.
    """

    key: str
    text: str
    count: int | None = None
    depth: int = 1
    opened: bool | None = None
    chosen: bool = False
    condition: Condition | None = None
    collection: str | None = None

    @property
    def section(self) -> bool:
        return self.depth == 0 and self.opened is not None


class Sidebar(CursorList):
    """Draws what `show` was told last; says what is chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right", "unfold", "Open", show=False),
        Binding("left", "fold", "Close", show=False),
        Binding("enter", "choose", "Choose", show=False),
        Binding("space", "choose(True)", "Choose and stay", show=False),
    ]

    @dataclass
    class Chosen(Message):
        """A condition to put on or take off, all notes, or a collection; `stay` leaves the keyboard here."""

        line: SidebarLine
        stay: bool

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._facets = Facets()
        self._conditions = Conditions()
        self._opened = set(_OPEN)
        #: Words that what is shown holds.
        self.wanted = ""

    def show(self, facets: Facets | None = None, conditions: Conditions | None = None) -> None:
        self._facets = self._facets if facets is None else facets
        self._conditions = self._conditions if conditions is None else conditions
        self._write()

    def narrow(self, wanted: str) -> None:
        self.wanted = wanted.strip()
        self._write()

    def _write(self) -> None:
        key = "" if self.line is None else self.line.key
        self.entries = self._all_lines()
        self._resized()
        place = next((at for at, line in enumerate(self.entries) if line.key == key), self.cursor)
        self.put_cursor(place, steady=True)

    def _all_lines(self) -> list[SidebarLine]:
        """All that are to be seen; with words wanted those that hold them, whether their sections are open or not."""
        facets = self._facets
        found = [] if self.wanted else [SidebarLine("all", "All notes", facets.total, 0, chosen=not self._conditions)]
        found += self._section("collection", "Collections", [self._collection(name) for name in facets.collections])
        for facet, title in _TITLES.items():
            counted = facets.choices.get(facet, {})
            periods = facet == "period"
            inside = self._periods(counted) if periods else [self._choice(facet, *each) for each in counted.items()]
            inside += [  # what all else leaves nothing of can be taken off all the same
                self._choice(facet, each.value, (each.label, 0))
                for each in self._conditions.chosen
                if each.facet == facet and not any(each.value in (value, value[:4] * periods) for value in counted)
            ]
            found += self._section(facet, title, inside, facets.more_tags if facet == "tag" else 0)
        return found

    def _section(self, name: str, title: str, inside: list[SidebarLine], more: int = 0) -> list[SidebarLine]:
        ticked = any(each.chosen and each.collection is None for each in inside)
        inside = [each for each in inside if self.wanted.casefold() in each.text.casefold()]
        if not inside:
            return []
        is_open = bool(self.wanted) or name in self._opened
        heading = SidebarLine(name, title, depth=0, opened=is_open, chosen=ticked and not is_open)
        return [heading, *(self._first(name, inside, more) if is_open else [])]

    def _first(self, name: str, inside: list[SidebarLine], more: int) -> list[SidebarLine]:
        if name not in ("tag", "topic"):
            return inside
        asked = bool(self.wanted) or f"more {name}" in self._opened
        shown = inside[: _MANY if asked else _FEW]
        # What is chosen stays in sight, however few notes carry it.
        shown += [each for each in inside[len(shown) :] if each.chosen]
        left = len(inside) + more - len(shown)
        if not left or self.wanted:
            return shown
        return [*shown, SidebarLine(f"more {name}", f"… {left:,} more{', f finds them' if asked else ''}")]

    def _periods(self, counted: Mapping[str, tuple[str, int]]) -> list[SidebarLine]:
        """Years, the newest first, and below one that is open its months."""
        found: list[SidebarLine] = []
        for year, group in groupby(counted.items(), key=lambda month: month[0][:4]):
            months = list(group)
            is_open = f"period {year}" in self._opened
            found.append(self._choice("period", year, (year, sum(said[1] for _, said in months)), opened=is_open))
            if is_open or self.wanted:
                found += [self._choice("period", *month, depth=2) for month in months]
        return found

    def _collection(self, name: str) -> SidebarLine:
        here, count = name == self._facets.here, self._facets.collections[name]
        return SidebarLine(f"collection {name}", one_line(name, 60), count, chosen=here, collection=name)

    def _choice(
        self, facet: Facet, value: str, said: tuple[str, int], *, depth: int = 1, opened: bool | None = None
    ) -> SidebarLine:
        label, count = said
        condition = Condition(facet, str(value), str(label))
        chosen = condition in self._conditions.chosen
        return SidebarLine(f"{facet} {value}", one_line(label, 60), count, depth, opened, chosen, condition)

    def action_unfold(self) -> None:
        if self.line is not None and self.line.opened is False:
            self._turn(self.line.key)

    def action_fold(self) -> None:
        line = self.line
        if line is None or self.wanted:
            return
        if line.opened:
            self._turn(line.key)
        else:
            above = range(self.cursor - 1, -1, -1)
            self.go(next((at for at in above if self.entries[at].depth < line.depth), self.cursor))

    def action_choose(self, stay: bool = False) -> None:
        line = self.line
        if line is not None and (line.condition is not None or line.key == "all" or line.collection is not None):
            self.post_message(self.Chosen(line, stay))
        elif line is not None:
            self._turn(line.key)

    def clicked(self, x: int, *, again: bool, double: bool) -> None:
        line = self.entries[self.cursor]
        if line.opened is not None and not line.section and x < 2 * line.depth + 2:
            self._turn(line.key)
        else:
            self.action_choose()

    def _turn(self, key: str) -> None:
        self._opened ^= {key}
        self._write()

    def content(self, place: int, part: int, width: int) -> Content:
        line = self.entries[place]
        look = "bold $accent" if line.chosen else "bold $muted" if line.section else ""
        number = "" if line.count is None else f" {line.count:,} "
        arrow = {None: " ", True: "▾", False: "▸"}[line.opened]
        head = f"{' ' * (2 * line.depth - 1 if line.depth else 0)}{arrow}{'✓' if line.chosen else ' '}"
        if line.key == "all":
            head = " "
        text = fit(f"{head}{line.text}", max(1, width - len(number)))
        return Content.assemble((text, look), (number, "$muted"))


Mode = Literal["search", "filter", "sidebar"]

_PROMPTS: dict[Mode, tuple[str, str, str]] = {
    "search": (" / Search ", "$primary", "a question or words, then enter"),
    "filter": (" f Filter ", "$accent", "words, each of which may be unfinished"),
    "sidebar": (" f Find ", "$secondary", "part of a tag, a topic, a month"),
}
_IDLE = "/ searches by words and meaning    f filters as you type"


class _Typing(Input):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "List"),
        Binding("down", "submit", "Into the list"),
    ]


class SearchLine(Horizontal):
    """`mode` says what is typed. Idle, with nothing typed, it says how to begin. Its input says what is typed."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "screen.clear", "Clear")]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.mode: Mode = "search"
        self._said: tuple[bool, Mode] | None = None
        self._prompt = Static(id="search-mode")
        self._input = _Typing(id="search", compact=True, select_on_focus=True)

    def compose(self) -> ComposeResult:
        yield self._prompt
        yield self._input

    def on_mount(self) -> None:
        self._label()

    @property
    def typing(self) -> bool:
        return self._input.has_focus

    def begin(self, mode: Mode, text: str) -> None:
        self.put(mode, text)
        self.set_class(False, "-idle")
        self.screen.set_focus(self._input)

    def put(self, mode: Mode, text: str) -> None:
        self.mode = mode
        if self._input.value != text:
            with self.prevent(Input.Changed):
                self._input.value = text
        self._label()

    @on(Input.Changed)
    @on(events.DescendantFocus)
    @on(events.DescendantBlur)
    def _label(self) -> None:
        idle = not (self._input.value or self._input.has_focus)
        if (idle, self.mode) == self._said:  # nothing but letters: the line need not be laid out anew
            return
        self._said = (idle, self.mode)
        prompt, colour, what = _PROMPTS[self.mode]
        self._prompt.update(Content(" ") if idle else Content.styled(prompt, f"bold {colour}"))
        self._input.placeholder = _IDLE if idle else what
        self.set_class(idle, "-idle")
