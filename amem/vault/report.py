"""What a sync did, or would do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that was done: what to which file and note. `note` is '' where there is none."""

    what: str
    path: str
    note: str = ""
    more: str = ""


@dataclass(slots=True)
class SyncReport:
    """What went from files to notes, from notes to files, and what a person has to look at.

    To notes goes what was ``added``, ``changed``, ``merged``, ``renamed``, ``deleted``, ``restored`` and ``linked``; to
    files what was ``written``, ``updated``, ``put back`` and ``removed``. `conflicts` are those of this sync, `waiting`
    the files of earlier ones that are still there. `problems` are files that were left alone, with the reason;
    `remarks` are words about files that were not. `operation` takes back all that went to notes, None when nothing did.
    """

    folder: str
    dry_run: bool = False
    to_notes: list[Step] = field(default_factory=list)
    to_files: list[Step] = field(default_factory=list)
    conflicts: list[Step] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    problems: list[Step] = field(default_factory=list)
    remarks: list[Step] = field(default_factory=list)
    matching: int = 0
    operation: int | None = None

    @property
    def is_quiet(self) -> bool:
        """Whether there was nothing to do."""
        return not (self.to_notes or self.to_files or self.conflicts)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "folder": self.folder,
            "dry_run": self.dry_run,
            "to_notes": [_plain(each) for each in self.to_notes],
            "to_files": [_plain(each) for each in self.to_files],
            "conflicts": [_plain(each) for each in self.conflicts],
            "waiting": list(self.waiting),
            "problems": [_plain(each) for each in self.problems],
            "remarks": [_plain(each) for each in self.remarks],
            "matching": self.matching,
            "operation": self.operation,
        }


def _plain(step: Step) -> dict[str, str]:
    return {"what": step.what, "path": step.path, "note": step.note, "more": step.more}
