"""The word lists behind the offline rules, and the turns of phrase by which a note shows its kind."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from dataclasses import dataclass
from enum import IntEnum
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from amem.language import index_terms, is_cjk
from amem.language.scripts import ENGLISH, read_list, word_list
from amem.note import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping


# The word lists behind the offline rules, read once from the text files beside this module.

#: What turns a Chinese verb of one character into "done", "into", "out of" and so on.
_VERB_ENDINGS = "了过着到进出完好成给在掉起上下回开住走"


class Sort(IntEnum):
    """What a word is good for, from nothing to a keyword."""

    STOP = 0
    NUMBER = 1
    TIME = 2
    WEAK = 3
    COMMON = 4
    CONTENT = 5


@dataclass(frozen=True, slots=True)
class Theme:
    """A broad subject: its tag in both languages, other names it may go by, how a sentence says it."""

    english: str
    chinese: str
    aliases: tuple[str, ...]
    said: str

    def phrase(self, chinese: bool) -> str:
        """The theme as a sentence names it."""
        return self.chinese if chinese else self.said

    def tag(self, chinese: bool) -> str:
        """The tag in the note's language."""
        return self.chinese if chinese else self.english


@dataclass(frozen=True, slots=True)
class Lexicon:
    """All word lists. English keys are stems (`stem`), phrases are stems joined by spaces."""

    themes: tuple[Theme, ...]
    triggers: Mapping[str, tuple[tuple[int, int], ...]]
    """Word or phrase as written, "=" before one that counts as a noun only -> (theme's position, weight 1 or 2)."""
    cues: Mapping[str, int]
    """Stem of a trigger, or a Chinese one -> its greatest weight: how telling a word is by itself."""
    phrases: frozenset[str]
    verbs: frozenset[str]
    adjectives: frozenset[str]
    times: frozenset[str]
    reactions: frozenset[str]
    nouns: frozenset[str]
    general: frozenset[str]
    """Those of the nouns that are too general to say by themselves what a note is about."""
    known: frozenset[str]
    persons: frozenset[str]
    places: frozenset[str]
    chinese: Mapping[str, Sort]
    chinese_places: frozenset[str]
    chinese_general: frozenset[str]
    """Nouns too general to say what a note is about."""
    chinese_reactions: frozenset[str]

    def cue_sort(self, cue: str) -> Sort:
        """How telling a theme's cue is as a word of its own."""
        return _cue_sort(self.cues[cue])

    def is_noun_trigger(self, folded: str) -> bool:
        """Whether the word triggers a theme where it is a noun."""
        return f"={folded}" in self.triggers


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """The index term a Latin word is found by; the case-folded word itself when it has none."""
    terms = index_terms(word)
    return terms[0] if terms else word.casefold()


@lru_cache(maxsize=1 << 16)
def terms_of(phrase: str) -> frozenset[str]:
    """The index terms of a keyword or name, remembered."""
    return frozenset(index_terms(phrase))


def is_person(name: str) -> bool:
    """Whether the gazetteer has a given name such as this."""
    bare = unicodedata.normalize("NFKD", name.casefold())
    return "".join(mark for mark in bare if not unicodedata.combining(mark)) in lexicon().persons


def is_place(name: str) -> bool:
    """Whether the gazetteer has a place of this name."""
    return name.casefold() in lexicon().places or name in lexicon().chinese_places


def is_everyday(word: str) -> bool:
    """Whether the lexicon has an English word as a word of every day."""
    return word.casefold() in ENGLISH or stem(word) in lexicon().known


