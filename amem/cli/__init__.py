"""The command line: ``amem``."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run ``amem``; ends the process with its exit code."""
    from amem.agent_sessions import run_installed

    if not run_installed(sys.argv[1:]):
        from amem.cli.app import app

        app()
