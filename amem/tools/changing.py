"""The tools that write, correct and look after notes; all that they do is logged and can be undone."""

# No ``from __future__ import annotations`` here: what a tool takes is read from its annotations.

from typing import TYPE_CHECKING, Annotated, Any

from amem.errors import InvalidInput, NothingToUndo
from amem.interop.json_records import undo_record
from amem.labels import short_id
from amem.maintenance.cycle import CYCLES
from amem.note import Kind, LinkType, Receipt, Role
from amem.tools.finding import NOTE, opened
from amem.tools.tool import FLAG, LABELS, MOMENT, TEXT, WHOLE, Id, lists, objects, or_null, tool

if TYPE_CHECKING:
    from amem.scoped import ScopedMemory

#: Of a run of maintenance on a large collection an agent is told no more reasons than it can use.
_MOST_REASONS = 30

_CONTENT = "What to remember, understandable by itself."
Reason = Annotated[str, "Why, in a few words."]
_WHEN = f"When it was said or happened; default now. {MOMENT}"
_TOLD = objects({"id": TEXT, "content": TEXT, "reason": TEXT})
_MESSAGE = objects(
    {
        "role": TEXT | {"enum": [str(role) for role in Role]},
        "content": TEXT,
        "at": TEXT | {"description": _WHEN},
        "speaker": TEXT,
        "id": TEXT,
    },
    optional=("at", "speaker", "id"),
)


@tool(
    "Remember one thing: a fact, decision, preference, procedure or event, in a sentence or a short paragraph.",
    {"type": "object"},
)
def add(
    memory: "ScopedMemory",
    content: Annotated[str, _CONTENT],
    time: Annotated[str | None, "When it was said or happened, ISO 8601; default now."] = None,
    tags: list[str] | None = None,
    keywords: list[str] | None = None,
    context: str | None = None,
) -> Any:
    return memory.add(content, time=time, **_given(tags=tags, keywords=keywords, context=context)).to_dict()


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


@tool("Correct a note. The old version is kept.", NOTE, repeats=True)
def update(
    memory: "ScopedMemory",
    id: Id,
    content: str | None = None,
    tags: list[str] | None = None,
    keywords: list[str] | None = None,
    context: str | None = None,
) -> Any:
    fields = _given(content=content, tags=tags, keywords=keywords, context=context)
    if not fields:
        raise InvalidInput("there is nothing to change", hint="give content, tags, keywords or context")
    full = memory.note(id).id
    memory.update(full, **fields)
    return opened(memory, full)


@tool(
    "Forget a note, as when it should never have been kept; undo brings it back. What was so and is so no longer is"
    " for supersede.",
    objects({"deleted": TEXT, "operation": WHOLE}),
)
def delete(memory: "ScopedMemory", id: Id) -> Any:
    full = memory.note(id).id
    memory.delete(full)
    return {"deleted": full, "operation": memory.history(full, limit=1)[-1].operation}


