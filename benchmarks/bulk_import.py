"""How much of the embedder's own speed a bulk import keeps, counting every text that is embedded.

    python benchmarks/bulk_import.py [FILE] [--notes 1000] [--rounds 3]

FILE is anything ``amem import`` reads, such as a LoCoMo conversation file; without one the demo's notes are taken again
and again with changed numbers. Each round embeds the texts with the bare model, then imports the same notes into a new
collection, offline analyst and all; the share is the one time over the other, so that a machine that changes its pace
between rounds changes both. Where others use the machine, `of processor` says more: the same of the time that all
threads of the process took, in milliseconds a text.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

from amem import AgenticMemorySystem, NewNote, load_settings
from amem.clock import SystemClock
from amem.collection import embedded_text
from amem.embedding import make_embedder
from amem.interop.items import Incoming
from amem.interop.reader import read_path
from amem.writing.intake import take_in


def notes_of(file: Path | None, wanted: int) -> list[NewNote]:
    """The notes to import."""
    path = file or Path(__file__).parents[1] / "examples" / "data" / "year.jsonl"
    found = [item.note for item in read_path(path, load_settings()) if isinstance(item, Incoming)]
    if file is not None:
        return found[:wanted]
    return [
        NewNote(f"{note.content} ({number // len(found) + 1})", note.time)
        for number in range(wanted)
        for note in [found[number % len(found)]]
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--notes", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    notes = notes_of(given.file, given.notes)
    shares, of_processor = [], []
    print(
        f"{'round':<8}{'model alone, texts/s':>22}{'import, notes/s':>18}{'embedded':>10}{'share':>8}"
        f"{'processor, ms':>15}{'import':>8}{'share':>8}"
    )
    for number in range(1, given.rounds + 1):
        with tempfile.TemporaryDirectory() as home:
            settings = load_settings(home, llm_backend="offline")
            embedder = make_embedder(settings)
            embedder.embed(["warm"])
            taken = [take_in(note, actor="user", settings=settings, clock=SystemClock()) for note in notes]
            texts = [embedded_text(each.note, settings.embed_recipe) for each in taken]
            start, begun = time.perf_counter(), time.process_time()
            for at in range(0, len(texts), settings.batch_size):
                embedder.embed(texts[at : at + settings.batch_size])
            alone, taken = (time.perf_counter() - start) / len(texts), (time.process_time() - begun) / len(texts)
            with AgenticMemorySystem(settings=settings, embedder=embedder) as memory:
                memory.add("warm")
                start, begun = time.perf_counter(), time.process_time()
                receipts = memory.add_notes(notes)
                embedded = sum(receipt.cost.embedded for receipt in receipts)
                importing = (time.perf_counter() - start) / max(embedded, 1)
                spent = (time.process_time() - begun) / max(embedded, 1)
        shares.append(alone / importing)
        of_processor.append(taken / spent)
        print(
            f"{number:<8}{1 / alone:>22.0f}{len(notes) / (importing * embedded):>18.0f}{embedded:>10}{shares[-1]:>8.0%}"
            f"{taken * 1000:>15.2f}{spent * 1000:>8.2f}{of_processor[-1]:>8.0%}"
        )
    print(f"median share {statistics.median(shares):.0%}, of processor {statistics.median(of_processor):.0%}")


if __name__ == "__main__":
    main()
