"""An embedder that keeps what it has embedded, in a file if there is one, and counts the time it took."""

from __future__ import annotations

import hashlib
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from amem.protocols import Literate, TokenEmbedder
from amem.token_vectors import WIDTH, Tokens, TokenVector, tokens_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from amem.protocols import Embedder


class KeptVectors:
    """`embedder` asked once for each text; `seconds` is what it has taken, `embedded` how many texts it was given."""

    def __init__(self, embedder: Embedder, file: Path | None = None) -> None:
        self._embedder = embedder
        self._file = file
        self._held: dict[str, TokenVector] = {}
        self.seconds = 0.0
        self.embedded = 0
        if file is not None and file.is_file():
            with np.load(file) as kept:
                # A file from before words were kept holds no counts, and is made anew.
                if str(kept["name"]) == embedder.name and "counts" in kept:
                    self._held = dict(zip(kept["keys"].tolist(), self._with_words(kept), strict=True))

    @property
    def gives_tokens(self) -> bool:
        return isinstance(self._embedder, TokenEmbedder) and self._embedder.gives_tokens

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    def knows(self, text: str) -> float:
        """What the model says; a model that cannot tell is taken to read everything, as amem takes it."""
        return self._embedder.knows(text) if isinstance(self._embedder, Literate) else 1.0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack(self.embed_tokens(texts))

    def embed_tokens(self, texts: Sequence[str]) -> list[TokenVector]:
        keys = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._held}
        if missing:
            start = time.perf_counter()
            asked = list(missing.values())
            if isinstance(self._embedder, TokenEmbedder):
                rows = self._embedder.embed_tokens(asked)
            else:
                rows = [TokenVector.of(row, None) for row in self._embedder.embed(asked)]
            self.seconds += time.perf_counter() - start
            self.embedded += len(missing)
            self._held |= dict(zip(missing, rows, strict=True))
        return [self._held[key] for key in keys]

    def save(self) -> None:
        """Write what is held to the file, if there is one and anything is new."""
        if self._file is not None and self.embedded:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            vectors = list(self._held.values())
            words = [tokens_of(vector) for vector in vectors]
            np.savez(
                self._file,
                name=self.name,
                keys=list(self._held),
                rows=np.stack(vectors),
                counts=[-1 if each is None else len(each.vectors) for each in words],
                pieces=np.concatenate([np.empty((0, WIDTH), np.int8), *(each.vectors for each in words if each)]),
                words=[word for each in words if each for word in each.words],
            )

    @staticmethod
    def _with_words(kept: Mapping[str, NDArray[Any]]) -> Iterator[TokenVector]:
        start, pieces, words = 0, kept["pieces"], kept["words"].tolist()
        for row, count in zip(kept["rows"], kept["counts"].tolist(), strict=True):
            end = start + max(count, 0)
            yield TokenVector.of(row, None if count < 0 else Tokens(pieces[start:end], tuple(words[start:end])))
            start = end
