"""A journal of ten headings, some 14 kB, is found by what stands under each of them, in English and in Chinese."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from amem.note import LinkType
from amem.query import Filter

if TYPE_CHECKING:
    from conftest import Import

    from amem.memory_system import AgenticMemorySystem

JOURNALS = Path(__file__).parents[1] / "data" / "journal"
ENGLISH = {
    "How do I light the boiler?": ("The flat in Graça", "twenty seconds"),
    "Which form do I need for the crown on my tooth?": ("A tooth, and what it cost", "number 17"),
    "Why was the disk of the reporting server full?": ("The database that filled up", "replication slot"),
    "What may we not do on the allotment plot in summer?": ("The allotment", "no barbecues"),
    "Who teaches me the accordion, and when?": ("Learning the accordion", "Thursdays"),
}
CHINESE = {
    "热水器怎么点火？": ("格拉萨的房子", "按住旋钮二十秒"),
    "牙冠的保险表格是几号？": ("一颗牙和它的价钱", "十七号"),
    "报表服务器的硬盘为什么满了？": ("装满了的数据库", "复制槽"),
    "菜园夏天不许做什么？": ("菜园", "不许烧烤"),
    "手风琴是谁教的？": ("学手风琴", "贝雅特丽斯"),
}


@pytest.mark.parametrize(
    ("file", "questions"), [("spring.md", ENGLISH), ("春天.md", CHINESE)], ids=["English", "Chinese"]
)
def test_each_question_finds_the_piece_that_answers_it_first_and_the_sentence_that_does(
    memory: AgenticMemorySystem, bring_in: Import, file: str, questions: dict[str, tuple[str, str]]
) -> None:
    bring_in(JOURNALS / file)
    found = {}
    for question in questions:
        hit = memory.search(question, k=3)[0]
        note = memory.read(hit.id)
        assert note is not None
        found[question] = (note.metadata["file"]["heading"].rsplit(" > ", 1)[-1], note.content)

    assert {question: heading for question, (heading, _) in found.items()} == {
        question: heading for question, (heading, _) in questions.items()
    }
    assert all(words in found[question][1] for question, (_, words) in questions.items())


def test_the_pieces_know_their_document_and_their_neighbours(memory: AgenticMemorySystem, bring_in: Import) -> None:
    bring_in(JOURNALS / "spring.md")
    notes = sorted(memory.list(limit=100), key=lambda note: note.metadata["file"]["part"])

    assert [note.metadata["file"]["part"] for note in notes] == list(range(1, 12))
    assert notes[2].content.startswith("# Journal of the spring in Lisbon > Sourdough, third attempt\n\nThe bread")
    assert {note.metadata["title"] for note in notes} == {"spring"}
    assert memory.count(Filter(part_of=notes[0].id)) == 10
    (link,) = (each for each in memory.links(notes[3].id) if each.type is LinkType.PART_OF)
    assert (link.target, link.made_by) == (notes[0].id, "user")


def test_a_change_under_one_heading_is_a_version_of_that_piece_alone(
    memory: AgenticMemorySystem, bring_in: Import, tmp_path: Path
) -> None:
    path = tmp_path / "spring.md"
    text = (JOURNALS / "spring.md").read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    bring_in(path)
    before = {note.metadata["file"]["heading"]: note for note in memory.list(limit=100)}
    new = "## A new week\n\nNothing happened.\n\n## Bicycles and hills"
    path.write_text(text.replace("fifty grams of rye", "sixty grams of rye").replace("## Bicycles and hills", new))

    report = bring_in(path)

    assert (report.imported, dict(report.files)["changed"]) == (1, 1)
    after = {note.metadata["file"]["heading"]: note for note in memory.list(limit=100)}
    changed = [heading for heading, note in before.items() if after[heading].content != note.content]
    assert [heading.rsplit(" > ", 1)[-1] for heading in changed] == ["Sourdough, third attempt"]
    assert {heading: note.id for heading, note in before.items()}.items() <= {
        heading: note.id for heading, note in after.items()
    }.items()
    assert sorted(note.metadata["file"]["part"] for note in after.values()) == list(range(1, 13))
