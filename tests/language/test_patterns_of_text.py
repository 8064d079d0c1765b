"""Human text is read in `amem.language`: no other room compiles patterns of words, but for these."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

from amem.language.scripts import Patterns

AMEM = Path(__file__).parents[2] / "amem"
#: How many patterns of words a room may hold, and why. A number may fall, not rise.
ALLOWED = {
    "conversation": (10, "what a chat says of memory itself"),
    "maintenance": (2, "what two notes must not differ in to be one"),
    "retrieval": (45, "how questions are asked"),
    "testing": (15, "a model played by rules"),
    "llm": (2, "headings that models answer with"),
    "note.py": (1, "an id"),
    "rendering.py": (1, "Markdown"),
    "summaries.py": (1, "operations as amem names them"),
    "vault": (1, "names of files"),
}
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_WORD = re.compile(r"(?<![\\\w])[a-z]{2,}(?=[|) ])")


def _patterns_of_words(source: str) -> int:
    """How many calls of `re` have a pattern with a Chinese character, or with three English words and more."""
    count = 0
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re."):
            texts = (each.value for each in ast.walk(node) if isinstance(each, ast.Constant))
            pattern = "".join(text for text in texts if isinstance(text, str))
            count += bool(_CHINESE.search(pattern)) or len(_WORD.findall(pattern)) >= 3
    return count


def test_a_pattern_of_words_is_told_from_one_of_marks() -> None:
    assert _patterns_of_words("re.compile(r'\\b(?:yesterday|today|tomorrow)\\b'); re.search('明天', text)") == 2
    assert _patterns_of_words(r"re.compile(r'^\d{4}-\d\d$'); re.split('[,;]', text)") == 0


def test_no_room_but_language_takes_up_patterns_of_words() -> None:
    found: Counter[str] = Counter()
    for path in AMEM.rglob("*.py"):
        room = path.relative_to(AMEM).parts[0]
        if room != "language":
            found[room] += _patterns_of_words(path.read_text(encoding="utf-8"))
    more = {room: count for room, count in found.items() if count > ALLOWED.get(room, (0, ""))[0]}
    assert not more, "read this text in amem/language, or say in ALLOWED why not"


def test_every_pattern_that_a_module_asks_for_by_name_stands_in_the_file() -> None:
    asked = 0
    for path in AMEM.rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        for section in re.findall(r'^_pattern = Patterns\("([^"]+)"\)', source, re.MULTILINE):
            for name in set(re.findall(r"\b_pattern\.(\w+)", source)) - {"text", "says", "with_names"}:
                assert isinstance(getattr(Patterns(section), name), re.Pattern)
                asked += 1
    assert asked > 100
