"""``amem demo``: a year of an invented person's notes, written, linked, evolved and asked about before your eyes."""

import shutil
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from amem.cli.invocation import Invocation, invocation, program, progress, tell
from amem.cli.options import Json
from amem.cli.render import count, print_json, short_id

if TYPE_CHECKING:
    from amem.interop.importing import ImportReport
    from amem.memory_system import AgenticMemorySystem
    from amem.receipt import Receipt
    from amem.settings import Settings

CAUSE = "amem demo"
_COLLECTION = "demo"
#: Says that the folder beside it was made by the demo, which may therefore start it afresh.
_MARK = ".made-by-amem-demo"
_HITS = 3


def demo(
    context: typer.Context,
    fresh: Annotated[bool, typer.Option("--fresh", help="Start over even if you added notes of your own.")] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Then the rest: samples of analysis, links and rewrites, five questions.")
    ] = False,
    language: Annotated[
        str | None,
        typer.Option(help="en or zh: the story's language; default that of your locale.", show_default=False),
    ] = None,
    as_json: Json = False,
) -> None:
    """Watch a year of somebody's notes become a linked collection, and ask it five questions."""
    if language not in (None, "en", "zh"):
        raise typer.BadParameter("--language is en or zh")
    call = invocation(context)
    if call.collection is None:
        call.collection = _COLLECTION
    settings = call.settings()
    if settings.llm_backend == "auto":
        # Quick, and the same for everybody; name a backend in the settings to see a model do it.
        settings = settings.model_copy(update={"llm_backend": "offline"})
    folder = _clear(call, settings, fresh=fresh)
    started = perf_counter()
    receipts: list[Receipt] = []
    with call.memory(create=True, settings=settings, chroma=True) as memory:
        (folder / _MARK).touch(mode=0o600)
        report = _load(memory, settings, receipts)
        seconds = perf_counter() - started
        if as_json:
            print_json(_record(memory, report, seconds))
        else:
            _tell_story(call, memory, receipts, report, seconds, language=language, everything=everything)
        memory.feed_chroma()


def _clear(call: Invocation, settings: "Settings", *, fresh: bool) -> Path:
    """The demo's folder, emptied if the demo made it. Raises InvalidInput when it holds somebody's notes."""
    from amem.collection import folder_of
    from amem.errors import InvalidInput

    folder = folder_of(settings.home, settings.collection)
    if not folder.exists():
        return folder
    other = f"amem --collection {settings.collection}-2 demo"
    if not (folder / _MARK).is_file() or folder.is_symlink():
        raise InvalidInput(f"the collection {settings.collection!r} was not made by the demo", hint=f"try {other}")
    if not fresh:
        with call.memory(settings=settings) as memory:
            own = [
                each for each in memory.log(limit=10_000) if each.action in ("add", "import") and each.cause != CAUSE
            ]
        if own:
            raise InvalidInput(
                f"the collection {settings.collection!r} holds notes that were added since the last demo",
                hint=f"give --fresh to lose them, or try {other}",
            )
    shutil.rmtree(folder)
    return folder


def _load(memory: "AgenticMemorySystem", settings: "Settings", receipts: "list[Receipt]") -> "ImportReport":
    from amem.interop.demo_data import demo_folder
    from amem.interop.formats import Format
    from amem.interop.importing import Importer
    from amem.interop.reader import read_path

    items = read_path(demo_folder() / "year.jsonl", settings, Format.JSONL)
    with progress("reading a year of notes") as bar:
        return Importer(memory, cause=CAUSE, progress=bar, on_receipt=receipts.append).run(items)


def _record(memory: "AgenticMemorySystem", report: "ImportReport", seconds: float) -> dict[str, Any]:
    from amem.interop.demo_data import demo_questions

    answers = [
        {
            "question": each.question,
            "good_answer": each.good_answer,
            "hits": [hit.to_dict() for hit in memory.search_agentic(each.question, _HITS, touch=False)],
        }
        for each in demo_questions()
    ]
    where = {"collection": memory.settings.collection, "path": str(memory.folder)}
    return where | report.to_dict() | {"seconds": round(seconds, 2), "questions": answers}


def _tell_story(
    call: Invocation,
    memory: "AgenticMemorySystem",
    receipts: "list[Receipt]",
    report: "ImportReport",
    seconds: float,
    *,
    language: str | None,
    everything: bool,
) -> None:
    from amem.cli.story import DemoStory, language_of_reader

    told = DemoStory(memory, language_of_reader(language), call.command)
    by = next((receipt.analyst for receipt in receipts if receipt.stored), "")
    told.tell(seconds=seconds, folder=str(memory.folder), by=by, links=report.links, changes=report.evolved)
    if everything:
        _tell_rest(call, memory, receipts, report, seconds)
    told.closing(more="" if everything else call.command("demo", "--all"))
    if report.refused:
        tell(f"{count(report.refused, 'line')} could not be read")


def _tell_rest(
    call: Invocation, memory: "AgenticMemorySystem", receipts: "list[Receipt]", report: "ImportReport", seconds: float
) -> None:
    from amem.cli.story import Story
    from amem.interop.demo_data import demo_questions

    story = Story(memory, receipts)
    story.opening(seconds)
    story.analysis()
    story.links()
    story.evolution()
    story.summary(report)
    for each in demo_questions():
        story.answer(each, _HITS)
    story.closing(
        [
            (call.command("search", "who is Inês?"), "ask something else"),
            (call.command("why", "why did I leave Kestrel Freight?"), "see how every answer earned its place"),
            (call.command("log", "--since", "today"), "see what was written, linked and rewritten; undo any of it"),
            (call.command("show", _best_linked(receipts)), "see one note with its links"),
            (f'{program()} add "{_FIRST}"', "begin your own memory"),
        ]
    )


def _best_linked(receipts: "list[Receipt]") -> str:
    return short_id(max(receipts, key=lambda receipt: len(receipt.links)).id)


_FIRST = "The bakery on the corner is closed on Mondays"
