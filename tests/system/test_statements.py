"""A note of several statements keeps standing when one of them is overturned: marked, dated, and taken back exactly."""

from __future__ import annotations

import json
from datetime import UTC
from typing import TYPE_CHECKING

import pytest
from amem_tui.browse.note_pages import load_note, read_note
from amem_tui.history.history_room import compared
from amem_tui.page import Block

from amem import Filter
from amem.analysts.rules import OfflineAnalyst
from amem.cli.render import print_card
from amem.errors import InvalidInput
from amem.interop.exporting import export_chosen
from amem.interop.importing import Importer
from amem.interop.reader import read_path
from amem.note import LinkType, Status
from amem.note_changes import field_words
from amem.rendering import holding_facts, text_of
from amem.testing import FrozenClock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from amem import AgenticMemorySystem

OLD, NEW = "I live in Rome. I have a cat named Momo.", "I moved to Berlin."
ENDED = "I live in Rome (until 2026-06-22, then: I moved to Berlin). I have a cat named Momo."


@pytest.fixture
def memory(open_memory: Callable[..., AgenticMemorySystem]) -> AgenticMemorySystem:
    """Read by the rules, after all that these tests tell of."""
    return open_memory(analyst=OfflineAnalyst(), clock=FrozenClock("2026-09-01T10:00"))


def told(memory: AgenticMemorySystem, id: str) -> str:
    return text_of(memory.read(id))


def add(memory: AgenticMemorySystem, text: str, time: str) -> str:
    return memory.add(text, time=time).id


@pytest.mark.parametrize(
    ("old", "new", "said", "question"),
    [
        (OLD, NEW, ENDED, "what is my cat called?"),
        (
            "我住在罗马，养了一只猫叫毛毛。",
            "我搬到了柏林。",
            "我住在罗马（至2026-06-22，之后：我搬到了柏林），养了一只猫叫毛毛。",
            "我的猫叫什么？",
        ),
    ],
)
def test_a_statement_that_ended_is_marked_wherever_its_note_is_shown(
    memory: AgenticMemorySystem, old: str, new: str, said: str, question: str
) -> None:
    first = memory.add(old, time="2026-01-05", kind="preference").id
    receipt = memory.add(new, time="2026-06-22")
    (conflict,) = receipt.conflicts
    assert (conflict.hides, conflict.waits, receipt.superseded) == (False, "", ())
    note = memory.read(first)
    assert (note.status, note.content) == (Status.ACTIVE, old)
    assert [(each.text, each.by) for each in note.overturned] == [(conflict.ends[0], receipt.id)]
    hit = next(hit for hit in memory.search(question, k=3) if hit.id == first)
    assert hit.text == said
    assert hit["overturned"][0]["text"] == conflict.ends[0]
    assert said in memory.core_notes().text
    assert said in memory.context(question, 400, core=False).text
    assert [card.text for card in memory.cards_of([first]).values()] == [said]
    assert memory.flags() == []
    assert memory.conflicts_open() == []


def test_facts_of_a_statement_end_with_it_and_others_hold(memory: AgenticMemorySystem) -> None:
    add(memory, "I live in Rome. I work at Siemens.", "2026-01-05")
    add(memory, NEW, "2026-06-22")
    lived = memory.timeline("me", "lives_in")
    assert [(each.object, each.until and f"{each.until:%Y-%m-%d}") for each in lived] == [
        ("Rome", "2026-06-22"),
        ("Berlin", None),
    ]
    assert [each.object for each in memory.facts("me", "works_at")] == ["Siemens"]


def test_a_note_all_of_whose_statements_ended_is_superseded(memory: AgenticMemorySystem) -> None:
    old = add(memory, "I live in Rome. I work at Siemens.", "2026-01-05")
    add(memory, NEW, "2026-06-22")
    last = memory.add("I started at Bosch.", time="2026-07-01")
    note = memory.read(old)
    assert (note.status, note.superseded_by, last.superseded) == (Status.SUPERSEDED, last.id, (old,))
    memory.undo()
    assert memory.read(old).status is Status.ACTIVE
    assert told(memory, old).startswith("I live in Rome (until 2026-06-22, then: I moved to Berlin)")


