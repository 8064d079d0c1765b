"""A model's answer read item by item and held against what it was shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amem.analysis import Analysis, Evolution, ProposedLink, Rewrite
from amem.errors import BadModelAnswer
from amem.llm.model_text import Dropped, Handles, clean, kind_named, link_type_named, quoted, share, spelled, words
from amem.note import Fact, Kind, LinkType

if TYPE_CHECKING:
    from collections.abc import Sequence


# What one answer proposes: gathered item by item, checked against what was shown, refusals kept as sentences.

CONTEXT = 400
REASON = 200
QUOTE = 300
TAG, TAGS = 40, 8


def read_tags(value: Any) -> tuple[str, ...]:
    """The tags in a model's answer; empty when there are none."""
    return words(value, limit=TAG, most=TAGS)


class Proposals:
    """Links and rewrites for the notes shown as `handles`; nothing else gets in."""

    def __init__(self, handles: Sequence[str]) -> None:
        self._handles = Handles(handles)
        self._links: dict[tuple[str, LinkType], ProposedLink] = {}
        self._rewrites: dict[str, Rewrite] = {}
        self.dropped = Dropped()
        self.tags: tuple[str, ...] | None = None

    def link(self, to: Any, type_: Any, reason: Any, confidence: float, quote: Any = "") -> None:
        """Propose a link; one to a note that was not shown, or a second of the same type, is dropped."""
        handle = self._handles.find(to)
        if handle is None:
            self.dropped.add(f"a link to {quoted(to)}, which was not shown")
            return
        named = link_type_named(type_)
        kind = named or LinkType.RELATED
        if named is None and spelled(type_):
            self.dropped.add(f"the type {spelled(type_)!r} of the link to {handle}, now related")
        if (handle, kind) in self._links:
            self.dropped.add(f"a second {kind} link to {handle}")
            return
        reason = clean(reason, REASON) or "the model gave no reason"
        self._links[handle, kind] = ProposedLink(handle, kind, reason, confidence, clean(quote, QUOTE))

    def rewrite(self, note: Any, context: Any, tags: Any, reason: Any, confidence: float, quote: Any = "") -> None:
        """Propose a rewrite; one of a note that was not shown, a second one and an empty one are dropped."""
        handle = self._handles.find(note)
        if handle is None:
            self.dropped.add(f"a rewrite of {quoted(note)}, which was not shown")
        elif handle in self._rewrites:
            self.dropped.add(f"a second rewrite of {handle}")
        elif not (new_context := clean(context, CONTEXT)) and not read_tags(tags):
            self.dropped.add(f"a rewrite of {handle} that holds neither a context nor tags")
        else:
            reason = clean(reason, REASON) or "the model gave no reason"
            new_tags = read_tags(tags) or None
            cited = clean(quote, QUOTE)
            self._rewrites[handle] = Rewrite(handle, new_context or None, new_tags, reason, confidence, cited)

    def evolution(self) -> Evolution:
        """Everything that was accepted, and what was not."""
        return Evolution(
            links=tuple(self._links.values()),
            rewrites=tuple(self._rewrites.values()),
            tags=self.tags,
            dropped=self.dropped.sentences,
        )


# Reading what a model answered, item by item: what cannot be used is dropped alone, with a sentence that says so.
#
# Not one pydantic model per answer: that would refuse a whole answer for one wrong item in it, and small models get
# one item wrong all the time.

KEYWORD, KEYWORDS = 60, 12
ENTITY, ENTITIES = 80, 12
FACT, FACTS = 120, 5

#: Confidence of a link or rewrite that came without one: unsure, so that a rewrite waits for a person.
UNSTATED = 0.5
#: What the three words for how sure a model is are worth: only what is sure passes the thresholds of the settings
#: (`rewrite_confidence`, `supersede_confidence`), what is likely is proposed to a person.
SURE, LIKELY, UNSURE = 0.95, 0.75, 0.4
_CERTAINTY = {
    **dict.fromkeys(("sure", "certain", "确定", "肯定", "有把握"), SURE),
    **dict.fromkeys(("likely", "probably", "probable", "很可能", "可能"), LIKELY),
    **dict.fromkeys(("unsure", "uncertain", "possible", "不确定", "没把握"), UNSURE),
}

#: Why the rules fill in a field that a model left out.
NOT_GIVEN = "the model gave none"

EVOLUTION_FIELDS = frozenset(("links", "rewrites", "tags"))


def read_analysis(answer: dict[str, Any]) -> Analysis:
    """Read the answer to `analyze`. Raises BadModelAnswer when it has neither keywords nor a context nor tags."""
    importance, kind = share(answer.get("importance")), kind_named(answer.get("kind"))
    unusable = {}
    if kind is None:
        unusable["kind"] = f"{spelled(answer.get('kind'))!r} is none" if answer.get("kind") else NOT_GIVEN
    if importance is None:
        unusable["importance"] = NOT_GIVEN
    analysis = Analysis(
        keywords=words(answer.get("keywords"), limit=KEYWORD, most=KEYWORDS),
        context=clean(answer.get("context"), CONTEXT),
        tags=read_tags(answer.get("tags")),
        kind=kind or Kind.FACT,
        importance=0.5 if importance is None else importance,
        entities=words(answer.get("entities"), limit=ENTITY, most=ENTITIES),
        facts=_facts(answer.get("facts")),
        unusable=tuple(unusable.items()),
    )
    if not (analysis.keywords or analysis.context or analysis.tags):
        raise BadModelAnswer("the answer has neither keywords nor a context nor tags")
    return analysis


def read_evolution(answer: dict[str, Any], handles: Sequence[str]) -> Evolution:
    """Read the answer to `evolve`, where the neighbours were shown as `handles`, in that order.

    Only shown handles are accepted; what else is wrong is dropped one by one, in words. Raises BadModelAnswer when
    nothing can be read.
    """
    if not any(value is None or isinstance(value, list) for name, value in answer.items() if name in EVOLUTION_FIELDS):
        raise BadModelAnswer("links, rewrites and tags have to be lists")
    proposals = Proposals(handles)
    for item in proposals.dropped.objects(answer, "links"):
        proposals.link(item.get("to"), item.get("type"), item.get("reason"), confidence_in(item), item.get("quote"))
    for item in proposals.dropped.objects(answer, "rewrites"):
        proposals.rewrite(
            item.get("note"),
            item.get("context"),
            item.get("tags"),
            item.get("reason"),
            confidence_in(item),
            item.get("quote"),
        )
    proposals.tags = read_tags(answer.get("tags")) or None
    return proposals.evolution()


def confidence_in(item: dict[str, Any]) -> float:
    """How sure the model says it is of one item."""
    return certainty(item.get("confidence"))


def certainty(value: Any) -> float:
    """How sure ``sure``, ``likely`` and ``unsure`` are, as a number; also of a share, and of words in Chinese."""
    stated = share(value)
    if stated is None:
        stated = _CERTAINTY.get(spelled(value))
    return UNSTATED if stated is None else stated


def _facts(value: Any) -> tuple[Fact, ...]:
    """Complete facts alone, none twice; also from lists of three."""
    found: dict[Fact, None] = {}
    for item in value if isinstance(value, list) else []:
        parts = [item.get(name) for name in ("subject", "predicate", "object")] if isinstance(item, dict) else item
        if not isinstance(parts, list) or len(parts) != 3:
            continue
        subject, predicate, object_ = (clean(part, FACT) for part in parts)
        if subject and predicate and object_:
            found.setdefault(Fact(subject, predicate, object_))
        if len(found) == FACTS:
            break
    return tuple(found)
