"""What judges make of a cross-encoder's word: it may overrule the heuristic, and never say more than it can know."""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from amem.conflict.candidates import Claim
from amem.conflict.judges import Judges
from amem.errors import MissingModel
from amem.language.predicates import load_predicates
from amem.note import NO_CONFLICT, Fact, Label
from amem.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MAY = datetime(2026, 5, 1, tzinfo=UTC)
DAYS = timedelta(days=30)


class Sure:
    """A cross-encoder that is sure of one label, whatever it reads; `asked` are the batches it was given."""

    def __init__(self, label: str, probability: float = 0.97) -> None:
        self.asked: list[list[tuple[str, str]]] = []
        rest = (1 - probability) / 2
        self._row = dict.fromkeys(("entailment", "neutral", "contradiction"), rest) | {label: probability}

    def compare(self, pairs: Sequence[tuple[str, str]]) -> list[Mapping[str, float]]:
        self.asked.append(list(pairs))
        return [self._row for _ in pairs]


class Broken:
    """One whose weights cannot be loaded."""

    def compare(self, pairs: Sequence[tuple[str, str]]) -> list[Mapping[str, float]]:
        raise MissingModel("cannot load the cross-encoder tiny: no such file")


def judges(model: Sure | Broken) -> Judges:
    return Judges(load_predicates, Settings(_env_file=None), lambda: model)


def claim(text: str, *facts: Fact, after: int = 0, speaker: str | None = None) -> Claim:
    at = MAY + after * DAYS
    return Claim(text, text, at, at, after, speaker, facts)


EARLIER = claim("The lake is a good place to swim.")
LATER = claim("Swimming in the lake makes people ill.", after=1)


def test_what_it_is_sure_of_replaces_the_earlier_note_of_the_same_speaker() -> None:
    verdict = judges(Sure("contradiction")).judge(EARLIER, LATER, 0.6)
    assert (verdict.label, verdict.judge, verdict.confidence) == (Label.SUPERSEDES, "nli", 0.97)


def test_what_follows_from_the_earlier_note_is_no_conflict_whatever_its_words_tell() -> None:
    pair = claim("We pay for Zoom."), claim("We no longer pay for Zoom.", after=1)
    assert judges(Sure("neutral")).judge(*pair, 0.9).label is Label.SUPERSEDES
    assert judges(Sure("entailment")).judge(*pair, 0.9) == NO_CONFLICT


@pytest.mark.parametrize(("label", "probability"), [("neutral", 0.99), ("contradiction", 0.84)])
def test_what_it_is_not_sure_of_is_left_to_the_others(label: str, probability: float) -> None:
    assert judges(Sure(label, probability)).judge(EARLIER, LATER, 0.6) == NO_CONFLICT


def test_somebody_elses_word_never_hides_a_note() -> None:
    later = claim(LATER.content, after=1, speaker="Ben")
    assert judges(Sure("contradiction")).judge(EARLIER, later, 0.6).label is Label.CONTRADICTS


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I love hiking.", "Ana hates hiking."),
        ("My brother lives in Graz.", "My cousin lives in Linz."),
        ("I live in Hamburg.", "I might move to Vienna."),
        ("We use Docker.", 'The headline was "Why we no longer use Docker".'),
        ("I live in Rome.", "Do I live in Milan?"),
        ("As a child I hated olives.", "I eat olives every day."),
    ],
)
def test_it_is_not_asked_about_other_people_plans_questions_quotations_and_the_past(earlier: str, later: str) -> None:
    model = Sure("contradiction", 1.0)
    assert judges(model).judge(claim(earlier), claim(later, after=1), 0.7) == NO_CONFLICT
    assert model.asked == []


def test_the_slot_rule_comes_first() -> None:
    old = claim("I work at Google.", Fact("user", "works_at", "Google"))
    new = claim("I work at OpenAI.", Fact("user", "works_at", "OpenAI"), after=1)
    model = Sure("entailment")
    assert judges(model).judge(old, new, 0.9).judge == "slot"
    assert model.asked == []


def test_pairs_that_are_judged_together_are_compared_in_one_batch() -> None:
    model = Sure("contradiction")
    others = [claim(f"The lake near town {number} is clean.") for number in range(5)]
    verdicts = judges(model).judge_all([(other, LATER, 0.6) for other in others])
    assert [each.judge for each in verdicts] == ["nli"] * 5
    assert [len(batch) for batch in model.asked] == [5]


def test_distant_notes_are_not_compared() -> None:
    model = Sure("contradiction")
    assert judges(model).judge(EARLIER, LATER, 0.1) == NO_CONFLICT
    assert model.asked == []


def test_a_model_that_breaks_is_named_once_and_notes_are_judged_without_it(caplog: pytest.LogCaptureFixture) -> None:
    chosen = judges(Broken())
    with caplog.at_level(logging.WARNING, "amem"):
        for number in range(3):
            assert chosen.judge(claim(f"The lake has {number} boats."), LATER, 0.6) == NO_CONFLICT
    assert [record.getMessage() for record in caplog.records] == [
        "notes are judged without a cross-encoder: cannot load the cross-encoder tiny: no such file"
    ]
