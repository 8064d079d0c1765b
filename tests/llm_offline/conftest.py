"""A vocabulary that counts the notes it was given, and an analyst."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest

from amem.analysis import Draft
from amem.analysts.rules import OfflineAnalyst
from amem.language import index_terms
from amem.language.predicates import load_predicates
from amem.language.statements import facts_in

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from amem.note import Fact


class CountedVocabulary:
    """The `Vocabulary` of a handful of notes held in memory."""

    def __init__(self, contents: Sequence[str] = (), tags: Mapping[str, int] | None = None) -> None:
        self.total = len(contents)
        self._held = Counter(term for content in contents for term in set(index_terms(content)))
        self._tags = dict(tags or {})

    def document_frequency(self, terms: Sequence[str]) -> Mapping[str, int]:
        return {term: self._held[term] for term in terms}

    def tags(self) -> Mapping[str, int]:
        return self._tags


@pytest.fixture
def analyst() -> OfflineAnalyst:
    return OfflineAnalyst()


@pytest.fixture
def empty() -> CountedVocabulary:
    return CountedVocabulary()


@pytest.fixture
def vocabulary() -> type[CountedVocabulary]:
    return CountedVocabulary


#: When the notes of the tests of facts were said: a Monday in June.
SAID = datetime(2026, 6, 15, 9, 30, tzinfo=ZoneInfo("Europe/Lisbon"))


def written(fact: Fact) -> str:
    """A fact as a line: "user lives_in Lisbon", "not user lives_in Lisbon", with its times behind it."""
    line = f"{'' if fact.holds else 'not '}{fact.subject} {fact.predicate} {fact.object}".rstrip()
    since = "" if fact.valid_from is None else f" since {fact.valid_from.date()}"
    return line + since + ("" if fact.valid_to is None else f" until {fact.valid_to.date()}")


@pytest.fixture(scope="session")
def stated() -> Callable[..., list[str]]:
    """The facts of a text, each as a line."""
    table = load_predicates()

    def facts(text: str, speaker: str | None = None, said: datetime | None = SAID) -> list[str]:
        return [written(fact) for fact in facts_in(Draft(text, said, speaker), table)]

    return facts
