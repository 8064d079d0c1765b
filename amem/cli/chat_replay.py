"""Chats as they were: the list of them, and one turn by turn with what was recalled, shown, answered and learnt."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from amem.cli.context import tell
from amem.cli.render import count, on_terminal, one_line, print_json, print_table, say, short_id, when
from amem.clock import zone
from amem.conversation.telling import LEARNING, ended, was_shown
from amem.errors import NoteNotFound, SessionNotFound
from amem.storage.chats import Learning

if TYPE_CHECKING:
    from amem.cli.chat_screen import Screen
    from amem.cli.context import Invocation
    from amem.conversation.assistant import Assistant
    from amem.conversation.reply import Replayed
    from amem.memory_system import AgenticMemorySystem
    from amem.storage.chats import ChatSession

#: Cells of what is said of how a turn ended, errors of services being of any length.
_LONGEST = 340
_NONE_YET = SessionNotFound("there is no chat yet", hint="amem chat begins one")


def newest(assistant: Assistant) -> str:
    """Id of the chat used last. Raises SessionNotFound."""
    found = assistant.sessions(1)
    if not found:
        raise _NONE_YET
    return found[0].id


def list_chats(call: Invocation, as_json: bool) -> None:
    """The chats, the last used first; in a pipe ``id, last used, turns, beginning`` by tabs."""
    with call.browsed(as_json) as memory:
        found = _sessions(memory)
        timezone = call.settings().timezone
    if as_json:
        return print_json([session_record(each) for each in found])
    local = zone(timezone)
    rows = [
        (short_id(each.id), when(each.last_at, local), f"{each.turns:,}", one_line(each.opening, 200)) for each in found
    ]
    print_table(("id", "when", "turns", "begins"), rows, wide="begins", spare=("turns",))
    if not found:
        tell("no chats yet")


def replay_chat(call: Invocation, session: str | None, turn: int | None, as_json: bool) -> None:
    """The turns of a chat, or one of them. Raises SessionNotFound."""
    with call.memory() as memory, memory.assistant(incognito=True) as assistant:
        chat = newest(assistant) if session is None else session
        turns = assistant.replay(chat, turn)
        if as_json:
            return print_json({"session": turns[0].turn.session, "turns": [turn_record(each) for each in turns]})
        if on_terminal():
            from amem.cli.chat_screen import Screen

            screen = Screen(zone(memory.settings.timezone))
            screen.say(f"chat {short_id(turns[0].turn.session)}, {count(len(turns), 'turn')}")
            for each in turns:
                _show(screen, memory, each)
        else:
            for each in turns:
                _print(each)


def session_record(chat: ChatSession) -> dict[str, Any]:
    """A chat as JSON."""
    return {
        "id": chat.id,
        "started_at": chat.started_at.isoformat(),
        "last_at": chat.last_at.isoformat(),
        "turns": chat.turns,
        "opening": chat.opening,
    }


def turn_record(each: Replayed) -> dict[str, Any]:
    """A turn as JSON."""
    turn = each.turn
    return {
        "turn": turn.number,
        "at": turn.at.isoformat(),
        "question": turn.question,
        "answer": turn.answer,
        "state": str(turn.state),
        "in_memory": turn.supported,
        "model": turn.model,
        "prompt": turn.prompt,
        "error": turn.error,
        "recalled": [found.to_dict() for found in each.recalled],
        "learning": str(turn.learning),
        "learnt": list(each.learnt),
        "operation": turn.learnt_by,
        "tokens_in": turn.tokens_in,
        "tokens_out": turn.tokens_out,
    }


def _sessions(memory: AgenticMemorySystem) -> list[ChatSession]:
    with memory.assistant(incognito=True) as assistant:
        return assistant.sessions()


def _show(screen: Screen, memory: AgenticMemorySystem, each: Replayed) -> None:
    turn = each.turn
    screen.gap()
    screen.heading(f"turn {turn.number}", when(turn.at, screen.zone))
    screen.asked(turn.question)
    if not each.recalled:
        screen.say("nothing was recalled")
    screen.recalled(each.recalled, shown=was_shown(turn.state, turn.model))
    if turn.supported is False:
        screen.warn("nothing in memory supported an answer, which was said first")
    how = one_line(ended(turn.state, turn.error), _LONGEST)
    screen.say(f"{how}{_by(each)}:" if turn.answer else how)
    screen.text(turn.answer)
    if turn.learning in LEARNING:
        screen.say(LEARNING[turn.learning])
    if each.learnt:
        _show_learnt(screen, memory, each)
    elif turn.learning is Learning.DONE:
        screen.say("nothing was learnt")


def _show_learnt(screen: Screen, memory: AgenticMemorySystem, each: Replayed) -> None:
    """The notes that a turn taught, and what became of those that are not there any more."""
    undo = "" if each.turn.learnt_by is None else f" (operation {each.turn.learnt_by})"
    held = [note for id in each.learnt if (note := memory.read(id)) is not None]
    gone = Counter(_gone(memory, id) for id in each.learnt if all(note.id != id for note in held))
    if held:
        screen.say(f"learnt{undo}:")
        screen.notes(held)
    for how, number in gone.items():
        screen.say(f"{count(number, 'note')} learnt{'' if held else undo}, and {how} since")


def _gone(memory: AgenticMemorySystem, id: str) -> str:
    """How a note went that is not there any more."""
    try:
        last = memory.history(id)[-1]
    except NoteNotFound:
        return "purged"
    return "taken back" if last.action == "undo" else "forgotten"


def _by(each: Replayed) -> str:
    asked = ", ".join(part for part in (each.turn.model, each.turn.prompt) if part)
    size = f", {each.turn.tokens_in:,} tokens in, {each.turn.tokens_out:,} out" if each.turn.tokens_in else ""
    return f" ({asked}{size})" if asked else ""


def _print(each: Replayed) -> None:
    """In a pipe: tab-separated lines that begin with the turn's number and what they are."""
    turn = each.turn
    number = str(turn.number)

    def line(what: str, *cells: str) -> None:
        say("\t".join([number, what, *(one_line(cell) for cell in cells)]))

    read = was_shown(turn.state, turn.model)
    line("asked", turn.at.isoformat(), turn.question)
    for found in each.recalled:
        shown = "shown" if found.injected and read else "not shown"
        line("recalled", short_id(found.note), f"{found.score:.3f}", found.part, shown, found.text, found.why)
    line(str(turn.state), turn.model, turn.answer, turn.error)
    for id in each.learnt:
        line("learnt", short_id(id))
