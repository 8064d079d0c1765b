"""amem: a Zettelkasten-style memory that agents write and people can read, trust and correct."""

from __future__ import annotations

__version__ = "0.1.0"
