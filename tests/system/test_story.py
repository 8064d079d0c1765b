"""Forty messages told out of order: what is so now, what was so in March, how it came about, and all of it undone."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from story import CHINESE, ENGLISH, JANUARY, MARCH, NOW, Course, Story

from amem import AgenticMemorySystem, Filter
from amem.note import Kind, Status
from amem.testing import FrozenClock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from amem.language.intervals import Interval
    from amem.protocols import Embedder

FEBRUARY = datetime(2026, 2, 1, tzinfo=UTC)
EVERYTHING = Filter(statuses=tuple(Status))
STORIES = {"English": ENGLISH, "Chinese": CHINESE}
COURSES = [
    pytest.param(name, course, id=f"{name} {course.predicate}") for name in STORIES for course in STORIES[name].courses
]


class Told:
    """A collection that was told a story: as a conversation, or note by note in disorder."""

    def __init__(self, story: Story, way: str, embedder: Embedder) -> None:
        self.story, self.way = story, way
        self.clock = FrozenClock("2026-07-01T12:00")
        self.memory = AgenticMemorySystem(llm_backend="offline", embedder=embedder, clock=self.clock)
        self.operation: int | None = None
        #: After each note: when it was told, all notes as they were, and all that was known of the user.
        self.states: list[tuple[datetime, dict[str, dict[str, Any]], list[Interval]]] = []
        if way == "remembered":
            said = [{name: message[name] for name in ("role", "content", "at")} for message in story.messages]
            self.operation = self.memory.remember(said).operation
        else:
            for message in story.as_notes():
                self.memory.add(message["content"], time=message["at"])
                self.states.append((self.clock.now(), self.notes(), self.memory.facts("me")))
                self.clock.advance(hours=1)
        self.clock.advance(NOW - self.clock.now())

    def notes(self) -> dict[str, dict[str, Any]]:
        """Every note whatever its status, with all that is versioned, by id."""
        return {note.id: asdict(note) for note in self.memory.list(EVERYTHING, limit=1_000)}

    def saying(self, text: str) -> str:
        """The id of the one note that says this, word for word."""
        (id,) = [id for id, note in self.notes().items() if note["content"].strip() == text and note["kind"] != "topic"]
        return id


@pytest.fixture(scope="module")
def tell(minilm: Embedder) -> Iterator[Any]:
    """Tells each story once each way; the tests leave it as it was."""
    told: dict[tuple[str, str], Told] = {}

    def tell_(name: str, way: str) -> Told:
        if (name, way) not in told:
            told[name, way] = Told(STORIES[name], way, minilm)
        return told[name, way]

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AMEM_ARCHIVE_OWN_NOTES", "true")
        yield tell_
    for each in told.values():
        each.memory.close()


@pytest.fixture(params=["remembered", "noted"])
def way(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(params=list(STORIES))
def told(request: pytest.FixtureRequest, tell: Any, way: str) -> Told:
    return tell(request.param, way)


def values(found: list[Interval]) -> list[str]:
    return [each.object for each in found]


def of_course(found: list[Interval], course: Course) -> list[Interval]:
    """Of "uses", which holds a value for each role, those of the course's own role."""
    names = [name.casefold() for name in course.values]
    return [each for each in found if course.predicate != "uses" or each.object.casefold() in names]


@pytest.mark.parametrize("moment", [NOW, MARCH, JANUARY], ids=["now", "in March", "in January"])
@pytest.mark.parametrize(("name", "course"), COURSES)
def test_facts_say_what_is_so_and_what_was(tell: Any, way: str, name: str, course: Course, moment: datetime):
    found = of_course(tell(name, way).memory.facts(course.subject, course.predicate, as_of=moment), course)
    assert len(found) == 1, values(found)
    assert course.value(moment).casefold() in found[0].object.casefold()


@pytest.mark.parametrize(("name", "course"), COURSES)
def test_the_history_has_each_value_in_its_place(tell: Any, way: str, name: str, course: Course):
    found = of_course(tell(name, way).memory.timeline(course.subject, course.predicate), course)
    assert len(found) == len(course.values), values(found)
    for each, value in zip(found, course.values, strict=True):
        assert value.casefold() in each.object.casefold()
    assert found[-1].until is None
    for place, (before, after, change) in enumerate(zip(found, found[1:], course.changes, strict=False)):
        assert before.until is not None
        assert before.until <= after.since
        if change is None:
            continue
        earliest, latest = (datetime.fromisoformat(day).replace(tzinfo=UTC) for day in change)
        assert earliest <= after.since <= latest
        # Of the first value no more is told than that it was so in January.
        assert (earliest if place else FEBRUARY) <= before.until <= latest


@pytest.mark.parametrize(("name", "course"), COURSES)
def test_search_answers_with_what_is_so_now(tell: Any, way: str, name: str, course: Course):
    story, memory = tell(name, way).story, tell(name, way).memory
    hits = memory.search(course.question, k=5, touch=False)
    assert course.value(NOW).casefold() in hits[0].content.casefold(), [hit.content for hit in hits]
    assert not {hit.content for hit in hits} & set(story.outdated)
    assert {note.status for hit in hits if (note := memory.read(hit.id))} == {Status.ACTIVE}


@pytest.mark.parametrize("moment", [MARCH, JANUARY], ids=["in March", "in January"])
@pytest.mark.parametrize(("name", "course"), COURSES)
def test_search_as_of_then_answers_with_what_was_so(tell: Any, way: str, name: str, course: Course, moment: datetime):
    hits = tell(name, way).memory.search(course.question, k=3, filter=Filter(as_of=moment), touch=False)
    assert hits
    assert course.value(moment).casefold() in hits[0].content.casefold(), [hit.content for hit in hits]


