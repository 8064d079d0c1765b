"""Options that several commands share, those that filter notes among them, and what they say to the API."""

# No ``from __future__ import annotations`` in a module of commands: Typer reads annotations at run time.

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any

import typer

from amem.cli.completion import complete_id, complete_kind, complete_tag

if TYPE_CHECKING:
    from amem.query import Filter, Query


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
#: The least score that is not shown as 0.00: what scores less has nothing to do with the question.
LEAST_SCORE = 0.005
MinimumScore = Annotated[float | None, typer.Option("--min-score", help="Leave out what scores less (0 to 1).")]
MinimumCosine = Annotated[
    float | None, typer.Option("--min-cosine", help="Leave out what is less similar in meaning (-1 to 1).")
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


# The options that filter notes: declared once, for every command that finds or lists some.


_PANEL = "Which notes"


def _option(*names: str, help: str, offers: Any = None) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=_PANEL, show_default=False, autocompletion=offers)


_Texts = list[str] | None
_Text = str | None


@dataclass(kw_only=True, slots=True)
class Where:
    """What the options said. `filter` makes a Filter of it, once the collection and its time zone are known."""

    tag: Annotated[_Texts, _option("--tag", "-t", help="With this tag; repeatable.", offers=complete_tag)] = None
    kind: Annotated[_Texts, _option("--kind", help="Of this kind; repeatable.", offers=complete_kind)] = None
    category: Annotated[_Text, _option("--category", help="Of this category.")] = None
    layer: Annotated[_Texts, _option("--layer", help="In this memory: short_term, long_term.")] = None
    speaker: Annotated[_Text, _option("--speaker", help="Said by this person.")] = None
    conversation: Annotated[_Text, _option("--conversation", help="Of this conversation.")] = None
    user: Annotated[_Text, _option("--user", help="Added for this user_id.")] = None
    agent: Annotated[_Text, _option("--agent-id", help="Added by this agent_id.")] = None
    session: Annotated[_Text, _option("--session", help="Added in this session_id.")] = None
    meta: Annotated[_Texts, _option("--meta", help="With this metadata, key=value; repeatable.")] = None
    since: Annotated[_Text, time_option("--since", "About this time or later", examples=True, panel=_PANEL)] = None
    until: Annotated[_Text, time_option("--until", "About a time before this", panel=_PANEL)] = None
    as_of: Annotated[_Text, time_option("--as-of", "What was true at this time", panel=_PANEL)] = None
    known_at: Annotated[
        _Text, time_option("--known-at", "What was known at this time, as notes stood", panel=_PANEL)
    ] = None
    status: Annotated[_Texts, _option("--status", help="Of this status: active, superseded, ...; repeatable.")] = None
    superseded: Annotated[bool, _option("--superseded", help="Superseded notes too.")] = False
    everything: Annotated[bool, _option("--all", "-a", help="Superseded and archived notes too.")] = False

    def words(self) -> str:
        """The options that were given, as a title has them: "tag work, since 2026-03-01"; '' without any."""
        said = []
        for each in fields(self):
            name, value = each.name.replace("_", " "), getattr(self, each.name)
            if value is True:
                said.append(name)
            elif value:
                said.append(f"{name} {' '.join(value) if isinstance(value, list) else value}")
        return ", ".join(said)

    def filter(self, timezone: str, *, minimum_cosine: float | None = None) -> "Filter":
        """The Filter that these options mean. Raises InvalidInput."""
        from amem.note import Status
        from amem.query import Filter

        statuses = dict.fromkeys(self.status or [Status.ACTIVE])
        if self.superseded or self.everything:
            statuses[Status.SUPERSEDED] = None
        if self.everything:
            statuses[Status.ARCHIVED] = None
        times = {name: getattr(self, name) for name in ("since", "until", "as_of", "known_at")}
        return Filter(
            tags=tuple(self.tag or ()),
            category=self.category,
            kinds=tuple(self.kind or ()),  # type: ignore[arg-type]  # a Filter takes them by name, too
            layers=tuple(self.layer or ()),  # type: ignore[arg-type]  # as above
            speaker=self.speaker,
            conversation=self.conversation,
            user_id=self.user,
            agent_id=self.agent,
            session_id=self.session,
            part_of=None,
            whose=None,
            metadata=pairs(self.meta),
            statuses=tuple(statuses),  # type: ignore[arg-type]  # as above
            minimum_cosine=minimum_cosine,
            **{name: moment(said, timezone) for name, said in times.items() if said is not None},
        )


