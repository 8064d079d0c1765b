"""Imports, copies, backups and restores that are killed, or find no room, or a log that was cut: nothing is half there.

AMEM_ROUNDS multiplies how often each is tried.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from amem import AgenticMemorySystem, load_settings
from amem.clock import SystemClock
from amem.collection_folders import collection_names, restore_backup
from amem.interop.exporting import exported
from amem.interop.importing import Importer
from amem.interop.reader import read_path
from amem.note import Status
from amem.query import Filter
from amem.storage.copies import verify
from amem.storage.store import Store
from amem.testing import HashEmbedder, ScriptedAnalyst

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Workers

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(1800)]

TIMES = int(os.environ.get("AMEM_ROUNDS", "1"))
#: A worker is killed within so many seconds of having said something.
LONGEST = 0.6


def opened(home: Path, collection: str = "memories") -> AgenticMemorySystem:
    return AgenticMemorySystem(
        settings=load_settings(home, dense_base="exact", batch_size=8, collection=collection),
        embedder=HashEmbedder(64),
        analyst=ScriptedAnalyst(),
    )


def told(memory: AgenticMemorySystem) -> tuple[set[tuple[str, ...]], dict[str, tuple[str, str | None]]]:
    """Every link that an import made, and how every note stands."""
    notes = memory.list(Filter(statuses=tuple(Status)), limit=10_000)
    links = {
        (link.source, link.target, str(link.type))
        for note in notes
        for link in memory.links(note.id)
        if link.made_by == "user"
    }
    return links, {note.id: (str(note.status), note.superseded_by) for note in notes}


def sound(folder: Path) -> list[str]:
    with closing(Store(folder, SystemClock())) as store:
        return store.check()


@pytest.fixture
def year(tmp_path: Path) -> Path:
    """An export of 80 notes, each linked to the next, each tenth superseded by it."""
    path = tmp_path / "year.jsonl"
    with opened(tmp_path / "origin") as memory:
        memory.add_notes([{"content": f"Ship {n} called at harbour {n}.", "id": f"n{n:03}"} for n in range(80)])
        for n in range(79):
            memory.link(f"n{n:03}", f"n{n + 1:03}", "caused_by", f"after {n}")
        for n in range(0, 79, 10):
            memory.supersede(f"n{n:03}", f"n{n + 1:03}")
        path.write_text("".join(json.dumps(record) + "\n" for record in exported(memory)))
    return path


def test_nothing_that_is_killed_leaves_half_an_import_a_copy_or_a_backup(
    workers: Workers, tmp_path: Path, year: Path
) -> None:
    home, backups = tmp_path / "home", tmp_path / "backups"
    backups.mkdir()
    with opened(tmp_path / "whole") as memory:
        Importer(memory, cause="import").run(read_path(year, memory.settings))
        links, standing = told(memory)
    moments = random.Random(2026)
    stopped = copies = 0
    for turn in range(5 * TIMES):
        name = f"in{turn}"
        worker = workers.start("move_for_ever", name, home=str(home), path=str(year))
        worker.says(turn % 5)  # ready, imported, stored, copied, backed up
        # An import takes a tenth of a second or two on a quiet machine; what follows it takes longer.
        time.sleep(moments.uniform(0.0, LONGEST if turn % 5 else LONGEST / 12))
        worker.kill()
        said = {each["copied"]: each["notes"] for each in worker.said if "copied" in each}
        copies += len(said)
        stopped += not worker.saying("imported")
        with opened(home, name) as memory:
            some, stands = told(memory)
            assert worker.stored.keys() <= stands.keys()
            assert {link for link in links if link[0] in stands and link[1] in stands} <= some
            assert {id: stands[id] for id in stands if id in standing} == {
                id: value for id, value in standing.items() if id in stands
            }
            Importer(memory, cause="import").run(read_path(year, memory.settings))
            again, stands = told(memory)
            assert links <= again
            assert {id: stands[id] for id in standing} == standing
        named = collection_names(home)
        # What a restore replaces is renamed, and may be all there is when it is killed right then.
        assert all(copy in named or any(each.startswith(f"{copy}.before-") for each in named) for copy in said)
        for other in named:
            if other.startswith(f"{name}-"):
                assert sound(home / other) == []
                with opened(home, other) as copy:
                    assert copy.count() >= len(standing)
                    assert copy.count() >= (said.get(other, 0) if "copy" in other else 0)
                shutil.rmtree(home / other)
        for file in backups.glob("*.db"):
            verify(file)
            restored = restore_backup(file, tmp_path / "back", name)
            assert sound(restored) == []
            shutil.rmtree(restored)
            file.unlink()
    assert stopped
    assert copies


FULL = """
import os, sys
from pathlib import Path
from amem import AgenticMemorySystem, load_settings
from amem.errors import AmemError
from amem.testing import HashEmbedder, ScriptedAnalyst
mount, room, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
home = mount / "home"
stored = {}
def opened():
    return AgenticMemorySystem(
        settings=load_settings(str(home), dense_base="exact"), embedder=HashEmbedder(64), analyst=ScriptedAnalyst()
    )
