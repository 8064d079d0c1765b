"""Notes in and out: imports, exports, pictures of the graph, and a folder of Markdown files kept in step."""

import sys
import tempfile
from collections import Counter
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Annotated, Any

import typer

from amem.cli.command import DryRun, Force, Shown, Where, argument, command, option
from amem.cli.invocation import ExitCode, Invocation, ended_by_interrupt, progress, some, tell
from amem.cli.render import json_line, on_terminal, say
from amem.clock import zone
from amem.errors import CollectionNotFound, InvalidInput
from amem.labels import counted, escaped_json, short_id

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from amem.interop.formats import Format
    from amem.interop.items import Read
    from amem.memory_system import AgenticMemorySystem
    from amem.settings import Settings
    from amem.vault.state import Step, SyncReport


#: So many problems are named, and so many steps of a sync.
_NAMED, _STEPS = 10, 20
#: So many files are named on one line.
_FEW = 3
#: Bytes that are read from standard input: it is kept on disk whole, and may have no end.
_MOST_PIPED = 4 << 30
_TO_REPLACE = "give --force to replace it"
_FORMATS = (
    "markdown, text, jsonl, locomo, messages, claude-code, codex, chatgpt, claude, mcp-memory, mem0, letta; "
    "default: by its shape."
)


@command()
def import_notes(
    call: Invocation,
    path: Annotated[str | None, argument("PATH", "A file or folder; - is standard input.")] = None,
    format: Annotated[str | None, option("--format -f", _FORMATS)] = None,
    from_chroma: Annotated[
        Path | None, option("--from-chroma", "The Chroma folder of A-Mem instead.", metavar="DIR")
    ] = None,
) -> Shown:
    """Import a Markdown folder, a text or JSONL file, or conversations; twice adds nothing twice.

    Conversations are LoCoMo files, session files of Claude Code and Codex (or a folder of them, with --format), what
    ChatGPT and Claude export, and JSON or JSONL with a role and a content for each message. Other programs' memories
    are memory.json of the MCP memory server, mem0's JSON, Letta's agent files, and with --from-chroma the Chroma folder
    of A-Mem.
    """
    from amem.interop.importing import Importer
    from amem.interop.transcripts import session_files

    settings, shape = call.settings(), _format(format)
    if (path is None) is (from_chroma is None) or (from_chroma is not None and shape is not None):
        raise typer.BadParameter("name a PATH, or --from-chroma DIR alone")
    path = str(from_chroma) if path is None else path
    if path != "-" and not from_chroma and (sessions := session_files(Path(path), shape)):
        return _sessions(call, settings, sessions)
    items = _chroma(from_chroma, settings) if from_chroma else _items(path, settings, shape)
    # What cannot be read at all makes no collection.
    first = next(items, None)
    items = items if first is None else chain([first], items)
    with call.memory(create=True, notify=True, settings=settings) as memory, progress("importing") as bar:
        if path != "-" and (vault := memory.vault(path).kept_folder()) is not None:
            raise InvalidInput(
                f"{path} holds files that amem wrote of its notes; a sync takes in what changed in them",
                hint=call.command("vault", "sync", str(vault)),
            )
        importer = Importer(memory, cause=f"import of {'standard input' if path == '-' else path}", progress=bar)
        try:
            report = importer.run(items)
        except BaseException:
            _tell_stopped(importer.done, "note", "which are stored; ")
            raise
    told = some([f"skipped {each.where}: {each.why}" for each in report.problems()], _NAMED, total=report.refused)
    told += some([f"left {kept.file} (note {kept.note[:8]}): {kept.why}" for kept in report.kept], _NAMED)
    return _taken_in(call, report, report.summary(), told, report.refused)


