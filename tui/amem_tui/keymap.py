"""Every key there is, by what it does, and a person's own keys in place of them."""

from __future__ import annotations

import unicodedata
from difflib import get_close_matches
from typing import TYPE_CHECKING

from textual.keys import KEY_NAME_REPLACEMENTS, KEY_TO_UNICODE_NAME, Keys

from amem.errors import InvalidInput
from amem_tui.browse import keys as browse
from amem_tui.chat import keys as chat
from amem_tui.graph import keys as graph
from amem_tui.health import keys as health
from amem_tui.history import keys as history
from amem_tui.log import keys as log
from amem_tui.review import keys as review
from amem_tui.shell import keys as shell
from amem_tui.timeline import keys as timeline

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual.binding import Binding

#: Keys by the room where they work, under the name that their ids begin with; those of ``app`` work in all rooms.
_ROOMS = {
    "app": shell.KEYS,
    "form": shell.FORM_KEYS,
    "collections": shell.COLLECTION_KEYS,
    "browse": browse.KEYS,
    "graph": graph.KEYS,
    "history": history.KEYS,
    "timeline": timeline.KEYS,
    "chat": chat.KEYS,
    "review": review.KEYS,
    "log": log.KEYS,
    "health": health.KEYS,
}
#: What opens above a room, where the app's keys do nothing.
_SHEETS = {"form", "collections"}
_MODIFIERS = {"ctrl", "shift", "alt", "super", "hyper", "meta"}
_NAMED = {key.value.split("+")[-1] for key in Keys}


def every_key() -> dict[str, Binding]:
    """Bindings by id, ``browse.delete``; those of every screen first."""
    return {binding.id: binding for keys in _ROOMS.values() for binding in keys if binding.id is not None}


def room_keys(wanted: Mapping[str, str]) -> dict[str, str]:
    """The key that leads to each room; where there are several, the first."""
    known = every_key()
    rooms = {room: known[f"app.{room}"] for room in _ROOMS if f"app.{room}" in known}
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
    room_of = {binding.id: room for room, keys in _ROOMS.items() for binding in keys}
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
    return ",".join(_name_of(key.strip()) for key in keys.split(","))


def _name_of(key: str) -> str:
    *modifiers, last = key.split("+") if len(key) > 1 else [key]
    if len(last) == 1 and not last.isalnum():
        last = unicodedata.name(last, last).lower().replace("-", "_").replace(" ", "_")
    return "+".join([*modifiers, KEY_NAME_REPLACEMENTS.get(last, last)])


def _is_key(said: str) -> bool:
    key = said.strip()
    if len(key) == 1:
        return key.isprintable()
    *modifiers, last = key.split("+")
    if not set(modifiers) <= _MODIFIERS or not last:
        return False
    return (len(last) == 1 and last.isprintable()) or last in _NAMED or _is_character(last)


def _is_character(name: str) -> bool:
    long = next((full for full, short in KEY_NAME_REPLACEMENTS.items() if short == name), name)
    try:
        unicodedata.lookup(KEY_TO_UNICODE_NAME.get(long, long.replace("_", " ").upper()))
    except KeyError:
        return False
    return True


def _alike(name: str, known: Mapping[str, Binding]) -> str:
    if nearest := get_close_matches(name, known, n=1):
        return f'did you mean "{nearest[0]}"?'
    room, _, last = name.partition(".")
    near = [each for each in known if each.startswith(f"{room}.")] or [
        each for each in known if last and each.endswith(f".{last}")
    ]
    return f"there is {', '.join((near or list(known))[:6])}."
