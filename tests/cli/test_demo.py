"""The demo shows how notes were analysed, linked and evolved, answers five questions, and touches nobody's notes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from amem.interop.demo_data import demo_folder, demo_questions

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Cli


def test_it_tells_the_whole_story_in_a_pipe(demo_run: tuple[Path, str]) -> None:
    home, story = demo_run
    parts = ["How notes were analysed", "How notes were linked", "How older notes evolved", "In all"]
    places = [story.index(part) for part in [*parts, *(each.question for each in demo_questions()), "Try next"]]
    assert places == sorted(places)
    assert "because: both speak of" in story
    assert f"amem --home {home} --collection demo search 'who is Inês?'" in story
    assert "\x1b" not in story


def test_every_note_is_analysed_and_most_are_linked(demo: Cli) -> None:
    notes = demo.json("-c", "demo", "list", "--all", "-n", "100")
    lines = (demo_folder() / "year.jsonl").read_text(encoding="utf-8").splitlines()
    assert {note["content"] for note in notes} == {json.loads(line)["content"] for line in lines}
    assert all(len(note["keywords"]) >= 3 and len(note["tags"]) >= 2 and note["context"] for note in notes)
    linked = {end for note in demo.json("-c", "demo", "show", *(n["id"] for n in notes)) for end in _ends(note)}
    assert len(linked) >= 0.6 * len(notes)


def _ends(note: dict[str, list[dict[str, str]]]) -> set[str]:
    return {link[end] for link in note["links_out"] for end in ("source", "target")}


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
