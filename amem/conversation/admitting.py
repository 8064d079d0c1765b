"""What of an extraction may become notes: the guards of learning from conversations, item by item, with reasons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.analysis import Procedure, Statement
from amem.conversation.stated import Said
from amem.llm.offline.kinds import kind_of
from amem.llm.offline.reading import read
from amem.message import Role
from amem.note import Kind
from amem.text import index_terms, query_terms, sentences

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from amem.analysis import Extraction, KnownProcedure, Passage
    from amem.conversation.rules import Rules
    from amem.message import Message

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
        dropped.append(f"the {what} “{_short(text if shown is None else shown)}”: {why}")
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
    return "" if untold is None else f"nobody but the assistant told the step “{_short(untold)}”"


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


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _QUOTED else line[: _QUOTED - 1].rstrip() + "…"
