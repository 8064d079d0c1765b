"""``amem import``, ``amem export`` and ``amem graph``: notes in and out."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from amem.cli.exits import ExitCode
from amem.cli.invocation import invocation, progress, tell, tell_some
from amem.cli.options import Json, Where, spreading
from amem.cli.render import count, json_line, print_json, say
from amem.visible import escaped_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from amem.cli.invocation import Invocation
    from amem.interop.formats import Format
    from amem.interop.importing import Importer, ImportReport
    from amem.interop.items import Read
    from amem.settings import Settings


_NAMED = 10
#: Bytes that are read from standard input: it is kept on disk whole, and may have no end.
_MOST_PIPED = 4 << 30


def import_notes(
    context: typer.Context,
    path: Annotated[
        str | None, typer.Argument(metavar="PATH", help="A file or folder; - is standard input.", show_default=False)
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            "-f",
            help="markdown, text, jsonl, locomo, messages, claude-code, codex, chatgpt, claude, mcp-memory, mem0; "
            "default: by its shape.",
        ),
    ] = None,
    from_chroma: Annotated[
        Path | None, typer.Option("--from-chroma", metavar="DIR", help="The Chroma folder of A-Mem instead.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Import a Markdown folder, a text or JSONL file, or conversations; twice adds nothing twice.

    Conversations are LoCoMo files, session files of Claude Code and Codex (or a folder of them, with --format), what
    ChatGPT and Claude export, and JSON or JSONL with a role and a content for each message. Other programs' memories
    are memory.json of the MCP memory server, mem0's JSON, and with --from-chroma the Chroma folder of A-Mem.
    """
    from amem.errors import InvalidInput
    from amem.interop.importing import Importer
    from amem.interop.transcripts import session_files

    call = invocation(context)
    settings = call.settings()
    shape = _format(format)
    if (path is None) is (from_chroma is None) or (from_chroma is not None and shape is not None):
        raise typer.BadParameter("name a PATH, or --from-chroma DIR alone")
    path = str(from_chroma) if path is None else path
    sessions = [] if path == "-" or from_chroma else session_files(Path(path), shape)
    if sessions:
        return _import_sessions(call, settings, sessions, as_json)
    items = _first_read(_chroma(from_chroma, settings) if from_chroma else _items(path, settings, shape))
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
            _say_stopped(importer)
            raise
    if as_json:
        print_json(report)
    else:
        say(_summary(report))
        tell_some([f"skipped {each.where}: {each.why}" for each in report.problems()], _NAMED, total=report.refused)
        tell_some([f"left {kept.file} (note {kept.note[:8]}): {kept.why}" for kept in report.kept], _NAMED)
        _tell_undo(call, report.operations)
    if report.refused:
        raise typer.Exit(ExitCode.FAILED)


@spreading("status", "superseded", "everything", "as_of", "known_at")
def export(
    context: typer.Context,
    where: Where,
    path: Annotated[Path | None, typer.Argument(help="File to write; default: standard output.")] = None,
    active: Annotated[bool, typer.Option("--active", help="Leave out superseded and archived notes.")] = False,
    versions: Annotated[bool, typer.Option("--versions", help="Every note's history too.")] = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="A folder of Markdown files instead, one for each active note.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    as_json: Json = False,
) -> None:
    """Write notes as JSON Lines, with links, reasons and sources, as import reads them back; or as Markdown files."""
    from amem.errors import InvalidInput
    from amem.interop.exporting import exported, write_lines

    if markdown:
        return _export_folder(context, where, path, force=force, as_json=as_json)
    if path is not None and path.exists() and not force:
        raise InvalidInput(f"{path} is there already", hint="give --force to replace it")
    call = invocation(context)
    # A file that was asked for and is not written is a failure.
    with call.browsed() if path is None else call.memory() as memory:
        wanted = replace(where, everything=not active).filter(memory.settings.timezone)
        lines = (json_line(record) for record in exported(memory, wanted, versions=versions))
        if path is None or str(path) == "-":
            for line in lines:
                say(line)
            return
        number = write_lines(path, lines)
    if as_json:
        print_json({"exported": number, "path": str(path)})
    else:
        tell(f"wrote {count(number, 'note')} to {path}")


