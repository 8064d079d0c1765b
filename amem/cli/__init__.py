"""The command line: ``amem``."""

from amem.cli.app import main

__all__ = ["main"]
