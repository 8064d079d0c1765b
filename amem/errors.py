"""Every error amem raises on purpose, as one tree.

    AmemError
    ├── InvalidInput (ValueError)      what was handed in cannot be used
    │   ├── EmptyNote
    │   ├── NoteTooLong
    │   ├── UnknownField
    │   ├── AmbiguousId
    │   └── CollectionExists
    ├── NotFound (LookupError)         the thing that was named is not there
    │   ├── NoteNotFound
    │   ├── CollectionNotFound
    │   ├── OperationNotFound
    │   ├── ReviewNotFound
    │   └── SessionNotFound
    ├── Conflict                       the state of the collection forbids it
    │   ├── StaleNote
    │   ├── EmbedderMismatch
    │   ├── MaintenanceRunning
    │   └── NothingToUndo
    ├── StorageError                   the disk or the database said no
    │   ├── StorageBusy
    │   ├── StorageReadOnly
    │   ├── StorageFull
    │   ├── StorageCorrupt
    │   ├── StorageGone
    │   └── SchemaTooNew
    ├── MissingModel                   weights that are not on this machine
    ├── MissingExtra (ImportError)     an optional package that is not installed
    ├── BadModelAnswer                 a model answered, but not in its schema
    ├── BudgetSpent                    the day's tokens are used up
    ├── Cancelled                      the work was called off
    └── ServiceUnavailable             a server that did not answer

Each carries what happened (``str(error)``) and what to do next (``error.hint``).
"""

from __future__ import annotations

import re

#: What is handed in is named by errors, and may be a book: characters of an error, and of what it quotes.
_LONGEST, _QUOTED = 500, 80
#: A quotation that is too long; an apostrophe within a word opens and ends none.
_QUOTATION = re.compile(r"""(?<!\w)(?:'([^']{81,})'|"([^"]{81,})"|“([^“”]{81,})”)(?!\w)""")


class AmemError(Exception):
    """Base of all; ``hint`` says what to do next, in one line, and may be empty. Neither is longer than a page."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(shortened(message))
        self.hint = _cut(hint)


def shortened(text: str) -> str:
    """What an error says, with the middle left out of what it quotes and of all of it where that is too long."""
    return _cut(_QUOTATION.sub(_quotation, text))


def _quotation(found: re.Match[str]) -> str:
    whole, half = found[0], _QUOTED // 2
    return f"{whole[:half]} [...] {whole[-half:]}"


def _cut(text: str) -> str:
    half = _LONGEST // 2
    return text if len(text) <= _LONGEST else f"{text[:half]} [...] {text[-half:]}"


def with_hint(error: BaseException) -> str:
    """What went wrong and what to do about it, in one line: for reports that outlive the error."""
    what, hint = str(error) or type(error).__name__, error.hint if isinstance(error, AmemError) else ""
    return f"{what} ({hint})" if hint else what


def first_line(error: Exception) -> str:
    """The first line of what another library says went wrong, or the name of the error's kind when it says nothing."""
    return str(error).strip().partition("\n")[0] or type(error).__name__


class InvalidInput(AmemError, ValueError):
    """What was handed in cannot be used; nothing was changed."""


class EmptyNote(InvalidInput):
    """A note needs at least one character that is not white space."""


class NoteTooLong(InvalidInput):
    """The content is longer than the ``max_note_chars`` setting."""


class UnknownField(InvalidInput):
    """A note has no such field, or it cannot be set from outside."""


class AmbiguousId(InvalidInput):
    """A shortened id fits several things."""


class CollectionExists(InvalidInput):
    """A collection of that name is already there."""


class NotFound(AmemError, LookupError):
    """The thing that was named is not there."""


class NoteNotFound(NotFound):
    """No note has this id."""


class CollectionNotFound(NotFound):
    """The home holds no collection of this name."""


class OperationNotFound(NotFound):
    """The log holds no operation of this id."""


class ReviewNotFound(NotFound):
    """The review queue holds no open item of this id."""


class SessionNotFound(NotFound):
    """No chat of the collection has this id."""


class Conflict(AmemError):
    """The state of the collection forbids what was asked."""


class StaleNote(Conflict):
    """The note changed since it was read."""


class EmbedderMismatch(Conflict):
    """The collection was embedded with another model or recipe."""


class MaintenanceRunning(Conflict):
    """Another process is maintaining the collection."""


class NothingToUndo(Conflict):
    """There is no operation left to take back (or to do again)."""


class StorageError(AmemError):
    """The disk or the database said no."""


class StorageBusy(StorageError):
    """Another process held the collection's write lock for too long."""


class StorageReadOnly(StorageError):
    """The collection cannot be written to."""


class StorageFull(StorageError):
    """The disk is full; what was acknowledged before is safe."""


class StorageCorrupt(StorageError):
    """The database file is not a healthy amem collection."""


class StorageGone(StorageError):
    """The collection's file was moved, removed or replaced while it was open."""


class SchemaTooNew(StorageError):
    """A newer amem wrote this collection."""


class MissingModel(AmemError):
    """The weights of a model are not on this machine and cannot be fetched."""


class MissingExtra(AmemError, ImportError):
    """An optional package is not installed."""


class BadModelAnswer(AmemError):
    """A model answered, but not within its schema."""


class BudgetSpent(AmemError):
    """The tokens that models may use in a day (setting ``llm_daily_tokens``) are used up."""


class Cancelled(AmemError):
    """The work was called off while it was being done."""


class ServiceUnavailable(AmemError):
    """A server that was needed did not answer; `passing` says that asking again soon may help."""

    def __init__(self, message: str, *, hint: str = "", passing: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.passing = passing
