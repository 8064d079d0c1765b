"""Markdown as blocks of a page. Nothing in it is fetched or run: addresses and HTML are text, an image is its name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from markdown_it import MarkdownIt
from textual.content import Content, Span
from textual.highlight import highlight

from amem.interop.wikilinks import wikilink_at
from amem_tui.formatting import clean
from amem_tui.page import Address, Block, Destination, Leads, Named, Part, Rule, Table, ToNote, space

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token


_LINK = "$primary underline"
_NOWHERE = "$muted italic"
_MARKS = {"em": "italic", "strong": "bold", "s": "strike"}
_BREAKS = {"softbreak": " ", "hardbreak": "\n"}


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
            destination = _leads_to(str(child.attrs.get("href", ""))) if child.type == "link_open" else None
            if child.type == "wikilink":
                yield str(child.meta["target"])
            elif isinstance(destination, Named):
                yield destination.name


def inline(token: Token, meant: Mapping[str, str | None]) -> Content:
    """The text of one inline token; `meant` has ids by name, None for a name that means no note."""
    parts: list[Content | str | tuple[str, str]] = []
    places: list[Span] = []
    styles: list[str] = []
    opened: list[tuple[int, Destination, bool]] = []
    at = 0

    def say(text: str, *more: str) -> None:
        nonlocal at
        shown = clean(text)  # again, since a number in the text (&#8238;) may have stood for a character
        parts.append((shown, " ".join([*styles, *more])))
        at += len(shown)

    def leads(start: int, destination: Destination, nowhere: bool = False) -> None:
        say("?" * nowhere, "$warning")
        if at > start:
            places.append(Span(start, at, Leads(destination=destination)))

    for child in token.children or ():
        mark = child.type.rpartition("_")[0]
        if child.type == "wikilink":
            start, (destination, nowhere) = at, _meaning(Named(str(child.meta["target"])), meant)
            say(child.content, _NOWHERE if nowhere else _LINK)
            leads(start, destination, nowhere)
        elif child.type == "image":
            start = at
            say(f"▣ {child.content or 'image'}", "$secondary")
            if url := str(child.attrs.get("src", "")):
                leads(start, _leads_to(url))
        elif child.type == "link_open":
            destination, nowhere = _meaning(_leads_to(str(child.attrs.get("href", ""))), meant)
            opened.append((at, destination, nowhere))
            styles.append(_NOWHERE if nowhere else _LINK)
        elif child.type == "link_close":
            styles.pop()
            leads(*opened.pop())
        elif mark in _MARKS and child.nesting > 0:
            styles.append(_MARKS[mark])
        elif mark in _MARKS:
            styles.pop()
        else:
            say(_BREAKS.get(child.type, child.content), "$accent" if child.type == "code_inline" else "")
    return Content.assemble(*parts).add_spans(places)


def _meaning(destination: Destination, meant: Mapping[str, str | None]) -> tuple[Destination, bool]:
    """The note that a name means, where it means one, and whether it is a name that means none."""
    if not isinstance(destination, Named) or destination.name not in meant:
        return destination, False
    id = meant[destination.name]
    return (destination, True) if id is None else (ToNote(id), False)


def _leads_to(url: str) -> Destination:
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


#: A text longer than this is shown as it was written: nobody reads its formatting, and it would take seconds.
LONGEST = 60_000
_COLOURED = 8_000
#: More names than these are looked up when they are followed, not when the note is opened.
_MOST_NAMES = 200
_HEADINGS = ("bold $primary", "bold $primary", "bold $secondary", "bold $secondary", "bold", "bold")
_BULLETS = "•◦▪"
_LISTS = {"bullet_list_open", "ordered_list_open"}
#: What has an empty line above it.
_APART = {"heading_open", "paragraph_open", "hr", "table_open", "html_block", "blockquote_open", *_LISTS}
_APART |= {"fence", "code_block"}
#: A text nested more deeply, or with more brackets in one paragraph (each of which the parser looks for a partner
#: for), is shown as it was written.
_DEEPEST = 60
_MOST_BRACKETS = 2_000
_STRETCHES = re.compile(r"\n\s*\n|\n(?=\s*\|)")
_TANGLED = "This note is nested too deeply to be laid out; here are its words as they were written."
_TOO_LONG = "This note is too long to be laid out; here are its words as they were written."


def parts_of(
    text: str, named: Callable[[Sequence[str]], Mapping[str, str]] | None = None, *, lead: str = ""
) -> list[Part]:
    """The blocks of a Markdown text; `named` is asked once which notes the names in its links mean, as ids.

    `lead` stands before every line.
    """
    shown = clean(text)
    if len(shown) > LONGEST:
        return _plain(shown, _TOO_LONG, lead)
    if any(stretch.count("[") > _MOST_BRACKETS for stretch in _STRETCHES.split(shown)):
        return _plain(shown, _TANGLED, lead)
    tokens = parser(_DEEPEST + 2).parse(shown)
    if any(token.level >= _DEEPEST for token in tokens):  # what lies deeper the parser leaves out
        return _plain(shown, _TANGLED, lead)
    wanted = list(dict.fromkeys(names(tokens)))[:_MOST_NAMES]
    meant: dict[str, str | None] = {}
    if named is not None and wanted:
        meant = {**dict.fromkeys(wanted), **named(wanted)}
    return list(_Reader(tokens, meant, Content(lead)).read())


def _plain(text: str, why: str, lead: str) -> list[Part]:
    before = Content(lead)
    said = Block(Content.styled(why, "$warning"), before, before)
    return [said, space(), *(Block(Content(line), before, before) for line in text.split("\n"))]


class _Reader:
    """Goes through the parser's tokens once; `first` and `rest` are what stands before the lines of the block."""

    def __init__(self, tokens: Sequence[Token], meant: Mapping[str, str | None], lead: Content) -> None:
        self._tokens, self._meant = iter(tokens), meant
        self._leads = [(lead, lead)]
        self._lists: list[tuple[str, int]] = []
        self._spoken = False

    def read(self) -> Iterator[Part]:
        for token in self._tokens:
            yield from self._block(token)

    def _block(self, token: Token) -> Iterator[Part]:
        if token.type in _APART and not token.hidden and not (token.type in _LISTS and self._lists):
            yield from self._apart()
        match token.type:
            case "heading_open":
                style = _HEADINGS[int(token.tag[1]) - 1]
                yield self._made(inline(next(self._tokens), self._meant).stylize(style))
            case "paragraph_open":
                yield self._made(inline(next(self._tokens), self._meant))
            case "fence" | "code_block":
                yield from self._code(token)
            case "hr":
                yield Rule(self._first())
            case "table_open":
                yield self._table()
            case "html_block":
                yield self._made(Content(token.content.rstrip()))
            case "bullet_list_open" | "ordered_list_open":
                self._spoken = False
                self._lists.append((token.type, int(token.attrs.get("start", 1))))
            case "bullet_list_close" | "ordered_list_close":
                self._lists.pop()
            case "list_item_open":
                kind, number = self._lists[-1]
                self._lists[-1] = (kind, number + 1)
                bullet = _BULLETS[(len(self._lists) - 1) % len(_BULLETS)]
                mark = f"{number}. " if kind == "ordered_list_open" else f"{bullet} "
                self._leads.append((Content.styled(mark, "$secondary"), Content(" " * len(mark))))
            case "blockquote_open":
                bar = Content.styled("▌ ", "$primary 60%")
                self._leads.append((bar, bar))
                self._spoken = False
            case "list_item_close" | "blockquote_close":
                self._leads.pop()

    def _apart(self) -> Iterator[Part]:
        if self._spoken:
            yield Block(Content(), first=self._rest(), rest=self._rest())
        self._spoken = True

    def _made(self, text: Content) -> Block:
        self._spoken = True
        return Block(text, self._first(), self._rest())

    def _first(self) -> Content:
        """What stands before the next line; what marks an item does so once."""
        lead = Content("").join([first for first, _ in self._leads])
        self._leads = [(rest, rest) for _, rest in self._leads]
        return lead

    def _rest(self) -> Content:
        return Content("").join([rest for _, rest in self._leads])

    def _code(self, token: Token) -> Iterator[Part]:
        code = token.content.rstrip("\n")
        language = token.info.split()[0] if token.info.split() else ""
        coloured = bool(language) and len(code) <= _COLOURED
        text = highlight(code, language=language) if coloured else Content(code)
        edge = Content.styled("│ ", "$foreground 25%")
        first, rest = self._first() + edge, self._rest() + edge
        if said := clean(token.info).strip():
            yield Block(Content.styled(said, "$muted italic"), first, rest)
            first = rest
        yield Block(text, first, rest, verbatim=True)

    def _table(self) -> Table:
        rows: list[list[Content]] = []
        right: list[bool] = []
        indent = self._first()
        while (token := next(self._tokens)).type != "table_close":
            if token.type == "tr_open":
                rows.append([])
            elif token.type in ("th_open", "td_open"):
                if token.type == "th_open":
                    right.append("right" in str(token.attrs.get("style", "")))
                rows[-1].append(inline(next(self._tokens), self._meant))
        return Table(tuple(rows[0]), tuple(map(tuple, rows[1:])), tuple(right), indent)
