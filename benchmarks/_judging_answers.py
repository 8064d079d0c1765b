"""The rules by which `judging_model` answers each of amem's schemas, and what they make out in prompts."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from amem.language import index_terms, is_cjk, query_terms, sentences, written_in_cjk
from amem.language.scripts import CHINESE_PARTICLES, ENGLISH

if TYPE_CHECKING:
    from collections.abc import Sequence


# What a stand-in for a model can make out in amem's prompts: notes between their marks, handles, numbered lines.

_BETWEEN_MARKS = re.compile(r"<<<(.*?)>>>", re.DOTALL)
_NUMBERED = re.compile(r"^[ \t]*\[?(\d{1,3})[\]).:：、][ \t]*(.+)$", re.MULTILINE)
#: What a second try shows of the first stands between marks as well, after everything else.
_SECOND_TRY = re.compile(r"^(?:You already answered|你已经回答过)[:：]\s*<<<", re.MULTILINE)
#: What models wrote about a note follows its text between the same marks, or stands in the line above it.
_DETAILS = re.compile(r"\n(?=(?:context|说明)[:：])", re.IGNORECASE)
_CONTEXT = re.compile(r"(?:context|说明)[:：][ \t]*([^\n]*)", re.IGNORECASE)
_TAGS = re.compile(r"(?:tags|标签)[:：][ \t]*([^\n>]*)", re.IGNORECASE)
_KNOWN_TAGS = re.compile(r"^\W*(?:tags|标签)[:：].*<<<(.*)>>>", re.IGNORECASE | re.MULTILINE)
_COMMAS = re.compile(r"\s*[,，、;；]\s*")


@dataclass(frozen=True, slots=True)
class Shown:
    """Something under a handle: what the prompt says `about` it, and its text."""

    handle: str
    about: str
    text: str

    @property
    def tags(self) -> list[str]:
        return _tags(self.about)

    @property
    def context(self) -> str:
        found = _CONTEXT.search(self.about)
        return found[1].strip().removeprefix("-") if found else ""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request: its whole text, what was said last, and the schema that the answer is held to."""

    prompt: str
    last_said: str
    schema: dict[str, Any] | None

    @classmethod
    def of(cls, request: dict[str, Any]) -> Asked:
        """From the JSON of Ollama's chat and generate and of OpenAI's chat completions."""
        said = [str(message.get("content") or "") for message in request.get("messages") or ()]
        said = [_SECOND_TRY.split(text)[0] for text in said or [str(request.get("prompt", ""))]]
        schema = request.get("format")
        if schema is None:
            schema = ((request.get("response_format") or {}).get("json_schema") or {}).get("schema")
        return cls("\n\n".join(said), said[-1], schema if isinstance(schema, dict) else None)

    @property
    def note(self) -> str:
        """The last text between marks: examples and earlier turns come before what a prompt is about."""
        found = _BETWEEN_MARKS.findall(self.prompt)
        return found[-1].strip() if found else self.prompt.strip()

    @property
    def notes_in_last_line(self) -> list[str]:
        """The texts between marks in the last line, below the examples."""
        return _BETWEEN_MARKS.findall(self.prompt.strip().rpartition("\n")[2])

    @property
    def note_tags(self) -> list[str]:
        """The tags that stand in the line above the note."""
        above = self.prompt.rpartition("<<<")[0].rstrip().rpartition("\n")[2]
        return _tags(above)

    @property
    def known_tags(self) -> list[str]:
        """Tags that the collection has already."""
        return listed(_KNOWN_TAGS.search(self.prompt))

    @property
    def numbered(self) -> list[tuple[int, str]]:
        """The lines that begin with a number, with their numbers."""
        found = _NUMBERED.findall(self.prompt)
        return [(int(number), text.replace("<<<", "").replace(">>>", "").strip()) for number, text in found]

    def shown(self, letter: str) -> list[Shown]:
        """What stands between marks under the handles of a kind: ``n`` for notes, ``m`` messages, ``c`` pairs."""
        found = re.findall(rf"^({letter}\d+)\b([^<\n]*)\n?<<<(.*?)>>>", self.prompt, re.MULTILINE | re.DOTALL)
        told = [(handle, about, *_DETAILS.split(text.strip(), maxsplit=1)) for handle, about, text in found]
        return [Shown(handle, "\n".join((about, *details)), text) for handle, about, text, *details in told]


def listed(found: re.Match[str] | None) -> list[str]:
    """The words of a list in a prompt; ``-`` is an empty one."""
    return _split(found[1]) if found else []


def _tags(about: str) -> list[str]:
    """A context may speak of tags, too; the list comes after it."""
    found = _TAGS.findall(about)
    return _split(found[-1]) if found else []


def _split(words: str) -> list[str]:
    return [word for word in _COMMAS.split(words.strip()) if word.strip(" -.。")]


# The rules by which `judging_model` answers each of amem's schemas.

