"""Whatever a program hands to a public method, it gets an answer or an error that says what to hand in instead."""

from __future__ import annotations

import asyncio
import inspect
from dataclasses import fields
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest

from amem import (
    AgenticMemorySystem,
    AsyncMemory,
    ChromaRetriever,
    Filter,
    MemoryNote,
    Message,
    NewNote,
    Query,
    Settings,
    load_settings,
    segment,
)
from amem.errors import AmemError, InvalidInput
from amem.interop.settle import Debts
from amem.llm_controller import LLMController
from amem.note import Role
from amem.testing import FrozenClock, HashEmbedder, ScriptedAnalyst, ScriptedChat
from amem.tools import Toolbox
from amem.tools.toolbox import EVERY
from amem.writing.revising import Change

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Values = dict[str, Callable[[], Any]]


class Loud:
    """An object that cannot even be shown."""

    def __repr__(self) -> str:
        raise RuntimeError("not to be shown")

    __str__ = __repr__


def _deep(wrap: Callable[[Any], Any]) -> Any:
    value: Any = "bottom"
    for _ in range(100_000):
        value = wrap(value)
    return value


EAST, WEST = timezone(timedelta(hours=23, minutes=59)), timezone(-timedelta(hours=23, minutes=59))
#: Made anew for each call: a generator serves once.
VALUES: Values = {
    "none": lambda: None,
    "a number": lambda: 7,
    "true": lambda: True,
    "a fraction": lambda: 1.5,
    "nan": lambda: float("nan"),
    "infinity": lambda: float("inf"),
    "minus infinity": lambda: -float("inf"),
    "minus one": lambda: -1,
    "the largest of SQLite": lambda: 2**63 - 1,
    "2**63": lambda: 2**63,
    "10**400": lambda: 10**400,
    "-10**400": lambda: -(10**400),
    "more digits than Python writes": lambda: 10**5_000,
    "a complex number": lambda: 1j,
    "no text": lambda: "",
    "a blank": lambda: " ",
    "half a surrogate pair": lambda: "a\ud800b",
    "a NUL": lambda: "a\0b",
    "an escape sequence": lambda: "\x1b]52;c;aGk=\x07",
    "a parent folder": lambda: "../..",
    "5,000 digits": lambda: "9" * 5_000 + "d",
    "a raised digit": lambda: "²d",
    "the last time in text": lambda: "9999-12-31T23:59:59-23:59",
    "the first time in text": lambda: "0001-01-01T00:00:00+23:59",
    "bytes": lambda: b"abc",
    "the first datetime": lambda: datetime.min,
    "the last datetime": lambda: datetime.max,
    "the first datetime in the east": lambda: datetime.min.replace(tzinfo=EAST),
    "the last datetime in the west": lambda: datetime.max.replace(tzinfo=WEST),
    "a deep list": lambda: _deep(lambda value: [value]),
    "a deep dictionary": lambda: _deep(lambda value: {"a": value}),
    "a set": lambda: {"a", 1},
    "a dictionary": lambda: {"a": 1},
    "a list": lambda: ["a", 1],
    "an empty tuple": lambda: (),
    "half a surrogate pair in a list": lambda: ["a\ud800"],
    "huge numbers in a list": lambda: [10**400, 2**63, float("nan")],
    "none in a list": lambda: [None],
    "a generator": lambda: (each for each in ("a", 1)),
    "what cannot be shown": Loud,
    "what cannot be shown, in a list": lambda: [Loud()],
    "a class": lambda: str,
}
#: One of each sort, for the tests that run at every change.
FEW = {
    name: VALUES[name]
    for name in (
        *("nan", "more digits than Python writes", "half a surrogate pair", "the last datetime in the west"),
        *("a deep list", "what cannot be shown"),
    )
}
LONG = {"a million letters": lambda: "x" * 1_000_000, "a million characters": lambda: "虾" * 1_000_000}
#: Ends the collection, or is told of no failure of its own.
_NOT_CALLED = {"close"}
_SYSTEM = [
    name
    for name, member in inspect.getmembers(AgenticMemorySystem, inspect.isfunction)
    if not name.startswith("_") and name not in _NOT_CALLED
]
_FIELDS = [each.name for each in fields(MemoryNote) if each.name != "content"]
_ANY_NUMBER = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_SCOPES = ["user_id", "agent_id", "session_id"]


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgenticMemorySystem]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AMEM_HOME", str(tmp_path_factory.mktemp("default-home")))
        # Fetching what a test names, such as a reranker's weights, is not what is looked at.
        settings = Settings(home=tmp_path_factory.mktemp("home"), llm_backend="offline", rerank="off", rerank_model="")
        with AgenticMemorySystem(
            settings=settings,
            embedder=HashEmbedder(64),
            analyst=ScriptedAnalyst(),
            clock=FrozenClock("2026-03-01T10:00"),
        ) as memory:
            memory.add_note("I am allergic to shrimp.", tags=["food"])
            yield memory


