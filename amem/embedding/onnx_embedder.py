"""An embedder on onnxruntime and tokenizers: the everyday path, quick to start and half the memory of torch.

First what every embedder shares: a value made once, pooling, unit length, batches of like length, small words.
"""

from __future__ import annotations

import json
import os
import re
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from amem.errors import BadModelAnswer, MissingModel, first_line
from amem.language.scripts import ENGLISH, Literacy
from amem.token_vectors import WIDTH, Tokens, TokenVector, product

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from amem.protocols import Matrix


# A value that costs seconds to make, made on first use by one thread while the others wait.

T = TypeVar("T")


class Once(Generic[T]):
    """Calls `make` at the first ``get()``; when it raises, the next ``get()`` tries again."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = Lock()
        self._made: tuple[T] | None = None

    def get(self) -> T:
        made = self._made
        if made is None:
            with self._lock:
                made = self._made
                if made is None:
                    made = self._made = (self._make(),)
        return made[0]


#: Texts sent to a model elsewhere, or to sentence-transformers, at once.
BATCH = 32
#: Texts that the ONNX model sees at once, and what share of the longest each of them has at least: padding is computed
#: like text. Of 64 chat turns each took 5.7 ms of two cores' time so, 9.2 in 32s; of 512 turns 5.4, in 32s 6.1.
_AT_ONCE, _LENGTH_SHARE = 8, 0.8
_HINT = "check that this is an embedding model"


def unit_rows(vectors: NDArray[np.floating]) -> Matrix:
    """The rows at L2 length 1, as float32; a row of zeros stays zero."""
    rows = np.ascontiguousarray(vectors, dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Matrix = rows / np.maximum(lengths, 1e-12)
    return unit


def mean_pool(hidden: Matrix, mask: NDArray[np.int64]) -> Matrix:
    """Mean of the token vectors that `mask` keeps; (n, tokens, d) and (n, tokens) give (n, d)."""
    weights = mask.astype(np.float32)
    sums = np.matmul(weights[:, None, :], hidden)[:, 0, :]
    means: Matrix = sums / np.maximum(weights.sum(axis=1, keepdims=True), 1e-9)
    return means


def batches_by_length(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Positions in small batches of texts of nearly one length, longest first, so that little is padded.

    Longest first makes the largest allocation the first one.
    """
    order = sorted(range(len(lengths)), key=lambda position: -lengths[position])
    batch: list[int] = []
    for position in order:
        if batch and (len(batch) == _AT_ONCE or lengths[position] < _LENGTH_SHARE * lengths[batch[0]]):
            yield batch
            batch = []
        batch.append(position)
    if batch:
        yield batch


def rows_of(vectors: Sequence[Sequence[float]], expected: int, name: str) -> Matrix:
    """A server's lists of numbers as unit rows; raises BadModelAnswer unless there is one of equal length per text."""
    try:
        widths = {len(vector) for vector in vectors}
        with np.errstate(over="ignore"):  # what is too large for a float32 is seen below
            rows = np.asarray(vectors if len(widths) == 1 else (), dtype=np.float32)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise BadModelAnswer(f"{name} answered with vectors that are not rows of numbers", hint=_HINT) from error
    if len(vectors) != expected or len(widths) != 1 or 0 in widths:
        raise BadModelAnswer(
            f"{name} answered {expected} texts with {len(vectors)} vectors of {sorted(widths)} numbers",
            hint=_HINT,
        )
    if not np.isfinite(rows).all():
        raise BadModelAnswer(f"{name} answered with vectors that are not finite numbers", hint=_HINT)
    return unit_rows(rows)


# The words of a text, made small.

#: Word pieces of a text that are kept: the first ones, since a long note begins with what it is about.
MOST = 64
_WORD = re.compile(r"\w+")


