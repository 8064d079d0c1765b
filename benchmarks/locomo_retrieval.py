"""How well amem finds the turns that hold an answer, on any LoCoMo file: recall, MRR and nDCG by category.

    python benchmarks/locomo_retrieval.py FILE                                # amem as it comes
    python benchmarks/locomo_retrieval.py FILE --no-dense --fusion rrf        # with something taken away
    python benchmarks/locomo_retrieval.py FILE --ablations --home DIR         # all that can be, and peers beside it
    python benchmarks/locomo_retrieval.py FILE --ablations without            # each part left out
    python benchmarks/locomo_retrieval.py FILE --survives --home DIR          # how much of a tuning is luck
    python benchmarks/locomo_retrieval.py FILE --several                      # questions that ask for several things
    python benchmarks/locomo_retrieval.py FILE --joint                        # all conversations in one collection

FILE is LoCoMo's ``locomo10.json`` or some of its conversations. Each is imported into a collection of its own, as
``amem import`` does, and every question that names evidence is asked in its own words through the public API. A turn of
the evidence is found at the place of the first hit that was made from it. No model is asked.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from _kept_vectors import KeptVectors
from _locomo_collection import collection, opened, tell
from _locomo_file import read_conversations
from _retrieval_configurations import FEW, GROUPS, SEVERAL, Configuration, ablations, as_asked, for_several
from _retrieval_peers import peers
from _retrieval_runs import Outcome, ask_amem, ask_peer, turns_of
from _retrieval_table import categories_table, configurations_by_category, configurations_table, several_table
from _retrieval_tuning import grid, survival, survival_table

from amem import AmemError, load_settings
from amem.embedding import make_embedder
from amem.errors import InvalidInput
from amem.retrieval.ranking import LEGS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from _locomo_file import Conversation

    from amem.protocols import Embedder
    from amem.settings import Settings


def options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, help="a LoCoMo conversation file with questions")
    parser.add_argument("--k", default="5,10,20", help="depths of recall and hit (5,10,20)")
    for leg in LEGS:
        parser.add_argument(f"--no-{leg}", action="store_true", help=f"without the {leg} leg")
    parser.add_argument("--no-window", action="store_true", help="each turn by its own words alone")
    parser.add_argument("--no-router", action="store_true", help="the question as it is")
    parser.add_argument("--no-rerank", action="store_true", help="no cross-encoder, even where its weights are")
    parser.add_argument("--links", action=argparse.BooleanOptionalAction, default=False, help="search_agentic")
    parser.add_argument("--fusion", choices=("convex", "rrf"), help="how legs become one score")
    parser.add_argument(
        "--ablations",
        nargs="*",
        choices=GROUPS,
        metavar="GROUP",
        help=f"{', '.join(GROUPS)}; none named: all, and peers",
    )
    parser.add_argument(
        "--survives", nargs="*", metavar="SETTING=V,V", help="what is left of tuning these settings, unseen"
    )
    parser.add_argument(
        "--several",
        action="store_true",
        help="more notes, and spread over sessions, where several things are asked for",
    )
    parser.add_argument("--joint", action="store_true", help="all conversations in one collection, without peers")
    parser.add_argument("--conversations", help="only these ids, with commas between")
    parser.add_argument("--tables", action="store_true", help="tables as Markdown")
    parser.add_argument("--home", type=Path, help="keep notes and vectors here, and go on from them (default: nowhere)")
    parser.add_argument("--json", type=Path, help="write every question's result to this file")
    given = parser.parse_args(arguments)
    try:
        given.k = sorted({int(each) for each in given.k.split(",")} | {10} | ({SEVERAL} if given.several else set()))
    except ValueError:
        parser.error(f"--k takes whole numbers with commas between, not {given.k!r}")
    if given.k[0] < 1:
        parser.error("--k starts at 1")
    if (given.ablations is not None) + given.several + (given.survives is not None) > 1:
        parser.error("--ablations, --survives and --several are runs of their own")
    return given


@dataclass(slots=True)
class Run:
    """All that one run found out, by configuration; `unasked` counts questions that name no evidence."""

    outcomes: dict[str, list[Outcome]] = field(default_factory=dict)
    unasked: int = 0
    turns: int = 0
    import_seconds: float = 0.0
    embedded: int = 0
    embedding_seconds: float = 0.0


def configurations(given: argparse.Namespace) -> list[Configuration]:
    """What to ask amem, the one that the others are held against first. Raises InvalidInput."""
    if given.several:
        return for_several()
    first = as_asked(given)
    more = [] if given.survives is None else grid(given.survives)
    if given.ablations is not None:
        more = ablations(given.ablations or GROUPS)
    return [first, *(each for each in more if each.name != first.name)]


def run(given: argparse.Namespace, asked: Sequence[Configuration], embedder: Embedder | None = None) -> Run:
    """Import, then ask everything of everyone; `embedder` replaces the one that the settings name."""
    done = Run()
    with ExitStack() as stack:
        home = given.home or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="amem-locomo-")))
        settings = load_settings(home, llm_backend="offline")
        vectors = KeptVectors(embedder or make_embedder(settings), home / "vectors.npz")
        for conversation in chosen(given):
            questions = [question for question in conversation.questions if question.evidence]
            done.unasked += len(conversation.questions) - len(questions)
            done.turns += len(conversation.turns)
            start = time.perf_counter()
            collection(conversation, settings, vectors, joint=given.joint).close()
            done.import_seconds += time.perf_counter() - start
            vectors.save()
        for conversation in chosen(given):
            questions = [question for question in conversation.questions if question.evidence]
            if questions:
                before = vectors.seconds, vectors.embedded
                vectors.embed([question.text for question in questions])
                done.embedding_seconds += vectors.seconds - before[0]
                done.embedded += vectors.embedded - before[1]
            vectors.save()
            for each in asked:
                tell(f"{conversation.id}: {each.name}", passing=True)
                found = ask(conversation, settings, vectors, each, max(given.k), joint=given.joint)
                done.outcomes.setdefault(each.name, []).extend(found)
            if given.ablations == [] and not given.joint:
                for name, rank in peers(conversation, vectors).items():
                    done.outcomes.setdefault(name, []).extend(ask_peer(rank, conversation, questions, max(given.k)))
            vectors.save()
            tell(f"{conversation.id}: {len(questions)} questions asked")
    return done


def chosen(given: argparse.Namespace) -> list[Conversation]:
    """The conversations to ask about. Raises InvalidInput for an id that the file does not hold."""
    conversations = read_conversations(given.file)
    if given.conversations is None:
        return conversations
    of = {conversation.id: conversation for conversation in conversations}
    wanted = given.conversations.split(",")
    missing = [id for id in wanted if id not in of]
    if missing:
        raise InvalidInput(f"no conversation {missing[0]!r} in {given.file}", hint=f"it holds {', '.join(of)}")
    return [of[id] for id in wanted]


def ask(
    conversation: Conversation,
    settings: Settings,
    vectors: KeptVectors,
    configuration: Configuration,
    k: int,
    *,
    joint: bool = False,
) -> list[Outcome]:
    """All questions that name evidence, under one configuration."""
    questions = [question for question in conversation.questions if question.evidence]
    with opened(conversation, settings.replaced(**configuration.settings), vectors, joint=joint) as memory:
        return ask_amem(
            memory, conversation.id, questions, configuration, k, vectors, lambda hit: turns_of(hit, conversation)
        )


def report(done: Run, given: argparse.Namespace) -> str:
    """What the run found out, as text."""
    first = next(iter(done.outcomes))
    n = len(done.outcomes[first])
    parts = [
        f"{done.turns:,} turns, {n} questions with evidence ({done.unasked} without are left out). {first}:",
        categories_table(done.outcomes[first], given.k, markdown=given.tables),
    ]
    if given.several:
        parts.append(several_table(done.outcomes, FEW, SEVERAL, markdown=given.tables))
    elif given.survives is not None:
        tried = {name: outcomes for name, outcomes in done.outcomes.items() if name != first}
        parts.append(survival_table(survival(tried, done.outcomes[first]), markdown=given.tables))
    elif len(done.outcomes) > 1:
        parts += [
            f"behind: by how much {first} is ahead, paired by question, with its 95 % interval; ms without embedding",
            configurations_table(done.outcomes, given.k, first, markdown=given.tables),
            configurations_by_category(done.outcomes, markdown=given.tables),
        ]
    embedding = (
        f", embedding {1000 * done.embedding_seconds / done.embedded:.1f} ms a question" if done.embedded else ""
    )
    parts.append(f"import {done.import_seconds:.1f} s{embedding}")
    return "\n\n".join(parts)


def as_json(done: Run) -> str:
    """Every question's result by configuration."""
    return json.dumps(asdict(done), indent=1, ensure_ascii=False)


def main(arguments: Sequence[str] | None = None, embedder: Embedder | None = None) -> int:
    given = options(arguments)
    if given.file is None:
        print("no LoCoMo file was given, so nothing is measured; benchmarks/README.md says where to get it")
        return 0
    try:
        done = run(given, configurations(given), embedder)
    except AmemError as error:
        tell(f"{error}\n{error.hint}".strip())
        return 1
    if not any(done.outcomes.values()):
        print("no question names evidence, so nothing is measured")
        return 0
    if given.json is not None:
        given.json.write_text(as_json(done), "utf-8")
    print(report(done, given))
    return 0


if __name__ == "__main__":
    sys.exit(main())
