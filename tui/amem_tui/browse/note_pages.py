"""The pages of the open note: its words, links, similar notes, history, sources, and why it was found."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from textual.content import Content

from amem.errors import NoteNotFound
from amem.labels import counted
from amem.note import Enrichment, Status
from amem.rendering import standing_text
from amem.retrieval.expansion import READS, ground, resting
from amem.retrieval.explanation import ordinal, passage
from amem_tui.browse.note_markdown import parts_of
from amem_tui.formatting import (
    GLYPHS,
    SIGNS,
    author,
    clean,
    command,
    day,
    link_words,
    maker,
    moment,
    one_line,
    title,
    titles_of,
)
from amem_tui.history.history_room import compared
from amem_tui.page import Block, Rule, ToNote, ToVersion, Unfold, entry, labelled, leading, remark, space

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from datetime import tzinfo

    from amem.memory_system import AgenticMemorySystem
    from amem.note import Fact, Link, MemoryNote, Source
    from amem.query import Query
    from amem.retrieval.expansion import Ancestor
    from amem.retrieval.explanation import Explanation
    from amem.storage.links import Surroundings
    from amem.storage.note_lists import Card
    from amem.storage.operations import Version
    from amem_tui.page import Part


@dataclass(frozen=True, slots=True)
class OpenedNote:
    """A note of a `catalog` ('': of the open collection), how much there is around it, and what is unfolded.

    Of a hit `question` is what was asked, and `found` says why it was found; both are '' without a search.
    """

    note: MemoryNote
    around: Surroundings
    zone: tzinfo
    catalog: str = ""
    question: Query | str = ""
    found: str = ""
    unfolded: AbstractSet[str] = frozenset()

    @property
    def counts(self) -> dict[str, int]:
        """How many things lie on the pages of the pane, by the name of the tab; one version is none to speak of."""
        around = self.around
        return {
            "links": around.links,
            "backlinks": around.backlinks,
            "history": self.note.version if self.note.version > 1 else 0,
            "sources": around.sources,
        }


def load_note(memory: AgenticMemorySystem, id: str, zone: tzinfo) -> OpenedNote | None:
    """A note with what is around it; None when there is no such note."""
    note = memory.read(id)
    if note is None:
        return None
    try:
        return OpenedNote(note, memory.surroundings(id), zone, memory.catalog_of(id))
    except NoteNotFound:  # purged between the two reads
        return None


_EDGE = Content.styled("│ ", "$foreground 25%")
#: Of a list no more are shown; who wants all asks for them elsewhere.
MOST = 300


def bar(share: float, width: int = 10) -> Content:
    """A bar for a share of 0..1; what exceeds 1 fills it."""
    full = max(0, min(width, round(share * width)))
    return Content.assemble(("▰" * full, "$primary"), ("▱" * (width - full), "$foreground 25%"))


def card_title(card: Card | None, id: str, width: int = 90) -> Content:
    """The title of a note at the other end of something; of one that is not active dimmed, with its status."""
    if card is None:
        return Content.styled(f"{one_line(id, 12)} is not here", "$muted italic")
    name = one_line(title(card.text), width)
    if card.status is Status.ACTIVE:
        return Content(name)
    return Content.assemble((name, "$muted strike"), (f" {card.status}", "$muted italic"))


_VOICES = {"person": "in a person's words", "agent": "in an agent's", "machine": "concluded by a model or a rule"}


def mark(field: str, asked: OpenedNote, owned: Mapping[str, str]) -> Content:
    """The sign of whose words a field's are, and a blank; `owned` is what `memory.owned_fields` says."""
    how = owned.get(field)
    who = "person" if how == "edited" else author(asked.around.author) if how == "given" else "machine"
    sign, colour = SIGNS[who]
    return Content.styled(f"{sign} ", colour)


_LONG = 600
_ENTRIES = 8


def read_note(memory: AgenticMemorySystem, asked: OpenedNote) -> list[Part]:
    """The note's words, and below them all that is known about it."""
    note = asked.note
    parts: list[Part] = [_head(asked), *_status(memory, note), space()]
    words = standing_text(note.content, note.overturned)
    parts += parts_of(words, lambda names: memory.named(names, note.id))
    about = list(_about(memory, asked))
    used = "".join(part.text.plain[:2] for part in about)
    signs = [(*sign, _VOICES[who]) for who, sign in SIGNS.items() if sign[0] in used]
    legend = [Content.assemble((f"{sign} ", colour), (words, "$muted")) for sign, colour, words in signs]
    return [*parts, space(), Rule(), *about, space(), Block(Content("   ").join(legend))]


