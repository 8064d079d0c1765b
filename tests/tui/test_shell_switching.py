"""Getting anywhere from anywhere: notes by their words, collections, everything by name."""

from __future__ import annotations

import asyncio
import threading
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from amem_tui.browse.note_list import NoteList
from amem_tui.browser_app import NotesApp
from amem_tui.collections_screen import CollectionsScreen
from amem_tui.dialogs import NotePicker, Prompt
from amem_tui.log.log_room import LogScreen
from amem_tui.note_form import NoteForm
from conftest import CAT, KETTLE, TEA, analyse, relate
from driving import browsing, listed, opened, options, said, screen_text, titles, toasts, wait_until
from textual.command import CommandPalette
from textual.widgets import Input, OptionList, TextArea

from amem.errors import StorageError
from amem.memory_system import AgenticMemorySystem
from amem.settings import Settings
from amem.testing import FrozenClock, HashEmbedder, ScriptedAnalyst

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot


_SEEDS = count()


def opening(settings: Settings, *, create: bool = True) -> AgenticMemorySystem:
    """A collection with the embedder of these tests."""
    return AgenticMemorySystem(
        settings=settings,
        create=create,
        clock=FrozenClock("2026-03-01T09:00", seed=f"{settings.collection} {next(_SEEDS)}"),
        embedder=HashEmbedder(),
        analyst=ScriptedAnalyst(analyse, relate, name="scripted"),
    )


@pytest.fixture
def two(memory: AgenticMemorySystem) -> AgenticMemorySystem:
    """A home with a second collection of one note, called garden."""
    with opening(memory.settings.replaced(collection="garden")) as other:
        other.add("Tomatoes in May")
    return memory


async def listing(pilot: Pilot[None], number: int) -> None:
    """Until Browse is in front with so many notes."""

    def there() -> bool:
        stack = pilot.app.screen_stack
        return len(stack) == 2 and bool(stack[1].query(NoteList)) and listed(pilot).count == number

    await wait_until(pilot, there)


async def front(pilot: Pilot[None], kind: type) -> None:
    await wait_until(pilot, lambda: isinstance(pilot.app.screen, kind) and pilot.app.screen.is_mounted)
    await pilot.pause()


def found(pilot: Pilot[None]) -> list[str]:
    return options(pilot, "#choices")


def lit(pilot: Pilot[None]) -> str | None:
    option = pilot.app.screen.query_one("#choices", OptionList).highlighted_option
    return None if option is None else option.id


# -- notes ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(120, 36), (40, 12)])
async def test_a_note_is_found_by_words_of_it_from_any_room(memory: AgenticMemorySystem, size: tuple[int, int]) -> None:
    async with browsing(memory, size) as pilot:
        await pilot.press("l")
        await front(pilot, LogScreen)
        await pilot.press("ctrl+k")
        await front(pilot, NotePicker)
        await wait_until(pilot, lambda: len(found(pilot)) == 3)
        await pilot.press(*"boil")
        await wait_until(pilot, lambda: len(found(pilot)) == 1)
        await pilot.press("enter")
        await wait_until(pilot, lambda: opened(pilot) == TEA)
        assert len(pilot.app.screen_stack) == 2


@pytest.mark.thorough
async def test_the_newest_notes_are_offered_before_anything_is_typed_and_arrows_choose(
    memory: AgenticMemorySystem,
) -> None:
    async with browsing(memory) as pilot:
        await pilot.press("ctrl+k")
        await front(pilot, NotePicker)
        await wait_until(pilot, lambda: len(found(pilot)) == 3)
        assert KETTLE in found(pilot)[0]
        await pilot.press("down", "down", "down", "up", "pagedown", "pageup", "down")
        await pilot.press("enter")
        await wait_until(pilot, lambda: opened(pilot) == CAT)


@pytest.mark.thorough
async def test_a_title_that_holds_the_words_comes_before_a_text_that_does(empty: AgenticMemorySystem) -> None:
    empty.add("Kettle care")
    empty.add("Tea\n\nThe kettle is new")
    async with browsing(empty) as pilot:
        await pilot.press("ctrl+k", *"kettle")
        await wait_until(pilot, lambda: len(found(pilot)) == 2 and "Kettle care" in found(pilot)[0])


