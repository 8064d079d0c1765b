"""The retrieval benchmark from file to table on an invented conversation, and what it must show on a real one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import locomo_retrieval
import numpy as np
import pytest
from _locomo_file import Question
from _ranking_scores import difference
from _retrieval_configurations import DEFAULT, PLAIN, RRF, Configuration, ablations
from _retrieval_peers import DATED, DENSE, reciprocal_ranks
from _retrieval_runs import Outcome
from _retrieval_table import recalls
from _retrieval_tuning import grid, survival
from _scores import CATEGORIES

from amem import AgenticMemorySystem
from amem.errors import InvalidInput
from amem.retrieval.ranking import LEGS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.protocols import Embedder

DEVELOPMENT = Path(__file__).parents[3] / "shared" / "data" / "locomo_dev.json"

SAID = {
    1: ("9:05 am on 3 March, 2024", ["Yesterday I bought a cello in Ghent.", "Lovely! I only own a kazoo."]),
    2: (
        "6:40 pm on 12 April, 2024",
        [
            "My cat Bishop sleeps in the cello case.",
            "My parrot Quill would sing along.",
            "The neighbours bake rye bread every Friday.",
        ],
    ),
}
ASKED: list[dict[str, Any]] = [
    {"question": "Which pets do they have?", "answer": "cat, parrot", "evidence": ["D2:1; D2:2"], "category": 1},
    {"question": "When did Noor buy a cello in Ghent?", "answer": "2 March", "evidence": ["D1:1"], "category": 2},
    {"question": "Which bread is baked on Friday?", "answer": "rye", "evidence": ["D2:3"], "category": 4},
    {"question": "Where does Bishop the cat sleep?", "answer": "in the case", "evidence": ["D2:1"], "category": 4},
    {"question": "Where did Ivo buy a kazoo?", "adversarial_answer": "Ghent", "evidence": ["D1:2"], "category": 5},
    {"question": "What year is it?", "answer": 2024, "evidence": [], "category": 4},
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Two conversations with the same words and turn ids, so that one could be taken for the other."""
    conversation: dict[str, Any] = {"speaker_a": "Noor", "speaker_b": "Ivo"}
    for number, (at, texts) in SAID.items():
        conversation[f"session_{number}_date_time"] = at
        conversation[f"session_{number}"] = [
            {"speaker": ("Noor", "Ivo")[turn % 2], "dia_id": f"D{number}:{turn + 1}", "text": text}
            for turn, text in enumerate(texts)
        ]
    path = tmp_path / "mini.json"
    samples = [{"sample_id": id, "conversation": conversation, "qa": ASKED} for id in ("mini-1", "mini-2")]
    path.write_text(json.dumps(samples), "utf-8")
    return path


def run(embedder: Embedder | None, *arguments: object) -> int:
    return locomo_retrieval.main([str(each) for each in arguments], embedder)


