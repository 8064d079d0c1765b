"""Prompt files and their variables."""

from __future__ import annotations

from pathlib import Path

import pytest

from amem.errors import InvalidInput
from amem.llm.prompts import load_prompt

SHIPPED = sorted(path.stem for path in (Path(__file__).parents[2] / "prompts").glob("*.md"))


@pytest.mark.parametrize("name", SHIPPED)
def test_every_prompt_that_comes_with_amem_declares_the_variables_it_uses(name):
    prompt = load_prompt(name)  # refuses a file whose declared and used variables differ
    assert prompt.version.isdigit()
    assert prompt.render(**dict.fromkeys(prompt.variables, "value"))


def test_analyze_and_evolve_are_among_them():
    assert {"analyze", "evolve", "retry"} <= set(SHIPPED)


def write(folder: Path, text: str, name: str = "analyze") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.md").write_text(text, encoding="utf-8")
    return folder


def test_a_user_s_own_file_comes_first_and_may_ask_for_less(tmp_path):
    mine = write(tmp_path, "---\nname: analyze\nversion: 7\nvariables: note\n---\nDescribe $note for $$5.\n")
    prompt = load_prompt("analyze", mine)
    assert prompt.version == "7"
    assert prompt.render(note="it", speaker="nobody asked") == "Describe it for $5.\n"
    assert load_prompt("evolve", mine).version == load_prompt("evolve").version


def test_a_dollar_in_a_note_survives():
    prompt = load_prompt("analyze")
    text = prompt.render(**{**dict.fromkeys(prompt.variables, "-"), "note": "rent is $note, $1200 or ${tags} 💶 $$"})
    assert "rent is $note, $1200 or ${tags} 💶 $$" in text


def test_a_variable_without_a_value_is_an_error():
    with pytest.raises(InvalidInput, match="needs a value for note"):
        load_prompt("analyze").render(speaker="", when="", previous="", tags="")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("Just text, $note", "does not begin with front matter"),
        ("---\nname: analyze\nvariables: note\n---\n$note", "has no version"),
        ("---\nname: other\nversion: 1\nvariables: note\n---\n$note", "calls it other"),
        ("---\nname: analyze\nversion: 1\nvariables: note, tags\n---\n$note", "differ: tags"),
        ("---\nname: analyze\nversion: 1\nvariables: note\n---\n$note costs $ 5", "write \\$\\$"),
        ("---\nname: analyze\nnonsense\n---\n$note", "without a colon: nonsense"),
    ],
)
def test_a_file_that_is_no_prompt_is_named_with_what_is_wrong_in_it(tmp_path, text, complaint):
    with pytest.raises(InvalidInput, match=complaint) as caught:
        load_prompt("analyze", write(tmp_path, text))
    assert str(tmp_path / "analyze.md") in str(caught.value)


def test_an_unknown_prompt_says_where_it_was_looked_for(tmp_path):
    with pytest.raises(InvalidInput, match="no prompt called nosuch") as caught:
        load_prompt("nosuch", tmp_path)
    assert str(tmp_path) in str(caught.value)
