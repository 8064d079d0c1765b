"""Small real stand-ins for what tests cannot have: time, a large model's judgement, a model server.

Nothing in amem imports this; programs built on amem may use it in their own tests.
"""

from __future__ import annotations

from amem.testing.embedder import HashEmbedder, WordReranker
from amem.testing.fake_ollama import FakeOllama
from amem.testing.frozen_clock import FrozenClock
from amem.testing.scripted import ScriptedAnalyst, ScriptedChat
from amem.testing.willing import willing_model
from amem.testing.wire import SMUGGLED, Fault, spoil

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