@tool(
    "Remember one thing: a fact, decision, preference, procedure or event, in a sentence or a short paragraph. With"
    " the id of a note, correct that note instead. When something changed, write what is so now: `overturned` then"
    " lists the notes that no longer hold, `disagrees` those that may not.",
    objects(
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
)
def write(
    memory: "ScopedMemory",
    content: Annotated[str | None, _CONTENT] = None,
    id: Annotated[str | None, "Change this note."] = None,
    append: Annotated[bool, "With id: add content at its end."] = False,
    tags: list[str] | None = None,
    kind: Annotated[str | None, {"enum": [str(kind) for kind in Kind if kind is not Kind.TOPIC]}] = None,
    time: Annotated[str | None, _WHEN] = None,
) -> Any:
    """Add a note, or with an id change that one. A model is not waited for: the note is found at once either way."""
    fields = _given(tags=tags, kind=kind)
    if id is not None:
        return _changed(memory, id, append, fields | _given(content=content, timestamp=time))
    if content is None:
        raise InvalidInput("a new note needs 'content'", hint="give content, or the id of a note to change")
    return _written(memory, memory.add(content, time=time, wait=False, **fields))


def _written(memory: "ScopedMemory", receipt: Receipt) -> dict[str, Any]:
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


def _changed(memory: "ScopedMemory", id: str, append: bool, fields: dict[str, Any]) -> dict[str, Any]:
    note = memory.note(id)
    if not fields:
        raise InvalidInput("there is nothing to change", hint="give content, tags, kind or time")
    if append and "content" in fields:
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


@tool(
    "Learn from a conversation: hand over its messages as they were said. They are kept word for word, and what"
    " they state becomes notes. Known messages are left out. For one thing to keep, use write.",
    objects(
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
)
def remember(
    memory: "ScopedMemory",
    messages: Annotated[list[Any], {"items": _MESSAGE}],
    conversation: Annotated[str | None, "Its name, so that it can be continued."] = None,
) -> Any:
    report = memory.remember(messages, conversation=conversation, wait=None)
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


@tool(
    "Link one note to another: source <type> target.",
    objects({"source": TEXT, "target": TEXT, "type": TEXT, "reason": TEXT}),
    adds=True,
)
def link(
    memory: "ScopedMemory",
    source: Id,
    target: Id,
    type: Annotated[str, {"enum": [str(each) for each in LinkType if each is not LinkType.SUPERSEDES]}] = "related",
    reason: Reason = "",
) -> Any:
    made = memory.link(memory.note(source).id, memory.note(target).id, type, reason)
    return {"source": made.source, "target": made.target, "type": str(made.type), "reason": made.reason}


@tool(
    "Say that a note no longer holds, because another one replaces it (`by`), or with nothing in its place. With a"
    " `statement` of it, only that ends and the rest stands. It is hidden from search, not destroyed.",
    objects({"id": TEXT, "status": TEXT, "superseded_by": or_null(TEXT), "statement": TEXT}),
)
def supersede(
    memory: "ScopedMemory",
    id: Annotated[str, "The note that no longer holds."],
    by: Annotated[str | None, "The note that replaces it."] = None,
    statement: Annotated[str, "The statement that ends, in the note's own words."] = "",
    reason: Reason = "",
) -> Any:
    old = memory.note(id).id
    if by is not None:
        memory.supersede(old, memory.note(by).id, reason, statement=statement)
    elif not memory.retract(old, reason, statement=statement):
        raise InvalidInput(f"note {short_id(old)} holds no longer already", hint="read says what became of it")
    note = memory.note(old)
    return {"id": old, "status": str(note.status), "superseded_by": note.superseded_by, "statement": statement}


@tool(
    "Copy a note of yours into a catalog, which others read too. Needs the right to publish there.",
    objects({"id": TEXT, "note": TEXT, "catalog": TEXT, "status": TEXT | {"enum": ["stored", "duplicate"]}}),
)
def publish(
    memory: "ScopedMemory",
    id: Id,
    to: Annotated[str | None, "The catalog; may be left out where there is one."] = None,
) -> Any:
    note = memory.note(id).id
    receipt = memory.publish(note, to)
    # Without a name there is one catalog that may be meant, or it is refused.
    catalog = memory.settings.publish[0] if to is None else to
    return {"id": receipt.id, "note": note, "catalog": catalog, "status": receipt.status}


@tool(
    "Take back an operation with all that it set off: the one named, else the last that you did. Lists what later"
    " work has changed since and was left alone.",
    objects(
        {
            "operation": WHOLE,
            "undone": WHOLE,
            "reverted": lists(objects({"note": TEXT, "item": TEXT})),
            "kept": lists(objects({"note": TEXT, "item": TEXT, "operation": or_null(WHOLE), "why": TEXT})),
        }
    ),
)
def undo(
    memory: "ScopedMemory",
    operation: Annotated[int | None, "Its number, as write, delete and history give it."] = None,
) -> Any:
    # What a person or another agent did since is theirs to take back, unless it is named.
    named = memory.own_last() if operation is None else operation
    if named is None:
        raise NothingToUndo(
            "you have changed nothing here that could be undone", hint="name an operation; history lists them"
        )
    record = undo_record(memory.undo(named))
    return {name: record[name] for name in ("operation", "undone", "reverted", "kept")}


@tool(
    "Look after the notes: let fade what never mattered, settle conflicts, merge rewordings, renew topics. With"
    " dry_run it only says what it would do.",
    objects(
        {
            "dry_run": FLAG,
            "counts": {"type": "object", "additionalProperties": WHOLE},
            "operation": or_null(WHOLE),
            "reasons": lists(objects({"id": TEXT, "what": TEXT, "why": TEXT})),
            "problems": LABELS,
        }
    ),
    confined=False,
)
def maintain(
    memory: "ScopedMemory", cycle: Annotated[str, {"enum": list(CYCLES)}] = "nightly", dry_run: bool = False
) -> Any:
    report = memory.maintain(cycle, dry_run=dry_run)
    reasons = [{"id": each.id, "what": each.what, "why": each.why} for each in report.reasons[:_MOST_REASONS]]
    return {
        "dry_run": report.dry_run,
        "counts": dict(report.counts()),
        "operation": report.operation,
        "reasons": reasons,
        "problems": list(report.problems),
    }


TOOLS = (add, update, delete, write, remember, link, supersede, publish, undo, maintain)
