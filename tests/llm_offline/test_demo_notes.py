"""The demo's year of notes, read by the offline rules."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from amem.analysis import Draft

if TYPE_CHECKING:
    from amem.analysts.rules import OfflineAnalyst

YEAR = Path(__file__).parents[2] / "examples" / "data" / "year.jsonl"


def test_every_note_of_the_demo_is_understood(analyst: OfflineAnalyst, vocabulary) -> None:
    notes = [json.loads(line) for line in YEAR.read_text(encoding="utf-8").splitlines()]
    talk = vocabulary([note["content"] for note in notes])
    assert len(notes) >= 60
    tagged = 0
    for note in notes:
        draft = Draft(note["content"], at=datetime.fromisoformat(note["time"]), speaker=note.get("speaker"))
        made = analyst.analyze(draft, talk)
        assert made.keywords, note["content"]
        assert made.context, note["content"]
        tagged += bool(made.tags)
    assert tagged >= 0.8 * len(notes)
