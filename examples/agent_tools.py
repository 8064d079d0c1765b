"""Memory as tools for a function-calling agent, with a script in the model's place.

    .venv/bin/python examples/agent_tools.py

`tools().definitions` is what you hand to a model; `tools().call(name, arguments)` runs what it asks for and returns
plain values to hand back. To use a real model, replace `SCRIPT` by its answers: the loop stays as it is.
"""

from __future__ import annotations

import json
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from amem import AgenticMemorySystem

if TYPE_CHECKING:
    from amem.tools import Toolbox

# What a model would answer, turn by turn: the tool's name and its arguments as JSON text.
SCRIPT = [
    ("memory_add", '{"content": "Wen is allergic to shrimp and crab; fish is fine.", "tags": ["allergy"]}'),
    ("memory_add", '{"content": "Wen 从六月起不再吃素，鱼可以吃，肉不吃。"}'),
    ("memory_search", '{"query": "What can I cook for Wen?", "k": 2}'),
    # Models get things wrong. The error comes back as words that a model can act on; nothing was changed.
    ("memory_search", '{"question": "What can I cook for Wen?"}'),
    ("memory_read", '{"id": "not-an-id"}'),
]


def run_agent(tools: Toolbox) -> None:
    for name, arguments in SCRIPT:
        print(f"> {name} {arguments}")
        answer = tools.call(name, arguments)
        print(f"  {json.dumps(short(answer), ensure_ascii=False)}")


def short(answer: dict[str, object]) -> object:
    """What a reader of this example wants to see of an answer."""
    if not answer["ok"]:
        return {"error": answer["error"], "hint": answer["hint"]}
    result = answer["result"]
    if isinstance(result, list):
        return [hit["content"] for hit in result]
    assert isinstance(result, dict)
    return {key: result[key] for key in ("status", "links") if key in result}


def main() -> None:
    with (
        TemporaryDirectory(ignore_cleanup_errors=True) as home,
        AgenticMemorySystem(llm_backend="offline", directory=home) as memory,
    ):
        tools = memory.tools()
        print("A model is told of:", ", ".join(tool["function"]["name"] for tool in tools.definitions))
        run_agent(tools)
        print("The log says who did it:")
        for operation in memory.log():
            print(f"  {operation.id}: {operation.action} by {operation.actor}")


if __name__ == "__main__":
    main()
