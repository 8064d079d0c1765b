"""One passage learnt from: asked once, held against the words, kept; and what that taught."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

from amem.analysis import Extraction, Passage
from amem.conflict.cues import without_take_backs
from amem.conflict.ending import free, lift_all_by
from amem.conflict.settling import void
from amem.conversation.admission import Admitted, AdmittedProcedure, admit
from amem.conversation.messages import without_forgotten
from amem.conversation.procedures import Known, content_of, known_procedures, metadata_of, renew, says_the_same
from amem.conversation.revocation import any_taken_back, renew_summaries, taken_back
from amem.errors import AmemError, Cancelled, with_hint
from amem.llm.guarded import spent_by
from amem.llm.ladder import MOST_AGAIN
from amem.llm.prompts import language_of
from amem.note import Cost, Enrichment, Kind, MemoryNote, Message, Plain, Queued, Receipt, Role, Scope, Status
from amem.writing.intake import NewNote
from amem.writing.reanalysis import OFFLINE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.analysts.models import Models
    from amem.collection import Collection
    from amem.conversation.episodes import EpisodeNotes
    from amem.conversation.rule_file import Rules
    from amem.retrieval.recall import Recall
    from amem.storage.store import Session
    from amem.writing.enrich import Enricher
    from amem.writing.pipeline import Pipeline


# Earlier attempts at the same episode: what they had made gives way to what a later one makes.


def take_back(session: Session, operation: int, own: int, cause: str | None) -> None:
    """Hide what earlier extractions under `operation` had made, but for what anybody has touched since.

    `own` is the extraction that takes their place and carries the change; with `cause` only those of one episode are
    meant. What was made stays in the log, and undoing `operation` takes all of it back, whichever attempt stood.
    """
    for attempt in _attempts(session, operation, own, cause):
        family = session.operations.family(attempt)
        made = [id for each in family for id in session.operations.get(each).created]
        for id, note in session.notes.get_many(made, history=False, usage=False).items():
            if note.status is Status.ACTIVE and not _touched(session, id) and not _confirmed(session, id, set(family)):
                for overturned in session.notes.replaced_by([id]):
                    free(session, overturned, own)
                lift_all_by(session, [id], own)
                session.notes.change(id, {"status": str(Status.DELETED)}, own)


def _attempts(session: Session, operation: int, own: int, cause: str | None) -> list[int]:
    sql = "SELECT id FROM operations WHERE parent = :operation AND action = 'extract' AND undone_by IS NULL"
    sql += " AND id <> :own AND (:cause IS NULL OR cause = :cause)"
    return session.column(sql, operation=operation, own=own, cause=cause)


def _touched(session: Session, id: str) -> bool:
    """Whether somebody changed the note; what enrichment and evolution do to it carries a parent and is nobody's."""
    sql = (
        "SELECT 1 FROM versions AS v JOIN operations AS o ON o.id = v.operation JOIN notes AS n ON n.key = v.note"
        " WHERE n.id = :id AND o.parent IS NULL AND o.undone_by IS NULL AND o.action NOT IN ('undo', 'redo') LIMIT 1"
    )
    return bool(session.column(sql, id=id))


def _confirmed(session: Session, id: str, family: set[int]) -> bool:
    """Whether anybody else has said the same since."""
    sql = "SELECT operation FROM corroborations JOIN notes ON notes.key = note WHERE notes.id = :id"
    return not set(session.column(sql, id=id)) <= family