def _export_folder(context: typer.Context, where: Where, folder: Path | None, *, force: bool, as_json: bool) -> None:
    from amem.errors import InvalidInput

    if folder is None or str(folder) == "-":
        raise InvalidInput("no folder was named", hint="amem export --markdown DIR")
    with invocation(context).memory() as memory:
        report = memory.vault(folder).export(where.filter(memory.settings.timezone), force=force)
    if as_json:
        print_json(report)
    else:
        parts = [f"wrote {count(report.written, 'file')} to {folder}"]
        parts += [f"{report.unchanged:,} as before"] if report.unchanged else []
        parts += [f"removed {report.removed:,}"] if report.removed else []
        tell(", ".join(parts))
        tell_some([f"left alone: {path}: {why}" for path, why in report.problems], _NAMED)
    if report.problems:
        raise typer.Exit(ExitCode.FAILED)


def _import_sessions(
    call: "Invocation", settings: "Settings", files: "list[tuple[Path, Format]]", as_json: bool
) -> None:
    from amem.interop.transcripts import SessionReport, remember_sessions

    report = SessionReport()
    with call.memory(create=True, notify=True, settings=settings) as memory, progress("remembering") as bar:
        try:
            remember_sessions(memory, files, progress=bar, report=report)
        except BaseException:
            if report.operations:
                tell(f"stopped after {count(report.messages, 'message')}; the same import goes on from there")
            raise
    if as_json:
        print_json(report)
    else:
        parts = [
            f"learnt {count(report.learnt, 'note')} from {count(report.messages, 'message')}",
            count(report.episodes, "episode"),
            *([f"{report.known:,} known already"] if report.known else []),
            *([f"skipped {len(report.refused):,}"] if len(report.refused) else []),
        ]
        say(", ".join(parts))
        tell_some([f"skipped {each.where}: {each.why}" for each in report.refused], _NAMED)
        _tell_undo(call, report.operations)
    if report.refused:
        raise typer.Exit(ExitCode.FAILED)


def _tell_undo(call: "Invocation", operations: "Sequence[int]") -> None:
    if operations:
        tell("undo with: " + "; ".join(call.command("undo", str(each)) for each in operations))


def _format(name: str | None) -> "Format | None":
    from amem.errors import InvalidInput
    from amem.interop.formats import Format

    if name is None:
        return None
    try:
        return Format(name.lower())
    except ValueError:
        raise InvalidInput(f"there is no format {name!r}", hint=f"the formats are {', '.join(Format)}") from None


def _items(path: str, settings: "Settings", format: "Format | None") -> "Iterator[Read]":
    from amem.interop.reader import read_path, read_stream

    if path != "-":
        yield from read_path(Path(path), settings, format)
        return
    import sys
    import tempfile
    from functools import partial

    from amem.errors import InvalidInput

    # Kept aside whole, so that its format and encoding are known before the first note is stored.
    with tempfile.SpooledTemporaryFile(max_size=16 << 20) as kept:
        for block in iter(partial(sys.stdin.buffer.read, 1 << 20), b""):
            kept.write(block)
            if kept.tell() > _MOST_PIPED:
                raise InvalidInput(
                    f"standard input goes on past {_MOST_PIPED >> 30} GB", hint="import it from files, piece by piece"
                )
        kept.seek(0)
        yield from read_stream(kept, settings, format)  # type: ignore[arg-type]  # a spooled file reads as bytes


def _chroma(folder: Path, settings: "Settings") -> "Iterator[Read]":
    from amem.clock import zone
    from amem.interop.amem_chroma import read_chroma
    from amem.interop.items import split_long

    return split_long(read_chroma(folder, zone(settings.timezone)), settings.max_note_chars)


