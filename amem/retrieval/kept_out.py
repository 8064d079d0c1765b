"""Say what kept a note out of the hits."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from amem.labels import short_id
from amem.note import SCOPES, Kind, Status
from amem.query import Filter
from amem.retrieval.explanation import KeptOut, ordinal

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime, tzinfo

    from amem.note import MemoryNote
    from amem.query import Query
    from amem.retrieval.ranking import Ranking
    from amem.storage.store import Session


# Which conditions of a filter a note fails, each in words that say what the note is instead.

_MEMORIES = {"short_term": "short-term memory", "long_term": "long-term memory"}


def failed(session: Session, wanted: Filter, key: int, note: MemoryNote, zone: tzinfo) -> dict[str, str]:
    """What the note fails by field of the filter, in words; times are told in `zone`.

    Each condition is tried alone. `statuses` says nothing: what hides a note tells more. The least cosine, which is
    the dense leg's to tell, is not looked at.
    """
    everything = tuple(Status)
    # What a note was is asked of the moment that all other conditions are asked of.
    base = Filter(known_at=wanted.known_at, statuses=everything)
    if not session.notes.passes(key, base):
        assert wanted.known_at is not None
        return {"known_at": f"it was not known yet on {_day(wanted.known_at, zone)}"}
    broken: dict[str, str] = {}
    for name in (each.name for each in fields(Filter)):
        value = getattr(wanted, name)
        if name in ("minimum_cosine", "known_at") or (name != "statuses" and value == getattr(base, name)):
            continue
        if name == "tags" and not _missing(value, note):
            continue  # a deleted note has left the index of tags
        if name == "statuses":
            value = value if wanted.as_of is None else (*value, Status.SUPERSEDED)
        if not session.notes.passes(key, replace(base, **{name: value})):
            broken[name] = "" if name == "statuses" else _words(name, value, note, zone)
    return broken


def _words(name: str, value: Any, note: MemoryNote, zone: tzinfo) -> str:
    if name == "tags":
        return f"it does not carry {_either([f'#{tag}' for tag in _missing(value, note)])}"
    if name == "kinds":
        return f"it is {_a(note.kind)}, not {_either([_a(kind) for kind in value])}"
    if name == "layers":
        return f"it is in {_MEMORIES[note.layer]}, not in {_either([_MEMORIES[layer] for layer in value])}"
    if name == "category":
        return f"its category is {note.category or 'none'}, not {value}"
    if name == "speaker":
        return (
            f"it was said by {note.speaker}, not by {value}"
            if note.speaker
            else f"it does not say that {value} said it"
        )
    if name == "conversation":
        held = note.conversation_id
        return (
            f"it is of the conversation {held}, not of {value}" if held else f"it is of no conversation, not of {value}"
        )
    if name == "part_of":
        return f"it is no part of {short_id(value)}"
    if name == "metadata":
        return f"its metadata does not say {_either([f'{key}={each}' for key, each in value.items()])}"
    if name == "whose":
        asked = ", ".join(f"{each} {held}" for each, held in value.ids.items()) or "no user_id, agent_id or session_id"
        return f"it is not of {asked} alone"
    if name in SCOPES:
        held = note.metadata.get(name)
        return f"it has no {name}, and {value} was asked for" if held is None else f"its {name} is {held}, not {value}"
    about = "it is about another time" if note.at is None else f"it is about {_day(note.at, zone)}"
    if name == "as_of":
        return f"it does not hold on {_day(value, zone)}"
    return f"{about}, {'before' if name == 'since' else 'not before'} {_day(value, zone)}"


def _missing(tags: Iterable[str], note: MemoryNote) -> list[str]:
    carried = {tag.casefold() for tag in note.tags}
    return [tag for tag in tags if tag.casefold() not in carried]


def _day(moment: datetime, zone: tzinfo) -> str:
    local = moment.astimezone(zone)
    return f"{local:%Y-%m-%d}" if (local.hour, local.minute) == (0, 0) else f"{local:%Y-%m-%d %H:%M}"


def _a(name: str) -> str:
    return f"{'an' if name[:1] in 'aeiou' else 'a'} {name}"


def _either(names: Iterable[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} or {last}" if most else last


# What kept a note out of the hits.

#: So many successors of a superseded note are named; chains may be of any length.
_MOST = 20


def kept_out(
    session: Session, query: Query, ranking: Ranking | None, key: int, note: MemoryNote, zone: tzinfo
) -> KeptOut | None:
    """What kept the note out of the hits; None when it is one of them. Times are told in `zone`."""
    if ranking is None:
        return KeptOut("no_question", "an empty question finds nothing")
    place = next((place for place, each in enumerate(ranking.order, start=1) if each.key == key), None)
    if place is None:
        return _not_ranked(session, query, ranking, key, note, zone)
    score = ranking.order[place - 1].score
    if query.minimum_score is not None and score < query.minimum_score:
        return KeptOut("below_score", f"its score {score:.3f} is below the least asked for, {query.minimum_score:.3f}")
    if place > query.k:
        asked = f"only {query.k} " + ("was" if query.k == 1 else "were")
        return KeptOut("below_k", f"it came {ordinal(place)}, and {asked if query.k else 'none were'} asked for")
    return None


def _not_ranked(session: Session, query: Query, ranking: Ranking, key: int, note: MemoryNote, zone: tzinfo) -> KeptOut:
    if key in ranking.too_far:
        cosine, least = ranking.too_far[key], query.filter.minimum_cosine
        if cosine != cosine:  # nan
            return KeptOut("below_cosine", f"it has no vector yet, so nobody knows whether its cosine is {least:.3f}")
        return KeptOut("below_cosine", f"its cosine {cosine:.3f} is below the least asked for, {least:.3f}")
    broken = failed(session, query.filter, key, note, zone)
    hidden = "statuses" in broken or (not broken and note.status is Status.DELETED)
    told = [words for words in broken.values() if words]
    if hidden and note.status is not Status.ACTIVE:
        reason, detail, by = _by_status(session, note)
        return KeptOut(reason, "; ".join([detail, *told]), by, tuple(broken))
    if broken:
        if hidden:
            told = ["it is active, and others were asked for", *told]
        return KeptOut("filtered", "; ".join(told), conditions=tuple(broken))
    if note.kind is Kind.TOPIC and not ranking.reading.overview:
        return KeptOut("page", "it is the page of a topic: it answers when an overview, or its kind, is asked for")
    fused = ranking.fused if ranking.replaced is None else ranking.replaced.fused
    if fused.of(key) > 0:
        return KeptOut("no_candidate", "others came before it by every leg, so that it was no candidate")
    return KeptOut(
        "no_match", "nothing in it answers: it is no nearer in meaning than most notes, and has no word in common"
    )


def _by_status(session: Session, note: MemoryNote) -> tuple[str, str, tuple[str, ...]]:
    """The reason, what to say, and the ids that came in the note's place, up to the one that holds now."""
    if note.status is not Status.SUPERSEDED:
        return str(note.status), f"it is {note.status}", ()
    chain: list[str] = []
    following = note.superseded_by
    while following is not None and following not in chain and following != note.id and len(chain) < _MOST:
        chain.append(following)
        held = session.notes.get_many([following], history=False, usage=False, deleted=True).get(following)
        following = held.superseded_by if held is not None and held.status is Status.SUPERSEDED else None
    if not chain:
        return "superseded", "it was superseded", ()
    named = " and then by ".join(short_id(id) for id in (chain if len(chain) < 4 else (chain[0], chain[-1])))
    return "superseded", f"it was superseded by {named}", tuple(chain)
