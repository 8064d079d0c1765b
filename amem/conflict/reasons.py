"""Why two notes do not go together, in words, in the language of the later one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.language import written_in_cjk

if TYPE_CHECKING:
    from amem.language.predicates import Predicates
    from amem.note import Fact

_SHOWN = 80


def replaced(old: Fact, new: Fact, text: str, predicates: Predicates) -> str:
    """One value has taken another's place."""
    wording = _in_language_of(text, "'{new}' replaces '{old}'", "后来是“{new}”，不再是“{old}”")
    return wording.format(**_said(text, predicates, old=old, new=new))


def ended(old: Fact, text: str, predicates: Predicates) -> str:
    """Something is said not to be so any more."""
    wording = _in_language_of(text, "'{old}' is no longer so", "“{old}”已不再成立")
    return wording.format(**_said(text, predicates, old=old))


def resumed(new: Fact, text: str, predicates: Predicates) -> str:
    """Something that had ended is so again."""
    wording = _in_language_of(text, "'{new}' is so again", "“{new}”又成立了")
    return wording.format(**_said(text, predicates, new=new))


def differing(old: Fact, new: Fact, text: str, predicates: Predicates) -> str:
    """Two values of one thing, and nothing says which of them holds."""
    wording = _in_language_of(text, "'{new}' and '{old}' cannot both be so", "“{new}”与“{old}”说法不一")
    return wording.format(**_said(text, predicates, old=old, new=new))


def unclear(told: Fact, said: Fact, text: str, predicates: Predicates) -> str:
    """A change of long ago was told of after the other was said of no time, and nothing says which of them holds."""
    if told.holds:
        english = "it was told after '{said}' that '{told}' came about long before: nobody said which is so now"
        chinese = "先说“{said}”，后来才说早已是“{told}”：没有人说现在是哪一个"
    else:
        english = "it was told after '{said}' that this had ended long before: nobody said which is so now"
        chinese = "先说“{said}”，后来才说这早已结束：没有人说现在是哪一个"
    return _in_language_of(text, english, chinese).format(**_said(text, predicates, told=told, said=said))


def turned(old: str, new: str, text: str) -> str:
    """The later text says the opposite."""
    wording = _in_language_of(text, "'{new}' is the opposite of '{old}'", "“{new}”与“{old}”相反")
    return wording.format(old=cut(old), new=cut(new))


def another(old: str, new: str, text: str) -> str:
    """The later text gives another value."""
    wording = _in_language_of(text, "'{new}' where it was '{old}'", "后来是“{new}”，先前是“{old}”")
    return wording.format(old=cut(old), new=cut(new))


def again(text: str) -> str:
    """The later text says the same."""
    return _in_language_of(text, "it says the same", "说的是同一件事")


def cut(text: str) -> str:
    """`text` on one line, shortened to what a reason has room for."""
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1].rstrip() + "…"


def quoted(statement: str) -> str:
    """The words by which a reason quotes a statement, as far as it has room for them."""
    return cut(statement).rstrip(" .!?;,…。！？；，")


def _in_language_of(text: str, english: str, chinese: str) -> str:
    return chinese if written_in_cjk(text) else english


def _said(text: str, predicates: Predicates, **facts: Fact) -> dict[str, str]:
    """Each fact in words, in the language of the text."""
    chinese = written_in_cjk(text)
    return {name: cut(predicates.phrase(fact.predicate, fact.object, chinese=chinese)) for name, fact in facts.items()}
