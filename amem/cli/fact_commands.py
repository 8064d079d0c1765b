"""Commands that say what is so, and since when."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from amem import checks
from amem.cli.invocation import invocation, tell
from amem.cli.options import Json, KnownAt, moment, time_option
from amem.cli.render import console, on_terminal, print_json, print_table, styled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.language.intervals import Interval
    from amem.memory_system import AgenticMemorySystem


# No ``from __future__ import annotations`` here: Typer reads annotations at run time.


_PANEL = "Find"
_NEAR = 3
Subject = Annotated[
    str, typer.Argument(metavar="SUBJECT", help="Who or what: a name, me, we, 我, 项目.", show_default=False)
]


def register(app: typer.Typer) -> None:
    """Add this room's commands."""
    app.command(rich_help_panel=_PANEL)(facts)
    app.command(rich_help_panel=_PANEL)(timeline)


def facts(
    context: typer.Context,
    subject: Annotated[
        str | None,
        typer.Argument(
            metavar="SUBJECT", help="Who or what: a name, me, we, 我, 项目; default: whoever there is to ask about."
        ),
    ] = None,
    predicate: Annotated[
        str | None, typer.Option("--predicate", "-p", help="Only this: works_at, lives_in, 喜欢.")
    ] = None,
    as_of: Annotated[str | None, time_option("--as-of", "What was so at this time, not now", examples=True)] = None,
    known_at: KnownAt = None,
    as_json: Json = False,
) -> None:
    """Say what is so of someone or something, and since when."""

    call = invocation(context)
    with call.browsed(as_json) as memory:
        if subject is None:
            return _print_subjects(memory.subjects(), as_json)
        timezone = memory.settings.timezone
        known = None if known_at is None else moment(known_at, timezone)
        asked = known if as_of is None else moment(as_of, timezone)
        found = memory.facts(subject, predicate, as_of=asked, known_at=known)
        if as_json:
            return print_json([each.to_dict() for each in found])
        ever = memory.timeline(subject, predicate, known_at=known)
        if not ever:
            return tell(_unknown(memory, subject, predicate, known_at))
    _print(found, timezone, (ever[0].subject, as_of, known_at), grouped=True)
    if not found:
        tell(f"nothing of {ever[0].subject} is known to be so; what was: {call.command('timeline', subject)}")
    gone = _presumed(ever, asked or datetime.now(UTC))
    if gone and on_terminal():
        tell(f"presumed to have ended with what {'it' if len(gone) == 1 else 'they'} hung on:")
        _print(gone, timezone, None, grouped=True)


def timeline(
    context: typer.Context,
    subject: Subject,
    predicate: Annotated[
        str | None, typer.Option("--predicate", "-p", help="Only this: works_at, lives_in, 喜欢.")
    ] = None,
    known_at: KnownAt = None,
    as_json: Json = False,
) -> None:
    """Say all that was ever so of someone or something, in order of time, and what ended it."""
    with invocation(context).browsed(as_json) as memory:
        timezone = memory.settings.timezone
        known = None if known_at is None else moment(known_at, timezone)
        found = memory.timeline(subject, predicate, known_at=known)
        if as_json:
            return print_json([each.to_dict() for each in found])
        if not found:
            return tell(_unknown(memory, subject, predicate, known_at))
    _print(found, timezone, (found[0].subject, None, known_at), grouped=False)


def _print(
    found: "Sequence[Interval]", timezone: str, heading: tuple[str, str | None, str | None] | None, *, grouped: bool
) -> None:
    from amem.cli.interval_lines import print_intervals
    from amem.clock import zone

    if heading is not None and on_terminal():
        subject, as_of, known_at = heading
        asked = [f"as of {as_of}"] * bool(as_of) + [f"as known at {known_at}"] * bool(known_at)
        console().print(styled((subject, "bold"), ("  " if asked else "", ""), (", ".join(asked), "dim")))
    print_intervals(found, zone(timezone), grouped=grouped)


def _presumed(ever: "Sequence[Interval]", at: datetime) -> "list[Interval]":
    """What hung on something that ended and was not said anew: neither so nor certainly over."""
    return [
        each
        for each in ever
        if not each.certain
        and each.until is not None
        and each.until <= at
        and not any(other.predicate == each.predicate and each.until <= other.since <= at for other in ever)
    ]


def _print_subjects(subjects: dict[str, int], as_json: bool) -> None:
    if as_json:
        return print_json([{"subject": name, "facts": number} for name, number in subjects.items()])
    print_table(("subject", "facts"), [(name, f"{number:,}") for name, number in subjects.items()])
    if not subjects:
        tell("no note states a fact yet")
    return None


def _unknown(memory: "AgenticMemorySystem", subject: str, predicate: str | None, known_at: str | None) -> str:
    """That nothing is known, or was known then, and who else may have been meant."""
    import difflib

    from amem.language.subjects import subject_key

    if known_at is not None and (since := memory.timeline(subject, predicate)):
        about = "" if predicate is None else f" about {since[0].predicate}"
        return f"nothing was known{about} of {since[0].subject} at {known_at}; it is now"
    if predicate is not None and (ever := memory.timeline(subject)):
        known = ", ".join(dict.fromkeys(each.predicate for each in ever))
        return f"nothing about {checks.shown(predicate)} is known of {ever[0].subject}; known: {known}"
    names: dict[str, str] = {}
    for name in memory.subjects():  # a first name will do
        for key in (subject_key(name), *subject_key(name).split()):
            names.setdefault(key, name)
    near = dict.fromkeys(names[key] for key in difflib.get_close_matches(subject_key(subject), names, _NEAR))
    hint = f"; did you mean {', '.join(near)}?" if near else "; see amem facts"
    return f"nothing is known of {checks.shown(subject)}{hint}"
