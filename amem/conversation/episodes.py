"""Episode notes: one for each run of messages, stored with them before any model is asked."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from amem.analysis import Passage
from amem.clock import zone
from amem.message import Message, Role
from amem.note import Enrichment, Kind
from amem.storage.rows import plain
from amem.text import sentences, written_in_cjk
from amem.writing.apply import readdress
from amem.writing.intake import NewNote, take_in
from amem.writing.steps import ANALYSED, draft_of, fill_in
from amem.writing.vocabulary import FrequencyCache, StoreVocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from amem.clock import Clock
    from amem.conversation.rules import Rules
    from amem.conversation.segment import Episode
    from amem.note import MemoryNote, Scope
    from amem.protocols import Analyst
    from amem.settings import Settings
    from amem.storage import Session, Store
    from amem.vectorizer import Vectorizer

_log = logging.getLogger("amem")


@dataclass(slots=True)
class Drafted:
    """A note before it is stored, with the vector of its text, if one could be made."""

    note: MemoryNote
    vectors: dict[bytes, NDArray[np.float32]]


class EpisodeNotes:
    """Makes, stores and rewrites the notes that sum up episodes. Asks nobody but the `fallback`, which is local."""

    def __init__(
        self,
        store: Store,
        vectorizer: Vectorizer,
        fallback: Callable[[], Analyst],
        settings: Settings,
        clock: Clock,
    ) -> None:
        self._vectorizer = vectorizer
        self._fallback = fallback
        self._settings = settings
        self._clock = clock
        self._vocabulary = StoreVocabulary(store, FrequencyCache())

    def summary(self, messages: Sequence[Message], left: Sequence[Message], rules: Rules) -> str:
        """A line on what is `left` of the messages of an episode, by rules; where nothing is, who talked."""
        heard = (_permitted(message, rules) for message in left if message.role is not Role.SYSTEM)
        summary = self._fallback().extract(Passage(tuple(each for each in heard if each.content))).summary
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
        note = take_in(new, actor=actor, settings=self._settings, clock=self._clock).note
        return Drafted(note, self._analysed(note))

    def store(self, session: Session, drafted: Drafted, operation: int, first: int, last: int, *, waits: bool) -> int:
        """Store the note of an episode whose messages have the ordinals `first` to `last`; returns its key.

        `waits` says that it is still to be learnt from.
        """
        note = drafted.note
        note.enrichment = Enrichment.PENDING if waits else Enrichment.DONE
        note.metadata = note.metadata | {"episode": {**note.metadata["episode"], "first": first, "last": last}}
        self._vectorizer.keep(session, drafted.vectors)
        # What people said in it is as good as what they say in a note; what it leaves out is a matter of summing up.
        return session.notes.insert(
            note,
            operation,
            reliability=self._settings.trust_user,
            text_hash=self._vectorizer.hash(note),
            given=("kind", "conversation_id", "metadata"),
        )

    def rewritten(self, note: MemoryNote, summary: str) -> Drafted:
        """The note with another summary, analysed anew; nothing is stored yet."""
        after = replace(note, content=summary[: self._settings.max_note_chars])
        return Drafted(after, self._analysed(after))

    def rewrite(self, session: Session, drafted: Drafted, operation: int, analyst: str) -> None:
        """Store what `rewritten` made, but for fields that a person edited."""
        note = drafted.note
        owned = session.notes.owned_fields([note.id])[note.id]
        self._vectorizer.keep(session, drafted.vectors)
        names = [name for name in ("content", *ANALYSED) if name not in owned]
        changes: dict[str, Any] = {name: plain(name, getattr(note, name)) for name in names}
        session.notes.change(note.id, changes | {"analyst": analyst}, operation)
        readdress(session, note.id, self._vectorizer)

    def _analysed(self, note: MemoryNote) -> dict[bytes, NDArray[np.float32]]:
        """Fill the note in by rules, and embed it; an embedder that is down costs the vector for now, not the note."""
        analyst = self._fallback()
        default_zone = zone(self._settings.timezone)
        analysis = analyst.analyze(draft_of(note, default_zone), self._vocabulary.of(note))
        fill_in(note, analysis, ("kind",), default_zone)  # the facts are those of the notes that it sums up
        note.analyst, note.enrichment = analyst.name, Enrichment.DONE
        try:
            return self._vectorizer.embed([self._vectorizer.text(note)])[0]
        except Exception as error:  # its words find it until the next consolidation embeds it
            _log.warning("embedding of an episode failed: %s", error)
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
