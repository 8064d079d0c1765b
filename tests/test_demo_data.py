"""The demo's notes and questions fit together."""

from __future__ import annotations

import json
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from amem.clock import parse_time

DATA = Path(__file__).resolve().parents[1] / "examples" / "data"
HAN = range(0x4E00, 0xA000)


@pytest.fixture(scope="module")
def notes() -> list[dict[str, Any]]:
    lines = (DATA / "year.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def questions() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((DATA / "questions.json").read_text(encoding="utf-8"))
    return found


def has_chinese(text: str) -> bool:
    return any(ord(character) in HAN for character in text)


def test_the_notes_tell_one_year_in_order(notes: list[dict[str, Any]]) -> None:
    times = [parse_time(note["time"], UTC) for note in notes]

    assert times == sorted(times)
    assert (times[-1] - times[0]).days in range(300, 366)


def test_no_note_says_what_another_one_said(notes: list[dict[str, Any]]) -> None:
    assert len({note["content"] for note in notes}) == len(notes) >= 60


def test_both_languages_are_well_represented(notes: list[dict[str, Any]]) -> None:
    chinese = sum(has_chinese(note["content"]) for note in notes)

    assert chinese >= 20
    assert len(notes) - chinese >= 20


def test_each_question_names_the_notes_that_answer_it(
    notes: list[dict[str, Any]], questions: list[dict[str, Any]]
) -> None:
    assert len(questions) == 5
    for question in questions:
        assert question["lines"], question["question"]
        assert all(0 <= line < len(notes) for line in question["lines"]), question["question"]
        assert question["good_answer"]


def test_the_questions_cover_both_languages_and_the_ways_of_asking(questions: list[dict[str, Any]]) -> None:
    assert sum(has_chinese(question["question"]) for question in questions) >= 2
    assert {"causal", "temporal", "procedural", "person"} <= {question["kind"] for question in questions}