def outcomes(call: Callable[..., Any], given: dict[str, Any], name: str, values: Values) -> list[str]:
    """What went wrong when each value was handed in under that name: nothing, where it is taken or refused."""
    wrong = []
    for what, make in values.items():
        if what == "a class" and _is_called(call, name):
            continue  # what a function of the caller's raises is the caller's
        try:
            call(**(given | {name: make()}))
        except AmemError as error:
            if not str(error) or len(f"{error}{error.hint}") > 1_100:
                wrong.append(f"{name}, {what}: an error of {len(str(error))} characters")
        except Exception as error:
            wrong.append(f"{name}, {what}: {type(error).__name__}")
    return wrong


def _is_called(call: Callable[..., Any], name: str) -> bool:
    parameter = inspect.signature(call).parameters.get(name)
    return parameter is not None and "Callable" in str(parameter.annotation)


def walked(call: Callable[..., Any], good: dict[str, Any], values: Values, **fixed: Any) -> list[str]:
    """What goes wrong in calls that hand in one bad value each, the other arguments being good ones."""
    named = [each for each in inspect.signature(call).parameters.values() if each.kind not in _ANY_NUMBER]
    given = {each.name: good[each.name] for each in named if each.default is each.empty} | fixed
    names = [each.name for each in named if each.name not in fixed]
    return [wrong for name in names for wrong in outcomes(call, given, name, values)]


@pytest.fixture(autouse=True)
def folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some values are good names of folders, which are then made."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(params=[pytest.param(FEW, id="few"), pytest.param(VALUES, id="all", marks=pytest.mark.thorough)])
def values(request: pytest.FixtureRequest) -> Values:
    """The values that are handed in: a few at every change, all of them in the full tier."""
    found: Values = request.param
    return found


@pytest.fixture(scope="module")
def good(memory: AgenticMemorySystem) -> dict[str, Any]:
    """An argument that is fine for each name of a parameter that has no default."""
    first, second = memory.add_note("I live in Lisbon."), memory.add_note("My dentist is Dr. Alvarez.")
    memory.link(first, second, reason="both are about me")
    memory.copy("a-fork")
    said = {"role": "user", "content": "I like green tea."}
    return {
        **dict.fromkeys(("id", "source", "old", "id_or_note"), first),
        **dict.fromkeys(("target", "new"), second),
        **dict.fromkeys(("query", "question", "text", "content", "what", "prompt"), "what am I allergic to?"),
        **{
            "ids": [first],
            "names": ["Lisbon"],
            "titles": ["Lisbon"],
            "name": "garden",
            "fork": "a-fork",
            "other": memory,
            "hits": memory.search("Lisbon"),
            "prefix": first[:8],
            "actor": "agent:planner",
        },
        **{"operation": 1, "review": 1, "version": 1, "older": 0, "start": 0, "stop": 5, "most": 100, "subject": "me"},
        **{"messages": [said], "items": ["one more note"], "queries": ["shrimp"], "found": memory.facts("me")},
        **{"note": first, "shelf": memory.shelf(), "debts": Debts(), "days": 1.0, "chat": ScriptedChat("Fine.")},
        **{"path": "notes.backup", "folder": "vault", "changes": [Change(first, 1, {"tags": ["seen"]})]},
    }


