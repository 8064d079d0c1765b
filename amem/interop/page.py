"""A note as Markdown: front matter that ``amem import`` and Obsidian read, its text, and where it leads."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

    from amem.note import Link, MemoryNote


def markdown(note: MemoryNote, links: Sequence[Link], zone: tzinfo, *, alone: bool) -> str:
    """The note as a page of its own, or (not `alone`) as one of several in a file, parted by rules."""
    at = note.at or note.recorded_at
    when = "" if at is None else at.astimezone(zone).strftime("%Y-%m-%d %H:%M")
    body = [note.content.rstrip(), *([""] if links else []), *(_led(link) for link in links)]
    if alone:
        front = {"id": note.id, "created": when, "kind": str(note.kind), "context": _flat(note.context)}
        lines = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in front.items() if value]
        if note.tags:
            lines += ["tags:", *(f"  - {_flat(tag)}" for tag in note.tags)]
        return "\n".join(["---", *lines, "---", "", *body])
    tags = " ".join(f"#{_flat(tag)}" for tag in note.tags)
    about = " · ".join(part for part in (when, str(note.kind), tags, f"`{note.id}`") if part)
    return "\n".join([*body, "", f"*{about}*", "", "---", ""])


def _led(link: Link) -> str:
    return f"- {link.type} [[{link.target}]]{': ' if link.reason else ''}{_flat(link.reason)}"


def _flat(text: str) -> str:
    return " ".join(text.split())
