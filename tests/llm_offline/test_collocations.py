"""nltk's work in a default run: pairs of words that recur in a long note; short notes never import it."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
from amem import AgenticMemorySystem
from amem.testing import HashEmbedder
with AgenticMemorySystem(llm_backend="offline", embedder=HashEmbedder(64)) as memory:
    memory.add_note("The tide gauge needs a new battery.")
    assert "nltk" not in sys.modules
    days = ["On day %d the tide gauge showed %d centimetres of water at the old pier." % (n, 3 * n) for n in range(16)]
    long = memory.read(memory.add_note(" ".join(days)))
    assert len(long.content.split()) >= 150
    assert "nltk" in sys.modules
    print(*long.keywords, sep="|")
"""


def test_a_long_english_note_is_read_with_nltks_collocations_and_a_short_one_without() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "tide gauge" in done.stdout.strip().split("|")
