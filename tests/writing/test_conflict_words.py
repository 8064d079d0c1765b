"""What judges by words make of two notes: reasons to differ, and all that only looks like one."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest

from amem import AgenticMemorySystem
from amem.language.predicates import load_predicates
from amem.note import Fact, Kind
from amem.settings import Settings
from amem.testing import HashEmbedder
from amem.verdict import NO_CONFLICT, Label, Verdict
from amem.writing.conflict.candidates import Claim
from amem.writing.conflict.heuristic import score
from amem.writing.conflict.judges import Judges
from amem.writing.conflict.statements import read

MAY = datetime(2026, 5, 1, tzinfo=UTC)
LATER = timedelta(days=200)
SOON = timedelta(minutes=20)
JUDGES = Judges(load_predicates, Settings(_env_file=None))


def judged(
    earlier: str,
    later: str,
    *,
    cosine: float = 0.7,
    after: timedelta = LATER,
    speakers: tuple[str | None, str | None] = (None, None),
    kind: Kind = Kind.FACT,
) -> Verdict:
    old = Claim("a", earlier, kind, MAY, MAY, 1, speakers[0])
    new = Claim("b", later, kind, MAY + after, MAY + after, 2, speakers[1])
    return JUDGES.judge(old, new, cosine)


def test_likeness_shared_words_polarity_and_preference_add_up_as_the_design_says() -> None:
    assert score(0.82, 0.6, polarity=True, preference=True) == pytest.approx(0.919)
    assert score(1.0, 1.0, polarity=True, preference=True) == 1.0
    assert score(-0.3, 0.0, polarity=False, preference=False) == 0.0


@pytest.mark.parametrize("text", ["I love my job.", "我们不用 MySQL 了。", "The meeting moved to Friday.", "12"])
def test_two_equal_sentences_never_conflict(text: str) -> None:
    assert judged(text, text, cosine=1.0).label not in (Label.CONTRADICTS, Label.SUPERSEDES)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I love my job.", "I hate my job."),
        ("I can't stand running.", "These days I love running."),
        ("I don't trust the new dentist.", "I trust the new dentist."),
        ("我讨厌早起。", "我爱上了早起。"),
        ("我支持全员远程办公。", "我反对全员远程办公，沟通成本太高。"),
        ("我喜欢现在的住处。", "我不喜欢现在的住处了。"),
    ],
)
def test_a_changed_mind_replaces_the_old_one(earlier: str, later: str) -> None:
    assert judged(earlier, later).label is Label.SUPERSEDES


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("We pay for Zoom.", "We no longer pay for Zoom."),
        ("I work at Nokia.", "I used to work at Nokia."),
        ("Martin and Ella are married.", "Martin and Ella got divorced in May."),
        ("We'll adopt Kubernetes in Q3.", "We dropped the plan to adopt Kubernetes."),
        ("I take the pills twice a day.", "Finished the pills, I'm not taking them anymore."),
        ("周敏是我们的产品经理。", "周敏已经离职了。"),
        ("周五晚上和老同学聚餐。", "周五的聚餐取消了。"),
        ("我在学德语。", "德语我已经放弃了，不学了。"),
        ("我下个月去新疆旅游。", "算了，新疆不去了。"),
    ],
)
def test_what_is_over_is_superseded(earlier: str, later: str) -> None:
    verdict = judged(earlier, later)
    assert (verdict.label, verdict.judge) == (Label.SUPERSEDES, "heuristic")


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The stand-up is at 9:30.", "The stand-up has been moved to 10:00."),
        ("Erik owns the billing service.", "The billing service has been handed over to Nadia."),
        ("Netflix costs us 12.99 a month.", "Netflix went up again, it's 15.99 a month now."),
        ("We're storing everything in MongoDB.", "The migration is done: orders live in Postgres now."),
        ("The app release is planned for 12 May.", "App release pushed back to 2 June."),
        ("周会定在每周三上午十点。", "周会改到周四下午两点。"),
        ("房租每月三千五。", "房东把房租涨到四千了。"),
        ("消息队列换成了 RabbitMQ。", "消息队列又换回 Kafka 了。"),
    ],
)
def test_another_value_with_a_word_of_change_replaces_the_old_one(earlier: str, later: str) -> None:
    assert judged(earlier, later).label is Label.SUPERSEDES


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("We use Jenkins for CI.", "CI 已经换成 GitHub Actions 了，Jenkins 下线。"),
        ("I don't drink alcohol.", "我又开始喝酒了。"),
        ("我的办公室在 5 楼。", "My office moved to the eighth floor."),
    ],
)
def test_a_note_in_one_language_replaces_one_in_the_other(earlier: str, later: str) -> None:
    assert judged(earlier, later, cosine=0.08).label is Label.SUPERSEDES


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The shop sells bread on Sundays.", "The shop doesn't sell bread on Sundays."),
        ("Dinner starts at 19:00.", "Dinner starts at 20:00."),
        ("The statue is made of bronze.", "The statue is made of marble."),
        ("接口文档已经更新了。", "接口文档根本没更新。"),
        ("这道菜有花生。", "这道菜没有花生。"),
        ("这家酒店含早餐。", "这家酒店不含早餐。"),
    ],
)
def test_two_people_who_differ_at_one_time_contradict_each_other(earlier: str, later: str) -> None:
    verdict = judged(earlier, later, after=SOON, speakers=("Tom", "Mira"), cosine=0.8)
    assert verdict.label is Label.CONTRADICTS


@pytest.mark.parametrize(
    ("earlier", "later"),
    [("Ben was born in 1990.", "Ben was born in 1992."), ("爷爷是 1938 年出生的。", "爷爷是 1941 年出生的。")],
)
def test_of_what_never_changes_neither_value_replaces_the_other(earlier: str, later: str) -> None:
    assert judged(earlier, later, cosine=0.9).label is Label.CONTRADICTS


def test_a_correction_replaces_what_was_said_a_moment_ago() -> None:
    later = "Correction: the meeting with Acme is on Thursday, not Wednesday."
    assert judged("The meeting with Acme is on Wednesday.", later, after=SOON).label is Label.SUPERSEDES


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        # quoted
        ("We use Docker in production.", 'The headline was "Why we no longer use Docker".'),
        ("我喜欢这份工作。", "电影里那个男人喊：“我不喜欢这份工作！”"),
        ("我们公司用钉钉。", "有篇文章的标题是《我们为什么不再用钉钉》。"),
        # asked, planned, supposed
        ("We use MySQL.", "Should we move to Postgres?"),
        ("We use Slack.", "We might switch to Teams next quarter."),
        ("I live in Hamburg.", "I'm thinking about moving to Vienna."),
        ("我在网易上班。", "我打算明年跳槽去阿里。"),
        ("我住在武汉。", "如果房价降了，我想搬到长沙。"),
        # somebody else
        ("I smoke.", "My brother quit smoking."),
        ("Peter stopped smoking.", "Peter's wife smokes."),
        ("He quit the choir.", "She sings in the choir."),
        ("我爸喜欢钓鱼。", "我妈讨厌钓鱼。"),
        ("Grandpa Emil takes a blood thinner.", "Aunt Rita stopped taking her blood thinner."),
        ("We host on AWS.", "The vendor moved to Azure."),
        # something else
        ("The museum opens at 10.", "The cinema opens at 14:00."),
        ("Room 12 seats 8 people.", "Room 14 seats 20 people."),
        ("The blue bike cost me 450 euros.", "The red bike cost me 900 euros."),
        ("My left knee hurts.", "My right knee doesn't hurt."),
        ("Sales in April were 310 units.", "Sales in May were 275 units."),
        ("2023 年营收 1200 万。", "2024 年营收 1500 万。"),
        ("屋顶漏水了。", "屋顶换了两片瓦。"),
        ("李雷看了屋顶。", "屋顶换了两片瓦。"),
        ("我妹妹养了一只小狗，叫皮皮。", "我妹妹搬到杭州了。"),
        ("The team has 8 people.", "The team moved to the third floor."),
        ("The server is in Frankfurt.", "The server was upgraded to 64 GB."),
        # a part, or one of many
        ("I love dogs.", "I hate dog hair on my sofa."),
        ("I drink coffee in the morning.", "I don't drink coffee after 4 pm."),
        ("I like jazz.", "I like techno."),
        ("I speak German.", "I now speak Dutch as well."),
        # past, and happened twice
        ("I used to live in Rome.", "I live in Milan."),
        ("As a child I hated olives.", "I eat olives almost every day."),
        ("The server was restarted at 3:00.", "The server was restarted at 5:00."),
        ("昨天没下雨。", "今天下雨了。"),
        ("The kids finished their homework.", "The kids have homework every day."),
        # the same again, or more closely
        ("I don't drink alcohol.", "我不喝酒。"),
        ("I live in Lisbon.", "I live in Lisbon, in Alfama, two streets below the castle."),
    ],
)
def test_what_does_not_get_in_the_way_of_a_note_leaves_it_alone(earlier: str, later: str) -> None:
    assert judged(earlier, later).label not in (Label.CONTRADICTS, Label.SUPERSEDES)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Thanks, Bea!", "Hey Bea, great to chat with you again!"),
        ("Sounds great, Livia!", "Sounds great, Bea!"),
        ("Painting is awesome!", "I just finished another painting like our last one."),
        ("I love pottery, it takes me away.", "I haven't done pottery yet."),
        ("Believe in yourself, Jon!", "Believe in yourself and keep pushing."),
        ("Keep chasing your dreams!", "Don't stop dreaming."),
        ("Lately I've been looking into mental health as a career.", "I started caring more about mental health."),
        ("The dance studio looks awesome.", "Since we last spoke I am still working on the dance studio."),
        ("[shares a photo: a painting of a lake]", "[shares a photo: a photo of a painting of a sunset]"),
        ("Life's been a bit rough lately.", "Life's been pretty wild lately."),
        ("Your support means a lot, Maria.", "It's easy to get lost and forget that."),
        ("谢谢你，小林！", "又见到你了，小林！"),
    ],
)
def test_greetings_cries_orders_and_captions_are_no_claims(earlier: str, later: str) -> None:
    verdict = judged(earlier, later, speakers=("Bea", "Bea"))
    assert verdict.label not in (Label.CONTRADICTS, Label.SUPERSEDES)


def test_who_says_i_is_who_speaks() -> None:
    one, two = "I love living in Malmö.", "I hate living in Malmö."
    assert judged(one, two, speakers=("Ana", "Jonas")).label not in (Label.CONTRADICTS, Label.SUPERSEDES)
    assert judged(one, two, speakers=("Ana", "Ana")).label is Label.SUPERSEDES


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Nina has two kids.", "Nina quit smoking."),
        ("小张对青霉素过敏。", "小张辞职了。"),
        ("我老婆叫李梅。", "李梅辞职了。"),
        ("I have two kids, Ada and Ben.", "Ben dropped out."),
        ("I like jazz.", "I don't like jazz in the morning."),
        ("I use Obsidian for notes.", "I stopped using Obsidian at work."),
        ("I eat meat on weekends.", "I don't eat meat on Fridays."),
        ("Chris and I split up.", "I had a glass of wine at the wedding."),
        ("Dave left the company.", "Dave left the party early."),
        ("Sam is my best friend.", "Sam quit."),
        ("阿强和小美分手了。", "我老婆买了华为手机。"),
    ],
)
def test_a_person_in_common_hides_nothing(earlier: str, later: str) -> None:
    verdict = judged(earlier, later)
    hides = verdict.label is Label.SUPERSEDES and verdict.whole and verdict.confidence >= 0.8
    assert not hides


def test_now_alone_is_too_little_to_hide_a_note() -> None:
    verdict = judged("The dog sleeps in the hallway.", "The dog sleeps in our bedroom now.")
    assert verdict.label is Label.SUPERSEDES
    assert verdict.confidence < Settings(_env_file=None).supersede_confidence


def test_a_statement_among_others_falls_alone() -> None:
    verdict = judged("The gym opens at 7. The sauna is on the second floor.", "The gym opens at 8 now.")
    assert (verdict.label, verdict.whole) == (Label.SUPERSEDES, False)


def test_reasons_are_in_the_language_of_the_later_note() -> None:
    assert judged("We pay for Zoom.", "We no longer pay for Zoom.").reason == (
        "'We no longer pay for Zoom.' is the opposite of 'We pay for Zoom.'"
    )
    assert judged("周会在周三。", "周会改到周四。").reason == "后来是“周会改到周四。”，先前是“周会在周三。”"


def test_a_preference_needs_less_likeness() -> None:
    pair = ("I like the new office chair in our room.", "The office chair? I can't stand the office chair.")
    assert judged(*pair, cosine=0.05) == NO_CONFLICT
    assert judged(*pair, cosine=0.05, kind=Kind.PREFERENCE).label is Label.SUPERSEDES


def test_a_model_is_asked_only_where_rules_see_a_reason_and_cannot_tell() -> None:
    def doubtful(earlier: str, later: str, cosine: float) -> bool:
        old, new = Claim("a", earlier, Kind.FACT, MAY, MAY), Claim("b", later, Kind.FACT, MAY + LATER, MAY + LATER)
        return JUDGES.doubtful(old, new, cosine)

    assert doubtful("The dog sleeps in the hallway.", "The dog sleeps in our bedroom now.", 0.6)
    assert not doubtful("The dog sleeps in the hallway.", "The dog sleeps in our bedroom now.", 0.3)
    assert not doubtful("I like jazz.", "I like techno.", 0.7)
    assert not doubtful("We pay for Zoom.", "We no longer pay for Zoom.", 0.9)


def test_two_facts_of_many_leave_each_other_alone() -> None:
    old = Claim("a", "I like tea.", Kind.FACT, MAY, MAY, facts=(Fact("user", "likes", "tea"),))
    new = Claim("b", "I like milk.", Kind.FACT, MAY + LATER, MAY + LATER, facts=(Fact("user", "likes", "milk"),))
    assert JUDGES.judge(old, new, 0.8) == NO_CONFLICT


@pytest.mark.parametrize(
    "text",
    [
        "not " * 5_000,
        "不" * 20_000,
        "改到" * 10_000,
        '"' * 20_000,
        "I love it, I hate it; " * 900,
        "1:2:3,4.5 " * 2_000,
        "a" * 20_000,
        "(" * 20_000,
        "Ana's " * 3_400,
        "一二三四五六七八九十百千万" * 1_500,
    ],
    ids=["not", "不", "改到", "quotes", "flips", "numbers", "word", "brackets", "owners", "numerals"],
)
def test_hostile_text_is_read_no_further_than_it_takes(text: str) -> None:
    began = time.process_time()
    judged(text, f"No. {text}", cosine=1.0)
    # Quadratic reading of any of these takes minutes.
    assert time.process_time() - began < 10


def test_a_page_is_judged_by_how_it_begins() -> None:
    assert len(read("I live in Porto. " * 2_000)) == 24


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("We use SQLite in the mobile app.", "We switched the clinic scheduler from Postgres to MySQL."),
        ("支付服务用Go写的。", "订单服务改用Kotlin了。"),
        ("I like jazz.", "I don't like jazz in the morning."),
        ("I use Obsidian for notes.", "I stopped using Obsidian at work."),
        ("I live in Hamburg during the week.", "I live in Kiel on weekends."),
    ],
)
def test_another_thing_or_only_a_time_of_day_hides_nothing(earlier: str, later: str):
    with AgenticMemorySystem(llm_backend="offline", embedder=HashEmbedder()) as memory:
        first = memory.add(earlier, time="2026-01-10").id
        memory.add(later, time="2026-03-10")
        assert memory.read(first).status == "active"


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        # two of a kind
        ("Our first shop opens at 9.", "Our second shop now opens at 8."),
        ("客厅的空调是格力的。", "卧室的空调现在是美的的。"),
        # one name takes the place of another only where the same is said of both
        ("There are 23 lamps between Ovar and Aveiro.", "From this month I lead the lamp team at Brisa: four people."),
        ("Signed up for the Lyon half marathon.", "Training for the Gent half marathon starts now."),
        # what happened may happen again
        ("I visited 3 museums in Ghent.", "I visited 5 museums in Ghent now."),
        # what is over has no value
        ("I no longer pay 12 euros for the rink.", "I pay 15 euros for the rink now."),
        # only what was given up is not so
        ("The Gent marathon is in November.", "Watched the Lyon marathon from the bridge instead of running it."),
        # asked for, or still to be done
        ("Our sync is at 10.", "Ana requested our sync changed to 11."),
        ("我们住在杭州。", "待办：五月搬到苏州。"),
    ],
)
def test_a_likeness_of_two_notes_that_both_hold_is_no_conflict(earlier: str, later: str) -> None:
    assert judged(earlier, later).label not in (Label.CONTRADICTS, Label.SUPERSEDES)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I signed up for the Lyon half marathon in May.", "I withdraw from the Lyon half marathon in May."),
        ("Enrolled in the pottery course in March.", "I withdraw from the pottery course."),
        ("I take the tram to the studio.", "I walk to the studio instead of taking the tram."),
        ("The parser is written in Rust.", "The parser is written in Zig now."),
        ("The office has 30 desks.", "The office has 42 desks now."),
    ],
)
def test_what_was_given_up_or_is_another_now_is_superseded(earlier: str, later: str) -> None:
    assert judged(earlier, later).label is Label.SUPERSEDES
