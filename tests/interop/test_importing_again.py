"""A folder imported again is an update: changed, renamed and deleted files are followed, and one undo takes it back."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from amem.interop.file_update import Fate
from amem.interop.importing import Importer
from amem.interop.items import Incoming
from amem.interop.reader import read_path
from amem.memory_system import AgenticMemorySystem
from amem.note import Status
from amem.query import Filter
from amem.testing import HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conftest import Import

    from amem.interop.importing import ImportReport
    from amem.note import MemoryNote
    from amem.settings import Settings

ALL = Filter(statuses=tuple(Status))


@pytest.fixture
def memory(settings: Settings) -> Iterator[AgenticMemorySystem]:
    with AgenticMemorySystem(settings=settings, embedder=HashEmbedder(64)) as memory:
        yield memory


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    (folder / "日记").mkdir(parents=True)
    (folder / "bread.md").write_text("Feed the starter every evening.")
    (folder / "boat.md").write_text("The boat is moored at pier seven.")
    (folder / "日记" / "周一.md").write_text("今天去了里斯本的瓷砖博物馆。")
    return folder


def fates(report: ImportReport) -> dict[str, int]:
    return {str(fate): number for fate, number in report.files.items() if number}


def texts(memory: AgenticMemorySystem) -> dict[str, str]:
    """What is shown, by the file it came from."""
    return {note.metadata["path"]: note.content.split("\n\n", 1)[-1] for note in memory.list(limit=1000)}


def note_of(memory: AgenticMemorySystem, path: str) -> MemoryNote:
    (note,) = memory.list(Filter(metadata={"path": path}))
    return note


def test_a_changed_file_is_a_new_version_of_the_same_note_and_undo_brings_the_old_one_back(
    memory: AgenticMemorySystem, bring_in: Import, folder: Path
) -> None:
    bring_in(folder)
    before = note_of(memory, "bread.md").id
    (folder / "bread.md").write_text("Feed the starter twice a day, with rye.")

    report = bring_in(folder)

    assert fates(report) == {"changed": 1, "unchanged": 2}
    assert report.imported == 0
    changed = note_of(memory, "bread.md")
    assert changed.id == before
    assert "with rye" in changed.content
    assert [version.action for version in memory.history(before) if "content" in version.changes] == ["import"]
    assert memory.search("starter rye")[0].id == before
    memory.undo()
    assert texts(memory)["bread.md"] == "Feed the starter every evening."
    assert "rye" not in memory.search("starter")[0]["content"]


def test_renamed_changed_new_and_deleted_files_are_one_operation(
    memory: AgenticMemorySystem, bring_in: Import, folder: Path
) -> None:
    bring_in(folder)
    monday = note_of(memory, "日记/周一.md").id
    before = {note.id: (note.content, note.status, note.metadata) for note in memory.list(ALL)}
    (folder / "日记" / "周一.md").rename(folder / "里斯本.md")
    (folder / "bread.md").write_text("Feed the starter twice a day.")
    (folder / "boat.md").unlink()
    (folder / "tea.md").write_text("Tea at five.")

    report = bring_in(folder)

    assert fates(report) == {"new": 1, "changed": 1, "renamed": 1, "gone": 1}
    assert note_of(memory, "里斯本.md").id == monday
    assert texts(memory) == {
        "bread.md": "Feed the starter twice a day.",
        "里斯本.md": "今天去了里斯本的瓷砖博物馆。",
        "tea.md": "Tea at five.",
    }
    assert len(report.operations) == 1
    assert fates(bring_in(folder)) == {"unchanged": 3}
    memory.undo()
    after = {note.id: (note.content, note.status, note.metadata) for note in memory.list(ALL)}
    assert {id: after[id] for id in before} == before


def test_a_second_import_of_the_same_files_leaves_no_trace_in_the_log(
    memory: AgenticMemorySystem, bring_in: Import, folder: Path
) -> None:
    bring_in(folder)
    before = memory.log()
    os.utime(folder / "boat.md", (1, 1))

    assert fates(bring_in(folder)) == {"unchanged": 3}
    assert memory.log() == before


@pytest.mark.parametrize("content", [b"ab\xe9", "里".encode("utf-16")], ids=["bad bytes", "UTF-16"])
def test_a_file_that_cannot_be_read_this_time_is_not_gone(
    memory: AgenticMemorySystem, bring_in: Import, folder: Path, content: bytes
) -> None:
    bring_in(folder)
    (folder / "boat.md").write_bytes(content)

    report = bring_in(folder)

    assert [each.where for each in report.problems()] == ["boat.md"]
    assert fates(report) == {"unchanged": 2}
    assert texts(memory)["boat.md"] == "The boat is moored at pier seven."


def test_a_file_too_large_to_read_is_not_gone(
    memory: AgenticMemorySystem, bring_in: Import, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring_in(folder)
    monkeypatch.setattr("amem.interop.decoding.WHOLE", 35)
    (folder / "boat.md").write_text("The boat is moored at pier seven." * 9)

    report = bring_in(folder)

    assert [each.where for each in report.problems()] == ["日记/周一.md", "boat.md"] or len(report.problems()) == 2
    assert Fate.GONE not in fates(report)
    assert set(texts(memory)) == {"bread.md", "boat.md", "日记/周一.md"}


def test_one_file_imported_again_updates_that_file_and_marks_no_other_gone(
    memory: AgenticMemorySystem, bring_in: Import, folder: Path
) -> None:
    bring_in(folder)
    (folder / "bread.md").write_text("Feed the starter twice a day.")
    (folder / "boat.md").unlink()

    report = bring_in(folder / "bread.md")

    assert fates(report) == {"changed": 1}
    assert texts(memory)["bread.md"] == "Feed the starter twice a day."
    assert set(texts(memory)) == {"bread.md", "boat.md", "日记/周一.md"}
    assert fates(bring_in(folder)) == {"unchanged": 2, "gone": 1}


def test_a_folder_inside_the_imported_one_is_about_the_same_files(
    memory: AgenticMemorySystem, bring_in: Import, folder: Path
) -> None:
    bring_in(folder)
    assert fates(bring_in(folder / "日记")) == {"unchanged": 1}
    assert memory.count() == 3


def test_a_file_that_comes_back_shows_its_note_again(
    memory: AgenticMemorySystem, bring_in: Import, folder: Path
) -> None:
    bring_in(folder)
    id = note_of(memory, "boat.md").id
    (folder / "boat.md").rename(folder.parent / "boat.md")
    bring_in(folder)
    assert memory.read(id) is None
    (folder.parent / "boat.md").rename(folder / "boat.md")

    bring_in(folder)

    assert note_of(memory, "boat.md").id == id
    assert memory.search("where is the boat moored?")[0].id == id


def test_a_note_of_a_file_that_is_gone_can_be_restored_and_then_stays(
    memory: AgenticMemorySystem, bring_in: Import, folder: Path
) -> None:
    bring_in(folder)
    id = note_of(memory, "boat.md").id
    (folder / "boat.md").unlink()
    bring_in(folder)
    memory.restore(id)

    assert fates(bring_in(folder)) == {"unchanged": 2}
    assert memory.read(id) is not None


def test_what_a_person_edited_in_amem_stays_and_is_named_when_its_file_changes(
    memory: AgenticMemorySystem, bring_in: Import, folder: Path
) -> None:
    bring_in(folder)
    id = note_of(memory, "boat.md").id
    memory.update(id, content="The boat is at pier nine.", tags=["harbour"])
    assert fates(bring_in(folder)) == {"unchanged": 3}
    (folder / "boat.md").write_text("The boat is at pier eleven.")

    for _ in range(2):
        report = bring_in(folder)

        assert [(each.file, each.note) for each in report.kept] == [("boat.md", id)]
        assert "edited" in report.kept[0].why
        note = memory.read(id)
        assert note is not None
        assert note.content == "The boat is at pier nine."
        assert memory.count() == 3
    memory.update(id, content="# boat\n\nThe boat is at pier eleven.")
    assert bring_in(folder).kept == []
    assert bring_in(folder).kept == []


def test_a_persons_tags_stay_when_the_text_of_the_file_changes(
    memory: AgenticMemorySystem, bring_in: Import, folder: Path
) -> None:
    (folder / "boat.md").write_text("---\ntags: [sea]\n---\nThe boat is moored at pier seven.")
    bring_in(folder)
    memory.update(note_of(memory, "boat.md").id, tags=["harbour"])
    (folder / "boat.md").write_text("---\ntags: [ocean]\nowner: Ana\n---\nThe boat is at pier eleven.")

    bring_in(folder)

    note = note_of(memory, "boat.md")
    assert (note.tags, note.metadata["owner"]) == (["harbour"], "Ana")
    assert "pier eleven" in note.content


def test_front_matter_alone_changes_tags_and_metadata_and_takes_away_what_it_no_longer_says(
    memory: AgenticMemorySystem, bring_in: Import, folder: Path
) -> None:
    (folder / "boat.md").write_text("---\ntags: [sea]\nowner: Ana\n---\nThe boat is moored at pier seven.")
    bring_in(folder)
    memory.update(note_of(memory, "boat.md").id, metadata=note_of(memory, "boat.md").metadata | {"mine": 1})
    (folder / "boat.md").write_text("---\ntags: [ocean]\n---\nThe boat is moored at pier seven.")

    assert fates(bring_in(folder)) == {"changed": 1, "unchanged": 2}

    note = note_of(memory, "boat.md")
    assert note.tags == ["ocean"]
    assert "owner" not in note.metadata
    assert note.metadata["mine"] == 1


def test_a_note_deleted_in_amem_stays_deleted(memory: AgenticMemorySystem, bring_in: Import, folder: Path) -> None:
    bring_in(folder)
    id = note_of(memory, "boat.md").id
    memory.delete(id)

    assert bring_in(folder).imported == 0
    (folder / "boat.md").write_text("The boat is at pier eleven.")
    report = bring_in(folder)

    assert [each.note for each in report.kept] == [id]
    assert memory.count() == 2


def test_an_edited_note_of_a_file_that_is_gone_stays_as_a_note_of_its_own(
    memory: AgenticMemorySystem, bring_in: Import, folder: Path
) -> None:
    bring_in(folder)
    id = note_of(memory, "boat.md").id
    memory.update(id, content="The boat is at pier nine.")
    (folder / "boat.md").unlink()

    assert [each.note for each in bring_in(folder).kept] == [id]
    assert bring_in(folder).kept == []
    assert memory.read(id) is not None


def test_a_user_id_that_changes_moves_the_note_to_that_user_and_the_rest_is_updated(
    memory: AgenticMemorySystem, bring_in: Import, folder: Path
) -> None:
    (folder / "boat.md").write_text("---\nuser_id: ana\n---\nThe boat is moored at pier seven.")
    bring_in(folder)
    before = note_of(memory, "boat.md").id
    (folder / "boat.md").write_text("---\nuser_id: wen\n---\nThe boat is moored at pier seven.")
    (folder / "bread.md").write_text("Feed the starter twice a day.")

    report = bring_in(folder)

    assert fates(report) == {"changed": 2, "unchanged": 1}
    assert note_of(memory, "boat.md").id != before
    assert [note.metadata["path"] for note in memory.list(Filter(user_id="wen"))] == ["boat.md"]
    assert memory.list(Filter(user_id="ana")) == []
    assert "twice" in texts(memory)["bread.md"]
    memory.undo()
    assert [note.id for note in memory.list(Filter(user_id="ana"))] == [before]


def test_a_user_id_that_no_note_may_have_is_refused_with_its_file_and_the_rest_is_updated(
    memory: AgenticMemorySystem, bring_in: Import, folder: Path
) -> None:
    bring_in(folder)
    (folder / "boat.md").write_text("---\nuser_id: [ana, wen]\n---\nThe boat is at pier eleven.")
    (folder / "bread.md").write_text("Feed the starter twice a day.")

    report = bring_in(folder)

    assert [each.where for each in report.problems()] == ["boat.md"]
    assert "pier seven" in texts(memory)["boat.md"]
    assert "twice" in texts(memory)["bread.md"]


def test_a_renamed_file_is_no_note_of_another_user(memory: AgenticMemorySystem, bring_in: Import, folder: Path) -> None:
    (folder / "boat.md").write_text("---\nuser_id: ana\n---\nThe boat is moored at pier seven.")
    bring_in(folder)
    before = note_of(memory, "boat.md").id
    (folder / "boat.md").unlink()
    (folder / "ship.md").write_text("---\nuser_id: wen\n---\nThe boat is moored at pier seven.")

    assert fates(bring_in(folder)) == {"new": 1, "gone": 1, "unchanged": 2}
    assert note_of(memory, "ship.md").id != before


def test_two_files_with_the_same_words_are_two_notes(
    memory: AgenticMemorySystem, bring_in: Import, folder: Path
) -> None:
    (folder / "日记" / "boat.md").write_text((folder / "boat.md").read_text())
    assert bring_in(folder).imported == 4
    (folder / "boat.md").unlink()

    assert fates(bring_in(folder)) == {"gone": 1, "unchanged": 3}
    assert "日记/boat.md" in texts(memory)


def test_a_new_file_where_a_renamed_one_was_is_a_note_of_its_own(
    memory: AgenticMemorySystem, bring_in: Import, folder: Path
) -> None:
    bring_in(folder)
    text = (folder / "boat.md").read_text()
    (folder / "boat.md").rename(folder / "ship.md")
    bring_in(folder)
    (folder / "boat.md").write_text(text)

    report = bring_in(folder)

    assert (report.imported, fates(report)) == (1, {"new": 1, "unchanged": 3})
    assert fates(bring_in(folder)) == {"unchanged": 4}


def test_whose_the_sources_of_all_files_are_is_asked_once(
    memory: AgenticMemorySystem, bring_in: Import, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    look = memory.notes_of_sources
    monkeypatch.setattr(memory, "notes_of_sources", lambda ids: asked.append(len(ids)) or look(ids))

    bring_in(folder)
    bring_in(folder)

    assert asked == [3]


def test_a_vault_that_was_moved_is_the_same_vault(memory: AgenticMemorySystem, bring_in: Import, folder: Path) -> None:
    bring_in(folder)
    folder.rename(folder.parent / "elsewhere")

    assert fates(bring_in(folder.parent / "elsewhere")) == {"renamed": 3}
    assert memory.count() == 3


def test_a_paragraph_of_a_text_that_changed_is_a_new_version_of_its_note(
    memory: AgenticMemorySystem, bring_in: Import, tmp_path: Path
) -> None:
    text = tmp_path / "log.txt"
    text.write_text("The boat is moored at pier seven.\n\nFeed the starter every evening.\n\n周一去了瓷砖博物馆。\n")
    bring_in(text)
    ids = {note.content: note.id for note in memory.list()}

    text.write_text("The boat is moored at pier nine.\n\n周一去了瓷砖博物馆。\n\nTea at five.\n")
    report = bring_in(text)

    assert (fates(report), report.imported) == ({"changed": 1}, 1)
    now = {note.content: note.id for note in memory.list()}
    assert now.keys() == {"The boat is moored at pier nine.", "周一去了瓷砖博物馆。", "Tea at five."}
    assert now["The boat is moored at pier nine."] == ids["The boat is moored at pier seven."]
    assert now["周一去了瓷砖博物馆。"] == ids["周一去了瓷砖博物馆。"]
    assert fates(bring_in(text)) == {"unchanged": 1}
    memory.undo()
    assert {note.content: note.id for note in memory.list()} == ids


def test_a_text_that_is_emptied_hides_its_notes(memory: AgenticMemorySystem, bring_in: Import, tmp_path: Path) -> None:
    text = tmp_path / "log.txt"
    text.write_text("Tea at five.\n")
    bring_in(text)
    text.write_text("")
    assert fates(bring_in(text)) == {"gone": 1}
    assert memory.count() == 0


def test_notes_of_a_text_that_knew_no_file_are_not_made_again(
    memory: AgenticMemorySystem, bring_in: Import, settings: Settings, tmp_path: Path
) -> None:
    text = tmp_path / "log.txt"
    text.write_text("Tea at five.\n\nNo sugar.\n")
    items = (item for item in read_path(text, settings) if isinstance(item, Incoming))
    Importer(memory, cause="as it was").run(replace(item, place=None) for item in items)

    assert (bring_in(text).imported, memory.count()) == (0, 2)


def test_empty_files_are_counted_and_are_no_failure(
    memory: AgenticMemorySystem, bring_in: Import, folder: Path
) -> None:
    (folder / "a.md").write_text("")
    (folder / "b.md").write_text("---\ntags: x\n---\n")

    report = bring_in(folder)

    assert (report.imported, report.empty, report.refused) == (3, 2, 0)


def test_an_import_that_was_undone_can_be_made_again(
    memory: AgenticMemorySystem, bring_in: Import, folder: Path
) -> None:
    bring_in(folder)
    memory.undo()

    assert bring_in(folder).imported == 3
    assert memory.count() == 3


def test_a_note_brought_in_by_an_earlier_version_is_taken_for_that_of_its_file(
    memory: AgenticMemorySystem, bring_in: Import, folder: Path
) -> None:
    """They told the path from their folder, and the content had the title where the text had none."""
    old = memory.add("# boat\n\nThe boat is moored at pier seven.", metadata={"title": "boat", "path": "boat.md"}).id

    report = bring_in(folder)

    assert (report.imported, memory.count()) == (2, 3)
    (folder / "boat.md").write_text("The boat is at pier eleven.")
    assert fates(bring_in(folder)) == {"changed": 1, "unchanged": 2}
    assert note_of(memory, "boat.md").id == old


def test_an_update_that_is_stopped_half_way_is_finished_by_the_next_import(
    memory: AgenticMemorySystem, settings: Settings, folder: Path
) -> None:
    for n in range(20):
        (folder / f"ship {n}.md").write_text(f"Ship {n} called at harbour {n}.")
    Importer(memory, cause="import").run(read_path(folder, settings))
    for n in range(100):
        (folder / f"船 {n}.md").write_text(f"第{n}号船停靠在{n}号码头。")
    (folder / "ship 3.md").unlink()
    (folder / "ship 4.md").rename(folder / "vessel 4.md")
    (folder / "ship 5.md").write_text("Ship 5 sank.")

    def stop(done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Importer(memory, cause="import", progress=stop).run(read_path(folder, settings))
    report = Importer(memory, cause="import").run(read_path(folder, settings))

    assert report.files[Fate.CHANGED] == report.files[Fate.RENAMED] == report.files[Fate.GONE] == 1
    assert set(texts(memory)) == {path.relative_to(folder).as_posix() for path in folder.rglob("*.md")}
    assert texts(memory)["ship 5.md"] == "Ship 5 sank."
