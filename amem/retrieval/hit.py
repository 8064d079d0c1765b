"""Hits, their groups by session or topic, and why a note is not among the hits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from amem.clock import time_text
from amem.labels import short_id, short_ids, title
from amem.note import SCOPES, Kind, MemoryNote, Overturned, Plain, Source, Status, as_plain
from amem.query import Filter, Grouping, Query
from amem.rendering import standing_text
from amem.retrieval.explanation import Explanation, KeptOut, Passage, Via, excerpt, ordinal
from amem.storage.rows import moment_or_never

if TYPE_CHECKING:
    from datetime import tzinfo

    from amem.retrieval.confidence import Support
    from amem.retrieval.ranking import Ranking
    from amem.storage.store import Session


@dataclass(frozen=True, slots=True)
class Group(Plain):
    """A group that a hit is in, of a search that was grouped `by` session or topic.

    `id` is the topic's, or what the session is of: a conversation and its day, a document or a day; '' for a note
    without a topic. `title` says it to people.
    """

    by: Grouping
    id: str
    title: str


@dataclass(frozen=True, slots=True, eq=False)
class Hit(Mapping[str, Any]):
    """A note that answers a question. `score` lies in 0..1, higher is better; it orders hits, and says no more.

    `confidence` is the chance that the note holds the answer, 0..1, and `support` what that makes of it: strong, weak
    or none (see ``amem.retrieval.confidence``).

    `group` is the group it stands in where ``Query.group_by`` asked for groups, else None, and then no key.

    `collection` is the collection that the note is in; `is_catalog` is True when that is one of the memory's catalogs.

    `overturned` are statements of the note that no longer hold, `doubts` say why it may be out of date. `is_neighbor`
    is True when links, not the question's own words or meaning, earned most of its score. Also a read-only mapping of
    JSON-ready values, as programs written for A-Mem expect: ``hit["id"]``, ``dict(hit)``.
    """

    id: str
    content: str
    context: str
    keywords: tuple[str, ...]
    tags: tuple[str, ...]
    timestamp: str
    category: str
    score: float
    is_neighbor: bool
    kind: Kind
    matched_by: tuple[str, ...]
    via: tuple[Via, ...]
    sources: tuple[Source, ...]
    explanation: Explanation
    links: tuple[str, ...]
    confidence: float
    support: Support
    overturned: tuple[Overturned, ...] = ()
    doubts: tuple[str, ...] = ()
    collection: str = ""
    is_catalog: bool = False
    group: Group | None = None

    @property
    def text(self) -> str:
        """The content as it stands: statements that no longer hold are marked, see ``amem.rendering``."""
        return standing_text(self.content, self.overturned)

    @property
    def catalog(self) -> str:
        """The name of the catalog that the note is in; '' for one of the memory's own."""
        return self.collection if self.is_catalog else ""

    @property
    def passage(self) -> Passage:
        """What a list shows of `text`: a short note as a whole, of a longer one the sentence that matched and its next.

        Of a note that holds none of the words it is the sentence nearest in meaning, where ``Query.passages`` asked for
        it, else the first.
        """
        text, sentence = self.text, self.explanation.sentence
        if sentence is not None and self.overturned:  # marks have moved what stands behind them
            begin = text.find(self.content[slice(*sentence)])
            sentence = None if begin < 0 else (begin, begin + sentence[1] - sentence[0])
        return excerpt(text, self.explanation.matched, sentence=sentence)

    def to_dict(self) -> dict[str, Any]:
        """Every field as JSON-ready values."""
        return {name: self[name] for name in self}

    def __getitem__(self, name: str) -> Any:
        if name not in self._names:
            raise KeyError(name)
        if name == "sources":
            return [{each: as_plain(getattr(source, each)) for each in _SOURCE} for source in self.sources]
        return as_plain(getattr(self, name))

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    @property
    def _names(self) -> tuple[str, ...]:
        return _FIELDS if self.group is not None else _FIELDS[:-1]


#: The last is the group.
_FIELDS: tuple[str, ...] = tuple(Hit.__dataclass_fields__)
#: What a hit tells of a source.
_SOURCE = ("conversation", "ref", "speaker", "at")


