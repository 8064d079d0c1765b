"""``amem conflicts`` and a person's word on what is true, as typed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from rich.cells import cell_len

if TYPE_CHECKING:
    from conftest import Cli


def test_a_text_is_tried_and_then_told_and_taken_back_by_hand(cli: Cli) -> None:
    old = cli.add("I live in Porto.", "--time", "2024-05-01")
    (tried,) = cli.json("conflicts", "I moved to Berlin.")
    assert (tried["earlier"], tried["later"], tried["label"], tried["hides"]) == (old, "", "supersedes", True)
    assert len(cli.json("list")) == 1
    receipt = cli.json("add", "I moved to Berlin.", "--time", "2026-02-01")
    assert receipt["superseded"] == [old]
    new = receipt["id"]
    assert cli.json("unsupersede", old) == {"unsuperseded": [old]}
    assert cli.json("unsupersede", old) == {"unsuperseded": []}
    assert cli.json("supersede", old, new, "--reason", "they moved") == {"superseded": old, "by": new}
    assert cli.refused("supersede", old, new).startswith(f"{old[:8]} is superseded already (")
    assert f"amem unsupersede {old[:8]}" in cli.refused("supersede", old, new)
    assert cli.json("retract", new, "--reason", "a joke") == {"retracted": [new]}
    shown = cli("retract", new)
    assert shown.stderr == f"{new[:8]} is retracted already\n"
    assert cli.json("conflicts") == []


def test_a_repeated_retract_says_what_is_so_already(cli: Cli) -> None:
    note = cli.add("I like tea. I like opera.")
    assert cli.ok("retract", note, "-s", "I like tea") == f"retracted a statement of {note[:8]}\n"
    assert cli("retract", note, "-s", "I like tea").stderr == (
        f"that statement of {note[:8]} is marked as no longer so already\n"
    )
    assert "only a part of “I like opera.”" in cli.refused("retract", note, "-s", "opera")
    old, new = cli.add("The shed is red."), cli.add("The barn is tall.")
    cli.ok("supersede", old, new)
    assert cli("retract", old).stderr == f"{old[:8]} is superseded by {new[:8]} already\n"
    assert cli.ok("retract", note) == f"retracted {note[:8]}\n"
    assert cli("retract", note).stderr == f"{note[:8]} is retracted already\n"
    assert cli.refused("unsupersede", note, "-s", "I like tea").startswith(f"{note[:8]} does not stand at all")


def test_what_disagrees_is_listed_with_how_to_decide(cli: Cli) -> None:
    assert cli.json("conflicts") == []
    one, two = cli.add("The shed is red."), cli.add("What colour the shed has nobody knows for certain.")
    cli.ok("link", two, one, "--type", "contradicts", "--reason", "nobody knows")
    (found,) = cli.json("conflicts")
    assert (found["earlier"], found["later"], found["label"]) == (one, two, "contradicts")
    said = cli("conflicts")
    assert said.stdout.split("\t")[:6] == [one[:8], two[:8], "contradicts", "", "1.00", "nobody knows"]
    assert "amem retract LATER" in said.stderr
    assert cli.json("keep", one) == {"kept": [one]}
    assert cli.json("keep", one) == {"kept": []}
    assert cli("conflicts").stderr == "nothing disagrees\n"


def test_flags_are_listed_beside_reviews_and_dismissed(cli: Cli) -> None:
    old = cli.add("I live in Porto.", "--time", "2024-05-01")
    leaning = cli.add("The tram stops right at the door.", "--time", "2024-06-01")
    cli.ok("link", leaning, old)
    new = cli.add("I moved to Berlin.", "--time", "2026-02-01")
    (flag,) = cli.json("review", "flags")
    assert (flag["note"], flag["because"]) == (leaning, new)
    assert cli.json("review", "list") == []
    assert "The tram stops" in cli.ok("review", "list")
    assert [each["level"] for each in cli.json("doctor") if each["about"] == "flags"] == ["warning"]
    cli.ok("keep", leaning)
    assert cli.json("review", "flags") == []


def test_chinese_words_are_tried_the_same(cli: Cli) -> None:
    cli.add("项目使用 PostgreSQL")
    (tried,) = cli.json("conflicts", "我们决定改用 MySQL")
    assert tried["hides"]
    assert cli("conflicts", "今天天气真好").stderr == "it would overturn nothing\n"


@pytest.fixture
def at_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("command", "truth", "history"):
        monkeypatch.setattr(f"amem.cli.{module}.on_terminal", lambda: True)


@pytest.mark.usefixtures("at_terminal")
@pytest.mark.parametrize("columns", [50, 80])
def test_at_a_terminal_each_pair_is_a_block_with_what_to_type(cli: Cli, columns: int) -> None:
    one = cli.add("办公室有三十张桌子，地点是三楼，门口可以停车。", "--time", "2024-05-01")
    two = cli.add("办公室现在有四十二张桌子，大家互相转告一下。", "--time", "2026-02-01")
    text = cli.ok("conflicts", COLUMNS=str(columns))
    lines = text.splitlines()
    assert lines[0] == "supersedes, unsure  0.75"
    assert lines[1].startswith(f"  earlier  {one[:8]}  2024-05-01  办公室有三十张")
    assert any(line.startswith(f"  later    {two[:8]}  2026-02-01  办公室现在有") for line in lines)
    assert "  why      后来是“办公室现在有四十二张桌子”" in text
    for way in (f"supersede {one[:8]} {two[:8]}", f"retract {two[:8]}", f"keep {one[:8]}"):
        assert sum(way in line for line in lines) == 1
    assert max(cell_len(line) for line in lines if "--home" not in line) <= columns


@pytest.mark.usefixtures("at_terminal")
def test_a_tried_text_has_no_id_and_nothing_to_type(cli: Cli) -> None:
    cli.add("I live in Porto.", "--time", "2024-05-01")
    lines = cli.ok("conflicts", "I moved to Berlin.").splitlines()
    assert lines[0] == "supersedes  0.95"
    assert "  later    the text  I moved to Berlin." in lines
    assert not any("retract" in line for line in lines)


@pytest.mark.usefixtures("at_terminal")
def test_flags_can_be_read_on_fifty_columns(cli: Cli) -> None:
    old = cli.add("I live in Porto.", "--time", "2024-05-01")
    leaning = cli.add("The tram stops right at the door.", "--time", "2024-06-01")
    cli.ok("link", leaning, old)
    cli.add("I moved to Berlin.", "--time", "2026-02-01")
    lines = cli.ok("review", "list", COLUMNS="50").splitlines()
    assert lines[0] == f"{leaning[:8]}  The tram stops right at the door."
    said = " ".join(" ".join(lines[1:]).split())
    assert said == "may be out of date: “I moved to Berlin.” superseded “I live in Porto.”"
    assert max(map(cell_len, lines)) <= 50


def test_a_pair_that_disagrees_is_no_note_that_leans(cli: Cli) -> None:
    cli.add("The gym opens at 7. The sauna is on the second floor.", "--time", "2024-05-01")
    cli.add("The gym opens at 8 now.", "--time", "2026-02-01")
    assert len(cli.json("conflicts")) == 1
    assert cli.json("review", "flags") == []
    health = cli.json("health")
    assert (health["stale"], health["conflicts"]) == (0, 1)


def test_help_tells_the_old_note_from_the_new(cli: Cli) -> None:
    shown = cli.ok("supersede", "--help")
    assert shown.index("OLD") < shown.index("NEW")
    assert "The note that no longer holds." in shown


def test_of_the_demos_year_only_what_did_change_has_ended(demo: Cli) -> None:
    notes = demo.json("-c", "demo", "list", "-n", "100", "--superseded")
    words = {note["id"]: note["content"] for note in notes}
    ended = {(each["text"], words[each["by"]][:18]) for note in notes for each in note["overturned"]}
    assert ended == {
        ("I work as a backend engineer at Kestrel Freight in Rotterdam.", "Last day at Kestre"),
        ("I have been vegetarian since 2023: no meat and no fish.", "在里斯本闻了两个星期的烤沙丁鱼，投降"),
        ("我和芝麻住在鹿特丹北边的一间小阁楼里。", "搬到里斯本了。芝麻在飞机座位底下一路"),
        ("My phone is a Pixel 6 with a cracked corner.", "Bought a Fairphone"),
        ("Signed up for the Rotterdam marathon in April.", "Decision: I withdr"),
    }
    assert demo.json("-c", "demo", "conflicts") == []


@pytest.mark.parametrize("question", ["what may I eat?", "我能吃什么？"])
def test_the_demo_says_of_no_overturned_rule_that_it_holds(demo: Cli, question: str) -> None:
    for budget in ("250", "1200"):
        text = demo.ok("-c", "demo", "context", question, "--budget", budget)
        assert not re.search(r"no meat and no fish(?! \(until 2026-06-22)", text)
        assert text.count("I have been vegetarian") == text.count("vegetarian since 2023: no meat and no fish (until")


def test_the_log_names_the_statement_that_ended_of_a_note_that_stands(cli: Cli) -> None:
    note = cli.add("I like tea. I like opera.")
    cli.ok("retract", note, "-s", "I like tea")
    assert cli.json("log", "-n", "1")[0]["summary"].startswith("ended “I like tea.” of “I like tea. ")
    cli.ok("retract", note)
    assert cli.json("log", "-n", "1")[0]["summary"].startswith("retracted “I like tea. I like opera.”")
