"""Natural language inference by a cross-encoder whose weights are on this machine already."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amem.errors import InvalidInput
from amem.llm import cross_encoder
from amem.llm.cross_encoder import CrossEncoder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LABELS = ("entailment", "neutral", "contradiction")
#: Less of a text than this, and it is in no language that the model can judge in.
_KNOWN = 0.8
_HINT = "download it again, or set nli_model in config.toml to '' to do without"


class CrossEncoderEntailment:
    """The cross-encoder called `name` (or the folder of that name), loaded at first use. Never uses the network.

    `labels` say what each of its outputs means, in their order.
    """

    def __init__(self, name: str, labels: Sequence[str]) -> None:
        self.name = name
        self._labels = tuple(labels)
        self._model = CrossEncoder(name, _HINT)

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
    folder = cross_encoder.folder_of(name)
    if folder is None:
        return None
    return CrossEncoderEntailment(name, labels_of(name, cross_encoder.configuration(folder)))


def labels_of(name: str, config: Mapping[str, Any]) -> tuple[str, ...]:
    """What each output of a model means, in their order, by its own ``id2label``.

    Raises InvalidInput when that is anything but entailment, neutral and contradiction, each once.
    """
    labels = tuple(label.casefold() for label in cross_encoder.labels(config))
    if sorted(labels) != sorted(LABELS):
        said = ", ".join(labels) or "none"
        raise InvalidInput(
            f"{name} is no model for natural language inference: its labels are {said}",
            hint="set nli_model (AMEM_NLI_MODEL) to a cross-encoder with entailment, neutral and contradiction",
        )
    return labels
