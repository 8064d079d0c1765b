"""Texts of notes to vectors, in the one space the collection is pinned to."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from amem.errors import BadModelAnswer, EmbedderMismatch
from amem.note import Kind
from amem.protocols import Literate, TokenEmbedder
from amem.storage.vectors import Space, text_hash
from amem.token_vectors import PACKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from amem.note import MemoryNote
    from amem.protocols import Embedder
    from amem.storage.store import Session, Store

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
