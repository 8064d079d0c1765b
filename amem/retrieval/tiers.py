"""Read a large collection in tiers: topics' pages, their notes, all notes, the sources."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from amem.language import normalize, query_terms
from amem.note import Kind, LinkType, MemoryNote, Plain, Source, Status
from amem.query import Filter, Query
from amem.retrieval.confidence import share_held, supporting, telling, weights_of
from amem.retrieval.context import Entry, framed, ordered, page_entry, placed, source_entry
from amem.retrieval.ranking import EligibleNotes
from amem.retrieval.router import plain_reading
from amem.retrieval.sufficing import Read, Verdict, Wanted, lines_of, notes_suffice, page_suffices, wanted

if TYPE_CHECKING:
    from amem.llm.tokenizers import Counter
    from amem.retrieval.context import Chosen, ContextBuilder, Found, Placed
    from amem.retrieval.hit import Hit
    from amem.retrieval.recall import Recall
    from amem.storage.store import Session, Store


# What reading from the top came to: topics' pages, their notes, all notes, the sources.
#
# Each tier is read only where the one before did not suffice, and each says what was read, and why it did or did not.

TOPICS, MEMBERS, NOTES, SOURCES = "topics", "members", "notes", "sources"


@dataclass(frozen=True, slots=True)
class Tier:
    """One tier: the ids of what was `read` (pages, notes, or the notes whose sources were), the `tokens` of that,
    whether it sufficed, and why. `judged_by` names the model that said so; '' for the rules."""

    name: str
    read: tuple[str, ...]
    tokens: int
    suffices: bool
    why: str
    judged_by: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """A topic's page as it stands in the text; `stale` says what it does not know yet, '' when nothing."""

    id: str
    name: str
    text: str
    tokens: int
    stale: str = ""


@dataclass(frozen=True, slots=True)
class SourceText:
    """What a note came from, as it stands in the text."""

    note: str
    source: str
    time: str
    speaker: str
    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Tiers(Plain):
    """What was read for `query`, tier by tier, and the `text` that came of it, for a prompt.

    `answered_by` names the tier that sufficed, '' when none did; `pages`, `notes` and `sources` are what stands in the
    text, which takes `tokens`, never more than the `budget`.
    """

    query: str
    text: str
    answered_by: str
    tiers: tuple[Tier, ...]
    pages: tuple[Page, ...]
    notes: tuple[Placed, ...]
    sources: tuple[SourceText, ...]
    tokens: int
    budget: int
    counted_by: str
    exact: bool

    def __str__(self) -> str:
        return self.text


# Reading a large collection from the top: topics' pages first, then their notes, then all notes, then the sources.
#
# Finding is cheap and is done at once. What tiers save is reading, by a model or by a person: each is read only where
# the one before did not suffice (see ``amem.retrieval.sufficing``). A page that does not suffice is not kept, unless
# it is about the subject and merely does not know the newest notes; then these stand below it.

#: Says of a question and the texts read for it whether they suffice, and why; None where it cannot tell.
Judge = Callable[[str, Sequence[str]], tuple[bool, str] | None]

#: Pages looked at; sources looked at beside those of the notes that were read; most tokens of one source.
_PAGES, _SOURCES, _LONGEST = 3, 20, 300
#: The topic's own notes may take the first part of the room, all notes together the second.
_MEMBERS_PART, _NOTES_PART = 0.5, 0.75
#: A page that was written before this many of the best notes arrived may not know of them.
_BEST = 5


@dataclass(frozen=True, slots=True)
class _Page:
    note: MemoryNote
    title: str
    members: frozenset[str]
    stale: str
    wrong: bool
    entry: Entry


@dataclass(frozen=True, slots=True)
class _Source:
    note: MemoryNote
    source: Source
    entry: Entry


