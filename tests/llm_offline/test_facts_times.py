"""A fact has the times that its own clause names."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    Stated = Callable[..., list[str]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "I left Google in March and joined OpenAI in April.",
            ["not user works_at Google since 2026-03-01", "user works_at OpenAI since 2026-04-01"],
        ),
        (
            "I left Google in March and joined OpenAI.",
            ["not user works_at Google since 2026-03-01", "user works_at OpenAI"],
        ),
        (
            "In March I left Google and joined OpenAI.",
            ["not user works_at Google since 2026-03-01", "user works_at OpenAI since 2026-03-01"],
        ),
        ("From September I'm head of science.", ["user job_title head of science since 2026-09-01"]),
        (
            "从下个月起搬到滨江区，房租每月五千二。",
            ["user lives_in 滨江区 since 2026-07-01", "user rent 五千二 since 2026-07-01"],
        ),
        ("豆豆九月起去江南实验学校。", ["豆豆 school 江南实验学校 since 2026-09-01"]),
        ("I'm moving to Porto on 1 September.", ["user lives_in Porto since 2026-09-01"]),
        ("We're moving to Porto in October, the lease is signed.", ["user lives_in Porto since 2026-10-01"]),
        ("We're moving to Porto in October.", []),
        ("我们十月搬去武汉，合同签了。", ["user lives_in 武汉 since 2026-10-01"]),
        ("我们十月搬去武汉。", []),
        ("The landlord raises the rent to 980 euros from January.", ["user rent 980 euros since 2027-01-01"]),
        ("Handed in my notice, last day is 31 August.", ["not user works_at since 2026-08-31"]),
        ("My last day at Bosch is 31 August.", ["not user works_at Bosch since 2026-08-31"]),
        ("我交了辞呈，最后一天是8月31日。", ["not user works_at since 2026-08-31"]),
        ("The last day of the sale is 31 August.", []),
        ("I'm leaving Google on 30 September.", ["not user works_at Google since 2026-09-30"]),
        ("豆豆九月上江南实验学校。", ["豆豆 school 江南实验学校 since 2026-09-01"]),
        ("从下个月起我的上司换成唐敏。", ["user manager 唐敏 since 2026-07-01"]),
        ("打算从下个月起搬到滨江区。", []),
        ("I gave up sugar in March.", ["not user likes sugar since 2026-03-01"]),
        ("I joined OpenAI in August.", ["user works_at OpenAI since 2025-08-01"]),
        ("I moved to Porto last month.", ["user lives_in Porto since 2026-05-01"]),
        ("I moved to Porto on 3 May 2024.", ["user lives_in Porto since 2024-05-03"]),
        ("I've lived in Porto since 2021.", ["user lives_in Porto since 2021-01-01"]),
        ("I have lived in Porto for 3 years.", ["user lives_in Porto since 2023-01-01"]),
        ("Since May I use Vim.", ["user uses Vim since 2026-05-01"]),
        ("I started at Bosch on Monday.", ["user works_at Bosch since 2026-06-15"]),
        (
            "I worked at Google from May to August 2024.",
            ["user works_at Google since 2024-05-01 until 2024-09-01"],
        ),
        ("From October to March I lived in Porto.", ["user lives_in Porto since 2025-10-01 until 2026-04-01"]),
        ("I worked at Google until 2023.", ["not user works_at Google since 2023-01-01"]),
        ("I work at Google until December.", ["user works_at Google until 2026-12-01"]),
        ("我上个月搬到了波尔图。", ["user lives_in 波尔图 since 2026-05-01"]),
        ("上周我从谷歌离职。", ["not user works_at 谷歌 since 2026-06-08"]),
        (
            "三月从谷歌离职，四月加入了 OpenAI。",
            ["not user works_at 谷歌 since 2026-03-01", "user works_at OpenAI since 2026-04-01"],
        ),
        ("我从2021年起住在上海。", ["user lives_in 上海 since 2021-01-01"]),
        ("我2021年5月到8月在谷歌实习。", ["user works_at 谷歌 since 2021-05-01 until 2021-09-01"]),
        ("去年5月我搬到了上海。", ["user lives_in 上海 since 2025-05-01"]),
    ],
)
def test_a_clause_says_since_when_and_until_when(stated: Stated, text: str, expected: list[str]):
    assert sorted(stated(text)) == sorted(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("By the way, back in January I was still at Northwind.", "user works_at Northwind"),
        ("In January my manager was Carla Nunes.", "user manager Carla Nunes"),
        ("In January I still lived in Lisbon.", "user lives_in Lisbon"),
        ("Back in January I still ate meat.", "user diet meat"),
        ("In January the project still used PostgreSQL.", "we uses PostgreSQL"),
        ("对了，今年1月我还在远景科技上班。", "user works_at 远景科技"),
        ("1月的时候我的经理是陈红。", "user manager 陈红"),
        ("1月我还住在北京。", "user lives_in 北京"),
        ("1月那会儿我还吃肉。", "user diet 肉"),
        ("1月项目还在用 MySQL。", "we uses MySQL"),
    ],
)
def test_what_was_so_in_a_month_was_so_in_that_month(stated: Stated, text: str, expected: str):
    assert stated(text) == [f"{expected} since 2026-01-01 until 2026-02-01"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I left Helio at the end of May.", "not user works_at Helio since 2026-05-31"),
        ("5月底我从星河数据离职了。", "not user works_at 星河数据 since 2026-05-31"),
        ("I joined Helio at the beginning of May.", "user works_at Helio since 2026-05-01"),
        ("5月初我加入了星河数据。", "user works_at 星河数据 since 2026-05-01"),
    ],
)
def test_the_end_of_a_month_is_its_last_day(stated: Stated, text: str, expected: str):
    assert stated(text) == [expected]


@pytest.mark.parametrize(
    "text", ["I used to live in Lisbon.", "I formerly worked at Google.", "以前我在谷歌工作。", "我曾经住在上海。"]
)
def test_what_used_to_be_is_not_so_now_and_claims_no_earlier_time(stated: Stated, text: str):
    (fact,) = stated(text)
    assert fact.startswith("not ")
    assert "since" not in fact


def test_nothing_is_dated_where_nobody_knows_when_it_was_said(stated: Stated):
    assert stated("I moved to Porto last month.", said=None) == ["user lives_in Porto"]


def test_an_hour_in_january_remembers_last_december(stated: Stated):
    said = datetime(2026, 1, 2, tzinfo=UTC)
    assert stated("I joined OpenAI in December.", said=said) == ["user works_at OpenAI since 2025-12-01"]


@pytest.mark.parametrize(
    "text", ["I moved to Porto before March.", "I moved to Porto around 2020.", "I moved to Porto after May."]
)
def test_a_time_that_is_only_a_bound_is_no_date(stated: Stated, text: str):
    assert stated(text) == ["user lives_in Porto"]
