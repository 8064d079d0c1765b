"""MiniLM by onnxruntime beside sentence-transformers: start, single text, bulk, memory and agreement.

    python benchmarks/embedding.py [--texts 512] [--rounds 3]

Each is measured in processes of its own, turn about, on the same texts; the best round counts, because other work on
the machine only ever makes a round slower. "start" is from the first import to the first vector. What the vectors of
words cost beside those of texts is measured in one process, batch by batch, turn about, in seconds of the processor.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from amem.protocols import TokenEmbedder
from amem.token_vectors import WIDTH

AT_ONCE = 32
WAYS = ("onnxruntime", "sentence-transformers")
ENGLISH = """the harbour office moved to a new budget review because our database release was late and Maria asked for
another week before the workshop in Lisbon about migration tests coffee winter trains"""
CHINESE = "我们决定把数据库换成新的因为上周会议里大家都觉得旧系统太慢而且预算也不够港口冬天很冷咖啡"


def texts(count: int) -> list[str]:
    """Note-like texts of 5 to 60 words, one in five Chinese; the same every time."""
    dice = random.Random(7)
    made = []
    for number in range(count):
        words, space = (list(CHINESE), "") if number % 5 == 0 else (ENGLISH.split(), " ")
        made.append(space.join(dice.choices(words, k=dice.randint(5, 60))))
    return made


def resident() -> tuple[float, float]:
    """Resident megabytes now, and the private part of them (mapped weights can be dropped, private pages cannot).

    Not a number where there is no ``/proc``.
    """
    if not Path("/proc/self/status").exists():
        return float("nan"), float("nan")
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    total, private = (int(status[name].split()[0]) / 1024 for name in ("VmRSS", "RssAnon"))
    return total, private


def measure(way: str, count: int, output: str) -> dict[str, Any]:
    """Everything about one way, in this process."""
    from amem.embedding import make_embedder
    from amem.embedding.minilm import OfflinePackage
    from amem.settings import Settings

    notes = texts(count)
    name = "all-MiniLM-L6-v2" if way == "onnxruntime" else str(OfflinePackage().folder)
    began = time.perf_counter()
    embedder = make_embedder(Settings(embed_model=name))
    embedder.embed(["the first text"])
    start = time.perf_counter() - began
    single = []
    for note in notes[:100]:
        began = time.perf_counter()
        embedder.embed([note])
        single.append(time.perf_counter() - began)
    began = time.perf_counter()
    vectors = embedder.embed(notes)
    bulk = time.perf_counter() - began
    np.save(output, vectors)
    total, private = resident()
    return {
        "start": start,
        "p50": float(np.percentile(single, 50)) * 1000,
        "p95": float(np.percentile(single, 95)) * 1000,
        "rate": count / bulk,
        "rss": total,
        "private": private,
    }


def words(count: int, number: int) -> str:
    """What texts with the vectors of their words cost, beside texts alone, and the bytes they take."""
    from amem.embedding import make_embedder
    from amem.settings import Settings
    from amem.token_vectors import tokens_of

    embedder = make_embedder(Settings())
    assert isinstance(embedder, TokenEmbedder)
    ways = {"without": embedder.embed, "with": embedder.embed_tokens}
    notes = texts(count)
    batches = [notes[at : at + AT_ONCE] for at in range(0, count, AT_ONCE)]
    for embed in ways.values():
        embed(batches[0])
    spent: dict[str, list[float]] = {way: [] for way in ways}
    for turn, batch in enumerate(batches * number):
        for way in sorted(ways, reverse=bool(turn % 2)):
            began = time.process_time()
            ways[way](batch)
            spent[way].append((time.process_time() - began) / len(batch) * 1000)
    ratios = np.array(spent["with"]) / np.array(spent["without"])
    kept = [len(tokens.vectors) for each in embedder.embed_tokens(notes) if (tokens := tokens_of(each)) is not None]
    return (
        f"vectors of words: {np.median(spent['with']):.1f} ms of processor a text with, "
        f"{np.median(spent['without']):.1f} without, times {np.median(ratios):.2f} "
        f"({np.percentile(ratios, 25):.2f} to {np.percentile(ratios, 75):.2f}, half of {len(ratios)} batches); "
        f"{np.mean(kept) * WIDTH:,.0f} bytes a text, {max(kept) * WIDTH:,} at most"
    )


def rounds(count: int, number: int) -> tuple[dict[str, dict[str, float]], float]:
    """The best of `number` rounds of each way, and the worst cosine between them."""
    best: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(number):
            for way in WAYS:
                output = f"{folder}/{way}.npy"
                command = [sys.executable, __file__, "--texts", str(count), "--way", way, "--output", output]
                told = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
                known = best.setdefault(way, told)
                for name, value in told.items():
                    known[name] = max(known[name], value) if name == "rate" else min(known[name], value)
        one, other = (np.load(f"{folder}/{way}.npy") for way in WAYS)
    return best, float((one * other).sum(axis=1).min())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    parser.add_argument("--output", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.way:
        print(json.dumps(measure(given.way, given.texts, given.output)))
        return

    from amem.embedding import ensure_model
    from amem.settings import Settings

    print(ensure_model(Settings(), print))
    best, agreement = rounds(given.texts, given.rounds)
    print(f"\n{'':24}{'start s':>9}{'p50 ms':>9}{'p95 ms':>9}{'texts/s':>9}{'RSS MB':>9}{'private':>9}")
    for way in WAYS:
        row = best[way]
        print(
            f"{way:24}{row['start']:9.2f}{row['p50']:9.1f}{row['p95']:9.1f}{row['rate']:9.0f}"
            f"{row['rss']:9.0f}{row['private']:9.0f}"
        )
    print(f"\n{words(given.texts, given.rounds)}")
    print(f"\nworst cosine between the two over {given.texts} texts: {agreement:.7f}")


if __name__ == "__main__":
    main()
