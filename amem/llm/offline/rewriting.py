"""What an old note should say once a new one has arrived beside it: a broader tag, a clause on what came later.

Nothing is ever taken away, so that every rewrite proposed here is safe to apply.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from amem.analysis import Rewrite
from amem.llm.offline.entities import names
from amem.llm.offline.gist import gist_of, lowered
from amem.llm.offline.lexicon import is_person, is_place, lexicon, terms_of
from amem.llm.offline.reading import read
from amem.llm.offline.tags import is_kind_tag, theme_named
from amem.note import Kind, LinkType
from amem.text import cjk_share, index_terms, written_in_cjk
from amem.text.times import iso

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from amem.analysis import Analysis, Draft, Neighbour
    from amem.llm.offline.linking import Ground

_MOST_REWRITES = 2
_MOST_TAGS, _MOST_NEW_TAGS = 8, 2
_MOST_CLAUSES = 2
_LONGEST_CONTEXT = 300
_CLAUSE = {False: 90, True: 60}
#: Links less certain than this change nothing in the neighbour; small talk never does.
_SURE = 0.76
#: From this cosine on a shared person is what both notes are about, not only someone who was there.
_CLOSE = 0.55
_LATER = {False: "; later: ", True: "；后来："}


def propose_rewrites(draft: Draft, analysis: Analysis, grounds: Sequence[Ground]) -> Iterator[Rewrite]:
    """Rewrites for at most two of the linked neighbours, each with its reason."""
    if analysis.kind in (Kind.CHITCHAT, Kind.QUESTION):
        return
    proposed = 0
    for ground in grounds:
        if proposed >= _MOST_REWRITES or ground.link.confidence < _SURE:
            return
        if not ground.shared or ground.neighbour.kind is Kind.CHITCHAT:
            continue
        rewrite = _rewrite(draft, analysis, ground)
        if rewrite is not None:
            proposed += 1
            yield rewrite


def _rewrite(draft: Draft, analysis: Analysis, ground: Ground) -> Rewrite | None:
    neighbour = ground.neighbour
    chinese = written_in_cjk(neighbour.content)
    added = _new_tags(analysis, neighbour, chinese)
    clause = _clause(draft, analysis, ground, chinese)
    if not added and not clause:
        return None
    topic = ground.shared[0]
    if chinese:
        said = [f"新笔记带来的标签：{'、'.join(added)}"] if added else []
        said += [f"后续：{topic}"] if clause else []
        reason = "；".join(said)
    else:
        tags = "tag" if len(added) == 1 else "tags"
        said = [f"{tags} added from a newer note: {', '.join(added)}"] if added else []
        said += [f"follow-up: {topic}"] if clause else []
        reason = "; ".join(said)
    return Rewrite(
        neighbour.handle,
        context=clause or None,
        tags=(*neighbour.tags, *added) if added else None,
        reason=reason,
        confidence=round(min(0.98, 0.9 + 0.3 * (ground.link.confidence - _SURE)), 2),
    )


def _new_tags(analysis: Analysis, neighbour: Neighbour, chinese: bool) -> list[str]:
    """Themes of the new note that the old one belongs to as well, without having been tagged so."""
    own = {tag.casefold() for tag in neighbour.tags}
    text = neighbour.content.casefold()
    terms = set(index_terms(neighbour.content))
    added: list[str] = []
    for tag in analysis.tags:
        theme = theme_named(tag)
        if theme is None or is_kind_tag(tag):
            continue
        spelled = tag if (cjk_share(tag) > 0) == chinese else lexicon().themes[theme].tag(chinese)
        names = {spelled, lexicon().themes[theme].english, lexicon().themes[theme].chinese}
        if own & names or len(neighbour.tags) + len(added) >= _MOST_TAGS or len(added) >= _MOST_NEW_TAGS:
            continue
        if _touches(theme, terms, text, chinese):
            added.append(spelled)
    return added


def _touches(theme: int, terms: set[str], text: str, chinese: bool) -> bool:
    """Whether the old note holds a cue of that theme, be it a weak one."""
    return any(cue in text if chinese else cue in terms for cue in _cues_by_theme().get(theme, ()))


@cache
def _cues_by_theme() -> dict[int, list[str]]:
    cues: dict[int, list[str]] = {}
    for cue, weights in lexicon().cues.items():
        for theme, _ in weights:
            cues.setdefault(theme, []).append(cue)
    return cues


def _topics(ground: Ground, analysis: Analysis) -> list[str]:
    """The shared phrases by which the new note continues the old one: a name or a fixed phrase, or two words.

    A place, someone who happened to be there, or one common word is a reason to link two notes, but does not make one
    the other's sequel.
    """
    named = {*analysis.entities, *ground.neighbour.entities}
    close = ground.neighbour.similarity >= _CLOSE
    topics = [phrase for phrase in ground.shared if not is_place(phrase) and (close or not is_person(phrase))]
    telling = [phrase for phrase in topics if phrase in named or " " in phrase or len(terms_of(phrase)) > 2]
    return topics if telling or len(topics) > 1 else []


def _clause(draft: Draft, analysis: Analysis, ground: Ground, chinese: bool) -> str:
    """The neighbour's context with what came later at its end; empty when it should stay as it is."""
    neighbour = ground.neighbour
    later = _LATER[chinese]
    context = neighbour.context.rstrip()
    if not context or context.count(later) >= _MOST_CLAUSES or ground.link.type is LinkType.SUPPORTS:
        return ""
    if draft.at is not None and neighbour.at is not None and draft.at < neighbour.at:
        return ""
    topics = _topics(ground, analysis)
    if not topics:
        return ""
    reading = read(draft.content)
    gist = gist_of(reading, analysis.kind, topics, _CLAUSE[chinese])
    if gist.casefold() in context.casefold() or not any(topic.casefold() in gist.casefold() for topic in topics):
        return ""
    stop = next((end for end in ("。", ".") if context.endswith(end) and not context.endswith("..")), "")
    day = draft.at.date() if draft.at else None
    when = (f"（{iso(day, True)}）" if chinese else f" ({iso(day, False)})") if day else ""
    body = gist if chinese else lowered(gist, names(reading))
    longer = f"{context.removesuffix(stop) if stop else context}{later}{body}{when}{stop or ('。' if chinese else '.')}"
    return longer if len(longer) <= _LONGEST_CONTEXT else ""
