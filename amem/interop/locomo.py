"""LoCoMo conversation files (snap-research/locomo): long two-person chats in dated sessions, one note for each turn."""

from __future__ import annotations

import json
import re
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any, BinaryIO

from amem.errors import InvalidInput
from amem.interop.decoding import decode
from amem.interop.items import Incoming, Read, Refused, source_id
from amem.language.numerals import month_number
from amem.note import Source
from amem.writing.intake import NewNote

if TYPE_CHECKING:
    from collections.abc import Iterator

_SESSION = re.compile(r"session_(\d+)")
_TIME = re.compile(r"(\d{1,2}):(\d{2})\s*(am|pm)\s+on\s+(\d{1,2})\s+([a-z]+),?\s+(\d{4})", re.IGNORECASE)
# Not strptime: its month names and "pm" follow the machine's language.


def read_locomo(stream: BinaryIO, name: str, zone: tzinfo) -> Iterator[Read]:
    """Every turn of every conversation. Raises InvalidInput when the file is not LoCoMo's."""
    try:
        whole = json.loads(decode(stream.read(), name))
    except (ValueError, RecursionError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"{name} is not JSON: {error}") from error
    samples = whole if isinstance(whole, list) else [whole]
    if not samples or not all(_is_sample(sample) for sample in samples):
        raise InvalidInput(
            f"{name} is not a LoCoMo conversation file",
            hint="it needs a conversation with session_1, session_1_date_time, ...",
        )
    for position, sample in enumerate(samples, start=1):
        yield from _turns(sample["conversation"], str(sample.get("sample_id") or f"{name}-{position}"), zone)


def session_time(text: str) -> datetime:
    """``2:47 pm on 9 March, 2024`` as a time without a zone. Raises InvalidInput."""
    match = _TIME.search(text)
    if match is None:
        raise InvalidInput(f"cannot read {text!r} as a session's time")
    hour = int(match[1]) % 12 + (12 if match[3].lower() == "pm" else 0)
    try:
        return datetime(int(match[6]), month_number(match[5]), int(match[4]), hour, int(match[2]))
    except (KeyError, ValueError) as error:
        raise InvalidInput(f"cannot read {text!r} as a session's time: {error}") from error


def _is_sample(sample: Any) -> bool:
    return isinstance(sample, dict) and isinstance(sample.get("conversation"), dict)


def _turns(conversation: dict[str, Any], sample: str, zone: tzinfo) -> Iterator[Read]:
    sessions = sorted(int(match[1]) for key in conversation if (match := _SESSION.fullmatch(key)))
    ordinal = 0
    for session in sessions:
        turns, said = conversation[f"session_{session}"], conversation.get(f"session_{session}_date_time")
        where = f"{sample}, session {session}"
        if not isinstance(turns, list):
            yield Refused(where, "not a list of turns")
            continue
        try:
            at = None if said is None else session_time(str(said))
        except InvalidInput as error:
            yield Refused(where, str(error))
            continue
        for turn in turns:
            ordinal += 1
            yield _turn(turn, sample, session, ordinal, at, zone)


def _turn(turn: Any, sample: str, session: int, ordinal: int, at: datetime | None, zone: tzinfo) -> Read:
    ref = turn.get("dia_id") if isinstance(turn, dict) else None
    where = f"{sample}, {ref or f'turn {ordinal}'}"
    if not isinstance(turn, dict):
        return Refused(where, "not a turn")
    said, caption = str(turn.get("text") or "").strip(), str(turn.get("blip_caption") or "").strip()
    content = " ".join(part for part in (said, f"[shares a photo: {caption}]" if caption else "") if part)
    if not content:
        return Refused(where, "the turn says nothing")
    speaker = turn.get("speaker")
    source = Source(
        id=source_id("message", sample, ref or str(ordinal), content),
        kind="message",
        conversation=sample,
        ref=ref,
        speaker=speaker,
        at=None if at is None else at.replace(tzinfo=zone),
        text=content,
        ordinal=ordinal,
    )
    time = None if at is None else at.isoformat(timespec="minutes")
    return Incoming(NewNote(content, time, source, {"metadata": {"session": session}}), where)
