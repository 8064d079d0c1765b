"""A process that has imported everything and forks a worker for each job, so that killing fifty of them stays cheap.

Jobs come as lines of JSON on standard input; what happens to them goes to standard output, one line of JSON each, in
the order it happened: ``{"started": pid}``, what the worker says, ``{"ended": pid, "status": n}``. A worker says that a
note is stored only after ``add`` has returned.
"""

from __future__ import annotations

import itertools
import json
import os
import resource
import select
import time
import traceback
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import chromadb  # noqa: F401  # so that no worker need import it
import ollama  # noqa: F401  # nor this

from amem import AgenticMemorySystem, load_settings
from amem.analysis import Analysis
from amem.clock import SystemClock
from amem.collection_folders import restore_backup
from amem.errors import AmemError
from amem.interop.importing import Importer
from amem.interop.reader import read_path
from amem.query import Query
from amem.testing import HashEmbedder, ScriptedAnalyst

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from amem.analysis import Draft


def say(**what: Any) -> None:
    # One write of a short line: a worker that is killed has said all of it or nothing.
    os.write(1, (json.dumps({"from": os.getpid(), **what}) + "\n").encode())


def opened(job: dict[str, Any], analyst: ScriptedAnalyst | None = None) -> AgenticMemorySystem:
    return AgenticMemorySystem(
        settings=load_settings(job["home"], dense_base=job.get("base", "exact"), llm_parallel=job.get("parallel", 1)),
        embedder=HashEmbedder(64),
        analyst=analyst or ScriptedAnalyst(),
    )


def write_for_ever(job: dict[str, Any]) -> None:
    """Add notes, one by one and in batches, until killed; keep Chroma busy where it is the base."""
    memory = opened(job)
    say(ready=True)
    number = 0
    while True:
        number += 1
        if number % 5 == 0:
            texts = [f"{job['name']}n{number}b{place} came in a batch" for place in range(4)]
            for receipt, text in zip(memory.add_notes(texts), texts, strict=True):
                say(stored=receipt.id, text=text)
        else:
            text = f"{job['name']}n{number} came alone"
            say(stored=memory.add_note(text), text=text)
        if job.get("base") == "chroma" and number % 3 == 0:
            memory.parts.dense.wait_for_chroma(10)


def _slowly(draft: Draft) -> Analysis:
    time.sleep(0.03)
    return Analysis(("slow",), f"By the model: {draft.content}", ("slow",))


def write_with_a_slow_model(job: dict[str, Any]) -> None:
    """Add notes until killed with an analyst that takes its time: waited for, not waited for, and in bulk."""
    memory = opened(job, ScriptedAnalyst(_slowly, local=False))
    say(ready=True)
    number = 0
    while True:
        number += 1
        if number % 4 == 0:
            texts = [f"{job['name']}n{number}b{place} in bulk" for place in range(6)]
            for receipt, text in zip(memory.add_notes(texts, wait=False), texts, strict=True):
                say(stored=receipt.id, text=text)
            memory.add_notes([f"{job['name']}n{number}w{place} waited for" for place in range(3)])
        else:
            text = f"{job['name']}n{number} came alone"
            say(stored=memory.add_note(text, wait=number % 2 == 0), text=text)


def talk_for_ever(job: dict[str, Any]) -> None:
    """Chat, and remember conversations of two episodes, waited for and not, with the model at `host` until killed."""
    model = {"llm_backend": "ollama", "llm_model": "llama3.2", "ollama_host": job["host"]}
    memory = AgenticMemorySystem(
        settings=load_settings(job["home"], dense_base="exact", **model), embedder=HashEmbedder(64)
    )
    chat = memory.assistant(session=job["session"]) if job["session"] else memory.assistant()
    say(ready=True, session=chat.session)
    for number in itertools.count(1):
        name = f"{job['name']}c{number}"
        texts = [f"My {what} {name} is kept in Lisbon." for what in ("boat", "piano")]
        said = [
            {"role": "user", "content": text, "at": f"2026-03-0{day}T10:00+00:00"} for day, text in enumerate(texts, 1)
        ]
        report = memory.remember(said, conversation=name, wait=number % 2 == 0)
        say(remembered=texts, conversation=report.conversation)
        asked = f"My dog {name} barks in Porto."
        reply = chat.say(asked)
        say(asked=asked, answered=reply.text)
        if number % 3 == 0:
            chat.wait(0.1)


def move_for_ever(job: dict[str, Any]) -> None:
    """Import the file `path` into a collection of its own, then add, copy, back up and restore, until killed."""
    settings = load_settings(job["home"], dense_base="exact", batch_size=8, collection=job["name"])
    home = Path(job["home"])
    memory = AgenticMemorySystem(settings=settings, embedder=HashEmbedder(64), analyst=ScriptedAnalyst())
    say(ready=True)
    Importer(memory, cause="import").run(read_path(Path(job["path"]), settings))
    say(imported=memory.count())
    for number in itertools.count(1):
        text = f"{job['name']}n{number} came alone"
        say(stored=memory.add_note(text), text=text)
        name = f"{job['name']}-copy{number}"
        memory.copy(name)
        say(copied=name, notes=memory.count())
        file = memory.backup(home.parent / "backups" / f"{job['name']}.db", replace=number > 1).path
        say(backed_up=str(file), notes=memory.count())
        restored = restore_backup(file, home, f"{job['name']}-restored", replace=number > 1)
        say(copied=restored.name, notes=memory.count())


