"""amem in one page: remember, find, see what changed, take it back.

    .venv/bin/python examples/quickstart.py

The notes go to a temporary folder, so run it as often as you like. No model server and no key are needed.
"""

from __future__ import annotations

from tempfile import TemporaryDirectory

from amem import AgenticMemorySystem


def main() -> None:
    # "offline" is the deterministic analyst; leave it out and a running Ollama is used instead.
    with (
        TemporaryDirectory(ignore_cleanup_errors=True) as home,
        AgenticMemorySystem(llm_backend="offline", directory=home) as memory,
    ):
        print("1. Remember")
        first = memory.add("The buoy catalogue runs on PostgreSQL 15.3, because PostGIS handles the positions.")
        moved = memory.add("We move the buoy catalogue from PostgreSQL 15.3 to MySQL 8.4, as the port hosts only that.")
        memory.add("周末烤了两条酸面包，发酵十四个小时，比上次的好。", time="2026-10-18T20:30+01:00", tags=["烘焙"])
        for link in moved.links:
            print(f"   linked to an earlier note: {link.type}, {link.reason}")

        print("2. Find")
        for question in ("Which database holds the buoys?", "面包发酵了多久？"):
            best = memory.search(question, k=1)[0]
            print(f"   {question}\n   {best.score:.2f}  {best.content}\n         {best.explanation.words()}")

        print("3. Change, and see what changed")
        memory.update(first.id, tags=["database", "old"])
        for version in memory.history(first.id):
            print(f"   version {version.version}: {version.action} by {version.actor}, {', '.join(version.changes)}")

        print("4. Take it back")
        memory.undo()
        note = memory.read(first.id)
        assert note is not None
        print(f"   tags are {note.tags} again")


if __name__ == "__main__":
    main()
