"""The tools that write, correct and look after notes; all that they do is logged and can be undone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amem.errors import InvalidInput, NothingToUndo
from amem.interop.json_records import undo_record
from amem.labels import short_id
from amem.maintenance.cycle import CYCLES
from amem.note import Kind, LinkType, Receipt, Role
from amem.tools.finding import NOTE, opened
from amem.tools.tool import FLAG, ID, LABELS, MOMENT, TEXT, WHOLE, Tool, lists, objects, or_null

if TYPE_CHECKING:
    from collections.abc import Mapping

    from amem.scoped import ScopedMemory

#: Of a run of maintenance on a large collection an agent is told no more reasons than it can use.
_MOST_REASONS = 30


def _add(memory: ScopedMemory, given: Mapping[str, Any]) -> Any:
    return _added(memory, given, ("tags", "keywords", "context")).to_dict()


def _added(memory: ScopedMemory, given: Mapping[str, Any], names: tuple[str, ...], *, wait: bool = True) -> Receipt:
    fields = {name: given[name] for name in names if name in given}
    return memory.add(given["content"], time=given.get("time"), wait=wait, **fields)


def _write(memory: ScopedMemory, given: Mapping[str, Any]) -> Any:
    """Add a note, or with an id change that one. A model is not waited for: the note is found at once either way."""
    if "id" in given:
        return _changed(memory, given)
    if "content" not in given:
        raise InvalidInput("a new note needs 'content'", hint="give content, or the id of a note to change")
    receipt = _added(memory, given, ("tags", "kind"), wait=False)
    overturned: list[dict[str, Any]] = []
    disagrees: list[dict[str, Any]] = []
    for each in receipt.conflicts:
        if each.earlier == receipt.id or (note := memory.read(each.earlier)) is None:
            continue
        said = {"id": note.id, "content": note.content, "reason": each.verdict.reason}
        (overturned if each.hides or each.ends else disagrees).append(said)
    return {
        "id": receipt.id,
        "status": receipt.status,
        "enrichment": str(receipt.enrichment),
        "operation": receipt.operation,
        "links": [
            {"target": link.target, "type": str(link.type), "reason": link.reason}
            for link in receipt.links
            if link.source == receipt.id
        ],
        "overturned": overturned,
        "disagrees": disagrees,
        "superseded_by": receipt.superseded_by,
    }


def _changed(memory: ScopedMemory, given: Mapping[str, Any]) -> dict[str, Any]:
    note = memory.note(given["id"])
    fields = {name: value for name, value in given.items() if name not in ("id", "time", "append")}
    if "time" in given:
        fields["timestamp"] = given["time"]
    if not fields:
        raise InvalidInput("there is nothing to change", hint="give content, tags, kind or time")
    if given.get("append") and "content" in fields:
        fields["content"] = f"{note.content.rstrip()}\n{fields['content']}"
    memory.update(note, wait=False, **fields)
    changed = memory.note(note.id)
    # What an analyst made of the new text came after it, as a version of its own.
    later = [each for each in memory.history(note.id) if each.version > note.version]
    operation = next((each.operation for each in later if each.actor == memory.actor), None)
    return {
        "id": note.id,
        "status": "unchanged" if operation is None else "updated",
        "enrichment": str(changed.enrichment),
        "operation": operation,
        "links": [],
        "overturned": [],
        "disagrees": [],
        "superseded_by": changed.superseded_by,
    }


def _update(memory: ScopedMemory, given: Mapping[str, Any]) -> Any:
    fields = {name: value for name, value in given.items() if name != "id"}
    if not fields:
        raise InvalidInput("there is nothing to change", hint="give content, tags, keywords or context")
    id = memory.note(given["id"]).id
    memory.update(id, **fields)
    return opened(memory, id)


def _delete(memory: ScopedMemory, given: Mapping[str, Any]) -> Any:
    id = memory.note(given["id"]).id
    memory.delete(id)
    return {"deleted": id, "operation": memory.history(id, limit=1)[-1].operation}


def _remember(memory: ScopedMemory, given: Mapping[str, Any]) -> Any:
    report = memory.remember(given["messages"], conversation=given.get("conversation"), wait=None)
    learnt = [note for receipt in report.learnt if (note := memory.read(receipt.id)) is not None]
    return {
        "conversation": report.conversation,
        "operation": report.operation,
        "episodes": len(report.episodes),
        "learnt": [{"id": note.id, "content": note.content} for note in learnt],
        "overturned": sorted({*report.retracted, *(id for each in report.learnt for id in each.superseded)}),
        "known": report.known,
        "waiting": report.waiting,
    }


def _link(memory: ScopedMemory, given: Mapping[str, Any]) -> Any:
    source, target = memory.note(given["source"]).id, memory.note(given["target"]).id
    link = memory.link(source, target, given.get("type", "related"), given.get("reason", ""))
    return {"source": link.source, "target": link.target, "type": str(link.type), "reason": link.reason}


def _supersede(memory: ScopedMemory, given: Mapping[str, Any]) -> Any:
    old, reason, statement = memory.note(given["id"]).id, given.get("reason", ""), given.get("statement", "")
    if "by" in given:
        memory.supersede(old, memory.note(given["by"]).id, reason, statement=statement)
    elif not memory.retract(old, reason, statement=statement):
        raise InvalidInput(f"note {short_id(old)} holds no longer already", hint="read says what became of it")
    note = memory.note(old)
    return {"id": old, "status": str(note.status), "superseded_by": note.superseded_by, "statement": statement}


def _publish(memory: ScopedMemory, given: Mapping[str, Any]) -> Any:
    note = memory.note(given["id"]).id
    receipt = memory.publish(note, given.get("to"))
    # Without a name there is one catalog that may be meant, or it is refused.
    catalog = given.get("to", memory.settings.publish[0])
    return {"id": receipt.id, "note": note, "catalog": catalog, "status": receipt.status}


def _undo(memory: ScopedMemory, given: Mapping[str, Any]) -> Any:
    # What a person or another agent did since is theirs to take back, unless it is named.
    operation = given.get("operation", memory.own_last())
    if operation is None:
        raise NothingToUndo(
            "you have changed nothing here that could be undone", hint="name an operation; history lists them"
        )
    record = undo_record(memory.undo(operation))
    return {name: record[name] for name in ("operation", "undone", "reverted", "kept")}


def _maintain(memory: ScopedMemory, given: Mapping[str, Any]) -> Any:
    report = memory.maintain(given.get("cycle", "nightly"), dry_run=given.get("dry_run", False))
    reasons = [{"id": each.id, "what": each.what, "why": each.why} for each in report.reasons[:_MOST_REASONS]]
    return {
        "dry_run": report.dry_run,
        "counts": dict(report.counts()),
        "operation": report.operation,
        "reasons": reasons,
        "problems": list(report.problems),
    }


_REASON = TEXT | {"description": "Why, in a few words."}
_WHEN = TEXT | {"description": f"When it was said or happened; default now. {MOMENT}"}
_TOLD = objects({"id": TEXT, "content": TEXT, "reason": TEXT})

TOOLS = (
    Tool(
        "add",
        "Remember one thing: a fact, decision, preference, procedure or event, in a sentence or a short paragraph.",
        {
            "content": TEXT | {"description": "What to remember, understandable by itself."},
            "time": TEXT | {"description": "When it was said or happened, ISO 8601; default now."},
            "tags": LABELS,
            "keywords": LABELS,
            "context": TEXT,
        },
        ("content",),
        _add,
        result={"type": "object"},
    ),
    Tool(
        "update",
        "Correct a note. The old version is kept.",
        {"id": ID, "content": TEXT, "tags": LABELS, "keywords": LABELS, "context": TEXT},
        ("id",),
        _update,
        result=NOTE,
        repeats=True,
    ),
    Tool(
        "delete",
        "Forget a note, as when it should never have been kept; undo brings it back. What was so and is so no longer is"
        " for supersede.",
        {"id": ID},
        ("id",),
        _delete,
        result=objects({"deleted": TEXT, "operation": WHOLE}),
    ),
    Tool(
        "write",
        "Remember one thing: a fact, decision, preference, procedure or event, in a sentence or a short paragraph. With"
        " the id of a note, correct that note instead. When something changed, write what is so now: `overturned` then"
        " lists the notes that no longer hold, `disagrees` those that may not.",
        {
            "content": TEXT | {"description": "What to remember, understandable by itself."},
            "id": ID | {"description": "Change this note."},
            "append": FLAG | {"description": "With id: add content at its end."},
            "tags": LABELS,
            "kind": TEXT | {"enum": [str(kind) for kind in Kind if kind is not Kind.TOPIC]},
            "time": _WHEN,
        },
        (),
        _write,
        result=objects(
            {
                "id": TEXT,
                "status": TEXT | {"enum": ["stored", "duplicate", "updated", "unchanged"]},
                "enrichment": TEXT | {"enum": ["pending", "done", "degraded"]},
                "operation": or_null(WHOLE),
                "links": lists(objects({"target": TEXT, "type": TEXT, "reason": TEXT})),
                "overturned": lists(_TOLD),
                "disagrees": lists(_TOLD),
                "superseded_by": or_null(TEXT),
            }
        ),
    ),
    Tool(
        "remember",
        "Learn from a conversation: hand over its messages as they were said. They are kept word for word, and what"
        " they state becomes notes. Known messages are left out. For one thing to keep, use write.",
        {
            "messages": {
                "type": "array",
                "items": objects(
                    {
                        "role": TEXT | {"enum": [str(role) for role in Role]},
                        "content": TEXT,
                        "at": _WHEN,
                        "speaker": TEXT,
                        "id": TEXT,
                    },
                    optional=("at", "speaker", "id"),
                ),
            },
            "conversation": TEXT | {"description": "Its name, so that it can be continued."},
        },
        ("messages",),
        _remember,
        result=objects(
            {
                "conversation": TEXT,
                "operation": or_null(WHOLE),
                "episodes": WHOLE,
                "learnt": lists(objects({"id": TEXT, "content": TEXT})),
                "overturned": LABELS,
                "known": WHOLE,
                "waiting": WHOLE,
            }
        ),
        repeats=True,
    ),
    Tool(
        "link",
        "Link one note to another: source <type> target.",
        {
            "source": ID,
            "target": ID,
            "type": TEXT | {"enum": [str(each) for each in LinkType if each is not LinkType.SUPERSEDES]},
            "reason": _REASON,
        },
        ("source", "target"),
        _link,
        result=objects({"source": TEXT, "target": TEXT, "type": TEXT, "reason": TEXT}),
        adds=True,
    ),
    Tool(
        "supersede",
        "Say that a note no longer holds, because another one replaces it (`by`), or with nothing in its place. With a"
        " `statement` of it, only that ends and the rest stands. It is hidden from search, not destroyed.",
        {
            "id": ID | {"description": "The note that no longer holds."},
            "by": ID | {"description": "The note that replaces it."},
            "statement": TEXT | {"description": "The statement that ends, in the note's own words."},
            "reason": _REASON,
        },
        ("id",),
        _supersede,
        result=objects({"id": TEXT, "status": TEXT, "superseded_by": or_null(TEXT), "statement": TEXT}),
    ),
    Tool(
        "publish",
        "Copy a note of yours into a catalog, which others read too. Needs the right to publish there.",
        {"id": ID, "to": TEXT | {"description": "The catalog; may be left out where there is one."}},
        ("id",),
        _publish,
        result=objects({"id": TEXT, "note": TEXT, "catalog": TEXT, "status": TEXT | {"enum": ["stored", "duplicate"]}}),
    ),
    Tool(
        "undo",
        "Take back an operation with all that it set off: the one named, else the last that you did. Lists what later"
        " work has changed since and was left alone.",
        {"operation": WHOLE | {"description": "Its number, as write, delete and history give it."}},
        (),
        _undo,
        result=objects(
            {
                "operation": WHOLE,
                "undone": WHOLE,
                "reverted": lists(objects({"note": TEXT, "item": TEXT})),
                "kept": lists(objects({"note": TEXT, "item": TEXT, "operation": or_null(WHOLE), "why": TEXT})),
            }
        ),
    ),
    Tool(
        "maintain",
        "Look after the notes: let fade what never mattered, settle conflicts, merge rewordings, renew topics. With"
        " dry_run it only says what it would do.",
        {"cycle": TEXT | {"enum": list(CYCLES)}, "dry_run": FLAG},
        (),
        _maintain,
        result=objects(
            {
                "dry_run": FLAG,
                "counts": {"type": "object", "additionalProperties": WHOLE},
                "operation": or_null(WHOLE),
                "reasons": lists(objects({"id": TEXT, "what": TEXT, "why": TEXT})),
                "problems": LABELS,
            }
        ),
        confined=False,
    ),
)