def _head(asked: OpenedNote) -> Block:
    note, catalog = asked.note, asked.catalog
    facts = [
        *([Content.styled(f"catalog {one_line(catalog, 30)}", "$accent")] if catalog else []),
        Content.styled(f"{GLYPHS[note.kind]} {note.kind}", "$secondary"),
        Content.styled(moment(note.at, asked.zone), "$muted"),
        *([Content.styled(one_line(note.speaker, 30), "$foreground")] if note.speaker else []),
        maker(asked.around.author),
        Content.styled(str(note.layer).replace("_", "-"), "$muted"),
        *([Content.styled("▪ pinned", "$accent")] if note.pinned else []),
    ]
    # Each stays on one line.
    whole = [Content(fact.plain.replace(" ", "\u00a0"), spans=list(fact.spans)) for fact in facts]
    return Block(Content("   ").join(whole))


def _status(memory: AgenticMemorySystem, note: MemoryNote) -> Iterator[Part]:
    """Why the note is not current, or may be out of date."""
    flags = memory.flags(note.id)
    named = [*([note.superseded_by] if note.superseded_by else []), *(flag.because for flag in flags)]
    cards = memory.cards_of(named) if named else {}
    if note.status is Status.SUPERSEDED:
        yield _warned("Superseded", " by ", note.superseded_by, cards)
    elif note.status is not Status.ACTIVE:
        faded = ": faded out of searches; it comes back when it is used twice" * (note.status is Status.ARCHIVED)
        yield remark(f"{note.status.capitalize()}{faded}", "$warning")
    leaning = {flag.id for flag in memory.doubted()} if flags else set()
    for flag in flags:
        said = "May be out of date" if flag.id in leaning else "Disputed, to be decided in Review (r)"
        yield _warned(f"{said}: {one_line(flag.reason, 200)}", " — ", flag.because, cards)
    work, enrich = (command(memory.settings, each) for each in ("work", "enrich"))
    if note.enrichment is Enrichment.PENDING:
        yield remark(f"Not analysed yet: {work} or {enrich} does it. It can be found already.", "$warning")
    elif note.enrichment is Enrichment.DEGRADED:
        yield remark(f"The model failed on this note, so only rules read it: {enrich} tries again.", "$warning")


def _warned(said: str, between: str, id: str | None, cards: Mapping[str, Card]) -> Block:
    if id is None:
        return remark(said, "$warning")
    name = leading(card_title(cards.get(id), id).stylize("underline"), ToNote(id))
    return Block(Content.assemble((said, "$warning"), (between, "$muted"), name))


def _about(memory: AgenticMemorySystem, asked: OpenedNote) -> Iterator[Block]:
    note = asked.note
    try:
        owned: Mapping[str, str] = memory.owned_fields(note.id)
        strength = memory.strength(note.id)
    except NoteNotFound:  # it went while this was read; whoever shows the page hears of that soon
        return
    if asked.found:
        yield labelled("found", Content(asked.found))
    for name, words in (
        ("context", one_line(note.context, _LONG)),
        ("keywords", one_line(", ".join(note.keywords), _LONG)),
        ("tags", one_line("  ".join(f"#{tag}" for tag in note.tags), _LONG)),
        ("entities", one_line(", ".join(note.entities), _LONG)),
        ("kind", str(note.kind)),
    ):
        if words:
            yield labelled(name, mark(name, asked, owned) + Content(words))
    for number, fact in enumerate(note.facts):
        yield labelled("" if number else "facts", mark("facts", asked, owned) + _fact(fact, note, asked.zone))
    ends = [f"{word} {moment(at, asked.zone)}" for word, at in (("from", note.valid_from), ("to", note.valid_to)) if at]
    if ends:
        yield labelled("valid", Content(" ".join(ends)))
    more = "strength" in asked.unfolded
    shown = Content.assemble(bar(strength.value), f" {strength.value:.2f} ", ("▾" if more else "▸ why", "$muted"))
    yield labelled("strength", leading(shown, Unfold("strength")))
    if more:
        yield labelled("", Content.styled(", ".join(strength.inputs), "$muted"))
    yield labelled("trust", Content.assemble(bar(note.trust), f" {note.trust:.2f}"))
    if note.analyst:
        by = "summed up by " if "episode" in note.metadata else "by "
        yield labelled("analysed", Content.assemble(by, maker(note.analyst)))
    recorded = f", recorded {moment(note.recorded_at, asked.zone)}, version {note.version}"
    yield labelled("written", Content.assemble("by ", maker(asked.around.author), recorded))
    if note.retrieval_count:
        yield labelled("recalled", Content(counted(note.retrieval_count, "time")))
    if note.conversation_id:
        turn = f", turn {note.ordinal}" if note.ordinal is not None else ""
        yield labelled("conversation", Content(f"{one_line(note.conversation_id, 60)}{turn}"))
    if note.category and note.category != "Uncategorized":
        yield labelled("category", mark("category", asked, owned) + Content(one_line(note.category, 100)))
    for name, value in list(note.metadata.items())[:_ENTRIES]:
        yield labelled(one_line(name, 10), Content(one_line(str(value), _LONG)))
    yield labelled("id", Content.styled(one_line(note.id, 200), "$muted"))


