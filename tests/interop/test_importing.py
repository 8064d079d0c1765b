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

if TYPE_CHECKING:
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
        "conversation": {"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": turns},
    }
    path = tmp_path / "a.json"
    path.write_text(json.dumps([sample]))

    bring_in(path)

    (hit,) = memory.search("Which animal did Ana adopt?")
    assert hit["sources"] == [
        {"conversation": "conv-7", "ref": "D1:1", "speaker": "Ana", "at": "2023-05-08T12:56:00+00:00"}
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
