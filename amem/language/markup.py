"""Tags and links that a writer put into the text."""

from __future__ import annotations

import re

from amem.language.scripts import CJK

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
