"""What the offline analyst makes of one note."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amem.analysis import Draft
from amem.analysts.rules import OfflineAnalyst
from amem.language import cjk_share
from amem.language.word_reading import entities
from amem.note import Kind
from amem.protocols import Analyst

SAID = datetime(2026, 3, 4, 9, 30, tzinfo=UTC)


class Nothing:
    """The vocabulary of an empty collection."""

    total = 0

    def document_frequency(self, terms):
        return dict.fromkeys(terms, 0)

    def tags(self):
        return {}


NOTES = [
    "We decided to move the order service from PostgreSQL 15.3 to MySQL because the client hosts only that.",
    "I'm allergic to peanuts, so please never put them in a shared lunch. My EpiPen is in the blue backpack.",
    "Simulated annealing escapes local optima by accepting worse moves with a falling probability.",
    "Rent went up to 950 euros from April; the landlord Sr. Duarte wants it by the 5th of each month.",
    "Luna, our orange cat, weighs 4.2 kg now. Next vet visit: 12 May.",
    "The piano teacher moved our lesson from Tuesday to Thursday at 18:30.",
    "Research on adoption agencies took all evening; I dream of giving a child a loving home.",
    "My sister Mia got engaged to Tomás in Porto! The wedding is in September.",
    "量子退火利用量子隧穿寻找全局最优，是一种优化算法。",
    "昨天和李雷去里斯本老城区吃了葡式蛋挞，还坐了28路电车。",
    "我对花生过敏，千万不能吃。",
    "我们决定把订单服务的数据库从 PostgreSQL 换成 MySQL，因为客户只托管 MySQL。",
    "我妈妈下个月六十岁生日，打算订一家素食餐厅，她吃素十年了。",
    "周会纪要：后端改用 Rust 重写网关，李雷负责，四月底前上线。",
    "nginx 的 timeout 改成 30s 之后，502 报错就没有了。",
    "今天 standup 说好了：deadline 定在周五，Ana 负责 review。",
]


def test_it_is_an_analyst_that_needs_no_model(analyst: OfflineAnalyst) -> None:
    assert isinstance(analyst, Analyst)
    assert analyst.name == "offline"
    assert analyst.local


@pytest.mark.parametrize("content", NOTES)
def test_every_ordinary_note_gets_keywords_tags_and_a_context(analyst: OfflineAnalyst, empty, content: str) -> None:
    made = analyst.analyze(Draft(content, at=SAID), empty)
    assert 1 <= len(made.keywords) <= 6
    assert all(keyword.casefold() in content.casefold() for keyword in made.keywords)
    assert len({keyword.casefold() for keyword in made.keywords}) == len(made.keywords)
    assert len(made.tags) <= 5
    assert made.tags or made.keywords
    assert all(tag == tag.lower() for tag in made.tags)
    assert len(made.context) > 10
    assert content not in made.context
    assert (cjk_share(made.context) > 0.3) == (cjk_share(content) > 0.3)


@pytest.mark.parametrize(
    ("content", "keyword"),
    [
        ("Simulated annealing escapes local optima.", "simulated annealing"),
        ("She takes a machine learning course in Porto.", "machine learning"),
        ("The catalogue runs on PostgreSQL 15.3 now.", "PostgreSQL 15.3"),
        ("The gateway listens on port 8443.", "port 8443"),
        ("He has high blood pressure again.", "blood pressure"),
        ('I finished "The Left Hand of Darkness" by Ursula K. Le Guin.', "The Left Hand of Darkness"),
        ("量子退火利用量子隧穿寻找全局最优。", "量子退火"),
        ("模拟退火算法通过缓慢降温跳出局部最优。", "模拟退火算法"),
        ("她在学机器学习，教材很厚。", "机器学习"),
        ("我们把数据库换成了 MySQL 8.4。", "数据库"),
        ("我们把数据库换成了 MySQL 8.4。", "MySQL 8.4"),
        ("妈妈想去里斯本的素食餐厅。", "里斯本"),
        ("妈妈想去里斯本的素食餐厅。", "素食餐厅"),
        ("今天读完了《三体》，很震撼。", "三体"),
    ],
)
def test_collocations_stay_whole(analyst: OfflineAnalyst, empty, content: str, keyword: str) -> None:
    found = analyst.analyze(Draft(content), empty).keywords
    assert any(keyword == one or keyword in one for one in found), found


def test_what_the_collection_seldom_says_comes_first(analyst: OfflineAnalyst, vocabulary) -> None:
    talk = vocabulary(["The team met the client about the garden"] * 40)
    keywords = analyst.analyze(Draft("The garden now has a hydrangea beside the client."), talk).keywords
    assert keywords[0] == "hydrangea"


def test_a_long_notes_recurring_pair_is_one_keyword(analyst: OfflineAnalyst, empty) -> None:
    parts = [
        f"The tidal basin was measured again on visit {n}, and then we walked home along the quay." for n in range(14)
    ]
    assert "tidal basin" in analyst.analyze(Draft(" ".join(parts)), empty).keywords


@pytest.mark.parametrize(
    ("content", "tag"),
    [
        ("My dog ate the sofa.", "pets"),
        ("We run PostgreSQL with two replicas.", "database"),
        ("Training a neural network took nine hours.", "machine-learning"),
        ("Booked the flight and a hotel in Naples.", "travel"),
        ("我家的猫昨晚又没睡。", "宠物"),
        ("下班后和同事开会，经理也在。", "工作"),
        ("模拟退火比遗传算法稳定。", "优化算法"),
        ("医生说要多喝水，按时吃药。", "健康"),
    ],
)
def test_tags_are_themes_in_the_notes_language(analyst: OfflineAnalyst, empty, content: str, tag: str) -> None:
    assert tag in analyst.analyze(Draft(content), empty).tags


@pytest.mark.parametrize(
    ("content", "tag"),
    [
        ("Leaving for Glasgow on the 7:15.", "garden"),
        ("She cried for ten minutes.", "meeting"),
        ("The port authority pays for the ticket machines.", "reading"),
        ("Sales of self-serve plans were flat.", "home"),
        ("Prices rose again in spring.", "garden"),
        ("Of course I will be there.", "learning"),
        ("淘了一台二手海鸥相机。", "观鸟"),
        ("五月份演《黄河大合唱》。", "自然"),
    ],
)
def test_a_word_of_another_sense_brings_no_tag(analyst: OfflineAnalyst, empty, content: str, tag: str) -> None:
    assert tag not in analyst.analyze(Draft(content), empty).tags


@pytest.mark.parametrize(
    ("content", "keyword"),
    [
        ("办签证要在职证明。", "签证"),
        ("哪家银行取现不收手续费？", "手续费"),
        ("合唱团改到周二排练。", "合唱团"),
        ("Mr de Vries takes parcels.", "Mr de Vries"),
    ],
)
def test_keywords_are_whole_words(analyst: OfflineAnalyst, empty, content: str, keyword: str) -> None:
    found = analyst.analyze(Draft(content), empty).keywords
    assert keyword in found
    assert not {"职证明", "家银行", "续费", "Mr de", "Vries"} & set(found)


def test_words_that_only_connect_are_no_keywords(analyst: OfflineAnalyst, empty) -> None:
    found = analyst.analyze(
        Draft("I stayed home bc the postman rang twice and another parcel expires."), empty
    ).keywords
    assert not {"bc", "another", "expires", "parcel expires", "twice"} & set(found)
    assert "postman" in found


def test_small_talk_gets_no_tags_and_no_keywords(analyst: OfflineAnalyst, empty) -> None:
    for content in ("Wow, I didn't see that coming!", "ok thanks, talk tomorrow!", "哈哈好的，明天见！"):
        made = analyst.analyze(Draft(content), empty)
        assert (made.tags, made.keywords) == ((), ())


def test_the_collections_own_tags_are_reused(analyst: OfflineAnalyst, vocabulary) -> None:
    own = vocabulary(["x"], tags={"databases": 4, "order-service": 2, "cooking": 1})
    tags = analyst.analyze(Draft("The order service needs a new database index."), own).tags
    assert {"databases", "order-service"} <= set(tags)
    assert "database" not in tags


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("I'm allergic to shellfish.", Kind.CONSTRAINT),
        ("Never deploy on Fridays.", Kind.CONSTRAINT),
        ("我对青霉素过敏。", Kind.CONSTRAINT),
        ("报告必须在周五前交。", Kind.CONSTRAINT),
        ("发布版本之前一定要先跑迁移测试。", Kind.CONSTRAINT),
        ("We decided to go with Rust for the gateway.", Kind.DECISION),
        ("We switched from Slack to Zulip.", Kind.DECISION),
        ("项目改用 MySQL 了。", Kind.DECISION),
        ("I prefer oat milk in coffee.", Kind.PREFERENCE),
        ("Ana loves hiking in the rain.", Kind.PREFERENCE),
        ("我更喜欢早上跑步。", Kind.PREFERENCE),
        ("How to reset the router: hold the button, then wait.", Kind.PROCEDURE),
        ("Making tea: 1. boil water\n2. add leaves\n3. wait", Kind.PROCEDURE),
        ("红烧肉：先焯水，再炒糖色，最后收汁。", Kind.PROCEDURE),
        ("The dev database listens on port 5433.", Kind.CONFIG),
        ("环境变量 AMEM_HOME 指向 /srv/amem。", Kind.CONFIG),
        ("def add(a, b):\n    return a + b", Kind.CODE),
        ("```sh\nmake test\n```", Kind.CODE),
        ('Traceback (most recent call last):\n  File "a.py", line 3\nValueError: bad size', Kind.ERROR),
        ("部署时报错：端口被占用。", Kind.ERROR),
        ("What time does the train leave?", Kind.QUESTION),
        ("Is the server up", Kind.QUESTION),
        ("Is allergic to nuts", Kind.CONSTRAINT),
        ("Has two dogs", Kind.FACT),
        ("你们周末去哪里玩？", Kind.QUESTION),
        ("Wow, that's so cool!", Kind.CHITCHAT),
        ("Thanks, Bea! Talk soon!", Kind.CHITCHAT),
        ("哈哈，好的，谢谢！", Kind.CHITCHAT),
        ("Yesterday I went to a pottery class.", Kind.EPISODE),
        ("昨天我们去了博物馆。", Kind.EPISODE),
        ("Our office is on the third floor.", Kind.FACT),
        ("她的生日是三月八日。", Kind.FACT),
    ],
)
def test_the_kind_follows_the_cues(analyst: OfflineAnalyst, empty, content: str, kind: Kind) -> None:
    assert analyst.analyze(Draft(content), empty).kind is kind


def test_a_question_after_news_does_not_hide_the_news(analyst: OfflineAnalyst, empty) -> None:
    said = "We adopted a greyhound called Biscuit from the shelter yesterday. Do you have pets?"
    assert analyst.analyze(Draft(said), empty).kind is Kind.EPISODE


def test_a_constraint_outweighs_small_talk(analyst: OfflineAnalyst, empty) -> None:
    weigh = [
        analyst.analyze(Draft(content), empty).importance
        for content in (
            "Important: I'm allergic to peanuts.",
            "We decided to use MySQL.",
            "I prefer tea.",
            "The office is on the third floor.",
            "Haha, thanks!",
        )
    ]
    assert weigh == sorted(weigh, reverse=True)
    assert weigh[0] >= 0.85
    assert weigh[-1] <= 0.15


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ana met Bruno in Lisbon.", {"Ana", "Bruno", "Lisbon"}),
        ("We moved from PostgreSQL 15.3 to MySQL.", {"PostgreSQL", "PostgreSQL 15.3", "MySQL"}),
        ("She studies at the University of Coimbra.", {"University of Coimbra"}),
        ("The appointment with Dr. Silva is on 12 May.", {"Dr. Silva", "12 May"}),
        ("昨天和李雷在里斯本见了陈医生。", {"李雷", "里斯本", "陈医生"}),
        ("我在读《三体》。", {"三体"}),
        ("订单服务用 Redis 7.2 做缓存。", {"Redis", "Redis 7.2"}),
        ("where does ana keep the snorkel?", {"ana", "snorkel"}),
        ("How is the weather?", set()),
        ("I think we should go home.", set()),
        ("The cake was good. Bread was better.", set()),
    ],
)
def test_names_are_found_and_pronouns_are_not(text: str, expected: set[str]) -> None:
    assert set(entities(text)) == expected


@given(st.one_of(st.text(max_size=200), st.text(alphabet="aB我他的1. ,，。?!\n《》\"'“”-:@#_é🎉", max_size=120)))
def test_any_text_is_analysed_into_valid_values(text: str) -> None:
    made = OfflineAnalyst().analyze(Draft(text, at=SAID, speaker="Ana", previous=("Bo: How are you?",)), Nothing())
    assert 0 <= made.importance <= 1
    assert made.context.strip()
    folded = " ".join(text.split()).casefold()
    for keyword in made.keywords:
        assert keyword.strip()
        assert keyword.casefold() in folded
    assert all(tag.strip() for tag in made.tags)
    assert len(made.tags) == len(set(made.tags))
    assert all(name.strip() and name in text for name in made.entities)


@pytest.mark.parametrize(
    "content",
    [
        "42",
        "[1, 2]",
        "🎉",
        "?!…",
        "مرحبا بالعالم هذا نص عربي",
        "שלום עולם",
        "a" * 20_000,
        "!" * 20_000 + "x",
        "数据库索引" * 4_000,
        "The tide comes and goes. " * 800,
        "{'a': [1, 2, 3]}",
        "<b>bold</b>",
        "https://example.com/a/very/long/path?with=query",
    ],
)
def test_odd_notes_are_analysed_too(analyst: OfflineAnalyst, empty, content: str) -> None:
    made = analyst.analyze(Draft(content, at=SAID), empty)
    assert made.context
    assert len(made.context) < 600
    assert all(len(keyword) <= 200 for keyword in made.keywords)


def test_the_same_note_is_read_the_same_way_every_time(analyst: OfflineAnalyst, empty) -> None:
    for content in NOTES:
        assert analyst.analyze(Draft(content), empty) == OfflineAnalyst().analyze(Draft(content), empty)


@pytest.mark.parametrize("text", ["kettle " * 10_000, "水 kettle " * 2_000], ids=["kettles", "水 kettles"])
def test_a_note_of_one_word_over_and_over_is_analysed(analyst, empty, text):
    assert "kettle" in analyst.analyze(Draft(text), empty).keywords
