"""What of an extraction may become notes: guards item by item, and secrets found by their shape."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.analysis import Extraction, KnownProcedure, Passage, Procedure, Statement
from amem.analysts.rules.kind_and_context import kind_of
from amem.conversation.grounding import Said
from amem.language import index_terms, query_terms, sentences
from amem.language.scripts import words
from amem.language.word_reading import read
from amem.note import Kind, Message, Role
from amem.rendering import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from amem.conversation.rule_file import Rules


# Passwords, keys and card numbers in what people say: found by their shape, so that they can be left out.

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


# What of an extraction may become notes: the guards of learning from conversations, item by item, with reasons.

_QUOTED = 60
#: A sentence is kept already if the statements from its message hold this share of its words.
_KEPT = 0.6
#: Kinds that sum notes up, which a statement never does.
_SUMS = (Kind.TOPIC,)


@dataclass(frozen=True, slots=True)
class AdmittedProcedure:
    """A procedure with the messages that show it. `why_wait` says why a person should see it before it takes the place
    of the known one that it updates; '' when nothing speaks against that."""

    procedure: Procedure
    messages: tuple[Message, ...]
    why_wait: str = ""


@dataclass(frozen=True, slots=True)
class Admitted:
    """What passed, each with the messages that say so, and in words what did not."""

    summary: str
    statements: tuple[tuple[Statement, tuple[Message, ...]], ...]
    procedures: tuple[AdmittedProcedure, ...]
    dropped: tuple[str, ...]


def admit(extraction: Extraction, passage: Passage, rules: Rules, people: Iterable[str]) -> Admitted:
    """Hold an extraction against the passage it is from and against the rules. `people` names those who speak."""
    said = Said(passage.said, passage.earlier, people)
    dropped = list(extraction.dropped)
    statements = [
        (statement, tuple(_grounds(said.cited(statement.handles))))
        for statement in (*extraction.statements, *_demanded(extraction, passage.said, rules))
        if _passes("statement", statement.text, said.refuses(statement.text, statement.handles), rules, dropped)
    ]
    known = {procedure.handle: procedure for procedure in passage.procedures}
    procedures = []
    for procedure in extraction.procedures:
        why = _against(procedure, said, known)
        if _passes("procedure", _text(procedure), why, rules, dropped, shown=procedure.name):
            messages = tuple(said.cited(procedure.handles))
            procedures.append(AdmittedProcedure(procedure, messages, _why_wait(procedure, said, known)))
    return Admitted(
        _summary(extraction.summary, passage, said, rules, dropped),
        tuple((_plain(statement), messages) for statement, messages in statements),
        tuple(procedures),
        tuple(dropped),
    )


def _passes(
    what: str, text: str, why: str | None, rules: Rules, dropped: list[str], *, shown: str | None = None
) -> bool:
    if not text.strip() or "\x00" in text or any("\ud800" <= character <= "\udfff" for character in text):
        dropped.append(f"a {what} that is no text")
        return False
    rule = rules.forbids(text)
    if rule is not None:
        # Without its words: the sentence goes into receipts and logs.
        dropped.append(f"a {what}: the rules never keep {rule}")
    elif why is not None:
        dropped.append(f"the {what} “{one_line(text if shown is None else shown, _QUOTED)}”: {why}")
    return rule is None and why is None


def _against(procedure: Procedure, said: Said, known: dict[str, KnownProcedure]) -> str | None:
    older = None if procedure.updates is None else known.get(procedure.updates)
    if procedure.updates is not None and older is None:
        return f"no procedure {procedure.updates!r} was shown"
    before = "" if older is None else "\n".join((older.name, older.trigger, *older.steps))
    return said.refuses(_text(procedure), procedure.handles, known=before, all_roles=True)


def _why_wait(procedure: Procedure, said: Said, known: dict[str, KnownProcedure]) -> str:
    """A new step that no person told: how something is done here is not for an assistant to change."""
    older = None if procedure.updates is None else known.get(procedure.updates)
    if older is None:
        return ""
    new = [step for step in procedure.steps if step not in older.steps]
    untold = next((step for step in new if said.refuses(step, procedure.handles, orders=True) is not None), None)
    return "" if untold is None else f"nobody but the assistant told the step “{one_line(untold, _QUOTED)}”"


def _summary(text: str, passage: Passage, said: Said, rules: Rules, dropped: list[str]) -> str:
    """The model's summary if it keeps to what was said, by whomever, else nothing."""
    summary = " ".join(text.split())
    if not summary:
        return ""
    everything = "\n".join(f"{message.speaker or ''}: {message.content}" for message in passage.said)
    handles = [f"m{number}" for number in range(1, len(passage.said) + 1)]
    alone = not any(message.role is Role.USER for message in passage.said)
    why = None if alone else said.refuses(summary, handles, known=everything, all_roles=True)
    return summary if _passes("summary", summary, why, rules, dropped) else ""


def _demanded(extraction: Extraction, said: Sequence[Message], rules: Rules) -> list[Statement]:
    """Sentences of people's that the rules say are always kept and that the model left out."""
    if not rules.always:
        return []
    found = []
    for number, message in enumerate(said, start=1):
        handle = f"m{number}"
        if message.role is not Role.USER:
            continue
        # Together: a model may well make two statements of one sentence.
        kept = {term for each in extraction.statements if handle in each.handles for term in index_terms(each.text)}
        for sentence in sentences(message.content):
            kind = kind_of(read(sentence))
            terms = query_terms(sentence)
            if kind is Kind.QUESTION or not rules.demands(sentence):
                continue
            if sum(term in kept for term in terms) < _KEPT * len(terms):
                found.append(Statement(sentence, Kind.FACT if kind is Kind.CHITCHAT else kind, (handle,)))
    return found


def _grounds(cited: Sequence[Message]) -> Iterable[Message]:
    """The messages a statement came from: people's own, since what they state counts as theirs."""
    return [message for message in cited if message.role is Role.USER]


def _plain(statement: Statement) -> Statement:
    text = statement.text.strip()
    return Statement(text, Kind.FACT if statement.kind in _SUMS else statement.kind, statement.handles)


def _text(procedure: Procedure) -> str:
    return "\n".join((procedure.name, procedure.trigger, *procedure.steps))
