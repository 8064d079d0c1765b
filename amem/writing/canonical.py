"""Facts brought into the one form that they are kept in, whoever stated them: rules, a model, or a person."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from amem.text import index_terms, is_cjk, normalize
from amem.truth.subjects import USER, WE, canonical_subject, subject_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from amem.note import Fact, MemoryNote
    from amem.truth.predicates import Predicates

#: The subjects that no note needs to name, and what makes something somebody's.
_KNOWN = f"{USER} {WE} 的"


@dataclass(frozen=True, slots=True)
class Canon:
    """Knows the table of predicates, which is read when the first fact comes, and what the user is called."""

    predicates: Callable[[], Predicates]
    user: str = USER

    def given(self, facts: Iterable[Fact], speaker: str | None) -> list[Fact]:
        """A person's facts: one name for each subject and predicate, none twice, none left out."""
        return list(dict.fromkeys(self._one(fact, speaker) for fact in facts))

    def found(self, facts: Iterable[Fact], note: MemoryNote, sure: Iterable[Fact] = ()) -> list[Fact]:
        """An analyst's facts; what names somebody or something that the note does not name was made up, and is dropped.

        A subject may also be whoever speaks, the user, or "we". Those of `sure` come first and stand in place of others
        of the same subject, predicate and object.
        """
        known_for_sure = self.given(sure, note.speaker)
        settled = {_key(fact) for fact in known_for_sure}
        others = [fact for fact in self.given(facts, note.speaker) if _key(fact) not in settled]
        stated = [*known_for_sure, *others]
        if not stated:
            return []
        told = _words(note.content)
        known = told | _words(f"{note.speaker or ''} {self.user} {_KNOWN}")
        return [fact for fact in stated if _words(fact.subject) <= known and _words(fact.object) <= told]

    def _one(self, fact: Fact, speaker: str | None) -> Fact:
        subject = canonical_subject(fact.subject, speaker=speaker, user=self.user)
        return replace(fact, subject=subject, predicate=self.predicates().canonical(fact.predicate))


def _key(fact: Fact) -> tuple[str, str, str]:
    return subject_key(fact.subject), fact.predicate, normalize(fact.object)


def _words(text: str) -> set[str]:
    """Stems of words, and single Chinese characters: where a word ends there is a matter of taste."""
    return {term for term in index_terms(text) if not is_cjk(term)}.union(filter(is_cjk, text))
