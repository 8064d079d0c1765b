"""The best of some notes alone, which all the others may well beat."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.retrieval.legs import Asked, Leg

#: More notes than this are a good part of all there are, and the legs find the best of them as it is.
MOST = 20_000


def best_among(legs: Sequence[Leg], asked: Asked, keys: Sequence[int]) -> list[int]:
    """Those of `keys` that may answer, where they are few; else what each leg would find if there were no others.

    None of more than `MOST`.
    """
    if len(keys) <= asked.limit:
        return asked.gate.admit(keys)
    if len(keys) > MOST:
        return []
    narrow = replace(asked, gate=asked.gate.among(keys))
    answers = [answer for leg in legs if (answer := leg.ask(narrow)) is not None]
    return asked.gate.admit(dict.fromkeys(key for answer in answers for key in answer.keys))
