"""``docs/architecture.md`` sends a reader to files that are there."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from amem import AgenticMemorySystem

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`((?:amem|tui|prompts)/[\w./]*)`", PAGE))))
def test_every_path_that_the_page_names_is_there(path: str) -> None:
    assert (ROOT / path).exists()


def test_every_part_of_the_facade_that_the_page_names_is_there(memory: AgenticMemorySystem) -> None:
    (table,) = re.findall(r"\| part \|.*?\n\n", PAGE, re.DOTALL)
    cells = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    named = [name for cell in cells for name in re.findall(r"`(\w+)`", cell)]
    assert len(named) > 15
    assert [name for name in named if not hasattr(memory.parts, name)] == []


def test_the_page_of_modules_is_what_the_modules_say_of_themselves() -> None:
    script = ROOT / "docs" / "list_modules.py"
    made = runpy.run_path(str(script))["page"]()
    assert (ROOT / "docs" / "modules.md").read_text(encoding="utf-8") == made, "run python docs/list_modules.py"
