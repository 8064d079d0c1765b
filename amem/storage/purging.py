"""Purge: notes are destroyed, and what was made of them, or quotes them, goes or is rewritten without them.

Made of a note is what the log says: a merged note or digest (``derived_from``), a topic's page (``part_of``), the
summary of an episode that shares a message with it, fields of others that its arrival rewrote, links, flags, proposals
and overturned statements that name it. The rest is found by its words (`Quotes`); nothing that was written before the
note came can come from it. See docs/adr for what is left alone: what other notes say in their own words.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, delete, func, insert, or_, select, update

from amem.language import Quotes, query_terms, sentences, written_in_cjk
from amem.note import NOBODY, Kind, LinkType, Scope, Status
from amem.storage import tables
from amem.storage.rows import from_cell
from amem.storage.sql_values import chunks
from amem.storage.unquoting import Step, without

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from sqlalchemy import ColumnElement, RowMapping

    from amem.storage.store import Session

_NOTES, _VERSIONS, _OPS, _LINKS, _CHANGED = (
    tables.notes,
    tables.versions,
    tables.operations,
    tables.links,
    tables.link_changes,
)
_REVIEWS, _FLAGS, _SOURCES, _HELD, _TURNS = (
    tables.reviews,
    tables.flags,
    tables.sources,
    tables.note_sources,
    tables.turns,
)
#: The fields that machines fill in; the content is one of a note that sums others up.
_FILLED = ("context", "keywords", "tags", "entities", "facts", "category", "metadata")
#: Those that are made anew with the text of such a note.
_MADE_ANEW = ("content", "context", "keywords", "tags", "entities")
#: Operations by which people and programs say in their own words what a field holds.
_OWN_WORDS = ("update",)
_META, _OWED = tables.meta, "owed cleaning"
#: What makes one note of several.
_MADE_OF = ("merge", "compress")
#: What a flag says whose own reason quoted a note that is destroyed.
_UNSAID = "what it rested on was purged"
_SUMMARY = and_(_NOTES.c.kind == str(Kind.EPISODE), func.json_extract(_NOTES.c.metadata, "$.episode").is_not(None))
#: Notes whose text is made of others, and those that speak in their own words.
_MADE = or_(_NOTES.c.kind == str(Kind.TOPIC), _SUMMARY)
_HISTORY = (
    select(_VERSIONS, _OPS.c.action)
    .select_from(_VERSIONS.join(_OPS, _OPS.c.id == _VERSIONS.c.operation))
    .order_by(_VERSIONS.c.id)
)


@dataclass(frozen=True, slots=True)
class Owed:
    """What purges have still to do: rid the files of what was purged, and write pages and summaries anew.

    `operation` is the last purge; topics and episodes are those of all of them, by the ids of their notes.
    """

    operation: int
    topics: tuple[str, ...] = ()
    episodes: tuple[str, ...] = ()


def owed(session: Session) -> Owed | None:
    """What is owed; None when nothing is."""
    text = session.connection.execute(select(_META.c.value).where(_META.c.key == _OWED)).scalar_one_or_none()
    if text is None:
        return None
    held = json.loads(text)
    return Owed(held["operation"], tuple(held["topics"]), tuple(held["episodes"]))


def owe(session: Session, purged: Purged) -> None:
    """Write down, in the transaction of the purge, what has to follow."""
    before = owed(session) or Owed(0)
    now = Owed(
        purged.operation,
        tuple(dict.fromkeys([*before.topics, *purged.topics])),
        tuple(dict.fromkeys([*before.episodes, *purged.episodes])),
    )
    session.connection.execute(delete(_META).where(_META.c.key == _OWED))
    session.connection.execute(insert(_META).values(key=_OWED, value=json.dumps(asdict(now))))


def settle_owed(session: Session, done: Owed) -> None:
    """Say that this is done; a purge that was made meanwhile still owes its own."""
    if owed(session) == done:
        session.connection.execute(delete(_META).where(_META.c.key == _OWED))


@dataclass(frozen=True, slots=True)
class Left:
    """What says the same as a purged note, word for word, and stays: own words of another `note`, in which part of it.

    Without a note `where` is a file, by its path in the home.
    """

    note: str
    where: str


@dataclass(slots=True)
class Purged:
    """What one purge destroyed (`notes`), rewrote without them and counted; `left` is what it left alone.

    `sentences` are all that the destroyed said. `freed` are notes whose place one of them had, `back` those that a
    digest of them had archived; `topics` and `episodes` have to be made anew, the `unread` to be analysed anew.
    """

    notes: dict[str, int]
    operation: int
    removed: dict[str, int] = field(default_factory=dict)
    rewritten: dict[str, None] = field(default_factory=dict)
    freed: list[str] = field(default_factory=list)
    back: list[str] = field(default_factory=list)
    topics: list[str] = field(default_factory=list)
    episodes: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)

    def count(self, what: str, number: int) -> None:
        """Add to what was removed, where there was any."""
        if number:
            self.removed[what] = self.removed.get(what, 0) + number


def purge(session: Session, ids: Sequence[str], operation: int, is_common: Callable[[str], bool]) -> Purged:
    """Destroy notes, with what is made of them, under `operation`; words that `is_common` holds for quote nothing."""
    work = _Purge(session, _with_what_is_made_of(session, ids), operation, is_common)
    work.destroy()
    work.rewrite()
    return work.done


def _with_what_is_made_of(session: Session, ids: Sequence[str]) -> dict[str, int]:
    """The notes, those that they were merged from and that stand behind them, and those that are made of any."""
    found = list(session.notes.keys_of(ids))
    ends = (_LINKS.c.source, _LINKS.c.target)
    made_of = (
        select(*ends)
        .select_from(_LINKS.join(_OPS, _OPS.c.id == _LINKS.c.operation))
        .where(_LINKS.c.type == str(LinkType.DERIVED_FROM))
    )
    behind = _NOTES.alias()
    parts = made_of.join(behind, behind.c.id == _LINKS.c.target).where(
        _OPS.c.action == "merge", behind.c.superseded_by == _LINKS.c.source
    )

    def follow(statement: Any, known: ColumnElement[str], at: int) -> None:
        fresh = list(found)
        while fresh:
            rows = [session.connection.execute(statement.where(known.in_(some))).all() for some in chunks(fresh)]
            fresh = [id for id in dict.fromkeys(row[at] for each in rows for row in each) if id not in found]
            found.extend(fresh)

    follow(parts, ends[0], 1)
    follow(made_of.where(_OPS.c.action.in_(_MADE_OF)), ends[1], 0)
    return session.notes.keys_of(found)


class _Purge:
    """One purge under way."""

    def __init__(
        self, session: Session, gone: Mapping[str, int], operation: int, is_common: Callable[[str], bool]
    ) -> None:
        self._session = session
        self._run = session.connection.execute
        self._gone = dict(gone)
        self._keys = list(gone.values())
        #: Whose notes they are: nobody else can have the words from them.
        self._scopes = set(session.notes.scopes_of(list(gone)).values())
        self.done = Purged(self._gone, operation)
        self._since = self._first_heard()
        self._arrivals = self._set_off()
        self._sources = self._messages()
        texts, names = self._said()
        self._every = Quotes.of(texts, names=names, but=is_common)
        self.done.sentences = [each for text in texts for each in sentences(text) if len(query_terms(each)) > 1]
        self._quotes = self._every.without(self._told_by_others())
        self._exact = self._quotes.exact()
        session.driver.create_function(
            "quotes_purged", -1, lambda *texts: int(self._holds(" ; ".join(filter(None, texts))))
        )
        session.driver.create_function("repeats_purged", 1, lambda text: int(self._repeats(text)))

    # -- what is known of the notes before they are destroyed ----------------------------------------------------

    def _first_heard(self) -> int:
        """The operation that brought the first of the notes, or of the messages that they came from."""
        made = select(_VERSIONS.c.operation).where(_VERSIONS.c.version == 1)
        heard = select(_SOURCES.c.operation).join(_HELD, _HELD.c.source == _SOURCES.c.key)
        first: list[int] = []
        for some in chunks(self._keys):
            first += self._run(made.where(_VERSIONS.c.note.in_(some))).scalars()
            first += self._run(heard.where(_HELD.c.note.in_(some))).scalars()
        return min(first, default=0)

    def _set_off(self) -> frozenset[int]:
        """The operations that the arrival of one of the notes set off, and by which a person accepted such a one."""
        found: set[int] = set()
        for causes in chunks([f"{id[:8]} {what}" for id in self._gone for what in ("arrived", "was weighed")]):
            statement = select(_OPS.c.id).where(_OPS.c.cause.in_(causes), _OPS.c.id >= self._since)
            found.update(self._run(statement).scalars())
        decided = tables.decisions
        accepted = select(decided.c.operation).join(_REVIEWS, _REVIEWS.c.id == decided.c.review)
        accepted = accepted.where(decided.c.state == "accepted")
        for some in chunks(sorted(found)):
            found.update(self._run(accepted.where(_REVIEWS.c.operation.in_(some))).scalars())
        return frozenset(found)

    def _messages(self) -> dict[int, bool]:
        """The messages that the notes share with others, by key; True for one that is another note's very text."""
        found: dict[int, bool] = {}
        for some in chunks(self._keys):
            mine = select(_HELD.c.source).where(_HELD.c.note.in_(some))
            held = select(_HELD.c.source, _HELD.c.gathered).where(_HELD.c.source.in_(mine))
            for source, gathered in self._run(held.where(_HELD.c.note.not_in(self._keys))):
                found[source] = found.get(source, False) or not gathered
        return found

    def _said(self) -> tuple[list[str], list[str]]:
        """Every text that the notes ever had, and the messages that only they came from; and the names in them."""
        texts: list[str] = []
        names: list[str] = []
        for some in chunks(self._keys):
            told = select(_NOTES.c.content, _NOTES.c.context, _NOTES.c.entities).where(_NOTES.c.key.in_(some))
            for content, context, entities in self._run(told):
                texts += (content, context)
                names += json.loads(entities)
            for changes in self._run(select(_VERSIONS.c.changes).where(_VERSIONS.c.note.in_(some))).scalars():
                held = json.loads(changes)
                texts += [text for name in ("content", "context") for text in held.get(name, ()) if text]
            own = select(_SOURCES.c.key, _SOURCES.c.text).join(_HELD, _HELD.c.source == _SOURCES.c.key)
            texts += [text for key, text in self._run(own.where(_HELD.c.note.in_(some))) if key not in self._sources]
        return list(dict.fromkeys(texts)), list(dict.fromkeys(names))

    def _told_by_others(self) -> set[tuple[str, ...]]:
        """What of it other notes hold in their own words: whoever has it may have it from there."""
        shared: set[tuple[str, ...]] = set()
        columns = (_NOTES.c.key, _NOTES.c.id, _NOTES.c.content, _NOTES.c.metadata)
        for key, id, text, metadata in self._run(select(*columns).where(~_MADE)):
            if key not in self._keys and self._met(metadata) and (found := self._every.found_in(text)):
                shared.update(found)
                if self._every.repeated_by(text):
                    self.done.left.append(Left(id, "its text"))
        return shared

    # -- what goes with them -------------------------------------------------------------------------------------

    def destroy(self) -> None:
        """Destroy the notes; what they had put away is as it was before."""
        session, done = self._session, self.done
        done.freed = [id for id in session.notes.replaced_by(list(self._gone)) if id not in self._gone]
        done.freed += [id for id in session.notes.overturned_by(list(self._gone)) if id not in self._gone]
        done.back = self._put_away()
        self._topics = self._pages()
        self._episodes = self._summaries()
        self._cut_messages()
        held = [self._count_of(table) for table in ("versions", "links", "sources")]
        self._flags_and_proposals()
        answers = self._answers()
        session.notes.purge(list(self._gone))
        for table, before in zip(("versions", "links", "sources"), held, strict=True):
            done.count(table, before - self._count_of(table))
        done.count("answers", answers)

    def _count_of(self, table: str) -> int:
        return int(self._session.connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar_one())

    def _put_away(self) -> list[str]:
        """Notes that a digest among the purged had archived, and that are in the archive still."""
        parts = (
            select(_NOTES.c.id)
            .select_from(
                _LINKS.join(_OPS, _OPS.c.id == _LINKS.c.operation).join(_NOTES, _NOTES.c.id == _LINKS.c.target)
            )
            .where(_LINKS.c.type == str(LinkType.DERIVED_FROM), _OPS.c.action == "compress")
            .where(_NOTES.c.status == str(Status.ARCHIVED))
        )
        found = [
            id
            for some in chunks(list(self._gone))
            for id in self._run(parts.where(_LINKS.c.source.in_(some))).scalars()
        ]
        return [id for id in dict.fromkeys(found) if id not in self._gone]

    def _pages(self) -> set[int]:
        """The topics that one of the notes ever belonged to, by key."""
        found: set[int] = set()
        for some in chunks(list(self._gone)):
            for table in (_LINKS, _CHANGED):
                ever = select(table.c.target).where(table.c.source.in_(some), table.c.type == str(LinkType.PART_OF))
                topics = select(_NOTES.c.key).where(_NOTES.c.id.in_(ever), _NOTES.c.kind == "topic")
                found.update(self._run(topics).scalars())
        return found - set(self._keys)

    def _summaries(self) -> set[int]:
        """The notes of episodes that share a message with one of the notes, by key; none with another episode's."""
        found: set[int] = set()
        mine = [key for key in self._keys if not self._is_summary(key)]
        for some in chunks(mine):
            sources = select(_HELD.c.source).where(_HELD.c.note.in_(some))
            statement = select(_HELD.c.note).join(_NOTES, _NOTES.c.key == _HELD.c.note).where(_SUMMARY)
            found.update(self._run(statement.where(_HELD.c.source.in_(sources))).scalars())
        return found - set(self._keys)

    def _is_summary(self, key: int) -> bool:
        return self._run(select(_NOTES.c.key).where(_NOTES.c.key == key, _SUMMARY)).first() is not None

    def _cut_messages(self) -> None:
        """Take the notes' sentences out of messages that others came from, too, and out of their turns in chats.

        A message of which no sentence says what the note says goes as a whole where only a summary shares it.
        """
        for key, own_text in self._sources.items():
            if own_text:
                continue
            id, text = self._run(select(_SOURCES.c.id, _SOURCES.c.text).where(_SOURCES.c.key == key)).one()
            left = self._quotes.cut(text)
            if left == text and self._is_only_summed_up(key):
                left = ""
            if left != text:
                self._session.sources.reword(key, left)
                self._session.chats.reword(id, left)
                self.done.count("sentences", 1)

    def _is_only_summed_up(self, source: int) -> bool:
        """Whether a note that is destroyed was learnt from the message, and nothing else but summaries."""
        held = select(_NOTES.c.key).join(_HELD, _HELD.c.note == _NOTES.c.key).where(_HELD.c.source == source, ~_SUMMARY)
        return {*self._run(held).scalars()} <= set(self._keys) and self._run(held).first() is not None

    def _answers(self) -> int:
        """Take out the answers of chats that rested on one of the notes; returns how many."""
        blanked = 0
        for id in self._gone:
            statement = select(_TURNS.c.key, _TURNS.c.recalled).where(
                _TURNS.c.recalled.contains(id), _TURNS.c.answer != ""
            )
            for key, recalled in self._run(statement).all():
                if any(each["note"] == id and each.get("supports") for each in json.loads(recalled)):
                    self._run(update(_TURNS).where(_TURNS.c.key == key).values(answer=""))
                    blanked += 1
        return blanked

    def _flags_and_proposals(self) -> None:
        """Flags and proposals that name one of the notes, or that its arrival brought."""
        done = self.done
        for some in chunks(list(self._gone)):
            done.count("flags", self._run(delete(_FLAGS).where(_FLAGS.c.because.in_(some))).rowcount)
        reviews = self._run(select(_REVIEWS.c.id, _REVIEWS.c.operation, _REVIEWS.c.changes)).all()
        named = [
            key
            for key, operation, changes in reviews
            if operation in self._arrivals or any(id in changes for id in self._gone)
        ]
        for keys in chunks(named):
            done.count("proposals", self._run(delete(_REVIEWS).where(_REVIEWS.c.id.in_(keys))).rowcount)

    # -- what stays, without their words -------------------------------------------------------------------------

    def rewrite(self) -> None:
        """Take their words out of all that stays."""
        if self._quotes:
            self._unquote_links()
            self._unquote_log()
            self._unquote_chats()
            self._unquote_messages()
        for key in sorted(self._concerned()):
            self._rewrite(key)
        self._report_own_words()

    def _met(self, metadata: str, *, talked: bool = False) -> bool:
        """Whether a note with this metadata may have their words; one that sums up what was `talked` also as nobody's.

        A chat over the whole collection recalls everyone's notes, and is nobody's itself.
        """
        scope = Scope.of(json.loads(metadata))
        return scope in self._scopes or (talked and scope == NOBODY)

    def _meeting(self, rows: Iterable[tuple[Any, str, str]]) -> list[Any]:
        """The firsts of these rows of what is told of a note, its metadata and its kind."""
        made = (str(Kind.TOPIC), str(Kind.EPISODE))
        return [told for told, metadata, kind in rows if self._met(metadata, talked=kind in made)]

    def _holds(self, text: str | None) -> bool:
        return bool(text) and self._quotes.held_by(str(text))

    def _repeats(self, text: str | None) -> bool:
        return bool(text) and self._exact.held_by(str(text))

    def _unquote_links(self) -> None:
        rows = select(_LINKS.c.key, _NOTES.c.metadata, _NOTES.c.kind).join(_NOTES, _NOTES.c.id == _LINKS.c.source)
        rows = rows.where(_LINKS.c.operation >= self._since, _quotes(_LINKS.c.reason))
        for key in self._meeting(self._run(rows).all()):
            self._run(update(_LINKS).where(_LINKS.c.key == key).values(reason=""))
            self.done.count("reasons", 1)
        told = or_(_quotes(_CHANGED.c.before), _quotes(_CHANGED.c.after))
        for row in self._run(select(_CHANGED).where(_CHANGED.c.operation >= self._since, told)).mappings().all():
            values = {name: _bare(row[name]) for name in ("before", "after")}
            self._run(update(_CHANGED).where(_CHANGED.c.id == row["id"]).values(values))
        flagged = _FLAGS.c.operation >= self._since, _quotes(_FLAGS.c.reason)
        self.done.count("reasons", self._run(update(_FLAGS).where(*flagged).values(reason=_UNSAID)).rowcount)
        proposed = or_(_quotes(_REVIEWS.c.changes), _quotes(_REVIEWS.c.reason))
        gone = delete(_REVIEWS).where(_REVIEWS.c.operation >= self._since, proposed)
        self.done.count("proposals", self._run(gone).rowcount)

    def _unquote_log(self) -> None:
        """The log's reasons, errors of models, remarks, problems of maintenance: what quotes a note is left out."""
        for table, column in ((_OPS, _OPS.c.cause), (tables.jobs, tables.jobs.c.error), (_TURNS, _TURNS.c.error)):
            statement = update(table).where(_quotes(column)).values({column.name: ""})
            if table is _OPS:
                statement = statement.where(_OPS.c.id >= self._since)
            self.done.count("reasons", self._run(statement).rowcount)
        self._run(delete(tables.meta).where(tables.meta.c.key.startswith("said "), _quotes(tables.meta.c.value)))
        runs = tables.runs
        for key, progress in self._run(select(runs.c.id, runs.c.progress).where(_quotes(runs.c.progress))).all():
            held = json.loads(progress)
            if "problems" in held:
                held["problems"] = [each for each in held["problems"] if not self._holds(each)]
                self._run(update(runs).where(runs.c.id == key).values(progress=json.dumps(held)))

    def _unquote_chats(self) -> None:
        """Turns of chats without the sentences that quote a note, and without why another was recalled by its words."""
        told = or_(_repeats(_TURNS.c.question), _repeats(_TURNS.c.answer), _quotes(_TURNS.c.recalled))
        chats = tables.sessions
        held = select(_TURNS, chats.c.scope).join(chats, chats.c.key == _TURNS.c.session)
        for row in self._run(held.where(told)).mappings().all():
            if not self._met(row["scope"], talked=True):
                continue
            recalled = json.loads(row["recalled"])
            for each in recalled:
                each["why"] = "" if self._holds(each["why"]) else each["why"]
            values = {
                "question": self._exact.cut(row["question"]),
                "answer": self._exact.cut(row["answer"]),
                "recalled": json.dumps(recalled, ensure_ascii=False),
            }
            self.done.count("sentences", sum(values[name] != row[name] for name in ("question", "answer")))
            self._run(update(_TURNS).where(_TURNS.c.key == row["key"]).values(values))

    def _unquote_messages(self) -> None:
        """Messages that no note has for its very text, without the sentences that quote a note."""
        own_text = select(_HELD.c.source).where(_HELD.c.gathered == 0)
        statement = select(_SOURCES.c.key, _SOURCES.c.id, _SOURCES.c.text).where(_repeats(_SOURCES.c.text))
        for key, id, text in self._run(statement.where(_SOURCES.c.key.not_in(own_text))).all():
            met = any(scope.keeps(id) for scope in (*self._scopes, NOBODY))
            if met and (left := self._exact.cut(text)) != text:
                self._session.sources.reword(key, left)
                self.done.count("sentences", 1)

    # -- other notes ---------------------------------------------------------------------------------------------

    def _concerned(self) -> set[int]:
        """The keys of all notes of which something may have to be rewritten."""
        found = self._topics | self._episodes
        for some in chunks(sorted(self._arrivals)):
            found.update(self._run(select(_VERSIONS.c.note).where(_VERSIONS.c.operation.in_(some))).scalars())
        if self._quotes:
            every = _quotes(*(_NOTES.c[name] for name in _FILLED))
            filled = or_(every, _MADE & _quotes(_NOTES.c.content))
            each = (_NOTES.c.key, _NOTES.c.metadata, _NOTES.c.kind)
            found.update(self._meeting(self._run(select(*each).where(filled)).all()))
            told = select(*each).join(_VERSIONS, _VERSIONS.c.note == _NOTES.c.key)
            told = told.where(_VERSIONS.c.operation >= self._since, _quotes(_VERSIONS.c.changes))
            found.update(self._meeting(self._run(told).all()))
        return found

    def _rewrite(self, key: int) -> None:
        """Rewrite a note and its history, field by field; one that nothing is left of waits to be made anew."""
        row = self._run(select(_NOTES).where(_NOTES.c.key == key)).mappings().one()
        history = self._run(_HISTORY.where(_VERSIONS.c.note == key)).mappings().all()
        told: list[dict[str, Any]] = [json.loads(version["changes"]) for version in history]
        owned: dict[str, str] = json.loads(row["edited"])
        made = row["kind"] == Kind.TOPIC or "episode" in json.loads(row["metadata"])
        after: dict[str, Any] = {}
        for name in ("content", *_FILLED):
            steps = _steps(name, row, history, told, owned.get(name, ""), made=made)
            values = without(steps, self._quotes, self._arrivals, self._since)
            if key in self._topics | self._episodes and name in _MADE_ANEW:
                values = [step.value if step.own else type(step.value)() for step in steps]
            if name == "content":
                values = [value or self._bare(row) for value in values]
            if values != [step.value for step in steps]:
                after[name] = values[-1]
                _put_back(name, values, told)
        marks = from_cell("overturned", row["overturned"])
        after["overturned"] = self._unmarked(marks)
        for changes in told:
            if "overturned" in changes:
                changes["overturned"] = [self._unmarked(each or []) for each in changes["overturned"]]
        for version, changes in zip(history, told, strict=True):
            text, this = json.dumps(changes, ensure_ascii=False), _VERSIONS.c.id == version["id"]
            if text != version["changes"]:
                # A version that changed nothing else is none: its operation has left nothing to undo.
                self._run(
                    update(_VERSIONS).where(this).values(changes=text) if changes else delete(_VERSIONS).where(this)
                )
                self.done.rewritten[row["id"]] = None
        changed = {name: value for name, value in after.items() if value != from_cell(name, row[name])}
        if changed:
            self._session.notes.reword(row["id"], changed, self.done.operation)
            self.done.rewritten[row["id"]] = None
            if made and "content" in changed:
                (self.done.topics if row["kind"] == Kind.TOPIC else self.done.episodes).append(row["id"])
            elif not made and changed.get("context") == "":
                self.done.unread.append(row["id"])

    def _unmarked(self, marks: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Overturned statements without words that others quoted of the purged."""
        return [{**each, **{name: "" for name in ("then", "reason") if self._holds(each[name])}} for each in marks]

    def _bare(self, row: RowMapping) -> str:
        """What a note that sums others up says until it is made anew."""
        metadata = json.loads(row["metadata"])
        if "topic" in metadata:
            return f"# {metadata['topic'].get('name', '')}"
        return "一段对话" if written_in_cjk(row["content"]) else "A conversation"

    def _report_own_words(self) -> None:
        """Say which fields that somebody worded, and which older words of a note, are the same as theirs."""
        columns = (_NOTES.c.id, _NOTES.c.edited, *(_NOTES.c[name] for name in _FILLED))
        for row in self._run(select(*columns).where(_NOTES.c.edited != "{}", ~_MADE)).mappings():
            for name in json.loads(row["edited"]) if self._met(row["metadata"]) else ():
                if name in _FILLED and self._every.repeated_by(row[name]):
                    self.done.left.append(Left(row["id"], f"its {name}"))
        worded = select(_NOTES.c.id, _NOTES.c.metadata, _VERSIONS.c.changes).join(
            _NOTES, _NOTES.c.key == _VERSIONS.c.note
        )
        worded = worded.join(_OPS, _OPS.c.id == _VERSIONS.c.operation).where(_OPS.c.action.in_(_OWN_WORDS))
        known = {each.note for each in self.done.left}
        for id, metadata, changes in self._run(worded):
            if id not in known and self._met(metadata) and self._every.repeated_by(changes):
                known.add(id)
                self.done.left.append(Left(id, "an older version"))


def _steps(
    name: str,
    row: RowMapping,
    history: Sequence[RowMapping],
    told: Sequence[Mapping[str, Any]],
    owned: str,
    *,
    made: bool,
) -> list[Step]:
    """The values that a field had; the content of a note is its own words, unless it was `made` of others."""
    own_text = name == "content" and not made
    changes = [(version, each[name]) for version, each in zip(history, told, strict=True) if name in each]
    first = changes[0][1][0] if changes else from_cell(name, row[name])
    born = history[0]
    steps = [Step(first, born["operation"], born["action"], own=own_text or (owned == "given" and not made))]
    for version, (_, value) in changes:
        own = own_text or version["action"] in _OWN_WORDS
        steps.append(Step(value, version["operation"], version["action"], own=own))
    return steps


def _put_back(name: str, values: Sequence[Any], told: Sequence[dict[str, Any]]) -> None:
    """Have the versions tell of these values, one after the other; what changed nothing is no change."""
    place = 0
    for changes in told:
        if name in changes:
            changes[name] = [values[place], values[place + 1]]
            place += 1
            if changes[name][0] == changes[name][1]:
                del changes[name]


def _bare(text: str | None) -> str | None:
    """A recorded change of a link without its reason."""
    return None if text is None else json.dumps({**json.loads(text), "reason": ""}, ensure_ascii=False)


def _quotes(*columns: Any) -> Any:
    return func.quotes_purged(*columns) == 1


def _repeats(column: Any) -> Any:
    return func.repeats_purged(column) == 1
