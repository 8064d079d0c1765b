"""Answers in the six fields of the A-Mem paper (arXiv 2502.12110), for prompts and models made for those."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amem.llm.proposals import Proposals, read_tags
from amem.llm.reading import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.analysis import Evolution

#: The fields that only the paper's format has.
FIELDS = frozenset(
    (
        "should_evolve",
        "actions",
        "suggested_connections",
        "tags_to_update",
        "new_context_neighborhood",
        "new_tags_neighborhood",
    )
)

#: The format states no confidence. Whoever asks for it wants A-Mem's behaviour, which acts on what it is told; every
#: other guard of evolution still holds.
CONFIDENCE = 0.9


def read(answer: dict[str, Any], handles: Sequence[str]) -> Evolution:
    """What the answer proposes for the notes shown as `handles`, in that order.

    ``suggested_connections`` holds handles or positions from 0 on. The two neighbourhood lists go by position, so one
    that is not as long as `handles` is dropped whole: nobody can tell which notes its items mean.
    """
    proposals = Proposals(handles)
    if not _true(answer.get("should_evolve", True)):
        return proposals.evolution()
    # An answer without a list of actions means what its other fields say.
    actions = _words_of(answer["actions"]) if "actions" in answer else ["strengthen", "update_neighbor"]
    for action in actions:
        if action not in ("strengthen", "update_neighbor", "update_neighbour"):
            proposals.dropped.add(f"the unknown action {action!r}")
    if "strengthen" in actions:
        _strengthen(proposals, answer, handles)
    if "update_neighbor" in actions or "update_neighbour" in actions:
        _update(proposals, answer, handles)
    return proposals.evolution()


def _strengthen(proposals: Proposals, answer: dict[str, Any], handles: Sequence[str]) -> None:
    for item in _list(proposals, answer, "suggested_connections"):
        proposals.link(_by_position(item, handles), "related", "suggested connection", CONFIDENCE)
    proposals.tags = read_tags(answer.get("tags_to_update")) or None


def _update(proposals: Proposals, answer: dict[str, Any], handles: Sequence[str]) -> None:
    contexts = _positional(proposals, answer, "new_context_neighborhood", len(handles))
    tags = _positional(proposals, answer, "new_tags_neighborhood", len(handles))
    for handle, new_context, new_tags in zip(handles, contexts, tags, strict=True):
        if clean(new_context, 10) or read_tags(new_tags):
            proposals.rewrite(handle, new_context, new_tags, "updated as a neighbour of the new note", CONFIDENCE)


def _positional(proposals: Proposals, answer: dict[str, Any], name: str, length: int) -> list[Any]:
    items = _list(proposals, answer, name)
    if items and len(items) != length:
        proposals.dropped.add(f"{name}, which has {len(items)} items for {length} notes")
    return items if len(items) == length else [None] * length


def _list(proposals: Proposals, answer: dict[str, Any], name: str) -> list[Any]:
    value = answer.get(name)
    if value is not None and not isinstance(value, list):
        proposals.dropped.add(f"{name}, which is no list")
    return value if isinstance(value, list) else []


def _by_position(item: Any, handles: Sequence[str]) -> Any:
    if isinstance(item, str) and item.strip().isascii() and item.strip().isdigit() and len(item) < 9:
        item = int(item)
    if isinstance(item, int) and not isinstance(item, bool):
        return handles[item] if 0 <= item < len(handles) else f"position {clean(item, 20)}"
    return item


def _words_of(value: Any) -> list[str]:
    items = value if isinstance(value, list) else [value]
    return [word for item in items if (word := clean(item, 40).casefold())]


def _true(value: Any) -> bool:
    return clean(value, 10).casefold() in ("true", "yes", "1", "是") if isinstance(value, str) else bool(value)
