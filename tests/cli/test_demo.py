"""The demo shows how notes were analysed, linked and evolved, answers five questions, and touches nobody's notes."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rich.cells import cell_len
from rich.console import Console

from amem import AgenticMemorySystem, load_settings
from amem.cli.demo import DemoStory
from amem.cli.render import language_of_reader
from amem.interop.demo_data import demo_folder, demo_questions

if TYPE_CHECKING:
    from conftest import Cli


def test_it_tells_the_whole_story_in_a_pipe(demo_run: tuple[Path, str]) -> None:
    home, story = demo_run
    short, rest = story.split("A year of somebody's notes")
    for part in ("What was written", "How to take it back", "undo"):
        assert part in short
    parts = ["How notes were analysed and linked", "How older notes evolved", "In all"]
    parts += [*(each.question for each in demo_questions()), "Try next", "Next: browse"]
    places = [rest.index(part) for part in parts]
    assert places == sorted(places)
    assert "both mention" in story
    assert f"amem --home {home} --collection demo search 'who is Inês?'" in story
    assert "\x1b" not in story


def test_every_note_is_analysed_and_most_are_linked(demo: Cli) -> None:
    notes = demo.json("-c", "demo", "list", "--all", "-n", "100")
    lines = (demo_folder() / "year.jsonl").read_text(encoding="utf-8").splitlines()
    assert {note["content"] for note in notes} == {json.loads(line)["content"] for line in lines}
    assert all(note["keywords"] and note["context"] for note in notes)
    linked = {end for note in demo.json("-c", "demo", "show", *(n["id"] for n in notes)) for end in _ends(note)}
    assert len(linked) >= 0.6 * len(notes)


def _ends(note: dict[str, list[dict[str, str]]]) -> set[str]:
    return {link[end] for link in note["links_out"] for end in ("source", "target")}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_short_story_is_told_in_the_readers_language_and_fits_a_screen(demo: Cli, language: str) -> None:
    """After a wanted change of the story: RENEW_STORIES=1 pytest tests/cli/test_demo.py, and read the difference."""
    out = Console(file=io.StringIO(), width=80, highlight=False, markup=False, emoji=False)
    settings = load_settings(demo.home, collection="demo", llm_backend="offline", timezone="UTC")
    with AgenticMemorySystem(settings=settings) as memory:
        story = DemoStory(memory, language, lambda *words: " ".join(("amem", "-c", "demo", *words)), out=out)
        story.tell(seconds=9.0, folder="~/amem/demo", by="offline", links=99, changes=14)
        story.closing(more="amem demo --all")
    assert isinstance(out.file, io.StringIO)
    told = "\n".join(line.rstrip() for line in out.file.getvalue().splitlines()) + "\n"
    assert told.count("\n") <= 60
    assert max(map(cell_len, told.splitlines())) <= 80
    kept = Path(__file__).parents[1] / "data" / "demo" / f"story_{language}.txt"
    if "RENEW_STORIES" in os.environ:
        kept.write_text(told, encoding="utf-8")
    assert told == kept.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("locale", "language"),
    [("zh_CN.UTF-8", "zh"), ("zh_TW", "zh"), ("de_DE.UTF-8", "en"), ("C.UTF-8", "en"), ("", "en")],
)
def test_the_locale_says_which_language_is_the_readers(
    monkeypatch: pytest.MonkeyPatch, locale: str, language: str
) -> None:
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", locale)
    assert language_of_reader() == language
    assert language_of_reader("zh") == "zh"
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert language_of_reader() == "zh"


@pytest.mark.thorough
def test_running_it_again_starts_afresh_and_json_holds_the_counts_and_the_answers(demo: Cli) -> None:
    before = {note["id"] for note in demo.json("-c", "demo", "list", "--all", "-n", "100")}
    record = demo.json("demo")
    after = {note["id"] for note in demo.json("-c", "demo", "list", "--all", "-n", "100")}
    assert len(after) == len(before)
    assert not after & before
    assert (record["collection"], record["imported"], record["skipped"]) == ("demo", 63, 0)
    assert len(record["questions"]) == 5
    assert all(len(each["hits"]) == 3 for each in record["questions"])


@pytest.mark.thorough
def test_it_never_takes_over_notes_of_somebodys_own(cli: Cli, demo: Cli) -> None:
    demo.ok("-c", "demo", "add", "My own note among theirs.")
    assert "holds notes that were added since the last demo (give --fresh to lose them" in demo.refused("demo")
    assert len(demo.json("-c", "demo", "list", "--all", "-n", "100")) == 64
    demo.ok("demo", "--fresh")
    assert len(demo.json("-c", "demo", "list", "--all", "-n", "100")) == 63

    cli.ok("-c", "mine", "add", "Tea at five.")
    assert "'mine' was not made by the demo" in cli.refused("-c", "mine", "demo", "--fresh")
    assert len(cli.json("-c", "mine", "list")) == 1


def test_the_list_of_collections_also_counts_the_active_notes_as_the_browser_does(demo: Cli) -> None:
    (row,) = (line.split("\t") for line in demo.ok("collections").splitlines())
    assert (row[0], row[1], row[-1]) == ("demo", "63", "62")
