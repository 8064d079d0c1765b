"""The defects that users of the original A-Mem hit, one test each: every one would fail on the original's behaviour."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from amem import AgenticMemorySystem, load_settings
from amem.analysis import Analysis, Evolution, ProposedLink, Rewrite
from amem.analysts.model_analyst import ModelAnalyst
from amem.errors import EmptyNote, InvalidInput, ServiceUnavailable, UnknownField
from amem.note import LinkType
from amem.query import Query
from amem.testing import FrozenClock, HashEmbedder, ScriptedAnalyst, ScriptedChat

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from amem.analysis import Draft, Neighbour
    from amem.protocols import Matrix

    Open = Callable[..., AgenticMemorySystem]


class CountingEmbedder(HashEmbedder):
    """Remembers every text it was asked to embed; while `down`, it fails."""

    def __init__(self) -> None:
        super().__init__(256)
        self.texts: list[str] = []
        self.down = False

    def embed(self, texts: Sequence[str]) -> Matrix:
        if self.down:
            raise ServiceUnavailable("the embedding server does not answer")
        self.texts += texts
        return super().embed(texts)


def linking(draft: Draft, analysis: Analysis, neighbours: Sequence[Neighbour]) -> Evolution:
    """Links the new note to the nearest."""
    return Evolution(links=(ProposedLink(neighbours[0].handle, LinkType.RELATED, "the nearest", 0.9),))


def retagging(tag: str) -> Callable[[Draft, Analysis, Sequence[Neighbour]], Evolution]:
    """Adds a tag to the nearest neighbour."""

    def evolve(draft: Draft, analysis: Analysis, neighbours: Sequence[Neighbour]) -> Evolution:
        nearest = neighbours[0]
        return Evolution(rewrites=(Rewrite(nearest.handle, None, (*nearest.tags, tag), "it belongs there", 0.95),))

    return evolve


def test_a_neighbour_is_rewritten_by_who_it_is_not_by_its_place_in_a_list(open_memory: Open):
    def evolve(draft: Draft, analysis: Analysis, neighbours: Sequence[Neighbour]) -> Evolution:
        same = [each for each in neighbours if each.content.split()[0] == draft.content.split()[0]]
        return Evolution(
            rewrites=tuple(Rewrite(each.handle, f"also: {draft.content}", None, "same bird", 0.95) for each in same)
        )

    birds = ("heron", "swift", "magpie", "kestrel", "dunlin", "avocet", "bittern", "siskin", "wren", "merlin")
    memory = open_memory(analyst=ScriptedAnalyst(Analysis(context="a bird"), evolve))
    first = {bird: memory.add_note(f"{bird} nest, {bird} eggs") for bird in birds}
    for bird in reversed(birds):
        receipt = memory.add(f"{bird} chicks in the {bird} nest")
        assert [change.id for change in receipt.evolved] == [first[bird]]
    for bird, id in first.items():
        note = memory.read(id)
        assert note is not None
        assert note.context == f"also: {bird} chicks in the {bird} nest"


def test_links_hold_ids_and_every_one_resolves(open_memory: Open):
    memory = open_memory(analyst=ScriptedAnalyst(evolutions=linking))
    ids = [memory.add_note(f"gardening log {day}, watering the tomatoes") for day in range(12)]
    linked = [target for id in ids for target in memory.memories[id].links]
    assert len(linked) == 11
    assert all(memory.read(target) is not None for target in linked)


def test_adding_a_note_analyses_its_content(open_memory: Open):
    analyst = ScriptedAnalyst(Analysis(("sourdough", "rye"), "A note on baking.", ("baking",)))
    memory = open_memory(analyst=analyst)
    note = memory.read(memory.add_note("The rye sourdough needs 14 hours."))
    assert note is not None
    assert (note.keywords, note.context, note.tags) == (["sourdough", "rye"], "A note on baking.", ["baking"])
    assert [draft.content for draft in analyst.drafts] == ["The rye sourdough needs 14 hours."]


def test_links_are_a_list_from_the_start(open_memory: Open):
    memory = open_memory()
    one, two = memory.add_note("a first thing"), memory.add_note("another matter")
    note = memory.read(one)
    assert note is not None
    assert note.links == []
    note.links.append(two)
    note.links.extend([])
    assert memory.update(one, links=note.links)
    assert memory.memories[one].links == [two]


@pytest.mark.parametrize("query", ["violin", "", "  ", '"AND OR NOT (', "音乐", "🎻", "x" * 5_000, "a-b_c.d@e #f +g"])
def test_search_answers_any_question_without_raising(open_memory: Open, query: str):
    memory = open_memory()
    assert memory.search(query) == []
    memory.add_note("Mara plays the violin on Sundays")
    assert all(hit["content"] for hit in memory.search(query))
    assert isinstance(memory.search_agentic(query), list)


def test_a_second_instance_leaves_the_first_ones_notes_alone(open_memory: Open, tmp_path: Path):
    first = open_memory(directory=tmp_path / "home")
    id = first.add_note("the spare key hangs in the shed")
    second = open_memory(directory=tmp_path / "home")
    in_memory = open_memory()
    assert second.read(id) is not None
    assert first.search("spare key")[0]["id"] == id
    assert in_memory.memories == {}
    second.add_note("the shed is painted green")
    assert len(first.memories) == len(second.memories) == 2


def test_a_linked_neighbour_is_ranked_with_the_hits_instead_of_cut_off_after_k(open_memory: Open):
    memory = open_memory()
    answer = memory.add_note("Tomas proposed the lighthouse as the venue")
    linked = memory.add_note("Booking needs a deposit of 300 euros")
    for day in range(20):
        memory.add_note(f"grocery list number {day}: oats and milk")
    memory.link(answer, linked, "supports", "what the booking costs")

    hits = memory.search_agentic("lighthouse venue Tomas", k=3)
    found = {hit["id"]: hit for hit in hits}
    assert len(hits) == 3
    assert hits[0]["id"] == answer
    assert found[linked]["is_neighbor"]
    assert found[linked]["via"][0]["from"] == answer
    assert not found[answer]["is_neighbor"]


def test_an_edit_of_a_neighbour_reaches_the_index(open_memory: Open):
    memory = open_memory(analyst=ScriptedAnalyst(Analysis(context="a walk"), retagging("ornithology")))
    walk = memory.add_note("We walked along the estuary at dawn")
    receipt = memory.add("The estuary walk at dawn was for counting waders")
    assert [change.id for change in receipt.evolved] == [walk]
    (hit,) = [hit for hit in memory.ask(Query("ornithology", legs=("lexical",)))]
    assert hit["id"] == walk
    assert hit["tags"] == ["ornithology"]


def test_an_edit_of_a_neighbour_changes_its_vector_too_where_tags_are_embedded(open_memory: Open, tmp_path: Path):
    settings = load_settings(tmp_path / "home", embed_recipe="paper")
    embedder = CountingEmbedder()
    memory = open_memory(
        settings=settings,
        embedder=embedder,
        analyst=ScriptedAnalyst(Analysis(context="a walk"), retagging("ornithology")),
    )
    walk = memory.add_note("We walked along the estuary at dawn")
    question = Query("ornithology", legs=("dense",))
    before = {hit.id: hit.explanation.legs[0].raw for hit in memory.ask(question)}
    memory.add("The estuary walk at dawn was for counting waders")
    after = {hit.id: hit.explanation.legs[0].raw for hit in memory.ask(question)}
    assert "We walked along the estuary at dawn a walk  ornithology" in embedder.texts
    assert after[walk] > before[walk] + 0.1


def test_consolidation_embeds_only_what_changed(open_memory: Open):
    embedder = CountingEmbedder()
    memory = open_memory(embedder=embedder)
    for number in range(40):
        memory.add_note(f"station {number} reports clear skies")
    assert len(embedder.texts) == 40
    embedder.down = True
    late = memory.add("a storm front moves in from the west")
    assert late.enrichment != "done"
    embedder.down = False
    del embedder.texts[:]
    assert memory.consolidate_memories() == 1
    assert embedder.texts == ["a storm front moves in from the west"]
    assert memory.ask(Query("storm front west", legs=("dense",)))[0]["id"] == late.id
    assert memory.consolidate_memories() == 0


def test_every_evo_threshold_evolutions_the_index_is_brought_up_to_date_at_the_price_of_what_changed(open_memory: Open):
    embedder = CountingEmbedder()
    memory = open_memory(embedder=embedder, evo_threshold=3, analyst=ScriptedAnalyst(evolutions=linking))
    memory.add_note("station 0 reports clear skies")
    embedder.down = True
    memory.add_note("a storm front moves in from the west")
    embedder.down = False
    for number in range(1, 6):
        # Whoever writes: the evolutions of one collection are counted together.
        memory.acting_as("agent" if number % 2 else "user").add_note(f"station {number} reports clear skies")
    assert memory.evo_cnt == 5
    assert sorted(embedder.texts) == sorted(note.content for note in memory.memories.values())
    assert memory.ask(Query("storm front", legs=("dense",)))[0]["content"] == "a storm front moves in from the west"


def test_a_second_note_of_the_same_id_is_refused_and_the_first_stays(open_memory: Open):
    memory = open_memory()
    memory.add_note("the meeting is on Monday", id="meeting")
    with pytest.raises(InvalidInput, match="meeting"):
        memory.add_note("the meeting is on Friday", id="meeting")
    assert memory.memories["meeting"].content == "the meeting is on Monday"
    assert [hit["content"] for hit in memory.search("meeting Friday Monday")] == ["the meeting is on Monday"]
    assert memory.retriever.search("meeting")["documents"] == [["the meeting is on Monday"]]


@pytest.mark.parametrize("text", ["42", "3.14", "[1, 2]", '{"a": 1}', "null", "True", "-10", "'quoted'"])
def test_text_that_looks_like_something_else_stays_text(open_memory: Open, text: str):
    memory = open_memory()
    id = memory.add_note(text, tags=[text], keywords=[text], context=text, category=text, metadata={"k": text})
    note = memory.read(id)
    assert note is not None
    held: list[Any] = [note.content, *note.tags, *note.keywords, note.context, note.category, note.metadata["k"]]
    assert held == [text] * 6
    found = memory.retriever.search(text, 1)
    metadata = found["metadatas"][0][0]
    assert found["documents"] == [[text]]
    assert (metadata["content"], metadata["tags"], metadata["context"]) == (text, [text], text)
    (hit,) = memory.search(text)
    assert (hit["content"], hit["tags"], hit["keywords"], hit["context"]) == (text, [text], [text], text)


def test_deleting_a_note_leaves_no_dangling_link(open_memory: Open):
    memory = open_memory()
    kept, gone, purged = (memory.add_note(f"{name} of the old house") for name in ("cellar", "attic", "porch"))
    memory.update(kept, links=[gone, purged])
    memory.link(gone, kept)
    assert memory.delete(gone)
    assert memory.purge(purged)
    assert memory.memories[kept].links == []
    assert memory.links(kept) == memory.backlinks(kept) == []
    assert all(not hit["via"] for hit in memory.search_agentic("cellar of the old house"))
    memory.restore(gone)
    assert memory.memories[kept].links == [gone]


def test_use_and_history_of_a_note_are_kept(open_memory: Open):
    clock = FrozenClock("2026-03-01T10:00")
    memory = open_memory(clock=clock, analyst=ScriptedAnalyst(Analysis(context="a walk"), retagging("ornithology")))
    id = memory.add_note("We walked along the estuary at dawn")
    memory.add_note("The estuary walk at dawn was for counting waders")
    clock.advance(days=2)
    memory.search("estuary dawn")
    clock.advance(days=1)
    memory.search("estuary dawn")
    memory.search("estuary dawn", touch=False)
    note = memory.read(id)
    assert note is not None
    assert note.retrieval_count == 2
    assert note.last_accessed.startswith("2026-03-04T10:00")
    (step,) = note.evolution_history
    assert step["actor"] == "scripted"
    assert step["changes"]["tags"] == [[], ["ornithology"]]
    assert "arrived" in step["cause"]


_EVOLUTION = {
    "links": [{"to": "n1", "type": "supports", "reason": "the same band", "confidence": 0.9}],
    "rewrites": [],
    "tags": ["music", "band"],
}
_ANALYSIS = {"keywords": ["band"], "context": "About a band.", "tags": ["music"], "kind": "fact", "entities": []}


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: f"Sure! Here is the decision:\n```json\n{text}\n```\nAnything else?",
        lambda text: text[:-2],
        lambda text: text.replace("}]", "},]"),
        lambda text: f"<think>which one? {{maybe n2}}</think>{text}",
    ],
    ids=["fenced", "truncated", "trailing-comma", "thinking"],
)
def test_an_answer_that_is_fenced_or_cut_short_still_evolves(open_memory: Open, spoil: Callable[[str], str]):
    chat = ScriptedChat(
        lambda prompt: spoil(json.dumps(_ANALYSIS)) if "n1" not in prompt else spoil(json.dumps(_EVOLUTION))
    )
    memory = open_memory(analyst=ModelAnalyst(chat))
    first = memory.add("Ines started a band with her cousin")
    second = memory.add("The band of Ines plays its first concert in May")
    assert first.enrichment == second.enrichment == "done", (first.error, second.error)
    assert [(link.target, link.type, link.reason) for link in second.links] == [
        (first.id, LinkType.SUPPORTS, "the same band")
    ]
    assert memory.memories[second.id].tags == ["music", "band"]


def test_updating_an_unknown_field_or_the_id_is_refused_and_changes_nothing(open_memory: Open):
    memory = open_memory(clock=FrozenClock())
    id = memory.add_note("the boiler is serviced in October")
    before = memory.read(id)
    for fields in ({"colour": "red"}, {"id": "new-name"}, {"content": "changed", "tag": ["x"]}, {"version": 9}):
        with pytest.raises(UnknownField):
            memory.update(id, **fields)
    assert memory.read(id) == before
    assert memory.read("new-name") is None
    assert memory.update("no-such-note", content="x") is False


@pytest.mark.parametrize("content", ["", "   ", "\n\t ", "　"])
def test_an_empty_note_is_refused(open_memory: Open, content: str):
    memory = open_memory()
    with pytest.raises(EmptyNote):
        memory.add_note(content)
    assert len(memory.memories) == 0


def test_asking_for_nothing_gives_nothing(open_memory: Open):
    memory = open_memory()
    memory.add_note("a single thing")
    assert memory.search("thing", k=0) == memory.search_agentic("thing", k=0) == []
    assert memory.find_related_memories("thing", k=0) == ("", [])
    assert memory.retriever.search("thing", k=0)["ids"] == [[]]


def test_the_same_note_three_times_is_one_note_that_was_said_three_times(open_memory: Open):
    memory = open_memory()
    ids = {
        memory.add_note(text, speaker=who)
        for text, who in (("Tea at four.", "a"), ("tea  at four.", "b"), ("TEA AT FOUR.", "c"))
    }
    assert len(ids) == len(memory.memories) == 1
    assert len(memory.search("tea")) == 1


def test_a_score_is_higher_for_a_better_answer(open_memory: Open):
    memory = open_memory()
    exact = memory.add_note("the ferry to the island leaves at seven")
    near = memory.add_note("the ferry was late")
    far = memory.add_note("quarterly tax forms are due")
    for hits in (memory.search("the ferry to the island leaves at seven"), memory.search_agentic("ferry island seven")):
        scores = {hit["id"]: hit["score"] for hit in hits}
        assert hits[0]["id"] == exact
        assert scores[exact] > scores[near] > scores.get(far, 0.0)
        assert [hit["score"] for hit in hits] == sorted(scores.values(), reverse=True)
        assert all(0.0 <= score <= 1.0 for score in scores.values())
    # What the retriever of the original returned as a score is a distance: there the best is the smallest.
    distances = memory.retriever.search("the ferry to the island leaves at seven")["distances"][0]
    assert distances == sorted(distances)
    assert np.isclose(distances[0], 0.0, atol=1e-5)
