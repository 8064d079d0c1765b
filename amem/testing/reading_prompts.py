"""What a stand-in for a model can make out in amem's prompts: notes between their marks, handles, numbered lines."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

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
