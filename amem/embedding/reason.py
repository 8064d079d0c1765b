"""Another library's error, said in one line."""

from __future__ import annotations


def first_line(error: Exception) -> str:
    """The first line of the error's message, or the name of its kind when it says nothing."""
    return str(error).strip().partition("\n")[0] or type(error).__name__
