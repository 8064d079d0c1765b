"""What is left alone: hidden files, templates, and what rules say, as git reads them."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from amem.vault.folder import Folder

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Desk

PATHS = [
    "a.md", "b.md", "draft.md", "Draft 1.md", "note[1].md", "# odd.md", "!bang.md", "trailing .md",
    "private/a.md", "private/keep.md", "work/private/a.md", "work/a.md", "work/deep/er/a.md", "work/deep/er/b.md",
    "build/a.md", "x/build/a.md", "x/build.md", "logs/2026/a.md", "logs/a.md", "foo/bar/baz/a.md", "foo/baz/a.md",
]  # fmt: skip


@pytest.mark.parametrize("rules", [
    "draft.md\n",
    "private/\n",
    "/private/\n",
    "private/*\n!private/keep.md\n",
    "private\n!private/keep.md\n",
    "work/**/a.md\n",
    "**/private\n",
    "build/\n!x/build/\n",
    "logs/**\n",
    "foo/**/baz\n",
    "[ab].md\n!b.md\n",
    "[!a].md\n",
    "?raft*.md\n",
    "note\\[1\\].md\n",
    "\\# odd.md\n\\!bang.md\n# a.md\n",
    "trailing .md  \n\n",
    "*\n!*/\n!a.md\n",
    "deep/er\n",
    "*.MD\n",
    "a.md\r\n",
])  # fmt: skip
def test_rules_are_read_as_git_reads_them(tmp_path: Path, rules: str) -> None:
    for path in PATHS:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("text")
    (tmp_path / ".gitignore").write_bytes(rules.encode())
    (tmp_path / "work/.gitignore").write_text("deep/er/b.md\n")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    listed = ["git", "-c", "core.quotePath=off", "-c", "core.ignoreCase=false"]
    words = ["ls-files", "-z", "--others", "--exclude-standard", "--", "*.md"]
    found = subprocess.run([*listed, *words], cwd=tmp_path, check=True, capture_output=True, text=True)
    scan = Folder(tmp_path).scan()
    assert sorted(scan.files) == sorted(found.stdout.split("\0")[:-1])
    assert [path for path in PATHS if scan.ignores(path)] == [path for path in PATHS if path not in scan.files]


def test_hidden_files_templates_and_ignored_ones_are_nobodys_notes(desk: Desk) -> None:
    desk.sync()
    for path in (".obsidian/a.md", ".trash/a.md", ".git/a.md", "Templates/a.md", "x/templates/a.md", ".hidden.md"):
        desk.write(path, "text\n")
    desk.write("private/a.md", "text\n")
    desk.write(".amemignore", "private/\n")
    desk.write("a.md", "text\n")
    assert [step.path for step in desk.settled().to_notes] == ["a.md"]
    assert desk.files()["private/a.md"] == "text\n"


def test_a_file_that_is_ignored_from_now_on_deletes_no_note(desk: Desk) -> None:
    id = desk.memory.add("The pool opens at six.").id
    desk.settled()
    desk.write(".amemignore", "The pool*\n")
    assert desk.sync().is_quiet
    desk.memory.update(id, content="The pool opens at seven.")
    assert desk.sync().is_quiet
    assert list(desk.files()) == ["The pool opens at six.md"]
    (desk.folder / ".amemignore").unlink()
    desk.settled()
    assert "seven" in desk.files()["The pool opens at six.md"]


def test_a_note_whose_name_is_ignored_gets_no_file(desk: Desk) -> None:
    desk.write(".amemignore", "Secret*\n")
    desk.memory.add("Secret plans.")
    assert desk.sync().is_quiet
    assert not desk.files()
