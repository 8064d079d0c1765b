"""amem beside other programs: for editors and coding agents (MCP, hooks), and as a browser in a window or on a page.

A hook must not keep anybody waiting, and importing what a memory needs takes longer than it may. So what a session is
told was made ready when the last one was learnt from, which a process of its own does; see ``amem.agent_sessions``.
"""

import json
import os
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from amem.agent_sessions import folder_of, have_learnt, hooks, make_ready, other_hooks, project_collection, ready, told
from amem.cli.command import argument, command, option
from amem.cli.invocation import ExitCode, Invocation, installed_program, tell
from amem.cli.render import print_json, say
from amem.errors import InvalidInput, MissingExtra


@command(json=False)
def mcp(
    call: Invocation,
    http: Annotated[bool, option("--http", "Serve by HTTP on this machine, not by stdio.")] = False,
    port: Annotated[int | None, option("", "With --http; 0 takes any free one.", min=0, max=65535)] = None,
    read_only: Annotated[bool, option("--read-only", "Only tools that read; nothing is written.")] = False,
    per_project: Annotated[
        bool, option("--per-project", "The collection that amem hook keeps for this folder's project.")
    ] = False,
    per_client: Annotated[
        bool, option("--per-client", "A collection for each client, under the client's name.")
    ] = False,
    install: Annotated[
        str | None,
        option("", "Print the settings for claude, claude-code, cursor, vscode or zed.", metavar="CLIENT"),
    ] = None,
    write: Annotated[bool, option("--write", "With --install: merge them into its file.")] = False,
) -> None:
    """Serve the memory to editors, coding agents and assistants (Model Context Protocol)."""
    if port is not None and not http:
        raise typer.BadParameter("--port goes with --http")
    if write and install is None:
        raise typer.BadParameter("--write goes with --install CLIENT")
    if per_client + per_project + (call.collection is not None) + (call.agent is not None) > 1:
        raise typer.BadParameter("--per-client, --per-project, --collection and --agent exclude each other")
    if install is not None:
        named = "--per-client" if per_client else "--per-project" if per_project else None
        return _install(call, install, http=http, port=port, read_only=read_only, named=named, write=write)
    try:
        from amem.mcp import serving
        from amem.mcp.collections import Collections
    except ImportError as error:
        if error.name is None or error.name.startswith("amem"):
            raise
        raise MissingExtra(f"amem mcp needs the package {error.name}", hint='pip install "amem[mcp]"') from error
    settings = call.settings()
    if per_project:
        settings = settings.replaced(collection=project_collection(Path.cwd()))
    collections = Collections(settings, read_only=read_only, per_client=per_client, chroma=http, notify=tell)
    if not http:
        if sys.stdin.isatty():
            tell("an MCP client starts this and talks to it on stdin: see amem mcp --install; Ctrl-C ends it")
        return serving.serve_stdio(collections)
    token, held_in = serving.token_of(settings.home)
    tell(f"the token is in {held_in}; Ctrl-C ends the server")
    serving.serve_http(collections, serving.PORT if port is None else port, token, told=_address)


def _address(url: str) -> None:
    # On stdout, alone: what is printed there can be handed to a program.
    say(url, flush=True)


def _install(
    call: Invocation, name: str, *, http: bool, port: int | None, read_only: bool, named: str | None, write: bool
) -> None:
    from amem.mcp import clients

    client = clients.client_of(name)
    settings = call.settings()
    if http:
        from amem.mcp.serving import HOST, PATH, PORT, token_of

        if port == 0:
            raise typer.BadParameter("--install needs a port that stays: leave --port 0 out")
        entry = client.by_address(f"http://{HOST}:{port or PORT}{PATH}", token_of(settings.home)[0])
    else:
        flags = [*(["--read-only"] if read_only else []), *([named] if named else [])]
        # The client may start it in any folder and with other variables than this shell has.
        whose = ["--agent", settings.agent] if settings.agent else ["--collection", settings.collection]
        where = ["--home", str(settings.home), *([] if named else whose)]
        entry = client.by_command([installed_program(), *where, *_env_file(call), "mcp", *flags])
    _offer(client.path(), client.key, {clients.NAME: entry}, client.title, write, lambda servers: {clients.NAME: entry})


