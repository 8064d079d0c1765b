"""A tag that stands in a note's text is one of its tags, whoever reads the note; given tags are left alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.analysis import Analysis, Evolution
from amem.analysts.rules import OfflineAnalyst
from amem.testing import ScriptedAnalyst

if TYPE_CHECKING:
    from collections.abc import Callable

    from amem import AgenticMemorySystem

    Open = Callable[..., AgenticMemorySystem]


def tags(memory: AgenticMemorySystem, text: str, **fields: object) -> list[str]:
    note = memory.read(memory.add_note(text, **fields))
    assert note is not None
    return note.tags


def test_tags_in_the_text_come_first_and_the_analyst_adds_its_own(open_memory: Open) -> None:
    memory = open_memory(analyst=OfflineAnalyst())

    assert tags(memory, "今天去爬山#户外#周末")[:2] == ["户外", "周末"]
    assert tags(memory, "Pruned the roses #Garden")[0] == "Garden"
    assert tags(memory, "今天去爬山#户外", tags=["山"]) == ["山"]
    assert "define" not in tags(memory, "#define LIMIT 3\nint main(void) { return LIMIT; }\nint other(void) {};")


def test_a_model_that_retags_a_new_note_keeps_them(open_memory: Open) -> None:
    evolve = lambda *_: Evolution(tags=("hike",))  # noqa: E731 - a script
    memory = open_memory(analyst=ScriptedAnalyst(Analysis(tags=("weekend", "OUTDOOR")), evolve))

    memory.add_note("Up the hill #outdoor")
    assert tags(memory, "Down the hill #outdoor") == ["outdoor", "hike"]
