"""``amem hook``: what a coding agent's program runs when a session begins and ends, so that the next one remembers it.

A hook must not keep anybody waiting, and importing what a memory needs takes longer than it may. So what a session is
told was made ready when the last one was learnt from, which a process of its own does; see `amem.cli.sessions`.
"""

# No ``from __future__ import annotations`` here: Typer reads annotations at run time.

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from amem.cli.invocation import installed_program, invocation, tell, told_written
from amem.cli.render import print_json, say
from amem.cli.sessions import READY, change_counter, folder_of, have_learnt, project_collection, ready, told
from amem.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping

    from amem.cli.invocation import Invocation

_PANEL = "Start"
#: What runs at which of Claude Code's events.
_EVENTS = {"SessionStart": "session-start", "PreCompact": "session-end", "SessionEnd": "session-end"}
_SECONDS = 10
_CLIENT = "claude-code"
_TOKENS = 1500
_ABOUT = "What has been decided for {project}, and what was done last?"

hook = typer.Typer(help="Let the sessions of a coding agent remember each other.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add this room's commands."""
    app.add_typer(hook, name="hook", rich_help_panel=_PANEL)


@hook.command()
def install(
    context: typer.Context,
    client: Annotated[str, typer.Argument(metavar="CLIENT", help="Whose sessions: claude-code.")],
    write: Annotated[bool, typer.Option("--write", help="Merge the hooks into its settings.")] = False,
) -> None:
    """Print the hooks for Claude Code's settings; each project gets a collection, or with -c all get that one."""
    from amem.interop.settings_files import part_of, read_settings, write_settings

    if client.strip().lower() != _CLIENT:
        raise InvalidInput(f"there are no hooks for {client!r}", hint=f"there are some for {_CLIENT}")
    call = invocation(context)
    import shlex

    words = [installed_program(), "--home", str(call.settings().home)]
    words += [] if call.collection is None else ["--collection", call.collection]
    words += [] if call.env_file is None else ["--env-file", str(Path(call.env_file).absolute())]
    hooks = {
        event: {"hooks": [{"type": "command", "command": shlex.join([*words, "hook", command]), "timeout": _SECONDS}]}
        for event, command in _EVENTS.items()
    }
    path = Path.home() / ".claude" / "settings.json"
    if not write:
        print_json({"hooks": {event: [entry] for event, entry in hooks.items()}})
        return tell(f"for Claude Code: merge this into {path}, or have it done with --write")
    held = read_settings(path)
    there = part_of(held.get("hooks", {}), f"'hooks' in {path}")
    wanted = {event: [*_others(there.get(event, []), event, path), entry] for event, entry in hooks.items()}
    if {**there, **wanted} == there:
        return tell(f"{path} says so already")
    told_written(path, write_settings(path, {**held, "hooks": {**there, **wanted}}), "Claude Code")


@hook.command("session-start")
def session_start(context: typer.Context) -> None:
    """Print what earlier sessions left in memory for the project; Claude Code gives it to the model."""
    call = invocation(context)
    asked = _asked()
    name = call.collection or project_collection(folder_of(asked))
    folder = _home(call) / name
    if not (folder / "amem.db").is_file():
        return  # the first session of the project
    text = ready(folder)
    if text is None:
        text = _made_ready(call, name, folder_of(asked))
    if text:
        say(told(text))


@hook.command("session-end")
def session_end(context: typer.Context) -> None:
    """Have a session learnt from, by a process of its own, when it ends or is about to be made shorter."""
    call = invocation(context)
    asked = _asked()
    have_learnt(installed_program(), _home(call), call.collection, call.env_file, asked)


@hook.command(hidden=True)
def learn(
    context: typer.Context,
    transcript: Annotated[Path, typer.Argument()],
    project: Annotated[Path, typer.Argument()],
) -> None:
    """Learn from a session's file, and make ready what the next session is told."""
    from amem.interop.formats import Format
    from amem.interop.transcripts import remember_sessions

    call = invocation(context)
    with call.memory(create=True, notify=True) as memory:
        report = remember_sessions(memory, [(transcript, Format.CLAUDE_CODE)])
        memory.work(once=True)  # what an earlier one left that was ended before it was done
    tell(f"{transcript}: {report.messages} new messages, {report.learnt} notes")
    assert call.collection is not None
    _made_ready(call, call.collection, project)


def _asked() -> "Mapping[str, Any]":
    """What Claude Code tells a hook on standard input."""
    try:
        held = json.load(sys.stdin)
    except (ValueError, RecursionError) as error:
        said = "a hook reads JSON from standard input, and none came"
        raise InvalidInput(said, hint="Claude Code runs it") from error
    if not isinstance(held, dict):
        raise InvalidInput("a hook is told in a JSON object what happened", hint="Claude Code runs it")
    return held


def _home(call: "Invocation") -> Path:
    # Settings take longer to read than a hook should take; the installed one names the home.
    return call.settings().home if call.home is None else Path(call.home).expanduser().absolute()


def _made_ready(call: "Invocation", collection: str, project: Path) -> str:
    """What the next session is told, made from the notes and kept for it."""
    from dataclasses import replace
    from datetime import date

    with replace(call, collection=collection).memory() as memory:
        folder = memory.folder
        assert folder is not None
        counter = change_counter(folder)  # before the notes are read: what is written meanwhile is not among them
        made = memory.context(_ABOUT.format(project=project.name), _TOKENS, touch=False)
    held = {"counter": counter, "day": date.today().isoformat(), "text": made.text}
    draft = folder / f"{READY}.{os.getpid()}"
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        json.dump(held, file, ensure_ascii=False)
    os.replace(draft, folder / READY)
    return made.text


def _others(groups: Any, event: str, path: Path) -> list[Any]:
    """The hooks of an event that are not amem's."""
    if not isinstance(groups, list):
        raise InvalidInput(f"{event!r} in {path} holds no list; nothing was changed", hint="mend it by hand")
    return [group for group in groups if f" hook {_EVENTS[event]}" not in json.dumps(group)]
