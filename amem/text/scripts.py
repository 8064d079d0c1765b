"""Which script a character belongs to, as far as amem treats scripts differently."""

from __future__ import annotations

import re

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
    return cjk_share(text) >= _CJK_FROM
