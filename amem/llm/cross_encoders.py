"""Cross-encoders whose weights are on this machine: loading, entailment, reranking."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

from amem.errors import InvalidInput, MissingExtra, MissingModel
from amem.language.scripts import Literacy
from amem.library_imports import defaults

# Any sentence-transformers CrossEncoder: whether its weights are on this machine, loading it, what languages it
# knows.
#
# A cross-encoder reads two texts together, so it sees what a comparison of two vectors cannot; it has to read each
# pair anew, so it is for a few. What its outputs mean is for `entailment` and `reranker` to say.

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


def config_labels(config: Mapping[str, Any]) -> tuple[str, ...]:
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


# Natural language inference by a cross-encoder whose weights are on this machine already.

LABELS = ("entailment", "neutral", "contradiction")
#: Less of a text than this, and it is in no language that the model can judge in.
_KNOWN = 0.8
_NLI_HINT = "download it again, or set nli_model in config.toml to '' to do without"


class CrossEncoderEntailment:
    """The cross-encoder called `name` (or the folder of that name), loaded at first use. Never uses the network.

    `labels` say what each of its outputs means, in their order.
    """

    def __init__(self, name: str, labels: Sequence[str]) -> None:
        self.name = name
        self._labels = tuple(labels)
        self._model = CrossEncoder(name, _NLI_HINT)

    def compare(self, pairs: Sequence[tuple[str, str]]) -> list[Mapping[str, float]]:
        """For each (premise, hypothesis) the probability of each label, the softmax of the model's logits.

        A text in a language that the model does not know is neutral to every other. Raises MissingModel when the
        weights cannot be loaded.
        """
        known = [all(self._model.knows(text) >= _KNOWN for text in pair) for pair in pairs]
        asked = [pair for pair, each in zip(pairs, known, strict=True) if each]
        rows = iter(self._probabilities(asked) if asked else ())
        return [next(rows) if each else {"entailment": 0.0, "neutral": 1.0, "contradiction": 0.0} for each in known]

    def _probabilities(self, pairs: Sequence[tuple[str, str]]) -> list[Mapping[str, float]]:
        rows = self._model.predict(pairs, apply_softmax=True)
        return [dict(zip(self._labels, map(float, row), strict=True)) for row in rows]


def local_entailment(name: str) -> CrossEncoderEntailment | None:
    """The model of that name or folder, if the package is installed and its weights are on this machine; else None.

    Reads its configuration, and no weights. Raises InvalidInput when that does not say which output is which label.
    """
    folder = folder_of(name)
    if folder is None:
        return None
    return CrossEncoderEntailment(name, labels_of(name, configuration(folder)))


def labels_of(name: str, config: Mapping[str, Any]) -> tuple[str, ...]:
    """What each output of a model means, in their order, by its own ``id2label``.

    Raises InvalidInput when that is anything but entailment, neutral and contradiction, each once.
    """
    labels = tuple(label.casefold() for label in config_labels(config))
    if sorted(labels) != sorted(LABELS):
        said = ", ".join(labels) or "none"
        raise InvalidInput(
            f"{name} is no model for natural language inference: its labels are {said}",
            hint="set nli_model (AMEM_NLI_MODEL) to a cross-encoder with entailment, neutral and contradiction",
        )
    return labels


# How well a passage answers a question, by a cross-encoder with one output.

_RERANK_HINT = "set rerank_model (AMEM_RERANK_MODEL) to one such as cross-encoder/ms-marco-MiniLM-L6-v2"
_ABSENT = "check rerank_model (AMEM_RERANK_MODEL) and the network, or set rerank (AMEM_RERANK) to off"
_SCORES = ("ForSequenceClassification", "ForCausalLM")
_MADE_AS = "config_sentence_transformers.json"
#: What transformers takes a classifier to have whose configuration does not say.
_UNSAID = 2


class CrossEncoderReranker:
    """The cross-encoder called `name` (or the folder of that name), loaded at first use.

    `fetch` lets loading it use the network, where its weights are not on this machine; `notify` hears that it begins.
    """

    def __init__(self, name: str, *, fetch: bool = False, notify: Callable[[str], None] | None = None) -> None:
        self.name = name
        self._fetch = fetch
        self._notify = notify
        self._model = CrossEncoder(name, _ABSENT)
        self._activation: Any = None

    def load(self) -> None:
        """Get the weights into memory. Raises MissingModel, MissingExtra, InvalidInput for more than one output."""
        if not self.name:
            raise MissingModel("no rerank model is named", hint=_RERANK_HINT)
        if self._activation is None:
            if self._notify is not None:
                self._notify(f"loading {self.name}")
            model = self._model.load(fetch=self._fetch)
            if folder := folder_of(self.name):
                check(self.name, folder)
            if model.num_labels != 1:
                raise _outputs(self.name, model.num_labels)
            self._activation = _bounded(model.activation_fn)

    def knows(self, text: str) -> float:
        """The share of a text that the model has words for, 0..1: next to nothing of Chinese, for an English one."""
        self.load()
        return self._model.knows(text)

    def score(self, question: str, passages: Sequence[str]) -> list[float]:
        """For each passage how well it answers, 0..1. Raises what `load` raises."""
        if not passages:
            return []
        self.load()
        pairs = [(question, passage) for passage in passages]
        return [float(score) for score in self._model.predict(pairs, activation_fn=self._activation)]


def find_reranker(
    name: str, *, fetch: bool = False, notify: Callable[[str], None] | None = None
) -> CrossEncoderReranker | None:
    """The model of that name or folder; None where it is not on this machine and may not be fetched.

    Reads its configuration, and no weights. Raises InvalidInput when that shows a model that cannot rerank.
    """
    folder = folder_of(name)
    if folder is not None:
        check(name, folder)
    elif not fetch:
        return None
    return CrossEncoderReranker(name, fetch=fetch, notify=notify)


def check(name: str, folder: Path) -> None:
    """Raise InvalidInput for a model that is no cross-encoder with one output, by what its folder says."""
    config = configuration(folder)
    kinds = config.get("architectures")
    kind = str(kinds[0]) if isinstance(kinds, list) and kinds else "unknown"
    made_as = configuration(folder, _MADE_AS) if (folder / _MADE_AS).is_file() else {}
    if not kind.endswith(_SCORES) and made_as.get("model_type") != "CrossEncoder":
        # sentence-transformers would put a layer of random numbers on top of it, and score with that.
        raise InvalidInput(f"{name} cannot rerank: it is no cross-encoder ({kind})", hint=_RERANK_HINT)
    if kind.endswith(_SCORES[0]):
        labels, said = config_labels(config), config.get("num_labels")
        outputs = len(labels) or (said if isinstance(said, int) else _UNSAID)
        if outputs != 1:
            raise _outputs(name, outputs, labels)


def _bounded(activation: Any) -> Any:
    """The model's own activation if that gives 0..1, else (ms-marco's gives the logit itself) the sigmoid."""
    from torch.nn import Hardsigmoid, Sigmoid

    return activation if isinstance(activation, (Sigmoid, Hardsigmoid)) else Sigmoid()


def _outputs(name: str, outputs: int, labels: Sequence[str] = ()) -> InvalidInput:
    called = f" ({', '.join(labels)})" if labels else ""
    return InvalidInput(
        f"{name} cannot rerank: it has {outputs} outputs{called}, not one that says how well a passage answers",
        hint=_RERANK_HINT,
    )
