"""Whether what helps on long dialogues costs anything elsewhere: Chinese notes, notes without an order, a vault.

    python benchmarks/question_sets.py [--sets zh,demo,vault] [--tables] [--home DIR] [--json FILE]
    python benchmarks/question_sets.py --against late_weight=0 window=2    # held against other settings, nothing else

The collections and questions are those of ``tests/data/recall``, invented for the tests. amem as it comes is held
against each leg alone, each leg left out and a plain hybrid search (two legs, reciprocal ranks, no window, no reading
of the question). Any one of a question's answers answers it.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from _kept_vectors import KeptVectors
from _locomo_collection import tell
from _question_sets import SETS
from _ranking_scores import difference, hit, interval, reciprocal_rank
from _retrieval_configurations import DEFAULT, PLAIN, Configuration, ablations
from _retrieval_runs import Outcome, ask_amem
from _retrieval_table import Table, ahead, between, percent
from _retrieval_tuning import grid

from amem import AmemError, load_settings
from amem.embedding import make_embedder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from amem.protocols import Embedder

    #: By set, then by configuration.
    Found = Mapping[str, Mapping[str, Sequence[Outcome]]]

K = 20


def run(
    names: Sequence[str], asked: Sequence[Configuration], home: Path, embedder: Embedder | None = None
) -> dict[str, dict[str, list[Outcome]]]:
    """Every question of these sets, under every configuration."""
    settings = load_settings(home, llm_backend="offline")
    vectors = KeptVectors(embedder or make_embedder(settings), home / "vectors.npz")
    found: dict[str, dict[str, list[Outcome]]] = {}
    for each in (each for each in SETS if each.name in names):
        questions = each.questions()
        each.collection(settings, vectors).close()
        vectors.embed([question.text for question in questions])
        for configuration in asked:
            tell(f"{each.name}: {configuration.name}", passing=True)
            with each.opened(settings.replaced(**configuration.settings), vectors) as memory:
                outcomes = ask_amem(memory, each.name, questions, configuration, K, vectors, each.made_from)
            found.setdefault(each.name, {})[configuration.name] = outcomes
        vectors.save()
        tell(f"{each.name}: {len(questions)} questions asked")
    return found


def report(found: Found, *, markdown: bool) -> str:
    """All sets as amem comes, each score with its interval; then a row for each configuration, by set."""
    about = {each.name: f"{each.name}: {each.about}, {len(each.questions())} questions" for each in SETS}
    sets = Table(
        ["default", "n", "Hit@1", "95 %", "Hit@5", "95 %", "MRR", "95 %", "MRR ahead of a plain hybrid"],
        markdown=markdown,
    )
    every = dict(found)
    if len(found) > 1:
        shared = next(iter(found.values()))
        every["all"] = {way: [each for runs in found.values() for each in runs[way]] for way in shared}
    for name, runs in every.items():
        outcomes = runs[DEFAULT]
        of = [interval([hit(each.places, k) for each in outcomes]) for k in (1, 5)] + [interval(ranks(outcomes))]
        plain = ahead(difference(ranks(outcomes), ranks(runs[PLAIN]))) if PLAIN in runs else ""
        cells = [cell for each in of for cell in (percent(each.mean), between(each))]
        sets.add(name, str(len(outcomes)), *cells, plain)
    ways = Table(["", *(column for name in found for column in (f"{name} Hit@1", "Hit@5", "MRR"))], markdown=markdown)
    for way in next(iter(found.values())):
        cells = []
        for runs in found.values():
            outcomes = runs[way]
            means = [np.mean([hit(each.places, k) for each in outcomes]) for k in (1, 5)] + [np.mean(ranks(outcomes))]
            cells += [f"{mean:.3f}" for mean in means]
        ways.add(way, *cells)
    told = "\n".join(about[name] for name in found)
    return "\n\n".join([f"{told}\nin percent, with 95 % intervals over questions", sets.text(), ways.text()])


def compared(found: Found, other: str, *, markdown: bool) -> str:
    """Each set as amem comes and under the `other` settings, and by how far it is ahead, paired by question."""
    every = found | {"all": {way: [each for runs in found.values() for each in runs[way]] for way in (DEFAULT, other)}}
    table = Table(["", "n", *(f"{name}: before, now, ahead" for name in MEASURES)], markdown=markdown)
    for name, runs in every.items():
        cells = []
        for measure in MEASURES.values():
            now, before = ([measure(each) for each in runs[way]] for way in (DEFAULT, other))
            cells.append(f"{percent(np.mean(before))}, {percent(np.mean(now))}, {ahead(difference(now, before))}")
        table.add(name, str(len(runs[DEFAULT])), *cells)
    return f"before: {other}\nin percent, ahead in points with its 95 % interval\n\n{table.text()}"


#: By name, of one question.
MEASURES: Mapping[str, Callable[[Outcome], float]] = {
    "Hit@1": lambda each: hit(each.places, 1),
    "Hit@5": lambda each: hit(each.places, 5),
    "Hit@10": lambda each: hit(each.places, 10),
    "MRR": lambda each: reciprocal_rank(each.places),
}


def ranks(outcomes: Sequence[Outcome]) -> list[float]:
    """The reciprocal rank of each question."""
    return [reciprocal_rank(each.places) for each in outcomes]


def main(arguments: Sequence[str] | None = None, embedder: Embedder | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default=",".join(each.name for each in SETS))
    parser.add_argument("--against", nargs="+", metavar="SETTING=V", help="other settings, in place of the ablations")
    parser.add_argument("--tables", action="store_true", help="tables as Markdown")
    parser.add_argument("--home", type=Path, help="keep notes and vectors here, and go on from them (default: nowhere)")
    parser.add_argument("--json", type=Path, help="write every question's result to this file")
    given = parser.parse_args(arguments)
    names = given.sets.split(",")
    if unknown := set(names) - {each.name for each in SETS}:
        parser.error(f"no set {min(unknown)!r}; there are {', '.join(each.name for each in SETS)}")
    with ExitStack() as stack:
        home = given.home or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="amem-sets-")))
        try:
            others = ablations() if given.against is None else grid(given.against)
            found = run(names, [Configuration(DEFAULT), *others], home, embedder)
        except AmemError as error:
            tell(f"{error}\n{error.hint}".strip())
            return 1
    if given.json is not None:
        held = {
            name: {way: [asdict(each) for each in some] for way, some in runs.items()} for name, runs in found.items()
        }
        given.json.write_text(json.dumps(held, indent=1, ensure_ascii=False), "utf-8")
    if given.against is None:
        print(report(found, markdown=given.tables))
    for each in others if given.against is not None else ():
        print(compared(found, each.name, markdown=given.tables))
    return 0


if __name__ == "__main__":
    sys.exit(main())
