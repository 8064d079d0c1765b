"""A LoCoMo file as the benchmarks need it: conversations with their turns, and the questions about them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from _scores import ADVERSARIAL, CATEGORIES, gold_answer

from amem.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

#: ``D8:6; D9:17`` in one string, ``D:11:26`` and ``D30:05`` are all in the published file.
_TURN = re.compile(r"D:?(\d+):(\d+)")
_SESSION = re.compile(r"session_(\d+)")


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing said: its id (``D3:5``), when, by whom."""

    ref: str
    said_at: str
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the answer it is scored against, and the turns that hold it.

    `tempting` is the wrong answer that an adversarial question offers beside "not mentioned"; '' in other categories.
    """

    number: int
    text: str
    category: int
    gold: str
    tempting: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Conversation:
    """One sample: `sample` is its JSON, as ``amem import`` reads it."""

    id: str
    speakers: tuple[str, str]
    turns: Mapping[str, Turn]
    questions: tuple[Question, ...]
    sample: Mapping[str, Any]

    def text(self) -> str:
        """The whole conversation as a long-context model would be given it: dated sessions, who said what."""
        lines, at = [], None
        for turn in self.turns.values():
            if turn.said_at != at:
                at = turn.said_at
                lines.append(f"\nDATE: {at}")
            lines.append(f"{turn.speaker}: {turn.text}")
        return "\n".join(lines).strip()


def read_conversations(path: Path) -> list[Conversation]:
    """Every conversation of the file. Raises InvalidInput when it is not LoCoMo's."""
    try:
        whole = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInput(f"cannot read {path} as JSON: {error}", hint="give a LoCoMo conversation file") from error
    samples = whole if isinstance(whole, list) else [whole]
    try:
        return [_conversation(sample, f"conversation-{number}") for number, sample in enumerate(samples, start=1)]
    except (KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(f"{path} is not a LoCoMo file with questions: {error!r}") from error


def _conversation(sample: dict[str, Any], name: str) -> Conversation:
    said = sample["conversation"]
    numbers = sorted(int(match[1]) for key in said if (match := _SESSION.fullmatch(key)))
    turns = {
        turn["dia_id"]: _turn(turn, str(said.get(f"session_{number}_date_time", "")))
        for number in numbers
        for turn in said[f"session_{number}"]
    }
    questions = tuple(_question(number, each, turns) for number, each in enumerate(sample["qa"]))
    speakers = (str(said["speaker_a"]), str(said["speaker_b"]))
    return Conversation(str(sample.get("sample_id") or name), speakers, turns, questions, sample)


def _turn(turn: dict[str, Any], at: str) -> Turn:
    caption = turn.get("blip_caption")
    photo = f" [shares a photo: {caption}]" if caption else ""
    return Turn(turn["dia_id"], at, str(turn.get("speaker") or ""), f"{turn.get('text') or ''}{photo}".strip())


def _question(number: int, entry: dict[str, Any], turns: Mapping[str, Turn]) -> Question:
    category = int(entry["category"])
    if category not in CATEGORIES:
        raise KeyError(f"category {category}")
    refs = [f"D{int(match[1])}:{int(match[2])}" for each in entry["evidence"] for match in _TURN.finditer(str(each))]
    tempting = str(entry["adversarial_answer"]) if category == ADVERSARIAL else ""
    gold = gold_answer(category, "" if category == ADVERSARIAL else str(entry["answer"]))
    evidence = tuple(dict.fromkeys(ref for ref in refs if ref in turns))
    return Question(number, str(entry["question"]), category, gold, tempting, evidence)
