"""What a note rests on, however the links lie."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from amem.errors import InvalidInput, NoteNotFound
from amem.note import LinkType, Status
from amem.retrieval.expansion import Ancestor, ancestors

if TYPE_CHECKING:
    from asking import Collection

CAUSED, DERIVED, SUPPORTS = LinkType.CAUSED_BY, LinkType.DERIVED_FROM, LinkType.SUPPORTS


def of(memory: Collection, id: str, depth: int = 5) -> list[Ancestor]:
    with memory.store.read() as session:
        return ancestors(session, id, depth)


def ids(memory: Collection, id: str, depth: int = 5) -> list[str]:
    return [each.id for each in of(memory, id, depth)]


def chain(memory: Collection, length: int) -> list[str]:
    """Notes each of which was caused by the next."""
    notes = [memory.add(f"Event {place}.") for place in range(length)]
    for later, earlier in pairwise(notes):
        memory.link(later, earlier, CAUSED)
    return notes


def test_causes_origins_and_supporters_are_ancestors_and_what_follows_from_a_note_is_not(
    collection: Collection,
) -> None:
    memory = collection
    note, cause, origin, witness = (memory.add(text) for text in ("Decision.", "Cause.", "Origin.", "Witness."))
    effect, copy, claim = (memory.add(text) for text in ("Effect.", "Copy.", "Claim."))
    memory.link(note, cause, CAUSED)
    memory.link(note, origin, DERIVED)
    memory.link(witness, note, SUPPORTS)
    memory.link(effect, note, CAUSED)
    memory.link(copy, note, DERIVED)
    memory.link(note, claim, SUPPORTS)
    assert set(ids(memory, note)) == {cause, origin, witness}
    assert {each.before for each in of(memory, note)} == {note}


@pytest.mark.parametrize("type", [LinkType.RELATED, LinkType.PART_OF, LinkType.CONTRADICTS, LinkType.SUPERSEDES])
def test_other_links_lead_to_no_ancestor(collection: Collection, type: LinkType) -> None:
    one, other = collection.add("One."), collection.add("Other.")
    collection.link(one, other, type)
    collection.link(other, one, type)
    assert ids(collection, one) == []


def test_each_ancestor_tells_its_way_and_the_reason(collection: Collection) -> None:
    memory = collection
    decision, fault, outage = (
        memory.add(text) for text in ("改用 SQLite。", "PostgreSQL 需要服务器。", "服务器停机。")
    )
    memory.link(decision, fault, CAUSED, "说明了原因")
    memory.link(outage, fault, SUPPORTS, "印证了")
    near, far = of(memory, decision)
    assert (near.id, near.hop, near.reason, near.before) == (fault, 1, "说明了原因", decision)
    assert (far.id, far.hop, far.reason, far.before) == (outage, 2, "印证了", fault)
    assert [(step["from"], step["to"], step["type"]) for step in far.to_dict()["path"]] == [
        (decision, fault, "caused_by"),
        (fault, outage, "supports"),
    ]
    assert far.note is not None
    assert far.note.content == "服务器停机。"


def test_depth_bounds_how_far_back_it_goes(collection: Collection) -> None:
    notes = chain(collection, 9)
    assert ids(collection, notes[0], 0) == []
    assert ids(collection, notes[0], 2) == notes[1:3]
    assert ids(collection, notes[0]) == notes[1:6]
    assert ids(collection, notes[0], 100) == notes[1:]


def test_a_circle_of_causes_ends_where_it_began(collection: Collection) -> None:
    notes = chain(collection, 3)
    collection.link(notes[2], notes[0], CAUSED)
    collection.link(notes[1], notes[1], CAUSED)
    assert ids(collection, notes[0], 50) == notes[1:]
    assert ids(collection, notes[1], 50) == [notes[2], notes[0]]


def test_a_note_that_several_ways_lead_to_comes_once_by_the_shortest(collection: Collection) -> None:
    memory = collection
    note, first, second, root = (memory.add(text) for text in ("Note.", "First.", "Second.", "Root."))
    memory.link(note, first, CAUSED)
    memory.link(note, second, CAUSED)
    memory.link(first, root, CAUSED)
    memory.link(second, root, DERIVED, "told so")
    memory.link(note, root, DERIVED)
    found = {each.id: each for each in of(memory, note)}
    assert found[root].hop == 1
    assert {(link.source, link.reason) for link in found[root].also} == {(first, ""), (second, "told so")}


def test_among_equally_near_ones_the_surest_link_comes_first(collection: Collection) -> None:
    note, doubtful, sure = (collection.add(text) for text in ("Note.", "Doubtful.", "Sure."))
    collection.link(note, doubtful, CAUSED, confidence=0.4)
    collection.link(note, sure, CAUSED, confidence=0.9)
    assert ids(collection, note) == [sure, doubtful]


def test_a_deleted_note_and_what_lies_behind_it_stay_out_until_it_is_restored(collection: Collection) -> None:
    notes = chain(collection, 3)
    collection.change(notes[1], status=str(Status.DELETED))
    assert ids(collection, notes[0]) == []
    collection.change(notes[1], status=str(Status.ACTIVE))
    assert ids(collection, notes[0]) == notes[1:]


def test_a_superseded_or_archived_cause_is_told_as_such(collection: Collection) -> None:
    notes = chain(collection, 4)
    collection.supersede(notes[1], notes[3])
    collection.change(notes[2], status=str(Status.ARCHIVED))
    first, second, third = of(collection, notes[0])
    assert (first.superseded, first.to_dict()["superseded_by"]) == (True, notes[3])
    assert (second.superseded, second.to_dict()["status"]) == (False, "archived")
    assert third.to_dict()["status"] == "active"


def test_a_link_to_a_note_that_does_not_exist_is_told_as_missing(collection: Collection) -> None:
    note = collection.add("Note.")
    collection.link(note, "not-written-yet", DERIVED, "its draft")
    (missing,) = of(collection, note)
    assert missing.note is None
    assert (missing.id, missing.reason, missing.to_dict()["status"]) == ("not-written-yet", "its draft", "missing")


@pytest.mark.parametrize("depth", [-1, True, 1.5, "2"])
def test_a_depth_that_is_none_is_refused(collection: Collection, depth: int) -> None:
    note = collection.add("Note.")
    with pytest.raises(InvalidInput, match="depth"):
        of(collection, note, depth)


def test_the_ancestors_of_a_note_that_is_not_there_are_refused(collection: Collection) -> None:
    gone = collection.add("Gone.")
    collection.change(gone, status=str(Status.DELETED))
    for id in ("nobody", gone):
        with pytest.raises(NoteNotFound):
            of(collection, id)
