"""Chats with the assistant: sessions and their turns, each turn committed before and after its model call.

A killed process leaves its last turn ``asked``; the next one reads the session and goes on. What was recalled is kept
as note ids and versions, so that a replay shows what those notes said then, and a purge leaves nothing of them here.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any

from amem.errors import AmbiguousId, SessionNotFound
from amem.note import NOBODY, Scope
from amem.storage.rows import Part, as_json, from_row, in_scope

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


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
_STEPS = (
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


class Chats(Part):
    """The sessions and turns of one transaction; in a scope (`Session.within`) lists and prefixes know only its own."""

    # -- sessions ----------------------------------------------------------------------------------------------

    def begin(self, id: str, scope: Scope = NOBODY) -> None:
        """Begin a session, from which notes of the `scope` are made; one that is there already goes on."""
        row = {"id": id, "started_at": self._session.now, "scope": scope.kept}
        self._session.insert("sessions", row, either="IGNORE")

    def sessions(self, limit: int = 50) -> list[ChatSession]:
        """Sessions that have turns, the last used first."""
        sql = (
            "SELECT sessions.id, started_at, count(*) AS turns, max(turns.at) AS last_at,"
            " (SELECT question FROM turns AS first WHERE first.session = sessions.key ORDER BY first.number LIMIT 1)"
            f" AS opening FROM sessions JOIN turns ON turns.session = sessions.key WHERE {_OWN}"
            " GROUP BY sessions.key ORDER BY max(turns.key) DESC LIMIT :limit"
        )
        rows = self._session.records(sql, limit=limit)
        return self._session.readable(rows, lambda row: f"chat {row['id']}", partial(from_row, ChatSession))

    def scope_of(self, id: str) -> Scope:
        """Whose a session is; nobody's where there is none."""
        held = self._session.value("SELECT scope FROM sessions WHERE id = :id", id=id)
        return NOBODY if held is None else Scope.of(json.loads(held))

    def newest(self) -> str | None:
        """The session used last; None when there is none."""
        found = self.sessions(1)
        return found[0].id if found else None

    def resolve(self, prefix: str) -> str:
        """The one session whose id is or begins with `prefix`. Raises SessionNotFound or AmbiguousId."""
        if not prefix:
            raise SessionNotFound("an empty id names no chat", hint=_HINT)
        sql = f"SELECT id FROM sessions WHERE id >= :prefix AND id < :end AND {_OWN} ORDER BY id LIMIT 5"
        ids = self._session.column(sql, prefix=prefix, end=prefix + "\U0010ffff")
        if prefix in ids or len(ids) == 1:
            return prefix if prefix in ids else str(ids[0])
        if not ids:
            raise SessionNotFound(f"no chat {prefix!r}", hint=_HINT)
        raise AmbiguousId(f"{prefix!r} fits several chats: {', '.join(id[:12] for id in ids)}", hint="give more of it")

    def steps(self) -> int:
        """How many turns were begun, and how many of them ended, together: it grows with either. Quick to ask for."""
        return int(self._session.value(_STEPS))

    # -- a turn, from question to answer -----------------------------------------------------------------------

    def ask(self, session: str, question: str, at: datetime, *, learning: Learning = Learning.WAITING) -> Turn:
        """Write down a question as the session's next turn. Raises SessionNotFound."""
        found = self._session.rows("SELECT key, scope FROM sessions WHERE id = :id", id=session)
        if not found:
            raise SessionNotFound(f"no chat {session!r}", hint=_HINT)
        key, scope = found[0][0], Scope.of(json.loads(found[0][1]))
        last = self._session.value("SELECT max(number) FROM turns WHERE session = :key", key=key)
        turn = Turn(0, session, (last or 0) + 1, at, question, "", TurnState.ASKED, learning, scope=scope)
        row = {
            "session": key,
            "number": turn.number,
            "at": at,
            "question": question,
            "state": str(turn.state),
            "learning": str(learning),
        }
        return replace(turn, key=self._session.insert("turns", row))

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
        where = "sessions.id = :session AND (:before IS NULL OR number < :before) ORDER BY number DESC LIMIT :last"
        turns = self._turns(where, recalled=recalled, session=session, before=before, last=-1 if last is None else last)
        return turns[::-1]

    def open_turns(self, session: str) -> list[Turn]:
        """The turns that are learnt from and that no episode sums up yet, in order, without what was recalled."""
        where = "sessions.id = :session AND episode IS NULL AND learning <> 'off' ORDER BY number"
        return self._turns(where, recalled=False, session=session)

    def episodes(self, session: str, *, before: int) -> list[str]:
        """Ids of the notes that sum up episodes of a session's turns before that number, in its order."""
        sql = "SELECT episode FROM turns JOIN sessions ON sessions.key = turns.session WHERE sessions.id = :session"
        sql += " AND number < :before AND coalesce(episode, '') <> '' GROUP BY episode ORDER BY min(number)"
        return self._session.column(sql, session=session, before=before)

    def turn(self, session: str, number: int) -> Turn | None:
        """One turn; None when the session has no such turn."""
        rows = self._session.records(f"{_TURNS} sessions.id = :id AND number = :number", id=session, number=number)
        return _turn_of(rows[0]) if rows else None

    # -- learning ----------------------------------------------------------------------------------------------

    def waiting(self, *, before: datetime | None = None, states: Sequence[Learning] = _WAITING) -> list[Turn]:
        """Turns in one of these states of learning that nobody is learning from now, oldest first.

        A turn whose answer is on its way is not among them, unless it has been for as long as nobody waits; nor is one
        of which somebody undid what the rules had learnt meanwhile.
        """
        where = f"{_UNLEARNT} AND {_FREE} AND {_OWN} AND (:until IS NULL OR turns.at < :until)"
        asked = self._moments | {"states": states, "until": before}
        return self._turns(f"{where} ORDER BY turns.key", **asked)

    def unlearnt(self, *, since: datetime | None = None) -> int:
        """How many turns (asked since then) wait to be learnt from, or for a model where the rules stood in for it.

        Those that somebody is learning from now are among them.
        """
        sql = f"SELECT count(*) FROM ({_TURNS} {_UNLEARNT} AND {_OWN} AND (:since IS NULL OR turns.at >= :since))"
        asked = self._moments | {"states": _UNFINISHED, "since": since}
        return int(self._session.value(sql, **asked))

    def claim(self, keys: Sequence[int], owner: str, *, seconds: float) -> set[int]:
        """Take these unlearnt turns for as long; returns those got (the others are somebody else's or done)."""
        sql = (
            "UPDATE turns SET owner = :owner, lease_until = :until WHERE key IN :keys"
            f" AND learning IN :states AND {_FREE} RETURNING key"
        )
        until = self._session.now + timedelta(seconds=seconds)
        asked = self._moments | {"owner": owner, "until": until, "keys": keys, "states": _UNFINISHED}
        return set(self._session.column(sql, **asked))

    def release(self, keys: Sequence[int]) -> None:
        """Give turns back unlearnt."""
        self._set(keys, owner=None, lease_until=None)

    def give_back_of(self, gone: Callable[[str], bool]) -> None:
        """Give back the turns of owners that are gone, without waiting for their leases."""
        for owner in self._session.column("SELECT DISTINCT owner FROM turns WHERE owner IS NOT NULL"):
            if gone(owner):
                self._session.update("turns", {"owner": None, "lease_until": None}, owner=owner)

    def learnt(self, keys: Sequence[int], learning: Learning, *, operation: int | None = None) -> None:
        """Say that these turns were learnt from, and by which operation."""
        self._set(keys, learning=str(learning), learnt_by=operation, owner=None, lease_until=None)

    def quiet(self, since: datetime) -> list[str]:
        """Sessions with learnt turns that no episode sums up yet, in which nothing was said since then."""
        sql = (
            "SELECT sessions.id FROM turns JOIN sessions ON sessions.key = turns.session"
            f" WHERE episode IS NULL AND learning IN ('done', 'degraded') AND {_OWN}"
            " GROUP BY sessions.key HAVING max(turns.at) < :since ORDER BY sessions.key"
        )
        return self._session.column(sql, since=since)

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
        field = "question" if message["role"] == "user" else "answer"
        sql = f"UPDATE turns SET {field} = :text, error = '' WHERE number = :number"
        sql += " AND session = (SELECT key FROM sessions WHERE id = :chat AND scope = :scope)"
        kept = {"chat": message["chat"], "scope": message["scope"] or NOBODY.kept, "number": int(message["number"])}
        self._session.change(sql, text=text, **kept)

    def forget(self, note: str) -> None:
        """Take out what turns say about why this (purged) note was recalled; that it was stays."""
        for key, told in self._session.rows("SELECT key, recalled FROM turns WHERE instr(recalled, :note)", note=note):
            held = [replace(each, why="") if each.note == note else each for each in _recalled_of(told)]
            self._set([key], recalled=_json(held))

    @property
    def _moments(self) -> dict[str, Any]:
        now = self._session.now
        return {"now": now, "abandoned": now - _ABANDONED}

    def _set(self, keys: Sequence[int], **values: Any) -> None:
        sets = ", ".join(f"{name} = :{name}" for name in values)
        self._session.change(f"UPDATE turns SET {sets} WHERE key IN :keys", keys=keys, **values)

    def _turns(self, where: str, *, recalled: bool = True, **asked: Any) -> list[Turn]:
        return self._session.readable(
            self._session.records(f"{_TURNS} {where}", **asked),
            lambda row: f"turn {row['number']} of chat {row['session_id']}",
            partial(_turn_of, recalled=recalled),
        )


