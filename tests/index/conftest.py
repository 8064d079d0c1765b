"""What tests of the vector index share."""

from __future__ import annotations

import pytest
from vector_feed import MemoryFeed


@pytest.fixture
def feed() -> MemoryFeed:
    """A store without notes."""
    return MemoryFeed()