# Hits as the plain text that A-Mem's ``find_related_memories`` hands to a model.


def related_text(hits: Sequence[Hit]) -> str:
    """One line per hit, tab-separated ``name:value`` pairs; line breaks and tabs within a value become spaces."""
    return "".join(f"{_line(index, hit)}\n" for index, hit in enumerate(hits))


def _line(index: int, hit: Hit) -> str:
    parts = {
        "memory index": str(index),
        "talk start time": hit.timestamp,
        "memory content": hit.text,
        "memory context": hit.context,
        "memory keywords": ", ".join(hit.keywords),
        "memory tags": ", ".join(hit.tags),
    }
    return "\t".join(f"{name}:{' '.join(value.split())}" for name, value in parts.items())


# Hits by session or topic: which group a note is in, and how k places are spread over the groups.

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
    sources = session.notes.sources_of([id for key, id in notes.items() if rows[key][0] is None])
    found = []
    for key, id in notes.items():
        conversation, at = rows[key]
        day = moment_or_never(at).astimezone(zone).date().isoformat()
        files = (_DOCUMENT.fullmatch(each.ref) for each in sources.get(id, ()) if each.kind == "file" and each.ref)
        name = f"{conversation} {day}" if conversation else next((file[1] for file in files if file), day)
        found.append(Group(grouping, name, short_ids(name)))
    return found


