"""Facts are kept in one form, whoever stated them; what a model makes up is not kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from amem import load_settings
from amem.analysis import Analysis
from amem.analysts.rules import OfflineAnalyst
from amem.note import Fact
from amem.testing import ScriptedAnalyst

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from amem import AgenticMemorySystem
    from amem.note import MemoryNote

    Open = Callable[..., AgenticMemorySystem]


def said_by_a_model(*facts: Fact) -> ScriptedAnalyst:
    return ScriptedAnalyst(Analysis(facts=facts, prompt="analyze 3"), local=False)


def lines(note: MemoryNote) -> list[tuple[str, str, str, bool]]:
    return [(fact.subject, fact.predicate, fact.object, fact.holds) for fact in note.facts]


def told(memory: AgenticMemorySystem, text: str, **fields: object) -> MemoryNote:
    return memory.memories[memory.add_note(text, **fields)]


def test_a_models_facts_are_kept_under_the_names_of_the_table(open_memory: Open):
    memory = open_memory(
        analyst=said_by_a_model(Fact("The user", "employed at", "Marulho"), Fact("I", "works for", "Marulho"))
    )
    assert lines(told(memory, "Marulho pays me")) == [("user", "works_at", "Marulho", True)]


def test_a_fact_about_what_the_note_does_not_name_was_made_up(open_memory: Open):
    made_up = [Fact("Bob", "lives in", "Porto"), Fact("user", "lives in", "Madrid"), Fact("user", "搬到", "马德里")]
    memory = open_memory(analyst=said_by_a_model(*made_up))
    assert lines(told(memory, "Porto is lovely in spring")) == []


def test_rules_know_better_than_a_model_whether_something_still_is_so(open_memory: Open):
    memory = open_memory(analyst=said_by_a_model(Fact("Ana", "works at", "Google"), Fact("Ana", "colleague of", "Ben")))
    note = told(memory, "Ana left Google in March 2025. Ben is sad.", time="2026-06-15T09:00Z")
    assert lines(note) == [("Ana", "works_at", "Google", False), ("Ana", "colleague_of", "Ben", True)]
    assert note.facts[0].valid_from is not None
    assert note.facts[0].valid_from.date().isoformat() == "2025-03-01"


def test_the_user_is_the_user_by_name_and_as_a_speaker(open_memory: Open, home: Path):
    memory = open_memory(analyst=OfflineAnalyst(), settings=load_settings(home, user_name="Wen"))
    for text, speaker in (("I live in Porto", None), ("I live in Lisbon", "Wen"), ("Wen lives in Faro", None)):
        assert lines(told(memory, text, speaker=speaker))[0][0] == "user"
    assert lines(told(memory, "I live in Braga", speaker="Ana")) == [("Ana", "lives_in", "Braga", True)]


def test_a_persons_facts_take_the_same_form_and_are_never_dropped(open_memory: Open):
    memory = open_memory(analyst=said_by_a_model())
    given = [["my sister", "moved to", "Atlantis"], ["我妹妹", "搬到", "亚特兰蒂斯"]]
    note = told(memory, "A note about nothing", facts=given, speaker="Ana")
    expected = [("Ana's sister", "lives_in", "Atlantis", True), ("Ana的妹妹", "lives_in", "亚特兰蒂斯", True)]
    assert lines(note) == expected
    memory.update(note.id, facts=[["I", "works for", "Nobody"]])
    assert lines(memory.memories[note.id]) == [("Ana", "works_at", "Nobody", True)]


def test_a_note_is_true_since_when_its_facts_are(open_memory: Open):
    memory = open_memory(analyst=OfflineAnalyst())
    march = told(memory, "I left Google in March.", time="2026-06-15T09:00Z")
    both = told(memory, "I left Google in March and joined OpenAI in April.", time="2026-06-15T10:00Z")
    assert march.valid_from == march.facts[0].valid_from
    assert march.valid_from is not None
    assert both.valid_from is None


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("Ana lives in Lisbon since 2026-03-01", "2026-04-01T10:00+01:00"),
        ("安娜从2026年3月1日起住在里斯本", "2026-04-01T10:00+08:00"),
        ("From 2026-03-01 on the office closes at six", "2026-04-01T10:00-07:00"),
    ],
)
def test_a_day_is_that_day_for_who_reads_in_another_time_zone(open_memory: Open, home: Path, text: str, time: str):
    memory = open_memory(analyst=OfflineAnalyst(), settings=load_settings(home, timezone="UTC"))
    note = told(memory, text, time=time)
    days = [each.valid_from for each in (note, *note.facts)]
    assert [day and day.isoformat() for day in days] == ["2026-03-01T00:00:00+00:00"] * len(days)


def test_an_own_table_names_what_rules_find(open_memory: Open, home: Path):
    home.mkdir(parents=True, exist_ok=True)
    (home / "predicates.toml").write_text('[drives]\none = true\naliases = ["car"]\n', encoding="utf-8")
    memory = open_memory(settings=load_settings(home, llm_backend="offline"), analyst=None)
    assert lines(told(memory, "My car is a Volvo")) == [("user", "drives", "Volvo", True)]


@pytest.mark.parametrize("text", ["[likes]\nmany = true\n", '[likes]\nhangs_on = "weather"\n'])
def test_the_doctor_names_a_table_that_cannot_be_used(memory: AgenticMemorySystem, home: Path, text: str):
    assert [each for each in memory.doctor() if each.about == "predicates"] == []
    path = memory.settings.home / "predicates.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    (finding,) = [each for each in memory.doctor() if each.about == "predicates"]
    assert (finding.level, finding.hint != "") == ("error", True)
    assert str(path) in finding.what