def test_undo_takes_back_one_mark_and_leaves_a_later_one(memory: AgenticMemorySystem) -> None:
    old = add(memory, "I live in Rome. I work at Siemens. I have a cat named Momo.", "2026-01-05")
    moved = memory.add(NEW, time="2026-06-22")
    memory.add("I started at Bosch.", time="2026-07-01")
    assert len(memory.read(old).overturned) == 2
    report = memory.undo(moved.operation)
    assert report.kept == ()
    assert [each.text for each in memory.read(old).overturned] == ["I work at Siemens."]
    assert moved.id not in [link.source for link in memory.backlinks(old)]
    memory.redo()
    assert [each.text for each in memory.read(old).overturned] == ["I live in Rome.", "I work at Siemens."]
    assert told(memory, old) == (
        "I live in Rome (until 2026-06-22, then: I moved to Berlin). "
        "I work at Siemens (until 2026-07-01, then: I started at Bosch). I have a cat named Momo."
    )


def test_an_edit_drops_the_mark_of_what_it_took_out_and_rollback_brings_both_back(memory: AgenticMemorySystem) -> None:
    old = add(memory, OLD, "2026-01-05")
    add(memory, NEW, "2026-06-22")
    version = memory.read(old).version
    memory.update(old, content="I have a cat named Momo and a dog.")
    assert memory.read(old).overturned == []
    memory.rollback(old, version)
    assert told(memory, old) == ENDED


def test_people_end_and_bring_back_single_statements(memory: AgenticMemorySystem) -> None:
    old = add(memory, "The office is in Porto. The rent is 900 euros. Dogs are welcome.", "2026-01-05")
    new = add(memory, "From July it costs 950.", "2026-06-22")
    link = memory.supersede(old, new, "a letter came", statement="the rent is 900 euros")
    assert (link.type, memory.read(old).status) == (LinkType.SUPERSEDES, Status.ACTIVE)
    assert memory.retract(old, statement="Dogs are welcome")
    assert not memory.retract(old, statement="Dogs are welcome")
    assert [(each.text, each.by) for each in memory.read(old).overturned] == [
        ("The rent is 900 euros.", new),
        ("Dogs are welcome.", ""),
    ]
    assert "Dogs are welcome (until " in told(memory, old)
    assert "taken back)" in told(memory, old)
    assert memory.conflicts_open() == []
    with pytest.raises(InvalidInput, match="does not say"):
        memory.retract(old, statement="cats are welcome")
    assert memory.unsupersede(old, statement="dogs")
    assert [each.text for each in memory.read(old).overturned] == ["The rent is 900 euros."]
    memory.undo()
    assert len(memory.read(old).overturned) == 2
    assert memory.unsupersede(old)
    assert memory.read(old).overturned == []
    assert memory.links(new) == [link for link in memory.links(new) if link.type is not LinkType.SUPERSEDES]
    memory.retract(old, statement="The office is in Porto")
    memory.retract(old, statement="The rent is 900 euros")
    assert memory.retract(old, statement="Dogs are welcome")
    assert memory.read(old).status is Status.SUPERSEDED


