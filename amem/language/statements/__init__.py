"""Facts by rules: what a note states as subject, predicate and object, in English and Chinese. Precision first."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from amem.language import is_cjk
from amem.language.lexicon import is_everyday, is_person, lexicon
from amem.language.scripts import Patterns, read_list, word_list
from amem.language.statements import chinese, english
from amem.language.statements.clauses import Cast, stated
from amem.language.statements.objects import fits
from amem.language.statements.tense import Scene, with_its_times

__all__ = ["facts_in"]

if TYPE_CHECKING:
    from amem.analysis import Draft
    from amem.language.predicates import Predicates
    from amem.language.statements.clauses import Sentence
    from amem.note import Fact

_pattern = Patterns("statements")


#: More than this nobody states in one note; a pasted list of people would.
_MOST = 24


def facts_in(draft: Draft, predicates: Predicates) -> tuple[Fact, ...]:
    """What the note states, in order, each once, at most 24; in doubt nothing."""
    text = draft.content
    lower, dwelling = not any(mark.isupper() for mark in text), _pattern.dwelling.search(text) is not None
    scene = Scene(Cast(draft.speaker, predicates), draft.at, predicates, lower=lower, dwelling=dwelling)
    scene.settled, scene.working = _pattern.settled.search(text) is not None, _pattern.working.search(text) is not None
    found: dict[Fact, None] = {}
    plain = _labels_written_out(_allergies_written_out(_treatments_written_out(_written_out(text))), predicates)
    mine: Scene | None = scene
    speaks = False
    for sentence in stated(plain):
        if sentence.who is not None or not sentence.goes_on:
            mine = _scene_of(sentence, scene)
            speaks = _speaks(sentence)
        elif mine is not None and not speaks:
            mine = scene
        if mine is None:
            continue
        read = chinese.facts_of_sentence if sentence.chinese else english.facts_of_sentence
        whole = ", ".join(clause.text for clause in sentence.clauses)
        for fact in (each for each in read(sentence, mine) if fits(each, predicates)):
            row = predicates.row(fact.predicate)
            found.setdefault(with_its_times(fact, whole, draft.at, row.lasts))
            if row.ends and fact.holds:
                found.setdefault(replace(fact, predicate=row.ends, object="", holds=False))
        if len(found) >= _MOST:
            break
    return tuple(found)[:_MOST]


def _labels_written_out(text: str, predicates: Predicates) -> str:
    """The text with labels as statements: "Landlord: Pedro" as "my landlord is Pedro", 电话：138… as 我的电话是138….

    So are "Got a new boss, Lena" and 换了新老板，叫周敏; "Larder: SQLite" is "Larder uses SQLite".
    """
    if ":" in text or "：" in text:
        text = _pattern.with_names("labelled", _personal(predicates)).sub(_statement, text)
        text = _pattern.of_project.sub(lambda found: _uses(found, predicates), text)
    for word, name in (("ew ", "new_one"), ("ed ", "switched_to"), ("新", "new_one_zh")):
        text = _pattern.with_names(name, predicates.persons).sub(_statement, text) if word in text else text
    return _SERVED.sub(_served, text)


#: What is put in other words first: "Ewan and I are together now" as "my partner is Ewan".
_REWRITES: defaultdict[tuple[str, ...], list[tuple[re.Pattern[str], str]]] = defaultdict(list)
for _needles, _line in read_list("rewrites.txt"):
    _rewritten, _said = _line.split("  ")
    _REWRITES[(*_needles.split("/"),)].append((re.compile(_rewritten), _said))


def _written_out(text: str) -> str:
    folded = text.casefold()
    for needles, rows in _REWRITES.items():
        if any(each in folded for each in needles):
            for pattern, said in rows:
                text = pattern.sub(said, text)
    return text


def _uses(found: re.Match[str], predicates: Predicates) -> str:
    name, tool = found["name"], found["tool"]
    plain = name in lexicon().chinese if is_cjk(name[0]) else is_everyday(name) or is_person(name)
    if plain or predicates.is_technology(name) or not predicates.is_technology(tool):
        return found[0]
    return f"{found['before']}{name}用{tool}" if is_cjk(name[0]) else f"{found['before']}{name} uses {tool}"


#: What somebody does for one, and what he or she is by it: "Mila trains me now", 现在由小李带我训练.
_SERVES = dict(line.split("  ", 1) for _, line in read_list("services.txt"))
_DOES = "|".join(f"(?P<{role}>{does})" for role, does in _SERVES.items())
_SERVED = re.compile(_pattern.text("served").replace("_names_", _DOES))


def _served(found: re.Match[str]) -> str:
    """ "Mila trains me" as "my trainer is Mila", 由小李带我训练 as 我的教练是小李."""
    role = next(role for role in _SERVES if found[role])
    if is_cjk(role[0]):
        return f"{found['before']}我的{role}{'不再是' if found['not'] else '是'}{found['who']}"
    return f"{found['before']}{found['who']} is {'no longer ' if found['not'] else ''}my {role}"


@lru_cache(maxsize=8)
def _personal(predicates: Predicates) -> tuple[str, ...]:
    """The names of what everybody has of their own: landlord, phone, 电话."""
    personal = {row.name for row in predicates.rows.values() if row.personal and row.value != "none"}
    names = {name for name, of in predicates.names.items() if of in personal}
    return tuple(sorted(names, key=lambda name: (-len(name), name)))


def _statement(found: re.Match[str]) -> str:
    name = found["name"]
    if is_cjk(name[0]):
        return f"{found['before']}我的{name}是"
    return f"{found['before']}{found['whose'] + chr(39) + 's' if found['whose'] else 'My'} {name.casefold()} is "


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


def _speaks(sentence: Sentence) -> bool:
    """Whether the label before a sentence is sure to be who says it, and the rest of its line."""
    if sentence.who is None:
        return False
    first = sentence.who.split()[0]
    return is_cjk(first) or is_person(first) or any(_pattern.first.search(clause.text) for clause in sentence.clauses)


def _names_somebody(label: str) -> bool:
    """Whether what stands before a colon names who speaks: not "Update", not 决定."""
    first = label.split()[0]
    if is_cjk(first):
        return _pattern.speaker_zh.fullmatch(first) is not None and first not in lexicon().chinese
    return is_person(first) or (first[0].isupper() and not is_everyday(first))


#: One of these stands in whatever it matches; to look for them takes a tenth of the time.
_DOCTORS = word_list("who treats")


def _treatments_written_out(text: str) -> str:
    """A text with what a doctor put somebody on as statements, and with the results of a list of tests."""
    folded = text.casefold()
    text = _pattern.retest.sub(_results, text) if "test" in folded else text
    return _pattern.treated.sub(_taken, text) if any(each in folded for each in _DOCTORS) else text


def _taken(found: re.Match[str]) -> str:
    whom = (found["whom"] or found["whom2"] or "me").casefold()
    who = {"me": "I", "him": "he", "her": "she", "them": "they"}.get(whom, found["whom"])
    if found["whose"] and whom != "me":
        who = found["whose"] if who in ("he", "she", "they") else who
    elif found["whose"] and not (found["whom"] or found["whom2"]):
        who = found["whose"]
    was = "were" if who == "they" else "was"
    did = found["given"] or found["did"].casefold().replace("started", "put")
    return f"{found['before']}{who} {was} {did} "


def _results(found: re.Match[str]) -> str:
    """The results of a test of allergies as statements; as it stands what has others in it, too."""
    parts = [part.strip() for part in _pattern.commas.split(found["list"]) if part.strip()]
    results = [each for part in parts if (each := _pattern.result.fullmatch(part.removeprefix("but ")))]
    of_allergies = found["sort"] or any("outgrown" in each[0].casefold() for each in results)
    if not of_allergies or len(results) < len(parts):
        return found[0]
    who = _who(found)
    said = [f"{who} {'no longer ' if each['over'] else ''}allergic to {each['o']}" for each in results]
    return found["before"] + ". ".join(said)


def _who(found: re.Match[str]) -> str:
    return f"{found['whose']} is" if found["whose"] else "I am"


# Lists of allergies as people jot them down: "Allergies: latex, nuts".


def _allergies_written_out(text: str) -> str:
    """A text with its lists of allergies as statements."""
    return _pattern.label.sub(_allergy_statement, text) if ":" in text or "：" in text else text


def _allergy_statement(found: re.Match[str]) -> str:
    listed = [each for part in _pattern.commas.split(found["list"]) if (each := part.strip())]
    return f"{found['before']}{_who(found)} allergic to {', to '.join(listed)}"