def test_what_hung_on_the_employer_that_was_left_is_not_mixed_with_the_new_one(told: Told):
    present, past = told.story.offices
    (office,) = told.memory.facts(told.story.courses[0].subject, "office")
    assert present in office.object
    (former,) = [each for each in told.memory.timeline("me", "office") if past in each.object]
    assert former.until is not None
    assert former.until <= office.since
    assert told.memory.facts("me", "team") == []
    (team,) = told.memory.timeline("me", "team")
    assert told.story.left_value in team.object
    assert team.until is not None
    assert not team.certain, "nobody said that the team was left: it is presumed"
    assert told.memory.flags(told.saying(told.story.left_behind)), "so the note stands, and a person is told of it"


def test_what_was_taken_back_is_not_so_and_does_not_answer(told: Told):
    assert told.memory.facts("me", "allergic_to") == []
    hits = told.memory.search(told.story.asked_back, k=5, touch=False)
    assert told.story.taken_back not in {hit.content for hit in hits}
    note = told.memory.read(told.saying(told.story.taken_back))
    assert note is not None
    assert note.status is Status.SUPERSEDED
    if told.way == "remembered":
        assert note.superseded_by is None, '"forget that" puts nothing in its place'


def test_facts_of_others_and_mere_plans_are_not_taken_for_the_users(told: Told):
    ours = told.memory.timeline("me") + told.memory.timeline("we")
    for plan in told.story.plans:
        assert not [each for each in ours if plan in each.object]
        said = [each for each in told.notes().values() if plan in each["content"] and each["kind"] != Kind.EPISODE]
        assert {each["status"] for each in said} <= {Status.ACTIVE}, "a plan is none the less one that was had"
    for person, value in told.story.others.items():
        note = [each for each in told.notes().values() if person in each["content"] and value in each["content"]]
        assert {each["status"] for each in note if each["kind"] != Kind.EPISODE} == {Status.ACTIVE}


@pytest.mark.parametrize("name", list(STORIES))
def test_every_note_reads_as_it_stood_at_any_time(tell: Any, name: str):
    told = tell(name, "noted")
    before: dict[str, dict[str, Any]] = {}
    for moment, notes, facts in told.states:
        # Each state that a note ever had, at the moment it began.
        for id in (id for id in notes if standing(notes[id]) != standing(before.get(id))):
            then = told.memory.read(id, known_at=moment)
            assert then is not None
            assert standing(asdict(then)) == standing(notes[id])
            if id not in before:
                assert told.memory.read(id, known_at=moment - timedelta(minutes=1)) is None, "nobody knew of it yet"
        assert told.memory.facts("me", known_at=moment) == facts
        before = notes
    for id, note in before.items():
        assert len(told.memory.history(id)) >= note["version"]


def standing(note: dict[str, Any] | None) -> dict[str, Any] | None:
    """What of a note is versioned: not its links, its use, nor what is reckoned of it at the time it is read."""
    beside = {"links", "retrieval_count", "last_accessed", "evolution_history", "trust", "stability"}
    return None if note is None else {name: value for name, value in note.items() if name not in beside}


def test_every_supersession_is_undone_and_redone(told: Told):
    memory, before = told.memory, told.notes()
    for id, note in before.items():
        if note["status"] is not Status.SUPERSEDED:
            continue
        memory.unsupersede(id)
        again = memory.read(id)
        assert again is not None
        assert (again.status, again.superseded_by) == (Status.ACTIVE, None)
        memory.undo()
        assert state(memory.read(id)) == (Status.SUPERSEDED, note["superseded_by"], note["valid_to"])
    for operation in [each for each in memory.log(limit=1_000) if each.action == "supersede" and not each.undone]:
        assert memory.undo(operation.id).undone == operation.id
        memory.redo()
    assert {id: state(memory.read(id)) for id in before} == {
        id: (note["status"], note["superseded_by"], note["valid_to"]) for id, note in before.items()
    }


def state(note: Any) -> tuple[Any, ...]:
    return (note.status, note.superseded_by, note.valid_to)


@pytest.mark.parametrize("name", list(STORIES))
def test_undoing_the_conversation_leaves_nothing(tell: Any, name: str):
    told = tell(name, "remembered")
    memory = told.memory
    before = told.notes()
    memory.undo(told.operation)
    assert memory.count() == 0
    assert memory.facts("me") == []
    assert memory.timeline("we") == []
    assert memory.search(told.story.courses[0].question, touch=False) == []
    memory.redo()
    assert {id: state(memory.read(id)) for id in before} == {
        id: (note["status"], note["superseded_by"], note["valid_to"]) for id, note in before.items()
    }


def test_undoing_a_night_restores_every_note_byte_for_byte(told: Told):
    memory, before = told.memory, told.notes()
    links = {id: memory.links(id) for id in before}
    told.clock.advance(days=120)
    report = memory.maintain()
    assert report.faded, "chatter about the rain has had its day"
    assert memory.undo(report.operation).undone == report.operation
    told.clock.advance(days=-120)
    after = told.notes()
    assert {after[id]["status"] for id in set(after) - set(before)} <= {Status.DELETED}, "what the night made is gone"
    for id, note in before.items():
        for moving in ("version", "evolution_history"):  # undoing is a version, too
            note.pop(moving), after[id].pop(moving)
        assert after[id] == note
    assert {id: memory.links(id) for id in before} == links
