"""Random histories of two sides: no note is lost, each conflict is settled or waits, one undo gives back all."""

from __future__ import annotations

import contextlib
import random
import sys
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from amem import AgenticMemorySystem, Filter
from amem.errors import AmemError
from amem.forks.merge import STRATEGIES
from amem.note import Status
from amem.testing import FrozenClock, HashEmbedder

sys.path.append(str(Path(__file__).resolve().parents[1] / "system"))
from visible_state import different, visible_state

if TYPE_CHECKING:
    from amem.forks.merge import MergeReport

TEXTS = (
    *("I live in Rome.", "I moved to Berlin.", "I live in Lisbon now.", "My doctor is Dr. Chen."),
    *("My doctor is Dr. Okafor now.", "Buy green tea #shopping", "The heron stands in the pond.", "lol ok"),
    *(
        "Deploys go out on Fridays.",
        "We moved the deploys to Mondays.",
        "我住在罗马。",
        "我搬到了柏林。",
        "我对虾过敏。",
    ),
    "Shopping:\ntea\nbread\nsoap\nsalt",
)
FIELDS: tuple[dict[str, Any], ...] = (
    *({"tags": ["birds", "home"]}, {"tags": []}, {"tags": ["home", "购物"]}, {"context": "here"}, {"context": "there"}),
    *({"importance": 0.9}, {"importance": 0.1}, {"keywords": ["tea"]}, {"category": "Work"}, {"speaker": "Ana"}),
    *({"metadata": {"a": 1}}, {"metadata": {"b": 2}}, {"metadata": {"a": 2}}, {"content": "Rewritten by one side."}),
    *({"content": "Shopping:\ncoffee\nbread\nsoap\nsalt"}, {"content": "Shopping:\ntea\nbread\nsoap\npepper"}),
)
EVERY = tuple(Status)
SEEN = Filter(statuses=(Status.ACTIVE, Status.SUPERSEDED, Status.ARCHIVED))


def act(memory: AgenticMemorySystem, chance: random.Random, clock: FrozenClock) -> None:
    """One step of a person or a program; what is refused is left undone."""
    clock.advance(timedelta(minutes=chance.randrange(1, 300)))
    who = memory if chance.random() < 0.6 else memory.acting_as("agent:bot")
    notes = sorted(memory.list(Filter(statuses=EVERY), limit=1_000), key=lambda note: note.id)
    one, other = (chance.choice(notes).id, chance.choice(notes).id) if notes else ("", "")
    steps = [
        lambda: who.add(chance.choice(TEXTS)),
        lambda: who.update(one, **chance.choice(FIELDS)),
        lambda: who.update(one, **chance.choice(FIELDS)),
        lambda: who.update(one, **chance.choice(FIELDS)),
        lambda: who.delete(one),
        lambda: who.restore(one),
        lambda: who.link(one, other, chance.choice(["related", "supports"]), chance.choice(["why", "so"])),
        lambda: who.unlink(one, other, "related"),
        lambda: who.supersede(one, other),
        lambda: who.unsupersede(one),
        lambda: who.pin(one, chance.random() < 0.5),
        lambda: who.undo(),
    ]
    with contextlib.suppress(AmemError):
        chance.choice(steps)()


def hold(memory: AgenticMemorySystem, fork: AgenticMemorySystem, report: MergeReport, strategy: str) -> None:
    """No note of either side is lost but by a removal that is named, and each conflict is where it belongs."""
    here = {note.id for note in memory.list(Filter(statuses=EVERY), limit=1_000)}
    for note in fork.list(SEEN, limit=1_000):
        assert report.joined.get(note.id, note.id) in here
    waiting: dict[str, set[str]] = {}
    for review in memory.reviews():
        waiting.setdefault(review.note, set()).update(review.changes)
    for conflict in report.conflicts:
        if conflict.settled == "review":
            assert waiting[conflict.note], conflict
        else:
            assert strategy in (conflict.settled, "newest")
    assert memory.parts.store.check() == []


@pytest.mark.parametrize(
    "seed", [*range(24), *(pytest.param(seed, marks=pytest.mark.thorough) for seed in range(24, 200))]
)
def test_a_merge_loses_nothing_and_one_undo_gives_back_what_was(tmp_path: Path, seed: int) -> None:
    chance, clock = random.Random(seed), FrozenClock()
    strategy = STRATEGIES[seed % len(STRATEGIES)]
    memory = AgenticMemorySystem(directory=tmp_path, embedder=HashEmbedder(), clock=clock)
    with memory:
        for _ in range(6):
            memory.add(chance.choice(TEXTS))
        for _ in range(4):
            act(memory, chance, clock)
        with memory.fork() as fork:
            for _ in range(2):
                for _ in range(chance.randrange(1, 9)):
                    act(chance.choice((memory, fork)), chance, clock)
                words = ("Rome", "heron", "罗马")
                source = visible_state(fork, clock, words)
                before = visible_state(memory, clock, words)
                tried = memory.merge(fork, strategy, dry_run=True)
                assert not different(before, visible_state(memory, clock, words))

                report = memory.merge(fork, strategy)
                hold(memory, fork, report, strategy)
                assert (tried.added, tried.conflicts) == (report.added, report.conflicts)
                assert not different(source, visible_state(fork, clock, words))
                again = memory.merge(fork, strategy)
                assert (again.operation, again.conflicts) == (None, [])
                if report.operation is not None:
                    after = visible_state(memory, clock, words)
                    undone = memory.undo(report.operation)
                    assert not different(before, visible_state(memory, clock, words))
                    if chance.random() < 0.5:
                        told = memory.redo(undone.operation)
                        named = {each.note for each in (*told.kept, *told.settled)}
                        moved = different(after, visible_state(memory, clock, words))
                        assert all(item[1] in named for item in moved if item[0] == "note")
                    else:
                        repeated = memory.merge(fork, strategy)
                        assert sorted(repeated.added) == sorted(report.added)
                        hold(memory, fork, repeated, strategy)
