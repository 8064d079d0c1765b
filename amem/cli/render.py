"""How things look: Rich on a terminal, tab-separated lines in a pipe, JSON when asked."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import fields, is_dataclass
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any

from amem.clock import parse_time, zone
from amem.errors import InvalidInput
from amem.labels import counted, cut, escaped_json, short_id, short_ids, title, visible
from amem.note import Conflict, Link, LinkType, MemoryNote, Receipt, Source, Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import Console
    from rich.style import StyleType
    from rich.text import Text

    from amem.memory_system import AgenticMemorySystem
    from amem.retrieval.explanation import Passage
    from amem.retrieval.hit import Hit

    #: A piece of a line, with how it looks where that is not plain.
    Part = str | Text | tuple[str, StyleType]


#: Cells between two columns of a table, and at its edges.
_GAP, _EDGES = 3, 2
#: The column that takes what room is left is of use from so many cells on.
_READABLE = 24
#: Columns that are never broken into lines.
_WHOLE = ("id", "when", "kind", "op", "who", "version", "model", "name", "notes", "last used")


def say(text: str, *, flush: bool = False) -> None:
    """Print a line of standard output, with control characters shown: a note must not be able to drive the terminal."""
    print(visible(text), flush=flush)


def say_row(*cells: object) -> None:
    """Print cells on one line, separated by tabs, for another program."""
    say("\t".join(one_line(str(cell)) for cell in cells))


def print_json(value: Any) -> None:
    """The value as indented JSON, letters of every script as themselves; public values by what they hold."""
    print(escaped_json(json.dumps(value, ensure_ascii=False, indent=2, default=_record)))


def _record(value: Any) -> Any:
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value):
        return {each.name: getattr(value, each.name) for each in fields(value)}
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} is no JSON")


def json_line(value: Any) -> str:
    """The value as one line of JSON Lines."""
    return escaped_json(json.dumps(value, ensure_ascii=False))


def on_terminal() -> bool:
    """Whether standard output is a terminal that a person reads."""
    return sys.stdout.isatty()


def language_of_reader(given: str | None = None) -> str:
    """``zh`` or ``en``: as `given`, else as the locale has it."""
    if given is not None:
        return given
    named = next((value for name in ("LC_ALL", "LC_MESSAGES", "LANG") if (value := os.environ.get(name))), "")
    return "zh" if named.lower().startswith(("zh", "chinese")) else "en"


def console() -> Console:
    """Standard output as Rich sees it; nothing in a note is taken for markup."""
    from rich.console import Console

    return Console(file=sys.stdout, highlight=False, markup=False, emoji=False)


def one_line(text: str, width: int | None = None) -> str:
    """The text on one line, cut to `width` terminal cells."""
    line = " ".join(visible(text).split())
    return line if width is None else cut(line, width)


def shortened(text: Text, width: int) -> Text:
    """As `cut`, for a text with styles."""
    if text.cell_len <= width:
        return text
    kept = cut(text.plain, width)[:-1]
    return styled(text[: len(kept)], "…")


def folded(text: Text, width: int, *, first: int | None = None) -> Iterator[Text]:
    """The text in lines of at most `width` cells, the first of at most `first`; Chinese breaks anywhere."""
    from amem.language.sentence_parts import breaks

    for line in text.divide(breaks(text.plain, width, first=first or width)):
        line.rstrip()
        yield line


def cell_width(line: str) -> int:
    """How many terminal cells a line takes; Chinese characters take two."""
    from rich.cells import cell_len

    return cell_len(line)


def when(at: datetime | None, zone: tzinfo, *, minutes: bool = True) -> str:
    """A time in the reader's zone, to the minute or the day; empty for None."""
    if at is None:
        return ""
    return at.astimezone(zone).strftime("%Y-%m-%d %H:%M" if minutes else "%Y-%m-%d")


def styled(*parts: Part) -> Text:
    """Plain and styled parts as one text, control characters shown."""
    from rich.text import Text

    made = Text()
    for part in parts:
        if isinstance(part, str | tuple):
            text, style = (part, "") if isinstance(part, str) else part
            made.append(visible(text), style)
        else:
            made.append_text(part)
    return made


