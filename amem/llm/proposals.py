"""What one answer proposes: gathered item by item, checked against what was shown, refusals kept as sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amem.analysis import Evolution, ProposedLink, Rewrite
from amem.llm.reading import clean, words
from amem.llm.shown import Dropped, Handles, quoted
from amem.llm.spellings import link_type_named, spelled
from amem.note import LinkType

if TYPE_CHECKING:
    from collections.abc import Sequence

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
