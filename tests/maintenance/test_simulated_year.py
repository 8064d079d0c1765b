"""A year of use, by the week: layers settle, what is used stays, small talk fades, nothing is lost."""

from __future__ import annotations

import pytest
from simulated_year import MOST_FLIPS, Simulation


@pytest.mark.thorough
def test_in_a_year_notes_settle_fade_and_come_back_and_every_promise_is_kept() -> None:
    year = Simulation(None, 600, every=7, seed=3).run()

    assert year.broken == []
    assert year.most_flips <= MOST_FLIPS
    done = {
        what: sum(month.done[what] for month in year.months) for what in ("promoted", "demoted", "faded", "restored")
    }
    assert all(done.values()), done
    last = year.months[-1]
    assert last.short + last.long + last.archived == 600
    assert last.archived == done["faded"] - done["restored"]
