"""A conversation cut into episodes, and their notes, stored before any model is asked."""

from __future__ import annotations

import logging
import math
from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from amem.analysis import Passage
from amem.checks import checked
from amem.clock import zone
from amem.errors import InvalidInput
from amem.language import index_terms, query_terms, sentences, written_in_cjk
from amem.language.terms import tokens as count_tokens
from amem.note import Enrichment, Kind, MemoryNote, Message, Role, Scope
from amem.storage.rows import plain
from amem.writing.batch import FrequencyCache, StoreVocabulary
from amem.writing.evolution import readdress
from amem.writing.fields import ANALYSED, draft_of, fill_in
from amem.writing.intake import NewNote, take_in

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from amem.collection import Collection
    from amem.conversation.rule_file import Rules
    from amem.protocols import Analyst
    from amem.storage.store import Session


# A conversation cut into episodes: runs of messages about one thing (see decision 8 in docs/adr).
#
# A system message, a gap in time and sheer length always begin an episode. A change of topic is less certain, since
# people answer in other words than they were asked in: it is looked for between blocks of messages rather than single
# ones (as TextTiling does, Hearst 1997), counts once where it is deepest, and only if what follows is long enough.

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


# Episode notes: one for each run of messages, stored with them before any model is asked.

_log = logging.getLogger("amem")


@dataclass(slots=True)
class Drafted:
    """A note before it is stored, with the vector of its text, if one could be made."""

    note: MemoryNote
    vectors: dict[bytes, NDArray[np.float32]]


@dataclass(frozen=True)
class EpisodeNotes:
    """Makes, stores and rewrites the notes that sum up episodes. Asks nobody but the `fallback`, which is local."""

    collection: Collection
    fallback: Callable[[], Analyst]

    @cached_property
    def _vocabulary(self) -> StoreVocabulary:
        return StoreVocabulary(self.collection.store, FrequencyCache())

    def summary(self, messages: Sequence[Message], left: Sequence[Message], rules: Rules) -> str:
        """A line on what is `left` of the messages of an episode, by rules; where nothing is, who talked."""
        heard = (_permitted(message, rules) for message in left if message.role is not Role.SYSTEM)
        summary = self.fallback().extract(Passage(tuple(each for each in heard if each.content))).summary
        return _bare_summary(messages) if not summary.strip() or rules.forbids(summary) else summary

    def draft(
        self,
        episode: Episode,
        left: Sequence[Message],
        conversation: str,
        scope: Scope,
        actor: str,
        rules: Rules,
    ) -> Drafted:
        """A note of the scope that sums up what is `left` of the episode in a line, by rules."""
        messages = episode.messages
        summary = self.summary(messages, left, rules)
        at = next((message.at for message in messages if message.at is not None), None)
        about = {
            "participants": list(dict.fromkeys(message.speaker or str(message.role) for message in messages)),
            "messages": len(messages),
            "began": str(episode.why),
        }
        fields = {"kind": Kind.EPISODE, "conversation_id": conversation, "metadata": {"episode": about, **scope.ids}}
        new = NewNote(summary, at, fields=fields)
        note = take_in(new, actor=actor, settings=self.collection.settings, clock=self.collection.clock).note
        return Drafted(note, self._analysed(note))

    def store(self, session: Session, drafted: Drafted, operation: int, first: int, last: int, *, waits: bool) -> int:
        """Store the note of an episode whose messages have the ordinals `first` to `last`; returns its key.

        `waits` says that it is still to be learnt from.
        """
        note = drafted.note
        note.enrichment = Enrichment.PENDING if waits else Enrichment.DONE
        note.metadata = note.metadata | {"episode": {**note.metadata["episode"], "first": first, "last": last}}
        self.collection.vectorizer.keep(session, drafted.vectors)
        # What people said in it is as good as what they say in a note; what it leaves out is a matter of summing up.
        return session.notes.insert(
            note,
            operation,
            reliability=self.collection.settings.trust_user,
            text_hash=self.collection.vectorizer.hash(note),
            given=("kind", "conversation_id", "metadata"),
        )

    def rewritten(self, note: MemoryNote, summary: str) -> Drafted:
        """The note with another summary, analysed anew; nothing is stored yet."""
        after = replace(note, content=summary[: self.collection.settings.max_note_chars])
        return Drafted(after, self._analysed(after))

    def rewrite(self, session: Session, drafted: Drafted, operation: int, analyst: str) -> None:
        """Store what `rewritten` made, but for fields that a person edited."""
        note = drafted.note
        owned = session.notes.owned_fields([note.id])[note.id]
        self.collection.vectorizer.keep(session, drafted.vectors)
        names = [name for name in ("content", *ANALYSED) if name not in owned]
        changes: dict[str, Any] = {name: plain(name, getattr(note, name)) for name in names}
        session.notes.change(note.id, changes | {"analyst": analyst}, operation)
        readdress(session, note.id, self.collection.vectorizer)

    def _analysed(self, note: MemoryNote) -> dict[bytes, NDArray[np.float32]]:
        """Fill the note in by rules, and embed it; an embedder that is down costs the vector for now, not the note."""
        analyst = self.fallback()
        default_zone = zone(self.collection.settings.timezone)
        analysis = analyst.analyze(draft_of(note, default_zone), self._vocabulary.of(note))
        fill_in(note, analysis, ("kind",), default_zone)  # the facts are those of the notes that it sums up
        note.analyst, note.enrichment = analyst.name, Enrichment.DONE
        return embedded(self.collection, note, "an episode")


def embedded(collection: Collection, note: MemoryNote, what: str) -> dict[bytes, NDArray[np.float32]]:
    """The vector of a note's text; none where that fails: its words find it until the next consolidation embeds it."""
    try:
        return collection.vectorizer.embed([collection.vectorizer.text(note)])[0]
    except Exception as error:
        _log.warning("embedding of %s failed: %s", what, error)
        return {}


def _permitted(message: Message, rules: Rules) -> Message:
    """The message without the sentences that may not become notes."""
    if rules.forbids(message.content) is None:
        return message
    kept = [sentence for sentence in sentences(message.content) if rules.forbids(sentence) is None]
    return replace(message, content=" ".join(kept))


def _bare_summary(messages: Sequence[Message]) -> str:
    """What can be said of an episode without a word of it."""
    who = list(dict.fromkeys(message.speaker or str(message.role) for message in messages))
    if written_in_cjk("".join(message.content for message in messages)):
        return f"一段对话，共 {len(messages)} 条消息（{'、'.join(who)}）"
    return f"A conversation of {len(messages)} message{'s' * (len(messages) > 1)} ({', '.join(who)})"
