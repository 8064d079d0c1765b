"""``amem tui`` and ``amem desktop``: the note browser in a terminal, on a web page, in a window."""

import os
import sys
import threading
from typing import TYPE_CHECKING, Annotated

import typer

from amem.cli.exits import ExitCode
from amem.cli.invocation import invocation, tell
from amem.cli.render import say
from amem.errors import InvalidInput

if TYPE_CHECKING:
    from amem.cli.invocation import Invocation

#: Seconds that the process is given to end by itself after its window.
_GRACE = 3.0


def tui(
    context: typer.Context,
    web: Annotated[bool, typer.Option("--web", help="Serve it on a web page of this machine instead.")] = False,
    port: Annotated[int | None, typer.Option(help="With --web: the port; 0 takes any free one.")] = None,
    served: Annotated[bool, typer.Option("--served", hidden=True)] = False,
) -> None:
    """Browse the notes in the terminal, or with --web on a web page that only this machine can open."""
    call = invocation(context)
    if port is not None and not web:
        raise typer.BadParameter("--port goes with --web")
    if web:
        from amem_tui.serving.page_server import PORT, serve

        _openable(call)
        return serve(call.settings(), PORT if port is None else port, told=_address, env_file=call.env_file)
    if not served:
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise InvalidInput("the browser needs a terminal", hint="in a pipe, use amem list, show and search")
        # A shell may export its size when it started: believed, it would outlast every change of the window.
        for size in ("COLUMNS", "LINES"):
            os.environ.pop(size, None)
    import amem_tui

    raise typer.Exit(amem_tui.run(call.settings(), create=call.collection is None))


def desktop(
    context: typer.Context,
    install: Annotated[bool, typer.Option("--install", help="Put it into the menu of this desktop.")] = False,
    uninstall: Annotated[bool, typer.Option("--uninstall", help="Take it out of the menu again.")] = False,
) -> None:
    """Browse the notes in a window of its own (extra "desktop"), which remembers its size."""
    call = invocation(context)
    if install and uninstall:
        raise typer.BadParameter("--install and --uninstall exclude each other")
    from amem_tui.serving.desktop import check_display, check_extra, open_desktop

    if install or uninstall:
        from amem_tui.serving import launcher
        from amem_tui.serving.page_server import amem_command

        if uninstall:
            return tell("taken out of the menu" if launcher.uninstall() else "there was nothing in the menu")
        check_extra()  # an entry that opens nothing would say so to nobody
        entry = launcher.install(amem_command(call.settings(), "desktop", env_file=call.env_file))
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


def _openable(call: "Invocation") -> None:
    """Say here what is wrong with the collection, if anything is: the process behind a page has nobody to tell."""
    with call.memory(create=call.collection is None):
        pass


def _address(url: str) -> None:
    # On stdout, alone: what is printed there can be handed to a program that opens it.
    say(url, flush=True)
    tell("open this address in a web browser on this machine; Ctrl-C ends it")