def check(memory):
    assert {id: memory.memories[id].content for id in stored} == stored
    hits = memory.search("harbour")
    assert not stored or hits
errors = []
with opened() as memory:
    for n in range(seed % 7 + 1):
        text = f"note {n} of harbour {seed} " + "word " * (seed % 300)
        stored[memory.add_note(text)] = text
    with open(mount / "fill", "wb") as fill:
        left = os.statvfs(mount).f_bavail * 4096
        fill.write(b"x" * max(0, left - room))
    try:
        for n in range(10_000):
            what = (n + seed) % 4
            if what == 0:
                memory.copy(f"copy{n}")
            elif what == 1:
                memory.backup(mount / f"backup{n}.db")
            else:
                text = f"full {n} harbour " + "weighs a lot " * 100
                stored[memory.add_note(text)] = text
    except AmemError as error:
        errors.append(type(error).__name__)
    check(memory)
try:
    with open(mount / "fill2", "wb", buffering=0) as fill:
        while fill.write(b"x" * 4096):
            pass
except OSError:
    pass
with opened() as memory:
    check(memory)
    if memory.read_only:
        try:
            memory.add_note("no room for this")
        except AmemError as error:
            errors.append(type(error).__name__)
names = [each.name for each in home.iterdir() if not each.name.startswith(".")]
(mount / "fill").unlink()
(mount / "fill2").unlink()
with opened() as memory:
    check(memory)
    assert memory.add("there is room again").stored
    assert [each.what for each in memory.doctor() if each.level == "error"] == []
    assert memory.copy("last").is_dir()
    for name in [*names, "last"]:
        settings = load_settings(str(home), dense_base="exact", collection=name)
        with AgenticMemorySystem(settings=settings, embedder=HashEmbedder(64), create=False) as copy:
            assert copy.count() > 0
            assert copy.parts.store.check() == []
    assert not [each for each in home.iterdir() if each.name.endswith(".part")]
print(",".join(errors))
"""


def test_a_disk_that_fills_up_costs_no_note_and_no_copy_and_can_be_read(tmp_path: Path) -> None:
    mount, script = tmp_path / "mount", tmp_path / "full.py"
    mount.mkdir()
    script.write_text(FULL)
    inside = ["unshare", "--map-root-user", "--mount", "sh", "-c"]
    try:
        tried = subprocess.run([*inside, f"mount -t tmpfs none {mount}"], capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("no unshare here")
    if tried.returncode:
        pytest.skip("this machine lets nobody mount a small disk")
    moments = random.Random(7)
    for turn in range(3 * TIMES):
        room = moments.randrange(0, 900_000)
        command = f'mount -t tmpfs -o size=4m none {mount} && exec "$@"'
        done = subprocess.run(
            [*inside, command, "sh", sys.executable, str(script), str(mount), str(room), str(turn)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"disk {turn} with {room} bytes left: {done.stderr}"
        assert set(done.stdout.strip().split(",")) == {"StorageFull"}, done.stdout


def test_a_log_that_was_cut_leaves_the_notes_up_to_the_cut_whole(workers: Workers, tmp_path: Path) -> None:
    moments = random.Random(11)
    cuts = 0
    for turn in range(2 * TIMES):
        home = tmp_path / f"home{turn}"
        worker = workers.start("write_for_ever", f"c{turn}", home=str(home))
        worker.has_stored(moments.randint(5, 40))
        worker.kill()
        order = list(worker.stored)
        folder = home / "memories"
        whole = {each.name: each.read_bytes() for each in folder.iterdir() if each.suffix != ".npy"}
        log = whole["amem.db-wal"]
        assert log
        for cut in [len(log), *(moments.randrange(len(log)) for _ in range(2))]:
            shutil.rmtree(folder)
            folder.mkdir()
            for name in ("amem.db", "amem.db-wal"):
                (folder / name).write_bytes(whole[name] if name == "amem.db" else log[:cut])
            with opened(home) as memory:
                notes = memory.memories
                found = [id for id in order if id in notes]
                assert found == order[: len(found)]
                assert {id: notes[id].content for id in found} == {id: worker.stored[id] for id in found}
                assert [each.what for each in memory.doctor() if each.level == "error"] == []
                assert memory.add("one more after the cut").stored
            if cut == len(log):
                assert found == order
            cuts += 1
    assert cuts == 6 * TIMES
