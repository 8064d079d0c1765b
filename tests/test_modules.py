"""The modules as a whole: each with a name of its own, none that imports itself through others."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = (ROOT / "amem", ROOT / "tui" / "amem_tui")


def test_no_two_modules_have_the_same_name() -> None:
    names = Counter(path.stem for package in PACKAGES for path in package.rglob("*.py"))
    del names["__init__"]
    assert [name for name, often in names.items() if often > 1] == []


@pytest.mark.parametrize("package", ["amem", "amem_tui"])
def test_no_module_imports_itself_through_others(package: str) -> None:
    """What is imported within functions counts; what only names a type is never imported when amem runs."""
    graph = grimp.build_graph(package, exclude_type_checking_imports=True, cache_dir=None)
    left = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    while ends := {module for module, imported in left.items() if not imported & left.keys()}:
        left = {module: imported for module, imported in left.items() if module not in ends}
    assert sorted(left) == []
