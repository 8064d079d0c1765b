"""The facts of a note, sentence by sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.llm.offline.facts import chinese, english
from amem.llm.offline.facts.clauses import Clause, Sentence, stated
from amem.llm.offline.facts.objects import is_everyday
from amem.llm.offline.facts.people import Cast
from amem.llm.offline.facts.scene import Scene
from amem.llm.offline.lexicon import is_person, lexicon
from amem.text import is_cjk, normalize

if TYPE_CHECKING:
    from amem.analysis import Draft
    from amem.note import Fact
    from amem.truth.predicates import Predicates

#: More than this nobody states in one note; a pasted list of people would.
_MOST = 24
_LONGEST_NAME = 4


def facts_in(draft: Draft, predicates: Predicates) -> tuple[Fact, ...]:
    """What the note states, in order, each once, at most 24; in doubt nothing."""
    text = draft.content
    scene = Scene(Cast(draft.speaker, predicates), draft.at, predicates, lower=not any(mark.isupper() for mark in text))
    found: dict[Fact, None] = {}
    for sentence in (_labelled(each, predicates) for each in stated(text)):
        mine = _scene_of(sentence, scene)
        if mine is None:
            continue
        read = chinese.facts_of_sentence if sentence.chinese else english.facts_of_sentence
        for fact in read(sentence, mine):
            found.setdefault(fact)
        if len(found) >= _MOST:
            break
    return tuple(found)[:_MOST]


def _labelled(sentence: Sentence, predicates: Predicates) -> Sentence:
    """ "Landlord: Pedro Costa" and 电话：138…… as "my landlord is Pedro Costa"; any other sentence as it is."""
    label = (sentence.who or "").strip()
    row = predicates.rows.get(predicates.names.get(normalize(label), "")) if label else None
    if row is None or not row.personal or row.value == "none":
        return sentence
    first, *rest = sentence.clauses
    said = f"我的{label}是{first.text}" if is_cjk(label[0]) else f"my {label.casefold()} is {first.text}"
    return Sentence((Clause(said, ""), *rest), is_cjk(label[0]), None)


def _scene_of(sentence: Sentence, scene: Scene) -> Scene | None:
    """The scene, with another speaker where a pasted talk names one ("Ana: I moved"); None for an assistant's line."""
    if sentence.who is None:
        return scene
    folded = sentence.who.casefold()
    if folded in ("assistant", "ai", "bot", "system", "助手", "系统"):
        return None
    if _names_somebody(sentence.who):
        return Scene(Cast(sentence.who, scene.predicates), scene.said, scene.predicates, lower=scene.lower)
    return scene


def _names_somebody(label: str) -> bool:
    """Whether what stands before a colon names who speaks: not "Update", not 决定."""
    first = label.split()[0]
    if is_cjk(first):
        return len(first) <= _LONGEST_NAME and first not in lexicon().chinese
    return is_person(first) or (first[0].isupper() and not is_everyday(first))
