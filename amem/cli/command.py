"""One way to be a command: what it takes, and how what it answers is shown.

``@command()`` hands a function the `Invocation`, gives it ``--json``, spreads the options of a dataclass that it takes,
and shows what it returns: a `Shown` (lines), a `Table` or a `Drawing`. So JSON, pipes, terminals, what is told beside
the answer, how to undo it and the exit code are each written once, here.
"""

# No ``from __future__ import annotations`` in a module of commands: Typer reads annotations at run time.

import inspect
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import datetime
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any

import typer

from amem.cli.completion import complete_id, complete_kind, complete_tag
from amem.cli.invocation import ExitCode, Invocation, at_terminal, hold_words, tell
from amem.cli.render import Page, on_terminal, print_json, print_table, say, say_row
from amem.clock import parse_time, zone
from amem.errors import InvalidInput
from amem.labels import short_id
from amem.note import Status

if TYPE_CHECKING:
    from rich.text import Text

    from amem.memory_system import AgenticMemorySystem
    from amem.query import Filter, Query


# What a command answers.


class Shown:
    """An answer: `data` as --json prints it, else `lines` on standard output.

    Where it is not JSON, each of `told` follows on standard error, and how to take back `undo` operations.
    """

    def __init__(
        self, data: object = None, *lines: str, told: Iterable[str] = (), undo: int = 0, code: int = ExitCode.OK
    ) -> None:
        self.data, self.lines, self.told, self.undo, self.code = data, lines, told, undo, code

    def show(self, call: Invocation) -> None:
        """Print it in the form that the call wants. Raises typer.Exit where its code is not 0."""
        if call.as_json:
            print_json(self.data)
        else:
            self.print()
            for line in self.told:
                tell(line)
            if self.undo:
                call.tell_undo(self.undo)
        if self.code:
            raise typer.Exit(self.code)

    def print(self) -> None:
        """Print what standard output gets."""
        for line in self.lines:
            say(line)


class Table(Shown):
    """Rows under columns; `wide` takes what room is left on a terminal, those of `spare` go first where it is short."""

    def __init__(
        self,
        data: object,
        columns: Sequence[str],
        rows: "Iterable[Sequence[str | Text]]",
        *,
        wide: str = "",
        spare: Sequence[str] = (),
        fold_below: int = 0,
        **rest: Any,
    ) -> None:
        super().__init__(data, **rest)
        self._columns, self._rows = columns, rows
        self._layout: dict[str, Any] = {"wide": wide, "spare": spare, "fold_below": fold_below}

    def print(self) -> None:
        print_table(self._columns, self._rows, **self._layout)


class Drawing(Shown):
    """What `draw` puts on a page where that is a terminal; in a pipe `lines`, then `rows` of cells by tabs."""

    def __init__(
        self,
        data: object,
        rows: Iterable[Sequence[object]],
        draw: Callable[[Page], object],
        *,
        lines: Iterable[str] = (),
        **rest: Any,
    ) -> None:
        super().__init__(data, *lines, **rest)
        self.rows, self.draw = rows, draw

    def print(self) -> None:
        if on_terminal():
            self.draw(Page())
            return
        super().print()
        for row in self.rows:
            say_row(*row)


def done(what: str, ids: Collection[str], *, part: Collection[str] = (), **rest: Any) -> Shown:
    """What was done to which notes; of those in `part` only to a statement."""
    return Shown({what: list(ids)}, *(f"{what} {'a statement of ' * (id in part)}{short_id(id)}" for id in ids), **rest)


def resolved(memory: "AgenticMemorySystem", ids: Iterable[str], *, deleted: bool = False) -> list[str]:
    """Every id in full, each once; one that is wrong stops the command before anything is changed."""
    return list(dict.fromkeys(memory.resolve(id, deleted=deleted) for id in ids))


def confirm(question: str, refusal: str, hint: str = "give --yes if you mean it") -> None:
    """Have the person say yes. Raises InvalidInput, with these words, where nobody can be asked, and Abort."""
    if not at_terminal():
        raise InvalidInput(refusal, hint=hint)
    typer.confirm(question, abort=True, err=True)


