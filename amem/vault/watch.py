"""A vault that is synced whenever a file in it or a note changes.

Watchdog says that files changed, the collection's change counter that notes did. Both are waited for to be quiet for a
moment: a program that saves a file touches it several times.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING, Any

from amem.errors import AmemError
from amem.interop.formats import MARKDOWN_SUFFIXES
from amem.vault.folder import RULE_FILES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from amem.vault.state import SyncReport
    from amem.vault.sync import Vault

_log = logging.getLogger("amem")
#: Seconds: how long all must be quiet before a sync, how often the notes are asked, how often files are looked
#: through even though nothing was heard of them.
QUIET, POLL, LOOK = 0.7, 1.0, 300.0


def watch(
    vault: Vault,
    pulse: Callable[[], tuple[int, int]],
    heard: Callable[[SyncReport], bool],
    *,
    quiet: float = QUIET,
    poll: float = POLL,
    stop: threading.Event | None = None,
) -> None:
    """Sync now and then after each change on either side, until interrupted, told to `stop`, or `heard` says True.

    `pulse` grows when notes change; `heard` is told of each sync. One that fails is tried again after a change.
    """
    moved = threading.Event()
    stop = stop or threading.Event()
    if _sync(vault, heard):
        return
    seen, looked = pulse(), time.monotonic()
    observer = _observer(vault.folder.root, moved)
    moved.set()  # what was written after the first sync and before this is heard of by nobody
    try:
        while not stop.wait(0 if moved.is_set() else poll):
            if not moved.is_set() and pulse() == seen and time.monotonic() - looked < LOOK:
                continue
            while moved.is_set() and not stop.is_set():
                moved.clear()
                stop.wait(quiet)
            if _sync(vault, heard):
                return
            # What the sync itself wrote on either side is no reason for another.
            seen, looked = pulse(), time.monotonic()
    except KeyboardInterrupt:
        return
    finally:
        observer.stop()
        observer.join(5)


def _sync(vault: Vault, heard: Callable[[SyncReport], bool]) -> bool:
    try:
        report = vault.sync()
    except (AmemError, OSError) as error:
        _log.error("the vault could not be synced: %s", error)
        return False
    return heard(report)


def _observer(root: Path, moved: threading.Event) -> Any:
    """A thread that sets `moved` when a Markdown file, a folder or a rule changes below the root."""
    from watchdog.events import FileSystemEvent, FileSystemEventHandler
    from watchdog.observers import Observer
    from watchdog.observers.polling import PollingObserver

    class Handler(FileSystemEventHandler):
        def on_any_event(self, event: FileSystemEvent) -> None:
            if event.event_type in ("opened", "closed_no_write"):
                return
            for path in (event.src_path, event.dest_path):
                text = path.decode("utf-8", "replace") if isinstance(path, bytes) else str(path)
                name = text.replace("\\", "/").rsplit("/", 1)[-1]
                hidden = any(part.startswith(".") for part in text[len(str(root)) :].replace("\\", "/").split("/"))
                note = not hidden and name.lower().endswith(MARKDOWN_SUFFIXES)
                folder = not hidden and event.is_directory and event.event_type != "modified"
                if note or folder or name in RULE_FILES:
                    moved.set()

    for kind in (Observer, PollingObserver):
        observer = kind()
        try:
            observer.schedule(Handler(), str(root), recursive=True)
            observer.start()
        except OSError as error:  # so many folders that the system will not watch them all
            _log.info("%s cannot be watched by %s: %s", root, kind, error)
            continue
        return observer
    raise AmemError(f"{root} cannot be watched")
