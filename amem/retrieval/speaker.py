"""The speaker leg: asked about Ana, what Ana said herself is more likely to answer than what was said to her."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from amem.retrieval.legs import Asked, Floats, Keys


class SpeakerLeg:
    """Finds no notes of its own; lifts those said by the one person whom the question names."""

    name = "speaker"

    def ask(self, asked: Asked) -> Said | None:
        """Who said what; None where nobody, or more than one, is named."""
        who = asked.reading.speaker
        return None if who is None else Said(asked, who)


@dataclass(frozen=True, slots=True)
class Said:
    """The speaker leg's answer: 1 for what that person said."""

    asked: Asked
    who: str

    @property
    def keys(self) -> Sequence[int]:
        return ()

    def ranks(self) -> Mapping[int, int]:
        return {}

    def scores(self, keys: Keys) -> tuple[Floats, Floats]:
        gate, wanted = self.asked.gate, self.who.casefold()
        speakers = {key: gate.rows[key].speaker for key in gate.admit(keys.tolist())}
        if others := [key for key in keys.tolist() if key not in speakers]:
            speakers |= {key: row[0] for key, row in self.asked.session.notes.columns(others, ["speaker"]).items()}
        said = np.array([(speakers[key] or "").casefold() == wanted for key in keys.tolist()], dtype=np.float64)
        return said, said

    def matched(self, key: int) -> tuple[str, ...]:
        return (self.who,)
