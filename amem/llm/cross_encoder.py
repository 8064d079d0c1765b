"""Any sentence-transformers CrossEncoder: whether its weights are on this machine, loading it, what languages it knows.

A cross-encoder reads two texts together, so it sees what a comparison of two vectors cannot; it has to read each pair
anew, so it is for a few. What its outputs mean is for `entailment` and `reranker` to say.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from contextlib import contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from amem.environment import defaults
from amem.errors import InvalidInput, MissingExtra, MissingModel
from amem.text.literacy import Literacy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_CONFIG = "config.json"
_WEIGHTS = ("*.safetensors", "pytorch_model*.bin")
#: Pairs go through the model together in so many.
_BATCH = 16


class CrossEncoder:
    """The cross-encoder called `name` (or the folder of that name), loaded at first use. Safe in many threads.

    `hint` says what to do where it cannot be. The network is used only by `load` with ``fetch=True``.
    """

    def __init__(self, name: str, hint: str) -> None:
        self.name = name
        self._hint = hint
        self._model: Any = None
        self._literacy: Literacy | None = None
        # Its tokenizer changes its own padding and truncation during a call.
        self._one_at_a_time = Lock()

    def load(self, *, fetch: bool = False) -> Any:
        """The model itself, fetched where it may be and has to be. Raises MissingModel and MissingExtra."""
        with self._one_at_a_time:
            return self._loaded(fetch)

    def knows(self, text: str) -> float:
        """The share of a text that the model's vocabulary has words for, 0..1; 1 where it cannot be told."""
        if text.isascii():
            return 1.0
        with self._one_at_a_time:
            # A few models come with a tokenizer in Python.
            tokenizer = getattr(self._loaded().tokenizer, "backend_tokenizer", None)
            if self._literacy is None and tokenizer is not None:
                self._literacy = Literacy(tokenizer)
            return 1.0 if self._literacy is None else self._literacy.of(text)

    def predict(self, pairs: Sequence[tuple[str, str]], **how: Any) -> Any:
        """One row of the model's outputs for each pair, as ``CrossEncoder.predict`` gives them."""
        with self._one_at_a_time:
            return self._loaded().predict(list(pairs), batch_size=_BATCH, show_progress_bar=False, **how)

    def _loaded(self, fetch: bool = False) -> Any:
        if self._model is None:
            self._model = _load(self.name, self._hint, fetch)
        return self._model


def folder_of(name: str) -> Path | None:
    """The folder with the configuration and the weights of the model of that name; None where they are not here.

    Neither are they where the package that reads them is not installed. Looks at file names alone.
    """
    if not name or find_spec("sentence_transformers") is None:
        return None
    named = Path(name).expanduser()
    folder = named if named.is_dir() else _downloaded(name)
    # A download that was broken off, or made to look at it, has a configuration and no weights.
    if folder is None or not (folder / _CONFIG).is_file() or not any(any(folder.glob(each)) for each in _WEIGHTS):
        return None
    return folder


def configuration(folder: Path, file: str = _CONFIG) -> Mapping[str, Any]:
    """What a model's folder says of it. Raises InvalidInput for a file that cannot be read."""
    path = folder / file
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInput(f"cannot read {path}: {error}", hint="download the model again") from error
    return config if isinstance(config, dict) else {}


def labels(config: Mapping[str, Any]) -> tuple[str, ...]:
    """What a model calls its outputs, in their order, by its own ``id2label``; none where that is not to be read."""
    named = config.get("id2label")
    if not isinstance(named, Mapping) or not all(str(at).isdecimal() for at in named):
        return ()
    return tuple(str(named[at]) for at in sorted(named, key=lambda at: int(str(at))))


def _downloaded(name: str) -> Path | None:
    from huggingface_hub.constants import HF_HUB_CACHE

    # The rest of the package takes a fifth of a second to import.
    if not (Path(HF_HUB_CACHE) / f"models--{name.replace('/', '--')}").is_dir():
        return None
    from huggingface_hub import try_to_load_from_cache

    found = try_to_load_from_cache(name, _CONFIG)
    return Path(found).parent if isinstance(found, str) else None


def _load(name: str, hint: str, fetch: bool) -> Any:
    # OpenMP reads this once, when torch is imported: threads that spin while they wait slow a busy machine down.
    with defaults(OMP_WAIT_POLICY="PASSIVE"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            from sentence_transformers import CrossEncoder as Model
        except ImportError as error:
            raise MissingExtra(
                f"a cross-encoder needs sentence-transformers ({error})",
                hint='pip install "amem[sentence-transformers]"',
            ) from error
    folder = Path(name).expanduser()
    here = folder.is_dir() or not fetch or folder_of(name) is not None
    try:
        # A download may show how far it is; what is here is there in a second.
        with _without_bars() if here else nullcontext():
            return Model(str(folder) if folder.is_dir() else name, local_files_only=here)
    except Exception as error:  # four packages read the files, each with errors of its own for damaged ones
        line = str(error).strip().partition("\n")[0]
        raise MissingModel(f"cannot load the cross-encoder {name}: {line}", hint=hint) from error


@contextmanager
def _without_bars() -> Iterator[None]:
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()
