"""What an import leaves in the collection: every note once, links that resolve, and a way back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from amem.interop.exporting import exported
from amem.interop.importing import Importer
from amem.interop.reader import read_path
from amem.memory_system import AgenticMemorySystem
from amem.note import Status
from amem.query import Filter
from amem.testing import HashEmbedder, ScriptedAnalyst

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conftest import Import

    from amem.protocols import Embedder
    from amem.settings import Settings


def vault(folder: Path) -> Path:
    folder.mkdir()
    (folder / "Porto.md").write_text("---\naliases: [Oporto]\n---\nThe city where Ana was born, by the Douro.")
    (folder / "Ana.md").write_text("Ana bakes bread. Born in [[oporto]], works with [[Nobody]] and [[Bread]].")
    (folder / "Bread.md").write_text("Flour, water, salt. See [Ana](Ana.md).")
    return folder


def by_title(memory: AgenticMemorySystem) -> dict[str, str]:
    return {note.metadata["title"]: note.id for note in memory.list()}


def linked(memory: AgenticMemorySystem) -> set[tuple[str, str]]:
    titles = {id: title for title, id in by_title(memory).items()}
    return {(titles[link.source], titles[link.target]) for id in titles for link in memory.links(id)}


def test_wikilinks_become_links_where_their_target_exists(
    memory: AgenticMemorySystem, bring_in: Import, tmp_path: Path
) -> None:
    report = bring_in(vault(tmp_path / "vault"))

    assert report.imported == 3
    assert linked(memory) >= {("Ana", "Porto"), ("Ana", "Bread"), ("Bread", "Ana")}
    (link,) = (each for each in memory.links(by_title(memory)["Ana"]) if each.target == by_title(memory)["Porto"])
    assert (link.reason, link.made_by) == ("[[oporto]]", "user")


def test_a_file_that_comes_later_is_linked_with_what_was_there(
    memory: AgenticMemorySystem, bring_in: Import, tmp_path: Path
) -> None:
    folder = vault(tmp_path / "vault")
    bring_in(folder)
    (folder / "Nobody.md").write_text("A colleague of hers, from [[Porto]].")

    report = bring_in(folder)

    assert (report.imported, report.duplicates) == (1, 3)
    assert linked(memory) >= {("Nobody", "Porto"), ("Ana", "Nobody")}


def test_importing_twice_adds_nothing_and_leaves_no_trace_in_the_log(
    memory: AgenticMemorySystem, bring_in: Import, tmp_path: Path
) -> None:
    folder = vault(tmp_path / "vault")
    bring_in(folder)
    before = memory.log()

    report = bring_in(folder)

    assert (report.imported, report.duplicates, report.links) == (0, 3, 0)
    assert memory.log() == before


def test_the_same_paragraph_twice_in_a_file_is_one_note(
    memory: AgenticMemorySystem, bring_in: Import, tmp_path: Path
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("Tea at five.\n\nNo sugar.\n\nTea at five.\n")

    assert bring_in(path).duplicates == 1
    assert bring_in(path).imported == 0
    assert memory.count() == 2


def test_undoing_an_import_takes_its_notes_and_links_back(
    memory: AgenticMemorySystem, bring_in: Import, tmp_path: Path
) -> None:
    report = bring_in(vault(tmp_path / "vault"))

    memory.undo()

    assert report.operations == [memory.log()[-1].id]
    assert memory.count() == 0


def test_refused_lines_are_reported_in_order_and_the_rest_is_stored(
    memory: AgenticMemorySystem, bring_in: Import, tmp_path: Path
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"content": " "}\nnope\n{"content": "Tea at five."}\n{"content": "x", "importance": 7}\n')

    report = bring_in(path)

    assert (report.imported, report.refused) == (1, 3)
    assert [each.where for each in report.problems()] == ["line 1", "line 2", "line 4"]
    assert [note.content for note in memory.list()] == ["Tea at five."]


def test_a_locomo_turn_keeps_where_it_was_said(memory: AgenticMemorySystem, bring_in: Import, tmp_path: Path) -> None:
    turns = [{"speaker": "Ana", "dia_id": "D1:1", "text": "I adopted a tortoise."}]
    sample = {
        "sample_id": "conv-7",
        "conversation": {"session_1_date_time": "1:47 pm on 9 May, 2022", "session_1": turns},
    }
    path = tmp_path / "a.json"
    path.write_text(json.dumps([sample]))

    bring_in(path)

    (hit,) = memory.search("Which animal did Ana adopt?")
    assert hit["sources"] == [
        {"conversation": "conv-7", "ref": "D1:1", "speaker": "Ana", "at": "2022-05-09T12:47:00+00:00"}
    ]
    note = memory.read(hit.id)
    assert note is not None
    assert (note.conversation_id, note.ordinal, note.speaker, note.metadata) == ("conv-7", 1, "Ana", {"session": 1})


def test_an_export_comes_back_with_ids_links_reasons_sources_and_standing(
    memory: AgenticMemorySystem, settings: Settings, minilm: Embedder, bring_in: Import, tmp_path: Path
) -> None:
    text = tmp_path / "a.txt"
    text.write_text("安娜在瓷砖博物馆工作。\n")
    bring_in(text)
    old = memory.add("The office is in Porto.", id="office-1", tags=["office"], importance=0.9, pinned=True).id
    new = memory.add("The office has moved to Lisbon.", time="2026-05-01", metadata={"floor": 3}).id
    memory.link(new, old, "supersedes", "it moved")
    path = tmp_path / "export.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in exported(memory, versions=True)))
    lines = path.read_text().splitlines()
    archived = json.loads(lines[1]) | {"status": "superseded", "superseded_by": new}
    path.write_text("\n".join([lines[0], json.dumps(archived), lines[2]]))

    elsewhere = settings.model_copy(update={"collection": "elsewhere"})
    with AgenticMemorySystem(settings=elsewhere, embedder=minilm) as other:
        report = Importer(other, cause="import").run(read_path(path, elsewhere))

        assert (report.imported, report.refused) == (3, 0)
        gone, note = other.read(old), other.read(new)
        assert gone is not None
        assert note is not None
        assert (gone.tags, gone.importance, gone.pinned) == (["office"], 0.9, True)
        assert (gone.status, gone.superseded_by) == (Status.SUPERSEDED, new)
        assert (note.timestamp, note.metadata) == ("2026-05-01", {"floor": 3})
        assert ("supersedes", "it moved", "user") in {(str(x.type), x.reason, x.made_by) for x in other.links(new)}
        ids = [each.id for each in other.list(Filter())]
        assert [s.text for found in other.sources(ids).values() for s in found] == ["安娜在瓷砖博物馆工作。"]
        assert Importer(other, cause="again").run(read_path(path, elsewhere)).imported == 0


def test_an_id_that_is_taken_by_another_note_is_not_overwritten(
    memory: AgenticMemorySystem, bring_in: Import, tmp_path: Path
) -> None:
    memory.add("Mine, since long ago.", id="n1")
    path = tmp_path / "a.jsonl"
    path.write_text('{"content": "Somebody else wrote this.", "id": "n1"}\n')

    assert bring_in(path).imported == 1
    mine = memory.read("n1")
    assert mine is not None
    assert mine.content == "Mine, since long ago."
    assert memory.count() == 2


def test_an_import_that_is_stopped_goes_on_where_it_stopped(
    memory: AgenticMemorySystem, settings: Settings, tmp_path: Path
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({"content": f"The ship called at harbour {n}."}) + "\n" for n in range(100)))

    def stop(done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    importer = Importer(memory, cause="import", progress=stop)
    with pytest.raises(KeyboardInterrupt):
        importer.run(read_path(path, settings))

    assert importer.done == memory.count() == settings.batch_size
    report = Importer(memory, cause="import").run(read_path(path, settings))
    assert (report.imported, report.duplicates) == (100 - settings.batch_size, settings.batch_size)


def light(settings: Settings, collection: str) -> AgenticMemorySystem:
    settings = settings.model_copy(update={"collection": collection, "batch_size": 8})
    return AgenticMemorySystem(settings=settings, embedder=HashEmbedder(64), analyst=ScriptedAnalyst())


@pytest.fixture
def here(settings: Settings) -> Iterator[AgenticMemorySystem]:
    """An empty collection that takes notes in by eight."""
    with light(settings, "here") as memory:
        yield memory


@pytest.fixture
def year(settings: Settings, tmp_path: Path) -> Path:
    """An export of 24 notes of another collection: each linked to the next, each tenth superseded by it."""
    path = tmp_path / "year.jsonl"
    with light(settings, "year") as other:
        other.add_notes([{"content": f"Ship {n} called at harbour {n}.", "id": f"n{n:03}"} for n in range(24)])
        for n in range(23):
            other.link(f"n{n:03}", f"n{n + 1:03}", "caused_by", f"after {n}")
        for n in range(0, 23, 10):
            other.supersede(f"n{n:03}", f"n{n + 1:03}")
        path.write_text("".join(json.dumps(record) + "\n" for record in exported(other)))
    return path


def told(memory: AgenticMemorySystem) -> tuple[set[tuple[str, ...]], dict[str, tuple[str, str | None]]]:
    """Every link made by a person, and how every note stands."""
    notes = memory.list(Filter(statuses=tuple(Status)), limit=1000)
    links = {
        (link.source, link.target, str(link.type), link.reason)
        for note in notes
        for link in memory.links(note.id)
        if link.made_by == "user"
    }
    return links, {note.id: (str(note.status), note.superseded_by) for note in notes}


@pytest.mark.parametrize("batches", [1, 2])
def test_an_import_killed_after_some_batches_has_their_links_and_standing_and_gets_the_rest_when_run_again(
    here: AgenticMemorySystem, settings: Settings, year: Path, batches: int
) -> None:
    with light(settings, "whole") as other:
        Importer(other, cause="import").run(read_path(year, settings))
        links, standing = told(other)
    assert len(links) >= 23
    assert ("superseded", "n001") in standing.values()
    heard = 0

    def stop(done: int, total: int | None) -> None:
        nonlocal heard
        heard += 1
        if heard == batches:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Importer(here, cause="import", progress=stop).run(read_path(year, settings))

    some, stands = told(here)
    assert some == {link for link in links if link[0] in stands and link[1] in stands}
    assert stands == {id: standing[id] for id in stands}
    Importer(here, cause="import").run(read_path(year, settings))
    assert told(here) == (links, standing)


def test_what_an_import_of_an_earlier_amem_still_owes_is_made_when_the_file_is_imported_again(
    here: AgenticMemorySystem, settings: Settings, year: Path
) -> None:
    """Earlier versions stored every note first: one that was killed then left notes without links and standing."""
    bare = year.with_name("bare.jsonl")
    records = [json.loads(line) for line in year.read_text().splitlines()]
    bare.write_text("".join(json.dumps(r | {"links_out": [], "status": "active"}) + "\n" for r in records))
    Importer(here, cause="import").run(read_path(bare, settings))
    assert told(here)[0] == set()

    report = Importer(here, cause="import").run(read_path(year, settings))

    links, standing = told(here)
    assert (report.imported, report.duplicates, report.links) == (0, 24, len(links))
    assert len(links) >= 23
    assert standing["n000"] == ("superseded", "n001")


def test_importing_again_brings_back_no_link_and_no_standing_that_people_have_changed(
    here: AgenticMemorySystem, settings: Settings, year: Path
) -> None:
    Importer(here, cause="import").run(read_path(year, settings))
    here.unlink("n005", "n006", "caused_by")
    here.unsupersede("n010")
    before = told(here)

    report = Importer(here, cause="import").run(read_path(year, settings))

    assert (report.imported, report.links, told(here)) == (0, 0, before)


def test_undoing_an_import_of_several_batches_leaves_nothing(
    here: AgenticMemorySystem, settings: Settings, year: Path
) -> None:
    Importer(here, cause="import").run(read_path(year, settings))
    here.undo()
    assert here.count() == 0


@pytest.mark.parametrize(
    "broken",
    [
        {"at": "9999-12-31T23:59:59-23:59"},
        {"at": "0001-01-01T00:00:00+23:59"},
        {"at": 20260301},
        {"confidence": float("nan")},
        {"confidence": 10**400},
        {"type": "married_to"},
    ],
    ids=["too late", "too early", "no time", "no number", "too large", "no type"],
)
def test_a_link_that_cannot_be_kept_is_named_and_costs_no_other_link(
    here: AgenticMemorySystem, settings: Settings, year: Path, broken: dict[str, object]
) -> None:
    records = [json.loads(line) for line in year.read_text().splitlines()]
    records[7]["links_out"][0] |= broken
    year.write_text("".join(json.dumps(record) + "\n" for record in records))

    report = Importer(here, cause="import").run(read_path(year, settings))

    assert (report.imported, report.refused) == (23, 1)
    (problem,) = report.problems()
    assert problem.where == "line 8"
    links, standing = told(here)
    assert {"n005", "n006", "n008"} <= {link[0] for link in links}
    assert standing["n010"] == ("superseded", "n011")


@pytest.mark.parametrize("broken", [{"until": "9999-12-31T23:59:59-23:59"}, {"until": "soon"}, {"by": 3}])
def test_an_overturned_statement_that_cannot_be_kept_is_refused_with_its_line(
    here: AgenticMemorySystem, settings: Settings, year: Path, broken: dict[str, object]
) -> None:
    records = [json.loads(line) for line in year.read_text().splitlines()]
    statement = {"text": "Ship 3", "until": "2026-01-01T00:00:00+00:00", "by": "", "then": "", "reason": ""}
    records[3]["overturned"] = [statement | {"confidence": 1.0} | broken]
    records[4]["overturned"] = [statement | {"text": "Ship 4", "confidence": 1.0}]
    year.write_text("".join(json.dumps(record) + "\n" for record in records))

    report = Importer(here, cause="import").run(read_path(year, settings))

    assert [problem.where for problem in report.problems()] == ["line 4"]
    kept = here.read("n004")
    assert kept is not None
    assert [each.text for each in kept.overturned] == ["Ship 4"]
