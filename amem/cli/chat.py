"""Talking to an assistant that remembers: chats at a terminal or in a pipe, single questions, chats as they were."""

import re
import sys
from contextlib import nullcontext, redirect_stdout
from typing import TYPE_CHECKING, Annotated

import typer

from amem.cli.command import Drawing, Shown, Table, argument, command, option
from amem.cli.invocation import ExitCode, Invocation, tell
from amem.cli.render import Page, json_line, one_line, said_on, say, say_row, shown, styled, when
from amem.clock import zone
from amem.errors import SessionNotFound
from amem.labels import counted, short_id

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import tzinfo

    from amem.conversation.questions import Answer, Citation
    from amem.conversation.reply import Learnt, Replayed, Reply
    from amem.conversation.session import Conversation
    from amem.memory_system import AgenticMemorySystem


Model = Annotated[str | None, option("--model -m", "Who answers, instead of the setting llm_model.")]


@command()
def chat(
    call: Invocation,
    session: Annotated[
        str | None, argument("SESSION", "With --resume or --replay: which chat; default the last.", show_default=True)
    ] = None,
    resume: Annotated[bool, option("--resume -r", "Go on with a chat.")] = False,
    incognito: Annotated[bool, option("--incognito", "Recall, but store and learn nothing.")] = False,
    model: Model = None,
    listing: Annotated[bool, option("--list", "List the chats.")] = False,
    replay: Annotated[bool, option("--replay", "Show a chat again, and why it was answered so.")] = False,
    turn: Annotated[int | None, option("--turn", "With --replay: only this turn.", min=1)] = None,
) -> Shown | None:
    """Talk to an assistant that recalls before it answers, and learns from what is said."""
    if resume + listing + replay > 1:
        raise typer.BadParameter("--resume, --list and --replay exclude each other")
    if session is not None and not (resume or replay):
        raise typer.BadParameter(f"to go on with chat {session}, give --resume; to ask one question, amem ask")
    if turn is not None and not replay:
        raise typer.BadParameter("--turn goes with --replay")
    if listing:
        return _chats(call)
    if replay:
        _replayed(call, session, turn)
    else:
        _talk(call, session, resume=resume, incognito=incognito, model=model)
    return None


