"""A note's fields before they are stored: checked where they come from outside, else filled in from analysis."""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, tzinfo
from functools import partial
from typing import TYPE_CHECKING, Any

from amem import checks
from amem.analysis import Analysis, Draft
from amem.clock import local_time, parse_time, zone
from amem.errors import EmptyNote, InvalidInput, NoteTooLong, UnknownField
from amem.language import hashtags, index_terms, is_cjk, normalize
from amem.language.intervals import intervals, same_value
from amem.language.predicates import USER, WE, Predicates, canonical_subject, subject_key
from amem.note import Fact, Kind, Layer, MemoryNote, Scope

if TYPE_CHECKING:
    from amem.settings import Settings
    from amem.storage.store import Session


# Facts brought into the one form that they are kept in, whoever stated them: rules, a model, or a person.

#: The subjects that no note needs to name ("we ship on 15 June" is of the release), and what makes it somebody's.
_KNOWN = f"{USER} {WE} release launch 的"


@dataclass(frozen=True, slots=True)
class Canon:
    """Knows the table of predicates, which is read when the first fact comes, and what the user is called."""

    predicates: Callable[[], Predicates]
    user: str = USER

    def given(self, facts: Iterable[Fact], speaker: str | None) -> list[Fact]:
        """A person's facts: one name for each subject and predicate, none twice, none left out."""
        return list(dict.fromkeys(self._one(fact, speaker) for fact in facts))

    def found(self, facts: Iterable[Fact], note: MemoryNote, sure: Iterable[Fact] = ()) -> list[Fact]:
        """An analyst's facts; what names somebody or something that the note does not name was made up, and is dropped.

        A subject may also be whoever speaks, the user, or "we". Those of `sure` come first and stand in place of others
        of the same subject, predicate and object.
        """
        known_for_sure = self.given(sure, note.speaker)
        settled = {_key(fact) for fact in known_for_sure}
        others = [fact for fact in self.given(facts, note.speaker) if _key(fact) not in settled]
        stated = [*known_for_sure, *others]
        if not stated:
            return []
        told = _words(note.content)
        known = told | _words(f"{note.speaker or ''} {self.user} {_KNOWN}")
        return [fact for fact in stated if _words(fact.subject) <= known and _words(fact.object) <= told]

    def _one(self, fact: Fact, speaker: str | None) -> Fact:
        subject = canonical_subject(fact.subject, speaker=speaker, user=self.user)
        return replace(fact, subject=subject, predicate=self.predicates().canonical(fact.predicate))


def _key(fact: Fact) -> tuple[str, str, str]:
    return subject_key(fact.subject), fact.predicate, normalize(fact.object)


def _words(text: str) -> set[str]:
    """Stems of words, and single Chinese characters: where a word ends there is a matter of taste."""
    if text.isascii():
        return set(index_terms(text))
    return {term for term in index_terms(text) if not is_cjk(term)}.union(filter(is_cjk, text))


_LONGEST_LABEL = 200
_TRIPLE = frozenset({"subject", "predicate", "object"})
_FACT_TIMES = ("valid_from", "valid_to")

#: Fields amem keeps itself; naming them in the error spares people the search for a typing error.
_KEPT_BY_AMEM = frozenset(
    {"id", "version", "status", "trust", "stability", "recorded_at", "evolution_history", "superseded_by", "at"}
    | {"enrichment", "analyst", "retrieval_count", "last_accessed", "overturned"}
)


def clean_content(value: Any, settings: Settings) -> str:
    """The content of a note. Raises EmptyNote, NoteTooLong or InvalidInput."""
    text = checks.text("content", value)
    if not text.strip():
        raise EmptyNote("a note cannot be empty", hint="give it some text")
    if len(text) > settings.max_note_chars:
        raise NoteTooLong(
            f"the note has {len(text):,} characters; the limit is {settings.max_note_chars:,}",
            hint="amem import splits long text; or raise AMEM_MAX_NOTE_CHARS",
        )
    return text


