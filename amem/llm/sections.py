"""Plain lines instead of JSON, for models too small to write JSON: ``KEYWORDS: a, b``, ``LINK n2 supersedes 0.9: why``.

What is found becomes the same objects that the JSON readers take, so that every answer passes the same checks.
Forgiven: any case, Chinese colons and commas, bullets, numbers and stars around a name, lists over several lines.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from amem.errors import BadModelAnswer
from amem.llm.reading import refuse_noise, share, without_thinking
from amem.llm.schemas import STATEMENT_KINDS
from amem.llm.spellings import CHINESE_KINDS, link_type_named

if TYPE_CHECKING:
    from collections.abc import Mapping

# Before the first colon stands a name, and in some lines handles and a number after it.
_LINE = re.compile(r"[\s>*#•–-]*(?:\d{1,2}[.)、]\s*)?(?P<head>[^:：\n]{1,60})[:：]\**(?P<value>.*)\Z", re.DOTALL)
_HANDLE = re.compile(r"(?<![a-z0-9])[nmp]\d{1,3}(?![0-9])", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![a-z0-9.])\d+(?:\.\d+)?%?(?![a-z0-9.])", re.IGNORECASE)
_BULLET = re.compile(r"\A\s*(?:[-*•]|\d{1,2}[.)、])\s*")
_NOTHING = re.compile(r"\W*(?:none|nothing|无|没有)\W*\Z", re.IGNORECASE)
_QUOTE = re.compile('["“「『](?P<quote>[^"”」』\n]{1,300})["”」』]')
_CERTAINTY = re.compile(
    r"(?<![a-z])(?:unsure|likely|sure)(?![a-z])|不确定|没把握|很可能|可能|确定|有把握", re.IGNORECASE
)
_MARKS = " *_`[]<>()【】,，、.。"

_ANALYSIS = {
    "keywords": "keywords", "keyword": "keywords", "关键词": "keywords", "关键字": "keywords",
    "context": "context", "说明": "context", "语境": "context",
    "tags": "tags", "tag": "tags", "标签": "tags",
    "kind": "kind", "类型": "kind", "类别": "kind",
    "importance": "importance", "重要性": "importance", "重要程度": "importance",
    "entities": "entities", "entity": "entities", "实体": "entities", "名称": "entities",
    "facts": "facts", "fact": "facts", "事实": "facts",
}  # fmt: skip
_EVOLUTION = {
    "link": "link", "links": "link", "链接": "link",
    "context": "context", "说明": "context",
    "new tags": "tags", "tags": "tags", "新标签": "tags", "标签": "tags",
}  # fmt: skip
_EXTRACTION = {
    **{str(kind): str(kind) for kind in STATEMENT_KINDS},
    **{word: str(kind) for word, kind in CHINESE_KINDS.items() if kind in STATEMENT_KINDS},
    "summary": "summary", "摘要": "summary", "总结": "summary",
    "procedure": "procedure", "流程": "procedure",
    "when": "trigger", "trigger": "trigger", "何时": "trigger", "触发": "trigger",
    "steps": "step", "step": "step", "步骤": "step",
    "updates": "updates", "update": "updates", "更新": "updates",
}  # fmt: skip


@dataclass(slots=True)
class _Line:
    """``NAME about: value``, with the lines that continue it."""

    name: str
    about: str
    values: list[str]

    @property
    def text(self) -> str:
        return " ".join(self.values)

    @property
    def items(self) -> list[str]:
        """The value as a list, from commas or from one item a line."""
        return [item for value in self.values for item in re.split("[,;，、；]", _BULLET.sub("", value))]

    @property
    def handles(self) -> list[str]:
        return [handle.casefold() for handle in _HANDLE.findall(self.about)]

    @property
    def confidence(self) -> float | str | None:
        """A number, or one of the words for how sure the model is."""
        number = _NUMBER.search(_HANDLE.sub(" ", self.about))
        if number is not None:
            return share(number.group())
        word = _CERTAINTY.search(self.about)
        return None if word is None else word.group()


def analysis_lines(text: str) -> dict[str, Any]:
    """The answer to `analyze_sections` as an object. Raises BadModelAnswer when no line of it is known."""
    found: dict[str, Any] = {"facts": []}
    for line in _lines(text, _ANALYSIS):
        if line.about.strip(_MARKS):  # "Context matters: ..." is prose
            continue
        if line.name == "facts":
            found["facts"] += [re.split(r"\s*[|｜]\s*", _BULLET.sub("", value).strip()) for value in line.values]
        elif line.name in ("keywords", "tags", "entities"):
            found.setdefault(line.name, []).extend(line.items)
        elif line.name == "importance":
            number = _NUMBER.search(line.text)
            found.setdefault(line.name, number and number.group())
        else:
            found.setdefault(line.name, line.text)
    return found


def evolution_lines(text: str) -> dict[str, Any]:
    """The answer to `evolve_sections`; ``NONE`` proposes nothing."""
    found: dict[str, Any] = {"links": [], "rewrites": [], "tags": []}
    rewrites: dict[str, dict[str, Any]] = {}
    for line in _lines(text, _EVOLUTION):
        if line.name == "link":
            found["links"] += [
                {"to": handle, "type": _link_type(line), **_grounds(line), "confidence": line.confidence}
                for handle in line.handles
            ]
        elif not line.handles:
            found["tags"] += line.items if line.name == "tags" else []
        else:
            rewrite = rewrites.setdefault(line.handles[0], {"note": line.handles[0]})
            rewrite[line.name] = line.items if line.name == "tags" else line.text
            rewrite["confidence"] = rewrite.get("confidence", line.confidence)
            if line.name == "context" and _QUOTE.match(line.text):
                grounds = _grounds(line)
                rewrite |= {"quote": grounds["quote"], "context": grounds["reason"]}
    return {**found, "rewrites": list(rewrites.values())}


def extraction_lines(text: str) -> dict[str, Any]:
    """The answer to `extract_sections`; ``NONE`` states nothing."""
    found: dict[str, Any] = {"summary": "", "statements": [], "procedures": []}
    for line in _lines(text, _EXTRACTION):
        if line.name == "summary":
            found["summary"] = found["summary"] or line.text
        elif line.name == "procedure":
            found["procedures"].append({"name": line.text, "steps": [], "messages": line.handles})
        elif line.name in ("trigger", "step", "updates"):
            if found["procedures"]:
                _add_to(found["procedures"][-1], line)
        elif line.handles or not line.about.strip(_MARKS):
            found["statements"].append({"text": line.text, "kind": line.name, "messages": line.handles})
    return found


def _add_to(procedure: dict[str, Any], line: _Line) -> None:
    if line.name == "step":
        procedure["steps"] += line.values
    else:
        procedure[line.name] = line.text.strip(_MARKS) if line.name == "updates" else line.text


def _grounds(line: _Line) -> dict[str, str]:
    """The words of the old note that a line quotes, and what it says besides."""
    quote = _QUOTE.search(line.text)
    return {"quote": quote["quote"] if quote else "", "reason": _QUOTE.sub("", line.text, count=1).strip(" -–,，;；")}


def _link_type(line: _Line) -> str | None:
    """The type among what stands between ``LINK n1`` and the colon: all of it, or one word of it."""
    words = _NUMBER.sub(" ", _HANDLE.sub(" ", line.about)).strip(_MARKS)
    named = (link_type_named(word.strip(_MARKS)) for word in (words, *words.split()))
    return next((str(type_) for type_ in named if type_), None)


def _lines(text: str, names: Mapping[str, str]) -> list[_Line]:
    answer = without_thinking(text)
    refuse_noise(answer)
    found: list[_Line] = []
    open_ = False  # whether the line above may go on: a blank one ends it
    for raw in answer.splitlines():
        match = _LINE.match(raw)
        known = _name(match["head"], names) if match else None
        if match and known:
            found.append(_Line(*known, values=[match["value"].strip()] if match["value"].strip() else []))
        elif open_ and raw.strip():
            found[-1].values.append(raw.strip())
        open_ = bool(found) and bool(raw.strip())
    if not found and not _NOTHING.match(answer.strip()):
        raise BadModelAnswer(f"no line of the answer begins with {', '.join(sorted({*names.values()})[:3])}, ...")
    return found


def _name(head: str, names: Mapping[str, str]) -> tuple[str, str] | None:
    """The longest known name that `head` begins with, and what stands after it."""
    plain = head.strip(_MARKS).casefold()
    for name in sorted(names, key=len, reverse=True):
        if plain.startswith(name):
            rest = plain[len(name) :]
            # English names end where the word does; Chinese is written without spaces.
            if not rest or not name.isascii() or not rest[0].isalnum():
                return names[name], rest
    return None
