"""Lists of all notes: their order, what is typed to narrow them, and what is counted of them."""

from __future__ import annotations

import json
import random
import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from storing import change, put

from amem.errors import InvalidInput
from amem.interop.demo_data import demo_folder
from amem.language import typed_words
from amem.note import Kind, Layer, Link, LinkType, Status
from amem.query import Filter
from amem.storage.note_lists import ORDERS, local_days, ordered

if TYPE_CHECKING:
    from amem.storage.store import Session, Store
    from amem.testing import FrozenClock

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def texts(session: Session, wanted: Filter | None = None, **how: str) -> list[str]:
    """The texts of a shelf, in its order."""
    cards = session.cards
    shelf = cards.shelf(wanted or Filter(), **how)
    found = cards.of(shelf.keys.tolist())
    assert len(found) == len(shelf)
    return [card.text for card in found]


def at(day: int) -> datetime:
    return NOON + timedelta(days=day)


# -- orders ----------------------------------------------------------------------------------------------------------


def test_newest_first_and_of_one_time_the_last_to_arrive(store: Store) -> None:
    with store.write() as session:
        for text, day in (("b", 1), ("d", 2), ("a", 0), ("e", 2), ("c", 1)):
            # Neither kind nor status has a say in it.
            put(session, text, at=at(day), kind=Kind.CODE if text in "ce" else Kind.FACT)
        assert texts(session, order="time") == ["e", "d", "c", "b", "a"]
        assert texts(session) == texts(session, order="time")
        assert texts(session, order="recorded") == ["c", "e", "a", "d", "b"]
        archived = session.notes.keys_of(session.notes.ids())
        change(session, next(iter(archived)), status=str(Status.ARCHIVED))
        both = Filter(statuses=(Status.ARCHIVED, Status.ACTIVE))
        assert texts(session, both, order="time") == ["e", "d", "c", "b", "a"]


def test_most_important_first_and_of_equals_the_newest(store: Store) -> None:
    with store.write() as session:
        for text, importance in (("low", 0.1), ("high", 0.9), ("middling", 0.5), ("also high", 0.9), ("sum", 0.3)):
            put(session, text, importance=importance)
        assert texts(session, order="importance") == ["also high", "high", "middling", "sum", "low"]


def test_most_recalled_first_and_those_never_recalled_last_newest_first(store: Store) -> None:
    with store.write() as session:
        ids = [put(session, text) for text in ("never", "twice", "nor", "ten", "two")]
        keys = session.notes.keys_of(ids)
        for id, recalls in zip(ids, (0, 2, 0, 10, 2), strict=True):
            if recalls:
                session.usage.carry_over(keys[id], recalls, "2026-01-05T00:00:00.000000Z")
        assert texts(session, order="recalls") == ["ten", "two", "twice", "nor", "never"]


def test_strongest_first_by_what_a_card_says_of_strength(store: Store, clock: FrozenClock) -> None:
    chance = random.Random(3)
    with store.write() as session:
        for number in range(60):
            told = {"importance": chance.choice((0.2, 0.5, 1.0)), "kind": chance.choice(list(Kind))}
            id = put(session, f"note {number}", layer=chance.choice(list(Layer)), pinned=number % 9 == 0, **told)
            if number % 4:
                session.usage.carry_over(session.notes.keys_of([id])[id], number % 7, "2026-01-20T10:00:00.000000Z")
    clock.advance(days=40)
    with store.read() as session:
        cards = session.cards
        shown = cards.of(cards.shelf(Filter(), order="strength").keys.tolist())
        assert len(shown) == 60
        assert [card.key for card in shown] == [
            card.key for card in sorted(shown, key=lambda card: (-round(card.strength, 12), -card.key))
        ]
        assert shown[0].strength > shown[-1].strength


def test_of_equal_strength_the_newest_is_first(store: Store) -> None:
    with store.write() as session:
        for text in ("first", "second", "third"):
            put(session, text)
        assert texts(session, order="strength") == ["third", "second", "first"]


