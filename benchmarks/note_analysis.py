"""How sensible the tags, keywords, contexts and links are that the rules give a note without a model.

    python benchmarks/note_analysis.py [--part tuned|aside|all] [--unjudged] [--wrong] [--json]

134 invented notes, English and Chinese (tests/data/analysis/notes.jsonl), are told to a collection for each language
through the public API, in order. Every tag, keyword and link that comes out is held against
``judged.tsv``, in which a reader said yes or no to each; ``--unjudged`` lists those that nobody has judged yet.
``obvious_links.tsv`` names the pairs that any reader would link. The last 34 notes are kept aside: they were written
when the rules stood, and nobody tunes rules on them. A context repeats its note when it holds five words of it, or ten
Chinese characters, in a row.
"""

from __future__ import annotations

import argparse
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from amem import AgenticMemorySystem
from amem.embedding import make_embedder
from amem.language import written_in_cjk
from amem.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FOLDER = Path(__file__).parents[1] / "tests" / "data" / "analysis"
PARTS = ("tuned", "aside", "all")
#: The last note of each language that rules were tuned on.
TUNED = {"en": 60, "zh": 40}


@dataclass(slots=True)
class Made:
    """What came out for one note; links name the older notes by their ids in the file."""

    text: str
    tags: Sequence[str]
    keywords: Sequence[str]
    context: str
    links: list[str] = field(default_factory=list)

    def outputs(self) -> list[tuple[str, str]]:
        """Everything that a reader judges, as (what, value)."""
        sorts = {"tag": self.tags, "keyword": self.keywords, "link": self.links}
        return [(sort, value) for sort, values in sorts.items() for value in values]


def analyse(notes: Sequence[Mapping[str, str]]) -> dict[str, Made]:
    """Tell each language's notes to a collection in memory, and return what was made of each."""
    made: dict[str, Made] = {}
    settings = load_settings(None, llm_backend="offline")
    embedder = make_embedder(settings)
    for language in ("en", "zh"):
        with AgenticMemorySystem(llm_backend="offline", embedder=embedder) as memory:
            ids: dict[str, str] = {}
            for note in notes:
                if note["id"].startswith(language):
                    said = {name: note[name] for name in ("speaker", "conversation_id") if name in note}
                    ids[memory.add(note["text"], time=note["at"], **said).id] = note["id"]
            for id, name in ids.items():
                found = memory.read(id)
                made[name] = Made(found.content, found.tags, found.keywords, found.context)
            for id, name in ids.items():
                for link in memory.links(id):
                    first, second = sorted((ids[link.source], ids[link.target]))
                    if name == second and first not in made[second].links:
                        made[second].links.append(first)
    return made


def repeats(made: Made) -> bool:
    """Whether the context says again what the note says."""
    if written_in_cjk(made.text):
        units, size = re.findall(r"\w", made.text), 10
        said = "".join(re.findall(r"\w", made.context))
        runs = ("".join(units[at : at + size]) for at in range(len(units) - size + 1))
        return any(run in said for run in runs)
    units = re.findall(r"\w+", made.text.casefold())
    words = re.findall(r"\w+", made.context.casefold())
    said = {tuple(words[at : at + 5]) for at in range(len(words) - 4)}
    return any(tuple(units[at : at + 5]) in said for at in range(len(units) - 4))


def in_part(name: str, part: str) -> bool:
    """Whether a note belongs to the part: the first hundred are tuned on, what was written later is kept aside."""
    return part == "all" or (int(name[2:]) > TUNED[name[:2]]) == (part == "aside")


def measured(made: Mapping[str, Made], part: str) -> dict[str, float | int]:
    """Shares and counts over a part's notes; what nobody has judged counts as not sensible."""
    judged = {tuple(line[:3]): line[3] == "yes" for line in _lines("judged.tsv")}
    obvious = [pair for pair in _lines("obvious_links.tsv") if in_part(pair[1], part)]
    own = {name: each for name, each in made.items() if in_part(name, part)}
    figures: dict[str, float | int] = {"notes": len(own)}
    sensible: set[str] = set()
    for sort in ("tag", "keyword", "link"):
        verdicts = []
        for name, each in own.items():
            for what, value in each.outputs():
                if what == sort:
                    verdicts.append(judged.get((name, what, value), False))
                    if verdicts[-1] and sort != "link":
                        sensible.add(name)
        figures[f"{sort}s"] = len(verdicts)
        figures[f"sensible {sort}s"] = sum(verdicts)
        figures[f"share of {sort}s"] = round(sum(verdicts) / max(len(verdicts), 1), 3)
    figures["notes with a sensible tag or keyword"] = len(sensible)
    figures["obvious links"] = len(obvious)
    figures["obvious links found"] = sum(first in made[second].links for first, second in obvious)
    figures["contexts that repeat the note"] = sum(repeats(each) for each in own.values())
    figures["unjudged"] = len(unjudged(own))
    return figures


def unjudged(made: Mapping[str, Made]) -> list[tuple[str, str, str]]:
    """What no reader has said yes or no to."""
    known = {tuple(line[:3]) for line in _lines("judged.tsv")}
    every = ((name, *output) for name, each in made.items() for output in each.outputs())
    return [each for each in every if each not in known]


def _lines(name: str) -> list[list[str]]:
    path = FOLDER / name
    return [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if line]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=PARTS, default="all")
    parser.add_argument("--unjudged", action="store_true", help="list what is to be judged, ready for judged.tsv")
    parser.add_argument("--wrong", action="store_true", help="list what was judged not sensible, of the tuned part")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    made = analyse([json.loads(line) for line in (FOLDER / "notes.jsonl").read_text(encoding="utf-8").splitlines()])
    own = {name: each for name, each in made.items() if in_part(name, asked.part)}
    if asked.unjudged:
        for each in unjudged(own):
            print(*each, "", sep="\t")
        return
    if asked.wrong:
        no = {tuple(line[:3]) for line in _lines("judged.tsv") if line[3] == "no"}
        for name, each in own.items():
            if in_part(name, "tuned"):
                for what, value in each.outputs():
                    if (name, what, value) in no:
                        print(name, what, value, sep="\t")
        return
    figures = {"part": asked.part, **measured(made, asked.part)}
    if asked.json:
        print(json.dumps(figures))
    else:
        print(*(f"{name:<38} {value}" for name, value in figures.items()), sep="\n")


if __name__ == "__main__":
    main()
