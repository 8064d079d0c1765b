"""Asked what is so, what was so in March and what one knew then, the collection answers from dated facts."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from amem import AsyncMemory
from amem.errors import InvalidInput
from amem.note import Fact
from amem.query import Filter, Query
from amem.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from amem import AgenticMemorySystem
    from amem.language.intervals import Interval
    from amem.testing import FrozenClock


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def wait_until(clock: FrozenClock, text: str) -> None:
    clock.advance(day(text) - clock.now())


def tell(memory: AgenticMemorySystem, text: str, *facts: Fact, **fields: Any) -> str:
    return memory.add(text, facts=list(facts), **fields).id


def said(found: list[Interval]) -> list[tuple[str, str, str, str]]:
    """Each interval as (predicate, object, since, until), days only."""
    return [
        (each.predicate, each.object, f"{each.since:%Y-%m-%d}", "" if each.until is None else f"{each.until:%Y-%m-%d}")
        for each in found
    ]


@pytest.fixture
def employed(memory: AgenticMemorySystem) -> AgenticMemorySystem:
    tell(memory, "I joined Google.", Fact("user", "works_at", "Google"), timestamp="2024-02-01")
    tell(memory, "My manager is Priya.", Fact("user", "manager", "Priya"), timestamp="2024-02-10")
    tell(memory, "I joined OpenAI.", Fact("user", "works_at", "OpenAI"), timestamp="2026-02-20")
    return memory


def test_one_employer_ends_where_the_next_begins(employed: AgenticMemorySystem) -> None:
    assert said(employed.facts("me", "works_at")) == [("works_at", "OpenAI", "2026-02-20", "")]
    assert said(employed.timeline("me", "works at")) == [
        ("works_at", "Google", "2024-02-01", "2026-02-20"),
        ("works_at", "OpenAI", "2026-02-20", ""),
    ]


@pytest.mark.parametrize("subject", ["me", "I", "我", "user", "The User", "用户"])
def test_i_me_and_the_user_are_one(employed: AgenticMemorySystem, subject: str) -> None:
    assert said(employed.facts(subject, "works_at")) == [("works_at", "OpenAI", "2026-02-20", "")]


def test_the_user_is_asked_about_by_name(open_memory: Callable[..., AgenticMemorySystem], home: Path) -> None:
    memory = open_memory(settings=Settings(home=home, user_name="Ana Silva"))
    tell(memory, "I live in Lisbon.", Fact("user", "lives_in", "Lisbon"), timestamp="2026-01-05")
    assert said(memory.facts("ana silva")) == [("lives_in", "Lisbon", "2026-01-05", "")]
    assert memory.subjects() == {"user": 1}


def test_we_and_the_project_are_one(memory: AgenticMemorySystem) -> None:
    tell(memory, "项目使用 PostgreSQL。", Fact("the project", "使用", "PostgreSQL"), timestamp="2026-01-05")
    tell(memory, "我们决定改用 MySQL。", Fact("我们", "改用", "MySQL"), timestamp="2026-02-05")
    assert said(memory.facts("项目")) == said(memory.facts("we")) == [("uses", "MySQL", "2026-02-05", "")]
    assert said(memory.timeline("the project"))[0] == ("uses", "PostgreSQL", "2026-01-05", "2026-02-05")


def test_a_subject_is_found_under_any_spelling_and_an_unknown_one_has_no_facts(memory: AgenticMemorySystem) -> None:
    tell(memory, "The Old Mill opened.", Fact("The Old Mill", "owner", "Ana"))
    assert [each.subject for each in memory.facts("old  MILL")] == ["Old Mill"]
    assert memory.facts("the new mill") == memory.timeline("na") == []


def test_what_was_so_in_march(employed: AgenticMemorySystem) -> None:
    assert said(employed.facts("me", "employer", as_of=day("2025-03-01"))) == [
        ("works_at", "Google", "2024-02-01", "2026-02-20")
    ]
    assert employed.facts("me", "works_at", as_of="2024-01-31") == []


def test_what_hung_on_the_old_employer_is_closed_and_said_to_be_a_guess(employed: AgenticMemorySystem) -> None:
    assert employed.facts("me", "manager") == []
    (boss,) = employed.timeline("me", "manager")
    assert (boss.object, boss.until, boss.certain) == ("Priya", day("2026-02-20"), False)
    assert boss.because == "works at Google until then"


def test_a_diary_imported_late_overturns_nothing(employed: AgenticMemorySystem) -> None:
    tell(employed, "Started at Siemens.", Fact("user", "works_at", "Siemens"), timestamp="2021-05-01")
    assert said(employed.facts("me", "works_at")) == [("works_at", "OpenAI", "2026-02-20", "")]
    assert [each.object for each in employed.timeline("me", "works_at")] == ["Siemens", "Google", "OpenAI"]


def test_a_timeline_is_in_order_of_time_whatever_the_predicate(employed: AgenticMemorySystem) -> None:
    assert [each.object for each in employed.timeline("我")] == ["Google", "Priya", "OpenAI"]


def test_answers_are_json_ready(employed: AgenticMemorySystem) -> None:
    google, boss, _ = employed.timeline("me")
    record = json.loads(json.dumps(google.to_dict()))
    assert record["since"] == "2024-02-01T00:00:00+00:00"
    assert record["until"] == "2026-02-20T00:00:00+00:00"
    assert (record["notes"], record["certain"]) == (list(google.notes), True)
    assert boss.to_dict()["certain"] is False


async def test_the_same_for_asyncio(employed: AgenticMemorySystem) -> None:
    memory = AsyncMemory(system=employed)
    assert [each.object for each in await memory.facts("me", "works_at")] == ["OpenAI"]
    assert len(await memory.timeline("me")) == 3
    assert await memory.subjects() == {"user": 3}


def test_a_broken_table_of_predicates_stops_the_question_and_not_the_collection(
    open_memory: Callable[..., AgenticMemorySystem], home: Path
) -> None:
    home.mkdir()
    (home / "predicates.toml").write_text("[works_at]\none = 'sometimes'\n", encoding="utf-8")
    memory = open_memory()
    with pytest.raises(InvalidInput, match=r"predicates\.toml: \[works_at\] one must be"):
        memory.facts("me")


def test_a_table_of_ones_own_says_what_holds_one_value(
    open_memory: Callable[..., AgenticMemorySystem], home: Path
) -> None:
    home.mkdir()
    (home / "predicates.toml").write_text("[drives]\none = true\naliases = ['开']\n", encoding="utf-8")
    memory = open_memory()
    tell(memory, "I drive a Golf.", Fact("user", "drives", "Golf"), timestamp="2025-01-01")
    tell(memory, "我开 Zoe。", Fact("user", "开", "Zoe"), timestamp="2026-01-01")
    assert [each.object for each in memory.facts("me")] == ["Zoe"]


# -- what was known then ---------------------------------------------------------------------------------------


def hide(memory: AgenticMemorySystem, old: str, new: str | None, ended: str, action: str = "supersede") -> int:
    """Supersede a note as conflict handling does; with no `new` it is a retraction."""
    changes = {"status": "superseded", "superseded_by": new, "valid_to": f"{ended}T00:00:00.000000Z"}
    with memory.parts.store.write() as session:
        operation = session.begin(action, "user", "in a test")
        session.notes.change(old, changes, operation)
    return operation


def test_facts_as_they_were_known(employed: AgenticMemorySystem, clock: FrozenClock) -> None:
    wait_until(clock, "2026-03-10T10:00")
    tell(employed, "I had moved to Anthropic.", Fact("user", "works_at", "Anthropic"), timestamp="2026-02-25")
    assert said(employed.facts("me", "works_at")) == [("works_at", "Anthropic", "2026-02-25", "")]
    assert [each.object for each in employed.facts("me", "works_at", known_at="2026-03-05")] == ["OpenAI"]
    assert [each.object for each in employed.facts("me", known_at="2026-03-05", as_of="2025-01-01")] == [
        "Priya",
        "Google",
    ]
    assert employed.facts("me", known_at="2026-02-28") == []
    assert [each.object for each in employed.timeline("me", "works_at", known_at="2026-03-05")] == ["Google", "OpenAI"]


def test_what_was_taken_back_edited_or_deleted_since_was_known_then(
    memory: AgenticMemorySystem, clock: FrozenClock
) -> None:
    jazz = tell(memory, "I like jazz.", Fact("user", "likes", "jazz"), timestamp="2026-02-01")
    tea = tell(memory, "I like tea.", Fact("user", "likes", "tea"), timestamp="2026-02-02")
    fish = tell(memory, "I like fish.", Fact("user", "likes", "fish"), timestamp="2026-02-03")
    wait_until(clock, "2026-03-02T10:00")
    hide(memory, jazz, None, "2026-03-02")
    memory.update(tea, facts=[Fact("user", "likes", "coffee")])
    memory.delete(fish)

    assert [each.object for each in memory.facts("me")] == ["coffee"]
    assert [each.object for each in memory.facts("me", known_at="2026-03-01T12:00")] == ["jazz", "tea", "fish"]
    assert [each.object for each in memory.facts("me", as_of="2026-02-20")] == ["jazz", "coffee"]


def test_what_was_undone_had_been_known_in_between(memory: AgenticMemorySystem, clock: FrozenClock) -> None:
    porto = tell(memory, "I live in Porto.", Fact("user", "lives_in", "Porto"), timestamp="2026-02-01")
    wait_until(clock, "2026-03-02T10:00")
    operation = hide(memory, porto, None, "2026-03-02")
    wait_until(clock, "2026-03-03T10:00")
    memory.undo(operation)

    assert [each.object for each in memory.facts("me")] == ["Porto"]
    assert memory.facts("me", known_at="2026-03-02T12:00") == []
    assert [each.object for each in memory.facts("me", known_at="2026-03-01T12:00")] == ["Porto"]
    ids = [[note.id for note in memory.list(Filter(known_at=day(at)))] for at in ("2026-03-02", "2026-03-03")]
    assert ids == [[porto], []]


def test_any_state_of_a_note_can_be_read_back(memory: AgenticMemorySystem, clock: FrozenClock) -> None:
    id = tell(memory, "I live in Porto.", tags=["home"], importance=0.7, timestamp="2026-02-01")
    states = [memory.read(id)]
    for number, changes in enumerate(
        [
            {"content": "I live in Lisbon.", "facts": [Fact("user", "lives_in", "Lisbon")]},
            {"tags": ["home", "city"], "kind": "decision", "valid_from": "2026-01-01"},
            {"importance": 0.2, "metadata": {"a": 1}},
        ]
    ):
        wait_until(clock, f"2026-03-0{number + 2}T10:00")
        memory.update(id, **changes)
        states.append(memory.read(id))
    wait_until(clock, "2026-03-09T10:00")
    memory.delete(id)

    assert memory.read(id, known_at="2026-02-28") is None
    for number, state in enumerate(states):
        read = memory.read(id, known_at=f"2026-03-0{number + 1}T12:00")
        assert read is not None
        assert state is not None
        assert {**asdict(read), "trust": 0} == {**asdict(state), "trust": 0}
    assert memory.read(id) is memory.read(id, known_at="2026-03-09T10:00") is None


def test_notes_of_then_have_the_status_and_the_text_of_then(memory: AgenticMemorySystem, clock: FrozenClock) -> None:
    porto = tell(memory, "My home is in Porto.", timestamp="2026-02-01")
    wait_until(clock, "2026-03-05T10:00")
    lisbon = tell(memory, "My home is in Lisbon.", timestamp="2026-02-20")
    hide(memory, porto, lisbon, "2026-02-20")
    memory.update(lisbon, content="My home is in Lisbon, by the river.")
    wait_until(clock, "2026-03-09T10:00")

    def found(**asked: Any) -> list[str]:
        filter = Filter(**{name: day(at) for name, at in asked.items()})
        hits = memory.search("home", filter=filter, touch=False)
        listed = {note.id for note in memory.list(filter)}
        assert {hit.id for hit in hits} == listed
        assert memory.count(filter) == len(listed)
        return sorted(hit.content for hit in hits)

    assert found() == ["My home is in Lisbon, by the river."]
    assert found(known_at="2026-03-02") == ["My home is in Porto."]
    assert found(known_at="2026-02-02") == []
    # As we know now, Lisbon was true from 20 February; on 2 March nobody knew.
    assert found(as_of="2026-02-25") == ["My home is in Lisbon, by the river."]
    assert found(as_of="2026-02-10") == ["My home is in Porto."]
    assert found(as_of="2026-02-25", known_at="2026-03-02") == ["My home is in Porto."]
    assert found(as_of="2026-01-10", known_at="2026-03-02") == []


def test_as_of_a_superseded_note_ends_when_its_successor_begins(memory: AgenticMemorySystem) -> None:
    porto = tell(memory, "My home is in Porto.", timestamp="2026-01-01")
    lisbon = tell(memory, "My home is in Lisbon since January.", timestamp="2026-02-20", valid_from="2026-01-15")
    with memory.parts.store.write() as session:
        operation = session.begin("supersede", "user")
        session.notes.change(porto, {"status": "superseded", "superseded_by": lisbon}, operation)
    assert [note.id for note in memory.list(Filter(as_of=day("2026-01-20")))] == [lisbon]
    assert [note.id for note in memory.list(Filter(as_of=day("2026-01-10")))] == [porto]


def test_as_of_shows_what_was_taken_back_since_and_not_what_was_deleted(memory: AgenticMemorySystem) -> None:
    jazz = tell(memory, "I like jazz.", timestamp="2026-02-01")
    memory.delete(tell(memory, "I like fish.", timestamp="2026-02-01"))
    hide(memory, jazz, None, "2026-02-20")
    assert [note.id for note in memory.list(Filter(as_of=day("2026-02-10")))] == [jazz]
    assert memory.list(Filter(as_of=day("2026-02-21"))) == []


def test_superseded_notes_answer_when_they_are_asked_for(memory: AgenticMemorySystem) -> None:
    porto = tell(memory, "My home is in Porto.", timestamp="2026-02-01")
    lisbon = tell(memory, "My home is in Lisbon.", timestamp="2026-02-20")
    hide(memory, porto, lisbon, "2026-02-20")
    for search in (memory.search, memory.search_agentic):
        assert [hit.id for hit in search("home")] == [lisbon]
        assert {hit.id for hit in search("home", include_superseded=True)} == {porto, lisbon}


def test_what_was_not_known_then_says_why_it_stays_out(memory: AgenticMemorySystem) -> None:
    porto = tell(memory, "My home is in Porto.", timestamp="2026-02-01")
    asked = Query("home", filter=Filter(known_at=day("2026-02-10")))
    kept_out = memory.explain(asked, porto).kept_out
    assert kept_out is not None
    assert kept_out.detail == "it was not known yet on 2026-02-10"
