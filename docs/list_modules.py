"""Write docs/modules.md: every room and every module of amem in one line, taken from their docstrings.

    python docs/list_modules.py

A test holds the page against the code, so that it cannot become untrue.
"""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "modules.md"
#: Where the packages lie, and the pages' heading for each.
PACKAGES = (ROOT / "amem", ROOT / "tui" / "amem_tui")
_HEAD = """# Every module in one line

Made by `python docs/list_modules.py` from the modules' own first lines. How the rooms hang together, and where to
change what, is in [architecture](architecture.md).
"""


def page() -> str:
    """The page as it should be."""
    parts = [_HEAD]
    for package in PACKAGES:
        for folder in (package, *sorted(each.parent for each in package.rglob("*/__init__.py"))):
            modules = [path for path in sorted(folder.glob("*.py")) if path.name != "__init__.py"]
            name = ".".join(folder.relative_to(package.parent).parts)
            parts.append(f"## {name}\n\n{_first_line(folder / '__init__.py')}\n")
            if modules:
                parts.append("".join(f"- `{path.stem}`: {_first_line(path)}\n" for path in modules))
            if data := sorted(path.relative_to(folder).as_posix() for path in _data(folder)):
                parts.append(f"Data: {', '.join(f'`{name}`' for name in data)}\n")
    return "\n".join(parts)


def _data(folder: Path) -> list[Path]:
    """Word lists, tables and other data of the room, in its folder or in one below it that is no room."""
    here = [path for path in folder.iterdir() if path.suffix in {".txt", ".toml", ".json", ".tcss"}]
    below = [each for each in folder.iterdir() if each.is_dir() and not (each / "__init__.py").exists()]
    return here + [path for each in below for path in each.glob("*.txt")]


def _first_line(path: Path) -> str:
    """The first sentence of a module's docstring, also where it takes two lines."""
    told = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    if not told:
        raise SystemExit(f"{path.relative_to(ROOT)} has no docstring: say in one line what it is for")
    return " ".join(told.split("\n\n", 1)[0].split())


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE.relative_to(ROOT)}: {page().count(chr(10) + '- ')} modules")