@dataclass(slots=True)
class _Progress:
    """How far the reading of one question has come."""

    query: Query
    budget: int
    room: int
    counter: Counter
    asked: Wanted
    frequency: Mapping[str, int]
    total: int
    judge: Judge | None
    model: str
    members: frozenset[str] = frozenset()
    tiers: list[Tier] = field(default_factory=list)
    pages: list[_Page] = field(default_factory=list)
    notes: list[Chosen] = field(default_factory=list)
    sources: list[_Source] = field(default_factory=list)

    @property
    def answered(self) -> bool:
        return bool(self.tiers) and self.tiers[-1].suffices

    @property
    def spent(self) -> int:
        return self.cost(each.entry for held in (self.pages, self.notes, self.sources) for each in held)

    def cost(self, entries: Iterable[Entry]) -> int:
        return sum(self.counter(each.written) + 1 for each in entries)

    def record(self, name: str, read: Sequence[str], entries: Sequence[Entry], rule: Verdict) -> Verdict:
        """Put a tier on record: by the model's word where there is one, and anything to show it, else by the rule."""
        verdict, by = rule, ""
        if self.judge is not None and entries and name != SOURCES:
            said = self.judge(self.query.text, [each.written for each in entries])
            if said is not None:
                verdict, by = Verdict(*said), self.model
        self.tiers.append(Tier(name, tuple(read), self.cost(entries), verdict.suffices, verdict.why, by))
        return verdict


