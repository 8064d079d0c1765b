"""``amem``: the command line, thin over the API. Commands import what they use when they run, so that help is quick."""

import errno
import os
import sys
from functools import cache
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_group

from amem import __version__
from amem.cli.completion import complete_collection
from amem.cli.invocation import ExitCode, Invocation, folded, hold_words
from amem.errors import AmemError, ServiceUnavailable, shortened
from amem.labels import visible, visible_name

if TYPE_CHECKING:
    from collections.abc import Callable

_HANDLER = "amem command line"
#: Other names of options. Two names of one would not fit into a line of its help.
_ALIASES = {"--before": "--until", "--minimum-confidence": "--min-confidence"}
_WITH_VALUE = ("--home", "--collection", "-c", "--agent", "--env-file")


class Amem(TyperGroup):
    """The top command: global options may stand anywhere, commands load when named, an error becomes one line."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(dict.fromkeys([*self.commands, *PLACES]))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name in PLACES and cmd_name not in self.commands:
            self.commands[cmd_name] = _made(cmd_name)
        return super().get_command(ctx, cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if self.get_command(ctx, args[0]) is None:
            for name in PLACES:  # among which one may be meant
                self.get_command(ctx, name)
        return super().resolve_command(ctx, args)

    def main(self, args: Any = None, *rest: Any, **extra: Any) -> Any:
        words = globals_first([as_utf8(word) for word in (sys.argv[1:] if args is None else args)])
        use_utf8()
        run = super().main
        extra["standalone_mode"] = False
        extra.setdefault("prog_name", "amem")
        sys.exit(guarded(lambda: run(words, *rest, **extra), debug="--debug" in words, command=self._named_in(words)))

    def _named_in(self, words: list[str]) -> str:
        """The command that a line names, as "config set"; '' where it names none."""
        named: list[str] = []
        group: Any = self
        for before, word in pairwise(["", *words]):
            if before not in _WITH_VALUE and group is not None and (found := group.get_command(None, word)) is not None:
                named.append(word)
                group = found if isinstance(found, TyperGroup) else None
        return " ".join(named)


def globals_first(words: list[str]) -> list[str]:
    """The arguments before a ``--`` with the global options moved to the front, and each option by its first name."""
    front: list[str] = []
    rest: list[str] = []
    position = 0
    while position < len(words):
        word = words[position]
        if word == "--":
            rest += words[position:]
            break
        if word in _WITH_VALUE:
            front += words[position : position + 2]
            position += 2
            continue
        name, equals, value = word.partition("=")
        word = f"{_ALIASES.get(name, name)}{equals}{value}"
        is_global = word == "--debug" or word.startswith(tuple(f"{name}=" for name in _WITH_VALUE if name[:2] == "--"))
        (front if is_global else rest).append(word)
        position += 1
    return front + rest


def as_utf8(word: str) -> str:
    """An argument that Python could not read in the locale's encoding, read as UTF-8 where it is that."""
    try:
        word.encode()
        return word
    except UnicodeEncodeError:
        pass
    try:
        return word.encode(sys.getfilesystemencoding(), "surrogateescape").decode("utf-8")
    except UnicodeError:
        return word


