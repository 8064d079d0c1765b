"""LoCoMo's question answering over amem: F1 and BLEU-1 by category, and the tokens that a question costs.

    python benchmarks/locomo_qa.py FILE                                       # no model: what recall alone can show
    python benchmarks/locomo_qa.py FILE --model ollama/llama3.2 --home DIR    # any chat model; go on with the same DIR
    AMEM_API_BASE=http://127.0.0.1:8000/v1 python benchmarks/locomo_qa.py FILE --model openai/NAME --home DIR
    python benchmarks/locomo_qa.py FILE --fake --limit 20                     # plumbing only; the scores mean nothing

FILE is LoCoMo's ``locomo10.json`` or some of its conversations. Each is imported into a collection of its own, as
``amem import`` does; every question recalls ``--k`` notes by its own words, and each ``--reader`` answers it:

* ``model``: the model, from the recalled notes; this is the protocol of the LoCoMo and A-Mem papers.
* ``gold-evidence``: the model, given the very turns that hold the answer: what perfect recall would reach.
* ``extractive``: no model, the best note's text is the answer; ``extractive-gold``: the evidence's text is.

benchmarks/README.md says how the scores are made and how to run it with a model of your own.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from _answers_kept import KeptAnswers
from _locomo_collection import collection, tell
from _locomo_file import read_conversations
from _qa_readers import READERS, WITH_MODEL, Answering, Recalled
from _qa_table import table
from _tokens import NAMES, counter

from amem import AmemError, load_settings
from amem.analysts.choose import make_chat
from amem.embedding import make_embedder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from _locomo_file import Conversation, Question
    from _qa_readers import Answered

    from amem.protocols import Embedder
    from amem.testing import FakeOllama


#: No name of a real model: what it said must never be taken for an answer of one in a home that both have used.
FAKE = "ollama/fake"
ANSWERS = "answers.jsonl"


def options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, help="a LoCoMo conversation file with questions")
    parser.add_argument("--model", default="", help="who answers: ollama/llama3.2, openai/gpt-4o-mini, ...")
    parser.add_argument("--fake", action="store_true", help="a server that speaks Ollama and answers nonsense")
    parser.add_argument("--reader", nargs="+", choices=READERS, help="default: all that can answer")
    parser.add_argument("--k", type=int, default=10, help="notes recalled for a question (10)")
    parser.add_argument("--recall", choices=("search", "agentic"), default="search", help="agentic follows links")
    parser.add_argument("--analyst", choices=("offline", "model"), default="offline", help="who analyses the notes")
    parser.add_argument("--limit", type=int, help="only the first so many questions of each conversation")
    parser.add_argument("--per-category", action="store_true", help="--limit counts in each category")
    parser.add_argument("--home", type=Path, help="keep notes and answers here, and go on from them (default: nowhere)")
    parser.add_argument("--tokenizer", choices=NAMES, default=NAMES[0], help="counts tokens here")
    parser.add_argument("--json", type=Path, help="write every answer to this file")
    given = parser.parse_args(arguments)
    if given.fake and given.model:
        parser.error("--fake is a model already")
    modelled = bool(given.model or given.fake)
    if given.analyst == "model" and not modelled:
        parser.error("--analyst model needs --model")
    given.reader = given.reader or [
        each for each in READERS if (each == "extractive") or (each in WITH_MODEL) == modelled
    ]
    if not modelled and set(given.reader) & set(WITH_MODEL):
        parser.error(f"--reader {' and '.join(WITH_MODEL)} need --model")
    return given


def run(given: argparse.Namespace, embedder: Embedder | None = None) -> list[Answered]:
    """Import, recall, answer and score; `embedder` replaces the one that the settings name."""
    with ExitStack() as stack:
        home = given.home or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="amem-locomo-")))
        home.mkdir(parents=True, exist_ok=True)
        overrides: dict[str, Any] = {"llm_backend": "offline"}
        if given.model or given.fake:
            overrides = {"llm_backend": "litellm", "llm_model": given.model}
        if given.fake:
            overrides |= {"llm_model": FAKE, "ollama_host": stack.enter_context(fake_server()).host}
        settings = load_settings(home, **overrides)
        chat = make_chat(settings) if set(given.reader) & set(WITH_MODEL) else None
        analysing = settings if given.analyst == "model" else settings.replaced(llm_backend="offline", llm_model="")
        count = counter(given.tokenizer, settings.cache)
        kept = KeptAnswers(home / ANSWERS)
        if len(kept):
            tell(f"{len(kept)} answers are kept in {home}")
        embedder = embedder or make_embedder(settings)
        answered: list[Answered] = []
        for conversation in read_conversations(given.file):
            questions = chosen(conversation, given.limit, each_category=given.per_category)
            if not questions:
                continue
            with collection(conversation, analysing, embedder) as memory:
                recalled = Recalled(memory, given.k, agentic=given.recall == "agentic")
                answering = Answering(given.reader, conversation, count, chat, kept)
                for number, question in enumerate(questions, start=1):
                    tell(f"{conversation.id}: question {number} of {len(questions)}", passing=True)
                    answered += answering.answer(question, recalled.hits(question))
            tell(f"{conversation.id}: {len(questions)} questions answered")
        return answered


def chosen(conversation: Conversation, limit: int | None, *, each_category: bool) -> list[Question]:
    """The questions to ask: the first `limit`, of each category or in all."""
    if limit is None:
        return list(conversation.questions)
    if not each_category:
        return list(conversation.questions[:limit])
    of: dict[int, list[Question]] = {}
    for question in conversation.questions:
        of.setdefault(question.category, []).append(question)
    return sorted((each for some in of.values() for each in some[:limit]), key=lambda each: each.number)


def fake_server() -> FakeOllama:
    """A server that speaks Ollama and answers by rules: willing, and no judge of anything."""
    from _judging_model import judging_model

    from amem.testing import FakeOllama

    return FakeOllama(judging_model, models=[FAKE.removeprefix("ollama/")])


def main(arguments: Sequence[str] | None = None, embedder: Embedder | None = None) -> int:
    given = options(arguments)
    if given.file is None:
        print("no LoCoMo file was given, so nothing is measured; benchmarks/README.md says where to get it")
        return 0
    try:
        answered = run(given, embedder)
    except AmemError as error:
        kept = f"; what was answered is kept in {given.home}" if given.home and (given.home / ANSWERS).exists() else ""
        tell(f"{error}{kept}\n{error.hint}".strip())
        return 1
    except KeyboardInterrupt:
        tell(f"interrupted; the same command goes on from {given.home}" if given.home else "interrupted; --home keeps")
        return 130
    if given.json is not None:
        given.json.write_text(json.dumps([asdict(each) for each in answered], indent=1, ensure_ascii=False), "utf-8")
    print(table(answered, given))
    return 0


if __name__ == "__main__":
    sys.exit(main())
