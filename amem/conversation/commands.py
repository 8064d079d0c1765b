"""Slash commands of a conversation, for every front end: each gives what there is to show; nothing here prints."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from amem.conversation.ports import answering, available, check, reason, with_model
from amem.conversation.reply import Candidate, Recalled, ended, was_shown
from amem.errors import AmemError, NothingToUndo
from amem.labels import short_id, title
from amem.llm.model_names import full_name
from amem.query import Filter
from amem.storage.chats import TurnState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from amem.conversation.session import Conversation
    from amem.note import MemoryNote, Receipt
    from amem.storage.undo import UndoReport

#: So many of the notes learnt in a chat are listed.
_MOST = 20
#: So many notes of each sort are shown by /why, unless all are asked for.
_BEST = 3
#: So many notes are looked through for one that is half typed, and so many of those offered.
_LOOKED_THROUGH, _OFFERED = 500, 20


class Leave(Exception):
    """The user wants to go."""


# What a command shows.


@dataclass(frozen=True, slots=True)
class Line:
    """A line of amem's own."""

    text: str
    warning: bool = False


@dataclass(frozen=True, slots=True)
class Notes:
    """Notes, one after the other."""

    notes: Sequence[MemoryNote]


@dataclass(frozen=True, slots=True)
class Recollection:
    """What was recalled for an answer; `shown` to a model or not, at most so many of each sort."""

    recalled: Sequence[Recalled]
    shown: bool
    most: int | None


@dataclass(frozen=True, slots=True)
class Choices:
    """Notes to choose from; the front end hands those that were chosen to `hide`."""

    candidates: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class Term:
    """A term and what it means."""

    term: str
    meaning: str


#: A receipt is of a note that was added by hand, an undo report of what was taken back.
Shown: TypeAlias = "Line | Notes | Recollection | Receipt | UndoReport | Choices | Term"


class Completion(NamedTuple):
    """A word that may stand in place of the last one typed, and what it means."""

    word: str
    meaning: str


# The commands.


def run(conversation: Conversation, line: str, keys: Sequence[Term] = ()) -> Iterator[Shown]:
    """Run ``/name arguments``; what fails, and a name that is none, gets one line. Raises Leave.

    `keys` are the front end's, for /help.
    """
    name, _, rest = line.removeprefix("/").partition(" ")
    command = COMMANDS.get(name.lower())
    if command is None:
        yield Line(_unknown(name), warning=True)
        return
    try:
        yield from command.run(conversation, rest.strip())
        if command.run is _help:
            yield from keys
    except AmemError as error:
        yield Line(reason(error), warning=True)


def is_command(text: str) -> bool:
    """Whether a text is a command and not said to the model; ``//`` begins a text with a slash."""
    return text.startswith("/") and not text.startswith("//")


def plain(text: str) -> str:
    """What is said to the model of a text that is no command."""
    return text[1:] if text.startswith("//") else text


def completions(conversation: Conversation, typed: str) -> list[Completion]:
    """What the last word of a half typed command may become: a command, a note's id, a model, ``all``, ``on``."""
    if not is_command(typed) or "\n" in typed:
        return []
    name, space, rest = typed.removeprefix("/").partition(" ")
    if not space:
        named = [each for each in COMMANDS.values() if each.name.startswith(name.lower())]
        return [Completion(f"/{each.name}{' ' if each.arguments else ''}", each.help) for each in named]
    match name.lower():
        case "forget" if " " not in rest:
            looked = conversation.memory.list(Filter(), limit=_LOOKED_THROUGH)
            wanted = rest.casefold()
            meant = [each for each in looked if each.id.startswith(rest) or wanted in each.content.casefold()]
            return [Completion(short_id(each.id), title(each.content, 60)) for each in meant[:_OFFERED]]
        case "model":
            return [Completion(each, "") for each in available(conversation.settings) or () if each.startswith(rest)]
        case "why" | "incognito":
            words = ("all",) if name == "why" else ("on", "off")
            return [Completion(each, "") for each in words if each.startswith(rest)]
    return []


def hide(conversation: Conversation, notes: Sequence[str]) -> Iterator[Shown]:
    """Hide notes that a person chose, by their ids."""
    hidden = [id for each in notes if (id := conversation.forget(each).note) is not None]
    if hidden:
        yield from _told_hidden(conversation, hidden)
    else:
        yield Line("nothing was forgotten")


def chosen(said: str, candidates: Sequence[Candidate]) -> list[str]:
    """Ids of those whose numbers (from 1) were typed, in the order typed. Raises ValueError naming what is none."""
    numbers = said.replace(",", " ").replace("，", " ").replace("、", " ").split()
    wrong = [each for each in numbers if not each.isdecimal() or not 1 <= int(each) <= len(candidates)]
    if wrong:
        raise ValueError(wrong[0])
    return [candidates[place - 1].note for place in dict.fromkeys(map(int, numbers))]


def _unknown(name: str) -> str:
    near = get_close_matches(name.lower(), COMMANDS, 1, 0.5)
    meant = f"did you mean /{near[0]}?" if near else "/help lists the commands"
    shown = title(name, 40) or name[:40]
    return f"there is no command /{shown}: {meant} (// begins a text with a slash)"


def _why(conversation: Conversation, rest: str) -> Iterator[Shown]:
    last = conversation.open().last()
    if last is None or not last.recalled:
        yield Line("nothing was recalled for the last answer")
        return
    found, shown = last.recalled, was_shown(last.state, last.model)
    if not shown:
        yield Line(
            "answered from memory, without a model" if last.state is TurnState.ANSWERED else ended(last.state, "")
        )
    whole = rest.lower() == "all"
    yield Recollection(found, shown, None if whole else _BEST)
    if not whole and len(found) > _BEST:
        yield Line("/why all shows everything")


