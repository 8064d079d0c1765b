"""The vectors of a text's words, small enough to be kept beside the vector of the whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Numbers a word is kept in. On three conversations of LoCoMo R@10 is 88.4 with 64 of a byte each, 89.2 with 96, 89.3
#: with 128 and 90.2 with all 384.
WIDTH = 128
#: A number is kept in half a byte, from -7 to 7, which costs as much as chance does: R@10 89.6 instead of 89.9.
_MOST = 7
#: Bytes a word is kept in.
PACKED = WIDTH // 2
#: How words are packed, as a space remembers it: other packings cannot be compared.
PACKING = f"words-{WIDTH}-4"


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """Word pieces of a text: `vectors` of shape (n, WIDTH), int8, and the case-folded word that each belongs to.

    What comes from the store has no `words`.
    """

    vectors: NDArray[np.int8]
    words: tuple[str, ...] = ()

    @classmethod
    def unpacked(cls, blob: bytes) -> Tokens:
        """What `packed` made, each number from -7 to 7."""
        held = np.frombuffer(blob, dtype=np.uint8).reshape(-1, PACKED)
        numbers = np.empty((len(held), WIDTH), dtype=np.int8)
        numbers[:, :PACKED] = held >> 4
        numbers[:, PACKED:] = held & 15
        numbers -= _MOST + 1
        return cls(numbers)

    def packed(self) -> bytes:
        """What is kept of each word: numbers of its first half in the upper half bytes, of its second in the lower."""
        largest = np.abs(self.vectors.astype(np.float32)).max(axis=1, keepdims=True, initial=1.0)
        numbers = (np.rint(self.vectors * (_MOST / largest)) + _MOST + 1).astype(np.uint8)
        joined: NDArray[np.uint8] = numbers[:, :PACKED] << 4 | numbers[:, PACKED:]
        return joined.tobytes()

    def cosines(self, others: Tokens) -> NDArray[np.float32]:
        """The cosine of each word with each of the others, shape (n, m): products of whole numbers, which are exact."""
        import numkong

        products: NDArray[np.float32] = np.asarray(
            numkong.cdist(self.vectors, others.vectors, "dot", out_dtype="float32")
        )
        found: NDArray[np.float32] = products / self._lengths[:, None] / others._lengths
        return found

    @property
    def _lengths(self) -> NDArray[np.float32]:
        rows = self.vectors.astype(np.float32)
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))  # a tenth of what numpy.linalg.norm takes
        found: NDArray[np.float32] = np.maximum(lengths, np.float32(1.0))
        return found


def halved(blob: bytes) -> bytes:
    """Words as they were kept before, a byte for each number, as `Tokens.packed` keeps them."""
    return Tokens(np.frombuffer(blob, dtype=np.int8).reshape(-1, WIDTH)).packed()


class TokenVector(np.ndarray):
    """A text's vector, an array as any other, that carries those of its words along on its way to the store."""

    tokens: Tokens | None = None

    @classmethod
    def of(cls, vector: NDArray[np.float32], tokens: Tokens | None) -> TokenVector:
        """The vector with these words."""
        made = vector.view(cls)
        made.tokens = tokens
        return made


#: Multiplications that BLAS does on one core; for more it wakes all, which spin while they wait for one another.
_ON_ONE_CORE = 1 << 18
#: Rows at once of a matrix that is larger than that.
_TALL = 64


def product(
    rows: NDArray[np.float32], matrix: NDArray[np.float32], out: NDArray[np.float32] | None = None
) -> NDArray[np.float32]:
    """``rows @ matrix``, into `out` if given, by blocks that one core multiplies: as exact, for less of a processor.

    A thousand rows by 64 columns of 384 numbers take 1 ms of processor so, and 20 in one piece, most of it waiting.
    """
    found = np.empty((len(rows), matrix.shape[1]), dtype=np.float32) if out is None else out
    # Rows of a small matrix, columns of a large one.
    tall = min(len(rows), max(1, _ON_ONE_CORE // max(matrix.size, 1)) if matrix.size <= _ON_ONE_CORE else _TALL)
    broad = max(1, _ON_ONE_CORE // max(1, tall * len(matrix)))
    for top in range(0, len(rows), tall or 1):
        for left in range(0, matrix.shape[1], broad):
            some = matrix[:, left : left + broad]
            np.matmul(rows[top : top + tall], some, out=found[top : top + tall, left : left + broad])
    return found


def tokens_of(vector: NDArray[np.float32] | None) -> Tokens | None:
    """The words that came along with a vector; None where none did."""
    return vector.tokens if isinstance(vector, TokenVector) else None
