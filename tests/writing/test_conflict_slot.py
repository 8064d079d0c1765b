"""The slot rule: what was true later takes the place of what was true earlier, and nothing else does."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from amem.conflict.candidates import Claim, claim_of, order
from amem.conflict.judges import Judges
from amem.language.predicates import load_predicates
from amem.note import NO_CONFLICT, Fact, Label, MemoryNote
from amem.settings import Settings

if TYPE_CHECKING:
    from amem.storage.store import Session

MAY = datetime(2026, 5, 1, tzinfo=UTC)
DAY = timedelta(days=1)
JUDGES = Judges(load_predicates, Settings(_env_file=None))


def claim(text: str, *facts: Fact, at: datetime = MAY, speaker: str | None = None, arrived: int = 0) -> Claim:
    return Claim(text, text, at, at, arrived, speaker, facts)


def test_a_new_employer_replaces_the_old_one() -> None:
    old = claim("I work at Google.", Fact("user", "works_at", "Google"))
    new = claim("I work at OpenAI.", Fact("user", "works_at", "OpenAI"), at=MAY + DAY)
    verdict = JUDGES.judge(old, new, 0.5)
    assert (verdict.label, verdict.judge, verdict.whole) == (Label.SUPERSEDES, "slot", True)
    assert verdict.confidence == 0.85
    assert verdict.reason == "'works at OpenAI' replaces 'works at Google'"


def test_the_project_uses_postgresql_until_we_decide_on_mysql() -> None:
    old = claim("项目使用 PostgreSQL", Fact("we", "uses", "PostgreSQL"))
    new = claim("我们决定改用 MySQL", Fact("we", "uses", "MySQL"), at=MAY + DAY)
    verdict = JUDGES.judge(old, new, 0.3)
    assert (verdict.label, verdict.confidence) == (Label.SUPERSEDES, 0.95)
    assert verdict.reason == "后来是“使用：MySQL”，不再是“使用：PostgreSQL”"


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The stand-up is at 9:30.", "Yesterday's stand-up started at ten."),
        ("晨会九点半开始。", "昨天的晨会十点才开。"),
    ],
)
def test_what_was_so_on_one_day_ends_nothing(earlier: str, later: str) -> None:
    old = claim(earlier, Fact("stand-up", "time", "9:30"))
    new = claim(later, Fact("stand-up", "time", "10:00"), at=MAY + DAY)
    assert JUDGES.judge(old, claim(earlier.replace("9:30", "10:00"), *new.facts, at=MAY + DAY), 0.5).judge == "slot"
    assert JUDGES.judge(old, new, 0.5) == NO_CONFLICT


def test_what_was_so_before_that_replaces_nothing() -> None:
    old = claim("现在组长是小何。", Fact("we", "team_lead", "小何"))
    new = claim("小何之前，组长是老梁。", Fact("we", "team_lead", "老梁"), at=MAY + DAY)
    assert JUDGES.judge(old, claim("组长是老梁。", *new.facts, at=MAY + DAY), 0.5).judge == "slot"
    assert JUDGES.judge(old, new, 0.5) == NO_CONFLICT


def test_two_values_of_a_role_may_both_be_used() -> None:
    old = claim("We use PostgreSQL for orders.", Fact("we", "uses", "PostgreSQL"))
    new = claim("We use SQLite in tests.", Fact("we", "uses", "SQLite"), at=MAY + DAY)
    assert JUDGES.judge(old, new, 0.5) == NO_CONFLICT


def test_what_says_a_place_more_closely_replaces_nothing() -> None:
    old = claim("Ana lives in Lisbon.", Fact("Ana", "lives_in", "Lisbon"))
    new = claim("Ana lives in Lisbon, Portugal.", Fact("Ana", "lives_in", "Lisbon, Portugal"), at=MAY + DAY)
    assert JUDGES.judge(old, new, 0.9).label not in (Label.SUPERSEDES, Label.CONTRADICTS)


def test_an_end_without_an_object_ends_whatever_was_so() -> None:
    old = claim("Ana works at Google.", Fact("Ana", "works_at", "Google"))
    new = claim("Ana quit her job.", Fact("Ana", "works_at", "", holds=False), at=MAY + DAY)
    verdict = JUDGES.judge(old, new, 0.4)
    assert (verdict.label, verdict.confidence) == (Label.SUPERSEDES, 0.95)


def test_two_people_who_differ_on_one_day_contradict_each_other() -> None:
    old = claim("The deadline is 3 May.", Fact("project x", "deadline", "3 May"), speaker="Ana")
    new = claim("The deadline is 9 May.", Fact("project x", "deadline", "9 May"), speaker="Ben", at=MAY + DAY / 24)
    assert JUDGES.judge(old, new, 0.8).label is Label.CONTRADICTS


def test_another_name_is_another_person_unless_a_note_says_that_it_changed() -> None:
    old = claim("我叫陈晓东。", Fact("user", "named", "陈晓东"))
    new = claim("大家好，我叫古丽。", Fact("user", "named", "古丽"), at=MAY + DAY)
    changed = claim("我改名了，现在叫陈思远。", Fact("user", "named", "陈思远"), at=MAY + DAY)
    assert JUDGES.judge(old, new, 0.6).label not in (Label.SUPERSEDES, Label.CONTRADICTS)
    assert JUDGES.judge(old, changed, 0.6).label is Label.SUPERSEDES


def test_a_note_that_says_more_than_what_changed_is_overturned_in_part() -> None:
    facts = Fact("user", "works_at", "Google"), Fact("user", "lives_in", "Lisbon")
    old = claim("I work at Google and live in Lisbon.", *facts)
    new = claim("I joined OpenAI.", Fact("user", "works_at", "OpenAI"), at=MAY + DAY)
    assert not JUDGES.judge(old, new, 0.5).whole


def test_what_hangs_on_the_fact_that_changed_does_not_keep_a_note_alive() -> None:
    facts = Fact("user", "works_at", "Google"), Fact("user", "job_title", "engineer")
    old = claim("I work at Google as an engineer.", *facts)
    new = claim("I joined OpenAI.", Fact("user", "works_at", "OpenAI"), at=MAY + DAY)
    assert JUDGES.judge(old, new, 0.5).whole


def test_another_subject_keeps_its_own_value() -> None:
    old = claim("Ana works at Google.", Fact("Ana", "works_at", "Google"))
    new = claim("Ben works at OpenAI.", Fact("Ben", "works_at", "OpenAI"), at=MAY + DAY)
    assert JUDGES.judge(old, new, 0.9) == NO_CONFLICT


def test_a_value_that_a_note_itself_puts_in_the_past_replaces_nothing() -> None:
    old = claim("I work at OpenAI.", Fact("user", "works_at", "OpenAI"))
    past = Fact("user", "works_at", "Google", valid_to=MAY - 90 * DAY)
    new = claim("I was at Google until February.", past, at=MAY + DAY)
    assert JUDGES.judge(old, new, 0.6) == NO_CONFLICT


@pytest.mark.parametrize("first", [0, 1])
def test_an_old_diary_that_arrives_late_is_the_earlier_one(first: int) -> None:
    notes = [MemoryNote("now", at=MAY), MemoryNote("diary", at=MAY + DAY, valid_from=MAY - 300 * DAY)]
    session = cast("Session", SimpleNamespace(now=MAY + DAY))
    claims = [claim_of(session, note, at) for at, note in enumerate(notes)]
    assert [each.content for each in order(claims[first], claims[1 - first])] == ["diary", "now"]


def test_of_two_that_were_true_at_once_the_later_arrival_is_the_later_one() -> None:
    one, two = claim("one", arrived=1), claim("two", arrived=2)
    assert order(two, one) == (one, two)
