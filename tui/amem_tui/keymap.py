"""Every key there is (``keys.toml``), a person's own in place of them, and keys worked off in their order."""

from __future__ import annotations

import asyncio
import tomllib
from contextlib import suppress
from difflib import get_close_matches
from importlib.resources import files
from typing import TYPE_CHECKING

from textual import events
from textual.app import App
from textual.binding import Binding
from textual.command import CommandPalette
from textual.keys import KEY_NAME_REPLACEMENTS, REPLACED_KEYS, Keys, _character_to_key, key_to_character
from textual.message import Message

from amem.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual.binding import BindingType
    from textual.message_pump import MessagePump


def _read() -> dict[str, list[Binding]]:
    rooms = tomllib.loads(files("amem_tui").joinpath("keys.toml").read_text(encoding="utf-8"))
    return {
        room: [Binding(**fields, id=f"{room}.{name}") for name, fields in keys.items()] for room, keys in rooms.items()
    }


#: Keys by the room where they work, under the name that their ids begin with; those of ``app`` work in all rooms.
ROOM_KEYS = _read()
#: What opens above a room, where the app's keys do nothing.
_SHEETS = {"form", "collections", "fork"}
_MODIFIERS = {"ctrl", "shift", "alt", "super", "hyper", "meta"}
_NAMED = {key.value.split("+")[-1] for key in Keys}


def cursor_keys(*actions: str) -> list[BindingType]:
    """The keys of a cursor for these actions: up, down, a page up, a page down, to the first, to the last."""
    keys = ("up,k", "down,j", "pageup", "pagedown", "home", "end,G")
    names = ("Up", "Down", "Page up", "Page down", "First", "Last")
    return [Binding(*each, show=False) for each in zip(keys, actions, names, strict=True)]


def every_key() -> dict[str, Binding]:
    """Bindings by id, ``browse.delete``; those of every screen first."""
    return {binding.id: binding for keys in ROOM_KEYS.values() for binding in keys if binding.id is not None}


def room_keys(wanted: Mapping[str, str]) -> dict[str, str]:
    known = every_key()
    rooms = {room: known[f"app.{room}"] for room in ROOM_KEYS if f"app.{room}" in known}
    return {room: wanted.get(f"app.{room}", binding.key).split(",")[0].strip() for room, binding in rooms.items()}


def own_keys(wanted: Mapping[str, str], where: str = "config.toml") -> dict[str, str]:
    """The keys of the setting ``tui_keys``, as Textual takes them; `where` names the file that it may stand in.

    Raises InvalidInput for what names nothing that a key does, for what is no key, and where a key would do two
    things in one room.
    """
    known = every_key()
    for name, keys in wanted.items():
        if name not in known:
            raise InvalidInput(
                f"tui_keys: there is nothing called {name!r}",
                hint=f"{_alike(name, known)} It is set in {where} or AMEM_TUI_KEYS; docs/browser.md lists all names",
            )
        for key in keys.split(","):
            if not _is_key(key):
                raise InvalidInput(
                    f"tui_keys: {name} = {keys!r} names no key",
                    hint="write d, D, ctrl+d, f2, escape, space or slash, and several with commas between",
                )
    _refuse_clashes(wanted, known)
    return {name: _spelt(keys) for name, keys in wanted.items()}


def as_textual_wants(own: Mapping[str, str]) -> dict[str, str]:
    """A person's keys as a keymap of Textual, which takes a key from all that share it: keepers are named."""
    known = every_key()
    left = {key for name in own for key in known[name].key.split(",")}
    staying = {name: binding.key for name, binding in known.items() if left & set(binding.key.split(","))}
    return staying | dict(own)


def _refuse_clashes(wanted: Mapping[str, str], known: Mapping[str, Binding]) -> None:
    """Where both keys are as they come, a room may take one of the app's; a person's own are to be told apart."""
    taken = {name: _spelt(wanted.get(name, binding.key)).split(",") for name, binding in known.items()}
    room_of = {binding.id: room for room, keys in ROOM_KEYS.items() for binding in keys}
    for name in wanted:
        for other, keys in taken.items():
            here, there = room_of[name], room_of[other]
            together = here == there or ("app" in (here, there) and not {here, there} & _SHEETS)
            if other != name and together and (both := set(keys) & set(taken[name])):
                raise InvalidInput(
                    f"tui_keys: {min(both)!r} would be both {name} and {other}",
                    hint=f"give {other} another key as well, or choose another for {name}",
                )


