"""Options that several commands share, and what they say to the API."""

# Typer reads annotations at run time, so the modules of this room do without ``from __future__ import annotations``.

from datetime import datetime
from typing import Annotated, Any

import typer

Json = Annotated[bool, typer.Option("--json", help="Print JSON in its documented shape.")]
Id = Annotated[str, typer.Argument(metavar="ID", help="A note's id or the beginning of it.", show_default=False)]
Ids = Annotated[list[str], typer.Argument(metavar="ID...", help="Ids, or beginnings of them.", show_default=False)]
KnownAt = Annotated[str | None, typer.Option("--known-at", help="What was known at this time, by notes as they stood.")]
K = Annotated[int, typer.Option("-k", "--k", min=0, help="How many answers.")]
Links = Annotated[bool, typer.Option(help="Let good answers bring in what they are linked to.")]
MinimumScore = Annotated[float | None, typer.Option("--min-score", help="Leave out what scores less (0 to 1).")]
MinimumCosine = Annotated[
    float | None, typer.Option("--min-cosine", help="Leave out what is less alike in meaning (-1 to 1).")
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


def moment(text: str, timezone: str, now: datetime | None = None) -> datetime:
    """A time as people give it: ISO 8601, ``7d`` (also m, h, w) ago, ``today``, ``yesterday``. Raises InvalidInput."""
    from amem.clock import moment_of, zone

    where = zone(timezone)
    return moment_of(text, where, now or datetime.now(where))


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
