"""Workers that can be killed, forked by one process that has imported everything."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_PATIENCE = 120.0


class Worker:
    """One forked process. `said` keeps all it said, in order, up to its end."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.pid = 0
        self.said: list[dict[str, Any]] = []
        self.status: int | None = None
        self.changed = threading.Condition()

    @property
    def stored(self) -> dict[str, str]:
        """Text by id of every note whose ``add`` had returned."""
        with self.changed:
            return {each["stored"]: each["text"] for each in self.said if "stored" in each}

    def kill(self) -> None:
        """``kill -9``, and wait until it is gone and everything it said has arrived."""
        with self.changed:
            assert self.changed.wait_for(lambda: self.pid, _PATIENCE), f"{self.name} did not start"
            if self.status is None:
                os.kill(self.pid, signal.SIGKILL)
        self.wait()

    def wait(self) -> None:
        """Wait until it ends."""
        with self.changed:
            assert self.changed.wait_for(lambda: self.status is not None, _PATIENCE), f"{self.name} did not end"
        failures = self.saying("failed")
        assert not failures, failures[0]

    def hears(self, key: str) -> Any:
        """Wait for the first time it says `key`; what it said."""
        with self.changed:
            told = lambda: any(key in each for each in self.said) or self.status is not None  # noqa: E731
            assert self.changed.wait_for(told, _PATIENCE), f"{self.name} never said {key}"
        values = self.saying(key)
        assert values, self.saying("failed")
        return values[0]

    def has_stored(self, count: int) -> None:
        """Wait until so many notes have been acknowledged."""
        self._until(lambda: sum("stored" in each for each in self.said) >= count, f"stored {count} notes")

    def has_said(self, count: int) -> None:
        """Wait until it has said so many things of what it does."""
        self._until(lambda: len(self.said) > count, f"said {count} things")

    def says(self, count: int) -> None:
        """Wait until it has said so many things of what it does, or has come to its end."""
        with self.changed:
            told = self.changed.wait_for(lambda: self.status is not None or len(self.said) > count, _PATIENCE)
            assert told, f"{self.name} never said {count} things"

    def _until(self, enough: Callable[[], bool], what: str) -> None:
        with self.changed:
            over = self.changed.wait_for(lambda: self.status is not None or enough(), _PATIENCE)
            assert over, f"{self.name} never {what}"
        assert self.status is None, self.saying("failed")

    def saying(self, key: str) -> list[Any]:
        """All it said of `key` so far."""
        with self.changed:
            return [each[key] for each in self.said if key in each]


class Workers:
    """Starts workers and hears what they say."""

    def __init__(self, environment: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("worker.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )
        self._by_name: dict[str, Worker] = {}
        self._by_pid: dict[int, Worker] = {}
        self._early: defaultdict[int, list[dict[str, Any]]] = defaultdict(list)
        self._ready: queue.Queue[bool] = queue.Queue()
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()
        assert self._ready.get(timeout=_PATIENCE)

    def start(self, do: str, name: str, **job: Any) -> Worker:
        """Fork a worker that does `do` (see worker.py)."""
        self._by_name[name] = worker = Worker(name)
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"do": do, "name": name, **job}).encode() + b"\n")
        self._process.stdin.flush()
        return worker

    def close(self) -> None:
        for worker in self._by_name.values():
            if worker.pid and worker.status is None:
                os.kill(worker.pid, signal.SIGKILL)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(_PATIENCE)
        self._thread.join(_PATIENCE)
        self._process.stdout.close()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._take(json.loads(line))

    def _take(self, said: dict[str, Any]) -> None:
        pid = said.pop("from")
        if "preloaded" in said:
            self._ready.put(True)
        elif "started" in said:
            worker = self._by_pid[said["started"]] = self._by_name[said["name"]]
            with worker.changed:
                # A quick worker speaks before the process that forked it has said its name.
                worker.pid, worker.said = said["started"], self._early.pop(said["started"], [])
                worker.changed.notify_all()
        elif "ended" in said:
            worker = self._by_pid.pop(said["ended"])
            with worker.changed:
                worker.status = said["status"]
                worker.changed.notify_all()
        elif pid in self._by_pid:
            worker = self._by_pid[pid]
            with worker.changed:
                worker.said.append(said)
                worker.changed.notify_all()
        else:
            self._early[pid].append(said)


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    """The process that forks workers; those still running are killed in the end."""
    started = Workers(dict(os.environ))
    yield started
    started.close()
