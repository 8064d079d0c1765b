"""The formulas of forgetting and trust: the worked examples, and what follows from them."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

from amem.note import Kind, Layer, MemoryType
from amem.strength import (
    BETA,
    STABILITY_DAYS,
    USE_GROWTH,
    Decay,
    Strength,
    retention,
    stability,
    strength,
    trust,
)

SHORT, LONG = BETA[Layer.SHORT_TERM], BETA[Layer.LONG_TERM]


def test_strength_is_importance_times_trust_times_uses_times_what_is_kept() -> None:
    kept = retention(10.0, 90.0, SHORT, decay_rate=0.05)

    assert strength(0.8, 0.9, 4.0, kept) == pytest.approx(0.851, abs=5e-4)


@pytest.mark.parametrize(("contradictions", "expected"), [(1, 0.545), (4, 0.425)])
def test_trust_weighs_source_age_and_witnesses(contradictions: int, expected: float) -> None:
    assert trust(0.8, 15.0, 2.0, float(contradictions)) == pytest.approx(expected, abs=5e-4)


def test_trust_stays_between_nothing_and_all() -> None:
    assert trust(0.0, 400.0, 0.0, 9.0) == 0.0
    assert trust(1.0, 0.0, 50.0, 0.0) == pytest.approx(0.8)


@pytest.mark.parametrize("beta", [SHORT, LONG])
@pytest.mark.parametrize("kind", [kind for kind in Kind if math.isfinite(STABILITY_DAYS[kind])])
def test_at_an_age_of_its_stability_a_note_is_kept_at_1_in_e_in_either_layer(kind: Kind, beta: float) -> None:
    days = STABILITY_DAYS[kind]

    assert retention(days, days, beta) == pytest.approx(1 / math.e)


def test_small_talk_is_below_a_tenth_after_thirty_days() -> None:
    for beta in (SHORT, LONG):
        kept = retention(30.0, STABILITY_DAYS[Kind.CHITCHAT], beta)
        assert strength(0.3, 0.7, 0.0, kept) < strength(0.3, 0.7, 0.0, 1.0) / 10


def test_each_use_adds_three_tenths_of_stability_up_to_a_year() -> None:
    assert stability(STABILITY_DAYS[Kind.FACT], USE_GROWTH**2) == pytest.approx(90 * 1.3**2)
    assert stability(STABILITY_DAYS[Kind.CHITCHAT], USE_GROWTH**100) == 365
    # Daily use for ten years is more than a float can hold.
    assert stability(STABILITY_DAYS[Kind.CHITCHAT], math.inf) == 365


@pytest.mark.parametrize("rate", [None, 0.05])
def test_procedures_topics_and_what_is_pinned_do_not_decay(rate: float | None) -> None:
    lasting = [STABILITY_DAYS[Kind.PROCEDURE], STABILITY_DAYS[Kind.TOPIC], math.inf]

    assert [retention(4_000.0, days, SHORT, decay_rate=rate) for days in lasting] == [1.0, 1.0, 1.0]


def test_a_use_raises_the_score_and_makes_it_last() -> None:
    def at(recalls: int, age: float) -> float:
        return strength(
            0.5, 0.6, float(recalls), retention(age, stability(STABILITY_DAYS[Kind.FACT], 1.3**recalls), SHORT)
        )

    assert at(1, 0.0) > at(0, 0.0)
    assert at(1, 60.0) / at(1, 0.0) > at(0, 60.0) / at(0, 0.0)


def test_columns_and_single_notes_are_reckoned_alike() -> None:
    ages, days = np.array([0.0, 3.0, 400.0, 9.0]), np.array([3.0, 14.0, 90.0, math.inf])

    kept = retention(ages, days, np.full(4, SHORT))

    assert kept.tolist() == [retention(age, day, SHORT) for age, day in zip(ages.tolist(), days.tolist(), strict=True)]
    assert stability(days, np.full(4, 1.3)).tolist() == pytest.approx([3.9, 18.2, 117.0, math.inf])


def test_a_strength_says_what_it_is_made_of() -> None:
    known = Strength(0.5, 0.57, 3, 80.0, 90.0, 0.41, Layer.LONG_TERM)

    assert known.value == pytest.approx(0.5 * 0.57 * (1 + math.log(4)) * 0.41)
    assert known.words() == "strength 0.28 (importance 0.50, trust 0.57, recalled 3x, 41% kept after 80 days)"
    assert json.loads(json.dumps(known.to_dict()))["layer"] == "long_term"
    assert Strength(0.5, 0.5, 0, 1.0, math.inf, 1.0, Layer.SHORT_TERM).to_dict()["stability_days"] is None


# Forgetting by memory type.

PAGE = Path(__file__).resolve().parents[1] / "docs" / "forgetting.md"
ROW = re.compile(r"^\| (episodic|semantic|procedural) \| (\w+) \| [^|]*\| (\w+) \| (\w+) \|$", re.MULTILINE)


def days_to_fade(stable: float, layer: Layer) -> str:
    """Days until a person's note of importance 0.5 that was never used is weaker than 0.1."""
    days = np.arange(10_000.0)
    kept = retention(days, np.full_like(days, stable), np.full_like(days, BETA[layer]))
    believed = trust(np.full_like(days, 0.9), days, 0 * days, 0 * days)
    weak = strength(np.full_like(days, 0.5), believed, 0 * days, kept) < 0.1
    return str(int(days[weak][0])) if weak.any() else "never"


def test_the_table_of_days_to_fade_is_what_the_formulas_give() -> None:
    rows = ROW.findall(PAGE.read_text(encoding="utf-8"))

    assert {row[0] for row in rows} == {str(each) for each in MemoryType}
    for type, stable, short, long in rows:
        decay = Decay(True, *(2 * [60.0 if stable == "never" else float(stable)]))
        (days,) = {decay.days(kind) for kind in Kind if kind.memory_type == type and kind is not Kind.TOPIC}
        assert (short, long) == (days_to_fade(days, Layer.SHORT_TERM), days_to_fade(days, Layer.LONG_TERM))


def test_by_type_what_happened_ages_by_its_own_time_and_what_is_procedural_never() -> None:
    decay = Decay(by_type=True)

    assert {kind for kind in Kind if decay.own_time(kind)} == {
        kind for kind in Kind if kind.memory_type is MemoryType.EPISODIC
    }
    assert {kind for kind in Kind if math.isinf(decay.days(kind))} == {Kind.PROCEDURE, Kind.CODE, Kind.TOPIC}


def test_unless_set_each_kind_has_its_own_pace() -> None:
    assert {kind: Decay().days(kind) for kind in Kind} == dict(STABILITY_DAYS)
    assert not any(Decay().own_time(kind) for kind in Kind)
