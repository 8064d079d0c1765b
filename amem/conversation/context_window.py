"""What goes into a model's window: a pure function from what there is to the messages that fit.

Order of claims: room for the answer, then the system text (with core notes), the question, the recalled notes, the
freshest turns verbatim, and for the turns before those the summaries of their episodes. What is too long is cut with
a mark; of the summaries the weakest go first, by strength (importance, trust, use and age) and then by age.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.language.terms import tokens
from amem.note import Message, Role
from amem.retrieval.budget import as_recalled

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


CUT = " […] "
#: What a message costs beside its words: role and separators.
_FRAME = 4
#: No turn takes fewer tokens: a question and an answer of one each.
SMALLEST_TURN = 2 * (_FRAME + 1)
_MARKS = tokens(as_recalled(""))
#: Shares of what is left after system text, question and recalled notes: fresh turns first, while older ones wait.
_TAIL = 0.6
_LONGEST_TURN = 0.5
_MOST_ANSWER = 1024


@dataclass(frozen=True, slots=True)
class Past:
    """A turn that is over; `episode` is the note that sums up the episode it belongs to, if that has ended."""

    number: int
    question: str
    answer: str
    episode: str | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """An episode of this chat, summed up in the note of that id and version. `strength` says how well it is remembered
    (see ``amem.strength``)."""

    note: str
    text: str
    strength: float
    version: int = 0


@dataclass(frozen=True, slots=True)
class Shares:
    """How a window of tokens is shared out; small windows shrink what settings ask for."""

    answer: int
    core: int
    recalled: int

    @classmethod
    def of(cls, window: int, *, core: int, recalled: int) -> Shares:
        """At most a quarter for the answer, an eighth for core notes and a third for recalled ones."""
        return cls(min(_MOST_ANSWER, window // 4), min(core, window // 8), min(recalled, window // 3))


@dataclass(frozen=True, slots=True)
class Fitted:
    """The messages, which summaries stand in them for turns that do not, and about how many tokens it all takes."""

    messages: tuple[Message, ...]
    summaries: tuple[str, ...]
    size: int


def fit(
    *,
    window: int,
    answer: int,
    system: str,
    question: str,
    recalled: str = "",
    past: Sequence[Past] = (),
    summaries: Sequence[Summary] = (),
    older: Sequence[str] = (),
    earlier: str = "Earlier in this conversation:",
) -> Fitted:
    """The prompt for one question within `window` tokens of which `answer` stay free.

    `recalled` is put before the question in the last message. `summaries` come in the order of the chat and are put
    after the system text, under the heading `earlier` and between the delimiters of what is recalled: what was said is
    material as well. Those of `older` stand for turns before those of `past`.
    """
    room = max(window - answer, 1)
    system = cut(system, room // 2)
    room -= tokens(system) + _FRAME
    recalled = cut(recalled, room // 2)
    room -= tokens(recalled)
    asked = cut(question, max(room - _FRAME, 1))
    room -= tokens(asked) + _FRAME
    tail, used = _tail(past, room, summaries)
    room -= used
    shown = {each.number for each in tail}
    gone = {*older, *(each.episode for each in past if each.number not in shown)}
    held, used = _summaries(summaries, gone, room - tokens(earlier) - _MARKS)
    room -= used
    if held:
        room -= tokens(earlier)
        summed_up = as_recalled("\n".join(each.text for each in held))
        system = f"{system}\n\n{earlier}\n{summed_up}"
    messages = [Message(Role.SYSTEM, system)]
    for each in tail:
        messages += [Message(Role.USER, each.question), Message(Role.ASSISTANT, each.answer)]
    messages.append(Message(Role.USER, f"{recalled}\n\n{asked}" if recalled else asked))
    size = sum(tokens(message.content) + _FRAME for message in messages)
    return Fitted(tuple(messages), tuple(each.note for each in held), size)


def _tail(past: Sequence[Past], room: int, summaries: Sequence[Summary]) -> tuple[list[Past], int]:
    """The freshest turns that fit, oldest first, and their tokens.

    While summaries could stand for the older ones, the tail leaves them their share.
    """
    budget = room
    too_much = _more_than(room, past)
    if too_much and summaries:
        budget = int(room * _TAIL)
    chosen: list[Past] = []
    used = 0
    for each in reversed(past):
        size = _size(each)
        if size > budget * _LONGEST_TURN and too_much:
            each = _short(each, int(budget * _LONGEST_TURN))
            size = _size(each)
        if used + size > budget:
            break
        chosen.append(each)
        used += size
    return chosen[::-1], used


def _short(turn: Past, most: int) -> Past:
    """A turn within `most` tokens: the shorter of question and answer stays whole if it can."""
    most = max(most - 2 * _FRAME, 2)
    sizes = tokens(turn.question), tokens(turn.answer)
    question_most = max(most // 2, most - sizes[1])
    question = cut(turn.question, question_most)
    return Past(turn.number, question, cut(turn.answer, max(most - tokens(question), 1)), turn.episode)


def _summaries(summaries: Sequence[Summary], gone: Collection[str | None], room: int) -> tuple[list[Summary], int]:
    """The strongest summaries of episodes that are `gone` from the prompt, as many as fit, in the order of the chat."""
    order = [each for each in summaries if each.note in gone]
    place = {each.note: number for number, each in enumerate(order)}
    chosen: list[Summary] = []
    used = 0
    for each in sorted(order, key=lambda each: (-each.strength, -place[each.note])):
        size = tokens(each.text) + 1
        if used + size <= room:
            chosen.append(each)
            used += size
    return sorted(chosen, key=lambda each: place[each.note]), used


def _more_than(room: int, past: Sequence[Past]) -> bool:
    """Whether all turns together take more than `room` tokens, without counting those that make no difference."""
    total = 0
    for each in reversed(past):
        total += _size(each)
        if total > room:
            return True
    return False


def _size(turn: Past) -> int:
    return tokens(turn.question) + tokens(turn.answer) + 2 * _FRAME


def cut(text: str, most: int) -> str:
    """`text` within `most` tokens: of a longer one the beginning and, after a mark, a third for the end, where a
    question stands."""
    # No token is longer than some sixteen characters, so that a message of megabytes need not be counted to its end.
    if len(text) <= 16 * most and tokens(text) <= most:
        return text
    kept = max(most - tokens(CUT), 0)
    ending = _longest(text[::-1][: 16 * most + 1], kept // 3)[::-1]
    return _longest(text[: 16 * most + 1], kept - kept // 3).rstrip() + CUT + ending.lstrip()


def _longest(text: str, most: int) -> str:
    """The longest beginning of `text` that takes at most `most` tokens."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if tokens(text[:middle]) <= most else (low, middle - 1)
    return text[:low]
