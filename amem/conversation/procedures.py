"""Procedures as notes: how one reads, how it is shown to a model, and how a newer form takes its place."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from amem.analysis import KnownProcedure
from amem.note import Kind
from amem.query import Filter, Query
from amem.text import normalize, written_in_cjk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.analysis import Procedure
    from amem.message import Message
    from amem.note import MemoryNote, Scope
    from amem.retrieval import Hit
    from amem.storage import Store

_log = logging.getLogger("amem")
#: Known procedures that a model is shown with a passage.
_SHOWN = 3
_ASKED_WITH = 1_000
_NUMBERED = re.compile(r"^\s*(?:\d+[.)、]|[-*•])\s*")


class Finder(Protocol):
    """Finds notes; ``amem.retrieval.Recall`` is one."""

    def search(self, query: Query) -> Sequence[Hit]:
        """The notes that answer best, best first."""
        ...


@dataclass(frozen=True, slots=True)
class Known:
    """Procedures that are remembered already: as a model is shown them, and the notes behind the handles."""

    shown: tuple[KnownProcedure, ...] = ()
    notes: tuple[tuple[str, MemoryNote], ...] = ()


def known_procedures(store: Store, finder: Finder, said: Sequence[Message], scope: Scope) -> Known:
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
