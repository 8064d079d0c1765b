"""Holding a model's answer against the texts that it was shown: words that nothing shown says are not believed.

Small models repeat the example of a prompt, or answer about something else. So what is to change a note quotes that
note, and an analysis shares a word with what it describes. A quote is looked for as it stands, but for case and spaces.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from amem.analysis import ProposedLink, Rewrite
from amem.errors import BadModelAnswer
from amem.llm.answers import NOT_GIVEN
from amem.note import LinkType
from amem.text import index_terms, is_cjk, query_terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from amem.analysis import Analysis, Evolution

_Item = TypeVar("_Item", ProposedLink, Rewrite)

#: Confidence of what quotes nothing: it passes no threshold that lets anything happen by itself.
UNQUOTED = 0.4
#: Letters that a quote has at least; a Chinese character counts twice.
_SHORTEST_QUOTE = 4
_AROUND = " \t\"'“”‘’「」『』<>.…。，,"
_VERDICTS = (LinkType.CONTRADICTS, LinkType.SUPERSEDES)
#: Words of a context, at least; "7" and "note" describe nothing.
_SHORTEST_CONTEXT = 2


def quote_in(quote: str, text: str) -> str:
    """The part of `text` that `quote` repeats, exactly as it stands there; '' where it does not, or is too short."""
    parts = quote.strip(_AROUND).split()
    letters = sum(1 + is_cjk(character) for part in parts for character in part if character.isalnum())
    if letters < _SHORTEST_QUOTE:
        return ""
    found = re.search(r"\s+".join(map(re.escape, parts)), text, re.IGNORECASE)
    return found[0] if found else ""


def shares_a_word(text: str, held: str) -> bool:
    """Whether `text` has a word of `held`, in whatever form."""
    terms = set(index_terms(held))
    return any(term in terms for term in query_terms(text) or index_terms(text))


def ground_analysis(analysis: Analysis, text: str) -> Analysis:
    """The analysis of `text` without what is of no use, whose fields `unusable` then names, each with the reason.

    Raises BadModelAnswer where neither a keyword nor the context has a word of it: then it is about something else.
    """
    reasons = dict(analysis.unusable)
    keywords = tuple(word for word in analysis.keywords if _is_word(word) and shares_a_word(word, text))
    context = analysis.context if shares_a_word(analysis.context, text) else ""
    if not keywords and not context:
        raise BadModelAnswer("neither the keywords nor the context have a word of the note")
    if not keywords:
        reasons["keywords"] = _why(analysis.keywords, "none is in the note")
    if not context:
        reasons["context"] = _why(analysis.context, "it has no word of the note")
    elif len(index_terms(context)) < _SHORTEST_CONTEXT:
        context, reasons["context"] = "", f"{context!r} is no sentence"
    tags = tuple(tag for tag in analysis.tags if _is_word(tag))
    if not tags:
        reasons["tags"] = _why(analysis.tags, "none is a word")
    folded = text.casefold()
    entities = tuple(entity for entity in analysis.entities if entity.casefold() in folded)
    return replace(
        analysis,
        keywords=keywords,
        context=context,
        tags=tags,
        entities=entities,
        unusable=tuple(sorted(reasons.items())),
    )


def ground_evolution(evolution: Evolution, contents: Mapping[str, str]) -> Evolution:
    """The evolution without links and rewrites that quote what the old note of that handle does not say.

    Without a quote a verdict is dropped, and the confidence of anything else is at most `UNQUOTED`.
    """
    dropped = list(evolution.dropped)
    links = _grounded(evolution.links, contents, dropped)
    rewrites = _grounded(evolution.rewrites, contents, dropped)
    return replace(evolution, links=tuple(links), rewrites=tuple(rewrites), dropped=tuple(dropped))


def _grounded(items: Iterable[_Item], contents: Mapping[str, str], dropped: list[str]) -> list[_Item]:
    kept = []
    for item in items:
        type_ = getattr(item, "type", None)
        what = "the rewrite of" if type_ is None else f"the {type_} link to"
        found = quote_in(item.quote, contents.get(item.handle, ""))
        if found:
            kept.append(replace(item, quote=found))
        elif item.quote:
            dropped.append(f"{what} {item.handle}: the note does not say {item.quote[:60]!r}")
        elif type_ in _VERDICTS:
            dropped.append(f"{what} {item.handle}: it quotes nothing of the note")
        else:
            kept.append(replace(item, confidence=min(item.confidence, UNQUOTED)))
    return kept


def _is_word(text: str) -> bool:
    return sum(1 + is_cjk(character) for character in text if character.isalpha()) > 1


def _why(given: object, otherwise: str) -> str:
    return otherwise if given else NOT_GIVEN
