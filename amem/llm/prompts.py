"""Prompts are files: front matter (name, version, variables) and a text with ``$variables``.

``analyze.md`` is in English; ``analyze.zh.md`` asks the same in Chinese, with examples in Chinese, since small models
answer in the language they are asked in. Each is a prompt of its own, with its own version.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from string import Template

from amem.errors import InvalidInput
from amem.text import written_in_cjk

#: The language that prompts have files of their own for, beside English ('').
CHINESE = "zh"

_PACKAGE = Path(__file__).resolve().parents[1]
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
            raise InvalidInput(f"the prompt {self.name} needs a value for {', '.join(missing)}")
        return Template(self.text).substitute(values)


def language_of(text: str) -> str:
    """The language to ask about `text` in: ``zh`` for Chinese, '' for English and everything else."""
    return CHINESE if written_in_cjk(text) and not _KANA_OR_HANGUL.search(text) else ""


def load_prompt(name: str, override: Path | None = None, language: str = "") -> Prompt:
    """The prompt of that name, in that language where it exists in it, else in English.

    A file in the folder `override` comes before the one that comes with amem, in either language: whoever wrote one
    wants it used. Raises InvalidInput naming the file when it cannot be used as a prompt.
    """
    # A wheel carries the prompts inside the package; an editable install finds them beside it.
    folders = [folder for folder in (override, _PACKAGE / "prompts", _PACKAGE.parent / "prompts") if folder is not None]
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


def _read(path: Path, name: str) -> Prompt:
    try:
        parts = _FRONT_MATTER.match(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"cannot read the prompt {path}: {error}") from error
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
    return InvalidInput(f"cannot use the prompt {path}: {reason}", hint="compare it with the one that comes with amem")
