"""Environment variables for the length of an import, for libraries that read them at no other time."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def defaults(**variables: str) -> Iterator[None]:
    """Set those `variables` that are not set yet, and take them away again afterwards."""
    added = {name: value for name, value in variables.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)
