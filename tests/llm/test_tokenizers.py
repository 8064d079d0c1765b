"""Counting tokens as a model does, where its tokenizer is on this machine."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from amem.errors import InvalidInput
from amem.language.terms import most_tokens
from amem.llm.tokenizers import BOUND, counter_for, settings_counter
from amem.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model's folder with a tokenizer that cuts at spaces, and after three tokens unless told not to."""
    made = Tokenizer(models.WordLevel({"[UNK]": 0, "tea": 1}, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made.enable_truncation(3)
    made.enable_padding(length=16)
    made.save(str(tmp_path / "tokenizer.json"))
    return tmp_path


@pytest.mark.parametrize("name", ["gpt-4o", "openai/gpt-4o-mini", "azure/gpt-4.1", "openrouter/openai/gpt-4"])
def test_models_of_openai_are_counted_exactly_under_any_provider(name: str) -> None:
    counter = counter_for(name)
    assert counter.exact
    assert name in counter.name
    assert counter("hello world") == 2
    assert counter("<|endoftext|>") > 1  # what a note says is text, never a mark


def test_each_model_is_counted_as_its_own_tokenizer_does() -> None:
    text = "面包发酵了十四个小时。"
    assert counter_for("gpt-4o")(text) < counter_for("gpt-4")(text)


def test_a_tokenizer_file_counts_all_of_a_text(folder: Path) -> None:
    text = "green tea from the hills, " * 10
    for where in (folder, folder / "tokenizer.json"):
        counter = counter_for(str(where))
        assert (counter.exact, counter(text)) == (True, 50)


def test_a_model_in_the_hub_s_cache_is_counted_by_its_own_tokenizer(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshot = tmp_path / "hub" / "models--someone--tea-7b" / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    (snapshot / "tokenizer.json").write_bytes((folder / "tokenizer.json").read_bytes())
    refs = tmp_path / "hub" / "models--someone--tea-7b" / "refs"
    refs.mkdir()
    (refs / "main").write_text("abc", encoding="utf-8")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    for name in ("someone/tea-7b", "hosted_vllm/someone/tea-7b"):
        counter = counter_for(name)
        assert (counter.exact, counter("a b c d")) == (True, 4)


@pytest.mark.parametrize(
    "name", ["ollama/qwen3:4b", "anthropic/claude-3-5-haiku-latest", "我的模型", "a b:c", "x" * 300]
)
def test_of_a_model_whose_tokenizer_is_not_here_the_bound_is_counted_and_said(name: str) -> None:
    counter = counter_for(name)
    assert not counter.exact
    assert name in counter.name
    assert counter("面包 bread") == most_tokens("面包 bread")


def test_a_file_that_is_no_tokenizer_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    for broken in ("", "[]", json.dumps({"model": 3})):
        path.write_text(broken, encoding="utf-8")
        with pytest.raises(InvalidInput, match="cannot read the tokenizer"):
            counter_for(str(path))


def test_the_model_of_the_settings_counts_where_it_is_known() -> None:
    assert settings_counter(Settings(llm_backend="openai", llm_model="gpt-4o")).exact
    for backend, model in (("auto", "gpt-4o"), ("offline", ""), ("ollama", "gpt-4o"), ("ollama", "qwen3:4b")):
        assert settings_counter(Settings(llm_backend=backend, llm_model=model)) is BOUND
