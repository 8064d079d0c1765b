"""The list of notes: what it shows, how that is read in a thread, and how a row is drawn, marked and opened."""

from __future__ import annotations

from collections import Counter, OrderedDict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive

from amem.labels import counted
from amem.note import Enrichment, Layer, Status
from amem.query import Filter, Query
from amem.retrieval.confidence import Support, best_support
from amem.storage.note_lists import ORDERS, Order, Shelf
from amem_tui.browse.sidebar import Conditions
from amem_tui.formatting import GLYPHS, SIGNS, author, clean, command, maker_name, one_line, title
from amem_tui.lists import ReadList, begun_late, fit, fitted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence, Set
    from datetime import datetime, tzinfo

    from amem.memory_system import AgenticMemorySystem
    from amem.retrieval.hit import Hit
    from amem.settings import Settings
    from amem.storage.note_lists import Card
    from amem_tui.client import CollectionClient


#: The look of words that matched.
FOUND = "bold $accent"
#: Strength from which another bar is lit. A note without any would fade; one with all of them is kept for long.
_LEVELS = (0.1, 0.3, 0.5, 0.7)


@dataclass(frozen=True, slots=True)
class Row:
    """A card with its title and its time in the person's zone.

    For search hits alone: `score`, `why` it was found, an `excerpt` of its text in which what matched looks `FOUND`,
    `faint` where it gives an answer no support, and the `catalog` that it is in, '' for one of the open collection.
    """

    card: Card
    title: str
    at: datetime
    score: float | None = None
    why: str = ""
    excerpt: Content = field(default_factory=Content)
    faint: bool = False
    catalog: str = ""

    @property
    def id(self) -> str:
        return self.card.id


def row_of(card: Card, zone: tzinfo, hit: Hit | None = None) -> Row:
    """The row of a note; with the hit's score and explanation where it was searched for."""
    row = Row(card, title(card.text), card.at.astimezone(zone))
    if hit is None:
        return row
    part, why = hit.passage, one_line(hit.explanation.words(), 300)
    goes_on = _ON if hit.text[part.end :].strip() else ""
    from_here = "… " if hit.text[: part.start].strip() else ""
    pieces = ((clean(piece), FOUND if matched else "") for piece, matched in part.pieces())
    excerpt = Content.assemble(from_here, *pieces, goes_on)
    faint = hit.support is Support.NONE
    return replace(row, score=hit.score, why=why, excerpt=excerpt, faint=faint, catalog=hit.catalog)


BARS, UNLIT = "▁▃▅▇", "·"
PINNED, WAITING, MARKED = "▪", "◌", "✓"
#: What the signs of a row mean, for help.
LEGEND = f"""
- ▁▃·· strength; with none it fades
- L s in long-term or short-term memory
- 3↔ so many links from and to it
- {WAITING} its analysis waits
- {MARKED} marked, to delete or write to a file
- ~~struck~~ another note has taken its place
"""
_STATUS = {Status.SUPERSEDED: "strike $muted", Status.DELETED: "strike $muted", Status.ARCHIVED: "italic $muted"}
_INDENT = " " * 5
#: The most cells of a catalog's name.
_CATALOG = 10
#: At the end of an excerpt where the note goes on.
_ON = " …"
#: The width of the list from which each column is shown, so that a title keeps 24 cells.
_COLUMNS = {"date": 34, "author": 36, "strength": 38, "links": 43, "layer": 45, "whole_date": 50, "bars": 53}


def columns(width: int) -> set[str]:
    return {name for name, least in _COLUMNS.items() if width >= least}


def laid_out(row: Row, width: int, *, marked: bool, year: int | None) -> Content:
    """The row in `width` cells. A date with little room says its year if it is not `year` (0: any; None: the time)."""
    card, plan = row.card, columns(width)
    sign, by = SIGNS[author(card.author)]
    who = (f"{sign} ", by) if "author" in plan else ""
    glyph = f"{GLYPHS[card.kind]} ", "$secondary" if who else by
    head, tail = Content.assemble((MARKED if marked else " ", "bold $accent"), who, glyph), _tail(row, plan, year)
    room = max(1, width - head.cell_length - tail.cell_length)
    look = _STATUS.get(card.status, "$muted" if row.faint else "")
    return head + _titled(row, room)[0].stylize_before(look) + tail


