"""``enrich(upgrade=True)``: what the offline rules wrote is redone by a model, and each note can be taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from amem import load_settings
from amem.analysis import Analysis, Evolution, ProposedLink, Rewrite
from amem.analysts.rules import OfflineAnalyst
from amem.errors import BadModelAnswer, BudgetSpent, InvalidInput
from amem.note import LinkType, Status
from amem.testing import ScriptedAnalyst

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from amem import AgenticMemorySystem
    from amem.analysis import Draft

    Open = Callable[..., AgenticMemorySystem]

TEXTS = ["The boiler hums in the cellar.", "Inês pays the rent in March.", "港口的浮标已经更换。"]


def model(analysis: Any = None, **options: Any) -> ScriptedAnalyst:
    found = analysis or (lambda draft: Analysis(("k",), f"By the model: {draft.content}", ("m",), prompt="analyze 3"))
    return ScriptedAnalyst(found, local=False, name="ollama/big", **options)


def written_offline(open_memory: Open, *more: str) -> list[str]:
    with open_memory(analyst=OfflineAnalyst()) as memory:
        return [memory.add_note(text) for text in (*TEXTS, *more)]


def test_notes_of_the_rules_are_redone_by_the_model_each_as_an_operation_of_its_own(open_memory: Open):
    ids = written_offline(open_memory)
    memory = open_memory(analyst=model())
    before = memory.memories[ids[0]]
    heard: list[tuple[int, int]] = []
    report = memory.enrich(upgrade=True, progress=lambda *how: heard.append(how))
    assert (report.done, report.failed, report.remaining) == (3, 0, 0)
    assert heard == [(1, 3), (2, 3), (3, 3)]
    for id, text in zip(ids, TEXTS, strict=True):
        note = memory.memories[id]
        assert (note.context, note.tags, note.analyst) == (f"By the model: {text}", ["m"], "ollama/big")
    operations = memory.log(limit=3)
    assert [each.parent for each in operations] == [None] * 3
    assert (operations[0].actor, operations[0].prompts) == ("ollama/big", "analyze 3")
    assert memory.history(ids[0])[-1].prompts == "analyze 3"

    memory.undo(operations[2].id)
    after = memory.memories[ids[0]]
    assert (after.context, after.tags, after.keywords, after.analyst) == (
        before.context,
        before.tags,
        before.keywords,
        "offline",
    )
    assert memory.memories[ids[1]].analyst == "ollama/big"


def test_what_the_model_rewrote_is_embedded_where_that_is_part_of_the_recipe(open_memory: Open, home: Path):
    settings = load_settings(home, embed_recipe="paper")
    with open_memory(settings=settings, analyst=OfflineAnalyst()) as memory:
        memory.add_notes(["The boiler hums.", "The boiler hums at night."])
    news = Evolution(rewrites=(Rewrite("n1", "The boiler, and when it hums.", ("boiler",), "there is news", 0.99),))
    memory = open_memory(settings=settings, analyst=model(evolutions=lambda *_: news))
    memory.enrich(upgrade=True)
    assert memory.health().unembedded == 0


def test_what_a_person_gave_or_edited_stays(open_memory: Open):
    with open_memory(analyst=OfflineAnalyst()) as memory:
        id = memory.add_note(TEXTS[0], tags=["mine"])
        memory.update(id, context="My own words.")
    memory = open_memory(analyst=model())
    memory.enrich(upgrade=True)
    note = memory.memories[id]
    assert (note.tags, note.context, note.keywords) == (["mine"], "My own words.", ["k"])


def test_it_can_be_limited_and_goes_on_where_it_was_and_does_nothing_twice(open_memory: Open):
    ids = written_offline(open_memory)
    analyst = model()
    memory = open_memory(analyst=analyst)
    report = memory.enrich(2, upgrade=True)
    assert (report.done, report.remaining) == (2, 1)
    assert memory.memories[ids[2]].analyst == "offline"
    assert memory.enrich(upgrade=True).done == 1
    assert memory.enrich(upgrade=True).done == 0
    assert len(analyst.drafts) == 3


def test_it_is_stopped_without_harm_and_frees_what_it_held(open_memory: Open):
    written_offline(open_memory)
    memory = open_memory(analyst=model())

    def stop(done: int, of: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        memory.enrich(upgrade=True, progress=stop)
    assert open_memory(analyst=model()).enrich(upgrade=True).done == 2


def test_a_note_that_the_model_fails_on_stays_as_it_was(open_memory: Open):
    ids = written_offline(open_memory)

    def analyse(draft: Draft) -> Analysis:
        if "rent" in draft.content:
            raise BadModelAnswer("nonsense")
        return Analysis(context="By the model.")

    memory = open_memory(analyst=model(analyse))
    before = memory.memories[ids[1]]
    report = memory.enrich(upgrade=True)
    assert (report.done, report.failed, report.remaining) == (2, 1, 1)
    after = memory.memories[ids[1]]
    assert (after.version, after.enrichment, after.analyst) == (before.version, "done", "offline")


def test_an_analyst_of_somebody_elses_that_breaks_on_a_note_leaves_it_and_goes_on(open_memory: Open):
    ids = written_offline(open_memory, "The boiler hums loudly in the cellar.")

    def analyse(draft: Draft) -> Analysis:
        if "rent" in draft.content:
            raise TypeError("'NoneType' object is not iterable")
        return Analysis(context="By the model.")

    def evolve(draft: Draft, *_: Any) -> Evolution:
        if "loudly" in draft.content:
            raise AttributeError("no such thing")
        return Evolution()

    memory = open_memory(analyst=model(analyse, evolutions=evolve))
    before = [memory.memories[id] for id in (ids[1], ids[3])]
    report = memory.enrich(upgrade=True)
    assert (report.done, report.failed, report.remaining) == (2, 2, 2)
    assert "TypeError: 'NoneType' object is not iterable" in report.errors[0]
    assert "AttributeError: no such thing" in report.errors[1]
    assert [memory.memories[id] for id in (ids[1], ids[3])] == before
    assert open_memory(analyst=model()).enrich(upgrade=True).done == 2


def test_it_stops_when_there_is_nobody_left_to_ask(open_memory: Open):
    written_offline(open_memory)
    analyst = model(fail=BudgetSpent("today's tokens are spent"))
    report = open_memory(analyst=analyst).enrich(upgrade=True)
    assert (report.done, report.failed, report.remaining) == (0, 1, 3)
    assert len(analyst.drafts) == 1
    assert "tokens are spent" in report.errors[0]


def test_without_a_model_it_says_so(open_memory: Open):
    written_offline(open_memory)
    with pytest.raises(InvalidInput, match="no model"):
        open_memory(analyst=OfflineAnalyst()).enrich(upgrade=True)


def test_only_active_notes_of_the_rules_are_touched_and_links_are_added(open_memory: Open, home: Path):
    ids = written_offline(open_memory)
    evolution = Evolution(links=(ProposedLink("n1", LinkType.RELATED, "both", 0.9),), prompt="evolve 2")
    memory = open_memory(analyst=model(evolutions=evolution))
    mine = memory.add_note("A note the model wrote itself.")
    memory.delete(ids[2])
    with memory.parts.store.write() as session:
        session.notes.change(ids[1], {"status": str(Status.ARCHIVED)}, session.begin("fade", "amem"))
    version = memory.memories[mine].version
    report = memory.enrich(upgrade=True)
    assert (report.done, report.remaining) == (1, 0)
    assert memory.memories[mine].version == version
    assert [link.made_by for link in memory.links(ids[0])] == ["ollama/big"]
    evolved = next(each for each in memory.log() if each.action == "evolve")
    assert (evolved.actor, evolved.prompts) == ("ollama/big", "evolve 2")
    memory.undo()
    assert memory.links(ids[0]) == []
