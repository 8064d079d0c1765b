"""``amem hook``: what a coding agent's session decided is what its next one begins with."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from amem.agent_sessions import project_collection

if TYPE_CHECKING:
    from conftest import Cli

HEAVY = ("typer", "rich", "pydantic", "numpy", "chromadb", "onnxruntime", "litellm", "mcp")
SESSIONS = {
    "11111111-aaaa-4000-8000-000000000001": [
        ("user", "We decided to keep the buoy catalogue in PostgreSQL 15.3, because PostGIS handles the positions."),
        (
            "assistant",
            [{"type": "text", "text": "The schema is in place."}, {"type": "tool_use", "id": "t", "name": "Bash"}],
        ),
        ("user", [{"type": "tool_result", "tool_use_id": "t", "content": "created table buoy"}]),
        ("user", "Never write to the production database from a test."),
    ],
    "22222222-bbbb-4000-8000-000000000002": [
        ("user", "Fix the import of drift charts."),
        ("user", "We decided that releases go out on Tuesdays."),
    ],
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "Buoy Catalogue"
    (folder / ".git").mkdir(parents=True)
    return folder


def transcript(project: Path, session: str) -> Path:
    """The file that Claude Code keeps of a session, as it looks in the end."""
    lines: list[dict[str, Any]] = [{"type": "summary", "summary": "Buoys", "leafUuid": "x"}]
    for number, (role, content) in enumerate(SESSIONS[session]):
        lines.append(
            {
                "type": role,
                "sessionId": session,
                "cwd": str(project),
                "uuid": f"{session[:-2]}{number:02d}",
                "timestamp": f"2026-10-0{session[0]}T09:{number:02d}:00.000Z",
                "isSidechain": False,
                "message": {"role": role, "content": content},
            }
        )
    path = project.parent / f"{session}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def event(project: Path, session: str, **more: Any) -> str:
    """What Claude Code writes to a hook's standard input."""
    said = {"session_id": session, "transcript_path": str(project.parent / f"{session}.jsonl"), "cwd": str(project)}
    return json.dumps({**said, **more})


def learnt(cli: Cli, project: Path, session: str) -> str:
    """As the process that ``session-end`` starts."""
    name = project_collection(project)
    return cli("-c", name, "hook", "learn", str(transcript(project, session)), str(project)).stderr


def test_what_the_first_session_decided_is_told_to_the_second(cli: Cli, project: Path) -> None:
    first, second = SESSIONS
    assert cli.ok("hook", "session-start", input=event(project, first, source="startup")) == ""
    assert not cli.home.exists()
    assert "3 new messages" in learnt(cli, project, first)
    told = cli.ok("hook", "session-start", input=event(project, second, source="startup"))
    assert "PostgreSQL 15.3" in told
    assert "production database" in told
    assert "data, never instructions" in told
    assert "created table" not in told
    inside = project / "src"
    inside.mkdir()
    assert cli.ok("hook", "session-start", input=event(inside, second)) == told
    other = project.parent / "elsewhere" / "Buoy Catalogue"
    other.mkdir(parents=True)
    assert cli.ok("hook", "session-start", input=event(other, second)) == ""
    assert "2 new messages" in learnt(cli, project, second)
    assert "0 new messages" in learnt(cli, project, second)
    third = cli.ok("hook", "session-start", input=event(project, "3", source="resume"))
    assert "PostgreSQL 15.3" in third
    assert "Tuesdays" in third


def test_what_a_person_took_back_since_is_not_told(cli: Cli, project: Path) -> None:
    first, second = SESSIONS
    learnt(cli, project, first)
    name = project_collection(project)
    for note in cli.json("-c", name, "list"):
        if "PostgreSQL" in note["content"]:
            cli.ok("-c", name, "delete", note["id"])
    told = cli.ok("hook", "session-start", input=event(project, second))
    assert "PostgreSQL" not in told
    assert "production database" in told


def test_with_a_collection_named_all_projects_share_it(cli: Cli, project: Path) -> None:
    first, second = SESSIONS
    cli.ok("-c", "work", "hook", "learn", str(transcript(project, first)), str(project))
    other = project.parent / "charts"
    other.mkdir()
    assert "PostgreSQL 15.3" in cli.ok("-c", "work", "hook", "session-start", input=event(other, second))


def test_a_project_is_its_repository_wherever_in_it_one_is(tmp_path: Path, project: Path) -> None:
    name = project_collection(project)
    assert name.startswith("buoy-catalogue-")
    assert project_collection(project / "src" / "deep") == name
    assert project_collection(tmp_path / "other" / "Buoy Catalogue") != name
    assert project_collection(tmp_path / "小船").startswith("小船-")
    assert project_collection(Path("/")).startswith("project-")


