"""A model's verdicts, read out of the links it proposes."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from amem.analysis import Evolution, ProposedLink
from amem.conflict.candidates import Claim, Rival
from amem.conflict.judges import Judges
from amem.conflict.settling import Opinions, Weigher, from_links
from amem.language.predicates import load_predicates
from amem.note import Label, LinkType, MemoryNote, Verdict
from amem.settings import Settings
from amem.writing.evolution import plan

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


@pytest.mark.parametrize(
    ("earlier", "later", "hides"),
    [
        ("I am not happy with the flat.", "I'm unhappy with the flat.", False),
        ("我讨厌夜班。", "我不喜欢夜班。", False),
        ("I am not happy with the flat.", "I'm happy with the flat now.", True),
    ],
)
def test_a_model_that_takes_two_denials_of_the_same_for_a_change_hides_nothing(
    earlier: str, later: str, hides: bool
) -> None:
    settings = Settings(_env_file=None)
    old, new = (
        Rival(MemoryNote(content=text, id=text), Claim(text, text, at, at, at.day), 0.8)
        for text, at in ((earlier, datetime(2026, 5, 1, tzinfo=UTC)), (later, datetime(2026, 9, 2, tzinfo=UTC)))
    )
    opinion = Verdict(Label.SUPERSEDES, 0.95, "the speaker changed their mind", "model", whole=True)
    weigher = Weigher(Judges(load_predicates, settings), settings)
    (weighed,) = weigher.in_conflict(new, [old], Opinions("model", {earlier: opinion}))
    assert weighed.hides is hides
