"""The home of an MCP server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from mcp_hosts import Host

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def host(tmp_path: Path, model_cache: Path) -> Host:
    return Host(tmp_path / "home", model_cache)