@pytest.mark.thorough
async def test_chinese_words_are_found_and_nothing_found_is_said(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await pilot.press("ctrl+k", *"橘白")
        await wait_until(pilot, lambda: len(found(pilot)) == 1 and "芝麻" in found(pilot)[0])
        await pilot.press("x", "y")
        await wait_until(pilot, lambda: "No note holds" in screen_text(pilot))
        await pilot.press("enter", "escape")
        await wait_until(pilot, lambda: not isinstance(pilot.app.screen, NotePicker))


async def test_a_note_can_be_clicked(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await pilot.press("ctrl+k")
        await front(pilot, NotePicker)
        await wait_until(pilot, lambda: len(found(pilot)) == 3)
        await pilot.click("#choices", offset=(5, 2))
        await wait_until(pilot, lambda: opened(pilot) == TEA)


@pytest.mark.thorough
async def test_nothing_leads_away_from_a_form_with_text_in_it(memory: AgenticMemorySystem) -> None:
    async with browsing(memory) as pilot:
        await pilot.press("n", *"Kept", "ctrl+k", "ctrl+o", "ctrl+p")
        assert isinstance(pilot.app.screen, NoteForm)
        assert pilot.app.screen.query_one(TextArea).text == "Kept"


# -- collections ------------------------------------------------------------------------------------------------------


async def test_collections_are_listed_with_their_sizes_and_enter_goes_there_and_back(
    two: AgenticMemorySystem,
) -> None:
    app = NotesApp(two, opening=opening, follow_every=0.1)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await listing(pilot, 3)
        await pilot.press("l")
        await front(pilot, LogScreen)
        await pilot.press("ctrl+o")
        await front(pilot, CollectionsScreen)
        await wait_until(pilot, lambda: "1 note" in found(pilot)[0] and "3 notes" in found(pilot)[1])
        assert "garden" in found(pilot)[0]
        assert "▸ memories" in found(pilot)[1]
        assert "kB" in found(pilot)[0]
        await pilot.press("home", "enter")
        await listing(pilot, 1)
        await wait_until(pilot, lambda: titles(pilot) == ["Tomatoes in May"])
        await wait_until(pilot, lambda: opened(pilot) == "Tomatoes in May")
        assert "garden" in screen_text(pilot)
        await pilot.press("n", *"Peas", "ctrl+s")
        await wait_until(pilot, lambda: opened(pilot) == "Peas")
        await pilot.press("l")
        await front(pilot, LogScreen)
        await wait_until(pilot, lambda: "Peas" in screen_text(pilot))
        assert "kettle" not in screen_text(pilot)
        app.switch_collection("memories")
        await listing(pilot, 3)
        await wait_until(pilot, lambda: titles(pilot) == [KETTLE, CAT, TEA])
    with opening(two.settings.replaced(collection="garden")) as garden:
        assert {note.content for note in garden.list()} == {"Tomatoes in May", "Peas"}
    with pytest.raises(StorageError, match="closed"):  # what the app was lent and left
        two.count()
    app.close()


@pytest.mark.thorough
async def test_a_collection_is_copied_under_a_name_that_is_checked(two: AgenticMemorySystem) -> None:
    async with browsing(two) as pilot:
        await pilot.press("ctrl+o")
        await front(pilot, CollectionsScreen)
        await wait_until(pilot, lambda: len(found(pilot)) == 2)
        for wanted, complaint in (("garden", "already"), ("../out", "cannot name a collection")):
            await pilot.press("c")
            await front(pilot, Prompt)
            pilot.app.screen.query_one(Input).value = wanted
            await pilot.press("enter")
            await wait_until(pilot, lambda complaint=complaint: complaint in said(pilot, ".answers"))
            await pilot.press("escape")
            await front(pilot, CollectionsScreen)
        await pilot.press("c")
        await front(pilot, Prompt)
        assert pilot.app.screen.query_one(Input).value == "memories-copy"
        await pilot.press("enter")
        await wait_until(pilot, lambda: "memories is copied to memories-copy" in toasts(pilot))
        await wait_until(pilot, lambda: any("memories-copy" in line and "3 notes" in line for line in found(pilot)))
        await pilot.press("escape")
        await wait_until(pilot, lambda: not isinstance(pilot.app.screen, CollectionsScreen))
    assert two.collections() == ["garden", "memories", "memories-copy"]


@pytest.mark.thorough
async def test_a_new_collection_is_begun_and_opened(memory: AgenticMemorySystem) -> None:
    app = NotesApp(memory, opening=opening, follow_every=0.1)
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await listing(pilot, 3)
        await pilot.press("ctrl+o")
        await front(pilot, CollectionsScreen)
        await pilot.press("n", *"fresh", "enter")
        await wait_until(pilot, lambda: "This is fresh now" in toasts(pilot))
        await wait_until(pilot, lambda: "No notes yet" in screen_text(pilot))
    app.close()


@pytest.mark.thorough
async def test_a_collection_that_cannot_be_opened_is_refused_and_the_one_at_hand_stays(
    memory: AgenticMemorySystem,
) -> None:
    broken = memory.settings.home / "broken"
    broken.mkdir()
    (broken / "amem.db").write_bytes(b"this is a text file\n" * 500)
    async with browsing(memory) as pilot:
        await pilot.press("ctrl+o")
        await front(pilot, CollectionsScreen)
        await wait_until(pilot, lambda: "damaged" in found(pilot)[0])
        await pilot.press("home", "enter")
        await wait_until(pilot, lambda: "damaged" in toasts(pilot))
        await wait_until(pilot, lambda: titles(pilot) == [KETTLE, CAT, TEA])


# -- everything by name -----------------------------------------------------------------------------------------------


async def chosen(pilot: Pilot[None], *typed: str, wanted: str) -> None:
    """Type in the palette and take the entry with these words."""
    await pilot.press("ctrl+p", *typed)
    await front(pilot, CommandPalette)

    def entries() -> list[str]:
        return options(pilot, "OptionList")

    await wait_until(pilot, lambda: any(wanted in entry for entry in entries()))
    shown = pilot.app.screen.query_one(OptionList)
    place = next(place for place, entry in enumerate(entries()) if wanted in entry)
    shown.highlighted = place
    await asyncio.sleep(0)
    await pilot.press("enter")


@pytest.mark.thorough
async def test_the_palette_knows_rooms_keys_notes_collections_and_themes(two: AgenticMemorySystem) -> None:
    app: Any = NotesApp(two, opening=opening, follow_every=0.1)
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await listing(pilot, 3)
        names = [command.title for command in app.get_system_commands(app.screen)]
        assert {"New note", "Search", "Review", "Theme", "Redo", "Collections"} <= set(names)
        assert "Focus Next" not in names
        await chosen(pilot, *"log", wanted="Log")
        await front(pilot, LogScreen)
        await chosen(pilot, *"boiling", wanted=TEA)
        await wait_until(pilot, lambda: opened(pilot) == TEA)
        await chosen(pilot, *"contrast", wanted="Theme amem-contrast")
        await wait_until(pilot, lambda: app.theme == "amem-contrast")
        await chosen(pilot, *"garden", wanted="Collection garden")
        await listing(pilot, 1)
        await wait_until(pilot, lambda: titles(pilot) == ["Tomatoes in May"])
    app.close()


@pytest.mark.thorough
async def test_names_with_brackets_are_text_in_the_palette(empty: AgenticMemorySystem) -> None:
    empty.add("[bold red]loud[/] [[note]]")
    async with browsing(empty) as pilot:
        await pilot.press("ctrl+p", *"loud")
        await front(pilot, CommandPalette)
        await wait_until(pilot, lambda: "[bold red]loud[/] note" in screen_text(pilot))


# -- beginning ---------------------------------------------------------------------------------------------------------


@pytest.mark.thorough
async def test_the_frame_is_there_while_the_collection_is_still_being_opened(
    memory: AgenticMemorySystem,
) -> None:
    go_on = threading.Event()

    def slowly(settings: Settings, *, create: bool = True) -> AgenticMemorySystem:
        assert go_on.wait(30)
        return opening(settings, create=create)

    app = NotesApp(settings=memory.settings, opening=slowly)
    async with app.run_test(size=(120, 30)) as pilot:
        await wait_until(pilot, lambda: "Opening" in screen_text(pilot) and "Browse" in screen_text(pilot))
        await pilot.press("n", *"White")
        assert len(app.screen_stack) == 1
        go_on.set()
        await wait_until(pilot, lambda: isinstance(app.screen, NoteForm))
        await wait_until(pilot, lambda: app.screen.query_one(TextArea).text == "White")
    app.close()


@pytest.mark.thorough
async def test_a_collection_that_cannot_be_opened_ends_the_app_with_the_reason(tmp_path: Path) -> None:
    app = NotesApp(settings=Settings(home=tmp_path, collection="nowhere"), create=False)
    async with app.run_test() as pilot:
        await wait_until(pilot, lambda: app.failure is not None)
    assert "there is no collection 'nowhere'" in str(app.failure)
    assert app.return_code == 1
    assert not (tmp_path / "nowhere").exists()
