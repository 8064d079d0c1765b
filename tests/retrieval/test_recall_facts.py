"""The facts leg: names lead along what is stated of them to what is asked, and it is silent where nothing is."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from amem.language.asking import Asking
from amem.language.predicates import load_predicates
from amem.note import Fact, Status
from amem.query import Filter

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from asking import Collection


def stated(memory: Collection, content: str, *facts: tuple[str, str, str], **fields: Any) -> str:
    return memory.add(content, facts=[Fact(*fact) for fact in facts], **fields)


def by_facts(memory: Collection, question: str, **options: Any) -> list[str]:
    return memory.found(question, k=50, legs=("facts",), **options)


@pytest.fixture
def people(collection: Collection) -> dict[str, str]:
    """Who works where, lives where and is managed by whom; each note's text gives nothing away."""
    notes = {
        "ana's manager": ("Ana", "manager", "Priya"),
        "ana's home": ("Ana", "lives_in", "Lisbon"),
        "ana's job": ("Ana", "works_at", "Google"),
        "priya's home": ("Priya", "lives_in", "Porto"),
        "priya's job": ("Priya", "works_at", "Google"),
        "my job": ("user", "works_at", "OpenAI"),
        "my home": ("user", "lives_in", "上海"),
        "our database": ("we", "uses", "MySQL"),
        "our editor": ("we", "uses", "vim"),
        "ming's home": ("王小明", "lives_in", "北京"),
    }
    return {stated(collection, f"Note {n}.", fact): name for n, (name, fact) in enumerate(notes.items())}


def test_two_hops_answer_what_no_note_says_by_itself(collection: Collection, people: dict[str, str]) -> None:
    found = [people[id] for id in by_facts(collection, "Where does Ana's manager live?")]
    assert found[0] == "priya's home"
    assert set(found[1:]) == {"ana's manager", "ana's home"}


@pytest.mark.parametrize(
    ("question", "best"),
    [
        ("Where does Ana live?", "ana's home"),
        ("Where is it that Ana works?", "ana's job"),
        ("Who is the boss of Ana?", "ana's manager"),
        ("Where do I work?", "my job"),
        ("我在哪里工作？", "my job"),
        ("我现在住哪？", "my home"),
        ("What database do we use?", "our database"),
        ("我们用什么数据库？", "our database"),
        ("项目用的是什么编辑器", "our editor"),
        ("王小明住在哪里？", "ming's home"),
        ("Where does 王小明 live?", "ming's home"),
        ("Who lives in Porto?", "priya's home"),
    ],
)
def test_what_is_asked_of_a_name_is_found(
    collection: Collection, people: dict[str, str], question: str, best: str
) -> None:
    assert [people[id] for id in by_facts(collection, question)][:1] == [best]


def test_roles_that_are_named_leave_other_tools_out(collection: Collection, people: dict[str, str]) -> None:
    assert [people[id] for id in by_facts(collection, "Which database does the project use?")] == ["our database"]
    both = {people[id] for id in by_facts(collection, "What do we use?")}
    assert both == {"our database", "our editor"}


@pytest.mark.parametrize(
    "question",
    [
        "Ana",
        "What did Ana say about the weather?",
        "Where does everybody live?",
        "王小明",
        "Tell me about Priya and Ana",
    ],
)
def test_a_bare_name_or_a_question_about_nobody_finds_nothing(
    collection: Collection, people: dict[str, str], question: str
) -> None:
    assert by_facts(collection, question) == []


def test_a_predicate_that_no_table_knows_is_asked_for_by_its_name(collection: Collection) -> None:
    birthday = stated(collection, "Note 1.", ("Ana", "birthday", "5 May"))
    stated(collection, "Note 2.", ("Ana", "shoe_size", "38"))
    size = by_facts(collection, "What shoe size has Ana?")
    assert by_facts(collection, "When is Ana's birthday?") == [birthday]
    assert len(size) == 1
    assert size != [birthday]


@pytest.mark.parametrize("question", ["我还喝美式吗？", "Do I still drink lattes?", "我还喝咖啡吗？"])
def test_a_habit_given_up_is_found_by_what_falls_under_it(collection: Collection, question: str) -> None:
    given_up = collection.add("Note 1.", facts=[Fact("user", "likes", "咖啡", False)])
    stated(collection, "Note 2.", ("user", "likes", "茶"))
    assert by_facts(collection, question)[:1] == [given_up]


def test_when_asks_for_a_day_or_a_time_where_it_names_nothing_else(collection: Collection) -> None:
    stand_up = stated(collection, "Note 1.", ("stand-up", "time", "9:30"))
    stated(collection, "Note 2.", ("stand-up", "owner", "Ana"))
    assert by_facts(collection, "When is stand-up?") == [stand_up]


def test_what_one_pays_is_not_what_one_is_paid(collection: Collection) -> None:
    salary = stated(collection, "Note 1.", ("user", "salary", "4,200"))
    rent = stated(collection, "Note 2.", ("user", "rent", "950 euros"))
    assert by_facts(collection, "How much rent do I pay?") == [rent]
    assert by_facts(collection, "What is my pay?") == by_facts(collection, "我的工资是多少？") == [salary]


def test_somebodys_somebody_is_a_name_of_its_own(collection: Collection) -> None:
    sister = stated(collection, "Note 1.", ("user's sister", "lives_in", "Braga"))
    stated(collection, "Note 2.", ("user", "lives_in", "Porto"))
    assert by_facts(collection, "Where does my sister live?")[:1] == [sister]


