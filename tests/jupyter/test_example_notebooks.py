"""Every example notebook runs from top to bottom and shows what it promises."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
pytest.importorskip("nbclient", reason="needs nbclient (amem's dev extra)")
pytest.importorskip("ipykernel", reason="needs ipykernel (amem's dev extra)")
pytestmark = [pytest.mark.thorough, pytest.mark.timeout(300)]
#: What each notebook must show, by the kind of output.
PROMISED = {
    "agent": ["The staging database runs on port 5433.", "they happen on Thursdays now", "note graph"],
    "tour": [
        "nothing certain; nearest:",
        "undo with operation",
        "nightly maintenance would change",
        "note graph",
        "notes.html",
    ],
    "week": ["nightly maintenance changed", "Figure size"],
}


def test_every_notebook_is_tested() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.ipynb")} == set(PROMISED)


@pytest.mark.parametrize("name", sorted(PROMISED))
def test_a_notebook_runs(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import nbformat
    from nbclient import NotebookClient

    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    notebook = nbformat.read(EXAMPLES / f"{name}.ipynb", as_version=4)
    NotebookClient(notebook, timeout=200, resources={"metadata": {"path": str(EXAMPLES)}}).execute()

    told = "\n".join(_text(output) for cell in notebook.cells for output in cell.get("outputs", ()))
    for promised in PROMISED[name]:
        assert promised in told


def _text(output: Any) -> str:
    if output.output_type == "stream":
        return str(output.text)
    return "\n".join(str(output.data.get(kind, "")) for kind in ("text/plain", "text/html"))
