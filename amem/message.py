"""One message of a conversation, as it is remembered, and as a chat model is asked. Plain data, no I/O."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime


class Role(StrEnum):
    """Who a message is from."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class Message:
    """What somebody said. `speaker` is a name beside the role; `at` and `id` are known of messages that came from
    somewhere, and not needed to ask a model."""

    role: Role
    content: str
    at: datetime | None = None
    speaker: str | None = None
    id: str | None = None
