"""The benchmark of sessions from file to table, on a small file in LongMemEval's format."""

from __future__ import annotations

import json
from pathlib import Path

import longmemeval
import pytest

from amem.testing import HashEmbedder

SMALL = Path(__file__).parents[1] / "data" / "longmemeval_small.json"


def run(*arguments: object) -> int:
    return longmemeval.main([str(each) for each in arguments], HashEmbedder())


def test_each_question_with_an_answer_is_asked_of_its_own_history_beside_peers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(SMALL, "--json", tmp_path / "found.json") == 0
    told = capsys.readouterr().out
    assert "11 questions (1 without an answer are left out)" in told
    found = json.loads((tmp_path / "found.json").read_text("utf-8"))
    asked = {each["question_id"]: each for each in json.loads(SMALL.read_text("utf-8"))}
    assert [each["id"] for each in found] == [id for id in asked if not id.endswith("_abs")]
    for each in found:
        entry = asked[each["id"]]
        assert each["type"] == entry["question_type"]
        for way, places in each["places"].items():
            assert len(places) == len(entry["answer_session_ids"]), way
            known = [place for place in places if place is not None]
            assert len(set(known)) == len(known)
            assert all(1 <= place <= len(entry["haystack_sessions"]) for place in known)
    # The answers that stand in the question's own words are found first, in either language.
    first = {each["id"] for each in found if 1 in each["places"]["amem"]}
    assert {"q-user-2", "q-user-zh", "q-assistant-zh"} <= first
    for way in ("amem", "dense, turns", "dense, sessions", "BM25 of stems, turns", "BM25 of stems, sessions"):
        assert len([line for line in told.splitlines() if line.startswith(f"{way}  ")]) >= 2, way


def test_the_sessions_of_one_answer_count_any_or_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = longmemeval.Asked("q", "multi-session", {"amem": (1, 7)}, 2.0)
    other = longmemeval.Asked("r", "multi-session", {"amem": (2, None)}, 4.0)
    head, rule, row, *_ = [
        line for line in longmemeval.report([asked, other], 3, markdown=True).splitlines() if line.startswith("|")
    ]
    assert head == "| amem | n | any@1 | all@1 | any@5 | all@5 | any@10 | all@10 | 95 % of any@5 |"
    assert set(rule) == set("|- ")
    assert row.startswith("| multi-session | 2 | 50.0 | 0.0 | 100.0 | 0.0 | 100.0 | 50.0 | ")


def test_a_turn_longer_than_a_note_is_cut_and_its_session_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AMEM_MAX_NOTE_CHARS", "200")
    (entry, *_) = json.loads(SMALL.read_text("utf-8"))
    session = entry["haystack_session_ids"].index(entry["answer_session_ids"][0])
    entry["haystack_sessions"][session][0]["content"] += " Row on." * 100
    path = tmp_path / "long.json"
    path.write_text(json.dumps([entry]), "utf-8")
    assert run(path, "--json", tmp_path / "found.json") == 0
    (found,) = json.loads((tmp_path / "found.json").read_text("utf-8"))
    assert found["places"]["amem"] != [None]


@pytest.mark.parametrize(
    ("text", "says"),
    [("{}", "format"), ('[{"question_id": "a"}]', "haystack_session_ids"), ("[", "format"), ("[[]]", "format")],
)
def test_another_format_is_refused(text: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "other.json"
    path.write_text(text, "utf-8")
    code = run(path)
    told = capsys.readouterr()
    assert (code, says in told.out + told.err) == (1, True)


def test_without_a_file_nothing_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert run() == 0
    assert "nothing is measured" in capsys.readouterr().out
