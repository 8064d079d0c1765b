"""One call of ``amem``: its home, its collection and how to open it, what is said on the way, and how it ends."""

from __future__ import annotations

import _thread
import os
import shlex
import shutil
import signal
import sys
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from enum import IntEnum
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from amem.errors import CollectionNotFound, InvalidInput
from amem.labels import counted, visible, visible_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from threading import Event

    import typer

    from amem.memory_system import AgenticMemorySystem
    from amem.settings import Settings


#: So many rows that cannot be read are named.
_NAMED = 5


class ExitCode(IntEnum):
    """What a shell learns from ``amem``."""

    OK = 0
    FAILED = 1
    USAGE = 2
    UNREACHABLE = 3
    INTERRUPTED = 130


@dataclass(slots=True)
class Invocation:
    """The global options of one call of ``amem``."""

    home: str | None = None
    collection: str | None = None
    env_file: str | None = None
    debug: bool = False
    agent: str | None = None
    #: Whether the command's answer is wanted as JSON.
    as_json: bool = False
    #: What opening the collection brought up, to be told once the command has answered.
    remarks: list[str] = field(default_factory=list)

    def settings(self) -> Settings:
        """The settings for this home. Raises InvalidInput."""
        from amem.settings import load_settings

        agent = self.agent
        if agent is None and self.collection is not None:
            # Beside a collection the environment's agent is held to its own, as one that is named here.
            agent = os.environ.get("AMEM_AGENT") or None
        return load_settings(self.home, env_file=self.env_file, collection=self.collection, agent=agent)

    def in_collection(self, name: str) -> Invocation:
        """The same call in another collection, where no agent's name counts."""
        return replace(self, collection=name, agent="" if os.environ.get("AMEM_AGENT") else None)

    def command(self, *words: str) -> str:
        """A command line that means this home and collection, to be copied into a shell."""
        named = [
            (f"--{name}", value)
            for name in ("home", "collection", "agent")
            if (value := getattr(self, name)) is not None
        ]
        return shlex.join([program(), *(word for pair in named for word in pair), *words])

    def undoing(self, *operations: int | None) -> list[str]:
        """How to take back these operations; nothing where there is none."""
        undo = [self.command("undo", str(each)) for each in operations if each is not None]
        return [f"undo with: {'; '.join(undo)}"] if undo else []

    def tell_undo(self, number: int = 1) -> None:
        """Say how to take back what was done, in so many operations."""
        tell(f"undo with: {self.command('undo')}{' (once for each)' if number > 1 else ''}")

    @contextmanager
    def memory(
        self, *, create: bool = False, notify: bool = False, settings: Settings | None = None, chroma: bool = False
    ) -> Iterator[AgenticMemorySystem]:
        """The collection, open. Reading commands leave `create` off. Raises CollectionNotFound and StorageError.

        With `chroma` the command keeps the notes in Chroma, too: one that lives long, or has to bring them in step.

        `notify` says on stderr who analyses; that a model has to be exported or fetched first is always said. What
        does not wait for a model is left to other processes: this one is about to end.
        """
        from amem.embedding import describe
        from amem.memory_system import AgenticMemorySystem

        settings = settings or self.settings()
        if not chroma:
            # Importing Chroma takes a second; what this command changes, the next process that lives longer takes in.
            settings = settings.model_copy(update={"dense_base": "exact"})
        speak = notify or not describe(settings).ready
        # An agent that has noted nothing yet still reads what others have.
        create = create or self._reads_catalogs(settings)
        try:
            opened = AgenticMemorySystem(
                settings=settings, create=create, notify=inform if speak else None, background=False
            )
        except CollectionNotFound as missing:
            if create or self.is_mistaken(settings):
                raise
            raise self.no_notes(settings) from missing
        with opened as memory:
            yield memory
            self.remarks += some([f"left out: {error} ({error.hint})" for error in memory.passed_over.values()], _NAMED)
            if (advice := memory.language_advice()) is not None:
                self.remarks.append(str(advice))

    @contextmanager
    def browsed(self, *, empty: object = (), **opening: Any) -> Iterator[AgenticMemorySystem]:
        """The collection for a command that reads, opened as by `memory`.

        Where nothing was ever added the command ends here, and well: it says so on stderr, and prints `empty` as JSON
        where JSON is wanted. Raises CollectionNotFound for a collection that was named and is not there among others.
        """
        import typer

        from amem.cli.render import print_json

        with ExitStack() as stack:
            try:
                memory = stack.enter_context(self.memory(**opening))
            except CollectionNotFound as missing:
                if self.is_mistaken(opening.get("settings") or self.settings()):
                    raise
                if self.as_json:
                    print_json(empty)
                tell(f"{missing} ({missing.hint})")
                raise typer.Exit from missing
            yield memory

    def _reads_catalogs(self, settings: Settings) -> bool:
        """Whether the collection is searched together with others, all of which are there."""
        from amem.collection_folders import collection_names

        catalogs = {*settings.catalogs, *settings.publish}
        return bool(catalogs) and catalogs.issubset(collection_names(settings.home))

    def is_mistaken(self, settings: Settings) -> bool:
        """Whether something is there besides the collection that was not found, so that another may be meant."""
        from amem.collection_folders import collection_names, is_archived

        names = collection_names(settings.home)
        # Where the collection is there, a catalog of it is missing.
        there = settings.collection in names or is_archived(settings.home, settings.collection)
        return there or (self.collection is not None and bool(names))

    def without_notes(self, settings: Settings, memory: AgenticMemorySystem | None = None) -> str:
        """What is told of a home or a collection without notes; of an open `memory` whether there ever were any."""
        answer = self.no_notes(settings)
        if memory is None or not memory.log(limit=1):
            return f"{answer} ({answer.hint})"
        from amem.note import Status
        from amem.query import Filter

        deleted = memory.count(Filter(statuses=(Status.DELETED,)))
        shows = f"; {counted(deleted, 'deleted note')}: {self.command('list', '--deleted')}" if deleted else ""
        return f"no notes are left{shows}"

    def no_notes(self, settings: Settings) -> CollectionNotFound:
        """The answer of every command where nothing was ever added, with what to do next."""
        from amem.collection_folders import collection_names

        add = f'{self.command("add")} "..."'
        names = [name for name in collection_names(settings.home) if name != settings.collection]
        others = ", ".join(names[:_NAMED])
        if settings.agent:  # which has this collection and reads its catalogs
            lists = [self.in_collection(name).command("list") for name in settings.catalogs if name in names]
            beside = f"; what it reads beside them: {'; '.join(lists)}" if lists else ""
            return CollectionNotFound(f"no notes in {settings.collection} yet", hint=f"{add} keeps one{beside}")
        if others:
            return CollectionNotFound(
                f"no notes in {settings.collection} yet", hint=f"-c names another: {others}; or {add}"
            )
        return CollectionNotFound("no notes yet", hint=f"{add} keeps one; {self.command('demo')} shows some")