def test_what_is_so_no_longer_is_found_only_where_the_past_is_asked_for(collection: Collection) -> None:
    now = stated(collection, "Note 1.", ("Ana", "lives_in", "Lisbon"), at="2026-01-01")
    before = stated(collection, "Note 2.", ("Ana", "lives_in", "Porto"), at="2020-01-01")
    assert by_facts(collection, "Where does Ana live?") == [now]
    assert (
        by_facts(collection, "Where did Ana live before?") == by_facts(collection, "Ana以前住在哪？") == [now, before]
    )
    then = Filter(as_of=datetime(2022, 1, 1, tzinfo=UTC))
    assert by_facts(collection, "Where does Ana live?", filter=then) == [before]


def test_what_hung_on_a_former_employer_is_not_so(collection: Collection) -> None:
    stated(collection, "Note 1.", ("user", "works_at", "Google"), at="2024-01-01")
    stated(collection, "Note 2.", ("user", "manager", "Priya"), at="2024-02-01")
    stated(collection, "Note 3.", ("user", "works_at", "OpenAI"), at="2026-01-01")
    assert by_facts(collection, "Who is my boss?") == []


def test_notes_that_may_not_answer_neither_answer_nor_lead_on(collection: Collection) -> None:
    manager = stated(collection, "Note 1.", ("Ana", "manager", "Priya"))
    home = stated(collection, "Note 2.", ("Priya", "lives_in", "Porto"), tags=["home"])
    question = "Where does Ana's manager live?"
    assert by_facts(collection, question) == [home, manager]
    collection.change(manager, status=str(Status.SUPERSEDED))
    assert by_facts(collection, question) == []
    everything = Filter(statuses=tuple(Status))
    assert by_facts(collection, question, filter=everything) == [manager]
    assert by_facts(collection, "Where does Priya live?", filter=Filter(tags=("work",))) == []


def test_the_explanation_shows_the_way(collection: Collection, people: dict[str, str]) -> None:
    (hit, *_) = collection.ask("Where does Ana's manager live?", k=1, legs=("facts",))
    (share,) = hit.explanation.legs
    assert (share.leg, share.matched) == ("facts", ("Ana manager Priya", "Priya lives_in Porto"))
    assert hit.explanation.words() == "1st by facts (Ana manager Priya, Priya lives_in Porto)."


def test_it_brings_in_what_words_and_meaning_miss(open_collection: Callable[..., Collection], minilm: Any) -> None:
    memory = open_collection(embedder=minilm)
    stated(memory, "Ana reports to Priya Rao these days.", ("Ana", "manager", "Priya Rao"))
    wanted = stated(memory, "Priya Rao found a flat near the river in Porto.", ("Priya Rao", "lives_in", "Porto"))
    for n, name in enumerate(["Tom", "Eva", "Ben", "Mia", "Leo", "Zoe", "Ian", "Kim"]):
        stated(memory, f"{name} lives with a manager in flat {n}.", (name, "lives_in", f"town {n}"))
    question = "Where does Ana's manager live?"
    assert wanted in memory.found(question, k=2)
    assert wanted not in memory.found(question, k=2, legs=("dense", "lexical"))


def test_facts_of_one_person_without_end_do_not_flood(collection: Collection) -> None:
    for n in range(120):
        stated(collection, f"Note {n}.", ("user", "likes", f"thing {n}"))
    wanted = stated(collection, "I live in Porto.", ("user", "lives_in", "Porto"))
    assert by_facts(collection, "Where do I live?") == [wanted]
    assert len(by_facts(collection, "What do I like?")) == 50


def test_the_note_that_says_what_is_over_answers_in_whatever_language_it_was_said(collection: Collection) -> None:
    began, ended = datetime(2023, 1, 1, tzinfo=UTC), datetime(2025, 6, 22, tzinfo=UTC)
    collection.add("Note 1.", facts=[Fact("user", "diet", "vegetarian", valid_from=began, valid_to=ended)])
    over = collection.add("Note 2.", facts=[Fact("user", "diet", "素", False, valid_from=ended)])
    assert by_facts(collection, "Do I eat fish these days?") == [over]


def test_questions_are_read_in_the_words_of_the_table(tmp_path: Path) -> None:
    asking = Asking(load_predicates())
    assert {"lives_in", "works_at"} <= asking.of("Where does she live and work?").predicates
    assert asking.of("他对什么过敏？").predicates == {"allergic_to"}
    assert asking.of("会议是什么时候？").predicates == {"date", "time"}
    assert asking.of("Is it on?").predicates == frozenset()
    assert asking.of("What is our package manager?").roles == {"package_manager"}
    (tmp_path / "predicates.toml").write_text('[drives]\nasks = ["car", "车"]\n', encoding="utf-8")
    own = Asking(load_predicates(tmp_path))
    assert own.of("Which car has he?").predicates == own.of("他的车呢？").predicates == {"drives"}


@pytest.mark.parametrize("question", ["Which novels does Ana love?", "Does Ana enjoy crime novels by women?"])
def test_of_several_values_the_one_that_the_question_speaks_of_answers(collection: Collection, question: str) -> None:
    chess = stated(collection, "Note 1.", ("Ana", "likes", "chess"))
    novels = stated(collection, "Note 2.", ("Ana", "likes", "crime novels"))
    hits = collection.ask(question, k=50, legs=("facts",))
    assert [hit.id for hit in hits] == [novels, chess]
    assert hits[1].score < 0.5 * hits[0].score
