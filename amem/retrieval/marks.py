"""The delimiters amem puts round notes in a prompt, and how to take what they hold out of a text again.

Notes in a prompt are data to the model that reads them, and never news to amem: a host that sends its whole prompt to
be remembered, or a model that repeats what it was shown, must not make amem learn its own notes again.

A chat of amem's own has ``<amem-recalled>``; a context made for somebody else's prompt has core notes under
``[Background]`` (``[背景知识]``) and recalled ones between ``=== RELEVANT MEMORIES ===`` and ``=== END MEMORIES ===``.
"""

from __future__ import annotations

import re
import unicodedata

from amem.note import Kind

RECALLED_START = "<amem-recalled>"
RECALLED_END = "</amem-recalled>"
MEMORIES_START = "=== RELEVANT MEMORIES ==="
MEMORIES_END = "=== END MEMORIES ==="
BACKGROUND = "[Background]"
BACKGROUND_ZH = "[背景知识]"
#: What a kind is called before a core note.
LABELS_ZH = {Kind.CONSTRAINT: "约束", Kind.PREFERENCE: "偏好", Kind.DECISION: "决定", Kind.FACT: "事实"}

_START = r"<\s*amem-recalled\s*>"
_END = r"<\s*/\s*amem-recalled\s*>"
_OPENS = r"(?<!=)={2,}+\s*+RELEVANT\s++MEMORIES\s*+={2,}+"
_CLOSES = r"(?<!=)={2,}+\s*+END\s++(?:OF\s++)?MEMORIES\s*+={2,}+"
_HEADING = r"\[\s*(?:Background|背景知识)\s*\]"
_LABEL = rf"[(（](?:{'|'.join([*Kind, *LABELS_ZH.values()])})[)）]"
#: What may stand before a line of a prompt that is quoted.
_QUOTED = r"^[ \t>]*"
_BLOCKS = (
    re.compile(rf"{_START}.*?(?:{_END}|\Z)", re.IGNORECASE | re.DOTALL),
    re.compile(rf"{_QUOTED}{_OPENS}.*?(?:{_CLOSES}|\Z)", re.IGNORECASE | re.DOTALL | re.MULTILINE),
)
_LINES = (
    re.compile(rf"{_QUOTED}{_HEADING}[ \t]*\n(?:{_QUOTED}- {_LABEL}[^\n]*(?:\n|\Z))+", re.IGNORECASE | re.MULTILINE),
    #: One entry alone, with the lines of it that are set in.
    re.compile(
        rf"{_QUOTED}\[[^\[\]\n]{{1,40}}\] \((?:trust|confidence): [01]\.\d\d[^()\n]*\)"
        r"[^\n]*(?:\n[ \t>]*  \S[^\n]*)*\n?",
        re.MULTILINE,
    ),
    #: The lines that ``find_related_memories`` gives to programs written for A-Mem, which have no delimiters.
    re.compile(r"^memory index:\d+\ttalk start time:[^\n]*\n?", re.MULTILINE),
)
_ANY = re.compile("|".join((_START, _END, _OPENS, _CLOSES)), re.IGNORECASE)
_FRAME = re.compile("|".join((_START, _END, _OPENS, _CLOSES, _HEADING)), re.IGNORECASE)
#: By which servers tell who speaks; inside a note some of them would still take it so.
_TURN = re.compile(r"<\|(?=[^<>|\s]{1,40}\|>)")
#: What must stand in a text, folded or not, that holds any of these.
_HINTS = ("amem-recalled", "memories", "background", "背景知识", "(trust: ", "(confidence: ", "memory index:")


def as_recalled(text: str) -> str:
    """`text` between the delimiters; delimiters that stand in it already are taken out, so that it cannot end early."""
    return f"{RECALLED_START}\n{_without(_ANY, text).strip()}\n{RECALLED_END}"


def harmless(text: str) -> str:
    """`text` without anything that could pass for the frame of a context, however it is spelled.

    A line in which letters of other widths or invisible ones spell a delimiter is folded first. The marks by which
    chat templates tell who speaks (``<|im_end|>``) are broken as well.
    """
    # By every line break there is, not only by those that a parser splits at.
    lines = (_folded(line) if _FRAME.search(_folded(line)) else line for line in text.splitlines())
    return _TURN.sub("< |", _without(_FRAME, "\n".join(lines)))


def without_recalled(text: str) -> str:
    """`text` without notes that amem put into a prompt: between delimiters, under their heading, or entry by entry.

    A block that was never closed is left out to the end. Text without any comes back as it is; white space round what
    was taken out is trimmed.
    """
    folded = text.casefold()
    if not any(hint in folded for hint in _HINTS):
        return text
    rest = text
    for block in _BLOCKS:
        rest = block.sub("\n", rest)
    for lines in _LINES:
        rest = lines.sub("", rest)
    rest = _without(_ANY, rest)
    return text if rest == text else rest.strip()


def _without(pattern: re.Pattern[str], text: str) -> str:
    """Until none is left: what stands round one that is taken out may make another."""
    while pattern.search(text):
        text = pattern.sub("", text)
    return text


def _folded(line: str) -> str:
    return "".join(
        character for character in unicodedata.normalize("NFKC", line) if unicodedata.category(character) != "Cf"
    )
