"""amem: a Zettelkasten-style memory that agents write and people can read, trust and correct.

The names below load what they need when they are first used; ``import amem`` itself loads next to nothing.
"""

from __future__ import annotations

import logging
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from amem.async_memory import AsyncMemory
    from amem.conversation.assistant import Assistant
    from amem.conversation.episodes import segment
    from amem.errors import AmemError
    from amem.memory_system import AgenticMemorySystem
    from amem.note import Kind, Link, LinkType, MemoryNote, Message, Receipt, Source, Status
    from amem.query import Filter, Query
    from amem.retrieval.hit import Hit
    from amem.retrievers import ChromaRetriever, CopiedChromaRetriever, PersistentChromaRetriever
    from amem.settings import Settings, load_settings
    from amem.writing.intake import NewNote

__version__ = "0.1.0"

_HOMES = {
    "AgenticMemorySystem": "amem.memory_system",
    "AmemError": "amem.errors",
    "Assistant": "amem.conversation.assistant",
    "AsyncMemory": "amem.async_memory",
    "ChromaRetriever": "amem.retrievers",
    "CopiedChromaRetriever": "amem.retrievers",
    "Filter": "amem.query",
    "Hit": "amem.retrieval.hit",
    "Kind": "amem.note",
    "Link": "amem.note",
    "LinkType": "amem.note",
    "MemoryNote": "amem.note",
    "Message": "amem.note",
    "NewNote": "amem.writing.intake",
    "PersistentChromaRetriever": "amem.retrievers",
    "Query": "amem.query",
    "Receipt": "amem.note",
    "Settings": "amem.settings",
    "Source": "amem.note",
    "Status": "amem.note",
    "load_settings": "amem.settings",
    "segment": "amem.conversation.episodes",
}

__all__ = [
    "AgenticMemorySystem",
    "AmemError",
    "Assistant",
    "AsyncMemory",
    "ChromaRetriever",
    "CopiedChromaRetriever",
    "Filter",
    "Hit",
    "Kind",
    "Link",
    "LinkType",
    "MemoryNote",
    "Message",
    "NewNote",
    "PersistentChromaRetriever",
    "Query",
    "Receipt",
    "Settings",
    "Source",
    "Status",
    "__version__",
    "load_settings",
    "segment",
]

logging.getLogger("amem").addHandler(logging.NullHandler())


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'amem' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def load_ipython_extension(shell: Any) -> None:
    """Add amem's magics to an IPython shell: ``%load_ext amem``."""
    import_module("amem.jupyter.magics").load(shell)


if "IPython" in sys.modules and (_shell := sys.modules["IPython"].get_ipython()) is not None:
    # Notes, hits and reports show as tables in a notebook from the start. This loads nothing that shows them.
    import_module("amem.jupyter.formatters").register(_shell)


def __dir__() -> list[str]:
    return __all__