class Page:
    """Standard output as Rich draws it on a terminal; nothing in a note is taken for markup."""

    def __init__(self, out: Console | None = None) -> None:
        self.out = out or console()

    @property
    def width(self) -> int:
        """Its cells."""
        return self.out.width

    def write(self, *parts: Part, indent: int = 0, hanging: int = 0) -> None:
        """Write a text in lines that fit, indented, all but the first by `hanging` more; Chinese breaks anywhere."""
        room = max(20, self.width - indent - hanging)
        for number, line in enumerate(folded(styled(*parts), room, first=room + hanging)):
            self.whole(" " * (indent + hanging if number else indent), line)

    def line(self, *parts: Part) -> None:
        """Write a line as Rich breaks it; an empty one without any parts."""
        self.out.print(styled(*parts))

    def whole(self, *parts: Part) -> None:
        """Write a line that is never broken, as a command to be copied."""
        self.out.print(styled(*parts), soft_wrap=True)

    def clipped(self, *parts: Part) -> None:
        """Write a line that is cut off at the edge."""
        self.out.print(styled(*parts), overflow="ellipsis", no_wrap=True)


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str | Text]],
    *,
    wide: str = "",
    spare: Sequence[str] = (),
    fold_below: int = 0,
) -> None:
    """A table on a terminal, with the column `wide` taking what room is left; tab-separated lines in a pipe.

    Where a terminal is too narrow, the columns of `spare` are left out, the first one first, and below `fold_below`
    cells the wide one goes on in further lines. Without rows nothing is printed: the command says so itself.
    """
    if not on_terminal():
        for row in rows:
            say_row(*row)
        return
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    out = console()
    cells = [[styled(one_line(each)) if isinstance(each, str) else each for each in row] for row in rows]
    if not cells:
        return
    plain = [["" if name == wide else cell.plain for name, cell in zip(columns, row, strict=True)] for row in cells]
    kept = fitting(columns, plain, out.width, wide=wide, spare=spare)
    made = Table(box=SIMPLE_HEAD, pad_edge=False, expand=bool(wide))
    folds = out.width < fold_below
    taken = sum(max(cell_width(row[at]) for row in (columns, *plain)) for at in kept if columns[at] != wide)
    room = max(_READABLE, out.width - _EDGES - _GAP * (len(kept) - 1) - taken)
    for at in kept:
        name = columns[at]
        if name == wide:
            made.add_column(name, ratio=1, overflow="fold" if folds else "ellipsis", no_wrap=not folds)
            for row in cells:  # Rich would cut within a Chinese character, and break a line before its full stop
                row[at] = styled("\n").join(folded(row[at], room)) if folds else shortened(row[at], room)
        else:
            made.add_column(name, no_wrap=name in _WHOLE, overflow="fold", justify="right" if name == "op" else "left")
    for row in cells:
        made.add_row(*(row[at] for at in kept))
    out.print(made)


def fitting(
    columns: Sequence[str], rows: Sequence[Sequence[str]], width: int, *, wide: str, spare: Sequence[str]
) -> list[int]:
    """Places of the columns that fit into `width` cells, with room to read the one called `wide`."""
    needed = [
        _READABLE if name == wide else max(map(cell_width, (name, *(row[place] for row in rows))))
        for place, name in enumerate(columns)
    ]
    kept = list(range(len(columns)))
    for name in spare:
        if sum(needed[place] for place in kept) + _GAP * (len(kept) - 1) + _EDGES <= width:
            break
        kept.remove(list(columns).index(name))
    return kept


# Answers of a search and their explanations, as people read them.

#: How words look that matched.
FOUND = "bold yellow"
_TITLE = 60


def hit_row(hit: Hit, zone: tzinfo) -> tuple[str, ...]:
    """A hit for another program: id, score, day, content, reasons, confidence, catalog and the title of its group."""
    why = " ".join((hit.explanation.words(), *(f"May be out of date: {each}." for each in hit.doubts)))
    row = (short_id(hit.id), f"{hit.score:.3f}", said_on(hit, zone), hit.text, why, f"{hit.confidence:.2f}")
    if hit.group is not None:
        return (*row, hit.catalog, hit.group.title)
    return (*row, hit.catalog) if hit.is_catalog else row


