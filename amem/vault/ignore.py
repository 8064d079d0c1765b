"""Which files of a folder are nobody's notes: hidden ones, templates, and what ``.gitignore`` and ``.amemignore`` say.

The rules are git's (``man gitignore``): a file of rules counts for its folder and all below it, a later rule overrules
an earlier one, ``!`` takes back, and what lies in an ignored folder cannot be taken back.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from re import Pattern

RULE_FILES = (".gitignore", ".amemignore")
#: Ignored whatever is said, besides all that is hidden: .obsidian, .trash, .git, .amem.
_FOLDERS = frozenset({"templates"})


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of a file of rules that stands in the folder `base` ('' for the top)."""

    base: str
    pattern: Pattern[str]
    negated: bool
    folders_only: bool

    def matches(self, path: str, *, folder: bool) -> bool:
        """Whether it is about this path, given from the top."""
        if self.folders_only and not folder:
            return False
        if self.base and not path.startswith(f"{self.base}/"):
            return False
        return self.pattern.fullmatch(path[len(self.base) + 1 :] if self.base else path) is not None


def rules_of(text: str, base: str) -> list[Rule]:
    """The rules of a file that stands in the folder `base`."""
    return [rule for line in text.splitlines() if (rule := _rule(line, base)) is not None]


def is_ignored(path: str, *, folder: bool, rules: Iterable[Rule]) -> bool:
    """Whether a path is left out, its parents being looked at: built-in rules first, then of the `rules` the last."""
    name = path.rsplit("/", 1)[-1]
    if name.startswith(".") or (folder and name.casefold() in _FOLDERS):
        return True
    said = False
    for rule in rules:
        if rule.negated == said and rule.matches(path, folder=folder):
            said = not rule.negated
    return said


def _rule(line: str, base: str) -> Rule | None:
    line = re.sub(r"(?<!\\) +$", "", line.rstrip("\n\r"))
    if not line or line.startswith("#"):
        return None
    negated = line.startswith("!")
    line = line[1:] if negated else line
    folders_only = line.endswith("/")
    line = line.rstrip("/") if folders_only else line
    anchored = "/" in line
    line = line.removeprefix("/")
    if not line:
        return None
    try:
        pattern = re.compile(("" if anchored else "(?:.*/)?") + _regex(line))
    except re.error:
        return None
    return Rule(base, pattern, negated, folders_only)


def _regex(glob: str) -> str:
    out = ""
    at = 0
    while at < len(glob):
        char = glob[at]
        if glob.startswith("**/", at) and (at == 0 or glob[at - 1] == "/"):
            out, at = out + "(?:.*/)?", at + 3
            continue
        if glob.startswith("/**", at) and at + 3 == len(glob):
            out, at = out + "/.*", at + 3
            continue
        if char == "*":
            while glob.startswith("*", at + 1):
                at += 1
            out += "[^/]*"
        elif char == "?":
            out += "[^/]"
        elif char == "[" and (end := glob.find("]", at + 2)) > 0:
            inside = glob[at + 1 : end]
            inside = ("^" + inside[1:]) if inside[0] in "!^" else inside
            out += "(?!/)[" + inside.replace("\\", "\\\\").replace("[", "\\[") + "]"
            at = end
        elif char == "\\" and at + 1 < len(glob):
            at += 1
            out += re.escape(glob[at])
        else:
            out += re.escape(char)
        at += 1
    return out