#: After so long nobody waits for an answer any more: whoever asked was killed.
_ABANDONED = timedelta(minutes=30)


_UNFINISHED = (Learning.WAITING, Learning.DEGRADED)
_TURNS = (
    "SELECT turns.*, sessions.id AS session_id, sessions.scope, o.undone_by FROM turns"
    " JOIN sessions ON sessions.key = turns.session LEFT JOIN operations AS o ON o.id = turns.learnt_by WHERE"
)
#: Turns in one of some states but those being answered and those whose lesson was undone.
_UNLEARNT = "learning IN :states AND o.undone_by IS NULL AND (state <> 'asked' OR turns.at <= :abandoned)"
_FREE = "(lease_until IS NULL OR lease_until <= :now)"
#: Sessions of the scope.
_OWN = in_scope("sessions", "scope")


def _turn_of(row: Mapping[str, Any], *, recalled: bool = True) -> Turn:
    return from_row(
        Turn,
        row,
        session=row["session_id"],
        state=TurnState(row["state"]),
        learning=Learning(row["learning"]),
        recalled=_recalled_of(row["recalled"]) if recalled else (),
        supported=None if row["supported"] is None else bool(row["supported"]),
        undone=row["undone_by"] is not None,
        scope=Scope.of(json.loads(row["scope"])),
    )


def _json(notes: Sequence[Recollection]) -> str:
    return as_json([asdict(each) for each in notes])


def _recalled_of(text: str) -> tuple[Recollection, ...]:
    return tuple(Recollection(**each) for each in json.loads(text))
