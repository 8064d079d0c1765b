"""Facts as sentences: each predicate of the table reads as English and as Chinese."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from amem.language.asking import wording
from amem.language.intervals import Interval
from amem.language.predicates import load_predicates

_SINCE, _NOW = datetime(2026, 1, 2, tzinfo=UTC), datetime(2026, 6, 1, tzinfo=UTC)
#: What a predicate that is a verb looks like where it is used as a noun: "Your drives is", "your lives in used to be".
_VERB = re.compile(r"your (?:\w+ )*(?:\w*[^s\W]s|can\w*|\w+ (?:in|at|to|by|eat)) (?:is|used to be)\b", re.IGNORECASE)


def said(predicate: str, subject: str = "user", *, chinese: bool = False, until: datetime | None = None) -> str:
    fact = Interval(subject, predicate, "柠檬" if chinese else "Lemon", _SINCE, until, ("note",))
    return wording([fact], load_predicates(), _NOW, UTC, chinese=chinese)


def test_no_predicate_that_is_a_verb_is_worded_as_a_noun() -> None:
    assert _VERB.search("Your drives is Skoda Fabia")
    assert _VERB.search("Your lives in is Rome")
    over = datetime(2026, 3, 1, tzinfo=UTC)
    for predicate in load_predicates().rows:
        for until in (None, over):
            english = said(predicate, until=until)
            assert not _VERB.search(english), english
            assert "Lemon" in english
            chinese = said(predicate, chinese=True, until=until)
            assert not re.search(r"你的(?:开(?!户)|住|不|对|用|有|患|服|喜|讨|叫|会(?!计))\S*是", chinese), chinese
            assert not re.search("[A-Za-z]", chinese), chinese


def test_drives_takes_and_has_are_said_of_you_and_of_others() -> None:
    assert said("drives") == "you drive Lemon, since 2026-01-02"
    assert said("drives", chinese=True) == "你开柠檬（2026-01-02 起）"
    assert said("has_condition", "Ana") == "Ana has Lemon, since 2026-01-02"
    assert said("takes_medication", "Ana") == "Ana takes Lemon, since 2026-01-02"
    assert said("has_condition", chinese=True) == "你患有柠檬（2026-01-02 起）"
    assert said("time", "stand-up") == "stand-up is at Lemon, since 2026-01-02"
    assert said("ceo", "Acme") == "Acme's CEO is Lemon, since 2026-01-02"
    assert said("doctor", chinese=True) == "你的医生是柠檬（2026-01-02 起）"


def test_a_birthday_has_no_day_since_when_it_is() -> None:
    assert said("birthday") == "your birthday is Lemon"
    assert said("birthday", chinese=True) == "你的生日是柠檬"
    assert Interval("user", "birthday", "3 May", _SINCE, None, ("note",)).span(UTC) == ""


def test_values_that_are_so_since_different_days_each_have_their_own() -> None:
    later = datetime(2026, 3, 4, tzinfo=UTC)
    found = [
        Interval("user", "allergic_to", "walnuts", _SINCE, None, ("a",)),
        Interval("user", "allergic_to", "花生", later, None, ("b",)),
    ]
    english = wording(found, load_predicates(), _NOW, UTC)
    assert english == "you are allergic to walnuts (since 2026-01-02) and 花生 (since 2026-03-04)"
    chinese = wording(found, load_predicates(), _NOW, UTC, chinese=True)
    assert chinese == "你对walnuts（2026-01-02 起）和花生（2026-03-04 起）过敏"
