"""Pages that amem writes by itself, and copies of the whole that it makes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from amem.errors import InvalidInput

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Desk


def topic(desk: Desk, *cited: str) -> str:
    """A page as maintenance makes them: a note of the kind topic that cites by the beginnings of ids."""
    content = "# Swimming\n\n2 notes.\n\n" + "\n".join(f"- so it is [[{id[:8]}]]" for id in cited)
    return desk.memory.add(content, kind="topic", metadata={"topic": {"labels": ["swim"]}}).id


def test_a_topic_page_names_the_files_of_its_notes(desk: Desk) -> None:
    one, two = desk.memory.add("The pool opens at six.").id, desk.memory.add("Bring a towel.").id
    topic(desk, one, two)
    desk.settled()
    page = desk.files()["Topics/Swimming.md"]
    assert "- so it is [[The pool opens at six]]\n- so it is [[Bring a towel]]\n" in page
    assert "generated: true" in page
    (desk.folder / "Bring a towel.md").rename(desk.folder / "Towel.md")
    desk.settled()
    assert "[[Towel]]" in desk.files()["Topics/Swimming.md"]


def test_an_edited_topic_page_is_neither_taken_over_nor_overwritten(desk: Desk) -> None:
    one = desk.memory.add("The pool opens at six.").id
    id = topic(desk, one)
    desk.settled()
    desk.replace("Topics/Swimming.md", "2 notes.", "2 notes, and mine.")
    edited = desk.files()["Topics/Swimming.md"]
    for _ in range(2):
        report = desk.sync()
        assert report.is_quiet
        assert [step.path for step in report.problems] == ["Topics/Swimming.md"]
    desk.memory.update(id, content="# Swimming\n\n3 notes.")
    assert desk.sync().problems
    assert desk.files()["Topics/Swimming.md"] == edited
    note = desk.memory.read(id)
    assert note is not None
    assert "mine" not in note.content


def test_a_moved_topic_page_is_followed(desk: Desk) -> None:
    id = topic(desk, desk.memory.add("The pool opens at six.").id)
    desk.settled()
    (desk.folder / "Topics/Swimming.md").rename(desk.folder / "Swim.md")
    desk.settled()
    desk.memory.update(id, content="# Swimming\n\n3 notes.")
    desk.settled()
    assert "3 notes" in desk.files()["Swim.md"]
    assert "Topics/Swimming.md" not in desk.files()


def test_an_export_writes_the_same_files_and_only_what_changed_again(desk: Desk, tmp_path: Path) -> None:
    one, two = desk.memory.add("The pool opens at six.").id, desk.memory.add("Bring a towel.").id
    desk.memory.link(one, two, "supports", "so")
    desk.settled()
    folder = tmp_path / "copy"
    vault = desk.memory.vault(folder)
    assert vault.export().written == 2
    assert {path.name: path.read_text() for path in folder.glob("*.md")} == desk.files()

    desk.memory.update(one, content="The pool opens at seven.")
    desk.memory.delete(two)
    three = desk.memory.add("Go early.").id
    report = vault.export()
    assert (report.written, report.unchanged, report.removed) == (2, 0, 1)
    assert sorted(path.name for path in folder.glob("*.md")) == ["Go early.md", "The pool opens at six.md"]

    (folder / "Go early.md").write_text("mine\n")
    desk.memory.update(three, content="Go late.")
    report = vault.export()
    assert (report.unchanged, [path for path, _ in report.problems]) == (1, ["Go early.md"])
    assert (folder / "Go early.md").read_text() == "mine\n"
    assert vault.export(force=True).written == 1
    assert "Go late." in (folder / "Go early.md").read_text()


def test_an_export_goes_into_no_folder_that_holds_other_files(desk: Desk, tmp_path: Path) -> None:
    desk.memory.add("The pool opens at six.")
    desk.settled()
    with pytest.raises(InvalidInput, match="kept in step"):
        desk.memory.vault(desk.folder).export()
    (tmp_path / "own.txt").write_text("mine")
    with pytest.raises(InvalidInput, match="holds other files"):
        desk.memory.vault(tmp_path).export()


def test_an_exported_folder_can_be_kept_in_step_by_another_collection(
    desk: Desk, tmp_path: Path, open_memory: object
) -> None:
    one, two = desk.memory.add("The pool opens at six.").id, desk.memory.add("Bring a towel.").id
    desk.memory.link(one, two, "supports", "so")
    desk.memory.vault(tmp_path / "copy").export()
    other = open_memory(directory=None)  # type: ignore[operator]
    vault = other.vault(tmp_path / "copy")
    assert [step.what for step in vault.sync().to_notes] == ["added", "added"]
    assert vault.sync().is_quiet
    assert other.read(one).content == "The pool opens at six."
    assert [(link.target, str(link.type), link.reason) for link in other.links(one)] == [(two, "supports", "so")]


def test_a_folder_that_moved_is_the_same_and_a_copy_of_it_is_another(desk: Desk, tmp_path: Path) -> None:
    import shutil

    id = desk.memory.add("The pool opens at six.").id
    desk.settled()
    moved = tmp_path / "moved"
    desk.folder.rename(moved)
    (moved / "The pool opens at six.md").unlink()
    assert [step.what for step in desk.memory.vault(moved).sync().to_notes] == ["deleted"]
    desk.memory.undo()
    desk.memory.vault(moved).sync()

    shutil.copytree(moved, tmp_path / "copied")
    desk.memory.update(id, content="The pool opens at seven.")
    desk.memory.vault(moved).sync()
    report = desk.memory.vault(tmp_path / "copied").sync()
    note = desk.memory.read(id)
    assert note is not None
    assert note.content == "The pool opens at seven."  # an older copy takes nothing back
    assert [step.what for step in report.conflicts] == ["conflict"]
