"""Small real stand-ins for what tests cannot have: time, a large model's judgement, a model server.

Nothing in amem imports this; programs built on amem may use it in their own tests.
"""

from __future__ import annotations

from amem.testing.analyst import ScriptedAnalyst
from amem.testing.chat import ScriptedChat
from amem.testing.clock import FrozenClock
from amem.testing.embedder import HashEmbedder
from amem.testing.fake_ollama import FakeOllama
from amem.testing.faults import SMUGGLED, Fault, spoil
from amem.testing.reranker import WordReranker
from amem.testing.willing import willing_model

__all__ = [
    "SMUGGLED",
    "FakeOllama",
    "Fault",
    "FrozenClock",
    "HashEmbedder",
    "ScriptedAnalyst",
    "ScriptedChat",
    "WordReranker",
    "spoil",
    "willing_model",
]
