"""Pages that a model writes, held to the notes they cite; the rules' page gives what the model left out."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from amem.analysis import PageNote
from amem.llm.topic_pages import MOST_NOTES
from amem.maintenance.topics.page import Gone, Page, Statement, statement_of
from amem.rendering import holding_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from amem.note import MemoryNote
    from amem.protocols import PageWriter

_CITED = re.compile(r"\[\[([^\[\]\n]{4,64})\]\]")
_FIRST_LINES = re.compile(r"\A# [^\n]*\n+")


def written(
    writer: PageWriter, offline: Page, present: str, members: Sequence[MemoryNote], fresh: Sequence[str]
) -> Page:
    """The page anew from the `present` text and the `fresh` members (by id); `offline` is what the rules would write.

    Raises BadModelAnswer and what `ChatModel.complete` raises.
    """
    notes = {note.id: note for note in members}
    overturned = {id: each for each in offline.gone for id in each.old.notes}
    held = [id for id in (_whole(short, (*notes, *overturned)) for short in _CITED.findall(present)) if id]
    shown = list(dict.fromkeys((*fresh[-MOST_NOTES:], *held, *overturned)))
    handles = {id: f"n{place}" for place, id in enumerate(shown, start=1)}
    pages = [
        PageNote(handles[id], _holding(notes[id]), notes[id].at, new=id in fresh)
        if id in notes
        else PageNote(handles[id], overturned[id].old.text, gone=True)
        for id in shown
    ]
    draft = writer.page(offline.title, _by_handle(present, handles), pages)
    return _page(offline, draft.title, draft.summary, draft.statements, draft.gone, handles, notes)


def _page(
    offline: Page,
    title: str,
    summary: str,
    said: Sequence[tuple[str, tuple[str, ...]]],
    gone: Sequence[str],
    handles: Mapping[str, str],
    notes: Mapping[str, MemoryNote],
) -> Page:
    ids = {handle: id for id, handle in handles.items()}
    # What is overturned is for the links to say; that a model thinks so only takes a statement off the page.
    doubted = [ids[handle] for handle in gone if ids[handle] in notes]
    statements = tuple(
        Statement(text, tuple(ids[each] for each in cited if ids[each] in notes or len(cited) == 1))
        for text, cited in said
    )
    cited = {id for each in statements for id in each.notes} | set(doubted)
    return replace(
        offline,
        title=title or offline.title,
        summary=summary or offline.summary,
        sections=(("", statements),),
        gone=(*offline.gone, *(Gone(statement_of(notes[id]), None) for id in doubted)),
        more=len(notes.keys() - cited),
    )


def _holding(note: MemoryNote) -> str:
    return holding_text(note.content, note.overturned) or note.content


def _by_handle(present: str, handles: Mapping[str, str]) -> str:
    """A page without its title, citing by handle; citations of notes that are not shown are left out."""

    def handle(match: re.Match[str]) -> str:
        id = _whole(match[1], handles)
        return f"[{handles[id]}]" if id is not None else ""

    return _CITED.sub(handle, _FIRST_LINES.sub("", present))


def _whole(short: str, ids: Mapping[str, object] | Sequence[str]) -> str | None:
    found = [id for id in ids if id.startswith(short)]
    return found[0] if len(found) == 1 else None
