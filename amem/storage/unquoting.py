"""The values that a field of a note had, one after the other, without what came from a note that is destroyed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from amem.language import Quotes


@dataclass(frozen=True, slots=True)
class Step:
    """A value that a field was given by an operation; `own` says that somebody chose these very words for it."""

    value: Any
    operation: int
    action: str
    own: bool = False


def without(steps: Sequence[Step], quotes: Quotes, arrivals: Collection[int], since: int) -> list[Any]:
    """The same values, oldest first, without what `arrivals` (operations) brought and what quotes a destroyed note.

    What is older than the operation `since` and what somebody chose stays as it is. A text that a rewrite only made
    longer loses what was added; any other goes back to what it was before. A list loses single items.
    """
    if any(isinstance(step.value, list) for step in steps):
        return _lists(steps, quotes, arrivals, since)
    if any(isinstance(step.value, dict) for step in steps):
        return [_kept_of(step, quotes, since) for step in steps]
    return _texts(steps, quotes, arrivals, since)


def _texts(steps: Sequence[Step], quotes: Quotes, arrivals: Collection[int], since: int) -> list[str]:
    found: list[str] = []
    became: dict[str, str] = {}
    added: list[str] = []
    before = last = ""
    reworded = False
    for step in steps:
        value = step.value or ""
        if step.own or step.operation < since:
            left, reworded = value, False
        elif value in became:  # undone, or set back
            left = became[value]
        else:
            left = value
            if step.operation in arrivals:
                if (more := _added(before, value)) is not None:
                    added.append(more)
                else:
                    reworded = True
            elif step.action != "evolve":  # read anew from the note itself
                reworded = False
            for more in added:
                left = left.replace(more, "")
            if reworded or quotes.held_by(left):
                left = last
            became[value] = left
        found.append(left)
        before, last = value, left
    return found


def _added(before: str, after: str) -> str | None:
    """What `after` says more than `before`, in one piece; None where it says something else."""
    stem = before.rstrip(".。")
    more = after.removeprefix(stem).rstrip(".。")
    return more if stem and after.startswith(stem) and more.strip() else None


def _lists(steps: Sequence[Step], quotes: Quotes, arrivals: Collection[int], since: int) -> list[list[Any]]:
    found: list[list[Any]] = []
    gone: set[str] = set()
    before: set[str] = set()
    for step in steps:
        items = [(json.dumps(item, ensure_ascii=False), item) for item in step.value or []]
        texts = {text for text, _ in items}
        if step.operation in arrivals:
            gone |= texts - before
        before = texts
        if step.own or step.operation < since:
            gone -= texts
            found.append([item for _, item in items])
        else:
            found.append([item for text, item in items if text not in gone and not quotes.held_by(text)])
    return found


def _kept_of(step: Step, quotes: Quotes, since: int) -> dict[str, Any]:
    held: dict[str, Any] = step.value or {}
    if step.own or step.operation < since:
        return held
    return {name: value for name, value in held.items() if not quotes.held_by(json.dumps(value, ensure_ascii=False))}
