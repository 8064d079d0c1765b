"""What other memories wrote becomes notes: the MCP memory server's file, mem0's JSON, A-Mem's Chroma folder."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from amem.errors import InvalidInput
from amem.interop.formats import Format
from amem.interop.importing import Importer
from amem.interop.items import Incoming, Refused
from amem.interop.other_memories import read_chroma
from amem.interop.reader import read_path
from amem.note import LinkType
from amem.query import Filter

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Import

    from amem.memory_system import AgenticMemorySystem
    from amem.settings import Settings

ANA = {"type": "entity", "name": "Ana_Marulho", "entityType": "person", "observations": ["Speaks fluent Spanish"]}
BUOYS = {
    "type": "entity",
    "name": "浮标目录",
    "entityType": "project",
    "observations": ["浮标目录存放在 PostgreSQL 里"],
}
WORKS = {"type": "relation", "from": "Ana_Marulho", "to": "浮标目录", "relationType": "works_on"}


def lines(path: Path, *held: Any) -> Path:
    """As the server writes it: JSON without line break at the end."""
    path.write_text("\n".join(json.dumps(each, ensure_ascii=False) for each in held), encoding="utf-8")
    return path


def contents(memory: AgenticMemorySystem) -> set[str]:
    return {note.content for note in memory.list()}


# -- the MCP memory server -------------------------------------------------------------------------------------


def test_entities_observations_and_relations_become_notes_and_links(
    tmp_path: Path, memory: AgenticMemorySystem, bring_in: Import
) -> None:
    report = bring_in(lines(tmp_path / "memory.json", ANA, BUOYS, WORKS))
    assert (report.imported, report.refused) == (4, 0)
    ana, spanish = "Ana_Marulho (person)", "Ana_Marulho: Speaks fluent Spanish"
    assert contents(memory) == {ana, spanish, "浮标目录 (project)", "浮标目录存放在 PostgreSQL 里"}
    ids = {note.content: note.id for note in memory.list()}
    (works,) = [link for link in memory.links(ids[ana]) if link.reason == "works on"]
    assert (works.target, works.type, works.made_by) == (ids["浮标目录 (project)"], LinkType.RELATED, "mcp-memory")
    assert ids[ana] in {link.target for link in memory.links(ids[spanish]) if link.type is LinkType.PART_OF}
    assert memory.search("Who speaks Spanish?", 1)[0].content == spanish


def test_importing_the_server_s_file_again_adds_only_what_it_learnt_since(
    tmp_path: Path, memory: AgenticMemorySystem, bring_in: Import
) -> None:
    path = lines(tmp_path / "memory.json", ANA, BUOYS)
    bring_in(path)
    before = contents(memory)
    assert bring_in(path).imported == 0
    more = {**ANA, "observations": [*ANA["observations"], "Joined Marulho in June"]}
    again = bring_in(lines(path, more, BUOYS, WORKS))
    assert (again.imported, again.duplicates) == (1, 4)
    assert contents(memory) - before == {"Ana_Marulho: Joined Marulho in June"}
    ana = next(note for note in memory.list() if note.content == "Ana_Marulho (person)")
    assert "works on" in {link.reason for link in memory.links(ana.id)}


def test_what_cannot_be_used_of_the_server_s_file_is_refused_by_its_line(tmp_path: Path, settings: Settings) -> None:
    path = tmp_path / "memory.json"
    good = json.dumps(ANA)
    deep = "[" * 100_000
    path.write_text(
        f'{good}\n{{"type": "relation", "from": 1}}\nnonsense\n{deep}\n{{"type": "entity", "name": ["x"]}}\n'
        '{"type": "thing"}\n{"type": "entity", "name": "B", "observations": [{"x": 1}, " "]}\n'
    )
    found = list(read_path(path, settings))
    refused = {each.where for each in found if isinstance(each, Refused)}
    assert refused == {f"line {n}" for n in (2, 3, 4, 5, 6)} | {"line 7, observation 1", "line 7, observation 2"}
    assert [each.note.content for each in found if isinstance(each, Incoming)][-1] == "B"


# -- mem0 ------------------------------------------------------------------------------------------------------

MEMORIES = [
    {
        "id": "892db2ae-06d9-49e5-8b3e-585ef9b85b8e",
        "memory": "Is allergic to shrimp",
        "hash": "c4a5",
        "metadata": {"source": "chat"},
        "user_id": "ana",
        "categories": ["health"],
        "created_at": "2026-03-01T09:15:00-07:00",
        "updated_at": None,
    },
    {"id": "2", "memory": "喜欢绿茶", "user_id": "liang", "created_at": "2026-03-02T10:00:00+08:00"},
]


@pytest.mark.parametrize(
    "shape", [MEMORIES, {"results": MEMORIES}, {"count": 2, "next": None, "results": MEMORIES, "relations": []}]
)
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "marked"])
def test_mem0_s_memories_keep_their_ids_times_and_whose_they_are(
    tmp_path: Path, memory: AgenticMemorySystem, bring_in: Import, shape: Any, mark: bytes
) -> None:
    path = tmp_path / "memories.json"
    path.write_bytes(mark + json.dumps(shape, indent=2, ensure_ascii=False).encode())
    report = bring_in(path)
    assert (report.imported, report.refused) == (2, 0)
    note = memory.read(MEMORIES[0]["id"])
    assert note is not None
    assert (note.content, note.tags, note.metadata["source"]) == ("Is allergic to shrimp", ["health"], "chat")
    assert note.timestamp.startswith("2026-03-01")
    assert [each.content for each in memory.list(Filter(user_id="liang"))] == ["喜欢绿茶"]
    again = bring_in(path)
    assert (again.imported, again.duplicates) == (0, 2)
    shape_with_more = [*MEMORIES, {"id": "3", "memory": "Runs on Sundays", "user_id": "ana"}]
    path.write_text(json.dumps(shape_with_more), encoding="utf-8")
    assert bring_in(path).imported == 1


def test_what_cannot_be_used_of_mem0_s_is_refused_by_its_number(tmp_path: Path, settings: Settings) -> None:
    path = tmp_path / "memories.json"
    bad = [{"memory": "good"}, 7, {"memory": 1}, {"memory": "x", "id": 5}, {"memory": "x", "created_at": "soon"}]
    path.write_text(json.dumps(bad))
    found = list(read_path(path, settings))
    assert [each.where for each in found if isinstance(each, Refused)] == [f"memory {n}" for n in (2, 3, 4, 5)]
    path.write_text('{"results": [{"memory": "good"}, {"memory": "cut o')
    with pytest.raises(InvalidInput, match="not a list of memories"):
        list(read_path(path, settings))
    path.write_text("[]")
    with pytest.raises(InvalidInput, match="no list of mem0's memories"):
        list(read_path(path, settings, Format.MEM0))


# -- Letta -----------------------------------------------------------------------------------------------------

BLOCKS = [
    {"label": "human", "value": "\nName: Chad. Likes sailing.\n", "updated_at": "2026-03-01T09:00:00+00:00"},
    {"label": "团队", "value": "每周一早上十点部署。"},
    {"label": "scratch", "value": "  "},
]


@pytest.mark.parametrize(
    "shape",
    [
        {"agents": [{"name": "a", "block_ids": ["block-0"], "messages": [{"role": "user"}]}], "blocks": BLOCKS},
        {"agent_type": "memgpt_agent", "core_memory": BLOCKS, "messages": []},
    ],
)
def test_the_memory_blocks_of_letta_s_agents_are_notes_under_their_labels(
    tmp_path: Path, memory: AgenticMemorySystem, bring_in: Import, shape: Any
) -> None:
    path = tmp_path / "agent.af"
    path.write_text(json.dumps(shape, indent=2, ensure_ascii=False), encoding="utf-8")
    report = bring_in(path)
    assert (report.imported, report.refused) == (2, 0)
    (human,) = memory.list(Filter(tags=("human",)))
    assert (human.content, human.metadata["block"]) == ("Name: Chad. Likes sailing.", "human")
    assert human.timestamp.startswith("2026-03-01")
    assert [each.content for each in memory.list(Filter(tags=("团队",)))] == ["每周一早上十点部署。"]
    again = bring_in(path)
    assert (again.imported, again.duplicates) == (0, 2)


def test_what_cannot_be_used_of_letta_s_is_refused_by_its_number(tmp_path: Path, settings: Settings) -> None:
    path = tmp_path / "agent.af"
    bad = [BLOCKS[0], 7, {"label": "x"}, {"label": 1, "value": "x"}, BLOCKS[1] | {"updated_at": "soon"}]
    path.write_text(json.dumps({"agents": [], "blocks": bad}), encoding="utf-8")
    found = list(read_path(path, settings))
    assert [each.where for each in found if isinstance(each, Refused)] == [f"block {n}" for n in (2, 3, 4, 5)]
    path.write_text('{"agents": []}', encoding="utf-8")
    with pytest.raises(InvalidInput, match="no file of Letta's agents"):
        list(read_path(path, settings))


# -- A-Mem -----------------------------------------------------------------------------------------------------

TEA, KETTLE, GONE = (f"00000000-0000-4000-8000-00000000000{n}" for n in "123")


def stored(id: str, content: str, **fields: Any) -> dict[str, str]:
    """A document's metadata as A-Mem makes it: lists as JSON, all else as text."""
    whole = {
        "id": id,
        "content": content,
        "keywords": ["tea"],
        "links": [],
        "retrieval_count": 0,
        "timestamp": "202603011200",
        "last_accessed": "202603011200",
        "context": "General",
        "evolution_history": [],
        "category": "Uncategorized",
        "tags": ["drinks"],
    } | fields
    return {name: json.dumps(value) if isinstance(value, list) else str(value) for name, value in whole.items()}


