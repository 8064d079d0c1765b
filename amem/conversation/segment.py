"""A conversation cut into episodes: runs of messages about one thing (see decision 8 in docs/adr).

A system message, a gap in time and sheer length always begin an episode. A change of topic is less certain, since
people answer in other words than they were asked in: it is looked for between blocks of messages rather than single
ones (as TextTiling does, Hearst 1997), counts once where it is deepest, and only if what follows is long enough.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING

from amem.border import checked
from amem.errors import InvalidInput
from amem.message import Message, Role
from amem.text import index_terms, query_terms
from amem.text.tokens import tokens as count_tokens

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

GAP = timedelta(hours=1)
TOKENS = 20_000
#: A stretch below so many tokens that a change of topic began belongs to what came before.
LEAST_TOKENS = 500
#: Blocks whose terms are less alike than this are about different things.
COSINE = 0.25
#: A text up to this many characters ("ok, thanks!") says nothing of what it is about.
SHORT = 20
#: Messages on either side that are held against each other.
_BLOCK = 3


class Began(StrEnum):
    """Why an episode begins where it does."""

    START = "start"
    GAP = "gap"
    SYSTEM = "system"
    TOPIC = "topic"
    LENGTH = "length"


@dataclass(frozen=True, slots=True)
class Episode:
    """Messages that belong together, in their order, and why they begin an episode of their own."""

    messages: tuple[Message, ...]
    why: Began


@checked
def segment(
    messages: Sequence[Message],
    *,
    gap: timedelta = GAP,
    tokens: int = TOKENS,
    least: int = LEAST_TOKENS,
    cosine: float = COSINE,
) -> list[Episode]:
    """Cut `messages` into episodes; together they hold every message once, in the order given.

    An episode begins at a system message (not at the second of two in a row), where two times lie more than `gap`
    apart, where it would pass `tokens`, and where the topic changes, if at least `least` tokens follow before it
    changes again. The order given is the order in which things were said: a time that goes back by no more than `gap`
    is a clock's error and ignored, by more it is a gap. Messages without a time have none to measure. Raises
    InvalidInput when some times have a zone and others have not, or a limit makes no sense.
    """
    if gap <= timedelta(0) or tokens < 1 or least < 0:
        raise InvalidInput("an episode needs a gap and a number of tokens above 0")
    _refuse_mixed(messages)
    sizes = [count_tokens(message.content) for message in messages]
    cuts = _certain(messages, gap)
    cuts |= _topics(messages, sizes, cuts, least, cosine)
    cuts |= _lengths(sizes, cuts, tokens)
    bounds = [*sorted(cuts), len(messages)]
    return [Episode(tuple(messages[start:end]), cuts[start]) for start, end in pairwise(bounds)]


def _refuse_mixed(messages: Sequence[Message]) -> None:
    zoned = {message.at.tzinfo is not None for message in messages if message.at is not None}
    if len(zoned) > 1:
        raise InvalidInput("some messages have a time with a zone, others without", hint="give all of them a zone")


def _certain(messages: Sequence[Message], gap: timedelta) -> dict[int, Began]:
    """Where an episode begins whatever is said: the start, system messages, gaps in time."""
    cuts = {0: Began.START} if messages else {}
    last: datetime | None = None
    for at, message in enumerate(messages):
        if at and message.role is Role.SYSTEM and messages[at - 1].role is not Role.SYSTEM:
            cuts[at] = Began.SYSTEM
        elif at and message.at is not None and last is not None and abs(message.at - last) > gap:
            cuts[at] = Began.GAP
        last = message.at or last
    return cuts


def _topics(
    messages: Sequence[Message], sizes: Sequence[int], certain: dict[int, Began], least: int, cosine: float
) -> dict[int, Began]:
    """Where the topic changes for long enough, between the certain cuts."""
    found: dict[int, Began] = {}
    bounds = [*sorted(certain), len(messages)]
    for start, end in pairwise(bounds):
        if sum(sizes[start:end]) >= least:
            stretches = pairwise([*_shifts(messages, start, end, cosine), end])
            found |= {at: Began.TOPIC for at, until in stretches if sum(sizes[at:until]) >= least}
    return found


def _shifts(messages: Sequence[Message], start: int, end: int, cosine: float) -> list[int]:
    """Positions of messages at which the topic changes, each the deepest of its surroundings."""
    telling = [at for at in range(start, end) if _tells(messages[at])]
    bags = [_bag(messages[at].content) for at in telling]
    depths = {
        at: _cosine(_sum(bags[max(0, at - _BLOCK) : at]), _sum(bags[at : at + _BLOCK])) for at in range(1, len(bags))
    }
    shifts = []
    for at, depth in depths.items():
        around = {other: depths[other] for other in range(at - _BLOCK, at + _BLOCK + 1) if other in depths}
        # Where several are as deep, the first: what follows it is the new topic already.
        if depth < cosine and at == min(around, key=lambda other: (around[other], other)):
            shifts.append(telling[at])
    return shifts


def _lengths(sizes: Sequence[int], cuts: dict[int, Began], most: int) -> dict[int, Began]:
    """Where an episode would grow past `most` tokens; a single message that does is left whole."""
    found: dict[int, Began] = {}
    total = 0
    for at, size in enumerate(sizes):
        if at in cuts:
            total = 0
        elif total + size > most:
            found[at] = Began.LENGTH
            total = 0
        total += size
    return found


def _tells(message: Message) -> bool:
    return message.role in (Role.USER, Role.ASSISTANT) and len(message.content.strip()) > SHORT


def _bag(text: str) -> Counter[str]:
    """How often each term that carries meaning occurs."""
    wanted = set(query_terms(text))
    return Counter(term for term in index_terms(text) if term in wanted)


def _sum(bags: Sequence[Counter[str]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for bag in bags:
        total.update(bag)
    return total


def _cosine(one: Counter[str], other: Counter[str]) -> float:
    dot = sum(count * other[term] for term, count in one.items())
    norms = math.sqrt(sum(count * count for count in one.values()) * sum(count * count for count in other.values()))
    return dot / norms if norms else 1.0