def test_every_question_with_evidence_is_asked_and_scored_by_category(
    file: Path, tmp_path: Path, minilm: Embedder, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(minilm, file, "--json", tmp_path / "found.json") == 0
    told = capsys.readouterr().out
    assert "10 turns, 10 questions with evidence (2 without are left out). default:" in told
    rows = {line.split()[0]: line.split() for line in told.splitlines() if line[:1].isalpha()}
    assert {name: row[1] for name, row in rows.items() if name in {*CATEGORIES.values(), "all"}} == {
        "multi-hop": "2",
        "temporal": "2",
        "single-hop": "4",
        "adversarial": "2",
        "all": "10",
    }
    assert rows["temporal"][2:5] == ["100.0", "100.0", "100.0"]
    found = json.loads((tmp_path / "found.json").read_text("utf-8"))
    (outcomes,) = found["outcomes"].values()
    assert len(outcomes) == 10
    assert all(len(each["places"]) == len(each["question"]["evidence"]) for each in outcomes)
    assert {each["conversation"] for each in outcomes} == {"mini-1", "mini-2"}


@pytest.mark.thorough
def test_all_ablations_and_peers_are_held_against_the_default_in_one_run(
    file: Path, minilm: Embedder, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(minilm, file, "--ablations", "--conversations", "mini-2") == 0
    told = capsys.readouterr().out
    lines = told.splitlines()
    assert all(len(line) <= 110 for line in lines)
    for name in ["default", *(f"{leg} alone" for leg in LEGS), *(f"no {leg}" for leg in LEGS), RRF, DENSE, DATED]:
        assert len([line for line in lines if line.startswith(f"{name}  ")]) == 2, name
    assert "5 turns, 5 questions with evidence (1 without are left out)" in told


def test_tables_come_as_markdown_too(file: Path, minilm: Embedder, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(minilm, file, "--conversations", "mini-1", "--tables", "--k", "1,3") == 0
    head, rule, *rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    assert head == "|  | n | R@1 | R@3 | R@10 | 95 % of R@10 | Hit@1 | Hit@3 | Hit@10 | MRR | nDCG@10 |"
    assert set(rule) == set("|- ")
    assert {row.count("|") for row in rows} == {head.count("|")}


def test_what_is_taken_away_is_named_and_makes_a_difference(
    file: Path, minilm: Embedder, capsys: pytest.CaptureFixture[str]
) -> None:
    others = [f"--no-{leg}" for leg in LEGS if leg != "dense"]
    assert run(minilm, file, *others, "--no-window", "--no-router", "--fusion", "rrf", "--links") == 0
    told = capsys.readouterr().out
    for name in ("no lexical", "window=0", "router=False", "fusion=rrf", "with links"):
        assert name in told


def test_a_home_is_gone_on_from_without_importing_or_embedding_again_and_asking_counts_as_no_use(
    file: Path, tmp_path: Path, minilm: Embedder, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"
    assert run(minilm, file, "--home", home, "--conversations", "mini-1") == 0
    first = capsys.readouterr()
    assert "5 imported, 0 known" in first.err

    class Unwilling:
        name, dimension = minilm.name, minilm.dimension

        def embed(self, texts: Sequence[str]) -> Any:
            raise AssertionError(f"asked to embed {texts}")

    assert run(Unwilling(), file, "--home", home, "--conversations", "mini-1") == 0
    second = capsys.readouterr()
    assert "0 imported, 5 known" in second.err
    assert second.out.splitlines()[:8] == first.out.splitlines()[:8]
    with AgenticMemorySystem(directory=home, collection="mini-1-offline", embedder=minilm) as memory:
        assert {note.retrieval_count for note in memory.list()} == {0}


def test_what_cannot_be_asked_is_said_in_a_line(
    file: Path, tmp_path: Path, minilm: Embedder, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(minilm, file, "--conversations", "mini-3") == 1
    assert "it holds mini-1, mini-2" in capsys.readouterr().err
    assert run(minilm) == 0
    assert "nothing is measured" in capsys.readouterr().out
    sample = json.loads(file.read_text("utf-8"))[0] | {"qa": ASKED[-1:]}
    bare = tmp_path / "bare.json"
    bare.write_text(json.dumps(sample), "utf-8")
    assert run(minilm, bare) == 0
    assert "no question names evidence" in capsys.readouterr().out


def test_ranks_of_two_lists_add_up_and_what_both_found_comes_first() -> None:
    # Row 7: 1/61 + 1/63; row 4: 1/61; row 2: 1/62; row 9: 1/62, found later.
    assert reciprocal_ranks([np.array([7, 2]), np.array([4, 9, 7])]) == [7, 4, 2, 9]


def outcome(conversation: str, *places: int | None) -> Outcome:
    return Outcome(conversation, Question(0, "?", 4, "", "", ("D1:1",) * len(places)), places)


def test_a_tuning_that_fits_each_conversation_differently_is_shown_not_to_survive() -> None:
    """Setting a is right for the first conversation and b for the second, c for neither but never quite wrong."""
    right, half, wrong = (1, 2), (5, None), (None, None)
    conversations = ["one"] * 4 + ["two"] * 3

    def tried(*places: tuple[int | None, ...]) -> list[Outcome]:
        return [outcome(where, *found) for where, found in zip(conversations, places, strict=True)]

    runs = {
        "a": tried(*[right] * 4, *[wrong] * 3),
        "b": tried(*[wrong] * 4, *[right] * 3),
        "c": tried(*[half] * 7),
    }
    of = survival(runs, untuned=runs["c"])
    assert of.chosen == {"all": "a", "all but one": "b", "all but two": "a"}
    for measure, untuned in {"R@5": 0.5, "R@10": 0.5, "MRR": 0.2}.items():
        survived = of.survival[measure]
        assert survived.untuned.mean == pytest.approx(untuned)
        assert survived.on_all.mean == pytest.approx(4 / 7)
        assert survived.left_out.mean == 0.0
        assert survived.lost.mean == pytest.approx(4 / 7)
        assert survived.lost.is_above_zero
        assert survived.gained.mean == pytest.approx(-untuned)


def test_a_grid_is_every_combination_of_the_settings_named() -> None:
    points = grid(["window_decay=0.3,0.7", "dense_weight=1,2"])
    assert [dict(point.settings) for point in points] == [
        {"window_decay": 0.3, "dense_weight": 1.0},
        {"window_decay": 0.3, "dense_weight": 2.0},
        {"window_decay": 0.7, "dense_weight": 1.0},
        {"window_decay": 0.7, "dense_weight": 2.0},
    ]
    with pytest.raises(InvalidInput, match="cannot read"):
        grid(["window_decay"])


def test_tuning_is_run_from_the_command_line(file: Path, minilm: Embedder, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(minilm, file, "--survives", "window_decay=0.3,0.7") == 0
    told = capsys.readouterr().out
    lost = next(line for line in told.splitlines() if line.startswith("does not survive: tuned on all minus left out"))
    assert lost.split("left out")[1].split() == ["+0.0", "(+0.0", "to", "+0.0)"] * 3
    assert all(measure in told for measure in ("R@5", "R@10", "MRR"))
    assert "all but mini-2" in told


def test_questions_for_several_things_are_asked_with_more_notes_and_over_sessions(
    file: Path, minilm: Embedder, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(minilm, file, "--several", "--tables", "--k", "5") == 0
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in capsys.readouterr().out.splitlines()]
    head = next(place for place, row in enumerate(rows) if "as ask chooses" in row)
    table = {row[0]: row[1:] for row in rows[head + 2 :] if len(row) == len(rows[head])}
    # Every note is among eight: there is nothing to gain.
    for name, count in (("multi-hop, read so", "2"), ("multi-hop", "2"), ("all", "10")):
        assert table[name][:5] == [count, *["100.0"] * 4]
        assert table[name][5].startswith("+0.0")


#: Points of Recall@10 by which the default must be ahead on this conversation, about half of what it is. Over all three
#: it is by more than the bootstrap interval (benchmarks/RESULTS.md).
MARGINS = {"dense alone": 0.07, "lexical alone": 0.04, RRF: 0.015, PLAIN: 0.06}


@pytest.mark.thorough
@pytest.mark.locomo
@pytest.mark.skipif(not DEVELOPMENT.is_file(), reason=f"the LoCoMo development file is not at {DEVELOPMENT}")
def test_on_a_real_conversation_the_default_is_above_each_leg_alone_and_above_fusing_ranks(minilm: Embedder) -> None:
    asked = [Configuration(DEFAULT), *(each for each in ablations() if each.name in MARGINS)]
    given = locomo_retrieval.options([str(DEVELOPMENT), "--conversations", "conv-26"])
    found = locomo_retrieval.run(given, asked, minilm).outcomes
    ours = recalls(found[DEFAULT])
    assert len(ours) == 197
    for other, margin in MARGINS.items():
        ahead = difference(ours, recalls(found[other])).mean
        assert ahead > margin, other