@dataclass(frozen=True, slots=True)
class TierReader:
    """Reads one collection from the top."""

    recall: Recall
    store: Store
    contexts: ContextBuilder

    def read(
        self,
        query: Query,
        budget: int | None,
        counter: Counter,
        *,
        order: str | None = None,
        judge: Judge | None = None,
        model: str = "",
    ) -> Tiers:
        """Read for a question until it suffices, at most `budget` tokens (None: the setting ``context_tokens``).

        `judge` is asked, in the name of `model`, instead of the rules. Raises InvalidInput.
        """
        budget, order = self.contexts.bounds(budget, order)
        room = budget - counter(framed([""]))
        found = self.contexts.find(query, room)
        progress = self._start(query, budget, room, counter, found, judge, model)
        found = replace(found, hits=tuple(hit for hit in found.hits if hit.kind is not Kind.TOPIC))
        if found.hits:
            for tier in (self._topics, self._members, self._others, self._origins):
                tier(progress, found)
                if progress.answered:
                    break
        return self._result(progress, order)

    def _start(
        self, query: Query, budget: int, room: int, counter: Counter, found: Found, judge: Judge | None, model: str
    ) -> _Progress:
        reading = next((hit.explanation.reading for hit in found.hits), None) or plain_reading(query.text)
        asked = wanted(reading)
        with self.store.read() as session:
            frequency = session.text.document_frequency(telling(asked.subject))
            total = session.notes.count()
        return _Progress(query, budget, room, counter, asked, frequency, total, judge, model)

    # -- topics ---------------------------------------------------------------------------------------------------

    def _topics(self, progress: _Progress, found: Found) -> None:
        pages = self._pages(progress, found)
        if not pages:
            progress.record(TOPICS, (), (), Verdict(False, "no topic's page is about this"))
            return
        asked, best = progress.asked, _best(found)
        verdicts = [
            Verdict(False, f"it is stale: {page.stale}")
            if page.stale
            else page_suffices(asked, page.note, best, progress.frequency, progress.total)
            for page in pages
        ]
        place = next((n for n, verdict in enumerate(verdicts) if verdict.suffices), 0)
        page, rule = pages[place], verdicts[place]
        progress.members = page.members
        if page.stale or (asked.detail and progress.judge is None):
            # Nobody needs to read it to know that it does not suffice.
            progress.record(TOPICS, (), (), rule)
        else:
            rule = progress.record(TOPICS, [page.note.id], [page.entry], rule)
        if rule.suffices or (asked.overview and page.stale and not page.wrong):
            progress.pages = [page]
        elif asked.overview and not page.stale:
            # It is about something else, and so are its notes.
            progress.members = frozenset()

    def _pages(self, progress: _Progress, found: Found) -> list[_Page]:
        """The pages that may be read: those about the subject first, and none that tells of what the filter hides."""
        given = progress.query.filter
        if given.as_of is not None or given.known_at is not None or (given.kinds and Kind.TOPIC not in given.kinds):
            return []
        asked = replace(progress.query, k=_PAGES, filter=replace(given, kinds=(Kind.TOPIC,)), expand=False, touch=False)
        hits = self.recall.search(asked)
        with self.store.read() as session:
            notes = session.notes.get_many([hit.id for hit in hits], history=False)
            members = session.links.leading_to(list(notes), LinkType.PART_OF)
            eligible = EligibleNotes(session, replace(given, kinds=()))
            held = []
            for note in notes.values():
                mine = frozenset(members[note.id])
                if given != Filter() and eligible.passing_ids(mine) != mine:
                    continue
                stale, wrong = self._stale(session, note, mine, found)
                written = page_entry(note, _title(note), progress.room, progress.counter, self.contexts.zone)
                if written is not None:
                    held.append(_Page(note, _title(note), mine, stale, wrong, written))
        weights = weights_of(progress.asked.subject, progress.frequency, progress.total)
        about = {page.note.id: share_held(weights, f"{page.title}\n{page.note.content}") for page in held}
        return sorted((page for page in held if about[page.note.id] > 0), key=lambda page: -about[page.note.id])

    def _stale(self, session: Session, page: MemoryNote, members: frozenset[str], found: Found) -> tuple[str, bool]:
        """What a page does not know yet, in words, and whether that makes it wrong; ('', False) for nothing."""
        written = session.operations.history(page.id)[-1].at
        keys = session.notes.keys_of([page.id, *sorted(members)])
        rows = session.notes.columns(list(keys.values()), ("status", "seq"))
        standing = [id for id in members if rows[keys[id]][0] == Status.ACTIVE]
        cited = {cite for line in lines_of(page.content) for cite in line.cites}
        gone = len(members) - len(standing) + sum(not any(id.startswith(cite) for id in members) for cite in cited)
        if gone:
            return f"{gone} of its notes no longer hold", True
        for id in standing:
            if rows[keys[id]][1] > rows[keys[page.id]][1] and any(
                each.at > written and "content" in each.changes for each in session.operations.history(id)[1:]
            ):
                return "one of its notes says something else now", True
        best = supporting(found.hits)
        new = [
            hit.id
            for hit in found.hits[:_BEST]
            if hit.id in best
            and hit.id not in members
            and hit.kind is not Kind.TOPIC
            and (arrived := found.notes[hit.id].recorded_at) is not None
            and arrived > written
        ]
        return (f"{len(new)} of the best notes arrived after it was written" if new else ""), False

    # -- notes ----------------------------------------------------------------------------------------------------

    def _members(self, progress: _Progress, found: Found) -> None:
        # Those of a page that is kept stand on it.
        own = tuple(hit for hit in found.hits if hit.id in progress.members and not progress.pages)
        if own:
            self._notes(progress, MEMBERS, replace(found, hits=own), _MEMBERS_PART)

    def _others(self, progress: _Progress, found: Found) -> None:
        read = {each.hit.id for each in progress.notes} | (progress.members if progress.pages else set())
        rest = replace(found, hits=tuple(hit for hit in found.hits if hit.id not in read))
        self._notes(progress, NOTES, rest, _NOTES_PART)

    def _notes(self, progress: _Progress, name: str, found: Found, part: float) -> None:
        room = int(progress.room * part) - progress.spent
        fresh = self.contexts.choose(found, progress.query.text, room, progress.counter, []) if room > 0 else []
        progress.notes += fresh
        read = [Read.of(each.hit, each.note, each.entry.text) for each in progress.notes]
        rule = notes_suffice(progress.asked, read, progress.frequency, progress.total)
        entries = [each.entry for each in progress.notes]
        progress.record(name, [each.hit.id for each in fresh], entries if fresh else (), rule)

    # -- sources --------------------------------------------------------------------------------------------------

    def _origins(self, progress: _Progress, found: Found) -> None:
        room = progress.room - progress.spent
        weights = weights_of(progress.asked.subject, progress.frequency, progress.total)
        known = {normalize(each.note.content) for each in progress.notes}
        every = [each for each in self._sources(progress, found) if normalize(each[1].text) not in known]
        every.sort(key=lambda each: -share_held(weights, each[1].text))
        words = query_terms(progress.asked.subject)
        for note, source in every:
            entry = source_entry(source, note, words, min(_LONGEST, room - 1), progress.counter, self.contexts.zone)
            if entry is not None:
                progress.sources.append(_Source(note, source, entry))
                room -= progress.cost([entry])
        read = [Read(each.note, each.entry.text, verbatim=True) for each in progress.sources]
        rule = notes_suffice(progress.asked, read, progress.frequency, progress.total)
        if not read:
            rule = Verdict(False, "no source says more than its notes")
        progress.record(
            SOURCES, [each.note.id for each in progress.sources], [each.entry for each in progress.sources], rule
        )

    def _sources(self, progress: _Progress, found: Found) -> list[tuple[MemoryNote, Source]]:
        """The sources of the notes that were found, and others that hold the words, of notes that may answer."""
        pairs = {source.id: (found.notes[hit.id], source) for hit in found.hits for source in hit.sources}
        with self.store.read() as session:
            more = session.sources.search(query_terms(progress.asked.subject), _SOURCES)
            made = session.sources.notes_of([source.id for source in more])
            eligible = EligibleNotes(session, progress.query.filter)
            notes = session.notes.get_many(sorted(eligible.passing_ids(made.values())), history=False)
        for source in more:
            if source.id not in pairs and (note := notes.get(made.get(source.id, ""))) is not None:
                pairs[source.id] = note, source
        return list(pairs.values())

    # -- the result -----------------------------------------------------------------------------------------------

    def _result(self, progress: _Progress, order: str) -> Tiers:
        counter = progress.counter
        while True:
            notes = ordered(progress.notes, order)
            entries = [each.entry for held in (progress.pages, notes, progress.sources) for each in held]
            text = framed([each.written for each in entries])
            size = counter(text) if text else 0
            if size <= progress.budget or not entries:
                break
            # What a tokenizer makes of the whole can be a token or two more than of the parts.
            (progress.notes or progress.sources or progress.pages).pop()
        used = [each.hit.id for each in notes] + [each.note.id for each in progress.sources]
        if progress.query.touch and used:
            self.recall.opened(list(dict.fromkeys(used)))
        return Tiers(
            query=progress.query.text,
            text=text,
            answered_by=progress.tiers[-1].name if progress.answered else "",
            tiers=tuple(progress.tiers),
            pages=tuple(
                Page(each.note.id, each.title, each.entry.text, counter(each.entry.written), each.stale)
                for each in progress.pages
            ),
            notes=tuple(placed(each, counter) for each in notes),
            sources=tuple(_source_text(each, counter) for each in progress.sources),
            tokens=size,
            budget=progress.budget,
            counted_by=counter.name,
            exact=counter.exact,
        )


def _best(found: Found) -> Hit | None:
    """The note that answers best: one that states what is asked before any other."""
    stating = [hit for hit in found.hits if "facts" in hit.matched_by]
    return next(iter(stating or found.hits), None)


def _title(note: MemoryNote) -> str:
    held = note.metadata.get("topic")
    return str(held.get("name", "")) if isinstance(held, dict) else ""


def _source_text(each: _Source, counter: Counter) -> SourceText:
    return SourceText(
        note=each.note.id,
        source=each.source.id,
        time="" if each.source.at is None else each.source.at.isoformat(),
        speaker=each.source.speaker or "",
        text=each.entry.text,
        tokens=counter(each.entry.written),
    )
