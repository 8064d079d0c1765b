"""The note's versions, newest first, each with what changed in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from amem_tui.browse.pane.aims import ToVersion
from amem_tui.browse.pane.entries import MOST, entry, say, space
from amem_tui.browse.pane.leaf import Block
from amem_tui.history.fields import compared
from amem_tui.phrases import maker, moment, one_line, plural, title

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from amem.memory_system import AgenticMemorySystem
    from amem.storage import Version
    from amem_tui.browse.pane.asked import Asked
    from amem_tui.browse.pane.leaf import Part

_AROUND = 80


def read(memory: AgenticMemorySystem, asked: Asked) -> list[Part]:
    """What came of the note since it was written."""
    versions = sorted(memory.history(asked.note.id), key=lambda each: -each.version)
    others = [end for each in versions[:MOST] for end in _named(each)]
    titles = {id: title(card.text) for id, card in memory.cards_of(list(dict.fromkeys(others))).items()}
    parts = [part for each in versions[:MOST] for part in _version(each, asked, titles)]
    if len(versions) > MOST:
        parts.append(say(f"and {plural(len(versions) - MOST, 'version')} before"))
    return parts


def _version(each: Version, asked: Asked, titles: dict[str, str]) -> Iterator[Part]:
    when = (f"  {moment(each.at, asked.zone)}  ", "$muted")
    head = Content.assemble((f"v{each.version}", "bold"), when, maker(each.actor))
    why = f"{each.action}: {one_line(each.cause)}" if each.cause else each.action
    yield entry(head, ToVersion(each.version), Content.styled(why, "$muted"))
    # The first version records only that the note came to be; its text is what the first page shows.
    if each.version > 1:
        for change in compared(each.changes, asked.zone, titles, around=_AROUND):
            yield Block(Content.styled(change.name, "$secondary"), first=Content("  "), rest=Content("  "))
            yield Block(change.both, first=Content("    "), rest=Content("    "))
    yield space()


def _named(each: Version) -> Sequence[str]:
    """The notes that a version's changes name."""
    return [str(end) for end in each.changes.get("superseded_by", ()) if end]
