"""Learning from conversations, at once or from what waits: messages become sources, sources episodes, episodes notes.

What was said is stored first, in one commit, with a note for each episode and a job on it; only then is anybody asked
what it teaches. So a process that dies, or a model that is down, slow or talks nonsense, costs time but not a word: the
rules stand in for the model meanwhile, and `Learner.work` asks it again. All of it hangs under one operation and is
taken back by one undo. What that promises is decision 8 (docs/adr).
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from amem.clock import zone
from amem.conversation.chat_learning import ChatLearning
from amem.conversation.episodes import Drafted, EpisodeNotes, segment
from amem.conversation.learning import EXTRACT_JOB, Excerpt, RememberReport, Teacher
from amem.conversation.messages import (
    Transcript,
    check_name,
    message_of,
    name_conversation,
    source_ids,
    source_of,
    take_in,
    without_forgotten,
)
from amem.conversation.revocation import NAMED_WITHIN, only_takes_back, sum_up_again, without_taken_back
from amem.conversation.rule_file import Rules, load_rules
from amem.errors import AmemError, Cancelled, InvalidInput
from amem.labels import short_id
from amem.llm.prompts import EARLIER
from amem.note import NOBODY, Message, Receipt, Role, Scope
from amem.storage.jobs import LEARNING, REMEMBER, Job
from amem.writing.worker import LEASE_SECONDS, EnrichReport, Hand, JobHand, Worker, leased

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Mapping, Sequence
    from threading import Event

    from amem.analysts.models import Models
    from amem.collection import Collection
    from amem.conversation.reply import Learnt
    from amem.maintenance.consolidation import Consolidation
    from amem.maintenance.topics import Topics
    from amem.retrieval.recall import Recall
    from amem.storage.store import Session
    from amem.writing.enrich import Enricher
    from amem.writing.pipeline import Pipeline


_log = logging.getLogger("amem")


class Learner:
    """Remembers conversations in one collection. Safe to use from many threads."""

    def __init__(
        self,
        collection: Collection,
        pipeline: Pipeline,
        enricher: Enricher,
        finder: Recall,
        models: Models,
    ) -> None:
        self._store = collection.store
        self._vectorizer = collection.vectorizer
        self._settings = collection.settings
        self._owner = enricher.worker.owner
        self._notes = EpisodeNotes(collection, models.rules)
        self._teacher = Teacher(collection, pipeline, enricher, finder, models, self._notes)

    def remember(
        self,
        messages: Sequence[Message | Mapping[str, Any]],
        *,
        conversation: str | None = None,
        scope: Scope = NOBODY,
        actor: str = "user",
        wait: bool = True,
        earlier: Sequence[Message | Mapping[str, Any]] = (),
        episodes: bool = True,
        extract: bool = True,
        replaces: int | None = None,
        cancelled: Event | None = None,
    ) -> RememberReport:
        """Store what was said and learn from it; messages that are remembered already are left out.

        `conversation` names it (None: named after its messages); with its name a conversation can be continued. What
        is stored and learnt is of the `scope`: a conversation of that name in another one is another conversation.
        `earlier` messages give context and are not stored. With ``wait=False`` learning is left to `work`. With
        ``episodes=False`` all messages are one passage without an episode note, as a chat learns turn by turn; with
        ``extract=False`` there are only episode notes. `replaces` is the operation of an earlier, degraded
        ``episodes=False`` of the same messages: what it had made and nobody touched since gives way. Once `cancelled`
        is set no model is asked any more: episodes that are stored then wait.

        Raises InvalidInput naming a message that cannot be used, StorageError and its kin; nothing is stored then. What
        is stored when Cancelled is raised waits for `work`.
        """
        if not (extract or episodes) or not (wait or episodes):
            raise InvalidInput(
                "without episodes there is nothing but learning to do, and no job to leave it to",
                hint="give episodes=True, or extract=True and wait=True",
            )
        # 1. Read what was said (messages.py), without the secrets that no rule lets in.
        check_name(conversation)
        rules = load_rules(self._settings.home)
        taken, context = self._take_in(messages, rules), self._take_in(earlier, rules)
        if not taken:
            return RememberReport(None, conversation or "")
        self._vectorizer.check()
        name = conversation or name_conversation(taken)
        # 2. Cut it into episodes (episodes.py), and store what is new in one commit: from here on no word is lost.
        if episodes:
            operation, lots = self._keep_episodes(taken, name, scope, actor, rules, extract=extract)
        else:
            operation, lots = self._keep_passage(taken, name, scope, actor, again=replaces is not None)
        known = len(taken) - sum(len(lot.messages) for lot in lots)
        report = RememberReport(operation, name, tuple(lot.note for lot in lots if lot.note is not None), known=known)
        if operation is None or not extract:
            return report
        # 3 to 6. Learn from one episode after the other (`Teacher.learn`, learning.py), or leave it waiting.
        for number, lot in enumerate(lots):
            # What only takes back asks no model, so that it waits for none.
            asks = lot.note is not None or not episodes
            if asks and not wait:
                report = replace(report, waiting=report.waiting + 1)
                continue
            if asks and cancelled is not None and cancelled.is_set():
                if lot.note is None:
                    raise Cancelled("learning was called off")
                return replace(report, waiting=report.waiting + len(lots) - number)
            shown = self._before(lot, context, lots[:number])
            report += self._learn(lot, shown, operation, rules, replaces)
        # 7. Count what that cost.
        self._count(report, REMEMBER if episodes else LEARNING)
        return report

    def _count(self, report: RememberReport, purpose: str) -> None:
        """Keep what learning cost, for ``amem models --cost``."""
        cost = report.cost
        if cost.calls:
            with self._store.write() as session:
                session.costs.add(purpose, calls=cost.calls, tokens_in=cost.tokens_in, tokens_out=cost.tokens_out)

    def learn_from(self, episode: str, *, cancelled: Event | None = None) -> RememberReport:
        """Learn from an episode that has a job (`queue_lesson`); what is not done waits for `work`.

        Raises Cancelled when the model was called off, StorageError and its kin.
        """
        owner = self._owner.one_more()
        with self._store.write() as session:
            stands = episode in session.notes.get_many([episode], history=False, usage=False)
            job = session.jobs.claim(EXTRACT_JOB, episode, owner, seconds=LEASE_SECONDS) if stands else None
            if job is not None and cancelled is not None and cancelled.is_set():
                session.jobs.give_back(owner)
                job = None
        if job is None:
            return RememberReport(waiting=1)
        return replace(self._work_on(job, owner), operation=job.operation)

    def expand(self, note: str) -> list[Message]:
        """The messages a note was made from, in their order: an episode word for word. Raises NoteNotFound."""
        with self._store.read() as session:
            return [message_of(source) for source in Transcript(session).of(note)]

    def sum_up_again(self, episodes: Sequence[str], rules: Rules, operation: int) -> None:
        """Write the notes of these episodes anew, by rules, as a part of `operation`."""
        sum_up_again(self._store, self._notes, episodes, rules, operation)

    def work(
        self,
        owner: str = "",
        *,
        limit: int | None = None,
        tried: set[int] | None = None,
        cancelled: Event | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> EnrichReport:
        """Learn from the episodes that wait, one after the other, until none is left or `limit` were tried.

        Jobs are held in the name of `owner` (empty: this collection's own). Those in `tried` are left alone, and those
        that are tried join it; setting `cancelled` ends the round; `progress` hears (tried, of how many). Raises
        Cancelled when the model was called off, with the job given back.
        """
        owner = owner or self._owner.one_more()
        tried = set() if tried is None else tried
        errors: list[str] = []
        done = 0
        for job in leased(self._store, EXTRACT_JOB, owner, limit=limit, tried=tried, cancelled=cancelled):
            try:
                lesson = self._work_on(job, owner)
            except AmemError:
                raise
            except Exception as error:  # one episode that cannot be read must not keep all the others waiting
                _log.exception("episode %s could not be learnt from", short_id(job.note))
                errors.append(f"{short_id(job.note)}: {type(error).__name__}: {error}")
                continue
            if lesson.degraded or lesson.waiting:
                errors.append(f"{short_id(job.note)}: {lesson.error or '; '.join(lesson.dropped)}")
            else:
                done += 1
            if progress is not None:
                progress(done + len(errors), done + self._waiting())
        return EnrichReport(done, len(errors), self._waiting(), tuple(errors))

    def _waiting(self) -> int:
        with self._store.read() as session:
            return session.jobs.count(EXTRACT_JOB)

    # -- what was said ---------------------------------------------------------------------------------------------

    def _take_in(self, items: Sequence[Message | Mapping[str, Any]], rules: Rules) -> list[Message]:
        taken = take_in(items, zone(self._settings.timezone))
        return [replace(message, content=rules.without_secrets(message.content)) for message in taken]

    def _keep_episodes(
        self,
        messages: Sequence[Message],
        called: str,
        scope: Scope,
        actor: str,
        rules: Rules,
        *,
        extract: bool,
    ) -> tuple[int | None, list[Excerpt]]:
        """One commit: every new message, a note for each episode of them, and a job on each to learn from it."""
        conversation = scope.naming(called)
        ids = _ids(messages, called, scope)
        while True:
            with self._store.read() as session:
                transcript = Transcript(session)
                told = transcript.remembered(ids, in_episodes=True)
                places = transcript.ordinals(ids)
                heard = dict(zip(ids, without_forgotten(session, messages, ids), strict=True))
                later = transcript.after(conversation, max(places.values()), NAMED_WITHIN) if places else []
            left = dict(zip(ids, without_taken_back([*heard.values()], later), strict=True))
            # What people forgot all of is in no episode any more; of the others its summary leaves that part out.
            fresh = [
                (message, id) for message, id in zip(messages, ids, strict=True) if id not in told and heard[id].content
            ]
            passages: list[tuple[list[tuple[Message, str]], Drafted | None]] = []
            for episode in segment([message for message, _ in fresh]):
                mine, fresh = fresh[: len(episode.messages)], fresh[len(episode.messages) :]
                # That something does not count is no news by itself: it is done, once, and makes no note.
                if not only_takes_back(episode.messages):
                    summed = [left[id] for _, id in mine]
                    passages.append((mine, self._notes.draft(episode, summed, called, scope, actor, rules)))
                elif any(id not in places for _, id in mine):
                    passages.append((mine, None))
            if not passages:
                return None, []
            with self._store.write() as session:
                if Transcript(session).remembered(ids, in_episodes=True) != told:
                    continue  # another process is remembering the same conversation
                operation = _begin(session, actor, sum(len(mine) for mine, _ in passages), called)
                lots = []
                for mine, draft in passages:
                    lot, keys = _put(session, mine, conversation, scope, operation)
                    if draft is None:
                        lots.append(lot)
                        continue
                    ends = min(lot.ordinals), max(lot.ordinals)
                    key = self._notes.store(session, draft, operation, *ends, waits=extract)
                    for source in keys:
                        session.sources.attach(key, source, operation, gathered=True)
                    if extract:
                        session.jobs.put(EXTRACT_JOB, draft.note.id, operation)
                    lots.append(replace(lot, note=draft.note.id))
                return operation, lots

    def _keep_passage(
        self, messages: Sequence[Message], called: str, scope: Scope, actor: str, *, again: bool
    ) -> tuple[int | None, list[Excerpt]]:
        """One commit: every new message; with `again` those that were learnt from before count as new."""
        conversation = scope.naming(called)
        ids = _ids(messages, called, scope)
        with self._store.write() as session:
            transcript = Transcript(session)
            told = frozenset[str]() if again else transcript.remembered(ids, in_episodes=False)
            if told and transcript.ordinals(ids).keys() == set(ids):
                # What no note was made from had nothing to teach.
                return None, []
            fresh = [(message, id) for message, id in zip(messages, ids, strict=True) if id not in told]
            if not fresh:
                return None, []
            operation = _begin(session, actor, len(fresh), called)
            lot, _ = _put(session, fresh, conversation, scope, operation)
        return operation, [lot]

    def _before(self, lot: Excerpt, given: Sequence[Message], lots: Sequence[Excerpt]) -> tuple[Message, ...]:
        """What was said before the lot: what the caller gave and this call holds, else what is stored."""
        with self._store.read() as session:
            if given:
                before = list(without_forgotten(session, given, _ids(given, lot.called, lot.scope)))
                for other in lots[-EARLIER:]:  # each holds a message at least
                    before += other.messages
            else:
                before = Transcript(session).before(lot.conversation, min(lot.ordinals), EARLIER)
        heard = (message for message in before if message.content and message.role is not Role.SYSTEM)
        return tuple(heard)[-EARLIER:]

    # -- what it teaches -------------------------------------------------------------------------------------------

    def _learn(
        self, lot: Excerpt, earlier: tuple[Message, ...], operation: int, rules: Rules, replaces: int | None
    ) -> RememberReport:
        """Learn from a lot just stored; it waits where another worker has taken it already."""
        if lot.note is None:
            return self._teacher.learn(lot, earlier, operation, rules, replaces=replaces)
        owner = self._owner.one_more()
        with self._store.write() as session:
            if session.jobs.claim(EXTRACT_JOB, lot.note, owner, seconds=LEASE_SECONDS) is None:
                return RememberReport(waiting=1)
        return self._unless_broken_off(replace(lot, owner=owner), earlier, operation, rules)

    def _work_on(self, job: Job, owner: str) -> RememberReport:
        rules = load_rules(self._settings.home)
        with self._store.read() as session:
            lot = replace(_lot_of(session, job.note), owner=owner)
        if not lot.messages or job.operation is None:
            # Its sources are purged: there is nothing left to learn from.
            with self._store.write() as session:
                session.jobs.settle(EXTRACT_JOB, job.note, owner)
            return RememberReport()
        return self._unless_broken_off(lot, self._before(lot, (), ()), job.operation, rules)

    def _unless_broken_off(
        self, lot: Excerpt, earlier: tuple[Message, ...], operation: int, rules: Rules
    ) -> RememberReport:
        try:
            return self._teacher.learn(lot, earlier, operation, rules)
        except BaseException:
            # Whoever comes next need not wait for the lease to run out.
            with self._store.write() as session:
                session.jobs.give_back(lot.owner)
            raise


def _begin(session: Session, actor: str, count: int, conversation: str) -> int:
    return session.begin("remember", actor, f"{count} message{'s' * (count != 1)} of {conversation}")


def _put(
    session: Session, messages: Sequence[tuple[Message, str]], conversation: str, scope: Scope, operation: int
) -> tuple[Excerpt, list[int]]:
    """Store messages after those the conversation has; those stored before keep their places."""
    transcript = Transcript(session)
    ids = [id for _, id in messages]
    places = transcript.ordinals(ids)
    last = transcript.length(conversation)
    keys = []
    for message, id in messages:
        if id not in places:
            last += 1
            places[id] = last
        keys.append(session.sources.put(source_of(message, id, conversation, places[id]), operation))
    said = tuple(message for message, _ in messages)
    return Excerpt(said, tuple(ids), tuple(places[id] for id in ids), conversation, scope), keys


def _ids(messages: Sequence[Message], called: str, scope: Scope) -> list[str]:
    return [scope.naming(id) for id in source_ids(messages, called)]


def _lot_of(session: Session, note: str) -> Excerpt:
    sources = Transcript(session).of(note)
    scope = session.notes.scopes_of([note])[note]
    return Excerpt(
        tuple(message_of(source) for source in sources),
        tuple(source.id for source in sources),
        tuple(source.ordinal or 0 for source in sources),
        next((source.conversation for source in sources if source.conversation), ""),
        scope,
        note,
    )


# What waits for an analyst: turns of chats, episodes, notes. New conversations join it, or are learnt from at once.


@dataclass(frozen=True, slots=True)
class Backlog:
    """Learns from conversations, chats and notes of one collection, now or with `worker` in the background.

    `topics` and `consolidation` take in what was learnt.
    """

    collection: Collection
    learner: Learner
    enricher: Enricher
    worker: Worker
    topics: Topics
    consolidation: Consolidation

    def remember(
        self, messages: Sequence[Message | Mapping[str, Any]], *, actor: str, wait: bool | None, **how: Any
    ) -> RememberReport:
        """Store what was said and learn from it; `how` as for `Learner.remember`.

        Without `wait` learning is left to the background, with None only what a model would have to be waited for.
        """
        report = self.learner.remember(
            messages,
            actor=actor,
            wait=self.enricher.is_quick if wait is None else wait,
            cancelled=self.worker.cancelled,
            **how,
        )
        if report.waiting:
            self.worker.wake()
        self.consolidation.keep_up(report.learnt)
        try:
            self.topics.take_in([receipt.id for receipt in report.learnt], report.operation)
        except AmemError as error:  # what was said is stored and learnt; maintenance makes up for it
            _log.warning("declared topics have not taken in what was learnt yet: %s", error)
        return report

    def turns_waiting(self) -> int:
        """How many turns of chats are not learnt from yet."""
        return self._chats().waiting()

    def work(
        self,
        limit: int | None = None,
        *,
        cancelled: threading.Event | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> EnrichReport:
        """Do up to `limit` of what waits, here and now, today's turns of chats included."""
        chats = self._chats()
        learnt = chats.work(limit=limit, today=True, cancelled=cancelled, progress=progress)
        report = _of_chats(learnt, chats.waiting())
        for worker in (self.learner, self.enricher):
            left = None if limit is None else max(0, limit - report.done - report.failed)
            report += worker.work(limit=left, cancelled=cancelled, progress=progress)
        self.collection.vectorizer.embed_missing()
        return report

    def hands(self, heard: Callable[[Receipt], None] | None = None) -> list[Hand]:
        """Hands of a worker for all that waits; `heard` is told of each note that is analysed."""

        def afterwards() -> None:
            if self.collection.vectorizer.reads(["context", "tags"]):  # else nothing that is embedded has changed
                self.collection.vectorizer.embed_missing()

        def analysed(receipt: Receipt) -> None:
            # Whoever adds a note next consolidates, where that has become due.
            self.consolidation.count([receipt])
            if heard is not None:
                heard(receipt)

        clock = self.collection.clock
        learning = JobHand(self.learner.work, clock)
        enriching = JobHand(partial(self.enricher.work, heard=analysed), clock, afterwards=afterwards)
        return [self._chats(), learning, enriching]

    def _chats(self) -> ChatLearning:
        store, clock, settings = self.collection.store, self.collection.clock, self.collection.settings
        return ChatLearning(store, clock, self.learner, settings, owner=self.worker.owner)


def _of_chats(learnt: Learnt, waiting: int) -> EnrichReport:
    """What learning from chats did, in turns."""
    failed = learnt.waiting + (learnt.turns if learnt.degraded else 0)
    errors = (f"chats: {learnt.error}",) if learnt.error else ()
    return EnrichReport(0 if learnt.degraded else learnt.turns, failed, waiting, errors)
