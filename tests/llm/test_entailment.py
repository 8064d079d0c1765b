"""The cross-encoder, through the real CrossEncoder class on a tiny model with weights of its own."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from amem.errors import InvalidInput
from amem.llm.cross_encoders import CrossEncoderEntailment, labels_of, local_entailment

if TYPE_CHECKING:
    from pathlib import Path

MARKS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
WORDS = (*MARKS, "i", "love", "hate", "my", "job", "the", "office", "is", "open", "closed", "##s")
PAIRS = [("I love my job", "I hate my job"), ("The office is open", "The office is closed")]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of a few dimensions, whose outputs mean contradiction, entailment, neutral."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

    folder = tmp_path_factory.mktemp("nli") / "tiny"
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(WORDS), encoding="utf-8")
    torch.manual_seed(7)
    config = BertConfig(
        vocab_size=len(WORDS),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=64,
        id2label={0: "contradiction", 1: "entailment", 2: "neutral"},
        label2id={"contradiction": 0, "entailment": 1, "neutral": 2},
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    return folder


def relabelled(folder: Path, tmp_path: Path, *labels: str) -> Path:
    other = tmp_path / "other"
    shutil.copytree(folder, other)
    config = json.loads((other / "config.json").read_text(encoding="utf-8"))
    config["id2label"] = {str(at): label for at, label in enumerate(labels)}
    config["label2id"] = {label: at for at, label in enumerate(labels)}
    (other / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return other


def opened(folder: Path) -> CrossEncoderEntailment:
    model = local_entailment(str(folder))
    assert model is not None
    return model


def test_probabilities_come_by_name_and_add_up_to_one(tiny: Path) -> None:
    rows = opened(tiny).compare(PAIRS)
    assert [set(row) for row in rows] == [{"entailment", "neutral", "contradiction"}] * 2
    assert [sum(row.values()) for row in rows] == pytest.approx([1.0, 1.0])


def test_what_an_output_means_is_what_the_models_own_configuration_says(tiny: Path, tmp_path: Path) -> None:
    turned = opened(relabelled(tiny, tmp_path, "NEUTRAL", "Contradiction", "entailment"))
    before, after = opened(tiny).compare(PAIRS)[0], turned.compare(PAIRS)[0]
    assert after["neutral"] == pytest.approx(before["contradiction"])
    assert after["contradiction"] == pytest.approx(before["entailment"])
    assert after["entailment"] == pytest.approx(before["neutral"])


def test_a_model_whose_labels_say_nothing_is_refused_by_name(tiny: Path, tmp_path: Path) -> None:
    folder = relabelled(tiny, tmp_path, "LABEL_0", "LABEL_1", "LABEL_2")
    with pytest.raises(InvalidInput, match=r"other is no model for .* label_0, label_1, label_2"):
        local_entailment(str(folder))


@pytest.mark.parametrize("named", [None, {}, {"0": "relevant"}, {"a": "entailment"}, ["entailment"]])
def test_a_configuration_without_the_three_labels_is_refused(named: object) -> None:
    with pytest.raises(InvalidInput, match="some-model is no model for natural language inference"):
        labels_of("some-model", {"id2label": named})


@pytest.mark.parametrize("name", ["", "cross-encoder/never-downloaded-here", "/no/such/folder", "not a name!"])
def test_without_weights_on_this_machine_there_is_no_model_and_no_error(name: str) -> None:
    assert local_entailment(name) is None


def test_a_text_in_a_language_that_the_model_does_not_know_is_neutral(tiny: Path) -> None:
    known, unknown = opened(tiny).compare([PAIRS[0], ("我喜欢我的工作", "我讨厌我的工作")])
    assert unknown == {"entailment": 0.0, "neutral": 1.0, "contradiction": 0.0}
    assert known["neutral"] < 1.0


def test_a_folder_whose_configuration_is_no_json_is_named(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{", encoding="utf-8")
    (tmp_path / "model.safetensors").touch()
    with pytest.raises(InvalidInput, match=r"config\.json"):
        local_entailment(str(tmp_path))


def test_a_configuration_without_weights_is_no_model(tiny: Path, tmp_path: Path) -> None:
    folder = relabelled(tiny, tmp_path, "contradiction", "entailment", "neutral")
    (folder / "model.safetensors").unlink()
    assert local_entailment(str(folder)) is None


def test_no_pairs_load_no_model() -> None:
    assert CrossEncoderEntailment("/no/such/folder", ("entailment", "neutral", "contradiction")).compare([]) == []
