"""``amem mcp --install``: what each program is told, and what becomes of the file that it keeps its settings in."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from amem.mcp import clients

if TYPE_CHECKING:
    from conftest import Cli

FILES = {
    "claude": (".config/Claude/claude_desktop_config.json", "mcpServers"),
    "claude-code": (".claude.json", "mcpServers"),
    "cursor": (".cursor/mcp.json", "mcpServers"),
    "vscode": (".config/Code/User/mcp.json", "servers"),
    "zed": (".config/zed/settings.json", "context_servers"),
}

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the files lie elsewhere there")


@pytest.fixture
def user(tmp_path: Path, cli: Cli) -> Path:
    """The home folder of the person whose programs are told."""
    folder = tmp_path / "user"
    folder.mkdir()
    cli.env |= {"HOME": str(folder), "XDG_CONFIG_HOME": ""}
    return folder


@pytest.mark.parametrize("client", FILES)
def test_what_is_printed_starts_the_server_from_anywhere(cli: Cli, user: Path, client: str) -> None:
    result = cli("mcp", "--install", client, "--read-only", "-c", "work")
    file, key = FILES[client]
    assert str(user / file) in "".join(result.stderr.split("\n  "))
    (entry,) = json.loads(result.stdout)[key].values()
    assert os.access(entry["command"], os.X_OK)
    assert Path(entry["command"]).is_absolute()
    assert entry["args"] == ["--home", str(cli.home), "--collection", "work", "mcp", "--read-only"]
    assert list(user.iterdir()) == []


@pytest.mark.parametrize("client", FILES)
def test_what_a_file_held_stays_and_a_copy_of_it_is_kept(cli: Cli, user: Path, client: str) -> None:
    name, key = FILES[client]
    file = user / name
    cli.ok("mcp", "--install", client, "--write")
    fresh = json.loads(file.read_text())
    assert list(fresh) == [key]
    assert file.stat().st_mode & 0o777 == 0o600
    before = json.dumps({"theme": "dunkel ☾", key: {"other": {"command": "x"}, "amem": {"command": "old", "env": {}}}})
    file.write_text(before)
    file.chmod(0o640)
    said = cli("mcp", "--install", client, "--write").stderr
    assert f"{file.name}.bak" in said
    assert file.with_name(f"{file.name}.bak").read_text() == before
    assert file.stat().st_mode & 0o777 == 0o640
    held = json.loads(file.read_text())
    assert held == {"theme": "dunkel ☾", key: {"other": {"command": "x"}, **fresh[key]}}
    assert "says so already" in cli("mcp", "--install", client, "--write").stderr
    assert sorted(each.name for each in file.parent.iterdir() if each.is_file()) == [file.name, f"{file.name}.bak"]
    file.write_text(before)
    cli.ok("mcp", "--install", client, "--write")
    assert file.with_name(f"{file.name}.bak2").read_text() == before


@pytest.mark.parametrize("text", ['{\n  // mine\n  "theme": "dark"\n}', "[1]", '{"context_servers": []}'])
def test_a_file_that_cannot_be_merged_into_is_left_as_it_is(cli: Cli, user: Path, text: str) -> None:
    file = user / FILES["zed"][0]
    file.parent.mkdir(parents=True)
    file.write_text(text)
    assert "nothing was changed" in cli.refused("mcp", "--install", "zed", "--write")
    assert file.read_text() == text
    assert list(file.parent.iterdir()) == [file]


def test_a_link_to_the_file_stays_a_link(cli: Cli, user: Path) -> None:
    kept = user / "dotfiles" / "claude.json"
    kept.parent.mkdir()
    kept.write_text("{}")
    (user / ".claude.json").symlink_to(kept)
    cli.ok("mcp", "--install", "claude-code", "--write")
    assert (user / ".claude.json").is_symlink()
    assert "amem" in json.loads(kept.read_text())["mcpServers"]


def test_by_http_the_address_and_the_token_are_told(cli: Cli, user: Path) -> None:
    entry = json.loads(cli.ok("mcp", "--install", "cursor", "--http", "--port", "9000"))["mcpServers"]["amem"]
    assert entry["url"] == "http://127.0.0.1:9000/mcp"
    token = (cli.home / "mcp.token").read_text().strip()
    assert entry["headers"] == {"Authorization": f"Bearer {token}"}
    assert "starts its servers itself" in cli.refused("mcp", "--install", "claude", "--http")


def test_what_does_not_go_together_is_refused(cli: Cli, user: Path) -> None:
    assert "the clients are claude, claude-code" in cli.refused("mcp", "--install", "emacs")
    for words in (
        ["--write"],
        ["--port", "1"],
        ["--per-client", "-c", "x"],
        ["--install", "zed", "--http", "--port", "0"],
    ):
        assert "--" in cli.refused("mcp", *words, code=2)


def test_without_the_extra_it_says_what_to_install(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("amem.mcp")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mcp", None)
    assert 'pip install "amem[mcp]"' in cli.refused("mcp")


@pytest.mark.parametrize(
    ("platform", "client", "file"),
    [
        ("darwin", "claude", "Library/Application Support/Claude/claude_desktop_config.json"),
        ("darwin", "zed", ".config/zed/settings.json"),
        ("darwin", "cursor", ".cursor/mcp.json"),
        ("win32", "vscode", "AppData/Roaming/Code/User/mcp.json"),
        ("win32", "claude-code", ".claude.json"),
    ],
)
def test_each_platform_keeps_the_files_where_it_does(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, platform: str, client: str, file: str
) -> None:
    for name in ("APPDATA", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", platform)
    assert clients.client_of(client).path(tmp_path) == tmp_path / file
