"""Which name leads to which embedder, and what that costs."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from amem.embedding import describe, make_embedder
from amem.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

HEAVY = ("torch", "transformers", "sentence_transformers", "onnxruntime", "tokenizers", "litellm", "ollama", "onnx")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("all-MiniLM-L6-v2", "OnnxEmbedder"),
        ("sentence-transformers/all-MiniLM-L6-v2", "OnnxEmbedder"),
        ("ollama/nomic-embed-text", "OllamaEmbedder"),
        ("openai/text-embedding-3-small", "LiteLLMEmbedder"),
        ("voyage/voyage-3", "LiteLLMEmbedder"),
        ("BAAI/bge-m3", "SentenceEmbedder"),
        ("sentence-transformers/all-mpnet-base-v2", "SentenceEmbedder"),
        ("all-mpnet-base-v2", "SentenceEmbedder"),
    ],
)
def test_a_name_leads_to_its_embedder(tmp_path: Path, name: str, kind: str) -> None:
    assert type(make_embedder(Settings(cache=tmp_path), name)).__name__ == kind
    assert describe(Settings(cache=tmp_path, embed_model=name)).place


def test_the_setting_decides_when_no_name_is_given(tmp_path: Path) -> None:
    assert make_embedder(Settings(cache=tmp_path, embed_model="ollama/bge-m3")).name == "ollama/bge-m3"


def test_making_embedders_and_describing_them_imports_no_model_library(tmp_path: Path) -> None:
    script = f"""
import sys
from amem.embedding import describe, make_embedder
from amem.settings import Settings
for name in ("all-MiniLM-L6-v2", "ollama/a", "openai/b", "BAAI/bge-m3"):
    make_embedder(Settings(cache={str(tmp_path)!r}), name)
    describe(Settings(cache={str(tmp_path)!r}, embed_model=name))
print([name for name in {HEAVY} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_missing_package_is_named_with_the_line_that_installs_it(tmp_path: Path) -> None:
    script = f"""
import sys
sys.modules["sentence_transformers"] = None
from amem.embedding import make_embedder
from amem.errors import MissingExtra
from amem.settings import Settings
try:
    make_embedder(Settings(cache={str(tmp_path)!r}), "BAAI/bge-m3").embed(["tea"])
except MissingExtra as error:
    print(error.hint)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == 'pip install "amem[sentence-transformers]"'
