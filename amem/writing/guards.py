"""What of an analyst's answer may happen: the guards of evolution.

An answer is data. Only neighbours that were shown can be reached, by handle; at most a few are rewritten; a rewrite
that would lose something, touch a person's edit or is not sure of itself waits for a person. What is refused is
refused item by item, with a sentence that says so. What a person linked is theirs: no guess about the same two notes
stands beside it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.errors import InvalidInput
from amem.note import LinkType
from amem.text import index_terms, query_terms, written_in_cjk
from amem.writing.actors import is_person
from amem.writing.fields import labels

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from amem.analysis import Evolution, Rewrite
    from amem.note import MemoryNote
    from amem.settings import Settings
    from amem.storage import Session


#: How one note may be guessed to bear on another. What settles which of two is true is no such guess.
GUESSED = frozenset({LinkType.RELATED, LinkType.SUPPORTS, LinkType.CAUSED_BY})


def linked_by_person(session: Session, id: str) -> set[str]:
    """The notes that a person linked with this one in such a way, in either direction."""
    return {
        link.target if link.source == id else link.source
        for link in session.links.around([id])
        if link.type in GUESSED and is_person(link.made_by)
    }


def drop_guesses(
    session: Session, one: str, other: str, operation: int, keep: Container[tuple[str, str, LinkType]] = ()
) -> None:
    """Take away what machines guessed of the two notes, in either direction, but for the links to `keep`."""
    for source, target in ((one, other), (other, one)):
        for type in GUESSED:
            held = session.links.get(source, target, type)
            if held is not None and not is_person(held.made_by) and (source, target, type) not in keep:
                session.links.remove(source, target, type, operation)


_MOST_TAGS = 16
_LONGEST_CONTEXT = 1_000
_NUMBER = re.compile(r"\d+(?:[.:,/-]\d+)*")


@dataclass(frozen=True, slots=True)
class PlannedLink:
    """A link from the new note to `target` that passed the guards; `quote` is an exact part of the target, or ''."""

    target: str
    type: LinkType
    reason: str
    confidence: float
    quote: str = ""


@dataclass(frozen=True, slots=True)
class PlannedRewrite:
    """New values for fields of neighbour `id`, based on its `version`.

    `why_wait` is empty when the rewrite may be applied at once, else why it waits for a person.
    """

    id: str
    version: int
    changes: Mapping[str, str | list[str]]
    reason: str
    confidence: float
    why_wait: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What will be done, and in words what was refused."""

    links: tuple[PlannedLink, ...]
    rewrites: tuple[PlannedRewrite, ...]
    tags: tuple[str, ...] | None
    dropped: tuple[str, ...]


def plan(
    evolution: Evolution,
    shown: Mapping[str, MemoryNote],
    owned: Mapping[str, Mapping[str, str]],
    settings: Settings,
) -> Plan:
    """Hold an answer against what was shown. `shown` maps handles to notes, `owned` ids to fields people hold."""
    dropped = list(evolution.dropped)
    links = _links(evolution, shown, dropped)
    rewrites: list[PlannedRewrite] = []
    for rewrite in evolution.rewrites:
        note = shown.get(rewrite.handle)
        if note is None:
            dropped.append(f"rewrite of {rewrite.handle!r}: no such neighbour was shown")
        elif any(done.id == note.id for done in rewrites):
            dropped.append(f"second rewrite of {rewrite.handle}: one each")
        elif len(rewrites) >= settings.max_rewrites:
            dropped.append(f"rewrite of {rewrite.handle}: at most {settings.max_rewrites} neighbours change per note")
        else:
            planned = _rewrite(rewrite, note, owned.get(note.id, {}), settings, dropped)
            if planned is not None:
                rewrites.append(planned)
    return Plan(tuple(links), tuple(rewrites), _tags("new tags", evolution.tags, dropped), tuple(dropped))


