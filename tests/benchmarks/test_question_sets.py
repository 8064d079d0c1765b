"""What helps on long dialogues must cost nothing where notes have no order and speak for themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import question_sets
from _question_sets import SETS
from _ranking_scores import hit
from _retrieval_configurations import DEFAULT, HYBRID, PLAIN, Configuration

from amem import load_settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from _retrieval_runs import Outcome

    from amem.protocols import Embedder

pytestmark = pytest.mark.thorough

#: One question more or less among twenty or thirty: no more can be told from so few.
ONE_QUESTION = 1


@pytest.fixture(scope="module")
def found(minilm: Embedder, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Mapping[str, Sequence[Outcome]]]:
    asked = [Configuration(DEFAULT), Configuration(PLAIN, settings=HYBRID, legs=("dense", "lexical"))]
    return question_sets.run(["demo", "vault"], asked, tmp_path_factory.mktemp("sets"), minilm)


@pytest.mark.parametrize("name", ["demo", "vault"])
@pytest.mark.parametrize("k", [1, 5])
def test_on_notes_without_an_order_the_default_finds_as_much_as_a_plain_hybrid_search(
    found: Mapping[str, Mapping[str, Sequence[Outcome]]], name: str, k: int
) -> None:
    ours, plain = (sum(hit(each.places, k) for each in found[name][way]) for way in (DEFAULT, PLAIN))
    assert ours >= plain - ONE_QUESTION


def test_every_question_names_an_answer_that_its_collection_holds(minilm: Embedder, tmp_path: Path) -> None:
    settings = load_settings(tmp_path, llm_backend="offline")
    for each in SETS:
        with each.collection(settings, minilm) as memory:
            notes = memory.list(limit=1000)
            sources = memory.sources([note.id for note in notes])
        held = {name for note in notes for name in each.names(note.id, note.content, sources[note.id])}
        assert [question.text for question in each.questions() if not held & set(question.evidence)] == []


def test_the_table_has_a_row_for_each_way_of_asking(
    minilm: Embedder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert question_sets.main(["--sets", "vault", "--json", str(tmp_path / "found.json")], minilm) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("vault: Markdown vault, 20 questions") for line in lines)
    for way in (DEFAULT, PLAIN, "dense alone", "no lexical"):
        assert any(line.startswith(f"{way}  ") for line in lines)
    head = next(line for line in lines if "ahead of a plain hybrid" in line)
    (vault,) = (line.split() for line in lines if line.startswith("vault  "))
    assert head.count("95 %") == 3
    assert vault[1] == "20"
    low, _, high = vault[3].partition("-")
    assert float(low) <= float(vault[2]) <= float(high)
    assert (tmp_path / "found.json").stat().st_size > 1000