def draw_hits(page: Page, hits: Sequence[Hit], zone: tzinfo) -> None:
    """Each hit with its score, text and reasons.

    A group has its title above it.
    Where none of them surely answers, a line says so first, and those that hardly do are dim.
    """
    from amem.retrieval.confidence import NOTHING_CERTAIN, Support, best_support

    if hits and best_support(hits) is not Support.STRONG:
        page.line((NOTHING_CERTAIN, "yellow"))
    group = None
    for place, hit in enumerate(hits, start=1):
        if hit.group is not None and hit.group != group:
            group = hit.group
            page.write((group.title or f"no {group.by}", "bold"))
        page.clipped(
            (f"{place:>2}  ", "dim"),
            (f"{hit.score:.2f}  ", "bold"),
            (short_id(hit.id), "cyan"),
            f"  {said_on(hit, zone)}  {hit.kind}  ",
            (f"{hit.catalog}  " if hit.is_catalog else "", "magenta"),
            (tagged(hit.tags), "green"),
        )
        page.write(shown(hit, "dim" if hit.support is Support.NONE else ""), indent=4)
        for doubt in hit.doubts:
            page.write((f"may be out of date: {doubt}", "yellow"), indent=4)
        page.write((hit.explanation.words(), "dim"), indent=4)
        for origin in filter(None, map(origin_of, hit.sources)):
            page.write((f"from {origin}", "dim"), indent=4)


def shown(hit: Hit, look: str = "") -> Text:
    """What a list of hits shows of one: `Hit.passage` with its matched words marked, behind its title if need be."""
    part = hit.passage
    head = title(hit.text, _TITLE) if hit.text[: part.start].strip() else ""
    return styled((f"{head}  " if head else "", "dim")) + marked(part, hit.text, look)


def marked(part: Passage, whole: str, look: str = "") -> Text:
    """A part of a text on one line, its matched words marked; with an ellipsis where the text goes on."""
    before, after = whole[: part.start].strip(), whole[part.end :].strip()
    pieces = [(piece, FOUND if matched else look) for piece, matched in part.pieces()]
    return styled(("… " if before else "", look), *pieces, (" …" if after else "", look))


def said_on(hit: Hit, zone: tzinfo) -> str:
    """The hit's day as the reader's calendar has it; the text as given when it is no time."""
    try:
        return parse_time(hit.timestamp, zone).astimezone(zone).strftime("%Y-%m-%d")
    except InvalidInput:
        return hit.timestamp


def origin_of(source: Source) -> str:
    """Where a source is: ``talk-1 D1:5, Ana``, ``3f2b1c9e 2:user, Ana``; empty when it does not say."""
    # The id of a chat's message begins with the chat's.
    ref = (source.ref or "").removeprefix(f"{source.conversation}:")
    place = short_ids(" ".join(part for part in (source.conversation, ref) if part))
    return ", ".join(part for part in (place, source.speaker) if part)


# One note as people read it: whole, or as what came of adding it.


def print_card(memory: AgenticMemorySystem, note: MemoryNote) -> None:
    """The note's text, its fields, its links in both directions with reasons, and where it came from."""
    from amem.rendering import text_of

    if not on_terminal():
        for name, value in [("id", note.id), *_fields(memory, note)]:
            say(f"{name}: {one_line(value)}")
        say(f"\n{text_of(note)}\n")
        return
    page = Page()
    page.out.print(
        styled((short_id(note.id), "bold cyan"), f"  {note.kind}  ", (tagged(note.tags), "green")), "", sep="\n"
    )
    page.write(text_of(note), indent=2)
    page.line()
    for name, value in _fields(memory, note):
        page.write((f"{name:<11}", "dim"), value, indent=2, hanging=11)
    page.line()


def draw_receipt(page: Page, note: MemoryNote | None, receipt: Receipt, *, mark: str = "") -> None:
    """What adding a note did: how it was analysed, what it was linked to, what it changed. `mark` goes before it."""
    if note is None or not receipt.stored:
        page.line((mark, "dim"), "already saved as ", (short_id(receipt.id), "bold cyan"))
        return
    tags = (tagged(note.tags), "green")
    page.line((mark, "dim"), "stored ", (short_id(note.id), "bold cyan"), f"  {note.kind}  ", tags)
    if note.context:
        page.write(note.context, indent=2)
    done = [_of_conflict(each, note.id) for each in receipt.conflicts]
    told = {(each.later, each.earlier) for each in receipt.conflicts}
    done += [
        (f"{link.type} → ", link.target, link.reason)
        for link in receipt.links
        if (link.source, link.target) not in told or link.type not in (LinkType.CONTRADICTS, LinkType.SUPERSEDES)
    ]
    done += [("rewrote ", each.id, f"{', '.join(each.fields)}: {each.reason}") for each in receipt.evolved]
    done += [("waits for review: ", each.id, each.reason) for each in receipt.queued]
    for what, id, reason in done:
        page.write(what, (short_id(id), "cyan"), f"  {reason}", indent=2, hanging=2)


