"""What does the reading: models and their costs, what waits for them, embeddings, and whether everything works."""

import sys
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from amem.cli.command import Drawing, Shown, Table, argument, command, option
from amem.cli.invocation import ExitCode, Invocation, ended_by_interrupt, progress, tell
from amem.cli.render import Page, print_table, say_row
from amem.clock import SystemClock, zone
from amem.errors import AmemError, CollectionNotFound
from amem.labels import counted, short_id
from amem.labels import size as sized

if TYPE_CHECKING:
    from collections.abc import Iterator

    from amem.note import Receipt
    from amem.settings import Settings
    from amem.storage.jobs import PurposeCost
    from amem.storage.store import Session


_SPENT = ("model", "calls", "tokens_in", "tokens_out")
models = typer.Typer(help="See which models are reachable, and fetch one.", invoke_without_command=True)


@models.callback()
@models.command("list")
@command()
def list_models(
    call: Invocation,
    cost: Annotated[bool, option("--cost", "Show what an add, a chat turn and a remember cost.")] = False,
) -> Shown:
    """Show who analyses notes and why, what Ollama has, and what was spent today."""
    return _costs(call) if cost else _surveyed(call)


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
    return Shown({"pulled": model, "size": size}, f"{model} is ready ({sized(size)})", told=told)


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
    from amem.analysts.models import day_of

    settings = call.settings()
    found = survey(settings)
    day = day_of(SystemClock().now(), zone(settings.timezone))
    with _stored(settings) as session:
        spent = [] if session is None else [each for each in session.spending.report(1) if each.day == day]
    tokens = sum(each.tokens_in + each.tokens_out for each in spent)
    data = found.to_dict(settings) | {
        "today": {
            "day": day,
            "tokens": tokens,
            "limit": settings.llm_daily_tokens,
            "models": [{name: getattr(each, name) for name in _SPENT} for each in spent],
        }
    }
    if not call.as_json:
        print_table(("about", "what"), told(found, settings, tokens))
    columns = ("model", "for", "size", "context", "in use")
    return Table(data, columns, map(_row, data["ollama"]["models"]), spare=("context", "size", "for"))


def _row(model: dict[str, Any]) -> tuple[str, ...]:
    context = f"{model['context']:,}" if model["context"] else ""
    use = "on the network" if model["remote"] else ", ".join(model["used_for"])
    return (model["name"], model["for"], sized(model["size"]), context, use)


@contextmanager
def _stored(settings: "Settings") -> "Iterator[Session | None]":
    """What the collection has on disk; None where nothing was ever added."""
    from amem.collection_folders import existing_folder
    from amem.storage.store import Store

    try:
        folder = existing_folder(settings.home, settings.collection)
    except CollectionNotFound:
        yield None
        return
    with closing(Store(folder, SystemClock())) as store, store.read() as session:
        yield session


# What waits for a model, and the index.


_ENRICHED = {"done": 0, "failed": 0, "remaining": 0, "errors": ()}


@command()
def enrich(
    call: Invocation,
    limit: Annotated[int | None, option("--limit -n", "At most this many notes.", min=1)] = None,
    upgrade: Annotated[
        bool, option("--upgrade", "Have a model redo what the built-in rules analysed; each can be undone.")
    ] = False,
) -> Shown:
    """Finish notes whose analysis waits or failed."""
    with call.browsed(empty=_ENRICHED, notify=True) as memory, progress("analysing") as bar:
        report = memory.enrich(limit, upgrade=upgrade, progress=bar)
    call.remarks += report.errors[:10]
    return Shown(
        {name: getattr(report, name) for name in _ENRICHED},
        f"finished {report.done}, failed {report.failed}, waiting {report.remaining}",
        code=ExitCode.FAILED if report.failed else ExitCode.OK,
    )


@command(json=False)
def work(
    call: Invocation,
    once: Annotated[bool, option("--once", "Stop when nothing waits.")] = False,
    poll: Annotated[float, option("--poll", "Seconds between two looks for more.", min=0.05)] = 1.0,
) -> None:
    """Do waiting work as it comes, until Ctrl-C: a line for each note. Any number of these may run."""
    with call.browsed(notify=True, chroma=True) as memory:
        if not once:
            tell("waiting for work; Ctrl-C ends it")
        ended = memory.parts.called_off
        with ended_by_interrupt(ended):
            memory.work(once=once, poll=poll, heard=_say_worked)
        if ended.is_set():
            tell("stopped; what was not done waits")
        if once and (waiting := memory.turns_waiting()):
            night = " until the day is over" if memory.settings.chat_learning == "night" else ""
            waits = f"{counted(waiting, 'turn')} of chats {'wait' if waiting > 1 else 'waits'}"
            tell(f"{waits} to be learnt from{night} (now with: {call.command('enrich')})")


def _say_worked(receipt: "Receipt") -> None:
    parts = ((receipt.links, "link"), (receipt.evolved, "rewrite"), (receipt.queued, "review"))
    done = ", ".join(counted(len(each), name) for each, name in parts if each)
    why = receipt.error or "; ".join(receipt.dropped)
    say_row(short_id(receipt.id), receipt.enrichment, receipt.analyst, done if receipt.enrichment == "done" else why)
    sys.stdout.flush()  # whoever reads along sees it now


@command()
def reindex(call: Invocation) -> Shown:
    """Embed every note again, as after a change of the embedding model."""
    with call.memory(notify=True) as memory, progress("embedding") as bar:
        done = memory.reindex(progress=bar)
        model = memory.model_name
    return Shown({"notes": done, "model": model}, f"embedded {counted(done, 'note')} with {model}")


@command()
def doctor(
    call: Invocation, repair: Annotated[bool, option("--repair", "Repair what can be repaired.")] = False
) -> Shown:
    """Check that the database, the index and the models work, and repair them (amem health checks the notes)."""
    from amem.maintenance.doctor import Finding

    try:
        with call.browsed(chroma=repair) as memory:
            findings = memory.doctor(repair=repair)
    except CollectionNotFound:
        raise
    except AmemError as error:
        findings = [Finding("error", "collection", str(error), error.hint)]

    def draw(page: Page) -> None:
        for each in findings:
            mark = {"ok": ("✓ ", "green"), "warning": ("! ", "yellow")}.get(each.level, ("✗ ", "red"))
            hint = f" ({each.hint})" if each.hint else ""
            page.write(mark, (f"{each.about}: ", "bold"), each.what, (hint, "dim"), hanging=2)

    rows = [(each.level, each.about, each.what, each.hint) for each in findings]
    failed = any(each.level == "error" for each in findings)
    return Drawing(findings, rows, draw, code=ExitCode.FAILED if failed else ExitCode.OK)
