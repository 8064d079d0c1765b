"""What the notes of a crowd say."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from amem.note import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

_ENGLISH: Mapping[Kind, tuple[tuple[str, str], ...]] = {
    Kind.EPISODE: (
        ("family", "{who} and {other} walked along the river and talked about the {thing} until it rained"),
        ("travel", "The night train was late; {who} slept beside the {thing} on the platform"),
        ("music", "{who} played the {thing} piece by heart for the first time, {number} minutes without a break"),
    ),
    Kind.FACT: (
        ("family", "{who} was born in the year the {thing} was built and keeps a photograph of it"),
        ("garden", "The {thing} grows best behind the greenhouse, where {other} planted it {number} years ago"),
        ("health", "{who} is allergic to hazelnuts and carries the {thing} everywhere"),
        ("work", "{other} runs the team that looks after the {thing}; there are {number} of them"),
    ),
    Kind.PREFERENCE: (
        ("food", "{who} likes green tea at 80 degrees, never boiling, with the {thing}"),
        ("work", "{other} prefers reviewing the {thing} in the morning, before anyone is running about"),
        ("music", "{who} cannot stand loud music near the {thing}"),
    ),
    Kind.DECISION: (
        ("work", "We decided to move the {thing} to PostgreSQL and to keep the old one for {number} days"),
        ("home", "{who} and {other} will repaint the kitchen and leave the {thing} where it is"),
    ),
    Kind.CONSTRAINT: (
        ("work", "Nobody may deploy the {thing} on a Friday, {who} says, whatever the customers are promised"),
        ("health", "{other} must not lift more than {number} kilograms, the {thing} included"),
    ),
    Kind.CONFIG: (
        ("code", "The {thing} listens on port 80{number} and reads AMEM_HOME before anything else"),
        ("code", "retry_limit of the {thing} is {number}; {who} raised it after the outage"),
    ),
    Kind.CODE: (
        ("code", "rename_tag(old, new) in the {thing} returns how many notes were changed, says {who}"),
        ("code", "{other} replaced the loop in the {thing} by one numpy call and it ran {number} times faster"),
    ),
    Kind.ERROR: (
        ("code", "ConnectionResetError while the {thing} talks to the gateway, {number} times since noon"),
        ("work", "The {thing} printed yesterday's prices; {who} found that it had the wrong time zone"),
    ),
    Kind.QUESTION: (
        ("home", "Does anybody know why the {thing} hums at night? {who} hears it through {number} walls"),
        ("travel", "Which ferry takes bicycles and the {thing} across, {other} wonders"),
    ),
    Kind.CHITCHAT: (
        ("friends", "{who} says hello and that the {thing} made everybody laugh 🙂"),
        ("friends", "Ha, {other} wore the {thing} hat to the café again"),
    ),
    Kind.PROCEDURE: (
        ("home", "To descale the {thing}: fill it with vinegar, wait {number} minutes, rinse twice"),
        ("code", "To restore the {thing}: stop the worker, unpack the snapshot, start it with --safe"),
    ),
    Kind.TOPIC: (("garden", "Everything about the {thing}, what {who} tried and what came of it in {number} seasons"),),
}
_CHINESE: Mapping[Kind, tuple[tuple[str, str], ...]] = {
    Kind.EPISODE: (
        ("家庭", "{who}和{other}沿着河边散步，一直聊{thing}，直到下雨才回家"),
        ("旅行", "夜车晚点了{number}分钟，{who}在站台上抱着{thing}睡着了"),
    ),
    Kind.FACT: (
        ("家庭", "{who}的猫今年{number}岁，怕吸尘器，喜欢趴在{thing}上 🐱"),
        ("工作", "{other}的小组负责维护{thing}，一共{number}个人"),
    ),
    Kind.PREFERENCE: (
        ("饮食", "{who}喝绿茶只用八十度的水，从不用开水，旁边总放着{thing}"),
        ("工作", "{other}喜欢早上先看{thing}的代码，再开会"),
    ),
    Kind.DECISION: (("工作", "我们决定把{thing}的数据库换成 PostgreSQL，旧的再保留{number}天"),),
    Kind.CONSTRAINT: (("健康", "医生说{who}不能提超过{number}公斤的东西，{thing}也不行"),),
    Kind.CONFIG: (("代码", "{thing}的端口是80{number}，先读环境变量，再读配置文件"),),
    Kind.ERROR: (("代码", "{thing}昨晚超时{number}次，{who}怀疑是连接池太小"),),
    Kind.QUESTION: (("生活", "为什么{thing}半夜会响？{other}在隔壁都听见了"),),
    Kind.CHITCHAT: (("朋友", "{who}问大家好，说{thing}把所有人都逗笑了"),),
    Kind.PROCEDURE: (("生活", "清洗{thing}：倒进白醋，等{number}分钟，再用清水冲两遍"),),
}
_PEOPLE = ("Ana", "Bruno", "Carla", "Deniz", "Emre", "Femi", "Greta", "Hugo", "Inês", "Jonas", "Karim", "Zoë")
_RENMEN = ("李雷", "韩梅", "王芳", "陈红", "张伟", "刘洋", "赵敏", "孙丽", "吴昊")
_THINGS = (
    *("kettle", "importer", "plum tree", "search index", "cello", "bread oven", "login page", "telescope", "hedge"),
    *("nightly export", "rain barrel", "message queue", "sewing machine", "fig jam", "billing service", "bicycle"),
    *("report generator", "lavender", "espresso grinder", "chess clock", "router", "vegetable stew", "umbrella stand"),
)
_WUPIN = (
    "水壶",
    "导入脚本",
    "李子树",
    "搜索索引",
    "大提琴",
    "面包机",
    "登录页面",
    "望远镜",
    "报表",
    "缝纫机",
    "自行车",
    "路由器",
    "薰衣草",
)
_PLACES = (
    *("Porto", "Graz", "Leeds", "Ghent", "Turku", "Malmö", "Bologna", "Sevilla", "Izmir", "Kraków", "Lyon", "Bremen"),
    *("Cork", "Basel", "Tartu", "Bergen", "Nantes", "Verona", "Split", "Aarhus"),
)
_DIDIAN = (
    *("杭州", "成都", "西安", "厦门", "苏州", "大连", "昆明", "青岛", "长沙", "武汉", "南京", "桂林", "拉萨", "哈尔滨"),
    *("天津", "重庆", "福州", "三亚", "洛阳", "敦煌"),
)
#: Every third note is a Chinese one.
_CHINESE_EVERY = 3


@dataclass(frozen=True, slots=True)
class Said:
    """One note before it is written; `chinese` tells which of a copy's openings it gets."""

    content: str
    kind: Kind
    tag: str
    thing: str
    who: str
    chinese: bool