def clean(fields: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Checked values of the note fields that may be set from outside. Raises UnknownField or InvalidInput."""
    return {name: _cleaned(name, value, settings) for name, value in fields.items()}


def as_timestamp(value: Any, settings: Settings) -> tuple[str, datetime]:
    """A given time as (the text it reads back as, the UTC instant)."""
    if isinstance(value, datetime):
        return value.isoformat(), parse_time(value, zone(settings.timezone))
    if not isinstance(value, str):
        raise InvalidInput(f"a time must be text or a datetime, not {type(value).__name__}")
    return value, parse_time(value, zone(settings.timezone))


def labels(name: str, value: Any) -> list[str]:
    """A list of short texts: trimmed, none empty, none twice but for case."""
    if isinstance(value, str) or not isinstance(value, list | tuple | set | frozenset):
        raise InvalidInput(f"{name} must be a list of texts, not {checks.shown(value)}")
    found: dict[str, str] = {}
    for each in value:
        label = " ".join(checks.text(name, each).split())
        if not label:
            continue
        if len(label) > _LONGEST_LABEL:
            raise InvalidInput(f"one of the {name} has {len(label)} characters; at most {_LONGEST_LABEL} are allowed")
        found.setdefault(label.casefold(), label)
    return list(found.values())


def _cleaned(name: str, value: Any, settings: Settings) -> Any:
    if name in _CLEANERS:
        return _CLEANERS[name](name, value)
    if name in _BY_SETTINGS:
        return _BY_SETTINGS[name](value, settings)
    if name in _KEPT_BY_AMEM:
        raise UnknownField(f"{name!r} is kept by amem and cannot be set")
    raise UnknownField(
        f"a note has no field {name!r}", hint=f"the fields are {', '.join(sorted((*_CLEANERS, *_BY_SETTINGS)))}"
    )


def _line(name: str, value: Any) -> str:
    text = checks.text(name, value).strip()
    checks.short(name, text)
    return text


def _optional_line(name: str, value: Any) -> str | None:
    return None if value is None else _line(name, value) or None


def _ids(name: str, value: Any) -> list[str]:
    return [checks.identifier(f"one of the {name}", each) for each in labels(name, value)]


def _facts(value: Any, settings: Settings) -> list[Fact]:
    if isinstance(value, str) or not isinstance(value, list | tuple):
        raise InvalidInput(f"facts must be a list of (subject, predicate, object), not {checks.shown(value)}")
    return list(dict.fromkeys(_fact(each, settings) for each in value))


def _fact(value: Any, settings: Settings) -> Fact:
    given = value
    holds, times = True, {}
    if isinstance(value, Fact):
        value = asdict(value)
    if isinstance(value, Mapping) and _TRIPLE <= value.keys() <= _TRIPLE | {"holds", *_FACT_TIMES}:
        holds = checks.flag("holds", value.get("holds", True))
        times = {each: _moment(value.get(each), settings) for each in _FACT_TIMES}
        value = (value["subject"], value["predicate"], value["object"])
    if isinstance(value, str) or not isinstance(value, list | tuple) or len(value) != 3:
        raise InvalidInput(f"one of the facts is not a subject, a predicate and an object: {checks.shown(given)}")
    subject, predicate, object_ = (" ".join(checks.text("facts", each).split()) for each in value)
    # Of what ended it need not be known what it was: "Ana quit her job".
    if not subject or not predicate or (holds and not object_):
        raise InvalidInput(f"one of the facts lacks its subject, predicate or object: {checks.shown(given)}")
    if max(map(len, (subject, predicate, object_))) > _LONGEST_LABEL:
        raise InvalidInput(f"a part of one of the facts is too long; at most {_LONGEST_LABEL} characters are allowed")
    return Fact(subject, predicate, object_, holds, **times)


def _whole(name: str, value: Any) -> int | None:
    return None if value is None else checks.whole(name, value)


def _moment(value: Any, settings: Settings) -> datetime | None:
    return None if value is None else as_timestamp(value, settings)[1]


def _metadata(name: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise InvalidInput(f"{name} must be a dictionary with text keys, not {checks.shown(value)}")
    try:
        kept: dict[str, Any] = json.loads(json.dumps(value, allow_nan=False))
    except RecursionError:
        raise InvalidInput(f"{name} is nested too deeply") from None
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{name} must be JSON-ready: {error}") from error
    if kept != value:
        raise InvalidInput(f"{name} must be JSON-ready: tuples and non-text keys would change on the way")
    checks.text(name, json.dumps(kept, ensure_ascii=False))
    return kept


_BY_SETTINGS: Mapping[str, Callable[[Any, Settings], Any]] = {
    "content": clean_content,
    "facts": _facts,
    "timestamp": lambda value, settings: as_timestamp(value, settings)[0],
    "valid_from": _moment,
    "valid_to": _moment,
}
_CLEANERS: Mapping[str, Callable[[str, Any], Any]] = {
    "keywords": labels,
    "tags": labels,
    "entities": labels,
    "links": _ids,
    "context": _line,
    "category": _line,
    "kind": partial(checks.member, of=Kind),
    "layer": partial(checks.member, of=Layer),
    "importance": partial(checks.number, least=0.0, most=1.0),
    "pinned": checks.flag,
    "metadata": _metadata,
    "speaker": _optional_line,
    "conversation_id": _optional_line,
    "ordinal": _whole,
}

# The places filled by who or what takes another's: "Pieter is leaving, Fatima takes over" does not say as what.
#
# Other notes do: where one says that Pieter is my manager, Fatima is from then on; where one says that my phone is a
# Pixel 6, the Fairphone bought to replace it is. The new note states that as well, so that the timeline, searches and
# the rule of slots see it like any other fact.

SUCCEEDED_BY = "succeeded_by"
#: Places that one person may fill at a time, and more of them than this nobody does.
_MOST = 40


def with_places(session: Session, note: MemoryNote, predicates: Predicates) -> list[Fact]:
    """The note's facts, and what follows from those that say who succeeds whom."""
    facts = list(note.facts)
    with session.within(Scope.of(note.metadata)):
        for fact in note.facts:
            if fact.predicate == SUCCEEDED_BY and fact.holds:
                facts += [each for each in _taken(session, fact, note, predicates) if each not in facts]
    return facts


def _taken(session: Session, fact: Fact, note: MemoryNote, predicates: Predicates) -> Sequence[Fact]:
    """Who took a person's place did so wherever that one filled it; what is replaced is a thing of the speaker's."""
    rows = {row.name: row for row in predicates.rows.values() if row.one and row.name != SUCCEEDED_BY}
    names = [normalize(each) for row in rows.values() for each in (row.name, *row.aliases)]
    own = {USER, WE, subject_key(canonical_subject("I", speaker=note.speaker))}
    stated = session.facts.stated([subject_key(fact.subject)], names, _MOST)
    subjects = {each.subject for each in stated if same_value(each.object, fact.subject)}
    if not subjects:
        return []
    moment = note.at or session.now
    found: list[Fact] = []
    for each in intervals(session.facts.about(subjects, names), predicates):
        row = rows[each.predicate]
        fitting = (row.value == "person" and row.one is True) or subject_key(each.subject) in own
        if fitting and each.at(moment) and same_value(each.object, fact.subject):
            found.append(Fact(each.subject, each.predicate, fact.object, True, fact.valid_from))
            if row.one is not True:  # the table may not know that both play one role
                found.append(Fact(each.subject, each.predicate, each.object, False, fact.valid_from))
    return found


# What analysis finds, filled into the fields that nobody has given.

#: Fields that an analyst's answer fills in.
ANSWERED = ("keywords", "context", "tags", "kind", "importance", "entities", "facts")
#: All that analysis fills in where nobody has: the answer, and since when it is so, by the same rules whoever answers.
ANALYSED = (*ANSWERED, "valid_from")
#: Under this name a note's metadata says which fields the rules filled in although a model was asked, and why.
BY_RULES = "by_rules"
#: What a question or small talk says of a time is not since when something is so.
_NO_STATEMENT = (Kind.QUESTION, Kind.CHITCHAT)
#: Earlier turns of the conversation that an analyst is shown with a note.
PREVIOUS_TURNS = 3
#: Kind of the jobs that wait for an analyst.
ENRICH_JOB = "enrich"


def draft_of(note: MemoryNote, zone: tzinfo, previous: tuple[str, ...] = ()) -> Draft:
    """A note as an analyst is shown it, at the hour its own clock showed: "today" must mean that day."""
    return Draft(note.content, local_time(note.timestamp, zone), note.speaker, previous)


def fill_in(
    note: MemoryNote, analysis: Analysis, owned: Container[str], zone: tzinfo, canon: Canon | None = None
) -> None:
    """Take over what analysis found, for the fields nobody has filled in; `zone` is that of times given without one.

    Facts are brought into the form that `canon` keeps them in, whoever found them; without it the note states none of
    its own (it sums up others that do). What a model says is so that rules read otherwise ("Ana left Google") is as
    the rules read it: they know no longer from still, and March from May.

    `valid_from` is read from the text here, not asked for: small models get dates wrong, and a note whose model was
    down deserves its date, too. See ``amem.language.validity`` for what counts as one; else it is the time that all
    of the note's facts share.
    """
    for name in ANSWERED:
        if name != "facts" and name not in owned:
            value = getattr(analysis, name)
            setattr(note, name, list(value) if isinstance(value, tuple) else value)
    if "tags" not in owned:
        note.tags = with_hashtags(note, note.tags)
    if "facts" not in owned:
        note.facts = [] if canon is None else _stated(note, analysis, zone, canon)
    if "valid_from" not in owned:
        note.valid_from = _holds_from(note, zone)


def with_hashtags(note: MemoryNote, tags: Iterable[str]) -> list[str]:
    """The tags that stand in the note's text as ``#tag``, then these; in code a # is none."""
    written = [] if note.kind is Kind.CODE else hashtags(note.content)
    known = {tag.casefold() for tag in written}
    return written + [tag for tag in tags if tag.casefold() not in known]


def _stated(note: MemoryNote, analysis: Analysis, zone: tzinfo, canon: Canon) -> list[Fact]:
    if not analysis.prompt or note.kind is Kind.CODE:
        found = canon.found(analysis.facts, note)
    else:
        from amem.language.statements import facts_in

        found = canon.found(analysis.facts, note, facts_in(draft_of(note, zone), canon.predicates()))
    said = local_time(note.timestamp, zone)
    return [
        replace(fact, valid_from=_as_a_day(fact.valid_from, said, zone), valid_to=_as_a_day(fact.valid_to, said, zone))
        for fact in found
    ]


def _as_a_day(time: datetime | None, said: datetime, zone: tzinfo) -> datetime | None:
    """A day that a note names begins in `zone`, in which it is shown: "since 2023" must not read 2022-12-31 there.

    Not where it would then begin only after it was said, and no time of day is touched.
    """
    if time is None or time.tzinfo is None or time != time.replace(hour=0, minute=0, second=0, microsecond=0):
        return time
    day = time.replace(tzinfo=zone)
    return time if time <= said < day else day


def _holds_from(note: MemoryNote, zone: tzinfo) -> datetime | None:
    from amem.language.times import holds_from

    if note.kind in _NO_STATEMENT:
        return None
    said = local_time(note.timestamp, zone)
    found = _as_a_day(holds_from(note.content, said), said, zone)
    if found is None:
        shared = {fact.valid_from for fact in note.facts}
        found = shared.pop() if len(shared) == 1 else None
    return None if found is None else parse_time(found, zone)


def analysis_of(note: MemoryNote) -> Analysis:
    """A note's own fields as evolution is shown them."""
    return Analysis(
        keywords=tuple(note.keywords),
        context=note.context,
        tags=tuple(note.tags),
        kind=note.kind,
        importance=note.importance,
        entities=tuple(note.entities),
        facts=tuple(note.facts),
    )
