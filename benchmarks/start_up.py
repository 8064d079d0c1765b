"""How long a command takes from its start: help, lists, a search, the browser, the hooks that coding agents wait for.

    python benchmarks/start_up.py [--times N] [--imports]

Prints the median of N runs in processes of their own: processor time, which a busy machine changes little, and wall
time. Beside them Python itself and numpy, to compare machines by. `--imports` adds, by ``python -X importtime``, how
many modules a command loads and which packages take longest.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import pty
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections import Counter
from pathlib import Path
from statistics import median

from amem.agent_sessions import project_collection

AMEM = [sys.executable, "-c", "import sys; sys.argv[0] = 'amem'; from amem.cli import main; main()"]
SAID = "We decided to keep the buoy catalogue in PostgreSQL 15.3, because PostGIS handles the positions."


def main() -> None:
    """Make a project of one session, and time each command on it."""
    parser = argparse.ArgumentParser(description="How long amem takes to start.")
    parser.add_argument("--times", type=int, default=9, help="runs of each command (default: 9)")
    parser.add_argument("--imports", action="store_true", help="also what each command imports")
    options = parser.parse_args()
    # As after an install, whose modules are compiled.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["AMEM_LLM_BACKEND"] = "offline"
    with tempfile.TemporaryDirectory() as scratch:
        project, home = Path(scratch, "buoys"), str(Path(scratch, "home"))
        (project / ".git").mkdir(parents=True)
        collection = project_collection(project)
        message = {"role": "user", "content": SAID}
        line = {"type": "user", "sessionId": "1", "uuid": "2", "cwd": str(project), "message": message}
        transcript = project / "1.jsonl"
        transcript.write_text(json.dumps(line) + "\n", encoding="utf-8")
        here = ["--home", home, "-c", collection]
        run([*AMEM, *here, "hook", "learn", str(transcript), str(project)], "")
        listed = subprocess.run([*AMEM, *here, "list", "--json"], capture_output=True, check=True)
        id = json.loads(listed.stdout)[0]["id"]
        # A session that ends is learnt from by a process of its own; without a transcript there is nothing to learn.
        asked = json.dumps({"session_id": "2", "cwd": str(project)})
        typed = {"_AMEM_COMPLETE": "complete_bash", "COMP_WORDS": "amem list --ta", "COMP_CWORD": "2"}
        kept = str(Path(scratch, "kept"))  # where nothing is written between two sessions
        shutil.copytree(home, kept)
        commands = {
            "amem --help": ["--help"],
            "amem list": [*here, "list"],
            "amem log": [*here, "log"],
            "amem show ID": [*here, "show", id],
            "amem add, known text": [*here, "add", SAID],
            "amem search": [*here, "search", "Where is the catalogue?"],
            "amem hook session-start": ["--home", kept, "hook", "session-start"],
            "amem hook session-end": ["--home", kept, "hook", "session-end"],
        }
        timed = {
            "python -c pass": lambda: run([sys.executable, "-c", "pass"], ""),
            "import numpy": lambda: run([sys.executable, "-c", "import numpy"], ""),
            **{name: lambda words=words: run([*AMEM, *words], asked) for name, words in commands.items()},
            "completion of an option": lambda: run(AMEM, "", **typed),
            "amem tui, first paint": lambda: painted([*AMEM, *here, "tui"], b"PostgreSQL"),
        }
        taken: dict[str, list[tuple[float, float]]] = {name: [] for name in timed}
        for turn in range(options.times + 1):  # in turns, so that all meet the same load; the first one compiles
            for name, once in timed.items():
                if turn:
                    taken[name].append(once())
                else:
                    once()
        print(f"{'command':<26}{'processor s':>12}{'wall s':>10}")
        for name, runs in taken.items():
            processor, wall = (median(each) for each in zip(*runs, strict=True))
            print(f"{name:<26}{processor:>12.3f}{wall:>10.3f}")
        if options.imports:
            print(f"\n{'command':<26}{'modules':>8}{'ms':>8}  packages that take longest, ms")
            for name, words in commands.items():
                print(f"{name:<26}{imports(words, asked)}")


def run(command: list[str], asked: str, **environment: str) -> tuple[float, float]:
    """The processor and wall time of one run, in seconds."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    # What completes a line reports no success to the shell.
    subprocess.run(
        command, input=asked.encode(), env=os.environ | environment, capture_output=True, check=not environment
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return processor, time.perf_counter() - began


def painted(command: list[str], shown: bytes) -> tuple[float, float]:
    """The processor and wall time until a program in a terminal has painted these words, in seconds."""
    master, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    began, seen = time.perf_counter(), b""
    process = subprocess.Popen(
        command, stdin=terminal, stdout=terminal, stderr=terminal, env=os.environ | {"TERM": "xterm-256color"}
    )
    os.close(terminal)
    try:
        while shown not in seen:
            seen += os.read(master, 65536)
        spent = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(spent[11]) + int(spent[12])) / os.sysconf("SC_CLK_TCK"), time.perf_counter() - began
    finally:
        process.kill()
        process.wait()
        os.close(master)


def imports(words: list[str], asked: str) -> str:
    """How many modules a command imports, how long that takes, and the packages that take longest."""
    command = [sys.executable, "-X", "importtime", *AMEM[1:], *words]
    told = subprocess.run(command, input=asked, capture_output=True, text=True, check=True).stderr
    own: Counter[str] = Counter()
    rows = [line.removeprefix("import time:").split("|") for line in told.splitlines() if "import time:" in line]
    for mine, _, name in rows[1:]:
        own[name.strip().partition(".")[0]] += int(mine)
    most = ", ".join(f"{name} {spent / 1000:.0f}" for name, spent in own.most_common(5))
    return f"{len(rows) - 1:>8}{own.total() / 1000:>8.0f}  {most}"


if __name__ == "__main__":
    main()
