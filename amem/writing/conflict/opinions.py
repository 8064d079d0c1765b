"""A model's word on two notes, read out of its links. It is one opinion; the rules weigh it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from amem.labels import short_id
from amem.note import LinkType
from amem.writing.conflict.verdict import Label, Verdict
from amem.writing.conflict.weighing import MODEL, WEIGHED, Opinions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from amem.writing.guards import Plan


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
            dropped.append(f"{link.type} {short_id(link.target)}: the notes are too unlike (similarity {cosine:.2f})")
        elif link.target not in verdicts or link.type is LinkType.CONTRADICTS:  # what hides less comes first
            quotes = (link.quote,) if link.quote else ()
            verdicts[link.target] = Verdict(Label(link.type), link.confidence, link.reason, MODEL, quotes=quotes)
    rest = tuple(link for link in plan.links if link.type not in WEIGHED)
    return replace(plan, links=rest, dropped=tuple(dropped)), Opinions(name, verdicts, prompt if verdicts else "")