def _fact(fact: Fact, note: MemoryNote, zone: tzinfo) -> Content:
    """``Ana lives in Lisbon, since 2026-03-01``."""
    words = " ".join(part for part in (fact.subject, fact.predicate.replace("_", " "), fact.object) if part)
    since, until = fact.valid_from or note.valid_from, fact.valid_to or note.valid_to
    times = [f"since {moment(since, zone)[:10]}"] if since else []
    times += [f"until {moment(until, zone)[:10]}"] if until else []
    head = Content("") if fact.holds else Content.styled("no longer true: ", "$warning")
    return Content.assemble(head, one_line(words, 300), (f"  {', '.join(times)}" if times else "", "$muted"))


def read_links(memory: AgenticMemorySystem, asked: OpenedNote, *, back: bool = False) -> list[Part]:
    """What the note links to, or `back` what links to it."""
    links = memory.backlinks(asked.note.id) if back else memory.links(asked.note.id)
    if not links:
        return [remark("No note links here." if back else "No note is linked from here. + links one.")]
    ends = [link.source if back else link.target for link in links]
    cards = memory.cards_of(list(dict.fromkeys(ends[:MOST])))
    found: list[Part] = []
    for link, end in zip(links[:MOST], ends, strict=False):
        head = Content.styled(f"{link_words(link.type)} {'←' if back else '→'} ", "$secondary")
        sure = "" if link.confidence >= 1 else f"  {link.confidence:.0%} sure"
        weight = "" if abs(link.weight - 1) < 0.005 else f"  weight {link.weight:.2f}"
        found.append(entry(head + card_title(cards.get(end), end), ToNote(end, link), _made(link, f"{sure}{weight}")))
    return [*found, *_others(len(links), "link")]


def _made(link: Link, how: str = "") -> Content:
    """``◆ rules  90% sure  both are about tea``: who made a link, and why."""
    reason = f"  {one_line(link.reason, 200)}" if link.reason else ""
    return Content.assemble(maker(link.made_by), (f"{how}{reason}", "$muted"))


def _others(count: int, what: str) -> list[Part]:
    """How many more there are than are shown."""
    return [remark(f"and {counted(count - MOST, f'more {what}')}")] if count > MOST else []


_SHOWN = 20
_NOTHING_NEAR = """Nothing to compare with yet.

This note is alone, or has no vector: the embedding model was not there when it was stored. {} says which, and {} makes
the vectors that are missing."""


def read_similar(memory: AgenticMemorySystem, asked: OpenedNote) -> list[Part]:
    found = memory.similar(asked.note.id, _SHOWN)
    if not found:
        said = _NOTHING_NEAR.format(*(command(memory.settings, each) for each in ("doctor", "reindex")))
        return [remark(line) for line in said.replace("makes\n", "makes ").splitlines()]
    return [
        entry(
            Content.assemble((f"{cosine:.2f} ", "bold"), bar(cosine, 5), " ", card_title(card, card.id)),
            ToNote(card.id),
            Content.styled(f"{GLYPHS[card.kind]} {card.kind}   {day(card.at, asked.zone)}", "$muted"),
        )
        for card, cosine in found
    ]


_AROUND = 80


