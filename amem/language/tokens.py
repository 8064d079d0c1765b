"""How many tokens a text takes: an estimate, a bound, and how much of it a tokenizer knows."""

from __future__ import annotations

import re
import unicodedata
from functools import cache, cached_property, lru_cache
from typing import Any

from amem.language.scripts import CJK

# How many tokens a text takes in a model's window: an estimate, since every model cuts text its own way.

# A word of up to eight letters is mostly one token, a longer one a token for each five letters more; a number takes one
# for each three digits, as do the tables and identifiers it stands in; CJK takes about one a character.
_PIECES = re.compile(rf"(?P<cjk>[{CJK}])|(?P<number>\d+)|(?P<word>[^\W\d_{CJK}]+)|(?P<mark>[^\w\s])|(?P<other>_)")


def tokens(text: str) -> int:
    """About how many tokens `text` takes: within a fifth of what current models count for prose.

    English prose comes to about one for each 4.4 characters, Chinese, Japanese and Korean to one a character, which
    is the upper end of what models in use need for them: a window filled by this count does not overflow.
    """
    count = 0
    for match in _PIECES.finditer(text):
        kind, length = match.lastgroup, match.end() - match.start()
        if kind == "word":
            # Letters outside ASCII (Cyrillic, Arabic) cost about twice as much.
            count += 1 + (length - 4) // 5 if length > 8 else 1
            if not match[0].isascii():
                count += length // 4
        elif kind == "number":
            count += (length + 2) // 3
        else:
            count += 1
    return count


# At most how many tokens a text takes, whatever the model: for promises, where ``tokens`` is for planning.
#
# Every model cuts text its own way, and few tokenizers are on a machine that only calls models. So this counts what
# the least economical one takes for each piece: bytes, but for what all tokenizers hold whole. Held against those of
# GPT-4, GPT-4o, Claude 2, Qwen, Mistral 7B (which cuts as Llama 2 does) and Mistral NeMo, it was never below any of
# them over whole texts: prose in thirteen languages, code, tables, addresses and emoji; nor for any CJK that was
# tried. Single lines of names or invented words in Latin letters can take a few tokens more. It comes to about 1.3 to
# 1.5 times what most of them take for English and 1.3 to 2 times for Chinese.

#: Characters outside ASCII that each of those tokenizers holds as one token; of all others they may take every byte.
_COMMON = frozenset(
    "一万三上下不与专业东两个中为主么义之也书了事二于五些交产京人今从他付代以们件价任份企会传但位体何余作你使例供保信"
    "修值停像元先入全公共关其具内册再写出击分列则初利别到制前力功加务动動包化北区十华单南即历原去县参及反发取变口只可"
    "台右号司合同名后向否含启告员周命和品哈商器四回因国图土在地场型城基報場增处备复外多大天失头好如始子字存学安完定实"
    "客家容密对导将小少尔就局展山州工左已市布常平年并广序库应店度建开式引张当录形影径待後得微心必志态思性总息您情意感"
    "成我或户所手打技投报拉持指按换据排接推提播支收改放政效数整文料断新方族无日时明易星是時景更最月有服期未本机权束条"
    "来板构果查标样格案模次止正此步段每比民水求江没治法注活流海消清游源点然片版物特率环现理生用由电画界登的目直相省看"
    "真知码确示社票种科秒称移程空立站章端符第等简算管类系素索约级线组经结给统编网置老考者而联能自至色节英藏行表装西要"
    "见规视角解言計计认议记论设证评试话该语误说请读调象责败费资起超路身车转载辑输达过运近还这进连述退送选通速造道部都"
    "配释里重量金错长開間関门闭问间队阳陆限院除集需非面音页项题首验高黑"
    "　、。「」【】あいうえおかがきくけこさしすせそただちっつてでとどなにのはばまみめもやよらりるれわをんアィイウェエ"
    "オカキクグコサシジスセタッテデトドパフブプマムメュョラリルレロン・ー가간개게경고과구그기나내는니다당대도동되된드"
    "들라래러력로료를름리만면문미번보복부분사산상색서성세소수스습시식아야어에여열오와요용우원위으은을음의이인일입자작"
    "장재전정제주지째치크터트하한할해호화환！（），－．：；？～‐‑–—―‘’“”„†•…"
)
_BOUND_PIECES = re.compile(r"(?P<word>[A-Za-z]+)|(?P<space>\s+)|(?P<ascii>[\x21-\x7e])|(?P<other>.)", re.DOTALL)
#: Spelled like no word that a tokenizer would hold in large pieces: no vowel, many consonants in a row, rare pairs.
_ODD = re.compile(r"[b-df-hj-np-tv-xz]{5}|^[^aeiouy]+$|q(?!u)|[jvxq][b-df-hj-np-tv-xz]|[jqvz]$", re.IGNORECASE)
_CAPITALS = re.compile(r"[a-z][A-Z]|[A-Z]{2}")
#: Letters that nearly every tokenizer takes as one token, and how many letters of a longer word make one more.
_SHORT, _PART = 4, 3
#: What the beginning of a text may cost, and letters that are cut otherwise beside their neighbours.
_EDGE = 2
#: From here on characters are not letters of words in Latin script.
_NOT_LATIN = "\u2e80"


def most_tokens(text: str) -> int:
    """An upper bound on the tokens that `text` takes in a model's prompt; 0 for no text."""
    if not text:
        return 0
    count = _EDGE
    before = ""
    for match in _BOUND_PIECES.finditer(text):
        piece, kind = match[0], match.lastgroup
        after = text[match.end() : match.end() + 1]
        if kind == "word":
            count += _word(piece, before, after)
        elif kind == "space":
            count += _space(piece, after)
        elif kind == "ascii" or piece in _COMMON:
            count += 1
        else:
            count += _bytes(piece)
        before = piece[-1]
    return count


