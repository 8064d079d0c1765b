"""`.env.example` is the list of settings that people copy: it must be whole, true and loadable."""

from __future__ import annotations

import os
import re
from itertools import pairwise
from pathlib import Path

import pytest

from amem.settings import Settings, load_settings

EXAMPLE = Path(__file__).resolve().parents[1] / ".env.example"
SETTING = re.compile(r"^#(AMEM_[A-Z0-9_]+)=(.*)$", re.MULTILINE)
#: These depend on the machine, or (the key) are unset by default.
NO_COMMON_DEFAULT = {"home", "cache", "api_key"}


@pytest.fixture
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("AMEM_", "OLLAMA_", "OPENAI_")):
            monkeypatch.delenv(name)


def example() -> str:
    return EXAMPLE.read_text(encoding="utf-8")


def test_every_setting_is_listed_once_and_nothing_else() -> None:
    names = [name for name, _ in SETTING.findall(example())]

    assert sorted(names) == sorted(f"AMEM_{name.upper()}" for name in Settings.model_fields)


def test_each_setting_stands_below_a_comment_that_explains_it() -> None:
    lines = example().splitlines()

    unexplained = [line for before, line in pairwise(lines) if SETTING.match(line) and before[:2] != "# "]

    assert unexplained == []


@pytest.mark.usefixtures("bare_environment")
def test_uncommented_it_loads_and_shows_the_true_defaults(tmp_path: Path) -> None:
    env_file = tmp_path / "all.env"
    env_file.write_text(SETTING.sub(r"\1=\2", example()), encoding="utf-8")

    loaded = load_settings(tmp_path, env_file=env_file)
    defaults = load_settings(tmp_path)

    differing = {
        name: (getattr(loaded, name), getattr(defaults, name))
        for name in Settings.model_fields
        if name not in NO_COMMON_DEFAULT and getattr(loaded, name) != getattr(defaults, name)
    }
    assert differing == {}


@pytest.mark.usefixtures("bare_environment")
def test_a_line_that_is_changed_takes_effect(tmp_path: Path) -> None:
    env_file = tmp_path / "mine.env"
    env_file.write_text(example().replace("#AMEM_RRF_K=60", "AMEM_RRF_K=42"), encoding="utf-8")

    assert load_settings(tmp_path, env_file=env_file).rrf_k == 42
