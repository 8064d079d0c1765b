"""Characters and words as amem treats them: scripts, the normal form of a text, words that say nothing."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

# Which script a character belongs to, as far as amem treats scripts differently.

#: Inside a regular expression's brackets: Han, kana, hangul, bopomofo and the iteration mark.
CJK = (
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)

#: Characters of Chinese, which Japanese and Korean use as well.
HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"

_CJK = re.compile(f"[{CJK}]")
_LETTER = re.compile(r"[^\W\d_]")

_CJK_FROM = 0.3


def is_cjk(character: str) -> bool:
    """Whether the (first) character is Chinese, Japanese or Korean; False for an empty string."""
    return _CJK.match(character) is not None


def cjk_share(text: str) -> float:
    """Share of CJK among the letters of `text`, 0..1; 0 when it holds no letter.

    A Latin word counts as two letters, about what its translation would take, so that a Chinese sentence with a few
    English names in it still counts as Chinese.
    """
    if text.isascii():
        return 0.0
    cjk = len(_CJK.findall(text))
    if not cjk:
        return 0.0
    other = sum(min(len(word), 2) for word in _CJK.sub(" ", text).split() if _LETTER.search(word))
    return cjk / (cjk + other)


def written_in_cjk(text: str) -> bool:
    """Whether a text is to be read (and answered) as Chinese is: from this share on, English names in it or not."""
    return not text.isascii() and _written_in_cjk(text)


@lru_cache(maxsize=2048)
def _written_in_cjk(text: str) -> bool:
    return cjk_share(text) >= _CJK_FROM


# The form in which two texts count as the same text: only cosmetic differences are folded.

# NFKC would make 10² and 102 the same number.
_RAISED = str.maketrans(
    {
        **{raised: f"^{digit}" for digit, raised in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
        **{lowered: f"_{digit}" for digit, lowered in enumerate("₀₁₂₃₄₅₆₇₈₉")},
        **dict.fromkeys("\u200b\u2060\ufeff\u00ad\ufe0e\ufe0f", ""),
        **dict.fromkeys("‘’‛", "'"),
        **dict.fromkeys("“”„‟", '"'),
    }
)


def normalize(text: str) -> str:
    """`text` without differences of case, width, spacing, quotes' shape and closing full stops.

    Numbers keep every digit and point ("3.5" is not "35", "4 2" is not "42"), and a question mark stays, since a
    question is not its answer. Text made of nothing but closing punctuation stays as it is.
    """
    folded = text.casefold() if text.isascii() else _fold(text)
    collapsed = " ".join(folded.split())
    return collapsed.rstrip(" .!。") or collapsed


def _fold(text: str) -> str:
    composed = unicodedata.normalize("NFKC", text.translate(_RAISED)).casefold()
    return unicodedata.normalize("NFKC", composed)


# Words that say nothing about what a text is about, in English and Chinese.


def words(text: str) -> frozenset[str]:
    """The white-space separated words of `text`."""
    return frozenset(text.split())


#: English function words, case-folded; contractions stand in the form `terms.contract` gives them ("dont", "cant").
ENGLISH = words(
    """
    a about above across after again against ago ain all along already also although always am among an and any
    anyone anything are aren arent around as at away back be became because become been before behind beside besides
    being below between both but by came can cannot cant could couldnt did didnt do does doesnt doing despite done
    dont down during each either else enough etc even ever except every everyone everything few for from further get
    gets getting give given go goes going gone gonna got gotta had hadnt has hasnt have havent having he her here
    hers herself him himself his how however i if im in indeed into is isnt it its itself just kind least less let
    lets like lot lots made make makes many may maybe me might mine more most much must mustnt my myself near need
    neednt neither never nevertheless next no nobody none nor not nothing now of off often oh ok okay on once one
    ones only onto or other others otherwise our ours ourselves out over own per perhaps please put quite rather
    really said same say says see seem seems shall shant she should shouldnt since so some someone something
    sometimes soon still such take than that the their theirs them themselves then there therefore these they thing
    things this those though through thus till to together too toward towards under unless until up upon us use used
    using very via want was wasnt way we well went were werent what whatever when whenever where whether which while
    who whoever whole whom whose why will with within without wont would wouldnt yes yeah yet you your youre yours
    yourself yourselves
    """
)

#: Single Chinese characters that work as function words. A bigram made of two of them carries no subject.
CHINESE_CHARACTERS = frozenset(
    "的了着过吗呢吧啊呀嘛么哦哈嗯噢呗啦哇我你您他她它们这那哪谁几啥是在有和与或及跟把被让给对从到向往由于以为因所而且但却"
    "则若如即使也都就还又再才只很太更最挺蛮非常已曾正将要会能可该应当想请问不没无未别个些位次件种样之其此各每某什怎"
    "上下里中后前时候去来说叫做"
)

#: Particles, pronouns and the copula: a bigram holding one straddles two words (save for `CHINESE_KEPT`).
CHINESE_PARTICLES = frozenset("的了着吗呢吧啊呀嘛么哦嗯噢呗啦什怎谁哪啥们我你您他她它是")

#: Real words that hold a particle or are made of function characters.
CHINESE_KEPT = words(
    """
    目的 的确 的士 了解 着急 着重 着凉 着火 未来 将来 会议 对比 对象 对手 因果 因素 过敏 过程 过期 过年 向往
    往来 跟踪 把握 和平 能力 应用 当前 请假 请求 问题 想法 没收 无人 别墅 个人 位置 次数 种类 样本 中心 中国
    后端 前端 时间 时区 叫做 做法 来源 上海 上线 下线 上下 里程 正则 说明 说法 中文 后果
    """
)

#: Bigrams of Chinese function words and question words.
CHINESE_BIGRAMS = words(
    """
    我们 你们 他们 她们 它们 咱们 自己 大家 别人 什么 怎么 怎样 如何 为何 为什 哪里 哪儿 哪个 哪些 多少 几个 是否
    谁的 我的 你的 他的 她的 这个 那个 这些 那些 这样 那样 这里 那里 这么 那么 一个 一些 一下 一样 一种 一直 一起
    有点 有些 没有 不是 不会 不能 不要 可以 应该 需要 能够 必须 就是 还是 只是 但是 可是 不过 而且 并且 或者
    以及 因为 所以 由于 因此 于是 如果 虽然 然后 之后 之前 以后 以前 时候 的话 关于 对于 根据 通过 已经 曾经 正在
    将要 刚刚 现在 当时 非常 特别 十分 比较 最近 其实 其他 其它 另外 还有 每个 各种 某个 进行 使用 觉得 认为
    知道 告诉 请问 起来 出来 下来 过来 时的 了吗 是的
    可能 所有
    """
)

#: One-character words that people ask for by themselves: indexed on their own beside the bigrams they stand in.
CHINESE_SINGLE_WORDS = frozenset(
    "猫狗鱼鸟马牛羊猪鸡鸭鹅兔虾蟹车船书茶酒米面饭肉菜蛋奶糖盐油醋药病牙眼手脚头腿腰胃雨雪风雷花树草山河海湖岛床灯门窗"
    "笔画歌舞琴鼓球棋衣裤鞋帽包伞钱税债猿猴蛇虎狼熊鹿龟梨桃枣姜葱蒜豆瓜汤粥刀枪碗锅杯"
)
