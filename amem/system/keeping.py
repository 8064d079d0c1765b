"""The collection itself: its index, its health, its copies, and what it is made with."""

from __future__ import annotations

from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING

from amem.collection import collection_names, folder_of
from amem.conversation.rule_file import load_rules
from amem.errors import InvalidInput
from amem.language.predicates import load_predicates
from amem.maintenance.doctor import Finding, examine
from amem.maintenance.upkeep import reindex
from amem.system.purges import Purging

if TYPE_CHECKING:
    import os
    from collections.abc import Callable
    from threading import Event
    from typing import Self

    from amem.errors import StorageCorrupt
    from amem.llm_controller import LLMController
    from amem.protocols import ChatModel
    from amem.settings import Settings
    from amem.storage.backup import Backup
    from amem.system.languages import Advice


class Keeping(Purging):
    """Looks after an open collection, and says what it is."""

    def feed_chroma(self, timeout: float = 600.0) -> bool:
        """Have the collection's Chroma folder hold every note now, which the background does in time.

        False where another process keeps the folder, where there is none (in memory, read-only, ``dense_base`` exact),
        and when it takes longer than `timeout` seconds.
        """
        return self._dense.wait_for_chroma(timeout)

    def reindex(self, *, progress: Callable[[int, int], None] | None = None) -> int:
        """Embed every note anew with the present model and recipe; returns how many."""
        return reindex(self._store, self._vectorizer, self.actor, progress=progress)

    def doctor(self, *, repair: bool = False) -> list[Finding]:
        """Check the database, the index, the models and what waits; with `repair`, mend what can be mended."""
        return examine(
            self._store,
            self._dense,
            self._vectorizer,
            self.settings,
            folder=self._folder,
            repair=repair,
            rules=load_rules,
            predicates=load_predicates,
            language=self._languages.always,
            finish_purges=self.finish_purges,
        )

    def language_advice(self) -> Advice | None:
        """What to tell the user of the notes' language and the embedding model, once for a collection and model.

        None where that was told before, where nothing was asked or added in such a language, and where all is well.
        """
        return self._languages.once()

    @property
    def passed_over(self) -> dict[str, StorageCorrupt]:
        """Rows that lists left out since the collection was opened, as they cannot be read, and why."""
        return dict(self._store.passed_over)

    def copy(self, name: str) -> Path:
        """Copy the collection, consistent even while it is written to, to a new one in the same home.

        Raises CollectionExists; a collection in memory cannot be copied.
        """
        if self._folder is None:
            raise InvalidInput("a collection in memory cannot be copied", hint="give the system a directory")
        target = folder_of(self.settings.home, name)
        self._store.copy_to(target)
        return target

    def backup(self, path: str | os.PathLike[str], *, replace: bool = False) -> Backup:
        """Write the collection to one file, whole even while it is written to, checked, with its SHA-256 beside it.

        `amem.collection.restore_backup` makes a collection of it again. Raises InvalidInput for a file that is there
        (unless to `replace` it), StorageCorrupt when the collection is damaged, StorageFull and StorageReadOnly.
        """
        return self._store.back_up(Path(path), replace=replace)

    def collections(self) -> list[str]:
        """Names of the collections in the home."""
        return collection_names(self.settings.home)

    @property
    def folder(self) -> Path | None:
        """The collection's folder; None in memory."""
        return self._folder

    @property
    def read_only(self) -> bool:
        """True when the collection can be read but not changed."""
        return self._store.read_only

    @property
    def model_name(self) -> str:
        """Name of the embedding model."""
        return self._vectorizer.embedder.name

    @property
    def evo_cnt(self) -> int:
        """How many notes have evolved something, whatever process added them."""
        return self._evolutions.total

    @property
    def evo_threshold(self) -> int:
        """Evolutions between two consolidations."""
        return self.settings.evo_threshold

    def acting_as(self, actor: str) -> Self:
        """The same open collection under another name in the log; closing either closes both."""
        other = copy(self)
        other.actor = actor
        return other

    def chat_model(self, settings: Settings | None = None, *, cancelled: Event | None = None) -> ChatModel:
        """The chat model that the collection's settings name, or these; within the day's budget in either case.

        Setting `cancelled` (None: closing the collection) calls it off; a call made while it is set is called off at
        once, and one made after it was cleared is not. Raises InvalidInput with the ``offline`` backend,
        ServiceUnavailable when ``auto`` finds no model.
        """
        models = self._models if cancelled is None else self._models.called_off_by(cancelled)
        return models.chat(settings)

    @property
    def llm_controller(self) -> LLMController:
        """A-Mem's way to the language model the settings name."""
        return self._models.controller()
