"""What the weekly and the monthly pass add: summing up what fades, links by use, the index, the database's files."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest
from phases import dump

from amem.analysis import Analysis, PageDraft
from amem.errors import ServiceUnavailable
from amem.maintenance.upkeep import link_weight
from amem.note import Kind, LinkType, Status
from amem.retrieval.expansion import spread
from amem.testing import HashEmbedder, ScriptedAnalyst

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from amem import AgenticMemorySystem
    from amem.analysis import Draft, PageNote
    from amem.testing import FrozenClock
    from tests.conftest import Open

ROOF = (
    "The roof leaked above the kitchen again.",
    "Marta looked at the roof and found two broken tiles.",
    "How much does a new roof cost?",
    "我们给屋顶拍了照片。",
)


def slight(draft: Draft) -> Analysis:
    return Analysis(("roof",), draft.content, ("house",), entities=("Roof",))


@pytest.fixture
def house(open_memory: Open) -> AgenticMemorySystem:
    return open_memory(analyst=ScriptedAnalyst(slight))


def add(memory: AgenticMemorySystem, text: str, kind: str = "episode", **fields: Any) -> str:
    return memory.add_note(text, kind=kind, importance=0.2, **fields)


def test_old_notes_that_fade_become_one_that_cites_them_and_stay_in_the_archive(
    house: AgenticMemorySystem, clock: FrozenClock
) -> None:
    ids = [add(house, text) for text in ROOF]
    lasting = add(house, "The roof must not be walked on.", kind="constraint")
    clock.advance(days=45)
    recent = add(house, "The roof was painted.")
    before = dump(house)
    report = house.maintain(cycle="weekly")
    assert (report.compressed, report.faded) == (4, 0)
    (digest,) = [note for note in house.list() if note.id not in (lasting, recent)]
    assert digest.kind is Kind.EPISODE
    assert "digest" in digest.tags
    assert all(f"[{id[:8]}]" in digest.content for id in ids)
    assert "two broken tiles" in digest.content
    assert "拍了照片" in digest.content
    assert {link.target for link in house.links(digest.id) if link.type is LinkType.DERIVED_FROM} == set(ids)
    assert {house.read(id).status for id in ids} == {Status.ARCHIVED}
    assert sorted(reason.id for reason in report.reasons if reason.what == "compressed") == sorted(ids)

    assert house.maintain(cycle="weekly").operation is None
    assert report.operation is not None
    house.undo(report.operation)
    assert dump(house) == before
    assert house.maintain(cycle="weekly").compressed == 0, "what was taken back is not done again"


def test_a_nightly_pass_and_a_dry_run_sum_up_nothing(house: AgenticMemorySystem, clock: FrozenClock) -> None:
    for text in ROOF:
        add(house, text)
    clock.advance(days=45)
    assert house.maintain().compressed == 0
    before = dump(house)
    assert house.maintain(dry_run=True, cycle="weekly").compressed == 4
    assert dump(house) == before


def test_notes_of_a_conversation_belong_together_and_too_few_stay_as_they_are(
    open_memory: Open, clock: FrozenClock
) -> None:
    memory = open_memory()
    told = [add(memory, f"Small talk number {place}.", "chitchat", conversation_id="c1") for place in range(15)]
    for place in range(2):
        add(memory, f"Other talk number {place}.", "chitchat", conversation_id="c2")
    clock.advance(days=45)
    assert memory.maintain(cycle="weekly").compressed == 15
    digests = [note for note in memory.list() if "digest" in note.metadata]
    assert sorted(note.metadata["digest"] for note in digests) == [7, 8]
    assert {note.conversation_id for note in digests} == {"c1"}
    assert {link.target for note in digests for link in memory.links(note.id)} == set(told)
    assert memory.count() == 15 + 2 + 2


class Writing(ScriptedAnalyst):
    """A model that writes pages, too: of each note it is shown, what `wording` makes of its handle."""

    def __init__(self, wording: Callable[[Sequence[PageNote]], PageDraft]) -> None:
        super().__init__(slight, local=False, name="ollama/tiny")
        self._wording = wording

    def page(self, title: str, present: str, notes: Sequence[PageNote]) -> PageDraft:
        return self._wording(notes)


def test_a_model_words_the_digest_and_can_cite_only_what_it_was_shown(open_memory: Open, clock: FrozenClock) -> None:
    def wording(notes: Sequence[PageNote]) -> PageDraft:
        handles = tuple(note.handle for note in notes)
        return PageDraft("", "", (("The roof leaked and was mended.", handles[:2]), ("Made up.", ("n99",))))

    memory = open_memory(analyst=Writing(wording))
    ids = [add(memory, text) for text in ROOF]
    clock.advance(days=45)
    assert memory.maintain(cycle="weekly").compressed == 4
    (digest,) = memory.list()
    assert digest.content.splitlines()[1:] == [f"- The roof leaked and was mended. [{ids[0][:8]}, {ids[1][:8]}]"]
    assert digest.analyst == "ollama/tiny"
    assert {link.target for link in memory.links(digest.id)} == set(ids)


def test_a_model_that_is_down_leaves_the_digest_to_the_notes_own_words(open_memory: Open, clock: FrozenClock) -> None:
    def wording(notes: Sequence[PageNote]) -> PageDraft:
        raise ServiceUnavailable("nobody answers", hint="start it")

    memory = open_memory(analyst=Writing(wording))
    for text in ROOF:
        add(memory, text)
    clock.advance(days=45)
    assert memory.maintain(cycle="weekly").compressed == 4
    (digest,) = memory.list()
    assert len(digest.content.splitlines()) == 5
    assert digest.analyst == "amem"


def test_a_digest_of_chinese_notes_is_chinese(house: AgenticMemorySystem, clock: FrozenClock) -> None:
    for text in ("屋顶漏水了。", "李雷看了屋顶。", "屋顶上有一只猫。"):
        add(house, text)
    clock.advance(days=45)
    house.maintain(cycle="weekly")
    (digest,) = house.list()
    assert digest.content.startswith("2026-03-01 的 3 条旧笔记：")


def test_what_is_pinned_recalled_or_edited_by_hand_is_not_summed_up(
    house: AgenticMemorySystem, clock: FrozenClock
) -> None:
    add(house, ROOF[0], pinned=True)
    recalled = add(house, ROOF[1])
    add(house, ROOF[2])
    add(house, ROOF[3])
    clock.advance(days=40)
    house.search("broken tiles", k=1)
    clock.advance(days=5)
    assert house.maintain(cycle="weekly").compressed == 0
    assert house.read(recalled) is not None


def weights(memory: AgenticMemorySystem) -> dict[str, float]:
    with memory.parts.store.read() as session:
        return {link.reason: link.weight for link in session.links.around(session.notes.ids())}


def test_links_weigh_what_use_says_and_a_persons_always_the_same(open_memory: Open, clock: FrozenClock) -> None:
    memory = open_memory()
    machine = memory.acting_as("agent")
    ids = [memory.add_note(text) for text in ("boiler", "cellar", "attic", "garden")]
    machine.link(ids[0], ids[1], reason="used")
    machine.link(ids[2], ids[3], reason="unused")
    machine.link(ids[0], ids[2], "supersedes", reason="which is so")
    memory.link(ids[0], ids[3], reason="by hand")
    for _ in range(4):
        clock.advance(days=30)
        memory.search("boiler", k=1)
        memory.search("cellar", k=1)
    before = memory.log()
    report = memory.maintain(cycle="monthly")
    now = weights(memory)
    assert now["used"] > 1.0 > now["unused"]
    assert (now["by hand"], now["which is so"]) == (1.0, 1.0)
    assert report.reweighted == 2
    assert memory.maintain(cycle="monthly").reweighted == 0, "a weight does not feed on itself"
    assert weights(memory) == now
    assert [op for op in memory.log() if op not in before and op.action != "maintain" and op.parent is None] == []


@pytest.mark.parametrize(
    ("recalls", "age_days", "weight"),
    [((0, 0), 0, 1.0), ((9, 0), 90, 0.841), ((1, 1), 90, 1.0), ((0, 0), 3650, 0.7), ((50, 60), 10, 1.2)],
)
def test_the_weight_of_a_link(recalls: tuple[int, int], age_days: float, weight: float) -> None:
    assert link_weight(recalls, age_days) == pytest.approx(weight, abs=0.0005)


def test_a_link_that_nobody_uses_passes_less_relevance_on(open_memory: Open, clock: FrozenClock) -> None:
    memory = open_memory()
    boiler, cellar = memory.add_note("The boiler hums."), memory.add_note("Nobody goes down there.")
    memory.acting_as("agent").link(boiler, cellar)

    def passed_on() -> float:
        with memory.parts.store.read() as session:
            return spread(session, {boiler: 1.0}, set)[cellar].relevance

    new = passed_on()
    clock.advance(days=400)
    memory.maintain(cycle="monthly")
    assert passed_on() == pytest.approx(new * 0.7, rel=0.01)


def test_the_monthly_pass_embeds_anew_for_another_model_and_only_then(open_memory: Open) -> None:
    memory = open_memory()
    memory.add_note("The boiler hums.")
    assert memory.maintain(cycle="monthly").reembedded == 0
    memory.close()
    other = open_memory(embedder=HashEmbedder(64))
    assert "amem reindex" in other.health().index or "hash-256" in other.health().index
    assert other.maintain(dry_run=True, cycle="monthly").reembedded == 1
    assert other.maintain(cycle="monthly").reembedded == 1
    assert other.health().index == "in step"
    assert other.search("boiler")[0]["content"] == "The boiler hums."


def test_a_file_that_is_half_empty_is_written_anew(open_memory: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("amem.storage.database._FREE_PAGES", 10)
    memory = open_memory()
    memory.add_notes([f"Note {number} about the boiler in house {number}." for number in range(20)])
    store = memory.parts.store
    path = store.database.path
    assert path is not None
    with store.database.write() as connection:
        connection.execute("CREATE TABLE room (filled BLOB)")
        connection.executemany("INSERT INTO room VALUES (zeroblob(4000))", [()] * 500)
        connection.execute("DROP TABLE room")
    store.tidy(threading.Event().is_set)
    with store.database.read() as connection:
        assert connection.execute("PRAGMA freelist_count").fetchone() == (0,)
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
    assert path.stat().st_size == pages * 4096
    assert pages < 500
    assert memory.count() == 20
    again = path.stat().st_mtime_ns
    store.tidy(threading.Event().is_set)
    assert path.stat().st_mtime_ns == again, "a file that is full is left as it is"


def test_an_index_in_many_pieces_is_merged(open_memory: Open) -> None:
    memory = open_memory()
    for number in range(40):
        memory.add_note(f"Note {number} about the boiler in house {number}.")

    def pieces() -> int:
        with memory.parts.store.read() as session:
            query = "SELECT count(DISTINCT segid) FROM note_text_idx"
            return int(session.value(query))

    assert pieces() > 4
    memory.parts.store.tidy(threading.Event().is_set)
    assert pieces() <= 4
    assert memory.count() == 40
    assert memory.search("boiler in house 7", k=1)[0]["content"].endswith("house 7.")
