"""The memory that a conversation recalls from, and who answers in a chat."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from amem.errors import AmemError, MissingModel, ServiceUnavailable
from amem.llm.model_names import is_ollama
from amem.llm.ollama_models import chat_models, models

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime
    from threading import Event

    from amem.conversation.assistant import Assistant
    from amem.conversation.reply import Learnt
    from amem.language.intervals import Interval
    from amem.note import MemoryNote, Receipt
    from amem.protocols import ChatModel
    from amem.query import Filter, Query
    from amem.retrieval.budget import Core
    from amem.retrieval.fact_leg import Filled
    from amem.retrieval.hit import Hit
    from amem.retrieval.question import Period
    from amem.settings import Settings
    from amem.storage.note_lists import Card
    from amem.storage.store import Session
    from amem.storage.undo import UndoReport


# What a conversation needs of the rooms above it: something to recall with.


class Memory(Protocol):
    """A collection as the assistant uses it; ``AgenticMemorySystem`` is one."""

    @property
    def settings(self) -> Settings: ...

    def ask(self, query: Query) -> list[Hit]: ...

    def reading(self, hits: Sequence[Hit]) -> Iterator[tuple[Session, list[Hit]]]: ...

    def facts_asked(self, question: str, *, period: Period | None = None) -> Filled: ...

    def wording(self, found: Sequence[Interval], *, chinese: bool = False, period: Period | None = None) -> str: ...

    def doubted_by(self, ids: Sequence[str], words: Sequence[str] = ()) -> list[str]: ...

    def add(self, content: str, *, time: str | datetime | None = None, **fields: Any) -> Receipt: ...

    def read(self, id: str) -> MemoryNote | None: ...

    def resolve(self, prefix: str, *, deleted: bool = False) -> str: ...

    def delete(self, id: str) -> bool: ...

    def undo(self, operation: int | None = None) -> UndoReport: ...

    def core_chosen(self, most: int, count: Callable[[str], int] = ...) -> list[Core]: ...

    def list(
        self,
        filter: Filter | None = None,
        *,
        limit: int = 50,
        offset: int = 0,
        order: str = "time",
        holding: Sequence[Sequence[str]] = (),
    ) -> list[MemoryNote]: ...


class Collection(Memory, Protocol):
    """A collection as a conversation's front end uses it; ``AgenticMemorySystem`` is one."""

    def assistant(
        self,
        *,
        chat: ChatModel | Callable[[], ChatModel] | None = None,
        session: str | None = None,
        incognito: bool = False,
        on_learnt: Callable[[Learnt], None] | None = None,
    ) -> Assistant: ...

    def chat_model(self, settings: Settings | None = None, *, cancelled: Event | None = None) -> ChatModel: ...

    def count(self, filter: Filter | None = None) -> int: ...

    def cards_of(self, ids: Sequence[str]) -> dict[str, Card]: ...


# Who answers in a chat: said in words, listed, and changed.


def with_model(settings: Settings, name: str) -> Settings:
    """These settings with another model; one without a prefix belongs to the backend, Ollama where that is offline.

    Raises InvalidInput.
    """
    backend = "ollama" if settings.llm_backend in ("auto", "offline") else settings.llm_backend
    return settings.replaced(llm_backend=backend, llm_model=name)


def available(settings: Settings) -> list[str] | None:
    """The chat models that Ollama has; None when no Ollama answers."""
    return chat_models(settings.ollama_host)


def check(settings: Settings, model: str) -> None:
    """Ask Ollama whether it has the model of that full name; models of others are taken at their word.

    Raises MissingModel or ServiceUnavailable, each with what to do.
    """
    if not is_ollama(model):
        return
    name = model.removeprefix("ollama/")
    # Not only those that amem would choose by itself: one that Ollama asks elsewhere for may be named, too.
    found = models(settings.ollama_host)
    if found is None:
        raise ServiceUnavailable(
            f"no Ollama answers at {settings.ollama_host}", hint="start it with `ollama serve`", passing=True
        )
    if not any(each.called(name) for each in found):
        raise MissingModel(f"Ollama has no model {name}", hint=f"run `amem models pull {name}`")


def missing(settings: Settings, assistant: Assistant) -> MissingModel | None:
    """What to say when the assistant's model is known not to be there; None when it is, or nobody can tell.

    A server that does not answer now may do so for the next message, and without any model memory is shown.
    """
    try:
        check(settings, assistant.model)
    except MissingModel as error:
        return error
    except AmemError:
        return None
    return None


def answering(settings: Settings, model: str) -> str:
    """``llama3.2, from Ollama at 127.0.0.1:11434``: who answers and where that runs."""
    if is_ollama(model):
        return f"{model.removeprefix('ollama/')}, from Ollama at {urlsplit(settings.ollama_host).netloc}"
    return f"{model}, at {urlsplit(settings.api_base).netloc}" if settings.api_base else f"{model}, over the network"


def reason(error: str | AmemError, hint: str = "") -> str:
    """What went wrong and what to do, as whatever failed said it: in brackets after it."""
    what, hint = (error, hint) if isinstance(error, str) else (str(error), error.hint)
    return f"{what}{f' ({hint})' if hint else ''}"