@pytest.mark.parametrize(
    ("text", "item", "whole"),
    [
        ("我对花生和芒果过敏。", "芒果", "我对花生和芒果过敏"),
        (
            "I am allergic to penicillin and to hazelnuts.",
            "to hazelnuts",
            "i am allergic to penicillin and to hazelnuts",
        ),
        ("I am allergic to penicillin, nuts and milk.", "I am allergic to penicillin", ""),
        ("I live in Rome. I have a cat.", "Rome. I have a cat", ""),
    ],
)
def test_naming_a_part_of_a_statement_is_refused_and_nothing_else_falls_with_it(
    memory: AgenticMemorySystem, text: str, item: str, whole: str
) -> None:
    note = add(memory, text, "2026-01-05")
    other = add(memory, "The letter of the clinic came.", "2026-06-22")
    for tried in (
        lambda: memory.retract(note, statement=item),
        lambda: memory.supersede(note, other, statement=item),
    ):
        with pytest.raises(InvalidInput, match="only a part of") as refused:
            tried()
        assert f"“{item}” is only a part of “{text}”" in str(refused.value)
        assert "amem edit" in refused.value.hint
    assert (memory.read(note).status, told(memory, note)) == (Status.ACTIVE, text)
    if whole:
        assert memory.retract(note, statement=whole)
        assert memory.read(note).status is Status.SUPERSEDED


def test_a_mark_within_a_sentence_names_the_words_that_ended(memory: AgenticMemorySystem) -> None:
    note = add(memory, "I take penicillin and I eat hazelnuts.", "2026-01-05")
    memory.retract(note, statement="I eat hazelnuts")
    assert told(memory, note) == (
        "I take penicillin and I eat hazelnuts (“I eat hazelnuts”: until 2026-09-01, taken back)."
    )
    note = add(memory, "我住在罗马，养了一只猫叫毛毛。", "2026-01-05")
    memory.retract(note, statement="养了一只猫叫毛毛")
    assert told(memory, note) == "我住在罗马，养了一只猫叫毛毛（“养了一只猫叫毛毛”：至2026-09-01，已收回）。"


def test_the_last_statement_that_was_taken_back_can_be_brought_back_by_its_words(memory: AgenticMemorySystem) -> None:
    note = add(memory, "I like tea. I like opera.", "2026-01-05")
    memory.retract(note, statement="I like tea")
    memory.retract(note, statement="I like opera")
    assert memory.read(note).status is Status.SUPERSEDED
    with pytest.raises(InvalidInput, match="does not stand at all") as refused:
        memory.unsupersede(note, statement="I like tea")
    assert f"amem unsupersede {note[:8]}" in refused.value.hint
    assert memory.unsupersede(note, statement="I like opera")
    assert memory.read(note).status is Status.ACTIVE
    assert told(memory, note) == "I like tea (until 2026-09-01, taken back). I like opera."
    single = add(memory, "我对花生和芒果过敏。", "2026-01-05")
    memory.retract(single, statement="我对花生和芒果过敏")
    assert memory.unsupersede(single, statement="我对花生和芒果过敏")
    assert told(memory, single) == "我对花生和芒果过敏。"


def test_machines_only_propose_to_end_what_a_person_brought_back(memory: AgenticMemorySystem) -> None:
    old = add(memory, OLD, "2026-01-05")
    add(memory, NEW, "2026-06-22")
    assert memory.unsupersede(old)
    again = memory.add("I moved to Oslo.", time="2026-08-01")
    assert memory.read(old).overturned == []
    (review,) = memory.reviews()
    assert (review.note, again.queued[0].reason) == (old, "a person said that the note holds")
    memory.accept(review.id)
    assert [each.by for each in memory.read(old).overturned] == [again.id]


def test_marks_go_with_an_export_and_the_words_of_a_purged_note_do_not_stay(
    memory: AgenticMemorySystem, tmp_path: Path
) -> None:
    old = add(memory, OLD, "2026-01-05")
    new = add(memory, NEW, "2026-06-22")
    path = tmp_path / "notes.jsonl"
    export_chosen(memory, [old, new], path, UTC)
    assert memory.purge(new).stands_again == (old,)
    assert memory.read(old).overturned == []
    assert "Berlin" not in json.dumps([each.changes for each in memory.history(old)])
    assert told(memory, old) == OLD
    memory.purge(old)
    Importer(memory, cause="import").run(read_path(path, memory.settings))
    assert told(memory, old) == ENDED
    assert memory.count(Filter(statuses=(Status.SUPERSEDED,))) == 0


