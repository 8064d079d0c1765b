"""Markdown within a paragraph: emphasis, code, links and ``[[links]]``, and how the parser is set up for them."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

from markdown_it import MarkdownIt
from textual.content import Content

from amem.interop.wikilinks import wikilink_at
from amem_tui.browse.pane.aims import Address, Aim, Named, ToNote
from amem_tui.browse.pane.leaf import Place
from amem_tui.phrases import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

_LINK = "$primary underline"
_NOWHERE = "$muted italic"
_MARKS = {"em": "italic", "strong": "bold", "s": "strike"}


def parser(deepest: int) -> MarkdownIt:
    """One that nests no more than so many levels deep."""
    # No words of a note may be hidden from whoever reads it: neither as HTML nor as the definition of a reference.
    made = MarkdownIt("gfm-like", {"html": False, "maxNesting": deepest}).disable("reference")
    made.inline.ruler.before("link", "wikilink", _wikilink)
    return made


def names(tokens: Sequence[Token]) -> Iterator[str]:
    """The names that links of the text go by."""
    for token in tokens:
        for child in token.children or ():
            aim = _leads_to(str(child.attrs.get("href", ""))) if child.type == "link_open" else None
            if child.type == "wikilink":
                yield str(child.meta["target"])
            elif isinstance(aim, Named):
                yield aim.name


def inline(token: Token, meant: Mapping[str, str | None]) -> tuple[Content, tuple[Place, ...]]:
    """The text of one inline token and the places in it that lead elsewhere.

    `meant` has ids of notes by name, None for a name that means no note; others were not looked up.
    """
    parts: list[Content | str | tuple[str, str]] = []
    places: list[Place] = []
    styles: list[str] = []
    opened: list[tuple[int, Aim]] = []
    at = 0

    def say(text: str, *more: str) -> None:
        nonlocal at
        shown = clean(text)  # again, since a number in the text (&#8238;) may have stood for a character
        parts.append((shown, " ".join([*styles, *more])))
        at += len(shown)

    for child in token.children or ():
        mark = child.type.rpartition("_")[0]
        if child.type in ("text", "text_special", "html_inline"):
            say(child.content)
        elif child.type == "softbreak":
            say(" ")
        elif child.type == "hardbreak":
            say("\n")
        elif child.type == "code_inline":
            say(child.content, "$accent")
        elif child.type == "wikilink":
            start, aim = at, _known(Named(str(child.meta["target"])), meant)
            say(child.content, _NOWHERE if _nowhere(aim, meant) else _LINK)
            if _nowhere(aim, meant):
                say("?", "$warning")
            places.append(Place(start, at, aim))
        elif child.type == "image":
            start = at
            say(f"▣ {child.content or 'image'}", "$secondary")
            if url := str(child.attrs.get("src", "")):
                places.append(Place(start, at, _leads_to(url)))
        elif child.type == "link_open":
            aim = _known(_leads_to(str(child.attrs.get("href", ""))), meant)
            opened.append((at, aim))
            styles.append(_NOWHERE if _nowhere(aim, meant) else _LINK)
        elif child.type == "link_close":
            start, aim = opened.pop()
            styles.pop()
            if _nowhere(aim, meant):
                say("?", "$warning")
            if at > start:
                places.append(Place(start, at, aim))
        elif mark in _MARKS:
            if child.nesting > 0:
                styles.append(_MARKS[mark])
            else:
                styles.pop()
        elif child.content:
            say(child.content)
    return Content.assemble(*parts), tuple(places)


def _known(aim: Aim, meant: Mapping[str, str | None]) -> Aim:
    """The note that a name means, where it means one."""
    id = meant.get(aim.name) if isinstance(aim, Named) else None
    return aim if id is None else ToNote(id)


def _nowhere(aim: Aim, meant: Mapping[str, str | None]) -> bool:
    """Whether it is a name that means no note."""
    return isinstance(aim, Named) and aim.name in meant


def _leads_to(url: str) -> Aim:
    """A relative link to a Markdown file names a note, as it does in a vault; all else is an address outside."""
    bare = url.partition("#")[0]
    if "://" not in bare and bare.lower().endswith((".md", ".markdown")):
        return Named(clean(unquote(bare)))
    return Address(clean(url))


def _wikilink(state: StateInline, silent: bool) -> bool:
    """A rule of the parser: ``[[name]]``, by the rules an import reads it by."""
    if not state.src.startswith("[[", state.pos):
        return False
    found = wikilink_at(state.src, state.pos)
    if found is None or found.end > state.posMax:
        return False
    if not silent:
        token = state.push("wikilink", "", 0)
        token.content, token.meta = found.words, {"target": found.target}
    state.pos = found.end
    return True
