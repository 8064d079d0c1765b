"""Prompt files and their variables."""

from __future__ import annotations

from pathlib import Path

import pytest

from amem.errors import InvalidInput
from amem.llm.prompts import CHINESE, language_of, load_prompt

SHIPPED = sorted(path.stem for path in (Path(__file__).parents[2] / "prompts").glob("*.md"))


@pytest.mark.parametrize("name", SHIPPED)
def test_every_prompt_that_comes_with_amem_declares_the_variables_it_uses(name):
    prompt = load_prompt(name)  # refuses a file whose declared and used variables differ
    assert prompt.version.isdigit()
    assert prompt.render(**dict.fromkeys(prompt.variables, "value"))


ENGLISH = [name for name in SHIPPED if not name.endswith(f".{CHINESE}")]


def test_everything_that_is_asked_of_a_model_has_a_prompt():
    sections = {f"{name}_sections" for name in ("analyze", "evolve", "extract")}
    whole = {"analyze", "evolve", "extract", "answer", "rerank", "judge", "merge", "topic_page", "retry"}
    assert sections | whole <= set(ENGLISH)


@pytest.mark.parametrize("name", ENGLISH)
def test_every_prompt_asks_the_same_in_chinese(name):
    english, chinese = load_prompt(name), load_prompt(name, language=CHINESE)
    assert chinese.name == f"{name}.zh"
    assert chinese.variables == english.variables
    assert language_of(chinese.text) == CHINESE
    assert english.text.isascii()


def test_a_prompt_is_chosen_by_the_language_of_the_note():
    assert language_of("量子退火用 quantum fluctuation 寻找最优解") == CHINESE
    for other in ("We met 小林 at the station yesterday evening", "日本語のメモです", "한국어 메모", "", "12:30 !"):
        assert language_of(other) == ""
    assert load_prompt("analyze", language=language_of("妈妈对花生过敏")).label == "analyze.zh 4"
    assert load_prompt("analyze", language="fr").label == "analyze 4"


def test_a_user_s_own_file_comes_before_both_of_amem_s_in_either_language(tmp_path):
    mine = write(tmp_path, "---\nname: analyze\nversion: 7\nvariables: note\n---\nDescribe $note.\n")
    assert load_prompt("analyze", mine, CHINESE).label == "analyze 7"
    write(tmp_path, "---\nname: analyze.zh\nversion: 8\nvariables: note\n---\n描述 $note\n", "analyze.zh")
    assert load_prompt("analyze", mine, CHINESE).label == "analyze.zh 8"
    assert load_prompt("analyze", mine).label == "analyze 7"


def test_the_size_of_a_prompt_leaves_room_for_notes():
    for name in ENGLISH:
        assert len(load_prompt(name).text) < 2_200, name


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
