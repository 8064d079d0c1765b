"""Asking a model whether what was read suffices to answer a question: yes or no, in one call."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from amem.errors import AmemError, BadModelAnswer
from amem.llm import showing
from amem.llm.grounding import quote_in
from amem.llm.ladder import Ladder, Question
from amem.llm.prompts import language_of
from amem.llm.reading import clean
from amem.llm.schemas import suffices_schema

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from amem.protocols import ChatModel

_log = logging.getLogger(__name__)

QUESTION_WORDS = 200
REASON = 200
_FIELDS = frozenset(("suffices", "reason", "quote"))
_YES = frozenset(("true", "yes", "1", "是", "够", "足够", "能"))
_NO = frozenset(("false", "no", "0", "否", "不", "不够", "不能"))


class Sufficer:
    """Asks `chat`, until it fails once. `prompts` is a folder whose files stand in for amem's own."""

    def __init__(self, chat: ChatModel, prompts: Path | None = None) -> None:
        self._ladder = Ladder(chat, prompts=prompts)
        self._failed = False

    @property
    def name(self) -> str:
        """The model's."""
        return self._ladder.name

    def judge(self, question: str, read: Sequence[str]) -> tuple[bool, str] | None:
        """Whether these texts hold the answer, and why in a few words; None where the model does not say."""
        if self._failed or not read:
            return None
        numbered = "\n".join(f"[{n}] <<<{showing.inert(text)}>>>" for n, text in enumerate(read, start=1))
        asked = Question(
            prompt="suffices",
            values={"question": showing.note(question, QUESTION_WORDS), "read": numbered},
            schema=suffices_schema(),
            fields=_FIELDS,
            read=lambda answer: _read(answer, read),
            language=language_of(question),
        )
        try:
            return self._ladder.ask(asked).value
        except AmemError as error:
            # The rules tell as well; a model that is down would be waited for at every tier.
            _log.warning("%s did not say whether what was read suffices: %s", self.name, error)
            self._failed = True
            return None


def _read(answer: dict[str, Any], texts: Sequence[str]) -> tuple[bool, str]:
    said = answer.get("suffices")
    if isinstance(said, str):
        word = clean(said, 20).casefold()
        said = True if word in _YES else False if word in _NO else None
    if not isinstance(said, bool):
        raise BadModelAnswer("suffices has to be true or false")
    quote = clean(answer.get("quote"), REASON)
    if said and not any(quote_in(quote, text) for text in texts):
        return False, "the model quotes nothing of the notes that answers"
    return said, clean(answer.get("reason"), REASON) or ("the model says so" if said else "the model says it does not")
