"""Real input: a conversation of the LoCoMo development file, which may not be distributed with the project."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from amem import AgenticMemorySystem, load_settings
from amem.interop.importing import Importer
from amem.interop.reader import read_path

if TYPE_CHECKING:
    from amem.protocols import Embedder

FILE = Path(__file__).parents[3] / "shared" / "data" / "locomo_dev.json"

pytestmark = [
    pytest.mark.locomo,
    pytest.mark.skipif(not FILE.is_file(), reason=f"the LoCoMo development file is not at {FILE}"),
]


def test_every_turn_of_a_real_conversation_is_stored_once_with_its_source_and_every_link_resolves(
    tmp_path: Path, minilm: Embedder
) -> None:
    sample = json.loads(FILE.read_text(encoding="utf-8"))[0]
    one = tmp_path / "one.json"
    one.write_text(json.dumps([sample]), encoding="utf-8")
    turns = {
        turn["dia_id"]: turn["speaker"]
        for name, session in sample["conversation"].items()
        if isinstance(session, list) and name.startswith("session_")
        for turn in session
    }
    settings = load_settings(tmp_path / "home", llm_backend="offline")
    with AgenticMemorySystem(settings=settings, embedder=minilm) as memory:
        for _ in range(2):
            report = Importer(memory, cause="test").run(read_path(one, settings))
            assert not report.refused
        ids = list(memory.memories)
        sources = memory.sources(ids)
        found = {source.ref: source.speaker for id in ids for source in sources[id]}
        assert len(ids) == len(turns)
        assert found == turns
        links = [link for id in ids for link in memory.links(id)]
        assert links
        assert {link.target for link in links} <= set(ids)
        assert all(link.reason for link in links)
        assert {note.enrichment for note in memory.list(limit=len(ids))} == {"done"}
