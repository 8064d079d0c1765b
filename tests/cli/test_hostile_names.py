"""Ids, tags, reasons and texts that would drive a terminal: refused where they arrive, elsewhere shown, not obeyed."""

from __future__ import annotations

import ast
import io
import json
import re
import sqlite3
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import amem.cli
from amem import AgenticMemorySystem
from amem.cli.invocation import progress
from amem.errors import InvalidInput
from amem.labels import visible_name
from amem.settings import load_settings

if TYPE_CHECKING:
    from conftest import Cli

#: Writes to the clipboard, clears the line and forges a prompt, by escapes of 7 and of 8 bits; turns the direction.
ATTACK = "\x1b]52;c;cm0gLXJmIH4=\x07\x9b2K\r\u202etpircs\n$ "
#: What a pipe or a terminal may get beside printable characters.
_DRIVING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def opened(cli: Cli) -> AgenticMemorySystem:
    settings = load_settings(cli.home, cache=cli.env["AMEM_CACHE"], llm_backend="offline")
    return AgenticMemorySystem(settings=settings)


@pytest.fixture
def poisoned(cli: Cli) -> Cli:
    """A collection of an earlier amem with such an id, and such text wherever text goes."""
    with opened(cli) as memory:
        memory.add_note(f"The boiler man is Rui. {ATTACK}", id="bad", tags=[f"home{ATTACK}"], speaker=f"Ana{ATTACK}")
        memory.add_note("The boiler was mended.", id="good", context=f"boiler {ATTACK}")
        memory.add_note("The boiler man is Jo.", id="other")
        memory.link("good", "bad", "caused_by", f"because {ATTACK}")
    database = sqlite3.connect(cli.home / "memories" / "amem.db")
    with database:
        database.execute("UPDATE notes SET id = ? WHERE id = 'bad'", (f"bad{ATTACK}",))
        database.execute("UPDATE links SET target = ? WHERE target = 'bad'", (f"bad{ATTACK}",))
    database.close()
    return cli


COMMANDS = [
    *[[name, "bad"] for name in ("pin", "delete", "keep", "retract", "show", "why", "history", "trace", "link")],
    *[["show", "good"], ["link", "good"], ["link", "good", "bad", "-r", ATTACK], ["edit", "bad", "--add-tag", ATTACK]],
    *[["supersede", "bad", "other"], ["purge", "bad"], ["purge", "bad", "--yes"]],
    *[
        ["list"],
        ["search", "boiler"],
        ["ask", "who is the boiler man"],
        ["context", "boiler"],
        ["log"],
        ["log", "--all"],
    ],
    *[
        ["tags"],
        ["tags", "rename", f"home{ATTACK}", "flat"],
        ["facts", "boiler man"],
        ["conflicts"],
        ["review", "flags"],
    ],
    *[
        ["health"],
        ["doctor"],
        ["export"],
        ["graph", "--dot", "-"],
        ["fade", "--dry-run"],
        ["maintain", "--dry-run"],
        ["topics"],
    ],
    *[["show", ATTACK], ["list", "--tag", ATTACK], ["search", ATTACK], ["nonsense" + ATTACK], ["undo", ATTACK]],
]


