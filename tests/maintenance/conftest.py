"""Notes here fade whoever wrote them, since these tests are about time; ``test_forgetting_own.py`` is about whose."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def own_notes_fade_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AMEM_ARCHIVE_OWN_NOTES", "true")
