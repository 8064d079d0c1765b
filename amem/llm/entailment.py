"""Natural language inference by a sentence-transformers CrossEncoder whose weights are on this machine already."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from amem.environment import defaults
from amem.errors import InvalidInput, MissingModel

if TYPE_CHECKING:
    from collections.abc import Sequence

LABELS = ("entailment", "neutral", "contradiction")
_CONFIG = "config.json"
#: Pairs go through the model together in tens.
_BATCH = 16
#: Characters by which a text's language shows.
_SHOWN = 300
#: A text of which the vocabulary lacks more than this share is in no language that the model knows.
_UNKNOWN = 0.2


class CrossEncoderEntailment:
    """The cross-encoder called `name` (or the folder of that name), loaded at first use. Never uses the network.

    `labels` say what each of its outputs means, in their order.
    """

    def __init__(self, name: str, labels: Sequence[str]) -> None:
        self.name = name
        self._labels = tuple(labels)
        self._model: Any = None
        # Its tokenizer changes its own padding and truncation during a call.
        self._one_at_a_time = Lock()

    def compare(self, pairs: Sequence[tuple[str, str]]) -> list[Mapping[str, float]]:
        """For each (premise, hypothesis) the probability of each label, the softmax of the model's logits.

        A text in a language that the model does not know is neutral to every other. Raises MissingModel when the
        weights cannot be loaded.
        """
        if not pairs:
            return []
        with self._one_at_a_time:
            model = self._loaded()
            known = [all(self._knows(model, text) for text in pair) for pair in pairs]
            asked = [pair for pair, each in zip(pairs, known, strict=True) if each]
            rows = iter(self._probabilities(model, asked) if asked else ())
        return [next(rows) if each else {"entailment": 0.0, "neutral": 1.0, "contradiction": 0.0} for each in known]

    def _probabilities(self, model: Any, pairs: Sequence[tuple[str, str]]) -> list[Mapping[str, float]]:
        rows = model.predict(list(pairs), batch_size=_BATCH, apply_softmax=True, show_progress_bar=False)
        return [dict(zip(self._labels, map(float, row), strict=True)) for row in rows]

    def _knows(self, model: Any, text: str) -> bool:
        tokens = model.tokenizer.tokenize(text[:_SHOWN])
        unknown = sum(1 for token in tokens if token == model.tokenizer.unk_token)
        return unknown <= _UNKNOWN * len(tokens)

    def _loaded(self) -> Any:
        if self._model is None:
            self._model = _load(self.name)
        return self._model


def local_entailment(name: str) -> CrossEncoderEntailment | None:
    """The model of that name or folder, if the package is installed and its weights are on this machine; else None.

    Reads its configuration, and no weights. Raises InvalidInput when that does not say which output is which label.
    """
    if not name or find_spec("sentence_transformers") is None:
        return None
    config = _config(name)
    if config is None:
        return None
    return CrossEncoderEntailment(name, labels_of(name, config))


def labels_of(name: str, config: Mapping[str, Any]) -> tuple[str, ...]:
    """What each output of a model means, in their order, by its own ``id2label``.

    Raises InvalidInput when that is anything but entailment, neutral and contradiction, each once.
    """
    named = config.get("id2label")
    labels: tuple[str, ...] = ()
    if isinstance(named, Mapping) and all(str(at).isdecimal() for at in named):
        labels = tuple(str(named[at]).casefold() for at in sorted(named, key=lambda at: int(str(at))))
    if sorted(labels) != sorted(LABELS):
        said = ", ".join(labels) or "none"
        raise InvalidInput(
            f"{name} is no model for natural language inference: its labels are {said}",
            hint="set nli_model (AMEM_NLI_MODEL) to a cross-encoder with entailment, neutral and contradiction",
        )
    return labels


def _config(name: str) -> Mapping[str, Any] | None:
    """The model's configuration, from its folder or from what was downloaded before; None when there is none."""
    folder = Path(name).expanduser()
    found = folder / _CONFIG if folder.is_dir() else _downloaded(name)
    if found is None or not found.is_file():
        return None
    try:
        config = json.loads(found.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInput(f"cannot read {found}: {error}", hint="download the model again") from error
    return config if isinstance(config, dict) else {}


def _downloaded(name: str) -> Path | None:
    from huggingface_hub.constants import HF_HUB_CACHE

    # The rest of the package takes a fifth of a second to import.
    if not (Path(HF_HUB_CACHE) / f"models--{name.replace('/', '--')}").is_dir():
        return None
    from huggingface_hub import try_to_load_from_cache

    found = try_to_load_from_cache(name, _CONFIG)
    return Path(found) if isinstance(found, str) else None


def _load(name: str) -> Any:
    # OpenMP reads this once, when torch is imported: threads that spin while they wait slow a busy machine down.
    with defaults(OMP_WAIT_POLICY="PASSIVE"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from sentence_transformers import CrossEncoder
    folder = Path(name).expanduser()
    try:
        return CrossEncoder(str(folder) if folder.is_dir() else name, local_files_only=True)
    except (OSError, ValueError, RuntimeError) as error:
        line = str(error).strip().partition("\n")[0]
        raise MissingModel(
            f"cannot load the cross-encoder {name}: {line}",
            hint="download it again, or set nli_model (AMEM_NLI_MODEL) to '' to do without",
        ) from error
