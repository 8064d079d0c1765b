"""How well a passage answers a question, by a cross-encoder with one output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amem.errors import InvalidInput, MissingModel
from amem.llm import cross_encoder
from amem.llm.cross_encoder import CrossEncoder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

_HINT = "set rerank_model (AMEM_RERANK_MODEL) to one such as cross-encoder/ms-marco-MiniLM-L6-v2"
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
        self._name = name
        self._fetch = fetch
        self._notify = notify
        self._model = CrossEncoder(name, _ABSENT)
        self._activation: Any = None

    @property
    def name(self) -> str:
        return self._name

    def load(self) -> None:
        """Get the weights into memory. Raises MissingModel, MissingExtra, InvalidInput for more than one output."""
        if not self._name:
            raise MissingModel("no rerank model is named", hint=_HINT)
        if self._activation is None:
            if self._notify is not None:
                self._notify(f"loading {self._name}")
            model = self._model.load(fetch=self._fetch)
            if folder := cross_encoder.folder_of(self._name):
                check(self._name, folder)
            if model.num_labels != 1:
                raise _outputs(self._name, model.num_labels)
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
    folder = cross_encoder.folder_of(name)
    if folder is not None:
        check(name, folder)
    elif not fetch:
        return None
    return CrossEncoderReranker(name, fetch=fetch, notify=notify)


def check(name: str, folder: Path) -> None:
    """Raise InvalidInput for a model that is no cross-encoder with one output, by what its folder says."""
    config = cross_encoder.configuration(folder)
    kinds = config.get("architectures")
    kind = str(kinds[0]) if isinstance(kinds, list) and kinds else "unknown"
    made_as = cross_encoder.configuration(folder, _MADE_AS) if (folder / _MADE_AS).is_file() else {}
    if not kind.endswith(_SCORES) and made_as.get("model_type") != "CrossEncoder":
        # sentence-transformers would put a layer of random numbers on top of it, and score with that.
        raise InvalidInput(f"{name} cannot rerank: it is no cross-encoder ({kind})", hint=_HINT)
    if kind.endswith(_SCORES[0]):
        labels, said = cross_encoder.labels(config), config.get("num_labels")
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
        hint=_HINT,
    )
