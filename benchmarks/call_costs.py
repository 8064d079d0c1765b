"""How many model calls and tokens an add, a chat turn and a `remember` cost, counted on the wire.

    python benchmarks/call_costs.py [--tokenizer o200k_base]

``amem.testing.FakeOllama``, a real HTTP server that speaks Ollama's protocol, stands in for a model and answers by
rules: what is counted is what amem sends and how often. How well a model would answer is not measured. The answer of a
chat turn is a call of the turn. Everything else runs as it does for a user, the embedder included.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from _judging_model import judging_model
from _tokens import NAMES, counter

from amem import AgenticMemorySystem, AmemError, load_settings
from amem.interop.items import Incoming
from amem.interop.reader import read_path
from amem.language import sentences
from amem.testing import FakeOllama

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from _tokens import Count

EXAMPLES = Path(__file__).parents[1] / "examples" / "data" / "year.jsonl"
#: What a person says in one turn: one statement, three, six, and a procedure.
TURNS = (
    "I am allergic to shrimp.",
    "I moved to Lisbon. My landlord is called Amélia. The rent is 900 euros.",
    "My dentist is Dr. Reis. I drive a Volvo. My sister lives in Porto. I prefer tea. My gym is in Alvalade."
    " My boat is called Marulho.",
    "To fire the kiln: first load it with the shelves, then light the burner and wait for two hours.",
    "我对花生过敏。",
    "我搬到了杭州。房东叫老陈。房租是三千元。",
)
#: Six statements of one conversation, in either language.
SAID = (
    (
        "I work at a pottery in Graça.",
        "My kiln is a Rohde of 2018.",
        "We decided to sell at the market on Sundays.",
        "Inês must never eat peanuts.",
        "I prefer stoneware to porcelain.",
        "My workshop has three wheels.",
    ),
    (
        "我在景德镇工作。",
        "我的窑是二零一八年买的。",
        "我们决定周日去市集。",
        "小林不能吃花生。",
        "我喜欢青瓷。",
        "工作室有三台拉坯机。",
    ),
)


class Wire:
    """A model on loopback that answers by rules, and counts what is asked of it."""

    def __init__(self, count: Count) -> None:
        self._count = count
        self._calls: list[tuple[int, int]] = []
        self.server = FakeOllama(self._answer)

    def _answer(self, request: dict[str, Any]) -> str:
        said = judging_model(request)
        if not isinstance(said, str) and "statements" in said:
            # One statement a sentence, as a good model would write them.
            split = [{**each, "text": one} for each in said["statements"] for one in sentences(each["text"])]
            said = {**said, "statements": split}
        text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
        asked = "\n".join(str(message["content"]) for message in request.get("messages") or ())
        self._calls.append((self._count(asked), self._count(text)))
        return text

    def cost(self, work: Callable[[], object]) -> tuple[int, int, int]:
        """Calls, tokens read and tokens written while `work` is done."""
        self._calls.clear()
        work()
        return len(self._calls), sum(read for read, _ in self._calls), sum(written for _, written in self._calls)


def measure(count: Count) -> dict[str, list[tuple[int, int, int]]]:
    """The costs of every add of the example notes, every turn and every conversation."""
    wire = Wire(count)
    found: dict[str, list[tuple[int, int, int]]] = {}
    with wire.server as server, tempfile.TemporaryDirectory() as home:
        settings = load_settings(
            Path(home), llm_backend="ollama", llm_model="llama3.2", ollama_host=server.host, timezone="UTC"
        )
        with AgenticMemorySystem(directory=home, settings=settings) as memory:
            notes = [item.note for item in read_path(EXAMPLES, settings) if isinstance(item, Incoming)]
            adds = [(lambda note=note: memory.add(note.content, time=note.time, **note.fields)) for note in notes]
            found["add (example notes)"] = [wire.cost(add) for add in adds]
            with memory.assistant() as assistant:

                def turn(text: str) -> None:
                    assistant.say(text)
                    if not assistant.wait(120):
                        raise SystemExit("learning from a turn took too long")

                for text, name in zip(TURNS, ("one", "three", "six", "a procedure", "one", "three"), strict=True):
                    label = f"chat turn that states {name}" + (
                        ", Chinese" if not text.isascii() and "Am" not in text else ""
                    )
                    found[label] = [wire.cost(lambda text=text: turn(text))]
            for said, language in zip(SAID, ("English", "Chinese"), strict=True):
                messages = [{"role": "user", "content": text, "at": "2026-03-02T18:00"} for text in said]
                remembering = [lambda messages=messages: memory.remember(messages)]
                found[f"remember, six statements, {language}"] = [wire.cost(work) for work in remembering]
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokenizer", choices=NAMES, default=NAMES[0])
    given = parser.parse_args(arguments)
    try:
        found = measure(counter(given.tokenizer, load_settings(llm_backend="offline").cache))
    except AmemError as error:
        print(f"{error}\n{error.hint}".strip(), file=sys.stderr)
        return 1
    print(f"tokens by {given.tokenizer}\n")
    print(f"{'':<40}{'times':>6}{'calls':>7}{'most':>6}{'tokens in':>11}{'most':>7}{'tokens out':>12}")
    for name, costs in found.items():
        calls, read, written = zip(*costs, strict=True)
        print(
            f"{name:<40}{len(costs):>6}{fmean(calls):>7.2f}{max(calls):>6}{fmean(read):>11,.0f}{max(read):>7,}"
            f"{fmean(written):>12,.0f}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
