"""A sync that ends half way: the next one goes on, and no note is there twice or lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from amem.vault.folder import Folder

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Desk


class Killed(BaseException):
    """What no handler of errors catches."""


def changed_on_both_sides(desk: Desk) -> dict[str, str]:
    """A vault with changes of every sort; the text that each file is to have in the end."""
    ids = {
        name: desk.memory.add(f"{name}\n\nline\n\nlast").id for name in ("One", "Two", "Three", "Four", "Five", "Six")
    }
    desk.memory.link(ids["One"], ids["Two"], "supports")
    desk.settled()
    desk.replace("One.md", "line", "file's line")
    desk.memory.update(ids["One"], content="One\n\nline\n\nnote's last")
    desk.replace("Two.md", "line", "file's line")
    desk.memory.update(ids["Three"], content="Three\n\nnote's line\n\nlast")
    (desk.folder / "Four.md").unlink()
    desk.memory.delete(ids["Five"])
    desk.replace("Six.md", "line", "file's line")
    desk.memory.update(ids["Six"], content="Six\n\nnote's line\n\nlast")
    desk.write("New.md", "New [[One]]\n")
    desk.write("Newer.md", "Newer [[New]]\n")
    return {
        "One.md": "One\n\nfile's line\n\nnote's last",
        "Two.md": "Two\n\nfile's line\n\nlast",
        "Three.md": "Three\n\nnote's line\n\nlast",
        "Six.md": "Six\n\nnote's line\n\nlast",
        "New.md": "New [[One]]",
        "Newer.md": "Newer [[New]]",
    }


def holds(desk: Desk, wanted: dict[str, str]) -> None:
    files = desk.files()
    beside = [path for path in files if "conflict of amem" in path]
    assert len(beside) == 1
    assert "Six\n\nfile's line\n\nlast" in files[beside[0]]
    assert {path: desk.content(path) for path in files if path not in beside} == wanted
    assert all(text in files[path] for path, text in wanted.items())
    assert desk.memory.count() == len(wanted)


def some(steps: range, *fast: int) -> list[Any]:
    """All steps, of which only these are not thorough."""
    return [step if step in fast else pytest.param(step, marks=pytest.mark.thorough) for step in steps]


@pytest.mark.parametrize("at", some(range(1, 10), 2, 5))
@pytest.mark.parametrize("after", [False, True])
def test_a_sync_that_ends_at_any_file_is_gone_on_with(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, at: int, after: bool
) -> None:
    wanted = changed_on_both_sides(desk)
    put, puts = Folder.put, [0]

    def dies(self: Folder, *words: Any, **options: Any) -> Any:
        puts[0] += 1
        if puts[0] == at and not after:
            raise Killed
        done = put(self, *words, **options)
        if puts[0] == at:
            raise Killed
        return done

    with monkeypatch.context() as patch:
        patch.setattr(Folder, "put", dies)
        try:
            desk.sync()
        except Killed:
            pass
        else:
            assert puts[0] < at
    desk.settled()
    holds(desk, wanted)


@pytest.mark.parametrize("at", some(range(1, 14), 2, 5, 9))
def test_a_sync_that_ends_before_any_commit_is_gone_on_with(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    wanted = changed_on_both_sides(desk)
    write, writes = desk.memory.parts.store.write, [0]

    def dies(**options: Any) -> Any:
        writes[0] += 1
        if writes[0] == at:
            raise Killed
        return write(**options)

    with monkeypatch.context() as patch:
        patch.setattr(desk.memory.parts.store, "write", dies)
        try:
            desk.sync()
        except Killed:
            pass
        else:
            assert writes[0] < at
    desk.settled()
    holds(desk, wanted)


_CHILD = """
import os, signal, sys
from amem import AgenticMemorySystem
from amem.testing import HashEmbedder, ScriptedAnalyst
from amem.vault.folder import Folder
put, left = Folder.put, [int(sys.argv[3])]
def dies(self, *words, **options):
    left[0] -= 1
    if left[0] == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return put(self, *words, **options)
