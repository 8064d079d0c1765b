"""Writing notes: the form, what it refuses to lose, and one's own editor."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING

import pytest
from amem_tui.browse.note_pane import NotePane
from amem_tui.dialogs import Question
from amem_tui.note_form import NoteForm
from conftest import CAT, KETTLE, TEA, relate
from driving import browsing, opened, screen_text, titles, toasts, wait_until
from textual import events
from textual.drivers.headless_driver import HeadlessDriver
from textual.widgets import Checkbox, Collapsible, Input, Select, TextArea

from amem.analysis import Analysis
from amem.memory_system import AgenticMemorySystem
from amem.note import Kind
from amem.settings import Settings
from amem.testing import FrozenClock, HashEmbedder, ScriptedAnalyst

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from textual.pilot import Pilot

    from amem.note import MemoryNote


def form(pilot: Pilot[None]) -> NoteForm:
    assert isinstance(pilot.app.screen, NoteForm)
    return pilot.app.screen


def text(pilot: Pilot[None]) -> TextArea:
    return form(pilot).query_one(TextArea)


def field(pilot: Pilot[None], name: str) -> Input:
    return form(pilot).query_one(f"#form-{name}", Input)


def sign(pilot: Pilot[None], name: str) -> str:
    return str(form(pilot).query_one(f"#of-{name}").visual)


def notice(pilot: Pilot[None]) -> str:
    return str(form(pilot).query_one("#notice").visual)


def shown(pilot: Pilot[None]) -> MemoryNote:
    opened_note = pilot.app.screen.query_one(NotePane).opened_note
    assert opened_note is not None
    return opened_note.note


async def closed(pilot: Pilot[None]) -> None:
    await wait_until(pilot, lambda: not isinstance(pilot.app.screen, NoteForm))


async def edit(pilot: Pilot[None]) -> None:
    """Edit the note that is open, the newest."""
    await pilot.press("e")
    await wait_until(pilot, lambda: isinstance(pilot.app.screen, NoteForm) and pilot.app.screen.is_mounted)
    await pilot.pause()


async def test_a_new_note_is_stored_opened_and_its_receipt_said(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await pilot.press("n", *"White", "space", *"tea", "ctrl+s")
        await wait_until(pilot, lambda: opened(pilot) == "White tea")
        await wait_until(pilot, lambda: titles(pilot)[0] == "White tea")
        assert "Stored, 1 link, 1 change to review" in toasts(pilot)


async def test_what_the_person_fills_in_is_theirs_and_the_rest_is_the_analysts(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await pilot.press("n", *"Oolong", "space", *"tea")
        form(pilot).query_one(Select).value = Kind.DECISION
        field(pilot, "tags").value = "oolong, #late tea，杯子"
        form(pilot).query_one(Collapsible).collapsed = False
        field(pilot, "context").value = "What I drink at night"
        form(pilot).query_one(Checkbox).value = True
        await pilot.press("ctrl+s")
        await wait_until(pilot, lambda: opened(pilot) == "Oolong tea")
    note = next(note for note in memory.list() if note.content == "Oolong tea")
    assert (note.kind, note.tags, note.context, note.pinned) == (
        Kind.DECISION,
        ["oolong", "late tea", "杯子"],
        "What I drink at night",
        True,
    )
    assert note.keywords == ["Oolong", "tea"]
    assert {"kind", "tags", "context"} <= memory.owned_fields(note.id).keys()
    assert "keywords" not in memory.owned_fields(note.id)


@pytest.mark.thorough
@pytest.mark.parametrize("size", [(120, 36), (40, 12)])
async def test_what_a_machine_filled_in_is_signed_until_the_person_changes_it(
    memory: AgenticMemorySystem, size: tuple[int, int]
) -> None:
    async with browsing(memory, size) as pilot:
        await edit(pilot)
        await wait_until(pilot, lambda: "◆ tags" in sign(pilot, "tags"))
        assert "◆ kind" in sign(pilot, "kind")
        assert field(pilot, "tags").has_class("-machine")
        field(pilot, "tags").focus()
        await pilot.press("end", *", hot")
        assert "● tags" in sign(pilot, "tags")
        assert not field(pilot, "tags").has_class("-machine")
        await pilot.press("ctrl+s")
        await closed(pilot)
    note = memory.list()[0]
    assert (note.content, note.tags) == (KETTLE, ["tea", "hot"])
    assert list(memory.owned_fields(note.id)) == ["tags"]


async def test_an_empty_new_note_is_refused_and_the_form_stays(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await pilot.press("n", "space", "ctrl+s")
        await wait_until(pilot, lambda: "cannot be empty" in notice(pilot))
        assert memory.count() == 3


@pytest.mark.thorough
async def test_a_note_that_is_too_long_is_refused_and_its_text_stays(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await pilot.press("n")
        text(pilot).text = "x" * 20_001
        await pilot.press("ctrl+s")
        await wait_until(pilot, lambda: "the limit is 20,000" in notice(pilot))
        assert len(text(pilot).text) == 20_001
        text(pilot).text = "short enough"
        await pilot.press("ctrl+s")
        await wait_until(pilot, lambda: opened(pilot) == "short enough")


@pytest.mark.thorough
async def test_a_duplicate_leads_to_the_note_that_says_the_same(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await pilot.press("n")
        text(pilot).text = TEA
        await pilot.press("ctrl+s")
        await wait_until(pilot, lambda: opened(pilot) == TEA)
        assert "Already saved" in toasts(pilot)
        assert memory.count() == 3


@pytest.mark.thorough
async def test_escape_asks_once_before_it_throws_text_away(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await pilot.press("n", "x", "escape")
        assert "Not saved" in notice(pilot)
        await pilot.press("y", "escape")
        assert "Not saved" in notice(pilot)
        await pilot.press("escape")
        await closed(pilot)
        await pilot.press("n", "escape")
        await closed(pilot)
        assert memory.count() == 3


async def test_edit_changes_the_text_and_leaves_a_version(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await edit(pilot)
        assert text(pilot).text == KETTLE
        await pilot.press("!", "ctrl+s")
        await wait_until(pilot, lambda: opened(pilot) == KETTLE + "!")
        await wait_until(pilot, lambda: titles(pilot)[0] == KETTLE + "!")
        assert len(memory.history(memory.list()[0].id)) == 2


@pytest.mark.thorough
async def test_an_edit_of_nothing_changes_nothing(memory: AgenticMemorySystem) -> None:
    before = memory.pulse()
    async with browsing(memory) as pilot:
        await edit(pilot)
        await pilot.press("ctrl+s")
        await closed(pilot)
        assert "Nothing was changed" in toasts(pilot)
    assert memory.pulse() == before


@pytest.mark.thorough
async def test_what_others_changed_elsewhere_in_the_note_stays_beside_an_edit(memory: AgenticMemorySystem) -> None:
    id = memory.list()[0].id
    async with browsing(memory) as pilot:
        await edit(pilot)
        field(pilot, "tags").value = "kettle"
        memory.acting_as("agent").update(id, content="Another green tea")
        await pilot.press("ctrl+s")
        await closed(pilot)
    note = memory.read(id)
    assert note is not None
    assert (note.content, note.tags) == ("Another green tea", ["kettle"])


async def test_an_edit_never_overwrites_what_another_wrote_meanwhile(memory: AgenticMemorySystem) -> None:
    id = memory.list()[0].id
    async with browsing(memory) as pilot:
        await edit(pilot)
        await pilot.press("!")
        memory.acting_as("agent").update(id, content="Another text")
        await pilot.press("ctrl+s")
        await wait_until(pilot, lambda: "somebody changed the content" in notice(pilot))
        assert text(pilot).text == KETTLE + "!"
        await pilot.press("ctrl+t")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, Question))
        await wait_until(pilot, lambda: "Another text" in screen_text(pilot) and KETTLE + "!" in screen_text(pilot))
        await pilot.press("escape")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, NoteForm))
        await pilot.press("ctrl+n")
        await wait_until(pilot, lambda: opened(pilot) == KETTLE + "!")
    assert {note.content for note in memory.list()} == {"Another text", KETTLE + "!", CAT, TEA}


@pytest.mark.thorough
async def test_having_seen_the_other_version_one_may_put_ones_own_in_its_place(memory: AgenticMemorySystem) -> None:
    id = memory.list()[0].id
    async with browsing(memory) as pilot:
        await edit(pilot)
        await pilot.press("!")
        memory.acting_as("agent").update(id, content="Another text")
        await pilot.press("ctrl+s")
        await wait_until(pilot, lambda: "somebody changed" in notice(pilot))
        await pilot.press("ctrl+t")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, Question))
        await pilot.press("ctrl+s")
        await wait_until(pilot, lambda: opened(pilot) == KETTLE + "!")
    note = memory.read(id)
    assert note is not None
    assert note.content == KETTLE + "!"


@pytest.mark.thorough
async def test_a_note_deleted_while_it_is_edited_can_be_saved_as_a_new_one(memory: AgenticMemorySystem) -> None:
    id = memory.list()[0].id
    async with browsing(memory) as pilot:
        await edit(pilot)
        await pilot.press("!")
        memory.delete(id)
        await pilot.press("ctrl+s")
        await wait_until(pilot, lambda: "deleted meanwhile" in notice(pilot))
        await pilot.press("ctrl+n")
        await wait_until(pilot, lambda: opened(pilot) == KETTLE + "!")
    assert memory.read(id) is None


@pytest.mark.thorough
async def test_control_characters_of_a_note_never_reach_the_terminal_from_the_form(empty: AgenticMemorySystem) -> None:
    empty.add("Harmless\x1b]0;owned\x07 looking\x9b2J\n\tindented", tags=["a\x1b[31m"], context="c\x1b[2J")
    before = empty.pulse()
    async with browsing(empty) as pilot:
        await edit(pilot)
        assert not any(char in screen_text(pilot) for char in "\x1b\x07\x9b")
        await pilot.press("ctrl+s")
        await closed(pilot)
    assert empty.pulse() == before


@pytest.mark.thorough
async def test_saving_does_not_wait_for_a_model_that_is_slow(tmp_path: Path) -> None:
    go_on = threading.Event()

    def think(draft: object) -> Analysis:
        assert go_on.wait(30)
        return Analysis(context="By the model", tags=("late",))

    with AgenticMemorySystem(
        settings=Settings(home=tmp_path, dense_base="exact", timezone="UTC"),
        clock=FrozenClock("2026-03-01T09:00"),
        embedder=HashEmbedder(),
        analyst=ScriptedAnalyst(think, relate, name="slow", local=False),
    ) as memory:
        async with browsing(memory) as pilot:
            await pilot.press("n", *"Oolong", "ctrl+s")
            await wait_until(pilot, lambda: opened(pilot) == "Oolong")
            assert "analysis follows by itself" in toasts(pilot)
            go_on.set()
            await wait_until(pilot, lambda: memory.list()[0].context == "By the model")
            await wait_until(pilot, lambda: shown(pilot).context == "By the model")


# -- in one's own editor ----------------------------------------------------------------------------------------------


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Makes $EDITOR a program of these lines, which finds the file's path in `path`."""
    monkeypatch.setattr(HeadlessDriver, "can_suspend", property(lambda self: True))
    monkeypatch.setattr(HeadlessDriver, "suspend_application_mode", lambda self: None)
    monkeypatch.setattr(HeadlessDriver, "resume_application_mode", lambda self: None)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "private"))
    (tmp_path / "private").mkdir()

    def be(lines: str) -> None:
        script = tmp_path / "editor.py"
        script.write_text(f"import os, pathlib, sys\npath = pathlib.Path(sys.argv[-1])\n{lines}\n", encoding="utf-8")
        monkeypatch.setenv("VISUAL", f"{sys.executable} {script}")

    return be


