"""Counting tokens as models do, without a network: LiteLLM, which amem depends on, carries OpenAI's vocabularies."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from amem.errors import MissingModel

Count: TypeAlias = Callable[[str], int]

#: o200k_base is what GPT-4o and later read; Llama 3's own vocabulary grew from cl100k_base and is close to it.
NAMES = ("o200k_base", "cl100k_base", "minilm")

#: tiktoken keeps a vocabulary under the SHA-1 of the address it came from.
_FILES = {
    "o200k_base": "fb374d419588a4632f3f557e76b4b70aebbca790",
    "cl100k_base": "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
}


def counter(name: str, cache: Path) -> Count:
    """Tokens of a text by the tokenizer `name`; `cache` is amem's own, where MiniLM's lies.

    Raises MissingModel when the tokenizer is not on this machine: an estimate in its place would be another figure.
    """
    return _minilm(cache) if name == "minilm" else _tiktoken(name)


def _tiktoken(name: str) -> Count:
    package = importlib.util.find_spec("litellm")
    folder = Path(package.origin).parent / "litellm_core_utils" / "tokenizers" if package and package.origin else None
    if folder is None or not (folder / _FILES[name]).is_file():
        raise MissingModel(f"this LiteLLM carries no {name} vocabulary", hint="take --tokenizer minilm")
    before = os.environ.get("TIKTOKEN_CACHE_DIR")
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    try:
        import tiktoken

        encoding = tiktoken.get_encoding(name)
    finally:
        if before is None:
            del os.environ["TIKTOKEN_CACHE_DIR"]
        else:
            os.environ["TIKTOKEN_CACHE_DIR"] = before
    # What looks like a control token in somebody's note is text.
    return lambda text: len(encoding.encode(text, disallowed_special=()))


def _minilm(cache: Path) -> Count:
    from tokenizers import Tokenizer

    from amem.embedding.minilm import MINILM

    path = cache / "models" / MINILM / "tokenizer.json"
    if not path.is_file():
        raise MissingModel(f"no tokenizer at {path}", hint="run amem setup")
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)
