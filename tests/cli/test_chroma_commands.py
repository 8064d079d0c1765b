"""Which commands keep a collection in Chroma, and which never import it."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from amem.index.chroma import close_client

if TYPE_CHECKING:
    from conftest import Cli

    from amem.protocols import Embedder

#: Runs commands, one after the other, in one process of its own, and says whether Chroma was imported.
RUN = """
import sys
from typer.testing import CliRunner
from amem.cli.app import app
for words in {commands!r}:
    result = CliRunner().invoke(app, ["--home", {home!r}, *words])
    assert result.exit_code == 0, (words, result.output)
print("chromadb" in sys.modules)
"""


def imports_chroma(cli: Cli, *commands: tuple[str, ...]) -> bool:
    code = RUN.format(commands=commands, home=str(cli.home))
    env = {**os.environ, **cli.env, "AMEM_DENSE_BASE": "auto"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip() == "True"


@pytest.mark.thorough
def test_short_commands_never_import_chroma_and_maintain_brings_it_in_step(cli: Cli):
    commands = [
        ("add", "The ferry leaves at seven"),
        ("search", "ferry"),
        ("list",),
        ("context", "ferry"),
        ("doctor",),
        ("health",),
        ("log",),
        ("maintain", "--dry-run"),
    ]
    assert not imports_chroma(cli, *commands)
    folder = cli.home / "memories" / "chroma"
    assert not folder.exists()
    assert imports_chroma(cli, ("maintain",))
    assert folder.exists()
    assert not imports_chroma(cli, ("add", "The bakery is closed on Mondays"))
    (line,) = [line for line in cli.ok("doctor").splitlines() if "\tchroma\t" in line]
    assert "not in it yet: 1 changed note" in line
    assert imports_chroma(cli, ("doctor", "--repair"))
    (line,) = [line for line in cli.ok("doctor").splitlines() if "\tchroma\t" in line]
    assert "every note is in it" in line


def test_plain_chromadb_reads_the_demos_collection(cli: Cli, minilm: Embedder):
    import chromadb

    cli.ok("demo", AMEM_DENSE_BASE="auto")
    notes = cli.json("--collection", "demo", "list", "--limit", "1000")
    client = chromadb.PersistentClient(cli.home / "demo" / "chroma")
    try:
        collection = client.get_collection("memories")
        assert len(collection.get(where={"status": "active"})["ids"]) == len(notes)
        found = collection.get(where={"tags": {"$contains": "health"}}, include=["documents", "metadatas"])
        assert found["ids"]
        asked = minilm.embed(["What am I allergic to?"])
        nearest = collection.query(query_embeddings=asked, n_results=3)
    finally:
        close_client(client)
    by_id = {note["id"]: note for note in notes}
    for id, metadata in zip(found["ids"], found["metadatas"] or [], strict=True):
        assert metadata["tags"] == by_id[id]["tags"]
        assert (metadata["kind"], metadata["context"]) == (by_id[id]["kind"], by_id[id]["context"])
        assert str(metadata["time"]).startswith("202")
    assert nearest["documents"] is not None
    assert any("allerg" in text.casefold() or "过敏" in text for text in nearest["documents"][0])
