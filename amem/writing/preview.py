"""What a text would overturn if it were added, and what is open among the notes that are there. Nothing is written."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from amem.conflict.candidates import as_rival, cosines_to, nearest
from amem.conflict.settling import ONLY_A_PART, RULES, Settler
from amem.note import Conflict, Label, LinkType, Scope, Verdict
from amem.writing.batch import FrequencyCache, StoreVocabulary
from amem.writing.fields import Canon, draft_of, fill_in
from amem.writing.intake import NewNote, take_in

if TYPE_CHECKING:
    from datetime import datetime

    from amem.collection import Collection
    from amem.protocols import Analyst
    from amem.storage.store import Session

#: Whatever is tried arrives after all that is there.
_LAST = sys.maxsize

_UNSURE = "it was not sure enough"
_PROPOSED = "it was proposed, and waits for a person"


def try_out(
    text: str,
    time: str | datetime | None,
    speaker: str | None,
    scope: Scope,
    *,
    collection: Collection,
    settler: Settler,
    rules: Analyst,
    canon: Canon,
) -> list[Conflict]:
    """The conflicts that adding the text would bring about, the surest first; it stands for the side whose id is ''."""
    store, dense, vectorizer = collection.store, collection.dense, collection.vectorizer
    settings, clock = collection.settings, collection.clock
    given: dict[str, Any] = {"metadata": scope.ids} | ({} if speaker is None else {"speaker": speaker})
    note = take_in(NewNote(text, time, None, given), actor="user", settings=settings, clock=clock).note
    local = collection.zone
    analysis = rules.analyze(draft_of(note, local), StoreVocabulary(store, FrequencyCache(), scope))
    fill_in(note, analysis, {"speaker"} if speaker else set(), local, canon)
    note.id = ""
    vectors, _ = vectorizer.embed([vectorizer.text(note)])
    vector = next(iter(vectors.values()))
    dense.refresh()
    with store.read() as session:
        near = nearest(session, dense, vector, settings.conflict_neighbours, Scope.of(note.metadata))
        rivals = settler.rivals(session, note, near, cosines_to(dense, vector))
        weighed = settler.weigher.weigh(session, as_rival(session, _LAST, note, {}), rivals)
    found = [each.conflict for each in weighed]
    return sorted(found, key=lambda each: (not each.hides, -each.verdict.confidence))


def open_conflicts(session: Session, least: float) -> list[Conflict]:
    """Pairs of active notes linked as in conflict that nobody has decided on, the newest first.

    From the confidence `least` on a note is hidden, unless only a part of it is out of date, as rules see it, or a
    model's proposal waits for a person.
    """
    found = []
    for link in session.flags.open_disagreements():
        waits, whole = "", True
        if link.type is LinkType.SUPERSEDES:
            sure = link.confidence >= least
            whole = not (sure and link.made_by == RULES)
            waits = _UNSURE if not sure else _PROPOSED if whole else ONLY_A_PART
        verdict = Verdict(Label(link.type), link.confidence, link.reason, link.made_by, whole)
        found.append(Conflict(link.target, link.source, verdict, 0.0, False, waits))
    return found
