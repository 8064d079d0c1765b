"""Messages on their way in: checked at the border, named so that the same one is never stored twice, and back again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from amem import checks
from amem.clock import local_time, parse_time
from amem.errors import InvalidInput, NoteTooLong
from amem.message import Message, Role
from amem.note import Source
from amem.retrieval.marks import without_recalled
from amem.storage.rows import time_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

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
