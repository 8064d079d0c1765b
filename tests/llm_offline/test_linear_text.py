"""A note four times as long takes about four times the work, whatever it is made of."""

from __future__ import annotations

from datetime import UTC, datetime
from time import process_time
from typing import TYPE_CHECKING

import pytest

from amem import AgenticMemorySystem
from amem.conflict.clause_parts import values_of
from amem.conversation.grounding import claimed_numbers
from amem.interop.front_matter import split_front_matter
from amem.interop.importing import Importer
from amem.interop.reader import read_path
from amem.language.scripts import hashtags
from amem.language.statements.objects import school_in
from amem.language.statements.tense import times
from amem.testing import HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(300)]

SHORT, LONG = 4_000, 16_000
#: Four times the length may take so many times the work: far below the sixteen of a square, far above what noise makes.
_MOST = 9
TEXTS: dict[str, Callable[[int], str]] = {
    "one gap": lambda n: "tea" + " " * n + "is hot",
    "many gaps": lambda n: ("tea" + " " * 50) * (n // 53),
    "empty lines": lambda n: "tea" + "\n" * n + "is hot",
    "blank lines": lambda n: "tea" + " \n" * (n // 2) + "is hot",
    "no space": lambda n: "x" * n,
    "digits": lambda n: "1" * n,
    "Chinese ones": lambda n: "一" * n,
    "dates": lambda n: "2026-01-02 " * (n // 11),
    "links": lambda n: "[a](b)" * (n // 6),
    "enumeration commas": lambda n: "、" * n,
    "brackets": lambda n: "(((" * (n // 3),
    "wiki links": lambda n: "[[" * (n // 2),
    "ends of links": lambda n: "](" * (n // 2),
    "names": lambda n: "Ana Lopez " * (n // 10),
    "emoji": lambda n: "🦊" * n,
    "English": lambda n: "I moved the long run from Sunday to Saturday because of the heat. " * (n // 66),
    "Chinese": lambda n: "我把长跑从周日改到了周六，因为天气太热。" * (n // 20),
}


@pytest.mark.parametrize("name", list(TEXTS))
def test_adding_a_longer_text_takes_work_in_proportion(name: str) -> None:
    # A ratio of the processor's time, not a time: other work on the machine changes both.
    text = TEXTS[name]
    with AgenticMemorySystem(llm_backend="offline", embedder=HashEmbedder(64)) as memory:
        memory.add("Warm up: " + text(500))
    short, long = min(work(text(SHORT)) for _ in range(3)), min(work(text(LONG)) for _ in range(2))
    assert long < _MOST * max(short, 0.05)


_SAID = datetime(2026, 3, 1, tzinfo=UTC)
#: Functions that read a text by themselves, each with what once took it a square of the length.
READERS: dict[str, tuple[Callable[[str], object], str]] = {
    "times": (lambda text: times(text, _SAID), "2026-01-02 "),
    "times that last": (lambda text: times(text, _SAID, lasting=True), "by 3 May 2026 until "),
    "claimed numbers": (claimed_numbers, "1"),
    "values": (values_of, "一"),
    "schools": (school_in, "Oak "),
    "tags": (hashtags, "[["),
    "tags after links": (hashtags, "]("),
    "keys of a page": (lambda text: split_front_matter(f"---\na{text}b\n---\n"), " "),
}


@pytest.mark.parametrize("name", list(READERS))
def test_reading_a_longer_text_takes_work_in_proportion(name: str) -> None:
    read, unit = READERS[name]
    read(unit * 10)

    def seconds(length: int) -> float:
        start = process_time()
        read(unit * (length // len(unit) + 1))
        return process_time() - start

    short = min(seconds(6_000) for _ in range(3))
    assert min(seconds(24_000) for _ in range(3)) < _MOST * max(short, 0.05)


def _beside(memory: AgenticMemorySystem, text: str) -> None:
    middle = len(text) // 2
    memory.add(f"{text[:middle]} and not so. 不是。 {text[middle:]}")


#: What else reads a text of any length: what is done, after what was added before, and how long a text it is given.
WAYS: dict[str, tuple[Callable[[AgenticMemorySystem, str], object], bool, int]] = {
    "searching": (lambda memory, text: memory.search(text), False, 25_000),
    "answering": (lambda memory, text: memory.answer(text), False, 4_500),
    "recalling for a prompt": (lambda memory, text: memory.context(text, 500), False, 25_000),
    "remembering what was said": (
        lambda memory, text: memory.remember([{"role": "user", "content": text}]),
        False,
        5_000,
    ),
    "adding beside a note like it": (_beside, True, 4_500),
}
#: In both languages: what states much, what only looks as if it did, and what has no end of a word.
READ = {
    **{name: TEXTS[name] for name in ("no space", "dates", "names", "English", "Chinese")},
    "ends": lambda n: "until Monday " * (n // 13),
    "Chinese ends": lambda n: "直到周一" * (n // 4),
    "Chinese likings": lambda n: "我喜欢茶" * (n // 4),
    "links": TEXTS["links"],
}


@pytest.mark.parametrize("name", list(READ))
@pytest.mark.parametrize("way", list(WAYS))
def test_reading_it_any_other_way_takes_work_in_proportion_too(way: str, name: str) -> None:
    do, before, length = WAYS[way]

    def spent(length: int) -> float:
        text = READ[name](length)
        with AgenticMemorySystem(llm_backend="offline", embedder=HashEmbedder(64)) as memory:
            memory.add("Ana moved to Lisbon in May and likes tea. 我喜欢喝茶。")
            if before:
                memory.add(text)
            start = process_time()
            do(memory, text)
            return process_time() - start

    spent(500)
    short, long = min(spent(length) for _ in range(2)), spent(4 * length)
    assert long < _MOST * max(short, 0.05)


#: A page of so many headings, each over a note of its own.
PAGES: dict[str, Callable[[int], str]] = {
    "headings": lambda n: "".join(f"## Heading {at}\n\nThe tea of part {at} is hot.\n\n" for at in range(n)),
    "headings in headings": lambda n: "".join(
        f"{'#' * (1 + at % 6)} Heading {at}\nSee [[Heading {at + 1}]], #tag{at}.\n" for at in range(n)
    ),
    "Chinese headings": lambda n: "".join(f"# 第{at}节\n\n第{at}种茶八十度。\n\n" for at in range(n)),
}


def _importing(file: Path, text: str) -> float:
    file.write_text(text, encoding="utf-8")
    with AgenticMemorySystem(llm_backend="offline", embedder=HashEmbedder(64)) as memory:
        start = process_time()
        Importer(memory, cause="import").run(read_path(file, memory.settings))
        taken = process_time() - start
        assert memory.count() > 0
        return taken


@pytest.mark.parametrize("name", ["no space", "English", "Chinese"])
def test_importing_a_file_of_one_long_line_takes_work_in_proportion(name: str, tmp_path: Path) -> None:
    file, made = tmp_path / "line.txt", TEXTS[name]
    _importing(file, made(1_000))
    short, long = min(_importing(file, made(30_000)) for _ in range(2)), _importing(file, made(120_000))
    assert long < _MOST * max(short, 0.05)


@pytest.mark.parametrize("name", list(PAGES))
def test_importing_a_page_of_many_headings_takes_work_in_proportion(name: str, tmp_path: Path) -> None:
    file, made = tmp_path / "page.md", PAGES[name]
    _importing(file, made(50))
    short, long = min(_importing(file, made(250)) for _ in range(2)), _importing(file, made(1_000))
    assert long < _MOST * max(short, 0.05)


def work(text: str) -> float:
    """Seconds of processor that adding the text takes."""
    with AgenticMemorySystem(llm_backend="offline", embedder=HashEmbedder(64)) as memory:
        start = process_time()
        memory.add(text)
        return process_time() - start
