"""The chat in a pipe: a line is a turn, an answer is what is printed."""

from __future__ import annotations

import sys
from contextlib import nullcontext, redirect_stdout
from typing import TYPE_CHECKING, Any

from amem.cli.exits import ExitCode
from amem.cli.invocation import tell
from amem.cli.render import json_line, one_line, say, short_id
from amem.conversation.ports import reason
from amem.conversation.reply import best
from amem.storage.chats import TurnState

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from amem.conversation.assistant import Assistant
    from amem.conversation.reply import Recalled, Reply
    from amem.errors import AmemError


class Leave(Exception):
    """The user wants to go."""


def answer_lines(assistant: Assistant, run: Callable[[str], None], *, as_json: bool) -> ExitCode:
    """Answer every line of standard input; UNREACHABLE when a line had no model to answer it.

    A line that begins with one slash is a command, which `run` runs (it raises Leave to end the chat). What a command
    prints goes to standard error where every line of standard output is to be JSON.
    """
    code = ExitCode.OK
    while line := next_line():
        if line.startswith("/") and not line.startswith("//"):
            try:
                with redirect_stdout(sys.stderr) if as_json else nullcontext():
                    run(line)
            except Leave:
                return code
            continue
        line = line[1:] if line.startswith("//") else line
        reply = assistant.say(line)
        if as_json:
            say(json_line(reply_record(line, reply)), flush=True)
        else:
            _print(reply)
        if reply.state is TurnState.UNANSWERED:
            code = ExitCode.UNREACHABLE
        elif reply.state is TurnState.INTERRUPTED and not reply.error:
            return ExitCode.INTERRUPTED
        assistant.wait()  # nobody types meanwhile, and the next line may ask for what this one taught
    return code


def reply_record(question: str, reply: Reply) -> dict[str, Any]:
    """A turn as JSON."""
    return {
        "session": reply.session,
        "turn": reply.turn,
        "question": question,
        "answer": reply.text,
        "notice": reply.notice,
        "in_memory": reply.in_memory,
        "state": str(reply.state),
        "model": reply.model,
        "error": reply.error,
        "hint": reply.hint,
        "recalled": [each.to_dict() for each in reply.recalled],
    }


def why_nobody(error: str | AmemError, hint: str = "") -> str:
    """What went wrong and what to do, in one line."""
    return one_line(reason(error, hint))


def print_recalled(found: Sequence[Recalled]) -> None:
    """What was recalled: ``id, score, time, content, reasons`` by tabs."""
    for each in found:
        at = "" if each.at is None else each.at.isoformat()
        say("\t".join(map(one_line, (short_id(each.note), f"{each.score:.3f}", at, each.text, each.why))))


def _print(reply: Reply) -> None:
    for text in (reply.notice, reply.text):
        if text.strip():
            say(text.strip())
    if reply.state is TurnState.UNANSWERED and not reply.text.strip():
        print_recalled(best(reply.recalled))
    sys.stdout.flush()
    why = why_nobody(reply.error, reply.hint)
    if reply.state is TurnState.UNANSWERED:
        tell(f"no model answers: {why}; this is what memory holds")
    elif reply.error:
        tell(f"the model broke off: {why}")


def next_line(prompt: str = "") -> str:
    """The next line of standard input that is not empty, as it comes; '' at its end. Nobody there reads a prompt."""
    from amem.interop.decoding import decode

    while line := sys.stdin.buffer.readline():
        if text := decode(line, "standard input").strip():
            return text
    return ""
