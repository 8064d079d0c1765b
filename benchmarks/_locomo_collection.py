"""A LoCoMo conversation as a collection of its own: every turn imported, as ``amem import`` does."""

from __future__ import annotations

import json
import re
import sys
from io import BytesIO
from typing import TYPE_CHECKING

from amem import AgenticMemorySystem
from amem.interop.formats import Format
from amem.interop.importing import Importer
from amem.interop.reader import read_stream

if TYPE_CHECKING:
    from _locomo_file import Conversation

    from amem.protocols import Embedder
    from amem.settings import Settings


def collection(
    conversation: Conversation, settings: Settings, embedder: Embedder, *, joint: bool = False
) -> AgenticMemorySystem:
    """The conversation's collection, open, with every turn in it; what was imported before is not stored twice."""
    memory = opened(conversation, settings, embedder, joint=joint)
    try:
        stream = BytesIO(json.dumps([conversation.sample]).encode())

        def progress(done: int, total: int | None) -> None:
            tell(f"{conversation.id}: {done} turns", passing=True)

        importer = Importer(memory, cause="LoCoMo benchmark", progress=progress)
        report = importer.run(read_stream(stream, settings, Format.LOCOMO))
        memory.enrich()  # an import that was cut short leaves notes whose analysis waits
        tell(
            f"{conversation.id}: {report.imported} imported, {report.duplicates} known, {report.refused} refused, "
            f"{report.degraded} whose analysis failed, {report.links} links, {report.evolved} rewrites"
        )
    except BaseException:
        memory.close()
        raise
    return memory


def opened(
    conversation: Conversation, settings: Settings, embedder: Embedder, *, joint: bool = False
) -> AgenticMemorySystem:
    """The conversation's own collection as it is, under these settings; with `joint` the one that all share."""
    # Who analysed the notes is part of the name, so that a home kept for one analyst is not taken for another's.
    name = re.sub(
        r"\W+", "-", f"{'joint' if joint else conversation.id} {settings.llm_model or settings.llm_backend}"
    ).strip("-")
    return AgenticMemorySystem(settings=settings, collection=name, embedder=embedder, actor="agent:benchmark")


def tell(line: str, *, passing: bool = False) -> None:
    """Say where the run is, on standard error; a passing line only to a terminal, and overwritten by the next."""
    if passing and sys.stderr.isatty():
        print(f"\r{line:<79}", end="\r", file=sys.stderr, flush=True)
    elif not passing:
        print(line, file=sys.stderr, flush=True)