def test_a_note_that_only_was_so_ranks_below_one_that_is(memory: AgenticMemorySystem) -> None:
    old = add(memory, OLD, "2026-01-05")
    add(memory, NEW, "2026-06-22")
    other = add(memory, "Rome has more than nine hundred churches.", "2026-02-01")
    asked = [hit.id for hit in memory.search("Rome", k=5)]
    assert asked.index(other) < asked.index(old)
    explained = memory.explain("Rome", old)
    assert (explained.prior.ended, "only was so" in explained.prior.told()) == (True, True)
    assert not memory.explain("Momo", old).prior.ended
    assert not memory.explain("Rome", other).prior.ended


def test_a_note_in_doubt_says_why_wherever_it_is_shown(memory: AgenticMemorySystem) -> None:
    gym = add(memory, "The gym opens at 7. The sauna is on the second floor.", "2026-01-05")
    add(memory, "The gym opens at 8 now.", "2026-06-22")
    why = "'The gym opens at 8 now.' where it was 'The gym opens at 7.'"
    assert memory.read(gym).doubts == [why]
    assert next(hit for hit in memory.search("sauna", k=3) if hit.id == gym)["doubts"] == [why]
    assert f"may be out of date: {why}) The gym" in memory.context("sauna", 300, core=False).text
    memory.keep(gym)
    assert memory.read(gym).doubts == []


def test_a_doubt_goes_once_a_person_marks_the_statement_it_is_about(memory: AgenticMemorySystem) -> None:
    gym = add(memory, "The gym opens at 7. The sauna is on the second floor.", "2026-01-05")
    later = add(memory, "The gym opens at 8 now.", "2026-06-22")
    assert len(memory.read(gym).doubts) == len(memory.flags()) == 1
    memory.retract(gym, statement="The sauna is on the second floor")
    assert len(memory.read(gym).doubts) == 1, "the doubt is about another statement"
    memory.undo()
    memory.supersede(gym, later, statement="The gym opens at 7")
    assert (memory.read(gym).doubts, memory.flags(), memory.conflicts_open()) == ([], [], [])
    assert "may be out of date" not in memory.context("gym", 300, core=False).text
    memory.undo()
    assert len(memory.read(gym).doubts) == 1
    memory.retract(gym, statement="The gym opens at 7")
    assert (memory.read(gym).doubts, memory.flags()) == ([], [])


def test_show_says_when_the_fact_of_a_marked_statement_ended(
    memory: AgenticMemorySystem, capsys: pytest.CaptureFixture[str]
) -> None:
    old = add(memory, "I live in Rome. I work at Siemens.", "2026-01-05")
    new = add(memory, "The letter from Berlin came.", "2026-06-22")
    memory.supersede(old, new, statement="I live in Rome")
    print_card(memory, memory.read(old))
    facts = [line for line in capsys.readouterr().out.splitlines() if line.startswith("fact: ")]
    assert [("until 2026-06-22, then: The letter from Berlin came" in line) for line in facts] == [True, False]


def test_a_proposal_and_a_version_say_in_words_which_statement_ends(memory: AgenticMemorySystem) -> None:
    old = add(memory, OLD, "2026-01-05")
    add(memory, NEW, "2026-06-22")
    said = "“I live in Rome.” until 2026-06-22, then: I moved to Berlin"
    (before, after) = memory.history(old)[-1].changes["overturned"]
    assert (before, field_words("overturned", after, UTC)) == ([], said)
    memory.unsupersede(old)
    memory.add(NEW.replace("Berlin", "Oslo"), time="2026-08-01")
    (review,) = memory.reviews()
    memory.reject(review.id)
    assert memory.read(old).overturned == []
    memory.add("I moved to Oslo, near the harbour.", time="2026-08-02")
    assert memory.read(old).overturned == []


