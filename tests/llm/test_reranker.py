"""The reranker, through the real CrossEncoder class on a tiny model that was made here and prefers common words."""

from __future__ import annotations

import json
import math
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from tiny_cross_encoder import make_cross_encoder

from amem.errors import InvalidInput, MissingExtra, MissingModel
from amem.llm.cross_encoders import CrossEncoderReranker, find_reranker

if TYPE_CHECKING:
    from pathlib import Path

QUESTION = "where does the cat sleep"
PASSAGES = ["the dog barks", "the cat does sleep here", "rain"]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_cross_encoder(tmp_path_factory.mktemp("rerank") / "tiny")


def changed(folder: Path, tmp_path: Path, **config: Any) -> Path:
    """A copy of the model whose configuration says something else; None takes a line away."""
    other = tmp_path / "other"
    shutil.copytree(folder, other)
    held = json.loads((other / "config.json").read_text(encoding="utf-8")) | config
    kept = {name: value for name, value in held.items() if value is not None}
    (other / "config.json").write_text(json.dumps(kept), encoding="utf-8")
    return other


def opened(folder: Path) -> CrossEncoderReranker:
    model = find_reranker(str(folder))
    assert model is not None
    return model


def logit(score: float) -> float:
    return math.log(score / (1 - score))


def test_a_passage_with_the_words_of_the_question_answers_best(tiny: Path) -> None:
    scores = opened(tiny).score(QUESTION, PASSAGES)
    assert all(0 < score < 1 for score in scores)
    assert max(scores) == scores[1]
    assert max(scores) - sorted(scores)[1] > 0.1


@pytest.mark.parametrize(
    "activation",
    [
        pytest.param({"sbert_ce_default_activation_function": "torch.nn.modules.linear.Identity"}, id="as ms-marco"),
        pytest.param({"sentence_transformers": {"activation_fn": "torch.nn.modules.linear.Identity"}}, id="newer"),
        pytest.param({"sentence_transformers": {"activation_fn": "torch.nn.modules.activation.Tanh"}}, id="tanh"),
        pytest.param({"sentence_transformers": {"activation_fn": "torch.nn.modules.activation.Sigmoid"}}, id="sigmoid"),
    ],
)
def test_a_score_is_the_sigmoid_of_the_logit_taken_once_whatever_the_model_does_itself(
    tiny: Path, tmp_path: Path, activation: dict[str, Any]
) -> None:
    plain = opened(tiny).score(QUESTION, PASSAGES)  # without a word on it, CrossEncoder takes the sigmoid
    assert opened(changed(tiny, tmp_path, **activation)).score(QUESTION, PASSAGES) == pytest.approx(plain)


def test_another_activation_that_gives_0_to_1_is_left_to_the_model(tiny: Path, tmp_path: Path) -> None:
    hard = {"activation_fn": "torch.nn.modules.activation.Hardsigmoid"}
    plain = opened(tiny).score(QUESTION, PASSAGES)
    scores = opened(changed(tiny, tmp_path, sentence_transformers=hard)).score(QUESTION, PASSAGES)
    assert scores == pytest.approx([min(1, max(0, logit(score) / 6 + 0.5)) for score in plain], abs=1e-5)


def test_a_model_with_three_labels_is_refused_before_its_weights_are_read(tiny: Path, tmp_path: Path) -> None:
    folder = changed(tiny, tmp_path, id2label={"0": "entailment", "1": "neutral", "2": "contradiction"})
    (folder / "model.safetensors").write_bytes(b"")
    for fetch in (False, True):
        with pytest.raises(InvalidInput, match=r"has 3 outputs \(entailment, neutral, contradiction\)") as refused:
            find_reranker(str(folder), fetch=fetch)
        assert "rerank_model" in refused.value.hint


def test_a_classifier_that_does_not_say_how_many_outputs_it_has_is_one_of_two(tiny: Path, tmp_path: Path) -> None:
    folder = changed(tiny, tmp_path, id2label=None, label2id=None)
    with pytest.raises(InvalidInput, match="has 2 outputs, not one"):
        find_reranker(str(folder))