def _talk(call: Invocation, session: str | None, *, resume: bool, incognito: bool, model: str | None) -> None:
    from queue import SimpleQueue

    from amem.cli.chat_screen import why_nobody
    from amem.cli.chat_terminal import TerminalChat
    from amem.conversation.ports import missing, with_model
    from amem.conversation.session import Conversation

    at_terminal = sys.stdin.isatty() and sys.stdout.isatty() and not call.as_json
    settings = call.settings()
    answering = None if model is None else with_model(settings, model)
    learnt: SimpleQueue[Learnt] = SimpleQueue()
    with (
        call.memory(create=not resume, settings=settings, chroma=True) as memory,
        Conversation(
            memory,
            session=_newest(memory) if resume and session is None else session,
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
        code = _answer_lines(memory, conversation, as_json=call.as_json)
    if code:
        raise typer.Exit(code)


def _tell_learnt(learnt: "Learnt") -> None:
    if words := learnt.words():
        tell(words)


# In a pipe: a line is a turn, an answer is what is printed.


def _answer_lines(memory: "AgenticMemorySystem", conversation: "Conversation", *, as_json: bool) -> ExitCode:
    """Answer every line of standard input; UNREACHABLE when a line had no model to answer it.

    A line that begins with one slash is a command. What it prints goes to standard error where every line of standard
    output is to be JSON.
    """
    from amem.cli.chat_screen import Screen
    from amem.cli.chat_terminal import run_command
    from amem.conversation.commands import Leave, is_command, plain
    from amem.storage.chats import TurnState

    code = ExitCode.OK
    while line := _next_line():
        if is_command(line):
            try:
                with redirect_stdout(sys.stderr) if as_json else nullcontext():
                    # A screen prints to what is standard output when it is made.
                    screen = Screen(zone(conversation.settings.timezone))
                    run_command(memory, conversation, screen, line)
            except Leave:
                return code
            continue
        line = plain(line)
        reply = conversation.open().say(line)
        if as_json:
            named = {"session": reply.session, "turn": reply.turn, "question": line}
            say(json_line(named | reply.to_dict()), flush=True)
        else:
            _say_reply(reply)
        if reply.state is TurnState.UNANSWERED:
            code = ExitCode.UNREACHABLE
        elif reply.state is TurnState.INTERRUPTED and not reply.error:
            return ExitCode.INTERRUPTED
        conversation.open().wait()  # nobody types meanwhile, and the next line may ask for what this one taught
    return code


def _say_reply(reply: "Reply") -> None:
    from amem.cli.chat_screen import why_nobody
    from amem.conversation.reply import best
    from amem.storage.chats import TurnState

    for text in filter(None, (reply.notice.strip(), reply.text.strip())):
        say(text)
    unanswered = reply.state is TurnState.UNANSWERED
    for each in best(reply.recalled) if unanswered and not reply.text.strip() else ():
        at = "" if each.at is None else each.at.isoformat()
        say_row(short_id(each.note), f"{each.score:.3f}", at, each.text, each.why)
    sys.stdout.flush()
    why = why_nobody(reply.error, reply.hint)
    if unanswered:
        tell(f"no model answers: {why}; this is what memory holds")
    elif reply.error:
        tell(f"the model broke off: {why}")


def _next_line() -> str:
    """The next line of standard input that is not empty, as it comes; '' at its end."""
    from amem.interop.decoding import decode

    while line := sys.stdin.buffer.readline():
        if text := decode(line, "standard input").strip():
            return text
    return ""


# Chats as they were: the list of them, and one turn by turn with what was recalled, shown, answered and learnt.


def _newest(memory: "AgenticMemorySystem") -> str:
    """Id of the chat used last. Raises SessionNotFound."""
    with memory.assistant(incognito=True) as assistant:
        for each in assistant.sessions(1):
            return each.id
    raise SessionNotFound("there is no chat yet", hint="amem chat begins one")


def _chats(call: Invocation) -> Shown:
    """The chats, the last used first: id, last used, turns, beginning."""
    with call.browsed() as memory, memory.assistant(incognito=True) as assistant:
        found = assistant.sessions()
        local = zone(memory.settings.timezone)
    rows = [
        (short_id(each.id), when(each.last_at, local), f"{each.turns:,}", one_line(each.opening, 200)) for each in found
    ]
    columns = ("id", "when", "turns", "begins")
    return Table(found, columns, rows, wide="begins", spare=("turns",), told=[] if found else ["no chats yet"])


def _replayed(call: Invocation, session: str | None, turn: int | None) -> None:
    """The turns of a chat, or one of them. Raises SessionNotFound."""
    with call.memory() as memory, memory.assistant(incognito=True) as assistant:
        turns = assistant.replay(_newest(memory) if session is None else session, turn)

        def draw(page: Page) -> None:
            from amem.cli.chat_screen import Screen

            screen = Screen(zone(memory.settings.timezone))
            screen.say(f"chat {short_id(turns[0].turn.session)}, {counted(len(turns), 'turn')}")
            for each in turns:
                screen.turn(memory, each)

        rows = (row for each in turns for row in _rows(each))
        Drawing({"session": turns[0].turn.session, "turns": turns}, rows, draw).show(call)


def _rows(each: "Replayed") -> "Iterator[tuple[object, ...]]":
    from amem.conversation.reply import was_shown

    turn = each.turn
    yield turn.number, "asked", turn.at.isoformat(), turn.question
    for found in each.recalled:
        read = "shown" if found.injected and was_shown(turn.state, turn.model) else "not shown"
        of = (short_id(found.note), f"{found.score:.3f}", found.part, read)
        yield turn.number, "recalled", *of, found.text, found.why
    yield turn.number, turn.state, turn.model, turn.answer, turn.error
    for id in each.learnt:
        yield turn.number, "learnt", short_id(id)


# ``amem ask``: one question, one answer, with the notes that it rests on.


_CITED = re.compile(r"[\[【]\d+[\]】]")


@command()
def ask(
    call: Invocation,
    question: Annotated[list[str], argument("", "The question, in your own words.")],
    k: Annotated[
        int | None, option("-k --k", "How many notes the model is shown (8; 16 where several are asked for).", min=1)
    ] = None,
    model: Model = None,
    rerank: Annotated[
        bool | None, option("--rerank/--no-rerank", "Have the model pick them from twenty, for one call more.")
    ] = None,
) -> Shown:
    """Answer one question from the notes, and say which ones the answer rests on."""
    from amem.cli.chat_screen import why_nobody
    from amem.conversation.ports import with_model

    settings = call.settings()
    if model is not None:
        settings = with_model(settings, model)
    with call.browsed(empty={}, settings=settings) as memory:
        answer = memory.answer(" ".join(question), k, rerank=rerank)
    if answer.error and not call.as_json:
        tell(f"no model answers: {why_nobody(answer.error, answer.hint)}; this is what memory holds")
    elif not call.as_json:
        for note in answer.notes:
            tell(note)
    local, text = zone(settings.timezone), _with_numbers(answer)
    rows, code = _citations(answer, local), ExitCode.UNREACHABLE if answer.error else ExitCode.OK
    return Drawing(answer, rows, lambda page: _draw(page, answer, text, local), lines=[text], code=code)


def _citations(answer: "Answer", local: "tzinfo") -> "Iterator[tuple[str, ...]]":
    """The number, id, day and words of each note that the answer rests on, and the catalog of one that is in one."""
    hits = {hit.id: hit for hit in answer.hits}
    for each in answer.citations:
        # A note that replaced a hit, or speaks against it, need be none of the hits.
        hit = hits.get(each.note)
        said = (_day(each, local), each.text) if hit is None else (said_on(hit, local), hit.text)
        yield f"[{each.number}]", short_id(each.note), *said, *([each.catalog] if each.catalog else [])


def _day(cited: "Citation", local: "tzinfo") -> str:
    return "" if cited.at is None else f"{cited.at.astimezone(local):%Y-%m-%d}"


def _draw(page: Page, answer: "Answer", text: str, local: "tzinfo") -> None:
    page.write((text, "" if answer.in_memory else "yellow"))
    if answer.citations:
        page.line()
    hits = {hit.id: hit for hit in answer.hits}
    for each in answer.citations:
        hit = hits.get(each.note)
        day = _day(each, local) if hit is None else said_on(hit, local)
        words = styled(one_line(each.text)) if hit is None else shown(hit)
        head = styled(f"{f'[{each.number}]':<5}", (short_id(each.note), "cyan"), (f"  {day}  ", "dim"))
        page.write(head, (f"{each.catalog}  " if each.catalog else "", "magenta"), words, hanging=5)


def _with_numbers(answer: "Answer") -> str:
    """The text with the numbers of its notes, at its end where the model left them out."""
    text = answer.text.strip()
    if not answer.citations or _CITED.search(text):
        return text
    return f"{text} {''.join(f'[{each.number}]' for each in answer.citations)}"


# ``amem rules``: what is always and what is never remembered of conversations.


@command()
def rules(call: Invocation, edit: Annotated[bool, option("--edit", "Change them in your editor.")] = False) -> Shown:
    """Show what is always and what is never remembered of conversations, and where to change that."""
    from amem.conversation.rule_file import FILE_NAME, default_rules, load_rules
    from amem.editor import edit_file

    home = call.settings().home
    path = home / FILE_NAME
    changed = edit and edit_file(path, default_rules())
    own = path.is_file()
    found = load_rules(home)  # refuses a file with a line that cannot be used, naming it
    data = {
        "path": str(path),
        "own": own,
        "always": [rule for rule, _ in found.always],
        "never": [*(rule for rule, _ in found.never), *(f"[{kind}]" for kind in found.secrets)],
        "allow": [f"[{kind}]" for kind in found.allowed],
        "told": found.text,
    }
    if edit:
        return Shown(data, told=[f"{path}: {'changed' if changed else 'left as it was'}"])
    lines = (path.read_text(encoding="utf-8-sig") if own else default_rules()).splitlines()
    never, allowed, mine = ", ".join(found.secrets), ", ".join(found.allowed), call.command("rules", "--edit")
    told = [
        f"never stored of what is said: {never}" if never else "",
        f"stored like anything else, since the file allows it: {allowed}" if allowed else "",
        str(path) if own else f"these come with amem; {mine} makes them yours, in {path}",
    ]
    return Shown(data, *lines, told=filter(None, told))
