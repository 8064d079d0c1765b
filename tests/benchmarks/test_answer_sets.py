"""The labelled questions over notebooks: well formed in both halves. A failure names ids, never held-out text."""

from __future__ import annotations

import json
import re
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

ANSWERS = Path(__file__).parents[1] / "data" / "answers"
#: How many notes and questions a collection has at least.
NOTEBOOK, FEW = (40, 30), (3, 12)
COLLECTIONS = sorted(
    (
        (path, least)
        for home, least in ((ANSWERS, NOTEBOOK), (ANSWERS / "small", FEW))
        for half in ("development", "held_out")
        for path in (home / half).glob("*/")
    ),
    key=lambda each: each[0].parts,
)
KINDS = {"direct", "paraphrase", "fact", "time", "cross", "yes_no", "unanswerable"}
NOTE_FIELDS = {"id", "text", "at", "speaker"}
QUESTION_FIELDS = {"id", "text", "lang", "note_lang", "kind", "asked_at", "answers", "says"}


def _rows(folder: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / f"{name}.jsonl").read_text("utf-8").splitlines()]


def _is_written_in(text: str, lang: str) -> bool:
    return bool(re.search(r"[\u4e00-\u9fff]" if lang == "zh" else "[a-zA-Z]", text))


def _note_faults(note: dict[str, Any]) -> list[str]:
    checks = {
        "fields": set(note) == NOTE_FIELDS,
        "text": bool(note["text"].strip()),
        "at": datetime.fromisoformat(note["at"]).tzinfo is not None,
        "speaker": note["speaker"] is None or bool(note["speaker"].strip()),
    }
    return [f"{note['id']}: {check}" for check, sound in checks.items() if not sound]


def _question_faults(question: dict[str, Any], notes: dict[str, dict[str, Any]]) -> list[str]:
    answers = [notes[id]["text"].casefold() for id in question["answers"] if id in notes]
    says = [said.casefold() for said in question["says"]]
    answerable = question["kind"] != "unanswerable"
    stands = any(said in text for said in says for text in answers)
    asked = datetime.fromisoformat(question["asked_at"])
    checks = {
        "fields": set(question) - {"not_says"} == QUESTION_FIELDS,
        "kind": question["kind"] in KINDS,
        "lang": question["lang"] in ("en", "zh") and _is_written_in(question["text"], question["lang"]),
        "note_lang": question["note_lang"] in (("en", "zh") if answerable else (None,)),
        "asked_at": all(asked >= datetime.fromisoformat(note["at"]) for note in notes.values()),
        "answers": len(answers) == len(question["answers"]) and bool(answers) is answerable,
        "says": bool(says) is answerable and all(says),
        "says in an answering note": stands or question["kind"] in ("time", "cross", "yes_no", "unanswerable"),
        "says in the question": not any(said in question["text"].casefold() for said in says),
        "cross": (question["kind"] == "cross") <= (question["lang"] != question["note_lang"]),
        "not_says": not {said.casefold() for said in question.get("not_says", ())} & set(says),
    }
    return [f"{question['id']}: {check}" for check, sound in checks.items() if not sound]


def _faults(folder: Path, least: tuple[int, int]) -> list[str]:
    notes, questions = _rows(folder, "notes"), _rows(folder, "questions")
    by_id = {note["id"]: note for note in notes}
    times = [datetime.fromisoformat(note["at"]) for note in notes]
    checks = {
        "notes": len(notes) >= least[0],
        "note ids": len(by_id) == len(notes),
        "texts": len({note["text"] for note in notes}) == len(notes),
        "order": times == sorted(times),
        "questions": len(questions) >= least[1],
        "question ids": len({question["id"] for question in questions}) == len(questions),
        "kinds": len({question["kind"] for question in questions}) >= (4 if least == NOTEBOOK else 3),
        "unanswerable": 0.2 <= sum(not question["answers"] for question in questions) / len(questions) <= 0.45,
    }
    faults = [check for check, sound in checks.items() if not sound]
    faults += [fault for note in notes for fault in _note_faults(note)]
    return faults + [fault for question in questions for fault in _question_faults(question, by_id)]


