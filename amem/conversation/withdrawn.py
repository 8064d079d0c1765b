"""What sums a conversation up says nothing that people took back in it; word for word it is kept as it was said."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from amem.conversation.forgotten import without_forgotten, without_sentences
from amem.conversation.messages import message_of
from amem.conversation.takebacks import NAMED_WITHIN, episodes_reached, is_named
from amem.conversation.transcript import Transcript
from amem.message import Role
from amem.text import query_terms, sentences
from amem.writing.conflict.takebacks import take_back_in, without_take_backs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.conversation.episodes import EpisodeNotes
    from amem.conversation.lesson import Lot
    from amem.conversation.rules import Rules
    from amem.message import Message
    from amem.storage import Session, Store


def without_taken_back(messages: Sequence[Message], later: Sequence[Message] = ()) -> tuple[Message, ...]:
    """The messages, each without the sentences that were taken back in them or `later`, and without the taking back.

    '' where nothing is left. What answers such a message goes with it, and of other answers what repeats it.
    """
    every = [*messages, *later]
    left = {place: sentences(message.content) for place, message in enumerate(every) if message.role is Role.USER}
    gone: list[str] = []

    def drop(place: int, sentence: str) -> None:
        left[place].remove(sentence)
        gone.append(sentence)

    for place, message in enumerate(every):
        said = take_back_in(message.content) if place in left else None
        if said is None:
            continue
        before = [other for other in reversed(left) if other < place and every[other].speaker == message.speaker]
        if said.about:
            wanted = set(query_terms(said.about))
            for other in before[:NAMED_WITHIN]:
                for sentence in [each for each in left[other] if is_named(wanted, each)]:
                    drop(other, sentence)
        elif said.before and said.before in left[place]:
            drop(place, said.before)
        elif not said.before:
            for other in before[:1]:
                for sentence in list(left[other]):
                    drop(other, sentence)
        left[place] = [rest for each in left[place] if (rest := without_take_backs(each))]
    if not any(take_back_in(every[place].content) for place in left):
        return tuple(messages)
    terms = [frozenset(query_terms(each)) for each in gone]
    kept, silent = [], False
    for place, message in enumerate(messages):
        text = message.content
        if place in left:
            silent = not left[place]
            text = text if left[place] == sentences(text) else " ".join(left[place])
        elif message.role is not Role.SYSTEM:
            text = "" if silent else without_sentences(text, terms)
        kept.append(message if text == message.content else replace(message, content=text))
    return tuple(kept)


def only_takes_back(messages: Sequence[Message]) -> bool:
    """Whether people say nothing in these messages but that what was said before does not count."""
    said = [message.content for message in messages if message.role is Role.USER]
    return bool(said) and not any(without_take_backs(each) for each in said)


def any_taken_back(session: Session, lot: Lot) -> bool:
    """Whether something of a lot was taken back, in it or after it."""
    later = Transcript(session).after(lot.conversation, max(lot.ordinals), NAMED_WITHIN)
    return without_taken_back(lot.messages, later) != lot.messages


def sum_up_again(store: Store, notes: EpisodeNotes, ids: Sequence[str], rules: Rules, operation: int) -> None:
    """Have the notes of these episodes say, by rules, what their messages still do."""
    for id in ids:
        with store.read() as session:
            note = session.notes.get_many([id], history=False, usage=False).get(id)
            transcript = Transcript(session)
            sources = transcript.of(id) if note is not None else []
            said = tuple(message_of(source) for source in sources)
            heard = without_forgotten(session, said, [source.id for source in sources])
            last = max((source.ordinal or 0 for source in sources), default=0)
            talk = next((source.conversation for source in sources if source.conversation), "")
            later = transcript.after(talk, last, NAMED_WITHIN)
        if note is None or not sources:
            continue
        draft = notes.rewritten(note, notes.summary(said, without_taken_back(heard, later), rules))
        with store.write() as session:
            own = session.begin("extract", draft.note.analyst, f"summed up again: {id[:8]}", parent=operation)
            notes.rewrite(session, draft, own, draft.note.analyst)


def renew_summaries(store: Store, notes: EpisodeNotes, lot: Lot, rules: Rules, operation: int) -> None:
    """Have the notes of episodes say no more what people take back in the lot, but for those that a person worded."""
    renewed = []
    with store.read() as session:
        transcript = Transcript(session)
        for note in episodes_reached(session, lot):
            sources = transcript.of(note.id)
            said = [message_of(source) for source in sources]
            heard = without_forgotten(session, said, [source.id for source in sources])
            last = max(source.ordinal or 0 for source in sources)
            left = without_taken_back(heard, transcript.after(lot.conversation, last, NAMED_WITHIN))
            summary = notes.summary(said, left, rules)
            if left != heard and summary != note.content:
                renewed.append((note, summary))
    for note, summary in renewed:
        draft = notes.rewritten(note, summary)
        with store.write() as session:
            now = session.notes.get_many([note.id], history=False).get(note.id)
            if now is not None and now.content == note.content:
                notes.rewrite(session, draft, operation, draft.note.analyst)
