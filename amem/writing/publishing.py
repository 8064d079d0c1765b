"""Copies of notes in a catalog: what one agent found out, for all that read the catalog."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from amem.errors import InvalidInput, NoteNotFound
from amem.labels import short_id
from amem.note import Receipt, Scope, Status
from amem.writing.intake import NewNote

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from amem.collection import Collection
    from amem.writing.pipeline import Writer

#: The key of a published note's metadata that says which collection and note it was copied from, and who wrote that.
ORIGIN = "origin"
#: Fields that a copy brings along; links, use and history stay where they are.
_FIELDS = (
    *("keywords", "tags", "context", "category", "kind", "importance", "entities", "facts", "speaker"),
    *("valid_from", "valid_to"),
)


@dataclass(frozen=True, slots=True)
class Publisher:
    """Copies notes of one collection into catalogs, each of which `opened` opens to be written."""

    collection: Collection
    opened: Callable[[str], AbstractContextManager[Writer]]

    def publish(self, id: str, to: str | None, actor: str) -> Receipt:
        """Add a copy of the note to the catalog, as one operation there; the receipt is the catalog's.

        A text that the catalog holds already counts there as said once more. Raises NoteNotFound, InvalidInput where
        the memory has no right to that catalog or the note does not stand whole, and what opening the catalog raises.
        """
        catalog = self.checked(to)
        item = self._copy(id)
        cause = f"note {short_id(id)} of {self.collection.settings.collection}"
        with self.opened(catalog) as writer:
            return writer.add([item], actor=actor, action="publish", cause=cause)[0]

    def checked(self, to: str | None) -> str:
        """The catalog that is named, or the only one there is a right to. Raises InvalidInput."""
        allowed = self.collection.settings.publish
        if to is None and len(allowed) == 1:
            return allowed[0]
        if to not in allowed:
            agent = self.collection.settings.agent
            who = f"the agent {agent}" if agent else "this memory"
            what = f"has no right to publish{'' if to is None else f' to {to!r}'}"
            # A model may hear this, too: no path of the machine in it.
            where = f"[agents.{agent or 'NAME'}] of config.toml (amem path says where that is)"
            hint = f'grant it: publish = ["{to or "team"}"] in {where}'
            if allowed:
                what = what if to is not None else "has to be told where to publish"
                hint = f"it may publish to {', '.join(allowed)}"
            raise InvalidInput(f"{who} {what}", hint=hint)
        return to

    def _copy(self, id: str) -> NewNote:
        with self.collection.store.read() as session:
            note = session.notes.get_many([id], history=False).get(id)
            if note is None:
                raise NoteNotFound(f"no note {id!r}", hint="amem list shows the ids")
            sources = session.notes.sources_of([id])[id]
            author = session.operations.history(id, limit=None)[0].actor
        if note.status is not Status.ACTIVE or note.overturned:
            why = " as a whole" if note.overturned else f": it is {note.status}"
            raise InvalidInput(
                f"note {short_id(id)} no longer holds{why}",
                hint="publish what took its place, or write anew what still holds",
            )
        scope = Scope.of(note.metadata)
        origin = note.metadata.get(ORIGIN) or {
            "collection": self.collection.settings.collection,
            "note": id,
            "author": author,
        }
        fields = {name: value for name in _FIELDS if (value := getattr(note, name)) not in (None, "", [])}
        return NewNote(
            note.content,
            note.timestamp or note.at,
            fields=fields | {"metadata": note.metadata | {ORIGIN: origin}},
            gathers=tuple(
                replace(
                    each,
                    id=scope.named(each.id),
                    conversation=None if each.conversation is None else scope.named(each.conversation),
                )
                for each in sources
            ),
        )
