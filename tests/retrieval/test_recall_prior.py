"""The prior: a note well remembered and believed wins over its equal, and never over a better answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from amem.note import Kind, LinkType

if TYPE_CHECKING:
    from collections.abc import Callable

    from asking import Collection


def test_of_two_equal_notes_the_more_trusted_comes_first(collection: Collection) -> None:
    trusted = collection.add("The bins go out on Tuesday.", reliability=1.0)
    doubted = collection.add("The bins go out on Tuesday!", reliability=0.2)
    first, second = collection.ask("bins tuesday", legs=("lexical",))
    assert (first.id, second.id) == (trusted, doubted)
    assert first.explanation.prior.trust > second.explanation.prior.trust


def test_what_is_contradicted_is_trusted_less(collection: Collection) -> None:
    one, other = collection.add("The bins go out on Tuesday."), collection.add("Bins: Friday.")
    before = collection.explain("bins", one).prior.trust
    collection.link(other, one, LinkType.CONTRADICTS)
    assert collection.explain("bins", one).prior.trust == pytest.approx(before - 0.04)


def test_small_talk_fades_and_use_and_pins_keep_it(collection: Collection) -> None:
    ids = [collection.add(f"hello {n}", kind=Kind.CHITCHAT) for n in range(3)]
    faded, used, pinned = ids
    collection.change(pinned, pinned=True)
    collection.clock.advance(days=9)
    with collection.store.write() as session:
        session.usage.touch([session.notes.keys_of([used])[used]])
    kept = [collection.explain("hello", id).prior.retention for id in (faded, used, pinned)]
    assert kept[0] < 0.05 < kept[1] <= kept[2] == 1.0


def test_the_prior_stays_above_its_floor(open_collection: Callable[..., Collection]) -> None:
    memory = open_collection(prior_floor=0.7)
    id = memory.add("hello", kind=Kind.CHITCHAT, reliability=0.0)
    memory.clock.advance(days=400)
    prior = memory.explain("hello", id).prior
    assert prior.retention < 1e-6
    assert prior.factor == pytest.approx(0.7)


def test_cutting_at_k_gives_the_same_as_ranking_everything(open_collection: Callable[..., Collection]) -> None:
    memory = open_collection(prior_floor=0.5)
    for n in range(40):
        kind = (Kind.CHITCHAT, Kind.FACT, Kind.PROCEDURE)[n % 3]
        memory.add("tea " + f"leaf{n % 7} " * (n % 5), kind=kind, reliability=(n * 37 % 11) / 10)
    memory.clock.advance(days=5)
    everything = memory.found("tea leaf3 leaf4", k=40, touch=False)
    assert memory.found("tea leaf3 leaf4", k=6, touch=False) == everything[:6]
