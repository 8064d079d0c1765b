"""Messages on their way in: checked, named so that the same one is never stored twice; and as they are stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, tzinfo
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from amem import checks
from amem.clock import local_time, parse_time
from amem.errors import InvalidInput, NoteTooLong
from amem.language import query_terms, sentences
from amem.note import Message, Role, Source
from amem.retrieval.budget import without_recalled
from amem.storage.note_reading import MADE_FROM, read_sources
from amem.storage.rows import time_text

if TYPE_CHECKING:
    from amem.storage.store import Session


# Messages on their way in: checked at the border, named so that the same one is never stored twice, and back again.

#: What a message's source is called: a person's word is believed more than an assistant's (settings ``trust_*``).
KINDS = {Role.USER: "message", Role.ASSISTANT: "assistant", Role.TOOL: "tool", Role.SYSTEM: "system"}
_ROLES = {kind: role for role, kind in KINDS.items()}
#: A message that is remembered is kept raw and learnt from in parts: a document may be one, a library not.
LONGEST = 1_000_000
#: What a mapping may hold; of a pair, either name will do.
_KEYS = {
    "role": "role",
    "content": "content",
    "at": "at",
    "timestamp": "at",
    "name": "speaker",
    "speaker": "speaker",
    "id": "id",
}


def take_in(items: Sequence[Message | Mapping[str, Any]], zone: tzinfo) -> list[Message]:
    """The messages with text in them, checked, every time in a zone and recalled notes taken out of what was said.

    An item is a `Message` or a mapping with ``role`` and ``content``, and perhaps ``at`` (or ``timestamp``: ISO 8601,
    ``YYYYMMDDHHMM`` or a datetime), ``name`` and ``id``. A message may be longer than a note, since it is kept as a
    source, but no longer than `LONGEST` characters. Raises InvalidInput naming the message that cannot be used.
    """
    if isinstance(items, str | bytes | Mapping | Message) or not isinstance(items, Iterable):
        raise InvalidInput("messages must be a list", hint='give [{"role": "user", "content": "..."}, ...]')
    taken = [_checked(_message(item, number, zone), number) for number, item in enumerate(items, start=1)]
    return [message for message in taken if message.content.strip()]


def check_asked(text: Any, most: int) -> None:
    """Raise InvalidInput for what nobody can answer: no text, an empty one, or one of more than `most` characters.

    What is answered has to fit a model's window, so that it may be as long as a note and no longer.
    """
    if not isinstance(text, str):
        raise InvalidInput(f"a message must be text, not {type(text).__name__}")
    if not text.strip():
        raise InvalidInput("there is nothing to answer", hint="say or ask something")
    if len(text) > most:
        raise NoteTooLong(
            f"the message has {len(text):,} characters; the limit is {most:,}",
            hint="amem import takes long text; or raise AMEM_MAX_NOTE_CHARS",
        )


def check_name(conversation: Any) -> None:
    """Raise InvalidInput for what cannot be a conversation's name; None asks for one to be made up."""
    if conversation is not None and not (isinstance(conversation, str) and checks.is_text(conversation)):
        raise InvalidInput(
            f"{checks.shown(conversation)} cannot name a conversation", hint="give text, or leave it out"
        )


def name_conversation(messages: Sequence[Message]) -> str:
    """A name for a conversation that was given none: the same for the same messages.

    It is made from the first message alone where that has a time or an id, so that a chat that goes on keeps its name,
    else from all of them, since many chats begin with "hi".
    """
    first = messages[0]
    named = messages[:1] if first.at is not None or first.id is not None else messages
    return "chat-" + _digest(*(part for message in named for part in _parts(message)))[:16]


def source_ids(messages: Sequence[Message], conversation: str) -> list[str]:
    """An id for each message, the same whenever it is remembered: by its own id, else by who said what when.

    An id that begins with the conversation's name is unique already and taken as it is (unless that name holds a colon,
    since "a:b:1" may then be another conversation's). Messages that are equal (a second "ok" in the same minute) or
    were given the same id are told apart by counting them.
    """
    seen: Counter[tuple[str, ...]] = Counter()
    ids = []
    for message in messages:
        parts = ("id", message.id) if message.id is not None else _parts(message)
        seen[parts] += 1
        unique = message.id is not None and ":" not in conversation and message.id.startswith(f"{conversation}:")
        if message.id is not None and unique and seen[parts] == 1:
            ids.append(message.id)
        else:
            ids.append(_digest("message", conversation, *parts, str(seen[parts])))
    return ids


def source_of(message: Message, id: str, conversation: str, ordinal: int) -> Source:
    """The message as it is kept."""
    kind = KINDS[message.role]
    return Source(id, kind, conversation, message.id, message.speaker, message.at, message.content, ordinal)