def _spelt(keys: str) -> str:
    """Each key by the name that Textual has for it: ``question_mark`` for ``?``."""
    spelt = []
    for *modifiers, key in map(_parts, keys.split(",")):
        named = _character_to_key(key) if len(key) == 1 else KEY_NAME_REPLACEMENTS.get(key, key)
        spelt.append("+".join([*modifiers, named]))
    return ",".join(spelt)


def _is_key(said: str) -> bool:
    *modifiers, key = _parts(said)
    character = key_to_character(REPLACED_KEYS.get(key, key)) or ""
    return set(modifiers) <= _MODIFIERS and (key in _NAMED or (character != "" and character.isprintable()))


def _parts(key: str) -> list[str]:
    bare = key.strip()
    return bare.split("+") if len(bare) > 1 else [bare]


def _alike(name: str, known: Mapping[str, Binding]) -> str:
    if nearest := get_close_matches(name, known, n=1):
        return f'did you mean "{nearest[0]}"?'
    room, _, last = name.partition(".")
    near = [each for each in known if each.startswith(f"{room}.")] or [
        each for each in known if last and each.endswith(f".{last}")
    ]
    return f"there is {', '.join((near or list(known))[:6])}."


# Textual hands every key at once to the widget that has the keyboard now. Where keys come faster than they are worked
# off, as in a fast typist's "/kettle" on a busy machine, the letters would go to the list that "/" was about to leave.
#: Seconds to wait for a key whose widget is at work, or is going away with what the key closed.
_PATIENCE = 0.25
#: How often an echo follows: a key sets off messages of its own (something was submitted; it is to be searched for).
_ROUNDS = 4
#: Seconds between two looks whether a screen is there.
_AGAIN = 0.01


class Echo(Message, bubble=True):
    """Follows a key through the same queues; when it has reached the app, the key is done with."""

    def __init__(self) -> None:
        super().__init__()
        self.arrived = asyncio.Event()


class OneKeyAtATime(App[None]):
    """An app that loses no key that was typed ahead."""

    def __init__(self) -> None:
        super().__init__()
        self._typed: asyncio.Queue[events.Key] = asyncio.Queue()
        self._typing: asyncio.Task[None] | None = None
        #: The key that is worked off, and the how manieth it is.
        self.key, self.keys_pressed = "", 0

    @property
    def takes_keys(self) -> bool:
        """Whether what is in front is there yet, and not `settling`: about to show what the next key is meant for."""
        return self.screen.is_mounted and not getattr(self.screen, "settling", False)

    @property
    def typing(self) -> bool:
        return self._typing is not None and not self._typing.done()

    def _awaits(self, key: str) -> bool:
        """Whether a worker opens what the key is meant for, or looks for what enter is to choose in a dialog."""
        at_work = [each for each in self.workers if not each.is_finished]
        here = [each for each in at_work if each.node is self.screen]
        found = not any(isinstance(each.node, CommandPalette) or each.group == "find" for each in here)
        return any(each.group == "opening" for each in at_work) or (key == "enter" and not found)

    def ends(self, key: str) -> bool:
        """Whether a key need not wait, since it leads out of what keys would have to wait for."""
        return False

    async def on_event(self, event: events.Event) -> None:
        if not isinstance(event, events.Key) or event.is_forwarded or self.ends(event.key):
            return await super().on_event(event)
        self._typed.put_nowait(event)
        if not self.typing:
            self._typing = asyncio.create_task(self._work_off())

    async def _work_off(self) -> None:
        try:
            while not self._typed.empty():
                key = self._typed.get_nowait()
                while not self.takes_keys or self._awaits(key.key):
                    if not self.is_running:
                        return
                    await asyncio.sleep(_AGAIN)
                self.key, self.keys_pressed = key.key, self.keys_pressed + 1
                there: MessagePump = self.focused or self.screen
                await super().on_event(key)
                for _ in range(_ROUNDS):
                    if not await self._echoes(there):
                        break
        except Exception as error:  # nobody waits for this task, and would hear of it
            self._handle_exception(error)

    async def _echoes(self, there: MessagePump) -> bool:
        """Whether all that stood in the queues between there and here is done with; False where nothing comes back."""
        echo = Echo()
        if not there.post_message(echo):
            return False
        for _ in range(round(_PATIENCE / _AGAIN)):
            with suppress(TimeoutError):
                await asyncio.wait_for(echo.arrived.wait(), _AGAIN)
            if echo.arrived.is_set() or not there.is_running:
                break
        return echo.arrived.is_set()

    def on_echo(self, echo: Echo) -> None:
        echo.arrived.set()
