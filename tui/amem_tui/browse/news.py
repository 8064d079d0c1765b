"""What others wrote since one looked last, and what a collection without notes says."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING

from amem.note import Status
from amem_tui.formatting import command, maker, moment, one_line, plural, title

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Set
    from datetime import tzinfo

    from amem.memory_system import AgenticMemorySystem
    from amem.settings import Settings


_EMPTY = """No notes yet.

Press n to write the first one, or let an agent write here:

  {add}
  {bring}
{others}
New notes appear by themselves."""
#: So many other collections are named.
_NAMED = 3


def how_to_begin(settings: Settings, collections: Mapping[str, int | None]) -> str:
    """`collections` are those of the home with their notes, None for one that does not open."""
    add = command(settings, 'add "The first thing to remember"')
    return _EMPTY.format(
        add=add, bring=command(settings, "import notes.jsonl"), others=_elsewhere(settings, collections)
    )


def _elsewhere(settings: Settings, collections: Mapping[str, int | None]) -> str:
    held = [(name, count) for name, count in collections.items() if count and name != settings.collection]
    if not held:
        return ""
    held.sort(key=lambda each: -each[1])
    named = ", ".join(f"{name} ({count:,})" for name, count in held[:_NAMED])
    more = f" and {len(held) - _NAMED} more" if len(held) > _NAMED else ""
    return f"\nThere are notes in {named}{more}: ctrl+o opens {'it' if len(held) == 1 else 'them'}.\n"


_LOOKED_AT = 200


@dataclass(frozen=True, slots=True)
class News:
    """`newest` is the last operation that was looked at, `made` who wrote which notes after the one before."""

    newest: int = 0
    made: Mapping[str, list[str]] = field(default_factory=dict)


def read_news(memory: AgenticMemorySystem, since: int | None) -> News:
    """The notes that were written after operation `since`; none for None, which only finds out where to begin."""
    newest = memory.pulse()[1]
    if since is None or newest <= since:
        return News(newest)
    made: dict[str, list[str]] = {}
    for each in reversed(memory.log(limit=min(newest - since, _LOOKED_AT))):
        if each.id > since and each.created and not each.undone:
            made.setdefault(each.actor, []).extend(each.created)
    return News(newest, made)


def told(counts: Mapping[str, int]) -> str:
    """``3 new notes by ▲ scribe``."""
    authors = [str(maker(actor)) for actor in counts]
    more = f" and {len(authors) - _NAMED} more" if len(authors) > _NAMED else ""
    return f"{plural(sum(counts.values()), 'new note')} by {', '.join(authors[:_NAMED])}{more}"


def deletion_words(memory: AgenticMemorySystem, id: str, zone: tzinfo) -> tuple[str, bool]:
    """What to say of a note that cannot be read any more, and whether it can be brought back."""
    card = memory.cards_of([id]).get(id)
    if card is None:
        return "This note was destroyed for good.", False
    if card.status is not Status.DELETED:
        return "This note was gone for a moment.", False
    gone = next((each for each in memory.log(limit=_LOOKED_AT) if id in each.notes), None)
    who = "" if gone is None else f" by {maker(gone.actor)}, {moment(gone.at, zone)}"
    return f"Deleted{who}.\n\n“{title(card.text)}”\n\n{one_line(card.text, 400)}\n\nu brings it back.", True


#: Seconds between two of them.
_PAUSE = 4.0


class NewsTeller:
    """Gathers news and `say`s them at most every few seconds; `later` calls something after so many seconds."""

    def __init__(self, say: Callable[[str], None], later: Callable[[float, Callable[[], None]], object]) -> None:
        self._say, self._later = say, later
        self._counts: Counter[str] = Counter()
        self._free = 0.0
        self._waiting = False

    def hear(self, news: News, *, but: Set[str]) -> None:
        """Take in what is new, and say it, now or soon; `but` need not be told of."""
        for actor, ids in news.made.items():
            if unseen := len(set(ids) - but):
                self._counts[actor] += unseen
        if self._counts and not self._waiting:
            self._waiting = (left := self._free - monotonic()) > 0
            if self._waiting:
                self._later(left, self._tell)
            else:
                self._tell()

    def _tell(self) -> None:
        self._say(told(self._counts))
        self._counts.clear()
        self._free = monotonic() + _PAUSE
        self._waiting = False
