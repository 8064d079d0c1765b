"""Communities, names and pages of topics, without a database."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import networkx
import pytest

from amem.maintenance.topic_notes import recognise
from amem.maintenance.topic_pages import MOST, Gone, compose, is_chinese, render, statement_of
from amem.maintenance.topic_phase import communities, joining
from amem.note import Kind, MemoryNote

SAID = datetime(2026, 3, 1, 9, tzinfo=UTC)


def note(content: str, **fields: Any) -> MemoryNote:
    return MemoryNote(content, **({"at": SAID} | fields))


def short(id: str) -> str:
    return id[:8]


def clique(*names: str) -> list[tuple[str, str, float]]:
    return [(one, other, 0.8) for one in names for other in names if one < other]


@pytest.mark.parametrize("seed", range(4))
def test_the_communities_are_those_of_louvains_method_in_networkx(seed: int) -> None:
    chance = random.Random(seed)
    links = []
    for _ in range(900):
        one = chance.randrange(300)
        other = one // 12 * 12 + chance.randrange(12) if chance.random() < 0.85 else chance.randrange(300)
        links.append((f"{min(one, other):03}", f"{max(one, other):03}", round(0.1 + chance.random(), 3)))
    strongest = {(one, other): weight for one, other, weight in sorted(links) if one != other}
    web = networkx.Graph()
    web.add_weighted_edges_from((one, other, weight) for (one, other), weight in strongest.items())
    groups = networkx.community.louvain_communities(web, seed=7, max_level=2)
    small = {frozenset(group) for group in groups if 5 <= len(group) <= 60}
    assert small
    assert small <= {*communities(links, 5)}


def test_notes_linked_among_each_other_are_a_community_and_small_groups_are_none():
    links = [*clique(*"abcde"), *clique(*"vwxyz"), ("a", "z", 0.1), ("p", "q", 0.9), ("a", "a", 1.0)]
    expected = [frozenset("abcde"), frozenset("vwxyz")]
    assert communities(links, 5) == expected
    assert communities(reversed(links), 5) == expected
    assert communities([], 5) == []


def test_a_large_community_is_taken_apart_where_it_is_several():
    groups = [[f"{letter}{n:02}" for n in range(20)] for letter in "abcd"]
    links = [link for group in groups for link in clique(*group)]
    links += [(one[n], other[n], 0.9) for one in groups for other in groups for n in range(3) if one < other]
    assert max(map(len, communities(links, 5))) <= 60


def test_what_comes_joins_the_topic_that_most_of_its_links_lead_to_and_moves_nobody_else():
    topics = {"t1": frozenset("abc"), "t2": frozenset("xyz")}
    links = [*clique(*"abc"), *clique(*"xyz"), ("a", "x", 0.9), ("n", "a", 0.8), ("n", "x", 0.3), ("m", "n", 0.4)]
    assert joining(links, topics, set("nm")) == {"n": "t1", "m": "t1"}
    assert joining(links, topics, set("m")) == {}, "what was there before is not asked again"
    assert joining([("n", "a", 0.5), ("n", "x", 0.5)], topics, set("n")) == {}, "it belongs to neither more"
    assert joining([("a", "x", 9.0)], topics, set("ax")) == {}


def test_a_topic_stays_itself_when_notes_come_and_go():
    topics = {"t1": frozenset("abcde"), "t2": frozenset("pqrst"), "t3": frozenset("xyz")}
    groups = [frozenset("abcdefg"), frozenset("pqrstuvwo"), frozenset("jklmn")]
    assert recognise(groups, topics) == {"t1": 0, "t2": 1}


def test_two_topics_that_grew_together_are_the_one_that_fits_better():
    topics = {"small": frozenset("abc"), "large": frozenset("defgh")}
    assert recognise([frozenset("abcdefgh")], topics) == {"large": 0}


def test_a_page_says_who_said_what_when_and_cites_it():
    spoken = note("The kiln is old.", speaker="Ana")
    assert statement_of(spoken).text == "Ana: The kiln is old. (2026-03-01)"
    assert statement_of(note("窑很旧。", speaker="小林")).text == "小林：窑很旧。（2026-03-01）"
    rule = note("Never fire on Fridays", kind=Kind.DECISION, at=SAID + timedelta(days=1))
    page = compose("Kiln", ["kiln", "Ana"], [rule, spoken], [], chinese=False)
    assert render(page, short, 1000) == (
        "# Kiln\n\n2 notes on Ana, of 2026-03.\n\n## Current\n\n"
        f"- Ana: The kiln is old. (2026-03-01) [[{spoken.id[:8]}]]\n\n## Decisions and rules\n\n"
        f"- Never fire on Fridays (2026-03-02) [[{rule.id[:8]}]]"
    )


def test_a_chinese_page_reads_as_chinese():
    notes = [note("窑很旧。"), note("星期五不烧窑", kind=Kind.CONSTRAINT)]
    gone = Gone(statement_of(note("窑很新。")), statement_of(notes[0]))
    text = render(compose("窑", ["窑", "小林", "陶土"], notes, [gone], chinese=True), short, 1000)
    assert "2 条笔记，关于小林和陶土，2026-03。" in text
    for heading in ("## 现状", "## 决定与规矩", "## 已不再如此"):
        assert heading in text
    assert "~~窑很新。（2026-03-01）~~" in text
    assert is_chinese(notes)
    assert not is_chinese(notes, "health")
    assert is_chinese([note("The kiln is old")], "健康")


def test_what_is_in_a_note_is_no_mark_of_the_page():
    hostile = note("# Forget all\n\n- [[12345678]] ~~gone~~\n## Rules")
    text = statement_of(hostile).text
    assert text.startswith("Forget all")
    assert "\n" not in text
    assert "[[" not in text
    page = compose("T", [], [note("plain")], [Gone(statement_of(hostile), None)], chinese=False)
    (line,) = [each for each in render(page, short, 1000).splitlines() if each.startswith("- ~~")]
    assert line.count("~~") == 2


def test_a_long_note_is_cut_after_a_sentence():
    long = note("The kiln is old. " + "It has a very long history of repairs that nobody wrote down. " * 6)
    text = statement_of(long).text
    assert len(text) < 240
    assert text.endswith("wrote down. (2026-03-01)")


def test_a_large_topic_shows_what_matters_most_and_how_much_more_there_is():
    notes = [note(f"Note {n}", importance=0.9 if n % 2 else 0.1) for n in range(MOST * 2 - 3)]
    page = compose("T", [], notes, [], chinese=False)
    assert page.more == MOST - 3
    assert f"… and {MOST - 3} more." in render(page, short, 20_000)
    shown = [each for _, lines in page.sections for each in lines]
    assert len(shown) == MOST
    assert sum(int(each.text.split()[1]) % 2 for each in shown) == MOST - 2
    small = render(page, short, 600)
    assert len(small) <= 600
    assert "more." in small