def chroma_folder(folder: Path, *notes: dict[str, str]) -> Path:
    from amem.index.chroma import close_client, open_folder

    client = open_folder(folder)
    collection = client.get_or_create_collection("memories", embedding_function=None)
    collection.upsert(
        ids=[each.get("id", "odd") for each in notes],
        documents=[each.get("content", "") + " context: more" for each in notes],
        metadatas=list(notes),
        embeddings=[[float(n), 1.0, 0.0] for n in range(len(notes))],
    )
    close_client(client)
    return folder


def bring_chroma(memory: AgenticMemorySystem, settings: Settings, folder: Path) -> Any:
    from amem.clock import zone

    return Importer(memory, cause="import of A-Mem").run(read_chroma(folder, zone(settings.timezone)))


def files_of(folder: Path) -> dict[str, tuple[int, int]]:
    return {str(path): (path.stat().st_mtime_ns, path.stat().st_size) for path in folder.rglob("*") if path.is_file()}


def test_a_mem_s_notes_come_with_their_fields_and_links_and_its_folder_stays_as_it_is(
    tmp_path: Path, memory: AgenticMemorySystem, settings: Settings
) -> None:
    folder = chroma_folder(
        tmp_path / "chroma",
        stored(TEA, "Green tea at 80 degrees", context="How to make tea", category="Kitchen"),
        stored(KETTLE, "烧水壶保持 80 度", links=[TEA, GONE, 3]),
    )
    before = files_of(folder)
    report = bring_chroma(memory, settings, folder)
    assert files_of(folder) == before
    assert (report.imported, report.refused) == (2, 0)
    tea = memory.read(TEA)
    assert tea is not None
    assert (tea.content, tea.context, tea.category) == ("Green tea at 80 degrees", "How to make tea", "Kitchen")
    assert (tea.keywords, tea.tags, tea.timestamp) == (["tea"], ["drinks"], "202603011200")
    (link,) = [each for each in memory.links(KETTLE) if each.made_by == "a-mem"]
    assert (link.target, link.type, link.reason) == (TEA, LinkType.RELATED, "linked by A-Mem")
    assert bring_chroma(memory, settings, folder).imported == 0
    chroma_folder(folder, stored("9", "Oolong in the evening"))
    assert bring_chroma(memory, settings, folder).imported == 1


