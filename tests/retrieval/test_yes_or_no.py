"""What a note says to a question: of whom it is said, and yes or no."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from amem.retrieval.entailment import Premise, Verdict, is_beside, is_over, verdict


@pytest.mark.parametrize(
    ("question", "note"),
    [
        ("Am I vegetarian?", "Tom is vegetarian."),
        ("Am I vegetarian?", "My sister Ana is vegetarian."),
        ("What do I eat for breakfast?", "Tom eats porridge for breakfast."),
        ("Is Ana vegetarian?", "I am vegetarian."),
        ("Is Ana vegetarian?", "Tom is vegetarian, he brings his own food."),
        ("我吃素吗？", "同事 Tom 吃素，下次订餐厅要注意。"),
        ("王磊吃素吗？", "我吃素。"),
        ("我对花生过敏吗？", "妈妈对花生过敏。"),
        ("When is my birthday?", "Mum's birthday is on 4 May."),
        ("我的生日是哪天？", "妈妈的生日是五月四号。"),
        # What is only supposed is not so.
        ("Did I become lead architect?", "If they offered me the lead architect post I'd stay."),
        ("我搬去深圳了吗？", "如果房价再涨，我就搬去深圳算了。"),
        ("Where do I live?", "If I won the lottery, I would live in Monaco."),
        ("我住在哪里？", "要是中了彩票，我就住三亚。"),
    ],
)
def test_what_is_said_of_somebody_else_or_only_supposed_is_beside_the_point(question: str, note: str) -> None:
    assert is_beside(question, note)
    assert verdict(question, note) is None


@pytest.mark.parametrize(
    ("question", "note", "speaker"),
    [
        ("Am I vegetarian?", "Vegetarian since May.", None),
        ("Am I vegetarian?", "Ana and I are vegetarian.", None),
        ("Is Ana vegetarian?", "Ana is vegetarian.", None),
        ("Is Ana vegetarian?", "I am vegetarian.", "Ana"),
        ("What did I hear about Rust?", "Kevin says Rust is too hard for us.", None),
        ("Where do I park?", "The school lets nobody park at the gate.", None),
        ("Who gave me the lamp?", "Ana gave me the lamp.", None),
        ("Will I go to Lisbon?", "If the flights are cheap, I will go to Lisbon.", None),
        ("我吃素吗？", "我五月开始吃素。", None),
        ("王磊对花生过敏吗？", "王磊对花生过敏。", None),
        ("When is my birthday?", "My birthday is on 4 May, Mum's birthday on the 5th.", None),
        ("我的生日是哪天？", "我生日是五月四号，妈妈的生日是五号。", None),
        ("我的经理是谁？", "王磊是新来的经理。", None),
    ],
)
def test_what_is_said_of_whom_the_question_asks_is_not(question: str, note: str, speaker: str | None) -> None:
    assert not is_beside(question, note, speaker)


@pytest.mark.parametrize(
    ("note", "answer"),
    [
        ("Production runs on Hetzner now.", Verdict.YES),
        ("We're leaving Hetzner: cold starts of 4 s.", None),
        ("We like Hetzner.", None),
    ],
)
def test_to_name_where_somebody_may_be_is_not_to_say_that_they_are_there(note: str, answer: Verdict | None) -> None:
    assert verdict("Are we still on Hetzner?", note) is answer


@pytest.mark.parametrize(
    ("question", "note", "answer"),
    [
        ("Am I vegetarian?", "I am vegetarian since May.", Verdict.YES),
        ("Do I play the piano?", "I play the piano every day.", Verdict.YES),
        ("Did Ana pass the exam?", "Ana passed her exam!", Verdict.YES),
        ("Does Mia like peas?", "Mia likes the fish fingers, hates peas.", Verdict.NO),
        ("Have I been to Japan?", "I've never been to Japan.", Verdict.NO),
        ("Do I still take ramipril?", "Stopped the ramipril because of the cough.", Verdict.NO_LONGER),
        ("Do I drink coffee?", "Gave up coffee, green tea only now.", Verdict.NO_LONGER),
        ("Do I drink coffee?", "Back on coffee, but only one a day.", Verdict.YES),
        ("Did I sell the car?", "Sold the car to the Pattersons.", Verdict.YES),
        ("Did Ben support the plan?", "Ben opposed the plan.", Verdict.NO),
        ("Was Tom married?", "Tom was never married.", Verdict.NO),
        ("Do I take sertraline?", "Stopped the sertraline with Dr Moss's blessing.", Verdict.NO_LONGER),
        ("Did I stop the sertraline?", "Stopped the sertraline in May.", Verdict.YES),
        ("Do I smoke?", "I don't smoke any more.", Verdict.NO_LONGER),
        ("我喝咖啡吗？", "胃不好，咖啡戒掉了，现在只喝绿茶。", Verdict.NO_LONGER),
        ("我吃素吗？", "我五月开始吃素。", Verdict.YES),
        ("我吃香菜吗？", "我不吃香菜。", Verdict.NO),
        ("我抽烟吗？", "我不抽烟了。", Verdict.NO_LONGER),
        ("Do we use Envoy?", "Rolled back Envoy, Kong is in production again.", Verdict.NO_LONGER),
        ("我卖钢琴了吗？", "钢琴卖了。", Verdict.YES),
        ("公司可以带宠物吗？", "公司禁止带宠物。", Verdict.NO),
        ("公司可以带宠物吗？", "公司可以带宠物。", Verdict.YES),
        ("图书馆可以带食物吗？", "图书馆不许带食物。", Verdict.NO),
    ],
)
def test_a_plain_statement_of_whom_is_asked_says_yes_or_no(question: str, note: str, answer: Verdict) -> None:
    assert verdict(question, note) is answer


@pytest.mark.parametrize(
    ("question", "note"),
    [
        ("Do I own a dog?", "Walked the dog of the neighbours."),
        ("Do I drink coffee?", "The coffee machine at work broke."),
        ("Did I sell the car?", "Bought the car in May."),
        ("Do I take ramipril?", "Thinking of stopping the ramipril."),
        ("Where do I play the piano?", "I play the piano every day."),
        ("我有车吗？", "周末租了车。"),
        ("Does Dad take amlodipine?", "Dad takes amlodipine, his feet swell, so the doctor switched him to valsartan."),
        ("爸爸还吃氨氯地平吗？", "爸爸吃氨氯地平脚肿，医生给换成了缬沙坦。"),
        ("我喝咖啡吗？", "考虑戒掉咖啡。"),
        ("Is Leila married?", "Leila and Marek moved the wedding to 19 December."),
        ("Is Lea married?", "My cousin Lea is engaged to Paul."),
        ("我表姐结婚了吗？", "我表姐订婚了，对象是王磊。"),
        ("Does Sam eat chicken?", "Sam doesn't eat pork."),
        ("小雨吃鸡肉吗？", "小雨不吃猪肉。"),
        # What has ended was so.
        ("Did I smoke?", "I gave up smoking."),
        ("Did I smoke?", "I don't smoke any more."),
        ("Was Tom married?", "Tom got divorced."),
        ("Was I in Naples?", "Back from Naples, the pizza was the best ever."),
        ("我抽过烟吗？", "我不抽烟了。"),
        # To do less of something, or to be gone, is no yes.
        ("Can Tim play on the phone?", "The teacher wants Tim to play less on the phone."),
        ("我能喝啤酒吗？", "医生让我少吃海鲜少喝啤酒。"),
        ("小宇能玩手机吗？", "老师让小宇少玩手机。"),
        ("煤球还在吗？", "煤球上个月走了。"),
    ],
)
def test_what_does_not_decide_says_neither(question: str, note: str) -> None:
    assert verdict(question, note) is None


MAY, NOVEMBER = datetime(2026, 5, 10, 9, tzinfo=UTC), datetime(2026, 11, 20, 20, tzinfo=UTC)


@pytest.mark.parametrize(
    ("question", "note", "said", "answer"),
    [
        ("Is Nadia in Turin?", "Nadia lives in Turin.", MAY, Verdict.YES),
        ("Is Bea in Malmö?", "Bea is in Malmö today.", NOVEMBER, Verdict.YES),
        ("Is Tomas in Gothenburg?", "Tomas was in Gothenburg for a fair.", MAY, None),
        ("Is Tomas in Gothenburg?", "Tomas is in Gothenburg next week.", MAY, None),
        ("Is Tomas in Gothenburg?", "Met Tomas in Gothenburg.", MAY, None),
        ("Is Tomas in Gothenburg?", "Tomas is in Gothenburg.", MAY, None),
        ("Is Hanna pregnant?", "Hanna is pregnant.", MAY, Verdict.YES),
        ("Is Hanna pregnant?", "Hanna is pregnant.", MAY - timedelta(days=200), None),
        ("Is Rosa engaged?", "Rosa got engaged.", MAY, Verdict.YES),
        ("小陆在厦门吗？", "小陆住在厦门。", MAY, Verdict.YES),
        ("老唐在哥德堡吗？", "老唐五月在哥德堡出差。", MAY, None),
        ("志强在南京吗？", "志强下周在南京。", MAY, None),
        ("小雅怀孕了吗？", "小雅怀孕了。", MAY - timedelta(days=200), None),
        ("Is my passport still valid?", "My passport is valid until 2026-09-01.", MAY, Verdict.NO_LONGER),
        ("Is my passport still valid?", "My passport is valid until 2028-09-01.", MAY, Verdict.YES),
        ("我的护照还有效吗？", "我的护照有效期到2026年9月。", MAY, Verdict.NO_LONGER),
    ],
)
def test_a_yes_to_how_things_are_wants_a_statement_that_is_so_still(
    question: str, note: str, said: datetime, answer: Verdict | None
) -> None:
    assert verdict(question, note, said, NOVEMBER) is answer


@pytest.mark.parametrize(
    ("question", "state", "event"),
    [
        ("Is Hanna pregnant?", "Hanna is pregnant, due in October.", "Hanna had a boy yesterday."),
        ("Is Rosa engaged?", "Rosa got engaged to Pete.", "Rosa and Pete's wedding was lovely."),
        ("Is Leo a student?", "My brother Leo is a student.", "Leo graduated last week!"),
        ("Do I have the flu?", "I have the flu.", "I'm over the flu at last."),
        ("Is Dad in hospital?", "Dad is in hospital.", "Dad was released from hospital this morning."),
        ("Do I own a Vespa?", "I own a red Vespa.", "Sold the Vespa to a guy from Lund."),
        ("Do I still have the drill?", "Borrowed a drill.", "Returned the drill to Ian."),
        ("Do I have a boyfriend?", "Marek is my boyfriend.", "Marek and I broke up."),
        ("Is Grandad ill?", "Grandad is ill with bronchitis.", "Grandad is over his bronchitis."),
        ("Is Pickle missing?", "Our cat Pickle is missing.", "Pickle turned up in the neighbour's shed."),
        ("小雅怀孕了吗？", "小雅怀孕了。", "小雅昨天生了，是个男孩。"),
        ("弟弟还是学生吗？", "弟弟是大学生。", "弟弟毕业了。"),
        ("爸爸还在住院吗？", "爸爸住院了。", "爸爸今天出院了。"),
        ("我还有小电驴吗？", "我有一辆小电驴。", "小电驴卖掉了。"),
        ("我有女朋友吗？", "我女朋友叫小雯。", "我们分手了。"),
    ],
)
def test_an_event_ends_a_state_until_it_is_said_anew(question: str, state: str, event: str) -> None:
    before, after = Premise(state, MAY), Premise(event, MAY + timedelta(days=30))
    assert is_over(question, [after, before], NOVEMBER) == 0
    assert is_over(question, [before], NOVEMBER) is None
    assert is_over(question, [replace(before, at=NOVEMBER), after], NOVEMBER) is None


@pytest.mark.parametrize(
    ("question", "event"),
    [
        ("Is Hanna pregnant?", "Lea had a boy yesterday."),
        ("Is Hanna pregnant?", "Hanna had a baby shower."),
        ("Is Leo a student?", "Leo hasn't graduated yet."),
        ("Is Leo a student?", "Leo wants to drop out."),
        ("Do I own a Vespa?", "Sold the piano."),
        ("小雅怀孕了吗？", "小雅生了病。"),
        ("我的流感好了吗？", "流感好了。"),
        ("奶奶的骨折好了吗？", "奶奶拆石膏了。"),
    ],
)
def test_what_ends_nothing_of_what_is_asked_does_not(question: str, event: str) -> None:
    assert is_over(question, [Premise(event, MAY)], NOVEMBER) is None
