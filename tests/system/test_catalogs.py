"""Catalogs: collections that are searched beside a memory's own, and never written by it; and what is published."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from amem import Filter, Query, Source
from amem.errors import (
    CollectionNotFound,
    EmbedderMismatch,
    InvalidInput,
    NoteNotFound,
    StorageReadOnly,
)
from amem.note import Fact
from amem.testing import HashEmbedder, ScriptedChat
from amem.tools import Toolbox

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from amem import AgenticMemorySystem

    Open = Callable[..., AgenticMemorySystem]

HERON = "The staging server is called heron."
PORTO = "Ana lives in Porto."


class Counting(HashEmbedder):
    """Counts the texts that it embeds."""

    def __init__(self) -> None:
        super().__init__(256)
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.texts += texts
        return super().embed(texts)


@pytest.fixture
def writer(open_memory: Open) -> AgenticMemorySystem:
    """An agent with a note of its own, beside a catalog of two notes into which it may publish."""
    team = open_memory(collection="team")
    team.add(HERON)
    team.add("Deploys go out on Tuesdays.", tags=["release"])
    team.close()
    writer = open_memory(collection="writer", catalogs=["team"], publish=["team"], actor="agent:writer")
    writer.add(PORTO)
    return writer


def in_team(writer: AgenticMemorySystem, content: str = HERON) -> str:
    return next(note.id for note in writer.catalogs["team"].list() if note.content == content)


def test_the_sessions_of_all_collections_are_told_apart_and_spread_together(writer: AgenticMemorySystem) -> None:
    for number in range(3):
        writer.add(f"Heron has disk {number}.", time=f"2025-12-0{number // 2 + 1}T10:00")
    hits = writer.search("heron", 5, group_by="session")
    titles = [hit.group.title for hit in hits if hit.group]
    assert len(titles) == 5
    assert set(titles[1:]) > {"2025-12-01"}
    assert titles == sorted(titles, key=titles.index), "a session is told in one piece"
    assert {hit.catalog for hit in hits} == {"", "team"}
    assert sorted(hit.explanation.place or 0 for hit in hits) == [1, 2, 3, 4, 5]


def test_all_ways_to_search_find_notes_of_a_catalog_and_say_so(writer: AgenticMemorySystem) -> None:
    for search in (writer.search, writer.search_agentic):
        best = search("What is the staging server called?")[0]
        assert (best.content, best.collection, best.catalog, best["is_catalog"]) == (HERON, "team", "team", True)
    own = writer.search("Where does Ana live?")[0]
    assert (own.content, own.collection, own.catalog) == (PORTO, "writer", "")
    assert writer.search_batch(["staging server", "Ana Porto"])[0][0].catalog == "team"


def test_hits_stand_in_one_order_and_are_no_more_than_asked_for(writer: AgenticMemorySystem) -> None:
    hits = writer.search("Who lives in Porto, and when do deploys go out on the staging server?", k=2)

    assert len(hits) == 2
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert [hit.explanation.place for hit in hits] == [1, 2]


def test_filters_hold_in_catalogs_too(writer: AgenticMemorySystem) -> None:
    hits = writer.search("Porto staging server deploys", filter=Filter(tags=("release",)))

    assert [hit.content for hit in hits] == ["Deploys go out on Tuesdays."]


def test_a_split_collection_answers_as_a_whole_one(open_memory: Open) -> None:
    """The scores of two collections are on one scale: what is found best in one is found best in two."""
    said = [f"{name} keeps {what} in the {place} shed." for name in ("Ana", "Ben", "Wen", "Ida")
            for what, place in (("apples", "red"), ("ropes", "blue"), ("saws", "green"))]  # fmt: skip
    whole = open_memory(collection="whole")
    whole.add_notes(said)
    open_memory(collection="second").add_notes(said[1::2])
    split = open_memory(collection="first", catalogs=["second"])
    split.add_notes(said[::2])

    for question in ("Who keeps saws in the green shed?", "What does Wen keep?", "Where are Ida's ropes?"):
        best = {hit.content for hit in whole.search(question, k=3)}
        assert len(best & {hit.content for hit in split.search(question, k=3)}) >= 2
        assert split.search(question, k=1)[0].content in best


def test_a_question_is_embedded_once(open_memory: Open) -> None:
    open_memory(collection="team").add(HERON)
    embedder = Counting()
    writer = open_memory(collection="writer", catalogs=["team"], embedder=embedder)
    writer.add(PORTO)
    embedder.texts.clear()

    writer.search("staging server")

    assert embedder.texts == ["staging server"]


def test_what_both_say_is_told_once_as_ones_own(writer: AgenticMemorySystem) -> None:
    writer.add(HERON)

    assert [hit.collection for hit in writer.search("staging server heron") if hit.content == HERON] == ["writer"]


def test_prompts_and_citations_name_the_catalog(writer: AgenticMemorySystem) -> None:
    context = writer.context("What is the staging server called?")
    assert "catalog: team) The staging server" in context.text
    assert [note.catalog for note in context.notes if note.text == HERON] == ["team"]

    answer = writer.answer("What is the staging server called?")
    assert "heron" in answer.text
    (cited,) = [each for each in answer.citations if each.catalog]
    assert (cited.note, cited.catalog) == (in_team(writer), "team")
    assert "catalog team" in cited.line

    chat = ScriptedChat("It is heron.")
    with writer.assistant(chat=chat) as assistant:
        reply = assistant.say("What is our staging server called?")
        assert HERON in [each.text for each in reply.recalled]
        assert "catalog team] " + HERON in str(chat.conversations[-1])
        assert HERON in [each.text for each in assistant.replay()[0].recalled]


def test_notes_of_a_catalog_are_read_by_their_id(writer: AgenticMemorySystem) -> None:
    id = in_team(writer)

    note = writer.read(id)
    assert note is not None
    assert note.content == HERON
    assert writer.resolve(id[:8]) == id
    assert writer.note(id[:8]).content == HERON
    assert list(writer.read_many([id])) == [id]
    assert writer.history(id)[0].action == "add"
    assert (writer.links(id), writer.backlinks(id), writer.sources([id])) == ([], [], {id: []})
    assert writer.explain("heron", id).content == HERON


def test_a_catalog_is_never_written(writer: AgenticMemorySystem) -> None:
    theirs, own = in_team(writer), writer.list()[0].id
    before = writer.catalogs["team"].pulse()

    for change in (
        lambda: writer.update(theirs, content="x"),
        lambda: writer.delete(theirs),
        lambda: writer.delete_notes([own, theirs]),
        lambda: writer.purge(theirs),
        lambda: writer.pin(theirs),
        lambda: writer.link(own, theirs),
        lambda: writer.link(theirs, own),
        lambda: writer.supersede(theirs, own),
        lambda: writer.retract(theirs),
        lambda: writer.restore(theirs),
        lambda: writer.rollback(theirs, 1),
        lambda: writer.catalogs["team"].add("x"),
    ):
        with pytest.raises(StorageReadOnly) as refused:
            change()
        assert refused.value.hint
    with pytest.raises(StorageReadOnly) as refused:
        writer.delete(theirs)
    assert "amem -c team" in refused.value.hint
    writer.search("staging server")
    writer.opened([theirs])

    assert writer.catalogs["team"].pulse() == before
    assert writer.catalogs["team"].note(theirs).retrieval_count == 0
    assert writer.note(own).content == PORTO


def test_uses_of_ones_own_notes_are_counted(writer: AgenticMemorySystem) -> None:
    writer.search("Where does Ana live?")

    own = writer.read(writer.list()[0].id)
    assert own is not None
    assert own.retrieval_count == 1


def test_what_is_written_to_a_catalog_is_found_at_once(writer: AgenticMemorySystem, open_memory: Open) -> None:
    open_memory(collection="team").add("The coffee machine is broken.")

    assert writer.search("coffee machine")[0].content == "The coffee machine is broken."


def test_a_scope_holds_in_catalogs(open_memory: Open) -> None:
    team = open_memory(collection="team")
    team.add("Wen is allergic to shrimp.", user_id="wen")
    team.add("Ana is allergic to nuts.", user_id="ana")
    writer = open_memory(collection="writer", catalogs=["team"])

    assert [hit.content for hit in writer.scoped(user_id="ana").search("allergic")] == ["Ana is allergic to nuts."]


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"catalogs": ["nowhere"]}, CollectionNotFound, "no catalog 'nowhere'"),
        ({"catalogs": ["writer"]}, InvalidInput, "its own catalog"),
        ({"catalogs": ["team"], "embedder": HashEmbedder(64)}, EmbedderMismatch, "'team' cannot be searched"),
    ],
)
def test_a_catalog_that_cannot_be_searched_is_refused(
    open_memory: Open, options: dict[str, object], error: type[Exception], said: str
) -> None:
    open_memory(collection="team").add(HERON)

    with pytest.raises(error, match=said) as refused:
        open_memory(**{"collection": "writer"} | options)
    assert getattr(refused.value, "hint", "")


def test_ranks_are_not_merged(open_memory: Open, home: Path) -> None:
    from amem.settings import load_settings

    open_memory(collection="team").add(HERON)
    settings = load_settings(home, collection="writer", catalogs=["team"], fusion="rrf")

    with pytest.raises(InvalidInput, match="ranks of two collections"):
        open_memory(settings=settings)


# Publishing.


def test_a_published_note_keeps_facts_sources_author_and_origin(writer: AgenticMemorySystem) -> None:
    source = Source("m1", "message", "standup", "1", "Ana", None, "I moved to Lisbon.")
    fact = Fact("Ana", "lives_in", "Lisbon")
    note = writer.add("Ana moved to Lisbon.", source=source, facts=[fact], tags=["people"], importance=0.9).id

    receipt = writer.publish(note)

    team = writer.catalogs["team"]
    copy = team.note(receipt.id)
    assert (copy.content, copy.tags, copy.importance, copy.facts) == ("Ana moved to Lisbon.", ["people"], 0.9, [fact])
    assert [each.text for each in team.sources([copy.id])[copy.id]] == ["I moved to Lisbon."]
    assert copy.metadata["origin"] == {"collection": "writer", "note": note, "author": "agent:writer"}
    (operation,) = [each for each in team.log() if each.action == "publish"]
    assert (operation.actor, operation.id) == ("agent:writer", receipt.operation)


def test_publishing_is_undone_in_the_catalog(writer: AgenticMemorySystem, open_memory: Open) -> None:
    receipt = writer.publish(writer.list()[0].id, to="team")

    open_memory(collection="team").undo(receipt.operation)

    assert PORTO not in [note.content for note in writer.catalogs["team"].list()]
    assert writer.list()[0].content == PORTO


def test_what_the_catalog_says_already_is_not_published_twice(writer: AgenticMemorySystem) -> None:
    first = writer.publish(writer.list()[0].id)
    second = writer.publish(writer.list()[0].id)

    assert (second.status, second.id) == ("duplicate", first.id)
    assert writer.catalogs["team"].count() == 3


def test_publishing_needs_the_right_and_a_note_that_holds(writer: AgenticMemorySystem, open_memory: Open) -> None:
    note = writer.list()[0].id
    with pytest.raises(InvalidInput, match="no right to publish to 'elsewhere'"):
        writer.publish(note, to="elsewhere")
    reader = open_memory(collection="writer", catalogs=["team"])
    with pytest.raises(InvalidInput, match="no right to publish to 'team'"):
        reader.publish(note, to="team")
    with pytest.raises(NoteNotFound):
        writer.publish("no-such-note")
    with pytest.raises(StorageReadOnly):
        writer.publish(in_team(writer))
    writer.retract(note)
    with pytest.raises(InvalidInput, match="no longer holds"):
        writer.publish(note)


@pytest.mark.parametrize("text", [PORTO, "测试服务器叫苍鹭。"])
def test_a_model_publishes_by_its_tool_and_hears_why_it_may_not(
    writer: AgenticMemorySystem, open_memory: Open, text: str
) -> None:
    note = writer.add(text).id
    tools = Toolbox(writer, names=("publish",))

    published = tools.call("memory_publish", {"id": note, "to": "team"})["result"]

    assert (published["note"], published["catalog"]) == (note, "team")
    assert writer.catalogs["team"].note(published["id"]).content == text
    assert tools.call("memory_publish", {"id": note})["result"]["status"] == "duplicate"
    refused = tools.call("memory_publish", {"id": note, "to": "elsewhere"})
    assert not refused["ok"]
    assert "no right to publish to 'elsewhere'" in refused["error"]
    assert refused["hint"] == "it may publish to team"
    reader = open_memory(collection="writer", catalogs=["team"])
    refused = Toolbox(reader, names=("publish",)).call("memory_publish", {"id": note, "to": "team"})
    assert refused["hint"].startswith('grant it: publish = ["team"] in [agents.NAME] of config.toml')


def test_a_note_says_which_catalog_it_is_in(writer: AgenticMemorySystem) -> None:
    theirs, own = in_team(writer), writer.list()[0].id

    assert [writer.catalog_of(id) for id in (theirs, own, "no-such-note")] == ["team", "", ""]
    assert list(writer.cards_of([own, theirs])) == [own, theirs]
    assert writer.surroundings(theirs).links == 0


def test_a_query_reaches_catalogs_without_counting(writer: AgenticMemorySystem) -> None:
    hits = writer.ask(Query("staging server", 1, touch=False))

    assert [hit.catalog for hit in hits] == ["team"]