def message_of(source: Source) -> Message:
    """The message that a source is; what was no message (a file, an imported line) reads as a person's."""
    return Message(_ROLES.get(source.kind, Role.USER), source.text, source.at, source.speaker, source.ref)


def _message(item: Message | Mapping[str, Any], number: int, zone: tzinfo) -> Message:
    if isinstance(item, Message):
        return replace(item, role=_role(item.role, number), at=_time(item.at, number, zone))
    if not isinstance(item, Mapping):
        raise _unusable(number, f"it is a {type(item).__name__}, neither a mapping nor a Message")
    unknown = sorted(checks.shown(key) for key in item.keys() - _KEYS.keys())
    if unknown:
        raise _unusable(number, f"unknown {', '.join(unknown)}", hint=f"a message has {', '.join(_KEYS)}")
    values: dict[str, Any] = {}
    for key, value in item.items():
        if value is not None and values.setdefault(_KEYS[key], value) != value:
            raise _unusable(number, f"{key} says something else than its other name")
    return Message(
        _role(values.get("role"), number),
        values.get("content", ""),
        _time(values.get("at"), number, zone),
        values.get("speaker"),
        values.get("id"),
    )


def _role(value: Any, number: int) -> Role:
    try:
        return Role(checks.text("its role", value))
    except ValueError:
        raise _unusable(number, f"its role is {checks.shown(value)}", hint=f"the roles are {', '.join(Role)}") from None


def _time(value: Any, number: int, zone: tzinfo) -> datetime | None:
    if value is None:
        return None
    if not isinstance(value, str | datetime):
        raise _unusable(
            number, f"its time is {checks.shown(value)}", hint="use ISO 8601 (2026-03-01T09:30) or a datetime"
        )
    try:
        parse_time(value, zone)  # refuses what lies before the year 1 or after 9999 elsewhere on earth
        return local_time(value, zone)
    except InvalidInput as error:
        raise _unusable(number, str(error), hint=error.hint) from error


def _checked(message: Message, number: int) -> Message:
    for name in ("content", "speaker", "id"):
        value = getattr(message, name)
        if value is None and name != "content":
            continue
        if not isinstance(value, str):
            raise _unusable(number, f"its {name} must be text, not {type(value).__name__}")
        if not checks.is_text(value):
            raise _unusable(number, f"its {name} holds characters that are not text")
        if len(value) > LONGEST:
            what = f"its {name} has {len(value):,} characters; the limit is {LONGEST:,}"
            raise _unusable(number, what, hint="amem import splits long text")
    speaker = " ".join(message.speaker.split())[:200] if message.speaker else None
    return replace(message, content=without_recalled(message.content), speaker=speaker or None)


def _parts(message: Message) -> tuple[str, ...]:
    at = "" if message.at is None else time_text(message.at)
    return (str(message.role), message.speaker or "", at, message.content)


def _digest(*parts: str) -> str:
    return blake2b("\x1f".join(parts).encode(), digest_size=16).hexdigest()


def _unusable(number: int, why: str, *, hint: str = "") -> InvalidInput:
    return InvalidInput(f"message {number} cannot be remembered: {why}", hint=hint)


# What people took out of memory again: nothing is made a second time of the words that it came from.
#
# The words themselves stay where they were said; they are only left out of what is summed up and learnt from.

#: A sentence says what a note says when they share this part of the shorter one's words: models reword what they keep.
_SHARED = 0.6


def without_forgotten(session: Session, messages: Sequence[Message], ids: Sequence[str]) -> tuple[Message, ...]:
    """The messages, each without the sentences of which people deleted what was learnt; '' where none is left.

    `ids` are those of their sources. A note that no sentence of its messages resembles takes all their words with it,
    and a sentence of the assistant's goes that repeats one, or that answers it and has a word of it.
    """
    forgotten = _forgotten(session, ids)
    if not forgotten:
        return tuple(messages)
    terms = {note: frozenset(query_terms(text)) for note, (text, _) in forgotten.items()}
    from_source: dict[str, set[str]] = {}
    for note, (_, sources) in forgotten.items():
        for source in sources:
            from_source.setdefault(source, set()).add(note)
    seen = {
        note
        for message, id in zip(messages, ids, strict=True)
        for note in from_source.get(id, ())
        if any(alike(terms[note], sentence) for sentence in sentences(message.content))
    }
    left, answered, emptied = [], frozenset[str](), False
    for message, id in zip(messages, ids, strict=True):
        mine = from_source.get(id, set())
        if message.role is Role.USER:
            kept = "" if mine - seen else without_sentences(message.content, [terms[note] for note in mine])
            emptied = not kept and bool(mine)
            answered = frozenset[str]().union(*(terms[note] for note in mine))
        elif message.role is Role.SYSTEM:
            kept = message.content
        else:
            kept = "" if emptied else without_sentences(message.content, terms.values(), answered)
        left.append(message if kept == message.content else replace(message, content=kept))
    return tuple(left)


