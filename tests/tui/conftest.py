"""Real collections on disk, with a scripted judgement in place of a language model's."""

from __future__ import annotations

import os
import shutil
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from crowd import make_crowd
from driving import calm, calmed
from filelock import FileLock
from textual.css.stylesheet import Stylesheet

from amem.analysis import Analysis, Evolution, ProposedLink, Rewrite
from amem.memory_system import AgenticMemorySystem
from amem.note import Kind, LinkType
from amem.settings import Settings
from amem.testing import FrozenClock, HashEmbedder, ScriptedAnalyst

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from textual.css.model import RuleSet

    from amem.analysis import Draft, Neighbour

TEA = "Green tea at 80 degrees, never boiling"
KETTLE = "The new kettle holds green tea at 80 degrees"
CAT = "芝麻是只六岁的橘白猫，怕吸尘器 🐱"
NOTES = (TEA, CAT, KETTLE)
_RULES: dict[tuple[Any, ...], list[RuleSet]] = {}


def analyse(draft: Draft) -> Analysis:
    """Tags by subject; everything about tea is a preference."""
    tea = "tea" in draft.content
    return Analysis(
        keywords=tuple(draft.content.split()[:2]),
        context=f"About {draft.content[:12]}",
        tags=("tea",) if tea else ("cat",),
        kind=Kind.PREFERENCE if tea else Kind.FACT,
    )


def relate(draft: Draft, analysis: Analysis, neighbours: Sequence[Neighbour]) -> Evolution:
    """Link what shares a tag, and propose a new context for it without being sure."""
    near = [each for each in neighbours if set(each.tags) & set(analysis.tags)]
    return Evolution(
        links=tuple(ProposedLink(each.handle, LinkType.SUPPORTS, "both are about tea", 0.9) for each in near),
        rewrites=tuple(Rewrite(each.handle, "How tea is made here", None, "seen together", 0.5) for each in near),
    )


@pytest.fixture(autouse=True)
def keys_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that a test presses is done with, and quickly: nothing glides to its place."""
    for module in ("textual.app", "textual.pilot"):
        monkeypatch.setattr(f"{module}.wait_for_idle", calm)
    monkeypatch.setattr("textual.pilot.Pilot._wait_for_screen", calmed)
    monkeypatch.setattr("textual.constants.TEXTUAL_ANIMATIONS", "none")


@pytest.fixture(autouse=True)
def styles_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every app in a process shares what was read of the style sheets, a fifth of what it takes to start one."""
    read = Stylesheet._parse_rules

    def read_once(sheet: Stylesheet, *where: Any, **more: Any) -> list[RuleSet]:
        key = (where, *more.items(), frozenset(sheet._variables.items()))
        if key not in _RULES:
            _RULES[key] = read(sheet, *where, **more)
        return _RULES[key]

    monkeypatch.setattr(Stylesheet, "_parse_rules", read_once)


@pytest.fixture(autouse=True)
def own_notes_fade_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """The timeline shows what fades, and here a person wrote it all."""
    monkeypatch.setenv("AMEM_ARCHIVE_OWN_NOTES", "true")


@pytest.fixture(autouse=True)
def home_is_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands that are shown name no home then, which is another in every run."""
    monkeypatch.setenv("AMEM_HOME", str(tmp_path))


def opened(home: Path, actor: str = "user", *, number: int = 0) -> AgenticMemorySystem:
    """The collection of a home; `number` tells those apart that are open at once."""
    return AgenticMemorySystem(
        settings=Settings(home=home, dense_base="exact", timezone="UTC", llm_backend="offline"),
        actor=actor,
        clock=FrozenClock("2026-03-01T09:00", seed=f"clock {number}"),
        embedder=HashEmbedder(),
        analyst=ScriptedAnalyst(analyse, relate, name="scripted"),
    )


@pytest.fixture
def open_home(tmp_path: Path) -> Iterator[Callable[..., AgenticMemorySystem]]:
    """Opens the collection of a home of this test's own; called again, a second system on the same folder."""
    systems: list[AgenticMemorySystem] = []

    def open_one(actor: str = "user") -> AgenticMemorySystem:
        systems.append(opened(tmp_path, actor, number=len(systems)))
        return systems[-1]

    yield open_one
    for memory in systems:
        memory.close()


@pytest.fixture
def empty(open_home: Callable[..., AgenticMemorySystem]) -> AgenticMemorySystem:
    """A collection without notes."""
    return open_home()


@pytest.fixture(scope="session")
def three_notes(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """The home that `memory` is a copy of, and how many ids were made for it."""
    home = tmp_path_factory.mktemp("three notes")
    with opened(home) as memory:
        for content in NOTES:
            memory.add(content)
            clock_of(memory).advance(timedelta(days=1))
        return home, clock_of(memory).made


@pytest.fixture
def memory(
    three_notes: tuple[Path, int], tmp_path: Path, open_home: Callable[..., AgenticMemorySystem]
) -> AgenticMemorySystem:
    """Three notes, the kettle the newest: it links to the tea and proposes to rewrite it."""
    made, ids = three_notes
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    memory = open_home()
    clock_of(memory).advance(days=len(NOTES))
    for _ in range(ids):
        clock_of(memory).new_id()
    return memory


def clock_of(memory: AgenticMemorySystem) -> FrozenClock:
    clock = memory.parts.clock
    assert isinstance(clock, FrozenClock)
    return clock


@pytest.fixture(scope="session")
def hundred_thousand(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of a collection of 100,000 notes, made once however many processes test. Only to be read, or copied."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    home = shared / "hundred-thousand"
    with FileLock(shared / "hundred-thousand.lock"):
        if not (home / "made").exists():
            make_crowd(home, 100_000)
            (home / "made").touch()
    return home


@pytest.fixture
def crowd(hundred_thousand: Path) -> Iterator[AgenticMemorySystem]:
    """The 100,000 notes, open; only to be read."""
    settings = Settings(home=hundred_thousand, dense_base="exact", timezone="UTC", llm_backend="offline")
    clock = FrozenClock("2026-03-01T09:00")
    with AgenticMemorySystem(settings=settings, clock=clock, embedder=HashEmbedder(), create=False) as memory:
        yield memory