def test_the_browser_shows_the_mark_in_the_note_and_in_its_history(memory: AgenticMemorySystem) -> None:
    old = add(memory, OLD, "2026-01-05")
    add(memory, NEW, "2026-06-22")
    opened = load_note(memory, old, UTC)
    assert opened is not None
    parts = read_note(memory, opened)
    page = "\n".join(part.text.plain for part in parts if isinstance(part, Block))
    assert ENDED in page
    (change,) = compared({"overturned": memory.history(old)[-1].changes["overturned"]}, UTC, {})
    assert (change.name, change.after.plain) == (
        "no longer so",
        "“I live in Rome.” until 2026-06-22, then: I moved to Berlin",
    )


@pytest.mark.parametrize(
    ("old", "new", "part", "question", "answer"),
    [
        ("I live in Ghent with my partner Wouter.", "Wouter and I broke up.", "with my partner Wouter", "", "Ghent"),
        (
            "I'm Hanna and I live in Bonn with my wife Ada.",
            "Ada moved out, we split up.",
            "with my wife Ada",
            "",
            "Bonn",
        ),
        (
            "My boss Karin, who is allergic to nuts, lives in Lund.",
            "Karin is not my boss any more.",
            "My boss",
            "What is Karin allergic to?",
            "nuts",
        ),
        ("We live in Porto with our dog Kiko.", "Kiko died.", "with our dog Kiko", "", "Porto"),
        (
            "I work at Nokia with my friend Sami.",
            "Sami left Nokia.",
            "with my friend Sami",
            "Where do I work?",
            "Nokia",
        ),
        ("I have a dog called Rex and live in York.", "Rex died.", "I have a dog called Rex", "", "York"),
        ("Karin, my landlady, keeps bees.", "Karin is no longer my landlady.", ", my landlady", "", ""),
        ("I live in Nice with my wife Ada and our dog Kiko.", "Kiko died.", "and our dog Kiko", "", "Nice"),
        ("我和老公住在青岛，有两个孩子。", "离婚了", "和老公", "我住在哪里？", "青岛"),
        ("我老板老周对海鲜过敏，住在无锡。", "老周不是我老板了。", "我老板", "老周对什么过敏？", "海鲜"),
        ("我们和猫咪团团住在珠海。", "团团去世了。", "和猫咪团团", "我住在哪里？", "珠海"),
        ("我养了一只叫可乐的狗，在银行上班。", "可乐死了。", "我养了一只叫可乐的狗", "我在哪里上班？", "银行"),
        ("老公和我住在成都。", "我和老公离婚了。", "老公和", "我住在哪里？", "成都"),
    ],
)
def test_only_who_somebody_was_to_somebody_ends_when_they_part(
    memory: AgenticMemorySystem, old: str, new: str, part: str, question: str, answer: str
) -> None:
    note = add(memory, old, "2026-01-05")
    facts = memory.read(note).facts
    add(memory, new, "2026-06-22")
    held = memory.read(note)
    assert [each.text for each in held.overturned] == [part]
    assert held.status is Status.ACTIVE
    gone = {fact.object for fact in facts} - {fact.object for fact in holding_facts(held)}
    assert all(old.find(part) <= old.find(each) <= old.find(part) + len(part) + 1 for each in gone)
    told = memory.answer(question or "Where do I live?").text
    assert answer in told
    assert "used to live" not in told
    assert held.doubts == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I live in Ghent with my partner Wouter.", "Wouter quit smoking."),
        ("I live in Ghent with my partner Wouter.", "We are thinking of splitting up."),
        ("We live in Porto with our dog Kiko.", "Kiko's brother died."),
        ("We live in Porto with our dog Kiko.", "Our neighbour's dog died."),
        ("We live in Porto with our dog Kiko.", "Kiko almost died."),
        ("We have a cat called Luna and live in York.", "Luna's phone died."),
        ("I live in Ghent with my wife Anna.", "Tom and Lisa broke up."),
        ("我和老公住在青岛。", "我姐离婚了。"),
        ("My boss Karin, who is allergic to nuts, lives in Lund.", "Tom is not my boss any more."),
        ("Leo lives in Basel with his wife Mia.", "I got divorced."),
        ("我和男朋友阿凯住在武汉。", "阿凯戒烟了。"),
        ("我们和猫咪团团住在珠海。", "团团的妈妈去世了。"),
    ],
)
def test_what_is_said_of_somebody_else_ends_and_doubts_nothing(memory: AgenticMemorySystem, old: str, new: str) -> None:
    note = add(memory, old, "2026-01-05")
    add(memory, new, "2026-06-22")
    held = memory.read(note)
    assert (held.status, held.overturned, held.doubts) == (Status.ACTIVE, [], [])


