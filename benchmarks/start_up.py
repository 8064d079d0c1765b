"""How long a command takes before it does anything: help, a search, and the hooks that coding agents wait for.

    python benchmarks/start_up.py [--times N]

Prints the median of N runs in processes of their own: processor time, which a busy machine changes little, and wall
time.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from amem.cli.sessions import project_collection

AMEM = [sys.executable, "-c", "import sys; sys.argv[0] = 'amem'; from amem.cli import main; main()"]
SAID = "We decided to keep the buoy catalogue in PostgreSQL 15.3, because PostGIS handles the positions."


def main() -> None:
    """Make a project of one session, and time each command on it."""
    parser = argparse.ArgumentParser(description="How long amem takes to start.")
    parser.add_argument("--times", type=int, default=9, help="runs of each command (default: 9)")
    times = parser.parse_args().times
    with tempfile.TemporaryDirectory() as scratch:
        project, home = Path(scratch, "buoys"), str(Path(scratch, "home"))
        (project / ".git").mkdir(parents=True)
        collection = project_collection(project)
        message = {"role": "user", "content": SAID}
        line = {"type": "user", "sessionId": "1", "uuid": "2", "cwd": str(project), "message": message}
        transcript = project / "1.jsonl"
        transcript.write_text(json.dumps(line) + "\n", encoding="utf-8")
        run(["--home", home, "-c", collection, "hook", "learn", str(transcript), str(project)], "")
        # A session that ends is learnt from by a process of its own; without a transcript there is nothing to learn.
        asked = json.dumps({"session_id": "2", "cwd": str(project)})
        print(f"{'command':<24}{'processor s':>12}{'wall s':>10}")
        for name, words in (
            ("amem --help", ["--help"]),
            ("amem list", ["--home", home, "-c", collection, "list"]),
            ("amem hook session-start", ["--home", home, "hook", "session-start"]),
            ("amem hook session-end", ["--home", home, "hook", "session-end"]),
        ):
            runs = [run(words, asked) for _ in range(times)]
            processor, wall = (median(each) for each in zip(*runs, strict=True))
            print(f"{name:<24}{processor:>12.3f}{wall:>10.3f}")


def run(words: list[str], asked: str) -> tuple[float, float]:
    """The processor and wall time of one run, in seconds."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    environment = {**os.environ, "AMEM_LLM_BACKEND": "offline"}
    subprocess.run([*AMEM, *words], input=asked.encode(), env=environment, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return processor, time.perf_counter() - began


if __name__ == "__main__":
    main()
