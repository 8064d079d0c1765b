"""An analyst and a chat model that answer what they were told to."""

from __future__ import annotations

import json
import re
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from amem.analysis import Analysis, Draft, Evolution, Extraction, Neighbour, Passage
from amem.language import query_terms
from amem.llm.guarded import Usage

if TYPE_CHECKING:
    from amem.note import Message
    from amem.protocols import Vocabulary


# What a stand-in is to answer: one value for ever, a list used up in order, or a function of what it was asked.

Answer = TypeVar("Answer")


class Script(Generic[Answer]):
    """Hands out scripted answers, to several threads if need be. `name` is what runs out, in the error that says so."""

    def __init__(self, name: str, answers: Answer | Sequence[Answer] | Callable[..., Answer]) -> None:
        self._name = name
        self._answers: Any = answers
        self._left = deque(answers) if isinstance(answers, (list, tuple)) else None
        self._lock = threading.Lock()

    def next(self, *asked: Any) -> Answer:
        """The next answer. Raises LookupError when a list is used up."""
        if self._left is not None:
            with self._lock:
                if not self._left:
                    raise LookupError(f"the script has no {self._name} left")
                answer: Answer = self._left.popleft()
                return answer
        answer = self._answers(*asked) if callable(self._answers) else self._answers
        return answer


# A chat model that answers what it was told to.


@dataclass(frozen=True, slots=True)
class Broken:
    """An answer that ends too soon: says `text`, then raises `error` (which may be KeyboardInterrupt)."""

    text: str
    error: BaseException


Scripted: TypeAlias = str | Mapping[str, object] | Exception | Broken


class ScriptedChat:
    """Answers from `answers`: one for every call, a list used up in order, or a function of the prompt.

    An answer is a text, a mapping (sent as JSON), an exception (raised) or `Broken`. `prompts` and `schemas` keep what
    `complete` was asked, `conversations` what `stream` was, whose answers come word by word; a function is given all
    the messages as one text there. Tokens are counted as words. A list that is used up raises LookupError.
    """

    def __init__(
        self, answers: Scripted | Sequence[Scripted] | Callable[[str], Scripted], *, name: str = "scripted/chat"
    ) -> None:
        self.prompts: list[str] = []
        self.schemas: list[Mapping[str, object] | None] = []
        self.conversations: list[tuple[Message, ...]] = []
        self._script = Script[Scripted]("answers", answers)
        self.name = name
        self.usage = Usage()

    def complete(self, prompt: str, *, schema: Mapping[str, object] | None = None, temperature: float = 0.0) -> str:
        self.prompts.append(prompt)
        self.schemas.append(schema)
        return "".join(self._said(prompt))

    def stream(self, messages: Sequence[Message], *, temperature: float = 0.7) -> Iterator[str]:
        self.conversations.append(tuple(messages))
        return self._said("\n\n".join(message.content for message in messages))

    def _said(self, asked: str) -> Iterator[str]:
        answer = self._script.next(asked)
        if isinstance(answer, Exception):
            raise answer
        ending: BaseException | None = None
        if isinstance(answer, Broken):
            said: str | Mapping[str, object] = answer.text
            ending = answer.error
        else:
            said = answer
        text = said if isinstance(said, str) else json.dumps(dict(said), ensure_ascii=False)
        self.usage.add(tokens_in=len(asked.split()), tokens_out=len(text.split()))
        yield from re.findall(r"\s*\S+\s*$|\s*\S+|\s+", text)
        if ending is not None:
            raise ending


# An analyst that answers what it was told to.

Analyses: TypeAlias = Analysis | Sequence[Analysis] | Callable[[Draft], Analysis]
Evolutions: TypeAlias = Evolution | Sequence[Evolution] | Callable[[Draft, Analysis, Sequence[Neighbour]], Evolution]
Extractions: TypeAlias = Extraction | Sequence[Extraction] | Callable[[Passage], Extraction]


class ScriptedAnalyst:
    """Answers from `analyses`, `evolutions` and `extractions`: one value for every call, a list used up in order, or a
    function.

    Without `analyses`, keywords are the note's first terms and the context repeats its beginning; without `evolutions`,
    nothing evolves; without `extractions`, no conversation teaches anything. While `fail` is set (it may be changed at
    any time) every call raises it. `drafts`, `shown` and `passages` keep what was asked. A list that is used up raises
    LookupError: the test asked more than it scripted.
    """

    def __init__(
        self,
        analyses: Analyses | None = None,
        evolutions: Evolutions | None = None,
        extractions: Extractions | None = None,
        *,
        fail: Exception | None = None,
        local: bool = True,
        name: str = "scripted",
    ) -> None:
        self.fail = fail
        self.drafts: list[Draft] = []
        self.shown: list[tuple[Neighbour, ...]] = []
        self.passages: list[Passage] = []
        self._analyses = Script[Analysis]("analyses", _plain if analyses is None else analyses)
        self._evolutions = Script[Evolution]("evolutions", Evolution() if evolutions is None else evolutions)
        self._extractions = Script[Extraction]("extractions", Extraction() if extractions is None else extractions)
        self.local = local
        self.name = name

    def analyze(self, draft: Draft, vocabulary: Vocabulary) -> Analysis:
        self.drafts.append(draft)
        if self.fail is not None:
            raise self.fail
        return self._analyses.next(draft)

    def evolve(
        self, draft: Draft, analysis: Analysis, neighbours: Sequence[Neighbour], vocabulary: Vocabulary
    ) -> Evolution:
        self.shown.append(tuple(neighbours))
        if self.fail is not None:
            raise self.fail
        return self._evolutions.next(draft, analysis, neighbours)

    def extract(self, passage: Passage) -> Extraction:
        self.passages.append(passage)
        if self.fail is not None:
            raise self.fail
        return self._extractions.next(passage)


def _plain(draft: Draft) -> Analysis:
    return Analysis(keywords=tuple(query_terms(draft.content)[:3]), context=draft.content[:80], tags=("scripted",))
