"""The modules as a whole: each with its own name, none that imports itself through others, none opened by tests."""

from __future__ import annotations

import ast
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


def test_tests_use_no_private_name_of_what_they_test() -> None:
    """A name of Textual's or of the tests' own is none of ours."""
    ours = {
        name
        for package in PACKAGES
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for name in _given(node)
        if name.startswith("_") and not name.startswith("__")
    }
    found = []
    for path in sorted((ROOT / "tests").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        its_own = {name for node in ast.walk(tree) for name in _given(node)}
        found += [
            f"{path.relative_to(ROOT)}:{line} {name}"
            for node in ast.walk(tree)
            for name, line in _used(node)
            if name in ours and name not in its_own and name not in _OTHERS
        ]
    assert found == []


#: What our own classes override, or name as Textual, asyncio and IPython do.
_OTHERS = {"_closed", "_closing", "_driver", "_exception", "_handle_exception", "_loop", "_repr_mimebundle_"}


def _given(node: ast.AST) -> list[str]:
    """Names that a definition or an assignment gives."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
        return [node.id if isinstance(node, ast.Name) else node.attr]
    return []


def _used(node: ast.AST) -> list[tuple[str, int]]:
    """Names that are imported, looked up on something else, or replaced by their name."""
    if isinstance(node, ast.ImportFrom):
        return [(each.name, node.lineno) for each in node.names]
    if isinstance(node, ast.Attribute):
        return [(node.attr, node.lineno)]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "setattr":
        return [
            (each.value, node.lineno)
            for each in node.args
            if isinstance(each, ast.Constant) and isinstance(each.value, str)
        ]
    return []
