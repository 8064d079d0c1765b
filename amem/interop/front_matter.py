"""The block between two ``---`` lines at the head of a Markdown file: names, texts and lists, as note takers write it.

A subset of YAML on purpose: what is nested deeper is kept as text, and nothing in a file can make reading it fail.
"""

from __future__ import annotations

import re

Value = str | list[str]

_KEY = re.compile(r"([\w][\w .-]*?)\s*:(?:\s+(.*))?$")
_ITEM = re.compile(r"\s*-\s+(.*)$")


def split_front_matter(text: str) -> tuple[dict[str, Value], str]:
    """(the values by lower-case name, the body); no values when the text does not open with a closed block."""
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        return {}, text
    for number, line in enumerate(lines[1:], start=1):
        if line.rstrip() in ("---", "..."):
            return _values(lines[1:number]), "\n".join(lines[number + 1 :]).lstrip("\n")
    return {}, text


def as_list(value: Value | None) -> list[str]:
    """The value as a list: a text is parted at commas."""
    if value is None:
        return []
    return value if isinstance(value, list) else [part for each in value.split(",") if (part := each.strip())]


def _values(lines: list[str]) -> dict[str, Value]:
    values: dict[str, Value] = {}
    name = ""
    for line in lines:
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        item = _ITEM.match(line)
        match = _KEY.match(line)
        if name and item is not None:
            held = values[name]
            values[name] = [*(held if isinstance(held, list) else [held] if held else []), _plain(item[1])]
        elif match is not None and not line[0].isspace():
            name = match[1].strip().lower()
            values[name] = _value(match[2] or "")
        elif name and isinstance(held := values[name], str):
            values[name] = f"{held} {line.strip()}".strip()
    return values


def _value(text: str) -> Value:
    text = text.strip()
    if text.startswith("[") and text.endswith("]") and not text.startswith("[["):
        return [plain for each in text[1:-1].split(",") if (plain := _plain(each))]
    return _plain(text)


def _plain(text: str) -> str:
    text = text.strip()
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    return text.split(" #", 1)[0].rstrip()