@pytest.mark.parametrize(
    ("folder", "least"), COLLECTIONS, ids=["-".join(path.relative_to(ANSWERS).parts) for path, _ in COLLECTIONS]
)
def test_a_collection_of_notes_and_questions_is_well_formed(folder: Path, least: tuple[int, int]) -> None:
    try:
        faults = _faults(folder, least)
    except (ValueError, KeyError, TypeError, AttributeError) as error:  # a traceback would print what it read
        faults = [type(error).__name__]
    if faults:
        pytest.fail("; ".join(faults), pytrace=False)


TIMES = sorted(path for half in ("development", "held_out") for path in (ANSWERS / "times" / half).glob("*/"))
TIME_KINDS = {"at", "yes_no", "list", "plan", "none", "far"}


def _time_faults(question: dict[str, Any], notes: dict[str, dict[str, Any]]) -> list[str]:
    answers, says = question["answers"], question["says"]
    stands = any(said.casefold() in notes[id]["text"].casefold() for said in says for id in answers)
    checks = {
        "kind": question["kind"] in TIME_KINDS,
        "lang": question["lang"] in ("en", "zh") and _is_written_in(question["text"], question["lang"]),
        "asked_at": all(question["asked_at"] >= note["at"] for note in notes.values()),
        "answers": {*answers, *question["also"]} <= set(notes) and not {*answers} & {*question["also"]},
        "answerable": bool(answers) is (question["kind"] not in ("none", "far")),
        "says": bool(says) is (question["kind"] in ("at", "yes_no")) and (stands or not says),
        "not_says": not {*question["not_says"]} & {*says},
    }
    return [f"{question['id']}: {check}" for check, sound in checks.items() if not sound]


@pytest.mark.parametrize("folder", TIMES, ids=["-".join(path.relative_to(ANSWERS).parts) for path in TIMES])
def test_a_notebook_with_questions_about_times_is_well_formed(folder: Path) -> None:
    notes = {note["id"]: note for note in _rows(folder, "notes")}
    questions = _rows(folder, "questions")
    faults = [fault for note in notes.values() for fault in _note_faults(note)]
    faults += [fault for question in questions for fault in _time_faults(question, notes)]
    assert len(notes) >= NOTEBOOK[0]
    assert len(questions) >= NOTEBOOK[1]
    if faults:
        pytest.fail("; ".join(faults), pytrace=False)


UPDATES = sorted(path for half in ("development", "held_out") for path in (ANSWERS / "updates" / half).glob("*/"))


def _update_faults(question: dict[str, Any], notes: dict[str, dict[str, Any]]) -> list[str]:
    answers, also, says = question["answers"], question["also"], question["says"]
    first = min((notes[old]["at"] for old in also), default="")
    checks = {
        "kind": question["kind"] in ("update", "stands"),
        "lang": question["lang"] in ("en", "zh") and _is_written_in(question["text"], question["lang"]),
        "answers": len(answers) == 1 and {*answers, *also} <= set(notes) and not {*answers} & {*also},
        "also": question["kind"] == "stands" or first < notes[answers[0]]["at"],
        "says": bool(says) is (question["kind"] == "stands"),
        "stands": all(said.casefold() in notes[answers[0]]["text"].casefold() for said in says),
    }
    return [f"{question['id']}: {check}" for check, sound in checks.items() if not sound]


@pytest.mark.parametrize("folder", UPDATES, ids=["-".join(path.relative_to(ANSWERS).parts) for path in UPDATES])
def test_a_notebook_that_later_notes_update_is_well_formed(folder: Path) -> None:
    notes = {note["id"]: note for note in _rows(folder, "notes")}
    questions = _rows(folder, "questions")
    faults = [fault for note in notes.values() for fault in _note_faults(note)]
    faults += [fault for question in questions for fault in _update_faults(question, notes)]
    assert sum(question["kind"] == "update" for question in questions) == 12
    if faults:
        pytest.fail("; ".join(faults), pytrace=False)