@lru_cache(maxsize=1 << 12)
def _bytes(character: str) -> int:
    """Its own, or those of what some tokenizers write it out to first: a ligature may stand for a sentence."""
    written_out = unicodedata.normalize("NFKC", character)
    return max(len(each.encode("utf-8", "surrogatepass")) for each in (character, written_out))


def _word(letters: str, before: str, after: str) -> int:
    size = len(letters)
    if _part_of_more(before) or _part_of_more(after):
        return size
    if size >= _SHORT and (_CAPITALS.search(letters) or _ODD.search(letters)):
        return (3 * size + 3) // 4
    if size == 3 and _ODD.search(letters):
        return 2
    return 1 if size <= _SHORT else -(-size // _PART)


def _part_of_more(beside: str) -> bool:
    """Whether letters stand in one piece with this: a number, or letters with accents."""
    return beside.isdigit() or (beside > "\x7f" and beside < _NOT_LATIN and beside.isalpha())


def _space(run: str, after: str) -> int:
    if run == " ":
        # It is part of a word that follows, and of an opening mark.
        return 0 if after.isascii() and (after.isalpha() or after in "([{\"'") else 1
    spaces = run.count(" ")
    return len(run.encode("utf-8")) - spaces + (spaces + 3) // 4 + (run[-1] == " ")


# How much of a text a tokenizer's vocabulary has words for, rather than leaving it out or merely spelling it.
#
# A model can know nothing of a language that its vocabulary cannot write: MiniLM's has 5 % of the characters that
# Chinese is written with, and spells Korean by single letters. It is asked of the tokenizer, since names tell nothing
# of a model that somebody trained at home.

#: Beyond this a text has shown what it is written in.
_LONGEST = 400
#: Short enough for any model's window, even where each character takes three pieces.
_CHUNK = 40
_HAN = re.compile("[\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_LATIN_WORD = re.compile("[A-Za-z\u00c0-\u024f\u1e00-\u1eff]+")
_SYLLABLE = re.compile(f"[{CJK}]")
_WORD = re.compile(r"[^\W\d_]+")
#: A Latin word says about as much as two Chinese characters, as in `amem.language.cjk_share`.
_AS_MUCH = 2
#: Letters in a syllable of hangul, as tokenizers take it apart.
_JAMO = 2


class Literacy:
    """What a Hugging Face tokenizer (``tokenizers.Tokenizer``) can read. Latin script counts as known."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer

    def of(self, text: str) -> float:
        """The share of the text's words that the vocabulary can write, 0..1; 1 for a text without a word."""
        if text.isascii():
            return 1.0
        text = unicodedata.normalize("NFC", text[:_LONGEST])
        latin = sum(min(len(word), _AS_MUCH) for word in _LATIN_WORD.findall(text))
        han = len(_HAN.findall(text))
        rest = _HAN.sub(" ", _LATIN_WORD.sub(" ", text))
        other = len(_SYLLABLE.findall(rest))
        other += sum(min(len(word), _AS_MUCH) for word in _WORD.findall(_SYLLABLE.sub(" ", rest)))
        known = latin + (han * self._han if han else 0.0) + (other * self._pieced(rest) if other else 0.0)
        return known / (latin + han + other) if latin + han + other else 1.0

    @cached_property
    def _han(self) -> float:
        """The share of the characters in daily use that are a piece of their own, or part of a longer one."""
        common = _common_han()
        chunks = [common[start : start + _CHUNK] for start in range(0, len(common), _CHUNK)]
        return sum(sum(self._whole(chunk)) for chunk in chunks) / len(common)

    def _whole(self, chunk: str) -> list[bool]:
        """For each character whether it is written by one piece that is not the unknown one."""
        pieces = [0] * len(chunk)
        for start, end, known in self._pieces(chunk):
            for place in range(start, end):
                pieces[place] += 1 if known else len(chunk)
        return [count == 1 for count in pieces]

    def _pieced(self, text: str) -> float:
        """How far letters other than Latin and Han are put together in pieces of several, not one by one, 0..1."""
        letters = [0] * len(text)
        for word in _WORD.finditer(text):
            for place in range(*word.span()):
                letters[place] = _JAMO if "\uac00" <= text[place] <= "\ud7af" else 1
        written = pieces = 0
        seen: set[int] = set()
        for start, end, known in self._pieces(text):
            held = [place for place in range(start, end) if letters[place]]
            if known and held:
                pieces += 1
                written += sum(letters[place] for place in held if place not in seen)
                seen.update(held)
        if not pieces:
            return 0.0
        return min(1.0, max(0.0, written / pieces - 1.0)) * written / sum(letters)

    def _pieces(self, text: str) -> list[tuple[int, int, bool]]:
        """(start, end, whether it is known) of each piece that stands for some of the text."""
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        unknown = getattr(self._tokenizer.model, "unk_token", None) or "<unk>"
        return [
            (start, end, token != unknown)
            for token, (start, end) in zip(encoding.tokens, encoding.offsets, strict=True)
            if end > start
        ]


@cache
def _common_han() -> str:
    """Every fifth of the 3,755 characters of GB 2312's first level, which make up 99.7 % of what is printed."""
    codes = (bytes((high, low)) for high in range(0xB0, 0xD8) for low in range(0xA1, 0xFF))
    return "".join(code.decode("gb2312", "ignore") for code in codes)[::5]
