"""How well amem finds the sessions that hold an answer, on any file in LongMemEval's format, beside cosines and BM25.

    python benchmarks/longmemeval.py FILE                                # every question that has an answer
    python benchmarks/longmemeval.py FILE --per-type 20 --home DIR       # a first impression; DIR keeps what was stored

FILE is a JSON list of questions, each with a history of its own (Wu et al., 2025). Every turn becomes a note in a
collection for that question alone, cut where it is longer than a note may be, and the question is asked in its own
words at its own date. A session is found at the place of its first hit. No model is asked; questions whose id ends in
``_abs`` have no answer and are left out.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from _kept_vectors import KeptVectors
from _locomo_collection import tell
from _locomo_file import Conversation, Turn
from _ranking_scores import difference, hit, interval, percentile, places_of
from _retrieval_peers import DENSE, STEMS, peers
from _retrieval_table import Table, ahead, between, percent

from amem import AgenticMemorySystem, AmemError, NewNote, Query, Source, load_settings
from amem.embedding import make_embedder
from amem.errors import InvalidInput
from amem.interop.items import source_id
from amem.testing import FrozenClock

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from amem.protocols import Embedder
    from amem.settings import Settings

    Places = tuple[int | None, ...]

KS = (1, 5, 10)
AMEM = "amem"
#: Notes asked for, so that ten sessions are among them.
NOTES = 100
#: Questions between two savings of the vectors.
_SAVED = 25


@dataclass(frozen=True, slots=True)
class Case:
    """A question with its history: `turns` by their ref (``session:number``), `evidence` the sessions that answer."""

    id: str
    type: str
    text: str
    asked_at: datetime
    turns: Mapping[str, Turn]
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """Where one question's sessions were found, by way of asking; `ms` is amem's search without embedding."""

    id: str
    type: str
    places: Mapping[str, Places]
    ms: float


def read_cases(path: Path) -> tuple[list[Case], int]:
    """The questions that have an answer, and how many have none. Raises InvalidInput for another format."""
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(entries, list):
            raise TypeError(f"a {type(entries).__name__}, not a list")
        answered = [each for each in entries if not each["question_id"].endswith("_abs")]
        return [_case(each) for each in answered], len(entries) - len(answered)
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"cannot read {path}: {error}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(
            f"{path} is not in LongMemEval's format: {error!r}", hint="benchmarks/README.md names the fields"
        ) from error


def _case(entry: dict[str, Any]) -> Case:
    turns: dict[str, Turn] = {}
    columns = (entry[f"haystack_{name}"] for name in ("session_ids", "dates", "sessions"))
    for session, date, said in zip(*columns, strict=True):
        at = _moment(date).isoformat()
        for number, turn in enumerate(said, start=1):
            if text := turn["content"].strip():
                turns[f"{session}:{number}"] = Turn(f"{session}:{number}", at, turn["role"], text)
    evidence = tuple(dict.fromkeys(entry["answer_session_ids"]))
    if not evidence or set(evidence) - set(map(session_of, turns)):
        raise ValueError(f"question {entry['question_id']} names no session of its history as evidence")
    asked_at = _moment(entry["question_date"])
    return Case(entry["question_id"], entry["question_type"], entry["question"], asked_at, turns, evidence)


def _moment(text: str) -> datetime:
    """``2023/05/20 (Sat) 02:21``, taken as UTC: the format names no zone."""
    day, _, clock = text.split()
    return datetime.strptime(f"{day} {clock}", "%Y/%m/%d %H:%M").replace(tzinfo=UTC)


def session_of(ref: str) -> str:
    return ref.rpartition(":")[0]


def ask(case: Case, settings: Settings, vectors: KeptVectors) -> Asked:
    """The question put to amem and to its peers, on the same turns and vectors."""
    clock = FrozenClock(case.asked_at, seed=case.id)
    with AgenticMemorySystem(
        settings=settings, collection=case.id, clock=clock, embedder=vectors, background=False
    ) as memory:
        if not memory.count():
            memory.add_notes([_note(turn, place, settings) for place, turn in enumerate(case.turns.values(), start=1)])
        vectors.embed([case.text])
        embedding, start = vectors.seconds, time.perf_counter()
        hits = memory.ask(Query(case.text, NOTES, touch=False))
        seconds = time.perf_counter() - start - (vectors.seconds - embedding)
    found = {AMEM: [source.conversation for hit in hits for source in hit.sources if source.conversation]}
    whole: dict[str, list[str]] = {}
    for turn in case.turns.values():
        whole.setdefault(session_of(turn.ref), []).append(f"{turn.speaker}: {turn.text}")
    sessions = {f"{id}:": Turn(f"{id}:", "", "session", "\n".join(said)) for id, said in whole.items()}
    undated = {ref: replace(turn, said_at="") for ref, turn in case.turns.items()}
    for unit, turns in (("turns", undated), ("sessions", sessions)):
        ranks = peers(Conversation(case.id, ("user", "assistant"), turns, (), {}), vectors)
        for name, peer in (("dense", DENSE), ("BM25 of stems", STEMS)):
            found[f"{name}, {unit}"] = [session_of(ref) for ref in ranks[peer](case.text)]
    places = {way: places_of(case.evidence, [{each} for each in dict.fromkeys(order)]) for way, order in found.items()}
    return Asked(case.id, case.type, places, 1000 * seconds)


def _note(turn: Turn, place: int, settings: Settings) -> NewNote:
    text, session = turn.text[: settings.max_note_chars], session_of(turn.ref)
    at = datetime.fromisoformat(turn.said_at)
    id = source_id("message", session, turn.ref, text)
    return NewNote(text, at, Source(id, "message", session, turn.ref, turn.speaker, at, text, place))


def recall_all(places: Places, k: int) -> float:
    """1 when all of the evidence is among the first k sessions, else 0; `hit` is recall_any."""
    return float(all(place is not None and place <= k for place in places))


def report(asked: Sequence[Asked], left_out: int, *, markdown: bool) -> str:
    """amem by question type; then each way of asking, and recall_any@5 of each by type."""
    types = list(dict.fromkeys(each.type for each in asked))
    by_type = {name: [each for each in asked if each.type == name] for name in types} | {"all": list(asked)}
    head = [f"{name}@{k}" for k in KS for name in ("any", "all")]
    first = Table([AMEM, "n", *head, "95 % of any@5"], markdown=markdown)
    for name, some in by_type.items():
        first.add(name, str(len(some)), *_cells(some, AMEM), between(interval(_any(some, AMEM))))
    ways = Table(["", *head, "amem ahead, any@5"], markdown=markdown)
    each_type = Table(["any@5", *by_type], markdown=markdown)
    for way in asked[0].places:
        behind = "" if way == AMEM else ahead(difference(_any(asked, AMEM), _any(asked, way)))
        ways.add(way, *_cells(asked, way), behind)
        each_type.add(way, *(percent(float(np.mean(_any(some, way)))) for some in by_type.values()))
    clock = f"a search takes {percentile([each.ms for each in asked], 0.5):.1f} ms (median), without embedding"
    told = (
        f"{len(asked)} questions ({left_out} without an answer are left out); any, all: recall of sessions, in percent"
    )
    return "\n\n".join([told, first.text(), ways.text(), each_type.text(), clock])


def _any(asked: Sequence[Asked], way: str) -> list[float]:
    return [hit(each.places[way], 5) for each in asked]


def _cells(asked: Sequence[Asked], way: str) -> list[str]:
    return [percent(float(np.mean([f(each.places[way], k) for each in asked]))) for k in KS for f in (hit, recall_all)]


def main(arguments: Sequence[str] | None = None, embedder: Embedder | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, help="a file in LongMemEval's format")
    parser.add_argument("--per-type", type=int, help="only the first so many questions of each type")
    parser.add_argument("--tables", action="store_true", help="tables as Markdown")
    parser.add_argument("--home", type=Path, help="keep notes and vectors here, and go on from them (default: nowhere)")
    parser.add_argument("--json", type=Path, help="write every question's result to this file")
    given = parser.parse_args(arguments)
    if given.file is None:
        print("no file was given, so nothing is measured; benchmarks/README.md says what it holds")
        return 0
    asked: list[Asked] = []
    with ExitStack() as stack:
        home = given.home or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="amem-longmemeval-")))
        try:
            cases, left_out = read_cases(given.file)
            settings = load_settings(home, llm_backend="offline", timezone="UTC")
            vectors = KeptVectors(embedder or make_embedder(settings), home / "vectors.npz")
            seen: Counter[str] = Counter()
            for case in cases:
                seen[case.type] += 1
                if given.per_type is None or seen[case.type] <= given.per_type:
                    asked.append(ask(case, settings, vectors))
                    tell(f"{len(asked)} of {len(cases)} questions asked", passing=True)
                    if len(asked) % _SAVED == 0:
                        vectors.save()
            vectors.save()
        except AmemError as error:
            tell(f"{error}\n{error.hint}".strip())
            return 1
    if not asked:
        print("no question has an answer, so nothing is measured")
        return 0
    if given.json is not None:
        given.json.write_text(json.dumps([asdict(each) for each in asked], indent=1, ensure_ascii=False), "utf-8")
    print(report(asked, left_out, markdown=given.tables))
    return 0


if __name__ == "__main__":
    sys.exit(main())
