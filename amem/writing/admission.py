"""Which items of a list can be written: each by itself, and by what it names of what is stored or comes before it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amem.errors import InvalidInput
from amem.labels import short_id
from amem.note import Scope
from amem.text import normalize
from amem.writing.intake import believe, take_in

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from amem.clock import Clock
    from amem.errors import AmemError
    from amem.note import Source
    from amem.settings import Settings
    from amem.storage import Store
    from amem.writing.canonical import Canon
    from amem.writing.intake import Intake, NewNote


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
    brought: dict[str, str] = {}
    for position, item in enumerate(items):
        try:
            intake = take_in(item, actor=actor, settings=settings, clock=clock)
            _refuse_unknown(intake, store, settings, brought, named)
            _refuse_across(intake, store)
            intake.note.facts = canon.given(intake.note.facts, intake.note.speaker)
            if intake.named:
                _refuse_taken_id(intake, store, named.setdefault(intake.note.id, intake))
            brought |= {source.id: source.kind for source in _brings(intake)}
        except InvalidInput as error:
            if refused is None:
                raise
            refused(position, error)
        else:
            intakes.append(intake)
    return intakes


def _refuse_unknown(
    intake: Intake, store: Store, settings: Settings, brought: Mapping[str, str], named: Mapping[str, Intake]
) -> None:
    """Refuse a note that names a source or a note that is neither stored nor brought by an item before it."""
    if not intake.sources and intake.derived_from is None:
        return
    with store.read() as session:
        stored = session.sources.keys_of(intake.sources)
        origin = intake.derived_from
        if origin is not None and origin not in named and not session.notes.keys_of([origin]):
            raise InvalidInput(f"no note {origin!r} to derive another from")
    kinds = {**brought, **{id: kind for id, (_, kind) in stored.items()}, **{s.id: s.kind for s in _brings(intake)}}
    for id in intake.sources:
        if id not in kinds:
            raise InvalidInput(f"no source {id!r} is stored", hint="give new sources in `gathers`")
    if intake.sources and intake.source is None:
        intake.reliability = believe([kinds[id] for id in intake.sources] + [s.kind for s in intake.gathers], settings)


def _refuse_across(intake: Intake, store: Store) -> None:
    """Refuse a note that is to be linked to, or derived from, one of another user, agent or session."""
    ids = [*intake.links, *([] if intake.derived_from is None else [intake.derived_from])]
    if not ids:
        return
    with store.read() as session:
        scopes = session.notes.scopes_of(ids)
    own = Scope.of(intake.note.metadata)
    for id, scope in scopes.items():
        if scope != own:
            raise InvalidInput(
                f"{short_id(id)} is a note of another user, agent or session", hint="leave that link out"
            )


def _refuse_taken_id(intake: Intake, store: Store, first: Intake) -> None:
    """Refuse a note whose id another has, in the collection or in this list, unless it is that one said again."""
    note = intake.note
    taken = normalize(first.note.content) != normalize(note.content)
    with store.read() as session:
        if not taken and session.notes.keys_of([note.id]):
            known = intake.source is not None and bool(session.sources.notes_of([intake.source.id], own=True))
            taken = not known and session.notes.duplicate_of(note.content, note.metadata) is None
    if taken:
        raise InvalidInput(f"a note {note.id!r} exists already", hint="use update() to change it")


def _brings(intake: Intake) -> tuple[Source, ...]:
    """The sources that will be stored with this note."""
    return intake.gathers if intake.source is None else (intake.source, *intake.gathers)
