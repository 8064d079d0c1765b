"""The browser's figures are taken from the real app, and each that is limited is there."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import browser
import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.thorough


def test_every_limited_figure_is_measured_beside_a_naive_browser(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    browser.main(["--size", "500", "--keys", "2", "--words", "tea,茶", "--json", str(tmp_path / "figures.json")])
    table = capsys.readouterr().out
    figures = json.loads((tmp_path / "figures.json").read_text("utf-8"))
    assert set(browser.LIMITS) <= set(figures["amem"])
    assert set(figures["naive"]) <= set(figures["amem"])
    assert all(value > 0 for value in (*figures["amem"].values(), *figures["naive"].values()))
    assert all(name in table for name in figures["amem"])