@dataclass(kw_only=True, slots=True)
class Ranking:
    """How to look for notes, as `search` and `why` are told it."""

    k: Annotated[int, typer.Option("-k", "--k", min=0, help="How many answers.")] = 5
    links: Annotated[bool, typer.Option(help="Let good answers bring in what they are linked to.")] = True
    minimum: MinimumScore = LEAST_SCORE
    minimum_cosine: MinimumCosine = None
    minimum_confidence: Annotated[
        float | None,
        typer.Option(
            "--min-confidence", "--minimum-confidence", help="Leave out what less likely holds the answer (0 to 1)."
        ),
    ] = None
    rerank: Annotated[
        bool | None,
        typer.Option("--rerank/--no-rerank", help="Let a cross-encoder read the best again; default: setting rerank."),
    ] = None
    diversity: Annotated[
        float | None,
        typer.Option("--diversity", help="What repeating an answer above costs (0 to 1).", show_default=False),
    ] = None

    def query(self, text: str, where: Where, timezone: str, **more: Any) -> "Query":
        """The Query that these options and `where` mean. Raises InvalidInput."""
        from amem.query import Query

        return Query(
            text,
            self.k,
            where.filter(timezone, minimum_cosine=self.minimum_cosine),
            expand=self.links,
            minimum_score=self.minimum,
            minimum_confidence=self.minimum_confidence,
            rerank=self.rerank,
            diversity=self.diversity,
            **more,
        )


@dataclass(kw_only=True, slots=True)
class NoteFields:
    """Fields of a note that `add` and `edit` are given."""

    category: Annotated[_Text, typer.Option("--category", help="A category.")] = None
    kind: Annotated[
        _Text, typer.Option("--kind", help="What sort of note: fact, preference, ...", autocompletion=complete_kind)
    ] = None
    speaker: Annotated[_Text, typer.Option("--speaker", help="Who said it.")] = None
    keyword: Annotated[_Texts, typer.Option("--keyword", help="A keyword; repeatable.")] = None
    note_context: Annotated[_Text, typer.Option("--context", help="One sentence on what it is about.")] = None
    importance: Annotated[float | None, typer.Option("--importance", help="From 0 to 1.")] = None

    def given(self, **more: Any) -> dict[str, Any]:
        """Those that were given, and what else was."""
        named = {each.name.removeprefix("note_"): getattr(self, each.name) for each in fields(self)} | more
        named["keywords"] = named.pop("keyword")
        return {name: value for name, value in named.items() if value is not None}


def spreading(*without: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of `Where`, `Ranking` and `NoteFields` where it takes one, but for those named."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        parameters: list[inspect.Parameter] = []
        classes: dict[str, tuple[Any, list[Any]]] = {}
        for each in inspect.signature(command).parameters.values():
            if not is_dataclass(each.annotation):
                parameters.append(each.replace(kind=inspect.Parameter.KEYWORD_ONLY))
                continue
            given = [option for option in fields(each.annotation) if option.name not in without]
            classes[each.name] = each.annotation, given
            parameters += [
                inspect.Parameter(
                    option.name, inspect.Parameter.KEYWORD_ONLY, default=option.default, annotation=option.type
                )
                for option in given
            ]

        @wraps(command)
        def called(**values: Any) -> None:
            for name, (made, given) in classes.items():
                values[name] = made(**{each.name: values.pop(each.name) for each in given})
            command(**values)

        called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what Typer reads
        return called

    return decorate
