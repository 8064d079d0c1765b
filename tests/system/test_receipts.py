"""What add says it did: stored or known already, analysed or not, linked to what, and what it cost."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from amem import AgenticMemorySystem, NewNote, Settings, load_settings
from amem.analysis import Analysis, Evolution, ProposedLink, Rewrite
from amem.errors import EmptyNote, InvalidInput, NoteTooLong, ServiceUnavailable, UnknownField
from amem.note import LinkType, Source
from amem.testing import HashEmbedder, ScriptedAnalyst

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from amem.analysis import Draft, Neighbour
    from amem.errors import AmemError
    from amem.protocols import Matrix

    Open = Callable[..., AgenticMemorySystem]


def test_a_receipt_tells_links_rewrites_and_cost_and_is_json_ready(open_memory: Open):
    def evolve(draft: Draft, analysis: Analysis, neighbours: Sequence[Neighbour]) -> Evolution:
        return Evolution(
            links=(ProposedLink("n1", LinkType.SUPPORTS, "both about the roof", 0.8),),
            rewrites=(Rewrite("n1", "The roof, which leaks and is repaired.", None, "there is news", 0.95),),
            tags=("house", "repair"),
        )

    memory = open_memory(analyst=ScriptedAnalyst(Analysis(("roof",), "About the roof.", ("house",)), evolve))
    first = memory.add("The roof leaks above the kitchen")
    receipt = memory.add("The roof is looked at in April")
    assert (receipt.status, receipt.enrichment, receipt.analyst, receipt.error) == ("stored", "done", "scripted", None)
    (link,) = receipt.links
    assert (link.source, link.target, link.type, link.reason) == (
        receipt.id,
        first.id,
        LinkType.SUPPORTS,
        "both about the roof",
    )
    (change,) = receipt.evolved
    assert (change.id, change.version, change.fields) == (first.id, 2, ("context",))
    assert receipt.cost.embedded == 1
    assert receipt.cost.calls == 0
    assert receipt.cost.seconds > 0
    assert memory.memories[receipt.id].tags == ["house", "repair"]
    assert json.loads(json.dumps(receipt.to_dict()))["links"][0]["target"] == first.id
    assert memory.log()[0].parent == receipt.operation


def test_a_duplicate_returns_the_old_id_counts_a_corroboration_and_embeds_nothing(memory: AgenticMemorySystem):
    first = memory.add("Mara is allergic to walnuts", speaker="Mara")
    before = memory.memories[first.id].trust
    again = memory.add("  mara is ALLERGIC to  walnuts", speaker="Tom")
    assert (again.id, again.status, again.stored) == (first.id, "duplicate", False)
    assert len(memory.memories) == 1
    after = memory.memories[first.id].trust
    assert after == pytest.approx(before + 0.15 / 5)
    memory.add("Mara is allergic to walnuts", speaker="Tom")
    assert memory.memories[first.id].trust == pytest.approx(after)
    memory.add("Mara is allergic to walnuts", speaker="Ines")
    assert memory.memories[first.id].trust == pytest.approx(after + 0.15 / 5)


def test_nobody_is_a_witness_to_what_they_said_themselves(memory: AgenticMemorySystem):
    said, added = memory.add("Mara is allergic to walnuts", speaker="Mara"), memory.add("The gate code is 4711")
    before = [memory.memories[each.id].trust for each in (said, added)]

    assert memory.add("Mara is allergic to walnuts", speaker="Mara").status == "duplicate"
    assert memory.add("the gate code is 4711").status == "duplicate"
    assert [memory.memories[each.id].trust for each in (said, added)] == before

    memory.acting_as("agent").add("The gate code is 4711")
    assert memory.memories[added.id].trust > before[1]


@pytest.mark.parametrize(
    ("kind", "setting"),
    [("message", "trust_user"), ("file", "trust_document"), ("tool", "trust_tool"), ("assistant", "trust_agent")],
)
def test_how_far_a_source_is_believed_is_a_setting(open_memory: Open, home: Path, kind: str, setting: str):
    memory = open_memory(settings=Settings(home=home, **{setting: 0.3}))
    source = Source("s1", kind, None, None, None, None, "The gate code is 4711")
    new = memory.add_notes([NewNote("The gate code is 4711", source=source)])[0]

    assert memory.strength(new.id).trust == pytest.approx(0.5 * 0.3 + 0.15)
    assert memory.strength(memory.add("By hand").id).trust == pytest.approx(
        0.5 * (0.3 if setting == "trust_user" else 0.9) + 0.15
    )


def test_undoing_a_duplicate_takes_its_corroboration_back(memory: AgenticMemorySystem):
    first = memory.add("Mara is allergic to walnuts", speaker="Mara")
    before = memory.memories[first.id].trust
    memory.add("Mara is allergic to walnuts", speaker="Tom")
    memory.undo()
    assert memory.memories[first.id].trust == pytest.approx(before)
    assert memory.read(first.id) is not None


def test_the_same_text_after_deletion_is_a_new_note(memory: AgenticMemorySystem):
    first = memory.add("the code of the gate is 4711")
    memory.delete(first.id)
    second = memory.add("the code of the gate is 4711")
    assert second.status == "stored"
    assert second.id != first.id


def test_near_duplicates_are_both_stored_and_linked(memory: AgenticMemorySystem):
    text = "the rent of the flat in Alfama with two rooms and a balcony over the river is {} euros a month since spring"
    first, second = memory.add(text.format(900)), memory.add(text.format(950))
    assert second.status == "stored"
    (link,) = [each for each in second.links if each.type is LinkType.RELATED]
    assert link.target == first.id
    assert "near-duplicate" in link.reason
    assert second.superseded == ()
    assert link.confidence >= 0.9
    assert memory.memories[first.id].content.count("900") == 1
    assert {hit.id for hit in memory.search("rent of the flat in Alfama")} == {first.id, second.id}


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("the rent of the flat in Alfama with {}rooms and a view of the river is due in spring", "big "),
        ("服务器日志由运维组每周一上午归档，李雷{}负责检查磁盘空间和备份", "也"),
    ],
)
def test_a_note_that_says_the_same_again_is_linked_once(home: Path, text: str, more: str):
    settings = load_settings(home, llm_backend="offline", near_duplicate=0.9)
    with AgenticMemorySystem(settings=settings, embedder=HashEmbedder()) as memory:
        first, second = memory.add(text.format("")), memory.add(text.format(more))
        (link,) = second.links
        assert (link.target, link.type) == (first.id, LinkType.SUPPORTS)


def test_two_turns_that_say_the_same_are_two_notes_and_the_same_turn_again_is_one(memory: AgenticMemorySystem):
    def turn(ref: str, ordinal: int) -> Source:
        return Source(f"conv:{ref}", "message", "conv", ref, "Ana", None, "Good morning!", ordinal)

    receipts = memory.add_notes(
        [{"content": "Good morning!", "source": turn(ref, n)} for n, ref in enumerate(["D1:1", "D1:2", "D1:1"])]
    )
    again = memory.add("Good morning!", source=turn("D1:2", 1))
    assert [receipt.status for receipt in receipts] == ["stored", "stored", "duplicate"]
    assert receipts[2].id == receipts[0].id
    assert (again.status, again.id) == ("duplicate", receipts[1].id)
    (source,) = memory.sources([receipts[1].id])[receipts[1].id]
    assert (source.conversation, source.ref, source.speaker) == ("conv", "D1:2", "Ana")


def test_one_bad_item_refuses_the_whole_list_before_anything_is_stored(memory: AgenticMemorySystem):
    good: list[object] = [f"good note {number}" for number in range(100)]
    bad: list[tuple[object, type[AmemError]]] = [
        ("", EmptyNote),
        ("x" * 20_001, NoteTooLong),
        ({"content": "x", "colour": "red"}, UnknownField),
        ({"tags": ["no content"]}, InvalidInput),
        ({"content": "x", "tags": "not a list"}, InvalidInput),
        ({"content": "x", "time": "the day after"}, InvalidInput),
        ({"content": "half a pair \ud83d"}, InvalidInput),
        ({"content": "x", "metadata": {"a": float("nan")}}, InvalidInput),
        ({"content": "x", "importance": 1.5}, InvalidInput),
        (42, InvalidInput),
    ]
    for item, error in bad:
        with pytest.raises(error):
            memory.add_notes([*good, item])  # type: ignore[list-item]
    assert len(memory.memories) == 0
    assert memory.log() == []


def test_refused_items_can_be_taken_by_position_while_the_rest_is_stored(memory: AgenticMemorySystem):
    refused: list[tuple[int, str]] = []
    heard: list[tuple[int, int]] = []
    receipts = memory.add_notes(
        ["one thing", "", {"content": "two things"}, {"content": "x", "colour": 1}, "three things"],
        on_refused=lambda position, error: refused.append((position, type(error).__name__)),
        progress=lambda done, total: heard.append((done, total)),
    )
    assert [memory.memories[receipt.id].content for receipt in receipts] == ["one thing", "two things", "three things"]
    assert refused == [(1, "EmptyNote"), (3, "UnknownField")]
    assert heard == [(3, 3)]
    assert len({receipt.operation for receipt in receipts}) == 1
    memory.undo()
    assert len(memory.memories) == 0


def test_an_id_that_is_taken_refuses_the_whole_list_however_late_it_comes(open_memory: Open, home: Path):
    memory = open_memory(settings=load_settings(home, batch_size=2))
    memory.add_note("the first of that name", id="taken")
    many: list[dict[str, str]] = [{"content": f"note {number}"} for number in range(5)]
    for late in ({"content": "another", "id": "taken"}, {"content": "one more", "id": "twin"}):
        with pytest.raises(InvalidInput, match=r"taken|twin"):
            memory.add_notes([{"content": "one", "id": "twin"}, *many, late])
        assert list(memory.memories) == ["taken"]
    refused: list[int] = []
    receipts = memory.add_notes(
        [
            {"content": "one", "id": "twin"},
            *many,
            {"content": "another", "id": "taken"},
            {"content": "x", "id": "twin"},
        ],
        on_refused=lambda position, error: refused.append(position),
    )
    assert refused == [6, 7]
    assert len(receipts) == 6
    assert memory.add("The first of that NAME", id="taken").status == "duplicate"


def test_notes_of_one_list_see_each_other_as_neighbours(open_memory: Open):
    def evolve(draft: Draft, analysis: Analysis, neighbours: Sequence[Neighbour]) -> Evolution:
        return Evolution(links=(ProposedLink("n1", LinkType.RELATED, "near", 0.9),))

    memory = open_memory(analyst=ScriptedAnalyst(evolutions=evolve))
    receipts = memory.add_notes(["the heron stands in the pond", "the heron flies over the pond", "invoice of May"])
    assert receipts[0].links == ()
    assert receipts[1].links[0].target == receipts[0].id


class _Breaking(HashEmbedder):
    """Cannot embed more than `most` texts at once, and writes down how many it did."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most
        self.done: list[int] = []

    def embed(self, texts: Sequence[str]) -> Matrix:
        if len(texts) > self._most:
            raise ServiceUnavailable("too many texts")
        self.done.append(len(texts))
        return super().embed(texts)