@pytest.mark.thorough
async def test_the_form_goes_on_with_what_the_editor_wrote(
    memory: AgenticMemorySystem, editor: Callable[[str], None], tmp_path: Path
) -> None:
    editor("path.write_text(path.read_text() + '白茶\\n'); assert path.stat().st_mode & 0o077 == 0")
    async with browsing(memory) as pilot:
        await pilot.press("n", *"Tea", "space", "ctrl+e")
        await wait_until(pilot, lambda: text(pilot).text == "Tea 白茶")
        await pilot.press("ctrl+s")
        await wait_until(pilot, lambda: opened(pilot) == "Tea 白茶")
    assert list((tmp_path / "private").iterdir()) == []


@pytest.mark.thorough
async def test_a_note_edited_elsewhere_is_saved_when_the_editor_ends(
    memory: AgenticMemorySystem, editor: Callable[[str], None]
) -> None:
    editor("path.write_text('Rewritten\\n')")
    async with browsing(memory) as pilot:
        await pilot.press("E")
        await wait_until(pilot, lambda: opened(pilot) == "Rewritten")
        editor("pass")
        await pilot.press("E")
        await wait_until(pilot, lambda: "The text is as it was" in toasts(pilot))


@pytest.mark.thorough
@pytest.mark.parametrize("end", ["sys.exit(3)", "os.kill(os.getpid(), 9)"])
async def test_an_editor_that_fails_loses_nothing(
    memory: AgenticMemorySystem, editor: Callable[[str], None], end: str, tmp_path: Path
) -> None:
    editor(f"path.write_text('Half a thought'); {end}")
    async with browsing(memory) as pilot:
        await pilot.press("E")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, NoteForm))
        await pilot.pause()
        assert text(pilot).text == "Half a thought"
        assert str(tmp_path / "private") in toasts(pilot)
        assert memory.list()[0].content == KETTLE
        await pilot.press("escape")
        assert "Not saved" in notice(pilot)
        await pilot.press("ctrl+s")
        await wait_until(pilot, lambda: opened(pilot) == "Half a thought")


