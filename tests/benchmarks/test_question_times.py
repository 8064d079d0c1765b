"""The days that questions name are read as labelled, and no question of the held-out part is ever printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import question_times

if TYPE_CHECKING:
    from collections.abc import Mapping

#: How many of each part's questions are read right now; a change of rules may only raise it.
RIGHT: Mapping[str, int] = {"tuned": 40, "further": 92, "held_out": 40}
#: How many there are.
ASKED: Mapping[str, int] = {"tuned": 40, "further": 92, "held_out": 40}


@pytest.mark.parametrize("part", question_times.PARTS)
def test_no_fewer_questions_of_a_part_are_read_right(part: str) -> None:
    read = question_times.read_part(part)
    assert len(read) == ASKED[part]
    assert sum(each.right for each in read) >= RIGHT[part]


def test_errors_are_never_listed_of_the_held_out_part(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(question_times, "dated", lambda *_: None)
    question_times.main(["--errors"])
    shown = capsys.readouterr().out
    assert "times-tuned-" in shown
    assert "times-further-" in shown
    assert not [each for each in question_times.read_part("held_out") if each.asked["id"] in shown]
