"""``amem models``: who analyses notes, what Ollama has, what was spent, and fetching a model."""

from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from amem.cli.command import Shown, Table, command
from amem.cli.invocation import Invocation, progress, tell
from amem.cli.options import argument, option
from amem.cli.render import print_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from amem.analysts.choose import Survey
    from amem.settings import Settings
    from amem.storage.costs import PurposeCost
    from amem.storage.store import Session


models = typer.Typer(help="See which models are reachable, and fetch one.", invoke_without_command=True)


@models.callback()
@command()
def reachable(
    call: Invocation,
    cost: Annotated[bool, option("--cost", "Show what an add, a chat turn and a remember cost.")] = False,
) -> Shown:
    """Who analyses notes and why, what Ollama has, and what was spent today."""
    return _costs(call) if cost else _surveyed(call)


@models.command("list")
@command()
def list_models(call: Invocation) -> Shown:
    """Who analyses notes and why, what Ollama has, and what was spent today."""
    return _surveyed(call)


@models.command()
@command()
def pull(
    call: Invocation,
    name: Annotated[str, argument("NAME", "A model of Ollama's, such as llama3.2.", show_default=True)],
) -> Shown:
    """Have Ollama fetch a model. Stopped with Ctrl-C, it goes on where it stopped when it is run again."""
    from amem.analysts.choose import choose
    from amem.llm.model_names import ollama_name
    from amem.llm.ollama_models import pull as fetch

    settings, model, size = call.settings(), ollama_name(name), 0
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
    told = [] if call.as_json else [choose(settings).reason]
    return Shown({"pulled": model, "size": size}, f"{model} is ready ({_size(size)})", told=told)


def _costs(call: Invocation) -> Shown:
    """Calls and tokens of one add, chat answer, learning, remember or run of merging, as this collection has them."""
    with _stored(call.settings()) as session:
        found = [] if session is None else session.costs.report()
    columns = ("for one", "times", "calls", "most", "tokens in", "tokens out")
    told = [] if found else ["no model was asked anything in this collection yet"]
    return Table(found, columns, map(_cost_row, found), told=told)


def _cost_row(cost: "PurposeCost") -> tuple[str, ...]:
    calls, read, written = (part / cost.times for part in (cost.calls, cost.tokens_in, cost.tokens_out))
    return (cost.purpose, f"{cost.times:,}", f"{calls:.2f}", str(cost.most_calls), f"{read:,.0f}", f"{written:,.0f}")


def _surveyed(call: Invocation) -> Shown:
    from amem.analysts.choose import survey, told
    from amem.clock import SystemClock, zone
    from amem.ledger import day_of

    settings = call.settings()
    found = survey(settings)
    day = day_of(SystemClock().now(), zone(settings.timezone))
    with _stored(settings) as session:
        spent = [] if session is None else [each for each in session.spending.report(1) if each.day == day]
    tokens = sum(each.tokens_in + each.tokens_out for each in spent)
    rows = _served(found, settings)
    by_model = [{name: getattr(each, name) for name in ("model", "calls", "tokens_in", "tokens_out")} for each in spent]
    data = {
        "backend": settings.llm_backend,
        "model": found.analyst,
        "reason": found.reason,
        "problem": found.problem,
        "hint": found.hint,
        "ollama": {"host": found.host, "reachable": found.served is not None, "models": rows},
        "api_key": settings.api_key is not None,
        "api_base": settings.api_base,
        "today": {"day": day, "tokens": tokens, "limit": settings.llm_daily_tokens, "models": by_model},
    }
    if not call.as_json:
        print_table(("about", "what"), told(found, settings, tokens))
    columns = ("model", "for", "size", "context", "in use")
    return Table(data, columns, map(_row, rows), spare=("context", "size", "for"))


def _row(model: dict[str, Any]) -> tuple[str, ...]:
    context = f"{model['context']:,}" if model["context"] else ""
    use = "on the network" if model["remote"] else ", ".join(model["used_for"])
    return (model["name"], model["for"], _size(model["size"]), context, use)


def _served(found: "Survey", settings: "Settings") -> list[dict[str, Any]]:
    from amem.analysts.choose import SURVEY_SECONDS
    from amem.llm.ollama_models import window

    using = {"notes": found.model, "embedding": settings.embed_model}
    ours = {use: model.removeprefix("ollama/") for use, model in using.items() if model.startswith("ollama/")}
    return [
        {
            "name": each.name,
            "for": "chat" if each.chats else "embed",
            "size": each.size,
            "context": window(found.host, each.name, SURVEY_SECONDS),
            "remote": each.remote,
            "used_for": [use for use, model in ours.items() if each.called(model)],
        }
        for each in found.served or ()
    ]


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
