"""`amem facts` and `amem timeline`: what is so and since when, in a pipe, in JSON and on terminals of any width."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from rich.cells import cell_len
from rich.console import Console

from amem.cli.facts import draw_intervals
from amem.cli.render import Page
from amem.language.intervals import Interval
from amem.language.predicates import load_predicates

if TYPE_CHECKING:
    from conftest import Cli

_SAID = """\
{"content": "I joined Google.", "facts": [["user", "works_at", "Google"]], "time": "2024-02-01"}
{"content": "My manager is Priya.", "facts": [["user", "manager", "Priya"]], "time": "2024-02-10"}
{"content": "我住在上海。", "facts": [["我", "住在", "上海"]], "time": "2024-03-01"}
{"content": "I joined OpenAI.", "facts": [["user", "works_at", "OpenAI"]], "time": "2026-02-20"}
{"content": "Priya Rao lives in Porto.", "facts": [["Priya Rao", "lives_in", "Porto"]], "time": "2025-01-01"}
"""


@pytest.fixture
def employed(cli: Cli) -> Cli:
    cli.ok("import", "-", "--format", "jsonl", input=_SAID)
    return cli


def columns(text: str) -> list[list[str]]:
    return [line.split("\t")[:4] for line in text.splitlines()]


def test_facts_in_a_pipe_are_what_is_so_now(employed: Cli) -> None:
    assert columns(employed.ok("facts", "me")) == [
        ["lives_in", "上海", "2024-03-01", ""],
        ["works_at", "OpenAI", "2026-02-20", ""],
    ]
    assert columns(employed.ok("facts", "我", "--predicate", "employer", "--as-of", "2025-01-01")) == [
        ["works_at", "Google", "2024-02-01", "2026-02-20"]
    ]


def test_a_timeline_says_what_ended_what_and_what_is_only_presumed(employed: Cli) -> None:
    google, boss, _, openai = employed.json("timeline", "me")
    assert (google["object"], google["until"], google["because"]) == (
        "Google",
        "2026-02-20T00:00:00+00:00",
        "OpenAI since",
    )
    assert google["ended_by"] == openai["notes"][0]
    assert (boss["object"], boss["certain"]) == ("Priya", False)
    assert "presumed ended: works at Google until then" in employed.ok("timeline", "me")


_MIXED = """\
{"content": "我在字节跳动上班。", "facts": [["我", "works_at", "字节跳动"]], "time": "2024-02-01"}
{"content": "My manager is Priya.", "facts": [["user", "manager", "Priya"]], "time": "2024-02-10"}
{"content": "我住在上海。", "facts": [["我", "住在", "上海"]], "time": "2024-03-01"}
{"content": "I joined OpenAI.", "facts": [["user", "works_at", "OpenAI"]], "time": "2026-02-20"}
{"content": "我搬到了杭州。", "facts": [["我", "住在", "杭州"]], "time": "2026-03-01"}
"""


_ENDS = {
    "en": ["ended: OpenAI since", "presumed ended: works at 字节跳动 until then", "ended: 杭州 since"],
    "zh": ["已结束：后来是OpenAI", "推测已结束：此前工作于：字节跳动", "已结束：后来是杭州"],
}


@pytest.mark.parametrize(
    ("subject", "locale", "language"), [("me", "en_GB", "en"), ("我", "en_GB", "zh"), ("me", "zh_CN", "zh")]
)
def test_a_list_is_told_in_one_language_that_of_the_question_or_of_a_chinese_locale(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, subject: str, locale: str, language: str
) -> None:
    cli.ok("import", "-", "--format", "jsonl", input=_MIXED)
    monkeypatch.setenv("LC_ALL", f"{locale}.UTF-8")
    rows = [line.split("\t") for line in cli.ok("timeline", subject).splitlines()]
    assert [row[5] for row in rows if row[5]] == _ENDS[language]


def test_without_a_subject_it_says_whom_there_is_to_ask_about(employed: Cli) -> None:
    assert employed.json("facts") == [{"subject": "user", "facts": 4}, {"subject": "Priya Rao", "facts": 1}]


def test_an_unknown_subject_is_said_to_be_one_with_names_that_are_near(employed: Cli) -> None:
    result = employed("timeline", "Pryia")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "nothing is known of 'Pryia'; did you mean Priya Rao?\n"
    assert employed.json("facts", "Pryia") == []
    known = employed("facts", "me", "-p", "diet").stderr
    assert known == "nothing about 'diet' is known of user; known: works_at, manager, lives_in\n"


def test_what_was_not_known_yet_is_not_said_to_be_unknown(employed: Cli) -> None:
    assert employed("facts", "me", "--known-at", "2020-01-01").stderr == (
        "nothing was known of user at 2020-01-01; it is now\n"
    )
    assert (
        "nothing was known about lives_in of user" in employed("timeline", "我", "-p", "住", "--known-at", "7d").stderr
    )


def test_a_predicate_is_found_by_the_words_that_people_type_for_it(employed: Cli) -> None:
    for typed in ("住", "home", "live", "lives in"):
        assert columns(employed.ok("facts", "me", "-p", typed)) == [["lives_in", "上海", "2024-03-01", ""]]


def test_nothing_so_then_is_told_from_nothing_known(employed: Cli) -> None:
    result = employed("facts", "me", "--as-of", "2020-01-01")
    assert result.stdout == ""
    assert "nothing of user is known to be true now" in result.stderr


def test_where_nothing_was_ever_added_nothing_is_known(cli: Cli) -> None:
    assert cli.json("facts", "me") == cli.json("facts") == cli.json("timeline", "me") == []


def test_what_was_known_before_the_first_note_is_nothing(employed: Cli) -> None:
    for words in (("facts", "me"), ("timeline", "me"), ("list",), ("search", "Google")):
        assert employed.json(*words, "--known-at", "2020-01-01") == []
        assert employed.json(*words, "--known-at", "2100-01-01") != []
    id = employed.json("list", "-n", "1")[0]["id"]
    assert employed.refused("show", id, "--known-at", "2020-01-01").endswith("was not there at 2020-01-01")


def interval(predicate: str, object: str, until: int | None, *, certain: bool = True, because: str = "") -> Interval:
    since = datetime(2024, 2, 1, tzinfo=UTC)
    end = None if until is None else datetime(until, 3, 1, tzinfo=UTC)
    return Interval("user", predicate, object, since, end, ("note-1",), None, certain, because)


SHOWN = [
    interval("works_at", "Google", 2026, because="OpenAI since"),
    interval("works_at", "OpenAI", None),
    interval("manager", "Priya", 2026, certain=False, because="works at Google until then"),
    interval("lives_in", "上海市浦东新区世纪大道一百号的一个很小的房间", None),
]


def drawn(width: int, *, grouped: bool, chinese: bool = False) -> list[str]:
    out = Console(file=io.StringIO(), width=width, highlight=False, force_terminal=False)
    draw_intervals(Page(out), SHOWN, UTC, load_predicates(), grouped=grouped, chinese=chinese)
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue().splitlines()


def words(line: str) -> str:
    return " ".join(line.split())


def test_on_a_terminal_each_interval_is_a_line_with_why_it_ended() -> None:
    lines = drawn(140, grouped=False)
    assert words(lines[0]) == "○ works at Google 2024-02-01 – 2026-03-01 note-1 ended: OpenAI since"
    assert words(lines[1]) == "● works at OpenAI since 2024-02-01 note-1"
    assert words(lines[2]).startswith("◌ manager Priya 2024-02-01 – 2026-03-01 ?")


def test_why_it_ended_is_said_in_one_language() -> None:
    said = [
        interval("works_at", "小米", 2026, certain=certain, because="后来是比亚迪").ending()
        for certain in (True, False)
    ]
    assert said == ["已结束：后来是比亚迪", "推测已结束：后来是比亚迪"]


def test_who_asks_in_chinese_has_predicates_and_times_in_chinese_too() -> None:
    lines = [words(line) for line in drawn(140, grouped=False, chinese=True)]
    assert lines[0] == "○ 工作于 Google 2024-02-01 – 2026-03-01 note-1 已结束：OpenAI since"
    assert lines[1] == "● 工作于 OpenAI 2024-02-01 起 note-1"


def test_a_predicate_is_named_once_for_what_follows_under_it() -> None:
    assert words(drawn(140, grouped=True)[1]) == "● OpenAI since 2024-02-01 note-1"


@pytest.mark.parametrize("width", [40, 50, 66, 80, 120])
@pytest.mark.parametrize("grouped", [True, False])
def test_no_line_is_wider_than_the_terminal_and_columns_align(width: int, grouped: bool) -> None:
    lines = drawn(width, grouped=grouped)
    assert all(cell_len(line) <= width for line in lines)
    if width >= 66:
        at = {cell_len(line[: line.index("2024-02-01")].removesuffix("since ")) for line in lines if "2024" in line}
        assert len(at) == 1


def test_a_subject_may_be_typed_in_small_letters_and_without_accents(cli: Cli) -> None:
    cli.ok("add", "Heron project uses NATS.")
    cli.ok("add", "Amélia's landlord is Pedro.")
    assert (
        columns(cli.ok("facts", "heron project"))[0][:2] == columns(cli.ok("facts", "HERON"))[0][:2] == ["uses", "NATS"]
    )
    assert columns(cli.ok("timeline", "amelia"))[0][:2] == ["landlord", "Pedro"]
