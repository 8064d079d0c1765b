"""Is a message a question that only memory can answer: about the user's own affairs, or about what was said before?

A rule, not a model, so that "that is not in memory" is said before anybody can make an answer up. It errs towards no:
a question of general knowledge, or a request for help that happens to say "my", must not be told off.
"""

from __future__ import annotations

import re

_QUESTION_EN = re.compile(
    r"\?\s*$|^\W*(?:who|what|when|where|which|whose|why|how|is|are|was|were|do|does|did|have|has|had|am"
    r"|can you remember|do you (?:know|remember)|remind me|tell me (?:what|who|when|where|which|how|about my))\b",
    re.IGNORECASE,
)
_QUESTION_ZH = re.compile(r"[？?]\s*$|[吗呢][。！!\s]*$|什么|谁|哪|几|多少|怎么样|为什么|何时|有没有|是不是|记不记得")
_OWN_EN = re.compile(
    r"\b(?:my|mine|our|ours)\b|\b(?:did|do|am|was|have|had|were|are|would)\s+(?:i|we)\b|\b(?:i|we)\s+(?:said|told|like"
    r"|liked|live|lived|work|worked|have|had|was|were|am|bought|decided|chose|planned|promised|met|wanted|prefer)\b",
    re.IGNORECASE,
)
_OWN_ZH = re.compile(r"我|咱|俺")
_SAID_BEFORE = re.compile(
    r"\b(?:remember|remind me|did i (?:tell|say|mention)|have i (?:told|said|mentioned)|last time|we (?:talk|discuss)ed"
    r"|you know about)\b|记得|跟你说过|告诉过你|提过|提到过|上次|之前(?:说|聊|讲)过|聊过",
    re.IGNORECASE,
)
#: About this very conversation, which the model has before it.
_JUST_NOW = re.compile(
    r"\b(?:just (?:said|say|asked|ask|told|tell|now)|(?:last|previous|first) (?:question|message|answer))\b"
    r"|刚才|刚刚|上一个问题|上一条|前一个问题",
    re.IGNORECASE,
)
#: Asking for advice, or for something to be done: the answer is to be made, not remembered.
_REQUEST = re.compile(
    r"\b(?:how (?:do|can|could|should|would|might) (?:i|we)|(?:should|can|could|may|shall|must) (?:i|we)|help me"
    r"|(?:can|could|would|will) you (?!remember|remind|recall|tell me (?:what|who|when|where|which))|please (?!remind)"
    r"|what(?:'s| is) wrong with|what do you think|do i (?:need|have) to)\b"
    r"|^\W*(?:write|make|draw|translate|summari[sz]e|explain|draft|fix|review|rewrite|suggest|recommend|give me)\b"
    r"|帮我|请你|请帮|给我(?:写|做|画|讲|推荐)|我(?:该|应该|要|能|可以|想)[^，。？]{0,6}(?:怎么|如何|什么|哪)|怎么(?:办|做|写|用|装|弄|才能)"
    r"|如何|你(?:觉得|认为)|能不能|可不可以",
    re.IGNORECASE,
)
#: Asking for something to be looked up.
_SEARCH = re.compile(
    r"^\W*(?:tell me|show me|find|look up|search for)\b|^\W*(?:告诉我|找一下|查一下|看看)", re.IGNORECASE
)
#: Longer messages bring their own material (a text to mend, a log to read).
_LONGEST = 200


def asks(text: str) -> bool:
    """Whether a message asks for something, be it a question or a request; any other one states something."""
    asked = text.strip()
    return any(each.search(asked) for each in (_QUESTION_EN, _QUESTION_ZH, _SAID_BEFORE, _REQUEST, _SEARCH))


def asks_memory(text: str) -> bool:
    """Whether only memory could answer: a question about the user's own affairs, or about what was said before."""
    asked = text.strip()
    if len(asked) > _LONGEST or "\n" in asked or _JUST_NOW.search(asked):
        return False
    if not (_QUESTION_EN.search(asked) or _QUESTION_ZH.search(asked)):
        return False
    if _SAID_BEFORE.search(asked):
        return True
    return bool(_OWN_EN.search(asked) or _OWN_ZH.search(asked)) and not _REQUEST.search(asked)
