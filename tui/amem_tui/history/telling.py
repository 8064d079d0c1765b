"""A version in words: its line in the list, and what stands above the change it made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from amem_tui.phrases import maker, moment, one_line

if TYPE_CHECKING:
    from datetime import tzinfo

    from amem.storage import Version


def version_line(version: Version, cause: str, zone: tzinfo) -> Content:
    """Two lines for the list: when and by whom, then what for (the `cause` in words)."""
    sure = "" if version.confidence is None else f" {version.confidence:.0%} sure"
    head = Content.assemble(
        (f" v{version.version:<4}", "bold"), (f"{moment(version.at, zone)} ", "$muted"), maker(version.actor)
    )
    why = f": {one_line(cause, 80)}" if cause else ""
    return Content("\n").join([head, Content.assemble((f"      {version.action}{sure}{why}", "$muted"))])


def change_head(version: Version, cause: str, zone: tzinfo) -> Content:
    """Who did it, when, why, how sure, and what the model was asked."""
    lines = [
        Content.assemble(
            maker(version.actor),
            (f"  {version.action}", "bold"),
            (f"  {moment(version.at, zone)}  operation {version.operation}", "$muted"),
        )
    ]
    if cause:
        lines.append(Content(one_line(cause, 400)))
    if version.proposed_by:
        sure = "" if version.confidence is None else f", {version.confidence:.0%} sure"
        lines.append(Content.assemble(("proposed by ", "$muted"), maker(version.proposed_by), (sure, "$muted")))
    if version.prompts:
        lines.append(Content.assemble((f"prompts: {one_line(version.prompts)}", "$muted")))
    return Content("\n").join(lines)