def _sessions(call: Invocation, settings: "Settings", files: "list[tuple[Path, Format]]") -> Shown:
    from amem.interop.transcripts import SessionReport, remember_sessions

    report = SessionReport()
    with call.memory(create=True, notify=True, settings=settings) as memory, progress("remembering") as bar:
        try:
            remember_sessions(memory, files, progress=bar, report=report)
        except BaseException:
            _tell_stopped(report.messages if report.operations else 0, "message")
            raise
    told = some([f"skipped {each.where}: {each.why}" for each in report.refused], _NAMED)
    return _taken_in(call, report, report.summary(), told, len(report.refused))


def _tell_stopped(number: int, what: str, more: str = "") -> None:
    if number:
        tell(f"stopped after {counted(number, what)}{', ' if more else '; '}{more}the same import goes on from there")


def _taken_in(call: Invocation, report: Any, line: str, told: list[str], refused: int) -> Shown:
    told += call.undoing(*report.operations)
    return Shown(report, line, told=told, code=ExitCode.FAILED if refused else ExitCode.OK)


def _format(name: str | None) -> "Format | None":
    from amem.interop.formats import Format

    try:
        return None if name is None else Format(name.lower())
    except ValueError:
        raise InvalidInput(f"there is no format {name!r}", hint=f"the formats are {', '.join(Format)}") from None


def _items(path: str, settings: "Settings", format: "Format | None") -> "Iterator[Read]":
    from amem.interop.reader import read_path, read_stream

    if path != "-":
        yield from read_path(Path(path), settings, format)
        return
    # Kept aside whole, so that its format and encoding are known before the first note is stored.
    with tempfile.SpooledTemporaryFile(max_size=16 << 20) as kept:
        for block in iter(partial(sys.stdin.buffer.read, 1 << 20), b""):
            kept.write(block)
            if kept.tell() > _MOST_PIPED:
                too_long = f"standard input goes on past {_MOST_PIPED >> 30} GB"
                raise InvalidInput(too_long, hint="import it from files, piece by piece")
        kept.seek(0)
        yield from read_stream(kept, settings, format)  # type: ignore[arg-type]  # a spooled file reads as bytes


def _chroma(folder: Path, settings: "Settings") -> "Iterator[Read]":
    from amem.interop.items import split_long
    from amem.interop.other_memories import read_chroma

    return split_long(read_chroma(folder, zone(settings.timezone)), settings.max_note_chars)


@command("status", "superseded", "everything", "as_of", "known_at")
def export(
    call: Invocation,
    where: Where,
    path: Annotated[Path | None, argument("", "File to write; default: standard output.", show_default=True)] = None,
    active: Annotated[bool, option("--active", "Leave out superseded and archived notes.")] = False,
    versions: Annotated[bool, option("--versions", "Every note's history too.")] = False,
    markdown: Annotated[
        bool, option("--markdown", "A folder of Markdown files instead, one for each active note.")
    ] = False,
    force: Force = False,
) -> Shown | None:
    """Write notes as JSON Lines, with links, reasons and sources, as import reads them back; or as Markdown files."""
    from amem.interop.exporting import exported, refuse_existing, write_lines

    if markdown:
        return _export_folder(call, where, path, force=force)
    if path is not None:
        refuse_existing(path, replace=force, hint=_TO_REPLACE)
    # A file that was asked for and is not written is a failure.
    with replace(call, as_json=False).browsed() if path is None else call.memory() as memory:
        wanted = replace(where, everything=not active).filter(memory.settings.timezone)
        lines = (json_line(record) for record in exported(memory, wanted, versions=versions))
        if path is None or str(path) == "-":
            for line in lines:
                say(line)
            return None
        number = write_lines(path, lines)
    return Shown({"exported": number, "path": str(path)}, told=[f"wrote {counted(number, 'note')} to {path}"])


