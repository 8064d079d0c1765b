"""What sort of thing a note says, by its cues in English and Chinese."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from amem.llm.offline.lexicon import Sort, lexicon
from amem.note import Kind

if TYPE_CHECKING:
    from amem.llm.offline.reading import Reading

#: Cues are looked for in this much of a note; a longer one has shown its kind by then.
_WINDOW = 3000


def _cues(*patterns: str, flags: int = 0) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE | flags)


_CODE = re.compile(
    r"```|^\s*(?:def |class |import |from \w+ import |return\b|function |const |let |var |public |private |#include|"
    r"@\w+|<\w+[^>]*>|\$ \w|SELECT |INSERT |CREATE |fn |package )|[;{}]\s*$|=>|\)\s*[:{]\s*$",
    re.MULTILINE,
)
_CODE_LINE = re.compile(
    r"^\s*(?:\$ |>>> )?\w[\w.]*\([^\n]*\)[;{:]?\s*$|^\s*SELECT\b[^\n]*\bFROM\b|^\s*[a-z_]\w*\s*=\s*\w+[\[(.{][^\n]*$"
)
_ERROR = _cues(
    r"\btraceback\b",
    r"(?<!no )\b\w*(?:Exception|Error)\b(?=[:(\s]|$)(?! (?:bars?|rates?|correction|messages? is))",
    r"\bstack trace\b|\bsegfault|\bsegmentation fault|\bcore dumped|\berrno\b|\bexit (?:code|status) [1-9]",
    r"\b(?:crash(?:es|ed)|failed with|fails with|throws|threw an?|timed out|returned? (?:a )?5\d\d|keeps failing)\b",
    r"报错|异常[:：]|抛出|崩溃|错误[:：]|出错|宕机|失败[:：]|超时了|错误码|返回\s*5\d\d",
)
_CONSTRAINT = _cues(
    r"\ballerg(?:ic|y)\b|\bintoleran(?:t|ce)\b",
    r"\b(?:must|may|should|shall|can) (?:not|never)\b|\bmustn't\b|\bmust\b(?! have been| see)",
    r"(?:^|[.;:!,]\s+|please |and |but |should )never (?!been|had|seen|heard|knew|mind|really|thought)\w+",
    r"\bI (?:never|don't|do not|can't|cannot|can not) (?:ever )?(?:eat|drink|have|take|use|work|fly|drive)\b(?! to\b)",
    r"\b(?:can't|cannot) (?:eat|drink|take|have)\b",
    r"\bdo not (?:use|store|send|share|call|deploy|push|merge|put|eat|give)\b|(?:^|[.!;]\s+)don't (?!worry|forget|know|you)\w+",
    r"\bnot allowed\b|\bforbidden\b|\bprohibited\b|\bno later than\b|\bdeadline\b|\bat most\b|\bup to a maximum\b",
    r"\b(?:is|are) required\b|\bmandatory\b|\bonly (?:after|before|between|on) (?:approval|review|\d)|\bno (?:meetings|calls|pork|meat|nuts|gluten|dairy|sugar|alcohol|caffeine|screens)\b",
    r"\bunder no circumstances\b|\boff limits\b|\bbudget (?:is|of)\b[^.]*\d|\bhas to be (?:done|finished|in|ready)\b",
    r"过敏|忌口|不耐受|不能(?:吃|喝|用|在|超过|晚于|再|有|碰|把|直接)|不可以|不得|禁止|必须|务必|不许|不准|不允许|最多|至多|截止|只能|千万(?:不|别)|不要在|不要把|一律不|绝对不|从不吃|不吃|不喝(?!了)|严禁|上限",
)
_DECISION = _cues(
    r"\bdecid(?:ed|es|ing)\b|\bdecision\b|\bchose\b|\bhave chosen\b|\bpicked\b|\bsettled on\b|\bopted\b|\bagreed (?:to|on|that)\b",
    r"\b(?:we|i|team|they|she|he)(?:'ll| will|'re| are|'m| am) (?:going with|go with|going to (?:use|switch|move|adopt)|switching|moving to|dropping|sticking with|stick with)\b",
    r"\b(?:we|i) (?:have )?(?:switched|migrated|moved) (?:from|to)\b|\bfrom now on\b|\bwe will (?:use|go|move|switch|adopt|drop|keep)\b|\bresolved to\b|\bsigned up for\b|\bgoing with\b",
    r"决定|改用|改为|改成|换成|选定|选择了|敲定|拍板|定下|定在|一致同意|最终选|还是选|从今以后|以后都|不再用|说好",
)
_PREFERENCE = _cues(
    r"\bprefer\w*\b|\bfavou?rites?\b|\bfond of\b|\bbig fan\b|\ba fan of\b|\bi'd rather\b|\bmy go-to\b|\b(?:not|isn't) (?:my|his|her) thing\b",
    r"\b(?:i|we|he|she|they|[A-Z]\w+)(?: really| absolutely| also| just| still| both| always| actually)* (?:loves?|likes?|enjoys?|hates?|dislikes?|adores?|can't stand|cannot stand|doesn't like|don't like)\b(?! (?:that|it|this|your|the idea|to (?:see|hear|know|ask|invite|book)|how)\b)",
    r"喜欢|最爱|偏好|偏爱|讨厌|更愿意|爱吃|爱喝|爱看|爱听|宁愿|受不了|情有独钟|不太爱|习惯用|钟爱|宁可",
)
_PROCEDURE = _cues(
    r"\bhow to\b|\bsteps?\s*(?:\d|:)|\bstep by step\b|\brecipe for\b|\binstructions\b|\bto \w+[^.?!]{0,60}, (?:run|click|press|open|first|use|type|hold|mix|start)\b",
    r"\bfirst\b[^?]{2,200}\b(?:then|next|after that|afterwards|finally)\b",
    r"步骤|第一步|操作方法|做法|流程[:：是]|先[^。？?]{1,60}(?:再|然后|接着|最后)|首先[^？?]{1,100}(?:然后|其次|最后)|教程|方法[:：]",
    r"(?:^|\n)\s*1[.)、][^\n]*\n\s*2[.)、]|\b1[.)] [^\n]{3,80} 2[.)] ",
)
_CONFIG = _cues(
    r"\b(?:ports?|hosts?|hostname|timeout|retention|interval|pool size|max_\w+|ttl|replicas|threshold|batch size)\b(?: \w+){0,3}(?: is| are|=|:| to| at| of| was)?\s*[\"'`]?\d",
    r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\s*=?|\b[a-z_]+(?:\.[a-z_]+)+\s*[=:]\s*\S|\b\w+\s=\s[\"'\w/]+\s*$",
    r"(?:^|\s)(?:/etc/|/var/|/opt/|~/\.)\S+|\benv(?:ironment)? variable|\bconfig(?:uration)? (?:file|is|lives)|\bsettings? (?:is|are|for)\b",
    r"\b(?:wifi|wi-fi|door) (?:password|code)\b|\b(?:runs|running|listens|installed) (?:on|at)? ?(?:port|version|v\d)|\blistens on\b",
    r"端口|环境变量|配置文件|配置(?:在|是|为|项)|参数(?:设|是|为)|版本(?:是|为|号)|路径(?:是|为)|超时(?:时间)?(?:设|改|是|为)|密码是|地址是|门禁码|默认值|阈值",
)
_TIMES = _cues(
    r"\b(?:yesterday|today|tonight|this (?:morning|afternoon|evening|week|weekend|month|year)|last (?:night|week\w*|month|year|\w+day|summer|winter|spring|fall|autumn)|(?:\w+ )?(?:days?|weeks?|months?|years?|weekends?) ago|the other day|recently|just (?!like|a|the|want|need)\w+)\b",
    r"\bon (?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\bin (?:january|february|march|april|may|june|july|august|september|october|november|december)\b",
    r"昨天|前天|今天|今早|今晚|昨晚|上周|上个?月|去年|前年|刚刚?|那天|当天|周末|早上|下午|上午|晚上|\d月|\d+号",
)
_PAST_EN = _cues(
    r"\b(?:I|we|she|he|they|[A-Z][a-z]+)(?: and (?:I|[A-Z]\w+|my \w+))?(?: also| just| finally| both| even| recently| all)* (?:went|saw|met|had|took|made|got|bought|visited|started|finished|celebrated|tried|watched|moved|ran|joined|attended|spent|cooked|came|lost|found|broke|won|planted|painted|hiked|adopted|signed|flew|drove|hosted|sat|ate|did|was|were|walked|called|talked|read|booked|gave|passed|failed|fixed|played|arrived|left|received|sent|shipped|deployed|dropped|told|taught|helped|baked|camped|swam|returned|stayed|wrote|picked|ended|fell|felt|heard|led|organised|organized)\b",
    r"^(?:went|saw|met|took|visited|bought|finished|watched|tried|spent|ran|got|had|started|booked|cooked|celebrated)\b",
)
_PAST_ZH = re.compile(r"了|过(?!敏|程|期|年|渡)|去(?!年|掉)|参加|见到|来到|到了|遇到|陪|回到|搬到|买到")
_ASKS_ZH = re.compile(
    r"(?:吗|呢|么|什么|怎么|怎样|如何|哪里|哪儿|哪个|哪些|谁|为什么|几点|多少|是不是|能不能|有没有|要不要)"
)
_ASKS_EN = re.compile(
    r"^(?:who|what|when|where|why|how|which|whose|is|are|was|were|do|does|did|can|could|will|would|should|have|has|any idea)\b",
    re.IGNORECASE,
)
_RHETORICAL = re.compile(r"\b(?:right|you know|isn't it|huh|eh|don't you think)\?$|(?:对吧|是吧)[？?]$", re.IGNORECASE)


def kind_of(reading: Reading) -> Kind:
    """The kind of the note, from the strongest cue; `Kind.FACT` where nothing says otherwise."""
    text = reading.text[:_WINDOW]
    if _is_code(text):
        return Kind.ERROR if re.search(r"\bTraceback\b", text) else Kind.CODE
    if not reading.words:
        return Kind.CHITCHAT
    stated = _stated(reading)
    if stated is None:
        return Kind.QUESTION
    for kind, cues in (
        (Kind.ERROR, _ERROR),
        (Kind.PROCEDURE, _PROCEDURE),
        (Kind.CONSTRAINT, _CONSTRAINT),
        (Kind.DECISION, _DECISION),
        (Kind.PREFERENCE, _PREFERENCE),
        (Kind.CONFIG, _CONFIG),
    ):
        if cues.search(stated):
            return kind
    if is_small_talk(reading):
        return Kind.CHITCHAT
    return Kind.EPISODE if _happened(stated, reading.chinese) else Kind.FACT


def _is_code(text: str) -> bool:
    if "```" in text or _CODE_LINE.match(text):
        return True
    lines = [line for line in text.splitlines() if line.strip()]
    return len(lines) >= 2 and sum(1 for line in lines if _CODE.search(line)) >= max(2, len(lines) * 0.4)


def _stated(reading: Reading) -> str | None:
    """What the note states, its questions left out; None when asking is its point."""
    questions = {at for at in range(len(reading.sentences)) if _asks(reading, at)}
    if not questions:
        return reading.text[:_WINDOW]
    weight = sum(
        1 for word in reading.words if word.sentence not in questions and word.sort in (Sort.COMMON, Sort.CONTENT)
    )
    if weight < 3:
        return None
    return " ".join(reading.sentence(at) for at in range(len(reading.sentences)) if at not in questions)[:_WINDOW]


def _asks(reading: Reading, at: int) -> bool:
    sentence = reading.sentence(at).rstrip("\"'”’）) ")
    if sentence.endswith(("?", "？")):
        return not _RHETORICAL.search(sentence)
    last = at == len(reading.sentences) - 1
    if sentence[-1:] in ".!。！…" or not last:
        return False
    if reading.chinese:
        return bool(re.search(r"(?:吗|呢|什么|怎么办|哪里|哪儿|几点|多少|谁)$", sentence))
    return bool(_ASKS_EN.match(sentence)) and len(sentence.split()) >= 3 and "," not in sentence


def is_small_talk(reading: Reading) -> bool:
    """Whether the note is a greeting, thanks or a reaction, with next to nothing else in it."""
    words = lexicon()
    reactions = sum(
        1
        for word in reading.words
        if (word.text in words.chinese_reactions if word.cjk else word.key in words.reactions)
    )
    content = [
        word
        for word in reading.words
        if word.sort in (Sort.COMMON, Sort.CONTENT)
        and not (word.text in words.chinese_reactions if word.cjk else word.key in words.reactions)
        and not (word.person or (word.capital and not word.known))
    ]
    if any(word.shaped or word.sort is Sort.NUMBER for word in reading.words):
        return False
    if reactions:
        return len(content) <= 1 + (reactions > 1)
    return not content and not any(word.person or word.place or not word.known for word in reading.words)


def _happened(text: str, chinese: bool) -> bool:
    if chinese:
        return bool(_TIMES.search(text)) and bool(_PAST_ZH.search(text))
    return bool(_PAST_EN.search(text))
