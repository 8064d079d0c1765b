"""Prompts are files: front matter (name, version, variables) and a text with ``$variables``.

``analyze.md`` is in English; ``analyze.zh.md`` asks the same in Chinese, with examples in Chinese, since small models
answer in the language they are asked in. Each is a prompt of its own, with its own version.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from amem.errors import InvalidInput
from amem.text import written_in_cjk

if TYPE_CHECKING:
    from collections.abc import Iterator

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