def _links(evolution: Evolution, shown: Mapping[str, MemoryNote], dropped: list[str]) -> list[PlannedLink]:
    found: dict[tuple[str, LinkType], PlannedLink] = {}
    for link in evolution.links:
        note = shown.get(link.handle)
        if note is None:
            dropped.append(f"link to {link.handle!r}: no such neighbour was shown")
            continue
        confidence = min(1.0, max(0.0, link.confidence))
        quote = link.quote if link.quote in note.content else ""
        found.setdefault((note.id, link.type), PlannedLink(note.id, link.type, link.reason, confidence, quote))
    return list(found.values())


def _rewrite(
    rewrite: Rewrite, note: MemoryNote, owned: Mapping[str, str], settings: Settings, dropped: list[str]
) -> PlannedRewrite | None:
    changes: dict[str, str | list[str]] = {}
    context = None if rewrite.context is None else " ".join(rewrite.context.split())
    if context and written_in_cjk(context) is not written_in_cjk(note.content):
        dropped.append(f"context for {rewrite.handle}: it is in another language than the note")
    elif context and context != note.context:
        if len(context) > _LONGEST_CONTEXT:
            dropped.append(f"context for {rewrite.handle}: longer than {_LONGEST_CONTEXT} characters")
        else:
            changes["context"] = context
    tags = _tags(f"tags for {rewrite.handle}", rewrite.tags, dropped)
    if tags and list(tags) != note.tags:
        changes["tags"] = list(tags)
    if not changes:
        return None
    return PlannedRewrite(
        id=note.id,
        version=note.version,
        changes=changes,
        reason=rewrite.reason,
        confidence=min(1.0, max(0.0, rewrite.confidence)),
        why_wait=_why_wait(rewrite, note, changes, owned, settings),
    )


def _why_wait(
    rewrite: Rewrite,
    note: MemoryNote,
    changes: Mapping[str, str | list[str]],
    owned: Mapping[str, str],
    settings: Settings,
) -> str:
    edited = sorted(field for field in changes if owned.get(field) == "edited")
    if edited:
        return f"a person edited its {' and '.join(edited)}"
    lost = _lost(note, changes)
    if lost:
        return f"it would lose {', '.join(lost[:3])}"
    if "context" in changes and not _speaks_of(note, str(changes["context"])):
        return "its new context has no word in common with it"
    if rewrite.confidence < settings.rewrite_confidence:
        return f"confidence {rewrite.confidence:.2f} is below {settings.rewrite_confidence:.2f}"
    return ""


def _speaks_of(note: MemoryNote, context: str) -> bool:
    """Whether a context has a word of the note's: a model that obeys a note instead of reading it writes "deleted"."""
    held = set(index_terms(f"{note.content}\n{note.context}"))
    return any(term in held for term in query_terms(context))


def _lost(note: MemoryNote, changes: Mapping[str, str | list[str]]) -> list[str]:
    """Entities that the rewritten fields held and would no longer hold, and numbers of the context.

    Digits in a tag ("2024", "web2") are no fact that a better tag would lose.
    """
    before, after = "", ""
    for field, value in changes.items():
        held = getattr(note, field)
        before += " " + (held if isinstance(held, str) else " ; ".join(held))
        after += " " + (value if isinstance(value, str) else " ; ".join(value))
    before, after = before.casefold(), after.casefold()
    entities = [entity for entity in note.entities if entity.casefold() in before and entity.casefold() not in after]
    kept = set(_NUMBER.findall(after))
    stated = _NUMBER.findall(note.context) if "context" in changes else []
    return entities + [number for number in stated if number not in kept]


def _tags(what: str, tags: Sequence[str] | None, dropped: list[str]) -> tuple[str, ...] | None:
    if tags is None:
        return None
    try:
        clean = labels("tags", list(tags))
    except InvalidInput as error:
        dropped.append(f"{what}: {error}")
        return None
    if len(clean) > _MOST_TAGS:
        dropped.append(f"{what}: only the first {_MOST_TAGS} of {len(clean)}")
    return tuple(clean[:_MOST_TAGS]) or None
