"""Notes: identity, filters, versions, usage, and purge."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np
import pytest
from storing import change, put, search

from amem.errors import AmbiguousId, InvalidInput, NoteNotFound, StaleNote
from amem.note import Enrichment, Kind, Link, LinkType, MemoryNote, Source, Status
from amem.query import Filter
from amem.storage.usage import States
from amem.storage.vectors import text_hash

if TYPE_CHECKING:
    from pathlib import Path

    from amem.storage.store import Session, Store
    from amem.testing import FrozenClock

MARCH, APRIL, MAY = (datetime(2025, month, 1, tzinfo=UTC) for month in (3, 4, 5))


def contents(session: Session, wanted: Filter) -> set[str]:
    """What passes, asked in every way there is: by page, by count and by key."""
    page = session.notes.page(wanted)
    assert session.notes.count(wanted) == len(page)
    keys = session.notes.keys(wanted)
    assert set(session.notes.ids_of(keys).values()) == {note.id for note in page}
    searched = set(search(session, ["note"], wanted))
    assert searched == set(keys)
    return {note.content.removeprefix("note ") for note in page}


class TestFilters:
    @pytest.fixture
    def session(self, store: Store) -> Session:
        with store.write() as session:
            put(session, "note a", tags=["Work", "Ideas"], kind=Kind.FACT, category="Diary", speaker="Ana", at=MARCH)
            put(session, "note b", tags=["work"], kind=Kind.DECISION, conversation_id="t1", ordinal=1, at=APRIL)
            put(session, "note c", tags=["工作"], kind=Kind.CHITCHAT, metadata={"n": 1, "s": "1", "ok": True}, at=MAY)
        with store.read() as reading:
            yield reading

    @pytest.mark.parametrize(
        ("wanted", "found"),
        [
            (Filter(), "abc"),
            (Filter(tags=("WORK",)), "ab"),
            (Filter(tags=("work", "ideas")), "a"),
            (Filter(tags=("工作",)), "c"),
            (Filter(tags=("nothing",)), ""),
            (Filter(kinds=(Kind.FACT, Kind.CHITCHAT)), "ac"),
            (Filter(category="diary"), "a"),
            (Filter(speaker="ana"), "a"),
            (Filter(conversation="t1"), "b"),
            (Filter(since=APRIL), "bc"),
            (Filter(until=APRIL), "a"),
            (Filter(since=APRIL, until=MAY), "b"),
            (Filter(since=APRIL.astimezone(tz=None), until=MAY), "b"),
            (Filter(metadata={"n": 1}), "c"),
            (Filter(metadata={"n": "1"}), ""),
            (Filter(metadata={"s": "1"}), "c"),
            (Filter(metadata={"s": 1}), ""),
            (Filter(metadata={"ok": True}), "c"),
            (Filter(metadata={"n": True}), ""),
            (Filter(metadata={"missing": "x"}), ""),
            (Filter(tags=("work",), kinds=(Kind.DECISION,), since=MARCH), "b"),
        ],
    )
    def test_a_filter_lets_through_what_it_says(self, session: Session, wanted: Filter, found: str) -> None:
        assert contents(session, wanted) == set(found)

    def test_metadata_that_cannot_be_looked_up_is_refused(self, session: Session) -> None:
        with pytest.raises(InvalidInput, match="metadata"):
            session.notes.keys(Filter(metadata={"n": [1]}))
        with pytest.raises(InvalidInput, match="metadata"):
            session.notes.keys(Filter(metadata={'n" OR 1': 1}))

    def test_by_default_only_active_notes_pass(self, store: Store) -> None:
        with store.write() as session:
            ids = {status: put(session, f"note {status}") for status in Status}
            for status, id in ids.items():
                change(session, id, status=str(status))
            assert contents(session, Filter()) == {"active"}
            assert contents(session, Filter(statuses=(Status.ARCHIVED, Status.SUPERSEDED))) == {
                "archived",
                "superseded",
            }
            assert session.notes.count() == 3

    def test_as_of_shows_what_was_true_then(self, store: Store) -> None:
        with store.write() as session:
            new = put(session, "note Lisbon", at=MAY)
            old = put(session, "note Porto", at=MARCH)
            change(session, old, status=str(Status.SUPERSEDED), superseded_by=new)
            put(session, "note lease", at=MARCH, valid_from=MARCH, valid_to=APRIL)
        with store.read() as session:
            day = timedelta(days=1)
            assert contents(session, Filter(as_of=MARCH - day)) == set()
            assert contents(session, Filter(as_of=MARCH + day)) == {"Porto", "lease"}
            assert contents(session, Filter(as_of=APRIL + day)) == {"Porto"}
            assert contents(session, Filter(as_of=MAY + day)) == {"Lisbon"}
            assert contents(session, Filter()) == {"Lisbon", "lease"}


class TestIdentity:
    def test_an_id_is_taken_once(self, store: Store) -> None:
        with store.write() as session:
            put(session, "Tea.", id="one")
            with pytest.raises(InvalidInput, match="exists already"):
                put(session, "Coffee.", id="one")

    def test_a_prefix_finds_the_one_note_it_fits(self, store: Store) -> None:
        with store.write() as session:
            put(session, "Tea.", id="abc1")
            put(session, "Coffee.", id="abd2")
            put(session, "Milk.", id="a")
            assert session.notes.resolve("abc") == "abc1"
            assert session.notes.resolve("a") == "a"
            with pytest.raises(AmbiguousId, match="2 notes"):
                session.notes.resolve("ab")
            for unknown in ("x", "", "%", "abc1x"):
                with pytest.raises(NoteNotFound):
                    session.notes.resolve(unknown)
            change(session, "abc1", status=str(Status.DELETED))
            with pytest.raises(NoteNotFound) as caught:
                session.notes.resolve("abc")
            assert "amem restore" in caught.value.hint
            assert session.notes.resolve("abc", deleted=True) == "abc1"

    def test_the_same_words_in_another_dress_are_a_duplicate(self, store: Store) -> None:
        with store.write() as session:
            first = put(session, "Tea at  Five")
            put(session, "tea at five")
            assert session.notes.duplicate_of("ＴＥＡ at five\n") == first
            assert session.notes.duplicate_of("tea at six") is None
            change(session, first, status=str(Status.DELETED))
            assert session.notes.duplicate_of("tea at five") != first

    def test_a_deleted_note_is_not_read_but_is_kept(self, store: Store) -> None:
        with store.write() as session:
            id = put(session, "Tea.")
            change(session, id, status=str(Status.DELETED))
            assert session.notes.get(id) is None
            assert id in session.notes.get_many([id], deleted=True)
            assert search(session, ["tea"]) == {}
            assert session.text.document_frequency(["tea"]) == {"tea": 0}

    def test_many_notes_come_in_the_order_asked_for(self, store: Store) -> None:
        with store.write() as session:
            operation = session.begin("import", "user")
            ids = [put(session, f"note {n}", operation) for n in range(1_200)]
            asked = ids[::-1]
            assert list(session.notes.get_many(asked)) == asked
            assert session.notes.ids() == ids
            assert [note.id for note in session.notes.page(Filter(), limit=3, order="recorded")] == asked[:3]


class TestVersions:
    def test_each_change_is_a_version_that_holds_what_changed(self, store: Store) -> None:
        with store.write() as session:
            id = put(session, "Tea.", tags=["a"])
            change(session, id, content="Green tea.", tags=["a"])
            history = session.operations.history(id)
            assert [(each.version, set(each.changes)) for each in history] == [(1, {"status"}), (2, {"content"})]
            assert history[1].changes["content"] == ("Tea.", "Green tea.")
            note = session.notes.get(id)
        assert note is not None
        assert note.version == 2
        assert [each["changes"] for each in note.evolution_history] == [{"content": ["Tea.", "Green tea."]}]

    def test_a_change_to_the_same_value_is_none(self, store: Store) -> None:
        with store.write() as session:
            id = put(session, "Tea.")
            assert session.notes.change(id, {"content": "Tea."}, session.begin("update", "user")) == ()
            assert len(session.operations.history(id)) == 1

    def test_a_change_based_on_an_old_version_is_refused(self, store: Store) -> None:
        with store.write() as session:
            id = put(session, "Tea.")
            change(session, id, content="Green tea.")
            with pytest.raises(StaleNote, match="version 2, not 1"):
                session.notes.change(id, {"content": "x"}, session.begin("update", "user"), expect=1)

    def test_changed_text_is_found_by_its_new_words_only(self, store: Store) -> None:
        with store.write() as session:
            id = put(session, "Tea.", tags=["hot"])
            change(session, id, content="Coffee.", tags=["cold"])
            assert search(session, ["tea"]) == {}
            assert len(search(session, ["coffe"])) == 1
            assert dict(session.text.tags()) == {"cold": 1}

    def test_what_a_person_edited_is_theirs(self, store: Store) -> None:
        with store.write() as session:
            operation = session.begin("add", "user")
            note = MemoryNote("Tea.", timestamp="now", at=session.now, tags=["a"])
            session.notes.insert(note, operation, reliability=0.5, text_hash=None, given=["tags"])
            session.notes.change(note.id, {"context": "x"}, operation, edited=True)
            session.notes.change(note.id, {"enrichment": str(Enrichment.DONE)}, operation)
            assert session.notes.owned_fields([note.id]) == {note.id: {"tags": "given", "context": "edited"}}


class TestUsage:
    def test_a_note_is_counted_once_a_day(self, store: Store, clock: FrozenClock) -> None:
        with store.write() as session:
            id = put(session, "Tea.", kind=Kind.CHITCHAT)
            assert [session.usage.touch([1]), session.usage.touch([1, 1])] == [1, 0]
        clock.advance(days=1)
        with store.write() as session:
            assert session.usage.touch([1]) == 1
            note = session.notes.get(id)
            standing = session.usage.standings([1])
        assert note is not None
        assert note.retrieval_count == 2
        assert note.stability == pytest.approx(3 * 1.3**2)
        assert (standing.recalls.tolist(), standing.idle(clock.now()).tolist()) == ([2.0], [0.0])

    def test_agreement_and_contradiction_move_trust(self, store: Store) -> None:
        with store.write() as session:
            one, other = put(session, "Tuesday."), put(session, "Friday.")
            operation = session.begin("link", "user")
            fresh = session.notes.get(one)
            session.notes.corroborate(one, "Ana", operation)
            session.notes.corroborate(one, "Ana", operation)
            agreed = session.notes.get(one)
            session.links.put(Link(other, one, LinkType.CONTRADICTS, "", 1.0, "user", session.now), operation)
            disputed = session.notes.get(one)
        assert fresh is not None
        assert agreed is not None
        assert disputed is not None
        assert agreed.trust == pytest.approx(fresh.trust + 0.03)
        assert disputed.trust == pytest.approx(fresh.trust - 0.01)


SECRETS = {
    "content": "zqcontent",
    "old content": "zqformer",
    "keyword": "zqkeyword",
    "tag": "zqtag",
    "context": "zqcontext",
    "entity": "zqentity",
    "source": "zqsource",
    "proposal": "zqproposal",
    "reason": "zqreason",
    "metadata": "zqmetadata",
}


def test_purge_leaves_no_trace(file_store: Store, folder: Path) -> None:
    with file_store.write() as session:
        for n in range(50):
            put(session, f"bystander {n}")
        keep = put(session, "Tea stays.")
        operation = session.begin("add", "user")
        gone = put(
            session,
            f"The password is {SECRETS['old content']}.",
            operation,
            keywords=[SECRETS["keyword"]],
            tags=[SECRETS["tag"]],
            context=f"About {SECRETS['context']}.",
            entities=[SECRETS["entity"]],
            metadata={"k": SECRETS["metadata"]},
        )
        key = session.notes.keys_of([gone])[gone]
        source = Source("s1", "message", None, None, None, session.now, f"raw {SECRETS['source']}")
        session.sources.attach(key, session.sources.put(source, operation), operation)
        session.links.put(Link(keep, gone, LinkType.RELATED, SECRETS["reason"], 1.0, "user", session.now), operation)
    with file_store.write() as session:
        change(session, gone, content=f"The password is {SECRETS['content']}.")
        session.reviews.propose(
            gone,
            {"context": ("", SECRETS["proposal"])},
            operation=session.begin("evolve", "offline"),
            base_version=2,
            reason="",
            confidence=0.5,
            made_by="offline",
            days=30,
        )
        session.jobs.put("enrich", gone, None, error="")
    with file_store.write() as session:
        session.begin("purge", "user")
        session.notes.purge([gone])
    file_store.shrink()
    left = b"".join(file.read_bytes() for file in folder.iterdir())
    assert [what for what, secret in SECRETS.items() if secret.encode() in left] == []
    with file_store.read() as session:
        assert session.notes.get_many([gone], deleted=True) == {}
        assert session.links.of(keep) == []
        assert search(session, ["passwd", "password"]) == {}
        assert session.sources.search([SECRETS["source"]], 5) == []
        assert search(session, ["tea"]) != {}
    assert file_store.check() == []


def test_purge_keeps_what_other_notes_share(store: Store) -> None:
    with store.write() as session:
        operation = session.begin("import", "user")
        one, other = put(session, "Tea.", operation), put(session, "More tea.", operation)
        keys = session.notes.keys_of([one, other])
        source = session.sources.put(Source("s1", "file", None, None, None, None, "tea and more"), operation)
        for key in keys.values():
            session.sources.attach(key, source, operation)
        session.notes.address(one, text_hash("same"))
        session.notes.address(other, text_hash("same"))
        session.notes.purge([one])
        assert [each.id for each in session.notes.sources_of([other])[other]] == ["s1"]
        assert session.vectors.states(0)[0].tolist() == [keys[other], keys[one]]


def test_status_and_kind_of_every_note_are_known_after_every_change(store: Store) -> None:
    states: States | None = None
    ids: list[str] = []
    for _ in range(4):
        with store.write() as session:
            operation = session.begin("import", "user")
            ids += [put(session, f"note {n}", operation, kind=Kind.QUESTION if n % 2 else Kind.FACT) for n in range(6)]
            change(session, ids.pop(1), status=str(Status.SUPERSEDED))
            change(session, ids.pop(2), status=str(Status.DELETED))
            session.notes.purge([ids.pop(3)])
        with store.read() as session:
            keys = np.arange(60)
            states = States.of(session, states)
            rows = session.notes.columns(keys.tolist(), ["status", "kind"])
            held = [rows.get(key, ("", "")) for key in keys.tolist()]
            for known in (states, States.of_some(session, keys)):
                assert known.active(keys).tolist() == [status == Status.ACTIVE for status, _ in held]
                assert known.of_kind(Kind.QUESTION, keys).tolist() == [kind == Kind.QUESTION for _, kind in held]
