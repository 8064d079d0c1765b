"""What a maintenance did, in numbers and note by note."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from amem.maintenance.shift import Reason


@dataclass(frozen=True, slots=True)
class MaintenanceReport:
    """What one run did; in a dry run, what it would do.

    `operation` is what `undo` takes back, None when nothing changed; `duration` is in seconds and that of this
    process alone; `resumed` tells that an earlier process had begun the run: its part is in the numbers, not in the
    `reasons`. `problems` holds a line for each phase that failed; what it should have looked at is looked at again
    the next time.
    """

    cycle: str
    dry_run: bool = False
    promoted: int = 0
    demoted: int = 0
    faded: int = 0
    conflicts_found: int = 0
    conflicts_resolved: int = 0
    consolidated: int = 0
    merges_proposed: int = 0
    topics_updated: int = 0
    compressed: int = 0
    reembedded: int = 0
    reweighted: int = 0
    duration: float = 0.0
    operation: int | None = None
    resumed: bool = False
    reasons: tuple[Reason, ...] = ()
    problems: tuple[str, ...] = ()

    @classmethod
    def of(cls, counts: Mapping[str, int], **rest: Any) -> MaintenanceReport:
        """A report from counts by name, which must be those above."""
        values: dict[str, Any] = {**counts, **rest}
        return cls(**values)

    def counts(self) -> Iterator[tuple[str, int]]:
        """What was done, by name, where it was done at all."""
        return ((name, getattr(self, name)) for name in COUNTS if getattr(self, name))

    def line(self) -> str:
        """All of it in a few words, with how to take it back; empty when nothing changed."""
        if self.operation is None:
            return ""
        done = ", ".join(f"{number:,} {name.replace('_', ' ')}" for name, number in self.counts())
        return f"maintenance: {done or 'done'}: amem undo {self.operation}"

    def to_dict(self) -> dict[str, Any]:
        """As JSON-ready data."""
        return asdict(self) | {"reasons": [asdict(each) for each in self.reasons], "problems": list(self.problems)}


#: The names of what is counted.
COUNTS: Sequence[str] = tuple(
    each.name for each in fields(MaintenanceReport) if each.type == "int" and each.name != "operation"
)
