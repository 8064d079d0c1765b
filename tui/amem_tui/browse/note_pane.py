"""The note that is open: its text as Markdown, what analysis made of it, and its links, history and sources in tabs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Markdown, OptionList, Static, TabbedContent, TabPane
from textual.widgets.option_list import Option

from amem_tui.phrases import GLYPHS, clean, maker, moment, one_line, title, version

if TYPE_CHECKING:
    from datetime import tzinfo

    from textual.app import ComposeResult

    from amem.note import Link, MemoryNote, Source
    from amem_tui.browse.dossier import Dossier

_TABS = {"text": "Note", "links": "Links", "backlinks": "Backlinks", "history": "History", "sources": "Sources"}

_ABOUT = ("found", "context", "keywords", "tags", "read", "trust", "id")


class NotePane(Vertical):
    """Shows one dossier at a time."""

    @dataclass
    class Followed(Message):
        """A link was chosen; `id` is the note at its other end."""

        id: str

    def __init__(self, zone: tzinfo, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._zone = zone
        self.dossier: Dossier | None = None

    def compose(self) -> ComposeResult:
        yield Static(id="hint")
        with TabbedContent(id="tabs"):
            with TabPane(_TABS["text"], id="text"), VerticalScroll(id="reading"):
                yield Static(id="head")
                yield Markdown(id="content", open_links=False)
                with Vertical(id="about"):
                    for name in _ABOUT:
                        with Horizontal(classes="field"):
                            yield Static(name, classes="label")
                            yield Static(id=f"about-{name}", classes="value")
            with TabPane(_TABS["links"], id="links"):
                yield OptionList(id="link-list", compact=True)
            with TabPane(_TABS["backlinks"], id="backlinks"):
                yield OptionList(id="backlink-list", compact=True)
            with TabPane(_TABS["history"], id="history"), VerticalScroll():
                yield Static(id="versions")
            with TabPane(_TABS["sources"], id="sources"), VerticalScroll():
                yield Static(id="source-texts")

    def on_mount(self) -> None:
        self.show_hint("")

    def show_hint(self, hint: str) -> None:
        """Show a sentence instead of a note."""
        self.dossier = None
        self.query_one("#hint", Static).update(Content(hint))
        self.set_class(True, "-empty")
        self.border_title = "Note"

    async def show(self, dossier: Dossier, why: str = "") -> None:
        """Show a note, and why it was found if it was; the tab and, for the same note, the place in its text stay."""
        other = self.dossier is None or self.dossier.note.id != dossier.note.id
        self.dossier = dossier
        self.set_class(False, "-empty")
        note = dossier.note
        self.border_title = Content(title(note.content))
        self.query_one("#head", Static).update(_head(note, self._zone))
        for name, said in _about(note, why).items():
            field = self.query_one(f"#about-{name}", Static)
            field.update(said)
            assert field.parent is not None
            field.parent.set_class(not said, "-absent")
        self.query_one("#versions", Static).update(
            Content("\n\n").join([version(each, self._zone) for each in reversed(dossier.history)])
        )
        self.query_one("#source-texts", Static).update(_sources(dossier.sources, self._zone))
        self._fill("link-list", dossier.links, dossier)
        self._fill("backlink-list", dossier.backlinks, dossier)
        self._label(dossier)
        await self.query_one("#content", Markdown).update(clean(note.content))
        if other:
            self.query_one("#reading", VerticalScroll).scroll_home(animate=False)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if event.option_id is not None:
            self.post_message(self.Followed(event.option_id.split(" ", 1)[1]))

    def focus_inside(self) -> None:
        """Give the keyboard to whatever the open tab holds."""
        pane = self.query_one(TabbedContent).active_pane
        inside = pane.query("VerticalScroll, OptionList") if pane is not None else None
        if inside:
            inside.first().focus()

    def _fill(self, name: str, links: tuple[Link, ...], dossier: Dossier) -> None:
        chosen = self.query_one(f"#{name}", OptionList)
        chosen.clear_options()
        for place, link in enumerate(links):
            end = link.target if link.source == dossier.note.id else link.source
            chosen.add_option(Option(_link(link, dossier.titles.get(end)), id=f"{place} {end}"))
        if not links:
            words = "Nothing is linked from here." if name == "link-list" else "Nothing links here."
            chosen.add_option(Option(words, disabled=True))
        else:
            chosen.highlighted = 0

    def _label(self, dossier: Dossier) -> None:
        held = {
            "links": dossier.links,
            "backlinks": dossier.backlinks,
            "history": dossier.history,
            "sources": dossier.sources,
        }
        tabs = self.query_one(TabbedContent)
        for name, items in held.items():
            tabs.get_tab(name).label = Content(f"{_TABS[name]} {len(items)}" if items else _TABS[name])


def _head(note: MemoryNote, zone: tzinfo) -> Content:
    parts = [
        Content.assemble((f"{GLYPHS[note.kind]} {note.kind}", "$secondary")),
        Content.assemble((moment(note.at, zone), "$muted")),
    ]
    if note.speaker:
        parts.append(Content.assemble((one_line(note.speaker, 30), "$muted")))
    if note.pinned:
        parts.append(Content.assemble(("▪ pinned", "$accent")))
    return Content("   ").join(parts)


def _about(note: MemoryNote, why: str) -> dict[str, Content]:
    return {
        "found": Content(why),
        "context": Content(one_line(note.context, 400)),
        "keywords": Content(one_line(", ".join(note.keywords), 400)),
        "tags": Content(one_line("  ".join(f"#{tag}" for tag in note.tags), 400)),
        "read": Content.assemble("by ", maker(note.analyst)) if note.analyst else Content(str(note.enrichment)),
        "trust": Content(f"{note.trust:.2f}"),
        "id": Content.assemble((note.id, "$muted")),
    }


def _link(link: Link, title_there: str | None) -> Content:
    there = (one_line(title_there, 70), "") if title_there is not None else (f"{link.target[:8]} is not here", "$muted")
    head = Content.assemble((f"{link.type}  ", "$secondary"), there)
    reason = f"  {one_line(link.reason)}" if link.reason else ""
    foot = Content.assemble("  ", maker(link.made_by), (reason, "$muted"))
    return Content("\n").join([head, foot])


def _sources(sources: tuple[Source, ...], zone: tzinfo) -> Content:
    if not sources:
        return Content.assemble(("Written directly; there is no source behind it.", "$muted"))
    blocks = []
    for source in sources:
        where = " ".join(part for part in (source.kind, source.conversation, source.ref, source.speaker) if part)
        head = Content.assemble((one_line(where), "bold"), (f"  {moment(source.at, zone)}", "$muted"))
        blocks.append(Content("\n").join([head, Content(clean(source.text))]))
    return Content("\n\n").join(blocks)
