"""A chat model that answers what it was told to."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from amem.llm.usage import Usage
from amem.testing.script import Script

Scripted: TypeAlias = str | Mapping[str, object] | Exception


class ScriptedChat:
    """Answers from `answers`: one for every call, a list used up in order, or a function of the prompt.

    An answer is a text, a mapping (sent as JSON) or an exception (raised). `prompts` and `schemas` keep what was asked;
    tokens are counted as words. A list that is used up raises LookupError.
    """

    def __init__(
        self, answers: Scripted | Sequence[Scripted] | Callable[[str], Scripted], *, name: str = "scripted/chat"
    ) -> None:
        self.prompts: list[str] = []
        self.schemas: list[Mapping[str, object] | None] = []
        self._script = Script[Scripted]("answers", answers)
        self._name = name
        self._usage = Usage()

    @property
    def name(self) -> str:
        return self._name

    @property
    def usage(self) -> Usage:
        return self._usage

    def complete(self, prompt: str, *, schema: Mapping[str, object] | None = None, temperature: float = 0.0) -> str:
        self.prompts.append(prompt)
        self.schemas.append(schema)
        answer = self._script.next(prompt)
        if isinstance(answer, Exception):
            raise answer
        text = answer if isinstance(answer, str) else json.dumps(dict(answer), ensure_ascii=False)
        self._usage.add(tokens_in=len(prompt.split()), tokens_out=len(text.split()))
        return text
