"""A text in clauses that state something: questions, suppositions, jokes and other people's words are left out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.language import sentences, written_in_cjk

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Nobody says more in one sentence, or in one clause; what is longer is pasted.
_LONGEST_SENTENCE, _LONGEST_CLAUSE = 600, 240
#: Facts are looked for in this much of a note.
_WINDOW = 20_000
#: Stands where a quotation was: nothing is read from it, nor across it.
GAP = "\ufffc"

_PASTED = re.compile(r"```.*?(?:```|\Z)|^[ \t]*>[^\n]*$", re.DOTALL | re.MULTILINE)
_QUOTED = re.compile(
    r"“(?P<a>[^“”]{1,600})”|「(?P<b>[^「」]{1,600})」|『(?P<c>[^『』]{1,600})』|(?<!\w)\"(?P<d>[^\"\n]{1,600})\"(?!\w)"
    r"|(?<![\w'])'(?P<e>[^'\n]{1,300}(?:'\w[^'\n]{0,300}){0,5})'(?!\w)|‘(?P<f>[^‘’\n]{1,300}(?:’\w[^‘’\n]{0,300}){0,5})’(?!\w)"
)
_QUESTION = re.compile(r"[?？][\"'”’）)\s]*$|[吗么呢][。!！\s]*$")
_SUPPOSED = re.compile(
    r"\b(?:if|unless|suppos(?:e|ing)|imagin(?:e|ing)|pretend(?:ing)?|maybe|perhaps|probably|possibly|hypothetical(?:ly)?"
    r"|i (?:think|guess|suppose|doubt|wish)|apparently|supposedly|allegedly|rumou?r|as though|let's say"
    r"|in (?:the|this|that|my|a) (?:story|novel|book|film|movie|dream|game|song|play|show|series|episode|joke))\b"
    r"|如果|要是|假如|假设|假使|倘若|除非|万一|的话|也许|可能|大概|或许|说不定|听说|据说|传言|梦见|梦到|(?:小说|电影|故事|梦|书|剧|游戏|歌)里|假装|估计|是不是|会不会|要不要|是否",
    re.IGNORECASE,
)
_JOKE = re.compile(
    r"\b(?:just |only )?(?:kidding|joking)\b|\bjk\b|\bapril fools?\b|(?<!\S)/s\b|开玩笑|闹着玩|逗你的?|骗你的",
    re.IGNORECASE,
)
#: "Ana: I moved to Porto" in a pasted talk: whose line it is.
_LINE = re.compile(
    r"^\s*(?P<who>[^\W\d_][\w.'’-]{0,20}(?: [^\W\d_][\w.'’-]{0,20})?)\s*(?:(?<!\d)[:：]|[:：](?!\d))\s*(?=\S)"
)
_BREAK = re.compile(
    # White space is taken from where it begins, so that a long run of it is looked at once.
    r"(?:(?<!\s)\s*+|(?<=\s))(?:(?<!\d)[,，]|[,，](?!\d)|[;；。、()（）…]|(?<!\d)[:：]|[:：](?!\d)|[—–]|(?<=\s)-(?=\s))+\s*"
    r"(?:(?:and then|and|but|or|so|then|because|although|though|while|whereas|which|who|where|when|now)\b(?! for\b))?"
    r"|\b(?:and then|and now|and|but|so|because|although|though|while|whereas|which|who|where|when|whenever|then)\b"
    r"|\b(?:since|until|till|before|after|once)(?= (?:i|we|he|she|they|my|our|it)\b)"
    r"|\bas(?= (?:i|we|he|she|they|it)\b)"
    r"|(?:但是?|不过(?!敏)|可是|而且|并且|因为|所以|虽然|然后|于是|接着|后来|同时|并(?=[改换搬加入用]))",
    re.IGNORECASE,
)

_ITEM = r"(?:(?!过敏|[对不我但而])[^，,。；;、！!]){1,12}"
#: The commas of 对花生、芒果还有虾过敏 part no clauses.
_LIST_ZH = re.compile(rf"对{_ITEM}(?:[、，,]{_ITEM})+(?:不|不再)?过敏")


@dataclass(frozen=True, slots=True)
class Clause:
    """`text` of a clause, and what parts it from the clause before in the sentence (`opener`, in lower case)."""

    text: str
    opener: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """The clauses of a sentence that states something; `who` says it where a pasted talk names them."""

    clauses: tuple[Clause, ...]
    chinese: bool
    who: str | None = None


def stated(text: str) -> Iterator[Sentence]:
    """The sentences of a text that state something."""
    plain = _QUOTED.sub(_unquoted, _PASTED.sub(f" {GAP} ", text[:_WINDOW]))
    every = sentences(plain)
    for at, sentence in enumerate(every):
        meant = at + 1 == len(every) or not _JOKE.search(every[at + 1])
        if len(sentence) <= _LONGEST_SENTENCE and meant and _states(sentence):
            line = _LINE.match(sentence)
            body = sentence if line is None else sentence[line.end() :]
            who = None if line is None else line["who"]
            clauses = tuple(_clauses(body))
            if clauses:
                lettered = any(each.isalpha() for each in body)  # 换了手机号：139……
                yield Sentence(clauses, written_in_cjk(body if lettered else sentence), who)


def _states(sentence: str) -> bool:
    return not (_QUESTION.search(sentence) or _SUPPOSED.search(sentence) or _JOKE.search(sentence))


def _unquoted(found: re.Match[str]) -> str:
    """A quoted name stays ("Falcon"), what somebody said goes."""
    inside = next(group for group in found.groups() if group is not None)
    name = len(inside.split()) <= 3 and (inside.isascii() or len(inside) <= 6) and inside[-1] not in ".!?。！？,，"
    end = inside[-1] if inside[-1] in ".!?。！？" else ""
    return inside if name and not re.search(r"\b(?:I|my|we)\b|[我你]", inside) else f" {GAP}{end} "


def _clauses(sentence: str) -> Iterator[Clause]:
    start, opener = 0, ""
    lists = [each.span() for each in _LIST_ZH.finditer(sentence)]
    for found in _BREAK.finditer(sentence):
        if any(first < found.start() < last for first, last in lists):
            continue
        if text := sentence[start : found.start()].strip():
            yield Clause(text[:_LONGEST_CLAUSE], opener.casefold())
            opener = ""
        start, opener = found.end(), f"{opener} {found[0].strip()}".strip()
    if text := sentence[start:].strip(" .。!！~～"):
        yield Clause(text[:_LONGEST_CLAUSE], opener.casefold())
