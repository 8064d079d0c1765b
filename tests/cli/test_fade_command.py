"""``amem fade``: what forgetting would do, as text, JSON and curves; reading a note keeps it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from rich.cells import cell_len

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Cli


@pytest.fixture
def told(cli: Cli) -> dict[str, str]:
    cli.env["AMEM_ARCHIVE_OWN_NOTES"] = "true"
    return {
        "chat": cli.add("哈哈，今天天气真不错啊", "--kind", "chitchat"),
        "fact": cli.add("The gym opens at six.", "--kind", "fact"),
    }


def test_in_a_pipe_it_is_a_line_for_each_note(cli: Cli, told: dict[str, str]) -> None:
    (line,) = cli.ok("fade", "--days", "70").splitlines()

    cells = line.split("\t")
    assert cells[:3] == ["faded", told["chat"][:8], "chitchat"]
    assert cells[-1] == "哈哈，今天天气真不错啊"
    assert float(cells[3]) > 10 * float(cells[4])


def test_what_was_written_by_hand_stays_and_it_says_so(cli: Cli, told: dict[str, str]) -> None:
    cli.env["AMEM_ARCHIVE_OWN_NOTES"] = "false"
    result = cli("fade", "--days", "70")

    assert result.stdout == ""
    assert "1 note of your own would be as weak and stay" in result.stderr
    assert "archive_own_notes = true" in result.stderr
    (note,) = cli.json("fade", told["chat"], "--days", "120")["notes"]
    assert "does not fade: you wrote it" in note["why"]


def test_json_names_the_terms(cli: Cli, told: dict[str, str]) -> None:
    shown = cli.json("fade", told["fact"], "--days", "90")

    (note,) = shown["notes"]
    assert (note["what"], note["then"]["age_days"], note["then"]["stability_days"]) == ("stays", pytest.approx(90), 90)
    assert note["then"]["retention"] == pytest.approx(0.3679, abs=1e-3)
    assert shown["faded"] == 0


def test_nothing_that_fades_is_said_on_the_side(cli: Cli, told: dict[str, str]) -> None:
    result = cli("fade", "--days", "1")

    assert (result.exit_code, result.stdout) == (0, "")
    assert "nothing fades or changes layer within 1 day" in result.stderr
    assert "no notes yet" in cli("--home", str(cli.home / "other"), "fade").stderr


def test_curves_are_drawn_in_letters_where_there_are_no_colours(cli: Cli, told: dict[str, str]) -> None:
    lines = cli.ok("fade", *told.values(), "--days", "90", "--plot").splitlines()

    assert any("100%┤" in line for line in lines)
    assert any("kept, by days from now" in line for line in lines)
    assert any(line.startswith(f" a {told['chat'][:8]}") for line in lines)
    assert any("bbb" in line for line in lines)


def test_curves_are_saved_where_asked(cli: Cli, told: dict[str, str], tmp_path: Path) -> None:
    for name in ("curve.svg", "curve.png"):
        cli.ok("fade", "--days", "90", "--output", str(tmp_path / name))
        assert (tmp_path / name).stat().st_size > 1_000


def test_a_drawing_is_refused_by_its_name_or_its_folder(cli: Cli, told: dict[str, str], tmp_path: Path) -> None:
    named, astray = tmp_path / "curve.txt", tmp_path / "none" / "curve.png"
    assert cli.refused("fade", "-o", str(named)) == f"cannot draw into {named}: it is no .png, .svg or .pdf file"
    said = cli.refused("fade", "-o", str(astray))
    assert said == f"cannot draw into {astray}: there is no folder {astray.parent} (make it first)"


def test_days_that_are_none_are_refused(cli: Cli, told: dict[str, str]) -> None:
    assert "cannot look -3.0 days ahead" in cli.refused("fade", "--days=-3")
    assert "no note 'zzz'" in cli.refused("fade", "zzz")


@pytest.mark.parametrize("columns", [50, 80])
def test_at_a_terminal_it_is_grouped_and_fits(
    cli: Cli, told: dict[str, str], columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("amem.cli.command.on_terminal", lambda: True)
    text = cli.ok("fade", *told.values(), "--days", "90", "--plot", COLUMNS=str(columns), NO_COLOR="1")

    lines = text.splitlines()
    assert max(map(cell_len, lines)) <= columns
    assert lines[0].startswith("1 to be archived: out of default search")
    assert "1 unchanged" in lines
    assert "哈哈，今天天气真不错啊" in text
    assert "(stability 3 days)" in " ".join(text.split())


def test_opening_a_note_keeps_it(cli: Cli, told: dict[str, str]) -> None:
    cli.ok("show", told["chat"])
    cli.ok("show", told["chat"])

    (note,) = cli.json("fade", told["chat"], "--days", "30")["notes"]
    assert note["now"]["recalls"] == 1
    assert note["now"]["stability_days"] == pytest.approx(3.9)
