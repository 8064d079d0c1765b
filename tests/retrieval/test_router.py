"""What a question asks is read off its words, in English and Chinese, and nothing is read into it."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from amem.retrieval.question import Intent, Reading
from amem.retrieval.router import Router
from amem.settings import Settings

LISBON = ZoneInfo("Europe/Lisbon")
NOW = datetime(2026, 2, 1, 9, tzinfo=LISBON)  # a Sunday
FAR = datetime(9999, 12, 31, 23, tzinfo=UTC)


def read(question: str, *, now: datetime = NOW, router: bool = True) -> Reading:
    return Router(Settings(router=router)).read(question, now, LISBON)


#: What is asked for, the main kind first, and which words are no part of the subject.
QUESTIONS = [
    # why
    ("Why did we choose SQLite?", "causal", ["Why"]),
    ("And why is the gateway so slow?", "causal", ["why"]),
    ("Tell me why Ana left Bosch", "causal", ["why"]),
    ("After the audit, why were the keys rotated?", "causal temporal", ["why"]),
    ("How come the boiler broke?", "causal", ["How come"]),
    ("What caused the outage?", "causal", ["What caused"]),
    ("What led to the split of the team?", "causal", ["What led to"]),
    ("what made Ana choose the red bike", "causal", ["what made"]),
    ("What inspired the mural in the hall?", "causal", ["What"]),
    ("What was the reason for the delay?", "causal", ["What was the reason for"]),
    ("the reasons behind the migration", "causal", ["the reasons behind"]),
    ("What is the root cause of the memory leak?", "causal", ["What is the root cause of"]),
    ("为什么选择 SQLite", "causal", ["为什么"]),
    ("我们当初为何放弃 MongoDB？", "causal", ["为何"]),
    ("他为啥辞职", "causal", ["为啥"]),
    ("什么导致了上线失败", "causal", ["什么导致了"]),
    ("导致宕机的原因是什么？", "causal", ["导致", "的原因是什么"]),
    ("登录变慢的原因", "causal", ["的原因"]),
    ("锅炉怎么会漏水", "causal", ["怎么会"]),
    ("他怎么没来开会", "causal", ["怎么"]),
    ("换供应商的理由有哪些", "causal", ["的理由有哪些"]),
    ("为什么不用 Redis？", "causal", ["为什么"]),
    # and what only looks like it
    ("Why not Redis?", "general", []),
    ("That's why we left Porto.", "general", []),
    ("What cause does the bake sale support?", "factual", ["What"]),
    ("What causes does Ana feel strongly about?", "factual", ["What"]),
    ("What made up the committee?", "factual", ["What"]),
    ("磁盘满了会导致什么", "factual", ["什么"]),
    ("这就是为什么我们搬家", "factual", ["什么"]),
    # how to
    ("How to deploy the gateway", "procedural", ["How to"]),
    ("How do I reset the router?", "procedural", ["How do I"]),
    ("how can we restore a backup", "procedural", ["how can we"]),
    ("Remind me how to descale the kettle", "procedural", ["how to"]),
    ("How is the release done?", "procedural", ["How is"]),
    ("How did we fix the boiler?", "procedural", ["How did we"]),
    ("What are the steps to publish a release?", "procedural", ["What are the steps to"]),
    ("Walk me through the onboarding", "procedural", ["Walk me through"]),
    ("what is the best way to freeze basil", "procedural", ["what is the best way to"]),
    ("the recipe for banana bread", "procedural", []),
    ("What should I do if the server is down?", "procedural", ["What should I do"]),
    ("如何部署网关", "procedural", ["如何"]),
    ("怎么做红烧肉", "procedural", ["怎么"]),
    ("路由器该怎么重置？", "procedural", ["该怎么"]),
    ("怎样才能恢复备份", "procedural", ["怎样才能"]),
    ("报销流程是什么", "procedural", ["流程是什么"]),
    ("发布步骤", "procedural", ["步骤"]),
    ("咋重启服务", "procedural", ["咋"]),
    # and what only looks like it
    ("How do I know Ana?", "general", []),
    ("How do I feel about the move?", "general", []),
    ("How did Ana's children react?", "general", []),
    ("How does Ruben relax?", "general", []),
    ("How is the shop doing?", "general", []),
    ("Did Ana learn how to swim?", "general", []),
    ("how many dogs does Ana have", "factual", ["how many"]),
    ("how old is Ruben?", "factual", ["how old"]),
    ("how much did the bike cost", "factual", ["how much"]),
    ("Ana 怎么样", "general", []),
    ("项目进展如何？", "general", []),
    ("你怎么看这个方案", "general", []),
    ("无论如何都要上线", "general", []),
    ("审批流程引擎的选型", "general", []),
    # when
    ("When did I move to Lisbon?", "temporal", ["When"]),
    ("When is Ana's birthday?", "temporal", ["When"]),
    ("When Ruben has lost his job?", "temporal", ["When"]),
    ("Do you know when the lease ends?", "temporal", ["when"]),
    ("What time does the train leave?", "temporal", ["What time"]),
    ("What year did we found the club?", "temporal", ["What year"]),
    ("How long ago was the wedding?", "temporal", ["How long ago"]),
    ("How long has Ana been in Porto?", "temporal", ["How long"]),
    ("since when do we use Kafka", "temporal", ["since when"]),
    ("我什么时候搬到里斯本的", "temporal", ["什么时候"]),
    ("合同几号到期", "temporal", ["几号"]),
    ("会议是几点？", "temporal", ["是几点"]),
    ("Ana 的生日是哪天", "temporal", ["是哪天"]),
    ("他来公司多久了", "temporal", ["多久了"]),
    ("开会时间", "temporal", []),
    # and what only looks like it
    ("What happened when we moved?", "general", []),
    ("When I was at Bosch, what did I build?", "factual", ["what"]),
    ("Remember when we got lost?", "general", []),
    ("when the server goes down", "general", []),
    ("How long is the table?", "factual", ["How long"]),
    ("有几点建议", "general", []),
    ("小时候的事", "general", []),
    # recently
    ("What have I been reading lately?", "temporal factual", ["What", "lately"]),
    ("the most recent invoice from Ana", "temporal", ["most recent"]),
    ("我最近在读什么书？", "temporal factual", ["最近", "什么"]),
    ("这几天有什么安排", "temporal factual", ["这几天", "什么"]),
    ("离公司最近的地铁站", "general", []),
    ("最近的医院在哪里", "factual", ["在哪里"]),
    ("a recency bias in ranking", "general", []),
    # a time is named
    ("What did I read last week?", "temporal factual", ["What", "last week"]),
    ("Who did I meet in March 2023?", "temporal factual", ["Who"]),
    ("Why did Ana leave last year?", "causal temporal", ["Why", "last year"]),
    ("Tell me about our trips last summer", "exploratory temporal", ["Tell me about", "last summer"]),
    ("上周我们讨论了什么", "temporal factual", ["上周", "什么"]),
    ("总结一下上周的会议", "exploratory temporal", ["总结一下", "上周"]),
    ("三天前我去了哪里开会", "temporal factual", ["三天前", "哪里"]),
    ("2023年5月我们买了什么", "temporal factual", ["什么"]),
    # all about
    ("Tell me about the gateway project", "exploratory", ["Tell me about"]),
    ("Give me an overview of the migration", "exploratory", ["Give me an overview of"]),
    ("Can you summarise the offsite?", "exploratory", ["Can you summarise"]),
    ("What do we know about Ruben?", "exploratory", ["What do we know about"]),
    ("everything about the boiler", "exploratory", ["everything about"]),
    ("List all my allergies", "exploratory", ["List all my"]),
    ("关于数据库迁移", "exploratory", ["关于"]),
    ("介绍一下 Ana", "exploratory", ["介绍一下"]),
    ("帮我总结一下装修", "exploratory", ["帮我总结一下"]),
    ("我有哪些过敏", "exploratory", ["有哪些"]),
    ("网关项目的来龙去脉", "exploratory", ["的来龙去脉"]),
    # and what only looks like it
    ("Where is the overview document?", "factual", ["Where is"]),
    ("年终总结什么时候交", "temporal", ["什么时候"]),
    ("关于迁移的决定是谁做的", "factual", ["是谁"]),
    ("What is it all about?", "factual", []),
    # one thing
    ("What is the capital of Portugal?", "factual", ["What is"]),
    ("Who is Priya?", "factual", ["Who is"]),
    ("Where does Ana's manager live?", "factual", ["Where"]),
    ("Which bank do I use?", "factual", ["Which"]),
    ("Whose bike is in the hall?", "factual", ["Whose"]),
    ("In what street is the studio?", "factual", ["what"]),
    ("什么是 WAL", "factual", ["什么是"]),
    ("谁是 Ana 的经理", "factual", ["谁是"]),
    ("Ana 的经理是谁", "factual", ["是谁"]),
    ("保险箱的密码是什么", "factual", ["是什么"]),
    ("Ana 住在哪儿", "factual", ["在哪儿"]),
    ("自行车多少钱", "factual", ["多少"]),
    # nothing in particular
    ("Does Ana like tea?", "general", []),
    ("boiler manual", "general", []),
    ("网关 超时 配置", "general", []),
    ("Ana 喜欢喝茶吗", "general", []),
    ("谁都知道的秘密", "general", []),
    # more than one
    ("Why did Ana leave and when did she come back?", "causal temporal", ["Why", "when"]),
    ("为什么搬家，什么时候搬的", "causal temporal", ["为什么", "什么时候"]),
    ("Who introduced us, and how do I reach her?", "procedural factual", ["Who", "how do I"]),
    ("介绍一下发布流程，以及为什么这样做", "causal exploratory", ["介绍一下", "为什么"]),
    # what is quoted asks nothing
    ('What does "why not" mean?', "factual", ["What"]),
    ("the song 'When Did You Leave Heaven'", "general", []),
    ("《十万个为什么》的作者", "general", []),
    ("“如何”这个词", "general", []),
    # of several sentences those count that ask
    ("I hurt my knee yesterday. Which doctor did I see?", "factual", ["Which"]),
    ("我昨天问过为什么。医生是谁？", "factual", ["是谁"]),
    ("What did Dr. Silva say about v1.5?", "factual", ["What"]),
    # nothing would be left
    ("why", "causal", []),
    ("为什么？", "causal", []),
    ("When was that?", "temporal", []),
    ("How do I do it?", "procedural", []),
    ("怎么会这样", "causal", []),
    ("What did I do last week?", "temporal factual", ["last week"]),
    ("Tell me about last summer", "exploratory temporal", ["last summer"]),
]


def test_the_list_is_long_enough_to_mean_something() -> None:
    assert len({question for question, *_ in QUESTIONS}) == len(QUESTIONS) >= 120
    assert {intent for _, intents, _ in QUESTIONS for intent in intents.split()} == set(map(str, Intent))


@pytest.mark.parametrize(("question", "intents", "dropped"), QUESTIONS, ids=[each[0] for each in QUESTIONS])
def test_a_question_says_what_kind_of_answer_it_wants(question: str, intents: str, dropped: list[str]) -> None:
    reading = read(question)

    assert [str(intent) for intent in reading.intents] == intents.split()
    assert list(reading.dropped) == dropped
    assert reading.text == question
    for words in dropped:
        assert question.count(words) > reading.lexical.count(words)
    if not dropped:
        assert reading.lexical == question


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("为什么选择 SQLite", "选择 SQLite"),
        ("How do I reset the router?", "reset the router?"),
        ("What did I read last week?", "did I read ?"),
        ("我什么时候搬到里斯本的", "我 搬到里斯本的"),
    ],
)
def test_words_are_looked_up_without_what_only_says_how_to_answer(question: str, asked: str) -> None:
    assert read(question).lexical == asked


@pytest.mark.parametrize(
    ("question", "recent", "overview"),
    [
        ("What have I read lately?", True, False),
        ("最近有什么新闻", True, False),
        # What is named is no more recent at its end than at its beginning.
        ("What did Ana sew for her latest order in March 2024?", False, False),
        ("Give me an overview of the garden", False, True),
        ("Tell me about the latest release", True, True),
        ("What is the latest release?", True, False),
        ("Where is the summary of the audit?", False, False),
    ],
)
def test_what_is_recent_and_what_is_wanted_as_a_whole(question: str, recent: bool, overview: bool) -> None:
    reading = read(question)
    assert (reading.recency is not None, reading.overview) == (recent, overview)


@pytest.mark.parametrize("question", [question for question, *_ in QUESTIONS[::7]])
def test_with_the_router_off_a_question_is_taken_as_it_is(question: str) -> None:
    assert read(question, router=False) == Reading(question, (Intent.GENERAL,), question)


def test_a_long_text_is_looked_up_as_it_is() -> None:
    pasted = "Why did it break? " + "The log says nothing of use. " * 100
    assert read(pasted) == Reading(pasted, (Intent.GENERAL,), pasted)


PIECES = [
    *("why", "when", "how do I", "last week", "before we moved", "since", "2023", "May", "tell me about", '"', "'"),
    *(
        "为什么",
        "怎么",
        "上周",
        "之前",
        "关于",
        "什么",
        "?",
        "？",
        ".",
        ",",
        " ",
        "\n",
        "  ",
        "5月",
        "the",
        "of",
        "\ufffc",
    ),
]


@given(st.one_of(st.text(max_size=300), st.lists(st.sampled_from(PIECES), max_size=40).map(" ".join)))
@example("on 29 February")
@example("in 9999")
@example("since 0001-01-01")
@example("明年" * 50)
def test_any_text_is_read_the_same_way_twice_and_keeps_its_own_words(text: str) -> None:
    for now in (NOW, FAR, datetime(1, 1, 1, tzinfo=UTC)):
        reading = read(text, now=now)
        assert reading == read(text, now=now)
        assert reading.text == text
        assert reading.intents
        assert set("".join(reading.lexical.split())) <= set(text)
        assert all(words in text for words in reading.dropped)
        reading.to_dict()


@pytest.mark.parametrize("piece", [*PIECES, "a", "1", "上", "what is the ", "in early ", "the last ", "因为", "2023-"])
def test_reading_takes_time_in_proportion_to_the_text(piece: str) -> None:
    # Steps of the regular expressions cannot be counted; what grew with the square would take minutes here.
    for text in ((piece * 2_000)[:2_000], (f"{piece} " * 2_000)[:2_000], piece * 20_000):
        read(text)