def _offer(
    path: Path, section: str, shown: Any, title: str, write: bool, wanted: Callable[[dict[str, Any]], dict[str, Any]]
) -> None:
    """Print what belongs in a section of another program's settings, or merge `wanted` of what is there into it."""
    from amem.interop.settings_files import part_of, read_settings, write_settings

    if not write:
        print_json({section: shown})
        return tell(f"for {title}: merge this into {path}, or have it done with --write")
    held = read_settings(path)
    there = part_of(held.get(section, {}), f"{section!r} in {path}")
    merged = {**there, **wanted(there)}
    if merged == there:
        return tell(f"{path} says so already")
    backup = write_settings(path, {**held, section: merged})
    tell(f"wrote {path}" + ("" if backup is None else f"; what it held before is in {backup.name}"))
    tell(f"restart {title} to have it use amem")


def _env_file(call: Invocation) -> list[str]:
    return [] if call.env_file is None else ["--env-file", str(Path(call.env_file).absolute())]


# ``amem hook``: what a coding agent's program runs when a session begins and ends, so that the next one remembers it.


_CLIENT = "claude-code"
hook = typer.Typer(help="Let the sessions of a coding agent remember each other.", no_args_is_help=True)


@hook.command()
@command(json=False)
def install(
    call: Invocation,
    client: Annotated[str, argument("CLIENT", "Whose sessions: claude-code.", show_default=True)],
    write: Annotated[bool, option("--write", "Merge the hooks into its settings.")] = False,
) -> None:
    """Print the hooks for Claude Code's settings; each project gets a collection, with -c or --agent all share one."""
    if client.strip().lower() != _CLIENT:
        raise InvalidInput(f"there are no hooks for {client!r}", hint=f"there are some for {_CLIENT}")
    words = [installed_program(), "--home", str(call.settings().home)]
    words += [] if call.collection is None else ["--collection", call.collection]
    words += ["--agent", agent] if (agent := _agent(call)) else []
    found, path = hooks([*words, *_env_file(call)]), Path.home() / ".claude" / "settings.json"

    def wanted(there: dict[str, Any]) -> dict[str, Any]:
        return {event: [*other_hooks(there.get(event, []), event, path), each] for event, each in found.items()}

    _offer(path, "hooks", {event: [each] for event, each in found.items()}, "Claude Code", write, wanted)


@hook.command("session-start")
@command(json=False)
def session_start(call: Invocation) -> None:
    """Print what earlier sessions left in memory for the project; Claude Code gives it to the model."""
    asked = _asked()
    name = call.collection or (call.settings().collection if _agent(call) else project_collection(folder_of(asked)))
    folder = _home(call) / name
    if not (folder / "amem.db").is_file():
        return  # the first session of the project
    text = ready(folder)
    if text is None:
        text = _made_ready(call, name, folder_of(asked))
    if text:
        say(told(text))


@hook.command("session-end")
@command(json=False)
def session_end(call: Invocation) -> None:
    """Have a session learnt from, by a process of its own, when it ends or is about to be made shorter."""
    asked = _asked()
    have_learnt(installed_program(), _home(call), call.collection, call.env_file, asked, agent=_agent(call))


@hook.command(hidden=True)
@command(json=False)
def learn(
    call: Invocation, transcript: Annotated[Path, typer.Argument()], project: Annotated[Path, typer.Argument()]
) -> None:
    """Learn from a session's file, and make ready what the next session is told."""
    from amem.interop.formats import Format
    from amem.interop.transcripts import remember_sessions

    call = replace(call, agent=_agent(call) or "")  # as for the hook that started it
    with call.memory(create=True, notify=True) as memory:
        report = remember_sessions(memory, [(transcript, Format.CLAUDE_CODE)])
        memory.work(once=True)  # what an earlier one left that was ended before it was done
        name = memory.settings.collection
    tell(f"{transcript}: {report.messages} new messages, {report.learnt} notes")
    _made_ready(call, name, project)