def command(*without: str, json: bool = True) -> Callable[[Callable[..., Shown | None]], Callable[..., None]]:
    """Make a command of a function whose first parameter is the call.

    It takes the options of each dataclass among its parameters, but for those named in `without`. As the callback of a
    group it does nothing where a command of the group is named; its --json then counts for that one.
    """

    def decorate(function: Callable[..., Shown | None]) -> Callable[..., None]:
        taken = [_keyword("context", typer.Context, inspect.Parameter.empty)]
        spread: dict[str, tuple[Any, list[str]]] = {}
        for each in list(inspect.signature(function).parameters.values())[1:]:
            if is_dataclass(each.annotation):
                options = [option for option in fields(each.annotation) if option.name not in without]
                spread[each.name] = each.annotation, [option.name for option in options]
                taken += [_keyword(option.name, option.type, option.default) for option in options]
            else:
                taken.append(_keyword(each.name, each.annotation, each.default))
        if json:
            taken.append(_keyword("as_json", Json, False))

        @wraps(function)
        def called(context: typer.Context, as_json: bool = False, **values: Any) -> None:
            hold_words(context)
            as_json = context.meta["amem.json"] = as_json or context.meta.get("amem.json", False)
            if context.invoked_subcommand is not None:
                return
            for name, (made, options) in spread.items():
                values[name] = made(**{option: values.pop(option) for option in options})
            call = replace(context.obj, as_json=as_json, remarks=[])
            try:
                if (shown := function(call, **values)) is not None:
                    shown.show(call)
            finally:
                for remark in call.remarks:
                    tell(remark)

        # Typer keeps the ends of lines of all paragraphs but the first.
        called.__doc__ = "\n\n".join(" ".join(each.split()) for each in (function.__doc__ or "").split("\n\n"))
        called.__signature__ = inspect.Signature(taken)  # type: ignore[attr-defined]  # what Typer reads
        return called

    return decorate


def _keyword(name: str, annotation: object, default: object) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)


# Options that several commands share, those that filter notes among them, and what they say to the API.


_Texts = list[str] | None
_Text = str | None


def option(names: str, help: str, **more: Any) -> Any:
    """An option by its names, separated by spaces, and what its help says."""
    return typer.Option(*names.split(), help=help, **more)


def argument(metavar: str, help: str, **more: Any) -> Any:
    """An argument by what the help calls it ('' for its own name), and what it says."""
    return typer.Argument(metavar=metavar or None, help=help, **{"show_default": False, **more})


Json = Annotated[bool, option("--json", "Print JSON in its documented shape.")]
Id = Annotated[str, argument("ID", "A note's id or the beginning of it.", autocompletion=complete_id)]
Ids = Annotated[list[str], argument("ID", "Ids, or beginnings of them.", autocompletion=complete_id)]
Question = Annotated[list[str], argument("", "The question, in your own words.")]
Reason = Annotated[str, option("--reason -r", "Why, in words.")]
Yes = Annotated[bool, option("--yes -y", "Do not ask.")]
DryRun = Annotated[bool, option("--dry-run", "Say what would be done, and do nothing.")]
Force = Annotated[bool, option("--force", "Replace a file that is there.")]
#: What every option that takes a time understands; `moment` reads it.
TIMES = "2026-05-02, 2026-05, 7d, yesterday, 2 weeks ago, 上周"


def time_option(name: str, what: str, *, examples: bool = False, panel: str | None = None) -> Any:
    """An option that takes a time in any form that `moment` reads."""
    said = f"{what}: {TIMES}." if examples else f"{what}."
    return option(name, said, metavar="TIME", show_default=False, rich_help_panel=panel)


KnownAt = Annotated[_Text, time_option("--known-at", "What was known at this time, by notes as they were then")]
Time = Annotated[_Text, time_option("--time", "When it was said or happened, now unless given", examples=True)]
#: The least score that is not shown as 0.00: what scores less has nothing to do with the question.
LEAST_SCORE = 0.005
MinimumScore = Annotated[float | None, option("--min-score", "Leave out what scores less (0 to 1).")]
MinimumCosine = Annotated[float | None, option("--min-cosine", "Leave out what is less similar in meaning (-1 to 1).")]


def moment(text: str, timezone: str) -> datetime:
    """The time that an option names (`TIMES`), the beginning of a day, week, month or year. Raises InvalidInput."""
    from amem.language.times import moment_of

    where = zone(timezone)
    return moment_of(text, where, datetime.now(where))


