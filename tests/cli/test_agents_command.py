"""Agents named in config.toml: their collection, catalogs and rights for every command, and what they publish."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Cli

HERON = "The staging server is called heron."
CONFIG = """
[agents.researcher]
catalogs = ["team"]
publish = ["team"]

[agents.writer]
collection = "drafts"
catalogs = ["team"]
"""


@pytest.fixture
def crew(cli: Cli) -> Cli:
    """Two agents who read the catalog `team`, into which one of them may publish."""
    cli.home.mkdir(exist_ok=True)
    (cli.home / "config.toml").write_text(CONFIG, encoding="utf-8")
    cli.ok("-c", "team", "add", HERON)
    return cli


@pytest.mark.parametrize("command", ["search", "ask", "context", "why"])
def test_an_agent_without_a_note_of_its_own_reads_its_catalogs(crew: Cli, command: str) -> None:
    result = crew("--agent", "writer", command, "What is the staging server called?")

    assert result.exit_code == 0
    assert "heron" in result.stdout
    assert "no notes" not in result.stderr


def test_an_agent_whose_catalog_is_not_there_yet_makes_no_collection_by_reading(cli: Cli) -> None:
    cli.home.mkdir(exist_ok=True)
    (cli.home / "config.toml").write_text(CONFIG, encoding="utf-8")

    result = cli("--agent", "writer", "search", "heron")

    assert (result.exit_code, result.stdout) == (0, "")
    assert "no notes in drafts yet" in result.stderr
    assert [path.name for path in cli.home.iterdir()] == ["config.toml"]


def test_agents_are_listed_with_what_they_may_do(crew: Cli) -> None:
    crew.ok("--agent", "researcher", "add", "Deploys go out on Tuesdays.")

    researcher, writer = crew.json("agents")

    assert researcher.items() >= {
        "name": "researcher",
        "collection": "researcher",
        "catalogs": ["team"],
        "publish": ["team"],
        "notes": 1,
        "problem": None,
    }.items()  # fmt: skip
    assert researcher["last_used"] is not None
    assert (writer["collection"], writer["publish"], writer["notes"], writer["last_used"]) == ("drafts", [], None, None)
    assert crew.ok("agents").splitlines()[1].startswith("writer\tdrafts\tteam")


def test_collections_say_whose_they_are_and_who_still_names_one_that_is_put_away(crew: Cli) -> None:
    crew.ok("--agent", "researcher", "add", "The buoys are counted in May.")
    assert {each["name"]: each["agents"] for each in crew.json("collections")}["researcher"] == ["researcher"]
    told = crew("collections", "archive", "team").stderr
    assert "config.toml still names team for researcher, writer" in told
    assert "still names" not in crew("collections", "unarchive", "team").stderr
    assert "still names researcher for researcher" in crew("collections", "rename", "researcher", "finder").stderr


def test_a_home_without_agents_says_how_to_name_one(cli: Cli) -> None:
    assert "[agents.writer]" in cli("agents").stderr


def test_an_agent_is_named_before_or_after_the_command_or_in_the_environment(crew: Cli) -> None:
    crew.ok("--agent", "writer", "add", "A draft on herons.")
    for words, env in (
        (("--agent", "writer", "search", "heron"), {}),
        (("search", "heron", "--agent", "writer"), {}),
        (("search", "heron"), {"AMEM_AGENT": "writer"}),
    ):
        assert {hit["collection"] for hit in crew.json(*words, **env)} == {"drafts", "team"}


def test_what_an_agent_writes_is_logged_as_its_own(crew: Cli) -> None:
    crew.ok("--agent", "writer", "add", "A draft on herons.")

    assert {each["actor"] for each in crew.json("-c", "drafts", "log")} == {"agent:writer"}


def test_catalogs_are_marked_and_read(crew: Cli) -> None:
    crew.ok("--agent", "writer", "add", "A draft on fish.")
    row = crew.ok("--agent", "writer", "search", "staging server").splitlines()[0].split("\t")

    assert row[-1] == "team"
    assert HERON in crew.ok("--agent", "writer", "show", row[0])
    assert crew.ok("--agent", "writer", "ask", "What is the staging server called?").splitlines()[1].endswith("\tteam")
    assert "catalog: team" in crew.ok("--agent", "writer", "context", "staging server")
    refused = crew.refused("--agent", "writer", "edit", row[0], "--content", "x")
    assert "is in the catalog 'team'" in refused
    assert "amem -c team edit" in refused


@pytest.mark.parametrize(
    ("said", "question"), [(HERON, "staging server"), ("测试服务器叫苍鹭。", "测试服务器叫什么？")]
)
def test_a_note_shown_or_explained_says_which_catalog_it_is_in(crew: Cli, said: str, question: str) -> None:
    crew.ok("-c", "team", "add", said)
    own = crew.json("--agent", "writer", "add", "A draft on fish.")["id"]
    hits = crew.json("--agent", "writer", "search", question)
    theirs = next(hit["id"] for hit in hits if hit["content"] == said)

    assert "catalog: team\n" in crew.ok("--agent", "writer", "show", theirs)
    assert "catalog" not in crew.ok("--agent", "writer", "show", own)
    mixed = crew.json("--agent", "writer", "show", theirs, own)
    assert [each.get("catalog") for each in mixed] == ["team", None]

    answers = {each["id"]: each.get("catalog") for each in crew.json("--agent", "writer", "why", question)}
    assert answers[theirs] == "team"
    assert answers.get(own) is None
    assert crew.json("--agent", "writer", "why", question, theirs)[0]["catalog"] == "team"
    for words in ((question,), (question, theirs)):
        (row,) = [line for line in crew.ok("--agent", "writer", "why", *words).splitlines() if said in line]
        assert row.endswith("\tteam")


def test_an_agent_publishes_by_right(crew: Cli) -> None:
    note = crew.json("--agent", "researcher", "add", "Deploys go out on Tuesdays.")["id"]
    draft = crew.json("--agent", "writer", "add", "A draft on fish.")["id"]

    published = crew.json("--agent", "researcher", "publish", note)

    assert (published["note"], published["catalog"], published["status"]) == (note, "team", "stored")
    assert crew.json("--agent", "writer", "search", "When do deploys go out?")[0]["id"] == published["id"]
    assert "the agent writer has no right" in crew.refused("--agent", "writer", "publish", draft, "--to", "team")
    crew.ok("-c", "team", "undo")
    assert [each["content"] for each in crew.json("-c", "team", "list")] == [HERON]


def test_an_unknown_agent_is_refused_and_the_known_ones_are_named(crew: Cli) -> None:
    refused = crew.refused("--agent", "painter", "list")

    assert "there is no agent 'painter'" in refused
    assert "researcher, writer" in refused


def test_an_agent_has_one_collection(crew: Cli) -> None:
    said = "keeps its notes in 'drafts'"
    assert said in crew.refused("--agent", "writer", "-c", "team", "list")
    assert said in crew.refused("-c", "team", "add", "A draft on fish.", AMEM_AGENT="writer")
    assert [each["content"] for each in crew.json("-c", "team", "list", AMEM_AGENT="")] == [HERON]
    # A person sets the environment's agent aside.
    assert len(crew.json("--agent", "", "-c", "team", "list", AMEM_AGENT="writer")) == 1


def test_a_catalog_that_is_not_there_is_named(crew: Cli) -> None:
    crew.ok("--agent", "writer", "add", "A draft on fish.")
    crew.ok("collections", "archive", "team")

    for words in (("list",), ("search", "fish"), ("add", "A draft on herons.")):
        refused = crew.refused("--agent", "writer", *words)
        assert "there is no catalog 'team'" in refused
        assert "amem collections unarchive team" in refused

    crew.ok("collections", "unarchive", "team")
    assert len(crew.json("--agent", "writer", "list")) == 1


def test_a_missing_catalog_leaves_no_empty_collection(cli: Cli) -> None:
    cli.home.mkdir(exist_ok=True)
    (cli.home / "config.toml").write_text(CONFIG, encoding="utf-8")

    assert "there is no catalog 'team'" in cli.refused("--agent", "writer", "add", "A draft on fish.")

    assert cli.json("collections") == []


def test_an_agent_without_notes_is_told_of_its_catalogs_and_of_no_other_collection(crew: Cli) -> None:
    crew.ok("-c", "diary", "add", "The kettle is green.")
    said = crew("--agent", "writer", "list").stderr

    assert "no notes in drafts yet" in said
    assert f"what it reads beside them: amem --home {crew.home} --collection team list" in said
    assert "diary" not in said


@pytest.mark.parametrize("command", ["delete", "pin", "keep", "retract", "purge"])
def test_a_catalogs_note_is_refused_with_the_command_that_was_meant(crew: Cli, command: str) -> None:
    crew.ok("--agent", "writer", "add", "A draft on fish.")
    (note,) = [each["id"] for each in crew.json("-c", "team", "list")]

    assert f"amem -c team {command} " in crew.refused("--agent", "writer", command, note)


def test_the_settings_of_an_agents_table_are_said_to_come_from_it(crew: Cli) -> None:
    found = {each["name"]: each["from"] for each in crew.json("--agent", "writer", "config", "list")}

    table = f"{crew.home / 'config.toml'} [agents.writer]"
    assert (found["collection"], found["catalogs"]) == (table, table)
    assert (found["agent"], found["fusion"]) == ("argument", "default")


def test_a_note_that_is_published_twice_is_undone_once(crew: Cli) -> None:
    note = crew.json("--agent", "researcher", "add", "Deploys go out on Tuesdays.")["id"]
    first, second = (crew("--agent", "researcher", "publish", note) for _ in range(2))

    number = crew.json("-c", "team", "log")[0]["id"]
    assert f"--collection team undo {number}" in first.stderr
    assert "it was there already" in second.stdout
    assert "undo" not in second.stderr


def test_who_has_no_right_to_publish_is_told_where_to_grant_it(crew: Cli) -> None:
    draft = crew.json("--agent", "writer", "add", "A draft on fish.")["id"]

    refused = crew.refused("--agent", "writer", "publish", draft)

    assert "the agent writer has no right to publish" in refused
    assert 'publish = ["team"] in [agents.writer] of config.toml' in refused


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('[agents.writer]\ncatalog = ["team"]', "has no setting 'catalog' of its own"),
        ('[agents.writer]\nhome = "/elsewhere"', "has no setting 'home' of its own"),
        ('[agents."a/b"]', "cannot name an agent"),
        ("[agents.writer]\nsemantic_days = 5", "the agent writer: setting semantic_days: "),
        ('[agents.writer]\ncatalogs = "team"', 'setting catalogs: give a list, as in ["team"]'),
    ],
)
def test_a_table_that_is_wrong_stops_its_agent_alone(cli: Cli, table: str, said: str) -> None:
    cli.home.mkdir(exist_ok=True)
    (cli.home / "config.toml").write_text(table, encoding="utf-8")
    agent = "a/b" if "a/b" in table else "writer"

    refused = cli.refused("--agent", agent, "list")

    assert said in refused
    assert f"[agents.{agent}] in {cli.home / 'config.toml'}" in refused
    assert [said in each["problem"] for each in cli.json("agents")] == [True]
    assert said in cli("maintain", "--all-agents").stderr
    cli.ok("-c", "mt", "add", HERON)
    assert [each["content"] for each in cli.json("-c", "mt", "list")] == [HERON]


def test_a_program_opens_an_agents_memory_by_its_name(crew: Cli) -> None:
    from amem import AgenticMemorySystem

    with AgenticMemorySystem(directory=crew.home, agent="writer") as memory:
        memory.add("A draft on fish.")
        assert (memory.settings.collection, memory.actor, list(memory.catalogs)) == ("drafts", "agent:writer", ["team"])


def test_the_night_of_all_agents_proposes_what_they_share(crew: Cli) -> None:
    for agent in ("researcher", "writer"):
        crew.ok("--agent", agent, "add", "Deploys go out on Tuesdays.")

    records = crew.json("maintain", "--all-agents")

    assert [each["agent"] for each in records] == ["researcher", "writer"]
    ((number,), none) = [each["proposed"] for each in records]
    assert none == []
    assert records[0]["report"]["cycle"] == "nightly"
    assert crew.json("--agent", "researcher", "review", "list")[0]["changes"] == {
        "publish": {"before": None, "after": "team"}
    }
    crew.ok("--agent", "researcher", "review", "accept", str(number))
    assert "Deploys go out on Tuesdays." in {each["content"] for each in crew.json("-c", "team", "list")}
    assert crew.ok("maintain", "--all-agents").count(": ") >= 2

    newest = crew.json("-c", "team", "log")[0]["id"]
    told = crew("--agent", "researcher", "undo").stderr
    assert f"the copy stays in team; take it back with: amem --home {crew.home} --collection team undo {newest}" in told
