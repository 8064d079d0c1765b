"""An embedder that keeps what it has embedded, in a file if there is one, and counts the time it took."""

from __future__ import annotations

import hashlib
import time
from typing import TYPE_CHECKING

import numpy as np

from amem.protocols import Literate

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from amem.protocols import Embedder


class KeptVectors:
    """`embedder` asked once for each text; `seconds` is what it has taken, `embedded` how many texts it was given."""

    def __init__(self, embedder: Embedder, file: Path | None = None) -> None:
        self._embedder = embedder
        self._file = file
        self._held: dict[str, NDArray[np.float32]] = {}
        self.seconds = 0.0
        self.embedded = 0
        if file is not None and file.is_file():
            with np.load(file) as kept:
                if str(kept["name"]) == embedder.name:
                    self._held = dict(zip(kept["keys"].tolist(), kept["rows"], strict=True))

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
        keys = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._held}
        if missing:
            start = time.perf_counter()
            rows = self._embedder.embed(list(missing.values()))
            self.seconds += time.perf_counter() - start
            self.embedded += len(missing)
            self._held |= dict(zip(missing, rows, strict=True))
        return np.stack([self._held[key] for key in keys])

    def save(self) -> None:
        """Write what is held to the file, if there is one and anything is new."""
        if self._file is not None and self.embedded:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            np.savez(self._file, name=self.name, keys=list(self._held), rows=np.stack(list(self._held.values())))
