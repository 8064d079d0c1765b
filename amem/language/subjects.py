"""Who or what is meant: one name for "I", "the user" and 我, one for "we", "the project" and 我们的项目."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from amem.language import normalize
from amem.language.lexicon import is_everyday, is_place, lexicon
from amem.language.scripts import ENGLISH

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Whoever speaks in notes that name no speaker, and "we" with all that is ours.
USER, WE = "user", "we"

_SELF = frozenset(
    [
        *("i", "me", "myself", "my", "mine", "self", "the speaker", "the author"),
        *("我", "本人", "自己", "我自己", "俺", "咱", "在下", "笔者", "说话人"),
    ]
)
_USER = frozenset(["user", "the user", "用户", "使用者"])
_US = frozenset(
    [
        *("we", "us", "our", "ours", "ourselves", "team", "the team", "our team", "my team"),
        *("project", "the project", "our project", "this project", "my project", "the company", "our company"),
        *("我们", "咱们", "我方", "团队", "我们团队", "我们的团队", "公司", "我们公司", "我们的公司"),
        *("项目", "本项目", "该项目", "这个项目", "我们项目", "我们的项目"),
    ]
)
#: "Ana's sister", 小王的妹妹, "my sister", 我妹妹: whose, and what. "Our" things go by their own name.
_OWNED = re.compile(
    r"(?P<owner>[^'’]+?)['’]s\s+(?P<thing>\S.*)"
    r"|(?P<my>my)\s+(?P<mine>\S.*)"
    r"|(?P<wo>我)(?!们)(?:的\s*)?(?P<zh>\S.*)"
    r"|(?P<of>[^的]{1,20})的\s*(?P<what>\S.*)",
    re.IGNORECASE,
)
_OURS = re.compile(
    r"(?:(?:the|this|that|our)\s+|(?:我们|咱们|咱|本|该|这个|那个)的?\s*|公司的?(?=.{1,3}项目))(?=\S)", re.IGNORECASE
)
_ARTICLE = re.compile(r"^(?:(?:the|a|an|this|that|our|my)\s+|(?:我的|我们的|这个|该)\s*)(?=\S)")

_HEADS = ("project", "service", "app", "application", "system", "repo", "repository", "team", "项目", "服务", "系统")
#: "Heron project", "Project Heron", Heron 项目, 苍鹭项目: a proper name beside what it is the name of.
_HEADED = re.compile(
    r"(?P<name>[A-Z][a-z][A-Za-z\d_-]*)(?: (?P<head>(?i:" + "|".join(_HEADS[:8]) + r"))"
    r"|\s*(?:项目|服务|系统|应用|平台|仓库|团队))"
    r"|(?:[Pp]roject |[Ss]ervice |项目\s*)(?P<after>[A-Z][a-z][A-Za-z\d_-]*)"
    r"|(?P<zh>[\u4e00-\u9fff]{2,4})项目"
)
#: These say what an app or a service is for, or what it runs on, and are no names.
_KINDS = re.compile(
    r"\w+(?:ing|ment|tion|ity|er|or|ics|al)s?"
    r"|(?:android|web|mobile|desktop|windows|linux|mac|python|go|rust|java|kotlin|ruby|react|node|docker|data|backend"
    r"|frontend|core|search|auth|login|e?mail|order|report|image|file|event|chat|account|product|price|message|photo"
    r"|map|news|music|game|health|home|school|invoice|sale|user|design|support|growth|security|cloud|new|old|legacy|main|big|whole|entire)s?",
    re.IGNORECASE,
)


#: Relatives and others in Chinese, as a pattern.
KIN_ZH = (
    "妹妹|姐姐|哥哥|弟弟|妈妈|爸爸|母亲|父亲|妻子|丈夫|老婆|老公|太太|女朋友|男朋友|儿子|女儿|孩子|朋友|同事|室友|邻居|爷爷|奶奶|外公|外婆"
    "|岳母|岳父|丈母娘|丈人|公公|婆婆|姥姥|姥爷|外甥女?|侄子|侄女|伯父|伯母|伯伯|姨妈|舅妈|婶婶|嫂子|姐夫|妹夫|儿媳|女婿|叔叔|阿姨|姑姑|舅舅|表哥|表弟|表姐|表妹|堂哥|堂弟|堂姐|堂妹|老师|导师|医生|同学|闺蜜|老板|上司|经理|搭档|猫|狗|房东|爸|妈|姐|哥|弟|妹"
)
#: Relatives and others by their names in both languages, since what is somebody's keeps the language of its note.
_KIN = {
    "sister": ("妹妹", "姐姐"),
    "brother": ("弟弟", "哥哥"),
    "mother": ("妈妈", "母亲", "妈"),
    "mum": ("妈妈", "母亲", "妈"),
    "mom": ("妈妈", "母亲", "妈"),
    "father": ("爸爸", "父亲", "爸"),
    "dad": ("爸爸", "父亲", "爸"),
    "wife": ("妻子", "老婆", "太太"),
    "husband": ("丈夫", "老公"),
    "son": ("儿子",),
    "daughter": ("女儿",),
    "child": ("孩子",),
    "kid": ("孩子",),
    "dog": ("狗",),
    "cat": ("猫",),
}


def translations(key: str) -> tuple[str, ...]:
    """The keys under which notes in the other language may speak of a relative: "user's son" is user的儿子 there."""
    owner, _, kin = key.partition("'s ")
    if kin:
        return tuple(f"{owner}的{name}" for name in _KIN.get(kin, ()))
    owner, _, kin = key.partition("的")
    return tuple(f"{owner}'s {name}" for name, names in _KIN.items() if kin in names)


def canonical_subject(name: str, *, speaker: str | None = None, user: str = USER) -> str:
    """The one name of a subject. `speaker` is who says "I" (None: the user); `user` is what the user is called.

    The user is always ``user``, under whatever name; a group that the speaker belongs to is always ``we``. What is
    somebody's keeps the note's language: "my sister" is ``user's sister``, 我妹妹 is ``user的妹妹``.
    """
    plain = " ".join(name.split())
    folded = normalize(plain)
    if folded in _SELF:
        return USER if speaker is None else canonical_subject(speaker, user=user)
    if folded in _USER or folded == normalize(user):
        return USER
    if folded in _US:
        return WE
    if ours := _OURS.match(plain):
        return bare_name(plain[ours.end() :])
    if (bare := bare_name(plain)) != plain:
        return bare
    owned = _OWNED.fullmatch(plain)
    if owned is None:
        return plain
    thing = owned["thing"] or owned["mine"] or owned["zh"] or owned["what"]
    return bare if (bare := bare_name(thing)) != thing else _owned(owned, speaker, user)


def bare_name(name: str) -> str:
    """A proper name without the general word beside it, so that "Heron project" and "Heron" are one subject."""
    found = _HEADED.fullmatch(name)
    if found is None:
        return name
    if found["zh"]:
        return name if found["zh"] in lexicon().chinese or is_place(found["zh"]) else found["zh"]
    bare = found["name"] or found["after"]
    # "The Search service" is one for search, "Payment Service" may be, "the Berlin team" is not Berlin.
    titled = (found["head"] or "")[:1].isupper() and is_everyday(bare)
    return name if titled or is_place(bare) or _KINDS.fullmatch(bare) or bare.casefold() in ENGLISH else bare


def _owned(found: re.Match[str], speaker: str | None, user: str) -> str:
    if found["my"] or found["wo"]:
        owner = canonical_subject("I", speaker=speaker, user=user)
        return f"{owner}'s {found['mine']}" if found["my"] else f"{owner}的{found['zh']}"
    if found["of"]:
        return f"{canonical_subject(found['of'], speaker=speaker, user=user)}的{found['what']}"
    return f"{canonical_subject(found['owner'], speaker=speaker, user=user)}'s {found['thing']}"


def spellings(subject: str, user: str = USER) -> tuple[str, ...]:
    """Every name under which notes may speak of a canonical subject; `user` is what the user is called."""
    if subject == USER:
        return (USER, user, *sorted(_SELF | _USER))
    if subject == WE:
        return (WE, *sorted(_US))
    # Facts that were stored before such names were one: "Heron project".
    headed = (f"{subject} {head}" for head in _HEADS) if bare_name(f"{subject} project") == subject else ()
    return (subject, *headed)


def typed_subject(name: str, known: Iterable[str]) -> str:
    """The one of the `known` subjects that somebody means who types it in small letters, or without its accents.

    ("heron project" for Heron, "amelia" for Amélia); `name` as it is where none fits.
    """
    keys = {_unaccented(each): each for each in known}
    bare = (bare_name(cased) for cased in (name, name.capitalize(), name.title()))
    return next((keys[key] for each in bare if (key := _unaccented(each)) in keys), name)


def _unaccented(name: str) -> str:
    marks = unicodedata.normalize("NFKD", subject_key(name))
    return "".join(mark for mark in marks if not unicodedata.combining(mark))


def subject_key(name: str) -> str:
    """What two spellings of one subject share: case, width, articles and possessives left out."""
    folded = normalize(name)
    return _ARTICLE.sub("", folded) or folded
