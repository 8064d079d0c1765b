"""JSON shapes of notes, links, sources, versions, operations and reviews: what ``--json`` and ``export`` write.

They are documented in docs/cli.md; keys are added, never renamed or removed. Times are ISO 8601 in UTC, but for a
note's ``timestamp``, which reads as it was given.
"""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC
from typing import TYPE_CHECKING, Any

from amem.clock import parse_time
from amem.note import Link, MemoryNote, Source, as_plain, plain_fields
from amem.storage.rows import plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from amem.storage.operations import Operation, Version
    from amem.storage.reviews import Review
    from amem.storage.undo import UndoReport
    from amem.storage.whole import Whole


#: The key that tells a line of ``amem export``; its value is the shape's version.
EXPORT_MARK = "amem"


def note_record(note: MemoryNote) -> dict[str, Any]:
    """Every field of a note but its evolution history, which has a record of its own (``amem history``)."""
    facts = [[fact.subject, fact.predicate, fact.object] for fact in note.facts]
    return {"id": note.id} | plain_fields(note, "evolution_history") | {"facts": facts}


def kept_record(note: MemoryNote, whole: Whole) -> dict[str, Any]:
    """What amem itself keeps of a note: facts with their times, whose its fields are, use, witnesses and flags."""
    use = whole.use
    return {
        "facts": plain("facts", note.facts),
        "reliability": whole.reliability,
        "owned": dict(whole.owned),
        "use": None if use is None else [use.recalls, use.last_access, use.growth, use.since_archived],
        "witnesses": [list(each) for each in whole.witnesses],
        "flags": [list(each) for each in whole.flags],
    }


def link_record(link: Link) -> dict[str, Any]:
    """A link with its reason and maker."""
    return plain_fields(link, "weight")


def source_record(source: Source) -> dict[str, Any]:
    """A source, whole, as `source_of` reads it back."""
    return plain_fields(source)


def source_of(record: Mapping[str, Any]) -> Source:
    """The source of a `source_record`. Raises KeyError, TypeError or ValueError when it is none."""
    at = record.get("at")
    values: dict[str, Any] = {each.name: record.get(each.name) for each in fields(Source)}
    for name in ("id", "kind", "text"):
        if not isinstance(record[name], str):
            raise TypeError(f"a source's {name} must be text")
    return Source(**values | {"at": None if at is None else parse_time(at, UTC)})


def version_record(version: Version) -> dict[str, Any]:
    """One version of a note: ``changes`` is {field: {before, after}}."""
    return _fields(version, "version", "at", "actor", "action", "cause", "operation", "prompts", "changes")


def operation_record(operation: Operation) -> dict[str, Any]:
    """One line of the log."""
    names = ("id", "parent", "at", "actor", "action", "cause", "prompts", "created")
    record = _fields(operation, *names) | {"changed": list(operation.notes)}
    return record | _fields(operation, "links", "undoes", "undone")


def undo_record(report: UndoReport) -> dict[str, Any]:
    """What an undo or redo did, and what it left alone."""
    return plain_fields(report) | {"reverted": [{"note": note, "item": item} for note, item in report.reverted]}


def review_record(review: Review) -> dict[str, Any]:
    """A proposed change that waits for a person."""
    names = ("id", "note", "changes", "reason", "confidence", "made_by", "created_at", "expires_at", "state")
    return _fields(review, *names, "operation")


def _fields(value: Any, *names: str) -> dict[str, Any]:
    """These fields as JSON has them; ``changes`` with what was before and after under their names."""
    record = {name: as_plain(getattr(value, name)) for name in names}
    if "changes" in record:
        pairs = record["changes"].items()
        record["changes"] = {field: {"before": as_plain(old), "after": as_plain(new)} for field, (old, new) in pairs}
    return record
