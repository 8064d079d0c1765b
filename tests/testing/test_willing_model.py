"""The shipped model: it answers in the shape that is asked for, and no answer of it is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
from hypothesis import given
from hypothesis import strategies as st

from amem import AgenticMemorySystem, load_settings
from amem.llm.schemas import analysis_schema, batch_schema, evolution_schema, extraction_schema
from amem.testing import FakeOllama, HashEmbedder, willing_model

if TYPE_CHECKING:
    from pathlib import Path


def test_a_note_is_described_in_its_own_words_over_the_wire(tmp_path: Path) -> None:
    with FakeOllama() as server:
        settings = load_settings(tmp_path, llm_backend="ollama", llm_model="llama3.2", ollama_host=server.host)
        memory = AgenticMemorySystem(settings=settings, embedder=HashEmbedder())
        for text in ("The harbour office opens at seven.", "妈妈对花生过敏，点菜时要注意。"):
            receipt = memory.add(text)
            note = memory.read(receipt.id)
            assert note is not None
            assert (receipt.enrichment, note.context) == ("done", text)
            assert note.keywords
            assert note.tags
        memory.close()
        assert server.asked("/api/chat")


def test_several_notes_at_once_are_each_described() -> None:
    prompt = "Notes:\ns1 <<<It rains in Porto.>>>\ns2 <<<奶奶喜欢喝茶。>>>"
    answer = willing_model({"prompt": prompt, "format": batch_schema(("s1", "s2"), ("n1",))})
    assert isinstance(answer, dict)
    assert [(each["note"], each["context"]) for each in answer["notes"]] == [
        ("s1", "It rains in Porto."),
        ("s2", "奶奶喜欢喝茶。"),
    ]
    assert answer["links"] == []


def test_a_schema_of_somebody_else_s_gets_values_of_its_types() -> None:
    properties = {
        "name": {"type": "string"},
        "size": {"enum": ["s", "m"]},
        "count": {"type": "integer"},
        "sizes": {"type": "array", "items": {"type": "string", "enum": ["s", "m"]}},
        "good": {"type": "boolean"},
    }
    response_format = {"json_schema": {"name": "x", "schema": {"type": "object", "properties": properties}}}
    expected = {"name": "green tea", "size": "s", "count": 0, "sizes": ["s", "m"], "good": True}
    asked = {"messages": [{"content": "What is <<<green tea>>>?"}], "response_format": response_format}
    assert willing_model(asked) == expected


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "prompt": st.text(),
            "messages": st.lists(st.fixed_dictionaries({"role": st.just("user"), "content": st.text()})),
            "format": st.sampled_from([analysis_schema(), evolution_schema(("n1",)), extraction_schema(("m1",))]),
        },
    )
)
def test_whatever_is_asked_is_answered(request: dict[str, object]) -> None:
    assert isinstance(willing_model(request), (str, dict))


def test_it_is_what_a_server_says_that_was_told_nothing_else() -> None:
    with FakeOllama() as ollama:
        asked = {"model": "llama3.2", "prompt": "It rains.", "stream": False}
        assert httpx.post(f"{ollama.host}/api/generate", json=asked).json()["response"] == "All right."
