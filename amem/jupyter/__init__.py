"""amem in notebooks: notes, hits and reports as tables, the note graph and a note browser as widgets, and magics.

The widgets need anywidget (``pip install "amem[jupyter]"``); all else works in any IPython.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {"GraphWidget": "amem.jupyter.graph_widget", "NoteBrowser": "amem.jupyter.note_browser"}

__all__ = ["GraphWidget", "NoteBrowser"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(_HOMES[name]), name)
    except ModuleNotFoundError as error:
        if error.name not in ("anywidget", "ipywidgets", "traitlets"):
            raise
        raise ImportError(f'{name} needs anywidget: pip install "amem[jupyter]"') from error
