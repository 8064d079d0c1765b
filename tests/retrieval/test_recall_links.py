"""Link expansion: neighbours compete with direct hits on one scale."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from amem.note import LinkType, Status
from amem.query import Filter

if TYPE_CHECKING:
    from asking import Collection


@pytest.fixture
def tied(collection: Collection) -> tuple[Collection, str, str]:
    """One note that answers, one that shares no word with the question (and is not embedded), and some noise."""
    hit = collection.add("The invoices database moved to PostgreSQL.")
    other = collection.add("Backups run every night at two.", embed=False)
    for n in range(8):
        collection.add(f"The garden needs water, day {n}, and the invoices wait.")
    return collection, hit, other


def test_without_expansion_links_bring_nothing_in(tied: tuple[Collection, str, str]) -> None:
    memory, hit, other = tied
    memory.link(hit, other)
    assert other not in memory.found("PostgreSQL database", k=20)


@pytest.mark.parametrize("backwards", [False, True])
def test_a_neighbour_in_either_direction_makes_it_into_a_short_list(
    tied: tuple[Collection, str, str], backwards: bool
) -> None:
    memory, hit, other = tied
    memory.link(*((other, hit) if backwards else (hit, other)), LinkType.SUPPORTS, "backups of the database")
    hits = memory.ask("PostgreSQL database", k=3, expand=True)
    assert [each.id for each in hits[:2]] == [hit, other]
    neighbour = hits[1]
    assert neighbour.is_neighbor
    assert neighbour.matched_by == ("link",)
    assert [step.to_dict() for step in neighbour.via] == [
        {"from": hit, "type": "supports", "hop": 1, "reason": "backups of the database"}
    ]
    assert not hits[0].is_neighbor


def test_scores_stay_in_order_and_no_note_comes_twice(tied: tuple[Collection, str, str]) -> None:
    memory, hit, other = tied
    memory.link(hit, other)
    memory.link(other, hit, LinkType.SUPPORTS)
    hits = memory.ask("PostgreSQL database", k=20, expand=True)
    assert len({each.id for each in hits}) == len(hits)
    assert [each.score for each in hits] == sorted((each.score for each in hits), reverse=True)


def test_a_tighter_and_a_surer_link_carries_more(tied: tuple[Collection, str, str]) -> None:
    memory, hit, other = tied
    loose = memory.add("Loose.", embed=False)
    unsure = memory.add("Unsure.", embed=False)
    memory.link(hit, other, LinkType.SUPPORTS, confidence=0.9)
    memory.link(hit, loose, LinkType.RELATED, confidence=0.9)
    memory.link(hit, unsure, LinkType.RELATED, confidence=0.3)
    order = [id for id in memory.found("PostgreSQL database", k=30, expand=True) if id in (other, loose, unsure)]
    assert order == [other, loose, unsure]


def test_two_links_away_is_found_and_is_worth_less(tied: tuple[Collection, str, str]) -> None:
    memory, hit, other = tied
    further = memory.add("The tapes lie in the safe.", embed=False)
    memory.link(hit, other, LinkType.SUPPORTS)
    memory.link(other, further, LinkType.CAUSED_BY)
    hits = {each.id: each for each in memory.ask("PostgreSQL database", k=30, expand=True)}
    assert hits[further].score < hits[other].score
    assert [(step.from_id, step.hop) for step in hits[further].via] == [(other, 2), (hit, 1)]


def test_many_links_do_not_add_up(tied: tuple[Collection, str, str]) -> None:
    memory, hit, other = tied
    memory.link(hit, other, LinkType.SUPPORTS)
    before = {each.id: each.score for each in memory.ask("PostgreSQL database", k=30, expand=True)}
    for type in (LinkType.RELATED, LinkType.PART_OF, LinkType.CAUSED_BY):
        memory.link(hit, other, type)
    after = {each.id: each.score for each in memory.ask("PostgreSQL database", k=30, expand=True)}
    assert after[other] == pytest.approx(before[other])


def test_one_link_of_many_carries_less_than_the_only_one(collection: Collection) -> None:
    hub, single = collection.add("PostgreSQL database"), collection.add("PostgreSQL database")
    parts = [collection.add(f"Part {number}.", embed=False) for number in range(9)]
    only = collection.add("The only one.", embed=False)
    for part in parts:
        collection.link(part, hub, LinkType.PART_OF)
    collection.link(single, only, LinkType.PART_OF)
    scores = {hit.id: hit.score for hit in collection.ask("PostgreSQL database", k=30, expand=True)}
    assert scores[only] == pytest.approx(3 * scores[parts[0]])


@pytest.mark.parametrize("links", [40, 120])
def test_a_page_of_links_does_not_take_the_place_of_what_was_found(collection: Collection, links: int) -> None:
    memory = collection
    hub = memory.add("Talk about the PostgreSQL database of the print shop.")
    for number in range(links):
        memory.link(memory.add(f"Remark {number}.", embed=False), hub, LinkType.DERIVED_FROM)
    direct = {memory.add(f"The database {number} is used by the print shop.") for number in range(4)}
    assert direct < set(memory.found("PostgreSQL database of the print shop", k=5, expand=True))


@pytest.mark.parametrize("status", [Status.SUPERSEDED, Status.ARCHIVED, Status.DELETED])
def test_a_link_brings_back_nothing_that_is_out(tied: tuple[Collection, str, str], status: Status) -> None:
    memory, hit, other = tied
    beyond = memory.add("Beyond.", embed=False)
    memory.link(hit, other, LinkType.SUPPORTS)
    memory.link(other, beyond, LinkType.SUPPORTS)
    memory.change(other, status=str(status))
    found = memory.found("PostgreSQL database", k=30, expand=True)
    assert other not in found
    assert beyond not in found


def test_a_link_to_a_note_that_does_not_exist_is_passed_over(tied: tuple[Collection, str, str]) -> None:
    memory, hit, _ = tied
    memory.link(hit, "not-written-yet")
    assert memory.found("PostgreSQL database", k=1, expand=True) == [hit]


def test_neighbours_pass_the_filter_too(tied: tuple[Collection, str, str]) -> None:
    memory, hit, other = tied
    memory.link(hit, other, LinkType.SUPPORTS)
    memory.change(hit, tags=["db"])
    assert memory.found("PostgreSQL database", k=9, expand=True, filter=Filter(tags=("db",))) == [hit]
    memory.change(other, tags=["db"])
    assert memory.found("PostgreSQL database", k=9, expand=True, filter=Filter(tags=("db",))) == [hit, other]


def test_a_neighbour_is_as_near_as_asked(tied: tuple[Collection, str, str]) -> None:
    memory, hit, _ = tied
    far = memory.add("Lunch is at noon in the canteen.")
    memory.link(hit, far, LinkType.SUPPORTS)
    near = Filter(minimum_cosine=0.4)
    assert far not in memory.found("PostgreSQL database moved", k=9, expand=True, filter=near)


def test_deleted_notes_come_over_a_link_when_asked_for(tied: tuple[Collection, str, str]) -> None:
    memory, hit, other = tied
    memory.link(hit, other, LinkType.SUPPORTS)
    memory.change(other, status=str(Status.DELETED))
    everything = Filter(statuses=tuple(Status))
    assert memory.found("PostgreSQL database", k=2, expand=True, filter=everything) == [hit, other]


def test_a_short_list_is_the_head_of_the_long_one(tied: tuple[Collection, str, str]) -> None:
    memory, hit, other = tied
    ids = [hit, other, *(memory.add(f"Beyond {n}.", embed=n % 2 == 0) for n in range(12))]
    for n, (source, target) in enumerate(zip(ids, ids[2:] + ids[:2], strict=True)):
        memory.link(source, target, list(LinkType)[n % 7], confidence=0.5 + n / 28)
    everything = memory.found("PostgreSQL database", k=50, expand=True)
    for k in (1, 3, 7):
        assert memory.found("PostgreSQL database", k=k, expand=True) == everything[:k]
