"""What amem reads off characters: scripts, the normal form of a text, words that say nothing, word lists, tags, links.

Also how much of a text the vocabulary of a tokenizer can write.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

# Which script a character belongs to, as far as amem treats scripts differently.

#: Inside a regular expression's brackets: Han, kana, hangul, bopomofo and the iteration mark.
CJK = (
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)

#: Characters of Chinese, which Japanese and Korean use as well.
HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"

_CJK = re.compile(f"[{CJK}]")
#: No character of those scripts comes before it.
_FIRST_CJK = "\u3005"
_LETTER = re.compile(r"[^\W\d_]")
LATIN = re.compile(r"[A-Za-z][A-Za-z'’-]*")
"""A word in Latin letters."""

_CJK_FROM = 0.3


def is_cjk(character: str) -> bool:
    """Whether the (first) character is Chinese, Japanese or Korean; False for an empty string."""
    return character >= _FIRST_CJK and _CJK.match(character) is not None


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


def read_list(name: str) -> Iterator[tuple[str, str]]:
    """Each line of a list in this room's folder ``words``, with its section ('' before the first heading)."""
    section = ""
    for line in (Path(__file__).parent / "words" / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line.strip() and not line.startswith("#"):
            yield section, line.strip()


@cache
def _word_lists() -> dict[str, frozenset[str]]:
    lists: defaultdict[str, set[str]] = defaultdict(set)
    for section, line in read_list("lists.txt"):
        lists[section].update(line.split())
    return {section: frozenset(listed) for section, listed in lists.items()}


def word_list(section: str) -> frozenset[str]:
    """The words of a section of ``words/lists.txt``. Raises KeyError for no such section."""
    return _word_lists()[section]


class Patterns:
    """The patterns of a section of ``words/patterns.txt``, as attributes, each compiled when it is first asked for.

    `parts` stand for what is in braces, beside the patterns of the section and the word lists. Raises KeyError for no
    such section, AttributeError for no such name.
    """

    def __init__(self, section: str, **parts: str) -> None:
        self._section, self._parts = section, parts

    def __getattr__(self, name: str) -> re.Pattern[str]:
        if name not in _patterns()[self._section]:
            raise AttributeError(f"no pattern {name!r} in section {self._section!r} of patterns.txt")
        self.__dict__[name] = found = re.compile(self.text(name))
        return found

    def __call__(self, name: str) -> re.Pattern[str]:
        return re.compile(self.text(name))

    def with_names(self, name: str, names: Iterable[str]) -> re.Pattern[str]:
        """A pattern with names in place of its ``_names_``."""
        return _with_names(self._section, name, tuple(names))

    def says(self, name: str) -> Callable[[str], bool]:
        """A function that tells whether a text holds a pattern."""
        search = self(name).search
        return lambda text: search(text) is not None

    def text(self, name: str) -> str:
        """A pattern as text, with what stands in braces written out."""
        own = _patterns()[self._section]

        def written_out(found: re.Match[str]) -> str:
            if found[1] in self._parts:
                return self._parts[found[1]]
            if found[1] in own:
                return self.text(found[1])
            return "|".join(sorted(word_list(found[1]), key=lambda word: (-len(word), word)))

        return _BRACED.sub(written_out, own[name])


@lru_cache(maxsize=64)
def _with_names(section: str, name: str, names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(Patterns(section).text(name).replace("_names_", "|".join(map(re.escape, names))))


_BRACED = re.compile(r"\{([a-z][a-z_ \d]*)\}")


@cache
def _patterns() -> dict[str, dict[str, str]]:
    found: defaultdict[str, dict[str, str]] = defaultdict(dict)
    name = ""
    for section, line in read_list("patterns.txt"):
        if line.startswith("+ "):
            found[section][name] += line[2:]
        else:
            name, _, found[section][name] = line.partition("  ")
    return found


#: English function words, case-folded; contractions stand in the form `terms.contract` gives them ("dont", "cant").
ENGLISH = word_list("english")

#: Single Chinese characters that work as function words. A bigram made of two of them carries no subject.
CHINESE_CHARACTERS = frozenset("".join(word_list("function characters")))

#: Particles, pronouns and the copula: a bigram holding one straddles two words (save for `CHINESE_KEPT`).
CHINESE_PARTICLES = frozenset("的了着吗呢吧啊呀嘛么哦嗯噢呗啦什怎谁哪啥们我你您他她它是")

#: Real words that hold a particle or are made of function characters.
CHINESE_KEPT = word_list("chinese kept")

#: Bigrams of Chinese function words and question words.
CHINESE_BIGRAMS = word_list("chinese bigrams")

#: One-character words that people ask for by themselves: indexed on their own beside the bigrams they stand in.
CHINESE_SINGLE_WORDS = frozenset("".join(word_list("single words")))


# Tags that a writer put into the text: ``#garden``, ``#户外``, with or without a space before them in Chinese.

#: Where a # is none of the writer's tags: code, web addresses, links and what stands in them.
_ELSEWHERE = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]*`|\[\[(?:[^\]\[\n]|\[(?!\[))*+\]\]|\]\((?:[^)\]\n]|\](?!\())*+\)"
    r"|(?:https?://|www\.)[^\s，。；！？、（）「」“”]+",
    re.DOTALL,
)
#: After a Latin letter, a digit or a slash a # belongs to the word: C#, issue#12, page.html#part.
_BEFORE = rf"\s{CJK}，。；：！？、（）「」『』《》“”…,.;:!?(\[\"'"
_TAG = re.compile(rf"(?:^|(?<=[{_BEFORE}]))[#＃]([^\W\d_][\w/-]*)", re.MULTILINE)
_COLOUR = re.compile(r"(?=.*\d|(.)\1+$)(?:[0-9a-f]{3}|[0-9a-f]{6})", re.IGNORECASE)


def hashtags(text: str) -> list[str]:
    """The tags in a text as they are written, without their #, each once, in order."""
    found = (tag.rstrip("/-") for tag in _TAG.findall(_ELSEWHERE.sub(" ", text)))
    return list({tag.casefold(): tag for tag in found if tag and not _COLOUR.fullmatch(tag)}.values())


# What ``[[links]]`` are compared by.

_SUFFIX = re.compile(r"\.(?:md|markdown)$", re.IGNORECASE)


def link_name(target: str) -> str:
    """What targets and names are compared by: no suffix, no leading dots, one kind of slash, no case."""
    name = _SUFFIX.sub("", target.strip().replace("\\", "/"))
    while name.startswith(("./", "../")):
        name = name.split("/", 1)[1]
    return " ".join(name.split()).casefold()


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
_LATIN_LETTERS = re.compile("[A-Za-z\u00c0-\u024f\u1e00-\u1eff]+")
_SYLLABLE = re.compile(f"[{CJK}]")
_LETTERS = re.compile(r"[^\W\d_]+")
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
        latin = sum(min(len(word), _AS_MUCH) for word in _LATIN_LETTERS.findall(text))
        han = len(_HAN.findall(text))
        rest = _HAN.sub(" ", _LATIN_LETTERS.sub(" ", text))
        other = len(_SYLLABLE.findall(rest))
        other += sum(min(len(word), _AS_MUCH) for word in _LETTERS.findall(_SYLLABLE.sub(" ", rest)))
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
        for word in _LETTERS.finditer(text):
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


def standing_in(text: str, known: Collection[str], longest: Mapping[str, int]) -> Iterator[tuple[int, int]]:
    """Where names of more than one Chinese character stand, the longest first; `longest` is by first character."""
    end = 0
    for at, first in enumerate(text):
        if at < end or first not in longest:
            continue
        for length in range(min(longest[first], len(text) - at), 1, -1):
            if text[at : at + length] in known:
                end = at + length
                yield at, end
                break
