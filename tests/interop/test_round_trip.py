"""An export with versions, imported into an empty collection, is an equal collection."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from amem.interop.exporting import exported
from amem.interop.importing import Importer
from amem.interop.reader import read_path
from amem.memory_system import AgenticMemorySystem
from amem.note import LinkType, Source, Status
from amem.query import Filter
from amem.settings import Settings
from amem.testing import FrozenClock, HashEmbedder
from amem.writing.intake import NewNote

if TYPE_CHECKING:
    from amem.interop.importing import ImportReport

WORDS = st.sampled_from(
    [
        "Ana lives in Lisbon.",
        "Ana moved to Porto on 2 March 2026.",
        "安娜住在里斯本。",
        "我对花生过敏。\n\n芒果没事。",
        "Tea at five 🫖👩‍👩‍👧\nno sugar",
        "The release runs on PostgreSQL 15.3.",
        "We moved to MySQL 8.4.",
        '# Title\n\n"quoted" \\ back [[Title]]',
    ]
)
NOTES = st.lists(st.tuples(WORDS, st.integers(0, 99)), min_size=1, max_size=6)
KINDS = ["update", "tag", "link", "pin", "delete", "supersede", "retract", "undo", "say again", "use", "facts", "topic"]
DEEDS = st.lists(
    st.tuples(
        st.sampled_from(
            [
                "update",
                "tag",
                "link",
                "pin",
                "delete",
                "supersede",
                "retract",
                "undo",
                "say again",
                "use",
                "facts",
                "topic",
            ]
        ),
        st.integers(0, 5),
        st.integers(0, 5),
        st.sampled_from(list(LinkType)),
        WORDS,
    ),
    max_size=8,
)


def act(memory: AgenticMemorySystem, ids: list[str], deed: tuple[Any, ...]) -> None:
    """One thing that people and agents do; what amem refuses is no matter here."""
    what, one, two, type, words = deed
    first, second = ids[one % len(ids)], ids[two % len(ids)]
    doings: dict[str, Any] = {
        "update": lambda: memory.update(first, content=f"{words} {two}"),
        "tag": lambda: memory.update(first, tags=["里斯本", f"t{two}"], metadata={"where": words, "n": [two, None]}),
        "link": lambda: memory.link(first, second, type, words),
        "pin": lambda: memory.pin(first),
        "delete": lambda: memory.delete(first),
        "supersede": lambda: memory.supersede(first, second),
        "retract": lambda: memory.retract(first),
        "undo": lambda: memory.undo(),
        "say again": lambda: memory.acting_as("agent:two").add(words, speaker="Wen"),
        "use": lambda: memory.opened([first]),
        "facts": lambda: memory.update(
            first, facts=[{"subject": "Ana", "predicate": "lives_in", "object": "Rome", "valid_to": "2026-05-01"}]
        ),
        "topic": lambda: memory.declare_topic(f"harbour {two}", words),
    }
    from contextlib import suppress

    from amem.errors import AmemError

    with suppress(AmemError):
        doings[what]()


def told(memory: AgenticMemorySystem) -> dict[str, Any]:
    """All that a collection tells of its notes, by id, but for the numbers of operations."""
    everything = Filter(statuses=(Status.ACTIVE, Status.SUPERSEDED, Status.ARCHIVED))
    found = {}
    for record in exported(memory, everything, versions=True):
        for version in record["versions"]:
            del version["operation"]
        record["links_out"].sort(key=json.dumps)
        record["links"].sort()
        note = memory.read(record["id"])
        assert note is not None
        found[record["id"]] = record | {"full facts": note.facts, "doubts": sorted(note.doubts)}
    return found


def brought(home: Path, name: str, clock: FrozenClock) -> AgenticMemorySystem:
    chosen = Settings(
        home=home, collection=name, batch_size=8, llm_backend="offline", dense_base="exact", timezone="Europe/Lisbon"
    )
    return AgenticMemorySystem(settings=chosen, embedder=HashEmbedder(32), clock=clock)


def carried(memory: AgenticMemorySystem, other: AgenticMemorySystem, folder: Path, **how: Any) -> ImportReport:
    path = folder / "export.jsonl"
    lines = [json.dumps(record, ensure_ascii=False) for record in exported(memory, versions=True)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Importer(other, cause="import", **how).run(read_path(path, other.settings))


@given(NOTES, DEEDS)
@settings(
    max_examples=10, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, phases=[Phase.generate]
)
def test_an_export_restores_to_an_equal_collection(notes: list[tuple[str, int]], deeds: list[tuple[Any, ...]]) -> None:
    clock = FrozenClock()
    with (
        tempfile.TemporaryDirectory() as name,
        brought(Path(name), "here", clock) as memory,
        brought(Path(name), "there", clock) as other,
    ):
        ids = [memory.add(f"{text} ({number})", time="2026-03-01T10:00").id for text, number in notes]
        for deed in deeds:
            clock.advance(hours=7)
            act(memory, ids, deed)
        gone = {note.id for note in memory.list(Filter(statuses=(Status.DELETED,)), limit=100)}
        before = told(memory)

        report = carried(memory, other, Path(name))

        assert report.problems() == []
        assert told(other) == before
        assert gone.isdisjoint(told(other))
        assert carried(memory, other, Path(name)).imported == 0
        if before:
            other.undo()
            assert other.count() == 0
            other.redo()
            assert told(other).keys() == before.keys()


def test_what_was_learnt_from_a_message_is_restored_beside_the_message(tmp_path: Path) -> None:
    """Both say the same and come from the same source; their ids tell them apart."""
    said = Source("chat:1", "message", "chat", None, "user", None, "I play padel on Thursdays with Omar.")
    clock = FrozenClock()
    with (
        brought(tmp_path, "here", clock) as memory,
        brought(tmp_path, "there", clock) as empty,
        brought(tmp_path, "full", clock) as full,
    ):
        memory.add_notes(
            [
                NewNote("I play padel on Thursdays with Omar", fields={"id": "e", "kind": "episode"}, gathers=(said,)),
                NewNote("I play padel on Thursdays with Omar.", sources=("chat:1",), distinct=True, derived_from="e"),
            ]
        )
        full.add_notes([NewNote("I play padel on Thursdays with Omar.")])

        report = carried(memory, empty, tmp_path)
        assert (report.imported, report.duplicates) == (2, 0)
        assert told(empty) == told(memory)
        report = carried(memory, full, tmp_path)
        assert (report.imported, report.duplicates, full.count()) == (2, 0, 3)
        assert told(memory).keys() < told(full).keys()
        (link,) = [each for each in full.backlinks("e") if each.type is LinkType.DERIVED_FROM]
        assert link.source in told(memory)
        for other in (empty, full):
            assert carried(memory, other, tmp_path).summary() == "imported 0 notes, 2 known already"


def test_a_restore_that_was_stopped_goes_on_to_an_equal_collection(tmp_path: Path) -> None:
    clock = FrozenClock()
    with brought(tmp_path, "here", clock) as memory, brought(tmp_path, "there", clock) as other:
        memory.add_notes([f"Ship {n} called at harbour {n}. 第{n}号船。" for n in range(30)])

        def stop(done: int, total: int | None) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            carried(memory, other, tmp_path, progress=stop)
        assert 0 < other.count() < 30
        carried(memory, other, tmp_path)

        assert told(other) == told(memory)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("recorded_at", "soon"),
        ("importance", 7),
        ("status", "married"),
        ("versions", [{"version": 2}]),
        ("kept", {"facts": []}),
        ("metadata", {"user_id": ["a"]}),
        ("analyst", "\ud800"),
    ],
)
def test_a_line_that_cannot_be_put_back_is_named_and_costs_no_other(tmp_path: Path, key: str, value: Any) -> None:
    clock = FrozenClock()
    with brought(tmp_path, "here", clock) as memory, brought(tmp_path, "there", clock) as other:
        memory.add_notes(["One ship.", "Two ships.", "Three ships."])
        records = list(exported(memory, versions=True))
        records[1][key] = value
        path = tmp_path / "export.jsonl"
        path.write_text("".join(json.dumps(record) + "\n" for record in records))

        report = Importer(other, cause="import").run(read_path(path, other.settings))

        assert [each.where for each in report.problems()] == ["line 2"]
        assert other.count() == 2


def test_an_export_joins_notes_that_are_there_as_new_notes_do(tmp_path: Path) -> None:
    clock = FrozenClock()
    with brought(tmp_path, "here", clock) as memory, brought(tmp_path, "there", clock) as other:
        memory.add("Ana lives in Lisbon.")
        other.add("The ferry leaves at seven.")
        clock.advance(days=3)

        assert carried(memory, other, tmp_path).imported == 1
        (note,) = [each for each in other.list() if "Ana" in each.content]
        assert note.recorded_at == clock.now()
