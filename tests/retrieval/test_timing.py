"""Notes of the time that a question names come first, however the time is named, and however many others there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.note import Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from asking import Collection

#: The collections are asked on 2026-02-01, a Sunday.


def first(memory: Collection, question: str) -> str:
    return memory.ask(question, k=1, touch=False)[0].content


def test_the_notes_of_a_week_are_found_among_many_that_match_better(open_collection: Callable[..., Collection]) -> None:
    memory = open_collection(candidates=5, timezone="UTC")
    for n in range(40):
        memory.add(f"Went hiking, the hiking tour number {n}.", at=f"2025-{1 + n % 9:02}-11")
    memory.add("A long walk up the hill for hiking.", at="2026-01-21")
    assert first(memory, "What hiking did I do last week?") == "A long walk up the hill for hiking."


def test_a_note_also_speaks_of_the_time_that_it_names(open_collection: Callable[..., Collection]) -> None:
    memory = open_collection(timezone="UTC")
    memory.add("Painted the fence.", at="2025-11-02")
    told = memory.add("Painted the fence on 7 May 2023.", at="2026-01-15")
    assert memory.found("When in May 2023 was the fence painted?", k=1) == [told]


def test_what_was_told_soon_after_is_nearer_than_what_was_told_long_after(
    open_collection: Callable[..., Collection],
) -> None:
    memory = open_collection(timezone="UTC")
    late = memory.add("Painted the fence.", at="2025-12-20")
    soon = memory.add("Painted the fence!", at="2025-05-09")
    before = memory.add("Painted the fence?", at="2025-05-05")
    assert memory.found("Did I paint the fence on 7 May 2025?", k=3) == [soon, before, late]


def test_a_month_without_a_year_is_the_latest_of_which_there_are_notes(
    open_collection: Callable[..., Collection],
) -> None:
    memory = open_collection(timezone="UTC")
    may = memory.add("Painted the fence.", at="2021-05-09")
    memory.add("Painted the fence.", at="2021-10-09")
    assert memory.found("Who painted the fence in May?", k=1) == [may]
    reading = memory.explain("Who painted the fence in May?", may).reading
    assert reading is not None
    assert reading.period is not None
    assert reading.period.since is not None
    assert reading.period.since.year == 2021


def test_an_event_is_looked_up_to_tell_what_was_before_and_after(open_collection: Callable[..., Collection]) -> None:
    memory = open_collection(timezone="UTC")
    porto = memory.add("Rented a flat in Porto.", at="2021-05-09")
    memory.add("We moved house at last.", at="2023-03-10")
    memory.add("When was it that we moved house?", at="2025-03-10", kind=Kind.QUESTION)
    lisbon = memory.add("Rented a flat in Lisbon.", at="2024-05-09")
    before = memory.found("Which flat was rented before we moved house?", k=4)
    after = memory.found("Which flat was rented after we moved house?", k=4)
    assert before.index(porto) < before.index(lisbon)
    assert after.index(lisbon) < after.index(porto)


def test_an_event_of_which_no_note_tells_is_no_time(open_collection: Callable[..., Collection]) -> None:
    memory = open_collection(timezone="UTC")
    id = memory.add("Rented a flat in Porto.", at="2021-05-09")
    reading = memory.explain("Which flat was rented before the coronation?", id).reading
    assert reading is not None
    assert reading.period is None


def test_where_time_is_no_matter_the_leg_is_silent(open_collection: Callable[..., Collection]) -> None:
    memory = open_collection(timezone="UTC")
    id = memory.add("Rented a flat in Porto last week.", at="2021-05-09")
    assert "time" not in {leg.leg for leg in memory.explain("Who rented the flat?", id).legs if leg.speaks}
    assert "time" in {leg.leg for leg in memory.explain("When was the flat rented?", id).legs if leg.speaks}


def test_a_time_outside_the_calendar_is_no_error(open_collection: Callable[..., Collection]) -> None:
    memory = open_collection(timezone="UTC")
    memory.add("Painted the fence in 9999.", at="2021-05-09")
    for question in ("fence since 0001-01-01", "fence in 9999", "fence before 0001-01-01", "fence after 9999-12-31"):
        assert memory.ask(question, k=1, touch=False)


def test_the_few_best_of_a_time_are_the_first_of_all_with_the_same_reasons(
    open_collection: Callable[..., Collection],
) -> None:
    memory = open_collection(timezone="UTC", candidates=200)
    deeds = ("Painted the fence", "Painted the gate and the old fence", "Walked along the river", "A fence to paint")
    for n in range(120):
        said = f"{deeds[n % 4]}, number {n}." + (f" That was on {1 + n % 28} May 2025." if n % 7 == 0 else "")
        memory.add(said, at=f"2025-{1 + n % 12:02}-{1 + n % 28:02}")
    for n in range(10):
        chat = f"chat {n}"
        memory.add(
            "Who painted the fence in May 2025? The fence!", at="2025-05-31T23:59", conversation_id=chat, ordinal=1
        )
        memory.add(f"That river, number {n}!", at="2025-06-01T00:10", conversation_id=chat, ordinal=2)
    few, every = (memory.ask("Who painted the fence in May 2025?", k=k, touch=False) for k in (5, 120))
    assert [hit.id for hit in few] == [hit.id for hit in every[:5]]
    assert [hit.explanation.to_dict() for hit in few] == [hit.explanation.to_dict() for hit in every[:5]]
