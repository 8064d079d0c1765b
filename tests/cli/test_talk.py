"""What is said on stderr: in one line, but between words where a terminal is too narrow for it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from rich.cells import cell_len

from amem.cli.app import guarded
from amem.cli.invocation import folded
from amem.errors import InvalidInput

if TYPE_CHECKING:
    from conftest import Cli

_SAID = "amem keep ID keeps a note current, amem edit ID mends it, amem retract ID takes it back"
_COMMAND = "amem --home /home/ana/notes --collection work undo 12"


@pytest.fixture(params=[50, 80])
def columns(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(request.param))
    return int(request.param)


def test_lines_end_between_words(columns: int) -> None:
    for sentence in (_SAID, "没有这条笔记，也没有以它开头的笔记；" * 4 + "amem list 列出全部。"):
        lines = folded(sentence).splitlines()
        assert len(lines) > 1
        assert max(map(cell_len, lines)) <= columns
    assert " ".join(folded(_SAID).split()) == _SAID


def test_a_command_to_be_copied_stays_whole(columns: int) -> None:
    said = folded(f"the maintenance since then was not undone; undo it with: {_COMMAND}", command="amem ")
    assert said.splitlines()[-1].strip() == _COMMAND


def test_errors_are_folded_too(
    columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)

    def fail() -> None:
        raise InvalidInput("cannot " + "read what was given here " * 5, hint="say it otherwise")

    assert guarded(fail, debug=False) == 1
    lines = capsys.readouterr().err.splitlines()
    assert max(map(len, lines)) <= columns
    assert " ".join(" ".join(lines).split()).endswith("given here (say it otherwise)")


def test_what_goes_into_a_pipe_is_one_line() -> None:
    assert folded(_SAID * 3) == _SAID * 3


def test_search_in_a_pipe_gives_the_day_of_every_note(cli: Cli) -> None:
    cli.add("The gate code is 4471.", "--time", "2026-02-01")
    cli.add("The gate squeaks.")
    days = [line.split("\t")[2] for line in cli.ok("search", "gate").splitlines()]
    assert "2026-02-01" in days
    assert {len(day) for day in days} == {len("2026-02-01")}