def _asked() -> Mapping[str, Any]:
    try:
        held = json.load(sys.stdin)
    except (ValueError, RecursionError) as error:
        said = "a hook reads JSON from standard input, and none came"
        raise InvalidInput(said, hint="Claude Code runs it") from error
    if not isinstance(held, dict):
        raise InvalidInput("a hook is told in a JSON object what happened", hint="Claude Code runs it")
    return held


def _agent(call: Invocation) -> str | None:
    """The agent whose memory all sessions share; None where each project has a collection."""
    return call.agent or (None if call.collection is not None else os.environ.get("AMEM_AGENT")) or None


def _home(call: Invocation) -> Path:
    # Settings take longer to read than a hook should take; the installed one names the home.
    return call.settings().home if call.home is None else Path(call.home).expanduser().absolute()


def _made_ready(call: Invocation, collection: str, project: Path) -> str:
    with replace(call, collection=collection, agent=_agent(call) or "").memory() as memory:
        return make_ready(memory, project)


# ``amem tui`` and ``amem desktop``: the note browser in a terminal, on a web page, in a window.


#: Seconds that the process is given to end by itself after its window.
_GRACE = 3.0


@command(json=False)
def tui(
    call: Invocation,
    web: Annotated[bool, option("--web", "Serve it on a web page of this machine instead.")] = False,
    port: Annotated[int | None, option("", "With --web: the port; 0 takes any free one.")] = None,
    served: Annotated[bool, typer.Option("--served", hidden=True)] = False,
) -> None:
    """Browse the notes in the terminal, or with --web on a web page that only this machine can open."""
    if port is not None and not web:
        raise typer.BadParameter("--port goes with --web")
    if web:
        from amem_tui.serving.page_server import PORT, serve

        _openable(call)
        return serve(call.settings(), PORT if port is None else port, told=_page_address, env_file=call.env_file)
    if not served:
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise InvalidInput("the browser needs a terminal", hint="in a pipe, use amem list, show and search")
        # A shell may export its size when it started: believed, it would outlast every change of the window.
        for size in ("COLUMNS", "LINES"):
            os.environ.pop(size, None)
    import amem_tui

    raise typer.Exit(amem_tui.run(call.settings(), create=call.collection is None))


@command(json=False)
def desktop(
    call: Invocation,
    install: Annotated[bool, option("--install", "Put it into the menu of this desktop.")] = False,
    uninstall: Annotated[bool, option("--uninstall", "Take it out of the menu again.")] = False,
) -> None:
    """Browse the notes in a window of its own (extra "desktop"), which remembers its size."""
    if install and uninstall:
        raise typer.BadParameter("--install and --uninstall exclude each other")
    from amem_tui.serving.desktop import check_display, check_extra, open_desktop

    if install or uninstall:
        from amem_tui.serving import desktop as window
        from amem_tui.serving.page_server import amem_command

        if uninstall:
            return tell("taken out of the menu" if window.uninstall() else "there was nothing in the menu")
        check_extra()  # an entry that opens nothing would say so to nobody
        entry = window.install(amem_command(call.settings(), "desktop", env_file=call.env_file))
        return tell(f"put into the menu: {entry}")
    check_display()
    _openable(call)
    code = ExitCode.FAILED
    try:
        open_desktop(call.settings(), env_file=call.env_file)
        code = ExitCode.OK
    finally:
        # Threads of pywebview may wait for a page that is gone, for ever; all is said and stored by then.
        end = threading.Timer(_GRACE, os._exit, (code,))
        end.daemon = True
        end.start()


def _openable(call: Invocation) -> None:
    """Say here what is wrong with the collection, if anything is: the process behind a page has nobody to tell."""
    with call.memory(create=call.collection is None):
        pass


def _page_address(url: str) -> None:
    _address(url)
    tell("open this address in a web browser on this machine; Ctrl-C ends it")
