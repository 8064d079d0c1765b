"""``amem chat``: talk to an assistant that remembers."""

# No ``from __future__ import annotations`` here: Typer reads annotations at run time.

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from amem.cli.exits import ExitCode
from amem.cli.invocation import invocation, tell
from amem.cli.options import Json

if TYPE_CHECKING:
    from amem.cli.invocation import Invocation
    from amem.conversation.reply import Learnt

_PANEL = "Chat"
Model = Annotated[str | None, typer.Option("--model", "-m", help="Who answers, instead of the setting llm_model.")]


def register(app: typer.Typer) -> None:
    """Add this room's command."""
    app.command(rich_help_panel=_PANEL)(chat)


def chat(
    context: typer.Context,
    session: Annotated[
        str | None, typer.Argument(metavar="SESSION", help="With --resume or --replay: which chat; default the last.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", "-r", help="Go on with a chat.")] = False,
    incognito: Annotated[bool, typer.Option("--incognito", help="Recall, but store and learn nothing.")] = False,
    model: Model = None,
    listing: Annotated[bool, typer.Option("--list", help="List the chats.")] = False,
    replay: Annotated[bool, typer.Option("--replay", help="Show a chat again, and why it was answered so.")] = False,
    turn: Annotated[int | None, typer.Option("--turn", min=1, help="With --replay: only this turn.")] = None,
    as_json: Json = False,
) -> None:
    """Talk to an assistant that recalls before it answers, and learns from what is said."""
    _check(session, resume, listing, replay, turn)
    call = invocation(context)
    if listing or replay:
        from amem.cli.chat_screen import list_chats, replay_chat

        return list_chats(call, as_json) if listing else replay_chat(call, session, turn, as_json)
    _talk(call, session, resume=resume, incognito=incognito, model=model, as_json=as_json)


def _check(session: str | None, resume: bool, listing: bool, replay: bool, turn: int | None) -> None:
    if resume + listing + replay > 1:
        raise typer.BadParameter("--resume, --list and --replay exclude each other")
    if session is not None and not (resume or replay):
        raise typer.BadParameter(f"to go on with chat {session}, give --resume; to ask one question, amem ask")
    if turn is not None and not replay:
        raise typer.BadParameter("--turn goes with --replay")


def _talk(
    call: "Invocation", session: str | None, *, resume: bool, incognito: bool, model: str | None, as_json: bool
) -> None:
    from queue import SimpleQueue

    from amem.cli.chat_screen import newest, why_nobody
    from amem.cli.chat_terminal import TerminalChat, answer_lines
    from amem.conversation.ports import missing, with_model
    from amem.conversation.session import Conversation

    at_terminal = sys.stdin.isatty() and sys.stdout.isatty() and not as_json
    settings = call.settings()
    answering = None if model is None else with_model(settings, model)
    learnt: SimpleQueue[Learnt] = SimpleQueue()
    with (
        call.memory(create=not resume, settings=settings, chroma=True) as memory,
        Conversation(
            memory,
            session=newest(memory) if resume and session is None else session,
            incognito=incognito,
            settings=answering,
            on_learnt=learnt.put if at_terminal else _tell_learnt,
        ) as conversation,
    ):
        assistant = conversation.open()
        # At a terminal one can change to another model; a question that nobody can answer begins no chat.
        if (model is not None or not at_terminal) and (lacking := missing(conversation.settings, assistant)):
            tell(f"no model answers: {why_nobody(lacking)}")
            raise typer.Exit(ExitCode.UNREACHABLE)
        if at_terminal:
            return TerminalChat(call, memory, conversation, learnt).run()
        code = answer_lines(memory, conversation, as_json=as_json)
    if code:
        raise typer.Exit(code)


def _tell_learnt(learnt: "Learnt") -> None:
    if words := learnt.words():
        tell(words)
