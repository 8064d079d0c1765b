"""A model's verdicts, read out of the links it proposes."""

from __future__ import annotations

import pytest

from amem.analysis import Evolution, ProposedLink
from amem.conflict.decision import from_links
from amem.note import LinkType, MemoryNote
from amem.settings import Settings
from amem.writing.apply import plan

OLD = "Ana teaches in Porto. She rents a flat there."


@pytest.mark.parametrize(
    ("quote", "kept"), [("Ana teaches in Porto.", "Ana teaches in Porto."), ("Ana works in Porto.", ""), ("", "")]
)
def test_a_verdict_carries_the_statement_it_overturns_if_the_old_note_says_it_word_for_word(quote: str, kept: str):
    old = MemoryNote(content=OLD, id="old")
    link = ProposedLink("n1", LinkType.SUPERSEDES, "she moved", 0.9, quote)
    planned = plan(Evolution(links=(link,)), {"n1": old}, {}, Settings())
    rest, opinions = from_links(planned, "model", "evolve 4", {"old": 0.8}, 0.4)
    assert rest.links == ()
    assert opinions.verdicts["old"].quotes == ((kept,) if kept else ())
