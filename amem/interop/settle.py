"""What an import owes the notes it stored, or found stored: links between them, and their old standing.

A link that a person made takes the place of what a machine guessed of the same two notes.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from amem.interop.wikilinks import is_of_text
from amem.note import Link, LinkType, is_persons_word
from amem.storage.notes import STANDING
from amem.storage.rows import plain
from amem.writing.evolution import GUESSED, drop_guesses

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from amem.interop.items import Standing
    from amem.storage.store import Session

_log = logging.getLogger("amem")
ACTION = "import"


@dataclass(frozen=True, slots=True)
class Debts:
    """Links to make, and by note id the status to give back.

    `fresh` are the notes this import stored. What concerns others was owed before, by an import that was stopped: it
    is paid unless the link was made once, or the standing was changed by anything but an import, since people may have
    changed it. `parent` is the operation that stored the notes, so that taking it back takes this back too.
    """

    links: Sequence[Link] = ()
    standing: Mapping[str, Standing] = field(default_factory=dict)
    fresh: Collection[str] = ()
    parent: int | None = None

    def __bool__(self) -> bool:
        return bool(self.links or self.standing)


def settle(session: Session, debts: Debts, *, actor: str, cause: str = "") -> int:
    """Pay them as one operation of the running transaction; returns how many links were new."""
    owed = _owed(session, debts)
    links = [link for link in owed if not session.links.leads_across(link.source, link.target)]
    if len(links) < len(owed):
        _log.warning("%d links between different users, agents or sessions are left out", len(owed) - len(links))
    changes = _standing(session, debts)
    if not (links or changes):
        return 0
    operation = session.begin(ACTION, actor, cause, parent=debts.parent)
    for id, values in changes.items():
        session.notes.change(id, values, operation)
    owed_too = {(link.source, link.target, link.type) for link in debts.links if not is_persons_word(link.made_by)}
    for link in links:
        if is_persons_word(link.made_by) and link.type in GUESSED and is_of_text(link.reason):
            drop_guesses(session, link.source, link.target, operation, owed_too)
    return sum(session.links.put(link, operation) for link in links)


def drop_text_links(session: Session, id: str, wanted: Collection[tuple[str, str]], operation: int) -> None:
    """Take away the links that the text of a note no longer has: those not among `wanted`, (target, reason)."""
    for link in session.links.of(id):
        if link.type is LinkType.RELATED and is_of_text(link.reason) and (link.target, link.reason) not in wanted:
            session.links.remove(id, link.target, link.type, operation)


def _owed(session: Session, debts: Debts) -> list[Link]:
    """The links that are to be made."""
    links = session.links
    before = cache(links.ever_to)
    return [
        link
        for link in debts.links
        if (
            _is_free(links.get(link.source, link.target, link.type), link)
            if link.source in debts.fresh or link.target in debts.fresh
            else link.source not in before(link.target, link.type)
            or (is_persons_word(link.made_by) and _is_guess(links.get(link.source, link.target, link.type)))
        )
    ]


def _is_free(held: Link | None, link: Link) -> bool:
    """Whether the place of a link is free for this one: nothing is there, or, for a person's, only a guess."""
    return held is None or (is_persons_word(link.made_by) and _is_guess(held))


def _is_guess(held: Link | None) -> bool:
    return held is not None and not is_persons_word(held.made_by)


def _standing(session: Session, debts: Debts) -> dict[str, dict[str, Any]]:
    """The changes that give notes their old standing, by id; those that have it already are left out."""
    if not debts.standing:
        return {}
    keys = session.notes.keys_of(list(debts.standing))
    asked = [key for id, key in keys.items() if id not in debts.fresh]
    last = session.operations.last_to_set(asked, (*STANDING, "overturned"))
    held = session.notes.get_many(list(keys), history=False, usage=False, deleted=True)
    changes = {}
    for id, standing in debts.standing.items():
        if id not in keys or (id not in debts.fresh and last[keys[id]][1] != ACTION):
            continue
        now = (held[id].status, held[id].superseded_by, tuple(held[id].overturned))
        if now != (standing.status, standing.superseded_by, standing.overturned):
            told = plain("overturned", standing.overturned)
            changes[id] = {
                "status": str(standing.status),
                "superseded_by": standing.superseded_by,
                "overturned": told,
            }
    return changes