def test_a_note_that_says_nothing_without_whom_it_names_is_superseded(memory: AgenticMemorySystem) -> None:
    note = add(memory, "I live with my partner Wouter.", "2026-01-05")
    add(memory, "Wouter and I broke up.", "2026-06-22")
    assert memory.read(note).status is Status.SUPERSEDED
    note = add(memory, "小贺和小钟在谈恋爱。", "2026-01-05")
    add(memory, "小贺和小钟分手了。", "2026-06-22")
    assert memory.read(note).status is Status.SUPERSEDED


@pytest.mark.parametrize(
    ("old", "new", "part", "question", "answer"),
    [
        (
            "I live in Ghent with my partner Wouter.",
            "I moved to Oslo.",
            "I live in Ghent",
            "Who is my partner?",
            "Wouter",
        ),
        ("I live with my wife Ada in Ghent.", "I moved to Oslo.", "in Ghent", "Who is my wife?", "married to Ada"),
        (
            "My wife Ada works at Shell.",
            "Ada works at Nokia now.",
            "works at Shell",
            "Who is my wife?",
            "married to Ada",
        ),
        ("我妹妹小美住在杭州。", "小美搬到宁波了。", "住在杭州", "小美住在哪里？", "宁波"),
        ("我和老婆阿梅住在青岛。", "我搬到烟台了。", "住在青岛", "我住在哪里？", "烟台"),
    ],
)
def test_whom_a_note_names_beside_a_statement_stands_when_that_ends(
    memory: AgenticMemorySystem, old: str, new: str, part: str, question: str, answer: str
) -> None:
    note = add(memory, old, "2026-01-05")
    add(memory, new, "2026-06-22")
    held = memory.read(note)
    assert (held.status, [each.text for each in held.overturned]) == (Status.ACTIVE, [part])
    said = memory.answer(question).text
    assert answer in said
    assert "used to be" not in said


@pytest.mark.parametrize(
    ("old", "new", "question"),
    [
        ("Our wedding is on 5 June in Siena, with 80 guests.", "The wedding is off.", "When is our wedding?"),
        ("我们的婚礼定在六月五日，请了八十位客人。", "婚礼取消了。", "婚礼什么时候？"),
    ],
)
def test_a_day_is_told_with_what_speaks_against_it(
    memory: AgenticMemorySystem, old: str, new: str, question: str
) -> None:
    add(memory, old, "2026-01-05")
    add(memory, new, "2026-05-22")
    assert new in memory.answer(question).text


def test_what_took_the_place_of_the_nearest_note_is_told_with_it(memory: AgenticMemorySystem) -> None:
    add(memory, "I have a dog called Rex.", "2026-01-05")
    add(memory, "Rex died.", "2026-05-22")
    told = memory.answer("Do I have a dog?").text
    assert told.endswith("“Rex died.” (2026-05-22) [1]; before that: “I have a dog called Rex.” (2026-01-05) [2]")