def below(row: Row, width: int) -> Content:
    """The second line of a hit, in `width` cells: how its sentence goes on, or another one that matched, or why."""
    plan = columns(width)
    taken = (5 if "author" in plan else 3) + _tail(row, plan, 0).cell_length
    _, rest = _titled(row, max(1, width - taken))
    if not rest.plain.strip():
        return Content.styled(fit(f"{_INDENT}{row.why}", width), "$muted")
    return _INDENT + begun_late(rest, max(1, width - len(_INDENT)), show=FOUND).stylize_before("$muted")


def _titled(row: Row, room: int) -> tuple[Content, Content]:
    """The title in so many cells, and what of the excerpt is left for the line below it."""
    said, shown = row.excerpt.plain.removesuffix(_ON).rstrip(), row.title.removesuffix("…")
    if not said or not (said.startswith(shown) or shown.startswith(said)):
        return Content(fit(row.title, room)), row.excerpt
    whole = row.excerpt[: len(said)] + shown[len(said) :]  # of a line of several sentences the title has more
    # The first line of a note of several may be shorter than what is shown of it.
    title, rest = whole[: len(shown)], row.excerpt[len(shown) :]
    first, cut = fitted(title + "…" if shown != row.title else title, room)
    left = cut + rest
    return first, left[len(left.plain) - len(left.plain.lstrip()) :]


def _tail(row: Row, plan: set[str], year: int | None) -> Content:
    """What stands right of the title; of a note in a catalog that, not how well it is kept there."""
    card, kept = row.card, row.card.layer is Layer.LONG_TERM
    waiting = card.enrichment is not Enrichment.DONE
    tail = [(f" {WAITING}", "$warning")] * waiting + [(f" {PINNED}", "$accent")] * card.pinned
    if row.catalog:
        if "author" in plan:
            tail.append((f" {fit(row.catalog, min(_CATALOG, cell_len(row.catalog)))}", "$secondary"))
        plan = plan - {"strength", "layer", "links"}
    if "strength" in plan:
        level = sum(card.strength >= least for least in _LEVELS)
        shown = BARS[:level] if "bars" in plan else BARS[level - 1] if level else " "
        unlit = UNLIT * (len(BARS) - level) if "bars" in plan else ""
        tail += [(f" {shown}", "$success" if kept else "$secondary"), (unlit, "$panel-lighten-1")]
    if "layer" in plan:
        tail.append((" L" if kept else " s", "$muted"))
    if "links" in plan:
        number = str(card.links) if card.links < 1000 else f"{card.links // 1000}k"
        tail.append((f"{f'{number}↔' if card.links else '':>5}", "$muted"))
    if "date" in plan and row.score is not None:
        tail += [(f"{row.score:>6.2f}", "$primary"), (" " * 5 * ("whole_date" in plan), "")]
    elif "date" in plan:
        same = row.at.year == (year or row.at.year)
        when = f"{row.at:%m-%d}" if same else f" {row.at.year:04}"
        when = f"{row.at.year:04}-{row.at:%m-%d}" if "whole_date" in plan else when
        tail.append((f" {when}" if year is not None else f" {row.at:%H:%M}", "$muted"))
    return Content.assemble(*tail, " ")


@dataclass(frozen=True, slots=True)
class Contents:
    """How many rows there are, those around `place` by their places, and the shelf that holds the others.

    `total` counts all active notes. `weaker` hits were left out; `certain` tells whether any surely answers.
    """

    count: int = 0
    rows: Mapping[int, Row | None] = field(default_factory=dict)
    place: int = 0
    total: int = 0
    shelf: Shelf | None = None
    weaker: int = 0
    certain: bool = True


#: A click on so many cells at the left marks the row.
_MARGIN = 2
#: Rows that are read at first, above and below the cursor: as many as a screen can show at once.
NEAR = 100


