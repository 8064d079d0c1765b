"""``amem graph``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

if TYPE_CHECKING:
    from conftest import Cli

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")


def test_the_graph_is_written_in_every_form(cli: Cli, tmp_path: Path) -> None:
    tea = cli.add("Green tea at 80 degrees", "--tag", "tea")
    kettle = cli.add("The bus leaves at nine")
    cli.ok("link", kettle, tea, "--type", "supports", "--reason", "the right water")
    files = {name: tmp_path / f"g.{name}" for name in ("html", "svg", "graphml", "dot")}

    done = cli("graph", *(word for name, path in files.items() for word in (f"--{name}", str(path))))
    assert done.exit_code == 0
    assert done.stderr.count("wrote 2 notes and 1 link to") == 4
    assert all(tea in files[name].read_text(encoding="utf-8") for name in ("html", "graphml", "dot"))
    ElementTree.parse(files["svg"])
    assert files["html"].stat().st_mode & 0o077 == 0

    record = cli.json("graph")
    (edge,) = record["edges"]
    assert (edge["source"], edge["target"], edge["type"], edge["reason"]) == (
        kettle,
        tea,
        "supports",
        "the right water",
    )
    named = {*record, *edge, *record["nodes"][0]}
    assert {key for key in named if f"`{key}`" not in PAGE} == set()
    assert [node["id"] for node in cli.json("graph", "--tag", "tea")["nodes"]] == [tea]
    assert {node["id"] for node in cli.json("graph", kettle[:8], "--hops", "0")["nodes"]} == {kettle}
    assert cli.ok("graph", "--dot", "-").startswith("digraph amem {")


def test_nothing_is_replaced_unasked_and_nothing_to_write_is_said(cli: Cli, tmp_path: Path) -> None:
    cli.add("Green tea at 80 degrees")
    path = tmp_path / "g.svg"
    path.write_text("mine")
    assert "--force" in cli.refused("graph", "--svg", str(path))
    assert path.read_text() == "mine"
    assert cli("graph", "--svg", str(path), "--force").exit_code == 0
    assert "say what to write" in cli.refused("graph")
    assert "1 more note left out" in _twice(cli)


def _twice(cli: Cli) -> str:
    cli.add("Black tea at 95 degrees")
    return cli("graph", "--json", "--limit", "1").stderr