def _notes(conversation: Conversation, rest: str) -> Iterator[Shown]:
    memory = conversation.memory
    core = [each.note for each in memory.core_chosen(memory.settings.core_tokens)]
    yield Line("always shown to the model:" if core else "no note is always shown to the model")
    yield Notes(core)
    learnt = [id for turn in _turns(conversation) for id in turn]
    held = [note for id in dict.fromkeys(learnt) if (note := memory.read(id)) is not None]
    yield Line("learnt in this chat:" if held else "nothing was learnt in this chat yet")
    yield Notes(held[-_MOST:])
    if (before := len(held) - _MOST) > 0:
        yield Line(f"and {before:,} note{'' if before == 1 else 's'} before these")


def _turns(conversation: Conversation) -> list[tuple[str, ...]]:
    assistant = conversation.open()
    return [turn.learnt for turn in assistant.replay()] if assistant.turns() else []


def _help(conversation: Conversation, rest: str) -> Iterator[Shown]:
    yield Line("what is typed here is said to the model, but for:")
    for each in COMMANDS.values():
        yield Term(f"/{each.name} {each.arguments}".rstrip(), each.help)
    yield Term("//text", "say something that begins with a slash")


def _remember(conversation: Conversation, rest: str) -> Iterator[Shown]:
    if not rest:
        yield Line("what? /remember TEXT keeps a note exactly as worded", warning=True)
        return
    receipt = conversation.remember(rest)
    yield receipt
    if receipt.error:
        yield Line(f"the note is stored, but not fully analysed: {receipt.error}", warning=True)
    if receipt.stored:
        yield Line("undo with /undo")


def _forget(conversation: Conversation, rest: str) -> Iterator[Shown]:
    if not rest:
        yield Line("what? /forget TEXT finds the notes that it may be, /forget ID hides one", warning=True)
        return
    outcome = conversation.forget(rest)
    if outcome.note is not None:
        yield from _told_hidden(conversation, [outcome.note])
    elif not outcome.candidates:
        yield Line("nothing matches: no note has these words, or comes near them")
    else:
        yield Line("which of these?" if outcome.worded else "nearest, though none has these words:")
        yield Choices(outcome.candidates)


def _told_hidden(conversation: Conversation, ids: list[str]) -> Iterator[Shown]:
    many = " (once for each)" if len(ids) > 1 else ""
    yield Line(f"forgot {', '.join(short_id(id) for id in ids)}: undo with /undo{many}, or amem restore ID")
    yield from _told_stored(conversation)


def _told_stored(conversation: Conversation) -> Iterator[Shown]:
    """Who is incognito expects nothing to change, and is told of what does."""
    if conversation.incognito:
        yield Line("this change is stored, though you are incognito")


def _undo(conversation: Conversation, rest: str) -> Iterator[Shown]:
    try:
        yield conversation.undo()
    except NothingToUndo:
        yield Line("nothing of this chat is left to take back (amem log shows everything)")
        return
    yield from _told_stored(conversation)


def _model(conversation: Conversation, rest: str) -> Iterator[Shown]:
    settings = conversation.memory.settings
    if rest:
        wanted = with_model(settings, rest)
        name = full_name(wanted.llm_backend, wanted.llm_model)
        check(wanted, name)
        conversation.use(wanted)
        yield Line(f"from now on: {answering(wanted, name)}")
        return
    try:
        yield Line(f"answers come from {answering(conversation.settings, conversation.open().model)}")
    except AmemError as error:
        yield Line(f"no model answers: {reason(error)}", warning=True)
    found = available(settings)
    if found is None:
        yield Line(f"no Ollama answers at {settings.ollama_host}")
    elif found:
        yield Line(f"Ollama has {', '.join(found)}; /model NAME changes to one")
    else:
        yield Line("Ollama has no chat model: amem models pull NAME gets one")


def _incognito(conversation: Conversation, rest: str) -> Iterator[Shown]:
    wanted = {"on": True, "off": False, "": not conversation.incognito}.get(rest.lower())
    if wanted is None:
        yield Line("/incognito on, or /incognito off", warning=True)
        return
    conversation.incognito = wanted
    off = "incognito: nothing is stored, learnt or counted until /incognito off"
    yield Line(off if wanted else "incognito is off")


def _quit(conversation: Conversation, rest: str) -> Iterator[Shown]:
    raise Leave


@dataclass(frozen=True, slots=True)
class Command:
    """``/name arguments``, with what it does in a few words."""

    name: str
    arguments: str
    help: str
    run: Callable[[Conversation, str], Iterator[Shown]]


COMMANDS = {
    each.name: each
    for each in (
        Command("why", "[all]", "what was recalled for the last answer, and why", _why),
        Command("remember", "TEXT", "keep a note exactly as worded", _remember),
        Command("forget", "TEXT or ID", "hide a note: shows those it may be, and asks which", _forget),
        Command("undo", "", "take back what was learnt or changed last in this chat", _undo),
        Command("notes", "", "the notes that are always shown, and those learnt in this chat", _notes),
        Command("model", "[NAME]", "who answers; with a name, another model from now on", _model),
        Command("incognito", "[on|off]", "store and learn nothing until it is off again", _incognito),
        Command("help", "", "this list", _help),
        Command("quit", "", "leave", _quit),
    )
}
