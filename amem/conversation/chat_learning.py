"""Learning from chats: after each turn in the background, or over a day's turns at once.

Which turns wait is kept in the database, so that a killed process forgets nothing: the next `learn_waiting` (or
``amem work``) takes them up. Turns are leased while they are learnt from, so that two processes never learn one twice.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING

from amem.clock import Clock, start_of_day, zone
from amem.conversation.background import Background
from amem.conversation.episodes import GAP, LEAST_TOKENS, TOKENS, segment
from amem.conversation.learning import RememberReport, queue_lesson
from amem.conversation.reply import Learnt
from amem.errors import AmemError, Cancelled
from amem.labels import short_id, title
from amem.language.terms import tokens
from amem.llm.prompts import EARLIER
from amem.note import EVERYONE, Message, Role, Scope, Status
from amem.storage.chats import Learning, Turn, TurnState
from amem.storage.jobs import Owner, is_gone
from amem.writing.worker import Patience

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime
    from threading import Event

    from amem.conversation.ingest import Learner
    from amem.settings import Settings
    from amem.storage.operations import Operation
    from amem.storage.store import Session, Store

_log = logging.getLogger(__name__)

#: How long learning from one turn may take before somebody else may take it up: a slow model's worth of calls.
_LEASE_SECONDS = 900.0
#: An episode of a chat ends when it takes this part of the model's window at the latest. Without that a long sitting
#: would be one open episode, and turns that no longer fit into the prompt would have no summary to stand for them.
_OF_WINDOW = 8
#: Characters of the title of a note that was learnt.
_TITLE = 60


class ChatLearning:
    """Learns from the chats of one collection, or of a `scope` of it. `learner` None means that nothing is ever learnt;
    `owner` is the name under which turns are held, the collection's own where closing it is to set them free."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        learner: Learner | None,
        settings: Settings,
        *,
        on_learnt: Callable[[Learnt], None] | None = None,
        owner: Owner | None = None,
        scope: Scope = EVERYONE,
    ) -> None:
        self._scope = scope
        self._store = store
        self._clock = clock
        self._learner = learner
        self._settings = settings
        self._on_learnt = on_learnt
        self._owner = owner or Owner()
        self._patience = Patience(clock)
        self._background: Background[Turn] = Background(self._learn_one, "amem-learning")

    @property
    def can_learn(self) -> bool:
        """False without a learner."""
        return self._learner is not None

    def soon(self, turn: Turn) -> None:
        """Learn from the turn in the background, after those before it; at ``night`` only sum up what is over."""
        if self._learner is not None:
            self._background.put(turn)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until all that was handed to `soon` is done; False when that takes longer than `timeout` seconds."""
        return self._background.wait(timeout)

    def close(self, timeout: float) -> None:
        """Wait so long for what is being done, then call it off; what is not done stays queued."""
        self._background.close(timeout)

    def _learn_one(self, turn: Turn) -> None:
        try:
            learnt = self._close_episodes(turn.session) if self._by_night else self._learn([turn], episodes=False)
        except Exception as error:  # a thread has nobody to raise to; the turn waits for the next time
            _log.warning("a turn was not learnt from: %s", error, exc_info=True)
            learnt = Learnt(error=str(error) or type(error).__name__, waiting=1)
        if self._on_learnt is not None and not self._background.called_off.is_set():
            self._on_learnt(learnt)

    # -- what waits --------------------------------------------------------------------------------------------

    def work(
        self,
        owner: str = "",
        *,
        limit: int | None = None,
        today: bool = False,
        cancelled: Event | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Learnt:
        """Learn from what waits, as a worker does it: with ``chat_learning=night`` only from days that are over.

        With `today` from today, too, for a person who does not wait for the night. Then asks the model again about
        turns that the rules stood in for. What could not be learnt from is tried again after a while.
        """
        before = (
            start_of_day(self._clock.now(), zone(self._settings.timezone)) if self._by_night and not today else None
        )
        how = partial(self._round, cancelled=cancelled, progress=progress, owner=owner, rested=True)
        learnt = how(before, limit, (Learning.WAITING,))
        left = None if limit is None else limit - learnt.turns
        if left != 0:
            learnt += how(None, left, (Learning.DEGRADED,))
        return learnt + self._close_quiet()

    def waiting(self) -> int:
        """How many turns wait to be learnt from, whoever is at it now."""
        with self._store.read() as session, session.within(self._scope):
            return session.chats.unlearnt()

    def learn_waiting(
        self,
        before: datetime | None = None,
        *,
        limit: int | None = None,
        cancelled: Event | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Learnt:
        """Learn from all waiting turns asked `before` then (None: all); with ``chat_learning=night`` a chat's together.

        One call per episode then takes the place of one per turn. Goes on with the next chat when one fails (its turns
        go on waiting); `progress` hears (done, of how many) turns. At most `limit` turns are learnt from.
        """
        return self._round(before, limit, (Learning.WAITING,), cancelled=cancelled, progress=progress)

    def _round(
        self,
        before: datetime | None,
        limit: int | None,
        states: Sequence[Learning],
        *,
        cancelled: Event | None = None,
        progress: Callable[[int, int], None] | None = None,
        owner: str = "",
        rested: bool = False,
    ) -> Learnt:
        if self._learner is None:
            return Learnt()
        with self._store.write() as session, session.within(self._scope):
            session.chats.give_back_of(is_gone)
            waiting = session.chats.waiting(before=before, states=states)
        resting = self._patience.resting() if rested else ()
        waiting = [turn for turn in waiting if turn.key not in resting][:limit]
        again = Learning.DEGRADED in states
        total, done = Learnt(), 0
        for turns in self._portions(waiting, alone=again or not self._by_night):
            if cancelled is not None and cancelled.is_set():
                break
            if _is_summed_up(turns[0]):
                total += self._learn_episode(turns, owner=owner, cancelled=cancelled)
            else:
                total += self._learn(turns, episodes=self._by_night and not again, owner=owner, cancelled=cancelled)
            done += len(turns)
            if progress is not None:
                progress(done, len(waiting))
        return total

    @property
    def _by_night(self) -> bool:
        return self._settings.chat_learning == "night"

    def _portions(self, waiting: Sequence[Turn], *, alone: bool) -> Iterable[list[Turn]]:
        """What is learnt from in one go: each turn `alone`, or a chat's together; an episode's are together anyway."""
        portions: dict[object, list[Turn]] = {}
        for turn in waiting:
            of = turn.episode if _is_summed_up(turn) else turn.key if alone else turn.session
            portions.setdefault(of, []).append(turn)
        return portions.values()

    # -- one portion -------------------------------------------------------------------------------------------

    def _learn(
        self,
        turns: Sequence[Turn],
        *,
        episodes: bool,
        owner: str = "",
        cancelled: Event | None = None,
    ) -> Learnt:
        assert self._learner is not None
        with self._store.write() as session:
            holder = owner or self._owner.one_more()
            now = session.chats.turns(turns[0].session, recalled=False) if self._by_night else ()
            # One that was summed up meanwhile is learnt from with its episode.
            with_episode = {turn.key for turn in now if _is_summed_up(turn)}
            keys = [turn.key for turn in turns if turn.key not in with_episode]
            got = session.chats.claim(keys, holder, seconds=_LEASE_SECONDS)
        mine = [turn for turn in turns if turn.key in got]
        if not mine:
            return Learnt()
        try:
            made = self._learner.remember(
                [message for turn in mine for message in self._messages(turn)],
                conversation=mine[0].session,
                scope=mine[0].scope,
                earlier=self._before(mine[0]),
                episodes=episodes,
                # What the rules made in the model's stead gives way to what the model makes now.
                replaces=mine[0].learnt_by if mine[0].learning is Learning.DEGRADED else None,
                cancelled=cancelled or self._background.called_off,
            )
        except BaseException as error:
            self._give_back(mine)
            self._patience.rest(turn.key for turn in mine)
            if not isinstance(error, Exception):
                raise
            # Whatever is wrong with these turns must not keep those after them from being learnt from.
            return _put_off(error, f"{len(mine)} turns", len(mine))
        return self._settle(mine, made, episodes=episodes) + self._close_episodes(mine[0].session)

    def _learn_episode(self, turns: Sequence[Turn], *, owner: str, cancelled: Event | None) -> Learnt:
        """Learn from an episode that was summed up before it was learnt from.

        From the moment its turns are settled that is a job of its own, which the learner keeps.
        """
        assert self._learner is not None
        episode = str(turns[0].episode)
        with self._store.write() as session:
            holder = owner or self._owner.one_more()
            waiting = [
                turn
                for turn in session.chats.turns(turns[0].session, recalled=False)
                if turn.episode == episode and turn.learning is Learning.WAITING
            ]
            got = session.chats.claim([turn.key for turn in waiting], holder, seconds=_LEASE_SECONDS)
            if len(got) < len(waiting):
                session.chats.release(list(got))
                return Learnt()
            session.chats.learnt(list(got), Learning.DONE, operation=queue_lesson(session, episode))
        try:
            made = self._learner.learn_from(episode, cancelled=cancelled or self._background.called_off)
        except Exception as error:
            return _put_off(error, f"episode {short_id(episode)}", len(got))
        return learnt_of(made, len(got))

    def _give_back(self, turns: Sequence[Turn]) -> None:
        with self._store.write() as session:
            session.chats.release([turn.key for turn in turns])

    def _settle(self, turns: Sequence[Turn], made: RememberReport, *, episodes: bool) -> Learnt:
        # What an episode still has to teach is a job of its own, which the learner keeps.
        degraded = made.degraded and not episodes
        if degraded:
            self._patience.rest(turn.key for turn in turns)
        with self._store.write() as session:
            session.chats.learnt(
                [turn.key for turn in turns],
                Learning.DEGRADED if degraded else Learning.DONE,
                operation=made.operation or turns[0].learnt_by,
            )
        if episodes:
            self._assign(turns, made)
        return self._told(made, len(turns))

    def _told(self, made: RememberReport, turns: int) -> Learnt:
        """What came of it, with the title of a note where it is one that was made, or one that holds no longer."""
        learnt = learnt_of(made, turns)
        if made.operation is None or 1 not in (made.stored, made.superseded):
            return learnt
        with self._store.read() as session:
            notes = taught(session, made.operation).notes

        def titles(lesson: LearnedKind, count: int) -> tuple[str, ...]:
            told = [each.text for each in notes if each.lesson is lesson and each.note not in made.episodes]
            return tuple(title(text, _TITLE) for text in told) if count == 1 else ()

        saved = titles(LearnedKind.REMEMBERED, made.stored)
        return replace(learnt, saved=saved, ended=titles(LearnedKind.SUPERSEDED, made.superseded))

    def _assign(self, turns: Sequence[Turn], made: RememberReport) -> None:
        """Tell turns which note sums up their episode; '' for those that an episode made before holds already."""
        with self._store.write() as session:
            session.chats.summed_up([turn.key for turn in turns], "")
            for id, sources in session.notes.sources_of(made.episodes).items():
                held = {turns[0].scope.named(source.id) for source in sources}
                said = [turn for turn in turns if {turn.message_id("user"), turn.message_id("assistant")} & held]
                session.chats.summed_up([turn.key for turn in said], id)

    # -- episodes ----------------------------------------------------------------------------------------------

    def _close_quiet(self) -> Learnt:
        """Make the notes of the last episodes of chats in which nothing was said for long."""
        if self._learner is None:
            return Learnt()
        with self._store.read() as session, session.within(self._scope):
            quiet = session.chats.quiet(self._clock.now() - GAP)
        total = Learnt()
        for chat in quiet:
            total += self._close_episodes(chat)
        return total

    def _close_episodes(self, chat: str) -> Learnt:
        """Make the notes of episodes that have ended: all but the last, and the last when it has been quiet for long.

        They hold whole turns: one that is cut between question and answer belongs to the earlier episode.
        A turn that still waits to be learnt from ends what can be told: what comes after it is left for later. Only
        at ``night``, when all of them wait, they are summed up before they are learnt from once they take much room.
        One of which somebody undid what it taught is in no episode: its summary would say it again.
        """
        assert self._learner is not None
        with self._store.read() as session:
            turns = session.chats.open_turns(chat)
        most = max(LEAST_TOKENS, min(TOKENS, self._settings.llm_context // _OF_WINDOW))
        early = self._by_night and sum(tokens(each.question) + tokens(each.answer) for each in turns) > most
        told = _until(turns, lambda each: each.learning is Learning.WAITING and not early)
        open_ = [turn for turn in told if not turn.undone]
        by_message = {message.id: turn for turn in open_ for message in self._messages(turn)}
        found = segment([message for turn in open_ for message in self._messages(turn)], tokens=most)
        quiet = bool(told) and self._clock.now() - told[-1].at > GAP
        over = quiet and len(told) == len(turns)
        if over:
            with self._store.write() as session:
                session.chats.summed_up([turn.key for turn in told if turn.undone], "")
        total = Learnt()
        for episode in found if over else found[:-1]:
            held = {turn.key: turn for message in episode.messages for turn in (by_message[message.id],)}
            total += self._sum_up(chat, list(held.values()))
        return total

    def _sum_up(self, chat: str, turns: Sequence[Turn]) -> Learnt:
        """Make the note of an episode, unless somebody is learning from it now."""
        assert self._learner is not None
        waiting = [turn.key for turn in turns if turn.learning is Learning.WAITING]
        with self._store.write() as session:
            got = session.chats.claim(waiting, self._owner.one_more(), seconds=_LEASE_SECONDS)
        try:
            if len(got) < len(waiting):
                return Learnt()
            said = [message for turn in turns for message in self._messages(turn)]
            made = self._learner.remember(
                said,
                conversation=chat,
                scope=turns[0].scope,
                episodes=True,
                extract=False,
                cancelled=self._background.called_off,
            )
            self._assign(turns, made)
        finally:
            with self._store.write() as session:
                session.chats.release(list(got))
        return Learnt(episodes=len(made.episodes))

    # -- turns as messages -------------------------------------------------------------------------------------

    def _messages(self, turn: Turn) -> list[Message]:
        """The user's words and, where there are any, the assistant's."""
        name = self._settings.user_name
        # A learner takes no half text; what is a NUL in a pasted log is no news.
        asked = turn.question.replace("\0", " ")
        said = [Message(Role.USER, asked, turn.at, name, turn.message_id("user"))] if asked.strip() else []
        if turn.answer.strip():
            said.append(Message(Role.ASSISTANT, turn.answer, turn.at, "assistant", turn.message_id("assistant")))
        return said

    def _before(self, turn: Turn) -> list[Message]:
        with self._store.read() as session:
            turns = session.chats.turns(turn.session, last=EARLIER, before=turn.number, recalled=False)
        return [message for each in turns if not each.undone for message in self._messages(each)][-EARLIER:]


def _put_off(error: Exception, what: str, turns: int) -> Learnt:
    """What is told and logged of turns that could not be learnt from and go on waiting."""
    is_told = isinstance(error, AmemError)
    level = logging.INFO if is_told else logging.ERROR
    _log.log(level, "%s could not be learnt from and goes on waiting: %s", what, error, exc_info=not is_told)
    return Learnt(error="" if isinstance(error, Cancelled) else str(error) or type(error).__name__, waiting=turns)


def _is_summed_up(turn: Turn) -> bool:
    """Whether the turn waits although there is a note of its episode."""
    return bool(turn.episode) and turn.learning is Learning.WAITING


def learnt_of(made: RememberReport, turns: int) -> Learnt:
    """What a learner's report comes to, as it is told to people."""
    return Learnt(
        remembered=made.stored,
        updated=made.updated,
        superseded=made.superseded,
        corroborated=made.corroborated,
        episodes=len(made.episodes),
        turns=turns,
        operations=() if made.operation is None else (made.operation,),
        degraded=made.degraded,
        error=made.error,
    )