def test_the_standings_of_all_notes_are_those_of_the_notes_asked_for(store: Store, clock: FrozenClock) -> None:
    with store.write() as session:
        ids = [put(session, f"note {n}", importance=n / 10, kind=kind) for n, kind in enumerate(list(Kind)[:9])]
        operation = session.begin("link", "user")
        for source in ids[1:4]:
            session.links.put(Link(source, ids[0], LinkType.CONTRADICTS, "", 1.0, "user", session.now), operation)
        change(session, ids[3], status=str(Status.DELETED))
        session.notes.corroborate(ids[5], "Ana", operation)
        session.notes.corroborate(ids[5], "Ben", operation)
        session.usage.touch([2, 3])
    clock.advance(days=3)
    with store.read() as session:
        every = session.usage.standings()
        some = session.usage.standings(every.keys.tolist())
        for name in every.__dataclass_fields__.keys() - {"decay_rate"}:
            assert getattr(every, name).tolist() == getattr(some, name).tolist(), name
        assert every.contradictions.max() == 2
        assert every.corroborations.max() == 2
        alone = session.usage.beliefs(some.keys.tolist())
        trust = some.trust(session.now).tolist()
        assert alone == dict(zip(some.keys.tolist(), zip(some.stability.tolist(), trust, strict=True), strict=True))


def test_another_order_is_refused_and_named(store: Store) -> None:
    with store.read() as session, pytest.raises(InvalidInput, match="colour"):
        texts(session, order="colour")


@pytest.mark.parametrize("order", ORDERS)
def test_an_empty_collection_has_an_empty_shelf_in_every_order(store: Store, order: str) -> None:
    with store.read() as session:
        assert texts(session, order=order) == []
        assert texts(session, order=order, starting="te") == []
        assert ordered(session, Filter(), "time").dtype == np.int64


@pytest.mark.parametrize("order", ORDERS)
def test_filters_and_typing_narrow_every_order(store: Store, order: str) -> None:
    with store.write() as session:
        for number in range(12):
            kind = Kind.CODE if number % 3 else Kind.FACT
            put(session, f"green tea {number}" if number % 2 else f"kettle {number}", kind=kind, tags=["tea"])
        wanted = Filter(kinds=(Kind.CODE,), tags=("tea",))
        assert texts(session, wanted, order=order, starting="te gre") == [
            "green tea 11", "green tea 7", "green tea 5", "green tea 1"
        ]  # fmt: skip


# -- what is typed ---------------------------------------------------------------------------------------------------


def test_every_beginning_of_every_word_of_a_note_finds_it(store: Store) -> None:
    """The demo's notes, English and Chinese, letter by letter, through SQLite's own index."""
    with store.write() as session:
        lines = (demo_folder() / "year.jsonl").read_text(encoding="utf-8").splitlines()
        contents = [str(json.loads(line)["content"]) for line in lines]
        wanted: dict[str, set[int]] = {}
        for key, content in enumerate(contents, 1):
            put(session, content)
            for word in re.findall(r"[^\W_][\w'.+#-]*", content):
                for length in range(1, len(word) + 1):
                    wanted.setdefault(word[:length], set()).add(key)
        assert len(wanted) > 2_000
        lost = {
            begun: missing
            for begun, those in wanted.items()
            if (missing := those - set(session.text.typed(typed_words(begun)).tolist()))
        }
        assert not lost


def test_nothing_typed_leaves_all_and_what_cannot_match_finds_none(store: Store) -> None:
    with store.write() as session:
        put(session, "Tea 🐱!")
        assert texts(session, starting="") == texts(session, starting="  \t") == ["Tea 🐱!"]
        assert texts(session, starting="🐱") == texts(session, starting="!") == texts(session, starting="coffee") == []


