"""What one answer proposes: gathered item by item, checked against what was shown, refusals kept as sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amem.analysis import Evolution, ProposedLink, Rewrite
from amem.llm.reading import clean, words
from amem.llm.schemas import LINK_TYPES
from amem.note import LinkType

if TYPE_CHECKING:
    from collections.abc import Sequence

CONTEXT = 400
REASON = 200
TAG, TAGS = 40, 8

#: An answer that goes wrong a hundred times needs no hundred sentences.
_MOST_DROPPED = 20

_LINK_TYPES = {str(type_): type_ for type_ in LINK_TYPES}


def read_tags(value: Any) -> tuple[str, ...]:
    """The tags in a model's answer; empty when there are none."""
    return words(value, limit=TAG, most=TAGS)


class Proposals:
    """Links and rewrites for the notes shown as `handles`; nothing else gets in."""

    def __init__(self, handles: Sequence[str]) -> None:
        self._handles = {handle.casefold(): handle for handle in handles}
        self._links: dict[tuple[str, LinkType], ProposedLink] = {}
        self._rewrites: dict[str, Rewrite] = {}
        self._dropped: list[str] = []
        self.tags: tuple[str, ...] | None = None

    def drop(self, sentence: str) -> None:
        """Remember what was refused, and why."""
        if len(self._dropped) < _MOST_DROPPED:
            self._dropped.append(sentence)

    def shown(self, value: Any) -> str | None:
        """The handle that `value` names, in any case and with brackets around it or not; None for any other."""
        return self._handles.get(clean(value, 20).strip("[]<>() ").casefold()) if isinstance(value, str) else None

    def link(self, to: Any, type_: Any, reason: Any, confidence: float) -> None:
        """Propose a link; one to a note that was not shown, or a second of the same type, is dropped."""
        handle = self.shown(to)
        if handle is None:
            self.drop(f"a link to {_quoted(to)}, which was not shown")
            return
        named = clean(type_, 20).casefold().replace(" ", "_")
        kind = _LINK_TYPES.get(named, LinkType.RELATED)
        if named and named not in _LINK_TYPES:
            self.drop(f"the type {named!r} of the link to {handle}, now related")
        if (handle, kind) in self._links:
            self.drop(f"a second {kind} link to {handle}")
            return
        reason = clean(reason, REASON) or "the model gave no reason"
        self._links[handle, kind] = ProposedLink(handle, kind, reason, confidence)

    def rewrite(self, note: Any, context: Any, tags: Any, reason: Any, confidence: float) -> None:
        """Propose a rewrite; one of a note that was not shown, a second one and an empty one are dropped."""
        handle = self.shown(note)
        if handle is None:
            self.drop(f"a rewrite of {_quoted(note)}, which was not shown")
        elif handle in self._rewrites:
            self.drop(f"a second rewrite of {handle}")
        elif not (new_context := clean(context, CONTEXT)) and not read_tags(tags):
            self.drop(f"a rewrite of {handle} that holds neither a context nor tags")
        else:
            reason = clean(reason, REASON) or "the model gave no reason"
            self._rewrites[handle] = Rewrite(handle, new_context or None, read_tags(tags) or None, reason, confidence)

    def evolution(self) -> Evolution:
        """Everything that was accepted, and what was not."""
        return Evolution(
            links=tuple(self._links.values()),
            rewrites=tuple(self._rewrites.values()),
            tags=self.tags,
            dropped=tuple(self._dropped),
        )


def _quoted(value: Any) -> str:
    return repr(clean(value, 40)) if isinstance(value, (str, int, float)) else f"a {type(value).__name__}"
