"""Which conditions of a filter a note fails, each in words that say what the note is instead."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from amem.labels import short_id
from amem.note import SCOPES, Status
from amem.query import Filter

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime, tzinfo

    from amem.note import MemoryNote
    from amem.storage import Session

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
