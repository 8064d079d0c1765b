"""Invented notes and chats of any number, with vectors to go with them, for timing a large collection."""

from __future__ import annotations

import random
import time
import zlib
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np

from amem import NewNote, Source
from amem.token_vectors import WIDTH, Tokens, TokenVector

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

DIMENSION, SUBJECTS, WORDS = 384, 400, 30
#: Words of a text that have a vector: as many as turns of LoCoMo have on average.
TOLD = 15
FIRST = ("Ana", "Bruno", "Carla", "Deniz", "Emre", "Femi", "Goran", "Hana", "Ines", "Jonas", "Kenji", "Lena")
BEGIN, DAYS = datetime(2023, 1, 1, 8, tzinfo=UTC), 1_000
MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
#: Turns of a chat, and how likely the next turn goes on about the same subject.
LONG, SAME = 400, 0.85


class TableEmbedder:
    """Vectors gathered around the subject a text is about, and one for each of its first words, made from its letters.

    `seconds`, and `processor` of a processor, are what it has taken, which is nobody's to pay.
    """

    name = "benchmark-table"
    dimension = DIMENSION
    gives_tokens = True

    def __init__(self) -> None:
        self._centres = np.random.default_rng(7).standard_normal((SUBJECTS, DIMENSION)).astype(np.float32)
        self._words: dict[str, NDArray[np.int8]] = {}
        self.seconds = self.processor = 0.0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        start, begun = time.perf_counter(), time.process_time()
        rows: NDArray[np.float32] = np.stack([self._row(text) for text in texts])
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        self.seconds += time.perf_counter() - start
        self.processor += time.process_time() - begun
        return rows

    def embed_tokens(self, texts: Sequence[str]) -> list[TokenVector]:
        rows = self.embed(texts)
        start, begun = time.perf_counter(), time.process_time()
        found = [TokenVector.of(row, self._told(text)) for row, text in zip(rows, texts, strict=True)]
        self.seconds += time.perf_counter() - start
        self.processor += time.process_time() - begun
        return found

    def _told(self, text: str) -> Tokens:
        words = [word for each in text.split() if len(word := each.strip(".?,").casefold()) > 3][:TOLD]
        return Tokens(np.stack([self._word(word) for word in words]), tuple(words))

    def _word(self, word: str) -> NDArray[np.int8]:
        if word not in self._words:
            noise = np.random.default_rng(zlib.crc32(word.encode())).integers(-127, 128, WIDTH, dtype=np.int8)
            self._words[word] = noise
        return self._words[word]

    def _row(self, text: str) -> NDArray[np.float32]:
        subject = next((int(word[3:]) for word in text.split() if word.startswith("sub") and word[3:].isdigit()), 0)
        noise = np.random.default_rng(zlib.crc32(text.encode())).standard_normal(DIMENSION).astype(np.float32)
        return self._centres[subject] + 0.7 * noise


class Corpus:
    """Notes about 400 subjects with words of their own over a common vocabulary of natural (Zipf) frequencies."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._common = [_word(number) for number in range(20_000)]
        self._weights = [1 / (rank + 2) for rank in range(20_000)]

    def note(self, subject: int | None = None, who: str | None = None) -> str:
        """One text about a subject, by somebody."""
        subject = self._random.randrange(SUBJECTS) if subject is None else subject
        words = self._own(subject, 6) + self._random.choices(self._common, self._weights, k=WORDS - 8)
        self._random.shuffle(words)
        return f"{who or self._random.choice(FIRST)} noted that sub{subject} {' '.join(words)}."

    def notes(self, count: int) -> list[NewNote]:
        """Notes that stand for themselves, over three years."""
        return [NewNote(self.note(), self._at(number, count)) for number in range(count)]

    def turns(self, count: int) -> list[NewNote]:
        """Chats of two, 400 turns each: every note one turn, in its place."""
        found = []
        subject, pair = 0, list(FIRST[:2])
        for number in range(count):
            chat, ordinal = f"chat-{number // LONG}", number % LONG + 1
            if ordinal == 1:
                pair = self._random.sample(FIRST, 2)
            if ordinal == 1 or self._random.random() > SAME:
                subject = self._random.randrange(SUBJECTS)
            who = pair[ordinal % 2]
            text, at = self.note(subject, pair[(ordinal + 1) % 2]), self._at(number, count)
            source = Source(f"{chat}-{ordinal}", "message", chat, f"T{ordinal}", who, at, text, ordinal)
            found.append(NewNote(text, at, source))
        return found

    def question(self, *, month: bool = False) -> str:
        """Words of a subject and common ones, and who said it; with `month`, when."""
        subject = self._random.randrange(SUBJECTS)
        words = self._own(subject, 2) + self._random.choices(self._common, self._weights, k=4)
        when = f" in {self._random.choice(MONTHS)} {self._random.choice((2023, 2024))}" if month else ""
        return f"what did {self._random.choice(FIRST)} say about sub{subject} {' '.join(words)}{when}?"

    def questions(self, count: int, *, month: bool = False) -> Iterator[str]:
        """So many questions."""
        return (self.question(month=month) for _ in range(count))

    def _own(self, subject: int, count: int) -> list[str]:
        return [_word(100_000 + subject * 40 + self._random.randrange(40)) for _ in range(count)]

    @staticmethod
    def _at(number: int, count: int) -> datetime:
        return BEGIN + timedelta(days=DAYS * number / count)


def _word(number: int) -> str:
    syllables = ["ba", "ke", "li", "mo", "nu", "ra", "se", "ti", "vo", "za", "chi", "dra", "fel", "gor", "hun", "jas"]
    text = ""
    number += 256
    while number:
        text += syllables[number % 16]
        number //= 16
    return text
