"""How much of a text a tokenizer's vocabulary has words for, rather than leaving it out or merely spelling it.

A model can know nothing of a language that its vocabulary cannot write: MiniLM's has 5 % of the characters that
Chinese is written with, and spells Korean by single letters. It is asked of the tokenizer, since names tell nothing of
a model that somebody trained at home.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, cached_property
from typing import Any

from amem.text.scripts import CJK

#: Beyond this a text has shown what it is written in.
_LONGEST = 400
#: Short enough for any model's window, even where each character takes three pieces.
_CHUNK = 40
_HAN = re.compile("[\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_LATIN_WORD = re.compile("[A-Za-z\u00c0-\u024f\u1e00-\u1eff]+")
_SYLLABLE = re.compile(f"[{CJK}]")
_WORD = re.compile(r"[^\W\d_]+")
#: A Latin word says about as much as two Chinese characters, as in `amem.text.cjk_share`.
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
