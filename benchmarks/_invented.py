"""Invented notes such as people write: many matters at once, each with people, names and things of its own."""

from __future__ import annotations

import random
import tomllib
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_WORDS: Mapping[str, Any] = tomllib.loads(Path(__file__).with_name("invented_notes.toml").read_text(encoding="utf-8"))
#: Matters that go on at the same time, and how likely one of them ends with a note of it: after twenty on average.
_AT_ONCE, _ENDS = 40, 1 / 20
_CHINESE, _TALK, _LONGER = 0.25, 0.05, 0.25
#: Notes of a day.
PER_DAY = 27


@dataclass(frozen=True, slots=True)
class Invented:
    """One note: its text and when it was written, ISO 8601."""

    text: str
    at: str


@dataclass(slots=True)
class _Strand:
    """One matter as it goes on: what it is about, who and what belongs to it, and what is not said of it yet."""

    lines: tuple[str, ...]
    people: tuple[str, ...]
    names: tuple[str, ...]
    places: tuple[str, ...]
    things: tuple[str, ...]
    chinese: bool
    unsaid: list[str] = field(default_factory=list)

    def next_line(self, chance: random.Random) -> str:
        """All is said of it once before anything is said of another of its things."""
        if not self.unsaid:
            self.unsaid = chance.sample(self.lines, len(self.lines))
        return self.unsaid.pop()


def invented(seed: int, since: date) -> Iterator[Invented]:
    """Notes without end in the order of their writing, no text twice; the same for the same seed and first day."""
    chance = random.Random(seed)
    strands = [_strand(chance) for _ in range(_AT_ONCE)]
    said: set[str] = set()
    while True:
        place = chance.randrange(_AT_ONCE)
        day = since + timedelta(days=len(said) // PER_DAY)
        text = _text(chance, strands[place], day)
        if text not in said:
            said.add(text)
            at = f"{day}T{chance.randint(7, 22):02}:{chance.randint(0, 59):02}:{chance.randint(0, 59):02}"
            yield Invented(text, at)
        if chance.random() < _ENDS:
            strands[place] = _strand(chance)


def _strand(chance: random.Random) -> _Strand:
    chinese = chance.random() < _CHINESE
    matter = chance.choice(_WORDS["strand"])
    some = chance.sample
    if chinese:
        people = some(_WORDS["chinese"].split(), 3)
        starts, ends, places = "chinese_starts", "chinese_ends", "chinese_places"
    else:
        first, last = _WORDS["first"].split(), _WORDS["last"].split()
        people = [f"{name} {chance.choice(last)}" if chance.random() < 0.3 else name for name in some(first, 3)]
        starts, ends, places = "name_starts", "name_ends", "places"
    names = [chance.choice(_WORDS[starts].split()) + chance.choice(_WORDS[ends].split()) for _ in range(2)]
    return _Strand(
        tuple(matter["zh" if chinese else "en"]),
        tuple(people),
        tuple(names),
        tuple(some(_WORDS[places].split(), 2)),
        tuple(some(matter["things"], 5)),
        chinese,
    )


def _text(chance: random.Random, strand: _Strand, day: date) -> str:
    lines = [chance.choice(_WORDS["talk"]) if chance.random() < _TALK else strand.next_line(chance)]
    if chance.random() < _LONGER:
        lines.append(strand.next_line(chance))
    return ("" if strand.chinese else " ").join(_filled(chance, strand, line, day) for line in dict.fromkeys(lines))


def _filled(chance: random.Random, strand: _Strand, line: str, day: date) -> str:
    who, other = chance.sample(strand.people, 2)
    named = day + timedelta(days=chance.randint(-20, 40))
    hour, half = chance.randint(7, 21), chance.choice((0, 15, 30, 45))
    return line.format(
        who=who,
        other=other,
        name=chance.choice(strand.names),
        thing=chance.choice(strand.things),
        place=chance.choice(strand.places),
        n=chance.randint(2, 30),
        m=chance.randint(31, 990),
        day=f"{named.month}月{named.day}日" if strand.chinese else f"{named.day} {named:%B}",
        hour=f"{hour}点{half or ''}{'分' if half else ''}" if strand.chinese else f"{hour}:{half:02}",
    )
