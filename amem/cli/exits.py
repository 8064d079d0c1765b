"""How commands end: exit codes, and every error as one line."""

from __future__ import annotations

import _thread
import os
import signal
import sys
from contextlib import contextmanager
from enum import IntEnum
from typing import TYPE_CHECKING

from amem.visible import visible, visible_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from threading import Event


class ExitCode(IntEnum):
    """What a shell learns from ``amem``."""

    OK = 0
    FAILED = 1
    USAGE = 2
    UNREACHABLE = 3
    INTERRUPTED = 130


#: What the library calls by its arguments, as a shell calls it.
_FLAGS = {"replace=True": "--force", "dry_run=True": "--dry-run"}


def guarded(run: Callable[[], object], *, debug: bool, command: str = "") -> int:
    """Run; whatever is raised becomes one line on stderr and an exit code (with `debug`, after a traceback).

    `command` is the one that is run, for errors that do not know it: "config set".
    """
    import typer

    from amem.errors import AmemError, ServiceUnavailable

    try:
        code = run()
        sys.stdout.flush()
        return code if isinstance(code, int) else ExitCode.OK
    except BrokenPipeError:
        return _quiet_pipe()
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except typer.Abort:
        return _say("aborted", "", ExitCode.FAILED, debug)
    except typer.TyperException as error:
        if not error.format_message():  # a group without a command: its help is out already
            return error.exit_code
        hint = f"amem {_command_of(error, command)}--help says more" if error.exit_code == ExitCode.USAGE else ""
        return _say(_lower(error.format_message()), hint, error.exit_code, debug)
    except ServiceUnavailable as error:
        return _say(str(error), error.hint, ExitCode.UNREACHABLE, debug)
    except AmemError as error:
        return _say(str(error), error.hint, ExitCode.FAILED, debug)
    except OSError as error:
        what = f"{error.strerror or error}" + (f": {error.filename}" if error.filename else "")
        return _say(what, "", ExitCode.FAILED, debug)
    except Exception as error:
        return _say(f"unexpected {type(error).__name__}: {error}", "run it again with --debug", ExitCode.FAILED, debug)


@contextmanager
def ended_by_interrupt(ended: Event) -> Iterator[None]:
    """Within, the first Ctrl-C sets `ended`, for a loop that looks at it between two steps; the second breaks off."""
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler:  # what ignores Ctrl-C goes on ignoring it
        yield
        return

    def end(*_: object) -> None:
        signal.signal(signal.SIGINT, before)
        # The code that was interrupted may hold the lock of the event, and goes on only when this returns.
        _thread.start_new_thread(ended.set, ())

    signal.signal(signal.SIGINT, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _say(what: str, hint: str, code: int, debug: bool) -> int:
    if debug:
        import traceback

        from amem.server_call import masked

        # Among what it quotes may be a note, or what a server said.
        print(visible(masked(traceback.format_exc())), end="", file=sys.stderr)
    from amem.cli.invocation import folded
    from amem.errors import shortened

    for argument, flag in _FLAGS.items():
        hint = hint.replace(argument, flag)
    line = " ".join(f"error: {shortened(what)}{f' ({hint})' if hint else ''}".split())
    print(folded(visible_name(line)), file=sys.stderr)
    return code


def _quiet_pipe() -> int:
    """Whoever read us has seen enough; keep Python from complaining about it on the way out."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    return ExitCode.OK


def _command_of(error: Exception, command: str) -> str:
    context = getattr(error, "ctx", None)
    _, _, path = getattr(context, "command_path", f"amem {command}").partition(" ")
    return f"{path} " if path else ""


def _lower(message: str) -> str:
    message = message.rstrip(".")
    return message[:1].lower() + message[1:]