# What is learnt from in one go, and what came of it: plain values.


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Stored messages that are learnt from together, with their sources' ids and ordinals, and whose they are.

    `conversation` is its name as it is kept (see `Scope.naming`), `called` as it was given. `note` is their episode's,
    whose job `owner` holds; without one nobody else can be learning from them.
    """

    messages: tuple[Message, ...]
    ids: tuple[str, ...]
    ordinals: tuple[int, ...]
    conversation: str
    scope: Scope
    note: str | None = None
    owner: str = ""

    @property
    def called(self) -> str:
        return self.scope.named(self.conversation)


@dataclass(frozen=True, slots=True)
class RememberReport(Plain):
    """What remembering a conversation did. `operation` undoes all of it; None when nothing in it was new.

    `episodes` are the ids of the episodes' notes, `learnt` the receipts of notes made from what was stated,
    `duplicates` ids of notes that said so already, `renewed` procedures that have a newer form now, `queued` those
    whose newer form waits for a person, and `retracted` ids of notes that people took back ("forget that"). `known`
    messages were remembered before; `waiting` episodes wait for a worker.
    `degraded` means that the analyst asked for failed (`error` says how) and the rules did it for now.
    """

    operation: int | None = None
    conversation: str = ""
    episodes: tuple[str, ...] = ()
    learnt: tuple[Receipt, ...] = ()
    duplicates: tuple[str, ...] = ()
    renewed: tuple[str, ...] = ()
    queued: tuple[Queued, ...] = ()
    retracted: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    known: int = 0
    waiting: int = 0
    degraded: bool = False
    error: str = ""
    analyst: str = ""
    cost: Cost = field(default_factory=Cost)

    @property
    def stored(self) -> int:
        """How many notes were made of what was stated."""
        return len(self.learnt)

    @property
    def updated(self) -> int:
        """How many procedures have a newer form."""
        return len(self.renewed)

    @property
    def superseded(self) -> int:
        """How many notes no longer hold because of what was stated."""
        return len({*self.retracted, *(id for receipt in self.learnt for id in receipt.superseded)})

    @property
    def corroborated(self) -> int:
        """How many notes said already what was stated."""
        return len(set(self.duplicates))

    def __add__(self, other: RememberReport) -> RememberReport:
        """This report with what another episode of the conversation taught."""
        return replace(
            self,
            learnt=self.learnt + other.learnt,
            duplicates=self.duplicates + other.duplicates,
            renewed=self.renewed + other.renewed,
            queued=self.queued + other.queued,
            retracted=self.retracted + other.retracted,
            dropped=self.dropped + other.dropped,
            waiting=self.waiting + other.waiting,
            degraded=self.degraded or other.degraded,
            error="; ".join(dict.fromkeys(filter(None, (self.error, other.error)))),
            analyst=other.analyst or self.analyst,
            cost=self.cost + other.cost,
        )


# One passage learnt from: a model (or the rules) is asked once, what it says is held against the words, and kept.

_log = logging.getLogger("amem")
#: Kind of the jobs that wait to be learnt from; each hangs on an episode's note.
EXTRACT_JOB = "extract"
_TAKEN = "another worker took the episode over"
_GONE = "the episode was deleted while it was learnt from"


@dataclass(frozen=True, slots=True)
class Teacher:
    """Turns lots into notes."""

    collection: Collection
    pipeline: Pipeline
    enricher: Enricher
    finder: Recall
    models: Models
    notes: EpisodeNotes

    def learn(
        self,
        lot: Excerpt,
        earlier: tuple[Message, ...],
        operation: int,
        rules: Rules,
        *,
        replaces: int | None = None,
    ) -> RememberReport:
        """Ask once what the lot teaches and keep it under `operation`; never raises for what a model does.

        What an earlier attempt had made of the same episode (or under the operation `replaces`) and nobody touched
        since gives way; what people deleted of it is not made again. Raises Cancelled when the model was called off,
        StorageError and its kin.
        """
        started = perf_counter()
        # 3. Leave out what was forgotten since it was stored, and sentences that only take something back.
        with self.collection.store.read() as session:
            lot = replace(lot, messages=without_forgotten(session, lot.messages, lot.ids))
            withdrawn = any_taken_back(session, lot)
        lot = replace(lot, messages=tuple(_without_orders(message) for message in lot.messages))
        # What the system says is no part of the conversation: nobody is asked to learn from it.
        heard = tuple(message for message in lot.messages if message.content and message.role is not Role.SYSTEM)
        # 4. Ask the analyst what the rest teaches; the rules where it fails.
        passage, known = self._passage(heard, earlier, lot.scope, rules)
        before = spent_by(self.models.analyst())
        extraction, made_by, error = self._ask(passage)
        spent = spent_by(self.models.analyst()) - before
        if error is not None:
            spent += Cost(rungs={OFFLINE: 1})
        # 5. Hold the answer against the words and the user's rules (admission.py).
        admitted = admit(extraction, passage, rules, [self.collection.settings.user_name])
        if withdrawn:
            # Whoever summed up what was taken back would say it again; the rules' summary leaves it out.
            admitted = replace(admitted, summary="")
        # 6. Write down what is left as notes, linked and evolved as any, and hide what gives way to them.
        again = max(0, MOST_AGAIN - max(0, spent.calls - 1))
        lesson = self._keep(lot, admitted, known, extraction.prompt, made_by, error, operation, rules, replaces, again)
        return replace(lesson, cost=replace(lesson.cost + spent, seconds=perf_counter() - started))

    def _passage(
        self, heard: tuple[Message, ...], earlier: tuple[Message, ...], scope: Scope, rules: Rules
    ) -> tuple[Passage, Known]:
        """What is asked about; a model is told the rules as well, and procedures, for which notes are searched."""
        if self.models.analyst().local:
            return Passage(heard, earlier), Known()
        known = known_procedures(self.collection.store, self.finder, heard, scope)
        language = language_of(" ".join(message.content for message in heard))
        return Passage(heard, earlier, known.shown, rules.told_in(language)), known

    def _ask(self, passage: Passage) -> tuple[Extraction, str, str | None]:
        """The analyst's answer, or when it fails the rules', with who gave it and what went wrong."""
        analyst = self.models.analyst()
        if not passage.said:
            return Extraction(), analyst.name, None
        try:
            return analyst.extract(passage), analyst.name, None
        except Cancelled:
            raise
        except Exception as error:  # a model that is down, slow or talks nonsense costs time, never a word
            _log.warning("extraction by %s failed: %s", analyst.name, error)
            why = f"extraction by {analyst.name}: {with_hint(error)}"
        fallback = self.models.rules()
        try:
            return fallback.extract(passage), fallback.name, why
        except Exception as error:
            _log.warning("extraction by %s failed too: %s", fallback.name, error)
            return Extraction(), fallback.name, f"{why}; extraction by {fallback.name}: {error}"

    def _keep(
        self,
        lot: Excerpt,
        admitted: Admitted,
        known: Known,
        prompt: str,
        made_by: str,
        error: str | None,
        operation: int,
        rules: Rules,
        replaces: int | None,
        again: int,
    ) -> RememberReport:
        """Write down what was admitted; then ask the model about all of the new notes, `again` times more at most."""
        cause = f"learnt from {lot.note or lot.called}"
        with self.collection.store.write() as session:
            if lot.note is not None and (gone := _lost(session, lot)):
                return RememberReport(analyst=made_by, dropped=(gone,), waiting=1)
            own = session.begin("extract", made_by, cause, parent=operation, prompts=prompt)
            take_back(session, operation, own, cause)
            if replaces is not None:
                take_back(session, replaces, own, None)
        dropped = list(admitted.dropped)
        new, newer = _sorted(admitted, known)
        items = [*self._statements(lot, admitted), *(self._procedure(lot, each) for each in new)]

        def refused(position: int, why: AmemError) -> None:
            dropped.append(f"“{items[position].content[:60]}”: {why}")

        retracted: list[str] = []

        def take_back_at_once(session: Session, _: Sequence[Receipt] = ()) -> None:
            # In one commit with what is learnt: nobody is ever told what its speaker has taken back meanwhile.
            retracted.extend(self._take_back(session, lot, own))

        receipts = self.pipeline.add(
            items,
            actor=made_by,
            action="learn",
            cause=cause,
            parent=own,
            on_refused=refused,
            at_last=take_back_at_once,
            wait=False,
        )
        renewed = [
            renew(self.collection, each.procedure, note, self._sources(lot, each.messages), made_by, own, each.why_wait)
            for each, note in newer
        ]
        dropped += [each.dropped for each in renewed if each.dropped]
        changed = [each.id for each in renewed if each.id is not None]
        cost = Cost()
        if not self.models.analyst().local:
            receipts, cost = self.enricher.finish_together(receipts, changed, operation=own, again=again)
        else:
            for id in changed:
                self.enricher.revise(id, own)
        with self.collection.store.write() as session:  # what was learnt before, and what was taken back since
            take_back_at_once(session)
        renew_summaries(self.collection.store, self.notes, lot, rules, own)
        if lot.note is not None:
            self._settle(lot, admitted.summary if error is None else "", made_by, own, error, dropped)
        return RememberReport(
            learnt=tuple(receipt for receipt in receipts if receipt.stored),
            duplicates=tuple(receipt.id for receipt in receipts if not receipt.stored),
            renewed=tuple(changed),
            queued=tuple(each.queued for each in renewed if each.queued is not None),
            retracted=tuple(retracted),
            dropped=tuple(dropped),
            degraded=error is not None,
            error=error or "",
            analyst=made_by,
            cost=sum((receipt.cost for receipt in receipts), cost),
        )

    def _take_back(self, session: Session, lot: Excerpt, operation: int) -> list[str]:
        """Hide what people take back in the lot; they said so themselves, so it is the rules' work, not a model's."""
        notes = taken_back(session, lot)
        if notes:
            own = session.begin("retract", "amem", "taken back while talking", parent=operation)
            for note, statements in notes:
                void(session, note, self.collection.predicates(), own, statements)
        return [note.id for note, statements in notes if not statements]

    # -- new notes -------------------------------------------------------------------------------------------------

    def _statements(self, lot: Excerpt, admitted: Admitted) -> list[NewNote]:
        return [
            self._note(lot, statement.text, messages, {"kind": statement.kind})
            for statement, messages in admitted.statements
        ]

    def _procedure(self, lot: Excerpt, admitted: AdmittedProcedure) -> NewNote:
        fields = {"kind": Kind.PROCEDURE, "metadata": {"procedure": metadata_of(admitted.procedure)}}
        return self._note(lot, content_of(admitted.procedure), admitted.messages, fields)

    def _note(self, lot: Excerpt, content: str, messages: tuple[Message, ...], fields: dict[str, Any]) -> NewNote:
        first = next((message for message in messages if message.role is Role.USER), messages[0])
        place = lot.ordinals[_position(lot.messages, first)]
        told = {
            "speaker": first.speaker or self.collection.settings.user_name,
            "conversation_id": lot.called,
            "ordinal": place,
            **lot.scope.ids,
        }
        return NewNote(
            content, first.at, fields=fields | told, sources=self._sources(lot, messages), derived_from=lot.note
        )

    def _sources(self, lot: Excerpt, messages: Sequence[Message]) -> tuple[str, ...]:
        return tuple(lot.ids[_position(lot.messages, message)] for message in messages)

    def _settle(
        self, lot: Excerpt, summary: str, made_by: str, operation: int, error: str | None, dropped: list[str]
    ) -> None:
        """Give the episode's note the model's summary and end its job, or let it wait for a model again."""
        assert lot.note is not None
        with self.collection.store.read() as session:
            held = session.notes.get_many([lot.note], history=False).get(lot.note)
        draft = None if held is None or summary in ("", held.content) else self.notes.rewritten(held, summary)
        with self.collection.store.write() as session:
            now = session.notes.get_many([lot.note], history=False).get(lot.note)
            if now is None or not session.jobs.held(EXTRACT_JOB, lot.note, lot.owner):
                session.jobs.give_back(lot.owner)
                return
            # What was taken back while the model thought is not said again; `renew_summaries` has the rules sum it up.
            if held is not None and draft is not None and not any_taken_back(session, lot):
                if "content" in session.notes.owned_fields([now.id])[now.id] or now.content != held.content:
                    dropped.append("the summary: somebody edited the episode's note")
                else:
                    self.notes.rewrite(session, draft, operation, made_by)
            state = Enrichment.DONE if error is None else Enrichment.DEGRADED
            session.notes.change(now.id, {"enrichment": str(state)}, operation)
            session.jobs.settle(EXTRACT_JOB, now.id, lot.owner, error=error or "")


def queue_lesson(session: Session, episode: str) -> int | None:
    """Have an episode that was only summed up learnt from; the operation that made its note, None when that is purged.

    While the note is deleted its job waits with it.
    """
    if not session.notes.keys_of([episode]):
        return None
    operation = session.operations.history(episode)[0].operation
    session.jobs.put_new(EXTRACT_JOB, episode, operation)
    return operation


def _sorted(
    admitted: Admitted, known: Known
) -> tuple[list[AdmittedProcedure], list[tuple[AdmittedProcedure, MemoryNote]]]:
    """Procedures that are new, and those that are newer forms of known ones."""
    notes = dict(known.notes)
    new, newer = [], []
    for each in admitted.procedures:
        updates = each.procedure.updates
        note = notes.get(updates) if updates is not None else None
        if note is None:
            new.append(each)
        elif not says_the_same(each.procedure, note):
            newer.append((each, note))
    return new, newer


def _lost(session: Session, lot: Excerpt) -> str:
    """Why nothing may be written down of a lot whose model took its time; '' when nothing stands against it."""
    assert lot.note is not None
    if not session.jobs.held(EXTRACT_JOB, lot.note, lot.owner):
        return _TAKEN
    if not session.notes.get_many([lot.note], history=False, usage=False):
        # Deleted or undone: its job waits with it, should it be restored.
        session.jobs.give_back(lot.owner)
        return _GONE
    return ""


def _without_orders(message: Message) -> Message:
    """The message without the sentences that only take something back: that is done, and nothing to remember."""
    kept = without_take_backs(message.content, bare=True) if message.role is Role.USER else message.content
    return message if kept == message.content else replace(message, content=kept)


def _position(messages: Sequence[Message], wanted: Message) -> int:
    return next(at for at, message in enumerate(messages) if message is wanted)
