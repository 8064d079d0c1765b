"""Memory as tools for function-calling agents, whose arguments nobody can trust."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from amem.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from amem import AgenticMemorySystem


def test_definitions_are_json_schema_that_names_what_is_required(memory: AgenticMemorySystem):
    definitions = json.loads(json.dumps(memory.tools().definitions))
    names = [each["function"]["name"] for each in definitions]
    assert len(names) == len(set(names)) >= 6
    for each in definitions:
        function = each["function"]
        assert each["type"] == "function"
        assert function["description"].endswith(".")
        parameters = function["parameters"]
        assert parameters["type"] == "object"
        assert parameters["additionalProperties"] is False
        assert set(parameters["required"]) <= set(parameters["properties"])
        assert all("type" in schema for schema in parameters["properties"].values())


def test_an_agent_adds_finds_reads_corrects_links_and_forgets(memory: AgenticMemorySystem):
    tools = memory.tools()
    added = tools.call(
        "memory_add", {"content": "Mara is allergic to walnuts", "tags": ["health"], "time": "2026-02-01"}
    )
    assert added["ok"]
    id = added["result"]["id"]
    found = tools.call("memory_search", json.dumps({"query": "walnuts allergic", "k": 3}))
    assert [hit["id"] for hit in found["result"]] == [id]
    assert found["result"][0]["matched_by"]
    read = tools.call("memory_read", {"id": id[:8]})
    assert (read["result"]["content"], read["result"]["tags"]) == ("Mara is allergic to walnuts", ["health"])
    assert tools.call("memory_update", {"id": id, "content": "Mara is allergic to hazelnuts"})["ok"]
    assert memory.memories[id].content == "Mara is allergic to hazelnuts"
    other = memory.add_note("no nuts at the party")
    memory.link(other, id, "caused_by", "because of the allergy")
    (link,) = tools.call("memory_links", {"id": id})["result"]
    assert (link["source"], link["type"]) == (other, "caused_by")
    assert tools.call("memory_delete", {"id": id})["ok"]
    assert memory.read(id) is None
    asked_for = [operation for operation in memory.log() if operation.parent is None]
    assert {each.actor for each in asked_for if id in (*each.notes, *each.created)} == {"agent"}
    memory.undo()
    assert memory.memories[id].content == "Mara is allergic to hazelnuts"
    json.dumps([added, found, read])


def test_an_agent_gets_what_is_known_as_one_text(memory: AgenticMemorySystem):
    memory.add("Mara may not eat walnuts", kind="constraint", user_id="mara")
    id = memory.add_note("Mara plans a trip to Porto", user_id="mara")
    memory.add("Bo plans a trip to Oslo", user_id="bo")
    answer = memory.tools(user_id="mara").call("memory_context", {"query": "plans for a trip", "budget_tokens": 300})
    assert answer["result"]["notes"] == [id]
    assert answer["result"]["text"].startswith("[Background]\n- (constraint) Mara may not eat walnuts")
    assert "Oslo" not in answer["result"]["text"]
    json.dumps(answer)
    refused = memory.tools().call("memory_context", {"query": "trip", "budget_tokens": 10})
    assert "budget_tokens" in refused["error"]


def test_what_an_agent_fills_in_with_a_new_text_is_not_replaced_by_analysis(open_memory: Callable[..., Any]):
    memory = open_memory(llm_backend="offline", analyst=None)
    tools = memory.tools()
    id = tools.call("memory_add", {"content": "I moved to Berlin.", "time": "2026-06-22"})["result"]["id"]
    changed = tools.call("memory_update", {"id": id, "content": "I moved to Berlin-Mitte.", "tags": ["home"]})
    assert changed["result"]["tags"] == ["home"]
    assert "Berlin-Mitte" in changed["result"]["keywords"]


def test_what_an_agent_says_is_believed_less_than_what_a_person_says(memory: AgenticMemorySystem):
    person = memory.add_note("said by a person")
    agent = memory.tools().call("memory_add", {"content": "inferred by an agent"})["result"]["id"]
    assert memory.memories[agent].trust < memory.memories[person].trust


def test_an_agent_asks_for_kinds_tags_people_and_times(memory: AgenticMemorySystem):
    tools = memory.tools()
    memory.add("Ana plans a trip to Lisbon.", kind="fact", time="2026-03-01", tags=["travel"], speaker="Ana")
    memory.add("We decided to plan a trip to Porto.", kind="decision", time="2026-04-01", tags=["travel", "work"])

    def found(**conditions: Any) -> list[str]:
        answer = tools.call("memory_search", {"query": "plan a trip", **conditions})
        return sorted(hit["content"].split()[-1] for hit in answer["result"])

    assert found() == ["Lisbon.", "Porto."]
    assert found(kinds=["decision", "constraint"]) == ["Porto."]
    assert found(tags=["travel", "work"]) == ["Porto."]
    assert found(speaker="ana") == ["Lisbon."]
    assert found(since="2026-03-15") == ["Porto."]
    assert found(until="2026-03-15T09:30") == ["Lisbon."]


def test_an_agent_has_what_it_finds_spread_over_days(memory: AgenticMemorySystem):
    tools = memory.tools()
    memory.add("Ana plans a trip to Lisbon.", time="2026-03-01")
    memory.add("We decided to plan a trip to Porto.", time="2026-04-01")
    answer = tools.call("memory_search", {"query": "plan a trip", "group_by": "session"})
    assert {each["group"]["title"] for each in answer["result"]} == {"2026-03-01", "2026-04-01"}
    refused = tools.call("memory_search", {"query": "plan a trip", "group_by": "week"})
    assert not refused["ok"]
    assert refused["hint"] == "the groupings are session, topic"


def test_tools_for_one_user_neither_show_nor_change_the_notes_of_another(memory: AgenticMemorySystem):
    ana, bo = memory.tools(user_id="ana"), memory.tools(user_id="bo")
    mine = ana.call("memory_add", {"content": "My bank card's number ends in 4711."})["result"]["id"]
    theirs = bo.call("memory_add", {"content": "My bank is round the corner."})["result"]["id"]
    with pytest.raises(InvalidInput, match="different users"):
        memory.link(theirs, mine, "related", "both speak of a bank card that ends in 4711")
    assert memory.memories[mine].metadata == {"user_id": "ana"}
    assert [hit["id"] for hit in bo.call("memory_search", {"query": "bank card number"})["result"]] == [theirs]
    for name, more in (("read", {}), ("update", {"content": "gone"}), ("delete", {}), ("links", {})):
        answer = bo.call(f"memory_{name}", {"id": mine, **more})
        assert not answer["ok"]
        assert "4711" not in json.dumps(answer)
    assert bo.call("memory_links", {"id": theirs})["result"] == []
    assert ana.call("memory_read", {"id": mine})["result"]["content"].endswith("4711.")
    with pytest.raises(InvalidInput, match="user_id"):
        memory.tools(user_id=" ")


def test_a_program_picks_the_tools_and_confined_ones_are_only_those_that_can_be(memory: AgenticMemorySystem):
    from amem.tools import Toolbox

    names = ("write", "ask", "undo", "facts", "maintain", "remember")
    tools = Toolbox(memory, names=names, actor="agent:planner")
    assert [each["function"]["name"] for each in tools.definitions] == [f"memory_{name}" for name in names]
    id = tools.call("memory_write", {"content": "The boiler is serviced in May."})["result"]["id"]
    assert memory.history(id)[0].actor == "agent:planner"
    assert not tools.call("memory_read", {"id": id})["ok"]
    assert tools.call("memory_undo", {})["ok"]
    assert memory.read(id) is None
    with pytest.raises(InvalidInput, match="cannot be confined"):
        Toolbox(memory, user_id="ana", names=("maintain",))
    with pytest.raises(InvalidInput, match="there is no tool 'forget'"):
        Toolbox(memory, names=("forget",))
    ana = Toolbox(memory, user_id="ana", names=("write", "link", "supersede", "history"))
    mine = ana.call("memory_write", {"content": "My card ends in 4711."})["result"]["id"]
    bo = Toolbox(memory, user_id="bo", names=("write", "link", "supersede", "history"))
    theirs = bo.call("memory_write", {"content": "My card ends in 0815."})["result"]["id"]
    for name, arguments in (
        ("write", {"id": mine, "content": "gone"}),
        ("link", {"source": theirs, "target": mine}),
        ("supersede", {"id": mine}),
        ("supersede", {"id": theirs, "by": mine}),
        ("history", {"id": mine}),
    ):
        answer = bo.call(f"memory_{name}", arguments)
        assert not answer["ok"], name
        assert "4711" not in json.dumps(answer)


MALICIOUS: list[tuple[str, Any]] = [
    ("memory_destroy", {}),
    ("__init__", {}),
    ("", {}),
    ("memory_add", {}),
    ("memory_add", {"content": ""}),
    ("memory_add", {"content": None}),
    ("memory_add", {"content": 42}),
    ("memory_add", {"content": ["a"]}),
    ("memory_add", {"content": "x" * 1_000_000}),
    ("memory_add", {"content": "half a pair \ud83d"}),
    ("memory_add", {"content": "nul \x00"}),
    ("memory_add", {"content": "x", "id": "chosen"}),
    ("memory_add", {"content": "x", "actor": "user"}),
    ("memory_add", {"content": "x", "tags": "not a list"}),
    ("memory_add", {"content": "x", "tags": [1, {"a": 2}]}),
    ("memory_add", {"content": "x", "tags": ["y" * 10_000]}),
    ("memory_add", {"content": "x", "time": "whenever"}),
    ("memory_add", {"content": "x", "time": "0001-01-01T00:00:00+23:59"}),
    ("memory_add", {"content": "x", "metadata": {"__class__": "evil"}}),
    ("memory_add", "{not json"),
    ("memory_add", "[1, 2]"),
    ("memory_add", "null"),
    ("memory_add", "[" * 100_000),
    ("memory_add", None),
    ("memory_add", ["content"]),
    ("memory_search", {"query": 5}),
    ("memory_search", {"query": "x", "k": -1}),
    ("memory_search", {"query": "x", "k": 0}),
    ("memory_search", {"query": "x", "k": 10**9}),
    ("memory_search", {"query": "x", "k": True}),
    ("memory_search", {"query": "x", "k": "5"}),
    ("memory_search", {"query": "x", "filter": {"statuses": ["deleted"]}}),
    ("memory_search", {"query": "x", "tags": "food"}),
    ("memory_search", {"query": "x", "tags": [1]}),
    ("memory_search", {"query": "x", "tags": ["\x00"]}),
    ("memory_search", {"query": "x", "kinds": ["gossip"]}),
    ("memory_search", {"query": "x", "kinds": [["fact"]]}),
    ("memory_search", {"query": "x", "speaker": ["Ana"]}),
    ("memory_search", {"query": "x", "since": "the day before"}),
    ("memory_search", {"query": "x", "since": 20260301}),
    ("memory_search", {"query": "x", "since": "2026-03-02", "until": "2026-03-01"}),
    ("memory_search", {"query": "x", "user_id": "somebody else"}),
    ("memory_read", {"id": ""}),
    ("memory_read", {"id": "nobody"}),
    ("memory_read", {"id": "%"}),
    ("memory_read", {"id": "' OR 1=1 --"}),
    ("memory_read", {"id": "../../etc/passwd"}),
    ("memory_read", {"id": "\x00"}),
    ("memory_read", {"id": "\ud800"}),
    ("memory_update", {"id": "kept"}),
    ("memory_update", {"id": "kept", "content": "  "}),
    ("memory_update", {"id": "kept", "status": "deleted"}),
    ("memory_update", {"id": "kept", "pinned": True}),
    ("memory_delete", {"id": "nobody"}),
    ("memory_delete", {}),
    ("memory_links", {"id": "nobody"}),
]


@pytest.mark.parametrize(("name", "arguments"), MALICIOUS, ids=[f"{n}-{each[0]}" for n, each in enumerate(MALICIOUS)])
def test_what_a_model_gets_wrong_comes_back_as_words_and_changes_nothing(
    memory: AgenticMemorySystem, name: str, arguments: Any
):
    memory.add_note("the one note that is here", id="kept")
    before, log = memory.read("kept"), memory.log()
    answer = memory.tools().call(name, arguments)
    assert answer["ok"] is False
    assert answer["error"]
    assert isinstance(answer["hint"], str)
    json.dumps(answer)
    assert list(memory.memories) == ["kept"]
    assert memory.read("kept") == before
    assert memory.log() == log


@pytest.mark.parametrize(
    "query",
    [
        "'; DROP TABLE notes; --",
        '" OR "1',
        "NEAR(a b)",
        "content:*",
        "{a b}: c",
        "^x",
        "a" * 30_000,
        "nul \x00",
        "\ud83d",
    ],
    ids=range(9),
)
def test_a_query_is_only_ever_words(memory: AgenticMemorySystem, query: str):
    id = memory.add_note("a note about dropping tables")
    answer = memory.tools().call("memory_search", {"query": query})
    assert answer["ok"] or answer["error"]
    assert memory.read(id) is not None
