"""Procedures as notes: how one reads, how it is shown, and how a newer form takes its place."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from amem.analysis import KnownProcedure, Procedure
from amem.conversation.episodes import embedded
from amem.language import normalize, written_in_cjk
from amem.note import Kind, MemoryNote, Message, Queued, Scope, Status
from amem.query import Filter, Query
from amem.writing.evolution import readdress
from amem.writing.fields import ENRICH_JOB

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.collection import Collection
    from amem.retrieval.recall import Recall
    from amem.storage.store import Session, Store


# Procedures as notes: how one reads, how it is shown to a model, and how a newer form takes its place.

_log = logging.getLogger("amem")
#: Known procedures that a model is shown with a passage.
_SHOWN = 3
_ASKED_WITH = 1_000
_NUMBERED = re.compile(r"^\s*(?:\d+[.)、]|[-*•])\s*")


@dataclass(frozen=True, slots=True)
class Known:
    """Procedures that are remembered already: as a model is shown them, and the notes behind the handles."""

    shown: tuple[KnownProcedure, ...] = ()
    notes: tuple[tuple[str, MemoryNote], ...] = ()


def known_procedures(store: Store, finder: Recall, said: Sequence[Message], scope: Scope) -> Known:
    """The scope's procedures that a passage may be about, under the handles p1, p2, ...; none when search fails."""
    wanted = Filter(kinds=(Kind.PROCEDURE,), whose=scope)
    text = " ".join(message.content for message in said)[:_ASKED_WITH].strip()
    with store.read() as session:
        if not text or not session.notes.count(wanted):
            return Known()
    try:
        # Nobody waits for the best order here: a language model reads all of them next.
        hits = finder.search(Query(text, _SHOWN, wanted, touch=False, rerank=False))
    except Exception as error:  # an embedder that is down must not keep anything from being learnt
        _log.warning("known procedures could not be looked up: %s", error)
        return Known()
    with store.read() as session:
        notes = session.notes.get_many([hit.id for hit in hits], history=False)
    named = [(f"p{number}", note) for number, note in enumerate(notes.values(), start=1)]
    return Known(tuple(_shown(handle, note) for handle, note in named), tuple(named))


def content_of(procedure: Procedure) -> str:
    """A procedure as a note reads: its name, when it is done, its steps numbered."""
    chinese = written_in_cjk("".join((procedure.name, *procedure.steps)))
    lines = [procedure.name]
    if procedure.trigger:
        lines.append(f"何时：{procedure.trigger}" if chinese else f"When: {procedure.trigger}")
    lines += [f"{number}. {step}" for number, step in enumerate(procedure.steps, start=1)]
    return "\n".join(lines)


def metadata_of(procedure: Procedure) -> dict[str, Any]:
    """The parts of a procedure as a note's metadata keeps them."""
    return {"name": procedure.name, "trigger": procedure.trigger, "steps": list(procedure.steps)}


def says_the_same(procedure: Procedure, note: MemoryNote) -> bool:
    """Whether the newer form is the one that is remembered."""
    return normalize(content_of(procedure)) == normalize(note.content)


def _shown(handle: str, note: MemoryNote) -> KnownProcedure:
    kept = note.metadata.get("procedure")
    # What a person wrote over it counts, not what it was made of.
    if isinstance(kept, dict) and isinstance(kept.get("steps"), list) and _stands_in(kept, note.content):
        return KnownProcedure(handle, str(kept["name"]), str(kept.get("trigger", "")), tuple(map(str, kept["steps"])))
    lines = [line for line in note.content.splitlines() if line.strip()]
    return KnownProcedure(handle, lines[0], "", tuple(_NUMBERED.sub("", line) for line in lines[1:]) or (lines[0],))


def _stands_in(kept: dict[str, Any], content: str) -> bool:
    return str(kept.get("name", "")) in content and all(str(step) in content for step in kept["steps"])


# A newer form of a known procedure: it takes the older one's place, or waits where a person wrote that.


@dataclass(frozen=True, slots=True)
class Renewed:
    """What became of a newer form: the note's `id` when it was taken over, else why it waits or was dropped."""

    id: str | None = None
    queued: Queued | None = None
    dropped: str = ""


def renew(
    collection: Collection,
    procedure: Procedure,
    note: MemoryNote,
    sources: Sequence[str],
    made_by: str,
    operation: int,
    why_wait: str = "",
) -> Renewed:
    """Put the newer form in the note's place, as the model that told it; its older version stays in the history.

    Its new text waits for analysis. A note that changed since it was shown is left alone. Where a person edited its
    text, or for the reason `why_wait`, the newer form waits in the review queue.
    """
    metadata = note.metadata | {"procedure": metadata_of(procedure)}
    after = replace(note, content=content_of(procedure), metadata=metadata)
    vectors = embedded(collection, after, "a procedure")
    with collection.store.write() as session:
        now = session.notes.get_many([note.id], history=False).get(note.id)
        if now is None or now.status is not Status.ACTIVE or now.content != note.content:
            return Renewed(dropped=f"the update of “{procedure.name}”: the note changed while it was learnt from")
        if session.notes.owned_fields([note.id])[note.id].get("content") == "edited":
            why_wait = "a person edited its content"
        if why_wait:
            return Renewed(
                queued=_propose(session, collection.settings.review_days, now, after, made_by, operation, why_wait)
            )
        collection.vectorizer.keep(session, vectors)
        changes = {"content": after.content, "metadata": after.metadata}
        session.notes.change(note.id, changes, operation, expect=now.version)
        readdress(session, note.id, collection.vectorizer)
        key = session.notes.keys_of([note.id])[note.id]
        for source, _ in session.sources.keys_of(sources).values():
            session.sources.attach(key, source, operation, gathered=True)
        session.jobs.put(ENRICH_JOB, note.id, operation)
    return Renewed(note.id)


def _propose(
    session: Session, days: int, now: MemoryNote, after: MemoryNote, made_by: str, operation: int, why_wait: str
) -> Queued:
    review = session.reviews.propose(
        now.id,
        {"content": (now.content, after.content), "metadata": (now.metadata, after.metadata)},
        operation=operation,
        base_version=now.version,
        reason=f"a conversation told a newer form of it, but {why_wait}",
        confidence=1.0,
        made_by=made_by,
        days=days,
    )
    return Queued(str(review), now.id, why_wait)
