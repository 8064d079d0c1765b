"""The first page: the note's words, and all that is known about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from amem.errors import NoteNotFound
from amem.note import Enrichment, Status
from amem.rendering import standing_text
from amem_tui.browse.pane.aims import ToNote, Unfold
from amem_tui.browse.pane.entries import bar, card_title, field, say, space
from amem_tui.browse.pane.leaf import Block, Place, Rule
from amem_tui.browse.pane.markdown import parts_of
from amem_tui.browse.pane.ownership import legend, mark
from amem_tui.command_line import command
from amem_tui.phrases import GLYPHS, clean, maker, moment, one_line, plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import tzinfo

    from amem.memory_system import AgenticMemorySystem
    from amem.note import Fact, MemoryNote
    from amem.storage.cards import Card
    from amem_tui.browse.pane.asked import Asked
    from amem_tui.browse.pane.leaf import Part

_LONG = 600
_ENTRIES = 8


def read(memory: AgenticMemorySystem, asked: Asked, *, text: str | None = None) -> list[Part]:
    """The page. `text` shows only these words of the note, its beginning, and leaves the rest for later."""
    note = asked.note
    parts: list[Part] = [_head(asked), *_standing(memory, note), space()]
    words = standing_text(note.content if text is None else text, note.overturned)
    parts += parts_of(words, lambda names: memory.named(names, note.id))
    if text is not None:
        return [*parts, space(), say("…")]
    about = list(_about(memory, asked))
    used = "".join(part.text.plain[:2] for part in about)
    return [*parts, space(), Rule(), *about, space(), Block(legend(used))]


def _head(asked: Asked) -> Block:
    note = asked.note
    facts = [
        Content.styled(f"{GLYPHS[note.kind]} {note.kind}", "$secondary"),
        Content.styled(moment(note.at, asked.zone), "$muted"),
        *([Content.styled(one_line(note.speaker, 30), "$foreground")] if note.speaker else []),
        maker(asked.dossier.around.author),
        Content.styled(str(note.layer).replace("_", "-"), "$muted"),
        *([Content.styled("▪ pinned", "$accent")] if note.pinned else []),
    ]
    # Each stays on one line.
    whole = [Content(fact.plain.replace(" ", "\u00a0"), spans=list(fact.spans)) for fact in facts]
    return Block(Content("   ").join(whole))


def _standing(memory: AgenticMemorySystem, note: MemoryNote) -> Iterator[Part]:
    """What keeps the note from speaking for the present, or casts doubt on it."""
    flags = memory.flags(note.id)
    named = [*([note.superseded_by] if note.superseded_by else []), *(flag.because for flag in flags)]
    cards = memory.cards_of(named) if named else {}
    if note.status is Status.SUPERSEDED:
        yield _warned("Superseded", " by ", note.superseded_by, cards)
    elif note.status is not Status.ACTIVE:
        what = {Status.ARCHIVED: "Archived: faded out of searches; it comes back when it is used twice"}
        yield say(what.get(note.status, f"{note.status}".capitalize()), "$warning")
    leaning = {flag.id for flag in memory.doubted()} if flags else set()
    for flag in flags:
        said = "May be out of date" if flag.id in leaning else "Disputed, to be decided in Review (r)"
        yield _warned(f"{said}: {one_line(flag.reason, 200)}", " — ", flag.because, cards)
    if note.enrichment is Enrichment.PENDING:
        work, enrich = (command(memory.settings, each) for each in ("work", "enrich"))
        yield say(f"Not analysed yet: {work} or {enrich} does it. It can be found already.", "$warning")
    elif note.enrichment is Enrichment.DEGRADED:
        enrich = command(memory.settings, "enrich")
        yield say(f"The model failed on this note, so only rules read it: {enrich} tries again.", "$warning")


def _warned(said: str, between: str, id: str | None, cards: Mapping[str, Card]) -> Block:
    if id is None:
        return say(said, "$warning")
    lead = Content.assemble((said, "$warning"), (between, "$muted"))
    name = card_title(cards.get(id), id).stylize("underline")
    return Block(lead + name, (Place(len(lead), len(lead) + len(name), ToNote(id)),))


def _about(memory: AgenticMemorySystem, asked: Asked) -> Iterator[Block]:
    note, dossier = asked.note, asked.dossier
    try:
        owned: Mapping[str, str] = memory.owned_fields(note.id)
        strength = memory.strength(note.id)
    except NoteNotFound:  # it went while this was read; whoever shows the page hears of that soon
        return
    if asked.found:
        yield field("found", Content(asked.found))
    for name, words in (
        ("context", one_line(note.context, _LONG)),
        ("keywords", one_line(", ".join(note.keywords), _LONG)),
        ("tags", one_line("  ".join(f"#{tag}" for tag in note.tags), _LONG)),
        ("entities", one_line(", ".join(note.entities), _LONG)),
        ("kind", str(note.kind)),
    ):
        if words:
            yield field(name, mark(name, dossier, owned) + Content(words))
    for number, fact in enumerate(note.facts):
        yield field("" if number else "facts", mark("facts", dossier, owned) + _fact(fact, note, asked.zone))
    if note.valid_from or note.valid_to:
        yield field("valid", Content(_span(note, asked.zone)))
    more = "strength" in asked.unfolded
    shown = Content.assemble(bar(strength.value), f" {strength.value:.2f} ", ("▾" if more else "▸ why", "$muted"))
    yield field("strength", shown, [Place(0, len(shown), Unfold("strength"))])
    if more:
        yield field("", Content.styled(strength.words().partition(" (")[2].rstrip(")"), "$muted"))
    yield field("trust", Content.assemble(bar(note.trust), f" {note.trust:.2f}"))
    if note.analyst:
        by = "summed up by " if "episode" in note.metadata else "by "
        yield field("read", Content.assemble(by, maker(note.analyst)))
    yield field("written", Content.assemble("by ", maker(dossier.around.author), f", {_recorded(note, asked.zone)}"))
    if note.retrieval_count:
        yield field("recalled", Content(plural(note.retrieval_count, "time")))
    if note.conversation_id:
        turn = f", turn {note.ordinal}" if note.ordinal is not None else ""
        yield field("conversation", Content(f"{one_line(note.conversation_id, 60)}{turn}"))
    if note.category and note.category != "Uncategorized":
        yield field("category", mark("category", dossier, owned) + Content(one_line(note.category, 100)))
    for name, value in list(note.metadata.items())[:_ENTRIES]:
        yield field(one_line(name, 10), Content(one_line(str(value), _LONG)))
    yield field("id", Content.styled(one_line(note.id, 200), "$muted"))


def _fact(fact: Fact, note: MemoryNote, zone: tzinfo) -> Content:
    """``Ana lives in Lisbon, since 2026-03-01``."""
    words = " ".join(part for part in (fact.subject, fact.predicate.replace("_", " "), fact.object) if part)
    since, until = fact.valid_from or note.valid_from, fact.valid_to or note.valid_to
    times = [f"since {moment(since, zone)[:10]}"] if since else []
    times += [f"until {moment(until, zone)[:10]}"] if until else []
    head = Content("") if fact.holds else Content.styled("not so: ", "$warning")
    return Content.assemble(head, one_line(words, 300), (f"  {', '.join(times)}" if times else "", "$muted"))


def _span(note: MemoryNote, zone: tzinfo) -> str:
    ends = (("from", note.valid_from), ("to", note.valid_to))
    return " ".join(f"{word} {moment(at, zone)}" for word, at in ends if at is not None)


def _recorded(note: MemoryNote, zone: tzinfo) -> str:
    return clean(f"recorded {moment(note.recorded_at, zone)}, version {note.version}")
