"""Numbers of notes agree, whichever command says them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from amem import AgenticMemorySystem, load_settings
from amem.query import Filter

if TYPE_CHECKING:
    from conftest import Cli

DEMO = ("-c", "demo")


def rows(cli: Cli, *words: str) -> list[list[str]]:
    return [line.split("\t") for line in cli.ok(*DEMO, *words).splitlines()]


def test_every_command_counts_the_same_notes_of_the_demo(demo: Cli) -> None:
    demo.ok(*DEMO, "maintain")
    every, active = demo.json(*DEMO, "list", "--all", "-n", "9999"), demo.json(*DEMO, "list", "-n", "9999")
    health = demo.json(*DEMO, "health")
    assert len(active) == health["statuses"]["active"] == len(rows(demo, "export", "--active"))
    assert len(every) == health["notes"] == sum(health["statuses"].values()) == len(rows(demo, "export"))
    assert [each["notes"] for each in demo.json("collections")] == [len(every)]
    assert re.search(r"(\d+) notes", demo.ok(*DEMO, "doctor"))[1] == str(len(every))  # type: ignore[index]  # it is there
    assert f"{len(active)} notes" in demo(*DEMO, "list", "-n", "5").stderr

    for each in demo.json(*DEMO, "tags"):
        assert each["notes"] == sum(each["tag"] in note["tags"] for note in active), each
    for kind, number in health["kinds"].items():
        assert number == len(rows(demo, "list", "-n", "9999", "--kind", kind)), kind
    for each in demo.json(*DEMO, "topics"):
        assert each["notes"] == len(demo.json(*DEMO, "topic", each["name"])["members"]), each
    links = sum(len(json.loads(line)["links_out"]) for line in demo.ok(*DEMO, "export").splitlines())
    assert f"{links} links" in demo.ok(*DEMO, "doctor")


def test_the_browser_counts_as_the_commands_do(demo: Cli) -> None:
    settings = load_settings(demo.home, collection="demo", cache=demo.env["AMEM_CACHE"])
    with AgenticMemorySystem(settings=settings, create=False) as memory:
        census, total = memory.census(Filter()), memory.count(Filter())
    assert total == len(rows(demo, "list", "-n", "9999"))
    assert {each["tag"]: each["notes"] for each in demo.json(*DEMO, "tags")} == dict(census.tags)
    assert demo.json(*DEMO, "health")["kinds"] == {str(kind): number for kind, number in census.kinds.items()}
