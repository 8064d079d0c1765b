"""What an analyst may do to existing notes, and what waits for a person."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from amem import load_settings
from amem.analysis import Analysis, Evolution, ProposedLink, Rewrite
from amem.errors import ReviewNotFound, ServiceUnavailable, StaleNote
from amem.note import LinkType
from amem.testing import FrozenClock, ScriptedAnalyst

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from amem import AgenticMemorySystem
    from amem.analysis import Draft, Neighbour
    from amem.note import Receipt

    Open = Callable[..., AgenticMemorySystem]

NOTHING = Evolution()


def rewriting(
    context: str | None = None, *, tags: tuple[str, ...] | None = None, confidence: float = 0.95
) -> Evolution:
    return Evolution(rewrites=(Rewrite("n1", context, tags, "there is news", confidence),))


def one_rewritten(
    open_memory: Open, rewrite: Evolution, analysis: Analysis | None = None
) -> tuple[AgenticMemorySystem, str, Receipt]:
    """A note on a boiler, and the receipt of a second one whose arrival asks for `rewrite`."""
    told = analysis or Analysis(("boiler",), "The Vaillant boiler of 2019.", ("house",), entities=("Vaillant",))
    memory = open_memory(analyst=ScriptedAnalyst(told, [rewrite, NOTHING, NOTHING]))
    first = memory.add("The boiler in the cellar hums")
    return memory, first.id, memory.add("The boiler in the cellar hums, says the neighbour")


def test_a_sure_rewrite_that_loses_nothing_is_applied_at_once(open_memory: Open):
    memory, id, receipt = one_rewritten(open_memory, rewriting("The Vaillant boiler of 2019, silent again."))
    assert [change.id for change in receipt.evolved] == [id]
    assert memory.memories[id].context == "The Vaillant boiler of 2019, silent again."
    assert memory.reviews() == []


@pytest.mark.parametrize("handle", ["n9", "n0", "", "1", "the id", "N1"])
def test_a_handle_that_was_not_shown_is_dropped_and_the_rest_of_the_answer_stays(open_memory: Open, handle: str):
    answer = Evolution(
        links=(
            ProposedLink(handle, LinkType.SUPPORTS, "made up", 0.9),
            ProposedLink("n1", LinkType.RELATED, "real", 0.9),
        ),
        rewrites=(
            Rewrite(handle, "made up", None, "made up", 1.0),
            Rewrite("n1", "The Vaillant boiler of 2019, silent.", None, "real", 0.95),
        ),
    )
    _, id, receipt = one_rewritten(open_memory, answer)
    assert [link.target for link in receipt.links] == [id]
    assert [change.id for change in receipt.evolved] == [id]
    assert len(receipt.dropped) == 2
    assert all("no such neighbour" in words for words in receipt.dropped)


def test_at_most_three_neighbours_are_rewritten(open_memory: Open):
    everyone = Evolution(rewrites=tuple(Rewrite(f"n{n}", "a nest, seen", None, "news", 0.95) for n in range(1, 6)))
    memory = open_memory(analyst=ScriptedAnalyst(Analysis(context="a nest"), [NOTHING] * 4 + [everyone]))
    for number in "abcde":
        memory.add(f"the heron nest in tree {number} of the river wood")
    receipt = memory.add("the heron nest of the river wood was counted")
    assert len(receipt.evolved) == 3
    assert len({change.id for change in receipt.evolved}) == 3
    assert sum("at most 3" in words for words in receipt.dropped) == 2
    assert sum(note.context == "a nest, seen" for note in memory.memories.values()) == 3


def test_one_neighbour_is_rewritten_once(open_memory: Open):
    twice = Evolution(rewrites=(*rewriting("The Vaillant boiler of 2019, A.").rewrites, *rewriting("B.").rewrites))
    memory, id, receipt = one_rewritten(open_memory, twice)
    assert len(receipt.evolved) == 1
    assert memory.memories[id].context.endswith("A.")
    assert any("second rewrite" in words for words in receipt.dropped)


def test_a_rewrite_based_on_a_version_that_moved_is_dropped(open_memory: Open):
    """While the model thinks about the second note, someone changes the first."""
    memory: AgenticMemorySystem

    def evolve(*_: object) -> Evolution:
        (first,) = [note for note in memory.memories.values() if note.content.endswith("hums")]
        memory.acting_as("agent").update(first.id, context="The boiler of 2019, by another.")
        return rewriting("The boiler of 2019, by the model.")

    memory = open_memory(analyst=ScriptedAnalyst(Analysis(context="The boiler of 2019."), evolve, local=False))
    first = memory.add("The boiler in the cellar hums")
    receipt = memory.add("The boiler in the cellar stopped humming")
    assert receipt.evolved == ()
    assert any("changed since" in words for words in receipt.dropped)
    assert memory.memories[first.id].context == "The boiler of 2019, by another."


def test_what_a_person_edited_goes_to_review(open_memory: Open):
    memory = open_memory(
        analyst=ScriptedAnalyst(Analysis(context="A boiler."), [rewriting("Silent.", tags=("heating",)), NOTHING])
    )
    id = memory.add_note("The boiler in the cellar hums")
    memory.update(id, context="Grandfather's boiler")
    receipt = memory.add("The boiler in the cellar stopped humming")
    (waiting,) = receipt.queued
    assert waiting.id == id
    assert "person edited its context" in waiting.reason
    assert memory.memories[id].context == "Grandfather's boiler"
    (review,) = memory.reviews()
    assert review.changes["context"] == ("Grandfather's boiler", "Silent.")
    assert review.made_by == "scripted"


def test_what_an_agent_edited_or_gave_may_be_rewritten(open_memory: Open):
    memory = open_memory(analyst=ScriptedAnalyst(Analysis(), rewriting("Silent boiler."))).acting_as("agent:plumber")
    id = memory.add_note("The boiler in the cellar hums", context="A boiler.")
    memory.update(id, context="A loud boiler.")
    assert [change.id for change in memory.add("The boiler in the cellar stopped humming").evolved] == [id]


@pytest.mark.parametrize(
    ("context", "lost"),
    [("The boiler of 2019.", "Vaillant"), ("The Vaillant boiler.", "2019"), ("A boiler.", "Vaillant")],
)
def test_a_rewrite_that_would_lose_a_name_or_a_number_goes_to_review(open_memory: Open, context: str, lost: str):
    memory, id, receipt = one_rewritten(open_memory, rewriting(context))
    assert receipt.evolved == ()
    assert lost in receipt.queued[0].reason
    assert memory.memories[id].context == "The Vaillant boiler of 2019."


@pytest.mark.parametrize(("confidence", "waits"), [(0.9, False), (0.89, True), (0.0, True), (1.0, False)])
def test_a_rewrite_that_is_not_sure_goes_to_review(open_memory: Open, confidence: float, waits: bool):
    _, _, receipt = one_rewritten(open_memory, rewriting("The Vaillant boiler of 2019, off.", confidence=confidence))
    assert bool(receipt.queued) is waits
    assert bool(receipt.evolved) is not waits


@pytest.mark.parametrize(
    ("context", "waits"), [("deleted", True), ("n1 is gone.", True), ("The boiler is silent.", False)]
)
def test_a_context_with_no_word_of_the_note_goes_to_review_however_sure_the_model_is(
    open_memory: Open, context: str, waits: bool
):
    plain = Analysis(("boiler",), "", ("house",))
    memory, id, receipt = one_rewritten(open_memory, rewriting(context, confidence=1.0), plain)
    assert [item.reason for item in receipt.queued] == ["its new context has no word in common with it"] * waits
    assert (memory.memories[id].context == context) == (not waits)


@pytest.mark.parametrize("context", ["锅炉停了。", "已删除"])
def test_a_context_in_another_language_than_the_note_is_dropped(open_memory: Open, context: str):
    memory, id, receipt = one_rewritten(open_memory, rewriting(context, confidence=1.0))
    assert (receipt.evolved, receipt.queued) == ((), ())
    assert any("another language" in sentence for sentence in receipt.dropped)
    assert memory.memories[id].context == "The Vaillant boiler of 2019."


def test_digits_in_a_tag_do_not_keep_it_from_being_replaced(open_memory: Open):
    memory, id, receipt = one_rewritten(
        open_memory,
        Evolution(rewrites=(Rewrite("n1", None, ("heating",), "better", 0.95),)),
        Analysis(("boiler",), "The boiler.", ("house", "2019", "web2")),
    )
    assert receipt.queued == ()
    assert memory.memories[id].tags == ["heating"]


def test_accepting_a_review_applies_it_and_can_be_undone(open_memory: Open):
    memory, id, _ = one_rewritten(open_memory, rewriting("An old boiler.", tags=("heating", "house")))
    (review,) = memory.reviews()
    assert set(memory.accept(review.id)) == {"context", "tags"}
    assert (memory.memories[id].context, memory.memories[id].tags) == ("An old boiler.", ["heating", "house"])
    assert memory.reviews() == []
    assert memory.search("heating")[0].id == id
    with pytest.raises(ReviewNotFound):
        memory.accept(review.id)
    memory.undo()
    assert memory.memories[id].context == "The Vaillant boiler of 2019."
    assert [each.id for each in memory.reviews()] == [review.id]


def test_rejecting_a_review_changes_nothing_and_can_be_undone(open_memory: Open):
    memory, id, _ = one_rewritten(open_memory, rewriting("An old boiler."))
    (review,) = memory.reviews()
    memory.reject(review.id)
    assert memory.reviews() == []
    assert memory.memories[id].context == "The Vaillant boiler of 2019."
    memory.undo()
    assert [each.id for each in memory.reviews()] == [review.id]


def test_undoing_the_note_withdraws_what_it_had_proposed(open_memory: Open):
    memory, _, _ = one_rewritten(open_memory, rewriting("An old boiler."))
    memory.undo()
    assert memory.reviews() == []
    memory.redo()
    assert len(memory.reviews()) == 1


def test_a_review_of_a_field_that_changed_since_cannot_be_accepted(open_memory: Open):
    memory, id, _ = one_rewritten(open_memory, rewriting("An old boiler."))
    memory.update(id, context="My own words.")
    (review,) = memory.reviews()
    with pytest.raises(StaleNote) as raised:
        memory.accept(review.id)
    assert "reject" in raised.value.hint
    assert memory.memories[id].context == "My own words."
    memory.reject(review.id)


def test_a_review_survives_changes_of_other_fields(open_memory: Open):
    memory, id, _ = one_rewritten(open_memory, rewriting("An old boiler."))
    memory.update(id, category="House")
    (review,) = memory.reviews()
    assert memory.accept(review.id) == ("context",)
    assert memory.memories[id].category == "House"


def test_a_note_has_one_open_review_and_the_newer_replaces_the_older(open_memory: Open):
    def evolve(draft: Draft, analysis: Analysis, neighbours: Sequence[Neighbour]) -> Evolution:
        (boiler,) = [each for each in neighbours if each.content.endswith("hums")]
        return Evolution(rewrites=(Rewrite(boiler.handle, f"because: {draft.content}", None, "news", 0.5),))

    memory = open_memory(analyst=ScriptedAnalyst(Analysis(context="A boiler."), evolve))
    memory.add("The boiler in the cellar hums")
    memory.add("The boiler in the cellar was serviced")
    (older,) = memory.reviews()
    memory.add("The boiler in the cellar was replaced")
    (newer,) = memory.reviews()
    assert newer.id != older.id
    assert newer.changes["context"] == ("A boiler.", "because: The boiler in the cellar was replaced")
    with pytest.raises(ReviewNotFound, match="replaced"):
        memory.accept(older.id)
    assert memory.accept(newer.id) == ("context",)


def test_a_review_expires_after_thirty_days(open_memory: Open, clock: FrozenClock):
    memory, id, _ = one_rewritten(open_memory, rewriting("An old boiler."))
    (review,) = memory.reviews()
    clock.advance(days=29)
    assert len(memory.reviews()) == 1
    clock.advance(days=1, minutes=1)
    assert memory.reviews() == []
    with pytest.raises(ReviewNotFound, match="expired"):
        memory.accept(review.id)
    assert memory.memories[id].context == "The Vaillant boiler of 2019."


def test_the_guards_follow_the_settings(open_memory: Open, home: Path):
    settings = load_settings(home, max_rewrites=0, rewrite_confidence=0.1, neighbours=0)
    memory = open_memory(settings=settings, analyst=ScriptedAnalyst(evolutions=rewriting("x")))
    memory.add("The boiler in the cellar hums")
    receipt = memory.add("The boiler in the cellar hums, says the neighbour")
    assert (receipt.evolved, receipt.queued, receipt.links) == ((), (), ())


def test_an_evolution_that_fails_leaves_the_note_analysed_and_waiting(open_memory: Open):
    def evolve(*_: object) -> Evolution:
        raise ServiceUnavailable("the model went away in the middle")

    memory = open_memory(analyst=ScriptedAnalyst(Analysis(context="A boiler."), evolve))
    memory.add("The boiler in the cellar hums")
    receipt = memory.add("The boiler in the cellar stopped humming")
    assert receipt.enrichment == "degraded"
    assert memory.memories[receipt.id].context == "A boiler."
    assert "in the middle" in (receipt.error or "")


def test_tags_and_contexts_out_of_bounds_are_dropped_alone(open_memory: Open):
    answer = Evolution(
        links=(ProposedLink("n1", LinkType.RELATED, "real", 7.0),),
        rewrites=(Rewrite("n1", "x" * 1_001, ("ok", "y" * 201), "too long", 0.95),),
        tags=tuple(f"t{n}" for n in range(40)),
    )
    memory, id, receipt = one_rewritten(open_memory, answer)
    assert receipt.evolved == ()
    assert receipt.links[0].confidence == 1.0
    assert len(memory.memories[receipt.id].tags) == 16
    assert len(receipt.dropped) == 3
    assert memory.memories[id].version == 1
