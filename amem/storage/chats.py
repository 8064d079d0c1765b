"""Chats with the assistant: sessions and their turns, each turn committed before and after its model call.

A killed process leaves its last turn ``asked``; the next one reads the session and goes on. What was recalled is kept
as note ids and versions, so that a replay shows what those notes said then, and a purge leaves nothing of them here.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, func, insert, or_, select, update
from sqlalchemy import text as sql

from amem.errors import AmbiguousId, SessionNotFound
from amem.note import NOBODY, Scope
from amem.storage import tables
from amem.storage.filters import in_scope, scope_values
from amem.storage.rows import read_moment, time_text
from amem.storage.sql_values import Prepared, chunks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from sqlalchemy import ColumnElement, RowMapping, Select

    from amem.storage.store import Session

_SESSIONS, _TURNS, _OPS = tables.sessions, tables.turns, tables.operations
_HINT = "amem chat --list shows the chats"
#: The source made from a message: its `Turn.message_id`, and behind it whose the chat is.
_MESSAGE = re.compile(r"(?P<chat>.+?):(?P<number>\d+):(?P<role>user|assistant)(?: (?P<scope>\{.*\}))?", re.DOTALL)


class TurnState(StrEnum):
    """How far a turn came."""

    ASKED = "asked"
    """Stored; the answer is on its way, or whoever waited for it was killed."""
    ANSWERED = "answered"
    INTERRUPTED = "interrupted"
    """The answer is only its beginning: it was called off, or the model broke off."""
    UNANSWERED = "unanswered"
    """No model answered."""


class Learning(StrEnum):
    """Whether a turn has been learnt from."""

    WAITING = "waiting"
    DONE = "done"
    DEGRADED = "degraded"
    """The model asked for failed and the offline rules did it for now."""
    OFF = "off"


_WAITING = (Learning.WAITING,)
#: Of a turn before so many newer ones nobody waits for the end any more.
_STEPS = Prepared(
    "SELECT coalesce(2 * max(key) - sum(state = 'asked'), 0)"
    " FROM (SELECT key, state FROM turns ORDER BY key DESC LIMIT 20)"
)


@dataclass(frozen=True, slots=True)
class Recollection:
    """A note that was recalled for a turn, or stood in its prompt as core note or episode.

    `why` says in words what found it; `injected` whether it stood in what a model was to read. `version` is the note's
    at that time. `part` is ``recalled``, ``core`` or ``episode``; `supports` marks what the answer could rest on.
    """

    note: str
    version: int
    score: float = 0.0
    why: str = ""
    injected: bool = True
    part: str = "recalled"
    supports: bool = False


@dataclass(frozen=True, slots=True)
class Turn:
    """One question and its answer. `number` counts from 1 within `session`; `episode` is the id of the note that sums
    up the episode it belongs to, once that ended; `learnt_by` the operation to undo, `undone` whether it was; `scope`
    whose notes are made of it."""

    key: int
    session: str
    number: int
    at: datetime
    question: str
    answer: str
    state: TurnState
    learning: Learning
    model: str = ""
    prompt: str = ""
    error: str = ""
    recalled: tuple[Recollection, ...] = ()
    supported: bool | None = None
    tokens_in: int = 0
    tokens_out: int = 0
    learnt_by: int | None = None
    episode: str | None = None
    undone: bool = False
    scope: Scope = NOBODY

    def message_id(self, role: str) -> str:
        """The id of its ``user`` or ``assistant`` message; in its `scope` that of the source made from it."""
        return f"{self.session}:{self.number}:{role}"


@dataclass(frozen=True, slots=True)
class ChatSession:
    """A chat as a list shows it: when it began and was last used, how many turns, and how the first one begins."""

    id: str
    started_at: datetime
    last_at: datetime
    turns: int
    opening: str


class Chats:
    """The sessions and turns of one transaction; in a scope (`Session.within`) lists and prefixes know only its own."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._run = session.connection.execute

    # -- sessions ----------------------------------------------------------------------------------------------

    def begin(self, id: str, scope: Scope = NOBODY) -> None:
        """Begin a session, from which notes of the `scope` are made; one that is there already goes on."""
        row = {"id": id, "started_at": time_text(self._session.now), "scope": scope.kept}
        self._run(insert(_SESSIONS).prefix_with("OR IGNORE").values(row))

    def sessions(self, limit: int = 50) -> list[ChatSession]:
        """Sessions that have turns, the last used first."""
        return self._session.readable(
            self._run(_heads().where(self._own()).limit(limit)).mappings(), lambda row: f"chat {row['id']}", _session_of
        )

    def scope_of(self, id: str) -> Scope:
        """Whose a session is; nobody's where there is none."""
        held = self._run(select(_SESSIONS.c.scope).where(_SESSIONS.c.id == id)).scalar_one_or_none()
        return NOBODY if held is None else Scope.of(json.loads(held))

    def newest(self) -> str | None:
        """The session used last; None when there is none."""
        found = self.sessions(1)
        return found[0].id if found else None

    def resolve(self, prefix: str) -> str:
        """The one session whose id is or begins with `prefix`. Raises SessionNotFound or AmbiguousId."""
        if not prefix:
            raise SessionNotFound("an empty id names no chat", hint=_HINT)
        within = (_SESSIONS.c.id >= prefix, _SESSIONS.c.id < prefix + "\U0010ffff", self._own())
        ids = list(self._run(select(_SESSIONS.c.id).where(*within).order_by(_SESSIONS.c.id).limit(5)).scalars())
        if prefix in ids or len(ids) == 1:
            return prefix if prefix in ids else str(ids[0])
        if not ids:
            raise SessionNotFound(f"no chat {prefix!r}", hint=_HINT)
        raise AmbiguousId(f"{prefix!r} fits several chats: {', '.join(id[:12] for id in ids)}", hint="give more of it")

    def steps(self) -> int:
        """How many turns were begun, and how many of them ended, together: it grows with either. Quick to ask for."""
        ((number,),) = _STEPS.rows(self._session)
        return int(number)

    # -- a turn, from question to answer -----------------------------------------------------------------------

    def ask(self, session: str, question: str, at: datetime, *, learning: Learning = Learning.WAITING) -> Turn:
        """Write down a question as the session's next turn. Raises SessionNotFound."""
        found = self._run(select(_SESSIONS.c.key, _SESSIONS.c.scope).where(_SESSIONS.c.id == session)).one_or_none()
        if found is None:
            raise SessionNotFound(f"no chat {session!r}", hint=_HINT)
        key, scope = found.key, Scope.of(json.loads(found.scope))
        last = self._run(select(func.max(_TURNS.c.number)).where(_TURNS.c.session == key)).scalar_one()
        turn = Turn(0, session, (last or 0) + 1, at, question, "", TurnState.ASKED, learning, scope=scope)
        row = {
            "session": key,
            "number": turn.number,
            "at": time_text(at),
            "question": question,
            "state": str(turn.state),
            "learning": str(learning),
        }
        made = self._run(insert(_TURNS).values(row)).lastrowid
        assert made is not None
        return replace(turn, key=int(made))

    def recalled(self, key: int, notes: Sequence[Recollection], *, supported: bool | None, prompt: str = "") -> None:
        """Keep what was recalled for the turn, before its model is asked."""
        self._set([key], recalled=_json(notes), supported=supported, prompt=prompt)

    def answer(
        self,
        key: int,
        state: TurnState,
        answer: str,
        *,
        model: str = "",
        error: str = "",
        tokens_in: int = 0,
        tokens_out: int = 0,
    ) -> None:
        """Write down how the turn ended; `answer` is the partial text when it was interrupted."""
        self._set(
            [key],
            state=str(state),
            answer=answer,
            model=model,
            error=error,
            tokens_in=tokens_in,
            tokens_out=tokens_out,
        )

    # -- reading -----------------------------------------------------------------------------------------------

    def turns(
        self, session: str, *, last: int | None = None, before: int | None = None, recalled: bool = True
    ) -> list[Turn]:
        """The turns of a session in order; only the `last` so many (of those `before` that number) when given.

        Without `recalled` what was recalled for them is left out, which takes longer to read than all the rest.
        """
        statement = _turns().where(_SESSIONS.c.id == session).order_by(_TURNS.c.number.desc())
        if before is not None:
            statement = statement.where(_TURNS.c.number < before)
        rows = self._run(statement if last is None else statement.limit(last)).mappings().all()
        return self._readable(reversed(rows), partial(_turn_of, recalled=recalled))

    def open_turns(self, session: str) -> list[Turn]:
        """The turns that are learnt from and that no episode sums up yet, in order, without what was recalled."""
        statement = _turns().where(
            _SESSIONS.c.id == session, _TURNS.c.episode.is_(None), _TURNS.c.learning != str(Learning.OFF)
        )
        rows = self._run(statement.order_by(_TURNS.c.number)).mappings()
        return self._readable(rows, partial(_turn_of, recalled=False))

    def episodes(self, session: str, *, before: int) -> list[str]:
        """Ids of the notes that sum up episodes of a session's turns before that number, in its order."""
        statement = (
            select(_TURNS.c.episode)
            .select_from(_TURNS.join(_SESSIONS, _SESSIONS.c.key == _TURNS.c.session))
            .where(_SESSIONS.c.id == session, _TURNS.c.number < before, func.coalesce(_TURNS.c.episode, "") != "")
            .group_by(_TURNS.c.episode)
            .order_by(func.min(_TURNS.c.number))
        )
        return list(self._run(statement).scalars())

    def turn(self, session: str, number: int) -> Turn | None:
        """One turn; None when the session has no such turn."""
        row = self._run(_turns().where(_SESSIONS.c.id == session, _TURNS.c.number == number)).mappings().one_or_none()
        return None if row is None else _turn_of(row)

    # -- learning ----------------------------------------------------------------------------------------------

    def waiting(
        self, *, before: datetime | None = None, limit: int | None = None, states: Sequence[Learning] = _WAITING
    ) -> list[Turn]:
        """Turns in one of these states of learning that nobody is learning from now, oldest first.

        A turn whose answer is on its way is not among them, unless it has been for as long as nobody waits; nor is one
        of which somebody undid what the rules had learnt meanwhile.
        """
        statement = _turns().where(*self._unlearnt(states), self._free(), self._own())
        if before is not None:
            statement = statement.where(_TURNS.c.at < time_text(before))
        statement = statement.order_by(_TURNS.c.key)
        return self._readable(self._run(statement if limit is None else statement.limit(limit)).mappings(), _turn_of)

    def unlearnt(self, *, since: datetime | None = None) -> int:
        """How many turns (asked since then) wait to be learnt from, or for a model where the rules stood in for it.

        Those that somebody is learning from now are among them.
        """
        asked = _turns().where(*self._unlearnt((Learning.WAITING, Learning.DEGRADED)), self._own())
        if since is not None:
            asked = asked.where(_TURNS.c.at >= time_text(since))
        return int(self._run(select(func.count()).select_from(asked.subquery())).scalar_one())

    def claim(self, keys: Sequence[int], owner: str, *, seconds: float) -> set[int]:
        """Take these unlearnt turns for as long; returns those got (the others are somebody else's or done)."""
        until = time_text(self._session.now + timedelta(seconds=seconds))
        unlearnt = _TURNS.c.learning.in_([str(Learning.WAITING), str(Learning.DEGRADED)])
        statement = update(_TURNS).where(_TURNS.c.key.in_(list(keys)), unlearnt, self._free())
        return set(self._run(statement.values(owner=owner, lease_until=until).returning(_TURNS.c.key)).scalars())

    def release(self, keys: Sequence[int]) -> None:
        """Give turns back unlearnt."""
        self._set(keys, owner=None, lease_until=None)

    def give_back_of(self, gone: Callable[[str], bool]) -> None:
        """Give back the turns of owners that are gone, without waiting for their leases."""
        owners = self._run(select(_TURNS.c.owner).where(_TURNS.c.owner.is_not(None)).distinct()).scalars().all()
        for owner in owners:
            if gone(owner):
                self._run(update(_TURNS).where(_TURNS.c.owner == owner).values(owner=None, lease_until=None))

    def learnt(self, keys: Sequence[int], learning: Learning, *, operation: int | None = None) -> None:
        """Say that these turns were learnt from, and by which operation."""
        self._set(keys, learning=str(learning), learnt_by=operation, owner=None, lease_until=None)

    def quiet(self, since: datetime) -> list[str]:
        """Sessions with learnt turns that no episode sums up yet, in which nothing was said since then."""
        done = [str(Learning.DONE), str(Learning.DEGRADED)]
        statement = (
            select(_SESSIONS.c.id)
            .select_from(_TURNS.join(_SESSIONS, _SESSIONS.c.key == _TURNS.c.session))
            .where(_TURNS.c.episode.is_(None), _TURNS.c.learning.in_(done), self._own())
            .group_by(_SESSIONS.c.key)
            .having(func.max(_TURNS.c.at) < time_text(since))
            .order_by(_SESSIONS.c.key)
        )
        return list(self._run(statement).scalars())

    def summed_up(self, keys: Sequence[int], episode: str) -> None:
        """Say which note sums up the episode that these turns belong to."""
        self._set(keys, episode=episode)

    # -- forgetting --------------------------------------------------------------------------------------------

    def blank(self, sources: Iterable[str]) -> None:
        """Take the text of purged messages (by source id) out of their turns, and with it what was made of it."""
        for id in sources:
            self.reword(id, "")

    def reword(self, source: str, text: str) -> None:
        """Have a turn say of a message (by source id) no more than a purge left of it."""
        message = _MESSAGE.fullmatch(source)
        if message is None:
            return
        kept = _SESSIONS.c.id == message["chat"], _SESSIONS.c.scope == (message["scope"] or NOBODY.kept)
        wanted = select(_SESSIONS.c.key).where(*kept).scalar_subquery()
        field = "question" if message["role"] == "user" else "answer"
        statement = update(_TURNS).where(_TURNS.c.session == wanted, _TURNS.c.number == int(message["number"]))
        self._run(statement.values({field: text, "error": ""}))

    def forget(self, note: str) -> None:
        """Take out what turns say about why this (purged) note was recalled; that it was stays."""
        for key, told in self._run(select(_TURNS.c.key, _TURNS.c.recalled).where(_TURNS.c.recalled.contains(note))):
            held = [replace(each, why="") if each.note == note else each for each in _recalled_of(told)]
            self._set([key], recalled=_json(held))

    def _own(self) -> ColumnElement[bool]:
        """Holds for the sessions of the scope."""
        return and_(sql(in_scope("sessions", "scope")).bindparams(**scope_values(self._session.scope)))

    def _set(self, keys: Sequence[int], **values: Any) -> None:
        for some in chunks(keys):
            self._run(update(_TURNS).where(_TURNS.c.key.in_(some)).values(values))

    def _unlearnt(self, states: Sequence[Learning]) -> list[ColumnElement[bool]]:
        """Holds for turns in one of these states but those being answered and those whose lesson was undone."""
        abandoned = time_text(self._session.now - _ABANDONED)
        return [
            _TURNS.c.learning.in_([str(state) for state in states]),
            _OPS.c.undone_by.is_(None),
            or_(_TURNS.c.state != str(TurnState.ASKED), _TURNS.c.at <= abandoned),
        ]

    def _readable(self, rows: Iterable[RowMapping], read: Callable[[RowMapping], Turn]) -> list[Turn]:
        return self._session.readable(rows, lambda row: f"turn {row['number']} of chat {row['session_id']}", read)

    def _free(self) -> ColumnElement[bool]:
        return or_(_TURNS.c.lease_until.is_(None), _TURNS.c.lease_until <= time_text(self._session.now))