def _export_folder(call: Invocation, where: Where, folder: Path | None, *, force: bool) -> Shown:
    if folder is None or str(folder) == "-":
        raise InvalidInput("no folder was named", hint="amem export --markdown DIR")
    with call.memory() as memory:
        report = memory.vault(folder).export(where.filter(memory.settings.timezone), force=force)
    parts = [f"wrote {counted(report.written, 'file')} to {folder}"]
    parts += [f"{report.unchanged:,} as before"] if report.unchanged else []
    parts += [f"removed {report.removed:,}"] if report.removed else []
    told = [", ".join(parts), *some([f"left alone: {path}: {why}" for path, why in report.problems], _NAMED)]
    return Shown(report, told=told, code=ExitCode.FAILED if report.problems else ExitCode.OK)


# ``amem graph``: the note graph as a page, a picture, or a file for other programs.


def _file(name: str, help: str) -> Any:
    return option(name, help, metavar="FILE", show_default=False)


@command("known_at")
def graph(
    call: Invocation,
    where: Where,
    id: Annotated[
        str | None, argument("ID", "The note in the middle; default: the whole collection.", show_default=True)
    ] = None,
    html: Annotated[Path | None, _file("--html", "A page that opens offline in any browser.")] = None,
    svg: Annotated[Path | None, _file("--svg", "A picture.")] = None,
    graphml: Annotated[Path | None, _file("--graphml", "For Gephi, yEd or Cytoscape.")] = None,
    dot: Annotated[Path | None, _file("--dot", "For Graphviz.")] = None,
    hops: Annotated[int, option("", "With ID: how many links away.", min=0)] = 2,
    limit: Annotated[int, option("--limit -n", "At most so many notes.", min=1)] = 500,
    force: Annotated[bool, option("--force", "Replace files that are there.")] = False,
) -> None:
    """Write the graph of notes and links to files (- is standard output); --json prints it."""
    from amem.interop.exporting import refuse_existing, write_lines
    from amem.interop.graph import read_graph
    from amem.interop.graph_formats import WRITERS, heading
    from amem.interop.graph_formats import html as page

    files = {"html": html, "svg": svg, "graphml": graphml, "dot": dot}
    wanted = {name: path for name, path in files.items() if path is not None}
    if not wanted and not call.as_json:
        raise InvalidInput("say what to write", hint="such as amem graph --html notes.html")
    for path in wanted.values():
        if str(path) != "-":
            refuse_existing(path, replace=force, hint=_TO_REPLACE)
    with call.memory() if wanted else call.browsed(empty={}) as memory:
        about = None if id is None else memory.resolve(id)
        chosen = where.filter(memory.settings.timezone) if where != Where() else None
        found = read_graph(memory, about, hops=hops, limit=limit, filter=chosen)
        title = heading(found, memory.settings.collection, where.words())
    for name, path in wanted.items():
        text = (page(found, title) if name == "html" else WRITERS[name](found)).rstrip("\n")
        if str(path) == "-":
            say(text)
        else:
            write_lines(path, [text])
            tell(f"wrote {counted(len(found.nodes), 'note')} and {counted(len(found.edges), 'link')} to {path}")
    if call.as_json:
        say(escaped_json(WRITERS["json"](found).rstrip("\n")))
    if found.left_out:
        tell(f"{counted(found.left_out, 'more note')} left out; --limit takes more")


# ``amem vault``: a folder of Markdown files, such as an Obsidian vault, kept in step with the notes.


Folder = Annotated[Path, argument("DIR", "The folder; made where there is none.", show_default=True)]

vault = typer.Typer(help="Keep a folder of Markdown files and the notes in step, both ways.", no_args_is_help=True)


@vault.command()
@command()
def sync(
    call: Invocation,
    folder: Folder,
    dry_run: DryRun = False,
) -> Shown:
    """Bring files and notes into step: what was changed on either side goes to the other."""
    opened = _untouched(call) if dry_run else call.memory(create=True, notify=True)
    with opened as memory, progress("writing files") as bar:
        report = memory.vault(folder).sync(dry_run=dry_run, progress=bar)
    return _synced(call, report)


