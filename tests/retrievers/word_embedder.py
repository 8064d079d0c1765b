"""A stand-in embedder: texts that share words are near each other. What words mean is MiniLM's business."""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.protocols import Matrix

DIMENSION = 512


class WordEmbedder:
    """Each word (each character, in Chinese) is one of 512 directions."""

    name = "words"
    dimension = DIMENSION

    def embed(self, texts: Sequence[str]) -> Matrix:
        rows = np.full((len(texts), DIMENSION), 1e-3, dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in re.findall(r"[\u4e00-\u9fff]|[^\W\u4e00-\u9fff]+", text.lower()):
                row[int.from_bytes(blake2b(word.encode(), digest_size=4).digest()) % DIMENSION] += 1
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)
