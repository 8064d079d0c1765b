"""Browsing a collection beside its catalogs: their notes are found, named as theirs, read, and never changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from driving import browsing, listed, opened, settled, toasts, wait_until
from pane_driving import flat

from amem.memory_system import AgenticMemorySystem
from amem.settings import Settings
from amem.testing import FrozenClock, HashEmbedder

if TYPE_CHECKING:
    from pathlib import Path

OWN = "A draft on fish soup"


def opened_in(home: Path, collection: str, *catalogs: str) -> AgenticMemorySystem:
    settings = Settings(home=home, dense_base="exact", timezone="UTC", llm_backend="offline")
    return AgenticMemorySystem(
        settings=settings.replaced(collection=collection, catalogs=catalogs),
        clock=FrozenClock("2026-03-01T09:00", seed=collection),
        embedder=HashEmbedder(),
    )


@pytest.mark.parametrize(
    ("catalog", "said", "question"),
    [("team", "The staging server is called heron.", "staging server"), ("团队", "测试服务器叫苍鹭。", "测试服务器")],
)
async def test_a_hit_in_a_catalog_is_named_read_and_kept_as_it_is(
    tmp_path: Path, catalog: str, said: str, question: str
) -> None:
    with opened_in(tmp_path, catalog) as team:
        theirs = team.add(said).id
    with opened_in(tmp_path, "own", catalog) as memory:
        memory.add(OWN)
        async with browsing(memory) as pilot:
            assert opened(pilot) == OWN
            assert f"catalog {catalog}" not in flat(pilot)
            await pilot.press("slash", *question, "enter")
            await wait_until(pilot, lambda: opened(pilot) == said)
            await settled(pilot)
            line = listed(pilot).line
            assert line is not None
            assert line.catalog == catalog
            assert f"catalog\u00a0{catalog}" in flat(pilot).replace(" ", "\u00a0")
            # A change is refused in the library's words, and the browser goes on.
            await pilot.press("p")
            await wait_until(
                pilot, lambda: f"is in the catalog '{catalog}', which is only read from here" in toasts(pilot)
            )
            assert f"amem -c {catalog} pin {theirs[:8]}" in toasts(pilot)
            await pilot.press("d")
            await wait_until(pilot, lambda: len(pilot.app.screen_stack) == 3)
            await pilot.press("d")
            await wait_until(pilot, lambda: toasts(pilot).count("which is only read from here") == 2)
            await settled(pilot)
            assert opened(pilot) == said
            await pilot.press("escape")
            await wait_until(pilot, lambda: opened(pilot) == OWN)
            assert not memory.catalogs[catalog].note(theirs).pinned