def _of_conflict(conflict: Conflict, id: str) -> tuple[str, str, str]:
    label, reason = conflict.verdict.label, conflict.verdict.reason
    mine = conflict.later == id
    other = conflict.earlier if mine else conflict.later
    if conflict.hides:
        return "supersedes " if mine else "superseded by ", other, reason
    if conflict.ends:
        said = "; ".join(one_line(each, 60) for each in conflict.ends)
        return f"ends “{said}” of " if mine else f"“{said}” ended by ", other, reason
    if conflict.waits and not conflict.verdict.whole and mine:
        return "", other, f"may be partly out of date: {reason}"
    if conflict.waits:
        return f"may {'supersede' if mine else 'be superseded by'} ", other, f"{reason}; {conflict.waits}"
    return f"{label} ", other, reason


def _fields(memory: AgenticMemorySystem, note: MemoryNote) -> Iterator[tuple[str, str]]:
    from amem.note_changes import entry_words
    from amem.rendering import fallen, mark

    if catalog := memory.catalog_of(note.id):
        yield "catalog", catalog
    local = zone(memory.settings.timezone)
    yield "when", f"{when(note.at, local)} (recorded {when(note.recorded_at, local)})"
    if note.context:
        yield "context", note.context
    yield "keywords", ", ".join(note.keywords)
    yield "tags", ", ".join(note.tags)
    if note.entities:
        yield "entities", ", ".join(note.entities)
    gone = fallen(note)
    for place, fact in enumerate(note.facts):
        ended = f" ({mark(gone[place])})" if place in gone else ""
        yield "fact", " · ".join((fact.subject, fact.predicate, fact.object)) + ended
    if note.valid_from or note.valid_to:
        yield "valid", _validity(note, local)
    if note.speaker:
        yield "speaker", note.speaker
    if note.category and note.category != "Uncategorized":
        yield "category", note.category
    for name, value in note.metadata.items():
        yield name, entry_words(value)
    for doubt in note.doubts:
        yield "doubt", f"may be out of date: {doubt}"
    yield "status", _status(note)
    for link in memory.links(note.id):
        yield "link", f"{link.type} → {_other(memory, link, link.target)}"
    for link in memory.backlinks(note.id):
        yield "linked by", f"{link.type} ← {_other(memory, link, link.source)}"
    for source in memory.sources([note.id])[note.id]:
        yield "source", f"{source.kind} {origin_of(source)}".strip()


def _validity(note: MemoryNote, local: tzinfo) -> str:
    ends = [("from", note.valid_from), ("to", note.valid_to)]
    return " ".join(f"{word} {when(moment, local)}" for word, moment in ends if moment is not None)


def _status(note: MemoryNote) -> str:
    parts = [str(note.status)] if note.status is not Status.ACTIVE else []
    if note.superseded_by:
        parts.append(f"by {short_id(note.superseded_by)}")
    parts += [str(note.layer).replace("_", "-"), f"importance {note.importance:.2f}", f"trust {note.trust:.2f}"]
    parts += ["pinned"] if note.pinned else []
    parts.append(f"version {note.version}")
    if note.analyst:
        # Of an episode it says who summed it up: of a chat's the rules do, since no model is asked about words twice.
        done = "summed up" if "episode" in note.metadata else "analysed"
        parts.append(f"{done} by {note.analyst}" if note.enrichment == "done" else f"analysis {note.enrichment}")
    filled: dict[str, str] = note.metadata.get("by_rules") or {}
    parts += [f"{field} by the rules: {reason}" for field, reason in filled.items()]
    if note.retrieval_count:
        parts.append(f"recalled {counted(note.retrieval_count, 'time')}")
    return ", ".join(parts)


def _other(memory: AgenticMemorySystem, link: Link, id: str) -> str:
    note = memory.read(id)
    words = one_line(note.content, 60) if note is not None else "(not there)"
    reason = f": {short_ids(link.reason)}" if link.reason else ""
    return f"{short_id(id)} {words}{reason} ({link.made_by})"


def tagged(tags: Iterable[str]) -> str:
    """``#home #food``."""
    return " ".join(f"#{tag}" for tag in tags)
