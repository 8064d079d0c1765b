"""A small collection with a link, an overturned statement and text that would like to be markup."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

if TYPE_CHECKING:
    from amem import AgenticMemorySystem

EVIL = "<img src=x onerror=alert(1)></script><script>alert(2)</script>"


class Told(NamedTuple):
    """The ids of the notes in `told`."""

    tea: str
    kettle: str
    evil: str
    chinese: str


@pytest.fixture
def told(memory: AgenticMemorySystem) -> Told:
    tea = memory.add("Green tea wants 80 degrees.", time="2025-05-01T08:00", kind="preference", tags=["tea"]).id
    kettle = memory.add(
        "The kettle keeps water at 80 degrees.", time="2025-07-01T08:00", kind="fact", tags=["kitchen"]
    ).id
    evil = memory.add(f"# {EVIL}\nA trap.", time="2025-09-01T08:00", kind="fact").id
    chinese = memory.add("绿茶要用八十度的水泡。", time="2025-11-01T08:00", kind="preference", tags=["茶"]).id
    memory.link(kettle, tea, "supports", f"it makes the water right {EVIL}")
    memory.link(chinese, tea, "related", "both on green tea")
    return Told(tea, kettle, evil, chinese)