@pytest.mark.thorough
@pytest.mark.parametrize("way", ["pipe", "terminal", "json"])
def test_no_command_hands_control_characters_to_a_terminal(
    poisoned: Cli, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    if way == "terminal":
        for name, module in list(sys.modules.items()):
            if name.startswith("amem.cli.") and hasattr(module, "on_terminal"):
                monkeypatch.setattr(module, "on_terminal", lambda: True)
    answered = 0
    for words in COMMANDS:
        result = poisoned(*words, *(["--json"] if way == "json" else []), "--debug")
        told = result.stdout + result.stderr
        assert not (found := _DRIVING.findall(told)), f"amem {words}: {found} in {told!r}"
        answered += result.exit_code == 0
        for undone in ("undo", "restore bad"):
            poisoned(*undone.split())
    assert answered >= len(COMMANDS) - 12


@pytest.mark.parametrize("command", ["pin", "delete", "restore", "keep", "retract", "purge"])
def test_an_id_of_an_earlier_amem_is_printed_harmlessly_and_can_still_be_dealt_with(
    poisoned: Cli, command: str
) -> None:
    shown = visible_name(f"bad{ATTACK}")
    if command == "restore":
        poisoned.ok("delete", "bad")
    result = poisoned(command, shown, *(["--yes"] if command == "purge" else []))
    assert result.exit_code == 0, result.stderr
    assert not _DRIVING.search(result.stdout + result.stderr)
    assert shown in result.stdout + result.stderr


def test_the_doctor_names_ids_with_control_characters_until_they_are_gone(poisoned: Cli) -> None:
    told = [each for each in poisoned.json("doctor") if each["about"] == "ids"]
    assert [each["level"] for each in told] == ["warning"]
    assert visible_name(f"bad{ATTACK}") in told[0]["what"]
    poisoned.ok("delete", visible_name(f"bad{ATTACK}"))
    assert not [each for each in poisoned.json("doctor") if each["about"] == "ids"]


def test_json_with_escaped_characters_reads_back_as_it_was(poisoned: Cli) -> None:
    (held,) = [each for each in poisoned.json("list") if each["id"] != "good" and each["id"] != "other"]
    assert held["id"] == f"bad{ATTACK}"
    assert held["content"].endswith(ATTACK)


@pytest.mark.parametrize("id", ["a\x1b[2Jb", "a\x00b", "a\x9bb", "a\u202eb", "a\nb", "a\u2028b", "  ", "x" * 201])
def test_such_an_id_is_refused_wherever_one_may_be_given(id: str, cli: Cli) -> None:
    with opened(cli) as memory:
        with pytest.raises(InvalidInput):
            memory.add_note("text", id=id)
        with pytest.raises(InvalidInput):
            memory.add("text", user_id=id)
        if len(id) == 201 or "\x00" in id or "\x1b" in id:
            with pytest.raises(InvalidInput):
                memory.add_note("text", links=[id])
            with pytest.raises(InvalidInput):
                memory.tools(user_id=id)
        assert memory.count() == 0


def test_a_family_emoji_and_chinese_are_plain_ids(cli: Cli) -> None:
    with opened(cli) as memory:
        for id in ("👩\u200d💻 笔记", "straße/1", "می\u200cخواهم"):
            assert memory.add_note(f"text of {id}", id=id) == id


def test_an_import_gives_such_a_note_a_plain_id_and_its_links_follow(cli: Cli, tmp_path: Path) -> None:
    rest = {"type": "caused_by", "confidence": 1.0, "made_by": "user", "at": "2026-01-01T00:00:00+00:00"}
    lines = [
        {"amem": 1, "id": f"bad{ATTACK}", "content": "The boiler man is Rui.", "links_out": []},
        {
            "amem": 1,
            "id": "good",
            "content": "The boiler was mended.",
            "links_out": [
                {"target": f"bad{ATTACK}", "reason": "he did it", **rest},
                {"target": f"gone{ATTACK}", "reason": "nobody", **rest},
            ],
        },
    ]
    file = tmp_path / "notes.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    result = cli("import", str(file), "--json")
    report = json.loads(result.stdout)
    assert report["imported"] == 2, report
    assert [each["why"] for each in report["problems"]] == ["its id holds control characters"]
    notes = {each["content"]: each for each in cli.json("list")}
    assert notes["The boiler was mended."]["links"] == [notes["The boiler man is Rui."]["id"]]
    assert not _DRIVING.search("".join(note["id"] for note in notes.values()))


def test_what_a_model_server_says_of_a_download_does_not_drive_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stderr", screen := Terminal())
    with progress(f"model {ATTACK}", in_bytes=True) as show:
        show(1, 2, f"verifying {ATTACK}")
    told = screen.getvalue()
    assert "verifying" in told
    assert "\x1b]" not in told
    assert not re.search("[\x80-\x9f\u202a-\u202e]", told)


def test_commands_print_by_nothing_but_what_makes_text_visible() -> None:
    """The border is `say`, `tell` and Rich texts made by `styled`; a bare print would be a way around it."""
    #: The border itself; curves that plotext has coloured; the help, which quotes nobody.
    own = {"render.py", "invocation.py", "maintenance.py", "app.py"}
    bare = [
        f"{path.name}:{node.lineno}"
        for path in Path(amem.cli.__file__).parent.glob("*.py")
        if path.name not in own
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert bare == []