def test_a_folder_that_is_not_chroma_s_is_refused_by_name(tmp_path: Path, settings: Settings) -> None:
    from datetime import UTC

    empty, broken, linked = tmp_path / "empty", tmp_path / "broken", tmp_path / "linked"
    for each in (empty, broken, linked):
        each.mkdir()
    (broken / "chroma.sqlite3").write_bytes(b"not a database, not at all" * 100)
    elsewhere = chroma_folder(tmp_path / "chroma", stored(TEA, "tea"))
    os.symlink(elsewhere / "chroma.sqlite3", linked / "chroma.sqlite3")
    for folder, said in ((empty, "no Chroma folder"), (broken, "cannot read"), (linked, "no Chroma folder")):
        with pytest.raises(InvalidInput, match=said) as refused:
            list(read_chroma(folder, UTC))
        assert str(folder) in str(refused.value)


def test_a_note_of_a_mem_s_that_makes_no_sense_is_refused_and_the_others_come(tmp_path: Path) -> None:
    from datetime import UTC

    deep = {**stored("deep", "x"), "tags": "[" * 50_000}
    times = {**stored("times", "x"), "timestamp": "yesterdayish"}
    folder = chroma_folder(tmp_path / "chroma", stored(TEA, "tea"), deep, times)
    found = list(read_chroma(folder, UTC))
    assert [each.note.content for each in found if isinstance(each, Incoming)] == ["tea"]
    assert {each.where for each in found if isinstance(each, Refused)} == {"memories, deep", "memories, times"}
