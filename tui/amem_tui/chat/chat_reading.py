"""What the room reads of chats, and what a person does to notes in it: one call each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from amem.conversation.ports import answering, check
from amem.conversation.reply import best, was_shown
from amem.errors import AmemError
from amem.note import Status
from amem.query import Filter
from amem.storage.chats import Learning, TurnState
from amem_tui.formatting import title

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from amem.conversation.learned import Taught
    from amem.conversation.reply import Forgotten, Recalled
    from amem.memory_system import AgenticMemorySystem
    from amem.receipt import Receipt
    from amem.settings import Settings
    from amem.storage.chats import ChatSession, Turn


@dataclass(frozen=True, slots=True)
class Chat:
    """A chat as far as it is kept; `session` is None while there is none.

    `titles` are those of the notes that stand in place of an answer where no model gave one.
    """

    session: str | None = None
    turns: tuple[Turn, ...] = ()
    titles: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Aside:
    """What belongs to one turn but is not said in it. `number` is None for a turn that is not kept.

    `unanswered` says that no model answered, `shown` that one surely read what was recalled.
    """

    number: int | None = None
    recalled: tuple[Recalled, ...] = ()
    in_memory: bool | None = None
    learning: Learning = Learning.OFF
    taught: tuple[Taught, ...] = ()
    unanswered: bool = False
    shown: bool = False


@dataclass(frozen=True, slots=True)
class Standing:
    """Who answers, in words; or why nobody does (`problem`) and what to do about it (`hint`). `notes` are counted."""

    who: str = ""
    problem: str = ""
    hint: str = ""
    notes: int = 0


def newest_chat(memory: AgenticMemorySystem) -> Chat:
    """The chat used last."""
    found = chats(memory, 1)
    return read_chat(memory, found[0].id) if found else Chat()


def read_chat(memory: AgenticMemorySystem, session: str) -> Chat:
    """A chat turn by turn. Raises SessionNotFound."""
    with memory.assistant(session=session, incognito=True) as reader:
        turns = tuple(reader.turns())
    instead = (each.note for turn in turns if turn.state is TurnState.UNANSWERED for each in best(turn.recalled))
    cards = memory.cards_of(list(dict.fromkeys(instead)))
    held = {id: title(card.text) for id, card in cards.items() if card.status is not Status.DELETED}
    return Chat(session, turns, held)


def chats(memory: AgenticMemorySystem, limit: int = 200) -> list[ChatSession]:
    """The chats, the last used first."""
    with memory.assistant(incognito=True) as reader:
        return reader.sessions(limit)


def aside(memory: AgenticMemorySystem, session: str, number: int, by_hand: Sequence[int]) -> Aside:
    """What was recalled for a turn and learnt from it, and what was done `by_hand` (operations). Raises
    SessionNotFound."""
    with memory.assistant(session=session, incognito=True) as reader:
        (found,) = reader.replay(turn=number)
        turn = found.turn
        operations = [*([] if turn.learnt_by is None else [turn.learnt_by]), *by_hand]
        return Aside(
            number,
            found.recalled,
            turn.supported,
            turn.learning,
            tuple(reader.taught(each) for each in operations),
            unanswered=turn.state is TurnState.UNANSWERED,
            shown=was_shown(turn.state, turn.model),
        )


def done_by_hand(memory: AgenticMemorySystem, by_hand: Sequence[int]) -> tuple[Taught, ...]:
    """What these operations did."""
    with memory.assistant(incognito=True) as reader:
        return tuple(reader.taught(each) for each in by_hand)


def standing(memory: AgenticMemorySystem, settings: Settings) -> Standing:
    """Whether the model that these settings name is there; a server is asked for 0.3 s at most."""
    notes = memory.count(Filter())  # what a search looks at
    try:
        model = memory.chat_model(settings).name
        check(settings, model)
    except AmemError as error:
        return Standing(problem=str(error), hint=error.hint, notes=notes)
    return Standing(who=answering(settings, model), notes=notes)


def remember(memory: AgenticMemorySystem, text: str, *, incognito: bool) -> Receipt:
    """Keep a text as it is worded. Raises InvalidInput while incognito, EmptyNote, NoteTooLong."""
    with memory.assistant(incognito=incognito) as hand:
        return hand.remember(text)


def forget(memory: AgenticMemorySystem, what: str) -> Forgotten:
    """Hide the note of that id, or tell which notes these words may mean. Raises AmbiguousId."""
    with memory.assistant(incognito=True) as hand:
        return hand.forget(what)
