"""An assistant that lives on this machine alone: Ollama answers, amem remembers.

    .venv/bin/python examples/local_assistant.py ~/assistant "I am allergic to peanuts." "What must I not eat?"

Run it again with the same folder and another question: it remembers. Without words it reads one message a line from
standard input. The first folder is where the notes are kept. When no Ollama answers it says so, and still shows what
it remembers. (`amem chat` is the comfortable form of this; here is what it takes.)
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from amem import AgenticMemorySystem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from amem import Assistant
    from amem.conversation.reply import Learnt


def main(folder: str, messages: Iterable[str]) -> None:
    model = os.environ.get("AMEM_LLM_MODEL")
    with (
        AgenticMemorySystem(directory=folder, llm_backend="ollama", llm_model=model) as memory,
        memory.assistant(on_learnt=tell) as assistant,
    ):
        for message in messages:
            if message.strip():
                print(f"> {message.strip()}")
                answer(assistant, message)
                assistant.wait()  # so that what was learnt is told here, and not in the middle of the next answer


def tell(learnt: Learnt) -> None:
    """Called from the thread that learns, once a turn has been learnt from."""
    if learnt.line():
        print(f"   ({learnt.line()})")


def answer(assistant: Assistant, message: str) -> None:
    for piece in assistant.stream(message):
        print(piece.text, end="", flush=True)
        if piece.kind == "notice":
            print()
        if piece.reply is not None:
            print()
            if piece.reply.error:
                print(f"   no model answered: {piece.reply.error} ({piece.reply.hint})")
            for note in piece.reply.recalled:
                print(f"   recalled: {note.text} [{note.why}]")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:] or sys.stdin)
