"""What people take back while they talk: "forget that" hides what was learnt from the words before it, and no more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import func, select

from amem.conversation.messages import message_of
from amem.message import Role
from amem.note import Status
from amem.storage import tables
from amem.storage.chunks import chunks
from amem.storage.listed import valid_json
from amem.storage.sources import read_sources
from amem.text import index_terms, query_terms
from amem.writing.conflict.takebacks import take_back_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import ColumnElement

    from amem.conversation.lesson import Lot
    from amem.note import MemoryNote, Source
    from amem.storage import Session

_SOURCES, _HELD, _NOTES, _OPS = tables.sources, tables.note_sources, tables.notes, tables.operations
#: How many of a person's own messages back something that they name is looked for.
NAMED_WITHIN = 20
#: A note says what a sentence says when they share this part of the shorter one's words.
_SHARED = 0.6


def taken_back(session: Session, lot: Lot) -> list[MemoryNote]:
    """The notes that the people of a lot take back in it, and those of the lot that are taken back right after it.

    A note that was also learnt from anything else than the words meant stays, and so does what a person let stand.
    """
    found: dict[str, MemoryNote] = {}
    for source in _people(session, lot):
        said = take_back_in(source.text)
        if said is None:
            continue
        before = _before(session, source)
        if said.about:
            wanted = set(query_terms(said.about))
            notes = [note for note in _made_from(session, before) if is_named(wanted, note.content)]
        elif said.before:
            notes = [note for note in _made_from(session, [source]) if _alike(note.content, said.before)]
        else:
            notes = _made_from(session, before[:1])
        found |= {note.id: note for note in notes}
    return list(found.values())


def is_named(wanted: set[str], text: str) -> bool:
    """Whether a text has all the terms by which somebody names what does not count."""
    return bool(wanted) and wanted <= {*index_terms(text), *query_terms(text)}


def episodes_reached(session: Session, lot: Lot) -> list[MemoryNote]:
    """The notes of episodes with words in them that the people of a lot may take back; none that a person worded."""
    reached: set[str] = set()
    for source in _people(session, lot):
        said = take_back_in(source.text)
        if said is not None:
            before = [] if said.before else _before(session, source)
            reached |= {each.id for each in [source, *(before if said.about else before[:1])]}
    held = _NOTES.join(_HELD, _HELD.c.note == _NOTES.c.key).join(_SOURCES, _SOURCES.c.key == _HELD.c.source)
    statement = (
        select(_NOTES.c.id)
        .select_from(held.outerjoin(_OPS, _OPS.c.id == _HELD.c.operation))
        .where(_NOTES.c.status != str(Status.DELETED), _OPS.c.undone_by.is_(None))
        .where(func.json_extract(_NOTES.c.metadata, "$.episode").is_not(None))
        .where(func.coalesce(func.json_extract(valid_json(_NOTES.c.edited), "$.content"), "") != "edited")
        .distinct()
    )
    ids = [
        id
        for some in chunks(sorted(reached))
        for id in session.connection.execute(statement.where(_SOURCES.c.id.in_(some))).scalars()
    ]
    return list(session.notes.get_many(list(dict.fromkeys(ids)), history=False, usage=False).values())


def _people(session: Session, lot: Lot) -> list[Source]:
    """What people said in a lot, and the next thing said after it."""
    own = _SOURCES.c.id.in_(lot.ids)
    said = [source for source in _read(session, own) if message_of(source).role is Role.USER]
    if lot.ordinals:
        later = (_SOURCES.c.conversation == lot.conversation) & (_SOURCES.c.ordinal > max(lot.ordinals))
        following = (source for source in _read(session, later, limit=4) if message_of(source).role is Role.USER)
        said += [source for source in [next(following, None)] if source is not None]
    return said


def _before(session: Session, source: Source) -> list[Source]:
    """What the same person said before in the conversation, the last first."""
    if source.ordinal is None:
        return []
    where = (
        (_SOURCES.c.conversation == source.conversation)
        & (_SOURCES.c.ordinal < source.ordinal)
        & (func.coalesce(_SOURCES.c.speaker, "") == (source.speaker or ""))
    )
    said = _read(session, where, limit=NAMED_WITHIN, newest_first=True)
    return [each for each in said if message_of(each).role is Role.USER]


def _made_from(session: Session, sources: Sequence[Source]) -> list[MemoryNote]:
    """Active notes made from these words alone, each once."""
    held = _NOTES.join(_HELD, _HELD.c.note == _NOTES.c.key).join(_SOURCES, _SOURCES.c.key == _HELD.c.source)
    statement = (
        select(_NOTES.c.id, _SOURCES.c.id)
        .select_from(held.outerjoin(_OPS, _OPS.c.id == _HELD.c.operation))
        .where(_NOTES.c.status == str(Status.ACTIVE), _OPS.c.undone_by.is_(None))
        .where(func.json_extract(_NOTES.c.metadata, "$.episode").is_(None))
        .where(func.coalesce(func.json_extract(valid_json(_NOTES.c.edited), "$.status"), "") != "edited")
    )
    meant = {source.id for source in sources}
    candidates = [
        id
        for some in chunks(sorted(meant))
        for id, _ in session.connection.execute(statement.where(_SOURCES.c.id.in_(some)))
    ]
    ids = list(dict.fromkeys(candidates))
    came_from = session.sources.of(ids)
    alone = [id for id in ids if {source.id for source in came_from[id]} <= meant]
    return list(session.notes.get_many(alone, history=False, usage=False).values())


def _read(session: Session, where: ColumnElement[bool], *, limit: int = -1, newest_first: bool = False) -> list[Source]:
    order = _SOURCES.c.ordinal.desc() if newest_first else _SOURCES.c.ordinal
    statement = select(_SOURCES).where(where).order_by(order).limit(limit)
    return read_sources(session, session.connection.execute(statement).mappings())


def _alike(note: str, sentence: str) -> bool:
    one, other = set(query_terms(note)), set(query_terms(sentence))
    return bool(one and other) and len(one & other) >= _SHARED * min(len(one), len(other))
