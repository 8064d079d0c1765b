"""The narrow services that rooms hand each other. Each has a small real fake in ``amem.testing``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from amem.clock import Clock

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from amem.analysis import (
        Analysis,
        Described,
        Draft,
        Evolution,
        Extraction,
        Judgement,
        MergeDraft,
        Neighbour,
        PageDraft,
        PageNote,
        Pair,
        Passage,
    )
    from amem.note import Message
    from amem.token_vectors import TokenVector

    Vector = NDArray[np.float32]
    Matrix = NDArray[np.float32]

__all__ = [
    "Analyst",
    "BatchAnalyst",
    "ChatModel",
    "Clock",
    "Embedder",
    "Entailment",
    "Judge",
    "Literate",
    "MergeWriter",
    "PageWriter",
    "Reranker",
    "TokenEmbedder",
    "Vocabulary",
]


@runtime_checkable
class Embedder(Protocol):
    """Text to vectors. Loads its model on first use, not when made."""

    @property
    def name(self) -> str:
        """The model's name as it goes into a collection's fingerprint."""
        ...

    @property
    def dimension(self) -> int:
        """Length of every vector; may load the model."""
        ...

    def embed(self, texts: Sequence[str]) -> Matrix:
        """One L2-normalised float32 row per text, shape (len(texts), dimension)."""
        ...


@runtime_checkable
class TokenEmbedder(Embedder, Protocol):
    """An embedder that can tell the vectors of a text's words as well."""

    @property
    def gives_tokens(self) -> bool:
        """Whether its model does; may load the model."""
        ...

    def embed_tokens(self, texts: Sequence[str]) -> list[TokenVector]:
        """As ``embed``, a vector for each text, each with its words where the model gives them."""
        ...


@runtime_checkable
class Literate(Protocol):
    """A model that can tell how much of a text its vocabulary has words for."""

    def knows(self, text: str) -> float:
        """The share of the text's words that it can read, 0..1; may load the model unless the text is ASCII."""
        ...


class Vocabulary(Protocol):
    """What the collection already says, for analysts that prefer its words to new ones."""

    @property
    def total(self) -> int:
        """How many notes it holds."""
        ...

    def document_frequency(self, terms: Sequence[str]) -> Mapping[str, int]:
        """For each index term (see ``amem.language.index_terms``) how many notes hold it; 0 when none."""
        ...

    def tags(self) -> Mapping[str, int]:
        """Every tag in use and how many notes carry it."""
        ...


@runtime_checkable
class Analyst(Protocol):
    """Reads notes. `name` is kept with everything it changed; `local` is True when it is quick, free, deterministic."""

    @property
    def name(self) -> str: ...

    @property
    def local(self) -> bool: ...

    def analyze(self, draft: Draft, vocabulary: Vocabulary) -> Analysis:
        """Keywords, context, tags, kind, importance and entities of a new note (A-Mem's Ps1)."""
        ...

    def evolve(
        self, draft: Draft, analysis: Analysis, neighbours: Sequence[Neighbour], vocabulary: Vocabulary
    ) -> Evolution:
        """Links and tags for the new note, rewrites for its neighbours (Ps2 and Ps3)."""
        ...

    def extract(self, passage: Passage) -> Extraction:
        """What a piece of conversation states that is worth remembering; nothing that it does not state."""
        ...


@runtime_checkable
class BatchAnalyst(Protocol):
    """An analyst that can also do all of analysis for several new notes in one call."""

    @property
    def name(self) -> str: ...

    def analyze_all(
        self, drafts: Sequence[Draft], neighbours: Sequence[Neighbour], vocabulary: Vocabulary, *, again: int
    ) -> Sequence[Described]:
        """Ps1, Ps2 and Ps3 of new notes that are held against the same `neighbours`: one for each draft, in order.

        Answers that are of no use may cost `again` more calls.
        """
        ...


@runtime_checkable
class Judge(Protocol):
    """An analyst that can also say what one note is to another."""

    def judge(self, pairs: Sequence[Pair]) -> Judgement:
        """What the newer note of each pair is to the older, in one call; it may say nothing of some."""
        ...


@runtime_checkable
class PageWriter(Protocol):
    """An analyst that can also write the page of a topic."""

    @property
    def name(self) -> str: ...

    def page(self, title: str, present: str, notes: Sequence[PageNote]) -> PageDraft:
        """The page anew, in one call: the `present` one, which cites `notes` by handle, with all of these in it."""
        ...


@runtime_checkable
class MergeWriter(Protocol):
    """An analyst that can also write the one note that stands for several."""

    @property
    def name(self) -> str: ...

    def merge(self, parts: Sequence[str]) -> MergeDraft:
        """Whether `parts` say the same, and the text for all of them, in one call."""
        ...


@runtime_checkable
class ChatModel(Protocol):
    """A language model behind some server."""

    @property
    def name(self) -> str:
        """Backend and model, such as ``ollama/llama3.2``."""
        ...

    def complete(self, prompt: str, *, schema: Mapping[str, object] | None = None, temperature: float = 0.0) -> str:
        """The answer to one prompt, held to a JSON schema where the server can.

        Raises ServiceUnavailable when no server answers, MissingModel when it lacks the model, BudgetSpent when the
        day's tokens are used up, Cancelled when it was called off.
        """
        ...

    def stream(self, messages: Sequence[Message], *, temperature: float = 0.7) -> Iterator[str]:
        """The answer to a conversation, in pieces as it is written; closing the iterator ends the call.

        Raises what `complete` raises, also in the middle of an answer.
        """
        ...


class Entailment(Protocol):
    """Says of two texts whether the second follows from the first. Loads its model on first use."""

    def compare(self, pairs: Sequence[tuple[str, str]]) -> list[Mapping[str, float]]:
        """For each pair (premise, hypothesis) the probability of entailment, neutral and contradiction, by name."""
        ...


class Reranker(Literate, Protocol):
    """Reads a question and passages together and says how well each answers. Loads its model on first use."""

    @property
    def name(self) -> str:
        """The model, as explanations name it."""
        ...

    def load(self) -> None:
        """Get the model into memory, so that the first answer takes no longer than the next.

        Raises MissingModel or MissingExtra when it cannot be had, InvalidInput when it is of another kind.
        """
        ...

    def score(self, question: str, passages: Sequence[str]) -> list[float]:
        """For each passage, in order, how well it answers, in 0..1. Raises what `load` raises."""
        ...
