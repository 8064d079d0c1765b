"""Every key there is, by what it does (``keys.toml``), and a person's own keys in place of them."""

from __future__ import annotations

import tomllib
import unicodedata
from difflib import get_close_matches
from importlib.resources import files
from typing import TYPE_CHECKING

from textual.binding import Binding
from textual.keys import KEY_NAME_REPLACEMENTS, REPLACED_KEYS, Keys, key_to_character

from amem.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual.binding import BindingType


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
    """The key that leads to each room; where there are several, the first."""
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
    """A person's keys as a keymap of Textual.

    Textual takes a key from all that share it when one of them gets another: those that keep it are named as well.
    """
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
        if len(key) == 1 and not key.isalnum():
            key = unicodedata.name(key, key).lower().replace("-", "_").replace(" ", "_")
        spelt.append("+".join([*modifiers, KEY_NAME_REPLACEMENTS.get(key, key)]))
    return ",".join(spelt)


def _is_key(said: str) -> bool:
    *modifiers, key = _parts(said)
    character = key_to_character(REPLACED_KEYS.get(key, key)) or ""
    return set(modifiers) <= _MODIFIERS and (key in _NAMED or (character != "" and character.isprintable()))


def _parts(key: str) -> list[str]:
    """Modifiers and the key itself: ``ctrl``, ``d``."""
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
