"""What people take back while they talk, and what may not be made again of the words taken back."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from amem.conflict.cues import take_back_in, without_take_backs
from amem.conflict.ending import bonds, statements_of, states_more
from amem.conversation.messages import Transcript, alike, message_of, without_forgotten, without_sentences
from amem.conversation.reply import Candidate, Forgotten
from amem.language import index_terms, query_terms, sentences
from amem.note import MemoryNote, Message, Role, Source
from amem.query import Query
from amem.rendering import holding_text
from amem.retrieval.confidence import Support, share_held, telling, weights_of
from amem.storage.note_reading import MADE_FROM, read_sources

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.conversation.episodes import EpisodeNotes
    from amem.conversation.learning import Excerpt
    from amem.conversation.ports import Memory
    from amem.conversation.rule_file import Rules
    from amem.storage.store import Session, Store


# What people take back while they talk: "forget that" hides what was learnt from the words before it, and no more.

_FROM_THESE = f"SELECT DISTINCT notes.id {MADE_FROM} AND sources.id IN :ids"
#: What a person did not set.
_NOT_EDITED = (
    "coalesce(json_extract(CASE WHEN json_valid(notes.edited) THEN notes.edited END, '$.{0}'), '') <> 'edited'"
)
#: How many of a person's own messages back something that they name is looked for.
NAMED_WITHIN = 20


def taken_back(session: Session, lot: Excerpt) -> list[tuple[MemoryNote, list[str]]]:
    """The notes that the people of a lot take back in it, and those of the lot that are taken back right after it.

    With each stand the statements of it that are taken back, none where that is all of it. A note that was also learnt
    from anything else than the words meant stays, and so does what a person let stand.
    """
    found: dict[str, tuple[MemoryNote, list[str]]] = {}
    for source in _people(session, lot):
        said = take_back_in(source.text)
        if said is None:
            continue
        before = _before(session, source)
        if said.about:
            wanted = set(query_terms(said.about))
            held = ((note, holding_text(note.content, note.overturned)) for note in _made_from(session, before))
            found |= {note.id: (note, _naming(wanted, text)) for note, text in held if is_named(wanted, text)}
            continue
        if said.before:
            notes = [
                note
                for note in _made_from(session, [source])
                if alike(frozenset(query_terms(note.content)), said.before)
            ]
        else:
            notes = _made_from(session, before[:1])
        found |= {note.id: (note, []) for note in notes}
    return list(found.values())


def _naming(wanted: set[str], text: str) -> list[str]:
    """The statements of a text that have all the terms, or only whom they name beside what they say; none where the
    text says nothing else."""
    with_whom = [bond.text for _, bond in bonds(text) if not bond.had and is_named(wanted, bond.text)]
    said = [each for each in statements_of(text) if is_named(wanted, each)]
    found = [each for each in said if each in with_whom or not any(bond in each for bond in with_whom)]
    return found if states_more(text, found) else []


def is_named(wanted: set[str], text: str) -> bool:
    """Whether a text has all the terms by which somebody names what does not count."""
    return bool(wanted) and wanted <= {*index_terms(text), *query_terms(text)}


def episodes_reached(session: Session, lot: Excerpt) -> list[MemoryNote]:
    """The notes of episodes with words in them that the people of a lot may take back; none that a person worded."""
    reached: set[str] = set()
    for source in _people(session, lot):
        said = take_back_in(source.text)
        if said is not None:
            before = [] if said.before else _before(session, source)
            reached |= {each.id for each in [source, *(before if said.about else before[:1])]}
    sql = f"{_FROM_THESE} AND notes.status <> 'deleted' AND json_extract(notes.metadata, '$.episode') IS NOT NULL"
    ids = session.column(f"{sql} AND {_NOT_EDITED.format('content')}", ids=reached)
    return list(session.notes.get_many(ids, history=False, usage=False).values())


def _people(session: Session, lot: Excerpt) -> list[Source]:
    """What people said in a lot, and the next thing said after it."""
    sql = "SELECT * FROM sources WHERE id IN :ids ORDER BY ordinal"
    said = read_sources(session, session.records(sql, ids=lot.ids))
    if lot.ordinals:
        later = Transcript(session).around("ordinal > :ordinal", "ordinal", lot.conversation, max(lot.ordinals), 4)
        said += [source for source in later if message_of(source).role is Role.USER][:1]
    return [source for source in said if message_of(source).role is Role.USER]


def _before(session: Session, source: Source) -> list[Source]:
    """What the same person said before in the conversation, the last first."""
    if source.ordinal is None:
        return []
    where, speaker = "ordinal < :ordinal AND coalesce(speaker, '') = :speaker", source.speaker or ""
    talk = source.conversation or ""
    said = Transcript(session).around(where, "ordinal DESC", talk, source.ordinal, NAMED_WITHIN, speaker=speaker)
    return [each for each in said if message_of(each).role is Role.USER]


def _made_from(session: Session, sources: Sequence[Source]) -> list[MemoryNote]:
    """Active notes made from these words alone, each once."""
    sql = f"{_FROM_THESE} AND notes.status = 'active' AND json_extract(notes.metadata, '$.episode') IS NULL"
    meant = {source.id for source in sources}
    ids = session.column(f"{sql} AND {_NOT_EDITED.format('status')}", ids=meant)
    came_from = session.notes.sources_of(ids)
    alone = [id for id in ids if {source.id for source in came_from[id]} <= meant]
    return list(session.notes.get_many(alone, history=False, usage=False).values())


# What sums a conversation up says nothing that people took back in it; word for word it is kept as it was said.


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


def any_taken_back(session: Session, lot: Excerpt) -> bool:
    """Whether something of a lot was taken back, in it or after it."""
    later = Transcript(session).after(lot.conversation, max(lot.ordinals), NAMED_WITHIN)
    return without_taken_back(lot.messages, later) != lot.messages


def sum_up_again(store: Store, notes: EpisodeNotes, ids: Sequence[str], rules: Rules, operation: int) -> None:
    """Have the notes of these episodes say, by rules, what their messages still do."""
    for id in ids:
        with store.read() as session:
            note = session.notes.get_many([id], history=False, usage=False).get(id)
            summary, _ = ("", False) if note is None else _summary(session, notes, note, rules)
        if note is None or not summary:
            continue
        draft = notes.rewritten(note, summary)
        with store.write() as session:
            own = session.begin("extract", draft.note.analyst, f"summed up again: {id[:8]}", parent=operation)
            notes.rewrite(session, draft, own, draft.note.analyst)


def renew_summaries(store: Store, notes: EpisodeNotes, lot: Excerpt, rules: Rules, operation: int) -> None:
    """Have the notes of episodes say no more what people take back in the lot, but for those that a person worded."""
    renewed = []
    with store.read() as session:
        for note in episodes_reached(session, lot):
            summary, is_less = _summary(session, notes, note, rules)
            if is_less and summary != note.content:
                renewed.append((note, summary))
    for note, summary in renewed:
        draft = notes.rewritten(note, summary)
        with store.write() as session:
            now = session.notes.get_many([note.id], history=False).get(note.id)
            if now is not None and now.content == note.content:
                notes.rewrite(session, draft, operation, draft.note.analyst)


def _summary(session: Session, notes: EpisodeNotes, note: MemoryNote, rules: Rules) -> tuple[str, bool]:
    """What the note of an episode is to say, '' without messages; and whether any of them takes something back."""
    transcript = Transcript(session)
    sources = transcript.of(note.id)
    if not sources:
        return "", False
    said = [message_of(source) for source in sources]
    heard = without_forgotten(session, said, [source.id for source in sources])
    last = max(source.ordinal or 0 for source in sources)
    talk = next((source.conversation for source in sources if source.conversation), "")
    left = without_taken_back(heard, transcript.after(talk, last, NAMED_WITHIN))
    return notes.summary(said, left, rules), left != heard


# Which notes words may mean when something is to be forgotten: whoever chooses should see when none is meant.

_MOST = 5


def meant(memory: Memory, store: Store, words: str) -> Forgotten:
    """The notes that these words may mean, best first; none where no note has them or comes near in meaning."""
    # What a catalog holds cannot be forgotten from here.
    hits = [hit for hit in memory.ask(Query(words, _MOST, touch=False)) if not hit.is_catalog]
    with store.read() as session:
        frequency = session.text.document_frequency(telling(words))
        weights = weights_of(words, frequency, session.notes.count())
    # Of a word of one character the judge knows nothing; it may stand in a note all the same.
    texts = [f"{hit.content}\n{' '.join(hit.keywords)}" for hit in hits]
    worded = any(words.casefold() in text.casefold() or share_held(weights, text) > 0 for text in texts)
    if not worded and all(hit.support is Support.NONE for hit in hits):
        return Forgotten(None)
    found = (Candidate(hit.id, hit.content, hit.score, hit.explanation.words()) for hit in hits)
    return Forgotten(None, tuple(found), worded=worded)
