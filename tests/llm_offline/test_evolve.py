"""Links from a new note, and what it changes in the notes that were there."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from amem.analysis import Draft, Evolution, Neighbour
from amem.note import Kind, LinkType

if TYPE_CHECKING:
    from amem.analysts.rules import OfflineAnalyst

SAID = datetime(2026, 9, 3, 9, 30, tzinfo=UTC)


def neighbour(
    analyst: OfflineAnalyst, vocabulary, content: str, similarity: float, handle: str = "n1", **fields
) -> Neighbour:
    at = fields.pop("at", SAID - timedelta(days=60))
    made = analyst.analyze(Draft(content, at=at, speaker=fields.get("speaker")), vocabulary)
    return Neighbour(
        handle,
        content,
        fields.pop("context", made.context),
        made.keywords,
        fields.pop("tags", made.tags),
        made.entities,
        made.kind,
        at,
        similarity,
        **fields,
    )


def evolve(analyst: OfflineAnalyst, vocabulary, content: str, *others: Neighbour, **fields) -> Evolution:
    draft = Draft(content, **{"at": SAID, **fields})
    return analyst.evolve(draft, analyst.analyze(draft, vocabulary), others, vocabulary)


CATALOGUE = "The buoy catalogue runs on PostgreSQL 15.3, because PostGIS handles the positions."
MOVE = "We decided to move the buoy catalogue from PostgreSQL 15.3 to MySQL 8.4."


def test_notes_on_the_same_thing_are_linked_with_the_reason(analyst: OfflineAnalyst, empty) -> None:
    made = evolve(analyst, empty, MOVE, neighbour(analyst, empty, CATALOGUE, 0.63))
    (link,) = made.links
    assert link.handle == "n1"
    assert link.type is LinkType.RELATED
    assert "PostgreSQL 15.3" in link.reason
    assert "buoy catalogue" in link.reason
    assert "0.63" in link.reason
    assert 0.7 < link.confidence <= 1


def test_chinese_notes_get_a_chinese_reason(analyst: OfflineAnalyst, empty) -> None:
    old = neighbour(analyst, empty, "模拟退火算法靠缓慢降温跳出局部最优。", 0.66)
    made = evolve(analyst, empty, "量子退火和模拟退火一样，都在找最低能量。", old)
    assert made.links[0].reason == "都提到模拟退火；相似度 0.66"


def test_nearness_without_anything_shared_needs_more(analyst: OfflineAnalyst, empty) -> None:
    far = neighbour(analyst, empty, "The harbour was foggy all morning.", 0.4)
    near = neighbour(analyst, empty, "The harbour was foggy all morning.", 0.7)
    assert not evolve(analyst, empty, "Mist lay over the quay until noon.", far).links
    assert evolve(analyst, empty, "Mist lay over the quay until noon.", near).links


def test_chinese_texts_are_not_linked_for_being_chinese(analyst: OfflineAnalyst, empty) -> None:
    other = neighbour(analyst, empty, "冰箱里还有两盒牛奶。", 0.75)
    assert not evolve(analyst, empty, "下午去图书馆还书。", other).links


def test_a_name_that_half_the_collection_shares_ties_nothing(analyst: OfflineAnalyst, vocabulary) -> None:
    crowded = vocabulary(["Livia said hello"] * 50 + ["nothing here"] * 50)
    other = neighbour(analyst, crowded, "Livia bought a lamp.", 0.45)
    assert not evolve(analyst, crowded, "Livia plays the cello.", other).links


def test_the_speaker_is_no_reason_for_a_link(analyst: OfflineAnalyst, empty) -> None:
    other = neighbour(analyst, empty, "Ana has a lamp.", 0.45, speaker="Ana")
    assert not evolve(analyst, empty, "Ana plays the cello.", other, speaker="Ana").links


def test_a_stated_cause_makes_a_caused_by_link(analyst: OfflineAnalyst, empty) -> None:
    knee = neighbour(analyst, empty, "Knee pain after 24 km; the physiotherapist says two weeks of rest.", 0.56)
    made = evolve(
        analyst, empty, "I withdraw from the marathon, because the knee hurts and the physiotherapist says no.", knee
    )
    assert made.links[0].type is LinkType.CAUSED_BY
    assert "as the cause" in made.links[0].reason


def test_a_restatement_supports_but_another_number_does_not(analyst: OfflineAnalyst, empty) -> None:
    old = neighbour(analyst, empty, "The gateway listens on port 8443.", 0.93)
    same = evolve(analyst, empty, "Port 8443 is where the gateway listens.", old)
    other = evolve(analyst, empty, "The gateway listens on port 9443.", old)
    assert same.links[0].type is LinkType.SUPPORTS
    assert all(link.type is LinkType.RELATED for link in other.links)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I painted the boat blue", "I painted the boat green"),
        ("Ana works in Porto", "Ana works in Lisbon"),
        ("Ana sold the red car", "Bea sold the red car"),
        ("The meeting with Ana is at two", "The meeting with Ana is at three"),
        ("The gym in Porto is open on Sundays", "The gym in Porto is not open on Sundays"),
        ("She sold the car in May", "He sold the car in May"),
        ("我把船漆成了蓝色", "我把船漆成了绿色"),
        ("小李在北京工作", "小李在上海工作"),
        ("船上有两个帆", "船上有三个帆"),
        ("我喜欢吃辣的火锅", "我不喜欢吃辣的火锅"),
    ],
)
def test_another_value_in_the_same_place_is_no_support(analyst: OfflineAnalyst, empty, old: str, new: str) -> None:
    for one, other in ((old, new), (new, old)):
        made = evolve(analyst, empty, other, neighbour(analyst, empty, one, 0.95))
        assert made.links
        assert {link.type for link in made.links} == {LinkType.RELATED}
        assert not any("same" in link.reason or "同一件事" in link.reason for link in made.links)


@pytest.mark.parametrize(
    ("old", "new", "shared"),
    [
        ("I painted the boat blue", "We painted the boat blue in the harbour", "boat"),
        ("Ana works in Lisbon", "Ana works in Lisbon, near the river", "Lisbon"),
        ("小李在上海工作", "小李现在在上海工作", "上海"),
        ("我把船漆成了蓝色", "周末我把船漆成了蓝色", "船"),
    ],
)
def test_the_same_with_more_detail_is_support_and_says_what_is_shared(
    analyst: OfflineAnalyst, empty, old: str, new: str, shared: str
) -> None:
    (link,) = evolve(analyst, empty, new, neighbour(analyst, empty, old, 0.95)).links
    assert link.type is LinkType.SUPPORTS
    assert shared in link.reason


def test_it_never_judges_conflicts(analyst: OfflineAnalyst, empty) -> None:
    old = neighbour(analyst, empty, "Ana eats fish.", 0.9)
    made = evolve(analyst, empty, "Ana does not eat fish anymore.", old)
    assert not {link.type for link in made.links} & {LinkType.SUPERSEDES, LinkType.CONTRADICTS}


def test_small_talk_is_left_alone(analyst: OfflineAnalyst, empty) -> None:
    talk = neighbour(analyst, empty, "Haha, thanks Livia!", 0.5)
    assert talk.kind is Kind.CHITCHAT
    made = evolve(analyst, empty, "Wow, thanks Livia!", talk)
    assert not made.links
    assert not made.rewrites


def test_at_most_four_links(analyst: OfflineAnalyst, empty) -> None:
    others = [neighbour(analyst, empty, f"{CATALOGUE} Part {n}.", 0.8, handle=f"n{n}") for n in range(1, 8)]
    assert len(evolve(analyst, empty, MOVE, *others).links) == 4


def test_an_old_note_learns_what_came_later(analyst: OfflineAnalyst, empty) -> None:
    old = neighbour(analyst, empty, CATALOGUE, 0.63)
    (rewrite,) = evolve(analyst, empty, MOVE, old).rewrites
    assert rewrite.handle == "n1"
    assert rewrite.context == (
        old.context.removesuffix(".")
        + "; later: move the buoy catalogue from PostgreSQL 15.3 to MySQL 8.4 (2026-09-03)."
    )
    assert rewrite.confidence >= 0.9
    assert "PostgreSQL 15.3" in rewrite.reason


def test_an_old_note_gains_the_broader_theme(analyst: OfflineAnalyst, empty) -> None:
    old = neighbour(
        analyst, empty, "读完模拟退火那一章：慢慢降温，就不容易卡在局部最优。", 0.68, tags=("模拟退火", "学习")
    )
    new = "量子退火和模拟退火都是优化算法：前者靠隧穿，后者靠降温。"
    (rewrite,) = evolve(analyst, empty, new, old).rewrites
    assert rewrite.tags is not None
    assert rewrite.tags[:2] == old.tags
    assert "优化算法" in rewrite.tags


def test_an_earlier_note_is_no_sequel(analyst: OfflineAnalyst, empty) -> None:
    old = neighbour(analyst, empty, CATALOGUE, 0.63, at=SAID + timedelta(days=3))
    assert all(rewrite.context is None for rewrite in evolve(analyst, empty, MOVE, old).rewrites)


def test_a_context_takes_two_sequels_and_no_more(analyst: OfflineAnalyst, empty) -> None:
    full = neighbour(analyst, empty, CATALOGUE, 0.63, context="A note; later: one; later: two.")
    long = neighbour(analyst, empty, CATALOGUE, 0.63, context="x" * 280)
    for old in (full, long):
        assert all(rewrite.context is None for rewrite in evolve(analyst, empty, MOVE, old).rewrites)


@pytest.mark.parametrize("count", [1, 3, 5])
def test_rewrites_only_add(analyst: OfflineAnalyst, empty, count: int) -> None:
    others = [neighbour(analyst, empty, f"{CATALOGUE} Part {n}.", 0.8, handle=f"n{n}") for n in range(count)]
    by_handle = {other.handle: other for other in others}
    rewrites = evolve(analyst, empty, MOVE, *others).rewrites
    assert len(rewrites) <= 2
    for rewrite in rewrites:
        old = by_handle[rewrite.handle]
        if rewrite.tags is not None:
            assert set(old.tags) < set(rewrite.tags)
            assert len(rewrite.tags) <= 8
        if rewrite.context is not None:
            assert rewrite.context.startswith(old.context.rstrip("."))
            assert len(rewrite.context) <= 300


def test_without_neighbours_there_is_nothing_to_say(analyst: OfflineAnalyst, empty) -> None:
    assert evolve(analyst, empty, MOVE) == Evolution()


def test_a_shared_version_links_across_languages(analyst: OfflineAnalyst, empty) -> None:
    old = neighbour(analyst, empty, MOVE, 0.18)
    made = evolve(analyst, empty, "从 PostgreSQL 迁到 MySQL 8.4 的步骤：先停写，再导出，最后切换网关。", old)
    assert "MySQL 8.4" in made.links[0].reason
