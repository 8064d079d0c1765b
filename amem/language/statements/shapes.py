"""The shapes in which clauses state facts, read once from the two tables among the word lists."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from enum import Enum, StrEnum
from functools import cache
from typing import TYPE_CHECKING

from amem.language.word_lists import read_list

if TYPE_CHECKING:
    from collections.abc import Mapping


class Aspect(StrEnum):
    """What a verb does to a fact when it is told of."""

    STATE = "state"
    BEGIN = "begin"
    END = "end"


class Form(Enum):
    """A form of a verb; ADJECTIVE stands behind a form of "be"."""

    BASE = "base"
    THIRD = "third person"
    PAST = "past"
    PARTICIPLE = "participle"
    GERUND = "gerund"
    ADJECTIVE = "adjective"


@dataclass(frozen=True, slots=True)
class Shape:
    """One line of a table. `after` says what has to stand before the verb: "be" and a participle, "is" an adjective.

    `kind` says how the object is cut out of the tail, `people` that nobody but somebody can be the subject.
    """

    predicate: str
    aspect: Aspect
    kind: str
    tail: str
    after: str = ""
    people: bool = False

    def match(self, text: str, at: int = 0) -> re.Match[str] | None:
        """What stands at that place, if the shape fits there."""
        return _compiled(self.tail).match(text, at)


@dataclass(frozen=True, slots=True)
class English:
    """The forms that a word may be, and the shapes that it may be the verb of, in their order."""

    forms: Mapping[str, frozenset[Form]]
    shapes: Mapping[str, tuple[Shape, ...]]


#: Compiled when first looked for: a note needs a few of them.
_compiled = cache(lambda tail: re.compile(tail, re.IGNORECASE))


@cache
def english() -> English:
    """The table for English."""
    forms: defaultdict[str, set[Form]] = defaultdict(set)
    spellings: defaultdict[str, set[str]] = defaultdict(set)
    shapes: defaultdict[str, list[Shape]] = defaultdict(list)
    adjectives: set[str] = set()
    for section, line in read_list("words/facts_english.txt"):
        if section == "verbs":
            listed = line.split()
            for word, form in zip(listed, tuple(Form)[:5], strict=True):
                forms[word].add(form)
                spellings[listed[0]].add(word)
        elif section == "adjectives":
            adjectives.update(line.split())
            for word in line.split():
                forms[word].add(Form.ADJECTIVE)
        else:
            aspect, kind, subject, verbs, tail = _columns(line, 5)
            for verb in verbs.split(","):
                after = "be" if "passive" in subject else "is" if verb in adjectives else ""
                shape = Shape(section, Aspect(aspect), kind, tail, after, people="person" in subject)
                for word in [verb] if after == "is" else spellings[verb]:
                    shapes[word].append(shape)
    return English(
        {word: frozenset(each) for word, each in forms.items()}, {word: tuple(each) for word, each in shapes.items()}
    )


@cache
def chinese() -> Mapping[str, tuple[Shape, ...]]:
    """The table for Chinese: shapes by the character they begin with, in their order."""
    found: defaultdict[str, list[Shape]] = defaultdict(list)
    for section, line in read_list("words/facts_chinese.txt"):
        aspect, kind, heads, tail = _columns(line, 4)
        for head in dict.fromkeys(heads):
            found[head].append(Shape(section, Aspect(aspect), kind, tail))
    return {head: tuple(shapes) for head, shapes in found.items()}


def _columns(line: str, count: int) -> list[str]:
    columns = re.split(r" {2,}", line, maxsplit=count - 1)
    return columns + [""] * (count - len(columns))
