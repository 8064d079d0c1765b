"""Every script and length of text, and every way to write a time, comes back as it was given and is found."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime, timedelta, timezone
from typing import TYPE_CHECKING

import pytest

from amem import Filter, load_settings
from amem.errors import InvalidInput, NoteTooLong
from amem.query import Query

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from amem import AgenticMemorySystem
    from amem.protocols import Embedder
    from amem.testing import FrozenClock

    Open = Callable[..., AgenticMemorySystem]

TEXTS = {
    "emoji": "Party at Ana's 🎉🎻👩‍👩‍👧 bring 🍕",
    "chinese": "王小明对花生过敏，每周三晚上去游泳。",
    "japanese": "明日の会議は三時から始まります",
    "korean": "내일 회의는 세 시에 시작합니다",
    "arabic": "موعد الطبيب يوم الثلاثاء في لشبونة",
    "hebrew": "הפגישה עם דנה ביום שלישי",
    "mixed": "Meeting mit 王小明 об отчёте у שלום café",
    "rtl-override": "file \u202etxt.exe\u202c name",
    "combining": "re\u0301sume\u0301 von Zoe\u0308",
    "code": 'def f(x: int) -> str:\n\treturn f"{x!r}"  # \'; DROP TABLE',
    "identifiers": "upgrade snake_case_name to v15.3 and README.md",
    "whitespace": "  leading,\r\n\r\nempty line and trailing  ",
    "zero-width": "zero\u200bwidth\ufeff joiner\u200d",
    "astral": "𝔉𝔯𝔞𝔨𝔱𝔲𝔯 𠮷野家 𒀀",
    "punctuation": "?!… — «»",
    "number": "42",
}


@pytest.mark.parametrize("name", TEXTS)
def test_any_script_is_kept_to_the_letter_and_found_by_the_words_in_it(open_memory: Open, minilm: Embedder, name: str):
    text = TEXTS[name]
    memory = open_memory(embedder=minilm)
    memory.add_note("a note in plain English about the weather")
    id = memory.add_note(text, tags=[text[:30]], metadata={"text": text}, speaker="王")
    note = memory.memories[id]
    assert (note.content, note.metadata["text"], note.speaker) == (text, text, "王")
    assert note.tags == [" ".join(text[:30].split())]
    if name == "punctuation":  # nothing in it to look for
        assert memory.search(text, 1) == []
        assert text in [each.content for each in memory.list()]
    else:
        assert memory.search(text, 1)[0].id == id
        assert memory.search(text, 1)[0]["content"] == text
    assert memory.count(Filter(tags=(note.tags[0],))) == 1


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("花生", "chinese"),
        ("过敏", "chinese"),
        ("会議", "japanese"),
        ("회의", "korean"),
        ("الطبيب", "arabic"),
        ("דנה", "hebrew"),
        ("王小明", "mixed"),
        ("отчёте", "mixed"),
        ("résumé", "combining"),
        ("Zoë", "combining"),
        ("snake_case_name", "identifiers"),
        ("v15.3", "identifiers"),
        ("42", "number"),
    ],
)
def test_words_of_any_script_are_found_by_the_lexical_leg_alone(open_memory: Open, question: str, name: str):
    memory = open_memory()
    ids = {each: memory.add_note(text) for each, text in TEXTS.items()}
    assert ids[name] in [hit.id for hit in memory.ask(Query(question, 3, legs=("lexical",)))]


def test_the_longest_note_is_kept_whole_and_one_more_character_is_refused(open_memory: Open):
    letters = random.Random(7)
    text = " ".join("".join(letters.choices("abcdefgh", k=7)) for _ in range(2_600))[:20_000]
    memory = open_memory()
    id = memory.add_note(text)
    assert memory.memories[id].content == text
    assert memory.search(text[9_000:9_100], 1)[0].id == id
    for content in (text + "x", "宽" * 20_001):
        with pytest.raises(NoteTooLong) as raised:
            memory.add_note(content)
        assert "20,000" in str(raised.value)
    assert memory.add("宽" * 20_000).stored


def test_a_name_composed_in_another_way_is_the_same_note(memory: AgenticMemorySystem):
    first = memory.add("Café Müller")
    assert memory.add("Cafe\u0301 Mu\u0308ller").id == first.id
    assert memory.add("Ｃａｆé　Müller").id == first.id


@pytest.mark.parametrize(
    ("given", "instant"),
    [
        ("202403021022", datetime(2024, 3, 2, 9, 22, tzinfo=UTC)),
        ("2024-03-02T10:22", datetime(2024, 3, 2, 9, 22, tzinfo=UTC)),
        ("2024-03-02 10:22:05.25", datetime(2024, 3, 2, 9, 22, 5, 250_000, tzinfo=UTC)),
        ("2024-03-02T10:22:00Z", datetime(2024, 3, 2, 10, 22, tzinfo=UTC)),
        ("2024-03-02T10:22:00+08:00", datetime(2024, 3, 2, 2, 22, tzinfo=UTC)),
        ("2024-07-02T10:22", datetime(2024, 7, 2, 8, 22, tzinfo=UTC)),
        ("2024-03-02", datetime(2024, 3, 1, 23, 0, tzinfo=UTC)),
    ],
)
def test_a_time_reads_back_as_given_and_means_the_right_instant(
    open_memory: Open, home: Path, given: str, instant: datetime
):
    memory = open_memory(settings=load_settings(home, timezone="Europe/Berlin"))
    id = memory.add_note("it happened then", time=given)
    note = memory.memories[id]
    assert note.timestamp == given
    assert note.at == instant
    assert memory.search("happened")[0]["timestamp"] == given
    assert memory.update(id, timestamp="2020-01-01")
    assert memory.memories[id].at == datetime(2019, 12, 31, 23, tzinfo=UTC)


def test_notes_are_ordered_by_the_instant_whatever_way_it_was_written(open_memory: Open, home: Path):
    memory = open_memory(settings=load_settings(home, timezone="Asia/Shanghai"))
    written = ["2024-03-02T03:00:00Z", "202403021022", "2024-03-01T22:30:00-05:00", "2024-03-02T11:15"]
    # 03:00Z, 02:22Z, 03:30Z, 03:15Z
    for time in written:
        memory.add_note(f"noted at {time}", time=time)
    assert [note.timestamp for note in memory.list()] == [written[2], written[3], written[0], written[1]]
    since = Filter(since=datetime(2024, 3, 2, 3, 0, tzinfo=UTC), until=datetime(2024, 3, 2, 3, 30, tzinfo=UTC))
    assert [note.timestamp for note in memory.list(since)] == [written[3], written[0]]


def test_a_datetime_is_taken_as_what_it_says(open_memory: Open, home: Path):
    memory = open_memory(settings=load_settings(home, timezone="America/New_York"))
    aware = datetime(2024, 3, 2, 10, tzinfo=timezone(timedelta(hours=8)))
    for given, at in (
        (aware, datetime(2024, 3, 2, 2, tzinfo=UTC)),
        (datetime(2024, 3, 2, 10), datetime(2024, 3, 2, 15, tzinfo=UTC)),
    ):
        note = memory.memories[memory.add_note(f"noted at {given}", time=given)]
        assert note.at == at
        assert note.timestamp == given.isoformat()


def test_without_a_time_a_note_is_of_now_in_amems_own_notation(open_memory: Open, home: Path, clock: FrozenClock):
    memory = open_memory(settings=load_settings(home, timezone="Asia/Shanghai"))
    note = memory.memories[memory.add_note("no time was given")]
    assert note.at == note.recorded_at == clock.now()
    assert note.timestamp == "202603011800"


@pytest.mark.parametrize(
    "time",
    ["", "yesterday", "2024-13-01", "202413011022", "24:00", "2024-03-02T10:22+99:00", 20240302, date(2024, 3, 2)],
)
def test_what_is_no_time_is_refused(memory: AgenticMemorySystem, time: object):
    with pytest.raises(InvalidInput):
        memory.add_note("when?", time=time)  # type: ignore[arg-type]
    assert len(memory.memories) == 0


def test_an_imported_diary_is_as_young_as_its_import(memory: AgenticMemorySystem):
    id = memory.add_note("met Bruno at the fair", time="1999-08-15")
    (hit,) = memory.search("Bruno fair", touch=False)
    assert hit.id == id
    assert hit.explanation.prior.retention > 0.99


def test_unknown_time_zones_are_refused_at_once(home: Path):
    with pytest.raises(InvalidInput, match="Mars"):
        load_settings(home, timezone="Mars/Olympus_Mons")
