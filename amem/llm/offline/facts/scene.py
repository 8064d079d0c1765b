"""What is known while a note is read clause by clause: who is about, what it was about last, when it was said."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from amem.llm.offline.facts.shapes import Aspect, Form, english
from amem.llm.offline.facts.telling import Tense

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from amem.llm.offline.facts.people import Cast, Subject
    from amem.llm.offline.facts.when import Times
    from amem.note import Fact
    from amem.truth.predicates import Predicate, Predicates


@dataclass(slots=True)
class Scene:
    """The state of one reading.

    `lower` says that the note has no capitals; `lead` is a time that opened the sentence.
    """

    cast: Cast
    said: datetime | None
    predicates: Predicates
    lower: bool = False
    subject: Subject | None = None
    lead: Times | None = None
    decided: bool = False
    """Whether the sentence says that it is a decision."""
    opening: bool = False
    """Whether the clause opens its sentence."""
    be: Tense = Tense.NONE
    """The tense of "be" in the clause before."""
    replaced: str = ""
    """What has been changed, by the clause before (妈妈换手机号了)."""
    leaving: str = ""
    """Who is about to go, by the clause before ("Pieter is leaving")."""
    broken: str = ""
    """The thing that no longer works, by the clause before (旧手机坏了)."""
    about: str = ""
    """The thing that the sentence is limited to ("in the mobile app")."""

    def begin_sentence(self) -> None:
        """Forget what held for one sentence only."""
        self.subject, self.lead, self.be, self.about, self.replaced = None, None, Tense.NONE, "", ""
        self.broken = ""

    def own(self, found: list[Fact], subject: Subject) -> list[Fact]:
        """The facts of a clause that began with "we": what is personal, such as a home, is the speaker's."""
        if not subject.we:
            return found
        rows, me = self.predicates.rows, self.cast.me.name
        return [replace(each, subject=me) if _is_personal(rows.get(each.predicate)) else each for each in found]

    def elliptic(self, word: str) -> Subject | None:
        """Who is meant by "Moved to Lisbon last week": whoever writes a diary so, but nobody by "Use tabs"."""
        table, folded = english(), word.casefold()
        forms = table.forms.get(folded, frozenset())
        past = Form.PAST in forms and Form.BASE not in forms
        telling = any(shape.aspect is not Aspect.STATE for shape in table.shapes.get(folded, ()))
        if not (self.opening and past and telling):
            return None
        self.subject = self.cast.me
        return self.subject

    def note_mention(self, listed: Sequence[str]) -> None:
        """A clause without a verb that is known: whoever opens it may be who the next one is about."""
        length = next((at for at, word in enumerate(listed) if not word[0].isupper()), len(listed))
        self.subject = self.cast.of(listed[: min(length, 3)]) if length else None


def _is_personal(row: Predicate | None) -> bool:
    return row is not None and row.personal
