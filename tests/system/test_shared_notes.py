"""What several agents noted alike is proposed for their catalog: a review, whose acceptance publishes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from amem.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from amem import AgenticMemorySystem

    Open = Callable[..., AgenticMemorySystem]

SHARED = "The staging server is called heron."


@pytest.fixture
def crew(open_memory: Open) -> tuple[AgenticMemorySystem, AgenticMemorySystem]:
    """A researcher who may publish and a writer who may not, with one note in common."""
    open_memory(collection="team").close()
    researcher = open_memory(collection="researcher", catalogs=["team"], publish=["team"], actor="agent:researcher")
    writer = open_memory(collection="writer", catalogs=["team"], actor="agent:writer")
    researcher.add_notes([SHARED, "The deploy key ends in 4711.", "Ana has two cats."])
    writer.add_notes([SHARED, "The deploy key ends in 4712.", "Ben has a dog."])
    return researcher, writer


def test_what_two_agents_noted_alike_is_proposed_once(
    crew: tuple[AgenticMemorySystem, AgenticMemorySystem],
) -> None:
    researcher, writer = crew

    (number,) = researcher.propose_shared(writer)

    (review,) = researcher.reviews()
    note = researcher.note(review.note)
    assert (review.id, note.content, review.changes) == (number, SHARED, {"publish": (None, "team")})
    assert "writer" in review.reason
    assert researcher.catalogs["team"].count() == 0
    assert researcher.propose_shared(writer) == writer.propose_shared(researcher) == []


def test_accepting_publishes_and_rejecting_settles_it(
    crew: tuple[AgenticMemorySystem, AgenticMemorySystem],
) -> None:
    researcher, writer = crew
    (number,) = researcher.propose_shared(writer)

    assert researcher.accept(number) == ("publish",)

    assert [note.content for note in writer.catalogs["team"].list()] == [SHARED]
    assert researcher.reviews() == []
    assert researcher.log()[0].action == "accept"


def test_what_was_turned_down_is_not_proposed_again(
    crew: tuple[AgenticMemorySystem, AgenticMemorySystem],
) -> None:
    researcher, writer = crew
    (number,) = researcher.propose_shared(writer)
    researcher.reject(number)

    assert researcher.propose_shared(writer) == []
    assert researcher.catalogs["team"].count() == 0


def test_what_the_catalog_holds_is_not_proposed(
    crew: tuple[AgenticMemorySystem, AgenticMemorySystem], open_memory: Open
) -> None:
    researcher, writer = crew
    with open_memory(collection="team") as team:
        team.add(SHARED)

    assert researcher.propose_shared(writer) == []


def test_a_proposal_is_accepted_by_right_only(
    crew: tuple[AgenticMemorySystem, AgenticMemorySystem], open_memory: Open
) -> None:
    researcher, writer = crew
    (number,) = researcher.propose_shared(writer)
    person = open_memory(collection="researcher")

    with pytest.raises(InvalidInput, match="no right"):
        person.accept(number)
    assert len(researcher.reviews()) == 1
