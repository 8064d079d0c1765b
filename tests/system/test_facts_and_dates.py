"""What a note states as facts, and since when: kept, versioned, exported, and never taken from a person."""

from __future__ import annotations

import io
import json
from datetime import UTC
from typing import TYPE_CHECKING

import pytest

from amem import load_settings
from amem.analysis import Analysis
from amem.analysts.rules import OfflineAnalyst
from amem.errors import InvalidInput, ServiceUnavailable
from amem.interop.exporting import exported
from amem.interop.importing import Importer
from amem.interop.json_records import note_record
from amem.interop.jsonl import read_jsonl
from amem.note import Fact, Source
from amem.testing import ScriptedAnalyst
from amem.writing.intake import NewNote

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from amem import AgenticMemorySystem
    from amem.note import MemoryNote

    Open = Callable[..., AgenticMemorySystem]

LIVES = Fact("Mara", "lives_in", "Porto")
FOUND = Analysis(("Porto",), "Where Mara lives.", ("home",), facts=(LIVES,))


def the_note(memory: AgenticMemorySystem) -> MemoryNote:
    (note,) = memory.memories.values()
    return note


@pytest.mark.parametrize("local", [True, False])
def test_facts_are_kept_versioned_and_shown(open_memory: Open, local: bool):
    memory = open_memory(analyst=ScriptedAnalyst(FOUND, local=local))
    id = memory.add_note("Mara lives in Porto")
    assert memory.memories[id].facts == [LIVES]
    assert note_record(memory.memories[id])["facts"] == [["Mara", "lives_in", "Porto"]]
    memory.update(id, facts=[("Mara", "lives_in", "Faro")])
    assert memory.history(id)[-1].changes["facts"] == ([["Mara", "lives_in", "Porto"]], [["Mara", "lives_in", "Faro"]])
    memory.undo()
    assert memory.memories[id].facts == [LIVES]


@pytest.mark.parametrize(
    "given",
    [[["Mara", "lives_in", "Porto"]], [{"subject": "Mara", "predicate": "lives_in", "object": "Porto"}], [LIVES]],
)
def test_facts_can_be_given_in_three_ways_and_stay_the_givers(open_memory: Open, given: list[object]):
    memory = open_memory(analyst=ScriptedAnalyst(Analysis(facts=(Fact("a", "b", "c"),)), local=False))
    id = memory.add_note("Mara lives in Porto", facts=given)
    assert memory.memories[id].facts == [LIVES]


@pytest.mark.parametrize("bad", ["Mara lives in Porto", [["Mara", "lives_in"]], [["Mara", "", "Porto"]], ["abc"], [7]])
def test_facts_that_are_none_are_refused(memory: AgenticMemorySystem, bad: object):
    with pytest.raises(InvalidInput, match="facts"):
        memory.add("Mara lives in Porto", facts=bad)
    assert len(memory.memories) == 0


def test_facts_dates_and_gathered_sources_survive_an_export_and_an_import(open_memory: Open):
    memory = open_memory(analyst=ScriptedAnalyst(FOUND))
    said = Source("chat:1", "message", "chat", "1", "Mara", None, "Yesterday I moved to Porto", 1)
    memory.add_notes(
        [
            NewNote("Mara told that she moved.", fields={"id": "e"}, gathers=(said,)),
            NewNote("Yesterday I moved to Porto", sources=("chat:1",), derived_from="e"),
        ]
    )
    lines = "".join(json.dumps(record) + "\n" for record in exported(memory))
    other = open_memory(collection="other", analyst=ScriptedAnalyst(Analysis()))
    report = Importer(other, cause="import").run(read_jsonl(io.BytesIO(lines.encode()), "export", UTC))
    assert (report.imported, report.duplicates) == (2, 0)
    for content in ("Mara told that she moved.", "Yesterday I moved to Porto"):
        before = next(note for note in memory.memories.values() if note.content == content)
        after = next(note for note in other.memories.values() if note.content == content)
        assert (after.facts, after.valid_from) == (before.facts, before.valid_from)
        assert other.sources([after.id])[after.id] == [said]


@pytest.mark.parametrize("local", [True, False])
@pytest.mark.parametrize(
    ("text", "time", "zone", "expected"),
    [
        ("I moved to Porto yesterday", "2026-03-04T09:00", "Europe/Lisbon", "2026-03-03T00:00:00+00:00"),
        ("昨天我搬到了上海", "2026-03-04T23:30", "Asia/Shanghai", "2026-03-02T16:00:00+00:00"),
        ("上周五换了锅炉", "2026-03-04T23:30+08:00", "Europe/Lisbon", "2026-02-27T00:00:00+00:00"),
        ("I moved to Porto in 2023", "2026-03-04T09:00", "UTC", "2023-01-01T00:00:00+00:00"),
    ],
)
def test_a_time_in_the_text_becomes_the_date_since_when_it_holds(
    open_memory: Open, home: Path, local: bool, text: str, time: str, zone: str, expected: str
):
    settings = load_settings(home, timezone=zone)
    memory = open_memory(settings=settings, analyst=ScriptedAnalyst(Analysis(), local=local))
    found = memory.memories[memory.add_note(text, time=time)].valid_from
    assert found is not None
    assert found.isoformat() == expected


def test_a_date_is_found_when_the_model_is_down_and_again_when_it_is_back(open_memory: Open):
    analyst = ScriptedAnalyst(FOUND, fail=ServiceUnavailable("down"), local=False)
    memory = open_memory(analyst=analyst)
    id = memory.add_note("I moved to Porto yesterday", time="2026-03-04T09:00Z")
    date = memory.memories[id].valid_from
    assert date is not None
    analyst.fail = None
    memory.enrich()
    assert (memory.memories[id].valid_from, memory.memories[id].enrichment) == (date, "done")


def test_a_date_that_was_given_or_edited_is_left_alone_and_another_text_gets_another(open_memory: Open):
    memory = open_memory()
    given = memory.add_note("I moved yesterday", time="2026-03-04T09:00Z", valid_from="2020-01-01T00:00Z")
    id = memory.add_note("I moved here yesterday", time="2026-03-04T09:00Z")
    memory.update(id, content="I moved here in 2023")
    dates = {each: note.valid_from.date().isoformat() for each, note in memory.memories.items() if note.valid_from}
    assert dates[given] == "2020-01-01"
    assert dates[id][:4] in ("2022", "2023")
    memory.update(id, content="I live here")
    assert memory.memories[id].valid_from is None


def test_questions_get_no_date(open_memory: Open):
    from amem.analysts.rules import OfflineAnalyst

    memory = open_memory(analyst=OfflineAnalyst())
    for text in ("Where did you go yesterday?", "你昨天去哪儿了？"):
        assert memory.memories[memory.add_note(text)].valid_from is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I have been vegetarian since 2023.", "2023-01-01T00:00:00+00:00"),
        ("从2023年起我吃素。", "2023-01-01T00:00:00+00:00"),
        # Its midnight here is still to come.
        ("I'm vegetarian as of today.", "2026-01-03T16:00:00+00:00"),
    ],
)
def test_a_day_that_a_fact_names_begins_where_it_is_shown(open_memory: Open, home: Path, text: str, expected: str):
    memory = open_memory(settings=load_settings(home, timezone="UTC"), analyst=OfflineAnalyst())
    (fact,) = memory.memories[memory.add_note(text, time="2026-01-04T06:00+08:00")].facts
    assert fact.valid_from is not None
    assert fact.valid_from.astimezone(UTC).isoformat() == expected
