"""Language models: reaching them, asking them about notes, and reading what they answer.

Importing this loads neither LiteLLM nor the Ollama package; the first call to a model does.
"""

from __future__ import annotations

from amem.llm.choose import make_analyst, make_chat

__all__ = ["make_analyst", "make_chat"]
