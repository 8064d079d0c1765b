"""An open collection: what its services share, how its notes become vectors, and what the dense leg reads of it."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.clock import zone
from amem.errors import BadModelAnswer, EmbedderMismatch
from amem.note import Kind, Status
from amem.protocols import Literate, TokenEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import tzinfo
    from pathlib import Path
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

    from amem.clock import Clock
    from amem.index import DenseLeg
    from amem.index.vector_rows import Described, VectorDelta
    from amem.language.predicates import Predicates
    from amem.note import MemoryNote
    from amem.protocols import Embedder
    from amem.settings import Settings
    from amem.storage.store import Session, Store
    from amem.storage.vectors import Space


@dataclass(frozen=True, slots=True)
class Collection:
    """An open collection, as the services that work on it share it.

    `dense` finds notes by their vectors, which `vectorizer` makes; both are made when first asked for, since a command
    may need neither. `predicates` reads the table of predicates, `folder` is None in memory.
    """

    store: Store
    get_dense: Callable[[], DenseLeg]
    get_vectorizer: Callable[[], Vectorizer]
    settings: Settings
    clock: Clock
    predicates: Callable[[], Predicates]
    folder: Path | None = None

    @property
    def dense(self) -> DenseLeg:
        """Finds notes by their vectors."""
        return self.get_dense()

    @property
    def vectorizer(self) -> Vectorizer:
        """Makes vectors of texts."""
        return self.get_vectorizer()

    @property
    def zone(self) -> tzinfo:
        """That of times given without one."""
        return zone(self.settings.timezone)


# Texts of notes to vectors. NumPy is imported where it is needed: most commands read no vector.

#: The share of a text's words that a model must know for its vector to mean much.
_LITERATE = 0.5
#: Notes that are embedded together.
_PAGE = 256
_EMBEDDED = {"content": ("content", "speaker"), "paper": ("content", "context", "keywords", "tags")}


def embedded_text(note: MemoryNote, recipe: str) -> str:
    """What of a note is embedded: who said what, or A-Mem's concatenation of all it knows (``paper``).

    Of a topic's page its title and summary: the rest are the words of its notes, which have vectors of their own.
    """
    if note.kind is Kind.TOPIC:
        return "\n\n".join(note.content.split("\n\n", 2)[:2])
    if recipe == "content":
        # Questions name people, and what a person said seldom does (docs/adr/0005).
        return f"{note.speaker}: {note.content}" if note.speaker else note.content
    return f"{note.content} {note.context} {' '.join(note.keywords)} {' '.join(note.tags)}".strip()


class Vectorizer:
    """Embeds notes for one collection and guards that all its vectors are of one model and recipe."""

    def __init__(self, store: Store, embedder: Embedder, recipe: str, *, tokens: bool = True) -> None:
        self._store = store
        self._tokens = tokens
        self.embedder = embedder
        self.recipe = recipe

    def packing(self) -> str:
        """How the words of texts will be kept beside their vectors; '' where they are not wanted or not to be had."""
        from amem.token_vectors import PACKING

        gives = self._tokens and isinstance(self.embedder, TokenEmbedder) and self.embedder.gives_tokens
        return PACKING if gives else ""

    def reads(self, fields: Iterable[str]) -> bool:
        """True when one of these fields is part of what is embedded."""
        return not set(fields).isdisjoint(_EMBEDDED[self.recipe])

    def text(self, note: MemoryNote) -> str:
        """What of this note is embedded."""
        return embedded_text(note, self.recipe)

    def can_read(self, note: MemoryNote) -> bool:
        """Whether the model has words for at least half of what of this note is embedded.

        Where it has not, notes look alike that have nothing in common. A model that cannot tell is believed.
        """
        text = self.text(note)
        return text.isascii() or not isinstance(self.embedder, Literate) or self.embedder.knows(text) >= _LITERATE

    def hash(self, note: MemoryNote) -> bytes:
        """Address of this note's vector."""
        from amem.storage.vectors import text_hash

        return text_hash(self.text(note))

    def check(self, session: Session | None = None) -> None:
        """Raise EmbedderMismatch when the collection holds vectors of another model or recipe. Loads no model.

        Asks anew each time, in `session` if there is one: another process may have re-indexed the collection since.
        """
        if session is not None:
            return self._compare(session.vectors.space())
        with self._store.read() as session:
            self._compare(session.vectors.space())

    def embed(
        self, texts: Sequence[str], session: Session | None = None
    ) -> tuple[dict[bytes, NDArray[np.float32]], set[bytes]]:
        """Vectors by text hash, taken from the collection where it has them; and which had to be computed.

        Asks in `session`, which then stays open as long as that takes, or in a snapshot that does not. Raises
        EmbedderMismatch, and what `compute` raises.
        """
        from amem.storage.vectors import text_hash

        wanted = {text_hash(text): text for text in texts}
        with self._store.read() if session is None else nullcontext(session) as asked:
            space = asked.vectors.space()
            self._compare(space)
            known = {} if space is None else asked.vectors.known(space, list(wanted))
        fresh = [hashed for hashed in wanted if hashed not in known]
        if fresh:
            rows = self.compute([wanted[hashed] for hashed in fresh], None if space is None else space.dimension)
            known |= dict(zip(fresh, rows, strict=True))
        return known, set(fresh)

    def compute(self, texts: Sequence[str], dimension: int | None = None) -> Sequence[NDArray[np.float32]]:
        """A vector of each text, with its words where they are kept.

        Raises BadModelAnswer for what is not a vector of `dimension`.
        """
        import numpy as np

        given: Sequence[NDArray[np.float32]] | None = None
        if self._tokens and isinstance(self.embedder, TokenEmbedder):
            given = self.embedder.embed_tokens(texts)
        rows = np.asarray(self.embedder.embed(texts) if given is None else given, dtype=np.float32)
        if rows.ndim != 2 or len(rows) != len(texts) or (dimension is not None and rows.shape[1] != dimension):
            shape = " x ".join(map(str, rows.shape))
            raise BadModelAnswer(
                f"{self.embedder.name} gave {shape} numbers for {len(texts)} texts in a space of {dimension or 'any'}",
                hint="if the model behind this name has changed, run amem reindex",
            )
        if not np.isfinite(rows).all():
            raise BadModelAnswer(
                f"{self.embedder.name} gave a vector that is not made of numbers", hint="try another AMEM_EMBED_MODEL"
            )
        return list(rows) if given is None else given

    def embed_missing(self, ids: Sequence[str] | None = None, *, after: int = 0) -> int:
        """Embed notes (of `ids`; None: all) whose present text has no vector yet, and only those; returns how many.

        With `after` only notes that changed since that value of the change counter. Raises as `embed` does.
        """
        self.check()
        with self._store.read() as session:
            missing = session.vectors.missing(ids, after=after)
        for start in range(0, len(missing), _PAGE):
            some = missing[start : start + _PAGE]
            with self._store.read() as session:
                notes = session.notes.get_many(some, history=False)
            vectors, _ = self.embed([self.text(note) for note in notes.values()])
            with self._store.write() as session:
                self.keep(session, vectors)
                # Read again: one that was changed meanwhile needs another vector than the one just made.
                for note in session.notes.get_many(some, history=False).values():
                    session.notes.address(note.id, self.hash(note))
        return len(missing)

    def keep(self, session: Session, vectors: Mapping[bytes, NDArray[np.float32]]) -> None:
        """Store vectors, pinning the collection to this embedder with its very first one."""
        if not vectors:
            return
        space = session.vectors.space()
        if space is None:
            dimension = len(next(iter(vectors.values())))
            space = session.vectors.add_space(
                self.embedder.name, dimension, self.recipe, active=True, tokens=self.packing()
            )
        self._compare(space)
        session.vectors.announce(space, list(vectors))
        session.vectors.put(space, vectors)

    def _compare(self, space: Space | None) -> None:
        if space is None or (space.model, space.recipe) == (self.embedder.name, self.recipe):
            return
        raise EmbedderMismatch(
            f"the collection was embedded with {space.model} (recipe {space.recipe}), "
            f"not with {self.embedder.name} (recipe {self.recipe})",
            hint="amem reindex re-embeds it; or set AMEM_EMBED_MODEL and AMEM_EMBED_RECIPE back",
        )


