"""Load prompts from files and write notes into them so that no note can end its delimiters."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from amem.errors import InvalidInput
from amem.language import is_cjk, written_in_cjk
from amem.language.numerals import WEEKDAYS_CHINESE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from amem.analysis import KnownProcedure, Neighbour
    from amem.note import Message


# Prompts are files: front matter (name, version, variables) and a text with ``$variables``.
#
# ``analyze.md`` is in English; ``analyze.zh.md`` asks the same in Chinese, with examples in Chinese, since small
# models answer in the language they are asked in. Each is a prompt of its own, with its own version.

#: The language that prompts have files of their own for, beside English ('').
CHINESE = "zh"

_PACKAGE = Path(__file__).resolve().parents[1]
#: A wheel carries the prompts inside the package; an editable install finds them beside it.
_SHIPPED = [_PACKAGE / "prompts", _PACKAGE.parent / "prompts"]
_COMPARE = "compare it with the one that comes with amem, or move it away"
_FRONT_MATTER = re.compile(r"\A---\r?\n(.*?)\r?\n---\r?\n(.*)\Z", re.DOTALL)
_FIELDS = ("name", "version", "variables")
_KANA_OR_HANGUL = re.compile("[\u3041-\u30fa\u31f0-\u31ff\uac00-\ud7af]")


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt's text and the variables it needs; a ``$$`` in the text stands for one ``$``."""

    name: str
    version: str
    variables: frozenset[str]
    text: str

    @property
    def label(self) -> str:
        """Name and version, as kept with what an answer to it changed: ``analyze 2``."""
        return f"{self.name} {self.version}"

    def render(self, **values: str) -> str:
        """The text with every variable replaced; a ``$`` inside a value stays what it is.

        Values the text has no use for are fine (a user's own prompt may ask for less). Raises InvalidInput for a
        variable that has no value.
        """
        missing = sorted(self.variables - values.keys())
        if missing:
            raise InvalidInput(
                f"the prompt {self.name} needs a value for {', '.join(missing)}, which there is none for", hint=_COMPARE
            )
        return Template(self.text).substitute(values)


def language_of(text: str) -> str:
    """The language to ask about `text` in: ``zh`` for Chinese, '' for English and everything else."""
    return CHINESE if written_in_cjk(text) and not _KANA_OR_HANGUL.search(text) else ""


def load_prompt(name: str, override: Path | None = None, language: str = "") -> Prompt:
    """The prompt of that name, in that language where it exists in it, else in English.

    A file in the folder `override` comes before the one that comes with amem, in either language: whoever wrote one
    wants it used. Raises InvalidInput naming the file when it cannot be used as a prompt.
    """
    folders = [override, *_SHIPPED] if override is not None else _SHIPPED
    names = [f"{name}.{language}", name] if language else [name]
    for folder in folders:
        for candidate in names:
            path = folder / f"{candidate}.md"
            if path.is_file():
                return _read(path, candidate)
    raise InvalidInput(
        f"no prompt called {name} in {', '.join(str(folder) for folder in folders)}",
        hint="reinstall amem, or put the file back",
    )


def check_prompts(folder: Path) -> Iterator[tuple[Path, InvalidInput | None]]:
    """The prompts in a user's folder, each with why it is of no use, or None."""
    for path in sorted(folder.glob("*.md")):
        try:
            _check(path)
        except InvalidInput as error:
            yield path, error
        else:
            yield path, None


def _check(path: Path) -> None:
    shipped = {found.stem for own in _SHIPPED for found in own.glob("*.md")}
    if path.stem not in shipped:
        raise InvalidInput(
            f"nobody asks for the prompt {path}", hint=f"call it one of {', '.join(sorted(shipped))}, or move it away"
        )
    prompt = _read(path, path.stem)
    # In plain lines a question is asked with the same values.
    alike = {path.stem, path.stem.replace("_sections", "")}
    without = prompt.variables - {variable for name in alike for variable in load_prompt(name).variables}
    if without:
        raise _unusable(path, f"there is no value for {', '.join(sorted(without))}")


def _read(path: Path, name: str) -> Prompt:
    try:
        parts = _FRONT_MATTER.match(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise _unusable(path, f"it cannot be read: {error}") from error
    if parts is None:
        raise _unusable(path, "it does not begin with front matter between two --- lines")
    head = dict(_field(line, path) for line in parts[1].splitlines() if line.strip())
    for wanted in _FIELDS:
        if wanted not in head:
            raise _unusable(path, f"its front matter has no {wanted}")
    if head["name"] != name:
        raise _unusable(path, f"its front matter calls it {head['name']}")
    declared = frozenset(variable.strip() for variable in head["variables"].split(",") if variable.strip())
    text = parts[2].strip() + "\n"
    template = Template(text)
    if not template.is_valid():
        raise _unusable(path, "a $ stands before something that is no variable name (write $$ for a dollar sign)")
    used = frozenset(template.get_identifiers())
    if declared != used:
        raise _unusable(path, f"declared and used variables differ: {', '.join(sorted(declared ^ used))}")
    return Prompt(name, head["version"], declared, text)


def _field(line: str, path: Path) -> tuple[str, str]:
    key, colon, value = line.partition(":")
    if not colon:
        raise _unusable(path, f"its front matter has a line without a colon: {line.strip()}")
    return key.strip(), value.strip()


def _unusable(path: Path, reason: str) -> InvalidInput:
    return InvalidInput(f"cannot use the prompt {path}: {reason}", hint=_COMPARE)


# How notes are shown to a model: short, on one line where they are many, and never able to end their delimiters.

#: What small local models can weigh at once.
MOST_NEIGHBOURS = 8
NEIGHBOUR_WORDS = 60
#: Of all neighbours together; where they are long they get equal shares of it.
NEIGHBOURS_WORDS = 220
CONTEXT_WORDS = 22
NOTE_WORDS = 280
NEW_NOTE_WORDS = 120
TURN_WORDS = 24
MESSAGE_WORDS = 200
#: How much of what was said before is shown with a piece of conversation: that many turns, that much of each.
EARLIER, EARLIER_WORDS = 30, 15
#: Most tags of an old note, and most of the collection's own, that a model is shown.
NEIGHBOUR_TAGS = 6

_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069\ufeff]+")
_DELIMITERS = re.compile("<{3,}|>{3,}")