def test_texts_of_later_batches_are_embedded_once_for_all(open_memory: Open, home: Path):
    embedder = _Breaking(100)
    memory = open_memory(settings=load_settings(home, batch_size=2), embedder=embedder)
    texts = ["one", "two", "three", "four", "three", "four"]
    notes = [NewNote(text, source=Source(f"s{at}", "line", *[None] * 4, text)) for at, text in enumerate(texts)]
    receipts = memory.add_notes(notes)
    assert embedder.done == [2, 2]
    assert [receipt.cost.embedded for receipt in receipts] == [1, 1, 1, 1, 0, 0]
    assert memory.search("three", 1)[0].content == "three"


def test_what_cannot_be_embedded_together_is_embedded_batch_by_batch(open_memory: Open, home: Path):
    embedder = _Breaking(2)
    memory = open_memory(settings=load_settings(home, batch_size=2), embedder=embedder)
    receipts = memory.add_notes([f"note {number}" for number in range(9)])
    assert [receipt.error for receipt in receipts] == [None] * 9
    assert sum(embedder.done) == 9
    assert memory.search("note 8")[0].content == "note 8"


def test_an_analyst_that_fails_costs_enrichment_and_never_the_note(open_memory: Open):
    analyst = ScriptedAnalyst(fail=ServiceUnavailable("the model server is down"))
    memory = open_memory(analyst=analyst)
    receipt = memory.add("the boiler code is E4")
    assert receipt.stored
    assert receipt.enrichment == "degraded"
    assert receipt.error is not None
    assert "the model server is down" in receipt.error
    assert memory.search("boiler code")[0].id == receipt.id
    assert memory.enrich().failed == 1

    analyst.fail = None
    report = memory.enrich()
    assert (report.done, report.failed, report.remaining) == (1, 0, 0)
    note = memory.memories[receipt.id]
    assert note.enrichment == "done"
    assert note.keywords
    assert memory.enrich().done == 0