def write(job: dict[str, Any]) -> None:
    """Add `count` notes, each with a word of its own: the first quarter one by one, the rest in batches."""
    texts = [f"{job['name']}n{number} noted by {job['name']}" for number in range(job["count"])]
    alone = len(texts) // 4
    with opened(job) as memory:
        for text in texts[:alone]:
            say(stored=memory.add_note(text), text=text)
        for start in range(alone, len(texts), 10):
            batch = texts[start : start + 10]
            for receipt, text in zip(memory.add_notes(batch), batch, strict=True):
                say(stored=receipt.id, text=text)


def search(job: dict[str, Any]) -> None:
    """Search until the file `stop` is there; say how often."""
    with opened(job) as memory:
        asked, most = 0, 0
        while not os.path.exists(job["stop"]):
            hits = memory.search(f"n{asked % 1000} noted", k=10)
            assert all(hit["content"] for hit in hits)
            seen = len(memory.memories)
            assert seen >= most, "a note that was there is gone"
            asked, most = asked + 1, seen
        say(asked=asked)


class LongAfter(SystemClock):
    """Seven weeks on: what nobody has asked for is about to fade."""

    def now(self) -> datetime:
        return super().now() + timedelta(days=50)


def maintain(job: dict[str, Any]) -> None:
    """The weekly maintenance, seven weeks on; says each step of it."""
    memory = AgenticMemorySystem(
        settings=load_settings(job["home"], dense_base="exact"),
        embedder=HashEmbedder(64),
        analyst=ScriptedAnalyst(),
        clock=LongAfter(),
    )
    say(ready=True)
    report = memory.maintain(cycle="weekly", progress=lambda phase, done, of: say(phase=phase, done=done, of=of))
    say(operation=report.operation, resumed=report.resumed, counts=dict(report.counts()))


def write_until_full(job: dict[str, Any]) -> None:
    """Add notes in a process that may write no file larger than `bytes`; say which error ended it."""
    memory = opened(job)
    memory.add_note("the first note, before the disk fills up")
    resource.setrlimit(resource.RLIMIT_FSIZE, (job["bytes"], job["bytes"]))
    try:
        for number in range(10_000):
            text = f"full{number} " + "weighs a lot " * 300
            say(stored=memory.add_note(text), text=text)
    except AmemError as error:
        say(error=type(error).__name__, message=str(error), hint=error.hint)
    hits = memory.ask(Query("full0 weighs", 3))
    say(found=[hit.id for hit in hits])


def purge_with_little_room(job: dict[str, Any]) -> None:
    """Purge a note in a process that may write no file as large as the database; say what is owed."""
    with opened(job) as memory:
        for number in range(60):
            memory.add_note(f"weight{number} " + "weighs a lot " * 300)
    memory = opened(job)
    room = os.path.getsize(os.path.join(job["home"], "memories", "amem.db")) * 2 // 3
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
    report = memory.purge(job["note"])
    say(owed=report.owed if report else None, there=memory.read(job["note"]) is not None)


def purge_and_stop(job: dict[str, Any]) -> None:
    """Purge a note, and stop for ever between the commit and the cleaning of the files."""
    memory = opened(job)

    def stop() -> None:
        say(committed=True)
        time.sleep(600)

    memory.parts.store.shrink = stop  # type: ignore[method-assign]
    memory.purge(job["note"])


def purge_for_ever(job: dict[str, Any]) -> None:
    """Purge these notes, one by one, until killed."""
    memory = opened(job)
    say(ready=True)
    for note in job["notes"]:
        report = memory.purge(note)
        say(purged=note, owed=report.owed if report else None)


def hold_write_lock(job: dict[str, Any]) -> None:
    """Keep the database's write lock until the file `stop` is there."""
    memory = opened(job)
    with memory.parts.store.write():
        say(ready=True)
        while not os.path.exists(job["stop"]):
            time.sleep(0.01)


JOBS = {
    each.__name__: each
    for each in (
        write_for_ever,
        purge_with_little_room,
        purge_and_stop,
        purge_for_ever,
        write_with_a_slow_model,
        talk_for_ever,
        move_for_ever,
        write,
        search,
        write_until_full,
        hold_write_lock,
        maintain,
    )
}


def run(job: dict[str, Any]) -> None:
    try:
        JOBS[job["do"]](job)
    except BaseException:
        say(failed=traceback.format_exc())
        os._exit(1)
    os._exit(0)


def jobs() -> Iterator[dict[str, Any] | None]:
    """Jobs as they come in, None every hundredth of a second without one; ends with the input."""
    pending = b""
    while True:
        if not select.select([0], [], [], 0.01)[0]:
            yield None
            continue
        read = os.read(0, 65_536)
        if not read:
            return
        *lines, pending = (pending + read).split(b"\n")
        yield from (json.loads(line) for line in lines)


def warm_up() -> None:
    """Read the word lists and import what is imported at first use, so that no worker need do it."""
    with AgenticMemorySystem(llm_backend="offline", embedder=HashEmbedder(64)) as memory:
        memory.remember([{"role": "user", "content": "My boat is kept in Lisbon."}])
        memory.assistant().close()
        memory.search("boat")


def main() -> None:
    running: set[int] = set()
    warm_up()
    say(preloaded=True)
    for job in jobs():
        if job is not None:
            pid = os.fork()
            if pid == 0:
                run(job)
            running.add(pid)
            say(started=pid, name=job["name"])
        for pid in tuple(running):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                running.remove(pid)
                say(ended=pid, status=status)


if __name__ == "__main__":
    main()