def inert(text: str) -> str:
    """`text` without control characters and without the ``<<<`` and ``>>>`` that prompts put around notes."""
    return _DELIMITERS.sub(" ", _UNPRINTABLE.sub(" ", text)).strip()


def count_words(text: str) -> int:
    """How long `text` is to a model, about: two CJK characters count as one word."""
    cjk = sum(map(is_cjk, text)) if not text.isascii() else 0
    return max((cjk + 1) // 2 + len(text.split()), len(text) // 12)


def first_words(text: str, most: int) -> str:
    """The beginning of `text`, at most `most` words long; two CJK characters count as one word."""
    halves = 0
    in_word = False
    for position, character in enumerate(text):
        cjk = is_cjk(character)
        if cjk:
            halves += 1
        elif not character.isspace() and not in_word:
            halves += 2
        in_word = not cjk and not character.isspace()
        # Text without spaces that is no CJK (a hash, a long URL) must not slip through as one word.
        if halves > 2 * most or position >= 12 * most:
            return text[:position].rstrip() + " …"
    return text


def note(text: str, most: int = NOTE_WORDS) -> str:
    """A note's content between the delimiters, its lines kept."""
    return first_words(inert(text), most)


def line(text: str, most: int) -> str:
    """The same on one line."""
    return first_words(" ".join(inert(text).split()), most)


def when(moment: datetime | None, language: str = "") -> str:
    """A time as a model reads it best."""
    if moment is None:
        return "未知" if language == CHINESE else "unknown"
    day = f"周{WEEKDAYS_CHINESE[moment.weekday()]}" if language == CHINESE else f"{moment:%A}"
    return f"{day} {moment:%Y-%m-%d %H:%M}"


def neighbours(shown: Sequence[Neighbour], language: str = "") -> str:
    """Old notes, one block each under its handle; what models wrote about them stands between the delimiters, too."""
    context, tags = ("说明：", "标签：") if language == CHINESE else ("context: ", "tags: ")
    words = _fair_share([count_words(item.content) for item in shown])
    blocks = []
    for item in shown:
        told = "\n".join(
            (
                line(item.content, words),
                f"{context}{line(item.context, CONTEXT_WORDS) or '-'}",
                f"{tags}{listed(item.tags[:NEIGHBOUR_TAGS])}",
            )
        )
        day = f", {item.at:%Y-%m-%d}" if item.at else ""
        blocks.append(f"{item.handle} ({item.kind}{day})\n<<<{told}>>>")
    return "\n".join(blocks)


def _fair_share(lengths: Sequence[int]) -> int:
    """The most words of each neighbour with which all of them keep to what they may have together."""
    room = NEIGHBOURS_WORDS
    for rank, length in enumerate(sorted(lengths)):
        share = room // (len(lengths) - rank)
        if length > share:
            return min(share, NEIGHBOUR_WORDS)
        room -= length
    return NEIGHBOUR_WORDS


def messages(said: Sequence[Message], handles: Sequence[str]) -> str:
    """What was said, one message a line under its handle, with the role that tells a person from the assistant."""
    return "\n".join(
        f"{handle} [{_said_at(message)}{_who(message)}] <<<{line(message.content, MESSAGE_WORDS)}>>>"
        for handle, message in zip(handles, said, strict=True)
    )


def earlier(said: Sequence[Message]) -> str:
    """The last of what was said before, oldest first; ``-`` when there is nothing."""
    lines = (f"{_who(message)}: {line(message.content, EARLIER_WORDS)}" for message in said[-EARLIER:])
    return "\n".join(lines) or "-"


def procedures(known: Sequence[KnownProcedure]) -> str:
    """Known procedures, one a line under its handle; ``-`` when there is none."""
    lines = (
        f"{item.handle}: {line(item.name, 12)} ({line(item.trigger, 20) or '-'}): "
        + "; ".join(f"{n}. {line(step, 20)}" for n, step in enumerate(item.steps[:10], 1))
        for item in known
    )
    return "\n".join(lines) or "-"


def listed(words: Sequence[str]) -> str:
    """Words with commas between them; ``-`` for none."""
    return ", ".join(line(word, 8) for word in words) or "-"


def _who(message: Message) -> str:
    speaker = line(message.speaker or "", 6)
    return f"{message.role}" + (f" {speaker}" if speaker else "")


def _said_at(message: Message) -> str:
    return f"{message.at:%Y-%m-%d %H:%M} " if message.at else ""
