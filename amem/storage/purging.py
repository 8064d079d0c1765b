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

from amem.language import Quotes, query_terms, sentences, written_in_cjk
from amem.note import NOBODY, Kind, Scope
from amem.storage.rows import as_json, from_cell

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from amem.storage.store import Session


@dataclass(frozen=True, slots=True)
class Step:
    """A value that a field was given by an operation; `own` says that somebody chose these very words for it."""

    value: Any
    operation: int
    action: str
    own: bool = False


def without(steps: Sequence[Step], quotes: Quotes, arrivals: Collection[int], since: int) -> list[Any]:
    """The same values, oldest first, without what `arrivals` (operations) brought and what quotes a destroyed note.

    What is older than the operation `since` and what somebody chose stays as it is. A text that a rewrite only made
    longer loses what was added; any other goes back to what it was before. A list loses single items.
    """
    if any(isinstance(step.value, list) for step in steps):
        return _lists(steps, quotes, arrivals, since)
    if any(isinstance(step.value, dict) for step in steps):
        return [_kept_of(step, quotes, since) for step in steps]
    return _texts(steps, quotes, arrivals, since)


def _texts(steps: Sequence[Step], quotes: Quotes, arrivals: Collection[int], since: int) -> list[str]:
    found: list[str] = []
    became: dict[str, str] = {}
    added: list[str] = []
    before = last = ""
    reworded = False
    for step in steps:
        value = step.value or ""
        if step.own or step.operation < since:
            left, reworded = value, False
        elif value in became:  # undone, or set back
            left = became[value]
        else:
            left = value
            if step.operation in arrivals:
                if (more := _added(before, value)) is not None:
                    added.append(more)
                else:
                    reworded = True
            elif step.action != "evolve":  # read anew from the note itself
                reworded = False
            for more in added:
                left = left.replace(more, "")
            if reworded or quotes.held_by(left):
                left = last
            became[value] = left
        found.append(left)
        before, last = value, left
    return found


def _added(before: str, after: str) -> str | None:
    """The text that `after` adds to the end of `before`; None where it changes anything else."""
    stem = before.rstrip(".。")
    more = after.removeprefix(stem).rstrip(".。")
    return more if stem and after.startswith(stem) and more.strip() else None


def _lists(steps: Sequence[Step], quotes: Quotes, arrivals: Collection[int], since: int) -> list[list[Any]]:
    found: list[list[Any]] = []
    gone: set[str] = set()
    before: set[str] = set()
    for step in steps:
        items = [(as_json(item), item) for item in step.value or []]
        texts = {text for text, _ in items}
        if step.operation in arrivals:
            gone |= texts - before
        before = texts
        if step.own or step.operation < since:
            gone -= texts
            found.append([item for _, item in items])
        else:
            found.append([item for text, item in items if text not in gone and not quotes.held_by(text)])
    return found


def _kept_of(step: Step, quotes: Quotes, since: int) -> dict[str, Any]:
    held: dict[str, Any] = step.value or {}
    if step.own or step.operation < since:
        return held
    return {name: value for name, value in held.items() if not quotes.held_by(as_json(value))}


#: The fields that machines fill in; the content is one of a note that sums others up.
_FILLED = ("context", "keywords", "tags", "entities", "facts", "category", "metadata")
#: Those that are made anew with the text of such a note.
_MADE_ANEW = ("content", "context", "keywords", "tags", "entities")
#: Operations by which people and programs say in their own words what a field holds.
_OWN_WORDS = ("update",)
_OWED = "owed cleaning"
#: What a flag says whose own reason quoted a note that is destroyed.
_UNSAID = "what it rested on was purged"
_SUMMARY = "notes.kind = 'episode' AND json_extract(notes.metadata, '$.episode') IS NOT NULL"
#: Notes whose text is made of others; all else speak in their own words.
_MADE = f"(notes.kind = 'topic' OR {_SUMMARY})"


