"""What people took out of memory again: nothing is made a second time of the words that it came from.

The words themselves stay where they were said; they are only left out of what is summed up and learnt from.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlalchemy import func, or_, select

from amem.message import Role
from amem.note import Kind, Status
from amem.storage import tables
from amem.storage.chunks import chunks
from amem.text import query_terms, sentences

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from amem.message import Message
    from amem.storage import Session

_SOURCES, _HELD, _NOTES = tables.sources, tables.note_sources, tables.notes
#: A sentence says what a note says when they share this part of the shorter one's words: models reword what they keep.
_SHARED = 0.6


def without_forgotten(session: Session, messages: Sequence[Message], ids: Sequence[str]) -> tuple[Message, ...]:
    """The messages, each without the sentences of which people deleted what was learnt; '' where none is left.

    `ids` are those of their sources. A note that no sentence of its messages resembles takes all their words with it,
    and a sentence of the assistant's goes that repeats one, or that answers it and has a word of it.
    """
    forgotten = _forgotten(session, ids)
    if not forgotten:
        return tuple(messages)
    terms = {note: frozenset(query_terms(text)) for note, (text, _) in forgotten.items()}
    from_source: dict[str, set[str]] = {}
    for note, (_, sources) in forgotten.items():
        for source in sources:
            from_source.setdefault(source, set()).add(note)
    seen = {
        note
        for message, id in zip(messages, ids, strict=True)
        for note in from_source.get(id, ())
        if any(_alike(terms[note], sentence) for sentence in sentences(message.content))
    }
    left, answered, emptied = [], frozenset[str](), False
    for message, id in zip(messages, ids, strict=True):
        mine = from_source.get(id, set())
        if message.role is Role.USER:
            kept = "" if mine - seen else without_sentences(message.content, [terms[note] for note in mine])
            emptied = not kept and bool(mine)
            answered = frozenset[str]().union(*(terms[note] for note in mine))
        elif message.role is Role.SYSTEM:
            kept = message.content
        else:
            kept = "" if emptied else without_sentences(message.content, terms.values(), answered)
        left.append(message if kept == message.content else replace(message, content=kept))
    return tuple(left)


def without_sentences(text: str, notes: Iterable[frozenset[str]], words: frozenset[str] = frozenset()) -> str:
    """`text` without the sentences that say what a note of these terms says or hold any of these words."""
    told = list(notes)
    every = sentences(text)
    kept = [each for each in every if not (words & set(query_terms(each)) or any(_alike(note, each) for note in told))]
    return text if len(kept) == len(every) else " ".join(kept)


def _alike(note: frozenset[str], sentence: str) -> bool:
    terms = set(query_terms(sentence))
    return bool(terms and note) and len(terms & note) >= _SHARED * min(len(terms), len(note))


def _forgotten(session: Session, ids: Sequence[str]) -> dict[str, tuple[str, set[str]]]:
    """By id the deleted notes that came from these sources and that people had deleted: what they say, and which."""
    found: dict[str, tuple[str, set[str]]] = {}
    episode = func.json_extract(_NOTES.c.metadata, "$.episode").is_not(None)
    statement = (
        select(_NOTES.c.id, _NOTES.c.content, _SOURCES.c.id)
        .select_from(_SOURCES.join(_HELD, _HELD.c.source == _SOURCES.c.key).join(_NOTES, _NOTES.c.key == _HELD.c.note))
        .where(_NOTES.c.status == str(Status.DELETED), or_(_NOTES.c.kind != str(Kind.EPISODE), ~episode))
    )
    for part in chunks(ids):
        some = _SOURCES.c.id.in_(part)
        for note, text, source in session.connection.execute(statement.where(some)):
            found.setdefault(note, (text, set()))[1].add(source)
    return {note: each for note, each in found.items() if _by_people(session, note)}


def _by_people(session: Session, note: str) -> bool:
    """Whether somebody had this note deleted, and not with all that was learnt with it.

    A newer attempt at the same messages hides what an older one made; and what was undone as a whole may be told anew.
    """
    history = session.operations.history(note)
    last = next((each for each in reversed(history) if "status" in each.changes), None)
    if last is None or session.operations.get(last.operation).parent is not None:
        return False
    if last.action != "undo":
        return True
    made = session.operations.get(history[0].operation)
    while made.parent is not None:
        made = session.operations.get(made.parent)
    return not made.undone