@pytest.mark.parametrize("typed", ["茶", "绿茶", "喝绿", "的", "了", "喝绿茶了", "茶 80"])
def test_chinese_is_found_character_by_character(store: Store, typed: str) -> None:
    with store.write() as session:
        put(session, "我喝绿茶了。水是80度的")
        put(session, "数据库换掉")
        assert texts(session, starting=typed) == ["我喝绿茶了。水是80度的"]


def test_tags_and_keywords_count_as_well(store: Store) -> None:
    with store.write() as session:
        put(session, "Steep it", tags=["Getränke"], keywords=["sencha leaves"], context="On brewing")
        assert [len(texts(session, starting=each)) for each in ("getr", "senc lea", "brewi", "coffee")] == [1, 1, 1, 0]


@pytest.mark.parametrize("status", [Status.ARCHIVED, Status.SUPERSEDED, Status.DELETED])
def test_notes_of_any_status_are_found_by_what_is_typed(store: Store, status: Status) -> None:
    with store.write() as session:
        ids = [put(session, text) for text in ("old green tea", "old kettle", "绿茶很好", "new green tea")]
        for id in ids[:3]:
            change(session, id, status=str(status))
        wanted = Filter(statuses=(status,))
        assert texts(session, wanted, starting="gre te") == ["old green tea"]
        assert texts(session, wanted, starting="茶") == texts(session, wanted, starting="绿茶") == ["绿茶很好"]
        assert texts(session, wanted, starting="很") == ["绿茶很好"]
        assert texts(session, starting="green") == ["new green tea"]
        both = Filter(statuses=(Status.ACTIVE, status))
        assert texts(session, both, starting="gr", order="recorded") == ["new green tea", "old green tea"]


def test_a_changed_note_is_found_by_its_new_words_alone(store: Store) -> None:
    with store.write() as session:
        id = put(session, "green tea")
        change(session, id, content="black coffee")
        assert texts(session, starting="gre") == []
        assert texts(session, starting="cof") == ["black coffee"]


# -- two clocks ------------------------------------------------------------------------------------------------------


def test_shelves_of_what_was_known_and_what_was_true(store: Store, clock: FrozenClock) -> None:
    with store.write() as session:
        old = put(session, "tea at 90 degrees")
    then = clock.now()
    clock.advance(days=10)
    with store.write() as session:
        new = put(session, "tea at 80 degrees")
        change(session, old, status=str(Status.SUPERSEDED), superseded_by=new)
    clock.advance(days=10)
    with store.write() as session:
        gone = put(session, "tea with sugar")
    before_deleted = clock.now()
    clock.advance(days=10)
    with store.write() as session:
        change(session, gone, status=str(Status.DELETED))
        for order in ORDERS:
            assert texts(session, order=order) == ["tea at 80 degrees"]
            known = Filter(known_at=then + timedelta(hours=1))
            assert texts(session, known, order=order, starting="te") == ["tea at 90 degrees"]
            true = Filter(as_of=then + timedelta(hours=1))
            assert texts(session, true, order=order, starting="te") == ["tea at 90 degrees"]
        # It was there then, although full text has forgotten it since.
        known = Filter(known_at=before_deleted + timedelta(hours=1))
        assert texts(session, known, starting="sug") == ["tea with sugar"]


# -- cards -----------------------------------------------------------------------------------------------------------


def test_a_shelf_outlives_what_happens_to_its_notes(store: Store) -> None:
    with store.write() as session:
        ids = [put(session, text) for text in ("stays", "goes", "is destroyed", "is changed")]
        shelf = session.cards.shelf(Filter(), order="recorded")
    with store.write() as session:
        change(session, ids[1], status=str(Status.DELETED))
        change(session, ids[3], content="was changed")
        session.notes.purge([ids[2]])
    with store.read() as session:
        cards = session.cards.of(shelf.keys.tolist())
        assert [(card.text, card.status) for card in cards] == [
            ("was changed", Status.ACTIVE), ("goes", Status.DELETED), ("stays", Status.ACTIVE)
        ]  # fmt: skip