def read_history(memory: AgenticMemorySystem, asked: OpenedNote) -> list[Part]:
    """What came of the note since it was written, its newest version first."""
    versions = sorted(memory.history(asked.note.id), key=lambda each: -each.version)
    titles = titles_of(memory, (end for each in versions[:MOST] for end in each.changes.get("superseded_by", ())))
    parts = [part for each in versions[:MOST] for part in _version(each, asked, titles)]
    return [*parts, *_others(len(versions), "version")]


def _version(each: Version, asked: OpenedNote, titles: dict[str, str]) -> Iterator[Part]:
    when = (f"  {moment(each.at, asked.zone)}  ", "$muted")
    head = Content.assemble((f"v{each.version}", "bold"), when, maker(each.actor))
    why = f"{each.action}: {one_line(each.cause)}" if each.cause else each.action
    yield entry(head, ToVersion(each.version), Content.styled(why, "$muted"))
    # The first version records only that the note came to be; its text is what the first page shows.
    if each.version > 1:
        for change in compared(each.changes, asked.zone, titles, around=_AROUND):
            yield Block(Content.styled(change.name, "$secondary"), first=Content("  "), rest=Content("  "))
            yield Block(change.both, first=Content("    "), rest=Content("    "))
    yield space()


_TEXT = 8_000


def read_sources(memory: AgenticMemorySystem, asked: OpenedNote) -> list[Part]:
    note = asked.note
    found = memory.sources([note.id]).get(note.id, [])
    if not found:
        return [remark("Written directly; there is no source behind it.")]
    parts = [part for source in found[:MOST] for part in _source(source, asked, note)]
    return [*parts, *_others(len(found), "source")]


def _source(source: Source, asked: OpenedNote, note: MemoryNote) -> Iterator[Part]:
    where = [source.kind if source.speaker else None, source.conversation, source.ref]
    head = Content.assemble(
        (one_line(source.speaker, 40) if source.speaker else one_line(source.kind, 40), "bold $secondary"),
        (f"  {moment(source.at, asked.zone)}" if source.at else "", "$muted"),
        (f"  {one_line(' '.join(part for part in where if part), 80)}", "$muted"),
    )
    yield Block(head)
    yield Block(_quoted(source.text, note), first=_EDGE, rest=_EDGE)
    yield space()


def _quoted(text: str, note: MemoryNote) -> Content:
    """The text with the sentence that says most of what the note says."""
    shown = clean(text)
    left = len(shown) - _TEXT
    shown = shown[:_TEXT]
    quoted = Content(shown)
    if shown.strip() != clean(note.content).strip():
        said = passage(shown, [note.content[:400], *note.keywords, *note.entities])
        if said.end - said.start < len(shown.strip()):
            quoted = quoted.stylize("$text-accent", said.start, said.end)
    return quoted + Content.styled(f" … {left:,} characters more", "$muted") if left > 0 else quoted


_NO_GROUND = """No link says what this note rests on.

Search (/) and this page tells why the note is found, leg by leg."""
_DEPTH = 5


def read_why(memory: AgenticMemorySystem, asked: OpenedNote) -> list[Part]:
    """The explanation of a hit, or the ground of a note."""
    if asked.question:
        why = memory.explain(asked.question, asked.note.id)
        named = [lent.id for leg in why.legs for lent in leg.lent] + [step.from_id for step in why.via]
        named += why.kept_out.by if why.kept_out is not None else ()
        return list(_explained(why, memory.cards_of(list(dict.fromkeys(named)))))
    found = memory.ancestors(asked.note.id, _DEPTH)
    if not found:
        return [remark(line) for line in _NO_GROUND.splitlines()]
    below: dict[str, list[tuple[Link, Ancestor | None]]] = {}
    for each in found[:MOST]:
        below.setdefault(each.before, []).append((each.link, each))
    for link in (link for each in found[:MOST] for link in each.also):
        below.setdefault(resting(link), []).append((link, None))
    cards = memory.cards_of([each.id for each in found[:MOST]])
    return [remark("It rests on", "bold $primary"), *_tree(asked.note.id, below, cards)]