@vault.command()
@command()
def status(call: Invocation, folder: Folder) -> Shown:
    """Say what a sync would do, which conflicts wait, and which files cannot be used."""
    with _untouched(call) as memory:
        return _synced(call, memory.vault(folder).sync(dry_run=True))


@contextmanager
def _untouched(call: Invocation) -> "Iterator[AgenticMemorySystem]":
    """The collection, to say what a sync would do; where nothing was ever added, an empty one that is gone again."""
    with ExitStack() as stack:
        try:
            memory = stack.enter_context(call.memory())
        except CollectionNotFound:
            settings = call.settings()
            if call.is_mistaken(settings):
                raise
            home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="amem-")))
            settings = settings.model_copy(update={"home": home})
            memory = stack.enter_context(call.memory(settings=settings, create=True))
        yield memory


@vault.command()
@command()
def watch(
    call: Invocation,
    folder: Folder,
    once: Annotated[bool, option("--once", "End after the first sync that had something to do.")] = False,
) -> None:
    """Sync whenever a file or a note changes, until Ctrl-C."""
    from amem.vault.watch import watch as watching

    def heard(report: "SyncReport") -> bool:
        if call.as_json or not report.is_quiet or report.problems:
            _synced(call, report, ExitCode.OK).show(call)
        return once and not report.is_quiet

    with call.memory(create=True, notify=True) as memory:
        tell(f"watching {folder} (Ctrl-C ends)")
        with ended_by_interrupt(stop := Event()):
            watching(memory.vault(folder), memory.pulse, heard, stop=stop)


def _synced(call: Invocation, report: "SyncReport", code: int | None = None) -> Shown:
    code = (ExitCode.FAILED if report.problems else ExitCode.OK) if code is None else code
    told: list[str] = []
    if report.is_quiet:
        match = "matches its file" if report.matching == 1 else "match their files"
        lines = [f"Nothing to do: {counted(report.matching, 'note')} {match}"]
    else:
        would = "would " if report.dry_run else ""
        lines = [
            *_steps(f"{would}change in amem", report.to_notes),
            *_steps(f"{would}change in the folder", report.to_files),
            *(f"conflict: {step.path}: {step.more}" for step in report.conflicts),
        ]
        told += [f"{counted(report.matching, 'note')} matched before"] * bool(report.matching and on_terminal())
    if (gone := report.in_trash) and not report.dry_run:
        back = call.command("restore", *(short_id(step.note) for step in gone[:_STEPS]))
        told.append(f"bring {'it' if len(gone) == 1 else 'them'} back, and with the next sync the files, with: {back}")
    told += some([f"{step.path}: {step.more}" for step in report.remarks], _STEPS)
    if report.empty:
        wait = "waits until it has some" if len(report.empty) == 1 else "wait until they have some"
        names = ", ".join(report.empty[:_FEW]) + (", ..." if len(report.empty) > _FEW else "")
        told.append(f"{counted(len(report.empty), 'file')} without text {wait}: {names}")
    told += some([f"left alone: {step.path}: {step.more}" for step in report.problems], _STEPS)
    if report.waiting:
        waits = counted(len(report.waiting), "conflict waits", "conflicts wait")
        told += [f"{waits} to be settled: take from the file what", "you want into the note's own, then delete it:"]
        told += some([f"  {path}" for path in report.waiting], _STEPS)
    return Shown(report, *lines, told=told + call.undoing(report.operation), code=code)


def _steps(title: str, steps: "Sequence[Step]") -> list[str]:
    if not steps:
        return []
    said = ", ".join(f"{number:,} {what}" for what, number in Counter(step.what for step in steps).items())
    lines = [f"  {step.what:<9} {step.path}" + (f" ({step.more})" if step.more else "") for step in steps]
    return [f"{title}: {said}", *some(lines, _STEPS, "more (--json names them)")]
