"""Three agents on one machine, each with a memory of its own, and a catalog that all of them read.

    .venv/bin/python examples/three_agents.py ~/newsroom

The researcher finds things out and publishes them in the catalog `newsroom`. The writer, who may not publish, writes
from what the catalog holds. The critic notices that a fact is out of date and publishes what is so now: from then on
the writer is told that. The writer tries two endings, each in a fork of its memory: one is merged, the other dropped.
Each agent's own notes stay its own. At the end stand the catalog's log and the writer's, in which each step can be read
and taken back. Notes are analysed by the model that your settings name; with --pretend a few lines of
Python stand in for one.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path

from amem import AgenticMemorySystem, AmemError, Settings, load_settings
from amem.testing import FakeOllama, willing_model

CATALOG = "newsroom"
AGENTS = {
    "researcher": {"catalogs": [CATALOG], "publish": [CATALOG]},
    "writer": {"catalogs": [CATALOG]},
    "critic": {"catalogs": [CATALOG], "publish": [CATALOG]},
}
QUESTION = "Which database does the buoy catalogue run on?"


def research(memory: AgenticMemorySystem) -> None:
    """Note what was found out; publish what others need, and keep the rest."""
    found = [
        memory.add(
            "The buoy catalogue runs on PostgreSQL 15.3, because PostGIS handles the positions.", time="2026-03-02"
        ),
        memory.add("The harbour office opens at seven.", time="2026-03-02"),
    ]
    memory.add("The archivist prefers to be called before noon.", time="2026-03-02")
    for receipt in found:
        memory.publish(receipt.id)
    print(f"researcher: {memory.count()} notes, {len(found)} of them published")


def write(memory: AgenticMemorySystem) -> str:
    """Draft a sentence from the best that the catalog holds."""
    best = next(hit for hit in memory.search(QUESTION) if hit.catalog)
    print(f"writer:     {best.content}  [{best.collection}]")
    return memory.add(f"Draft: {best.content}").id


def criticise(memory: AgenticMemorySystem) -> None:
    """Note what changed since, and publish it: what it overturns in the catalog answers no more."""
    news = memory.add(
        "We moved the buoy catalogue to MySQL 8.4: the port authority hosts nothing else.", time="2026-06-22"
    )
    receipt = memory.publish(news.id)
    print(f"critic:     published a correction; it takes the place of {len(receipt.superseded)} note")


def try_endings(memory: AgenticMemorySystem) -> None:
    """Try each ending in a fork: what is merged is there afterwards, what is not is gone with its fork."""
    with memory.fork() as private:
        private.add("Ending: the buoys are counted every spring.")
        report = memory.merge(private)
    with memory.fork() as private:
        private.add("Ending: nobody ever counts the buoys.")
    endings = [note.content for note in memory.list() if note.content.startswith("Ending")]
    print(f"writer:     merged {len(report.added)} ending, dropped the other: {endings}")


def show_log(memory: AgenticMemorySystem) -> None:
    for each in reversed(memory.log()):
        print(f"  {each.id:>3}  {each.actor:<17} {each.action:<10} {each.cause}")


def newsroom(settings: Settings) -> None:
    AgenticMemorySystem(settings=settings.replaced(collection=CATALOG)).close()  # the catalog begins empty
    with ExitStack() as stack:
        researcher, writer, critic = (
            stack.enter_context(AgenticMemorySystem(settings=settings.as_agent(name))) for name in AGENTS
        )
        research(researcher)
        write(writer)
        criticise(critic)
        write(writer)
        try_endings(writer)
        print(f"in the catalog: {', '.join(sorted({each.actor for each in writer.catalogs[CATALOG].log()}))}")
        show_log(writer.catalogs[CATALOG])
        print("in the writer's own memory:")
        show_log(writer)
        own = {hit.content for hit in writer.search("When does the archivist want to be called?", k=20)}
        print(f"the researcher's own notes stay its own: {not any('archivist' in each for each in own)}")


def main(words: list[str]) -> int:
    folders = [word for word in words if not word.startswith("-")]
    if len(folders) != 1:
        print("name a folder for the memories, such as ~/newsroom", file=sys.stderr)
        return 1
    with ExitStack() as stack:
        how: dict[str, str] = {}
        if "--pretend" in words:
            server = stack.enter_context(FakeOllama(willing_model))
            how = {"llm_backend": "ollama", "ollama_host": server.host, "llm_model": "llama3.2"}
        try:
            newsroom(load_settings(Path(folders[0]).expanduser(), agents=AGENTS, **how))
        except AmemError as error:
            print(f"{error} ({error.hint})", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