def _until(turns: Sequence[Turn], stop: Callable[[Turn], bool]) -> list[Turn]:
    found: list[Turn] = []
    for turn in turns:
        if stop(turn) or turn.state is TurnState.ASKED:
            break
        found.append(turn)
    return found


# What one operation taught: the notes it made, and what it did to others, each with what takes it back.


class LearnedKind(StrEnum):
    """What became of a note, the most telling last."""

    CHANGED = "changed"
    REMEMBERED = "remembered"
    FORGOTTEN = "forgotten"
    SUPERSEDED = "superseded"


_BY_STATUS = {Status.SUPERSEDED: LearnedKind.SUPERSEDED, Status.DELETED: LearnedKind.FORGOTTEN}


@dataclass(frozen=True, slots=True)
class Learned:
    """One note of it. `operation` is what takes just this back, `undone` whether it was; `text` is '' once purged."""

    note: str
    text: str
    lesson: LearnedKind
    operation: int
    undone: bool


@dataclass(frozen=True, slots=True)
class Taught:
    """All that came of an operation; `links` counts those it made or removed."""

    operation: int
    undone: bool
    notes: tuple[Learned, ...]
    links: int


def taught(session: Session, operation: int) -> Taught:
    """What the operation and all it set off did, notes it made first. Raises OperationNotFound."""
    family = {id: session.operations.get(id) for id in reversed(session.operations.family(operation))}
    undone: dict[int, bool] = {}
    for each in family.values():  # whoever was set off comes after what set it off
        undone[each.id] = each.undone or undone.get(each.parent or 0, False)
    found: dict[str, tuple[LearnedKind, Operation]] = {}
    for each in family.values():
        for id in each.created:
            found[id] = (LearnedKind.REMEMBERED, each)
    made = set(found)
    for each in family.values():
        for id in each.notes:
            lesson = _what(session, id, each.id)
            if id not in made and (id not in found or lesson is not LearnedKind.CHANGED):
                found[id] = (lesson, each)
    held = session.notes.get_many(list(found), history=False, deleted=True)
    return Taught(
        operation,
        undone[operation],
        tuple(
            Learned(id, held[id].content if id in held else "", lesson, by.id, undone[by.id])
            for id, (lesson, by) in found.items()
        ),
        sum(each.links for each in family.values()),
    )


def _what(session: Session, note: str, operation: int) -> LearnedKind:
    """What the operation did to a note that was there before."""
    for version in session.operations.history(note):
        if version.operation == operation and "status" in version.changes:
            return _BY_STATUS.get(Status(str(version.changes["status"][1])), LearnedKind.CHANGED)
    return LearnedKind.CHANGED
