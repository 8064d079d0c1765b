"""``amem topics`` and ``amem topic``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conftest import Cli

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")


def test_the_demo_falls_into_topics_that_read_well(demo: Cli) -> None:
    demo.ok("-c", "demo", "maintain")
    listed = demo.json("-c", "demo", "topics")
    names = [each["name"] for each in listed]
    assert any("Dawnchorus" in name for name in names)
    assert any(name.startswith("芝麻") for name in names)
    assert all(each["notes"] >= 5 and not each["declared"] for each in listed)

    text = demo.ok("-c", "demo", "topic", "dawn")
    assert text.startswith("# Dawnchorus")
    lines = [line for line in text.splitlines() if line.startswith("- ")]
    assert lines
    assert all(re.search(r"\[\[[0-9a-f]{8}\]\]$", line) for line in lines)
    chinese = demo.ok("-c", "demo", "topic", "芝麻")
    assert "## 现状" in chinese
    assert " notes" not in chinese
    cells = demo.ok("-c", "demo", "topics").splitlines()[0].split("\t")
    assert cells[1] in names


def test_a_topic_is_declared_read_and_given_up(cli: Cli) -> None:
    id = cli.add("I write firmware at Marulho", "--tag", "work")
    shown = cli("topic", "work", "--declare", "Marulho", "team")
    assert shown.exit_code == 0
    assert f"[[{id[:8]}]]" in shown.stdout
    assert "work: 1 note" in shown.stderr
    record = cli.json("topic", "work")
    assert (record["declared"], record["notes"], list(record["members"])) == (True, 1, [id])
    assert {key for key in record if f'"{key}"' not in PAGE} == set()

    assert cli("topic", "work", "--remove").exit_code == 0
    assert "amem topics lists them" in cli.refused("topic", "work")
    cli.ok("undo")
    assert cli.json("topics")[0]["name"] == "work"


def test_without_topics_it_is_said_how_to_get_them(cli: Cli) -> None:
    cli.add("Something")
    result = cli("topics")
    assert result.stdout == ""
    assert "maintain" in result.stderr
    assert cli.json("topics") == []
    assert cli("topic", "x", "--declare", "--remove").exit_code == 2
    assert cli("topic", "x", "and more").exit_code == 2
