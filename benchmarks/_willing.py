"""The judging model as a chat model in this process, telling somebody of every call."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from _judging_model import judging_model

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from amem.note import Message

    Heard = Callable[[str, Mapping[str, object] | None, str], None]


class WillingChat:
    """Answers every prompt of amem's; `heard` is told the prompt, its schema and the answer.

    What it says is made by rules: figures taken with it are about prompts, never about answers.
    """

    def __init__(self, heard: Heard) -> None:
        self._heard = heard

    @property
    def name(self) -> str:
        return "benchmark/willing"

    def complete(self, prompt: str, *, schema: Mapping[str, object] | None = None, temperature: float = 0.0) -> str:
        said = judging_model({"messages": [{"role": "user", "content": prompt}], "format": schema})
        answer = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
        self._heard(prompt, schema, answer)
        return answer

    def stream(self, messages: Sequence[Message], *, temperature: float = 0.7) -> Iterator[str]:
        yield self.complete("\n".join(message.content for message in messages))
