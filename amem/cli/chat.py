"""``amem chat``, ``amem ask`` and ``amem rules``: talk to an assistant that remembers, and say what it may."""

import re
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from amem.cli.exits import ExitCode
from amem.cli.invocation import invocation, tell
from amem.cli.options import Json
from amem.cli.render import console, on_terminal, one_line, print_json, print_wrapped, say, say_row, short_id, styled

if TYPE_CHECKING:
    from datetime import tzinfo

    from amem.cli.invocation import Invocation
    from amem.conversation.questions import Answer
    from amem.conversation.reply import Learnt


Model = Annotated[str | None, typer.Option("--model", "-m", help="Who answers, instead of the setting llm_model.")]


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


# ``amem ask``: one question, one answer, with the notes that it rests on.


_CITED = re.compile(r"[\[【]\d+[\]】]")


def ask(
    context: typer.Context,
    question: Annotated[list[str], typer.Argument(help="The question, in your own words.", show_default=False)],
    k: Annotated[
        int | None,
        typer.Option("-k", "--k", min=1, help="How many notes the model is shown (8; 16 where several are asked for)."),
    ] = None,
    model: Model = None,
    rerank: Annotated[
        bool | None,
        typer.Option("--rerank/--no-rerank", help="Have the model pick them from twenty, for one call more."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Answer one question from the notes, and say which ones the answer rests on."""
    from amem.cli.chat_screen import why_nobody
    from amem.clock import zone
    from amem.conversation.ports import with_model

    call = invocation(context)
    settings = call.settings()
    if model is not None:
        settings = with_model(settings, model)
    with call.browsed(as_json, empty={}, settings=settings) as memory:
        answer = memory.answer(" ".join(question), k, rerank=rerank)
    if answer.error and not as_json:
        tell(f"no model answers: {why_nobody(answer.error, answer.hint)}; this is what memory holds")
    elif not as_json:
        for note in answer.notes:
            tell(note)
    if as_json:
        print_json(answer)
    else:
        _print(answer, zone(settings.timezone))
    if answer.error:
        raise typer.Exit(ExitCode.UNREACHABLE)


def _print(answer: "Answer", local: "tzinfo") -> None:
    from amem.cli.render import said_on, shown

    hits = {hit.id: hit for hit in answer.hits}
    # A note that replaced a hit, or speaks against it, need be none of the hits.
    cited = [(each, hits.get(each.note)) for each in answer.citations]
    text = _with_numbers(answer.text.strip(), [each.number for each in answer.citations])
    if not on_terminal():
        say(text)
        for each, hit in cited:
            said, line = ("", each.line) if hit is None else (said_on(hit, local), hit.text)
            place = (each.catalog,) if each.catalog else ()
            say_row(f"[{each.number}]", short_id(each.note), said, line, *place)
        return
    out = console()
    print_wrapped(out, styled((text, "" if answer.in_memory else "yellow")))
    if cited:
        out.print()
    for each, hit in cited:
        day, words = ("", styled(one_line(each.line))) if hit is None else (said_on(hit, local), shown(hit))
        head = styled(f"{f'[{each.number}]':<5}", (short_id(each.note), "cyan"), (f"  {day}  ", "dim"))
        if each.catalog:
            head += styled((f"{each.catalog}  ", "magenta"))
        print_wrapped(out, head + words, hanging=5)


def _with_numbers(text: str, numbers: "list[int]") -> str:
    """The text with the numbers of its notes, at its end where the model left them out."""
    if not numbers or _CITED.search(text):
        return text
    return f"{text} {''.join(f'[{number}]' for number in numbers)}"


# ``amem rules``: what is always and what is never remembered of conversations.


def rules(
    context: typer.Context,
    edit: Annotated[bool, typer.Option("--edit", help="Change them in your editor.")] = False,
    as_json: Json = False,
) -> None:
    """What is always and what is never remembered of conversations, and where to change that."""
    from amem.cli.editor import edit_file
    from amem.conversation.rule_file import FILE_NAME, default_rules, load_rules

    call = invocation(context)
    home = call.settings().home
    path = home / FILE_NAME
    changed = edit and edit_file(path, default_rules())
    own = path.is_file()
    found = load_rules(home)  # refuses a file with a line that cannot be used, naming it
    if as_json:
        return print_json(
            {
                "path": str(path),
                "own": own,
                "always": [rule for rule, _ in found.always],
                "never": [*(rule for rule, _ in found.never), *(f"[{kind}]" for kind in found.secrets)],
                "allow": [f"[{kind}]" for kind in found.allowed],
                "told": found.text,
            }
        )
    if edit:
        return tell(f"{path}: {'changed' if changed else 'left as it was'}")
    for line in (path.read_text(encoding="utf-8-sig") if own else default_rules()).splitlines():
        say(line)
    if found.secrets:
        tell(f"never stored of what is said: {', '.join(found.secrets)}")
    if found.allowed:
        tell(f"stored like anything else, since the file allows it: {', '.join(found.allowed)}")
    tell(f"{path}" if own else f"these come with amem; {call.command('rules', '--edit')} makes them yours, in {path}")
