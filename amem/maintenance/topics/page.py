"""A topic's page in Markdown: what is so, section by section, each statement with the notes it stands on.

What was overturned stands at the end, struck through, beside what took its place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.note import Kind, Status
from amem.rendering import holding_text
from amem.text import normalize, sentences, written_in_cjk

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from amem.note import MemoryNote

#: Most statements on a page, and most of what is no longer so.
MOST, MOST_GONE = 40, 10
_STATEMENT = 220
_SECTIONS = (
    ("Current", "现状", frozenset({Kind.FACT, Kind.CONFIG})),
    ("Decisions and rules", "决定与规矩", frozenset({Kind.DECISION, Kind.CONSTRAINT, Kind.PREFERENCE})),
    ("How to", "做法", frozenset({Kind.PROCEDURE, Kind.CODE})),
    ("What happened", "经过", frozenset({Kind.EPISODE, Kind.ERROR, Kind.CHITCHAT, Kind.TOPIC})),
    ("Open questions", "待解的问题", frozenset({Kind.QUESTION})),
)


@dataclass(frozen=True, slots=True)
class Statement:
    """One line of a page, and the ids of the notes that it stands on."""

    text: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Gone:
    """What is no longer so, with the note that said it, and what is so instead; None where nothing took its place."""

    old: Statement
    new: Statement | None


@dataclass(frozen=True, slots=True)
class Page:
    """A page before it is written out. `sections` have a heading ('' when alone); `more` notes have no line."""

    title: str
    summary: str
    sections: tuple[tuple[str, tuple[Statement, ...]], ...]
    gone: tuple[Gone, ...] = ()
    more: int = 0
    chinese: bool = False


def is_chinese(members: Sequence[MemoryNote], name: str = "") -> bool:
    """Whether a page is in Chinese: as the `name` is that a person gave it, or as most of its notes are.

    A word in small letters is English; a name may stand in any language.
    """
    if written_in_cjk(name) or name.islower():
        return written_in_cjk(name)
    return sum(written_in_cjk(note.content) for note in members) * 2 > len(members)


def compose(
    title: str, labels: Sequence[str], members: Sequence[MemoryNote], gone: Sequence[Gone], *, chinese: bool
) -> Page:
    """The page that the rules write: the notes' own words, by time; of too many those that matter most.

    `members` are in the order of their arrival.
    """
    chosen = {note.id for note in sorted(members, key=_weight, reverse=True)[:MOST]}
    shown = sorted((note for note in members if note.id in chosen), key=lambda note: (note.at is None, note.at))
    sections = tuple(
        (zh if chinese else en, lines)
        for en, zh, kinds in _SECTIONS
        if (lines := tuple(statement_of(note) for note in shown if note.kind in kinds))
    )
    if len(sections) == 1:
        sections = (("", sections[0][1]),)
    return Page(
        title=title,
        summary=_summary([label for label in labels if normalize(label) != normalize(title)], members, chinese),
        sections=sections,
        gone=tuple(gone[:MOST_GONE]),
        more=len(members) - len(shown),
        chinese=chinese,
    )


def statement_of(note: MemoryNote) -> Statement:
    """A note as one line: its first sentences, who said it, when; of one that stands only what of it holds."""
    told = note.overturned if note.status is Status.ACTIVE else ()
    return line_of(note, holding_text(note.content, told) or note.content)


def line_of(note: MemoryNote, said: str) -> Statement:
    """Words of a note as one line, with who said them, and when."""
    text = _line(said)
    if note.speaker and not text.startswith(note.speaker):
        text = f"{note.speaker}{'：' if written_in_cjk(text) else ': '}{text}"
    day = f"{note.at:%Y-%m-%d}" if note.at is not None else ""
    if not day:
        return Statement(text, (note.id,))
    return Statement(f"{text}（{day}）" if written_in_cjk(text) else f"{text} ({day})", (note.id,))


def render(page: Page, short: Callable[[str], str], limit: int) -> str:
    """The page as Markdown of at most `limit` characters; lines that do not fit count as more."""
    sections, gone, more = [list(lines) for _, lines in page.sections], list(page.gone), page.more
    while True:
        text = _written(page, sections, gone, more, short)
        longest = max(sections, key=len, default=[])
        if len(text) <= limit or not (gone or longest):
            return text[:limit]
        if len(gone) > len(longest):
            gone.pop()
        else:
            longest.pop(0)
            more += 1


def _written(
    page: Page,
    sections: Sequence[Sequence[Statement]],
    gone: Sequence[Gone],
    more: int,
    short: Callable[[str], str],
) -> str:
    blocks = [f"# {page.title}", page.summary]
    for (heading, _), lines in zip(page.sections, sections, strict=True):
        if lines:
            blocks += [f"## {heading}"] * bool(heading)
            blocks.append("\n".join(f"- {_cited(line, short)}" for line in lines))
    if gone:
        blocks.append("## 已不再如此" if page.chinese else "## No longer so")
        blocks.append("\n".join(f"- {_overturned(each, short)}" for each in gone))
    if more:
        blocks.append(f"还有 {more} 条。" if page.chinese else f"… and {more} more.")
    return "\n\n".join(block for block in blocks if block)


def _cited(statement: Statement, short: Callable[[str], str]) -> str:
    return " ".join([statement.text, *(f"[[{short(id)}]]" for id in statement.notes)])


def _overturned(each: Gone, short: Callable[[str], str]) -> str:
    cites = " ".join(f"[[{short(id)}]]" for id in each.old.notes)
    old = f"~~{each.old.text.replace('~~', '')}~~ {cites}"
    return old if each.new is None else f"{old} → {_cited(each.new, short)}"


def _line(content: str) -> str:
    """The beginning of a text on one line, in whole sentences where they fit; nothing in it is a mark of the page."""
    flat = " ".join(content.split()).lstrip("#>-*+ ").replace("[[", "[").replace("]]", "]")
    if len(flat) <= _STATEMENT:
        return flat
    taken = ""
    for sentence in sentences(flat):
        joined = f"{taken} {sentence}".strip() if sentence.isascii() else taken + sentence
        if len(joined) > _STATEMENT:
            break
        taken = joined
    return taken if len(taken) >= _STATEMENT // 3 else f"{flat[: _STATEMENT - 1].rstrip(' ;,.；，、。')}…"


def _weight(note: MemoryNote) -> tuple[bool, float, str]:
    return note.pinned, round(note.importance, 1), "" if note.at is None else note.at.isoformat()


def _summary(labels: Sequence[str], members: Sequence[MemoryNote], chinese: bool) -> str:
    """How many notes, on what, from when to when: one sentence that is true whatever the notes say."""
    days = sorted(f"{note.at:%Y-%m}" for note in members if note.at is not None)
    named = list(labels[:4])
    if chinese:
        if not members:
            return "还没有笔记。"
        span = "" if not days else f"，{days[0]}" + (f" 至 {days[-1]}" if days[-1] != days[0] else "")
        return f"{len(members)} 条笔记" + (f"，关于{_listed(named, '、', '和')}" if named else "") + f"{span}。"
    if not members:
        return "No notes yet."
    span = "" if not days else f", from {days[0]} to {days[-1]}" if days[-1] != days[0] else f", of {days[0]}"
    count = "1 note" if len(members) == 1 else f"{len(members)} notes"
    return count + (f" on {_listed(named, ', ', ' and ')}" if named else "") + f"{span}."


def _listed(named: Sequence[str], comma: str, last: str) -> str:
    return named[0] if len(named) == 1 else comma.join(named[:-1]) + last + named[-1]


def cited_ids(page: Page) -> Mapping[str, None]:
    """Every id that the page cites, in order."""
    found = [id for _, lines in page.sections for line in lines for id in line.notes]
    for each in page.gone:
        found += [*each.old.notes, *(each.new.notes if each.new is not None else ())]
    return dict.fromkeys(found)
