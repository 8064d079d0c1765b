"""A topic's page in Markdown and its name, by rules or written by a model and held to the notes it cites."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from amem.analysis import PageNote
from amem.language import index_terms, is_cjk, normalize, sentences, written_in_cjk
from amem.language.scripts import words
from amem.llm.topic_writing import MOST_NOTES
from amem.note import Kind, MemoryNote, Status
from amem.rendering import holding_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from amem.protocols import PageWriter
    from amem.storage.store import Session


# What to call a topic: the names, tags and keywords that most of its notes share and few others hold.

#: Tags that say what sort of note it is, not what it is about.
_SORTS = frozenset(map(str, Kind)) | words(
    "consolidated idea rule note notes todo 决定 想法 计划 规矩 问题 错误 笔记 经验 提醒 misc other uncategorized"
)
_NAME, _TAG, _KEYWORD = 1.25, 1.0, 0.8
#: What a label gains where the text itself says it.
_SAID = 0.25
#: A word for a topic stands in at least so many of its notes, and in this share of them.
_LEAST, _SHARE = 2, 0.3
_WORD = re.compile(r"[^\W_]+")
_DIGITS = frozenset("0123456789")


def labels(session: Session, members: Sequence[MemoryNote], *, chinese: bool) -> list[str]:
    """Names for what these notes share and few others carry, the most telling first."""
    weights: defaultdict[str, float] = defaultdict(float)
    spelled: defaultdict[str, Counter[str]] = defaultdict(Counter)
    carrying: defaultdict[str, set[str]] = defaultdict(set)
    for note in members:
        for weight, values in ((_NAME, note.entities), (_TAG, note.tags), (_KEYWORD, note.keywords)):
            for value in values:
                folded = normalize(value).replace("-", " ")
                if _tells(folded):
                    weights[folded] = max(weights[folded], weight)
                    spelled[folded][value] += 1
                    carrying[folded].add(note.id)
    texts = {note.id: _spoken(note.content) for note in members}
    saying = _saying(texts, carrying)
    for folded, notes in carrying.items():
        notes |= saying[folded]
    least = max(_LEAST, math.ceil(_SHARE * len(members)))
    common = {folded: notes for folded, notes in carrying.items() if len(notes) >= least}
    everywhere, total = _held(session, sorted(common)), session.notes.count()

    def worth(folded: str) -> float:
        notes = len(common[folded])
        rare = math.log((total + 1) / max(everywhere.get(folded, 0), notes)) + 0.3
        return weights[folded] * (notes + _SAID * len(saying[folded])) / len(members) * rare

    # Names stand in any language, other words in the page's own.
    spoken = [folded for folded in common if is_cjk(folded) == chinese or weights[folded] == _NAME]
    ranked = _unlike(sorted(spoken or common, key=lambda folded: (-worth(folded), folded)))
    # A title is about most of its notes: what only some speak of comes after what fits half of them.
    fitting = [folded for folded in ranked[1:] if len(common[folded]) * 2 >= len(members)]
    ordered = [*ranked[:1], *fitting, *(folded for folded in ranked[1:] if folded not in fitting)]
    return [_spelling(spelled[folded]) for folded in ordered]


def core(members: Sequence[MemoryNote], found: Sequence[str]) -> list[str]:
    """Ids of the notes that one of the first two labels, the title, really fits."""
    titled = [normalize(label).replace("-", " ") for label in found[:2]]
    texts = {note.id: _spoken(note.content) for note in members}
    fitting = {note.id for note in members if not _carried(note).isdisjoint(titled)}
    fitting.update(*_saying(texts, titled).values())
    return [note.id for note in members if note.id in fitting]


def title(found: Sequence[str], *, chinese: bool) -> str:
    """A title of the first one or two labels; '' without any."""
    if not found:
        return ""
    first = found[0]
    if not chinese and first[0].islower():
        first = first[0].upper() + first[1:]
    if len(found) == 1:
        return first
    return f"{first} · {found[1]}" if chinese else f"{first} and {found[1]}"


def _held(session: Session, values: Sequence[str]) -> Mapping[str, int]:
    """How many notes of the collection carry each of these (folded) labels, at least."""
    counts = dict.fromkeys(values, 0)
    for role in ("tag", "entity", "keyword"):
        for term, n in session.text.counts(role, [*values, *(value.replace(" ", "-") for value in values)]).items():
            value = term.replace("-", " ")
            counts[value] = max(counts.get(value, 0), n)
    return counts


def _carried(note: MemoryNote) -> set[str]:
    return {normalize(value).replace("-", " ") for value in (*note.entities, *note.tags, *note.keywords)}


def _tells(folded: str) -> bool:
    if folded in _SORTS or len(folded) < 2:
        return False
    # Asked of every label of every note.
    return _DIGITS.isdisjoint(folded) if folded.isascii() else not any(map(str.isdigit, folded))


@dataclass(frozen=True, slots=True)
class _Spoken:
    """A text in which labels are looked for: folded, and its words alone between single spaces."""

    folded: str
    words: str


@lru_cache(maxsize=1024)
def _spoken(content: str) -> _Spoken:
    folded = normalize(content).replace("-", " ")
    return _Spoken(folded, f" {' '.join(_WORD.findall(folded))} ")


def _saying(texts: Mapping[str, _Spoken], labels: Iterable[str]) -> dict[str, set[str]]:
    """For each folded label the ids of the texts in which it stands, as whole words where words have spaces between."""
    using: defaultdict[str, list[str]] = defaultdict(list)
    for id, text in texts.items():
        for word in set(text.words.split()):
            using[word].append(id)
    found = {}
    for label in labels:
        if is_cjk(label):
            found[label] = {id for id, text in texts.items() if label in text.folded}
        else:
            first, whole = label.partition(" ")[0], f" {label} "
            found[label] = {id for id in using.get(first, ()) if whole in texts[id].words}
    return found


def _unlike(ranked: Sequence[str]) -> list[str]:
    """The labels in order, but of two that share a word only the first."""
    chosen: list[str] = []
    used: set[str] = set()
    for folded in ranked:
        terms = set(index_terms(folded))
        if terms and not terms & used:
            chosen.append(folded)
            used |= terms
    return chosen


def _spelling(counted: Counter[str]) -> str:
    value = min(counted, key=lambda each: (-counted[each], each))
    return value.replace("-", " ") if value.islower() else value


# A topic's page in Markdown: what is so, section by section, each statement with the notes it stands on.
#
# What was overturned stands at the end, struck through, beside what took its place.

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


# Pages that a model writes, held to the notes they cite; the rules' page gives what the model left out.

_CITED = re.compile(r"\[\[([^\[\]\n]{4,64})\]\]")
_FIRST_LINES = re.compile(r"\A# [^\n]*\n+")


def written(
    writer: PageWriter, offline: Page, present: str, members: Sequence[MemoryNote], fresh: Sequence[str]
) -> Page:
    """The page anew from the `present` text and the `fresh` members (by id); `offline` is what the rules would write.

    Raises BadModelAnswer and what `ChatModel.complete` raises.
    """
    notes = {note.id: note for note in members}
    overturned = {id: each for each in offline.gone for id in each.old.notes}
    held = [id for id in (_whole(short, (*notes, *overturned)) for short in _CITED.findall(present)) if id]
    shown = list(dict.fromkeys((*fresh[-MOST_NOTES:], *held, *overturned)))
    handles = {id: f"n{place}" for place, id in enumerate(shown, start=1)}
    pages = [
        PageNote(handles[id], _holding(notes[id]), notes[id].at, new=id in fresh)
        if id in notes
        else PageNote(handles[id], overturned[id].old.text, gone=True)
        for id in shown
    ]
    draft = writer.page(offline.title, _by_handle(present, handles), pages)
    return _page(offline, draft.title, draft.summary, draft.statements, draft.gone, handles, notes)


def _page(
    offline: Page,
    title: str,
    summary: str,
    said: Sequence[tuple[str, tuple[str, ...]]],
    gone: Sequence[str],
    handles: Mapping[str, str],
    notes: Mapping[str, MemoryNote],
) -> Page:
    ids = {handle: id for id, handle in handles.items()}
    # What is overturned is for the links to say; that a model thinks so only takes a statement off the page.
    doubted = [ids[handle] for handle in gone if ids[handle] in notes]
    statements = tuple(
        Statement(text, tuple(ids[each] for each in cited if ids[each] in notes or len(cited) == 1))
        for text, cited in said
    )
    cited = {id for each in statements for id in each.notes} | set(doubted)
    return replace(
        offline,
        title=title or offline.title,
        summary=summary or offline.summary,
        sections=(("", statements),),
        gone=(*offline.gone, *(Gone(statement_of(notes[id]), None) for id in doubted)),
        more=len(notes.keys() - cited),
    )


def _holding(note: MemoryNote) -> str:
    return holding_text(note.content, note.overturned) or note.content


def _by_handle(present: str, handles: Mapping[str, str]) -> str:
    """A page without its title, citing by handle; citations of notes that are not shown are left out."""

    def handle(match: re.Match[str]) -> str:
        id = _whole(match[1], handles)
        return f"[{handles[id]}]" if id is not None else ""

    return _CITED.sub(handle, _FIRST_LINES.sub("", present))


def _whole(short: str, ids: Mapping[str, object] | Sequence[str]) -> str | None:
    found = [id for id in ids if id.startswith(short)]
    return found[0] if len(found) == 1 else None
