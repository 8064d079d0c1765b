"""Where nothing was ever added every command gives the same answer."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from amem.cli.app import app

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Cli

#: They read all notes, or do what waits: there is nothing to do, and that is no failure.
READING = (
    *("list", "search tea", "why tea", "context tea", "facts", "facts Ana", "timeline Ana", "topics", "log", "tags"),
    *("tags list", "conflicts", "conflicts tea", "review", "review list", "review flags", "fade", "health", "doctor"),
    *("ask tea", "chat --list", "collections", "enrich", "work --once", "maintain", "maintain --dry-run", "export"),
)
#: They are about a note, an operation or a file that is not there.
NAMING = (
    *("show 1", "why tea 1", "trace 1", "topic tea", "history 1", "undo", "redo", "review accept 1", "edit 1"),
    *("delete 1", "restore 1", "purge 1", "pin 1", "link 1", "link 1 2", "supersede 1 2", "unsupersede 1", "retract 1"),
    *(
        "keep 1",
        "tags rename a b",
        "chat --replay",
        "copy b",
        "fork b",
        "diff b",
        "merge b",
        "backup b.bak",
        "export b.jsonl",
        "graph --html b.html",
    ),
    "reindex",
)


def answer(cli: Cli) -> str:
    amem = f"amem --home {cli.home}"
    return f'no notes yet ({amem} add "..." keeps one; {amem} demo shows some)'


@pytest.mark.parametrize("command", READING)
def test_what_reads_says_that_there_are_no_notes_and_ends_well(cli: Cli, command: str) -> None:
    result = cli(*command.split())
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", f"{answer(cli)}\n")
    if command not in ("work --once", "export"):
        assert not json.loads(cli.ok(*command.split(), "--json")) or command == "enrich"
    assert not cli.home.exists()


def test_where_an_object_is_read_the_answer_is_an_empty_one(cli: Cli) -> None:
    for words in (("graph",), ("health",), ("ask", "tea"), ("context", "tea"), ("fade",), ("maintain",)):
        assert cli.json(*words) == {}


@pytest.mark.parametrize("command", NAMING)
def test_what_is_about_one_thing_fails_with_the_same_sentence(cli: Cli, command: str) -> None:
    assert cli.refused(*command.split()) == answer(cli)
    assert not cli.home.exists()


def test_where_all_notes_were_deleted_or_undone_it_is_not_said_that_there_never_were_any(cli: Cli) -> None:
    id = cli.add("The kiln is fired with gas.")
    cli.ok("delete", id)

    listed, found = cli("list"), cli("search", "kiln")

    shows = f"amem --home {cli.home} list --deleted"
    assert (listed.stdout, listed.stderr) == ("", f"no notes are left; 1 deleted note: {shows}\n")
    assert (found.exit_code, found.stdout, found.stderr) == (0, "", "nothing found\n")
    deleted = cli("list", "--deleted")
    assert "kiln" in deleted.stdout
    assert deleted.stderr == ""
    cli.ok("purge", id, "--yes")
    assert cli("list").stderr == "no notes are left\n"


def test_a_collection_that_is_named_in_an_empty_home_has_no_notes_yet_either(cli: Cli) -> None:
    amem = f"amem --home {cli.home} --collection play"
    said = f'no notes yet ({amem} add "..." keeps one; {amem} demo shows some)'
    result = cli("-c", "play", "list")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", f"{said}\n")
    assert cli.refused("-c", "play", "show", "1") == said
    assert cli.json("-c", "play", "search", "tea") == []


def test_an_empty_home_variable_counts_as_none(cli: Cli, tmp_path: Path) -> None:
    cli.ok("path", AMEM_HOME="")
    found = CliRunner().invoke(app, ["path"], env={"AMEM_HOME": "", "XDG_DATA_HOME": str(tmp_path / "data")})
    if sys.platform == "linux":
        assert found.stdout == f"{tmp_path / 'data' / 'amem' / 'memories'}\n"
    assert cli.refused("--home", "", "path") == "home must not be empty (name a folder; . is the current one)"
    assert (
        CliRunner()
        .invoke(app, ["path"], env={"AMEM_HOME": " "})
        .stderr.startswith("error: setting home: names no folder; . is the current one (")
    )


def test_a_home_with_other_collections_names_them(cli: Cli) -> None:
    cli.ok("add", "Tea at five.", "-c", "work")
    assert cli("list").stderr == (
        f'no notes in memories yet (-c names another: work; or amem --home {cli.home} add "...")\n'
    )
    assert cli.refused("-c", "play", "list").startswith("there is no collection 'play'")


def test_filters_that_no_note_matches_are_named(cli: Cli) -> None:
    cli.add("Coffee at six.")
    assert cli("list", "--tag", "none").stderr == "no notes match these filters\n"
