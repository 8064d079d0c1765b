"""One answer of a search: a note, how well it answers, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from amem.rendering import standing_text
from amem.retrieval.highlight import excerpt
from amem.storage.rows import overturned_plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from amem.note import Kind, Overturned, Source
    from amem.protocols import Vector
    from amem.query import Grouping
    from amem.retrieval.confidence import Support
    from amem.retrieval.explanation import Explanation, Via
    from amem.retrieval.highlight import Passage


# What recall needs of the rooms it does not import.


class DenseIndex(Protocol):
    """The vectors of all committed notes, addressed by note key. Safe to use from many threads.

    Only `refresh` reads the store, so only it must stay outside a read of an in-memory collection.
    """

    def refresh(self, seen: int | None = None) -> None:
        """Take in what was committed since; `seen` is the change counter where the caller has just read it."""
        ...

    def search(
        self, vector: Vector, k: int, *, allowed: NDArray[np.int64] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Keys and cosines of the k nearest, best first; active notes only, or only those `allowed`."""
        ...

    def cosines(self, vector: Vector, keys: NDArray[np.int64]) -> NDArray[np.float32]:
        """The cosine of each of these notes; NaN for one without a vector."""
        ...

    def vectors(self, keys: NDArray[np.int64]) -> NDArray[np.float32]:
        """Each of these notes' L2-normalised vector as a row; NaN for one without a vector."""
        ...

    def typical(self, vector: Vector) -> tuple[float, float]:
        """Mean and spread (standard deviation, above 0) of the cosines of a fixed sample of the active notes."""
        ...


@dataclass(frozen=True, slots=True)
class Group:
    """A group that a hit is in, of a search that was grouped `by` session or topic.

    `id` is the topic's, or what the session is of: a conversation and its day, a document or a day; '' for a note
    without a topic. `title` says it to people.
    """

    by: Grouping
    id: str
    title: str

    def to_dict(self) -> dict[str, str]:
        """JSON-ready."""
        return {"by": str(self.by), "id": self.id, "title": self.title}


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
        value = getattr(self, name)
        if name in ("keywords", "tags", "links", "matched_by", "doubts"):
            return list(value)
        if name == "via":
            return [step.to_dict() for step in self.via]
        if name == "overturned":
            return [overturned_plain(each) for each in self.overturned]
        if name == "sources":
            return [_source(source) for source in self.sources]
        if name in ("explanation", "group"):
            return value.to_dict()
        return str(value) if name in ("kind", "support") else value

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    @property
    def _names(self) -> tuple[str, ...]:
        return _FIELDS if self.group is not None else _FIELDS[:-1]


#: The last is the group.
_FIELDS: tuple[str, ...] = tuple(Hit.__dataclass_fields__)


def _source(source: Source) -> dict[str, Any]:
    return {
        "conversation": source.conversation,
        "ref": source.ref,
        "speaker": source.speaker,
        "at": None if source.at is None else source.at.isoformat(),
    }


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
