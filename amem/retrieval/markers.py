"""The words by which a question says what kind of answer it wants, read from the lists in ``markers_*.txt``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from amem.retrieval.reading import Intent

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Stands for each character that is not to be read: what is quoted, and what another marker has taken.
HIDDEN = "\ufffc"

_WORDS = {
    "{be}": r"(?:['’]s| is| are| was| were)",
    "{asks}": r"(?:did|do|does|is|are|was|were|will|would|has|have|had|can|could|should)",
}
#: Where an English question, or one within it, begins.
_HEAD = (
    rf"^\W{{0,3}}|[.!?;:–—{HIDDEN}]\s{{0,3}}|\b(?:and|but|so|or|then|ok|okay|hey|hi|hello|please|also|exactly|just"
    r"|again|me|us|know|recall|wonder(?:ing)?|explain|asked|out|understand|sure|check|forgot|curious|in|on|at|to|from"
    r"|with|for|of|by|about|around|during)\s{1,3}"
)
#: What a line of a list may begin with, and where it then counts.
_PLACES = {"^, ": rf"(?:{_HEAD}|,\s{{0,3}})", "^ ": rf"(?:{_HEAD})", ", ": r",\s{0,3}", "": ""}


@dataclass(frozen=True, slots=True)
class Marker:
    """Words for one intent: the ``mark`` of a match may be left out of a search, unless the marker is `kept`.

    One that is `weak` counts only where nothing else is asked.
    """

    intent: Intent
    kept: bool
    weak: bool
    pattern: re.Pattern[str]


@cache
def markers() -> tuple[Marker, ...]:
    """All of them, in the order in which they are to be looked for: what one has taken, the next does not see."""
    made = [marker for name in ("english", "chinese") for marker in _listed(name)]
    order = (Intent.CAUSAL, Intent.PROCEDURAL, Intent.TEMPORAL, Intent.EXPLORATORY, Intent.FACTUAL)
    return tuple(sorted(made, key=lambda each: (each.weak, order.index(each.intent))))


def _listed(name: str) -> Iterator[Marker]:
    """The markers of one list: one for each section and place in a question."""
    text = files("amem.retrieval").joinpath(f"markers_{name}.txt").read_text(encoding="utf-8")
    # Chinese runs its words together; elsewhere they begin and end somewhere.
    begin, end = ("", "") if name == "chinese" else (r"\b", r"(?!\w)")
    sections: dict[tuple[str, str], list[str]] = {}
    section = ""
    for line in text.splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            place = next(place for place in _PLACES if line.startswith(place))
            for word, means in _WORDS.items():
                line = line.replace(word, means)
            sections.setdefault((section, place), []).append(line.removeprefix(place))
    for (section, place), patterns in sections.items():
        intent, _, how = section.partition(", ")
        pattern = f"{_PLACES[place]}{begin}(?P<mark>{'|'.join(patterns)}){end}"
        yield Marker(Intent(intent), how == "kept", how == "weak", re.compile(pattern, re.IGNORECASE))
