"""Notes of several users, agents and sessions in one collection, told apart by the ids they were added with."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest

from amem import Filter
from amem.errors import InvalidInput, NoteNotFound, NothingToUndo, OperationNotFound
from amem.interop.exporting import exported
from amem.interop.importing import Importer
from amem.interop.reader import read_path
from amem.note import Source
from amem.query import Query
from amem.settings import Settings
from amem.storage.rows import conditions
from amem.tools import Toolbox

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from amem import AgenticMemorySystem
    from amem.protocols import Embedder


def found(memory: AgenticMemorySystem, question: str, **conditions: Any) -> set[str]:
    return {hit.content for hit in memory.search(question, k=10, filter=Filter(**conditions), touch=False)}


def test_each_user_agent_and_session_finds_their_own(memory: AgenticMemorySystem) -> None:
    memory.add("I am allergic to nuts.", user_id="ana", session_id="monday")
    memory.add("我对花生过敏。", user_id="ana", agent_id="planner")
    memory.add("I am allergic to cats.", metadata={"user_id": "bo", "mood": "sad"})
    memory.add("Allergies are common.")
    assert found(memory, "allergic 过敏", user_id="ana") == {"I am allergic to nuts.", "我对花生过敏。"}
    assert found(memory, "allergic 过敏", user_id="bo") == {"I am allergic to cats."}
    assert found(memory, "allergic 过敏", user_id="ana", agent_id="planner") == {"我对花生过敏。"}
    assert found(memory, "allergic 过敏", session_id="monday") == {"I am allergic to nuts."}
    assert found(memory, "allergic 过敏", user_id="nobody") == set()
    assert len(found(memory, "allergic 过敏")) == 4
    assert memory.count(Filter(user_id="ana")) == len(memory.list(Filter(user_id="ana"))) == 2


def test_an_id_kept_as_a_number_is_the_same_id(memory: AgenticMemorySystem) -> None:
    memory.add("Tea at five.", metadata={"user_id": 42})
    assert found(memory, "tea", user_id="42") == {"Tea at five."}
    assert found(memory, "tea", user_id="042") == set()
    assert found(memory, "tea", user_id="9" * 40) == set()


def test_ids_that_contradict_the_metadata_or_are_none_are_refused(memory: AgenticMemorySystem) -> None:
    for fields in (
        {"user_id": "ana", "metadata": {"user_id": "bo"}},
        {"user_id": ""},
        {"agent_id": 7},
        {"session_id": "nul \x00"},
        {"user_id": "ana", "metadata": "none"},
    ):
        with pytest.raises(InvalidInput):
            memory.add("Tea at five.", **fields)
    assert memory.count() == 0
    assert memory.add("Tea at five.", user_id=None, metadata={"user_id": "ana"}).status == "stored"


def test_what_two_users_say_in_the_same_words_each_says_for_themselves(memory: AgenticMemorySystem) -> None:
    first = memory.add("I am allergic to nuts.", user_id="ana")
    other = memory.add("I am allergic to nuts.", user_id="bo")
    again = memory.add("I am allergic to NUTS.", user_id="ana")
    assert (other.status, again.status, again.id) == ("stored", "duplicate", first.id)
    assert found(memory, "nuts", user_id="bo") == {"I am allergic to nuts."}


def test_where_one_user_lives_says_nothing_of_where_another_does(
    open_memory: Callable[..., AgenticMemorySystem], minilm: Embedder
) -> None:
    memory = open_memory(analyst=None, llm_backend="offline", embedder=minilm)
    ana = memory.add("I live in Porto.", user_id="ana", time="2026-01-01").id
    memory.add("I live in Lisbon.", user_id="bo", time="2026-02-01")
    assert memory.memories[ana].status == "active"
    memory.add("I live in Faro now.", user_id="ana", time="2026-03-01", session_id="spring")
    assert memory.memories[ana].status == "active"
    moved = memory.add("I live in Faro now.", user_id="ana", time="2026-03-01").id
    assert memory.memories[ana].superseded_by == moved
    assert found(memory, "where do I live", user_id="bo") == {"I live in Lisbon."}


def test_a_time_without_a_zone_is_one_of_the_collections_own(
    open_memory: Callable[..., AgenticMemorySystem], home: Path
) -> None:
    memory = open_memory(settings=Settings(home=home, timezone="Asia/Shanghai"))
    memory.add("Tea at half past midnight.", time="2026-03-01T00:30")
    midnight = datetime(2026, 3, 1)
    assert memory.search("tea", filter=Filter(since=midnight), touch=False)
    assert not memory.search("tea", filter=Filter(until=midnight), touch=False)
    assert memory.count(Filter(since=midnight)) == len(memory.list(Filter(since=midnight))) == 1
    assert memory.search_batch([Query("tea", filter=Filter(until=midnight), touch=False)]) == [[]]


def test_asking_for_one_users_notes_looks_them_up(memory: AgenticMemorySystem) -> None:
    memory.add("Tea at five.", user_id="ana")
    where, values = conditions(Filter(user_id="ana"))
    with memory.parts.store.read() as session:
        plan = session.rows(f"EXPLAIN QUERY PLAN SELECT key FROM notes WHERE {where}", **values)
    assert "notes_user_id" in str(plan)


class TestNothingOfOneReachesAnother:
    """Each a way in which it did, or could; at random in test_isolation.py."""

    @pytest.fixture
    def shared(self, open_memory: Callable[..., AgenticMemorySystem], minilm: Embedder) -> AgenticMemorySystem:
        """A collection that the offline rules read."""
        return open_memory(analyst=None, llm_backend="offline", embedder=minilm)

    def test_a_note_is_not_rewritten_for_what_another_user_said(self, shared: AgenticMemorySystem) -> None:
        alice, bob = shared.tools(user_id="alice"), shared.tools(user_id="bob")
        hers = alice.call("memory_add", {"content": "Wen is allergic to shrimp."})["result"]
        text = "Wen is allergic to shrimp and crab; her patient number is 77123."
        his = bob.call("memory_add", {"content": text})["result"]
        read = alice.call("memory_read", {"id": hers["id"]})
        assert "77123" not in str(read)
        assert (read["result"]["links"], read["result"]["version"]) == ([], 1)
        assert hers["id"] not in str(his)
        # Within one user it does, and that is what it is for.
        again = alice.call("memory_add", {"content": text})["result"]
        assert hers["id"] in str(again)

    @pytest.mark.parametrize("name", ["user_id", "agent_id", "session_id"])
    def test_each_of_the_three_ids_is_a_boundary_and_so_is_having_none(
        self, shared: AgenticMemorySystem, name: str
    ) -> None:
        ids: list[dict[str, Any]] = [{}, {name: "one"}, {name: "two"}, {name: 7}]
        for number, each in enumerate(ids):
            made = shared.add(f"Our server ran out of disk space on Monday, case {number}.", metadata=each)
            assert (made.links, made.evolved) == ((), ())
        for each in ids:
            assert shared.add("Our server ran out of disk space on Monday again.", metadata=each).links

    def test_what_follows_from_a_fact_follows_for_its_own_user_alone(self, shared: AgenticMemorySystem) -> None:
        shared.add("My manager is Pieter.", user_id="bo")
        leaving = shared.add("Pieter is leaving, Fatima takes over.", user_id="ana").id
        assert {fact.predicate for fact in shared.memories[leaving].facts} == {"succeeded_by"}
        taken = shared.add("Pieter is leaving, Fatima takes over.", user_id="bo").id
        assert "manager" in {fact.predicate for fact in shared.memories[taken].facts}

    def test_forget_that_takes_back_ones_own_words_alone(self, shared: AgenticMemorySystem) -> None:
        hers = shared.add("My locker code is 4711.", user_id="ana").id
        shared.add("Forget that.", user_id="bo")
        assert shared.memories[hers].status == "active"
        shared.add("Forget that.", user_id="ana")
        assert shared.memories[hers].status == "superseded"

    def test_notes_cannot_be_linked_put_in_place_or_handed_over_across_users(self, shared: AgenticMemorySystem) -> None:
        hers = shared.add("Tea at five.", user_id="ana").id
        his = shared.add("Coffee at six.", user_id="bo").id
        with pytest.raises(InvalidInput, match="different users"):
            shared.link(hers, his)
        with pytest.raises(InvalidInput, match="different users"):
            shared.supersede(hers, his)
        with pytest.raises(InvalidInput, match="of another user"):
            shared.add("Cake at seven.", user_id="ana", links=[his])
        with pytest.raises(InvalidInput, match="cannot become another user's"):
            shared.update(hers, metadata={"user_id": "bo"})
        assert shared.update(hers, metadata={"user_id": "ana", "mood": "calm"})
        assert shared.memories[hers].status == "active"
        assert shared.count() == 2

    def test_the_same_conversation_of_two_users_is_two(self, shared: AgenticMemorySystem) -> None:
        said = [{"role": "user", "content": "My dentist is Dr. Alvarez.", "id": "chat-1:1"}]
        hers = shared.remember(said, conversation="chat-1", user_id="ana")
        his = shared.remember(said, conversation="chat-1", user_id="bo")
        assert (hers.known, his.known) == (0, 0)
        assert shared.remember(said, conversation="chat-1", user_id="ana").known == 1
        learnt = shared.memories[his.learnt[0].id]
        assert (learnt.metadata["user_id"], learnt.conversation_id) == ("bo", "chat-1")
        assert his.learnt[0].status == "stored"
        assert [each.content for each in shared.expand(his.episodes[0])] == ["My dentist is Dr. Alvarez."]
        assert len(shared.scoped(user_id="ana").list(Filter(conversation="chat-1"))) == 2

    def test_a_source_of_the_same_id_is_not_taken_for_another_users(self, shared: AgenticMemorySystem) -> None:
        def line(text: str) -> Source:
            return Source("diary:1", "line", "diary", "1", None, None, text)

        hers = shared.add("My PIN is 4711.", source=line("My PIN is 4711."), user_id="ana")
        his = shared.add("I bought bread.", source=line("I bought bread."), user_id="bo")
        assert his.status == "stored"
        assert [each.text for each in shared.sources([his.id])[his.id]] == ["I bought bread."]
        assert shared.add("My PIN is 4711.", source=line("My PIN is 4711."), user_id="ana").id == hers.id

    def test_a_prefix_is_looked_up_among_ones_own_notes(self, shared: AgenticMemorySystem) -> None:
        shared.add("Tea at five.", user_id="ana", id="abc-ana")
        shared.add("Coffee at six.", user_id="bo", id="abc-bo")
        ana = shared.scoped(user_id="ana")
        assert ana.resolve("abc") == "abc-ana"
        for asked in ("abc-bo", "abc-b"):
            with pytest.raises(NoteNotFound):
                ana.resolve(asked)
        with pytest.raises(NoteNotFound):
            ana.restore("abc-bo")
        assert ana.read("abc-bo") is None

    def test_undo_takes_back_ones_own_last_step(self, shared: AgenticMemorySystem) -> None:
        hers = shared.add("Tea at five.", user_id="ana").id
        his = shared.add("Coffee at six.", user_id="bo").id
        both = shared.add_notes([{"content": "Cake.", "user_id": "ana"}, {"content": "Bread.", "user_id": "bo"}])
        ana = shared.scoped(user_id="ana")
        assert [each.created for each in ana.log()] == [(hers,)]
        with pytest.raises(OperationNotFound):
            ana.undo(both[0].operation)
        ana.undo()
        assert shared.read(hers) is None
        assert shared.read(his) is not None
        with pytest.raises(NothingToUndo):
            ana.undo()
        ana.redo()
        assert shared.read(hers) is not None

    def test_an_agent_takes_back_what_was_done_with_its_tools(self, shared: AgenticMemorySystem) -> None:
        tools = Toolbox(shared, user_id="ana", names=("add", "undo", "history"))
        done = tools.call("memory_add", {"content": "Tea at five."})["result"]["id"]
        by_hand = shared.add("Coffee at six.", user_id="ana").id
        asked_for = [each["action"] for each in tools.call("memory_history", {})["result"]]
        assert asked_for.count("add") == 2
        assert tools.call("memory_undo", {})["result"]["reverted"][0]["note"] == done
        assert not tools.call("memory_undo", {})["ok"]
        assert shared.read(by_hand) is not None

    def test_what_is_so_of_me_is_asked_of_my_own_notes(self, shared: AgenticMemorySystem) -> None:
        shared.add("I live in Porto.", user_id="ana", time="2026-01-01")
        shared.add("I live in Lisbon. #home", user_id="bo", time="2026-02-01")
        ana = shared.scoped(user_id="ana")
        assert [each.object for each in ana.facts("me")] == ["Porto"]
        assert "Lisbon" not in str(ana.answer("Where do I live?"))
        assert ana.tags().keys().isdisjoint({"home", "lisbon"})
        assert ana.count() == 1

    def test_an_export_of_ones_part_holds_no_other(self, shared: AgenticMemorySystem) -> None:
        shared.add("Tea at five.", user_id="ana")
        shared.add("Coffee at six.", user_id="bo")
        assert [each["content"] for each in exported(shared.scoped(user_id="ana"))] == ["Tea at five."]

    def test_an_id_that_is_no_text_or_number_is_refused(self, shared: AgenticMemorySystem) -> None:
        for id in (True, 1.5, ["ana"], "  "):
            with pytest.raises(InvalidInput, match="user_id"):
                shared.add("Tea at five.", metadata={"user_id": id})

    def test_an_import_of_old_links_between_users_leaves_them_out(
        self, shared: AgenticMemorySystem, tmp_path: Path
    ) -> None:
        lines = [
            {"id": "one", "content": "Tea at five.", "metadata": {"user_id": "ana"}, "links": ["two", "three"]},
            {"id": "two", "content": "Coffee at six.", "metadata": {"user_id": "bo"}},
            {"id": "three", "content": "Tea is green.", "metadata": {"user_id": "ana"}},
        ]
        path = tmp_path / "notes.jsonl"
        path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
        report = Importer(shared, cause="import").run(read_path(path, shared.settings))
        assert (report.imported, report.refused) == (3, 0)
        assert [link.target for link in shared.links("one")] == ["three"]
