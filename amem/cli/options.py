"""Options that several commands share, and what they say to the API."""

# Typer reads annotations at run time, so the modules of this room do without ``from __future__ import annotations``.

from datetime import datetime, timedelta
from typing import Annotated, Any

import typer

Json = Annotated[bool, typer.Option("--json", help="Print JSON in its documented shape.")]
Id = Annotated[str, typer.Argument(metavar="ID", help="A note's id or the beginning of it.", show_default=False)]
Ids = Annotated[list[str], typer.Argument(metavar="ID...", help="Ids, or beginnings of them.", show_default=False)]
Tags = Annotated[list[str] | None, typer.Option("--tag", "-t", help="Only notes with this tag; repeatable.")]
Kinds = Annotated[list[str] | None, typer.Option("--kind", help="Only this kind (fact, decision, ...); repeatable.")]
Category = Annotated[str | None, typer.Option("--category", help="Only this category.")]
Speaker = Annotated[str | None, typer.Option("--speaker", help="Only what this person said.")]
Conversation = Annotated[str | None, typer.Option("--conversation", help="Only this conversation.")]
Since = Annotated[str | None, typer.Option("--since", help="About this time or later: 2026-03-01, 7d, yesterday.")]
Until = Annotated[str | None, typer.Option("--until", help="About a time before this.")]
AsOf = Annotated[str | None, typer.Option("--as-of", help="What was true at this time.")]
KnownAt = Annotated[str | None, typer.Option("--known-at", help="What was known at this time, by notes as they stood.")]
Superseded = Annotated[bool, typer.Option("--superseded", help="Superseded notes too.")]
Everything = Annotated[bool, typer.Option("--all", "-a", help="Superseded and archived notes too.")]
Meta = Annotated[list[str] | None, typer.Option("--meta", help="Only notes with this metadata, key=value; repeatable.")]

_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def moment(text: str, timezone: str, now: datetime | None = None) -> datetime:
    """A time as people give it: ISO 8601, ``7d`` (also m, h, w) ago, ``today``, ``yesterday``. Raises InvalidInput."""
    from amem.clock import parse_time, zone
    from amem.errors import InvalidInput

    where = zone(timezone)
    now = now or datetime.now(where)
    said = text.strip().lower()
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if said in ("today", "yesterday"):
        return midnight - timedelta(days=said == "yesterday")
    if said[-1:] in _UNITS and said[:-1].isdigit():
        try:
            return now - timedelta(**{_UNITS[said[-1]]: int(said[:-1])})
        except OverflowError as error:
            raise InvalidInput(f"{text!r} is too long ago") from error
    try:
        return parse_time(text, where)
    except InvalidInput as error:
        raise InvalidInput(str(error), hint="use 2026-03-01, 2026-03-01T09:30, 7d, 12h, today or yesterday") from error


def pairs(given: list[str] | None) -> dict[str, Any]:
    """``key=value`` options as a dictionary; a value that is a JSON number or truth value becomes one."""
    import json

    from amem.errors import InvalidInput

    found: dict[str, Any] = {}
    for each in given or []:
        key, equals, value = each.partition("=")
        if not equals or not key.strip():
            raise InvalidInput(f"cannot read {each!r} as metadata", hint="write --meta key=value")
        try:
            parsed = json.loads(value)
        except ValueError:
            parsed = value
        found[key.strip()] = parsed if isinstance(parsed, bool | int | float) else value
    return found


def as_filter(
    timezone: str,
    *,
    tags: list[str] | None = None,
    kinds: list[str] | None = None,
    category: str | None = None,
    speaker: str | None = None,
    conversation: str | None = None,
    since: str | None = None,
    until: str | None = None,
    as_of: str | None = None,
    known_at: str | None = None,
    superseded: bool = False,
    everything: bool = False,
    meta: list[str] | None = None,
) -> Any:
    """The Filter that these options mean. Raises InvalidInput."""
    from amem.errors import InvalidInput
    from amem.note import Kind, Status
    from amem.query import Filter

    try:
        wanted = tuple(Kind(kind.strip().lower()) for kind in kinds or [])
    except ValueError as error:
        raise InvalidInput(f"{error}", hint=f"the kinds are {', '.join(Kind)}") from error
    statuses: tuple[Status, ...] = (Status.ACTIVE, Status.SUPERSEDED, Status.ARCHIVED)
    if not everything:
        statuses = (Status.ACTIVE, Status.SUPERSEDED) if superseded else (Status.ACTIVE,)
    return Filter(
        tags=tuple(tags or ()),
        category=category,
        kinds=wanted,
        speaker=speaker,
        conversation=conversation,
        since=None if since is None else moment(since, timezone),
        until=None if until is None else moment(until, timezone),
        as_of=None if as_of is None else moment(as_of, timezone),
        known_at=None if known_at is None else moment(known_at, timezone),
        metadata=pairs(meta),
        statuses=statuses,
    )
