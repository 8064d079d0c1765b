"""Passwords, keys and card numbers in what people say: found by their shape, so that they can be left out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from amem.text.stopwords import words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Stands where a secret stood.
REMOVED = "[secret removed]"

_KEY = re.compile(
    r"\b(?:sk|pk|rk)[-_](?:[A-Za-z]+[-_])*[A-Za-z0-9_-]{16,}|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{20,}"
    r"|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}|\bxox[abeprs]-[\w-]{10,}|\bAIza[\w-]{30,}|\bhf_[A-Za-z0-9]{20,}"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
    re.DOTALL,
)
# No two runs of spaces meet in these: a page of blanks would take minutes to be shared out between them.
_NAMED_KEY = re.compile(
    r"(?:\b(?:api[ _-]?key|access[ _-]?(?:key|token)|auth[ _-]?token|secret[ _-]?key|bearer|token)\b|密钥|令牌)"
    r"(?:\s+(?:is|was|to)\b)?\s*(?:[=:：是为]\s*)?[\"'“‘`]?(?P<secret>(?=[^\s\"'”’`]{0,512}\d)[A-Za-z0-9_\-./+=]{12,})",
    re.IGNORECASE,
)
_PASSWORD = re.compile(
    r"(?:\b(?:pass ?word|pass ?code|pass ?phrase|passwd|pwd|pin(?: code| number)?)\b"
    r"(?:\s+(?:for|to|of|on)\s[^.,;:\n]{1,40}?)?\s*(?:\bis\b|\bwas\b|\bto\b|[=:：])\s*(?:\bnow\b\s*)?"
    r"|(?:密码|密碼|口令|验证码)\s*(?:就?是|为|改成了?|改为|设为|设成|[=:：])\s*)"
    r"[\"'“‘`「]?(?P<secret>[^\s\"'”’`」，。；！？、]+)",
    re.IGNORECASE,
)
# In one piece or in the groups that stand on cards: a row of small numbers is none, whatever its digits add up to.
_CARD = re.compile(
    r"(?<![\d.-])(?:\d{13,19}|\d{4}(?:[ -]\d{4}){2,3}(?:[ -]\d{1,4})?|\d{4}[ -]\d{6}[ -]\d{4,5})(?![\d.-]*\d)"
)
#: What is shorter stands in other places for something else.
_TELLING = 4
#: After "the password is" these are no password.
_SAYS_OF_IT = words(
    """
    a an the my our your his her their its it this that not no too very so also still always never only just now same
    wrong right correct incorrect weak strong long short old new safe secure insecure simple easy hard expired required
    missing needed stored saved kept written in on at by with hidden changed reset gone lost forgotten unknown empty
    default case-sensitive what something somewhere being going please
    """
)


def _api_keys(text: str) -> Iterator[tuple[int, int]]:
    for match in _KEY.finditer(text):
        yield match.span()
    for match in _NAMED_KEY.finditer(text):
        yield match.span("secret")


def _passwords(text: str) -> Iterator[tuple[int, int]]:
    for match in _PASSWORD.finditer(text):
        start, end = match.span("secret")
        word = text[start:end].rstrip(".,;:!?)")
        plain = word.isalpha() and word.isascii()
        if not word or word.casefold() in _SAYS_OF_IT:
            continue
        # A bare word is a password where the sentence ends with it; in the middle it is more likely a description.
        if plain and text[start + len(word) :].lstrip()[:1] not in ("", ".", ",", "!", "\n", '"', "'", "”", "`"):
            continue
        if not word.isascii() and not any(character.isdigit() for character in word):
            continue
        yield start, start + len(word)


def _card_numbers(text: str) -> Iterator[tuple[int, int]]:
    for match in _CARD.finditer(text):
        digits = [int(character) for character in match[0] if character.isdigit()]
        doubled = [digit if place % 2 == 0 else sum(divmod(2 * digit, 10)) for place, digit in enumerate(digits[::-1])]
        # The check digit of ISO/IEC 7812 tells card numbers from long numbers of other sorts.
        if sum(doubled) % 10 == 0 and len(set(digits)) > 1:
            yield match.span()


#: By what the rule file calls them in square brackets.
DETECTORS: dict[str, Callable[[str], Iterator[tuple[int, int]]]] = {
    "api keys": _api_keys,
    "passwords": _passwords,
    "card numbers": _card_numbers,
}
#: What a Chinese rule file may call them.
ALSO_CALLED = {"密钥": "api keys", "密码": "passwords", "卡号": "card numbers"}


def without(text: str, detectors: tuple[str, ...], told: str = "") -> str:
    """`text` with what these detectors find, in it or in `told`, replaced by `REMOVED` wherever it is repeated."""
    spans = [span for name in detectors for span in DETECTORS[name](text)]
    secrets = {text[start:end] for start, end in spans}
    secrets |= {told[start:end] for name in detectors for start, end in DETECTORS[name](told)}
    # The longest first: one secret may be the beginning of another.
    again = sorted((each for each in secrets if len(each) >= _TELLING), key=lambda each: (-len(each), each))
    if again:
        either = "|".join(map(re.escape, again))
        repeated = re.finditer(rf"(?<![A-Za-z0-9])(?:{either})(?![A-Za-z0-9])", text, re.IGNORECASE)
        spans += [match.span() for match in repeated]
    kept, at = [], 0
    for start, end in sorted(spans):
        if start >= at:
            kept += [text[at:start], REMOVED]
        at = max(at, end)
    return "".join([*kept, text[at:]])
