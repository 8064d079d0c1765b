"""The delimiters amem puts round recalled notes in a chat prompt, and how to take what they hold out of a text again.

Recalled notes are data to the model that reads them, and never news to amem: a host that sends its whole prompt to be
remembered, or a model that repeats what it was shown, must not make amem learn its own notes again.
"""

from __future__ import annotations

import re

RECALLED_START = "<amem-recalled>"
RECALLED_END = "</amem-recalled>"

_START = r"<\s*amem-recalled\s*>"
_END = r"<\s*/\s*amem-recalled\s*>"
_BLOCK = re.compile(rf"{_START}.*?(?:{_END}|\Z)", re.IGNORECASE | re.DOTALL)
#: The lines that ``find_related_memories`` gives to programs written for A-Mem, which have no delimiters.
_RELATED = re.compile(r"^memory index:\d+\ttalk start time:[^\n]*\n?", re.MULTILINE)
_ANY = re.compile(rf"{_START}|{_END}", re.IGNORECASE)


def as_recalled(text: str) -> str:
    """`text` between the delimiters; delimiters that stand in it already are taken out, so that it cannot end early."""
    return f"{RECALLED_START}\n{_ANY.sub('', text).strip()}\n{RECALLED_END}"


def without_recalled(text: str) -> str:
    """`text` without recalled notes, between delimiters or as ``find_related_memories`` writes them.

    A block that was never closed is left out to the end. Text without any comes back as it is; white space round what
    was taken out is trimmed.
    """
    if not _ANY.search(text) and not _RELATED.search(text):
        return text
    return _ANY.sub("", _RELATED.sub("", _BLOCK.sub("\n", text))).strip()