class NoteList(ReadList):
    """Rows by their place, 0 the first, None for a note that was destroyed since.

    `marked` are the ids that are ticked, `year` the one whose dates need not say it (None: all are of one day).
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "open", "Read")]
    year: reactive[int | None] = reactive[int | None](0)
    marked: reactive[set[str]] = reactive[set[str]](set)

    class Ticked(Message):
        """A click in the margin of the row under the cursor."""

    def __init__(self, client: CollectionClient, *, id: str | None = None) -> None:
        super().__init__(client, id=id)
        self.contents = Contents()

    @property
    def count(self) -> int:
        return self.contents.count

    def entry_at(self, place: int) -> Row | None:
        return self.rows.get(place)

    def show(self, contents: Contents, *, explained: bool = False, steady: bool = False) -> None:
        """Replace what is listed, and the place of the cursor; `explained` gives each row two lines, as hits need."""
        self._row_height = 2 if explained else 1
        self.contents, self.rows, self._asked = contents, OrderedDict(contents.rows), set(contents.rows)
        self._resized()
        self.put_cursor(contents.place, steady=steady)

    async def read(self, keys: Sequence[int]) -> Mapping[int, Row | None]:
        shelf, client = self.contents.shelf, self._client
        if shelf is None:
            return {}
        rows = await client.ask(rows_of, client.memory, shelf, client.zone, keys[0], keys[-1] + 1)
        return rows if shelf is self.contents.shelf else {}  # or another list is shown by now

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action != "open" or self.count > 0

    def clicked(self, x: int, *, again: bool, double: bool) -> None:
        if x < _MARGIN:
            self.post_message(self.Ticked())
        else:
            super().clicked(x, again=again and double, double=double)

    def content(self, place: int, part: int, width: int) -> Content:
        row = self.row_at(place)
        if row is None:
            return Content.styled("   …" if part == 0 else "", "$muted")
        if part:
            return below(row, width)
        # A scrollbar stands where a row would end with a blank.
        return laid_out(row, width + self.show_vertical_scrollbar, marked=row.id in self.marked, year=self.year)


_LOOKED_AT = 200


def read_news(memory: AgenticMemorySystem, since: int | None) -> tuple[int, dict[str, list[str]]]:
    """The newest operation, and who wrote which notes after operation `since` (None: where to begin, without notes)."""
    newest, made = memory.pulse()[1], dict[str, list[str]]()
    if since is not None and newest > since:
        for each in reversed(memory.log(limit=min(newest - since, _LOOKED_AT))):
            if each.id > since and each.created and not each.undone:
                made.setdefault(each.actor, []).extend(each.created)
    return newest, made


#: So many authors, or other collections, are named.
_NAMED = 3
#: Seconds between two messages.
_PAUSE = 4.0


class NewsToasts:
    """Gathers news and `say`s them at most every few seconds; `later` calls something after so many seconds."""

    def __init__(self, say: Callable[[str], None], later: Callable[[float, Callable[[], None]], object]) -> None:
        self._say, self._later = say, later
        self._counts: Counter[str] = Counter()
        self._resting = False

    def add(self, made: Mapping[str, list[str]], *, but: Set[str]) -> None:
        """Take in who wrote which notes, and say it, now or soon; `but` need not be told of."""
        self._counts.update({actor: len(set(ids) - but) for actor, ids in made.items()})
        if not self._resting:
            self._tell()

    def _tell(self) -> None:
        authors = [maker_name(actor) for actor in +self._counts]
        self._resting = bool(authors)
        if authors:
            more = f" and {len(authors) - _NAMED} more" if len(authors) > _NAMED else ""
            self._say(f"{counted(self._counts.total(), 'new note')} by {', '.join(authors[:_NAMED])}{more}")
            self._counts.clear()
            self._later(_PAUSE, self._tell)


HITS = 50
#: A search always has its most hits, however little they have to do with what was asked. The score of one that was
#: found by its words, or clearly by its meaning, stays well above this share of the best one's; what is merely the
#: next in meaning falls below it. So many are shown in any case: who asked badly sees what there is.
WEAK, LEAST = 0.15, 3
_RELEVANCE = "relevance"
_HIT_ORDERS = (_RELEVANCE, "time", "recorded", "strength", "recalls")
_ORDER_WORDS = {
    "time": "newest first",
    "recorded": "last written first",
    "strength": "strongest first",
    "recalls": "most recalled first",
    "importance": "most important first",
    _RELEVANCE: "best first",
}


@dataclass(frozen=True, slots=True)
class Listing:
    """`question` lists its best hits (all with `weak`), `starting` notes that hold these words, perhaps unfinished."""

    conditions: Conditions = field(default_factory=Conditions)
    question: str = ""
    starting: str = ""
    weak: bool = False
    order: Order = "time"
    hit_order: str = _RELEVANCE

    @property
    def heading(self) -> str:
        how = "Search" if self.question else "Filter"
        what = f"{how} “{one_line(self.question or self.starting, 40)}”" if self.asks else "Notes"
        return f"{what} · {self.conditions.words}" if self.conditions else what

    @property
    def ordered(self) -> str:
        return _ORDER_WORDS[self.hit_order if self.question else self.order]

    def query(self, zone: tzinfo, *, passages: bool = False) -> Query:
        return Query(self.question, HITS, self.conditions.filter(zone), touch=False, passages=passages)

    @property
    def asks(self) -> bool:
        return bool(self.question or self.starting)

    @property
    def narrowed(self) -> bool:
        return bool(self.conditions) or self.asks

    def counted(self, contents: Contents) -> str:
        count, total = contents.count, contents.total
        if self.question:
            return f"{counted(count, 'hit')}{'' if contents.certain or not count else '; nothing certain'}"
        return f"{count:,} of {counted(total, 'note')}" if self.narrowed else counted(count, "note")

    def next_order(self) -> Listing:
        if self.question:
            return replace(self, hit_order=_HIT_ORDERS[(_HIT_ORDERS.index(self.hit_order) + 1) % len(_HIT_ORDERS)])
        return replace(self, order=ORDERS[(ORDERS.index(self.order) + 1) % len(ORDERS)])

    def read(self, memory: AgenticMemorySystem, zone: tzinfo, place: int, keep: str | None) -> Contents:
        """The list with its cursor on the note with the id `keep`, or at `place` where that is not listed."""
        total = memory.count(Filter())
        if self.question:
            rows, weaker, certain = self._hits(memory, zone)
            within = max(0, min(place, len(rows) - 1))
            place = next((at for at, row in enumerate(rows) if row.id == keep), within)
            return Contents(len(rows), dict(enumerate(rows)), place, total, weaker=weaker, certain=certain)
        shelf = memory.shelf(self.conditions.filter(zone), starting=self.starting, order=self.order)
        found = None if keep is None else memory.place(shelf, keep)
        place = max(0, min(place, len(shelf) - 1)) if found is None else found
        return Contents(len(shelf), rows_of(memory, shelf, zone, place - NEAR, place + NEAR), place, total, shelf)

    def _hits(self, memory: AgenticMemorySystem, zone: tzinfo) -> tuple[list[Row], int, bool]:
        """The hits as rows, how many weak ones are not among them, and whether any surely answers."""
        every = memory.ask(self.query(zone, passages=True))
        best = every[0].score if every else 0.0
        hits = [hit for n, hit in enumerate(every) if self.weak or n < LEAST or hit.score >= WEAK * best]
        cards = memory.cards_of([hit.id for hit in hits])
        found = [(cards[hit.id], hit) for hit in hits if hit.id in cards]
        if self.hit_order != _RELEVANCE:
            by = {"time": "at", "recorded": "key"}.get(self.hit_order, self.hit_order)
            found.sort(key=lambda pair: getattr(pair[0], by), reverse=True)
        certain = best_support(every) is Support.STRONG
        return [row_of(card, zone, hit) for card, hit in found], len(every) - len(hits), certain


def rows_of(memory: AgenticMemorySystem, shelf: Shelf, zone: tzinfo, start: int, stop: int) -> dict[int, Row | None]:
    """Rows of a shelf by their places; None for a note that was destroyed since."""
    start, stop = max(0, start), min(len(shelf), stop)
    held = {card.key: row_of(card, zone) for card in memory.cards(shelf, start, stop)}
    return {place: held.get(key) for place, key in enumerate(shelf.keys[start:stop].tolist(), start)}


_EMPTY = """No notes yet.

Press n to write the first one, or let an agent write here:

  {add}
  {bring}
{others}
New notes appear by themselves."""


def how_to_go_on(listing: Listing, settings: Settings, collections: Mapping[str, int | None]) -> str:
    """What to say where nothing is listed; of `collections` of the home their notes, None where one does not open."""
    if listing.narrowed:
        asked = "the search" if listing.question else "the filter"
        last = asked if listing.asks else listing.conditions.chosen[-1].words
        other = "\n/ asks for it by meaning" if listing.starting else ""
        return f"Nothing was found.\n\nescape takes away {last}{other}\ns, then All notes, shows everything"
    held = [(name, count) for name, count in collections.items() if count and name != settings.collection]
    held.sort(key=lambda each: -each[1])
    named = ", ".join(f"{name} ({count:,})" for name, count in held[:_NAMED])
    more = f" and {len(held) - _NAMED} more" if len(held) > _NAMED else ""
    others = f"\nThere are notes in {named}{more}: ctrl+o opens {'it' if len(held) == 1 else 'them'}.\n" if held else ""
    add, bring = (command(settings, each) for each in ('add "The first thing to remember"', "import notes.jsonl"))
    return _EMPTY.format(add=add, bring=bring, others=others)
