"""What a note costs in calls and tokens, measured on the example notes in both languages."""

from __future__ import annotations

import re
from statistics import fmean
from typing import TYPE_CHECKING

import prompt_sizes
import pytest
from _tokens import counter

from amem.errors import MissingModel
from amem.settings import Settings
from amem.testing import HashEmbedder

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def costs() -> list[prompt_sizes.Cost]:
    settings = Settings(llm_backend="offline")
    count = counter("o200k_base", settings.cache)
    notes = prompt_sizes.read(prompt_sizes.EXAMPLES, settings)
    return prompt_sizes.measure(notes, settings, HashEmbedder(), count)


@pytest.mark.thorough
def test_a_note_costs_two_calls_at_most_verdicts_included(costs: list[prompt_sizes.Cost]) -> None:
    assert len(costs) > 50
    assert {len(cost.prompts) for cost in costs} == {1, 2}
    alone = [cost for cost in costs if len(cost.prompts) == 1]
    assert 1 <= len(alone) <= len(costs) / 3, "a note that is like no other is not asked about again"


@pytest.mark.thorough
@pytest.mark.parametrize(("chinese", "most"), [(False, prompt_sizes.MOST_TOKENS), (True, 2_100)])
def test_the_prompts_of_a_note_keep_to_their_size_in_the_mean_in_either_language(
    costs: list[prompt_sizes.Cost], chinese: bool, most: int
) -> None:
    tokens = [sum(cost.prompts) for cost in costs if prompt_sizes.is_chinese(cost.note) is chinese]
    assert len(tokens) > 15
    assert 500 < fmean(tokens) <= most


@pytest.mark.thorough
def test_the_table_has_a_row_for_each_group_and_says_what_the_prompts_own_words_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    few = tmp_path / "few.jsonl"
    lines = prompt_sizes.EXAMPLES.read_text("utf-8").splitlines(keepends=True)
    few.write_text("".join(lines[:20]), "utf-8")
    monkeypatch.setattr(prompt_sizes, "EXAMPLES", few)
    path = tmp_path / "diary.jsonl"
    path.write_text('{"content": "Bishop sleeps in the cello case."}\n', "utf-8")
    assert prompt_sizes.main([str(path)], HashEmbedder()) == 0
    table = capsys.readouterr().out
    for group in ("diary.jsonl", "example notes, English", "example notes, Chinese", "notes of 20,000 characters"):
        assert re.search(rf"^{group} +\d+ +[12]\.\d\d ", table, re.MULTILINE)
    assert re.search(r"own words: analyze \d+ \(Chinese \d+\), evolve \d+ \(Chinese \d+\)", table)


def test_tokens_are_those_of_the_vocabulary_that_was_named_and_control_words_are_text(tmp_path: Path) -> None:
    count = counter("o200k_base", tmp_path)
    assert count("") == 0
    assert count("hello world") == 2
    assert count("<|endoftext|>") > 1
    with pytest.raises(MissingModel, match="no tokenizer"):
        counter("minilm", tmp_path)