def stamp(text: str | None, timezone: str) -> str | None:
    """The time of a note: ISO 8601 as it was given, else the day (or the minute) that the words mean."""
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


def _where(names: str, help: str, offers: Any = None) -> Any:
    return option(names, help, rich_help_panel=_PANEL, show_default=False, autocompletion=offers)


@dataclass(kw_only=True, slots=True)
class Where:
    """What the options said. `filter` makes a Filter of it, once the collection and its time zone are known."""

    tag: Annotated[_Texts, _where("--tag -t", "With this tag; repeatable.", complete_tag)] = None
    kind: Annotated[_Texts, _where("--kind", "Of this kind; repeatable.", complete_kind)] = None
    category: Annotated[_Text, _where("--category", "Of this category.")] = None
    layer: Annotated[_Texts, _where("--layer", "In this memory: short_term, long_term.")] = None
    speaker: Annotated[_Text, _where("--speaker", "Said by this person.")] = None
    conversation: Annotated[_Text, _where("--conversation", "Of this conversation.")] = None
    user: Annotated[_Text, _where("--user", "Added for this user_id.")] = None
    agent: Annotated[_Text, _where("--agent-id", "Added by this agent_id.")] = None
    session: Annotated[_Text, _where("--session", "Added in this session_id.")] = None
    meta: Annotated[_Texts, _where("--meta", "With this metadata, key=value; repeatable.")] = None
    since: Annotated[_Text, time_option("--since", "About this time or later", examples=True, panel=_PANEL)] = None
    until: Annotated[_Text, time_option("--until", "About a time before this (--before too)", panel=_PANEL)] = None
    as_of: Annotated[_Text, time_option("--as-of", "What was true at this time", panel=_PANEL)] = None
    known_at: Annotated[
        _Text, time_option("--known-at", "What was known at this time, by notes as they were then", panel=_PANEL)
    ] = None
    status: Annotated[_Texts, _where("--status", "Of this status: active, superseded, ...; repeatable.")] = None
    superseded: Annotated[bool, _where("--superseded", "Superseded notes too.")] = False
    everything: Annotated[bool, _where("--all -a", "Superseded and archived notes too.")] = False

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


def not_empty(text: str, hint: str) -> str:
    """The text of an argument. Raises InvalidInput, with this hint, for one that says nothing."""
    if not text.strip():
        raise InvalidInput("nothing is asked for", hint=hint)
    return text


@dataclass(kw_only=True, slots=True)
class Ranking:
    """How to look for notes, as `search` and `why` are told it."""

    k: Annotated[int, option("-k --k", "How many answers.", min=1)] = 5
    links: Annotated[bool, typer.Option(help="Let good answers bring in what they are linked to.")] = True
    minimum: MinimumScore = LEAST_SCORE
    minimum_cosine: MinimumCosine = None
    minimum_confidence: Annotated[
        float | None,
        option("--min-confidence", "Leave out what holds the answer less likely (0 to 1)."),
    ] = None
    rerank: Annotated[
        bool | None,
        option("--rerank/--no-rerank", "Rerank the best with a cross-encoder; default: setting rerank."),
    ] = None
    diversity: Annotated[
        float | None, option("--diversity", "Penalty for repeating an answer above (0 to 1).", show_default=False)
    ] = None

    def query(self, text: str, where: Where, timezone: str, **more: Any) -> "Query":
        """The Query that these options and `where` mean. Raises InvalidInput."""
        from amem.query import Query

        return Query(
            not_empty(text, "say what to look for"),
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

    category: Annotated[_Text, option("--category", "Its category.")] = None
    kind: Annotated[
        _Text, option("--kind", "What sort of note: fact, preference, ...", autocompletion=complete_kind)
    ] = None
    speaker: Annotated[_Text, option("--speaker", "Who said it.")] = None
    keyword: Annotated[_Texts, option("--keyword", "A keyword; repeatable.")] = None
    note_context: Annotated[_Text, option("--context", "One sentence on what it is about.")] = None
    importance: Annotated[float | None, option("--importance", "From 0 to 1.")] = None

    def given(self, **more: Any) -> dict[str, Any]:
        """Those that were given, and what else was."""
        named = {each.name.removeprefix("note_"): getattr(self, each.name) for each in fields(self)} | more
        named["keywords"] = named.pop("keyword")
        return {name: value for name, value in named.items() if value is not None}
