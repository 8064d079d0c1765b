"""From a model's name to its embedder, made on first use."""

from __future__ import annotations

import logging
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from amem.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from amem.embedding.minilm import ModelOrigin
    from amem.protocols import Embedder
    from amem.settings import Settings


logger = logging.getLogger("amem.embedding")

#: Prefixes of LiteLLM's embedding providers. A list, because asking LiteLLM costs four seconds, and because an
#: organisation on the Hugging Face hub (``BAAI/bge-m3``) looks the same.
# fmt: off
LITELLM_PROVIDERS = frozenset((
    "azure", "azure_ai", "bedrock", "cohere", "databricks", "deepinfra", "fireworks_ai", "gemini", "github",
    "github_copilot", "hosted_vllm", "huggingface", "infinity", "jina_ai", "litellm_proxy", "llamafile", "lm_studio",
    "mistral", "nebius", "novita", "nvidia_nim", "openai", "openrouter", "predibase", "replicate", "sagemaker",
    "sambanova", "together_ai", "vertex_ai", "volcengine", "voyage", "watsonx", "xinference",
))
#: How models of sentence-transformers begin that are named without an organisation.
FAMILIES = (
    "LaBSE", "all-", "allenai-specter", "average_word_embeddings_", "bert-", "clip-ViT-", "distilbert-",
    "distilroberta-", "distiluse-", "facebook-dpr-", "gtr-t5-", "msmarco-", "multi-qa-", "nli-", "nq-", "paraphrase-",
    "quora-", "roberta-", "sentence-t5-", "static-", "stsb-", "use-cmlm-", "xlm-r-",
)
# fmt: on


def make_embedder(
    settings: Settings, model_name: str | None = None, *, notify: Callable[[str], None] | None = None
) -> Embedder:
    """An embedder for `model_name` (None: the ``embed_model`` setting); it loads its model at the first text.

    `notify` is told, in one line each, of steps that take seconds. Raises InvalidInput for a path without a model.
    """
    name = model_name or settings.embed_model
    tell = notify or logger.info
    from amem.embedding.minilm import DIMENSION, MINILM, is_minilm, open_minilm
    from amem.embedding.onnx_embedder import OnnxEmbedder, OnnxModel

    if is_minilm(name):
        return OnnxEmbedder(MINILM, partial(open_minilm, settings.cache, tell), dimension=DIMENSION)
    folder = _as_folder(name)
    if folder is not None and _is_onnx(folder):
        return OnnxEmbedder(str(folder), partial(OnnxModel.open, folder))
    if folder is None and name.startswith("ollama/"):
        from amem.embedding.server_embedders import OllamaEmbedder

        host, timeout, most = settings.ollama_host, settings.llm_timeout, settings.llm_answer_bytes
        return OllamaEmbedder(name, host=host, timeout=timeout, max_bytes=most)
    if folder is None and _is_litellm(name):
        from amem.embedding.server_embedders import LiteLLMEmbedder

        return LiteLLMEmbedder(name, settings)
    from amem.embedding.sentence_embedder import SentenceEmbedder

    return SentenceEmbedder(str(folder or name), tell)


def check_name(name: str) -> None:
    """Raise InvalidInput, with the forms there are, for what names no embedding model. Asks no server and no hub."""
    folder = _as_folder(name)
    if folder is not None:
        usable = _is_onnx(folder) or any((folder / each).is_file() for each in ("modules.json", "config.json"))
    else:
        owner, slash, rest = name.partition("/")
        usable = not re.search(r"\s", name) and (bool(owner and rest) if slash else name.startswith(FAMILIES))
    if not usable:
        raise InvalidInput(
            f"there is no embedding model {name!r}",
            hint="name one of sentence-transformers (all-MiniLM-L6-v2, paraphrase-multilingual-MiniLM-L12-v2), a"
            " folder, ollama/MODEL, or PROVIDER/MODEL as LiteLLM and the Hugging Face hub have it",
        )


def ensure_model(settings: Settings, notify: Callable[[str], None] | None = None) -> ModelOrigin:
    """Have the configured model ready to use, as ``amem setup`` does, and say where it is.

    Raises MissingModel, MissingExtra or ServiceUnavailable, each with the command that helps.
    """
    from amem.embedding.minilm import ModelOrigin, ensure_minilm, is_minilm

    if is_minilm(settings.embed_model):
        return ensure_minilm(settings.cache, notify or logger.info)
    embedder = make_embedder(settings, notify=notify)
    return ModelOrigin(embedder.name, f"{embedder.dimension} dimensions, {describe(settings).place}", ready=True)


def describe(settings: Settings) -> ModelOrigin:
    """Where the configured model would come from; nothing is loaded, fetched or asked."""
    from importlib.util import find_spec

    from amem.embedding.minilm import ModelOrigin, describe_minilm, is_minilm

    name = settings.embed_model
    if is_minilm(name):
        return describe_minilm(settings.cache)
    folder = _as_folder(name)
    if folder is not None and _is_onnx(folder):
        return ModelOrigin(str(folder), "ONNX model given by its path", ready=True)
    if folder is None and name.startswith("ollama/"):
        return ModelOrigin(name, f"served by Ollama at {settings.ollama_host}", ready=True)
    if folder is None and _is_litellm(name):
        return ModelOrigin(name, "served by its provider through LiteLLM", ready=True)
    if find_spec("sentence_transformers") is None:
        return ModelOrigin(name, 'needs pip install "amem[sentence-transformers]"', ready=False)
    return ModelOrigin(str(folder or name), "by sentence-transformers", ready=folder is not None)


def refuse_missing_folder(name: str) -> None:
    """Raise InvalidInput for a path where no model can be; whether one is there shows when it is opened."""
    _as_folder(name)


def _as_folder(name: str) -> Path | None:
    path = Path(name).expanduser()
    if path.is_dir():
        return path.resolve()
    if name.startswith(("/", "./", "../", "~")) or path.is_absolute():
        raise InvalidInput(f"no embedding model at {name}", hint="give a folder with model.onnx and tokenizer.json")
    return None


def _is_onnx(folder: Path) -> bool:
    return (folder / "model.onnx").is_file() and (folder / "tokenizer.json").is_file()


def _is_litellm(name: str) -> bool:
    provider, slash, _ = name.partition("/")
    return bool(slash) and provider in LITELLM_PROVIDERS
