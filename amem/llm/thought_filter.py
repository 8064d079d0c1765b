"""Take a model's leading ``<think>`` block out of an answer while it is streamed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.errors import BadModelAnswer

if TYPE_CHECKING:
    from collections.abc import Callable


_OPENS = "<think>"
_CLOSES = "</think>"


def only_thought(model: str, tokens: int) -> BadModelAnswer:
    """The error of an answer that was all thought when its tokens were used up."""
    return BadModelAnswer(
        f"{model} used up the {tokens:,} tokens of its answer before it had said anything",
        hint="raise llm_context (AMEM_LLM_CONTEXT), or take a model that does not think aloud",
    )


class Thoughts:
    """Takes a ``<think>...</think>`` that leads an answer out of its pieces, wherever the pieces were cut.

    Only a thought that opens the answer is one: the marks may well be what a later sentence is about. (Where a chat
    template writes the opening mark itself nothing tells a thought from an answer until it has been read.)
    """

    def __init__(self) -> None:
        self._held = ""
        self._state: Callable[[str], str] = self._before

    def feed(self, piece: str) -> str:
        """What of this piece, and of pieces held back before it, is part of the answer."""
        return self._state(piece)

    def end(self) -> str:
        """What was held back in case it opened a thought, and did not. A thought without an end is left out."""
        return self._held if self._state == self._before else ""

    def _before(self, piece: str) -> str:
        self._held += piece
        start = self._held.lstrip()
        if _OPENS.startswith(start[: len(_OPENS)]) and len(start) < len(_OPENS):
            return ""
        held, self._held = self._held, ""
        if start.startswith(_OPENS):
            self._state = self._within
            return self._within(start[len(_OPENS) :])
        self._state = str
        return held

    def _within(self, piece: str) -> str:
        self._held += piece
        thought, mark, answer = self._held.partition(_CLOSES)
        if not mark:
            self._held = thought[1 - len(_CLOSES) :]
            return ""
        self._held = ""
        self._state = self._after
        return self._after(answer)

    def _after(self, piece: str) -> str:
        # Models leave blank lines between thought and answer.
        text = piece.lstrip()
        if text:
            self._state = str
        return text