def test_a_model_that_embeds_is_refused_and_not_given_a_layer_of_random_numbers(tiny: Path, tmp_path: Path) -> None:
    folder = changed(tiny, tmp_path, architectures=["BertModel"])
    with pytest.raises(InvalidInput, match=r"other cannot rerank: it is no cross-encoder \(BertModel\)"):
        find_reranker(str(folder))


def test_a_model_that_sentence_transformers_saved_as_a_cross_encoder_is_one(tiny: Path, tmp_path: Path) -> None:
    from sentence_transformers import CrossEncoder

    CrossEncoder(str(tiny)).save_pretrained(str(tmp_path / "saved"))
    assert opened(tmp_path / "saved").score(QUESTION, PASSAGES) == pytest.approx(opened(tiny).score(QUESTION, PASSAGES))


def test_a_model_whose_outputs_show_only_when_it_is_loaded_is_refused_then(tiny: Path, tmp_path: Path) -> None:
    modules = pytest.importorskip("sentence_transformers.base.modules", reason="before version 6 there are no such")
    from sentence_transformers import CrossEncoder
    from sentence_transformers.sentence_transformer.modules import Pooling

    body = modules.Transformer(str(tiny), transformer_task="feature-extraction")
    size = body.get_embedding_dimension()
    head = modules.Dense(size, 2, module_input_name="sentence_embedding", module_output_name="scores")
    CrossEncoder(modules=[body, Pooling(size, "cls"), head]).save_pretrained(str(tmp_path / "pair"))
    with pytest.raises(InvalidInput, match="pair cannot rerank: it has 2 outputs, not one"):
        opened(tmp_path / "pair").load()


@pytest.mark.parametrize("name", ["", "cross-encoder/never-downloaded-here", "/no/such/folder", "not a name!"])
def test_without_weights_there_is_no_model_and_when_asked_for_an_error_that_helps(name: str) -> None:
    assert find_reranker(name) is None
    asked = find_reranker(name, fetch=True)
    assert asked is not None
    with pytest.raises(MissingModel) as missing:
        asked.score(QUESTION, PASSAGES)
    assert "rerank_model (AMEM_RERANK_MODEL)" in missing.value.hint


def test_a_configuration_without_weights_is_no_model(tiny: Path, tmp_path: Path) -> None:
    folder = changed(tiny, tmp_path)
    (folder / "model.safetensors").unlink()
    assert find_reranker(str(folder)) is None


def test_without_the_package_there_is_no_model_and_when_asked_for_it_is_named(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("amem.llm.cross_encoders.find_spec", lambda name: None)
    monkeypatch.setitem(__import__("sys").modules, "sentence_transformers", None)
    assert find_reranker(str(tiny)) is None
    asked = find_reranker(str(tiny), fetch=True)
    assert asked is not None
    with pytest.raises(MissingExtra, match="sentence-transformers"):
        asked.load()


def test_a_damaged_model_is_named(tiny: Path, tmp_path: Path) -> None:
    folder = changed(tiny, tmp_path)
    (folder / "model.safetensors").write_bytes(b"\x08\0\0\0\0\0\0\0not json")
    with pytest.raises(MissingModel, match="cannot load the cross-encoder"):
        opened(folder).load()


@pytest.mark.parametrize(
    "text", ["the cat does sleep here", "THE CAT, 2024-03-01!", "the cat \N{GRINNING FACE}", "", "über"]
)
def test_a_model_knows_what_is_written_in_latin_letters(tiny: Path, text: str) -> None:
    assert opened(tiny).knows(text) == 1


@pytest.mark.parametrize("text", ["猫在哪里睡觉", "the 猫在哪里睡觉", "где спит кот"])
def test_a_model_does_not_know_what_its_vocabulary_has_no_words_for(tiny: Path, text: str) -> None:
    assert opened(tiny).knows(text) < 0.5


def test_a_passage_of_any_length_is_read(tiny: Path) -> None:
    long = "the cat does sleep here " * 1_000
    scores = opened(tiny).score("where " * 500, [long, "", long[:30]])
    assert len(scores) == 3
    assert all(0 <= score <= 1 for score in scores)


def test_no_passages_load_no_model() -> None:
    assert CrossEncoderReranker("/no/such/folder").score(QUESTION, []) == []
