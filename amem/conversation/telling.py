"""Words about replies, for every front end: how a turn ended, what was recalled for it, what of that to show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from amem.storage.chats import Learning, TurnState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.conversation.reply import Recalled
    from amem.storage.chats import Recollection

#: A recalled note, with its words or as it is kept with the turn.
Found = TypeVar("Found", "Recalled", "Recollection")

#: What is said of a turn that has not been learnt from as it should be; nothing where it was.
LEARNING = {
    Learning.WAITING: "not learnt from yet",
    Learning.DEGRADED: "learnt by the built-in rules for now",
    Learning.OFF: "not learnt from",
}
_FEW = 5


def ended(state: TurnState, error: str) -> str:
    """How a turn ended; the error in whatever words it came, which may be of any length and on several lines."""
    why = f": {error}" if error else ""
    match state:
        case TurnState.ANSWERED:
            return "answered"
        case TurnState.ASKED:
            return "never answered: the terminal was closed meanwhile"
        case TurnState.INTERRUPTED:
            return f"the answer broke off{why}" if why else "the answer was stopped"
    return f"no model answered{why}"


def was_shown(state: TurnState, model: str) -> bool:
    """Whether the `model` surely read what was recalled for a turn that came so far; '' is none.

    Of a turn that has no end nobody knows; one that a failing model left without an answer may never have reached it.
    """
    return bool(model) and state in (TurnState.ANSWERED, TurnState.INTERRUPTED)


def best(found: Sequence[Found]) -> list[Found]:
    """The few worth showing in place of an answer: those that support one, else those that come nearest."""
    supporting = [each for each in found if each.supports]
    return (supporting or [each for each in found if each.part == "recalled"])[:_FEW]


@dataclass(frozen=True, slots=True)
class Group:
    """Recalled notes of one sort, best first; `whole` when they are worth more than a line each."""

    title: str
    notes: tuple[Recalled, ...]
    whole: bool = False


def grouped(found: Sequence[Recalled], *, shown: bool) -> list[Group]:
    """What was recalled by what became of it; no group is empty. `shown` tells whether a model read any of it."""

    def of(part: str, *injected: bool) -> tuple[Recalled, ...]:
        return tuple(each for each in found if each.part == part and each.injected in (injected or (True, False)))

    if not shown:
        groups = [
            Group("came to mind, best first", of("recalled"), whole=True),
            Group("core notes", of("core")),
        ]
    else:
        groups = [
            Group("shown to the model, best first", of("recalled", True), whole=True),
            Group("came to mind, not shown to the model", of("recalled", False)),
            Group("shown with every message", of("core")),
        ]
    groups.append(Group("what was said earlier, summed up", of("episode")))
    return [group for group in groups if group.notes]
