"""Forgetting by memory type: what happened ages by its own time, what is so from its last use, how to do it never."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from amem.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from amem import AgenticMemorySystem
    from amem.testing import FrozenClock

    Open = Callable[..., AgenticMemorySystem]


def test_memory_types_have_paces_of_their_own(open_memory: Open, home: Path, clock: FrozenClock) -> None:
    memory = open_memory(settings=load_settings(home, decay_by="type", episodic_days=100, semantic_days=400))
    episode = memory.add("We sailed to Faro.", time="2026-01-20", kind="episode").id
    fact = memory.add("Ana lives in Porto.", time="2026-01-20", kind="fact").id
    code = memory.add("make release", kind="code").id
    clock.advance(days=60)
    memory.opened([episode, fact, code])
    clock.advance(days=20)

    held = {id: memory.strength(id) for id in (episode, fact, code)}

    # From 20 January to 20 May, and from the use of 30 April.
    assert (round(held[episode].age_days), round(held[fact].age_days)) == (120, 20)
    assert (round(held[episode].stability_days), round(held[fact].stability_days)) == (130, 400)
    assert math.isinf(held[code].stability_days)
    assert memory.note(fact).stability == held[fact].stability_days


def test_each_agent_forgets_at_its_own_pace(home: Path) -> None:
    home.mkdir()
    (home / "config.toml").write_text('[agents.critic]\ndecay_by = "type"\nsemantic_days = 60\n', encoding="utf-8")

    assert load_settings(home).decay.by_type is False
    critic = load_settings(home, agent="critic").decay
    assert (critic.by_type, critic.semantic_days) == (True, 60)
