"""Options that several commands share, and what they say to the API."""

# Typer reads annotations at run time, so the modules of this room do without ``from __future__ import annotations``.

from datetime import datetime
from typing import Annotated, Any

import typer

from amem.cli.completion import complete_id

Json = Annotated[bool, typer.Option("--json", help="Print JSON in its documented shape.")]
Id = Annotated[
    str,
    typer.Argument(
        metavar="ID", help="A note's id or the beginning of it.", show_default=False, autocompletion=complete_id
    ),
]
Ids = Annotated[
    list[str],
    typer.Argument(metavar="ID", help="Ids, or beginnings of them.", show_default=False, autocompletion=complete_id),
]
#: What every option that takes a time understands; `moment` reads it.
TIMES = "2026-05-02, 2026-05, 7d, yesterday, 2 weeks ago, 上周"


def time_option(name: str, what: str, *, examples: bool = False, panel: str | None = None) -> Any:
    """An option that takes a time in any form that `moment` reads."""
    said = f"{what}: {TIMES}." if examples else f"{what}."
    return typer.Option(name, help=said, metavar="TIME", show_default=False, rich_help_panel=panel)


KnownAt = Annotated[str | None, time_option("--known-at", "What was known at this time, by notes as they stood")]
Time = Annotated[str | None, time_option("--time", "When it was said or happened, now unless given", examples=True)]
K = Annotated[int, typer.Option("-k", "--k", min=0, help="How many answers.")]
Links = Annotated[bool, typer.Option(help="Let good answers bring in what they are linked to.")]
#: The least score that is not shown as 0.000: what scores less has nothing to do with the question.
LEAST_SCORE = 0.0005
MinimumScore = Annotated[float | None, typer.Option("--min-score", help="Leave out what scores less (0 to 1).")]
MinimumCosine = Annotated[
    float | None, typer.Option("--min-cosine", help="Leave out what is less similar in meaning (-1 to 1).")
]
MinimumConfidence = Annotated[
    float | None,
    typer.Option(
        "--min-confidence", "--minimum-confidence", help="Leave out what less likely holds the answer (0 to 1)."
    ),
]
Rerank = Annotated[
    bool | None,
    typer.Option("--rerank/--no-rerank", help="Let a cross-encoder read the best again; default: setting rerank."),
]
Diversity = Annotated[
    float | None, typer.Option("--diversity", help="What repeating an answer above costs (0 to 1).", show_default=False)
]


def moment(text: str, timezone: str) -> datetime:
    """The time that an option names (`TIMES`), the beginning of a day, week, month or year. Raises InvalidInput."""
    from amem.clock import zone
    from amem.language.times.moments import moment_of

    where = zone(timezone)
    return moment_of(text, where, datetime.now(where))


def stamp(text: str | None, timezone: str) -> str | None:
    """The time of a note: ISO 8601 as it was given, else the day (or the minute) that the words mean."""
    from amem.clock import parse_time, zone
    from amem.errors import InvalidInput

    if text is None:
        return None
    where = zone(timezone)
    try:
        parse_time(text, where)
    except InvalidInput:
        meant = moment(text, timezone).astimezone(where)
        whole = (meant.hour, meant.minute, meant.second) == (0, 0, 0)
        return meant.date().isoformat() if whole else meant.isoformat(timespec="minutes")
    return text


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
