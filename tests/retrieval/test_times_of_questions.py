"""The time that a question names becomes a period in the zone of whoever asks; what names none stays without."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest

from amem.language.times import named_in_note
from amem.retrieval.router import Router
from amem.settings import Settings

if TYPE_CHECKING:
    from amem.retrieval.question import Event, Period

LISBON = ZoneInfo("Europe/Lisbon")
NOW = datetime(2026, 2, 1, 9, tzinfo=LISBON)  # a Sunday


def period(question: str, *, now: datetime = NOW) -> Period | None:
    return Router(Settings()).read(question, now, LISBON).period


def event(question: str) -> Event | None:
    return Router(Settings()).read(question, NOW, LISBON).event


def days(found: Period | None) -> tuple[str | None, str | None]:
    """First day, and day after the last."""
    assert found is not None
    since, until = found.since, found.until
    assert all(moment is None or moment.astimezone(LISBON).hour == 0 for moment in (since, until))
    return since.date().isoformat() if since else None, until.date().isoformat() if until else None


@pytest.mark.parametrize(
    ("question", "since", "until"),
    [
        ("What did I do yesterday?", "2026-01-31", "2026-02-01"),
        ("Whom did we meet on the first weekend of May 2025?", "2025-05-03", "2025-05-05"),
        ("What did I read in the last week of July 2025?", "2025-07-28", "2025-08-04"),
        ("Whom did we meet on the last Sunday in May 2025?", "2025-05-25", "2025-05-26"),
        ("2025年5月的第一个星期天我们见了谁？", "2025-05-04", "2025-05-05"),
        ("2025年5月3日的会议谁来了？", "2025-05-03", "2025-05-04"),
        ("谁早于我入职，2025年5月做了什么？", "2025-05-01", "2025-06-01"),
        ("What did I owe the bank as of June 2024?", None, "2024-07-01"),
        ("2025年5月的第一个周末我们见了谁？", "2025-05-03", "2025-05-05"),
        ("2025年7月的最后一周我读了什么？", "2025-07-28", "2025-08-04"),
        ("2025年7月第二周我读了什么？", "2025-07-07", "2025-07-14"),
        ("截至2024年6月我欠银行多少？", None, "2024-07-01"),
        ("2025年1月中旬我们谈了什么？", "2025-01-11", "2025-01-21"),
        ("What did I eat today?", "2026-02-01", "2026-02-02"),
        ("What did I do last week?", "2026-01-19", "2026-01-26"),
        ("What did we plan last weekend?", "2026-01-24", "2026-01-26"),
        ("Where was I two weeks ago?", "2026-01-12", "2026-01-19"),
        ("What did I read in the last two weeks?", "2026-01-18", "2026-02-02"),
        ("What happened over the past 3 months?", "2025-11-01", "2026-02-02"),
        ("Who visited us last year?", "2025-01-01", "2026-01-01"),
        ("What did I say on Friday?", "2026-01-30", "2026-01-31"),
        ("What is planned for tomorrow?", "2026-02-02", "2026-02-03"),
        ("What did we ship in March 2023?", "2023-03-01", "2023-04-01"),
        ("What did we ship on 7 May 2023?", "2023-05-07", "2023-05-08"),
        ("What did we ship on May 7th, 2023?", "2023-05-07", "2023-05-08"),
        ("What did we ship on 3 June, 2023?", "2023-06-03", "2023-06-04"),
        ("what happened 2023-05-07", "2023-05-07", "2023-05-08"),
        ("invoices 2023-05", "2023-05-01", "2023-06-01"),
        ("Where did we go in 2023?", "2023-01-01", "2024-01-01"),
        ("What music did I like in the 1990s?", "1990-01-01", "2000-01-01"),
        ("What were the goals of Q3 2024?", "2024-07-01", "2024-10-01"),
        ("Where did we go last summer?", "2025-06-01", "2025-09-01"),
        ("What happened from the 1st to the 10th of October 2023?", "2023-10-01", "2023-10-11"),
        ("What happened from 1st to 10th of October 2023?", "2023-10-01", "2023-10-11"),
        ("Who came October 3-5, 2024?", "2024-10-03", "2024-10-06"),
        ("What was said the week of November 12th, 2024?", "2024-11-11", "2024-11-18"),
        ("去年三月二十一日谁来了？", "2025-03-21", "2025-03-22"),
        ("What did we buy in the winter of 2023?", "2023-12-01", "2024-03-01"),
        ("What did we cook at Thanksgiving 2024?", "2024-11-28", "2024-12-02"),
        ("Where were we at Easter 2024?", "2024-03-29", "2024-04-02"),
        ("What did we fix in late March 2023?", "2023-03-21", "2023-04-01"),
        ("What did I buy at the beginning of 2023?", "2023-01-01", "2023-05-01"),
        # one side open
        ("Which books have I read since 2022?", "2022-01-01", None),
        ("What did I buy after 7 May 2023?", "2023-05-08", None),
        ("Where did we live before 2023?", None, "2023-01-01"),
        ("What had we built by the end of 2022?", None, "2023-01-01"),
        ("Who was my manager until March 2023?", None, "2023-04-01"),
        # ranges
        ("What happened between March and May 2023?", "2023-03-01", "2023-06-01"),
        ("Where did I work from May 2021 to August?", "2021-05-01", "2021-09-01"),
        ("Where did I work from October to March 2023?", "2022-10-01", "2023-04-01"),
        ("What changed between 2019 and 2021?", "2019-01-01", "2022-01-01"),
        ("What did we do in May 2023 and in July 2023?", "2023-05-01", "2023-08-01"),
        # reckoned from another
        ("What broke in the week before July 11, 2024?", "2024-07-04", "2024-07-11"),
        ("What did I plant two weeks before May 17, 2024?", "2024-05-03", "2024-05-10"),
        ("Who stayed over last weekend before June 10, 2024?", "2024-06-08", "2024-06-10"),
        ("What happened the day after 7 May 2023?", "2023-05-08", "2023-05-09"),
        # Chinese
        ("What broke 0 weeks ago?", "2026-01-26", "2026-02-02"),
        ("0周前发生了什么", "2026-01-26", "2026-02-02"),
        ("昨天我吃了什么", "2026-01-31", "2026-02-01"),
        ("前天谁来过", "2026-01-30", "2026-01-31"),
        ("三天前我去了哪里", "2026-01-29", "2026-01-30"),
        ("上周我们讨论了什么", "2026-01-19", "2026-01-26"),
        ("上周末去了哪里", "2026-01-24", "2026-01-26"),
        ("上个月买了什么", "2026-01-01", "2026-02-01"),
        ("上个月底交了什么", "2026-01-21", "2026-02-01"),
        ("去年我们去了哪里", "2025-01-01", "2026-01-01"),
        ("去年夏天我们去了哪里", "2025-06-01", "2025-09-01"),
        ("过去三个月我读了什么", "2025-11-01", "2026-02-02"),
        ("2023年5月我们买了什么", "2023-05-01", "2023-06-01"),
        ("2023年5月7日发生了什么", "2023-05-07", "2023-05-08"),
        ("2023年的目标是什么", "2023-01-01", "2024-01-01"),
        ("2023年5月到8月我在哪里工作", "2023-05-01", "2023-09-01"),
        ("2022年以来读过哪些书", "2022-01-01", None),
        ("2023年以前我们住在哪里", None, "2023-01-01"),
        ("今年春节以前我们买了什么", None, "2026-02-16"),
        ("去年国庆去了哪里", "2025-10-01", "2025-10-08"),
        ("2024年中秋谁来了", "2024-09-17", "2024-09-20"),
        ("去年三季度的目标", "2025-07-01", "2025-10-01"),
        ("90年代听什么歌", "1990-01-01", "2000-01-01"),
        ("2023年8月3日前一周我在做什么", "2023-07-27", "2023-08-03"),
        # one time within the other
        ("What did we ship in May last year?", "2025-05-01", "2025-06-01"),
        ("Where were we last year at Easter?", "2025-04-18", "2025-04-22"),
        ("What did we decide on Monday last week?", "2026-01-19", "2026-01-20"),
        ("这个月月底要交什么", "2026-02-21", "2026-03-01"),
        # parts of what is now, of decades and of quarters
        ("What did I write in the second half of 2024?", "2024-07-01", "2025-01-01"),
        ("What had we sold before the end of 2022?", None, "2023-01-01"),
        ("去年年底以前我住在哪里", None, "2026-01-01"),
        ("Who ruled from the seventies to the nineties?", "1970-01-01", "2000-01-01"),
        ("What did we ship in early Q2 2023?", "2023-04-01", "2023-05-01"),
        ("去年Q1和Q2的收入", "2025-01-01", "2025-07-01"),
        ("月中谁来过", "2026-01-11", "2026-01-21"),
        ("月中要见谁", "2026-02-11", "2026-02-21"),
        ("2023年三月我做了什么？", "2023-03-01", "2023-04-01"),
        ("2023年十二月五日谁来了？", "2023-12-05", "2023-12-06"),
        # the same day of another year
        ("去年的今天我做了什么？", "2025-02-01", "2025-02-02"),
        ("去年的昨天我做了什么？", "2025-01-31", "2025-02-01"),
        ("What did I do on this day last year?", "2025-02-01", "2025-02-02"),
        ("What happened a year ago today?", "2025-02-01", "2025-02-02"),
        # so many at an end of a span
        ("What did I do in the last two months of 2022?", "2022-11-01", "2023-01-01"),
        ("2022年最后两个月我做了什么？", "2022-11-01", "2023-01-01"),
        ("What broke in the first three weeks of May 2024?", "2024-05-01", "2024-05-22"),
        # what is yet to be
        ("What am I doing in December?", "2026-12-01", "2027-01-01"),
        ("What is planned for January?", "2027-01-01", "2027-02-01"),
        ("What will we do at Christmas?", "2026-12-24", "2026-12-27"),
        ("十二月有什么安排？", "2026-12-01", "2027-01-01"),
        ("一月有什么计划？", "2027-01-01", "2027-02-01"),
        ("What have I got on Monday?", "2026-02-02", "2026-02-03"),
        ("周三有什么安排？", "2026-02-04", "2026-02-05"),
    ],
)
def test_a_named_time_is_read_as_days(question: str, since: str | None, until: str | None) -> None:
    found = period(question)
    assert days(found) == (since, until)
    assert found is not None
    assert not found.yearless
    assert found.words in question


@pytest.mark.parametrize(
    ("question", "since", "until"),
    [
        ("What did we ship in May?", "2025-05-01", "2025-06-01"),
        ("What had we planned in December?", "2025-12-01", "2026-01-01"),
        ("What happened between 1 and 10 October?", "2025-10-01", "2025-10-11"),
        ("What did we eat in the week of 9 November?", "2025-11-03", "2025-11-10"),
        ("十月五号我们做了什么？", "2025-10-05", "2025-10-06"),
        ("What did we ship in January?", "2026-01-01", "2026-02-01"),
        ("What did we ship on 3 March?", "2025-03-03", "2025-03-04"),
        ("What happened between March and May?", "2025-03-01", "2025-06-01"),
        ("Who joined since May?", "2025-05-01", None),
        ("What did we do over Christmas?", "2025-12-24", "2025-12-27"),
        ("What did we grow during the summer?", "2025-06-01", "2025-09-01"),
        ("五月我们去了哪里", "2025-05-01", "2025-06-01"),
        ("10月1号发生了什么", "2025-10-01", "2025-10-02"),
        ("国庆期间我们去了哪里", "2025-10-01", "2025-10-08"),
        ("春节我们去了哪里", "2025-01-28", "2025-02-05"),
        ("3月和5月之间换过几次班", "2025-03-01", "2025-06-01"),
    ],
)
def test_a_time_without_a_year_is_the_latest_and_may_be_an_earlier_one(
    question: str, since: str, until: str | None
) -> None:
    found = period(question)
    assert days(found) == (since, until)
    assert found is not None
    assert found.yearless


@pytest.mark.parametrize(
    "question",
    [
        "May I ask you something?",
        "How many dogs may we keep?",
        "Who is Mark?",
        "What did Sun say about the sat nav?",
        "What did April and May paint?",
        "Why do they want to march?",
        "Summarise it in 2000 words",
        "How do I upgrade PyCharm 2023.1?",
        "What is on the second page?",
        "What happened at the fall of the empire?",
        "What do we do every Monday?",
        "What did Ana learn at the summer camp?",
        "Who gave the last 3 talks?",
        "the last day of school",
        "a plan for the summer",
        "What is our Christmas tree made of?",
        "一般在哪里过年",
        "最近的地铁站在哪",
        "每周一做什么",
        "最近一次发布是谁做的",
        "夏天的衣服放在哪",
        "五一劳动节的由来",
        "2018年款的车在哪里",
        "What was the quarter final like?",
        "Who ran a quarter of a mile?",
        "What do you do at the weekend?",
        "What was the end of the year party like?",
        "正月初五吃什么",
        "学年初的计划",
        "每月底要做什么",
        "附近三天天气",
        "一年中最忙的时候",
        "春节晚会谁主持",
        "几十年代",
        "the last 0 years",
        "前0年",
        "9999年12月31日至2月29日",
    ],
)
def test_what_names_no_time_is_given_none(question: str) -> None:
    assert period(question) is None


def test_a_day_is_that_of_whoever_asks() -> None:
    late = datetime(2026, 2, 1, 23, 30, tzinfo=UTC)
    found = Router(Settings()).read("today", late, ZoneInfo("Asia/Shanghai")).period
    assert found is not None
    assert found.since == datetime(2026, 2, 1, 16, tzinfo=UTC)


def test_a_day_that_is_short_of_an_hour_ends_at_midnight_all_the_same() -> None:
    found = period("What did I do yesterday?", now=datetime(2026, 3, 30, 9, tzinfo=LISBON))
    assert found is not None
    assert found.since is not None
    assert found.until is not None
    assert (found.until.astimezone(UTC) - found.since.astimezone(UTC)).total_seconds() == 23 * 3600


def test_asked_on_a_saturday_last_weekend_is_the_one_that_is_over() -> None:
    found = period("Where was I last weekend?", now=datetime(2026, 1, 31, 9, tzinfo=LISBON))
    assert days(found) == ("2026-01-24", "2026-01-26")


@pytest.mark.parametrize(
    ("question", "what", "before"),
    [
        ("Where did we live before we moved?", "we moved", True),
        ("What did I use before the reorganisation?", "the reorganisation", True),
        ("After the reorganisation, who became my manager?", "the reorganisation", False),
        ("Who has visited since Ana moved to Porto?", "Ana moved to Porto", False),
        ("Before we moved where did we live?", "we moved", True),
        ("How did Ruben feel after the accident?", "the accident", False),
        ("我们搬家之前住在哪里", "我们搬家", True),
        ("换工作以后谁是我的经理", "换工作", False),
        ("自从手术后我吃什么药", "手术", False),
        ("发布会之后谁离职了", "发布会", False),
    ],
)
def test_a_time_may_be_named_by_what_happened(question: str, what: str, before: bool) -> None:
    found = event(question)
    assert found is not None
    assert (found.text, found.before) == (what, before)
    assert found.words in question
    assert period(question) is None


@pytest.mark.parametrize(
    "question",
    [
        "Who looks after the dog?",
        "Who is the school named after?",
        "What comes after that?",
        "What did we say before?",
        "the day after",
        "Have you seen it before me?",
        "以前我住在哪里",
        "目前的方案是什么",
        "前端框架用什么",
        "很久以前的事",
        "后来谁去了",
        "在此之前呢",
    ],
)
def test_what_only_sounds_like_a_time_names_no_event(question: str) -> None:
    assert event(question) is None


def test_an_event_whose_time_is_named_need_not_be_looked_for() -> None:
    assert days(period("Where did we live before we moved in 2023?")) == (None, "2023-01-01")
    assert days(period("Who visited after we moved last year?")) == ("2025-01-01", None)
    assert event("Where did we live before we moved in 2023?") is None


@pytest.mark.parametrize(
    ("note", "first", "last"),
    [
        ("Dinner with the class on 25 November at seven.", "2026-11-25", "2026-11-25"),
        ("Booked the train for 3 January.", "2027-01-03", "2027-01-03"),
        ("The party was on 30 October.", "2026-10-30", "2026-10-30"),
        ("11月25日要带豆花去复查。", "2026-11-25", "2026-11-25"),
        ("1月3日飞广州。", "2027-01-03", "2027-01-03"),
        ("明年三月要考试。", "2027-03-01", "2027-03-31"),
        ("In the summer of 1994 we drove to Spain.", "1994-06-01", "1994-08-31"),
        ("I was in Graz yesterday.", "2026-11-14", "2026-11-14"),
        ("On Friday we swim.", "2026-11-20", "2026-11-20"),
        ("We swam on Friday, it was cold.", "2026-11-13", "2026-11-13"),
        ("周五组会讲综述。", "2026-11-20", "2026-11-20"),
        ("周五组会讲完了。", "2026-11-13", "2026-11-13"),
    ],
)
def test_a_note_names_the_nearest_day_that_its_words_can_mean(note: str, first: str, last: str) -> None:
    (found,) = named_in_note(note, date(2026, 11, 15))
    assert found.span is not None
    assert (found.span.first.isoformat(), found.span.last.isoformat()) == (first, last)


@pytest.mark.parametrize("note", ["From March on we play at Fairfield.", "三月起改在这里。"])
def test_what_may_mean_several_times_names_none_in_a_note(note: str) -> None:
    assert named_in_note(note, date(2026, 11, 15)) == []
