"""New notes: added one by one or many at a time, finished now or in the background."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amem.system.maintaining import Maintaining, NightHand
from amem.writing.intake import NewNote

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from amem.errors import AmemError
    from amem.note import Source
    from amem.receipt import Receipt
    from amem.storage.store import Session
    from amem.writing.restoring import Exported


class Adding(Maintaining):
    """Adds notes, and sees to it that what waits is done."""

    def add(
        self,
        content: str,
        *,
        time: str | datetime | None = None,
        source: Source | None = None,
        wait: bool = True,
        **fields: Any,
    ) -> Receipt:
        """Remember one note and say what came of it.

        `time` is when it was said or happened (ISO 8601, ``YYYYMMDDHHMM`` or a datetime; default: now); `fields` are
        note fields already known, analysis fills in the rest; ``user_id``, ``agent_id`` and ``session_id`` among them
        say whose the note is, for a Filter to ask by. With ``wait=False`` a model is not waited for: the note
        is stored and searchable, the receipt says ``pending``, and a thread finishes it (see `wait`); the offline
        rules, which take milliseconds, are applied at once either way. Raises EmptyNote, NoteTooLong, UnknownField,
        InvalidInput, MissingModel or StorageError; nothing is stored then.
        """
        return self._add([NewNote(content, time, source, fields)], wait=wait)[0]

    def add_note(self, content: str, time: str | datetime | None = None, *, wait: bool = True, **fields: Any) -> str:
        """A-Mem's ``add_note``: remember one note, return its id (of the old note when it was known already)."""
        return self.add(content, time=time, wait=wait, **fields).id

    def add_notes(
        self,
        items: Sequence[NewNote | Mapping[str, Any] | str],
        *,
        cause: str = "",
        action: str = "add",
        parent: int | None = None,
        wait: bool = True,
        progress: Callable[[int, int], None] | None = None,
        on_refused: Callable[[int, AmemError], None] | None = None,
        at_last: Callable[[Session, Sequence[Receipt]], None] | None = None,
    ) -> list[Receipt]:
        """Remember many notes as one operation, embedded and committed in batches; receipts in order.

        One item that cannot be used raises before anything is stored, unless `on_refused` takes it (position, error)
        and it is left out. With a model all notes are stored first; then several are analysed at a time (setting
        ``llm_parallel``), and linked and evolved in order; `enrich` goes on where that was interrupted. `wait` is that
        of `add`. `progress` hears (done, of how many) after each batch, with a model after each note. What `at_last`
        does is committed with each batch; it is given the transaction and the batch's receipts. With `parent` this is a
        part of that operation, and undone with it.
        """
        how: dict[str, Any] = {"parent": parent, "progress": progress, "on_refused": on_refused, "at_last": at_last}
        return self._add(items, cause=cause, action=action, wait=wait, **how)

    def restore_notes(
        self,
        items: Sequence[Exported],
        *,
        cause: str = "",
        parent: int | None = None,
        progress: Callable[[int, int], None] | None = None,
        on_refused: Callable[[int, AmemError], None] | None = None,
        at_last: Callable[[Session, Sequence[Receipt]], None] | None = None,
    ) -> list[Receipt]:
        """Put notes of an export back as they were, with their histories; `import` does so with an empty collection.

        Nothing is analysed or linked anew. The arguments are those of `add_notes`. Raises EmbedderMismatch.
        """
        self._vectorizer.check()
        return self._restorer.restore(
            items,
            actor=self.actor,
            cause=cause,
            parent=parent,
            progress=progress,
            on_refused=on_refused,
            at_last=at_last,
        )

    def wait(self, timeout: float | None = None) -> bool:
        """Until the background has tried all that ``wait=False`` left to it; False when `timeout` seconds pass first.

        What failed is ``degraded`` then and waits for `enrich`.
        """
        return self._worker.wait(timeout)

    def work(self, *, once: bool = False, poll: float = 1.0, heard: Callable[[Receipt], None] | None = None) -> None:
        """Do what waits in the collection, whoever left it, looking for more every `poll` seconds until it is closed.

        With `once` only until nothing waits. `heard` is told of each note. Any number of processes may do this. Runs
        maintenance that is due when nobody has written for a while (settings ``nightly`` and ``idle_minutes``).
        """
        night = NightHand(self.maintain_when_quiet, self._clock, self._notify)
        self._working(heard, [] if once else [night]).run(once=once, poll=poll)

    def _add(
        self, items: Sequence[NewNote | Mapping[str, Any] | str], *, wait: bool = True, **how: Any
    ) -> list[Receipt]:
        receipts = self._pipeline.add(items, actor=self.actor, wait=wait, **how)
        if not wait and self._background and any(receipt.enrichment == "pending" for receipt in receipts):
            self._worker.wake()
        self._keep_up(receipts)
        self._hear(_text(item) for item in items)
        return receipts


def _text(item: NewNote | Mapping[str, Any] | str) -> str:
    held = item if isinstance(item, str) else item.content if isinstance(item, NewNote) else item.get("content")
    return held if isinstance(held, str) else ""
