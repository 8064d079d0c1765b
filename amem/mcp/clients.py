"""How programs that speak MCP are told of amem: what goes into the configuration file of each, and where that is."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amem.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: What the server is called in a client's configuration.
NAME = "amem"


@dataclass(frozen=True, slots=True)
class Client:
    """A program: under which `key` its file lists servers, where the file is, and whether an entry names its `type`.

    `file` is below the folder of a user's configuration (`~/.config` or what the platform has), with a leading ``~/``
    below the home folder. `http` tells that an entry may be an address.
    """

    title: str
    file: str
    key: str
    typed: bool = False
    http: bool = True

    def path(self, home: Path | None = None) -> Path:
        """Its configuration file, for this platform and user."""
        home = home or Path.home()
        if self.file.startswith("~/"):
            return home / self.file[2:]
        return _config_folder(home, self.title) / self.file

    def by_command(self, command: Sequence[str]) -> dict[str, Any]:
        """The entry of a server that the program starts itself."""
        typed = {"type": "stdio"} if self.typed else {}
        return {**typed, "command": command[0], "args": list(command[1:])}

    def by_address(self, url: str, token: str) -> dict[str, Any]:
        """The entry of a server that runs already. Raises InvalidInput for a program that takes none."""
        if not self.http:
            raise InvalidInput(f"{self.title} starts its servers itself", hint="leave --http out")
        typed = {"type": "http"} if self.typed else {}
        return {**typed, "url": url, "headers": {"Authorization": f"Bearer {token}"}}


CLIENTS: Mapping[str, Client] = {
    "claude": Client("Claude Desktop", "Claude/claude_desktop_config.json", "mcpServers", http=False),
    "claude-code": Client("Claude Code", "~/.claude.json", "mcpServers", typed=True),
    "cursor": Client("Cursor", "~/.cursor/mcp.json", "mcpServers"),
    "vscode": Client("VS Code", "Code/User/mcp.json", "servers", typed=True),
    "zed": Client("Zed", "zed/settings.json", "context_servers"),
}


def client_of(name: str) -> Client:
    """The program of that name. Raises InvalidInput."""
    found = CLIENTS.get(name.strip().lower())
    if found is None:
        raise InvalidInput(f"there is no client {name!r}", hint=f"the clients are {', '.join(CLIENTS)}")
    return found


def _config_folder(home: Path, title: str) -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or home / "AppData" / "Roaming")
    if sys.platform == "darwin" and title != "Zed":
        return home / "Library" / "Application Support"
    return Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