@dataclass(frozen=True, slots=True)
class Owed:
    """Work that purges left: cleaning the files of what was purged, and writing pages and summaries anew.

    `operation` is the last purge; topics and episodes are those of all of them, by the ids of their notes.
    """

    operation: int
    topics: tuple[str, ...] = ()
    episodes: tuple[str, ...] = ()


def owed(session: Session) -> Owed | None:
    """The work that purges left; None when there is none."""
    text = session.remembered(_OWED)
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
    session.remember(_OWED, as_json(asdict(now)))


def settle_owed(session: Session, done: Owed) -> None:
    """Say that this is done; a purge that was made meanwhile still owes its own."""
    if owed(session) == done:
        session.change("DELETE FROM meta WHERE key = :name", name=_OWED)


@dataclass(frozen=True, slots=True)
class Left:
    """A text that repeats a purged note word for word and stays: another `note`'s own words, and in which part of it.

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
    # UNION ends the recursion where notes were merged in a circle.
    sql = (
        "WITH RECURSIVE derived(whole, part, action, place) AS (SELECT l.source, l.target, o.action, part.superseded_by"
        " FROM links AS l JOIN operations AS o ON o.id = l.operation LEFT JOIN notes AS part ON part.id = l.target"
        " WHERE l.type = 'derived_from' AND o.action IN ('merge', 'compress')),"
        " parts(id) AS (SELECT value FROM json_each(:ids)"
        " UNION SELECT part FROM derived JOIN parts ON whole = id WHERE action = 'merge' AND place = whole),"
        " made(id) AS (SELECT id FROM parts UNION SELECT whole FROM derived JOIN made ON part = id) SELECT id FROM made"
    )
    return session.notes.keys_of(session.column(sql, ids=ids))


class _Purge:
    """One purge under way."""

    def __init__(
        self, session: Session, gone: Mapping[str, int], operation: int, is_common: Callable[[str], bool]
    ) -> None:
        self._session = session
        self._gone = dict(gone)
        self._keys = list(gone.values())
        #: The notes as parameters: their keys and their ids.
        self._mine, self._ids = self._keys, self._gone
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
        session.connection.create_function(
            "quotes_purged", -1, lambda *texts: int(self._holds(" ; ".join(filter(None, texts))))
        )
        session.connection.create_function("repeats_purged", 1, lambda text: int(self._repeats(text)))

    # -- what is known of the notes before they are destroyed ----------------------------------------------------

    def _first_heard(self) -> int:
        """The operation that brought the first of the notes, or of the messages that they came from."""
        sql = (
            "SELECT operation FROM versions WHERE version = 1 AND note IN :mine UNION SELECT s.operation"
            " FROM sources AS s JOIN note_sources AS held ON held.source = s.key WHERE held.note IN :mine"
        )
        return min(self._session.column(sql, mine=self._mine), default=0)

    def _set_off(self) -> frozenset[int]:
        """The operations that the arrival of one of the notes set off, and by which a person accepted such a one."""
        causes = [f"{id[:8]} {what}" for id in self._gone for what in ("arrived", "was weighed")]
        sql = "SELECT id FROM operations WHERE id >= :since AND cause IN :causes"
        found = self._session.column(sql, causes=causes, since=self._since)
        accepted = "SELECT d.operation FROM decisions AS d JOIN reviews AS r ON r.id = d.review"
        accepted += " WHERE d.state = 'accepted' AND r.operation IN :mine"
        return frozenset([*found, *self._session.column(accepted, mine=found)])

    def _messages(self) -> dict[int, bool]:
        """The messages that the notes share with others, by key; True for one that is another note's very text."""
        sql = "SELECT source, max(NOT gathered) FROM note_sources WHERE note NOT IN :mine AND source IN"
        sql += " (SELECT source FROM note_sources WHERE note IN :mine) GROUP BY source"
        return {source: bool(own) for source, own in self._session.rows(sql, mine=self._mine)}

    def _said(self) -> tuple[list[str], list[str]]:
        """Every text that the notes ever had, and the messages that only they came from; and the names in them."""
        texts: list[str] = []
        names: list[str] = []
        rows = self._session.rows("SELECT content, context, entities FROM notes WHERE key IN :mine", mine=self._mine)
        for content, context, entities in rows:
            texts += (content, context)
            names += json.loads(entities)
        for changes in self._session.column("SELECT changes FROM versions WHERE note IN :mine", mine=self._mine):
            held = json.loads(changes)
            texts += [text for name in ("content", "context") for text in held.get(name, ()) if text]
        own = "SELECT s.key, s.text FROM sources AS s JOIN note_sources AS held ON held.source = s.key"
        rows = self._session.rows(f"{own} WHERE held.note IN :mine", mine=self._mine)
        texts += [text for key, text in rows if key not in self._sources]
        return list(dict.fromkeys(texts)), list(dict.fromkeys(names))

    def _told_by_others(self) -> set[tuple[str, ...]]:
        """The quotes that other notes hold in their own words, which a third note may have from there."""
        shared: set[tuple[str, ...]] = set()
        sql = f"SELECT id, content, metadata FROM notes WHERE NOT {_MADE} AND key NOT IN :mine"
        for id, text, metadata in self._session.rows(sql, mine=self._mine):
            if self._met(metadata) and (found := self._every.found_in(text)):
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
        return int(self._session.value(f"SELECT count(*) FROM {table}"))

    def _put_away(self) -> list[str]:
        """Notes that a digest among the purged had archived, and that are in the archive still."""
        sql = (
            "SELECT notes.id FROM links JOIN operations AS o ON o.id = links.operation"
            " JOIN notes ON notes.id = links.target WHERE links.type = 'derived_from' AND o.action = 'compress'"
            " AND notes.status = 'archived' AND links.source IN :mine"
        )
        return [id for id in dict.fromkeys(self._session.column(sql, mine=self._ids)) if id not in self._gone]

    def _pages(self) -> set[int]:
        """The topics that one of the notes ever belonged to, by key."""
        ever = " UNION ".join(
            f"SELECT target FROM {table} WHERE type = 'part_of' AND source IN :mine"
            for table in ("links", "link_changes")
        )
        sql = f"SELECT key FROM notes WHERE kind = 'topic' AND id IN ({ever})"
        return set(self._session.column(sql, mine=self._ids)) - set(self._keys)

    def _summaries(self) -> set[int]:
        """The notes of episodes that share a message with one of the notes, by key; none with another episode's."""
        sql = f"SELECT key FROM notes WHERE key IN :mine AND NOT ({_SUMMARY})"
        mine = self._session.column(sql, mine=self._mine)
        sql = f"SELECT notes.key FROM notes JOIN note_sources AS held ON held.note = notes.key WHERE {_SUMMARY}"
        sql += " AND held.source IN (SELECT source FROM note_sources WHERE note IN :mine)"
        return set(self._session.column(sql, mine=mine)) - set(self._keys)

    def _cut_messages(self) -> None:
        """Take the notes' sentences out of messages that others came from, too, and out of their turns in chats.

        A message of which no sentence says what the note says goes as a whole where only a summary shares it.
        """
        for key, own_text in self._sources.items():
            if own_text:
                continue
            ((id, text),) = self._session.rows("SELECT id, text FROM sources WHERE key = :key", key=key)
            left = self._quotes.cut(text)
            if left == text and self._is_only_summed_up(key):
                left = ""
            if left != text:
                self._session.sources.reword(key, left)
                self._session.chats.reword(id, left)
                self.done.count("sentences", 1)

    def _is_only_summed_up(self, source: int) -> bool:
        """Whether a note that is destroyed was learnt from the message, and nothing else but summaries."""
        sql = "SELECT notes.key FROM notes JOIN note_sources AS held ON held.note = notes.key"
        found = set(self._session.column(f"{sql} WHERE held.source = :source AND NOT ({_SUMMARY})", source=source))
        return bool(found) and found <= set(self._keys)

    def _answers(self) -> int:
        """Take out the answers of chats that rested on one of the notes; returns how many."""
        blanked = 0
        for id in self._gone:
            sql = "SELECT key, recalled FROM turns WHERE instr(recalled, :id) AND answer <> ''"
            for key, recalled in self._session.rows(sql, id=id):
                if any(each["note"] == id and each.get("supports") for each in json.loads(recalled)):
                    self._session.update("turns", {"answer": ""}, key=key)
                    blanked += 1
        return blanked

    def _flags_and_proposals(self) -> None:
        """Flags and proposals that name one of the notes, or that its arrival brought."""
        session, done = self._session, self.done
        done.count("flags", session.change("DELETE FROM flags WHERE because IN :mine", mine=self._ids))
        reviews = session.rows("SELECT id, operation, changes FROM reviews")
        named = [
            key
            for key, operation, changes in reviews
            if operation in self._arrivals or any(id in changes for id in self._gone)
        ]
        done.count("proposals", session.change("DELETE FROM reviews WHERE id IN :mine", mine=named))

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

    def _meeting(self, sql: str, **asked: Any) -> list[Any]:
        """The first column of this statement's rows, whose others are the metadata and the kind of a note."""
        made = (str(Kind.TOPIC), str(Kind.EPISODE))
        rows = self._session.rows(sql, **asked)
        return [told for told, metadata, kind in rows if self._met(metadata, talked=kind in made)]

    def _holds(self, text: str | None) -> bool:
        return bool(text) and self._quotes.held_by(str(text))

    def _repeats(self, text: str | None) -> bool:
        return bool(text) and self._exact.held_by(str(text))

    def _unquote_links(self) -> None:
        session, since = self._session, self._since
        sql = "SELECT links.key, notes.metadata, notes.kind FROM links JOIN notes ON notes.id = links.source"
        for key in self._meeting(f"{sql} WHERE links.operation >= :since AND quotes_purged(links.reason)", since=since):
            session.update("links", {"reason": ""}, key=key)
            self.done.count("reasons", 1)
        sql = "SELECT id, before, after FROM link_changes WHERE operation >= :since AND"
        sql += " (quotes_purged(before) OR quotes_purged(after))"
        for key, before, after in session.rows(sql, since=since):
            session.update("link_changes", {"before": _bare(before), "after": _bare(after)}, id=key)
        sql = "UPDATE flags SET reason = :unsaid WHERE operation >= :since AND quotes_purged(reason)"
        self.done.count("reasons", session.change(sql, since=since, unsaid=_UNSAID))
        sql = "DELETE FROM reviews WHERE operation >= :since AND (quotes_purged(changes) OR quotes_purged(reason))"
        self.done.count("proposals", session.change(sql, since=since))

    def _unquote_log(self) -> None:
        """The log's reasons, errors of models, remarks, problems of maintenance: what quotes a note is left out."""
        session = self._session
        for table, column, where in (
            ("operations", "cause", "id >= :since"),
            ("jobs", "error", "true"),
            ("turns", "error", "true"),
        ):
            sql = f"UPDATE {table} SET {column} = '' WHERE {where} AND quotes_purged({column})"
            self.done.count("reasons", session.change(sql, since=self._since))
        session.change("DELETE FROM meta WHERE key GLOB 'said *' AND quotes_purged(value)")
        # Older runs have their Chinese escaped, so that no statement finds it.
        for key, progress in session.rows("SELECT id, progress FROM runs WHERE instr(progress, 'problems')"):
            held = json.loads(progress)
            if "problems" in held:
                held["problems"] = [each for each in held["problems"] if not self._holds(each)]
                session.update("runs", {"progress": as_json(held)}, id=key)

    def _unquote_chats(self) -> None:
        """Turns of chats without the sentences that quote a note, and without why another was recalled by its words."""
        sql = "SELECT turns.*, sessions.scope FROM turns JOIN sessions ON sessions.key = turns.session"
        sql += " WHERE repeats_purged(question) OR repeats_purged(answer) OR quotes_purged(recalled)"
        for row in self._session.records(sql):
            if not self._met(row["scope"], talked=True):
                continue
            recalled = json.loads(row["recalled"])
            for each in recalled:
                each["why"] = "" if self._holds(each["why"]) else each["why"]
            values = {
                "question": self._exact.cut(row["question"]),
                "answer": self._exact.cut(row["answer"]),
                "recalled": as_json(recalled),
            }
            self.done.count("sentences", sum(values[name] != row[name] for name in ("question", "answer")))
            self._session.update("turns", values, key=row["key"])

    def _unquote_messages(self) -> None:
        """Messages that no note has for its very text, without the sentences that quote a note."""
        sql = "SELECT key, id, text FROM sources WHERE repeats_purged(text)"
        sql += " AND key NOT IN (SELECT source FROM note_sources WHERE gathered = 0)"
        for key, id, text in self._session.rows(sql):
            met = any(scope.keeps(id) for scope in (*self._scopes, NOBODY))
            if met and (left := self._exact.cut(text)) != text:
                self._session.sources.reword(key, left)
                self.done.count("sentences", 1)

    # -- other notes ---------------------------------------------------------------------------------------------

    def _concerned(self) -> set[int]:
        """The keys of all notes of which something may have to be rewritten."""
        found = self._topics | self._episodes
        found.update(self._session.column("SELECT note FROM versions WHERE operation IN :mine", mine=self._arrivals))
        if self._quotes:
            each = "SELECT notes.key, metadata, kind FROM notes"
            filled = f"quotes_purged({', '.join(_FILLED)}) OR {_MADE} AND quotes_purged(content)"
            found.update(self._meeting(f"{each} WHERE {filled}"))
            told = f"{each} JOIN versions ON versions.note = notes.key WHERE versions.operation >= :since"
            found.update(self._meeting(f"{told} AND quotes_purged(versions.changes)", since=self._since))
        return found

    def _rewrite(self, key: int) -> None:
        """Rewrite a note and its history, field by field; one that nothing is left of waits to be made anew."""
        (row,) = self._session.records("SELECT * FROM notes WHERE key = :key", key=key)
        sql = "SELECT v.*, o.action FROM versions AS v JOIN operations AS o ON o.id = v.operation"
        history = self._session.records(f"{sql} WHERE v.note = :key ORDER BY v.id", key=key)
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
            text = as_json(changes)
            if text != version["changes"]:
                # A version that changed nothing else is none: its operation has left nothing to undo.
                if changes:
                    self._session.update("versions", {"changes": text}, id=version["id"])
                else:
                    self._session.change("DELETE FROM versions WHERE id = :id", id=version["id"])
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

    def _bare(self, row: Mapping[str, Any]) -> str:
        """The placeholder text of a note that sums others up, until it is made anew."""
        metadata = json.loads(row["metadata"])
        if "topic" in metadata:
            return f"# {metadata['topic'].get('name', '')}"
        return "一段对话" if written_in_cjk(row["content"]) else "A conversation"

    def _report_own_words(self) -> None:
        """Say which fields that somebody worded, and which older words of a note, are the same as theirs."""
        sql = f"SELECT id, edited, {', '.join(_FILLED)} FROM notes WHERE edited <> '{{}}' AND NOT {_MADE}"
        for row in self._session.records(sql):
            for name in json.loads(row["edited"]) if self._met(row["metadata"]) else ():
                if name in _FILLED and self._every.repeated_by(row[name]):
                    self.done.left.append(Left(row["id"], f"its {name}"))
        sql = "SELECT notes.id, metadata, v.changes FROM versions AS v JOIN notes ON notes.key = v.note"
        sql += " JOIN operations AS o ON o.id = v.operation WHERE o.action IN :own"
        known = {each.note for each in self.done.left}
        for id, metadata, changes in self._session.rows(sql, own=_OWN_WORDS):
            if id not in known and self._met(metadata) and self._every.repeated_by(changes):
                known.add(id)
                self.done.left.append(Left(id, "an older version"))


def _steps(
    name: str,
    row: Mapping[str, Any],
    history: Sequence[Mapping[str, Any]],
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
    return None if text is None else as_json({**json.loads(text), "reason": ""})