_SURE = "sure"
_WORD = re.compile(r"[^\W\d_][\w'-]+(?: \d+(?:\.\d+)?)?")
_STRETCH = re.compile(rf"[\s，。、；：！？,.;:!?（）()“”\"'{''.join(sorted(CHINESE_PARTICLES))}在和与对会要把将]+")
_NAME = re.compile(r"(?<![.!?] )(?<!^)\b[A-Z][\w-]+(?: [A-Z][\w-]+)*")
#: The first that is found decides.
_KINDS = (
    ("chitchat", r"^(?:hi|hello|hey|thanks|thank you|ok|okay|bye|lol|你好|谢谢|好的|再见|哈+)\W*$", 0.1),
    ("question", r"[?？]\s*$|吗\W*$", 0.3),
    ("constraint", r"\b(?:allergic|allergy|must not|must never|never|cannot)\b|过敏|不能|不要|禁止", 0.9),
    ("decision", r"\b(?:decided|chose|settled on|agreed)\b|决定|选定|选择了", 0.8),
    ("preference", r"\b(?:prefer\w*|likes?|loves?|favou?rite|hates?)\b|喜欢|偏好|讨厌|爱", 0.7),
    ("error", r"\b(?:error|exception|failed|crash\w*)\b|报错|错误|失败", 0.4),
)
_REPLACES = re.compile(
    r"\b(?:no longer|not any ?more|moved to|switched to|instead of)\b|不再|改为|改用|搬到|换成", re.I
)
_IS = re.compile(
    r"^(?P<subject>.{2,40}?) ?(?P<predicate>\b(?:is|lives in|likes|uses|works at)\b|喜欢|住在|是) ?(?P<object>.{2,60})$"
)
_STEPS = re.compile(r"(?:\bfirst|首先|先)[,，]?\s*(.+?)[,，;；.。]\s*(?:then|然后|再)[,，]?\s*(.+)", re.IGNORECASE)


def analysis(asked: Asked) -> dict[str, Any]:
    """Keywords in the order of the note, its first sentence as context, a tag that is known or the first keyword."""
    note = asked.note
    words = _keywords(note)
    kind, importance = _kind(note)
    first = next(iter(sentences(note)), note)[:160]
    about = f"关于{words[0]}：{first}" if words and written_in_cjk(note) else first
    fact = _IS.match(first.rstrip(".。!！"))
    return {
        "keywords": words,
        "context": about,
        "tags": [tag for tag in asked.known_tags if tag.casefold() in note.casefold()][:3] or words[:2],
        "kind": kind,
        "importance": importance,
        "entities": list(dict.fromkeys(_NAME.findall(note)))[:6],
        "facts": [fact.groupdict()] if fact and kind != "question" else [],
    }


def evolution(asked: Asked) -> dict[str, Any]:
    """A link to each old note that shares a word with the new one; the first is replaced or described anew."""
    new = asked.note
    tags = asked.note_tags or _keywords(new)[:2]
    links: list[dict[str, Any]] = []
    rewrites: list[dict[str, Any]] = []
    for old in asked.shown("n"):
        common = [word for word in _keywords(new) if set(query_terms(word)) & set(query_terms(old.text))]
        if not common:
            continue
        replaces = not links and bool(_REPLACES.search(new))  # what it replaces is most like it, and comes first
        type_ = "supersedes" if replaces else "related"
        quote = next(iter(sentences(old.text)), old.text).removesuffix("…").strip()
        links.append({"to": old.handle, "quote": quote, "reason": common[0], "type": type_, "confidence": _SURE})
        if links[0]["type"] != "supersedes" and not rewrites:
            rewrites.append(_rewrite(old, tags, common[0]))
    return {"links": links, "rewrites": rewrites, "tags": []}


def batch(asked: Asked) -> dict[str, Any]:
    """Each new note as `analysis` has it, but for its kind, and its links as `evolution` has them."""
    notes: list[dict[str, Any]] = []
    links: list[dict[str, Any]] = []
    rewrites: list[dict[str, Any]] = []
    for new in asked.shown("s"):
        alone = replace(asked, prompt=f"{asked.prompt}\n<<<{new.text}>>>")
        described = {name: value for name, value in analysis(alone).items() if name != "kind"}
        notes.append({"note": new.handle, **described})
        evolved = evolution(alone)
        links += [{"from": new.handle, **link} for link in evolved["links"]]
        told = {rewrite["note"] for rewrite in rewrites}
        rewrites += [rewrite for rewrite in evolved["rewrites"] if rewrite["note"] not in told]
    return {"notes": notes, "links": links, "rewrites": rewrites}


