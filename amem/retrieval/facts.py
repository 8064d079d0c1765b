"""The facts leg: from the names in a question, along what is stated of them, to the notes that state what is asked.

"Where does Ana's manager live?" names Ana and asks for two things: her manager, which brings in Priya, and where
someone lives, which is stated of Priya. What is so no longer does not count, unless the past is asked for. It says
nothing where a question asks for nothing that a predicate names.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from amem.note import Status
from amem.retrieval.entity import spans
from amem.retrieval.legs import Listed
from amem.storage.facts_at import told_at
from amem.text import normalize
from amem.truth.asking import Asking
from amem.truth.intervals import intervals, same_value
from amem.truth.subjects import USER, WE, canonical_subject, spellings, subject_key

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Set

    from amem.query import Filter
    from amem.retrieval.gate import Gate
    from amem.retrieval.legs import Asked as Question
    from amem.settings import Settings
    from amem.storage import Session
    from amem.storage.facts import Stated
    from amem.truth.asking import Asked
    from amem.truth.intervals import Interval
    from amem.truth.predicates import Predicates

#: Facts looked at for one hop, those true last first; and names that the first hop may bring in.
_HOPS = 2
LONGEST = 2_000
_MOST_FACTS = 200
_MOST_NAMES = 50
#: A fact between two names, or of somebody's somebody, answers more; what is so no longer, of a question that asks
#: for it, less.
_CLOSE = 0.25
_PAST = -0.5
_OF_SOMEBODY = re.compile(r"['’]s |的")
SELF = re.compile(r"\b(?:[Ii]|[Mm]y|me|mine|myself)\b|我(?!们)|本人")
OURS = re.compile(r"\b(?:[Ww]e|[Oo]ur|us|ours)\b|我们|咱们")
ASKS_PAST = re.compile(
    r"\b(?:before|used to|previous(?:ly)?|former(?:ly)?|ever|once|history|in the past|originally|did|was|were)\b"
    r"|以前|之前|原来|原先|曾经?|过去|当时|历史|历任|先后"
)
_POSSESSIVE = re.compile(r"(?:[Mm]y|\w[\w.\-]*(?:\s\w[\w.\-]*)?['’]s?)\s+\w+")


def named(text: str, user: str) -> dict[str, str]:
    """Every run of words in a question that may name a subject: its key, as facts have it, with the run itself."""
    canonical = {subject_key(name): who for who in (WE, USER) for name in spellings(who, user)}
    runs = spans(text)
    owned = [*_POSSESSIVE.findall(text), *(run for run in runs if run[0] == "我" or "的" in run)]
    keys = {subject_key(run): run for run in runs}
    keys |= {subject_key(canonical_subject(each, user=user)): each for each in owned}
    return {canonical.get(key, key): run for key, run in keys.items()}


@dataclass(frozen=True, slots=True)
class _Way:
    """How a note was reached: the facts on the way, the last one its own, and the predicates they answer."""

    score: float
    facts: tuple[Stated, ...]
    answered: frozenset[str]
    #: Whether its last fact is so; what was so once leads no further.
    so: bool = True

    def words(self) -> tuple[str, ...]:
        return tuple(" ".join(filter(None, (each.subject, each.predicate, each.object))) for each in self.facts)


class FactsLeg:
    """Ranks notes by how much of what the question asks their facts answer, within two hops of its names."""

    name = "facts"

    def __init__(self, settings: Settings, predicates: Callable[[], Predicates]) -> None:
        self._user = settings.user_name
        self._predicates = predicates

    @cached_property
    def _asking(self) -> Asking:
        return Asking(self._predicates())

    def ask(self, question: Question) -> Listed | None:
        """Candidates whose facts answer what is asked of the names; None where nothing is asked or nobody named.

        Raises InvalidInput for a table of predicates that cannot be read.
        """
        # What is longer than this is no question but a page to find the like of.
        session, gate, text = question.session, question.gate, question.reading.text[:LONGEST]
        asked = self._asking.of(text)
        # One look at the index is all it takes to see that there is nothing to say.
        names = session.facts.known(self._names(text), self._spelled(asked))
        past = Status.SUPERSEDED in gate.wanted.statuses or ASKS_PAST.search(text) is not None
        ways = self._walk(session, asked, names, gate, past=past) if names else {}
        if not ways:
            return None
        best = sorted(ways.items(), key=lambda each: (-each[1].score, -each[0]))[: question.limit]
        return Listed(
            [key for key, _ in best],
            [way.score for _, way in best],
            best[0][1].score,
            {key: way.words() for key, way in best},
            ties_share=True,
        )

    def _names(self, text: str) -> frozenset[str]:
        """Every run of words that may be a name, as facts are keyed; who speaks and who we are among them."""
        speaking = {USER} if SELF.search(text) else set()
        together = {WE} if OURS.search(text) else set()
        return frozenset(set(named(text, self._user)) | speaking | together)

    def _walk(self, session: Session, asked: Asked, names: Set[str], gate: Gate, *, past: bool) -> dict[int, _Way]:
        ways: dict[int, _Way] = {}
        frontier: Mapping[str, _Way] = dict.fromkeys(names, _Way(0.0, (), frozenset()))
        for _ in range(_HOPS):
            reached = list(self._step(session, asked, frontier, names, gate, past=past))
            for way in reached:
                key = way.facts[-1].note
                if key not in ways or ways[key].score < way.score:
                    ways[key] = way
            frontier = _brought(reached, asked, names)
            if not frontier:
                break
        return ways

    def _step(
        self, session: Session, asked: Asked, frontier: Mapping[str, _Way], names: Set[str], gate: Gate, *, past: bool
    ) -> Iterator[_Way]:
        predicates = self._predicates()
        stated = session.facts.stated(frontier, self._spelled(asked), _MOST_FACTS)
        admitted = set(gate.admit({each.note for each in stated}))
        stated = [each for each in stated if each.note in admitted]
        so = self._so(session, {each.subject_key for each in stated}, asked, gate.wanted) if stated else {}
        for each in stated:
            predicate = predicates.canonical(each.predicate)
            row = predicates.rows.get(predicate)
            role = predicates.role(each.object) if row is not None and row.one == "role" else None
            holds = any(same_value(each.object, value) for value in so.get((each.note, predicate), ()))
            if not asked.covers(predicate, role) or not (holds or past):
                continue
            for name in (each.subject_key, each.object_key):
                way = frontier.get(name)
                if way is None or predicate in way.answered:
                    continue
                close = {each.subject_key, each.object_key} <= names or _OF_SOMEBODY.search(name) is not None
                score = way.score + 1.0 + _CLOSE * close + (0.0 if holds else _PAST)
                yield _Way(score, (*way.facts, each), way.answered | {predicate}, holds)

    def _so(
        self, session: Session, subjects: Collection[str], asked: Asked, wanted: Filter
    ) -> Mapping[tuple[int, str], list[str]]:
        """What is so of these subjects, at the time that the filter asks for: values by note and predicate."""
        predicates = self._predicates()
        if wanted.known_at is not None:
            told = told_at(session, list(subjects), wanted.known_at)
        else:
            bases = filter(None, map(predicates.hangs_on, asked.predicates))
            told = session.facts.about(subjects, [*self._spelled(asked), *self._names_of(bases)])
        keys = {each.note: each.order for each in told}
        moment = wanted.as_of or wanted.known_at or session.now
        so: dict[tuple[int, str], list[str]] = {}
        ended: dict[tuple[str, str], Interval] = {}
        holding: set[tuple[str, str]] = set()
        for each in intervals(told, predicates):
            if each.at(moment):
                holding.add((each.subject, each.predicate))
                for note in each.notes:
                    so.setdefault((keys[note], each.predicate), []).append(each.object)
            elif each.until is not None and each.until <= moment and each.ended_by in keys:
                ended[each.subject, each.predicate] = each
        for (subject, predicate), last in ended.items():
            if (subject, predicate) not in holding and last.ended_by is not None:
                # Where nothing took its place, the note that says it is over says what is so now.
                so.setdefault((keys[last.ended_by], predicate), []).extend((last.object, ""))
        return so

    def _spelled(self, asked: Asked) -> list[str]:
        return [*asked.words, *self._names_of(asked.predicates)]

    def _names_of(self, predicates: Iterable[str]) -> list[str]:
        """These predicates under every name that a note may have for them, folded."""
        rows = self._predicates().rows
        return [normalize(each) for name in predicates for each in (name, *rows[name].aliases)]


def _brought(reached: Iterable[_Way], asked: Asked, names: Set[str]) -> dict[str, _Way]:
    """The names that the first hop's facts bring in, each by the best way, where something is left to be answered."""
    found: dict[str, _Way] = {}
    for way in reached:
        fact = way.facts[-1]
        if not way.so or asked.predicates <= way.answered:
            continue
        for name in {fact.subject_key, fact.object_key} - names:
            if name not in found or found[name].score < way.score:
                found[name] = way
    best = sorted(found.items(), key=lambda each: -each[1].score)[:_MOST_NAMES]
    return dict(best)