@pytest.mark.thorough
async def test_what_is_not_text_leaves_the_form_as_it_was(
    memory: AgenticMemorySystem, editor: Callable[[str], None]
) -> None:
    editor("path.write_bytes(b'\\xff\\xfe\\x00')")
    async with browsing(memory) as pilot:
        await pilot.press("n", *"Mine", "ctrl+e")
        await wait_until(pilot, lambda: "cannot be read" in notice(pilot))
        assert text(pilot).text == "Mine"


@pytest.mark.thorough
async def test_where_no_editor_can_have_the_terminal_a_sentence_says_so(
    memory: AgenticMemorySystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISUAL", "true")
    async with browsing(memory) as pilot:
        await pilot.press("n", *"Mine", "ctrl+e")
        await wait_until(pilot, lambda: "write in the form instead" in toasts(pilot))
        assert text(pilot).text == "Mine"


@pytest.mark.thorough
async def test_an_editor_that_is_not_there_is_said(memory: AgenticMemorySystem, editor: Callable[[str], None]) -> None:
    editor("pass")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VISUAL", "no-such-editor-here")
        async with browsing(memory) as pilot:
            await pilot.press("n", *"Mine", "ctrl+e")
            await wait_until(pilot, lambda: "cannot start the editor" in notice(pilot))
            assert text(pilot).text == "Mine"


# -- keys typed ahead -------------------------------------------------------------------------------------------------


def burst(pilot: Pilot[None], *keys: str) -> None:
    """Keys without a moment between them, as of a fast typist or a paste."""
    for key in keys:
        pilot.app.post_message(events.Key(key, key if len(key) == 1 else None))


@pytest.mark.thorough
async def test_what_is_typed_without_a_pause_after_n_is_in_the_form(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        burst(pilot, "n", *"Oolong", "ctrl+s")
        await wait_until(pilot, lambda: opened(pilot) == "Oolong")


async def test_rooms_entered_in_a_burst_end_in_the_last(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        burst(pilot, "l", "h", "t", "b", "l")
        await wait_until(pilot, lambda: getattr(pilot.app.screen, "ROOM", "") == "log")