def use_utf8() -> None:
    """Chinese notes must survive a pipe whatever the locale; a terminal that cannot show a letter shows a stand-in."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            if stream.isatty():
                stream.reconfigure(errors="replace")
            else:
                stream.reconfigure(encoding="utf-8", errors="backslashreplace")


#: An option that is named instead of another is as like it as "--limt" and "--limit", not as "--bogus" and "--user".
_ALIKE = 0.75
#: What the library calls by its arguments, as a shell calls it.
_FLAGS = {"replace=True": "--force", "dry_run=True": "--dry-run"}


#: What to do about a file or a folder that cannot be used, by the number of the system's error.
_MENDS = dict.fromkeys(
    (errno.EACCES, errno.EPERM, errno.EROFS), "check its permissions and those of its folder, or name another"
)
_MENDS |= {errno.ENOENT: "make its folder, or name another", errno.ENOSPC: "free some space and try again"}
#: What pydantic says of a value, in plain words.
_PLAIN = {
    "Input should be a valid integer, unable to parse string as an integer": "it should be a whole number",
    "Input should be a valid number, unable to parse string as a number": "it should be a number",
    "Input should be": "it should be",
}


def guarded(run: "Callable[[], object]", *, debug: bool, command: str = "") -> int:
    """Run; whatever is raised becomes one line on stderr and an exit code (with `debug`, after a traceback).

    `command` is the one that is run, for errors that do not know it: "config set".
    """
    try:
        code = run()
        sys.stdout.flush()
        return code if isinstance(code, int) else ExitCode.OK
    except BrokenPipeError:
        # Whoever read us has seen enough; Python is not to complain about it on the way out.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.OK
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except Exception as error:
        what, hint, code = _told(error, command)
        if what:
            _tell_error(what, hint, debug)
        return code


def _told(error: Exception, command: str) -> tuple[str, str, int]:
    """What is said of an error, what to do about it, and the exit code; '' where it has been said already."""
    match error:
        case typer.Abort():
            return "aborted", "", ExitCode.FAILED
        case typer.TyperException():
            # There is none of a group without a command: its help is out.
            message = _likely(error).format_message().rstrip(".").removeprefix("Invalid value: ")
            _, _, path = getattr(getattr(error, "ctx", None), "command_path", f"amem {command}").partition(" ")
            hint = f"amem {path}{' ' * bool(path)}--help says more" if error.exit_code == ExitCode.USAGE else ""
            return f"{message[:1].lower()}{message[1:]}", hint, error.exit_code
        case AmemError():
            unreachable = isinstance(error, ServiceUnavailable)
            return str(error), error.hint, ExitCode.UNREACHABLE if unreachable else ExitCode.FAILED
        case OSError():
            what = f"cannot use {os.fsdecode(error.filename)}: " if error.filename else ""
            return f"{what}{error.strerror or error}", _MENDS.get(error.errno or 0, ""), ExitCode.FAILED
    return f"unexpected {type(error).__name__}: {error}", "run it again with --debug", ExitCode.FAILED


def _likely(error: Any) -> Any:
    """The error, of the options that it names as possible only those that may well have been meant."""
    if named := getattr(error, "possibilities", None):
        from difflib import get_close_matches

        error.possibilities = get_close_matches(error.option_name, named, cutoff=_ALIKE)
    return error


def _tell_error(what: str, hint: str, debug: bool) -> None:
    if debug:
        import traceback

        from amem.server_call import masked

        # Among what it quotes may be a note, or what a server said.
        print(visible(masked(traceback.format_exc())), end="", file=sys.stderr)
    for argument, flag in _FLAGS.items():
        hint = hint.replace(argument, flag)
    for words, plain in _PLAIN.items():
        what = what.replace(words, plain)
    line = " ".join(f"error: {shortened(what)}{f' ({hint})' if hint else ''}".split())
    print(folded(visible_name(line)), file=sys.stderr)


app = typer.Typer(
    name="amem",
    cls=Amem,
    help="A memory that agents write and people can read, trust and correct.",
    epilog='Start with: amem demo, or amem add "something worth keeping".',
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"amem {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def options(
    context: typer.Context,
    home: Annotated[str | None, typer.Option(help="Folder that holds the collections.", envvar=None)] = None,
    collection: Annotated[
        str | None, typer.Option("--collection", "-c", help="Collection to use.", autocompletion=complete_collection)
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option("--agent", help="Agent that uses the memory: its collection, catalogs and rights (amem agents)."),
    ] = None,
    env_file: Annotated[str | None, typer.Option(help="Read settings from this file, not <home>/.env.")] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show what happens, and tracebacks.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    hold_words(context)
    context.obj = Invocation(home, collection, env_file, debug, agent)
    _configure_logging(debug)
    if context.invoked_subcommand is None:
        print(context.get_help())


def _configure_logging(debug: bool) -> None:
    import logging

    from amem.server_call import VisibleLines

    logger = logging.getLogger("amem")
    logger.handlers = [each for each in logger.handlers if each.get_name() != _HANDLER]
    handler = logging.StreamHandler(sys.stderr)
    handler.set_name(_HANDLER)
    # What goes wrong is said in the command's own words; the log is for those who ask for it.
    handler.setLevel(logging.DEBUG if debug else logging.ERROR)
    handler.setFormatter(VisibleLines("%(levelname)s %(name)s: %(message)s"))
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG if debug else logging.NOTSET)


@app.command("help", rich_help_panel="Start")
def help_on(
    context: typer.Context,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="COMMAND", help="A command, such as search, or tags rename.")
    ] = None,
) -> None:
    """Show what amem can do, or what a command does and takes."""
    of = context.find_root()
    for word in words or []:
        group = of.command
        if not isinstance(group, TyperGroup):
            raise typer.BadParameter(f"{of.command_path} has no command {word!r}", ctx=of)
        name, command, _ = group.resolve_command(of, [word])
        assert command is not None
        of = command.make_context(name, [], parent=of, resilient_parsing=True)
    print(of.get_help())


#: Where in this room every command and group of commands is: (module, names), by the panel of the help.
PANELS = {
    "Start": [
        ("config", "setup path config"),
        ("programs", "tui desktop mcp hook"),
        ("model_commands", "models"),
        ("demo", "demo"),
    ],
    "Chat": [("chat", "chat ask")],
    "Write": [("note_commands", "add edit delete restore purge pin link publish")],
    "Find": [
        ("note_commands", "list show"),
        ("search", "search why context trace"),
        ("facts", "facts timeline topics topic"),
    ],
    "Trust": [
        ("history", "log history undo redo"),
        ("truth", "conflicts supersede unsupersede retract keep"),
        ("history", "review"),
        ("chat", "rules"),
    ],
    "In and out": [("transfer", "import export vault graph")],
    "Look after": [
        ("maintenance", "maintain fade health"),
        ("note_commands", "tags"),
        ("model_commands", "enrich work reindex doctor"),
        ("collection_commands", "copy backup collections agents"),
    ],
    "Forks": [("collection_commands", "fork diff merge")],
}
#: The panel and the module of each command.
PLACES = {name: (panel, at) for panel, places in PANELS.items() for at, names in places for name in names.split()}
#: Names that Python keeps for itself.
_OWN_NAMES = {"list": "list_notes", "import": "import_notes"}


@cache
def _made(name: str) -> Any:
    """A command, or a group of them. Putting all together takes longer than most of them: only one is needed."""
    panel, module = PLACES[name]
    command, holder = getattr(import_module(f"amem.cli.{module}"), _OWN_NAMES.get(name, name)), typer.Typer()
    if isinstance(command, typer.Typer):
        holder.add_typer(command, name=name, rich_help_panel=panel)
    else:
        holder.command(name, rich_help_panel=panel)(command)
    return get_group(holder).commands[name]
