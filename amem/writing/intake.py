"""A note on its way in: what the caller gave, checked, with everything else left for analysis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from amem.clock import COMPACT, Clock, zone
from amem.errors import InvalidInput
from amem.note import MemoryNote, Source
from amem.writing.fields import as_timestamp, clean, clean_content

if TYPE_CHECKING:
    from datetime import datetime

    from amem.settings import Settings

#: How far what comes from somewhere is believed (DESIGN section 6): a person, a document, an agent's inference.
RELIABILITY = {"user": 0.9, "message": 0.9, "file": 0.8, "line": 0.8, "tool": 0.8, "agent": 0.6}


@dataclass(frozen=True, slots=True)
class NewNote:
    """What a caller wants remembered. `fields` are note fields already known; analysis fills in the rest.

    `sources` are ids of sources that are stored already and that the note came from, too; unlike `source`, which is
    its very text, they do not keep it from being recognised as a duplicate, which then counts as corroborated by
    `speaker`. `derived_from` is the id of a note to which it gets a link of that type.
    """

    content: str
    time: str | datetime | None = None
    source: Source | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    sources: tuple[str, ...] = ()
    derived_from: str | None = None


@dataclass(slots=True)
class Intake:
    """A checked note with what the pipeline must know of it.

    `given` are the fields the caller filled in, `links` the ids it wants linked, `reliability` how far its origin is
    believed, `recalls` and `last_access` what another program had counted, `named` whether it brought its own id.
    """

    note: MemoryNote
    source: Source | None
    given: frozenset[str]
    links: tuple[str, ...]
    reliability: float
    recalls: int = 0
    last_access: datetime | None = None
    named: bool = False


def take_in(item: NewNote | Mapping[str, Any] | str, *, actor: str, settings: Settings, clock: Clock) -> Intake:
    """Check one item and make its note. Raises InvalidInput and its kin; nothing has been stored then."""
    new = _as_new_note(item)
    given = dict(new.fields)
    time = given.pop("timestamp", None) if new.time is None else new.time
    id = given.pop("id", None)
    if id is not None and (not isinstance(id, str) or not id.strip() or len(id) > 200):
        raise InvalidInput(f"an id must be a short text, not {id!r}")
    recalls, last_access = _use_so_far(given, settings)
    history = given.pop("evolution_history", None)
    if history and isinstance(given.setdefault("metadata", {}), dict):
        # Our own history is made of versions; what another program wrote down is kept as it was given.
        given["metadata"] = {"evolution_history": history} | given["metadata"]
    values = clean(given, settings)
    links = tuple(values.pop("links", ()))
    now = clock.now()
    if time is None:
        timestamp, at = now.astimezone(zone(settings.timezone)).strftime(COMPACT), now
    else:
        timestamp, at = as_timestamp(time, settings)
    _fill_from_source(values, new.source)
    note = MemoryNote(
        content=clean_content(new.content, settings),
        id=id or clock.new_id(),
        timestamp=timestamp,
        at=at,
        recorded_at=now,
        **values,
    )
    filled = frozenset(name for name, value in values.items() if value not in (None, "", [], {}))
    return Intake(
        note=note,
        source=new.source,
        given=filled,
        links=links,
        reliability=_reliability(new.source, actor),
        recalls=recalls,
        last_access=last_access,
        named=id is not None,
    )


def _use_so_far(given: dict[str, Any], settings: Settings) -> tuple[int, datetime | None]:
    """A-Mem's counters, taken out of `given`: uses, and when the last one was."""
    recalls = given.pop("retrieval_count", None) or 0
    if isinstance(recalls, bool) or not isinstance(recalls, int) or not 0 <= recalls < 2**31:
        raise InvalidInput(f"retrieval_count must be a whole number of at least 0, not {recalls!r}")
    last = given.pop("last_accessed", None)
    return recalls, as_timestamp(last, settings)[1] if last else None


def _as_new_note(item: NewNote | Mapping[str, Any] | str) -> NewNote:
    if isinstance(item, NewNote):
        return item
    if isinstance(item, str):
        return NewNote(item)
    if isinstance(item, Mapping):
        rest = dict(item)
        if "content" not in rest:
            raise InvalidInput("a note needs content", hint='give {"content": "..."}')
        return NewNote(rest.pop("content"), rest.pop("time", None), rest.pop("source", None), rest)
    raise InvalidInput(f"a note must be text, a mapping or a NewNote, not {type(item).__name__}")


def _fill_from_source(values: dict[str, Any], source: Source | None) -> None:
    if source is None or source.kind != "message":
        return
    values.setdefault("conversation_id", source.conversation)
    values.setdefault("ordinal", source.ordinal)
    values.setdefault("speaker", source.speaker)


def _reliability(source: Source | None, actor: str) -> float:
    origin = actor.split(":")[0] if source is None else source.kind
    return RELIABILITY.get(origin, RELIABILITY["agent"])