def test_a_card_says_what_a_list_shows(store: Store, clock: FrozenClock) -> None:
    with store.write() as session:
        id = put(session, "x" * 1000, kind=Kind.CODE, layer=Layer.LONG_TERM, pinned=True, speaker="Ana", at=at(3))
        other = put(session, "other")
        operation = session.begin("link", "user")
        for source, target in ((id, other), (other, id), (id, "nowhere")):
            session.links.put(Link(source, target, LinkType.RELATED, "", 1.0, "user", session.now), operation)
        session.usage.touch([1])
        (card,) = session.cards.of([1])
    assert (card.id, card.key, card.text, card.kind, card.layer) == (id, 1, "x" * 400, Kind.CODE, Layer.LONG_TERM)
    assert (card.at, card.recorded_at, card.pinned, card.speaker) == (at(3), clock.now(), True, "Ana")
    assert (card.links, card.recalls, card.author, card.status) == (3, 1, "user", Status.ACTIVE)
    assert card.strength > 0


# -- counts ----------------------------------------------------------------------------------------------------------


ZONES = [
    *("UTC", "Europe/Lisbon", "America/New_York", "Asia/Kathmandu", "Asia/Shanghai", "Australia/Lord_Howe"),
    *("America/Sao_Paulo", "Pacific/Apia", "Africa/Casablanca"),
]


@pytest.mark.parametrize("name", ZONES)
def test_a_day_is_that_of_the_zone_even_when_its_clocks_were_changed(name: str) -> None:
    zone, chance = ZoneInfo(name), random.Random(name)
    moments = [
        datetime(2011, 1, 1, tzinfo=UTC) + timedelta(seconds=chance.randrange(15 * 365 * 86_400)) for _ in "x" * 9_000
    ]
    # Every quarter of an hour of two weeks in which clocks change, and the ends of what a date can be.
    moments += [datetime(2018, 10, 27, tzinfo=UTC) + timedelta(minutes=15 * each) for each in range(14 * 96)]
    moments += [datetime(2011, 12, 28, tzinfo=UTC) + timedelta(minutes=15 * each) for each in range(4 * 96)]
    moments += [
        datetime(1, 1, 2, 3, tzinfo=UTC),
        datetime(1883, 11, 18, 17, 0, 1, tzinfo=UTC),
        datetime(9999, 12, 30, tzinfo=UTC),
    ]
    times = np.array([each.replace(tzinfo=None) for each in moments], dtype="datetime64[s]")
    assert local_days(times, zone).tolist() == [each.astimezone(zone).date() for each in moments]


@pytest.mark.parametrize("name", ["Pacific/Kiritimati", "Pacific/Pago_Pago"])
def test_times_at_either_end_of_the_calendar_have_a_day(name: str) -> None:
    times = np.array(["0001-01-01T00:00:00", "9999-12-31T23:59:59"], dtype="datetime64[s]")
    first, last = local_days(times, ZoneInfo(name)).tolist()
    assert (first.year, last.year) == (1, 9999)


def test_days_count_notes_in_the_order_of_time(store: Store) -> None:
    lisbon = ZoneInfo("Europe/Lisbon")
    with store.write() as session:
        for hour, day in ((23, 0), (22, 0), (1, 3), (23, 2)):
            put(session, "x", at=datetime(2026, 7, 1, hour, 30, tzinfo=UTC) + timedelta(days=day))
        change(session, put(session, "gone", at=at(1)), status=str(Status.ARCHIVED))
        days = session.cards.days(Filter(), lisbon)
        assert [(str(day), count) for day, count in days.items()] == [
            ("2026-07-01", 1), ("2026-07-02", 1), ("2026-07-04", 2)
        ]  # fmt: skip
        assert session.cards.days(Filter(kinds=(Kind.TOPIC,)), lisbon) == {}
