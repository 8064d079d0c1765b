"""``amem vault`` and ``amem export --markdown``, as a person at a terminal has them."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Cli


def test_a_folder_and_the_notes_are_brought_into_step_and_told_so(cli: Cli, tmp_path: Path) -> None:
    cli.add("Ana lives in Lisbon.")
    folder = tmp_path / "vault"
    assert "would change in the folder: 1 written" in cli.ok("vault", "status", str(folder))
    assert not folder.exists()
    assert "1 written" in cli.ok("vault", "sync", str(folder))
    (folder / "Pool.md").write_text("The pool opens at six. See [[Ana lives in Lisbon]].\n")

    result = cli("vault", "sync", str(folder), "--dry-run")
    assert "would change in amem: 1 added\n  added     Pool.md (its id is written into it)" in result.stdout
    result = cli("vault", "sync", str(folder))
    assert "change in amem: 1 added\n  added     Pool.md (its id is written into it)" in result.stdout
    assert "undo with:" in result.stderr
    assert cli.ok("vault", "sync", str(folder)) == "Nothing to do: 2 notes match their files\n"

    assert "1 note removed" in cli.ok("undo")
    (step,) = cli.json("vault", "sync", str(folder))["to_files"]
    assert (step["what"], step["path"]) == ("removed", "Pool.md")
    assert step["more"] == "its note is deleted; the file is kept as .trash/Pool.md"
    assert cli.ok("vault", "sync", str(folder)) == "Nothing to do: 1 note matches its file\n"


def test_a_file_that_an_undo_takes_away_is_named_with_where_it_is_and_how_to_have_it_back(
    cli: Cli, tmp_path: Path
) -> None:
    folder, words = tmp_path / "vault", "My boat is green. 我的船是绿色的。\n"
    folder.mkdir()
    (folder / "Boat.md").write_text(words, encoding="utf-8")
    cli.ok("vault", "sync", str(folder))
    cli.ok("undo")

    planned, result = cli("vault", "sync", str(folder), "--dry-run"), cli("vault", "sync", str(folder))

    named = "  removed   Boat.md (its note is deleted; the file is kept as .trash/Boat.md)"
    assert named in planned.stdout
    assert "bring" not in planned.stderr
    assert named in result.stdout
    assert words in (folder / ".trash" / "Boat.md").read_text(encoding="utf-8")
    (back,) = re.findall(r"bring it back, and with the next sync the files, with: amem (.+)", result.stderr)
    cli.ok(*shlex.split(back))
    cli.ok("vault", "sync", str(folder))
    assert words in (folder / "Boat.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", [("sync", "--dry-run"), ("status",)])
def test_what_a_first_sync_would_do_is_said_before_there_is_any_note(
    cli: Cli, tmp_path: Path, command: tuple[str, ...]
) -> None:
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "Pool.md").write_text("The pool opens at six.\n")
    (tmp_path / "vault" / "Empty.md").write_text("")
    result = cli("vault", command[0], str(tmp_path / "vault"), *command[1:])
    assert "would change in amem: 1 added\n  added     Pool.md" in result.stdout
    assert "1 file without text waits until it has some: Empty.md" in result.stderr
    assert cli.json("list") == []
    assert not (tmp_path / "vault" / ".amem").exists()


@pytest.mark.parametrize("text", ["Ana lives in Lisbon.", "安娜住在里斯本。"])
def test_a_folder_that_is_kept_in_step_is_not_imported_beside_that(cli: Cli, tmp_path: Path, text: str) -> None:
    cli.add(text)
    folder = tmp_path / "vault"
    cli.ok("vault", "sync", str(folder))
    (folder / "mine").mkdir()
    (file,) = folder.glob("*.md")
    file.rename(folder / "mine" / file.name)
    for path in (folder, folder / "mine", folder / "mine" / file.name):
        said = cli.refused("import", str(path))
        assert said.startswith(
            f"{path} holds files that amem wrote of its notes; a sync takes in what changed in them ("
        )
        assert said.endswith(f"vault sync {folder})")
    assert len(cli.json("list")) == 1

    other = tmp_path / "other"
    other.mkdir()
    (other / file.name).write_text("A note of somebody else's.", encoding="utf-8")
    assert "imported 1 note" in cli.ok("import", str(other))
    assert "imported 1 note" in cli.ok("--collection", "work", "import", str(folder / "mine"))


def test_what_cannot_be_used_is_named_and_the_command_fails(cli: Cli, tmp_path: Path) -> None:
    cli.add("Ana lives in Lisbon.")
    folder = tmp_path / "vault"
    cli.ok("vault", "sync", str(folder))
    (folder / "Broken.md").write_text("---\nhalf a line\n---\ntext\n")
    result = cli("vault", "sync", str(folder))
    assert result.exit_code == 1
    assert "left alone: Broken.md: line 2 of its front matter is no 'name: value': half a line" in result.stderr
    assert "Nothing to do: 1 note matches its file" in result.stdout
    assert cli("vault", "status", str(folder)).exit_code == 1


def test_a_conflict_is_told_until_it_is_settled(cli: Cli, tmp_path: Path) -> None:
    id = cli.add("The door code is 1234.")
    folder = tmp_path / "vault"
    cli.ok("vault", "sync", str(folder))
    path = folder / "The door code is 1234.md"
    path.write_text(path.read_text().replace("1234.", "1111."))
    cli.ok("edit", id, "--content", "The door code is 2222.")
    result = cli("vault", "sync", str(folder))
    assert "conflict: The door code is 1234.md: both changed its text" in result.stdout
    assert "1 conflict waits" in result.stderr
    assert "1 conflict waits" in cli("vault", "status", str(folder)).stderr


def test_notes_are_exported_as_markdown_files(cli: Cli, tmp_path: Path) -> None:
    cli.add("Ana lives in Lisbon.", "--tag", "people")
    cli.add("Buy soap.", "--tag", "todo")
    folder = tmp_path / "copy"
    assert cli.json("export", "--markdown", str(folder))["written"] == 2
    assert cli.json("export", "--markdown", str(folder))["unchanged"] == 2
    assert cli.json("export", "--markdown", str(tmp_path / "some"), "--tag", "todo")["written"] == 1
    assert "no folder was named" in cli.refused("export", "--markdown")


def until(true: Callable[[], bool]) -> None:
    for _ in range(1200):
        if true():
            return
        time.sleep(0.1)
    raise AssertionError("it never came")


@pytest.mark.thorough
def test_a_watched_folder_follows_both_sides_until_it_is_interrupted(cli: Cli, tmp_path: Path) -> None:
    cli.add("Ana lives in Lisbon.")
    folder = tmp_path / "vault"
    words = [
        sys.executable,
        "-c",
        "from amem.cli import main; main()",
        "--home",
        str(cli.home),
        "vault",
        "watch",
        str(folder),
    ]
    report = tmp_path / "report"
    environment = {**os.environ, **cli.env, "PYTHONUNBUFFERED": "1"}
    with report.open("wb") as out:
        watching = subprocess.Popen(words, env=environment, stdout=out, stderr=subprocess.PIPE)
    try:
        until((folder / "Ana lives in Lisbon.md").exists)
        own = folder / "Own.md"
        own.write_text("The pool opens at six.\n")
        until(lambda: own.read_text().startswith("---\nid: "))
        until(lambda: b"1 added" in report.read_bytes())
        cli.add("Buy soap.")
        until((folder / "Buy soap.md").exists)
        watching.send_signal(signal.SIGINT)
        _, complaints = watching.communicate(timeout=120)
    finally:
        watching.kill()
    assert watching.returncode == 0, complaints
    assert b"Traceback" not in complaints
    assert cli.ok("vault", "sync", str(folder)).startswith("Nothing to do: 3 notes")


@pytest.mark.parametrize("text", ["Ana lives in Lisbon.", "安娜住在里斯本。"])
def test_a_folder_that_was_exported_makes_no_second_notes(cli: Cli, tmp_path: Path, text: str) -> None:
    id = cli.add(text)
    folder, copies = tmp_path / "out", tmp_path / "copies"
    cli.ok("export", "--markdown", str(folder))
    (file,) = folder.glob("*.md")
    for path in (folder, file):
        for into in ([], ["-c", "other"]):
            assert cli.refused(*into, "import", str(path)).endswith(f"vault sync {folder})")
    copies.mkdir()
    (copies / file.name).write_bytes(file.read_bytes())
    result = cli("import", str(copies))
    assert result.exit_code == 1
    assert f"skipped {file.name}: it is the file of note {id[:8]}: amem edit {id[:8]} changes it" in result.stderr
    assert len(cli.json("list")) == 1

    file.write_text(file.read_text(encoding="utf-8").replace(text, f"{text} 2026"), encoding="utf-8")
    cli.ok("-c", "other", "vault", "sync", str(folder))
    assert [each["content"].strip() for each in cli.json("-c", "other", "list")] == [f"{text} 2026"]


def test_an_empty_file_is_no_failure(cli: Cli, tmp_path: Path) -> None:
    empty = tmp_path / "empty.md"
    empty.touch()
    assert cli.ok("import", str(empty)) == "imported 0 notes, 1 empty file skipped\n"
