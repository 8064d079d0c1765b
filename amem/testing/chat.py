"""A chat model that answers what it was told to."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from amem.llm.usage import Usage
from amem.testing.script import Script

if TYPE_CHECKING:
    from amem.message import Message


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
        self._usage.add(tokens_in=len(asked.split()), tokens_out=len(text.split()))
        yield from re.findall(r"\s*\S+\s*$|\s*\S+|\s+", text)
        if ending is not None:
            raise ending
