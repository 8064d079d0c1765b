"""A person's own keys: what they may be, and that they work."""

from __future__ import annotations

from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING

import pytest
from amem_tui.browser_app import NotesApp
from amem_tui.dialogs import HelpScreen
from amem_tui.keymap import ROOM_KEYS, as_textual_wants, every_key, own_keys
from amem_tui.log.log_room import LogScreen
from amem_tui.rooms import ROOMS, NotesScreen
from driving import screen_text, wait_until

from amem.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from amem.memory_system import AgenticMemorySystem

PAGE = Path(__file__).parents[2] / "docs" / "browser.md"


def test_every_key_has_an_id_of_its_own_that_begins_with_its_room() -> None:
    known = every_key()
    assert len(known) > 60
    assert {id.split(".")[0] for id in known} == {
        "app",
        "form",
        "collections",
        "fork",
        "browse",
        "graph",
        "history",
        "timeline",
        "chat",
        "review",
        "log",
        "health",
    }
    assert all(binding.description for binding in known.values())


def test_every_key_does_something_that_its_screen_can_do() -> None:
    rooms = {room: f"amem_tui.{room}.{room}_room:{room.title()}Screen" for room in ROOMS}
    sheets = {
        "app": "amem_tui.browser_app:NotesApp",
        "form": "amem_tui.note_form:NoteForm",
        "collections": "amem_tui.collections_screen:CollectionsScreen",
        "fork": "amem_tui.collections_screen:ForkScreen",
    }
    for name, place in (rooms | sheets).items():
        screen = resolve_name(place)
        for binding in ROOM_KEYS[name]:
            where, _, action = binding.action.partition("(")[0].rpartition(".")
            assert hasattr(NotesScreen if where == "screen" else screen, f"action_{action}"), binding


def test_the_page_lists_every_key_that_there_is() -> None:
    rows = [line.split("|") for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    listed = {row[1].strip(" `"): (row[2].strip(" `"), row[3].strip()) for row in rows if "." in row[1]}
    known = {id: (binding.key, binding.description) for id, binding in every_key().items()}
    assert listed == known


def test_own_keys_are_taken_by_the_names_that_people_use_for_them() -> None:
    wanted = {"browse.delete": "ctrl+d", "app.help": "f1,?", "browse.search": "=", "app.quit": "Q"}
    assert own_keys(wanted) == {
        "browse.delete": "ctrl+d",
        "app.help": "f1,question_mark",
        "browse.search": "equals_sign",
        "app.quit": "Q",
    }


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"browse.delte": "x"}, "nothing called 'browse.delte'"),
        ({"delete": "x"}, "nothing called 'delete'"),
        ({"browse.delete": ""}, "names no key"),
        ({"browse.delete": "control+d"}, "names no key"),
        ({"browse.delete": "d,,x"}, "names no key"),
        ({"browse.delete": "hello"}, "names no key"),
        ({"browse.delete": "e"}, "both browse.delete and browse.edit"),
        ({"browse.delete": "g"}, "both browse.delete and app.graph"),
        ({"app.graph": "slash"}, "both app.graph and browse.search"),
        ({"app.graph": "/"}, "both app.graph and browse.search"),
    ],
)
def test_keys_that_cannot_be_used_are_refused_with_what_to_do(wanted: dict[str, str], said: str) -> None:
    with pytest.raises(InvalidInput, match=said) as raised:
        own_keys(wanted)
    assert raised.value.hint


def test_a_slip_in_a_name_is_answered_with_the_nearest_and_where_it_may_stand() -> None:
    with pytest.raises(InvalidInput) as raised:
        own_keys({"browse.delte": "x"}, "/home/ana/amem/config.toml")
    assert raised.value.hint.startswith('did you mean "browse.delete"? It is set in /home/ana/amem/config.toml or')


def test_two_keys_may_change_places() -> None:
    wanted = {"browse.delete": "e", "browse.edit": "d"}
    assert own_keys(wanted) == wanted


def test_a_room_may_keep_a_key_that_it_takes_from_the_app_as_it_comes() -> None:
    assert own_keys({"browse.delete": "f9"}) == {"browse.delete": "f9"}


def test_the_browser_does_not_begin_with_keys_that_cannot_be_used(empty: AgenticMemorySystem) -> None:
    settings = empty.settings.replaced(tui_keys={"browse.delete": "nonsense"})
    with pytest.raises(InvalidInput, match=r"tui_keys: browse\.delete"):
        NotesApp(settings=settings)


async def test_own_keys_work_and_are_what_the_bar_the_footer_and_help_show(
    open_home: Callable[..., AgenticMemorySystem],
) -> None:
    memory = open_home()
    memory.settings = memory.settings.replaced(tui_keys={"app.log": "f7", "browse.search": "f6", "app.help": "f1"})
    async with NotesApp(memory).run_test(size=(120, 36)) as pilot:
        await wait_until(pilot, lambda: "f7 Log" in screen_text(pilot) and "f6 Search" in screen_text(pilot))
        await wait_until(pilot, lambda: "f1 Help" in screen_text(pilot))
        await pilot.press("l")
        assert not isinstance(pilot.app.screen, LogScreen)
        await pilot.press("f1")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, HelpScreen) and "f7" in screen_text(pilot))
        await pilot.press("escape", "f7")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, LogScreen))


def test_actions_that_share_a_key_keep_it_when_one_of_them_gets_another() -> None:
    staying = as_textual_wants(own_keys({"graph.enter": "f9"}))
    assert staying["graph.enter"] == "f9"
    assert staying["graph.centre"] == "enter"
    assert "graph.near" not in staying
    assert as_textual_wants({}) == {}