@cache
def lexicon() -> Lexicon:
    """The one lexicon, read on first use."""
    english = _sections("english.txt")
    chinese = _sections("chinese.txt")
    themes, triggers = _themes()
    cues: dict[str, int] = {}
    for trigger, weights in triggers.items():
        cue = trigger if is_cjk(trigger) or trigger.startswith("=") else _phrase(trigger)
        cues[cue] = max(cues.get(cue, 0), *(weight for _, weight in weights))
    chinese_cues = {*filter(is_cjk, triggers), *(theme.chinese for theme in themes)}
    stems = {name: frozenset(stem(word) for word in words if "_" not in word) for name, words in english.items()}
    # Weaker readings come last and win: a word that is also a particle or a verb seldom makes a keyword.
    sorts: dict[str, Sort] = {word: _cue_sort(cues.get(word, 2)) for word in chinese_cues}
    for section, sort in (
        ("noun", Sort.COMMON),
        ("place", Sort.CONTENT),
        ("adjective", Sort.WEAK),
        ("verb", Sort.WEAK),
        ("reaction", Sort.WEAK),
        ("time", Sort.TIME),
        ("unit", Sort.NUMBER),
        ("function", Sort.STOP),
    ):
        for word in chinese[section]:
            if not (sort is Sort.COMMON and word in sorts):
                sorts[word] = sort
    for verb in chinese["verb"]:
        if len(verb) == 1:
            for ending in _VERB_ENDINGS:
                sorts.setdefault(verb + ending, Sort.WEAK)
    nouns = frozenset(stem(cue[1:]) for cue in cues if cue.startswith("="))
    phrases = frozenset(_phrase(word) for word in english["collocation"]) | frozenset(cue for cue in cues if " " in cue)
    common = (
        stems["verb"]
        | stems["adjective"]
        | stems["adverb"]
        | stems["time"]
        | stems["reaction"]
        | stems["noun"]
        | stems["general"]
    )
    return Lexicon(
        themes=themes,
        triggers=triggers,
        cues=cues,
        phrases=phrases,
        verbs=stems["verb"],
        adjectives=stems["adjective"] | stems["adverb"],
        times=stems["time"],
        reactions=stems["reaction"],
        nouns=stems["noun"] | stems["general"] | nouns,
        general=stems["general"],
        known=common
        | nouns
        | frozenset(cues)
        | frozenset(word for phrase in phrases for word in phrase.split())
        | frozenset(stem(word) for word in ENGLISH),
        persons=frozenset(english["person"]),
        places=frozenset(english["place"]),
        chinese=sorts,
        chinese_places=frozenset(chinese["place"]),
        chinese_general=frozenset(chinese["general"]),
        chinese_reactions=frozenset(chinese["reaction"]),
    )


def _cue_sort(weight: int) -> Sort:
    return Sort.COMMON if weight == 1 else Sort.CONTENT


def _phrase(joined: str) -> str:
    return " ".join(stem(word) for word in joined.replace("_", " ").split())


def _sections(name: str) -> dict[str, list[str]]:
    sections: defaultdict[str, list[str]] = defaultdict(list)
    for section, line in read_list(name):
        sections[section] += line.split()
    return sections


def _themes() -> tuple[tuple[Theme, ...], dict[str, tuple[tuple[int, int], ...]]]:
    themes: dict[str, Theme] = {}
    triggers: defaultdict[str, dict[int, int]] = defaultdict(dict)
    for section, line in read_list("themes.txt"):
        if section not in themes:
            english, own, aliases, *said = (part.strip() for part in section.split("|"))
            themes[section] = Theme(
                english, own, tuple(aliases.split()), said[0] if said else english.replace("-", " ")
            )
        at = len(themes) - 1
        strength, _, words = line.partition(":")
        for word in words.split():
            weights = triggers[word.replace("_", " ")]
            weights[at] = max(weights.get(at, 0), 2 if strength == "strong" else 1)
    return tuple(themes.values()), {trigger: tuple(weights.items()) for trigger, weights in triggers.items()}


# The turns of phrase by which a note shows its kind, in English and Chinese, strongest kind first.

_OFTEN = r"(?: really| absolutely| also| just| still| both| always| actually)*"
_WHAT = r"\b(?! (?:that|it|this|your|the idea|to (?:see|hear|know|ask|invite|book)|how)\b)"


_PIECE = re.compile(r"\\.|\[[^\]]*\]|[()|]|[^\\\[()|]+")


def _any(*patterns: str) -> re.Pattern[str]:
    """One pattern for all; alternatives that begin with a word are tried where words begin, which halves the time."""
    depth, alternatives = 0, [""]
    for piece in _PIECE.findall("|".join(patterns)):
        depth += (piece == "(") - (piece == ")")
        if piece == "|" and depth == 0:
            alternatives.append("")
        else:
            alternatives[-1] += piece
    words = [each[2:] for each in alternatives if each.startswith(r"\b")]
    others = [each for each in alternatives if not each.startswith(r"\b")]
    return re.compile("|".join([rf"\b(?:{'|'.join(words)})", *others]), re.IGNORECASE)


