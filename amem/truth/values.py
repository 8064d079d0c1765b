"""Whether two objects of a predicate name one thing."""

from __future__ import annotations

import re
from functools import lru_cache

from amem.text import normalize
from amem.truth.subjects import subject_key

#: Values whose reading is kept: each is compared with many others.
_REMEMBERED = 10_000
#: What follows narrows down or adds nothing to what stands before: "Lisbon, Portugal", "Lisbon (Portugal)".
_QUALIFIER = re.compile(r"\s*[,，;；(（)）]\s*")
#: Words after a name that leave it the same thing: a version, a company's form.
_VERSION = re.compile(r"v?\d+(?:\.\w+)*")
_FORMS = frozenset(["inc", "ltd", "llc", "gmbh", "corp", "corporation", "company", "co", "plc", "ag", "sa"])
#: The same for Chinese, where nothing stands between the name and its form.
_SUFFIX = re.compile(r"(?<=..)(?:股份有限公司|有限公司|公司|集团|市|省|县|区|镇)$")


#: Diets by their names in both languages: whoever is "vegetarian" and then 不再吃素 is so no more.
_DIETS = {
    **dict.fromkeys(("素", "吃素", "素食", "素食者", "素食主义"), "vegetarian"),
    **dict.fromkeys(("纯素", "全素", "纯素食", "纯素食者"), "vegan"),
}


@lru_cache(maxsize=_REMEMBERED)
def value_key(value: str) -> str:
    """What two spellings of one value share: case, width, articles left out, and the language of a diet."""
    key = subject_key(value)
    return _DIETS.get(key, key)


def same_value(one: str, other: str) -> bool:
    """Whether two objects name one thing: alike, or one says it more closely ("Lisbon", "Lisbon, Portugal").

    A version says it more closely than none ("PostgreSQL", "PostgreSQL 16"); two versions are two things. A longer name
    is another one: "Porto" and "Porto Alegre", "Google" and "Google DeepMind".
    """
    if value_key(one) == value_key(other):
        return True
    first, second = _parts(one), _parts(other)
    closer, vaguer = (first, second) if len(first) > len(second) else (second, first)
    return _same_name(closer[0], vaguer[0]) and closer[1 : len(vaguer)] == vaguer[1:]


def closer(one: str, other: str) -> str:
    """Of two spellings of one value the one that says more; the first where they say as much."""
    return max(one, other, key=lambda each: (len(_parts(each)), len(_parts(each)[0].split())))


@lru_cache(maxsize=_REMEMBERED)
def _parts(value: str) -> tuple[str, ...]:
    """The name, then what qualifies it."""
    parts = [part for part in _QUALIFIER.split(normalize(value)) if part]
    return (_SUFFIX.sub("", subject_key(parts[0])), *parts[1:]) if parts else ("",)


def _same_name(one: str, other: str) -> bool:
    first, second = _words(one), _words(other)
    longer, shorter = (first, second) if len(first) > len(second) else (second, first)
    more = longer[len(shorter) :]
    return (
        bool(shorter)
        and longer[: len(shorter)] == shorter
        and all(_VERSION.fullmatch(word) or word in _FORMS for word in more)
    )


def _words(name: str) -> list[str]:
    words = [word.rstrip(".") for word in name.split()]
    return [word[1:] if word[:1] == "v" and _VERSION.fullmatch(word) else word for word in words]