def without_sentences(text: str, notes: Iterable[frozenset[str]], words: frozenset[str] = frozenset()) -> str:
    """`text` without the sentences that say what a note of these terms says or hold any of these words."""
    told = list(notes)
    every = sentences(text)
    kept = [each for each in every if not (words & set(query_terms(each)) or any(alike(note, each) for note in told))]
    return text if len(kept) == len(every) else " ".join(kept)


def alike(note: frozenset[str], sentence: str) -> bool:
    """Whether a sentence says what a note of these terms says."""
    terms = set(query_terms(sentence))
    return bool(terms and note) and len(terms & note) >= _SHARED * min(len(terms), len(note))


#: A note that sums up an episode.
_SUMMARY = "notes.kind = 'episode' AND json_extract(notes.metadata, '$.episode') IS NOT NULL"


def _forgotten(session: Session, ids: Sequence[str]) -> dict[str, tuple[str, set[str]]]:
    """By id the deleted notes that came from these sources and that people had deleted: what they say, and which."""
    found: dict[str, tuple[str, set[str]]] = {}
    sql = (
        "SELECT notes.id, notes.content, sources.id FROM sources JOIN note_sources AS held ON held.source = sources.key"
        " JOIN notes ON notes.key = held.note WHERE sources.id IN :ids"
        f" AND notes.status = 'deleted' AND NOT ({_SUMMARY})"
    )
    for note, text, source in session.rows(sql, ids=ids):
        found.setdefault(note, (text, set()))[1].add(source)
    return {note: each for note, each in found.items() if _by_people(session, note)}


def _by_people(session: Session, note: str) -> bool:
    """Whether somebody had this note deleted, and not with all that was learnt with it.

    A newer attempt at the same messages hides what an older one made; and what was undone as a whole may be told anew.
    """
    history = session.operations.history(note)
    last = next((each for each in reversed(history) if "status" in each.changes), None)
    if last is None or session.operations.get(last.operation).parent is not None:
        return False
    if last.action != "undo":
        return True
    made = session.operations.get(history[0].operation)
    while made.parent is not None:
        made = session.operations.get(made.parent)
    return not made.undone


# What was said, as it is stored: which messages are remembered already, what came before, and all of it again.


class Transcript:
    """The messages of one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def remembered(self, ids: Sequence[str], *, in_episodes: bool) -> frozenset[str]:
        """Which of these sources belong to a note that stands; with `in_episodes`, to one that sums up an episode."""
        sql = f"SELECT sources.id {MADE_FROM} AND sources.id IN :ids"
        sql += " AND notes.status <> 'deleted'" + (f" AND {_SUMMARY}" if in_episodes else "")
        return frozenset(self._session.column(sql, ids=ids))

    def ordinals(self, ids: Sequence[str]) -> dict[str, int]:
        """For each of these sources that is stored, its place in its conversation."""
        sql = "SELECT id, coalesce(ordinal, 0) FROM sources WHERE id IN :ids"
        return dict(self._session.rows(sql, ids=ids))

    def length(self, conversation: str) -> int:
        """The ordinal of the conversation's last message; 0 when there is none."""
        sql = "SELECT coalesce(max(ordinal), 0) FROM sources WHERE conversation = :conversation"
        return int(self._session.value(sql, conversation=conversation))

    def before(self, conversation: str, ordinal: int, count: int) -> list[Message]:
        """Up to `count` messages of the conversation before that ordinal, oldest first, without what was forgotten."""
        found = self.around("ordinal < :ordinal", "ordinal DESC, key DESC", conversation, ordinal, count)[::-1]
        said = [message_of(source) for source in found]
        return list(without_forgotten(self._session, said, [source.id for source in found]))

    def after(self, conversation: str, ordinal: int, count: int) -> list[Message]:
        """Up to `count` messages of the conversation after that ordinal, in order."""
        found = self.around("ordinal > :ordinal", "ordinal, key", conversation, ordinal, count)
        return [message_of(each) for each in found]

    def around(self, where: str, order: str, conversation: str, ordinal: int, count: int, **asked: str) -> list[Source]:
        """Up to `count` sources of the conversation, chosen and put in order by SQL over ``:ordinal`` and `asked`."""
        sql = f"SELECT * FROM sources WHERE conversation = :conversation AND {where} ORDER BY {order} LIMIT :count"
        rows = self._session.records(sql, conversation=conversation, ordinal=ordinal, count=count, **asked)
        return read_sources(self._session, rows)

    def of(self, note: str) -> list[Source]:
        """What the note came from, in order. Raises NoteNotFound."""
        self._session.notes.key_of(note)
        return self._session.notes.sources_of([note])[note]
