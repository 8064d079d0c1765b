"""How much of a text a tokenizer can read: the real English one, and others trained on the spot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from amem.language.scripts import Literacy
from amem.protocols import Literate

if TYPE_CHECKING:
    from amem.protocols import Embedder

#: Enough of each language for a trainer to find its words in.
_TEXTS = [
    "昨天我们在成都吃了火锅，今天下雨，没有出门。" * 20,
    "京都で友達と会いました。とても楽しかったです。" * 20,
    "어제 친구와 함께 서울에서 저녁을 먹었습니다. 정말 맛있었습니다." * 20,
    "Вчера мы ездили за город и долго гуляли по лесу." * 20,
    "Yesterday we went hiking and came home late." * 20,
]
_COMMON = "".join(
    bytes((high, low)).decode("gb2312", "ignore") for high in range(0xB0, 0xD8) for low in range(0xA1, 0xFF)
)


@pytest.fixture(scope="session")
def knows(minilm: Embedder) -> Literate:
    assert isinstance(minilm, Literate)
    return minilm


def multilingual(kind: str) -> Tokenizer:
    """As multilingual models have them: every common Chinese character, words of the other languages."""
    words = [*_TEXTS, *_COMMON]
    if kind == "wordpiece":
        made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        made.normalizer = normalizers.BertNormalizer(strip_accents=False)
        made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        made.train_from_iterator(words, trainers.WordPieceTrainer(vocab_size=9_000, special_tokens=["[UNK]"]))
    elif kind == "unigram":
        # A trainer wants more text than this to find words in.
        held = {
            *_COMMON,
            *"".join(_TEXTS),
            "▁",
            "昨天",
            "京都",
            "ました",
            "いました",
            "어제",
            "친구와",
            "함께",
            "했습니다",
        }
        held |= {"▁мы", "▁Вчера", "гуля", "ли", "▁по", "▁лес"}
        made = Tokenizer(models.Unigram([("<unk>", 0.0), *((each, -9.0) for each in sorted(held))], unk_id=0))
        made.pre_tokenizer = pre_tokenizers.Metaspace()
    else:
        made = Tokenizer(models.BPE())
        made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        made.decoder = decoders.ByteLevel()
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        made.train_from_iterator(words * 2, trainers.BpeTrainer(vocab_size=16_000, initial_alphabet=alphabet))
    return made


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("Where did we put the spare key?", 1.0, 1.0),
        ("Où est le café d'Inês ? 🎉", 1.0, 1.0),
        ("🎉", 1.0, 1.0),
        ("", 1.0, 1.0),
        ("我以前在南京的公司是做什么的？", 0.0, 0.1),
        ("東京で働いています", 0.0, 0.1),
        ("나는 서울에 산다", 0.0, 0.1),
        ("Вчера мы гуляли", 0.0, 0.1),
        ("Kafka 现在多少个 partition？", 0.3, 0.7),
        ("Where does 芝麻 sleep at night?", 0.7, 0.95),
    ],
)
def test_the_english_model_knows_how_little_it_reads(knows: Literate, text: str, least: float, most: float) -> None:
    assert least <= knows.knows(text) <= most


@pytest.mark.parametrize("kind", ["wordpiece", "unigram", "bytes"])
@pytest.mark.parametrize(
    "text",
    [
        "昨天我们在成都吃了火锅",
        "京都で友達と会いました",
        "어제 친구와 함께 저녁을 먹었습니다",
        "Вчера мы гуляли по лесу",
    ],
)
def test_a_multilingual_vocabulary_is_trusted_whatever_its_kind(kind: str, text: str) -> None:
    assert Literacy(multilingual(kind)).of(text) > 0.6


def test_an_english_vocabulary_of_bytes_reads_no_chinese() -> None:
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator(_TEXTS[-1:], trainers.BpeTrainer(vocab_size=400, initial_alphabet=alphabet))
    assert Literacy(made).of("昨天我们在成都吃了火锅") < 0.1
    assert Literacy(made).of("어제 친구와 함께") < 0.1


@pytest.mark.parametrize("text", ["的" * 100_000, "a" * 5_000 + "的", "\u0300", "１２３", "—…"])
def test_any_text_has_an_answer(knows: Literate, text: str) -> None:
    assert 0.0 <= knows.knows(text) <= 1.0
