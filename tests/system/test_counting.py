"""Counting notes: each value says how many notes one would see with it chosen besides all else that is."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest
from crowd import ENDS, make_crowd

from amem.memory_system import AgenticMemorySystem
from amem.note import Kind, Layer, LinkType, Status
from amem.query import Filter
from amem.settings import Settings
from amem.testing import FrozenClock, HashEmbedder, ScriptedAnalyst

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SHANGHAI = ZoneInfo("Asia/Shanghai")


def opened(home: Path) -> AgenticMemorySystem:
    return AgenticMemorySystem(
        settings=Settings(home=home, dense_base="exact", timezone="Asia/Shanghai", llm_backend="offline"),
        clock=FrozenClock(ENDS),
        embedder=HashEmbedder(64),
        analyst=ScriptedAnalyst(),
    )


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[AgenticMemorySystem]:
    """Two notes about tea and two about cats, one of each in Chinese; the cats in another month."""
    with opened(tmp_path) as memory:
        memory.add_note("Green tea is best at 80 degrees", "2026-01-05", kind="fact", tags=["tea"])
        memory.add_note("绿茶要用八十度的水", "2026-01-06", kind="preference", tags=["tea", "中文"])
        memory.add_note("The cat sleeps by the kettle", "2026-02-07", kind="fact", tags=["cat"])
        memory.add_note("猫喜欢绿茶的香味", "2026-02-07", kind="episode", tags=["cat", "中文"])
        yield memory


def test_without_conditions_active_notes_are_counted_and_of_statuses_all(memory: AgenticMemorySystem) -> None:
    gone = memory.add_note("Away", kind="code", tags=["tea"])
    memory.delete(gone)
    census = memory.census()
    assert census.notes == 4
    assert census.kinds == {Kind.FACT: 2, Kind.PREFERENCE: 1, Kind.EPISODE: 1}
    assert census.layers == {Layer.SHORT_TERM: 4}
    assert census.statuses == {Status.ACTIVE: 4, Status.DELETED: 1}
    assert census.tags == {"tea": 2, "cat": 2, "中文": 2}
    assert census.days == {date(2026, 1, 5): 1, date(2026, 1, 6): 1, date(2026, 2, 7): 2}


def test_a_kind_narrows_all_else_but_the_other_kinds(memory: AgenticMemorySystem) -> None:
    census = memory.census(Filter(kinds=(Kind.FACT,)))
    assert census.notes == 2
    assert census.kinds == {Kind.FACT: 2, Kind.PREFERENCE: 1, Kind.EPISODE: 1}
    assert census.tags == {"tea": 1, "cat": 1}
    assert census.days == {date(2026, 1, 5): 1, date(2026, 2, 7): 1}
    assert census.statuses == {Status.ACTIVE: 2}
    both = memory.census(Filter(kinds=(Kind.FACT, Kind.EPISODE)))
    assert (both.notes, both.kinds, both.tags["cat"]) == (3, census.kinds, 2)


def test_tags_narrow_each_other_in_whatever_language(memory: AgenticMemorySystem) -> None:
    assert memory.census(Filter(tags=("中文",))).tags == {"中文": 2, "cat": 1, "tea": 1}
    census = memory.census(Filter(tags=("中文", "Tea")))
    assert (census.notes, census.tags) == (1, {"tea": 1, "中文": 1})
    assert census.kinds == {Kind.PREFERENCE: 1}


def test_a_month_leaves_the_other_months_as_they_are(memory: AgenticMemorySystem) -> None:
    january = Filter(since=datetime(2026, 1, 1), until=datetime(2026, 2, 1))
    census = memory.census(january)
    assert (census.notes, census.tags) == (2, {"tea": 2, "中文": 1})
    assert census.days == memory.census().days
    assert memory.census(replace(january, tags=("cat",))).days == {date(2026, 2, 7): 2}
    assert memory.census(replace(january, tags=("cat",))).tags == {}


def test_a_topic_leaves_the_other_topics_as_they_are(memory: AgenticMemorySystem) -> None:
    tea, cat = (memory.declare_topic(name).topic for name in ("tea", "猫"))
    for note in memory.list(Filter(tags=("cat",))):
        memory.link(note.id, cat.id, LinkType.PART_OF)
    census = memory.census(Filter(part_of=cat.id))
    assert (census.notes, census.tags) == (2, {"cat": 2, "中文": 1})
    assert census.topics == {tea.id: 2, cat.id: 2} == memory.census().topics
    assert memory.census(Filter(kinds=(Kind.EPISODE,))).topics == {cat.id: 1}
    assert [(topic.name, topic.notes) for topic in memory.topics()] == [("tea", 2), ("猫", 2)]


def test_what_is_typed_narrows_everything(memory: AgenticMemorySystem) -> None:
    census = memory.census(starting="gre te")
    assert (census.notes, census.kinds, census.tags) == (1, {Kind.FACT: 1}, {"tea": 1})
    census = memory.census(Filter(kinds=(Kind.FACT,)), starting="绿茶")
    assert (census.notes, census.kinds, census.tags) == (0, {Kind.PREFERENCE: 1, Kind.EPISODE: 1}, {})
    nothing = memory.census(starting="!?")
    assert (nothing.notes, nothing.kinds, nothing.statuses) == (0, {}, {})


def test_deleted_notes_are_looked_through_for_what_is_typed_where_they_are_asked_for(
    memory: AgenticMemorySystem,
) -> None:
    for note in memory.list(Filter(tags=("中文",))):
        memory.delete(note.id)
    assert memory.census().statuses == {Status.ACTIVE: 2, Status.DELETED: 2}
    assert memory.census(starting="绿茶").statuses == {}
    gone = memory.census(Filter(statuses=(Status.DELETED,)), starting="绿茶")
    assert (gone.notes, gone.statuses) == (2, {Status.DELETED: 2})


def test_it_is_counted_anew_when_something_is_written_or_linked(memory: AgenticMemorySystem, tmp_path: Path) -> None:
    topic = memory.declare_topic("kettles").topic
    assert memory.census().topics == {}
    with opened(tmp_path) as other:
        cat = other.list(Filter(tags=("cat",)))[0]
        other.link(cat.id, topic.id, LinkType.PART_OF)
        assert memory.census().topics == {topic.id: 1}
        other.update(cat.id, tags=["猫"])
        assert memory.census().tags["猫"] == 1
        other.delete(cat.id)
        other.purge(cat.id)
        assert memory.census().topics == {}
        assert "猫" not in memory.census().tags


def test_an_empty_collection_has_nothing_to_count(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        census = memory.census(Filter(kinds=(Kind.FACT,)), starting="tea")
    assert (census.notes, census.kinds, census.tags, census.topics, census.days) == (0, {}, {}, {}, {})


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgenticMemorySystem]:
    home = tmp_path_factory.mktemp("crowd")
    make_crowd(home, 250)
    with opened(home) as memory:
        for name in ("work", "工作", "garden"):
            memory.declare_topic(name)
        yield memory


JULY = {"since": datetime(2024, 7, 1), "until": datetime(2025, 7, 1)}


@pytest.mark.parametrize("starting", ["", "gre", "茶"])
@pytest.mark.parametrize(
    "filter",
    [
        Filter(),
        Filter(kinds=(Kind.FACT, Kind.CODE)),
        Filter(tags=("工作",), layers=(Layer.LONG_TERM,)),
        Filter(kinds=(Kind.DECISION,), tags=("work",), **JULY),
        Filter(statuses=(Status.ARCHIVED, Status.SUPERSEDED), **JULY),
        Filter(statuses=(Status.DELETED,), layers=(Layer.SHORT_TERM,)),
        Filter(kinds=(Kind.PREFERENCE,), as_of=datetime(2025, 3, 1, tzinfo=UTC)),
        Filter(kinds=(Kind.FACT,), known_at=datetime(2025, 3, 1, tzinfo=UTC)),
    ],
    ids=["all", "kinds", "tag", "month", "gone", "deleted", "as of", "known"],
)
@pytest.mark.parametrize("within", [False, True], ids=["anywhere", "in a topic"])
def test_each_count_is_as_long_as_the_list_that_one_would_see(
    crowd: AgenticMemorySystem, filter: Filter, starting: str, within: bool
) -> None:
    topics = [topic.id for topic in crowd.topics()]
    filter = replace(filter, part_of=topics[0] if within else None)

    def seen(**chosen: object) -> int:
        return len(crowd.shelf(replace(filter, **chosen), starting=starting))

    census = crowd.census(filter, starting=starting)
    assert census.notes == seen()
    for kind in Kind:
        assert census.kinds.get(kind, 0) == seen(kinds=(kind,))
    for layer in Layer:
        assert census.layers.get(layer, 0) == seen(layers=(layer,))
    for topic in topics:
        assert census.topics.get(topic, 0) == seen(part_of=topic)
    for tag in [*crowd.tags()][::5]:
        assert census.tags.get(tag, 0) == seen(tags=(*filter.tags, tag))
    assert list(census.tags.values()) == sorted(census.tags.values(), reverse=True)
    for day in [*census.days][::20]:
        midnight = datetime(day.year, day.month, day.day, tzinfo=SHANGHAI)
        assert census.days[day] == seen(since=midnight, until=midnight + timedelta(days=1))
    if filter.as_of is None and filter.known_at is None:  # else a note may pass by a status that it had then
        for status in Status:
            if status is not Status.DELETED or not starting or Status.DELETED in filter.statuses:
                assert census.statuses.get(status, 0) == seen(statuses=(status,))
