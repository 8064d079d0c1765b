"""Answers of a model, kept line by line, so that an interrupted run of a slow one goes on where it stopped."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

from amem.errors import InvalidInput

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Said:
    """What a model said to one prompt and what that cost, tokens as its server counts them."""

    text: str
    tokens_in: int
    tokens_out: int
    seconds: float


class KeptAnswers:
    """The answers in `path`, found again by model and prompt: another model, recall or wording is asked anew."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._held: dict[str, Said] = {}
        if path.exists():
            self._read()

    def __len__(self) -> int:
        return len(self._held)

    def find(self, model: str, prompt: str) -> Said | None:
        """The answer to this very prompt; None when it was not asked yet."""
        return self._held.get(_key(model, prompt))

    def keep(self, model: str, prompt: str, said: Said) -> None:
        """Add an answer; it is in the file when this returns."""
        key = _key(model, prompt)
        self._held[key] = said
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"key": key, "model": model, **asdict(said)}, ensure_ascii=False) + "\n")

    def _read(self) -> None:
        lines = self._path.read_bytes().split(b"\n")
        whole = b"\n".join(lines[:-1]) + b"\n" if len(lines) > 1 else b""
        if lines[-1]:
            # Whoever was writing it was killed: without its line break it is no answer, and the next would join it.
            self._path.write_bytes(whole)
        for number, line in enumerate(lines[:-1], start=1):
            try:
                entry = json.loads(line)
                said = Said(entry["text"], entry["tokens_in"], entry["tokens_out"], entry["seconds"])
                self._held[entry["key"]] = said
            except (ValueError, KeyError, TypeError) as error:
                raise InvalidInput(
                    f"{self._path}, line {number}, is not a kept answer: {error!r}", hint="remove the line or the file"
                ) from error


def _key(model: str, prompt: str) -> str:
    return blake2b(f"{model}\0{prompt}".encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