def packed(text: str, hidden: NDArray[np.float32], spans: Sequence[tuple[int, int]]) -> Tokens:
    """The pieces of a text that belong to words with a meaning of their own, made smaller.

    `hidden` holds a row for each piece, shape (n, dimension), and `spans` where in the text each stands.
    """
    words = [(each.start(), each.end(), each.group().casefold()) for each in _WORD.finditer(text)]
    kept: list[tuple[int, str]] = []
    place = 0
    for row, (start, end) in enumerate(spans):
        while place < len(words) and words[place][1] <= start:
            place += 1
        if end > start and place < len(words) and words[place][0] <= start and words[place][2] not in ENGLISH:
            kept.append((row, words[place][2]))
    rows = hidden[[row for row, _ in kept[:MOST]]]
    small = product(rows, _projection(hidden.shape[1]))
    scale = 127.0 / np.maximum(np.abs(small).max(axis=1, keepdims=True, initial=0.0), 1e-9)
    return Tokens(np.round(small * scale).astype(np.int8), tuple(word for _, word in kept[:MOST]))


@cache
def _projection(dimension: int) -> NDArray[np.float32]:
    """An orthogonal projection to WIDTH numbers, the same on every machine.

    Johnson and Lindenstrauss, 1984: a random one keeps all angles nearly, whatever the model, and needs no training.
    """
    if dimension <= WIDTH:
        return np.eye(dimension, WIDTH, dtype=np.float32)
    return _orthonormal(np.random.default_rng(WIDTH).standard_normal((dimension, WIDTH))).astype(np.float32)


