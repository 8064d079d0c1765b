"""What amem returns, as a notebook shows it; and the magics."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest

from amem.interop.graph import read_graph
from amem.jupyter import html

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Told

    from amem import AgenticMemorySystem

pytest.importorskip("IPython", reason="needs IPython (amem's dev extra)")


class Elements(HTMLParser):
    """The names of all elements, and the addresses that any of them would fetch."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.fetched: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.fetched += [str(value) for name, value in attrs if name in ("src", "href", "onerror")]


@pytest.fixture
def shell(memory: AgenticMemorySystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    # A history would be a database that outlives the test.
    shell = InteractiveShell(config=Config(HistoryManager={"enabled": False}))
    shell.display_formatter.active_types = shell.display_formatter.format_types
    shell.user_ns["memory"] = memory
    shell.run_line_magic("load_ext", "amem")
    return shell


def shown(shell: Any, value: Any) -> dict[str, str]:
    data: dict[str, str] = shell.display_formatter.format(value)[0]
    return data


def test_every_value_shows_as_html_in_which_a_notes_text_is_text(
    shell: Any, memory: AgenticMemorySystem, told: Told
) -> None:
    report = memory.maintain(dry_run=True)
    hits = memory.search("tea")
    values = [memory.read(told.evil), hits, hits[0].explanation, memory.history(told.evil), report, read_graph(memory)]
    values += [memory.add("One more note about the kettle."), [memory.read(told.evil)]]

    for value in values:
        page = Elements(shown(shell, value)["text/html"])
        assert not page.names & {"script", "img", "iframe", "link"}, value
        assert page.fetched == []
    assert "&lt;img src=x onerror" in shown(shell, memory.read(told.evil))["text/html"]


def test_plain_text_is_a_line_each(shell: Any, memory: AgenticMemorySystem, told: Told) -> None:
    said = shown(shell, memory.read(told.tea))["text/plain"]
    assert said == f"<MemoryNote 2025-05-01, preference, {told.tea[:8]}: Green tea wants 80 degrees.>"
    assert len(shown(shell, memory.search("tea", k=2))["text/plain"].splitlines()) == 2


def test_a_hit_says_which_catalog_it_is_in(shell: Any, memory: AgenticMemorySystem, told: Told) -> None:
    own = memory.search("tea", k=1)[0]
    theirs = replace(own, collection="团队", is_catalog=True)

    for kind in ("text/html", "text/plain"):
        assert "catalog 团队" in shown(shell, [theirs])[kind]
        assert "catalog" not in shown(shell, [own])[kind]


def test_a_list_of_other_things_is_shown_as_ever(shell: Any) -> None:
    assert "text/html" not in shown(shell, [1, 2])
    assert "text/html" not in shown(shell, [])


def test_a_statement_that_no_longer_holds_is_struck_through(memory: AgenticMemorySystem) -> None:
    old = memory.add("I live in Rome. I like tea.", time="2025-01-01").id
    new = memory.add("I live in Oslo.", time="2025-06-01").id
    memory.supersede(old, new, "moved", statement="I live in Rome.")

    note = memory.read(old)
    assert note is not None
    assert "<del>I live in Rome.</del> <em>(until 2025-06-01, then: I live in Oslo.)</em>" in html.note(note)


def test_recall_takes_a_question_with_its_question_mark(shell: Any, told: Told) -> None:
    found = shell.run_cell("%recall how hot should green tea be?").result
    assert found[0].id == told.tea
    assert shell.run_cell("%why").result.id == told.tea
    assert shell.run_cell(f"%why {told.kettle}").result.id == told.kettle
    assert shell.run_cell("%recall 绿茶要多少度的水？").result[0].id == told.chinese


def test_notes_are_listed_by_field_and_word(shell: Any, told: Told) -> None:
    def listed(line: str) -> list[str]:
        return [note.id for note in shell.run_cell(f"%notes {line}").result]

    assert listed("tag:tea") == [told.tea]
    assert listed("kind:preference") == [told.chinese, told.tea]
    assert listed("since:2025-06-01 until:2025-08-01") == [told.kettle]
    assert listed("kettle") == [told.kettle]
    assert len(listed("")) == 4


def test_a_cell_becomes_a_note(shell: Any, memory: AgenticMemorySystem) -> None:
    receipt = shell.run_cell("%%note tag:tea kind:preference\nOolong wants 90 degrees.\nNo sugar.").result
    note = memory.read(receipt.id)
    assert note is not None
    assert (note.content, note.tags, note.kind) == ("Oolong wants 90 degrees.\nNo sugar.", ["tea"], "preference")


def test_maintenance_runs_dry_with_a_bar(shell: Any, memory: AgenticMemorySystem, told: Told) -> None:
    before = memory.pulse()[1]
    report = shell.run_cell("%maintain --dry-run").result
    assert report.dry_run
    assert memory.pulse()[1] == before


@pytest.mark.parametrize(
    "line",
    ["%recall", "%why", "%maintain hourly", "%notes since:soon", "%notes kind:poem", '%notes "', "%why 7"],
)
def test_what_is_wrong_is_said_in_a_line(shell: Any, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert not shell.run_cell(line).success
    said = capsys.readouterr()
    assert "UsageError" in said.err + said.out
    assert "Traceback" not in said.err + said.out


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("%notes ki", "kind:"),
        ("%notes kind:pref", "kind:preference"),
        ("%notes tag:te", "tag:tea"),
        ("%maintain w", "weekly"),
    ],
)
def test_fields_and_their_values_are_completed(shell: Any, told: Told, line: str, offered: str) -> None:
    from IPython.core.completer import provisionalcompleter

    with provisionalcompleter():
        assert offered in {
            line[: each.start].split(" ")[-1] + each.text for each in shell.Completer.completions(line, len(line))
        }
