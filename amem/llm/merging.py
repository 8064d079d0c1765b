"""Asking a model whether notes say the same and, if so, for the one note that can stand for them: one call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amem.analysis import MergeDraft
from amem.errors import BadModelAnswer
from amem.llm import showing
from amem.llm.answers import confidence_in
from amem.llm.grounding import UNQUOTED, quote_in
from amem.llm.ladder import Question
from amem.llm.prompts import language_of
from amem.llm.proposals import QUOTE, REASON
from amem.llm.reading import clean
from amem.llm.schemas import merge_schema
from amem.llm.spellings import spelled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.llm.ladder import Ladder

#: What a small local model can weigh at once, over all notes together, in characters.
MOST_CHARACTERS = 2_000
_VERDICTS = {"same": True, "相同": True, "different": False, "不同": False}


def draft_merge(ladder: Ladder, parts: Sequence[str]) -> MergeDraft:
    """What `parts`, at most `MOST_CHARACTERS` together, come to in the eyes of a model.

    Its confidence is at most `UNQUOTED` where it quotes none of them. Raises BadModelAnswer when the answer is of no
    use (it is not asked again), and what `Ladder.ask` raises.
    """
    together = "\n".join(parts)
    question = Question(
        prompt="merge",
        values={"notes": " ".join(f"<<<{showing.line(part, MOST_CHARACTERS)}>>>" for part in parts)},
        schema=merge_schema(),
        fields=frozenset(("quote", "reason", "verdict", "confidence", "merged")),
        read=lambda answer: _read(answer, parts),
        language=language_of(together),
        again=0,
    )
    answered = ladder.ask(question)
    same, text, reason, confidence = answered.value
    return MergeDraft(same, text, reason, confidence, prompt=answered.prompt)


def _read(answer: dict[str, Any], parts: Sequence[str]) -> tuple[bool, str, str, float]:
    same = _VERDICTS.get(spelled(answer.get("verdict")))
    if same is None:
        raise BadModelAnswer("the verdict has to be same or different")
    quote, confidence = clean(answer.get("quote"), QUOTE), confidence_in(answer)
    if not any(quote_in(quote, part) for part in parts):
        confidence = min(confidence, UNQUOTED)
    text = clean(answer.get("merged"), MOST_CHARACTERS) if same else ""
    return same, text, clean(answer.get("reason"), REASON), confidence