class StoreFeed:
    """The store as the dense leg sees it (the ``VectorFeed`` protocol)."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def counter(self) -> int:
        with self._store.read() as session:
            return session.counter

    def delta(self, after: int) -> VectorDelta:
        import numpy as np

        from amem.index.vector_rows import VectorDelta

        with self._store.read() as session:
            counter = session.counter
            keys, states = session.vectors.states(after)
            space = session.vectors.space()
            if space is None:
                empty = np.empty((0, 0), dtype=np.float32)
                return VectorDelta(counter, "", keys, states, np.empty(0, dtype=np.int64), empty)
            vector_keys, vectors = session.vectors.changed(space, after)
        return VectorDelta(counter, space.fingerprint, keys, states, vector_keys, vectors)

    def touched(self, after: int) -> tuple[int, NDArray[np.int64]]:
        with self._store.read() as session:
            return session.counter, session.vectors.states(after)[0]

    def described(self, keys: Sequence[int]) -> dict[int, Described]:
        from amem.index.vector_rows import Described

        with self._store.read() as session:
            notes = {key: note for key, (note, _) in session.notes.bare(keys).items()}
        return {
            key: Described(note.id, note.content, chroma_metadata(note))
            for key, note in notes.items()
            if note.status is not Status.DELETED
        }

    def keys_of(self, ids: Sequence[str]) -> dict[str, int]:
        with self._store.read() as session:
            return session.notes.keys_of(ids)


def chroma_metadata(note: MemoryNote) -> dict[str, Any]:
    """A note's fields as Chroma keeps them: text, numbers, lists of text, times as ISO 8601; what is empty is None."""
    times = {"time": note.at, "recorded_at": note.recorded_at, "valid_from": note.valid_from, "valid_to": note.valid_to}
    return {
        "kind": str(note.kind),
        "status": str(note.status),
        "layer": str(note.layer),
        "keywords": note.keywords or None,
        "tags": note.tags or None,
        "entities": note.entities or None,
        "context": note.context or None,
        "category": note.category or None,
        "importance": note.importance,
        "timestamp": note.timestamp or None,
        **{name: None if at is None else at.isoformat() for name, at in times.items()},
        "speaker": note.speaker,
        "conversation_id": note.conversation_id,
        "superseded_by": note.superseded_by,
    }