Folder.put = dies
memory = AgenticMemorySystem(directory=sys.argv[1], embedder=HashEmbedder(64), analyst=ScriptedAnalyst())
memory.vault(sys.argv[2]).sync()
"""


@pytest.mark.thorough
def test_a_killed_process_leaves_nothing_behind_that_the_next_one_minds(open_memory: Any, tmp_path: Path) -> None:
    from amem.testing import HashEmbedder

    memory = open_memory(embedder=HashEmbedder(64))
    memory.add_notes([f"Note {number} of many." for number in range(30)])
    folder = tmp_path / "vault"
    folder.mkdir()
    for number in range(10):
        (folder / f"Own {number}.md").write_text(f"Own text {number}.\n")
    for at in (5, 30):
        child = [sys.executable, "-c", _CHILD, str(memory.folder.parent), str(folder), str(at)]
        ended = subprocess.run(child, env=os.environ, timeout=120, check=False)
        assert ended.returncode == -signal.SIGKILL
    (folder / ".half.amem-part").write_text("half")
    vault = memory.vault(folder)
    vault.sync()
    assert vault.sync().is_quiet
    assert memory.count() == 40
    assert len(list(folder.glob("*.md"))) == 40
    assert not list(folder.glob(".*.amem-part"))


def begun(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two files whose notes were made by a sync that was killed before it wrote any file."""
    desk.write("Pool.md", "The pool opens at six, see [[Bus]].\n")
    desk.write("Bus.md", "---\ntags: [city]\n---\nThe bus takes an hour.\n")

    def dies(self: Folder, *words: Any, **options: Any) -> Any:
        raise Killed

    desk.folder.joinpath(".amem").mkdir()
    Folder(desk.folder).identify()
    with monkeypatch.context() as patch:
        patch.setattr(Folder, "put", dies)
        with pytest.raises(Killed):
            desk.sync()
    assert desk.memory.count() == 2
    assert "id:" not in "".join(desk.files().values())


def test_a_first_sync_writes_each_file_once(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.write("Pool.md", "The pool opens at six, see [[Bus]].\n")
    desk.write("city/Bus.md", "The bus takes an hour.\n")
    write, written = Folder.write, []

    def seen(self: Folder, path: str, *words: Any, **options: Any) -> Any:
        written.append(path)
        return write(self, path, *words, **options)

    monkeypatch.setattr(Folder, "write", seen)
    desk.sync()
    assert sorted(written) == ["Pool.md", "city/Bus.md"]


def test_what_was_written_since_a_killed_first_sync_goes_to_the_note(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun(desk, monkeypatch)
    desk.replace("Pool.md", "six", "nine")
    report = desk.settled()
    assert not report.conflicts
    assert desk.content("Pool.md") == "The pool opens at nine, see [[Bus]]."
    assert desk.memory.count() == 2
    assert [link.target for link in desk.memory.links(desk.id_of("Pool.md"))] == [desk.id_of("Bus.md")]
    note = desk.memory.read(desk.id_of("Bus.md"))
    assert note is not None
    assert note.tags == ["city"]


@pytest.mark.parametrize("edited", [False, True])
def test_a_file_moved_since_a_killed_first_sync_is_the_same_note_unless_it_was_edited_too(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, edited: bool
) -> None:
    begun(desk, monkeypatch)
    ids = {note.id for note in desk.memory.list()}
    (desk.folder / "city").mkdir()
    (desk.folder / "Bus.md").rename(desk.folder / "city" / "Bus.md")
    if edited:
        desk.replace("city/Bus.md", "an hour", "two hours")
    desk.settled()
    assert set(desk.files()) == {"Pool.md", "city/Bus.md"}
    assert ({note.id for note in desk.memory.list()} == ids) is not edited
    assert desk.memory.count() == 2


def test_a_note_hidden_since_a_killed_first_sync_takes_its_file_along(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun(desk, monkeypatch)
    desk.memory.delete(next(note.id for note in desk.memory.list() if "bus" in note.content))
    desk.settled()
    assert list(desk.files()) == ["Pool.md"]
    assert "The bus" in (desk.folder / ".trash" / "Bus.md").read_text()


def test_a_note_purged_since_a_killed_first_sync_does_not_come_back(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun(desk, monkeypatch)
    desk.memory.purge([next(note.id for note in desk.memory.list() if "bus" in note.content)])
    desk.settled()
    assert list(desk.files()) == ["Pool.md"]
    assert not list(desk.folder.rglob(".trash/*"))
    assert desk.memory.count() == 1


def test_a_file_that_is_no_note_stays_as_it_is_and_is_asked_again(desk: Desk) -> None:
    limit = desk.memory.settings.max_note_chars
    long = desk.write("Long.md", "word " * limit)
    before = long.read_bytes()
    assert [step.path for step in desk.sync().problems] == ["Long.md"]
    assert long.read_bytes() == before
    desk.write("Long.md", "Shorter now.\n")
    assert not desk.settled().problems
    assert desk.content("Long.md") == "Shorter now."
    assert desk.memory.count() == 1
