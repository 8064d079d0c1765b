"""What only sounds like a fact is none: a false fact would hide a true note."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    Stated = Callable[..., list[str]]

ASKED = [
    "Do you live in Lisbon?",
    "Is MySQL our database?",
    "We use MySQL, right?",
    "你住在里斯本吗？",
    "谁对花生过敏？",
]
SUPPOSED = [
    "If I lived in Berlin, I would use the U-Bahn.",
    "Maybe I live in a simulation called Lisbon.",
    "Imagine I work at Google.",
    "In the story, Ana lives in Paris.",
    "I think we use MySQL.",
    "如果我搬到柏林就好了。",
    "听说小王加入了谷歌。",
    "也许我们改用 MySQL。",
]
NO_SUCH_VALUE = [
    "I work at Christmas.",
    "I left Monday open.",
    "Left Google Maps on all night.",
    "We moved to Bramble Cottage on Thursdays.",
    "Moved to Fennick, the team is nice.",
    "My car is German.",
    "My partner is Deloitte.",
    "I'm allergic to Mondays and my boss.",
    "I hate films with sad endings.",
    "I'm the driver tonight.",
    "My rent is 20 percent of my pay.",
    "妈妈住在ICU。",
    "我在杭州出差，住在西湖边上的酒店。",
    "小李在网上买了东西。",
    "我在超市上班路上碰到了老王。",
    "我的部门是最累的。",
    "我改用热水洗脸了。",
    "现在改成晚上跑，早上起不来。",
    "体重降到 72 公斤了。",
]
OF_WHOM_NOTHING_TELLS = [
    "陪妈妈看房，房东姓李，挺和气。",
    "老韩摔伤了，五月起教练换成林佳音。",
    "小何之前，组长是老梁。",
    "妈妈给我介绍了个对象，是医生，在中医院上班。",
    "我表弟结婚了，老婆是护士，叫丁宁。",
    "云栈来信了，职位是高级后端工程师。",
    "Fired my accountant Rob.",
    "My dentist Dr. Wolf is closing her practice.",
    "Our landlord Mr. Hill sold the building.",
    "Said goodbye to my coach Ivan.",
    "I'm the oldest nurse on the ward.",
    "今天送女儿去新学校，班主任姓邱，看着挺严厉。",
    "小区换了物业，新经理姓侯，电话贴在电梯里。",
    "我侄女在南京读大学，学法律。",
]
BOUNDS_AND_BYSTANDERS = [
    "The rent must stay under 1250 euros.",
    "房租 1180 欧以内的房子不多。",
    "My old landlord Pedro wrote.",
    "My accountant Google sheet is full.",
    "I called my dentist Monday.",
    "I swapped Monday for Tuesday.",
    "I might buy a Fairphone 5 to replace the Pixel 6.",
    "Started at Millbrook School.",
    "律师周末不来。",
    "修车店：玉林的慢轮，老板姓廖，手艺好。",
    "律师何时回来不清楚。",
    "昨晚住里斯本。",
    "我住三楼。",
    "I bought a Tesla charger.",
    "I got a Pixel for Tom.",
    "Got a Volvo as a hire car for the weekend.",
    "I took 20 mg of citalopram until May, now 10 mg.",
    "Ana doesn't eat much.",
    "I don't eat lunch.",
    "I can't have visitors.",
    "I live on coffee.",
    "Gym is on a hill.",
    "联系人是秦主任。",
    "我的身份证号码是11010119900101。",
    "我在健身房请了私教，叫大伟。",
    "他这个人不吃香。",
    "孩子今天不吃饭。",
    "买了 iPhone 手机壳。",
    "My rent is 200 less than his.",
    "I moved to New Zealand for a month.",
    "I have asthma checks on Friday.",
    "我在星巴克工作了一下午。",
    "我买了奥迪模型。",
    "我换了大众点评会员。",
    "我的车在修。",
    "我有高血压的家族史。",
    "我吃了布洛芬。",
    "My barber is Turkish.",
    "I got into a Volvo.",
    "I stopped using insulin pens.",
    "The gym moved to Mill Street.",
    "新领导姓什么？",
    "我的教练搬到上海了。",
    "大家在成都集合。",
]
PLANNED = [
    "I'm thinking of moving to Berlin.",
    "I'm moving to Berlin next month.",
    "I want to move to Berlin.",
    "I might switch to Vim.",
    "We are considering MySQL.",
    "We'll use MySQL.",
    "We haven't switched to MySQL yet.",
    "I will join OpenAI in July.",
    "I start at Google in August.",
    "I accepted a job at Google starting in August.",
    "I almost joined Google.",
    "I was going to move to Berlin.",
    "I decided to quit my job.",
    "We decided to move to Berlin.",
    "I'd love to work at Spotify one day.",
    "我打算搬到柏林。",
    "我想改用 Vim。",
    "我在考虑跳槽到腾讯。",
    "下个月我们迁移到 MySQL。",
    "我们正在从 PostgreSQL 迁移到 MySQL。",
    "我要和小李结婚了。",
]
ADVISED = [
    "You should use Vim.",
    "Let's switch to MySQL.",
    "Please use MySQL.",
    "Don't use tabs.",
    "我建议改用 MySQL。",
    "请使用 MySQL。",
    "使用 MySQL 时要注意编码。",
]
OTHERS_WORDS = [
    "He said 'I hate Python'.",
    'Katrin said "I don\'t like my landlord" and slammed the door.',
    'Ana said "I moved to Berlin. I love it."',
    'The headline was "Why we no longer use Docker".',
    "> I live in Lisbon",
    "Ben thinks we use MySQL.",
    "I was told I'm allergic to nuts.",
    "The article says Google uses Spanner.",
    "他说“我讨厌Python”。",
    "阿姨在信里写道：“我已经不住在南京了。”",
    "妈妈说我对花生过敏。",
    "网上有篇文章，标题是《我们为什么不再用钉钉》。",
]
JOKED = ["I moved to Mars. Just kidding!", "I joined NASA, just kidding.", "我搬到上海了。开玩笑的。"]
LOOKALIKES = [
    "I gave up on Italian.",
    "We moved people from Sales to Support.",
    "We rolled back to version 2.1.",
    "我喜欢的颜色是蓝色。",
    "今天不吃辣了。",
    "坐标用SRID 4326。",
    "I left Ana at the station.",
    "I left Starbucks at 5.",
    "I left Lisbon for Porto.",
    "I joined Ana for lunch.",
    "I joined the call with Ben.",
    "I joined a gym.",
    "I use the bus every day.",
    "I run on coffee.",
    "The bus runs on Sunday.",
    "The long run on Sunday.",
    "I live in a small flat.",
    "She moved to the kitchen.",
    "We moved to the next topic.",
    "We replaced Bob with Alice.",
    "I love it!",
    "I love that idea.",
    "I love you.",
    "I love the colours!",
    "I love spending time with my friends.",
    "My boss is on holiday.",
    "My office is a mess.",
    "Our deadline is tight.",
    "I'm a morning person.",
    "I got fired up about this.",
    "I quit the coffee shop.",
    "I stopped smoking salmon.",
    "I don't drink coffee after five.",
    "I gave up my seat.",
    "Ana gave up coffee for Lent.",
    "I earn 5 points.",
    "I earn 20 euros an hour.",
    "The average salary is 3,000 euros.",
    "Got a new boss, and he is strict.",
    "Insurance covers Tom.",
    "The doctor put me on hold.",
    "Ana: Slack is down.",
    "Update: Redis 8 is out.",
    "Interview: Kafka and Redis.",
    "最低工资是2490元。",
    "工资是15号发。",
    "我今天不喝咖啡了。",
    "我打算戒烟。",
    "换了新老板，心情很好。",
    "仓库归周敏管。",
    "李强代表公司发言。",
    "老师不在，班长代课。",
    "I've been to Lisbon.",
    "I've lived in Lisbon.",
    "I used Vim to edit the file yesterday.",
    "We use MySQL or Postgres.",
    "Tuesday works for Ana.",
    "我在家工作。",
    "我在图书馆工作了一下午。",
    "我加入了微信群。",
    "我离开了北京。",
    "我离开办公室的时候下雨了。",
    "我用手机拍照。",
    "我喜欢你。",
    "我喜欢上班。",
    "我叫了外卖。",
    "我只吃素菜。",
    "今天吃素。",
    "我住在朋友家。",
    "搬到新家了。",
    "我放弃了减肥。",
    "我们不用开会了。",
    "我是一个乐观的人。",
]


@pytest.mark.parametrize(
    "text",
    [
        "First day at Roundhay Academy as a pupil.",
        "I started as a student at Leeds Academy.",
        "Priya's baby came with us to the park.",
        "我们月底要搬到杨浦区。",
        *ASKED,
        *SUPPOSED,
        *NO_SUCH_VALUE,
        *OF_WHOM_NOTHING_TELLS,
        *BOUNDS_AND_BYSTANDERS,
        *PLANNED,
        *ADVISED,
        *OTHERS_WORDS,
        *JOKED,
        *LOOKALIKES,
    ],
)
def test_what_only_sounds_like_a_fact_is_none(stated: Stated, text: str):
    assert stated(text) == []


def test_what_stands_beside_it_still_counts(stated: Stated):
    assert stated('He said "I hate Python". I like Python.') == ["user likes Python"]
    assert stated("Where do you live? I live in Porto.") == ["user lives_in Porto"]
    assert stated("她问：“你住在哪里？”我住在南京。") == ["user lives_in 南京"]


def test_code_states_no_facts(analyst, vocabulary):
    from amem.analysis import Draft

    assert analyst.analyze(Draft("```\nI live in Lisbon\n```"), vocabulary()).facts == ()
    assert analyst.analyze(Draft("I live in Lisbon"), vocabulary()).facts != ()


PIECES = [
    *(
        "a",
        " ",
        "\"'",
        "I use ",
        "I live in Lisbon, ",
        "We moved the x ",
        "I switched from a to ",
        "Ana said that ",
        "(",
    ),
    *(
        "\n> a",
        "```",
        "Ana's ",
        "my manager is ",
        "3.1",
        "and ",
        "I live. ",
        "我住在",
        "从",
        "把服务从",
        "她说她",
        "的",
        "“",
    ),
    "我们 use MySQL 8.4 和 ",
]


@pytest.mark.parametrize("piece", PIECES)
def test_a_page_of_anything_is_read_to_its_end(stated: Stated, piece: str):
    text = piece * (20_000 // len(piece))
    assert len(stated(text)) <= 24
    assert len(stated(f"I live in Lisbon. {text}")) <= 24


def test_a_move_to_a_known_firm_is_a_job_and_to_an_unknown_name_a_home(stated: Stated):
    assert stated("Moved to Barclays, the team is nice.") == ["user works_at Barclays"]
    assert stated("Rob moved to Zalando, so I lost my lunch partner.") == ["Rob works_at Zalando"]
    assert stated("Moved to Wiedikon, third floor, lots of light.") == ["user lives_in Wiedikon"]
    assert stated("We moved to Barclays.") == []
