"""Topics that a person declared: which notes belong to one is for its words to say, not for links."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from amem.llm.offline.lexicon import lexicon
from amem.maintenance.topics.known import known_topics
from amem.note import Kind, LinkType, Scope, Status
from amem.storage import text_hash
from amem.text import index_terms, normalize, query_terms, written_in_cjk

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from amem.maintenance.topics.topic import Mark
    from amem.note import MemoryNote
    from amem.storage import Session, Store
    from amem.vectorizer import Vectorizer

#: Cosine from which a note that holds one of the words speaks of the topic; in Chinese, where all texts are near, more.
_NEAR, _NEAR_CHINESE = 0.33, 0.45
_NEAREST = 200
_PHRASES = re.compile(r"[,;，、；]+")


class Nearest(Protocol):
    """The part of the dense leg that declared topics use."""

    def refresh(self) -> None: ...

    def search(
        self, vector: NDArray[np.float32], k: int, *, allowed: NDArray[np.int64] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]: ...

    def cosines(self, vector: NDArray[np.float32], keys: NDArray[np.int64]) -> NDArray[np.float32]: ...


@dataclass(frozen=True, slots=True)
class Words:
    """A topic's words: `text` to be near to, `labels` that a tag may be (folded), `terms` that a text may hold."""

    text: str
    labels: frozenset[str]
    terms: frozenset[str]

    @classmethod
    def of(cls, mark: Mark) -> Words:
        """Those of a name and what it is about; a broad subject ("health", 健康) goes by its name in both languages."""
        phrases = [mark.name, *filter(str.strip, _PHRASES.split(mark.about))]
        if len(phrases) == 2 and not written_in_cjk(mark.about):
            phrases = [mark.name, *mark.about.split()]
        names = {normalize(phrase).replace("-", " ") for phrase in phrases}
        for theme in lexicon().themes:
            known = {normalize(name).replace("-", " ") for name in (theme.english, theme.chinese, *theme.aliases)}
            if normalize(mark.name).replace("-", " ") in known:
                names |= known
        terms = {term for name in names for term in query_terms(name)}
        return cls(f"{mark.name} {mark.about}".strip(), frozenset(names), frozenset(terms))

    def named_by(self, note: MemoryNote) -> bool:
        """Whether a tag, the category, a keyword or a name of the note is one of the words."""
        held = (*note.tags, note.category, *note.keywords, *note.entities)
        if any(normalize(value).replace("-", " ") in self.labels for value in held):
            return True
        named = [set(index_terms(name)) for name in note.entities]
        return any(set(index_terms(label)) <= terms for label in self.labels if label for terms in named if terms)

    def spoken_of_by(self, note: MemoryNote, cosine: float) -> bool:
        """Whether the note's text is near the words and holds one of them."""
        near = _NEAR_CHINESE if written_in_cjk(note.content) else _NEAR
        return cosine >= near and not self.terms.isdisjoint(index_terms(note.content))


class Declared:
    """Finds the notes of declared topics in one collection."""

    def __init__(self, store: Store, dense: Nearest, vectorizer: Vectorizer) -> None:
        self._store = store
        self._dense = dense
        self._vectorizer = vectorizer

    def belonging(self, keys: Sequence[int]) -> dict[str, set[str]]:
        """For each declared topic (by id) those of these notes that belong to it; nothing is loaded without topics."""
        with self._store.read() as session:
            topics = [known for known in known_topics(session) if known.mark.declared] if keys else []
        found: dict[str, set[str]] = {}
        for known in topics:
            words = Words.of(known.mark)
            mine = self._of(words, list(keys), known.scope)
            with self._store.read() as session:
                mine -= session.links.taken_away(known.id, LinkType.PART_OF)
            if mine:
                found[known.id] = mine
        return found

    def all_of(self, mark: Mark, scope: Scope) -> set[str]:
        """Every note of the scope that belongs to a topic of these words."""
        words = Words.of(mark)
        vector = self._vector(words)
        self._dense.refresh()
        with self._store.read() as session:
            allowed = session.notes.met_by(scope)
        near = self._dense.search(vector, _NEAREST, allowed=allowed)[0].tolist()
        with self._store.read() as session:
            keys = dict.fromkeys([*near, *_holding(session, words.labels)])
        return self._of(words, list(keys), scope)

    def _of(self, words: Words, keys: Sequence[int], scope: Scope) -> set[str]:
        if not keys:
            return set()
        vector = self._vector(words)
        self._dense.refresh()
        cosines = self._dense.cosines(vector, np.array(keys, dtype=np.int64)).tolist()
        with self._store.read() as session:
            notes = session.notes.bare(keys)
        found: set[str] = set()
        for key, cosine in zip(keys, cosines, strict=True):
            note = notes[key][0] if key in notes else None
            if note is None or not _may_belong(note) or Scope.of(note.metadata) != scope:
                continue
            if words.named_by(note) or words.spoken_of_by(note, cosine):
                found.add(note.id)
        return found

    def _vector(self, words: Words) -> NDArray[np.float32]:
        """The vector of a topic's words; kept like those of notes, so that it costs a model once."""
        vectors, fresh = self._vectorizer.embed([words.text])
        if fresh and not self._store.read_only:
            with self._store.write() as session:
                self._vectorizer.keep(session, vectors)
        return vectors[text_hash(words.text)]


def _may_belong(note: MemoryNote) -> bool:
    return note.status is Status.ACTIVE and note.kind is not Kind.TOPIC and "episode" not in note.metadata


def _holding(session: Session, labels: Iterable[str]) -> list[int]:
    spelled = [value for label in labels for value in (label, label.replace(" ", "-"))]
    return [key for role in ("tag", "entity", "keyword") for key, _ in session.text.holding(role, spelled, -1)]
