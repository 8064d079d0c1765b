"""How large the house is, and how much of it one call runs through.

    python benchmarks/house.py [--files]

The first table counts modules and lines of each folder of ``amem`` and of the browser. The second follows one call of
each flow in a collection that already holds notes and has answered once, so that what is loaded once is not counted:
how many files of amem it runs, and how many different lines. `--files` names the files. The limits are what one person
can hold in mind; folders for hosts that came later (notebooks, MCP, vault) are counted, but not held to a limit.
"""

from __future__ import annotations

import argparse
import sys
import threading
from collections import Counter, defaultdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amem import AgenticMemorySystem, load_settings
from amem.interop.items import Incoming
from amem.interop.reader import read_path

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import FrameType

ROOT = Path(__file__).parents[1]
PACKAGES = (ROOT / "amem", ROOT / "tui" / "amem_tui")
EXAMPLES = ROOT / "examples" / "data" / "year.jsonl"
LATER = ("amem/jupyter", "amem/mcp", "amem/vault")
MOST_LINES, MOST_MODULES = 54_000, 430
#: Files and different lines that one call of a flow may run.
LIMITS: dict[str, tuple[int, int | None]] = {"add": (55, 2500), "search": (35, None), "remember": (75, None)}


def folders() -> dict[str, tuple[int, int]]:
    """Modules and lines of each folder, by its path in the project."""
    counted: dict[str, tuple[int, int]] = {}
    for package in PACKAGES:
        for folder in (package, *sorted(each for each in package.rglob("*") if each.is_dir())):
            modules = sorted(folder.glob("*.py"))
            if modules:
                lines = sum(len(each.read_text(encoding="utf-8").splitlines()) for each in modules)
                counted[folder.relative_to(ROOT).as_posix()] = (len(modules), lines)
    return counted


def lines_run(call: Callable[[], object]) -> dict[str, set[int]]:
    """The lines of amem that a call runs in any thread, by file."""
    run: defaultdict[str, set[int]] = defaultdict(set)
    package = str(PACKAGES[0])

    def trace(frame: FrameType, event: str, arg: object) -> Any:
        if not frame.f_code.co_filename.startswith(package):
            return None
        if event == "line":
            run[frame.f_code.co_filename].add(frame.f_lineno)
        return trace

    threading.settrace(trace)
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(None)
        threading.settrace(None)
    return run


def flows(memory: AgenticMemorySystem) -> dict[str, Callable[[], object]]:
    """One call of each flow, on words that the collection has not met."""
    return {
        "add": lambda: memory.add_note("Since Monday I work for Orbit in Porto; my manager is Ana."),
        "search": lambda: memory.search("Where do I work?"),
        "remember": lambda: memory.remember(
            [
                {"role": "user", "content": "I moved to Braga last week, and I am allergic to walnuts."},
                {"role": "assistant", "content": "Noted. How is the new flat?"},
                {"role": "user", "content": "Small, but the rent is only 700 euros."},
            ]
        ),
    }


def prepared() -> AgenticMemorySystem:
    """A collection in memory with forty example notes, each flow run once."""
    memory = AgenticMemorySystem(llm_backend="offline")
    settings = load_settings(llm_backend="offline")
    for item in islice(read_path(EXAMPLES, settings), 40):
        if isinstance(item, Incoming):
            memory.add(item.note.content, time=item.note.time)
    memory.add_note("I work for Comet in Lisbon; my manager is Rui.")
    memory.search("Who is my manager?")
    memory.remember([{"role": "user", "content": "I live in Lisbon and I am allergic to shrimp."}])
    return memory


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--files", action="store_true", help="name the files that each flow runs")
    options = parser.parse_args()
    print_sizes(folders())
    memory = prepared()
    print(f"\n{'one call of':<14}{'files':>7}{'at most':>9}{'lines':>8}{'at most':>9}")
    for name, call in flows(memory).items():
        run = lines_run(call)
        files, lines = LIMITS[name]
        total = sum(map(len, run.values()))
        print(f"{name:<14}{len(run):>7}{files:>9}{total:>8}{lines or '':>9}")
        if options.files:
            for file, numbers in sorted(run.items()):
                print(f"    {len(numbers):>5} {Path(file).relative_to(ROOT)}")
    return 0


def print_sizes(counted: Mapping[str, tuple[int, int]]) -> None:
    """Print modules and lines of each room, and of all that are held to the limit."""
    rooms: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    for folder, (modules, length) in counted.items():
        room = "/".join(folder.split("/")[:2])
        rooms[room] += modules
        lines[room] += length
    print(f"{'room':<22}{'modules':>9}{'lines':>9}")
    for room in sorted(rooms):
        print(f"{room:<22}{rooms[room]:>9}{lines[room]:>9}")
    held = [room for room in rooms if room not in LATER]
    print(f"{'held to the limit':<22}{sum(rooms[r] for r in held):>9}{sum(lines[r] for r in held):>9}")
    print(f"{'at most':<22}{MOST_MODULES:>9}{MOST_LINES:>9}")


if __name__ == "__main__":
    raise SystemExit(main())
