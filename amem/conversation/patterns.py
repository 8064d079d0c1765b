"""Regular expressions that people write into their rules: whatever they are like, they come to an end in time.

``(a+)+$`` tries every way to share a run of letters out before it gives up, which for one long message takes longer
than anybody lives; and while ``re`` searches, nothing else in the process runs, not even Ctrl-C in another thread.
"""

from __future__ import annotations

import logging

import regex

_log = logging.getLogger("amem")

#: Seconds that one text may take; a sensible pattern takes microseconds.
_SECONDS = 0.25
#: A pattern that ran out of time so often is not tried again.
_MOST_TIMES = 3


class Pattern:
    """A regular expression that ignores case; `name` is what it is called when it takes too long. Raises ValueError."""

    def __init__(self, pattern: str, name: str) -> None:
        self.pattern = pattern
        self._name = name
        self._late = 0
        try:
            self._compiled = regex.compile(pattern, regex.IGNORECASE)
        except (regex.error, RecursionError, OverflowError) as error:
            raise ValueError(str(error)) from error

    def found_in(self, text: str, *, unsure: bool) -> bool:
        """Whether the text holds it; `unsure` when that could not be found out in time."""
        if self._late >= _MOST_TIMES:
            return unsure
        try:
            return self._compiled.search(text, timeout=_SECONDS, concurrent=True) is not None
        except TimeoutError:
            self._late += 1
            _log.warning("the rule %s took too long for a text of %d characters", self._name, len(text))
            return unsure

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pattern) and other.pattern == self.pattern

    def __hash__(self) -> int:
        return hash(self.pattern)
