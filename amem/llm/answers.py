"""Reading what a model answered, item by item: what cannot be used is dropped alone, with a sentence that says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amem.analysis import Analysis, Evolution
from amem.errors import BadModelAnswer
from amem.llm import paper_answers
from amem.llm.proposals import CONTEXT, Proposals, read_tags
from amem.llm.reading import clean, read_object, share, words
from amem.llm.schemas import NOTE_KINDS
from amem.note import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

KEYWORD, KEYWORDS = 60, 12
ENTITY, ENTITIES = 80, 12

#: Confidence of a link or rewrite that came without one: unsure, so that a rewrite waits for a person.
UNSTATED = 0.5

_ANALYSIS = frozenset(("keywords", "context", "tags", "kind", "importance", "entities"))
_EVOLUTION = frozenset(("links", "rewrites", "tags"))
_KINDS = {str(kind): kind for kind in NOTE_KINDS}


def read_analysis(text: str) -> Analysis:
    """Read the answer to `analyze`. Raises BadModelAnswer when it has neither keywords nor a context nor tags."""
    answer = read_object(text, _ANALYSIS)
    importance = share(answer.get("importance"))
    analysis = Analysis(
        keywords=words(answer.get("keywords"), limit=KEYWORD, most=KEYWORDS),
        context=clean(answer.get("context"), CONTEXT),
        tags=read_tags(answer.get("tags")),
        kind=_KINDS.get(clean(answer.get("kind"), 20).casefold(), Kind.FACT),
        importance=0.5 if importance is None else importance,
        entities=words(answer.get("entities"), limit=ENTITY, most=ENTITIES),
    )
    if not (analysis.keywords or analysis.context or analysis.tags):
        raise BadModelAnswer("the answer has neither keywords nor a context nor tags")
    return analysis


def read_evolution(text: str, handles: Sequence[str]) -> Evolution:
    """Read the answer to `evolve`, where the neighbours were shown as `handles`, in that order.

    Takes amem's own schema (``links, rewrites, tags``) and the six fields of the A-Mem paper. Only shown handles are
    accepted; what else is wrong is dropped one by one, in words. Raises BadModelAnswer when nothing can be read.
    """
    answer = read_object(text, _EVOLUTION | paper_answers.FIELDS)
    if paper_answers.FIELDS & answer.keys():
        return paper_answers.read(answer, handles)
    if not any(value is None or isinstance(value, list) for name, value in answer.items() if name in _EVOLUTION):
        raise BadModelAnswer("links, rewrites and tags have to be lists")
    proposals = Proposals(handles)
    for item in _items(proposals, answer, "links"):
        proposals.link(item.get("to"), item.get("type"), item.get("reason"), _confidence(item))
    for item in _items(proposals, answer, "rewrites"):
        proposals.rewrite(
            item.get("note"), item.get("context"), item.get("tags"), item.get("reason"), _confidence(item)
        )
    proposals.tags = read_tags(answer.get("tags")) or None
    return proposals.evolution()


def _items(proposals: Proposals, answer: dict[str, Any], name: str) -> list[dict[str, Any]]:
    value = answer.get(name)
    if value is not None and not isinstance(value, list):
        proposals.drop(f"{name}, which is no list")
    items = value if isinstance(value, list) else []
    for item in items:
        if not isinstance(item, dict):
            proposals.drop(f"an item of {name} that is no object")
    return [item for item in items if isinstance(item, dict)]


def _confidence(item: dict[str, Any]) -> float:
    stated = share(item.get("confidence"))
    return UNSTATED if stated is None else stated
