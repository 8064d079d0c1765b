"""Whole memory systems for what is put into prompts."""

from __future__ import annotations

from collections.abc import Callable

from amem import AgenticMemorySystem

Open = Callable[..., AgenticMemorySystem]
