"""Why two notes do not go together, in words, in the language of the later one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.text import written_in_cjk

if TYPE_CHECKING:
    from amem.note import Fact
    from amem.truth.predicates import Predicates

_SHOWN = 80


def replaced(old: Fact, new: Fact, text: str, predicates: Predicates) -> str:
    """One value has taken another's place."""
    if written_in_cjk(text):
        return f"后来是“{_said(new, predicates, chinese=True)}”，不再是“{_said(old, predicates, chinese=True)}”"
    return f"'{_said(new, predicates)}' replaces '{_said(old, predicates)}'"


def ended(old: Fact, text: str, predicates: Predicates) -> str:
    """Something is said not to be so any more."""
    if written_in_cjk(text):
        return f"“{_said(old, predicates, chinese=True)}”已不再成立"
    return f"'{_said(old, predicates)}' is no longer so"


def resumed(new: Fact, text: str, predicates: Predicates) -> str:
    """Something that had ended is so again."""
    if written_in_cjk(text):
        return f"“{_said(new, predicates, chinese=True)}”又成立了"
    return f"'{_said(new, predicates)}' is so again"


def differing(old: Fact, new: Fact, text: str, predicates: Predicates) -> str:
    """Two values of one thing, and nothing says which of them holds."""
    if written_in_cjk(text):
        return f"“{_said(new, predicates, chinese=True)}”与“{_said(old, predicates, chinese=True)}”说法不一"
    return f"'{_said(new, predicates)}' and '{_said(old, predicates)}' cannot both be so"


def turned(old: str, new: str, text: str) -> str:
    """The later text says the opposite."""
    if written_in_cjk(text):
        return f"“{cut(new)}”与“{cut(old)}”相反"
    return f"'{cut(new)}' is the opposite of '{cut(old)}'"


def another(old: str, new: str, text: str) -> str:
    """The later text gives another value."""
    if written_in_cjk(text):
        return f"后来是“{cut(new)}”，先前是“{cut(old)}”"
    return f"'{cut(new)}' where it was '{cut(old)}'"


def again(text: str) -> str:
    """The later text says the same."""
    return "说的是同一件事" if written_in_cjk(text) else "it says the same"


def cut(text: str) -> str:
    """`text` on one line, shortened to what a reason has room for."""
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1].rstrip() + "…"


def _said(fact: Fact, predicates: Predicates, *, chinese: bool = False) -> str:
    return cut(predicates.phrase(fact.predicate, fact.object, chinese=chinese))
