"""``amem models``: who analyses notes, what Ollama has, and fetching a model into it."""

from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from amem.cli.invocation import invocation, progress, tell
from amem.cli.options import Json
from amem.cli.render import print_json, print_table, say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from amem.analysts.choose import Survey
    from amem.settings import Settings
    from amem.storage.costs import DaySpent, PurposeCost
    from amem.storage.store import Session


models = typer.Typer(help="See which models are reachable, and fetch one.", invoke_without_command=True)


@models.callback()
def reachable(
    context: typer.Context,
    as_json: Json = False,
    cost: Annotated[bool, typer.Option("--cost", help="Show what an add, a chat turn and a remember cost.")] = False,
) -> None:
    """Who analyses notes and why, what Ollama has, and what was spent today."""
    if context.invoked_subcommand is None:
        if cost:
            return show_costs(context, as_json)
        list_models(context, as_json)


def show_costs(context: typer.Context, as_json: bool) -> None:
    """Calls and tokens of one add, chat answer, learning, remember or run of merging, as this collection has them."""
    with _stored(invocation(context).settings()) as session:
        found = [] if session is None else session.costs.report()
    if as_json:
        return print_json(found)
    if not found:
        return tell("no model was asked anything in this collection yet")
    columns = ("for one", "times", "calls", "most", "tokens in", "tokens out")
    print_table(columns, [_cost_row(each) for each in found])


def _cost_row(cost: "PurposeCost") -> tuple[str, ...]:
    calls, read, written = (part / cost.times for part in (cost.calls, cost.tokens_in, cost.tokens_out))
    return (cost.purpose, f"{cost.times:,}", f"{calls:.2f}", str(cost.most_calls), f"{read:,.0f}", f"{written:,.0f}")


@models.command("list")
def list_models(context: typer.Context, as_json: Json = False) -> None:
    """Who analyses notes and why, what Ollama has, and what was spent today."""
    from amem.analysts.choose import survey, told

    settings = invocation(context).settings()
    found = survey(settings)
    day, spent = _spent_today(settings)
    rows = _served(found, settings)
    if as_json:
        return print_json(_shape(settings, found, day, spent, rows))
    print_table(("about", "what"), told(found, settings, _tokens(spent)))
    if rows:
        columns = ("model", "for", "size", "context", "in use")
        print_table(columns, [_row(each) for each in rows], spare=("context", "size", "for"))


@models.command()
def pull(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A model of Ollama's, such as llama3.2.")],
    as_json: Json = False,
) -> None:
    """Have Ollama fetch a model. Stopped with Ctrl-C, it goes on where it stopped when it is run again."""
    from amem.analysts.choose import choose
    from amem.llm.model_names import ollama_name
    from amem.llm.ollama_models import pull as fetch

    call = invocation(context)
    settings = call.settings()
    model = ollama_name(name)
    size = 0
    try:
        with closing(fetch(settings.ollama_host, model)) as steps, progress(model, in_bytes=True) as bar:
            for step in steps:
                # While a layer is fetched the bar says how far; what comes before and after has no bytes to count.
                fetching = step.total and step.status.startswith("pulling ")
                bar(step.done, step.total or None, model if fetching else f"{model}: {step.status}")
                size = max(size, step.total)
    except KeyboardInterrupt:
        tell(f"stopped; {call.command('models', 'pull', model)} goes on where it stopped")
        raise
    if as_json:
        return print_json({"pulled": model, "size": size})
    say(f"{model} is ready ({_size(size)})")
    tell(choose(settings).reason)


def _shape(
    settings: "Settings", found: "Survey", day: str, spent: "list[DaySpent]", rows: list[dict[str, Any]]
) -> dict[str, Any]:
    today = {"day": day, "tokens": _tokens(spent), "limit": settings.llm_daily_tokens}
    by_model = [
        {"model": each.model, "calls": each.calls, "tokens_in": each.tokens_in, "tokens_out": each.tokens_out}
        for each in spent
    ]
    return {
        "backend": settings.llm_backend,
        "model": found.analyst,
        "reason": found.reason,
        "problem": found.problem,
        "hint": found.hint,
        "ollama": {"host": found.host, "reachable": found.served is not None, "models": rows},
        "api_key": settings.api_key is not None,
        "api_base": settings.api_base,
        "today": {**today, "models": by_model},
    }


def _row(model: dict[str, Any]) -> tuple[str, ...]:
    context = f"{model['context']:,}" if model["context"] else ""
    use = "on the network" if model["remote"] else ", ".join(model["used_for"])
    return (model["name"], model["for"], _size(model["size"]), context, use)


def _tokens(spent: "list[DaySpent]") -> int:
    return sum(each.tokens_in + each.tokens_out for each in spent)


def _served(found: "Survey", settings: "Settings") -> list[dict[str, Any]]:
    from amem.analysts.choose import SURVEY_SECONDS
    from amem.llm.ollama_models import window

    using = {"notes": found.model, "embedding": settings.embed_model}
    return [
        {
            "name": each.name,
            "for": "chat" if each.chats else "embed",
            "size": each.size,
            "context": window(found.host, each.name, SURVEY_SECONDS),
            "remote": each.remote,
            "used_for": [
                use
                for use, model in using.items()
                if model.startswith("ollama/") and each.called(model.removeprefix("ollama/"))
            ],
        }
        for each in found.served or ()
    ]


def _spent_today(settings: "Settings") -> "tuple[str, list[DaySpent]]":
    from amem.clock import SystemClock, zone
    from amem.ledger import day_of

    day = day_of(SystemClock().now(), zone(settings.timezone))
    with _stored(settings) as session:
        return day, [] if session is None else [each for each in session.spending.report(1) if each.day == day]


@contextmanager
def _stored(settings: "Settings") -> "Iterator[Session | None]":
    """What the collection has on disk; None where nothing was ever added."""
    from amem.clock import SystemClock
    from amem.collection import existing_folder
    from amem.errors import CollectionNotFound
    from amem.storage.store import Store

    try:
        folder = existing_folder(settings.home, settings.collection)
    except CollectionNotFound:
        yield None
        return
    with closing(Store(folder, SystemClock())) as store, store.read() as session:
        yield session


def _size(size: int) -> str:
    from rich.filesize import decimal

    return decimal(size) if size else ""