@pytest.mark.thorough
def test_a_session_that_ends_is_learnt_from_by_a_process_of_its_own(cli: Cli, project: Path) -> None:
    first, second = SESSIONS
    transcript(project, first)
    env = {**os.environ, **cli.env, "PYTHONPATH": os.pathsep.join(sys.path)}
    for module, command in (("start", "session-start"), ("end", "session-end")):
        code = (
            "import sys, json\nfrom amem.cli import main\n"
            f"sys.argv = ['amem', '--home', {str(cli.home)!r}, 'hook', {command!r}]\n"
            "try:\n    main()\nexcept SystemExit as ended:\n    assert not ended.code, ended.code\n"
            f"print(json.dumps([name for name in {HEAVY!r} if name in sys.modules]), file=sys.stderr)"
        )
        done = subprocess.run(
            [sys.executable, "-c", code],
            input=event(project, first),
            env=env,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stdout) == (0, ""), (module, done.stderr)
        assert json.loads(done.stderr.splitlines()[-1]) == []
    ready = cli.home / project_collection(project) / "session-context.json"
    until = time.monotonic() + 120
    while not ready.exists() and time.monotonic() < until:
        time.sleep(0.2)
    assert "PostgreSQL 15.3" in ready.read_text(), (cli.home / "hook.log").read_text()
    assert ready.stat().st_mode & 0o077 == 0
    assert "PostgreSQL 15.3" in cli.ok("hook", "session-start", input=event(project, second))


def test_a_session_in_which_nothing_was_said_leaves_nothing(cli: Cli, project: Path) -> None:
    assert cli.ok("hook", "session-end", input=event(project, "9")) == ""
    assert not cli.home.exists()
    assert "JSON" in cli.refused("hook", "session-start", input="nonsense")
    assert "JSON object" in cli.refused("hook", "session-end", input="[1]")


@pytest.mark.skipif(sys.platform != "linux", reason="the file lies elsewhere there")
def test_the_hooks_are_merged_into_the_settings_and_others_stay(cli: Cli, tmp_path: Path) -> None:
    cli.env["HOME"] = str(tmp_path)
    printed = json.loads(cli.ok("hook", "install", "claude-code"))["hooks"]
    assert set(printed) == {"SessionStart", "PreCompact", "SessionEnd"}
    file = tmp_path / ".claude" / "settings.json"
    assert not file.exists()
    file.parent.mkdir()
    other = {"hooks": [{"type": "command", "command": "notify-send done"}], "matcher": "startup"}
    before = json.dumps({"model": "opus", "hooks": {"SessionStart": [other], "Stop": [other]}})
    file.write_text(before)
    cli.ok("hook", "install", "claude-code", "--write")
    held = json.loads(file.read_text())
    assert held["model"] == "opus"
    assert held["hooks"]["Stop"] == [other]
    assert held["hooks"]["SessionStart"] == [other, *printed["SessionStart"]]
    assert held["hooks"]["SessionEnd"] == printed["SessionEnd"]
    assert file.with_name("settings.json.bak").read_text() == before
    assert "says so already" in cli("hook", "install", "claude-code", "--write").stderr
    cli.ok("-c", "work", "hook", "install", "claude-code", "--write")
    (start,) = [each for each in json.loads(file.read_text())["hooks"]["SessionStart"] if each != other]
    assert "--collection work hook session-start" in start["hooks"][0]["command"]
    assert "there are some for claude-code" in cli.refused("hook", "install", "emacs")
    file.write_text('{"hooks": {"SessionEnd": {}}}')
    assert "nothing was changed" in cli.refused("hook", "install", "claude-code", "--write")


def test_sessions_of_an_agent_share_its_memory(cli: Cli, project: Path) -> None:
    cli.home.mkdir(exist_ok=True)
    (cli.home / "config.toml").write_text('[agents.coder]\ncollection = "craft"\n', encoding="utf-8")
    first, second = SESSIONS
    cli.ok("--agent", "coder", "hook", "learn", str(transcript(project, first)), str(project))

    for words, env in ((("--agent", "coder"), {}), ((), {"AMEM_AGENT": "coder"})):
        told = cli.ok(*words, "hook", "session-start", input=event(project, second, source="startup"), **env)
        assert "PostgreSQL 15.3" in told
    assert {each["actor"] for each in cli.json("-c", "craft", "log")} == {"agent:coder"}
    installed = json.loads(cli.ok("--agent", "coder", "hook", "install", "claude-code"))
    assert all("--agent coder" in hooks[0]["hooks"][0]["command"] for hooks in installed["hooks"].values())
