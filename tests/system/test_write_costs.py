"""What an add costs does not grow with the collection, and what is kept to make it cheap never outlives its text."""

from __future__ import annotations

import gc
import sqlite3
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from amem import AgenticMemorySystem, load_settings
from amem.conflict import statements
from amem.errors import InvalidInput
from amem.interop.importing import Importer
from amem.interop.items import Incoming
from amem.interop.reader import read_path
from amem.language import scripts
from amem.note import Status
from amem.testing import FrozenClock, HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray


YEAR = Path(__file__).parents[2] / "examples" / "data" / "year.jsonl"


class CountingEmbedder(HashEmbedder):
    """Keeps what it was asked for."""

    def __init__(self) -> None:
        super().__init__(64)
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += texts
        return super().embed(texts)


def opened(home: Path | None, seed: str = "first", embedder: HashEmbedder | None = None) -> AgenticMemorySystem:
    clock = FrozenClock("2026-03-01T10:00", seed=seed)
    embedder = embedder or HashEmbedder(64)
    return AgenticMemorySystem(directory=home, embedder=embedder, llm_backend="offline", clock=clock, background=False)


def kept(memory: AgenticMemorySystem, id: str) -> int:
    """How many readings are kept of a note."""
    with memory.parts.store.read() as session:
        return int(
            session.value("SELECT count(*) FROM readings WHERE note IN (SELECT key FROM notes WHERE id = :id)", id=id)
        )


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Counts the statements that any connection runs, while its "on" is set."""
    counted: Counter[str] = Counter()

    class Connection(sqlite3.Connection):
        def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
            counted["statements"] += counted["on"]
            return super().execute(sql, *values)

        def executemany(self, sql: str, rows: Any) -> sqlite3.Cursor:
            counted["statements"] += counted["on"]
            return super().executemany(sql, rows)

    connect = sqlite3.connect
    monkeypatch.setattr("sqlite3.connect", lambda *where, **how: connect(*where, factory=Connection, **how))
    return counted


def statements_of_an_add(home: Path, ran: Counter[str], others: int) -> int:
    with opened(home) as memory:
        memory.add_notes([f"The greenhouse has {number} tomato plants in row {number}." for number in range(others)])
        memory.add("The shed has a new lock.")
        ran.clear()
        ran["on"] = 1
        memory.add("Gulls sat on the harbour wall.")
        ran["on"] = 0
        return ran["statements"]


def test_an_add_runs_no_more_statements_in_a_larger_collection(tmp_path: Path, ran: Counter[str]):
    few, many = (statements_of_an_add(tmp_path / str(others), ran, others) for others in (10, 200))
    assert 0 < many <= few < 50


def statements_of_a_page(folder: Path, ran: Counter[str], links: int) -> int:
    """Of importing a page with so many links to pages that are not there, into what has them neither."""
    folder.mkdir()
    (folder / "Boats.md").write_text("Boats.\n" + "\n".join(f"[[第{number}页]]" for number in range(links)))
    with opened(folder.with_name(f"{folder.name} home")) as memory:
        memory.add("Warm.")
        ran.clear()
        ran["on"] = 1
        report = Importer(memory, cause="import").run(read_path(folder, memory.settings))
        ran["on"] = 0
    assert (report.imported, report.links) == (1, 0)
    return ran["statements"]


def test_links_to_pages_that_never_come_are_looked_for_in_one_statement(tmp_path: Path, ran: Counter[str]):
    few, many = (statements_of_a_page(tmp_path / str(links), ran, links) for links in (5, 100))
    assert 0 < many <= few


def names_compared(folder: Path, monkeypatch: pytest.MonkeyPatch, files: int) -> int:
    """How many names are compared by an import of so many files, a batch each, with a link each that leads nowhere."""
    folder.mkdir()
    for number in range(files):
        (folder / f"{number}.md").write_text(f"Boat {number} of [[第{number}页]], after [[{number + 1}]].")
    asked: Counter[str] = Counter()
    monkeypatch.setattr(
        "amem.interop.importing.link_name", lambda name: asked.update(["names"]) or scripts.link_name(name)
    )
    monkeypatch.setenv("AMEM_BATCH_SIZE", "1")
    with opened(folder.with_name(f"{folder.name} home")) as memory:
        assert memory.settings.batch_size == 1
        report = Importer(memory, cause="import").run(read_path(folder, memory.settings))
        made = memory.links_among([note.id for note in memory.list(limit=files)])
    assert report.imported == files
    assert sum(link.made_by == "user" for link in made) == files - 1
    return asked["names"]


def test_a_link_that_waits_for_a_file_is_looked_for_again_only_when_that_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    few, many = (names_compared(tmp_path / str(files), monkeypatch, files) for files in (5, 20))
    assert few < many <= 4 * few


def test_a_text_that_is_stored_already_is_neither_analysed_nor_embedded_again(tmp_path: Path):
    embedder = CountingEmbedder()
    with opened(tmp_path, embedder=embedder) as memory:
        memory.add_notes(["Ana likes opera.", "安娜喜欢爵士乐。"])
        embedder.asked.clear()
        told = memory.add_notes(
            [
                "ana  likes OPERA.",
                {"content": "安娜喜欢爵士乐。", "speaker": "Bea"},
                "Gulls sat there.",
                "gulls sat there.",
            ]
        )
    assert [each.status for each in told] == ["duplicate", "duplicate", "stored", "duplicate"]
    assert embedder.asked == ["Gulls sat there."]
    assert [each.cost.embedded for each in told] == [0, 0, 1, 0]


@pytest.mark.parametrize("in_memory", [False, True])
@pytest.mark.parametrize(
    ("said", "taken_back"),
    [("Ana likes jazz.", "Ana doesn't like jazz any more."), ("安娜喜欢爵士乐。", "安娜不再喜欢爵士乐了。")],
)
def test_a_text_is_read_again_where_its_like_falls_in_the_same_batch(
    tmp_path: Path, said: str, taken_back: str, in_memory: bool
):
    with opened(None if in_memory else tmp_path) as memory:
        first = memory.add(said, time="2026-01-01")
        told = memory.add_notes(
            [{"content": taken_back, "time": "2026-02-01"}, {"content": said, "time": "2026-02-10"}]
        )
        assert [each.status for each in told] == ["stored", "stored"]
        assert told[0].superseded == (first.id,)
        again, before = memory.read(told[1].id), memory.read(first.id)
        assert (again.keywords, again.facts, again.analyst) == (before.keywords, before.facts, before.analyst)
        assert {each.earlier for each in told[1].conflicts} == {told[0].id}


def test_a_batch_is_linked_and_weighed_as_its_notes_one_at_a_time_and_undone_as_one(tmp_path: Path):
    settings = load_settings(tmp_path, llm_backend="offline")
    items = [each.note for each in read_path(YEAR, settings) if isinstance(each, Incoming)]
    found = []
    for name in ("one by one", "batch"):
        with opened(tmp_path / name) as memory:
            told = [memory.add_notes([item])[0] for item in items] if name == "one by one" else memory.add_notes(items)
            links = {(link.source, link.target, link.type) for each in told for link in each.links}
            conflicts = {(each.earlier, each.later, each.hides) for receipt in told for each in receipt.conflicts}
            hidden = {(each.id, each.superseded) for each in told}
            found.append(
                (links, conflicts, hidden, {(note.id, note.status, note.kind) for note in memory.list(limit=100)})
            )
            if name == "batch":
                memory.undo(told[0].operation)
                assert memory.list(limit=100) == []
    assert found[0] == found[1]
    assert min(len(found[0][0]), len(found[0][1])) > 3


def test_what_was_read_in_a_note_is_kept_for_those_that_come_near_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with opened(tmp_path) as memory:
        first = memory.add("Ana likes jazz and rye bread.", time="2026-01-01")
        memory.add("Ana likes jazz and plays chess on Fridays.", time="2026-01-02")
        assert kept(memory, first.id) == 1
    statements.recent.clear()
    read: list[str] = []
    monkeypatch.setattr(
        statements, "read_anew", lambda text, take=statements.read_anew: read.append(text) or take(text)
    )
    with opened(tmp_path, "second") as memory:
        told = memory.add("Ana doesn't like jazz any more.", time="2026-02-01")
    assert "Ana likes jazz and rye bread." not in read
    assert {each.earlier for each in told.conflicts} >= {first.id}


def test_an_edit_is_read_by_the_next_note_that_comes_near_it(tmp_path: Path):
    with opened(tmp_path) as memory:
        note = memory.add("Ana likes opera.", time="2026-01-01")
        memory.add("Ana likes opera and rye bread.", time="2026-01-02")
        assert kept(memory, note.id) == 1
        with memory.parts.store.write() as session:
            changed = {"content": "Ana likes jazz."}
            session.notes.change(note.id, changed, session.begin("edit", "user"), edited=True)
        assert kept(memory, note.id) == 0
        told = memory.add("Ana doesn't like jazz any more.", time="2026-02-01")
        assert note.id in {each.earlier for each in told.conflicts}
        assert memory.read(note.id).status is Status.SUPERSEDED


def test_a_damaged_reading_is_read_anew_and_replaced(tmp_path: Path):
    with opened(tmp_path) as memory:
        first = memory.add("安娜喜欢爵士乐。", time="2026-01-01")
        memory.add("安娜喜欢爵士乐和黑麦面包。", time="2026-01-02")
        with memory.parts.store.write() as session:
            assert session.change("UPDATE readings SET found = x'00ff'") >= 1
    statements.recent.clear()
    with opened(tmp_path, "second") as memory:
        told = memory.add("安娜不再喜欢爵士乐了。", time="2026-02-01")
        assert first.id in {each.earlier for each in told.conflicts}
        with memory.parts.store.read() as session:
            assert session.value("SELECT count(*) FROM readings WHERE found = x'00ff'") == 0


def test_a_purged_note_leaves_no_reading(tmp_path: Path):
    with opened(tmp_path) as memory:
        note = memory.add("Ana likes opera.", time="2026-01-01")
        memory.add("Ana likes opera and rye bread.", time="2026-01-02")
        assert kept(memory, note.id) == 1
        memory.purge([note.id])
        with memory.parts.store.read() as session:
            assert session.value("SELECT count(*) FROM readings WHERE note NOT IN (SELECT key FROM notes)") == 0


@pytest.mark.parametrize(
    "text",
    [
        "We moved the standup from Monday to 9:30 on Tuesday; Ana isn't on call any more, and it was her idea.",
        "If rents fall I'll move to Porto. Instead of coffee I drink tea now. Martin and Ella are married.",
        "我们把服务器从北京搬到了上海，不再用3楼的机房；妈妈退休了。",
    ],
)
def test_what_is_kept_of_a_text_is_what_was_read(text: str):
    statements.recent.clear()
    read = statements.read(text)
    held = statements.packed(text)
    statements.recent.clear()
    assert statements.unpack(text, held)
    assert statements.read(text) == read


@pytest.mark.parametrize("collects", [True, False])
def test_the_collector_of_cycles_waits_for_a_batch_and_stands_as_before_afterwards(tmp_path: Path, collects: bool):
    seen = []

    class Watching(HashEmbedder):
        def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            seen.append(gc.isenabled())
            return super().embed(texts)

    with AgenticMemorySystem(settings=load_settings(tmp_path, llm_backend="offline"), embedder=Watching()) as memory:
        if not collects:
            gc.disable()
        try:
            memory.add_notes(["Ana likes opera.", "Bo moved to Porto."])
            assert gc.isenabled() is collects
            with pytest.raises(InvalidInput):
                memory.add_notes(["Ana likes jazz.", ""])
            assert gc.isenabled() is collects
        finally:
            gc.enable()
    assert seen == [False]
