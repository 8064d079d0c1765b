"""The rule file: what is always and what is never remembered, in a person's own words (``<home>/rules.md``)."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from pathlib import Path

import regex

from amem.conversation.admission import ALSO_CALLED, DETECTORS, REMOVED, without
from amem.errors import InvalidInput
from amem.language import is_cjk, written_in_cjk
from amem.llm.prompts import CHINESE

# Regular expressions that people write into their rules: whatever they are like, they come to an end in time.
#
# ``(a+)+$`` tries every way to share a run of letters out before it gives up, which for one long message takes longer
# than anybody lives; and while ``re`` searches, nothing else in the process runs, not even Ctrl-C in another thread.

_log = logging.getLogger("amem")

#: Seconds that one text may take; a sensible pattern takes microseconds.
_SECONDS = 0.25
#: A pattern that ran out of time so often is not tried again.
_MOST_TIMES = 3


class Pattern:
    """A regular expression that ignores case; `name` is what it is called when it takes too long. Raises ValueError."""

    def __init__(self, pattern: str, name: str) -> None:
        self.pattern = pattern
        self._name = name
        self._late = 0
        try:
            self._compiled = regex.compile(pattern, regex.IGNORECASE)
        except (regex.error, RecursionError, OverflowError) as error:
            raise ValueError(str(error)) from error

    def found_in(self, text: str, *, unsure: bool) -> bool:
        """Whether the text holds it; `unsure` when that could not be found out in time."""
        if self._late >= _MOST_TIMES:
            return unsure
        try:
            return self._compiled.search(text, timeout=_SECONDS, concurrent=True) is not None
        except TimeoutError:
            self._late += 1
            _log.warning("the rule %s took too long for a text of %d characters", self._name, len(text))
            return unsure

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pattern) and other.pattern == self.pattern

    def __hash__(self) -> int:
        return hash(self.pattern)


FILE_NAME = "rules.md"

#: So much of a pattern is repeated when something is wrong with it.
_SHOWN = 80
_TOLD = re.compile(r"(?:always|never): ")
_HEADS_ZH = {"always": "总是", "never": "从不"}
_SECRETS_ZH = {"passwords": "密码", "api keys": "密钥", "card numbers": "卡号"}
_KINDS = ", ".join(f"[{each}]" for each in DETECTORS)
_MEND = "amem rules --edit opens it; without the file amem's own rules hold"
_DEFAULT = Path(__file__).with_name(FILE_NAME)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_LINE = re.compile(
    r"^\s*(?:[-*]\s+)?(?:(?P<never>never|从不|绝不|永不)|(?P<allow>allow|允许)|always|总是|务必)\s*[:：]\s*(?P<items>.+)$",
    re.IGNORECASE,
)
_ITEM = re.compile(r"(?P<item>/(?P<regex>(?:[^/\\]|\\.)+)/|\[(?P<known>[^\]]+)\]|(?P<word>[^\s,，、;；][^,，、;；]*))")


@dataclass(frozen=True, slots=True)
class Rules:
    """What the rule file says. `text` is what a model is told; `never` and `always` pair a rule with its pattern, and
    `secrets` names the kinds of them that are not stored at all (see ``amem.conversation.admission``)."""

    text: str = ""
    never: tuple[tuple[str, Pattern], ...] = ()
    always: tuple[tuple[str, Pattern], ...] = ()
    secrets: tuple[str, ...] = tuple(DETECTORS)

    @property
    def allowed(self) -> tuple[str, ...]:
        """The kinds of secrets that the file says may be kept."""
        return tuple(kind for kind in DETECTORS if kind not in self.secrets)

    def told_in(self, language: str) -> str:
        """What a model that is asked in that language (``zh``, '' for English) is told: its lines and words alone.

        Where a rule is written in the other language only, it is told as it is.
        """
        chinese = language == CHINESE
        lines = self.text.splitlines()
        prose = [line for line in lines if not _TOLD.match(line)]
        own = [line for line in prose if written_in_cjk(line) is chinese] or prose
        return "\n".join([*own, *(_told_in(line, chinese) for line in lines if _TOLD.match(line))])

    def forbids(self, text: str) -> str | None:
        """The rule because of which `text` may not become a note; None when it may."""
        if REMOVED in text or self.without_secrets(text) != text:
            return "secrets"
        return next((rule for rule, pattern in self.never if pattern.found_in(text, unsure=True)), None)

    def demands(self, sentence: str) -> bool:
        """Whether a sentence has to be kept."""
        return any(pattern.found_in(sentence, unsure=False) for _, pattern in self.always)

    def without_secrets(self, text: str, *, told: str = "") -> str:
        """`text` without the passwords, keys and numbers that are never to be stored, however it repeats them.

        Those of `told` are taken out as well: what answers it may repeat a secret in words that nothing gives away.
        """
        return without(text, self.secrets, told)


def _told_in(line: str, chinese: bool) -> str:
    """An ``always:`` or ``never:`` line with the words of one language; all of them where it has none in it."""
    head, _, words = line.partition(": ")
    items = words.split(", ")
    if head == "never" and chinese and all(item in _SECRETS_ZH for item in items):
        items = [_SECRETS_ZH[item] for item in items]
    own = [item for item in items if written_in_cjk(item) is chinese] or items
    return f"{_HEADS_ZH[head]}：{'、'.join(own)}" if chinese else f"{head}: {', '.join(own)}"


def default_rules() -> str:
    """The rule file that comes with amem."""
    return _DEFAULT.read_text(encoding="utf-8")


def load_rules(home: Path | None) -> Rules:
    """The rules of this home, amem's own where it has no rule file. Raises InvalidInput naming the line at fault."""
    path = None if home is None else home / FILE_NAME
    if path is None or not path.is_file():
        return read_rules(default_rules(), str(_DEFAULT))
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"cannot read the rule file {path}: {error}", hint=_MEND) from error
    return read_rules(text, str(path))