_ERROR = _any(
    r"\b(?:traceback|stack trace|segfault\w*|segmentation fault|core dumped|errno)\b|\bexit (?:code|status) [1-9]",
    r"(?<!no )\b\w*(?:exception|error)\b(?=[:(\s]|$)(?! (?:bars?|rates?|correction|messages? is))",
    r"\b(?:crash(?:es|ed)|(?:fail(?:s|ed)) with|throws|threw an?|timed out|returned? (?:a )?5\d\d|keeps failing)\b",
    r"报错|异常[:：]|抛出|崩溃|错误[:：]|出错|宕机|失败[:：]|超时了|错误码|返回\s*5\d\d",
)
_PROCEDURE = _any(
    r"\bhow to\b|\bsteps?\s*(?:\d|:)|\bstep by step\b|\brecipe for\b|\binstructions\b",
    r"\bto \w+[^.?!]{0,60}, (?:run|click|press|open|first|use|type|hold|mix|start)\b",
    r"\bfirst\b[^?]{2,200}\b(?:then|next|after that|afterwards|finally)\b",
    r"步骤|第一步|操作方法|做法|流程[:：是]|教程|方法[:：]|首先[^？?]{1,100}(?:然后|其次|最后)",
    r"先[^。？?]{1,50}(?:再(?![看说来见议])|然后|接着|最后)|一、[^。]{2,120}二、",
    r"(?:^|\s)1[.)、][^\n]{2,160}\s2[.)、]",
)
_CONSTRAINT = _any(
    r"\ballerg(?:ic|y)\b|\bintoleran(?:t|ce)\b|\bvegetarian since\b|\bvegan since\b",
    r"\b(?:must|may|should|shall|can) (?:not|never)\b|\bmustn't\b|\bmust\b(?! have been| see)",
    r"(?:^|[.;:!,]\s+|please |and |but |should )never (?!been|had|seen|heard|knew|mind|really|thought)\w+",
    r"\bi (?:never|don't|do not|can't|cannot|can not) (?:ever )?(?:eat|drink|have|take|use|work|fly|drive)\b(?! to\b)",
    r"\b(?:can't|cannot) (?:eat|drink|take|have)\b|\bunder no circumstances\b|\boff limits\b",
    r"\bdo not (?:use|store|send|share|call|deploy|push|merge|put|eat|give)\b",
    r"(?:^|[.!;]\s+)don't (?!worry|forget|know|you)\w+",
    r"\bnot allowed\b|\bforbidden\b|\bprohibited\b|\bno later than\b|\bdeadline\b|\bat most\b|\bup to a maximum\b",
    r"\b(?:is|are) required\b|\bmandatory\b|\bonly (?:after|before|between|on) (?:approval|review|\d)",
    r"\bno (?:meetings|calls|pork|meat|nuts|gluten|dairy|sugar|alcohol|caffeine|screens)\b",
    r"\bbudget (?:is|of)\b[^.]*\d|\bhas to be (?:done|finished|in|ready)\b|\bnone after \d",
    r"过敏|忌口|不耐受|不能(?:吃|喝|用|在|超过|晚于|再|有|碰|把|直接)|不可以|不得(?!不)|禁止|严禁|必须|务必|不许|不准|不允许",
    r"(?:前|时|后|每次)[^。！？，,]{0,10}一定[要得]|一定不[能要可]",
    r"至多|截止|只能|千万(?:不|别)|不要在|不要把|一律不|绝对不|从不吃|不吃|不喝(?!了)|上限|不超过",
)
_DECISION = _any(
    r"\bdecid(?:ed|es|ing)\b|\bdecision\b|\bchose\b|\bhave chosen\b|\bsettled on\b|\bopted\b|\bagreed (?:to|on|that)\b",
    r"\b(?:we|i|they|she|he)(?:'ll| will|'re| are|'m| am) (?:go with|going to (?:use|switch|move|adopt))",
    r"\b(?:we|i|they|she|he)(?:'re| are|'m| am) (?:switching|moving to|dropping|sticking with)\b|\bgoing with\b",
    r"\b(?:we|i) (?:have )?(?:switched|migrated|moved) (?:from|to)\b|\bfrom now on\b|\bresolved to\b|\bsigned up for\b",
    r"\bwe will (?:use|go|move|switch|adopt|drop|keep)\b|\baccepted the\b|\bi withdraw\b|\bhanded in my notice\b",
    r"决定|改用|改为|改成|换成|选定|选择了|敲定|拍板|定下|定在|一致同意|最终选|还是选|从今以后|以后都|不再用|说好",
)
_PREFERENCE = _any(
    r"\bprefer\w*\b|\bfavou?rites?\b|\bfond of\b|\bfan of\b|\bi'd rather\b|\bmy go-to\b|\bnot (?:my|his|her) thing\b",
    rf"\b(?:i|we|they){_OFTEN} (?:love|like|enjoy|hate|dislike|adore|can(?:'t|not) stand|don't like){_WHAT}",
    rf"\b(?:he|she|(?-i:[A-Z]\w+)){_OFTEN} (?:loves|likes|enjoys|hates|dislikes|adores|doesn't like){_WHAT}",
    r"喜欢|最爱|偏好|偏爱|讨厌|更愿意|爱吃|爱喝|爱看|爱听|宁愿|宁可|受不了|情有独钟|不太爱|习惯用|钟爱",
)
_CONFIG = _any(
    r"\b(?:ports?|hosts?|hostname|timeout|retention|interval|pool size|max_\w+|ttl|replicas|threshold|batch size)\b"
    r"(?: \w+){0,3}(?: is| are|=|:| to| at| of| was)?\s*[\"'`]?\d",
    r"(?-i:\b[A-Z][A-Z0-9]*_[A-Z0-9_]+)\s*=?|\b[a-z_]+(?:\.[a-z_]+)+\s*[=:]\s*\S|\b\w+\s=\s[\"'\w/]+\s*$",
    r"(?:^|\s)(?:/etc/|/var/|/opt/|~/\.)\S+|\benv(?:ironment)? variable",
    r"\bconfig(?:uration)?\b(?= (?:file|is|at|of|lives)|:)",
    r"\bsettings? (?:is|are|for|that)\b|\b(?:wifi|wi-fi|door) (?:password|code)\b|\blistens on\b",
    r"\b(?:runs|running|installed) (?:on|at)? ?(?:port|version|v\d)",
    r"端口|环境变量|配置文件|配置(?:在|是|为|项)|参数(?:设|是|为)|版本(?:是|为|号)|路径(?:是|为)|超时(?:时间)?(?:设|改|是|为)",
    r"密码是|地址是|门禁码|默认值|阈值",
)

