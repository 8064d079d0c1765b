"""A change that is told after it came about, against what was said of no time before it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from amem import AgenticMemorySystem, Filter
from amem.note import Label, Status
from amem.testing import HashEmbedder

if TYPE_CHECKING:
    from amem.testing import FrozenClock

TOLD = (
    ("I live in Ghent.", "I moved to Brugge last week.", "lives_in", ["Brugge"]),
    ("I work at Shell.", "I quit Shell yesterday.", "works_at", []),
    ("我住在杭州。", "我上周搬到了苏州。", "lives_in", ["苏州"]),
    ("我在华为工作。", "我上周从华为离职了，加入了小米。", "works_at", ["小米"]),
    ("我在华为工作。", "我昨天从华为离职了。", "works_at", []),
)


@pytest.fixture
def memory(clock: FrozenClock):
    with AgenticMemorySystem(embedder=HashEmbedder(256), clock=clock) as memory:
        yield memory


def now(memory: AgenticMemorySystem, predicate: str) -> list[str]:
    return [each.object for each in memory.facts("me", predicate)]


@pytest.mark.parametrize(("bare", "news", "predicate", "so"), TOLD)
@pytest.mark.parametrize("way", ["add", "add, the news first", "remember"])
def test_the_news_of_last_week_ends_what_was_said_before_it_was_told(memory, way, bare, news, predicate, so):
    if way == "add":
        told = [memory.add(bare), memory.add(news)]
    elif way == "remember":
        for text in (bare, news):
            memory.remember([{"role": "user", "content": text}])
        told = []
    else:
        late = memory.add(news, time="2026-03-01T09:00")
        told = [memory.add(bare, time="2026-03-01T08:00"), late]
    assert now(memory, predicate) == so
    if told:
        old, new = (memory.read(each.id) for each in told)
        assert (old.status, old.superseded_by, new.status) == (Status.SUPERSEDED, new.id, Status.ACTIVE)
        assert old.valid_to == new.valid_from
        assert [each.until for each in memory.timeline("me") if each.until] == [new.valid_from]


@pytest.mark.parametrize(
    ("bare", "news", "predicate", "said"),
    [
        ("I live in Ghent.", "I moved to Brugge last week.", "lives_in", "Ghent"),
        ("我住在杭州。", "我上周搬到了苏州。", "lives_in", "杭州"),
    ],
)
def test_what_is_said_after_the_news_holds(memory, bare, news, predicate, said):
    memory.add(news, time="2026-03-01T08:00")
    memory.add(bare, time="2026-03-01T09:00")
    assert now(memory, predicate) == [said]


@pytest.mark.parametrize(
    ("bare", "told", "predicate", "said", "if_told_holds", "reason"),
    [
        ("I live in Lisbon.", "I moved to Porto in August.", "lives_in", ["Lisbon"], ["Porto"], "nobody said which"),
        ("I work at Shell.", "I left Shell in August.", "works_at", ["Shell"], [], "this had ended long before"),
        ("我住在杭州。", "我去年八月搬到了苏州。", "lives_in", ["杭州"], ["苏州"], "没有人说现在是哪一个"),
        ("我在华为工作。", "我去年八月从华为离职了。", "works_at", ["华为"], [], "这早已结束"),
    ],
)
@pytest.mark.parametrize("way", ["add", "add, the change first"])
def test_a_change_told_half_a_year_late_is_in_doubt_and_hides_nothing_nor_is_hidden(
    memory, way, bare, told, predicate, said, if_told_holds, reason
):
    if way == "add":
        old, new = memory.add(bare).id, memory.add(told).id
    else:
        new = memory.add(told, time="2026-03-01T09:00").id
        old = memory.add(bare, time="2026-03-01T08:00").id
    assert {memory.read(each).status for each in (old, new)} == {Status.ACTIVE}
    (found,) = memory.conflicts_open()
    assert {found.earlier, found.later} == {old, new}
    assert found.verdict.label is Label.CONTRADICTS
    assert reason in found.verdict.reason
    assert now(memory, predicate) == said
    memory.supersede(old, new)
    assert now(memory, predicate) == if_told_holds
    assert memory.conflicts_open() == []


@pytest.mark.parametrize("told", ["I moved to Porto last week.", "I live in Porto now, no longer in Lisbon."])
def test_whoever_says_it_again_as_of_now_ends_the_doubt(memory, told):
    memory.add("I live in Lisbon.")
    memory.add("I moved to Porto in August.")
    memory.add(told)
    assert now(memory, "lives_in") == ["Porto"]


def test_what_is_told_years_after_is_history(memory):
    porto = memory.add("I live in Porto.", time="2024-05-01")
    memory.add("I moved to Berlin in 2022.", time="2026-02-01")
    assert now(memory, "lives_in") == ["Porto"]
    assert memory.read(porto.id).status is Status.ACTIVE


def test_what_gave_way_before_it_was_said_is_found_in_the_time_before(memory):
    old, new = memory.add("I live in Ghent."), memory.add("I moved to Brugge last week.")
    for moment, id in (("2026-02-10", old.id), ("2026-02-20", new.id), ("2026-03-02", new.id)):
        assert [
            hit.id
            for hit in memory.search(
                "where I live", filter=Filter(as_of=datetime.fromisoformat(moment).replace(tzinfo=UTC))
            )
        ] == [id]


def test_a_manager_told_without_a_time_goes_with_the_employer_left_yesterday(memory):
    for text in ("I work at Google.", "My manager is Priya.", "I left Google yesterday."):
        memory.add(text)
    assert memory.facts("me") == []


def test_two_values_that_stand_by_a_persons_word_are_open_until_one_takes_the_others_place(memory):
    told = [memory.add(text).id for text in ("I live in Lyon.", "I moved to Vienna.", "I moved back to Lyon.")]
    _, vienna, lyon = told
    memory.unsupersede(vienna)
    (found,) = memory.conflicts_open()
    assert {found.earlier, found.later} == {vienna, lyon}
    memory.supersede(lyon, vienna)
    assert now(memory, "lives_in") == ["Vienna"]
    assert memory.conflicts_open() == []


def test_a_person_turns_round_what_took_whose_place(memory):
    vienna, lyon = memory.add("I live in Vienna.").id, memory.add("I moved to Lyon.").id
    memory.supersede(lyon, vienna)
    assert (memory.read(vienna).status, memory.read(lyon).superseded_by) == (Status.ACTIVE, vienna)
    assert now(memory, "lives_in") == ["Vienna"]
    memory.undo()
    assert now(memory, "lives_in") == ["Lyon"]
