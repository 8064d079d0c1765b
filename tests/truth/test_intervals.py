"""Intervals: one value of a slot ends the other by when it was true, whenever it was told."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amem.language.intervals import Evidence, Interval, intervals
from amem.language.predicates import Predicates, load_predicates, same_value
from amem.note import Status

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable

TABLE = load_predicates()
START = datetime(2024, 1, 1, tzinfo=UTC)

_number = iter(range(1_000_000))


def day(number: int) -> datetime:
    return START + timedelta(days=number)


def told(
    predicate: str,
    object: str,
    since: int,
    *,
    holds: bool = True,
    until: int | None = None,
    note: str | None = None,
    subject: str = "user",
    order: int | None = None,
    **record: Any,
) -> Evidence:
    """A fact of a note of its own, said on the day it is about."""
    number = next(_number) if order is None else order
    return Evidence(
        note=note or f"{predicate} {object} {since}",
        order=number,
        subject=subject,
        predicate=predicate,
        object=object,
        holds=holds,
        since=day(since),
        until=None if until is None else day(until),
        said=day(since),
        speaker=None,
        **({"status": Status.ACTIVE} | record),
    )


def superseded(each: Evidence, by: str | None, ended: int) -> Evidence:
    return replace(each, status=Status.SUPERSEDED, successor=by, retracted=by is None, ended=day(ended))


def spans(evidence: Iterable[Evidence], table: Predicates = TABLE) -> list[tuple[str, int, int | None]]:
    """Each interval as (object, first day, day after the last)."""
    return [
        (each.object, (each.since - START).days, None if each.until is None else (each.until - START).days)
        for each in intervals(evidence, table)
    ]


# -- one value at a time ---------------------------------------------------------------------------------------


def test_a_value_ends_where_the_next_begins_and_names_what_ended_it() -> None:
    (google, openai) = intervals([told("works_at", "Google", 0), told("works_at", "OpenAI", 30)], TABLE)
    assert (google.until, google.ended_by, google.because) == (day(30), "works_at OpenAI 30", "OpenAI since")
    assert google.certain
    assert (openai.until, openai.ended_by, openai.because) == (None, None, "")


def test_a_diary_imported_late_falls_into_its_place() -> None:
    today = [told("lives_in", "Lisbon", 100)]
    diary = [told("lives_in", "Porto", 10), told("lives_in", "Braga", 50)]
    assert spans(today + diary) == [("Porto", 10, 50), ("Braga", 50, 100), ("Lisbon", 100, None)]


def test_what_was_said_before_it_began_concerns_when_it_began() -> None:
    plan = replace(told("lives_in", "Porto", 60), said=day(5))
    assert spans([plan, told("lives_in", "Lisbon", 10)]) == [("Lisbon", 10, 60), ("Porto", 60, None)]


def test_moving_back_starts_a_new_interval() -> None:
    moves = [told("lives_in", "Lisbon", 0), told("lives_in", "Porto", 10), told("lives_in", "Lisbon", 20)]
    assert spans(moves) == [("Lisbon", 0, 10), ("Porto", 10, 20), ("Lisbon", 20, None)]


def test_saying_it_again_starts_none() -> None:
    (home,) = intervals([told("lives_in", "Lisbon", 0), told("lives_in", "lisbon", 9)], TABLE)
    assert (home.since, home.notes) == (day(0), ("lives_in Lisbon 0", "lives_in lisbon 9"))


def test_a_closer_word_for_a_value_is_the_same_value_and_is_kept() -> None:
    assert spans([told("lives_in", "Lisbon", 0), told("lives_in", "Lisbon, Portugal", 9)]) == [
        ("Lisbon, Portugal", 0, None)
    ]
    assert spans([told("uses", "PostgreSQL 15", 0), told("uses", "PostgreSQL 16", 9)]) == [
        ("PostgreSQL 15", 0, 9),
        ("PostgreSQL 16", 9, None),
    ]


def test_predicates_count_under_all_of_their_names() -> None:
    assert spans([told("入职", "Google", 0), told("works for", "OpenAI", 9)]) == [
        ("Google", 0, 9),
        ("OpenAI", 9, None),
    ]


def test_subjects_are_one_however_they_are_spelled_and_never_end_each_others() -> None:
    mill = [told("version", "1", 0, subject="The Old Mill"), told("version", "2", 5, subject="old mill")]
    others = [told("version", "7", 3, subject="Ana"), told("version", "8", 4, subject="na")]
    assert spans(mill + others) == [("7", 3, None), ("8", 4, None), ("1", 0, 5), ("2", 5, None)]


# -- ends ------------------------------------------------------------------------------------------------------


def test_what_holds_no_longer_ends_there() -> None:
    (google,) = intervals([told("works_at", "Google", 0), told("works_at", "Google", 20, holds=False)], TABLE)
    assert (google.until, google.because) == (day(20), "no longer Google")


def test_an_end_without_an_object_ends_whatever_was_so() -> None:
    assert spans([told("works_at", "Google", 0), told("works_at", "", 20, holds=False)]) == [("Google", 0, 20)]
    tools = [told("uses", "vim", 0), told("uses", "redis", 1), told("uses", "a quill", 2)]
    ended = [told("uses", "", 9, holds=False)]
    assert spans(tools + ended) == [("vim", 0, 9), ("redis", 1, 9), ("a quill", 2, 9)]


def test_an_end_of_something_else_ends_nothing() -> None:
    assert spans([told("works_at", "Google", 0), told("works_at", "Apple", 20, holds=False)]) == [("Google", 0, None)]


def test_what_is_not_so_was_not_so_either() -> None:
    assert spans([told("likes", "fish", 3, holds=False)]) == []


def test_one_breath_ends_the_old_and_begins_the_new() -> None:
    change = [
        told("works_at", "OpenAI", 30, note="moved"),
        told("works_at", "", 30, holds=False, note="moved", order=0),
    ]
    change = [replace(each, order=7) for each in change]
    assert spans([told("works_at", "Google", 0), *change]) == [("Google", 0, 30), ("OpenAI", 30, None)]


def test_of_two_values_of_one_moment_the_one_said_last_holds() -> None:
    porto, lisbon = told("lives_in", "Porto", 3, order=1), told("lives_in", "Lisbon", 3, order=2)
    assert spans([lisbon, porto]) == spans([porto, lisbon])
    assert [each for each in spans([porto, lisbon]) if each[2] is None] == [("Lisbon", 3, None)]
    later = replace(porto, said=day(4))
    assert [each for each in spans([later, lisbon]) if each[2] is None] == [("Porto", 3, None)]


def test_a_note_that_says_until_when_ends_there_and_leaves_a_gap() -> None:
    stay = [told("lives_in", "Porto", 0, until=10), told("lives_in", "Lisbon", 20)]
    assert spans(stay) == [("Porto", 0, 10), ("Lisbon", 20, None)]
    assert spans([told("lives_in", "Porto", 0), told("lives_in", "Porto", 5, until=10)]) == [("Porto", 0, 10)]
    longer = [told("lives_in", "Porto", 0, until=10), told("lives_in", "Porto", 5, until=30)]
    assert spans(longer) == [("Porto", 0, 30)]


def test_it_begins_anew_after_the_end_that_was_stated() -> None:
    assert spans([told("lives_in", "Porto", 0, until=10), told("lives_in", "Porto", 20)]) == [
        ("Porto", 0, 10),
        ("Porto", 20, None),
    ]


def test_until_when_alone_does_not_make_it_begin_today() -> None:
    until_then = told("lives_in", "Porto", 100, until=40)
    assert spans([told("lives_in", "Lisbon", 60), until_then]) == [("Porto", 40, 40), ("Lisbon", 60, None)]


# -- what the record says --------------------------------------------------------------------------------------


def test_the_facts_of_the_successor_say_when_the_old_one_ended() -> None:
    old = superseded(told("lives_in", "Porto", 0, note="old"), "new", ended=99)
    assert spans([old, told("lives_in", "Lisbon", 30, note="new")]) == [("Porto", 0, 30), ("Lisbon", 30, None)]


def test_a_successor_without_facts_of_its_own_ends_it_by_the_record() -> None:
    (porto,) = intervals([superseded(told("lives_in", "Porto", 0, note="old"), "new", ended=30)], TABLE)
    assert (porto.until, porto.ended_by, porto.because) == (day(30), "new", "another note superseded it")


def test_a_successor_that_speaks_of_another_value_ends_only_by_the_record() -> None:
    tea = superseded(told("likes", "tea", 0, note="old"), "new", ended=30)
    assert spans([tea, told("likes", "coffee", 30, note="new")]) == [("coffee", 30, None), ("tea", 0, 30)][::-1]


def test_an_earlier_successor_chosen_by_a_person_ends_it_all_the_same() -> None:
    lisbon = superseded(told("lives_in", "Lisbon", 30, note="wrong"), "right", ended=50)
    porto = told("lives_in", "Porto", 0, note="right")
    assert [each for each in spans([lisbon, porto]) if each[2] is None] == []
    assert ("Lisbon", 30, 50) in spans([lisbon, porto])


def test_what_another_note_says_too_does_not_end_with_one_of_them() -> None:
    one = superseded(told("lives_in", "Porto", 0, note="one"), "elsewhere", ended=30)
    assert spans([one, told("lives_in", "Porto", 10)]) == [("Porto", 0, None)]
    assert spans([one, told("lives_in", "Porto", 40)]) == [("Porto", 0, 30), ("Porto", 40, None)]


def test_what_was_taken_back_ended_then_with_nothing_after_it() -> None:
    (jazz,) = intervals([superseded(told("likes", "jazz", 0), None, ended=30)], TABLE)
    assert (jazz.until, jazz.ended_by, jazz.because) == (day(30), None, "it was taken back")


def test_what_was_taken_back_before_it_began_never_was() -> None:
    assert spans([superseded(told("lives_in", "Mars", 90), None, ended=30), told("lives_in", "Lisbon", 0)]) == [
        ("Lisbon", 0, None)
    ]


def test_an_end_that_was_taken_back_ended_nothing() -> None:
    left = superseded(told("works_at", "Google", 20, holds=False), None, ended=30)
    assert spans([told("works_at", "Google", 0), left]) == [("Google", 0, None)]


def test_what_a_person_kept_is_ended_by_no_other_note() -> None:
    kept = told("works_at", "Google", 0, kept=True)
    assert spans([kept, told("works_at", "OpenAI", 30)]) == [("Google", 0, None), ("OpenAI", 30, None)]
    assert spans([kept, told("works_at", "", 30, holds=False)]) == [("Google", 0, None)]


def test_what_a_person_kept_ends_when_it_says_so_itself() -> None:
    assert spans([told("works_at", "Google", 0, until=9, kept=True), told("works_at", "OpenAI", 30)])[0] == (
        "Google",
        0,
        9,
    )


def test_notes_that_were_merged_into_one_go_on_as_one() -> None:
    parts = [superseded(told("lives_in", "Porto", n, note=f"part {n}"), "whole", ended=9) for n in (0, 4)]
    (porto,) = intervals([*parts, told("lives_in", "Porto", 4, note="whole")], TABLE)
    assert (porto.since, porto.until, porto.notes) == (day(0), None, ("part 0", "part 4", "whole"))


# -- many values -----------------------------------------------------------------------------------------------


def test_many_values_hold_side_by_side_and_each_ends_under_its_own_name() -> None:
    likes = [told("likes", "tea", 0), told("likes", "green tea", 1), told("likes", "乌龙茶", 2)]
    no_more = told("likes", "tea", 9, holds=False)
    assert spans([*likes, no_more]) == [("tea", 0, 9), ("green tea", 1, None), ("乌龙茶", 2, None)]


def test_an_allergy_is_never_swallowed_by_a_closer_one() -> None:
    found = spans([told("allergic_to", "nuts", 0), told("allergic_to", "pine nuts", 5)])
    assert found == [("nuts", 0, None), ("pine nuts", 5, None)]


def test_values_of_different_or_unknown_roles_stand_side_by_side() -> None:
    tools = [told("uses", "MySQL", 0), told("uses", "vim", 1), told("uses", "a quill", 2), told("uses", "a lathe", 3)]
    swapped = [told("uses", "达梦", 9), told("uses", "a quill", 12, holds=False)]
    assert spans(tools + swapped) == [
        ("MySQL", 0, 9),
        ("vim", 1, None),
        ("a quill", 2, 12),
        ("a lathe", 3, None),
        ("达梦", 9, None),
    ]


# -- what hangs on it ------------------------------------------------------------------------------------------


def of(found: Iterable[Interval], predicate: str) -> list[Interval]:
    return [each for each in found if each.predicate == predicate]


def test_what_hung_on_an_employer_is_presumed_to_have_ended_with_it() -> None:
    jobs = [told("works_at", "Google", 0), told("works_at", "OpenAI", 30, note="new job")]
    (boss,) = of(intervals([*jobs, told("manager", "Priya", 5)], TABLE), "manager")
    assert (boss.until, boss.certain, boss.ended_by) == (day(30), False, "new job")
    assert boss.because == "works at Google until then"


def test_what_ended_something_is_said_in_the_language_of_what_came_after() -> None:
    jobs = [told("works_at", "字节跳动", 0), told("works_at", "小米", 30)]
    found = intervals([*jobs, told("manager", "王芳", 5), told("likes", "辣", 3)], TABLE)
    assert of(found, "works_at")[0].because == "后来是小米"
    assert of(found, "manager")[0].because == "此前工作于：字节跳动"
    (likes,) = of(intervals([told("likes", "辣", 3), told("likes", "辣", 9, holds=False)], TABLE), "likes")
    assert likes.because == "不再是辣"


def test_it_hung_on_the_employer_even_where_that_was_told_later() -> None:
    jobs = [told("works_at", "Google", 10), told("works_at", "OpenAI", 30)]
    (boss,) = of(intervals([told("manager", "Priya", 5), *jobs], TABLE), "manager")
    assert (boss.until, boss.certain) == (day(30), False)


def test_said_again_since_it_goes_on_until_the_next_change() -> None:
    jobs = [told("works_at", "Google", 0), told("works_at", "OpenAI", 30)]
    bosses = [told("manager", "Priya", 5), told("manager", "Priya", 40)]
    assert spans([*jobs, *bosses])[:1] == [("Priya", 5, None)]
    (boss,) = of(intervals([*jobs, *bosses, told("works_at", "", 60, holds=False)], TABLE), "manager")
    assert (boss.until, boss.certain) == (day(60), False)


def test_the_new_ones_manager_is_not_mixed_with_the_old_ones() -> None:
    jobs = [told("works_at", "Google", 0), told("works_at", "OpenAI", 30)]
    bosses = [told("manager", "Priya", 5), told("manager", "Sam", 30)]
    priya, sam = of(intervals([*jobs, *bosses], TABLE), "manager")
    assert (priya.until, priya.certain, sam.until) == (day(30), True, None)
    late = of(intervals([*jobs, bosses[0], told("manager", "Sam", 45)], TABLE), "manager")
    assert [(each.until, each.certain) for each in late] == [(day(30), False), (None, True)]


def test_what_hangs_on_what_hangs_ends_as_well_and_circles_do_no_harm() -> None:
    rows = TABLE.rows
    desk = replace(rows["office"], name="desk", hangs_on="office")
    chained = Predicates({**rows, "desk": desk}, TABLE.roles, TABLE.names | {"desk": "desk"})
    told_all = [told("desk", "by the window", 2), told("office", "4F", 1), told("works_at", "Google", 0)]
    left = told("works_at", "Google", 9, holds=False)
    assert {until for _, _, until in spans([*told_all, left], chained)} == {9}
    circle = Predicates(
        {"a": replace(desk, name="a", hangs_on="b"), "b": replace(desk, name="b", hangs_on="a")},
        {},
        {"a": "a", "b": "b"},
    )
    assert len(spans([told("a", "x", 0), told("b", "y", 1), told("b", "z", 5)], circle)) == 3


# -- what always holds -----------------------------------------------------------------------------------------

_OBJECTS = {
    "works_at": ("Google", "OpenAI", ""),
    "manager": ("Priya", "Sam"),
    "uses": ("vim", "emacs", "MySQL", "达梦", "a quill", ""),
    "likes": ("tea", "茶", "jazz"),
}


@st.composite
def evidence(draw: st.DrawFn, *, record: bool = True) -> list[Evidence]:
    """Facts of two subjects in any order of time; with `record`, some superseded, taken back or kept."""
    found = []
    for order in range(draw(st.integers(0, 14))):
        predicate = draw(st.sampled_from(sorted(_OBJECTS)))
        object = draw(st.sampled_from(_OBJECTS[predicate]))
        holds = draw(st.booleans()) if object else False
        since = draw(st.integers(0, 20))
        made = told(
            predicate,
            object,
            since,
            holds=holds,
            until=draw(st.none() | st.integers(0, 25)) if holds else None,
            note=f"n{order}",
            subject=draw(st.sampled_from(["user", "Ana"])),
            order=order,
        )
        # Said at different moments, so that nothing is left to the order of arrival.
        made = replace(made, said=made.said + timedelta(minutes=order))
        fate = draw(st.sampled_from(["", "", "", "superseded", "retracted", "kept"])) if record else ""
        if fate == "kept":
            made = replace(made, kept=True)
        elif fate:
            by = None if fate == "retracted" else f"n{draw(st.integers(0, 14))}"
            made = superseded(made, by if by != made.note else "elsewhere", ended=draw(st.integers(0, 25)))
        found.append(made)
    return found


@given(evidence(), st.randoms(use_true_random=False))
def test_the_order_of_arrival_never_matters(told_all: list[Evidence], chance: random.Random) -> None:
    orders = [each.order for each in told_all]
    chance.shuffle(orders)
    arrived = [replace(each, order=order) for each, order in zip(told_all, orders, strict=True)]
    chance.shuffle(arrived)
    assert intervals(arrived, TABLE) == intervals(told_all, TABLE)


@given(evidence())
def test_intervals_of_one_slot_never_overlap_unless_kept(told_all: list[Evidence]) -> None:
    kept = {each.note for each in told_all if each.kept}
    by_slot: dict[tuple[str, str], list[Interval]] = {}
    for each in intervals(told_all, TABLE):
        slot = TABLE.slot(each.predicate, each.object)
        if slot is not None and not kept & set(each.notes):
            by_slot.setdefault((each.subject, slot), []).append(each)
    for held in by_slot.values():
        ordered = sorted(held, key=lambda each: (each.since, each.until or day(999)))
        for one, other in pairwise(ordered):
            assert one.until is not None
            assert one.until <= other.since


@given(evidence())
def test_every_fact_that_holds_is_in_exactly_one_interval(told_all: list[Evidence]) -> None:
    begun = [min(each.since, each.until or each.since) for each in told_all]
    never = {
        each.note
        for each, since in zip(told_all, begun, strict=True)
        if not each.holds or (each.retracted and each.ended is not None and each.ended <= since)
    }
    found = intervals(told_all, TABLE)
    counted = Counter(note for each in found for note in each.notes)
    assert counted == Counter(each.note for each in told_all if each.note not in never)
    assert all(each.until is None or each.since <= each.until for each in found)


@given(evidence(record=False))
def test_what_is_said_of_one_subject_changes_nothing_for_another(told_all: list[Evidence]) -> None:
    apart = [
        each
        for subject in ("Ana", "user")
        for each in intervals([each for each in told_all if each.subject == subject], TABLE)
    ]
    assert intervals(told_all, TABLE) == apart


@pytest.mark.parametrize("predicate", ["lives_in", "likes", "uses"])
def test_many_facts_of_one_subject_take_work_in_proportion(predicate: str) -> None:
    def calls(count: int) -> int:
        """Calls made on the way; time itself is not asserted."""
        made = 0

        def trace(frame: Any, event: str, argument: Any) -> None:
            nonlocal made
            made += event == "call"

        told_all = [told(predicate, f"value {n % (count // 2)}", n, holds=n % 7 > 0) for n in range(count)]
        sys.setprofile(trace)
        try:
            intervals(told_all, TABLE)
        finally:
            sys.setprofile(None)
        return made

    assert calls(2_000) < 6 * calls(500)


# -- which values are one --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Lisbon", "lisbon"),
        ("Lisbon", "Lisbon, Portugal"),
        ("Portland, Oregon", "Portland (Oregon)"),
        ("PostgreSQL", "PostgreSQL 16.2"),
        ("v2.3", "2.3"),
        ("OpenAI", "OpenAI Inc."),
        ("the Porto office", "Porto office"),
        ("上海", "上海市"),
        ("上海", "上海，浦东"),
        ("华为", "华为公司"),
        ("ＯＰＥＮＡＩ", "OpenAI"),
        ("素", "vegetarian"),
        ("1,150 euros", "€1150"),
        ("1,150 euros", "一千一百五十欧元"),
        ("2万元", "20,000 yuan"),
        ("1.5k", "1500 dollars"),
        ("900", "900 euros"),
        ("10 May", "May 10th"),
        ("10 May", "五月十号"),
        ("10 May", "2026-05-10"),
        ("9 September 2026", "2026-09-09"),
        ("14 Jan 2026", "January 14th, 2026"),
        ("2026年6月12日", "2026-06-12"),
        ("5月10日", "五月十号"),
        ("Wednesday", "Wednesdays"),
        ("Wednesday", "周三"),
        ("3 pm", "15:00"),
        ("下午三点", "15:00"),
        ("12 am", "0:00"),
        ("555 1234", "555-1234"),
        ("Munich", "München"),
        ("Google", "谷歌"),
        ("Postgres", "PostgreSQL"),
    ],
)
def test_one_value_in_two_spellings(one: str, other: str) -> None:
    assert same_value(one, other)
    assert same_value(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Porto", "Porto Alegre"),
        ("York", "New York"),
        ("Google", "Google DeepMind"),
        ("Portland, Oregon", "Portland, Maine"),
        ("PostgreSQL 15", "PostgreSQL 16"),
        ("2.3", "2.4"),
        ("张三", "张三丰"),
        ("长沙", "长春"),
        ("本田", "丰田"),
        ("", "Google"),
        ("900 euros", "900 dollars"),
        ("1,150 euros", "1,510 euros"),
        ("3.1", "3.10"),
        ("10 May", "11 May"),
        ("10 May 2025", "2026-05-10"),
        ("3 pm", "3 am"),
        ("周三", "周四"),
        ("555 1234", "555 1235"),
    ],
)
def test_two_values_that_look_alike(one: str, other: str) -> None:
    assert not same_value(one, other)
    assert not same_value(other, one)
