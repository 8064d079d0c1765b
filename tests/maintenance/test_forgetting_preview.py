"""The preview of forgetting says what maintenance then does, and shows how it comes about."""

from __future__ import annotations

import builtins
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from amem.errors import InvalidInput, MissingExtra, NoteNotFound

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from amem import AgenticMemorySystem
    from amem.testing import FrozenClock


@pytest.fixture
def ids(memory: AgenticMemorySystem, clock: FrozenClock) -> dict[str, str]:
    """One note of each fate, 40 days old but for what was used since."""
    made = {
        "chat": memory.add("哈哈，今天天气真好", kind="chitchat", importance=0.3).id,
        "error": memory.add("Traceback: costs $5 and $6", kind="error", importance=0.4).id,
        "allergy": memory.add("我对花生过敏", kind="constraint", importance=0.9).id,
        "long": memory.add("The gym opens at six.", importance=0.6, layer="long_term").id,
        "daily": memory.add("Standup is at half past nine.", importance=0.8).id,
    }
    clock.advance(days=37)
    for _ in range(3):
        memory.opened([made["daily"]])
        clock.advance(days=1)
    return made


@pytest.mark.parametrize("days", [0, 25, 90, 400])
def test_what_is_foreseen_is_what_maintenance_does_then(
    memory: AgenticMemorySystem, clock: FrozenClock, ids: Mapping[str, str], days: float
) -> None:
    preview = memory.fade(days)
    clock.advance(days=days)
    report = memory.maintain()

    assert {(note.id, note.what, note.why) for note in preview.notes} == {
        (reason.id, reason.what, reason.why) for reason in report.reasons
    }
    assert preview.counts == {"promoted": report.promoted, "demoted": report.demoted, "faded": report.faded}
    assert preview.until == clock.now()


def test_it_names_every_term_now_and_then(memory: AgenticMemorySystem, ids: Mapping[str, str]) -> None:
    (chat,) = [note for note in memory.fade(30).notes if note.id == ids["chat"]]

    assert (chat.what, chat.now.importance, chat.now.recalls) == ("faded", 0.3, 0)
    assert (chat.now.age_days, chat.then.age_days) == (40.0, 70.0)
    assert chat.then.value < chat.now.value
    shown = json.loads(json.dumps(memory.fade(30).to_dict(), ensure_ascii=False))
    assert shown["notes"][0]["then"].keys() >= {"importance", "trust", "recalls", "age_days", "retention", "value"}


def test_notes_that_are_named_are_told_of_even_when_they_stay(
    memory: AgenticMemorySystem, clock: FrozenClock, ids: Mapping[str, str]
) -> None:
    notes = memory.fade(365, [ids["allergy"], ids["chat"]]).notes

    assert {note.id: note.what for note in notes} == {ids["allergy"]: "stays", ids["chat"]: "faded"}
    clock.advance(days=100)
    memory.maintain()
    (gone,) = memory.fade(1, [ids["chat"]]).notes
    assert gone.why == "is archived already"


@pytest.mark.parametrize("days", [-1, float("nan"), float("inf"), 1e9])
def test_days_that_are_none_are_refused(memory: AgenticMemorySystem, days: float) -> None:
    with pytest.raises(InvalidInput, match="days"):
        memory.fade(days)


def test_a_note_that_is_not_there_is_said_to_be(memory: AgenticMemorySystem) -> None:
    for ask in (memory.strength, lambda id: memory.fade(1, [id])):
        with pytest.raises(NoteNotFound, match="nowhere"):
            ask("nowhere")


def test_curves_run_from_the_last_use_into_the_future_and_each_shape_once(
    memory: AgenticMemorySystem, clock: FrozenClock
) -> None:
    for n in range(5):
        memory.add(f"hm {n}", kind="chitchat", importance=0.2)
    clock.advance(days=20)

    (curve,) = memory.fade(80).curves()

    assert (curve.days[0], curve.days[-1], curve.alike) == (-20.0, 80.0, 4)
    assert curve.kept[0] == 1.0
    assert np.all(np.diff(curve.kept) <= 0)


def test_they_can_be_drawn_as_a_picture(memory: AgenticMemorySystem, ids: Mapping[str, str], tmp_path: Path) -> None:
    figure = memory.fade(90).figure()

    figure.savefig(tmp_path / "curve.png")
    figure.savefig(tmp_path / "curve.svg")
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert len(figure.axes[0].lines) == len(memory.fade(90).curves()) + 1


def test_without_matplotlib_the_error_says_how_to_get_it(
    memory: AgenticMemorySystem, ids: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Sequence[Any]) -> Any:
        if name.split(".")[0] == "matplotlib":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra) as caught:
        memory.fade(90).figure()
    assert 'pip install "amem[plot]"' in caught.value.hint