#: After so long nobody waits for an answer any more: whoever asked was killed.
_ABANDONED = timedelta(minutes=30)


def _turns() -> Select[Any]:
    return select(_TURNS, _SESSIONS.c.id.label("session_id"), _SESSIONS.c.scope, _OPS.c.undone_by).select_from(
        _TURNS.join(_SESSIONS, _SESSIONS.c.key == _TURNS.c.session).outerjoin(_OPS, _OPS.c.id == _TURNS.c.learnt_by)
    )


def _heads() -> Select[Any]:
    first = _TURNS.alias("first")
    opening = select(first.c.question).where(first.c.session == _SESSIONS.c.key).order_by(first.c.number).limit(1)
    return (
        select(_SESSIONS.c.id, _SESSIONS.c.started_at, func.count().label("turns"), func.max(_TURNS.c.at).label("last"))
        .add_columns(opening.scalar_subquery().label("opening"), func.max(_TURNS.c.key).label("newest"))
        .select_from(_SESSIONS.join(_TURNS, _TURNS.c.session == _SESSIONS.c.key))
        .group_by(_SESSIONS.c.key)
        .order_by(func.max(_TURNS.c.key).desc())
    )


def _session_of(row: RowMapping) -> ChatSession:
    return ChatSession(
        row["id"], read_moment(row["started_at"]), read_moment(row["last"]), row["turns"], row["opening"]
    )


def _turn_of(row: RowMapping, *, recalled: bool = True) -> Turn:
    return Turn(
        key=row["key"],
        session=row["session_id"],
        number=row["number"],
        at=read_moment(row["at"]),
        question=row["question"],
        answer=row["answer"],
        state=TurnState(row["state"]),
        learning=Learning(row["learning"]),
        model=row["model"],
        prompt=row["prompt"],
        error=row["error"],
        recalled=_recalled_of(row["recalled"]) if recalled else (),
        supported=None if row["supported"] is None else bool(row["supported"]),
        tokens_in=row["tokens_in"],
        tokens_out=row["tokens_out"],
        learnt_by=row["learnt_by"],
        episode=row["episode"],
        undone=row["undone_by"] is not None,
        scope=Scope.of(json.loads(row["scope"])),
    )


def _json(notes: Sequence[Recollection]) -> str:
    return json.dumps([asdict(each) for each in notes], ensure_ascii=False)


def _recalled_of(text: str) -> tuple[Recollection, ...]:
    return tuple(Recollection(**each) for each in json.loads(text))