def _first_read(items: "Iterator[Read]") -> "Iterator[Read]":
    """The same items, the first one read already: what cannot be read at all makes no collection."""
    from itertools import chain

    first = next(items, None)
    return items if first is None else chain([first], items)


def _summary(report: "ImportReport") -> str:
    from amem.interop.file_update import Fate

    parts = [f"imported {count(report.imported, 'note')}"]
    files = {fate: number for fate, number in report.files.items() if number}
    if files.keys() - {Fate.NEW}:
        said = ", ".join(f"{number:,} {fate}" for fate, number in files.items())
        new = f"; {count(report.imported, 'new note')}" if report.imported else ""
        parts = [f"files: {said}{new}"]
    elif files:
        parts[0] += f" from {count(files[Fate.NEW], 'file')}"
    elif report.duplicates:
        parts.append(f"{report.duplicates:,} known already")
    if report.empty:
        parts.append(f"{count(report.empty, 'empty file')} skipped")
    if report.refused:
        parts.append(f"skipped {report.refused:,}")
    if report.links:
        parts.append(count(report.links, "link"))
    if report.evolved:
        parts.append(count(report.evolved, "rewrite"))
    if report.queued:
        parts.append(f"{report.queued:,} to review")
    if report.degraded:
        parts.append(f"{report.degraded:,} to finish with amem enrich")
    return ", ".join(parts)


def _say_stopped(importer: "Importer") -> None:
    if importer.done:
        tell(f"stopped after {count(importer.done, 'note')}, which are stored; the same import goes on from there")


# ``amem graph``: the note graph as a page, a picture, or a file for other programs.


def _file(name: str, help: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(name, metavar="FILE", help=help, show_default=False)
    return option


@spreading("known_at")
def graph(
    context: typer.Context,
    where: Where,
    id: Annotated[
        str | None, typer.Argument(metavar="ID", help="The note in the middle; default: the whole collection.")
    ] = None,
    html: Annotated[Path | None, _file("--html", "A page that opens offline in any browser.")] = None,
    svg: Annotated[Path | None, _file("--svg", "A picture.")] = None,
    graphml: Annotated[Path | None, _file("--graphml", "For Gephi, yEd or Cytoscape.")] = None,
    dot: Annotated[Path | None, _file("--dot", "For Graphviz.")] = None,
    hops: Annotated[int, typer.Option(min=0, help="With ID: how many links away.")] = 2,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="At most so many notes.")] = 500,
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.")] = False,
    as_json: Json = False,
) -> None:
    """Write the graph of notes and links to files (- is standard output); --json prints it."""
    from amem.errors import InvalidInput
    from amem.interop.exporting import write_lines
    from amem.interop.graph import read_graph
    from amem.interop.graph_formats import WRITERS, heading
    from amem.interop.graph_formats import html as page

    files = {"html": html, "svg": svg, "graphml": graphml, "dot": dot}
    wanted = {name: path for name, path in files.items() if path is not None}
    if not wanted and not as_json:
        raise InvalidInput("say what to write", hint="such as amem graph --html notes.html")
    for path in wanted.values():
        if str(path) != "-" and path.exists() and not force:
            raise InvalidInput(f"{path} is there already", hint="give --force to replace it")
    given = where != Where()
    call = invocation(context)
    with call.memory() if wanted else call.browsed(as_json, empty={}) as memory:
        about = None if id is None else memory.resolve(id)
        chosen = where.filter(memory.settings.timezone) if given else None
        found = read_graph(memory, about, hops=hops, limit=limit, filter=chosen)
        title = heading(found, memory.settings.collection, where.words())
    for name, path in wanted.items():
        text = (page(found, title) if name == "html" else WRITERS[name](found)).rstrip("\n")
        if str(path) == "-":
            say(text)
        else:
            write_lines(path, [text])
            tell(f"wrote {count(len(found.nodes), 'note')} and {count(len(found.edges), 'link')} to {path}")
    if as_json:
        say(escaped_json(WRITERS["json"](found).rstrip("\n")))
    if found.left_out:
        tell(f"{count(found.left_out, 'more note')} left out; --limit takes more")