#: In the order in which they are tried.
CUES: dict[Kind, re.Pattern[str]] = {
    Kind.ERROR: _ERROR,
    Kind.PROCEDURE: _PROCEDURE,
    Kind.CONSTRAINT: _CONSTRAINT,
    Kind.DECISION: _DECISION,
    Kind.PREFERENCE: _PREFERENCE,
    Kind.CONFIG: _CONFIG,
}


def cue_in(text: str, kind: Kind) -> bool:
    """Whether `text` holds a cue of that kind."""
    return kind in CUES and CUES[kind].search(text) is not None


# English words that an affix denies.

_AFFIXED = re.compile(
    r"(?:non-?|un)(?P<un>[a-z]{3,})|(?:in|im|ir|il|dis)(?P<other>[a-z]{4,})|(?P<thing>[a-z]{3,})(?:-free|less)"
)
_ADJECTIVES = word_list("denied adjectives")
_NOT_AFFIXED = word_list("no affix")


@lru_cache(maxsize=1 << 14)
def denied_by_affix(word: str) -> str | None:
    """The stem of what an English word denies by its affix: "unheated", "dairy-free"; None where it denies nothing."""
    folded = word.casefold()
    match = _AFFIXED.fullmatch(folded)
    if match is None or folded in _NOT_AFFIXED:
        return None
    if match["thing"]:
        return stem(match["thing"])
    base = match["un"] or match["other"]
    adjective = base in _ADJECTIVES or base.endswith(("able", "ible"))
    adjective = adjective or (stem(base) in lexicon().adjectives and not base.endswith(("ed", "ing", "er", "ers")))
    participle = match["un"] and base.endswith("ed") and stem(base) in lexicon().known
    return stem(base) if adjective or participle else None
