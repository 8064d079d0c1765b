"""A search may spread its places over sessions or topics, and say which one each note is in."""

from __future__ import annotations

import asyncio
from datetime import UTC
from io import StringIO
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from amem import AsyncMemory, Query, Source
from amem.cli.render import Page, draw_hits
from amem.errors import InvalidInput
from amem.query import Grouping
from amem.retrieval.hit import Group, spread_over

if TYPE_CHECKING:
    from collections.abc import Sequence

    from briefed import Open

    from amem import AgenticMemorySystem, Hit

TALK = (
    ("2026-01-04T10:00", "We baked rye bread."),
    ("2026-01-04T10:01", "We baked seed bread."),
    ("2026-01-04T10:02", "We baked flat bread."),
    ("2026-01-20T18:00", "We bought bread flour."),
)
QUESTION = "Which bread did we bake?"


@pytest.fixture
def memory(open_memory: Open) -> AgenticMemorySystem:
    """A conversation on two days, and two notes outside it."""
    memory = open_memory()
    for time, text in TALK:
        memory.add(text, timestamp=time, conversation_id="kitchen")
    memory.add("Corn bread is baked in a pan.", timestamp="2025-11-05T09:00")
    memory.add("The bread knife is blunt.", timestamp="2025-11-05T19:00")
    return memory


def groups(hits: Sequence[Hit]) -> list[str]:
    return [hit.group.title for hit in hits if hit.group is not None]


def test_the_notes_of_a_session_stand_together_the_best_of_them_first(memory: AgenticMemorySystem) -> None:
    hits = memory.search(QUESTION, 6, group_by="session")
    titles = groups(hits)
    assert set(titles) == {"kitchen 2026-01-04", "kitchen 2026-01-20", "2025-11-05"}
    assert len(hits) == 6
    seen: dict[str, list[float]] = {}
    for title, hit in zip(titles, hits, strict=True):
        assert title not in list(seen)[:-1], "a session is told in one piece"
        seen.setdefault(title, []).append(hit.score)
    assert all(scores == sorted(scores, reverse=True) for scores in seen.values())
    best = [scores[0] for scores in seen.values()]
    assert best == sorted(best, reverse=True)


def test_only_a_grouped_answer_says_its_group(memory: AgenticMemorySystem) -> None:
    plain, grouped = (memory.search(QUESTION, 1, group_by=by)[0] for by in (None, "session"))
    assert plain.group is None
    assert "group" not in plain.to_dict()
    assert "group" not in plain
    assert len(plain) == len(list(plain))
    assert grouped.to_dict() == {
        **plain.to_dict(),
        "group": {"by": "session", "id": "kitchen 2026-01-04", "title": "kitchen 2026-01-04"},
    }


def test_a_terminal_shows_a_group_under_its_title(memory: AgenticMemorySystem) -> None:
    memory.declare_topic("flour", about="flour")
    shown = {}
    for by in (None, "session", "topic"):
        written = StringIO()
        draw_hits(Page(Console(file=written, width=90)), memory.search(QUESTION, 6, group_by=by), UTC)
        shown[by] = [line for line in written.getvalue().splitlines() if not line.startswith(" ")]
    assert shown[None] == []
    assert sorted(shown["session"]) == ["2025-11-05", "kitchen 2026-01-04", "kitchen 2026-01-20"]
    assert set(shown["topic"]) == {"flour", "no topic"}


def test_a_topic_is_a_group_and_a_note_without_one_stands_alone(memory: AgenticMemorySystem) -> None:
    page = memory.declare_topic("flour", about="flour").topic
    flour = next(note for note in memory.list() if note.content == TALK[-1][1])
    hits = memory.search_agentic(QUESTION, 6, group_by="topic")
    told = {hit.content: hit.group for hit in hits}
    assert told[flour.content] == Group(Grouping.TOPIC, page.id, "flour")
    assert told[TALK[0][1]] == Group(Grouping.TOPIC, "", "")
    assert [hit.id for hit in hits if hit.group and not hit.group.id] == [
        hit.id for hit in memory.search_agentic(QUESTION, 6) if hit.id != flour.id
    ]


def test_a_document_is_a_session_and_an_entry_of_an_export_is_none(open_memory: Open) -> None:
    memory = open_memory()
    for day, ref in enumerate(("Bread.md", "bread.txt:1", "bread.txt:40", "export.json: 7"), start=1):
        text = f"Bread number {day} is dark."
        source = Source(f"file {day}", "file", None, ref, None, None, text)
        memory.add(text, timestamp=f"2026-01-0{day}T10:00", source=source)
    assert sorted(groups(memory.search("bread", 5, group_by="session"))) == [
        "2026-01-04",
        "Bread.md",
        "bread.txt",
        "bread.txt",
    ]


def test_an_unknown_grouping_is_refused_with_those_that_there_are(memory: AgenticMemorySystem) -> None:
    with pytest.raises(InvalidInput, match="there is no grouping 'week'") as refused:
        memory.search(QUESTION, group_by="week")
    assert refused.value.hint == "the groupings are session, topic"
    with pytest.raises(InvalidInput, match="there is no grouping"):
        Query(QUESTION, group_by=3)  # type: ignore[arg-type]


def test_the_asynchronous_memory_and_a_scope_group_as_well(memory: AgenticMemorySystem) -> None:
    memory.add("Ana bakes bread.", timestamp="2026-02-02T08:00", user_id="ana")
    assert groups(memory.scoped(user_id="ana").search("bread", group_by="session")) == ["2026-02-02"]

    async def ask() -> list[Hit]:
        return await AsyncMemory(system=memory).search(QUESTION, 3, group_by="session")

    assert groups(asyncio.run(ask()))[0] == "kitchen 2026-01-04"


def test_a_further_note_of_a_group_makes_room_for_nearly_as_good_a_note_of_another() -> None:
    one, two = (Group(Grouping.SESSION, name, name) for name in ("one", "two"))
    assert spread_over([one, one, one, two], [0.9, 0.88, 0.86, 0.84], 3) == [0, 1, 3]
    assert spread_over([one, one, one, two], [0.9, 0.88, 0.86, 0.5], 3) == [0, 1, 2]
    assert spread_over([one, two, one], [0.9, 0.8, 0.7], 3) == [0, 2, 1]
    none = Group(Grouping.TOPIC, "", "")
    assert spread_over([none, none, none], [0.9, 0.88, 0.86], 2) == [0, 1]
    assert spread_over([], [], 5) == []
