"""Notes on their way in: what the caller gave, checked, and which items of a list can be written."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from amem import checks
from amem.checks import fitting
from amem.clock import COMPACT, Clock, zone
from amem.errors import AmemError, InvalidInput
from amem.labels import short_id
from amem.language import normalize
from amem.note import SCOPES, MemoryNote, Scope, Source
from amem.writing.fields import Canon, as_timestamp, clean, clean_content

if TYPE_CHECKING:
    from datetime import datetime

    import numpy as np
    from numpy.typing import NDArray

    from amem.analysis import Analysis
    from amem.conflict.candidates import Candidate
    from amem.settings import Settings
    from amem.storage.store import Store


# A note on its way in: what the caller gave, checked, with everything else left for analysis.

#: Which setting says how far a note is believed that came from such a source, or from nothing but such an actor.
_TRUST = {
    "user": "trust_user",
    "message": "trust_user",
    "file": "trust_document",
    "line": "trust_document",
    "tool": "trust_tool",
}


@dataclass(frozen=True, slots=True)
class NewNote:
    """What a caller wants remembered. `fields` are note fields already known; analysis fills in the rest.

    Among the fields may be the ids that say whose the note is, by which a Filter finds it: `user_id`, `agent_id`,
    `session_id`. They are kept in its metadata, and the note meets only notes with the same ones (`amem.note.Scope`).

    `gathers` are raw inputs that the note sums up (an episode's messages): stored, once for each id, and attached in
    the note's own transaction. `sources` are ids of sources that the note came from, too: stored already, or gathered
    by an earlier item of the same call. Unlike `source`, which is the note's very text, neither keeps it from being
    recognised as a duplicate: then the old note is attached to them and counts as corroborated by `speaker`.
    `derived_from` is the id of a note, stored or an earlier item of the same call, to which it gets a link of that
    type (as does the old note that a duplicate turns out to be). What is `distinct` is a note of its own whatever else
    says the same: a note of an export, whose id tells it apart.
    """

    content: str
    time: str | datetime | None = None
    source: Source | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    sources: tuple[str, ...] = ()
    derived_from: str | None = None
    gathers: tuple[Source, ...] = ()
    distinct: bool = False


@dataclass(slots=True)
class Intake:
    """A checked note on its way in, with what the pipeline must know of it and finds out about it.

    `given` are the fields the caller filled in, `links` the ids it wants linked, `reliability` how far its origin is
    believed, `recalls` and `last_access` what another program had counted, `named` whether it brought its own id;
    `gathers`, `sources`, `derived_from` and `distinct` are those of its `NewNote`.

    Found out on the way: whether it `repeats` a note, and so need not be read; its `analysis`, what went wrong
    (`error`), its `vector` and whether that is new (`fresh`), the notes near it, and the id of the `existing` note that
    its source is known as; and its `place` in its batch.
    """

    note: MemoryNote
    source: Source | None
    given: frozenset[str]
    links: tuple[str, ...]
    reliability: float
    recalls: int = 0
    last_access: datetime | None = None
    named: bool = False
    gathers: tuple[Source, ...] = ()
    sources: tuple[str, ...] = ()
    derived_from: str | None = None
    distinct: bool = False
    analysis: Analysis | None = None
    error: str | None = None
    vector: NDArray[np.float32] | None = None
    fresh: bool = False
    near: list[Candidate] = field(default_factory=list)
    existing: str | None = None
    repeats: bool = False
    place: int = 0


def take_in(item: NewNote | Mapping[str, Any] | str, *, actor: str, settings: Settings, clock: Clock) -> Intake:
    """Check one item and make its note. Raises InvalidInput and its kin; nothing has been stored then."""
    new = _as_new_note(item)
    fitting(new)
    given = dict(new.fields)
    time = given.pop("timestamp", None) if new.time is None else new.time
    id = given.pop("id", None)
    if id is not None:
        checks.identifier("an id", id)
    for each in filter(None, (new.source, *new.gathers)):
        checks.identifier("the id of a source", each.id)
    recalls, last_access = _use_so_far(given, settings)
    history = given.pop("evolution_history", None)
    if history and isinstance(given.setdefault("metadata", {}), dict):
        # Our own history is made of versions; what another program wrote down is kept as it was given.
        given["metadata"] = {"evolution_history": history} | given["metadata"]
    _take_scopes(given)
    values = clean(given, settings)
    scope = scope_of(values.get("metadata") or {})
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
    came_from = [new.source] if new.source is not None else new.gathers
    filled = frozenset(name for name, value in values.items() if value not in (None, "", [], {}))
    return Intake(
        note=note,
        source=None if new.source is None else _own(new.source, scope),
        given=filled,
        links=links,
        reliability=believe([each.kind for each in came_from] or [actor.split(":")[0]], settings),
        recalls=recalls,
        last_access=last_access,
        named=id is not None,
        gathers=tuple(_own(source, scope) for source in new.gathers),
        sources=tuple(scope.naming(id) for id in new.sources),
        derived_from=new.derived_from,
        distinct=new.distinct,
    )


def scope_of(metadata: Mapping[str, Any]) -> Scope:
    """Whose a note with this metadata is. Raises InvalidInput for an id that is neither text nor a whole number."""
    for name in SCOPES:
        value = metadata.get(name)
        if isinstance(value, str):
            _id(name, value)
        elif value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            raise InvalidInput(f"{name} must be text, not {checks.shown(value)}", hint="leave it out if there is none")
    return Scope.of(metadata)


def named_scope(**ids: str | None) -> Scope:
    """That of notes added with these ids, of which None is none. Raises InvalidInput for an id that is empty."""
    return Scope.of(open_scope(**ids).ids)


def open_scope(**ids: str | None) -> Scope:
    """The notes with these ids, whatever the others are. Raises InvalidInput for an id that is empty."""
    return Scope(**{name: _id(name, value) for name, value in ids.items() if value is not None})


def _id(name: str, value: Any) -> str:
    return checks.identifier(name, checks.name(name, value))


def _own(source: Source, scope: Scope) -> Source:
    """The source as it is kept for the scope: another's of the same id or conversation is another source."""
    conversation = None if source.conversation is None else scope.naming(source.conversation)
    return replace(source, id=scope.naming(source.id), conversation=conversation) if scope.ids else source


def _take_scopes(given: dict[str, Any]) -> None:
    """Move the ids that say whose the note is to where they are kept: its metadata, under their names."""
    ids = {name: value for name in SCOPES if (value := given.pop(name, None)) is not None}
    if not ids:
        return
    metadata = given.get("metadata") or {}
    for name, value in ids.items():
        ids[name] = _id(name, value)
        if isinstance(metadata, dict) and metadata.get(name, value) != value:
            raise InvalidInput(
                f"{name} is {checks.shown(value)}, and the metadata says {checks.shown(metadata[name])}",
                hint="give one of them",
            )
    # What is no dictionary is refused with the other fields.
    given["metadata"] = {**metadata, **ids} if isinstance(metadata, dict) else metadata


def _use_so_far(given: dict[str, Any], settings: Settings) -> tuple[int, datetime | None]:
    """A-Mem's counters, taken out of `given`: uses, and when the last one was."""
    recalls = given.pop("retrieval_count", None) or 0
    if checks.whole("retrieval_count", recalls, least=0) >= 2**31:
        raise InvalidInput(f"retrieval_count must be less than {2**31:,}, not {checks.shown(recalls)}")
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


def believe(kinds: Iterable[str], settings: Settings) -> float:
    """How far a note is believed that came from sources of these kinds: as far as the least believed of them.

    What has no setting of its own counts as an agent's inference.
    """
    return min(float(getattr(settings, _TRUST.get(kind, "trust_agent"))) for kind in kinds)


# Which items of a list can be written: each by itself, and by what it names of what is stored or comes before it.


def admit(
    items: Sequence[NewNote | Mapping[str, Any] | str],
    store: Store,
    *,
    actor: str,
    settings: Settings,
    clock: Clock,
    canon: Canon,
    refused: Callable[[int, AmemError], None] | None = None,
) -> list[Intake]:
    """The items as checked notes, in order, their facts as `canon` has them.

    Raises InvalidInput and its kin for the first that cannot be used. When `refused` is given it is handed each such
    item's position and error instead, and the item is left out.
    """
    intakes: list[Intake] = []
    named: dict[str, Intake] = {}
    taken = _taken_ids(items, store)
    brought: dict[str, str] = {}
    for position, item in enumerate(items):
        try:
            intake = take_in(item, actor=actor, settings=settings, clock=clock)
            _refuse_wrong_names(intake, store, settings, brought, named)
            intake.note.facts = canon.given(intake.note.facts, intake.note.speaker)
            if intake.named:
                _refuse_taken_id(intake, store, taken, named.setdefault(intake.note.id, intake))
            brought |= {source.id: source.kind for source in _brings(intake)}
        except InvalidInput as error:
            if refused is None:
                raise
            refused(position, error)
        else:
            intakes.append(intake)
    return intakes


def _refuse_wrong_names(
    intake: Intake, store: Store, settings: Settings, brought: Mapping[str, str], named: Mapping[str, Intake]
) -> None:
    """Refuse a note that names a source or a note that is neither stored nor brought by an item before it.

    Nor may it be linked to, or derived from, a note of another user, agent or session.
    """
    origin = intake.derived_from
    linked = [*intake.links, *([] if origin is None else [origin])]
    if not intake.sources and not linked:
        return
    with store.read() as session:
        stored = session.sources.keys_of(intake.sources)
        scopes = session.notes.scopes_of(linked)
    if origin is not None and origin not in named and origin not in scopes:
        raise InvalidInput(f"no note {origin!r} to derive another from")
    kinds = {**brought, **{id: kind for id, (_, kind) in stored.items()}, **{s.id: s.kind for s in _brings(intake)}}
    for id in intake.sources:
        if id not in kinds:
            raise InvalidInput(f"no source {id!r} is stored", hint="give new sources in `gathers`")
    if intake.sources and intake.source is None:
        intake.reliability = believe([kinds[id] for id in intake.sources] + [s.kind for s in intake.gathers], settings)

    own = Scope.of(intake.note.metadata)
    for id, scope in scopes.items():
        if scope != own:
            raise InvalidInput(
                f"{short_id(id)} is a note of another user, agent or session", hint="leave that link out"
            )


def _taken_ids(items: Sequence[NewNote | Mapping[str, Any] | str], store: Store) -> Collection[str]:
    """Those of the ids that items name which a note has."""
    fields = (each.fields if isinstance(each, NewNote) else each for each in items)
    named = [id for each in fields if isinstance(each, Mapping) and isinstance(id := each.get("id"), str)]
    if not named:
        return ()
    with store.read() as session:
        return session.notes.keys_of(named)


def _refuse_taken_id(intake: Intake, store: Store, ids: Collection[str], first: Intake) -> None:
    """Refuse a note whose id another has, stored (`ids`) or earlier in this list, unless it is that one said again."""
    note = intake.note
    taken = first is not intake and normalize(first.note.content) != normalize(note.content)
    if not taken and note.id in ids:
        with store.read() as session:
            known = intake.source is not None and bool(session.sources.notes_of([intake.source.id], own=True))
            taken = not known and session.notes.duplicate_of(note.content, note.metadata) is None
    if taken:
        raise InvalidInput(f"a note {note.id!r} exists already", hint="use update() to change it")


def _brings(intake: Intake) -> tuple[Source, ...]:
    """The sources that will be stored with this note."""
    return intake.gathers if intake.source is None else (intake.source, *intake.gathers)