@cache
def said(number: int) -> Said:
    """The note of that number, from 0; no two of the first 300 alike."""
    thirds, rest = divmod(number, _CHINESE_EVERY)
    chinese = rest == _CHINESE_EVERY - 1
    turn = thirds if chinese else thirds * (_CHINESE_EVERY - 1) + rest
    lines = _CHINESE if chinese else _ENGLISH
    flat = [(kind, tag, line) for kind, some in lines.items() for tag, line in some]
    again, place = divmod(turn, len(flat))
    kind, tag, line = flat[place]
    if kind is Kind.TOPIC and again:  # of topics there are few
        kind = Kind.FACT
    people, things = (_RENMEN, _WUPIN) if chinese else (_PEOPLE, _THINGS)
    who, other = people[turn % len(people)], people[(turn * 5 + 1) % len(people)]
    thing = things[(place + 3 * again) % len(things)]
    content = line.format(who=who, other=other, thing=thing, number=10 + turn * 13 % 80)
    return Said(content, kind, tag, thing, who, chinese)


def openings(copy: int) -> tuple[str, str]:
    """What the English and the Chinese notes of a copy begin with; no two copies alike."""
    week, place = divmod(copy, len(_PLACES))
    return f"{_PLACES[place]}, week {week + 1}: ", f"{_DIDIAN[place]}第{week + 1}周："


def place_tags(copy: int) -> tuple[str, str]:
    """The tag that the English and the Chinese notes of a copy carry for their place."""
    place = copy % len(_PLACES)
    return _PLACES[place].casefold(), _DIDIAN[place]