def test_what_the_caller_gave_is_not_overwritten_by_analysis(open_memory: Open):
    analyst = ScriptedAnalyst(Analysis(("k",), "of the analyst", ("t",), importance=0.9), Evolution(tags=("evolved",)))
    memory = open_memory(analyst=analyst)
    memory.add("an earlier note on the garden")
    id = memory.add_note("a later note on the garden", tags=["mine"], context="my own words", importance=0.2)
    note = memory.memories[id]
    assert (note.tags, note.context, note.importance, note.keywords) == (["mine"], "my own words", 0.2, ["k"])


class Unread(HashEmbedder):
    """An embedding model without words for anything but ASCII: what it cannot read looks all the same to it."""

    def knows(self, text: str) -> float:
        return sum(char.isascii() for char in text) / len(text)

    def embed(self, texts: Sequence[str]) -> Matrix:
        return super().embed([text if text.isascii() else "[UNK]" for text in texts])


def test_what_the_embedding_model_cannot_read_is_no_near_duplicate():
    with AgenticMemorySystem(embedder=Unread(), llm_backend="offline") as memory:
        memory.add("芝麻复查：肌酐168")
        receipt = memory.add("我们把浮标目录迁到了别处")
        assert [link for link in receipt.links if "near-duplicate" in link.reason] == []
        memory.add("the rent of the flat in Alfama with a balcony over the river is 900 euros a month")
        twin = memory.add("the rent of the flat in Alfama with a balcony over the river is 950 euros a month")
        assert [link for link in twin.links if "near-duplicate" in link.reason] != []
