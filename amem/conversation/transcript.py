"""What was said, as it is stored: which messages are remembered already, what came before, and all of it again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import func, select

from amem.conversation.forgotten import without_forgotten
from amem.conversation.messages import message_of
from amem.errors import NoteNotFound
from amem.note import Kind, Source, Status
from amem.storage import tables
from amem.storage.chunks import chunks
from amem.storage.sources import read_sources

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.message import Message
    from amem.storage import Session

_SOURCES, _HELD, _NOTES, _OPS = tables.sources, tables.note_sources, tables.notes, tables.operations


class Transcript:
    """The messages of one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._run = session.connection.execute

    def remembered(self, ids: Sequence[str], *, in_episodes: bool) -> frozenset[str]:
        """Which of these sources belong to a note that stands; with `in_episodes`, to one that sums up an episode."""
        held = _SOURCES.join(_HELD, _HELD.c.source == _SOURCES.c.key).join(_NOTES, _NOTES.c.key == _HELD.c.note)
        statement = (
            select(_SOURCES.c.id)
            .select_from(held.outerjoin(_OPS, _OPS.c.id == _HELD.c.operation))
            .where(_NOTES.c.status != str(Status.DELETED), _OPS.c.undone_by.is_(None))
        )
        if in_episodes:
            episode = func.json_extract(_NOTES.c.metadata, "$.episode").is_not(None)
            statement = statement.where(_NOTES.c.kind == str(Kind.EPISODE), episode)
        found: set[str] = set()
        for part in chunks(ids):
            some = _SOURCES.c.id.in_(part)
            found.update(self._run(statement.where(some)).scalars())
        return frozenset(found)

    def ordinals(self, ids: Sequence[str]) -> dict[str, int]:
        """For each of these sources that is stored, its place in its conversation."""
        found: dict[str, int] = {}
        for part in chunks(ids):
            some = _SOURCES.c.id.in_(part)
            found |= {id: place or 0 for id, place in self._run(select(_SOURCES.c.id, _SOURCES.c.ordinal).where(some))}
        return found

    def length(self, conversation: str) -> int:
        """The ordinal of the conversation's last message; 0 when there is none."""
        highest = select(func.max(_SOURCES.c.ordinal)).where(_SOURCES.c.conversation == conversation)
        return int(self._run(highest).scalar_one() or 0)

    def before(self, conversation: str, ordinal: int, count: int) -> list[Message]:
        """Up to `count` messages of the conversation before that ordinal, oldest first, without what was forgotten."""
        statement = (
            select(_SOURCES)
            .where(_SOURCES.c.conversation == conversation, _SOURCES.c.ordinal < ordinal)
            .order_by(_SOURCES.c.ordinal.desc(), _SOURCES.c.key.desc())
            .limit(count)
        )
        found = read_sources(self._session, reversed(self._run(statement).mappings().all()))
        said = [message_of(source) for source in found]
        return list(without_forgotten(self._session, said, [source.id for source in found]))

    def after(self, conversation: str, ordinal: int, count: int) -> list[Message]:
        """Up to `count` messages of the conversation after that ordinal, in order."""
        statement = (
            select(_SOURCES)
            .where(_SOURCES.c.conversation == conversation, _SOURCES.c.ordinal > ordinal)
            .order_by(_SOURCES.c.ordinal, _SOURCES.c.key)
            .limit(count)
        )
        return [message_of(each) for each in read_sources(self._session, self._run(statement).mappings())]

    def of(self, note: str) -> list[Source]:
        """What the note came from, in order. Raises NoteNotFound."""
        if not self._session.notes.keys_of([note]):
            raise NoteNotFound(f"no note {note!r}", hint="amem list shows the ids")
        return self._session.sources.of([note])[note]