def _tree(
    root: str, below: Mapping[str, Sequence[tuple[Link, Ancestor | None]]], cards: Mapping[str, Card]
) -> Iterator[Part]:
    """What is nearest first, and below each what that rests on in turn; what several rest on is told once."""
    waiting = [(link, each, 0) for link, each in reversed(below.get(root, ()))]
    while waiting:
        link, each, hop = waiting.pop()
        other = ground(link)
        head = Content.assemble((f"{READS[link.type]} ", "$secondary"), card_title(cards.get(other), other))
        told = Content.styled("shown above or below", "$muted italic") if each is None else _made(link)
        yield entry(head, ToNote(other), told, indent=2 * hop)
        if each is not None:
            waiting += [(link, under, hop + 1) for link, under in reversed(below.get(other, ()))]


def _explained(why: Explanation, cards: Mapping[str, Card]) -> Iterator[Part]:
    place = "" if why.place is None else f"{ordinal(why.place)} of {why.among:,}" if why.among else ordinal(why.place)
    if why.kept_out is not None:
        yield remark(f"Not among the hits: {clean(why.kept_out.detail)}", "$warning")
        for id in why.kept_out.by:
            yield entry(card_title(cards.get(id), id), ToNote(id))
    else:
        yield Block(Content.assemble((f"{why.score:.2f} ", "bold"), bar(why.score), (f"  {place}", "$muted")))
    part = why.passage
    # As long as it was, so that its marks stay where they are.
    text = Content("".join(char if char.isprintable() else " " for char in part.text))
    if part.text:
        for start, end in part.spans:
            text = text.stylize("bold $accent", start, end)
        before = "… " if why.content[: part.start].strip() else ""
        after = " …" if why.content[part.end :].strip() else ""
        yield Block(Content.assemble((before, "$muted"), text, (after, "$muted")), first=_EDGE, rest=_EDGE)
    shares, linked = why.shares, why.linked_share
    most = max([*(share for _, share in shares), linked, 1e-9])
    yield space()
    for leg, share in shares:
        detail = leg.detail().split("; ")[0] if leg.matched else leg.detail()
        sum_of = f" ({leg.scaled:.2f} × {leg.weight:.2f})" if leg.speaks else ""
        rank = "" if leg.rank is None else ordinal(leg.rank)
        yield _row(leg.head, rank, share, most, one_line(f"{detail}{sum_of}", 200))
        for lent in leg.lent:
            said = Content.assemble((f"{lent.where()}: ", "$muted"), card_title(cards.get(lent.id), lent.id))
            yield entry(said, ToNote(lent.id), indent=6)
    if why.via:
        yield _row("links", "", linked, most, clean(why.via[0].words()))
        for step in why.via:
            yield entry(card_title(cards.get(step.from_id), step.from_id), ToNote(step.from_id), indent=6)
    if why.place is not None:
        told = f"  (freshness: {', '.join(why.prior.told())})"
        total = f"{why.relevance:.3f} × freshness {why.prior.factor:.3f} = "
        yield space()
        yield Block(Content.assemble((total, "$muted"), (f"{why.score:.3f}", "bold"), (told, "$muted")))
    if why.reading is not None and (words := why.reading.words()):
        yield from (space(), remark(clean(words)))
    for note in why.notes:
        yield remark(clean(f"{note[:1].upper()}{note[1:]}."))


def _row(head: str, rank: str, share: float, most: float, detail: str) -> Block:
    """Who gave how much of the score, and for what."""
    figure = f"{share:.3f}" if share > 0 else "  ·  "
    first = Content.assemble((f"{head:<8}", "$secondary"), (f"{rank:>5} ", "$muted"), figure, " ", bar(share / most, 6))
    return Block(Content.assemble(first, ("  ", ""), (detail, "$muted")), rest=Content(" " * 6))


if TYPE_CHECKING:
    #: Reads a page of what is asked for, in a thread.
    Reader = Callable[[AgenticMemorySystem, OpenedNote], list[Part]]

_PAGES: Mapping[str, tuple[tuple[str, ...], Reader]] = {
    "note": (("Note",), read_note),
    "links": (("Links",), read_links),
    "backlinks": (("Backlinks", "Linked"), partial(read_links, back=True)),
    "similar": (("Similar", "Sim"), read_similar),
    "history": (("History", "Hist"), read_history),
    "sources": (("Sources", "Source", "Src"), read_sources),
    "why": (("Why",), read_why),
}
NAMES = {id: forms for id, (forms, _) in _PAGES.items()}
READERS = {id: reader for id, (_, reader) in _PAGES.items()}