def hold_words(context: typer.Context) -> None:
    """Hold the words that a command was called with against their limit. Raises InvalidInput."""
    from amem import checks

    for name, value in context.params.items():
        if name not in checks.LONG_TEXTS:
            checks.short(name, str(value) if isinstance(value, Path) else value)


def tell(line: str) -> None:
    """Talk to the person at the terminal: one line on stderr; where it is too long, with its command on the next."""
    _say(folded(line, command=f"{program()} "))


def some(lines: Sequence[str], most: int, more: str = "more", *, total: int | None = None) -> list[str]:
    """The first so many lines, and how many there are `more` of all (or of `total`)."""
    left = (total or len(lines)) - most
    return [*lines[:most], *([f"... and {left:,} {more}"] if left > 0 else [])]


def inform(sentence: str) -> None:
    """As `tell`, for a sentence without a command to be copied."""
    _say(folded(sentence))


def folded(sentence: str, *, command: str = "") -> str:
    """A sentence for stderr: where that is a terminal too narrow for it, in lines that end between words.

    From where `command` begins on it stays in one piece, to be copied; a sentence that begins with it is prose.
    """
    if not sys.stderr.isatty():
        return sentence
    from amem.cli.render import cell_width
    from amem.language.sentence_parts import breaks

    room = shutil.get_terminal_size().columns
    if cell_width(sentence) <= room:
        return sentence
    at = sentence.find(command) if command else -1
    at -= sentence[max(at - 1, 0)] == "("
    prose, kept = (sentence, "") if at <= 0 else (sentence[:at].rstrip(), sentence[at:])
    ends = [0, *breaks(prose, room - 2, first=room), len(prose)]
    lines = [prose[start:end].rstrip() for start, end in pairwise(ends)]
    return "\n  ".join(filter(None, (*lines, kept)))


def _say(text: str) -> None:
    print(visible(text), file=sys.stderr, flush=True)


def at_terminal() -> bool:
    """Whether a person can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


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


class Bar(Protocol):
    """Shows how much is done, of how much where that is known; `what` takes the place of what was said before."""

    def __call__(self, done: int, total: int | None, what: str = "", /) -> None: ...


@contextmanager
def progress(what: str, *, in_bytes: bool = False) -> Iterator[Bar]:
    """A bar with rate and time left on stderr while something takes its time; nothing when stderr is no terminal."""
    if not sys.stderr.isatty():
        yield lambda done, total, what="": None
        return
    from rich import progress as rich
    from rich.console import Console
    from rich.text import Text

    class Rate(rich.ProgressColumn):
        def render(self, task: rich.Task) -> Text:
            return Text("" if not task.speed else f"{task.speed:,.1f}/s")

    said = rich.TextColumn("{task.description}", markup=False)  # it may be a server's words
    counted = (rich.DownloadColumn(), rich.TransferSpeedColumn()) if in_bytes else (rich.MofNCompleteColumn(), Rate())
    columns = (said, rich.BarColumn(), *counted, rich.TimeRemainingColumn())
    with rich.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(visible_name(what), total=None)

        def show(done: int, total: int | None, what: str = "") -> None:
            bar.update(task, completed=done, total=total, description=visible_name(what) if what else None)

        yield show


def program() -> str:
    """How this program can be called again: by its name where a shell finds it, else by its path."""
    called = Path(sys.argv[0])
    if called.name != "amem" or not called.is_file() or shutil.which("amem"):
        return "amem"
    return os.path.relpath(called) if called.is_relative_to(Path.cwd()) or not called.is_absolute() else str(called)


def installed_program() -> str:
    """The path of the ``amem`` program, for other programs that start it. Raises InvalidInput where there is none."""
    beside = shutil.which("amem", path=str(Path(sys.executable).parent))
    found = beside or shutil.which("amem")
    if found is None:
        raise InvalidInput("cannot find the program amem", hint="install amem into an environment of its own")
    return str(Path(found).absolute())
