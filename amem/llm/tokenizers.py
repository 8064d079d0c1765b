"""Counting tokens as a model does, where its tokenizer is on this machine; nothing is ever fetched for it.

Two kinds can be there. LiteLLM brings those of OpenAI's models along. A ``tokenizer.json`` lies in a model's folder and
in the cache of the Hugging Face hub, where a server such as vLLM put it. Ollama keeps its models' tokenizers to itself,
and those of Claude and Gemini are not published: for these there is `most_tokens`.
"""

from __future__ import annotations

import base64
import os.path
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from amem.errors import InvalidInput
from amem.language.terms import most_tokens
from amem.llm.model_names import full_name, is_ollama

if TYPE_CHECKING:
    from collections.abc import Callable

    from amem.settings import Settings

    Count = Callable[[str], int]

_FILE = "tokenizer.json"
#: Where in LiteLLM the vocabularies lie, each under the hash of its address.
_BUNDLE = Path("litellm_core_utils", "tokenizers")
_VOCABULARIES = {
    "cl100k_base": "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
    "o200k_base": "fb374d419588a4632f3f557e76b4b70aebbca790",
}
#: How a text is cut before it is encoded; as in ``tiktoken_ext.openai_public``, which would fetch the vocabularies.
_CUT = {
    "cl100k_base": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]"
        r"|\s+(?!\S)|\s"
    ),
    "o200k_base": (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
}


@dataclass(frozen=True, slots=True)
class Counter:
    """Counts tokens. `name` says by what; `exact` is False for an upper bound."""

    count: Callable[[str], int]
    name: str
    exact: bool = True

    def __call__(self, text: str) -> int:
        return self.count(text)


#: For any model.
BOUND = Counter(most_tokens, "an upper bound for any model", exact=False)


def counter_for(model: str) -> Counter:
    """What counts as the model of that name does, or the bound where its tokenizer is not on this machine.

    `model` is a name with or without its provider (``gpt-4o``, ``openai/gpt-4o``, ``Qwen/Qwen2.5-7B-Instruct``), or
    the path of a ``tokenizer.json`` or of the folder that holds one. Raises InvalidInput for such a file that cannot be
    read.
    """
    name = model.strip()
    if not name:
        return BOUND
    encoding = _openai(name)
    if encoding is not None:
        return Counter(encoding, f"the tokenizer of {name}")
    file = _file(name)
    if file is not None:
        return Counter(_from_file(file), f"the tokenizer of {name}")
    return Counter(most_tokens, f"{BOUND.name}, as the tokenizer of {name} is not here", exact=False)


def settings_counter(settings: Settings) -> Counter:
    """That of the model which the settings name; ``auto``, which would have to ask Ollama first, counts as unknown."""
    if settings.llm_backend in ("auto", "offline"):
        return BOUND
    model = full_name(settings.llm_backend, settings.llm_model)
    return BOUND if is_ollama(model) else counter_for(model)


def _openai(name: str) -> Count | None:
    import tiktoken  # comes with LiteLLM

    try:
        encoding = tiktoken.encoding_name_for_model(name.rpartition("/")[2])
    except KeyError:
        return None
    return _encoding(encoding) if encoding in _CUT else None


@cache
def _encoding(name: str) -> Count | None:
    import tiktoken

    spec = find_spec("litellm")
    folder = next(iter(spec.submodule_search_locations or ()), None) if spec is not None else None
    file = Path(folder or "", _BUNDLE, _VOCABULARIES[name])
    if folder is None or not file.is_file():
        return None
    ranks = {base64.b64decode(token): int(rank) for token, rank in map(bytes.split, file.read_bytes().splitlines())}
    made = tiktoken.Encoding(name, pat_str=_CUT[name], mergeable_ranks=ranks, special_tokens={})
    return lambda text: len(made.encode_ordinary(text))


def _file(name: str) -> Path | None:
    for file in (name, os.path.join(name, _FILE)):
        # A file that happens to be called as a model is none of ours.
        if file.endswith(".json") and os.path.isfile(os.path.expanduser(file)):
            return Path(file).expanduser()
    return _cached(name)


def _cached(name: str) -> Path | None:
    """The file in the hub's cache, for a name with or without LiteLLM's provider before it."""
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    parts = name.split("/")
    for wanted in ("/".join(parts[-2:]), name):
        try:
            found = try_to_load_from_cache(wanted, _FILE)
        except HFValidationError:  # no name that a model on the hub could have
            continue
        if isinstance(found, str):
            return Path(found)
    return None


@cache
def _from_file(file: Path) -> Count:
    from tokenizers import Tokenizer

    try:
        made = Tokenizer.from_file(str(file))
    except Exception as error:  # the library raises nothing narrower
        raise InvalidInput(f"cannot read the tokenizer {file}: {error}", hint="name a tokenizer.json") from error
    # A tokenizer of an embedding model comes set to cut after so many tokens.
    made.no_truncation()
    made.no_padding()
    return lambda text: len(made.encode(text, add_special_tokens=False).ids)
