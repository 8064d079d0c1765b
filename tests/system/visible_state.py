"""All that a user can see of a collection, as one mapping of items to values, and what differs between two of them.

Left out is what is not versioned by design: how often and when a note was used, what follows from that (stability, the
weights of links), numbers of versions and the history itself.
"""

from __future__ import annotations

from dataclasses import fields
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from amem import Filter
from amem.note import Kind, MemoryNote, Status, plain_fields

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from amem import AgenticMemorySystem
    from amem.storage.undo import UndoReport
    from amem.testing import FrozenClock

    State = Mapping[tuple[str, ...], Any]

HERE = (Status.ACTIVE, Status.SUPERSEDED, Status.ARCHIVED)
#: What tells together whether a note stands.
STANDING = ("status", "superseded_by", "valid_to")
_OF_USE = {"retrieval_count", "last_accessed", "stability", "evolution_history", "version", "trust"}
#: Made of several things of which each is an item of its own: compared only where all of it must be as it was.
_WHOLE = {"doubts", "links", "overturned"}
SUMS = {"whole", "trust", "conflict", "superseded", "timeline", "tags", "topic", "found"}
_FIELDS = sorted({each.name for each in fields(MemoryNote)} - _OF_USE)
#: Trust falls with age: it is read at one and the same time.
_LATER = timedelta(days=20_000)


def visible_state(memory: AgenticMemorySystem, clock: FrozenClock, words: Sequence[str]) -> State:
    """Every item that can be seen: (sort, note, ...) -> value; `words` are those asked for in the full text."""
    state: dict[tuple[str, ...], Any] = {}
    clock.advance(_LATER)
    notes = memory.list(Filter(statuses=HERE), limit=10_000)
    clock.advance(-_LATER)
    ids, pages = [note.id for note in notes], list[str]()
    for note in notes:
        for name in _FIELDS:
            state["whole" if name in _WHOLE else "note", note.id, name] = getattr(note, name)
        if note.kind is Kind.TOPIC:
            # What is shown of a page depends on the notes that it cites; what is stored does not.
            state["whole", note.id, "shown"] = state["note", note.id, "content"]
            pages.append(note.id)
        state["trust", note.id] = note.trust
        for each in note.overturned:
            state["overturned", note.id, each.text] = plain_fields(each)
    with memory.parts.store.read() as session:  # as `owned_fields` has it, of all at once
        owned = session.notes.owned_fields(ids)
        stored = session.notes.get_many(pages, history=False, deleted=True)
    state |= {("note", id, "content"): page.content for id, page in stored.items()}
    state |= {("owner", id, name): how for id, fields_ in owned.items() for name, how in fields_.items()}
    for link in memory.links_among(ids):
        state["link", link.source, f"{link.type} {link.target}"] = (link.reason, link.confidence, link.made_by)
    for id, sources in memory.sources(ids).items():
        state["whole", id, "sources"] = [source.id for source in sources]
    for flag in memory.flags():
        state["flag", flag.note, flag.because] = flag.reason
    for review in memory.reviews():
        state["proposal", review.note, str(review.id)] = (review.changes, review.reason)
    for conflict in memory.conflicts_open():
        state["conflict", conflict.earlier, conflict.later] = conflict.verdict.reason
    for link in memory.supersessions(10_000):
        state["superseded", link.target, link.source] = link.reason
    for subject in memory.subjects():
        told = memory.timeline(subject)
        state["timeline", subject] = [(each.predicate, each.object, each.since, each.until) for each in told]
    for topic in memory.topics():
        state["topic", topic.id] = (topic.name, topic.summary, topic.notes, topic.declared)
    state["tags",] = memory.tags()
    for word in words:
        state["found", word] = memory.shelf(starting=word).keys.tolist()
    return state


def different(one: State, other: State) -> set[tuple[str, ...]]:
    """The items that are not the same in both."""
    return {item for item in one.keys() | other.keys() if one.get(item) != other.get(item)}


def unnamed(
    before: State, then: tuple[State, State], wanted: State, after: State, report: UndoReport
) -> dict[tuple[str, ...], tuple[Any, Any, Any]]:
    """What is not as wanted after an undo and not named by its report: (before, wanted, after) by item.

    `then` is what was before that which is undone, and after it. Of what is a sum of several items only those are
    compared. What a note holds that is hidden before and after does not matter, nor what it brings along from a time
    when it, or what it is linked to, was hidden, nor what was changed then while it was hidden.
    """
    named = {(each.note, each.item) for each in (*report.kept, *report.settled)}
    found = {}
    for item in different(wanted, after):
        if item[0] not in SUMS and after.get(item) == then[0].get(item) and _is_named(item, set(report.reverted)):
            continue  # a part that was undone before had covered it
        if item[0] in SUMS or _is_named(item, named) or not (seen(item, before) or seen(item, after)):
            continue
        if item not in before and not seen(item, before) and not seen(item, then[0]):
            continue
        if not any(seen(item, each) for each in then):
            continue
        found[item] = (before.get(item), wanted.get(item), after.get(item))
    return found


def _is_named(item: tuple[str, ...], named: Collection[tuple[str, str]]) -> bool:
    sort, note, *rest = item
    if {(note, "note"), (note, "status")} & set(named):
        return True  # it is there, or is not, as a whole
    if sort in ("note", "owner", "overturned"):
        return (note, "overturned" if sort == "overturned" else rest[0]) in named
    if sort == "link":
        target = rest[0].split()[-1]
        return (note, f"link {rest[0]}") in named or (target, "note") in named or (target, "status") in named
    return any(each[0] == note and each[1].startswith(sort) for each in named)


def seen(item: tuple[str, ...], state: State, statuses: Collection[Status] = ()) -> bool:
    """Whether the notes of an item can be seen, those of these statuses (else flags of those that stand only)."""
    ends = [item[1], item[2].split()[-1]] if item[0] == "link" else [item[1]]
    shown = statuses or ((Status.ACTIVE,) if item[0] == "flag" else HERE)
    return item[0] == "proposal" or all(state.get(("note", end, "status")) in shown for end in ends)


def told(found: Mapping[tuple[str, ...], tuple[Any, Any, Any]], names: Iterable[str]) -> str:
    """The differences, line by line, ids as the places of notes in `names`."""
    text = "\n".join(f"{item}: {was!r} -> wanted {want!r}, is {now!r}" for item, (was, want, now) in found.items())
    for place, id in enumerate(names):
        text = text.replace(id, f"#{place}")
    return text
