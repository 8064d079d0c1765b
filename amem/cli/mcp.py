"""``amem mcp``: the memory for programs that speak the Model Context Protocol."""

# No ``from __future__ import annotations`` here: Typer reads annotations at run time.

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from amem.cli.invocation import installed_program, invocation, tell, told_written
from amem.cli.render import print_json, say
from amem.cli.sessions import project_collection
from amem.errors import MissingExtra

if TYPE_CHECKING:
    from amem.cli.invocation import Invocation

_PANEL = "Start"


def register(app: typer.Typer) -> None:
    """Add this room's commands."""
    app.command(rich_help_panel=_PANEL)(mcp)


def mcp(
    context: typer.Context,
    http: Annotated[bool, typer.Option("--http", help="Serve by HTTP on this machine, not by stdio.")] = False,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="With --http; 0 takes any free one.")] = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="Only tools that read; nothing is written.")] = False,
    per_project: Annotated[
        bool, typer.Option("--per-project", help="The collection that amem hook keeps for this folder's project.")
    ] = False,
    per_client: Annotated[
        bool, typer.Option("--per-client", help="A collection for each client, under the client's name.")
    ] = False,
    install: Annotated[
        str | None,
        typer.Option(metavar="CLIENT", help="Print the settings for claude, claude-code, cursor, vscode or zed."),
    ] = None,
    write: Annotated[bool, typer.Option("--write", help="With --install: merge them into its file.")] = False,
) -> None:
    """Serve the memory to editors, coding agents and assistants (Model Context Protocol)."""
    call = invocation(context)
    if port is not None and not http:
        raise typer.BadParameter("--port goes with --http")
    if write and install is None:
        raise typer.BadParameter("--write goes with --install CLIENT")
    if per_client + per_project + (call.collection is not None) > 1:
        raise typer.BadParameter("--per-client, --per-project and --collection exclude each other")
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
    call: "Invocation",
    name: str,
    *,
    http: bool,
    port: int | None,
    read_only: bool,
    named: str | None,
    write: bool,
) -> None:
    from amem.interop.settings_files import part_of, read_settings, write_settings
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
        where = ["--home", str(settings.home), *([] if named else ["--collection", settings.collection])]
        env = [] if call.env_file is None else ["--env-file", str(Path(call.env_file).absolute())]
        entry = client.by_command([installed_program(), *where, *env, "mcp", *flags])
    path = client.path()
    if not write:
        print_json({client.key: {clients.NAME: entry}})
        return tell(f"for {client.title}: merge this into {path}, or have it done with --write")
    held = read_settings(path)
    servers = part_of(held.get(client.key, {}), f"{client.key!r} in {path}")
    if servers.get(clients.NAME) == entry:
        return tell(f"{path} says so already")
    told_written(path, write_settings(path, {**held, client.key: {**servers, clients.NAME: entry}}), client.title)
