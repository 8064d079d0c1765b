"""The demo's notes and questions, in a wheel and in a checkout alike."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from amem.errors import NotFound


@dataclass(frozen=True, slots=True)
class Question:
    """A question the demo asks; `good_answer` is what a reader would want to find."""

    question: str
    kind: str
    good_answer: str


def demo_folder() -> Path:
    """Where the data is. Raises NotFound when it was not installed."""
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "examples" / "data", package.parent / "examples" / "data"):
        if (folder / "year.jsonl").is_file():
            return folder
    raise NotFound("the demo's data is not installed", hint="reinstall amem, or run it from a checkout")


def demo_questions() -> list[Question]:
    """The five questions."""
    held = json.loads((demo_folder() / "questions.json").read_text(encoding="utf-8"))
    return [Question(each["question"], each["kind"], each["good_answer"]) for each in held]
