"""The table of predicates: what comes with amem, and what a person changes in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from amem.errors import InvalidInput
from amem.language.predicates import load_predicates

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("works for", "works_at"),
        ("Works_At", "works_at"),
        ("入职", "works_at"),
        ("moved to", "lives_in"),
        ("搬到", "lives_in"),
        ("is allergic to", "allergic_to"),
        ("改用", "uses"),
        ("plays chess with", "plays_chess_with"),
    ],
)
def test_a_predicate_has_one_name_however_it_is_written(name: str, expected: str):
    assert load_predicates().canonical(name) == expected


def test_slots_say_what_holds_one_value_at_a_time():
    table = load_predicates()
    assert table.slot("lives_in", "Lisbon") == "lives_in"
    assert table.slot("uses", "PostgreSQL 16") == table.slot("uses", "mysql") == "uses database"
    assert table.slot("uses", "飞书") == "uses chat"
    assert table.slot("uses", "a hammer") is None
    assert table.slot("likes", "tea") is None
    assert table.slot("invented", "anything") is None


def test_what_hangs_on_an_employer_is_said():
    table = load_predicates()
    assert table.hangs_on("manager") == "works_at"
    assert table.hangs_on("lives_in") is None
    assert "office" in table.hanging_on("works_at")


def test_every_alias_belongs_to_one_row_and_every_value_to_one_role():
    table = load_predicates()
    aliases = [alias for row in table.rows.values() for alias in (*row.aliases, row.name.replace("_", " "))]
    assert len(aliases) == len(set(aliases))
    assert {row.hangs_on for row in table.rows.values()} - {None} <= table.rows.keys()


def test_an_own_file_replaces_key_by_key(tmp_path: Path):
    rows = '[likes]\none = true\n[drives]\none = true\naliases = ["car"]\nhangs_on = "lives_in"\n'
    own = rows + '[roles]\ntoolbox = ["hammer"]\n[kinds]\nfruit = ["apple"]\n'
    (tmp_path / "predicates.toml").write_text(own, encoding="utf-8")
    table = load_predicates(tmp_path)
    assert table.slot("likes", "tea") == "likes"
    assert table.canonical("loves") == "likes"
    assert (table.canonical("car"), table.hangs_on("drives")) == ("drives", "lives_in")
    assert table.role("hammer") == "toolbox"
    assert table.role("mysql") == "database"
    assert table.general("Do I still eat apples?") == ["fruit"]
    assert table.general("我还喝拿铁吗？") == ["coffee", "咖啡"]
    assert table.general("What do I eat?") == []


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[likes\n", "cannot read"),
        ("likes = 3\n", "[likes] is not a table"),
        ("[likes]\nmany = true\n", "[likes] has no key 'many'"),
        ('[likes]\none = "sometimes"\n', "[likes] one must be true, false or"),
        ('[likes]\naliases = "loves"\n', "[likes] aliases must be a list of texts"),
        ('[likes]\naliases = [""]\n', "[likes] aliases must be a list of texts"),
        ("[likes]\nhangs_on = 3\n", "[likes] hangs_on must name a predicate"),
        ('[likes]\nhangs_on = "weather"\n', "[likes] hangs_on names 'weather'"),
        ('[likes]\nhangs_on = "roles"\n', "[likes] hangs_on names 'roles'"),
        ('[kinds]\ncoffee = "latte"\n', "[kinds] must hold lists of texts"),
        ('[roles]\ndatabase = "mysql"\n', "[roles] must hold lists of texts"),
    ],
)
def test_a_table_that_cannot_be_used_is_named_with_file_and_key(tmp_path: Path, text: str, complaint: str):
    path = tmp_path / "predicates.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput) as refused:
        load_predicates(tmp_path)
    assert str(path) in str(refused.value)
    assert complaint in str(refused.value)
    assert refused.value.hint


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        *[("住", "lives_in"), ("home", "lives_in"), ("lives_in", "lives_in"), ("employ", "works_at")],
        *[("is", "is"), ("hometown", "hometown"), ("", "")],
    ],
)
def test_a_person_may_type_a_word_that_questions_use_or_the_beginning_of_a_name(typed: str, meant: str):
    assert load_predicates().meant(typed) == meant


def test_a_fact_is_read_in_one_language():
    table = load_predicates()
    assert table.phrase("works_at", "字节跳动", chinese=True) == "工作于：字节跳动"
    assert table.phrase("works_at", "Marulho") == "works at Marulho"
    assert table.phrase("岳母", "王芳", chinese=True) == "岳母：王芳"
    assert table.phrase("works_at", "", chinese=True) == "工作于"
