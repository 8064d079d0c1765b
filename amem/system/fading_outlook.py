"""How well a note is remembered, and what forgetting would do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.clock import parse_time, zone
from amem.errors import NoteNotFound
from amem.maintenance.forgetting_preview import foresee, look_ahead
from amem.system.wiring import Wiring

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from amem.maintenance.forgetting_preview import FadePreview, Outlook
    from amem.strength import Strength


class Fading(Wiring):
    """Looks at the strength of notes, now and to come. Looking counts as no use and changes nothing."""

    def strength(self, id: str, at: datetime | str | None = None) -> Strength:
        """How strong a note is now, or at another time if nothing uses it until then, and what that is made of.

        Of a time that is past it tells by the uses counted since. Raises NoteNotFound, or InvalidInput for a time that
        cannot be read.
        """
        with self._store.read() as session:
            moment = session.now if at is None else parse_time(at, zone(self.settings.timezone))
            key = session.notes.keys_of([id]).get(id)
            if key is None:
                raise NoteNotFound(f"no note {id!r}", hint="amem list shows the ids")
            return session.usage.standings([key]).terms(moment, self.settings.decay_rate)[0]

    def fade(self, days: float = 0, ids: Sequence[str] | None = None, *, most: int | None = None) -> FadePreview:
        """What ``maintain()`` would move between layers or archive so many days from now, and why, term by term.

        `ids` asks about these notes alone, and tells of those that stay as well. With `most` only the first so many of
        each sort are named, though all are counted: a large collection answers in half the time. Raises NoteNotFound,
        or InvalidInput for days below 0 and for a table of predicates that cannot be read.
        """
        with self._store.read() as session:
            return foresee(session, self.settings, self._predicates(), days, ids, most=most)

    def outlook(self, id: str, ahead: float | None = None) -> Outlook:
        """What is to become of one note if nothing recalls it: how strong it is, when it moves, when it fades.

        Its curve reaches `ahead` days from now (None: past the day on which something happens). Raises NoteNotFound,
        or InvalidInput for a table of predicates that cannot be read.
        """
        with self._store.read() as session:
            return look_ahead(session, self.settings, self._predicates(), id, ahead)
