"""Turns as they were: what the recalled notes said then, though they may have been rewritten or purged since."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.conversation.reply import Recalled, Replayed
from amem.errors import NoteNotFound, SessionNotFound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.storage import Session
    from amem.storage.chats import Recollection, Turn


def replay(session: Session, chat: str, number: int | None = None) -> list[Replayed]:
    """The turns of a chat (or one of them) with what was recalled and learnt. Raises SessionNotFound."""
    turns = session.chats.turns(chat)
    wanted = [turn for turn in turns if number is None or turn.number == number]
    if not wanted:
        what = f"chat {chat!r} has no turn {number}" if turns else f"no chat {chat!r} with any turns"
        raise SessionNotFound(what, hint=f"it has 1 to {turns[-1].number}" if turns else "amem chat --list shows them")
    return [
        Replayed(turn, tuple(_as_it_was(session, each) for each in turn.recalled), learnt_notes(session, turn))
        for turn in wanted
    ]


def learnt_notes(session: Session, turn: Turn) -> tuple[str, ...]:
    """Ids of the notes that learning from the turn made or changed."""
    if turn.learnt_by is None:
        return ()
    found: dict[str, None] = {}
    for operation in reversed(session.operations.family(turn.learnt_by)):
        held = session.operations.get(operation)
        found.update(dict.fromkeys((*held.created, *held.notes)))
    return tuple(found)


def _as_it_was(session: Session, kept: Recollection) -> Recalled:
    try:
        history = session.operations.history(kept.note)
    except NoteNotFound:
        history = []
    now = session.notes.get_many([kept.note], history=False, deleted=True).get(kept.note)
    content = now.content if now else ""
    for version in reversed(history):
        if version.version > kept.version and "content" in version.changes:
            content = str(version.changes["content"][0])
    return Recalled(
        note=kept.note,
        version=kept.version,
        text=content,
        score=kept.score,
        trust=now.trust if now else 0.0,
        why=kept.why,
        injected=kept.injected,
        supports=kept.supports,
        part=kept.part,
        kind=now.kind if now else None,
        at=now.at if now else None,
        purged=now is None,
    )


def last_learnt(session: Session, turns: Sequence[Turn]) -> int | None:
    """The newest operation that learnt something from one of these turns and was not taken back."""
    operations = session.operations
    for turn in reversed(turns):
        if turn.learnt_by is None or operations.get(turn.learnt_by).undone:
            continue
        if operations.left_something(turn.learnt_by):  # most turns teach nothing
            return turn.learnt_by
    return None