@pytest.mark.parametrize("name", _SYSTEM)
def test_no_bad_value_breaks_a_method_of_the_memory(
    memory: AgenticMemorySystem, good: dict[str, Any], name: str, values: Values
) -> None:
    fixed: dict[str, Any] = {"once": True} if name == "work" else {}
    held = MemoryNote("a note that is not stored")
    given = good | ({"note": held} if name == "process_memory" else {})
    assert walked(getattr(memory, name), given, values, **fixed) == []


@pytest.mark.parametrize("name", [*_FIELDS, *_SCOPES, "time", "no_such_field"])
def test_no_bad_value_breaks_a_field_of_a_note(memory: AgenticMemorySystem, name: str, values: Values) -> None:
    id = memory.add_note(f"What is written of {name} may be changed.")
    assert outcomes(memory.add, {"content": "A note with a field."}, name, values) == []
    assert outcomes(memory.update, {"id_or_note": id}, name, values) == []
    assert outcomes(lambda **item: memory.add_notes([item]), {"content": "An item."}, name, values) == []


@pytest.mark.thorough
@pytest.mark.parametrize("name", [each.name for each in fields(MemoryNote)])
def test_no_note_object_that_holds_a_bad_value_breaks_what_it_is_handed_to(
    memory: AgenticMemorySystem, name: str, values: Values
) -> None:
    id = memory.add_note(f"The object of this note is spoiled in its {name}.")

    def spoiled(value: Any) -> MemoryNote:
        note = memory.read(id)
        assert note is not None
        setattr(note, name, value)
        return note

    assert outcomes(lambda value: memory.update(spoiled(value)), {}, "value", values) == []
    assert outcomes(lambda value: memory.process_memory(spoiled(value)), {}, "value", values) == []


@pytest.mark.parametrize("of", [Filter, Query, NewNote, Message, segment])
def test_no_bad_value_breaks_what_is_handed_in(
    memory: AgenticMemorySystem, of: Callable[..., Any], values: Values
) -> None:
    def used(**given: Any) -> Any:
        made = of(**given)
        if isinstance(made, Filter):
            return memory.list(made), memory.search("shrimp", filter=made), memory.shelf(made)
        if isinstance(made, Query):
            return memory.ask(made), memory.context(made, 500)
        if isinstance(made, NewNote):
            return memory.add_notes([made])
        return memory.remember([made]) if isinstance(made, Message) else made

    used.__signature__ = inspect.signature(of)  # type: ignore[attr-defined]  # whose parameters are walked
    said = Message(Role.USER, "I like tea.")
    assert walked(used, {"text": "shrimp", "content": "I like tea.", "role": "user", "messages": [said]}, values) == []


@pytest.mark.parametrize("name", ["role", "content", "at", "timestamp", "name", "speaker", "id", "mood"])
def test_no_bad_value_breaks_a_message(memory: AgenticMemorySystem, name: str, values: Values) -> None:
    assert outcomes(lambda **said: memory.remember([said]), {"role": "user", "content": "Tea."}, name, values) == []


def test_no_bad_value_breaks_a_tool_call(memory: AgenticMemorySystem, good: dict[str, Any], values: Values) -> None:
    tools = Toolbox(memory, names=tuple(EVERY))
    id = memory.add_note("Wen waters the tomatoes.")
    assert walked(memory.tools, {}, values) == []
    assert walked(tools.call, {"name": "memory_search", "arguments": {"query": "tomatoes"}}, values) == []
    for tool in (each["function"] for each in tools.definitions):
        given = {name: (good | {"id": id})[name] for name in tool["parameters"]["required"]}
        for name in tool["parameters"]["properties"]:
            wrong = outcomes(lambda _tool=tool["name"], **said: tools.call(_tool, said), given, name, values)
            assert wrong == [], tool["name"]


def test_no_bad_value_breaks_a_chat(memory: AgenticMemorySystem, good: dict[str, Any], values: Values) -> None:
    with memory.assistant(chat=ScriptedChat("Fine.")) as chat:
        for name, method in inspect.getmembers(chat, inspect.ismethod):
            if not name.startswith("_") and name not in ("close", "use", "wait"):
                assert walked(method, good | {"text": "hello"}, values) == [], name
        assert list(chat.stream("hello"))[-1].reply is not None
        for what, make in values.items():
            with pytest.raises(AmemError):
                chat.use(make()) if what != "a class" else chat.use("")  # type: ignore[arg-type]


