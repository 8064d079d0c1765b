"""Where Chinese words begin and end, without a trained segmenter.

The cheapest way through a run of characters wins: a word of the lexicon costs one, a person's name a little more, a
character that fits neither more still. What stays unknown is kept together as one new word.
"""

from __future__ import annotations

from dataclasses import dataclass

from amem.llm.offline.lexicon import Sort, lexicon

_UNKNOWN = 1.55
_SURNAMES = frozenset(
    "王李张刘陈杨黄赵周吴徐孙马朱胡郭何林高罗郑梁谢宋唐许邓韩冯曹彭曾肖田董潘袁蔡蒋余杜叶程魏苏吕丁任卢姚沈钟姜崔谭陆范"
    "汪廖石金韦贾夏付方邹熊孟秦邱江尹薛闫雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔汤"
)
_GIVEN = frozenset(
    "伟芳娜敏静秀丽强磊军洋勇艳杰娟涛明超兰霞平刚桂英华文梅雷琳玲婷雪倩颖莉佳慧欣怡悦彤萱涵轩宇浩然博梓晨阳鑫凯峰鹏飞志建国"
    "庆春燕红玉珍凤洁云莲荣晶妍茜秋珊莎锦青嘉琼婉娴瑾瑞晓欢枫芸菲舒影思毅俊健斌辉永良海波宁福祥彬昌康星光达岩茂诚振豪哲泽楠若诗"
    "琪瑶梦妮芬莺薇蕾蓉丹丽月珠翠香芝媛岚苑馨纯露澜希琦淑惠美亮安东南岭"
)
_FAMILIAR = frozenset("小老阿")
_TITLES = ("老师", "医生", "教授", "经理", "先生", "女士", "小姐", "主任", "师傅", "大夫", "律师", "总", "哥", "姐")
#: A new word longer than this is a stretch of text the lexicon knows nothing of.
_LONGEST_NEW = 5


@dataclass(frozen=True, slots=True)
class Segment:
    """One word of a run: where it lies, what it is, whether the lexicon knew it and whether it names a person."""

    start: int
    end: int
    sort: Sort
    known: bool = True
    person: bool = False


def segment(run: str) -> list[Segment]:
    """Cut a run of CJK characters into words; the segments cover it without gaps."""
    size = len(run)
    words = lexicon().chinese
    longest = lexicon().longest_chinese
    best = [0.0] + [float("inf")] * size
    step: list[Segment | None] = [None] * (size + 1)
    for start in range(size):
        cost = best[start]
        if cost + _UNKNOWN < best[start + 1]:
            best[start + 1], step[start + 1] = cost + _UNKNOWN, Segment(start, start + 1, Sort.CONTENT, known=False)
        for end in range(start + 1, min(size, start + longest) + 1):
            sort = words.get(run[start:end])
            if sort is not None and cost + 1 < best[end]:
                best[end], step[end] = cost + 1, Segment(start, end, sort)
        for end in _names(run, start):
            if cost + 1.2 < best[end]:
                best[end], step[end] = cost + 1.2, Segment(start, end, Sort.CONTENT, known=False, person=True)
    found: list[Segment] = []
    place = size
    while place > 0:
        last = step[place]
        assert last is not None
        found.append(last)
        place = last.start
    return _joined(found[::-1])


def _names(run: str, start: int) -> list[int]:
    """Ends of the personal names that could begin at `start`."""
    first, second, third = run[start : start + 1], run[start + 1 : start + 2], run[start + 2 : start + 3]
    ends: list[int] = []
    if first in _FAMILIAR and second in _SURNAMES:
        ends.append(start + 2)
    if first in _SURNAMES:
        ends += [start + 1 + len(title) for title in _TITLES if run.startswith(title, start + 1)]
        if second in _GIVEN:
            ends.append(start + 2)
            if third in _GIVEN:
                ends.append(start + 3)
    return ends


def _joined(segments: list[Segment]) -> list[Segment]:
    """Neighbouring unknown characters as one new word, unless there are too many to be one."""
    joined: list[Segment] = []
    for part in segments:
        last = joined[-1] if joined else None
        if last is not None and not (last.known or last.person or part.known or part.person):
            joined[-1] = Segment(last.start, part.end, Sort.CONTENT, known=False)
        else:
            joined.append(part)
    return [
        Segment(part.start, part.end, Sort.WEAK, known=False)
        if not part.known and part.end - part.start > _LONGEST_NEW
        else part
        for part in joined
    ]
