"""Topics of a collection: found by links or declared by a person, kept up, put away, taken back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from amem.analysis import PageDraft
from amem.analysts.rules import OfflineAnalyst
from amem.errors import BadModelAnswer, InvalidInput, NoteNotFound
from amem.note import Kind, LinkType, Status
from amem.query import Filter, Query

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem import AgenticMemorySystem
    from amem.analysis import PageNote
    from amem.protocols import Embedder
    from amem.testing import FrozenClock
    from tests.conftest import Open

KILN = [
    "The kiln in the shed is fired with gas",
    "The kiln needs a new thermocouple before winter",
    "Ana repairs the kiln on Mondays",
    "The glaze cracked because the kiln cooled too fast",
    "Never open the kiln above 100 degrees",
]
PAGES = Filter(kinds=(Kind.TOPIC,), statuses=tuple(Status))


@pytest.fixture
def memory(open_memory: Open, minilm: Embedder) -> AgenticMemorySystem:
    return open_memory(embedder=minilm, analyst=OfflineAnalyst())


def linked(memory: AgenticMemorySystem, texts: Sequence[str], **fields: Any) -> list[str]:
    """Notes that are all linked with each other."""
    ids = [memory.add_note(text, **fields) for text in texts]
    for place, one in enumerate(ids):
        for other in ids[place + 1 :]:
            if other not in {link.target for link in memory.links(one)}:
                memory.link(one, other)
    return ids


def cited(text: str) -> set[str]:
    return set(re.findall(r"\[\[([^\]]+)\]\]", text))


def test_linked_notes_get_a_page_that_cites_each_of_them(memory: AgenticMemorySystem) -> None:
    ids = linked(memory, KILN)
    report = memory.maintain()

    assert report.topics_updated == 1
    (topic,) = memory.topics()
    assert topic.name.casefold().startswith("kiln")
    assert (topic.notes, topic.declared) == (5, False)
    page = memory.topic("kiln")
    assert {memory.resolve(short) for short in cited(page.text)} == set(ids)
    assert set(page.notes) == set(ids)
    for id in ids:
        assert topic.id in {link.target for link in memory.links(id) if link.type is LinkType.PART_OF}


def test_with_nothing_changed_nothing_is_written(memory: AgenticMemorySystem, clock: FrozenClock) -> None:
    linked(memory, KILN)
    memory.maintain()
    before = [(note.content, note.version) for note in memory.list(PAGES)]
    clock.advance(days=1)
    for _ in range(2):
        assert memory.maintain().topics_updated == 0
    memory.add_note("Something else altogether: the tram to Graça was late")
    assert memory.maintain().topics_updated == 0
    assert [(note.content, note.version) for note in memory.list(PAGES)] == before


def test_a_topic_stays_the_same_note_when_it_grows(memory: AgenticMemorySystem) -> None:
    ids = linked(memory, KILN)
    memory.maintain()
    (topic,) = memory.topics()
    new = memory.add_note("The kiln got its thermocouple")
    for id in ids:
        memory.link(new, id, "supports")
    assert memory.maintain().topics_updated == 1
    (same,) = memory.topics()
    assert (same.id, same.name, same.notes) == (topic.id, topic.name, 6)
    assert new[:8] in cited(memory.topic(topic.id).text)


def test_what_was_overturned_leaves_its_place_to_its_successor(memory: AgenticMemorySystem) -> None:
    ids = linked(memory, KILN)
    memory.maintain()
    newer = memory.add_note("The kiln in the shed is fired with electricity now")
    with memory.parts.store.write() as session:
        operation = session.begin("supersede", "amem")
        changes = {"status": str(Status.SUPERSEDED), "superseded_by": newer}
        session.notes.change(ids[0], changes, operation)
    for id in ids[1:]:
        memory.link(newer, id, "supports")
    memory.maintain()

    text = memory.topic("kiln").text
    so, gone = text.split("## No longer so")
    assert newer[:8] in so
    assert ids[0][:8] not in so
    assert re.search(rf"~~.*gas.*~~ \[\[{ids[0][:8]}\]\] → .*electricity.*\[\[{newer[:8]}\]\]", gone)


def test_a_page_states_what_still_holds_of_a_note_and_ends_with_what_does_not(memory: AgenticMemorySystem) -> None:
    ids = linked(memory, [f"{KILN[0]}. Bea has the key to the shed.", *KILN[1:]])
    newer = memory.add_note("The kiln in the shed is fired with electricity now")
    memory.supersede(ids[0], newer, statement=KILN[0])
    for id in ids[1:]:
        memory.link(newer, id, "supports")
    memory.maintain()
    (topic,) = memory.topics()
    so, gone = memory.topic(topic.id).text.split("## No longer so")
    assert f"- Bea has the key to the shed. (2026-03-01) [[{ids[0][:8]}]]" in so
    assert KILN[0] not in so
    assert re.search(rf"~~{KILN[0]}.*~~ \[\[{ids[0][:8]}\]\] → .*electricity.*\[\[{newer[:8]}\]\]", gone)


def test_a_topic_whose_notes_vanish_is_put_away_and_comes_back_with_them(memory: AgenticMemorySystem) -> None:
    ids = linked(memory, KILN)
    memory.maintain()
    (topic,) = memory.topics()
    for id in ids:
        memory.delete(id)
    memory.maintain()
    assert memory.topics() == []
    assert [note.status for note in memory.list(PAGES)] == [Status.ARCHIVED]
    for id in ids:
        memory.restore(id)
    memory.maintain()
    assert [each.id for each in memory.topics()] == [topic.id]


def test_undoing_the_maintenance_takes_topics_back_and_they_are_not_made_again(memory: AgenticMemorySystem) -> None:
    ids = linked(memory, KILN)
    before = {id: memory.links(id) for id in ids}
    report = memory.maintain()
    undone = memory.undo(report.operation)
    assert undone.kept == ()
    assert memory.topics() == []
    assert {id: memory.links(id) for id in ids} == before
    memory.add_note("Something new")
    memory.maintain()
    assert memory.topics() == []


def test_a_topic_that_a_person_deleted_is_not_made_again(memory: AgenticMemorySystem) -> None:
    linked(memory, KILN)
    memory.maintain()
    memory.delete(memory.topics()[0].id)
    memory.add_note("Something new")
    memory.maintain()
    assert memory.topics() == []


def test_what_a_page_quotes_of_a_deleted_note_is_not_shown_and_comes_back_with_it(memory: AgenticMemorySystem) -> None:
    ids = linked(memory, KILN)
    memory.maintain()
    (topic,) = memory.topics()
    whole = memory.topic(topic.name).text
    quoted = next(line for line in whole.splitlines() if line.startswith("- ") and ids[1][:8] in line)
    memory.delete(ids[1])
    with memory.parts.store.read() as session:
        assert quoted in session.notes.get_many([topic.id])[topic.id].content, "what is stored stays as it was"
    page, read = memory.topic(topic.name).text, memory.read(topic.id)
    assert read is not None
    assert page == read.content == whole.replace(f"{quoted}\n", "")
    (listed,) = memory.list(Filter(kinds=(Kind.TOPIC,)))
    (hit,) = memory.ask(Query("an overview of the kiln", 1, Filter(kinds=(Kind.TOPIC,))))
    assert listed.content == hit.content == page
    memory.undo()
    assert memory.topic(topic.name).text == whole
    memory.delete_notes(ids)
    assert "- " not in memory.topic(topic.name).text
    assert "## " not in memory.topic(topic.name).text


def test_a_note_that_a_person_took_out_of_a_topic_stays_out(memory: AgenticMemorySystem) -> None:
    ids = linked(memory, KILN)
    memory.maintain()
    (topic,) = memory.topics()
    memory.unlink(ids[0], topic.id, "part_of")
    memory.add_note("Something new")
    memory.maintain()
    assert set(memory.topic(topic.id).notes) == set(ids[1:])


def test_a_page_that_a_person_edited_is_only_proposed_anew(memory: AgenticMemorySystem) -> None:
    ids = linked(memory, KILN)
    memory.maintain()
    (topic,) = memory.topics()
    memory.update(topic.id, content="# My kiln\n\nAll that I know of it.")
    new = memory.add_note("The kiln got its thermocouple")
    for id in ids:
        memory.link(new, id, "supports")
    for _ in range(2):
        memory.maintain()
        memory.add_note("Something new")
    assert memory.topic(topic.id).text.startswith("# My kiln")
    (review,) = memory.reviews()
    assert review.note == topic.id
    assert new[:8] in review.changes["content"][1]


def test_pages_answer_only_who_asks_for_them(memory: AgenticMemorySystem) -> None:
    ids = linked(memory, KILN)
    memory.maintain()
    (topic,) = memory.topics()
    for find in (memory.search, memory.search_agentic):
        assert {hit.id for hit in find("What do we know? The kiln needs a thermocouple", 20, touch=False)} <= set(ids)
        assert topic.id in {hit.id for hit in find("Tell me about the kiln", 20, touch=False)}
        assert topic.id in {hit.id for hit in find("总结一下 kiln 的情况", 20, touch=False)}
        (hit,) = find("kiln", 5, filter=Filter(kinds=(Kind.TOPIC,)), touch=False)
        assert hit.id == topic.id
    out = memory.explain("the kiln", topic.id).kept_out
    assert out is not None
    assert out.reason == "page"


def test_chinese_notes_make_a_chinese_topic(memory: AgenticMemorySystem) -> None:
    texts = ["芝麻最近喝水特别多", "芝麻的肾不太好", "芝麻每天早上吃一片药", "芝麻在里斯本换了新医生", "芝麻怕吸尘器"]
    linked(memory, texts, tags=["芝麻", "健康"])
    memory.maintain()
    (topic,) = memory.topics()
    assert topic.name == "芝麻 · 健康"
    text = memory.topic("芝麻").text
    assert "5 条笔记，关于芝麻和健康" in text
    assert not re.search(r"notes|What|more", text)


def test_a_declared_topic_starts_with_what_names_it_and_takes_in_what_comes(memory: AgenticMemorySystem) -> None:
    job = memory.add_note("I write firmware at Marulho", tags=["work"])
    office = memory.add_note("The office at work closes at six", tags=["hours"])
    cat = memory.add_note("The cat sleeps in the bathtub")
    page = memory.declare_topic("work", "Marulho, office")

    assert {job, office} <= set(page.notes)
    assert cat not in page.notes
    assert page.topic.declared
    later = memory.add_note("Marulho gets a second office in Porto", entities=["Marulho", "Porto"])
    memory.maintain()
    assert later in memory.topic("work").notes
    assert cat not in memory.topic("work").notes


def test_a_broad_subject_goes_by_its_name_in_both_languages(memory: AgenticMemorySystem) -> None:
    english = memory.add_note("My knee hurts after the run", tags=["health"])
    chinese = memory.add_note("我对虾过敏", tags=["健康"])
    memory.add_note("今天在下雨", tags=["天气"])
    for name in ("健康", "health"):
        assert set(memory.declare_topic(name).notes) == {english, chinese}
    assert memory.topic("健康").text.startswith("# 健康\n\n2 条笔记")
    assert memory.topic("health").text.startswith("# health\n\n2 notes")


def test_a_declared_topic_may_begin_empty_and_is_refreshed_by_remember(memory: AgenticMemorySystem) -> None:
    assert memory.declare_topic("sailing", "boat, regatta").topic.notes == 0
    said = [{"role": "user", "content": "Our sailing boat Alba has a torn mainsail. We sail the regatta in June."}]
    report = memory.remember(said)
    page = memory.topic("sailing")
    assert page.topic.notes >= 1
    assert "Alba" in page.text
    memory.undo(report.operation)
    assert memory.topic("sailing").topic.notes == 0
    assert "Alba" not in memory.topic("sailing").text


def test_a_declared_topic_is_given_up_and_taken_back(memory: AgenticMemorySystem) -> None:
    note = memory.add_note("I write firmware", tags=["work"])
    memory.declare_topic("work")
    assert memory.remove_topic("Work") == "work"
    with pytest.raises(NoteNotFound):
        memory.topic("work")
    memory.undo()
    assert set(memory.topic("work").notes) == {note}


def test_declaring_again_with_other_words_gathers_by_these(memory: AgenticMemorySystem) -> None:
    firmware = memory.add_note("I write firmware", tags=["work"])
    garden = memory.add_note("Tomatoes want compost", tags=["compost"])
    first = memory.declare_topic("work")
    second = memory.declare_topic("work", "compost")
    assert second.topic.id == first.topic.id
    assert set(second.notes) == {firmware, garden}


def test_a_topic_found_by_links_is_neither_declared_nor_given_up(memory: AgenticMemorySystem) -> None:
    linked(memory, KILN)
    memory.maintain()
    name = memory.topics()[0].name
    with pytest.raises(InvalidInput, match="already"):
        memory.declare_topic(name)
    with pytest.raises(InvalidInput, match="found by links"):
        memory.remove_topic(name)
    with pytest.raises(InvalidInput, match="needs a name"):
        memory.declare_topic("  ")


class Writing(OfflineAnalyst):
    """Reads by rules, and writes pages as it is told."""

    def __init__(self, draft: PageDraft | BadModelAnswer) -> None:
        super().__init__()
        self.draft = draft
        self.asked: list[tuple[str, tuple[str, ...]]] = []

    @property
    def name(self) -> str:
        return "fake/writer"

    def page(self, title: str, present: str, notes: Sequence[PageNote]) -> PageDraft:
        self.asked.append((present, tuple(note.text for note in notes if note.new)))
        if isinstance(self.draft, BadModelAnswer):
            raise self.draft
        return self.draft


def test_a_model_writes_the_page_in_one_call_and_later_hears_only_what_is_new(
    open_memory: Open, minilm: Embedder
) -> None:
    writer = Writing(PageDraft("The kiln", "It is old.", (("The kiln burns gas and Ana repairs it.", ("n1", "n3")),)))
    memory = open_memory(embedder=minilm, analyst=writer)
    ids = linked(memory, KILN)
    memory.maintain(dry_run=True)
    assert writer.asked == []
    memory.maintain()
    assert len(writer.asked) == 1
    page = memory.topic("The kiln")
    assert "It is old." in page.text
    assert "… and 3 more." in page.text
    assert len(cited(page.text)) == 2

    new = memory.add_note("The kiln got its thermocouple")
    for id in ids:
        memory.link(new, id, "supports")
    memory.maintain()
    present, fresh = writer.asked[-1]
    assert len(writer.asked) == 2
    assert fresh == ("The kiln got its thermocouple",)
    assert re.search(r"Ana repairs it\. \[n\d\] \[n\d\]", present)


def test_a_model_that_fails_leaves_the_page_to_the_rules(open_memory: Open, minilm: Embedder) -> None:
    memory = open_memory(embedder=minilm, analyst=Writing(BadModelAnswer("it talks nonsense")))
    ids = linked(memory, KILN)
    report = memory.maintain()
    assert (report.topics_updated, report.problems) == (1, ())
    assert cited(memory.topics() and memory.topic("kiln").text) == {id[:8] for id in ids}


def test_what_is_not_so_any_more_is_no_statement_of_a_declared_topic(memory: AgenticMemorySystem) -> None:
    old = memory.add_note("I write firmware", tags=["work"])
    memory.declare_topic("work")
    memory.retract(old, "I never did")
    said = [{"role": "user", "content": "My work starts at eight in the morning at Marulho."}]
    memory.remember(said)
    memory.maintain()
    so, _, gone = memory.topic("work").text.partition("## No longer so")
    assert "firmware" not in so
    assert "firmware" in gone