def extraction(asked: Asked) -> dict[str, Any]:
    """A statement for each message of a person's that says something, in its own words; steps make a procedure."""
    statements, procedures = [], []
    shown = asked.shown("m")
    for message in shown:
        kind, _ = _kind(message.text)
        if re.search(r"\b(?:assistant|system|tool)\b", message.about) or kind in ("question", "chitchat"):
            continue
        steps = _STEPS.search(message.text)
        if steps:
            name = message.text[: steps.start()].strip(" ,:，：") or steps[1]
            procedure = {"name": name, "trigger": name, "steps": [step.strip(" .。") for step in steps.groups()]}
            procedures.append({**procedure, "messages": [message.handle], "updates": ""})
        elif len(query_terms(message.text)) > 1:
            statements.append({"text": message.text, "kind": kind, "messages": [message.handle]})
    summary = " ".join(message.text for message in shown)[:200]
    return {"summary": summary, "statements": statements, "procedures": procedures}


def answer(asked: Asked) -> dict[str, Any]:
    """The numbered line that shares most words with the question."""
    lines = dict(asked.numbered)
    line = fitting(asked.note, list(lines.values()))
    if line is None:
        return {"in_memory": False, "answer": "", "cites": []}
    return {"in_memory": True, "answer": line, "cites": [next(number for number in lines if lines[number] == line)]}


def suffices(asked: Asked) -> dict[str, Any]:
    """Yes, where one of the texts that were read shares half of the question's words."""
    *read, question = _BETWEEN_MARKS.findall(asked.prompt)
    wanted = set(query_terms(question))
    # The examples in the prompt come first, with questions of their own.
    best = max(read[5:], key=lambda text: len(wanted & set(index_terms(text))), default="")
    enough = len(wanted & set(index_terms(best))) * 2 >= len(wanted) > 0
    reason = "it is all there" if enough else "words of the question are missing"
    return {"quote": next(iter(sentences(best)), "") if enough else "", "reason": reason, "suffices": enough}


def order(asked: Asked) -> dict[str, Any]:
    """The notes that share a word with the question, those that share most first."""
    wanted = set(query_terms(asked.note))
    shared = {shown.handle: len(wanted & set(index_terms(shown.text))) for shown in asked.shown("n")}
    return {"best": sorted((handle for handle, words in shared.items() if words), key=lambda each: -shared[each])}


def verdicts(asked: Asked) -> dict[str, Any]:
    """Every pair is related, no more."""
    verdict = {"quote": "", "reason": "both were shown", "verdict": "related", "confidence": "unsure"}
    return {"verdicts": [{"pair": pair.handle, **verdict} for pair in asked.shown("c")]}


def merge(asked: Asked) -> dict[str, Any]:
    """The longest of the notes stands for all."""
    longest = max(asked.notes_in_last_line, key=len, default="")
    said = {"quote": longest[:60], "reason": "both were shown", "verdict": "same"}
    return {**said, "confidence": "sure", "merged": longest}


def page(asked: Asked) -> dict[str, Any]:
    """A statement for each note that was shown, in its own words, below the first keyword as title."""
    statements = [
        {"text": next(iter(sentences(note.text)), note.text), "notes": [note.handle]} for note in asked.shown("n")
    ]
    title = next(iter(_keywords(asked.note)), "notes")
    return {"title": title, "summary": asked.note[:200], "statements": statements, "gone": []}


def fitting(question: str, lines: Sequence[str]) -> str | None:
    """The line that shares most words with the question, the first of equals; None when none shares any."""
    wanted = set(query_terms(question))
    shared = [len(wanted & set(query_terms(line))) for line in lines]
    return lines[shared.index(max(shared))] if any(shared) else None


def _rewrite(old: Shown, tags: list[str], common: str) -> dict[str, Any]:
    """Everything the old note says stays; a context that was shown cut short is left alone."""
    context = old.context or old.text[:160]
    also = f"（另见{common}）" if written_in_cjk(context) else f" (see also {common})"
    keeps = context.endswith("…") or also in context
    return {
        "note": old.handle,
        "quote": next(iter(sentences(old.text)), old.text).removesuffix("…").strip(),
        "reason": common,
        "context": "" if keeps else context + also,
        "tags": list(dict.fromkeys([*old.tags, *tags]))[:6],
        "confidence": _SURE,
    }


def _keywords(text: str) -> list[str]:
    """Up to five words, names first; in Chinese up to five stretches between particles and marks."""
    if written_in_cjk(text):
        stretches = [stretch for stretch in _STRETCH.split(text) if 2 <= len(stretch) <= 12]
        return list(dict.fromkeys(stretches))[:5]
    words = [word.removesuffix("'s") for word in _WORD.findall(text) if not any(map(is_cjk, word))]
    words = [word for word in words if word.casefold() not in ENGLISH and len(word) > 2]
    return list(dict.fromkeys(sorted(words, key=str.islower)))[:5]


def _kind(text: str) -> tuple[str, float]:
    for kind, pattern, importance in _KINDS:
        if re.search(pattern, text, re.IGNORECASE):
            return kind, importance
    return "fact", 0.5