def _orthonormal(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """An orthonormal basis of what these columns span: the Q of `numpy.linalg.qr`, by Householder reflections.

    LAPACK's own runs on all cores and spins while it waits: on a busy machine it takes a second and a half.
    """
    rest, mirrors = columns.copy(), []
    for place in range(columns.shape[1]):
        mirror = rest[place:, place].copy()
        mirror[0] += np.copysign(np.sqrt(np.square(mirror).sum()), mirror[0])
        mirror /= np.sqrt(np.square(mirror).sum())
        rest[place:, place:] -= 2.0 * mirror[:, None] * (mirror[:, None] * rest[place:, place:]).sum(axis=0)
        mirrors.append(mirror)
    basis = np.eye(*columns.shape)
    for place, mirror in reversed([*enumerate(mirrors)]):
        basis[place:] -= 2.0 * mirror[:, None] * (mirror[:, None] * basis[place:]).sum(axis=0)
    return basis


#: Texts tokenised together; bounds the memory of a large call.
BLOCK = 4096
DEFAULT_MAX_TOKENS = 256


class OnnxModel:
    """An open model: a tokenizer and an inference session. Safe to use from several threads."""

    def __init__(self, session: Any, tokenizer: Any) -> None:
        self._session = session
        self._tokenizer = tokenizer
        self.literacy = Literacy(tokenizer)
        self._inputs = {given.name for given in session.get_inputs()}
        outputs = {output.name: len(output.shape) for output in session.get_outputs()}
        # A graph that pools by itself names its result; every other kind hands out one vector per token.
        self._output = "sentence_embedding" if outputs.get("sentence_embedding") == 2 else next(iter(outputs))
        self._pooled = outputs[self._output] == 2

    @classmethod
    def open(cls, folder: Path, max_tokens: int | None = None) -> OnnxModel:
        """Open ``model.onnx`` and ``tokenizer.json`` of `folder`; longer texts are cut at `max_tokens`.

        Raises MissingModel when the files are not a model that onnxruntime and tokenizers can read.
        """
        try:
            tokenizer = _open_tokenizer(folder, max_tokens or _max_tokens(folder))
            return cls(open_session(folder / "model.onnx"), tokenizer)
        except Exception as error:  # both libraries raise bare Exception subclasses of their own
            raise MissingModel(
                f"cannot open the ONNX model in {folder}: {first_line(error)}",
                hint="check that model.onnx and tokenizer.json belong together, or run amem setup",
            ) from error

    def encode(self, texts: Sequence[str]) -> Matrix:
        """One unit row per text of a non-empty sequence, in the order given."""
        parts = [self._encode_block(texts[start : start + BLOCK]) for start in range(0, len(texts), BLOCK)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _encode_block(self, texts: Sequence[str]) -> Matrix:
        tokens = [encoding.ids for encoding in self._tokenizer.encode_batch_fast(list(texts))]
        rows: Matrix | None = None
        for batch in batches_by_length([len(ids) for ids in tokens]):
            vectors = self._pool(*self._run([tokens[position] for position in batch]))
            if rows is None:
                rows = np.empty((len(tokens), vectors.shape[1]), dtype=np.float32)
            rows[batch] = vectors
        assert rows is not None
        return rows

    @property
    def gives_tokens(self) -> bool:
        """Whether it hands out one vector per token."""
        return not self._pooled

    def encode_tokens(self, texts: Sequence[str]) -> list[TokenVector]:
        """As ``encode``, each row with the vectors of its text's words, from the same pass of the model."""
        found: list[TokenVector | None] = [None] * len(texts)
        for start in range(0, len(texts), BLOCK):
            encodings = self._tokenizer.encode_batch(list(texts[start : start + BLOCK]))
            for batch in batches_by_length([len(encoding.ids) for encoding in encodings]):
                output, mask = self._run([encodings[position].ids for position in batch])
                for position, vector, hidden in zip(batch, self._pool(output, mask), output, strict=True):
                    tokens = (
                        None if self._pooled else packed(texts[start + position], hidden, _spans(encodings[position]))
                    )
                    found[start + position] = TokenVector.of(vector, tokens)
        return [each for each in found if each is not None]

    def _pool(self, output: Matrix, mask: NDArray[np.int64]) -> Matrix:
        return unit_rows(output if self._pooled else mean_pool(output, mask))

    def _run(self, tokens: list[list[int]]) -> tuple[Matrix, NDArray[np.int64]]:
        width = max(len(ids) for ids in tokens)
        ids = np.zeros((len(tokens), width), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, sequence in enumerate(tokens):
            ids[row, : len(sequence)] = sequence
            mask[row, : len(sequence)] = 1
        feeds = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        given = {name: value for name, value in feeds.items() if name in self._inputs}
        return self._session.run([self._output], given)[0], mask


class OnnxEmbedder:
    """Embeds with the OnnxModel that `load` opens at first use. `dimension` spares that where it is known before."""

    def __init__(self, name: str, load: Callable[[], OnnxModel], *, dimension: int | None = None) -> None:
        self._name = name
        self._model = Once(load)
        self._dimension = dimension

    @property
    def name(self) -> str:
        return self._name

    @property
    def dimension(self) -> int:
        if self._dimension is None:
            self._dimension = self._model.get().encode(["dimension"]).shape[1]
        return self._dimension

    def embed(self, texts: Sequence[str]) -> Matrix:
        """One unit row per text; an empty sequence gives shape (0, dimension)."""
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        return self._model.get().encode(texts)

    @property
    def gives_tokens(self) -> bool:
        """Whether the model hands out one vector per token; loads it."""
        return self._model.get().gives_tokens

    def embed_tokens(self, texts: Sequence[str]) -> list[TokenVector]:
        """One unit vector per text, each with those of its words."""
        return self._model.get().encode_tokens(texts) if texts else []

    def knows(self, text: str) -> float:
        """The share of the text that the model's vocabulary has words for, 0..1."""
        return 1.0 if text.isascii() else self._model.get().literacy.of(text)


def open_session(model: Path, options: Any = None) -> Any:
    """An onnxruntime session on the CPU, with all cores and without their spinning while they wait."""
    import onnxruntime

    options = options or onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = _cores()
    options.inter_op_num_threads = 1
    # Spinning gains 0.4 ms on one text and takes a whole core from whoever shares the machine.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


def _spans(encoding: Any) -> list[tuple[int, int]]:
    """Where each piece stands in the text; what the model itself adds stands nowhere."""
    pairs = zip(encoding.offsets, encoding.special_tokens_mask, strict=True)
    return [(0, 0) if special else span for span, special in pairs]


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return min(len(os.sched_getaffinity(0)), 8)
    return min(os.cpu_count() or 1, 8)


def _open_tokenizer(folder: Path, max_tokens: int) -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    # The file itself asks for 128 tokens, always padded to 128.
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens)
    return tokenizer


def _max_tokens(folder: Path) -> int:
    configuration = folder / "sentence_bert_config.json"
    if not configuration.is_file():
        return DEFAULT_MAX_TOKENS
    return int(json.loads(configuration.read_text(encoding="utf-8")).get("max_seq_length") or DEFAULT_MAX_TOKENS)
