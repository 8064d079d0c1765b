"""What an MCP client can do with a memory: each tool, its schema and its hints, what is refused and how it is said."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import anyio
import jsonschema
import pytest
from mcp import MCPError
from mcp_hosts import answer, refusal

from amem import AgenticMemorySystem
from amem.errors import CollectionNotFound
from amem.mcp.collections import TOOLS, Collections, plain_name
from amem.settings import load_settings
from amem.tools.toolbox import EVERY

if TYPE_CHECKING:
    from pathlib import Path

    from mcp import Client
    from mcp_hosts import Host

READING = {"search", "ask", "list", "tags", "read", "history", "facts", "context"}


async def moved(client: Client) -> tuple[str, str]:
    """Two notes, the second of which overturns the first."""
    first = await answer(client, "write", content="I live in Rome.", time="2026-03-01", tags=["home"])
    second = await answer(client, "write", content="I moved to Berlin.", time="2026-06-22", kind="fact")
    return first["id"], second["id"]


async def test_a_client_is_told_of_sixteen_tools_and_what_each_may_do(host: Host) -> None:
    async with host.inside() as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert tuple(tools) == TOOLS
    for name, tool in tools.items():
        assert tool.description is not None
        assert tool.description.endswith(".")
        jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        assert tool.output_schema is not None
        jsonschema.Draft202012Validator.check_schema(tool.output_schema)
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is (name in READING)
        assert tool.annotations.destructive_hint is (name not in {*READING, "link"})
        assert tool.annotations.open_world_hint is False


async def test_what_a_client_writes_without_waiting_is_written_in_the_order_sent(host: Host) -> None:
    written: dict[int, int] = {}

    async def write(client: Client, number: int) -> None:
        written[number] = (await answer(client, "write", content=f"Locker {number} is team {number}'s."))["operation"]

    async with host.inside() as client, anyio.create_task_group() as calls:
        for number in range(8):
            calls.start_soon(write, client, number)
    assert sorted(written, key=lambda number: written[number]) == list(range(8))


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_every_tool_returns_what_its_schema_says(host: Host, mode: str) -> None:
    async with host.inside(mode=mode) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        called: set[str] = set()

        async def call(name: str, **arguments: Any) -> Any:
            jsonschema.validate(arguments, tools[name].input_schema)
            result = await client.call_tool(name, arguments)
            assert not result.is_error, (name, result.content)
            jsonschema.validate(result.structured_content, tools[name].output_schema or {})
            (said,) = result.content
            assert said.type == "text"
            assert json.loads(said.text) == result.structured_content
            called.add(name)
            return result.structured_content

        assert (await call("search", query="anything"))["results"] == []
        assert (await call("ask", question="Where do I live?"))["in_memory"] is False
        assert await call("facts") == {"facts": [], "subjects": []}
        assert (await call("history"))["results"] == []
        assert await call("list") == {"total": 0, "notes": []}
        assert (await call("tags"))["results"] == []
        rome = (await call("write", content="I live in Rome.", time="2026-03-01"))["id"]
        assert (await call("write", content="I live in Rome."))["status"] == "duplicate"
        berlin = await call("write", content="I moved to Berlin.", time="2026-06-22")
        assert [each["content"] for each in berlin["overturned"]] == ["I live in Rome."]
        late = await call("write", content="I live in Oslo.", time="2026-01-05")
        assert late["superseded_by"] is not None
        learnt = await call(
            "remember",
            messages=[{"role": "user", "content": "My dentist is Dr. Alvarez.", "at": "2026-07-01T10:00", "id": "m1"}],
            conversation="health",
        )
        assert [each["content"] for each in learnt["learnt"]] == ["My dentist is Dr. Alvarez."]
        assert (await call("ask", question="Where do I live?"))["citations"][0]["id"] == berlin["id"]
        assert (await call("search", query="Where do I live?", k=2, superseded=True))["results"]
        assert "Berlin" in (await call("context", query="Where do I live?", budget_tokens=200))["text"]
        assert (await call("facts", subject="me", ever=True))["facts"][-1]["object"]
        assert (await call("facts", subject="me", predicate="lives_in"))["facts"][0]["object"] == "Berlin"
        gone = await call("read", id=rome[:8])
        assert (gone["status"], gone["superseded_by"]) == ("superseded", berlin["id"])
        assert gone["linked"][0]["type"] == "supersedes"
        link = await call("link", source=berlin["id"], target=learnt["learnt"][0]["id"], type="supports", reason="both")
        assert link["type"] == "supports"
        changed = await call("write", id=berlin["id"], content="I moved to Berlin-Mitte.", tags=["home"])
        assert changed["status"] == "updated"
        assert (await call("write", id=berlin["id"], tags=["home"]))["status"] == "unchanged"
        versions = (await call("history", id=berlin["id"]))["results"]
        assert versions[0]["operation"] >= changed["operation"]
        assert any("content" in each["changes"] for each in versions)
        assert (await call("supersede", id=berlin["id"], reason="left"))["status"] == "superseded"
        assert (await call("undo"))["reverted"]
        assert (await call("undo", operation=changed["operation"]))["undone"] == changed["operation"]
        kept = await call("write", content="The old port was 8377.")
        fixed = await call("write", id=kept["id"], content="The port is 8378.")
        await call("write", id=kept["id"], content="The port is 8379.")
        assert (await call("undo", operation=fixed["operation"]))["kept"]
        assert (await call("supersede", id=learnt["learnt"][0]["id"], by=berlin["id"]))["superseded_by"] == berlin["id"]
        listed = await call("list", limit=2, offset=1, since="2026-01-01")
        assert len(listed["notes"]) == min(2, listed["total"] - 1) >= 1
        assert (await call("tags"))["results"][0]["notes"] >= 1
        gone = await call("delete", id=kept["id"][:12])
        assert gone["deleted"] == kept["id"]
        assert (await call("undo", operation=gone["operation"]))["undone"] == gone["operation"]
        assert (await call("maintain", dry_run=True))["operation"] is None
        await call("maintain", cycle="weekly")
        # Publishing takes a catalog, which an agent's memory has.
        assert called == set(tools) - {"publish"}
        note = (await call("write", content="The kettle is green."))["id"]
        refused = await refusal(client, "publish", id=note, to="team")
        assert "has no right to publish to 'team'" in refused
        assert 'grant it: publish = ["team"]' in refused


async def test_hints_tell_the_truth_about_what_a_call_changes(host: Host) -> None:
    async with host.inside() as client:
        rome, berlin = await moved(client)
        arguments: dict[str, dict[str, Any]] = {
            "search": {"query": "Rome", "superseded": True},
            "ask": {"question": "Where do I live?"},
            "read": {"id": berlin},
            "history": {"id": rome},
            "facts": {"subject": "me"},
            "context": {"query": "Rome"},
            "list": {},
            "tags": {},
            "link": {"source": berlin, "target": rome, "reason": "before"},
            "remember": {"messages": [{"role": "user", "content": "My dentist is Dr. Alvarez.", "id": "m1"}]},
        }
        for tool in (await client.list_tools()).tools:
            assert tool.annotations is not None
            if tool.annotations.read_only_hint:
                before = await answer(client, "history", limit=200)
                await answer(client, tool.name, **arguments[tool.name])
                assert await answer(client, "history", limit=200) == before
            elif tool.annotations.idempotent_hint:
                await answer(client, tool.name, **arguments[tool.name])
                before = await answer(client, "history", limit=200)
                await answer(client, tool.name, **arguments[tool.name])
                assert await answer(client, "history", limit=200) == before, tool.name


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("read", {"id": "nobody"}, "no note 'nobody' (a search gives the ids"),
        ("history", {"id": "nobody"}, "a search gives the ids"),
        ("forget", {"id": "x"}, "the tools are remember, search"),
        ("search", {}, "the argument 'query' is missing"),
        ("search", {"question": "x"}, "there is no argument 'question' (it takes query"),
        ("search", {"query": "x", "k": 0}, "k must be from 1 to 50"),
        ("search", {"query": "x", "superseded": "yes"}, "must be of type boolean"),
        ("write", {}, "a new note needs 'content'"),
        ("write", {"content": " "}, "empty"),
        ("write", {"content": "x", "kind": "gossip"}, "fact"),
        ("write", {"content": "x", "time": "whenever"}, "whenever"),
        ("remember", {"messages": [{"content": "x"}]}, "role"),
        ("undo", {}, "you have changed nothing here"),
        ("undo", {"operation": 99}, "99"),
        ("maintain", {"cycle": "hourly"}, "nightly"),
        ("list", {"limit": 0}, "limit must be from 1 to 200"),
        ("list", {"order": "mood"}, "recorded"),
        ("delete", {"id": "nobody"}, "a search gives the ids"),
        ("facts", {"subject": "me", "as_of": "once"}, "once"),
    ],
)
async def test_what_a_model_gets_wrong_is_told_so_that_it_can_do_better(
    host: Host, tool: str, arguments: dict[str, Any], said: str
) -> None:
    async with host.inside() as client:
        assert said in await refusal(client, tool, **arguments)
        assert (await answer(client, "search", query="x"))["results"] == []


async def test_a_fault_of_amem_is_told_and_logged_and_the_next_call_is_served(
    host: Host, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with host.inside() as client:
        await answer(client, "search", query="x")
        with monkeypatch.context() as patch:
            patch.setattr("amem.scoped.ScopedMemory.ask", lambda *_: 1 / 0)
            assert "unexpected ZeroDivisionError" in await refusal(client, "search", query="x")
        assert "Traceback" in caplog.text
        assert (await answer(client, "search", query="x"))["results"] == []


async def test_undo_takes_back_what_this_client_did_and_not_what_a_person_did_since(host: Host) -> None:
    async with host.inside() as client:
        mine = (await answer(client, "write", content="The port is 8377."))["id"]
        collections = host.collections()
        with collections.of("someone else") as other:
            theirs = other.add_note("The tide is high at noon.")
        await answer(client, "undo")
        assert "no note" in await refusal(client, "read", id=mine)
        assert (await answer(client, "read", id=theirs))["content"].startswith("The tide")
        assert "you have changed nothing" in await refusal(client, "undo")


async def test_a_client_lists_what_came_last_and_the_tags_in_use(host: Host) -> None:
    async with host.inside() as client:
        await answer(client, "write", content="The kettle is green.", time="2026-06-01", tags=["kitchen"])
        await answer(client, "write", content="厨房的灯是黄色的。", time="2026-05-01", tags=["kitchen", "灯"])
        await answer(
            client, "write", content=f"The port is 8377. {'It is long. ' * 60}", time="2026-04-01", tags=["net"]
        )
        listed = await answer(client, "list", limit=2)
        assert listed["total"] == 3
        assert [each["content"][:16] for each in listed["notes"]] == ["The port is 8377", "厨房的灯是黄色的。"]
        assert listed["notes"][0]["content"].endswith("…")
        assert len(listed["notes"][0]["content"]) <= 400
        by_time = await answer(client, "list", order="time", tags=["kitchen"], until="2026-05-15")
        assert [each["timestamp"][:10] for each in by_time["notes"]] == ["2026-05-01"]
        tags = {each["tag"]: each["notes"] for each in (await answer(client, "tags"))["results"]}
        assert (tags["kitchen"], tags["灯"]) == (2, 1)


async def test_a_client_adds_to_the_end_of_a_note(host: Host) -> None:
    async with host.inside() as client:
        id = (await answer(client, "write", content="To pack: 护照。"))["id"]
        assert (await answer(client, "write", id=id, content="And the tickets.", append=True))["status"] == "updated"
        assert (await answer(client, "read", id=id))["content"] == "To pack: 护照。\nAnd the tickets."
        assert (await answer(client, "undo"))["reverted"]
        assert (await answer(client, "read", id=id))["content"] == "To pack: 护照。"


async def test_what_a_client_deletes_is_hidden_and_undone_by_its_number_or_as_its_last(host: Host) -> None:
    async with host.inside() as client:
        id = (await answer(client, "write", content="The port is 8377."))["id"]
        gone = await answer(client, "delete", id=id[:8])
        assert gone["deleted"] == id
        assert (await answer(client, "list"))["total"] == 0
        assert (await answer(client, "undo"))["undone"] == gone["operation"]
        assert (await answer(client, "list"))["notes"][0]["id"] == id
        again = await answer(client, "delete", id=id)
        await answer(client, "write", content="The tide is high at noon.")
        assert (await answer(client, "undo", operation=again["operation"]))["reverted"]
        assert (await answer(client, "read", id=id))["content"] == "The port is 8377."


async def test_a_server_that_only_reads_offers_and_does_nothing_else(host: Host) -> None:
    async with host.inside(read_only=True) as client:
        assert "there is no collection" in await refusal(client, "search", query="x")
    assert not host.home.exists()
    async with host.inside() as client:
        rome, berlin = await moved(client)
    database = host.home / "memories" / "amem.db"
    before = database.read_bytes()
    async with host.inside(read_only=True) as client, host.inside() as writer:
        assert {tool.name for tool in (await client.list_tools()).tools} == READING
        assert (await answer(client, "search", query="Where do I live?"))["results"][0]["id"] == berlin
        assert (await answer(client, "read", id=rome))["content"] == "I live in Rome."
        assert "there is no tool 'write'" in await refusal(client, "write", content="x")
        assert database.read_bytes() == before
        # What others write meanwhile is seen.
        new = (await answer(writer, "write", content="My cat is called Miso."))["id"]
        assert (await answer(client, "search", query="What is my cat called?"))["results"][0]["id"] == new


async def test_a_collection_that_was_replaced_meanwhile_is_opened_anew(host: Host) -> None:
    folder, aside = host.home / "memories", host.home / "aside"
    async with host.inside() as client:
        await answer(client, "write", content="My cat is called Miso.")
    shutil.copytree(folder, aside)
    async with host.inside() as client:
        await answer(client, "write", content="My dog is called Bodo.")
        shutil.rmtree(folder)
        aside.rename(folder)
        found = (await answer(client, "search", query="What is my cat called?"))["results"]
        assert [each["content"] for each in found] == ["My cat is called Miso."]
        assert (await answer(client, "write", content="My bird is called Kiri."))["status"] == "stored"


async def test_each_client_has_a_collection_of_its_own_where_that_is_asked_for(host: Host) -> None:
    async with host.inside("Claude Code", per_client=True) as one:
        await answer(one, "write", content="My cat is called Miso.")
    async with host.inside("../Zed", per_client=True) as two:
        assert (await answer(two, "search", query="cat"))["results"] == []
    collections = host.collections()
    assert sorted(entry.name for entry in host.home.iterdir()) == ["claude-code", "zed"]
    collections.close()
    assert [plain_name(name) for name in ("", "..", "小记 App", "x" * 99)] == ["mcp", "mcp", "小记-app", "x" * 40]


async def test_the_log_says_which_client_did_it(host: Host) -> None:
    async with host.inside("Claude Code") as client:
        await moved(client)
        actors = {each["actor"] for each in (await answer(client, "history"))["results"] if each["action"] == "add"}
    assert actors == {"agent:claude-code"}


async def test_notes_topics_and_the_collection_are_resources(host: Host) -> None:
    async with host.inside() as client:
        rome, berlin = await moved(client)
        collections = host.collections()
        with collections.of("person") as memory:
            memory.declare_topic("Wohnen & Co", about="live moved Rome Berlin")
        listed = (await client.list_resources()).resources
        assert [each.uri for each in listed] == ["collection://", "topic://Wohnen%20%26%20Co"]
        templates = (await client.list_resource_templates()).resource_templates
        assert {each.uri_template for each in templates} == {"note://{id}", "topic://{name}"}

        async def text(uri: str) -> str:
            (content,) = (await client.read_resource(uri)).contents
            assert hasattr(content, "text")
            return str(content.text)

        page = await text(f"note://{berlin[:8]}")
        assert "I moved to Berlin." in page
        assert f"supersedes [[{rome}]]" in page
        assert "Wohnen & Co" in await text(listed[1].uri)
        glance = json.loads(await text("collection://"))
        assert (glance["collection"], glance["subjects"]) == ("memories", {"user": 2})
        for uri in ("note://nobody", "topic://nothing", "file:///etc/passwd", "note://"):
            with pytest.raises(MCPError, match="no"):
                await client.read_resource(uri)


@pytest.mark.parametrize(("question", "says"), [("Where do I live?", "QUESTION"), ("我住在哪里？", "问题")])
async def test_the_prompt_recalls_before_it_asks(host: Host, question: str, says: str) -> None:
    async with host.inside() as client:
        await moved(client)
        (prompt,) = (await client.list_prompts()).prompts
        (message,) = (await client.get_prompt(prompt.name, {"question": question})).messages
        assert message.content.type == "text"
        assert "I moved to Berlin." in message.content.text
        assert message.content.text.rstrip().endswith(question)
        assert says in message.content.text
        for name, arguments in (("recall", {"question": " "}), ("other", {"question": "x"})):
            with pytest.raises(MCPError, match="needs a question"):
                await client.get_prompt(name, arguments)


def test_a_collection_opened_to_be_read_only_refuses_every_write(host: Host) -> None:
    with pytest.raises(CollectionNotFound):
        host.collections(read_only=True).of("x")


def test_an_agents_memory_is_served_with_its_catalogs_under_its_name(tmp_path: Path, model_cache: Path) -> None:
    home = tmp_path / "home"
    settings = load_settings(home, llm_backend="offline", cache=model_cache)
    with AgenticMemorySystem(settings=settings.replaced(collection="team")) as team:
        team.add("The staging server is called heron.")
    agents = {"writer": {"catalogs": ["team"], "publish": ["team"]}}
    for served, client in (
        (Collections(settings.replaced(agents=agents).as_agent("writer"), chroma=False), "claude-ai"),
        (Collections(settings.replaced(agents=agents), per_client=True, chroma=False), "writer"),
    ):
        tools = served.toolbox(client)
        draft = tools.run("write", {"content": "A draft on fish."})["id"]
        assert served.of(client).log()[0].actor == "agent:writer"
        found = tools.run("search", {"query": "What is the staging server called?"})
        assert (found[0]["content"], found[0]["catalog"]) == ("The staging server is called heron.", "team")
        published = tools.run("publish", {"id": draft[:8]})
        jsonschema.validate(published, EVERY["publish"].result)
        assert (published["note"], published["catalog"]) == (draft, "team")
        assert served.of(client).catalogs["team"].note(published["id"]).content == "A draft on fish."
        served.close()
