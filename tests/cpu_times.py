"""What tests cost in processor time (``--cpu-times``), which a busy machine changes less than what a clock shows."""

from __future__ import annotations

import os
from collections import defaultdict
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

_MOST = 40


def used() -> float:
    """Seconds of processor time of this process, its threads, and the processes it waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def counted(item: pytest.Item) -> Generator[None]:
    """Note on the test what happens meanwhile costs."""
    before = used()
    try:
        yield
    finally:
        item.user_properties.append(("cpu", used() - before))


class CpuTimes:
    """Notes what each phase of a test cost; sums it up where the reports arrive, in whatever process a test ran."""

    def __init__(self) -> None:
        self._cost: dict[str, float] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None]:
        yield from counted(item)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None]:
        yield from counted(item)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None]:
        yield from counted(item)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "teardown":
            self._cost[report.nodeid] = sum(
                float(str(value)) for name, value in report.user_properties if name == "cpu"
            )

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        folders: defaultdict[str, list[float]] = defaultdict(list)
        for name, seconds in self._cost.items():
            folders[os.path.dirname(name.partition("::")[0])].append(seconds)
        say = terminalreporter.write_line
        terminalreporter.section("processor time")
        for folder, each in sorted(folders.items(), key=lambda item: -sum(item[1])):
            say(f"{sum(each):8.1f} s  {len(each):5} tests  {folder}")
        say(f"{sum(self._cost.values()):8.1f} s  {len(self._cost):5} tests")
        for name, seconds in sorted(self._cost.items(), key=lambda item: -item[1])[:_MOST]:
            say(f"{seconds:8.2f} s  {name}")
