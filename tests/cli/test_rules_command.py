"""``amem rules``: seen, changed in an editor, and refused where a line cannot be used."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Cli


@pytest.fixture
def editor(tmp_path: Path) -> str:
    """An editor that appends what the file beside it says."""
    script = tmp_path / "editor.py"
    script.write_text(
        "import pathlib, sys\n"
        "add = pathlib.Path(__file__).with_name('typed').read_bytes()\n"
        "path = pathlib.Path(sys.argv[1]); path.write_bytes(path.read_bytes() + add)\n"
    )
    return f"{sys.executable} {script}"


def test_the_rules_that_come_with_amem_are_shown_until_there_are_others(cli: Cli) -> None:
    shown = cli.json("rules")
    assert shown["own"] is False
    assert "[passwords]" in shown["never"]
    assert "过敏" in shown["always"]
    assert "always: allergic" in cli.ok("rules")


def test_edited_rules_hold_from_then_on(cli: Cli, tmp_path: Path, editor: str) -> None:
    (tmp_path / "typed").write_text("never: my therapist, 工资\n", encoding="utf-8")
    cli.ok("rules", "--edit", EDITOR=editor, VISUAL="")
    shown = cli.json("rules")
    assert shown["own"] is True
    assert {"my therapist", "工资"} <= set(shown["never"])
    cli("chat", input="My therapist is Dr. Okafor.\nMy dentist is Dr. Silva.\n")
    contents = [note["content"] for note in cli.json("list")]
    assert "My dentist is Dr. Silva." in contents
    assert not any("therapist" in content for content in contents)


def test_secrets_are_in_force_with_rules_of_ones_own_unless_they_allow_them(cli: Cli, tmp_path: Path) -> None:
    home = Path(cli.json("rules")["path"])
    home.parent.mkdir(parents=True, exist_ok=True)
    home.write_text("never: politics\n", encoding="utf-8")
    assert cli.json("rules")["never"] == ["politics", "[api keys]", "[passwords]", "[card numbers]"]
    assert "never stored of what is said: api keys, passwords, card numbers" in cli("rules").stderr
    home.write_text("never: politics\n允许：[密码]\n", encoding="utf-8")
    shown = cli.json("rules")
    assert shown["never"] == ["politics", "[api keys]", "[card numbers]"]
    assert shown["allow"] == ["[passwords]"]
    assert "since the file allows it: passwords" in cli("rules").stderr


def test_rules_left_as_they_were_stay_those_that_come_with_amem(cli: Cli, tmp_path: Path, editor: str) -> None:
    (tmp_path / "typed").write_bytes(b"")
    cli.ok("rules", "--edit", EDITOR=editor, VISUAL="")
    assert cli.json("rules")["own"] is False


def test_a_line_that_cannot_be_used_is_named(cli: Cli, tmp_path: Path, editor: str) -> None:
    (tmp_path / "typed").write_text("never: /(/\n", encoding="utf-8")
    assert "rules.md, line " in cli.refused("rules", "--edit", EDITOR=editor, VISUAL="")
