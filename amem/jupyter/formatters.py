"""Tells IPython how amem's values look in a notebook, without loading what they are made of until one is shown."""

from __future__ import annotations

from typing import Any

#: The class of a value, and the function of ``amem.jupyter.html`` that shows it.
_SHOWN = {
    ("amem.note", "MemoryNote"): "note",
    ("amem.retrieval.explanation", "Explanation"): "explanation",
    ("amem.note", "Receipt"): "receipt",
    ("amem.maintenance.phase", "MaintenanceReport"): "report",
    ("amem.interop.graph", "NoteGraph"): "graph",
}
#: Shown as a line where nothing shows HTML, in lists too.
_LINES = (*_SHOWN, ("amem.retrieval.hit", "Hit"), ("amem.storage.records", "Version"))


def register(shell: Any) -> None:
    """Show amem's values as HTML in this IPython shell, and as a line each where it shows plain text."""
    formatter = shell.display_formatter.formatters["text/html"]
    for (module, name), function in _SHOWN.items():
        formatter.for_type_by_name(module, name, _shower(function))
    for module, name in _LINES:
        shell.display_formatter.formatters["text/plain"].for_type_by_name(module, name, _line)
    # A list is shown as ever unless hits or versions are in it.
    for kind in (list, tuple):
        formatter.for_type(kind, _listed)


def _shower(function: str) -> Any:
    def show(value: Any) -> str:
        from amem.jupyter import html

        shown: str = getattr(html, function)(value)
        return shown

    return show


def _line(value: Any, printer: Any, _: bool) -> None:
    from amem.jupyter.html import line

    printer.text(line(value))


def _listed(values: Any) -> str | None:
    # Most lists have nothing to do with amem: these are told at a glance, and amem is not loaded for them.
    if not values or not type(values[0]).__module__.startswith("amem."):
        return None
    from amem.jupyter.html import listed

    return listed(values)