@pytest.mark.thorough
@pytest.mark.parametrize("name", [*Settings.model_fields, "env_file", "no_such_setting"])
def test_no_bad_value_breaks_the_settings(name: str, values: Values) -> None:
    assert outcomes(Settings, {}, name, values) == []
    assert outcomes(load_settings, {}, name, values) == []
    assert outcomes(Settings().replaced, {}, name, values) == []


def test_no_bad_value_breaks_the_opening_of_a_memory(tmp_path: Path, values: Values) -> None:
    def opened(**given: Any) -> None:
        fakes = {"embedder": HashEmbedder(16), "analyst": ScriptedAnalyst()}
        AgenticMemorySystem(**({"directory": tmp_path / "home"} | fakes | given)).close()

    opened.__signature__ = inspect.signature(AgenticMemorySystem)  # type: ignore[attr-defined]  # as above
    assert walked(opened, {}, values) == []
    assert outcomes(lambda **given: AsyncMemory(**given), {}, "system", values) == []


def test_no_bad_value_breaks_a_controller_of_a_language_model(values: Values) -> None:
    assert walked(LLMController, {}, values) == []
    controller = LLMController("offline")
    assert walked(controller.get_completion, {"prompt": "hello"}, values) == []


@pytest.mark.thorough
def test_no_bad_value_breaks_a_retriever(values: Values) -> None:
    with ChromaRetriever(embedder=HashEmbedder(16)) as retriever:
        given = {"document": "a document", "metadata": {"a": 1}, "doc_id": "one", "query": "document"}
        for method in (retriever.add_document, retriever.search, retriever.delete_document):
            assert walked(method, given, values) == []
    assert outcomes(ChromaRetriever, {"embedder": HashEmbedder(16)}, "collection_name", values) == []


async def _added(memory: AsyncMemory, value: Any) -> None:
    await memory.add(value)


def test_the_asynchronous_memory_refuses_what_the_other_refuses(memory: AgenticMemorySystem) -> None:
    with pytest.raises(InvalidInput, match="content must be text, not 7"):
        asyncio.run(_added(AsyncMemory(system=memory), 7))


@pytest.mark.parametrize("name", _SYSTEM)
@pytest.mark.thorough
def test_no_text_of_a_million_characters_breaks_a_method(
    memory: AgenticMemorySystem, good: dict[str, Any], name: str
) -> None:
    method = getattr(memory, name)
    named = [each for each in inspect.signature(method).parameters.values() if each.kind not in _ANY_NUMBER]
    given = {each.name: good[each.name] for each in named if each.default is each.empty}
    given |= {"once": True} if name == "work" else {}
    assert [wrong for each in named for wrong in outcomes(method, given, each.name, LONG)] == []


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda memory: memory.search(7), "query must be text, not 7"),
        (lambda memory: memory.search("tea", 10**400), "k must be a whole number, not 10{17}[.]{3}0{19}"),
        (lambda memory: memory.list(limit=2.5), "limit must be a whole number, not 2.5"),
        (lambda memory: memory.pin("a", 1), "pinned must be true or false, not 1"),
        (lambda memory: memory.cards_of("abc"), "ids must be a list, not 'abc'"),
        (lambda memory: memory.cards_of([7]), "each of ids must be text, not 7"),
        (lambda memory: memory.wait(float("inf")), "timeout must be a number up to a billion, not inf"),
        (lambda memory: memory.context(["tea"]), r"query must be text or a Query, not \['tea'\]"),
        (lambda memory: memory.read("a", 20260301), "known_at must be a datetime or text, not 20260301"),
        (lambda memory: memory.list("food"), "filter must be a Filter, not 'food'"),
    ],
)
def test_an_error_names_the_argument_and_what_it_takes(
    memory: AgenticMemorySystem, call: Callable[[Any], Any], said: str
) -> None:
    with pytest.raises(InvalidInput, match=f"^{said}$"):
        call(memory)
