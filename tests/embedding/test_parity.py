"""The exported model against sentence-transformers on the same weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from amem.embedding.embedder_choice import make_embedder
from amem.embedding.minilm import OfflinePackage, ensure_minilm, open_minilm
from amem.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from amem.protocols import Embedder

pytestmark = pytest.mark.thorough

TEXTS = [
    "I moved to Lisbon in March and started at the harbour office.",
    "We decided to use PostgreSQL 15.3 instead of MySQL.",
    "Never deploy on Fridays!",
    "she is allergic to peanuts",
    "SHE IS ALLERGIC TO PEANUTS",
    "What did Maria say about the budget?",
    "Café, naïve, Zürich, Ångström, São Paulo",
    "Il a dit qu'il viendrait demain à huit heures.",
    "Der Zug nach München fährt um 7:45 Uhr ab.",
    "Завтра будет дождь.",
    "明日は雨が降るでしょう。",
    "내일은 비가 올 것입니다.",
    "مرحبا بالعالم",
    "我三月搬到了里斯本,在港务局工作。",
    "我们决定不用 MySQL,改用 PostgreSQL 15.3。",
    "她对花生过敏",
    "他昨天说下周三下午三点开会,地点改到二楼会议室。",
    "部署服务器的步骤:先备份,再停服务,最后升级。",
    "中文 English 混合 text 在一起",
    "🙂",
    "🎉🎉 we shipped it 🚀",
    "👩‍👩‍👧‍👦 family 🇵🇹",
    "def add(a: int, b: int) -> int:\n    return a + b",
    "SELECT id, name FROM users WHERE created_at > '2026-01-01' ORDER BY id;",
    "TypeError: unsupported operand type(s) for +: 'int' and 'str'",
    '{"retries": 3, "timeout": 2.5, "hosts": ["a", "b"]}',
    "https://example.org/path?query=1&other=two#fragment",
    "snake_case camelCase kebab-case v15.3 0xDEADBEEF",
    "42",
    "3.14159265358979",
    "[1, 2]",
    "",
    " ",
    "\n\t",
    ".",
    "a",
    "\u200b",
    "[CLS] [SEP] [MASK] [PAD]",
    "supercalifragilisticexpialidocious" * 4,
    "the quick brown fox jumps over the lazy dog " * 60,
    "港口的冬天很冷,我们在码头等了很久。" * 60,
    "x" * 5000,
]


@pytest.fixture(scope="module")
def sentence_transformers(model_cache: Path) -> Embedder:
    folder = OfflinePackage().folder
    assert folder is not None, "the offline extra is not installed"
    return make_embedder(Settings(cache=model_cache), str(folder))


def worst_cosine(one: Embedder, other: Embedder) -> float:
    return float((one.embed(TEXTS) * other.embed(TEXTS)).sum(axis=1).min())


def test_every_kind_of_text_gets_the_vector_sentence_transformers_gives(
    minilm: Embedder, sentence_transformers: Embedder
) -> None:
    assert worst_cosine(minilm, sentence_transformers) >= 0.9999


def test_a_fresh_export_of_the_offline_package_gives_the_same_vectors(
    tmp_path: Path, sentence_transformers: Embedder
) -> None:
    said: list[str] = []
    origin = ensure_minilm(tmp_path, said.append, [OfflinePackage()])
    assert origin.ready
    assert str(tmp_path) in origin.place
    assert said[0].startswith("exporting all-MiniLM-L6-v2")
    fresh = open_minilm(tmp_path, said.append, [])
    np.testing.assert_allclose(fresh.encode(TEXTS), sentence_transformers.embed(TEXTS), atol=1e-4)


def test_sentence_transformers_serves_a_folder_without_an_onnx_file(sentence_transformers: Embedder) -> None:
    assert sentence_transformers.dimension == 384
    assert sentence_transformers.embed([]).shape == (0, 384)
    assert sentence_transformers.embed(["tea", "茶"]).dtype == np.float32
