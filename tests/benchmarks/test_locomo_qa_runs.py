"""The question answering benchmark from file to table, on an invented conversation and a server that speaks Ollama."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import locomo_qa
import pytest
from _locomo_file import read_conversations

from amem.errors import InvalidInput
from amem.testing import FakeOllama, HashEmbedder

if TYPE_CHECKING:
    from pathlib import Path

SAID = {
    1: ("9:05 am on 3 March, 2024", ["Yesterday I bought a cello in Ghent.", "Lovely! I only own a kazoo."]),
    2: ("6:40 pm on 12 April, 2024", ["My cat Bishop sleeps in the cello case.", "My parrot would sing along."]),
}
ASKED: list[dict[str, Any]] = [
    {"question": "Which pets do they have?", "answer": "cat, parrot", "evidence": ["D2:1; D2:2"], "category": 1},
    {"question": "When did Noor buy a cello?", "answer": "2 March 2024", "evidence": ["D1:1"], "category": 2},
    {"question": "Would Ivo like music?", "answer": "Yes; he owns a kazoo", "evidence": ["D:1:02"], "category": 3},
    {"question": "Where does Bishop sleep?", "answer": "in the cello case", "evidence": ["D2:1"], "category": 4},
    {"question": "Where did Ivo buy a cello?", "adversarial_answer": "Ghent", "evidence": ["D1:1"], "category": 5},
    {"question": "What year is it?", "answer": 2024, "evidence": ["D"], "category": 4},
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    conversation: dict[str, Any] = {"speaker_a": "Noor", "speaker_b": "Ivo"}
    for number, (at, texts) in SAID.items():
        conversation[f"session_{number}_date_time"] = at
        conversation[f"session_{number}"] = [
            {"speaker": ("Noor", "Ivo")[turn], "dia_id": f"D{number}:{turn + 1}", "text": text}
            for turn, text in enumerate(texts)
        ]
    path = tmp_path / "mini.json"
    path.write_text(json.dumps([{"sample_id": "mini 1", "conversation": conversation, "qa": ASKED}]), "utf-8")
    return path


def run(*arguments: object) -> int:
    return locomo_qa.main([str(each) for each in arguments], HashEmbedder())


def answers(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))
    return found


def right(request: dict[str, Any]) -> str:
    """Knows every answer."""
    prompt = request["messages"][0]["content"]
    if "(a)" in prompt:
        return "(a)" if "(a) Not mentioned" in prompt else "(b)"
    return str(next(each["answer"] for each in ASKED if each["question"] in prompt)).partition(";")[0]


def test_evidence_is_read_however_it_was_written_and_what_names_no_turn_is_left_out(file: Path) -> None:
    (conversation,) = read_conversations(file)
    assert [question.evidence for question in conversation.questions] == [
        ("D2:1", "D2:2"),
        ("D1:1",),
        ("D1:2",),
        ("D2:1",),
        ("D1:1",),
        (),
    ]
    assert conversation.text().splitlines()[:2] == [
        "DATE: 9:05 am on 3 March, 2024",
        "Noor: Yesterday I bought a cello in Ghent.",
    ]


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text('[{"title": "no conversation"}]', "utf-8")
    with pytest.raises(InvalidInput, match="not a LoCoMo file"):
        read_conversations(path)


@pytest.mark.thorough
def test_without_a_model_the_best_note_answers_and_the_evidence_that_was_found_is_counted(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(file, "--k", 2, "--json", tmp_path / "answers.json") == 0
    table = capsys.readouterr().out
    assert "no model: the best note's text" in table
    assert "no model: the evidence's text" in table
    assert "model, recalled notes" not in table
    best = {
        each["question"]["text"]: each for each in answers(tmp_path / "answers.json") if each["reader"] == "extractive"
    }
    sleeps = best["Where does Bishop sleep?"]
    assert sleeps["answer"] == "My cat Bishop sleeps in the cello case."
    # 8 words said but for "the", 3 wanted but for "the": in, cello, case
    assert sleeps["f1"] == pytest.approx(2 * (3 / 7) * 1 / (3 / 7 + 1))
    assert sleeps["found"] == 1.0
    assert best["What year is it?"]["found"] is None
    assert 0 < sleeps["prompt_tokens"] < 200
    assert sleeps["said"] is None


@pytest.mark.thorough
def test_a_model_that_knows_every_answer_gets_every_score_over_the_wire(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakeOllama(right) as ollama:
        monkeypatch.setenv("OLLAMA_HOST", ollama.host)
        assert run(file, "--model", "ollama/llama3.2", "--json", tmp_path / "answers.json") == 0
        prompts = [request["messages"][0]["content"] for path, request in ollama.requests if path == "/api/chat"]
    table = capsys.readouterr().out
    by_model = [each for each in answers(tmp_path / "answers.json") if each["reader"] in ("model", "gold-evidence")]
    assert len(by_model) == len(prompts) == 2 * len(ASKED)
    assert [each["f1"] for each in by_model] == [pytest.approx(1.0)] * len(by_model)
    assert all(each["said"]["tokens_in"] > 0 for each in by_model)
    first = prompts[0]
    assert first.count("[Sunday, 3 March 2024, 09:05] Noor: Yesterday I bought a cello in Ghent.") == 1
    assert first.index("cello in Ghent") < first.index("parrot")
    assert "Question: Which pets do they have?\n" in first
    assert f"{'all':<30}{len(ASKED):>5}{100:>7.1f}" in table
    assert "fake" not in table


def test_an_interrupted_run_goes_on_with_the_answers_it_has(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("AMEM_LLM_RETRIES", "0")
    arguments = (file, "--model", "ollama/llama3.2", "--reader", "model", "--home", home)
    with FakeOllama(["cat, parrot", "2 March 2024", "Yes"]) as ollama:
        monkeypatch.setenv("OLLAMA_HOST", ollama.host)
        assert run(*arguments) == 1
    assert "is kept in" in capsys.readouterr().err
    with (home / "answers.jsonl").open("a", encoding="utf-8") as kept:
        kept.write('{"key": "killed while wri')
    with FakeOllama(right) as ollama:
        monkeypatch.setenv("OLLAMA_HOST", ollama.host)
        assert run(*arguments) == 0
        assert len([path for path, _ in ollama.requests if path == "/api/chat"]) == len(ASKED) - 3
        assert run(*arguments) == 0
        assert len([path for path, _ in ollama.requests if path == "/api/chat"]) == len(ASKED) - 3
    told = capsys.readouterr()
    assert "3 answers are kept" in told.err
    assert "0 imported, 4 known" in told.err


def test_the_fake_analyses_and_answers_and_the_table_says_what_that_is_worth(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(file, "--fake", "--analyst", "model", "--limit", 1, "--per-category", "--recall", "agentic") == 0
    told = capsys.readouterr()
    assert "say that the wires hold, and nothing else" in told.out
    assert "4 imported, 0 known, 0 refused, 0 whose analysis failed" in told.err
    assert "5 questions answered" in told.err


def test_without_a_file_nothing_is_measured_and_nothing_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert run() == 0
    assert "nothing is measured" in capsys.readouterr().out
