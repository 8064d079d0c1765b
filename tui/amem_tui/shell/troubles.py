"""What the app does when something fails: a screen for a store, a toast and a line in the log for the unforeseen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text
from textual import on, work
from textual.worker import WorkerFailed

from amem.errors import AmemError, StorageGone
from amem_tui.desk import CollectionChanged, words
from amem_tui.notes_screen import NotesScreen
from amem_tui.shell.mishaps import in_words, write_down
from amem_tui.shell.one_key_at_a_time import OneKeyAtATime
from amem_tui.shell.unreadable import GoOn, Retry, UnreadableScreen

if TYPE_CHECKING:
    from textual.notifications import Notify

    from amem.settings import Settings
    from amem_tui.desk import Desk

#: So many things are said at a time, and no more than one to so many lines of the screen.
_TOASTS, _LINES = 3, 9


class Troubles(OneKeyAtATime[None]):
    """The part of the app that bad news comes to; `_desk` is the open collection, None while there is none."""

    _desk: Desk | None
    _settings: Settings

    def __init__(self) -> None:
        super().__init__()
        #: What fails and the person does without, until it is tried again.
        self._done_without: set[str] = set()

    async def open_again(self) -> None:
        """Open anew what stands in the collection's place now."""
        raise NotImplementedError

    def announce(self) -> None:
        """Tell the room in front that somebody wrote; the others look when they are entered."""
        for screen in self.screen_stack:
            if isinstance(screen, NotesScreen):
                screen.post_message(CollectionChanged())

    def toast(self, message: str, *, error: bool = False) -> None:
        """Say something in a corner of the screen."""
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
        if self._desk is None:
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
        self.push_screen(UnreadableScreen(error, self._settings.collection, self._settings.home, for_now=for_now))

    def readable(self) -> None:
        """The store that failed answers again."""
        self._end_of_trouble()
        self.toast("The collection can be read again.")

    def _end_of_trouble(self) -> None:
        for screen in self.screen_stack:
            if isinstance(screen, UnreadableScreen):
                screen.end()
        self.announce()

    @on(GoOn)
    def _go_on(self, event: GoOn) -> None:
        self._done_without.add(event.words)
        self._end_of_trouble()

    @on(Retry)
    def _unless_under_way(self) -> None:
        """Try it, but not while it is tried or another collection is opened: both would move out of the same rooms."""
        if not any(each.group == "collection" and not each.is_finished for each in self.workers):
            self._retry()

    @work(group="collection")
    async def _retry(self) -> None:
        desk = self._desk
        assert desk is not None
        try:
            await desk.ask(desk.memory.pulse)
        except StorageGone:
            # What stands in its place now, perhaps put back from a copy, is another file: open that.
            await self.open_again()
        except AmemError as error:
            self.unreadable(error, for_now=True)
        else:
            self._done_without.clear()
            self._end_of_trouble()

    def mishap(self, error: BaseException) -> None:
        """Say that something unforeseen happened, and write it down."""
        write_down(error)
        self.toast(in_words(error, self._settings.home), error=True)

    def _handle_exception(self, error: Exception) -> None:
        """The one place where exceptions that nobody caught arrive, from workers, messages and drawing."""
        cause = error.error if isinstance(error, WorkerFailed) else error
        if isinstance(cause, AmemError) and self._desk is not None and isinstance(error, WorkerFailed):
            self._desk.refuse(cause)
            return
        if not self._running:  # on the way out, where rooms lose their widgets before their last messages
            write_down(cause)
            return
        if self._exception is None:  # whoever drives the app in a test hears of it
            self._exception = error
            self._exception_event.set()
        if isinstance(error, WorkerFailed):
            self.mishap(cause)
            return
        # What handles messages has stopped: without it the app would only seem to be alive.
        write_down(cause)
        self._return_code = 1
        self.panic(Text(in_words(cause, self._settings.home)))
