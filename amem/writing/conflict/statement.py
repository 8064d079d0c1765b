"""One thing that a note states, as far as its words tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.writing.conflict.cues import Cue, is_state
from amem.writing.conflict.grammar import Of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from amem.writing.conflict.grammar import Frame
    from amem.writing.conflict.values import Value


@dataclass(frozen=True, slots=True)
class Statement:
    """A clause. `about` weighs its telling words; `names` are those among them that name somebody or something, with
    the name in full; `values` its numbers and dates; `people` are who it is said of (empty: a thing, or left out);
    `frame` is its grammar, None for Chinese.

    `negative` says that it denies what it is about, or says that it is over, `turned` that it does so with other words
    than one that has an opposite of its own ("retired"); `poles` are its words with opposites, by pair, +1 or -1,
    turned round where they are denied. `target` are words for what something changed to ("moved to Friday"), `given_up`
    those behind "instead of". `said` is False for questions, plans, requests and what is only supposed, `event` True
    for what happened once.
    """

    text: str
    said: bool
    negative: bool
    turned: bool
    about: Mapping[str, float]
    names: Mapping[str, str]
    values: frozenset[Value]
    people: frozenset[str]
    frame: Frame | None
    poles: Mapping[str, int]
    cues: frozenset[Cue]
    target: frozenset[str] = frozenset()
    given_up: frozenset[str] = frozenset()
    event: bool = False
    ended: bool = False
    planned: bool = False
    sentence: int = 0
    inherited: bool = False
    """Whether it takes what it is about from the clause before: "it isn't"."""
    opener: str = ""
    around: str = ""
    """The sentence that it stands in."""

    @property
    def claims(self) -> bool:
        """Whether it is a claim at all, and no greeting, order or cry."""
        if self.frame is None:
            return True
        if self.people and any(is_state(pair) for pair in self.poles):
            return True  # "Anna and Lukas split up"
        if Cue.OVER in self.cues and not self.text.endswith("!"):
            return True  # "No more sugar in my coffee"
        return self.frame.of is not Of.NOTHING and (self.frame.of is not Of.POINTED_AT or self.inherited)

    @property
    def past(self) -> bool:
        """Whether it says of itself that it was so once."""
        return Cue.PAST in self.cues
