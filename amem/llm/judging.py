"""Asking a model what one note is to another: the judge of conflicts that rules and vectors cannot decide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amem.analysis import Judgement, PairVerdict
from amem.errors import BadModelAnswer
from amem.llm import showing
from amem.llm.answers import confidence_in
from amem.llm.grounding import UNQUOTED, quote_in
from amem.llm.ladder import Question
from amem.llm.prompts import CHINESE, language_of
from amem.llm.proposals import QUOTE, REASON
from amem.llm.reading import clean
from amem.llm.schemas import judge_schema
from amem.llm.shown import Dropped, Handles, quoted
from amem.llm.spellings import spelled, verdict_named

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from amem.analysis import Pair
    from amem.llm.ladder import Ladder

#: What small local models can weigh at once.
MOST_PAIRS = 5


def judge(ladder: Ladder, pairs: Sequence[Pair]) -> Judgement:
    """Judge the first few pairs in one call; no call without pairs. Raises what `Ladder.ask` raises."""
    shown = pairs[:MOST_PAIRS]
    if not shown:
        return Judgement()
    handles = tuple(pair.handle for pair in shown)
    language = language_of(" ".join(f"{pair.older} {pair.newer}" for pair in shown))
    question = Question(
        prompt="judge",
        values={"pairs": "\n".join(_shown(pair, language) for pair in shown)},
        schema=judge_schema(handles),
        fields=frozenset(("verdicts",)),
        read=lambda answer: _read(answer, {pair.handle: pair.older for pair in shown}),
        language=language,
    )
    answered = ladder.ask(question)
    return Judgement(*answered.value, prompt=answered.prompt)


def _shown(pair: Pair, language: str) -> str:
    older, newer = ("【旧】", "【新】") if language == CHINESE else ("OLDER", "NEWER")
    return f"{pair.handle} {older} {_note(pair.older, pair.older_at)} {newer} {_note(pair.newer, pair.newer_at)}"


def _note(text: str, at: datetime | None) -> str:
    day = f"({at:%Y-%m-%d}) " if at else ""
    return f"{day}<<<{showing.line(text, showing.NEIGHBOUR_WORDS)}>>>"


def _read(answer: dict[str, Any], older: Mapping[str, str]) -> tuple[tuple[PairVerdict, ...], tuple[str, ...]]:
    if not isinstance(answer.get("verdicts"), list):
        raise BadModelAnswer("verdicts has to be a list")
    pairs, dropped = Handles(older), Dropped()
    found: dict[str, PairVerdict] = {}
    for item in dropped.objects(answer, "verdicts"):
        handle, verdict = pairs.find(item.get("pair")), verdict_named(item.get("verdict"))
        if handle is None:
            dropped.add(f"a verdict on {quoted(item.get('pair'))}, which was not shown")
        elif verdict is None:
            dropped.add(f"the verdict {spelled(item.get('verdict'))!r} on {handle}, which is none of those asked for")
        elif handle in found:
            dropped.add(f"a second verdict on {handle}")
        else:
            quote = quote_in(clean(item.get("quote"), QUOTE), older[handle])
            confidence = confidence_in(item) if quote else min(confidence_in(item), UNQUOTED)
            found[handle] = PairVerdict(handle, verdict, confidence, clean(item.get("reason"), REASON), quote)
    if not found:
        raise BadModelAnswer("the answer holds no verdict on any pair that was shown")
    return tuple(found.values()), dropped.sentences
