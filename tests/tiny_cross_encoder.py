"""A cross-encoder made on the spot: a BERT of two layers whose weights are set so that it counts common words.

In the first layer a word of the question looks for itself in the passage, and remembers whether it was there; in the
second the first token takes the mean of that over the question. Everything else (vocabulary, files, loading, batches)
is as with any real model.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

TEXT = "where does the cat sleep dog barks here rain it is a"
_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def make_cross_encoder(folder: Path, text: str = TEXT, *, outputs: int = 1) -> Path:
    """Save a model that knows the words of `text`; a passage scores the higher, the more of the question it has."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

    words = [*_SPECIAL, *dict.fromkeys(re.findall(r"[^\W_]+|[^\w\s]", text.lower()))]
    folder.mkdir(parents=True)
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    size = len(words) + 4
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=size,
        num_hidden_layers=2,
        num_attention_heads=1,
        intermediate_size=8,
        max_position_embeddings=64,
        num_labels=outputs,
        problem_type="regression" if outputs == 1 else None,
    )
    torch.manual_seed(7)
    model = BertForSequenceClassification(config)
    with torch.no_grad():
        _set(model, len(words), size)
    model.save_pretrained(folder)
    BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    return folder


def _set(model: Any, words: int, size: int) -> None:
    """One dimension for each word, then: in the question, in the passage, found there, and the mean of that."""
    import torch

    asked, told, found, mean = range(words, size)
    bert = model.bert
    for name, weight in model.named_parameters():
        if "LayerNorm.weight" not in name:
            weight.zero_()
    bert.embeddings.word_embeddings.weight[:, :words] = torch.eye(words)
    bert.embeddings.token_type_embeddings.weight[0, asked] = 1
    bert.embeddings.token_type_embeddings.weight[1, told] = 1
    first, second = (layer.attention for layer in bert.encoder.layer)
    # Oneself in the other text counts most, then oneself, then the others in the other text.
    sharp = 8.0
    for word in range(words):
        first.self.query.weight[word, word] = first.self.key.weight[word, word] = sharp
    first.self.query.weight[asked, asked] = first.self.query.weight[told, told] = sharp / 2
    first.self.key.weight[asked, told] = first.self.key.weight[told, asked] = sharp / 2
    first.self.value.weight[found, told] = 1
    # Little, or normalisation would take what was found out of everything else.
    first.output.dense.weight[found, found] = 0.3
    second.self.query.weight[asked, asked] = second.self.key.weight[asked, asked] = 2
    second.self.value.weight[mean, found] = 1
    second.output.dense.weight[mean, mean] = 4
    bert.pooler.dense.weight[mean, mean] = 0.5
    model.classifier.weight[:, mean] = 4
