"""What exactly one operation did: the notes it made and changed, the links, what it proposed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.content import Content

from amem.labels import short_id
from amem.note import Status
from amem_tui.formatting import maker, moment, one_line, title
from amem_tui.history.field_changes import compared, field_blocks, said
from amem_tui.history.versions import told

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import tzinfo

    from textual.widget import Widget

    from amem.memory_system import AgenticMemorySystem
    from amem.storage.activity import Doings, LinkChange
    from amem.storage.note_lists import Card


#: More notes and links than anybody reads of one operation.
_MOST = 20
#: Of so many notes that one operation made all is told, of more the titles.
_IN_FULL = 2
_AROUND = 80


def read_doings(memory: AgenticMemorySystem, operation: int) -> tuple[Doings, dict[str, Card], str]:
    """What it did, cards of all notes that have a part in it, and its cause in words. Raises OperationNotFound."""
    found = memory.doings(operation, most=_MOST)
    ids = [*found.changes, *found.flagged, *found.witnessed, *(each.note for each in found.reviews)]
    ids += [end for each in found.links for end in (each.source, each.target)]
    for changes in found.changes.values():
        ids += [id for id in changes.get("superseded_by", ()) if id is not None]
    (cause,) = told(memory, [found.operation.cause]).values()
    return found, memory.cards_of(list(dict.fromkeys(ids))), cause


def detail_blocks(found: Doings, cards: Mapping[str, Card], cause: str, zone: tzinfo) -> list[Widget]:
    """Its head, then note by note what changed, then links and proposals."""
    titles = {id: title(card.text) for id, card in cards.items()}
    blocks: list[Widget] = [said(_head(found, cause, zone))]
    made = [id for id in found.changes if id in found.operation.created]
    if len(made) > _IN_FULL:
        blocks.append(said(Content("\n").join([_named("wrote", id, cards) for id in made])))
    for id, changes in found.changes.items():
        if id in made and len(made) > _IN_FULL:
            continue
        blocks.append(said(_named("wrote" if id in made else "changed", id, cards), "field-name"))
        blocks += field_blocks(compared(_telling(changes, id in made), zone, titles, around=_AROUND), beside=False)
    lines = [_link(each, titles) for each in found.links]
    lines += [_line("proposed for" if each.operation == found.operation.id else "decided on", each.note, titles)
              for each in found.reviews]  # fmt: skip
    lines += [_line("possibly out of date:", id, titles) for id in found.flagged]
    lines += [_line("said once more:", id, titles) for id in found.witnessed]
    if lines:
        blocks.append(said(Content("\n").join(lines)))
    more = len({*found.operation.created, *found.operation.notes}) - len(found.changes)
    if more > 0:
        blocks.append(said(Content.styled(f"… and {more:,} notes more", "$muted")))
    if len(blocks) == 1:
        blocks.append(said(Content.styled("Nothing is left of what it did.", "$muted")))
    return blocks


def _head(found: Doings, cause: str, zone: tzinfo) -> Content:
    each = found.operation
    lines = [
        Content.assemble(
            maker(each.actor),
            (f"  {each.action}", "bold strike" if each.undone else "bold"),
            ("  undone" if each.undone else "", "$warning"),
            (f"  {moment(each.at, zone)}  operation {each.id}", "$muted"),
        )
    ]
    if cause:
        lines.append(Content(one_line(cause, 400)))
    if each.parent is not None:
        lines.append(Content.styled(f"set off by operation {each.parent}", "$muted"))
    if each.prompts:
        lines.append(Content.styled(f"prompts: {one_line(each.prompts)}", "$muted"))
    return Content("\n").join(lines)


def _telling(changes: Mapping[str, tuple[Any, Any]], made: bool) -> Mapping[str, tuple[Any, Any]]:
    """Of a note that was made, what somebody would want to know of it."""
    if not made:
        return changes
    return {field: changes[field] for field in ("content", "context", "keywords", "tags", "kind") if field in changes}


def _named(did: str, id: str, cards: Mapping[str, Card]) -> Content:
    card = cards.get(id)
    gone = f" ({card.status})" if card is not None and card.status is not Status.ACTIVE else ""
    return Content.assemble(did, " ", title(card.text) if card is not None else short_id(id), (gone, "$warning"))


def _link(link: LinkChange, titles: Mapping[str, str]) -> Content:
    sign, style = ("+", "$success") if link.added else ("-", "$error")
    ends = [one_line(titles.get(id, short_id(id)), 60) for id in (link.source, link.target)]
    why = f"  {one_line(link.reason, 200)}" if link.reason else ""
    return Content.assemble(
        (f"{sign} {link.type.replace('_', ' ')}  ", style), ends[0], (" → ", "$muted"), ends[1], (why, "$muted")
    )


def _line(what: str, id: str, titles: Mapping[str, str]) -> Content:
    return Content.assemble((f"{what} ", "$muted"), one_line(titles.get(id, short_id(id)), 80))
