"""Words that count as one when two notes are compared: translations and other names of everyday things."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from amem.llm.offline.lexicon import stem
from amem.text.terms import contract

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def concepts(key: str) -> tuple[str, ...]:
    """What a word's key stands for: the words of the first name on its line of ``words.txt``, else the key itself."""
    return _lists().get(key, (key,))


def chinese_names(text: str) -> Iterator[tuple[int, int]]:
    """Where in `text` a Chinese name of the list stands that is longer than a character, as [start, end)."""
    known, longest = _chinese()
    at = 0
    while at < len(text):
        taken = 1
        if text[at] >= "\u4e00":
            for length in range(min(longest, len(text) - at), 1, -1):
                if text[at : at + length] in known:
                    yield at, at + length
                    taken = length
                    break
        at += taken


@cache
def _lists() -> Mapping[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for line in files("amem.writing.conflict").joinpath("words.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            keys = [_key(name.strip()) for name in line.split(",")]
            for key in keys:
                found.setdefault(key, tuple(keys[0].split()))
    return found


@cache
def _chinese() -> tuple[frozenset[str], int]:
    known = frozenset(key for key in _lists() if not key.isascii() and len(key) > 1)
    return known, max(map(len, known))


def _key(name: str) -> str:
    return " ".join(stem(contract(word)) for word in name.split()) if name.isascii() else name