def read_rules(text: str, where: str = FILE_NAME) -> Rules:
    """Rules from the text of a rule file. Raises InvalidInput."""
    told: list[str] = []
    never: list[tuple[str, Pattern]] = []
    always: list[tuple[str, Pattern]] = []
    kept: dict[str, None] = {}
    named: set[str] = set()
    # Comments are blanked, not cut out, so that line numbers stay what an editor shows.
    shown = _COMMENT.sub(lambda match: "\n" * match[0].count("\n"), text)
    for number, line in enumerate(shown.splitlines(), start=1):
        match = _LINE.match(line)
        if match is None:
            told.append(line.strip())
            continue
        if match["allow"]:
            kept |= dict.fromkeys(_allowed(match["items"], where, number))
            continue
        words: list[str] = []
        for item in _ITEM.finditer(match["items"]):
            if item["known"] is not None:
                named.add(_secret(item["known"], bool(match["never"]), where, number))
            elif item["regex"] is not None:
                (never if match["never"] else always).append((item["item"], _regex(item["regex"], where, number)))
            elif word := item["word"].strip(" .。"):
                (never if match["never"] else always).append((word, _word(word)))
                words.append(word)
        if words:
            told.append(f"{'never' if match['never'] else 'always'}: {', '.join(words)}")
    if both := named & kept.keys():
        raise InvalidInput(f"{where}: [{min(both)}] stands after never: and after allow:", hint="take one of them out")
    secrets = tuple(kind for kind in DETECTORS if kind not in kept)
    if secrets:
        told.append(f"never: {', '.join(secrets)}")
    return Rules("\n".join(line for line in told if line), tuple(never), tuple(always), secrets)


def _allowed(items: str, where: str, number: int) -> list[str]:
    """The kinds of secrets that an ``allow:`` line names; nothing else can stand there."""
    found = []
    for item in _ITEM.finditer(items):
        if item["known"] is None:
            raise InvalidInput(
                f"{where}, line {number}: {item['item'].strip()[:_SHOWN]} cannot stand after allow:",
                hint=f"everything else is allowed unless never: names it; after allow: there may be {_KINDS}",
            )
        found.append(_secret(item["known"], True, where, number))
    return found


def _secret(name: str, may_stand: bool, where: str, number: int) -> str:
    known = " ".join(name.casefold().split())
    known = ALSO_CALLED.get(known, known)
    if known not in DETECTORS or not may_stand:
        raise InvalidInput(
            f"{where}, line {number}: [{name}] cannot stand there",
            hint=f"after never: and allow: there may be {_KINDS}",
        )
    return known


def _regex(pattern: str, where: str, number: int) -> Pattern:
    shown = f"/{pattern[:_SHOWN]}/"
    try:
        return Pattern(pattern, f"{shown} ({where}, line {number})")
    except ValueError as error:
        raise InvalidInput(f"{where}, line {number}: {shown} is no regular expression: {error}", hint=_MEND) from error


def _word(word: str) -> Pattern:
    spaced = r"\s+".join(re.escape(part) for part in word.split())
    # Chinese has no spaces to mark where a word begins.
    before = "" if is_cjk(word[0]) else r"(?<!\w)"
    after = "" if is_cjk(word[-1]) else r"(?!\w)"
    return Pattern(f"{before}{spaced}{after}", word)
