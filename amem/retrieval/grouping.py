"""Hits by session or topic: which group a note is in, and how k places are spread over the groups."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from amem.labels import short_ids, title
from amem.query import Grouping
from amem.retrieval.hit import Group
from amem.storage.rows import moment_or_never

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import tzinfo

    from amem.storage.store import Session

#: A file as a source names it, without the line. What names an entry behind ": " is an export, and no document.
_DOCUMENT = re.compile(r"((?:(?!: ).)+?)(?::\d+)?")
#: What of its score a note keeps for each better one of its group (`locomo_retrieval.py --several`).
_FURTHER = 0.95
#: Characters that are shown of a topic's title.
_TITLE = 60


def groups_of(session: Session, grouping: Grouping, notes: Mapping[int, str], zone: tzinfo) -> list[Group]:
    """The group of each of these notes (key to id), in their order.

    A session is what was said in one conversation on one day in `zone`, else a document, else all of a day. A topic is
    a topic's page with its notes. A note without a topic is in a group that has no id.
    """
    if grouping is Grouping.TOPIC:
        topics = session.links.topics_of(list(notes.values()))
        held = (topics.get(id, ("", "")) for id in notes.values())
        return [Group(grouping, id, title(text, _TITLE)) for id, text in held]
    rows = session.notes.columns(list(notes), ("conversation_id", "at"))
    sources = session.sources.of([id for key, id in notes.items() if rows[key][0] is None])
    found = []
    for key, id in notes.items():
        conversation, at = rows[key]
        day = moment_or_never(at).astimezone(zone).date().isoformat()
        files = (_DOCUMENT.fullmatch(each.ref) for each in sources.get(id, ()) if each.kind == "file" and each.ref)
        name = f"{conversation} {day}" if conversation else next((file[1] for file in files if file), day)
        found.append(Group(grouping, name, short_ids(name)))
    return found


def spread_over(groups: Sequence[Group], scores: Sequence[float], k: int) -> list[int]:
    """Which `k` of the notes in these groups, best first, take the places: those of a group one behind the other.

    Each note of a group that is better takes a twentieth of a note's score, so that the next group comes sooner; a note
    in no group is one by itself. Groups come in the order of their best note, whose place nothing can take.
    """
    members: dict[str | int, list[int]] = {}
    worth: list[tuple[float, int]] = []
    for place, (group, score) in enumerate(zip(groups, scores, strict=True)):
        held = members.setdefault(group.id or place, [])
        worth.append((-score * _FURTHER ** len(held), place))
        held.append(place)
    taken = {place for _, place in sorted(worth)[:k]}
    return [place for held in members.values() for place in held if place in taken]