def spread_over(groups: Sequence[Group], scores: Sequence[float], k: int) -> list[int]:
    """Choose `k` of the notes in these groups, given best first: those of a group come one behind the other.

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


# Which conditions of a filter a note fails, each in words that say what the note is instead.


def failed_conditions(session: Session, wanted: Filter, key: int, note: MemoryNote, zone: tzinfo) -> dict[str, str]:
    """The conditions of the filter that the note fails, by field, in words; times are told in `zone`.

    Each condition is tried alone. `statuses` says nothing: what hides a note tells more. The least cosine, which is
    the dense leg's to tell, is not looked at.
    """
    everything = tuple(Status)
    # What a note was is asked of the moment that all other conditions are asked of.
    base = Filter(known_at=wanted.known_at, statuses=everything)
    if not session.notes.passes(key, base):
        assert wanted.known_at is not None
        return {"known_at": f"it was not known yet on {time_text(wanted.known_at, zone)}"}
    broken: dict[str, str] = {}
    for name in (each.name for each in fields(Filter)):
        value = getattr(wanted, name)
        if name in ("minimum_cosine", "known_at") or (name != "statuses" and value == getattr(base, name)):
            continue
        if name == "tags" and not _missing(value, note):
            continue  # a deleted note has left the index of tags
        if name == "statuses":
            value = value if wanted.as_of is None else (*value, Status.SUPERSEDED)
        if not session.notes.passes(key, replace(base, **{name: value})):
            broken[name] = "" if name == "statuses" else _words(name, value, note, zone)
    return broken


def _words(name: str, value: Any, note: MemoryNote, zone: tzinfo) -> str:
    if name == "tags":
        return f"it does not carry {_either([f'#{tag}' for tag in _missing(value, note)])}"
    if name == "kinds":
        return f"it is {_a(note.kind)}, not {_either([_a(kind) for kind in value])}"
    if name == "layers":
        layer, *wanted = (f"{each.replace('_', '-')} memory" for each in (note.layer, *value))
        return f"it is in {layer}, not in {_either(wanted)}"
    if name == "category":
        return f"its category is {note.category or 'none'}, not {value}"
    if name == "speaker":
        return (
            f"it was said by {note.speaker}, not by {value}"
            if note.speaker
            else f"it does not say that {value} said it"
        )
    if name == "conversation":
        held = note.conversation_id
        return (
            f"it is of the conversation {held}, not of {value}" if held else f"it is of no conversation, not of {value}"
        )
    if name == "part_of":
        return f"it is no part of {short_id(value)}"
    if name == "metadata":
        return f"its metadata does not say {_either([f'{key}={each}' for key, each in value.items()])}"
    if name == "whose":
        asked = ", ".join(f"{each} {held}" for each, held in value.ids.items()) or "no user_id, agent_id or session_id"
        return f"it is not of {asked} alone"
    if name in SCOPES:
        held = note.metadata.get(name)
        return f"it has no {name}, and {value} was asked for" if held is None else f"its {name} is {held}, not {value}"
    about = "it is about another time" if note.at is None else f"it is about {time_text(note.at, zone)}"
    if name == "as_of":
        return f"it does not hold on {time_text(value, zone)}"
    return f"{about}, {'before' if name == 'since' else 'not before'} {time_text(value, zone)}"


def _missing(tags: Iterable[str], note: MemoryNote) -> list[str]:
    carried = {tag.casefold() for tag in note.tags}
    return [tag for tag in tags if tag.casefold() not in carried]


def _a(name: str) -> str:
    return f"{'an' if name[:1] in 'aeiou' else 'a'} {name}"


def _either(names: Iterable[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} or {last}" if most else last


# What kept a note out of the hits.

#: So many successors of a superseded note are named; chains may be of any length.
_MOST = 20


def kept_out(
    session: Session, query: Query, ranking: Ranking | None, key: int, note: MemoryNote, zone: tzinfo
) -> KeptOut | None:
    """The reason why the note is no hit; None when it is one. Times are told in `zone`."""
    if ranking is None:
        return KeptOut("no_question", "an empty question finds nothing")
    place = next((place for place, each in enumerate(ranking.order, start=1) if each.key == key), None)
    if place is None:
        return _not_ranked(session, query, ranking, key, note, zone)
    score = ranking.order[place - 1].score
    if query.minimum_score is not None and score < query.minimum_score:
        return KeptOut("below_score", f"its score {score:.3f} is below the least asked for, {query.minimum_score:.3f}")
    if place > query.k:
        asked = f"only {query.k} " + ("was" if query.k == 1 else "were")
        return KeptOut("below_k", f"it came {ordinal(place)}, and {asked if query.k else 'none were'} asked for")
    return None


def _not_ranked(session: Session, query: Query, ranking: Ranking, key: int, note: MemoryNote, zone: tzinfo) -> KeptOut:
    if key in ranking.too_far:
        cosine, least = ranking.too_far[key], query.filter.minimum_cosine
        if cosine != cosine:  # nan
            return KeptOut("below_cosine", f"it has no vector yet, so nobody knows whether its cosine is {least:.3f}")
        return KeptOut("below_cosine", f"its cosine {cosine:.3f} is below the least asked for, {least:.3f}")
    broken = failed_conditions(session, query.filter, key, note, zone)
    hidden = "statuses" in broken or (not broken and note.status is Status.DELETED)
    told = [words for words in broken.values() if words]
    if hidden and note.status is not Status.ACTIVE:
        reason, detail, by = _by_status(session, note)
        return KeptOut(reason, "; ".join([detail, *told]), by, tuple(broken))
    if broken:
        if hidden:
            told = ["it is active, and others were asked for", *told]
        return KeptOut("filtered", "; ".join(told), conditions=tuple(broken))
    if note.kind is Kind.TOPIC and not ranking.reading.overview:
        return KeptOut("page", "it is the page of a topic: it answers when an overview, or its kind, is asked for")
    if ranking.of_legs.fused.of(key) > 0:
        return KeptOut("no_candidate", "others came before it by every leg, so that it was no candidate")
    return KeptOut(
        "no_match", "nothing in it answers: it is no nearer in meaning than most notes, and has no word in common"
    )


def _by_status(session: Session, note: MemoryNote) -> tuple[str, str, tuple[str, ...]]:
    """The reason, what to say, and the ids that came in the note's place, up to the one that holds now."""
    if note.status is not Status.SUPERSEDED:
        return str(note.status), f"it is {note.status}", ()
    chain: list[str] = []
    following = note.superseded_by
    while following is not None and following not in chain and following != note.id and len(chain) < _MOST:
        chain.append(following)
        held = session.notes.get_many([following], history=False, usage=False, deleted=True).get(following)
        following = held.superseded_by if held is not None and held.status is Status.SUPERSEDED else None
    if not chain:
        return "superseded", "it was superseded", ()
    named = " and then by ".join(short_id(id) for id in (chain if len(chain) < 4 else (chain[0], chain[-1])))
    return "superseded", f"it was superseded by {named}", tuple(chain)
