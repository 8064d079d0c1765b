"""``amem trace`` draws what a note rests on, in terminals wide and narrow, and lists it in a pipe."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rich.cells import cell_len

if TYPE_CHECKING:
    from conftest import Cli

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")

NOTES = {
    "decision": ("We decided to keep the cache of the label printers in SQLite.", "2026-03-10"),
    "server99": ("PostgreSQL needs a server, and at night nobody looks after one.", "2026-03-02"),
    "outage99": ("数据库主机更新后重启，标签打印机停了两个小时。", "2026-02-23"),
    "nobody99": ("Since Tomas left, nobody is on call at night.", "2026-01-15"),
}
LINKS = (
    ("decision", "server99", "caused_by", "it names the server"),
    ("server99", "nobody99", "derived_from", ""),
    ("server99", "outage99", "caused_by", "停机说明了原因"),
    ("outage99", "nobody99", "caused_by", "who would have seen it?"),
)

WIDE = """\
decision  2026-03-10  decision
│  We decided to keep the cache of the label printers in SQLite.
└─ caused by server99  2026-03-02
   │  PostgreSQL needs a server, and at night nobody looks after one.
   │  because: it names the server
   ├─ derived from nobody99  2026-01-15
   │  Since Tomas left, nobody is on call at night.
   └─ caused by outage99  2026-02-23
      │  数据库主机更新后重启，标签打印机停了两个小时。
      │  because: 停机说明了原因
      └─ caused by nobody99  told above
         because: who would have seen it?
"""
NARROW = """\
decision  2026-03-10  decision
│  We decided to keep the cache of the
│  label printers in SQLite.
└─ caused by server99  2026-03-02
   │  PostgreSQL needs a server, and at
   │  night nobody looks after one.
   │  because: it names the server
   ├─ derived from nobody99  2026-01-15
   │  Since Tomas left, nobody is on
   │  call at night.
   └─ caused by outage99  2026-02-23
      │  数据库主机更新后重启，标签打印
      │  机停了两个小时。
      │  because: 停机说明了原因
      └─ caused by nobody99  told above
         because: who would have seen
         it?
"""
PIPE = """\
1\tserver99\tcaused by\tdecision\t2026-03-02\tactive\tPostgreSQL needs a server, and at night nobody looks after one.\t\
it names the server
2\tnobody99\tderived from\tserver99\t2026-01-15\tactive\tSince Tomas left, nobody is on call at night.\t
2\toutage99\tcaused by\tserver99\t2026-02-23\tactive\t数据库主机更新后重启，标签打印机停了两个小时。\t停机说明了原因
"""


@pytest.fixture
def story(cli: Cli) -> dict[str, str]:
    """The notes by name, with no link but these."""
    cli.env["AMEM_NEIGHBOURS"] = "0"
    ids = {name: cli.add(text, "--time", time) for name, (text, time) in NOTES.items()}
    for source, target, type, reason in LINKS:
        cli.ok("link", ids[source], ids[target], "--type", type, *(["--reason", reason] if reason else []))
    return ids


def named(output: str, ids: dict[str, str]) -> str:
    """The output with the notes' names in place of their ids, and no space at the end of a line."""
    for name, id in ids.items():
        output = output.replace(id[:8], name)
    return "\n".join(line.rstrip(" ") for line in output.split("\n"))


@pytest.mark.parametrize(("columns", "expected"), [(80, WIDE), (40, NARROW)], ids=["wide", "narrow"])
def test_a_terminal_shows_a_tree(
    cli: Cli, story: dict[str, str], monkeypatch: pytest.MonkeyPatch, columns: int, expected: str
) -> None:
    monkeypatch.setattr("amem.cli.command.on_terminal", lambda: True)
    shown = cli.ok("trace", story["decision"][:8], COLUMNS=str(columns))
    assert named(shown, story) == expected


def test_a_pipe_gets_one_line_for_each(cli: Cli, story: dict[str, str]) -> None:
    assert named(cli.ok("trace", story["decision"]), story) == PIPE


def test_json_holds_every_step_of_the_way(cli: Cli, story: dict[str, str]) -> None:
    found = cli.json("trace", story["decision"])
    assert [(each["id"], each["hop"]) for each in found] == [
        (story["server99"], 1),
        (story["nobody99"], 2),
        (story["outage99"], 2),
    ]
    assert [(step["from"], step["to"]) for step in found[2]["path"]] == [
        (story["decision"], story["server99"]),
        (story["server99"], story["outage99"]),
    ]
    told = PAGE.split("**Ancestor**")[1].split("\n\n")[0]
    assert {key for key in (*found[0], *found[0]["path"][0]) if f"`{key}`" not in told} == set()


def test_what_lies_deeper_is_said_with_the_command_that_shows_it(cli: Cli, story: dict[str, str]) -> None:
    result = cli("trace", story["decision"][:8], "--depth", "1")
    assert named(result.stdout, story) == PIPE.splitlines(keepends=True)[0]
    assert "2 notes lie one link further" in result.stderr
    assert f"trace {story['decision'][:8]} --depth 2" in result.stderr


def test_a_superseded_cause_is_marked(cli: Cli, story: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    newer = cli.add("PostgreSQL is now run by the provider.")
    cli.ok("supersede", story["server99"], newer)
    assert cli.ok("trace", story["decision"]).split("\t")[5] == "superseded"
    monkeypatch.setattr("amem.cli.command.on_terminal", lambda: True)
    assert f"superseded by {newer[:8]}" in cli.ok("trace", story["decision"])


def test_a_note_that_rests_on_nothing_says_so(cli: Cli) -> None:
    result = cli("trace", cli.add("Tea at five."))
    assert (result.stdout, result.stderr) == ("", "no link says what it is based on\n")
    assert "no note 'zzz'" in cli.refused("trace", "zzz")
    cli.refused("trace", "zzz", "--depth", "-1", code=2)


def test_a_long_chain_leaves_half_of_a_narrow_terminal_for_words(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("amem.cli.command.on_terminal", lambda: True)
    cli.env["AMEM_NEIGHBOURS"] = "0"
    notes = [cli.add(f"Step number {place} came before.") for place in range(14)]
    for later, earlier in pairwise(notes):
        cli.ok("link", later, earlier, "--type", "caused_by")
    lines = cli.ok("trace", notes[0], "--depth", "20", COLUMNS="40").splitlines()
    assert max(map(cell_len, lines)) <= 40
    assert "Step number 13" in " ".join(line.strip("…│└─ ") for line in lines)
