"""What the app does when something fails: a screen for a store, a toast and a line in the log for the unforeseen."""

from __future__ import annotations

import logging
import os
import select
import shlex
import threading
from contextlib import contextmanager
from logging.handlers import RotatingFileHandler
from typing import TYPE_CHECKING, ClassVar, TextIO, cast

from rich.text import Text
from textual import events, on, work
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.worker import WorkerFailed

from amem.errors import AmemError, StorageBusy, StorageCorrupt, StorageFull, StorageGone, StorageReadOnly
from amem.server_call import VisibleLines
from amem_tui.client import CollectionChanged, words
from amem_tui.formatting import clean, one_line
from amem_tui.keymap import OneKeyAtATime
from amem_tui.page import Page, labelled, remark, space
from amem_tui.rooms import KeyFooter, NotesScreen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from io import TextIOWrapper
    from pathlib import Path

    from textual.app import ComposeResult
    from textual.notifications import Notify

    from amem.settings import Settings
    from amem_tui.client import CollectionClient
    from amem_tui.page import Part


FILE_NAME = "tui.log"
#: Bytes from which on the file is begun anew, the old one kept beside it.
_FULL = 1_000_000
_log = logging.getLogger("amem.tui")


class _PrivateFile(RotatingFileHandler):
    """A log that its owner alone can read, made when there is something to write."""

    def _open(self) -> TextIOWrapper:
        os.makedirs(os.path.dirname(self.baseFilename), mode=0o700, exist_ok=True)
        descriptor = os.open(self.baseFilename, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
        return os.fdopen(descriptor, "a", encoding="utf-8")


@contextmanager
def logging_to_home(home: Path, *secrets: str) -> Iterator[None]:
    """While the browser runs, warnings of amem and its own mishaps go to ``<home>/tui.log``, without `secrets`."""
    handler = _PrivateFile(home / FILE_NAME, maxBytes=_FULL, backupCount=1, encoding="utf-8", delay=True)
    handler.setLevel(logging.WARNING)
    handler.setFormatter(VisibleLines("%(asctime)s %(levelname)s %(name)s %(message)s", *secrets))
    amem = logging.getLogger("amem")
    amem.addHandler(handler)
    try:
        yield
    finally:
        amem.removeHandler(handler)
        handler.close()


def log_error(error: BaseException) -> None:
    _log.error("unexpected %s", type(error).__name__, exc_info=error)


def error_words(error: BaseException, home: Path) -> str:
    said = one_line(str(error))
    what = f"{type(error).__name__}: {said}" if said else type(error).__name__
    return f"Something unforeseen went wrong, {what}\nIt is written down in {home / FILE_NAME}."


_HEADINGS = {
    StorageFull: "The disk is full or fails",
    StorageCorrupt: "The collection is damaged",
    StorageGone: "The collection is gone",
    StorageReadOnly: "It cannot be opened",
    StorageBusy: "The collection is busy",
    AmemError: "The collection cannot be read",
}


class UnreadableScreen(ModalScreen[None]):
    """`for_now`: the collection is tried again every moment, and this goes when it answers.

    Otherwise only some of it fails: one may go on without. What was being typed below it is still there then.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "app.retry", "Try again"),
        Binding("ctrl+o", "app.switch_collection", "Another collection"),
        Binding("escape", "go_on", "Go on without"),
        Binding("q", "app.quit", "Quit"),
    ]

    def __init__(self, error: AmemError, collection: str, home: Path, *, for_now: bool) -> None:
        super().__init__()
        self._error, self._collection, self._home = error, collection, home
        self.for_now = for_now
        self._over = False

    def compose(self) -> ComposeResult:
        yield Page(id="unreadable")
        yield KeyFooter()

    def on_mount(self) -> None:
        self.say(self._error)

    def say(self, error: AmemError) -> None:
        self._error = error
        command = shlex.join(["amem", "--home", str(self._home), "--collection", self._collection, "doctor"])
        waiting = " It is tried again every moment; this goes by itself when it answers." if self.for_now else ""
        told = {
            "Collection": (self._collection, "bold"),
            "What": (str(error), ""),
            "What to do": (error.hint or "try it again", ""),
            "Look at it": (command, "$accent"),
        }
        fields = [labelled(name, Content.styled(clean(text), look), cells=13) for name, (text, look) in told.items()]
        parts: list[Part] = [part for each in fields for part in (each, space())]
        page = self.query_one(Page)
        page.border_title = next(words for kind, words in _HEADINGS.items() if isinstance(error, kind))
        self.call_later(page.show, [*parts, remark(f"What was saved before is safe.{waiting}")])
        self.refresh_bindings()

    def end(self) -> None:
        """Go: at once, or when what was opened above is closed."""
        self._over = True
        self._go_when_seen()

    @on(events.ScreenResume)
    def _go_when_seen(self) -> None:
        if self._over and self.is_current:
            self.dismiss()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """There is something to go on with only where the collection as such can be read."""
        return action != "go_on" or not self.for_now

    def action_go_on(self) -> None:
        cast("FailureHandling", self.app).do_without(str(self._error))


#: So many things are said at a time, and no more than one to so many lines of the screen.
_TOASTS, _LINES = 3, 9


class FailureHandling(OneKeyAtATime):
    """The part of the app that bad news comes to; `_client` is the open collection, None while there is none."""

    _client: CollectionClient | None
    settings: Settings

    def __init__(self) -> None:
        super().__init__()
        #: What fails and the person does without, until it is tried again.
        self._done_without: set[str] = set()

    async def open_again(self) -> None:
        raise NotImplementedError

    def announce(self) -> None:
        for screen in self.screen_stack:
            if isinstance(screen, NotesScreen):
                screen.post_message(CollectionChanged())

    def toast(self, message: str, *, error: bool = False) -> None:
        self.notify(message, severity="error" if error else "information", timeout=8 if error else 3, markup=False)

    def _on_notify(self, event: Notify) -> None:
        """Say it, in place of the oldest where much is said; what failed stays longest."""
        super()._on_notify(event)
        most = max(1, min(_TOASTS, self.size.height // _LINES))
        others = [each for each in self._notifications if each is not event.notification]
        others.sort(key=lambda each: each.severity == "error")
        for each in others[: max(0, len(others) + 1 - most)]:
            self._unnotify(each)

    def unreadable(self, error: AmemError, *, for_now: bool) -> None:
        """Say on a screen of its own that the store fails; `for_now`: it is looked at again and again meanwhile."""
        if self._client is None:
            return  # the rooms of a collection that is being left
        if not for_now and str(error) in self._done_without:
            self.toast(words(error), error=True)
            return
        for screen in self.screen_stack:
            if isinstance(screen, UnreadableScreen):
                screen.for_now = screen.for_now or for_now
                if screen.is_mounted:
                    screen.say(error)
                return
        self.push_screen(UnreadableScreen(error, self.settings.collection, self.settings.home, for_now=for_now))

    def readable(self) -> None:
        self._end_of_trouble()
        self.toast("The collection can be read again.")

    def _end_of_trouble(self) -> None:
        for screen in self.screen_stack:
            if isinstance(screen, UnreadableScreen):
                screen.end()
        self.announce()

    def do_without(self, words: str) -> None:
        self._done_without.add(words)
        self._end_of_trouble()

    def action_retry(self) -> None:
        """Try it, but not while it is tried or another collection is opened: both would move out of the same rooms."""
        if not any(each.group == "collection" and not each.is_finished for each in self.workers):
            self._retry()

    @work(group="collection")
    async def _retry(self) -> None:
        client = self._client
        assert client is not None
        try:
            await client.ask(client.memory.pulse)
        except StorageGone:
            # What stands in its place now, perhaps put back from a copy, is another file: open that.
            await self.open_again()
        except AmemError as error:
            self.unreadable(error, for_now=True)
        else:
            self._done_without.clear()
            self._end_of_trouble()

    def report_error(self, error: BaseException) -> None:
        log_error(error)
        self.toast(error_words(error, self.settings.home), error=True)

    def _handle_exception(self, error: Exception) -> None:
        """The one place where exceptions that nobody caught arrive, from workers, messages and drawing."""
        cause = error.error if isinstance(error, WorkerFailed) else error
        if isinstance(cause, AmemError) and isinstance(error, WorkerFailed):
            if self._client is not None:  # the rooms of a collection that is being left need say nothing
                self._client.refuse(cause)
            return
        if not self._running:  # on the way out, where rooms lose their widgets before their last messages
            log_error(cause)
            return
        if self._exception is None:  # whoever drives the app in a test hears of it
            self._exception = error
            self._exception_event.set()
        if isinstance(error, WorkerFailed):
            self.report_error(cause)
            return
        # What handles messages has stopped: without it the app would only seem to be alive.
        log_error(cause)
        self._return_code = 1
        self.panic(Text(error_words(cause, self.settings.home)))


# Ending the program when the terminal, or the page, that showed it is gone.
#
# A window that vanishes may leave no more behind than an input that is at its end: Textual's input thread then reads
# nothing, again and again, and what the app writes to say goodbye may wait for ever. So a thread that depends on
# neither watches the input, asks the app to leave, and ends the process where it has not left within some seconds.
# Everything that was acknowledged is stored by then.

#: Seconds the app is given to leave by itself.
_GRACE = 3.0
#: Milliseconds between two looks at whether the watch is over.
_LOOK = 500
#: What a shell reports of a program that a hang-up ended (128 + SIGHUP).
_HUNG_UP = 129


@contextmanager
def leaving_on_hang_up(input: TextIO | None, leave: Callable[[], object]) -> Iterator[None]:
    """Call `leave` from a thread when the other end of `input`, a terminal or a page, is gone meanwhile.

    The process then ends within seconds, whatever it does. Without ``poll``, as on Windows, nothing is watched.
    """
    shown = input is not None and (input.isatty() or "TEXTUAL_DRIVER" in os.environ)
    if input is None or not shown or not hasattr(select, "poll"):
        yield
        return
    over = threading.Event()
    threading.Thread(target=_watch, args=(input.fileno(), leave, over), name="amem-hang-up", daemon=True).start()
    try:
        yield
    finally:
        over.set()


def _watch(input: int, leave: Callable[[], object], over: threading.Event) -> None:
    watched = select.poll()
    # That the other end is gone is reported whatever is asked for; what can be read is the app's to read.
    watched.register(input, 0)
    while not over.is_set():
        if any(event & (select.POLLHUP | select.POLLERR) for _, event in watched.poll(_LOOK)):
            # Not called off when the block ends: a thread that waits for the terminal may still hold up the end.
            end = threading.Timer(_GRACE, os._exit, (_HUNG_UP,))
            end.daemon = True
            end.start()
            leave()
            return
