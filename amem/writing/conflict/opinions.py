"""A model's word on two notes: read out of its links, or asked for. It is one opinion; the rules weigh it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from amem.analysis import Pair
from amem.note import LinkType
from amem.writing.conflict.claims import order
from amem.writing.conflict.verdict import Label, Verdict
from amem.writing.conflict.weighing import MODEL, WEIGHED, Opinions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from amem.analysis import Judgement
    from amem.writing.conflict.candidates import Rival
    from amem.writing.guards import Plan

#: Most pairs a model is asked about in the one further call that a note may cost.
MOST_ASKED = 5


def from_links(plan: Plan, name: str, prompt: str, cosines: Mapping[str, float], least: float) -> tuple[Plan, Opinions]:
    """The plan without its links ``contradicts`` and ``supersedes``, and those as opinions of the model `name`.

    `cosines` are those of the notes that were shown, by id; below `least` a model's word on two notes counts nothing.
    """
    verdicts: dict[str, Verdict] = {}
    dropped = list(plan.dropped)
    for link in plan.links:
        if link.type not in WEIGHED:
            continue
        cosine = cosines.get(link.target, 0.0)
        if cosine < least:
            dropped.append(f"{link.type} {link.target[:8]}: the notes are too unlike (similarity {cosine:.2f})")
        elif link.target not in verdicts or link.type is LinkType.CONTRADICTS:  # what hides less comes first
            quotes = (link.quote,) if link.quote else ()
            verdicts[link.target] = Verdict(Label(link.type), link.confidence, link.reason, MODEL, quotes=quotes)
    rest = tuple(link for link in plan.links if link.type not in WEIGHED)
    return replace(plan, links=rest, dropped=tuple(dropped)), Opinions(name, verdicts, prompt if verdicts else "")


def questions(one: Rival, doubtful: Sequence[Rival]) -> dict[str, tuple[Rival, Pair]]:
    """The pairs to ask about, by handle, each with the note that `one` is held against; the most alike alone."""
    asked = {}
    for number, other in enumerate(doubtful[:MOST_ASKED], start=1):
        earlier, later = order(one.claim, other.claim)
        handle = f"c{number}"
        pair = Pair(handle, earlier.content, later.content, earlier.true_at, later.true_at)
        asked[handle] = (other, pair)
    return asked


def from_judgement(asked: Mapping[str, tuple[Rival, Pair]], judgement: Judgement) -> dict[str, Verdict]:
    """What a model said of the pairs it was asked about, by the id of the other note; the rest is not listened to."""
    return {
        asked[said.handle][0].id: Verdict(Label(said.verdict), said.confidence, said.reason, MODEL)
        for said in judgement.verdicts
        if said.handle in asked
    }
