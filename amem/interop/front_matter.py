"""The block between two ``---`` lines at the head of a Markdown file: names, texts and lists, as note takers write it.

A subset of YAML on purpose: what is nested deeper is kept as text, and nothing in a file can make reading it fail.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from amem.errors import InvalidInput

Value = str | list[str]

#: Under which names note takers say when a note is from.
CREATED = ("created", "date", "time", "created_at")

_KEY = re.compile(r"(\w(?:[\w .-]*[\w.-])?)\s*:(?:\s+(.*))?$")
_ITEM = re.compile(r"\s*-\s+(.*)$")
#: A line that begins a value, as any reader of YAML takes it: a name, quoted or not, a colon, a space or the end.
_ANY_KEY = re.compile(r"""(?:"([^"]*)"|'([^']*)'|([^\s:#"'\[\]{}&*!|>%@`-][^:]*?|-[^\s:][^:]*?))\s*:(?:\s.*)?$""")
_PARTS = re.compile(r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^,"']|(?<=\w)["'])+""")
#: More is no front matter that a person wrote.
_LONGEST = 1 << 16
_RULE = "a --- that is a rule needs an empty line before it"


@dataclass(frozen=True, slots=True)
class Entry:
    """The lines of one name, as they stand in the file; `name` is lower-case, '' for what stands before the first."""

    name: str
    lines: tuple[str, ...]

    @property
    def value(self) -> Value:
        """What the lines say. Raises InvalidInput where a quote or a list is not closed, or a text is in a block."""
        value = _values(list(self.lines)).get(self.name, "")
        if isinstance(value, str) and value.startswith("[") and value.endswith("]"):
            value = _value(value)  # a list over several lines
        if isinstance(value, list) or not self.lines:
            return value
        raw = self.lines[0].split(":", 1)[-1].strip()
        if raw[:1] in ("|", ">", "{", "&", "*", "!") or (raw[:1] in ('"', "'", "[") and not _closed(raw, self.lines)):
            raise InvalidInput(f"its {self.name} cannot be read: {raw[:40]}")
        return value


def front_matter_entries(text: str) -> tuple[tuple[Entry, ...], tuple[str, str] | None, str]:
    """(the entries, the lines around them, the rest of the text), all as they stand: for whoever writes the file again.

    Raises InvalidInput for what is not well formed, where `split_front_matter` makes the best of it.
    """
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        return (), None, text
    size = 0
    for number, line in enumerate(lines[1:], start=1):
        if line.rstrip() in ("---", "..."):
            return _entries(lines[1:number]), (lines[0], line), "\n".join(lines[number + 1 :])
        size += len(line)
        if size > _LONGEST:
            break
    raise InvalidInput("its front matter begins with --- and does not end", hint=f"close it with a line ---; {_RULE}")


def scalar(text: str) -> str:
    """A text as a value of front matter, quoted where it has to be."""
    plain = _PLAIN_SCALAR.fullmatch(text) and text.casefold() not in _WORDS
    return text if plain else json.dumps(text, ensure_ascii=False)


_PLAIN_SCALAR = re.compile(r"[^\W\d_][\w/+.-]*(?: [\w/+.-]+)*")
_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})


def _entries(lines: list[str]) -> tuple[Entry, ...]:
    found: list[tuple[str, list[str]]] = [("", [])]
    for number, line in enumerate(lines, start=2):
        bare = line.rstrip()
        match = _ANY_KEY.match(bare)
        if match is not None:
            name = (match[1] or match[2] or match[3] or "").strip().lower()
            if name and name in (held for held, _ in found):
                raise InvalidInput(f"its front matter says {name} twice (line {number})")
            found.append((name or "?", [line]))
        elif (
            not bare
            or bare.startswith("#")
            or (len(found) > 1 and (line[0].isspace() or bare in ("-", "]", "}") or _ITEM.match(bare)))
        ):
            found[-1][1].append(line)
        else:
            raise InvalidInput(f"line {number} of its front matter is no 'name: value': {bare[:40]}", hint=_RULE)
    return tuple(Entry(name, tuple(held)) for name, held in found if held)


def _closed(raw: str, lines: tuple[str, ...]) -> bool:
    """Whether a value that opens with a quote or a bracket is closed again."""
    whole = " ".join([raw, *(line.strip() for line in lines[1:] if not line.lstrip().startswith("#"))]).rstrip()
    end = "]" if raw[0] == "[" else raw[0]
    if raw.startswith("[["):
        return "]]" in whole
    bare = whole.split(" #", 1)[0].rstrip() if not whole.endswith(end) else whole
    return len(bare) > 1 and bare.endswith(end)


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
        return [plain for each in _PARTS.findall(text[1:-1]) if (plain := _plain(each))]
    return _plain(text)


def _plain(text: str) -> str:
    text = text.strip()
    if len(text) >= 2 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if len(text) >= 2 and text[0] == text[-1] == '"':
        return _unescaped(text)
    return text.split(" #", 1)[0].rstrip()


def _unescaped(quoted: str) -> str:
    try:
        said = json.loads(quoted)
    except ValueError:
        return quoted[1:-1]
    return said if isinstance(said, str) else quoted[1:-1]
