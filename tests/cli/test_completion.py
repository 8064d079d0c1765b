"""Tab completes ids, tags, kinds, topics and collections in bash, and runs nothing that a note says."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from amem.cli.completion import complete_hidden, complete_id, complete_tag, complete_topic

if TYPE_CHECKING:
    from conftest import Cli

AMEM = Path(sys.executable).with_name("amem")
#: What bash does when Tab is pressed: it calls the function with the words so far, and reads COMPREPLY.
TAB = """
eval "$("$1" --show-completion bash)"
COMP_WORDS=("${@:2}") COMP_CWORD=$(($# - 2))
_amem_completion "$1"
printf '%s\\n' "${COMPREPLY[@]}"
"""

needs_bash = pytest.mark.skipif(
    shutil.which("bash") is None or not AMEM.is_file(), reason="needs bash, and amem installed as a program"
)


def tab(cli: Cli, *words: str) -> list[str]:
    """What bash offers for the last of these words."""
    env = {**os.environ, **cli.env, "AMEM_HOME": str(cli.home), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    done = subprocess.run(
        ["bash", "--norc", "-c", TAB, "bash", str(AMEM), "amem", *words],
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        cwd=cli.home,
    )
    assert done.stderr == ""
    return [line for line in done.stdout.splitlines() if line]


@needs_bash
def test_bash_offers_what_the_collection_holds(demo: Cli) -> None:
    id = demo.json("-c", "demo", "list", "-n", "1")[0]["id"]
    assert id[:8] in tab(demo, "-c", "demo", "show", "")
    assert tab(demo, "-c", "demo", "link", id[:8], id[:5]) == [id[:8]]
    assert tab(demo, "-c", "demo", "list", "--tag", "dawn") == ["dawnchorus"]
    assert tab(demo, "-c", "demo", "list", "--tag", "芝") == ["芝麻"]
    assert tab(demo, "list", "--kind", "f") == ["fact"]
    assert tab(demo, "-c", "de") == ["demo"]
    assert sorted(tab(demo, "conf")) == ["config", "conflicts"]


@needs_bash
def test_a_title_a_tag_and_an_id_cannot_run_anything(cli: Cli) -> None:
    evil = "$(touch pwned) `touch pwned` ; touch pwned \x1b]0;owned\x07 * \\$(touch pwned) 'x\" | 茶"
    cli.ok("add", "-", "--tag", "$(touch pwned)", "--tag", "tea", "--tag", "a b", input=evil)
    cli.ok("import", "-", "--format", "jsonl", input='{"id": "x$(touch pwned)", "content": "named"}\n')
    assert tab(cli, "show", "x") == []
    assert len(tab(cli, "show", "")) == 1
    assert "tea" in (offered := tab(cli, "list", "--tag", ""))
    assert not any(set(each) & set("$(` *;") for each in offered)
    assert not (cli.home / "pwned").exists()


def test_ids_come_with_titles_without_what_means_something_to_a_shell(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = cli.add("# Tea `rm -rf` with $(Ana): at \\five\\\n\nmore")
    monkeypatch.setenv("COMP_WORDS", f"amem --home {cli.home} show ")
    assert complete_id("") == [(id[:8], "Tea rm -rf with Ana at five")]
    assert complete_id(id[:12]) == [(id, "Tea rm -rf with Ana at five")]
    assert complete_hidden("") == []
    cli.ok("delete", id)
    assert complete_id("") == []
    assert [each for each, _ in complete_hidden("")] == [id[:8]]


def test_a_home_without_notes_offers_nothing_and_is_not_made(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMP_WORDS", f"amem --home={cli.home} -c 'none show ")
    assert (complete_id(""), complete_tag(""), complete_topic("")) == ([], [], [])
    assert not cli.home.exists()


def test_a_damaged_collection_offers_nothing_and_a_wrong_statement_is_an_error(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AMEM_HOME", str(cli.home))
    database = cli.home / "memories" / "amem.db"
    database.parent.mkdir(parents=True)
    database.write_text("not a database" * 100)
    assert complete_id("") == []
    database.unlink()
    with closing(sqlite3.connect(database)) as other:
        other.execute("CREATE TABLE notes (another INTEGER)")
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        complete_id("")
