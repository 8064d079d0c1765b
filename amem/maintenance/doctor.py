"""A check-up of a collection: what is wrong, what to do about it, and, when asked, doing it."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from amem.analysts.models import day_of
from amem.clock import ASTRAY, start_of_day, zone
from amem.errors import AmemError, InvalidInput, StorageCorrupt
from amem.index.chroma_folder import look_at
from amem.labels import counted, short_id, visible_name
from amem.language.predicates import load_predicates
from amem.maintenance.phase import ACTOR
from amem.note import Status
from amem.protocols import TokenEmbedder
from amem.storage.database import FILE_NAME
from amem.storage.purging import owed
from amem.storage.rows import time_text
from amem.token_vectors import PACKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from amem.collection import Advice, Collection, Vectorizer
    from amem.index import DenseLeg
    from amem.settings import Settings
    from amem.storage.store import Store


#: Seconds that a repair waits for Chroma to be rebuilt: 100,000 notes take three minutes.
_CHROMA_SECONDS = 1_800.0
#: So many of the database's problems are named.
_NAMED = 50
#: What a group and all others may do with a file.
_OTHERS = 0o077


@dataclass(frozen=True, slots=True)
class Finding:
    """One result: `level` is ok, warning or error, `about` what was looked at; `hint` says what to do."""

    level: str
    about: str
    what: str
    hint: str = ""


def examine(
    collection: Collection,
    *,
    repair: bool,
    rules: Callable[[Path], object],
    language: Callable[[], Advice | None],
    finish_purges: Callable[[], str],
) -> list[Finding]:
    """Check database, index, models, a user's own files and what waits.

    `rules` reads a home's own file of that name; `language` says what is wrong where the model cannot read the notes,
    `finish_purges` does what purges owe and says why it can't. With `repair`, do that, embed what lacks a vector, write
    the cache anew, and bring Chroma in step.
    """
    store, dense, vectorizer = collection.store, collection.dense, collection.vectorizer
    settings, folder = collection.settings, collection.folder
    return [
        *_database(store),
        *_purges(store, finish_purges, repair=repair),
        *_embedder(vectorizer, settings, language),
        *_model(settings),
        *_cross_encoder(settings),
        *_reranker(settings),
        *_own_files(settings, {"rules": rules, "predicates": load_predicates}),
        *_budget(store, settings),
        *_vectors(store, dense, vectorizer, repair=repair),
        *_words(store, vectorizer, settings),
        *([] if folder is None else [_chroma(store, dense, folder, repair=repair)]),
        *_waiting(store, settings),
        *_modes(settings, folder, repair=repair),
        *_clock(store, repair=repair),
        *_ids(store),
        *_links(store),
        *_truth(store),
    ]


def _database(store: Store) -> Iterator[Finding]:
    try:
        problems = store.check()
    except StorageCorrupt as error:
        problems = [str(error)]
    where = str(store.folder or "in memory")
    for problem in problems[:_NAMED]:
        yield Finding("error", "database", problem, "restore a backup: amem backup --restore FILE")
    if len(problems) > _NAMED:
        yield Finding("error", "database", f"and {len(problems) - _NAMED:,} more")
    if not problems:
        with store.read() as session:
            counts = f"{counted(session.notes.count(), 'note')}, {counted(session.links.count(), 'link')}"
        yield Finding("ok", "database", f"{where}: {counts}, no damage found")
    if store.read_only:
        yield Finding("warning", "database", f"{where} is read-only", "check the folder's permissions and free space")


def _clock(store: Store, *, repair: bool) -> Iterator[Finding]:
    """Notes that took their time from a clock that stood in the future: they would pass for newer than all to come."""
    with store.read() as session:
        ahead = session.notes.recorded_after(session.now + ASTRAY)
    if not ahead:
        return
    what = f"{counted(len(ahead), 'note')} recorded by a clock that stood in the future"
    if not repair:
        yield Finding("warning", "clock", what, "amem doctor --repair gives them the time of the next note, or today's")
        return
    with store.write() as session:
        operation = session.begin("mend", ACTOR, what)
        for id in ahead:
            # Not after what came next by a right clock, which they would pass for newer than.
            since = time_text(session.notes.arrived_after(id, session.now + ASTRAY) or session.now)
            session.notes.change(id, {"at": since, "timestamp": since}, operation)
    yield Finding("ok", "clock", f"{what}: dated when the next one came or today, amem undo {operation} takes it back")


def _purges(store: Store, finish: Callable[[], str], *, repair: bool) -> Iterator[Finding]:
    """Text that was purged and may still be in a file."""
    with store.read() as session:
        due = owed(session)
    if due is None:
        return
    if not repair:
        what = f"files may still hold what operation {due.operation} purged"
        yield Finding("warning", "purge", what, "amem doctor --repair or amem maintain rids them of it")
    elif problem := finish():
        yield Finding("error", "purge", f"files still hold what operation {due.operation} purged: {problem}")
    else:
        yield Finding("ok", "purge", f"no file holds any more what operation {due.operation} purged")


def _embedder(vectorizer: Vectorizer, settings: Settings, language: Callable[[], Advice | None]) -> Iterator[Finding]:
    from amem.embedding import describe

    try:
        vectorizer.check()
    except AmemError as error:
        yield Finding("error", "embedder", str(error), error.hint)
        return
    origin = describe(settings)
    if origin.ready:
        yield Finding("ok", "embedder", str(origin))
    else:
        yield Finding("warning", "embedder", str(origin), "amem setup gets it ready")
    if (advice := language()) is not None:
        yield Finding("warning", "language", advice.what, advice.hint)


def _model(settings: Settings) -> Iterator[Finding]:
    from amem.analysts.choose import survey

    found = survey(settings)
    if found.problem:
        yield Finding("warning", "model", found.problem, found.hint)
    else:
        yield Finding("ok", "model", found.reason)


def _cross_encoder(settings: Settings) -> Iterator[Finding]:
    """The judge of conflicts that is there only where somebody downloaded it."""
    from amem.llm.cross_encoders import local_entailment

    name = settings.nli_model
    if not name:
        return
    try:
        found = local_entailment(name)
    except AmemError as error:
        yield Finding("warning", "conflicts", f"{error}; rules judge alone", error.hint)
        return
    if found is not None:
        yield Finding("ok", "conflicts", f"rules and {name} judge which notes contradict each other")
    else:
        yield Finding(
            "ok", "conflicts", f"rules judge which notes contradict each other; {name} is not on this machine"
        )


def _reranker(settings: Settings) -> Iterator[Finding]:
    """What reads the best candidates of a search again, where it is there or was asked for."""
    from amem.llm.cross_encoders import find_reranker

    name = settings.rerank_model
    if settings.rerank == "off" or (settings.rerank == "auto" and not name):
        return
    try:
        found = find_reranker(name)
    except AmemError as error:
        yield Finding("warning", "reranking", f"{error}; searches are not reranked", error.hint)
        return
    if found is not None:
        yield Finding("ok", "reranking", f"{name} reads the best candidates of a search again")
    elif settings.rerank == "on":
        hint = "the first search fetches it, if it can; set rerank (AMEM_RERANK) to auto to do without"
        yield Finding("warning", "reranking", f"{name or 'a rerank_model'} is not on this machine", hint)
    else:
        yield Finding("ok", "reranking", f"searches are not reranked; {name} is not on this machine")


def _own_files(settings: Settings, readers: Mapping[str, Callable[[Path], object]]) -> Iterator[Finding]:
    """Prompts, rules and predicates that a user wrote: what needs them fails where they cannot be used."""
    from amem.llm.prompts import check_prompts

    used = []
    for path, problem in check_prompts(settings.home / "prompts"):
        if problem is None:
            used.append(path.name)
        else:
            yield Finding("error", "prompts", str(problem), problem.hint)
    if used:
        yield Finding("ok", "prompts", f"your own {', '.join(used)} in place of amem's")
    for about, read in readers.items():
        try:
            read(settings.home)
        except InvalidInput as error:
            yield Finding("error", about, str(error), error.hint)


def _budget(store: Store, settings: Settings) -> Iterator[Finding]:
    limit = settings.llm_daily_tokens
    if not limit:
        return
    with store.read() as session:
        spent = session.spending.of(day_of(session.now, zone(settings.timezone)))
    if spent >= limit:
        what = f"today's {limit:,} tokens for models are spent ({spent:,})"
        yield Finding("warning", "budget", what, "raise llm_daily_tokens (AMEM_LLM_DAILY_TOKENS), or wait for tomorrow")
    else:
        yield Finding("ok", "budget", f"{spent:,} of today's {limit:,} tokens for models are spent")


def _vectors(store: Store, dense: DenseLeg, vectorizer: Vectorizer, *, repair: bool) -> Iterator[Finding]:
    with store.read() as session:
        missing = len(session.vectors.missing())
    if missing and repair:
        try:
            mended = vectorizer.embed_missing()
        except AmemError as error:
            yield Finding("error", "vectors", f"{missing} notes could not be embedded: {error}", error.hint)
        else:
            yield Finding("ok", "vectors", f"{mended} notes embedded")
    elif missing:
        yield Finding("warning", "vectors", f"{missing} notes have no vector yet", "amem doctor --repair embeds them")
    dense.refresh()
    if repair:
        dense.write_cache()
    yield Finding("ok", "index", _searched(dense.status()))


def _words(store: Store, vectorizer: Vectorizer, settings: Settings) -> Iterator[Finding]:
    """Whether the vectors of words are there that late interaction was asked to compare."""
    if not settings.late_weight:
        return
    with store.read() as session:
        space = session.vectors.space()
    if not isinstance(vectorizer.embedder, TokenEmbedder):
        what = f"{vectorizer.embedder.name} gives no vectors of words, so that late_weight says nothing"
        yield Finding("warning", "words", what, "all-MiniLM-L6-v2 and other models on this machine as ONNX give them")
    elif space is not None and space.tokens != PACKING:
        what = "late_weight is set, and the notes have no vectors of words yet"
        yield Finding("warning", "words", what, "amem reindex makes them")


def _searched(status: Mapping[str, Any]) -> str:
    """How much a search by meaning has to look through, with what, and what of its copies on disk is out of order."""
    by = "Chroma finds the nearest" if status["base"] == "chroma" else "a search compares them all"
    parts = [counted(status["size"], "vector"), by]
    if status["tail"]:
        parts.append(f"{status['tail']:,} newer than the copy on disk")
    if "damaged" in status["cache"] or "cannot" in status["cache"]:
        parts.append(f"the copy on disk {status['cache']}")
    return "; ".join(parts)


def _chroma(store: Store, dense: DenseLeg, folder: Path, *, repair: bool) -> Finding:
    """Whether the copy in Chroma is whole and in step; with `repair`, a broken one is moved aside and rebuilt."""
    if repair and dense.status()["wanted"] != "exact":
        done = dense.wait_for_chroma(_CHROMA_SECONDS, check=True)
        state = dense.status()["chroma"]
        if done or "another process" in state:
            return Finding("ok", "chroma", state)
        return Finding("error", "chroma", state, "searches compare the vectors themselves meanwhile")
    with store.read() as session:
        space, counter = session.vectors.space(), session.counter
    found = look_at(folder, "" if space is None else space.fingerprint, read_only=store.read_only)
    if found.seq is None:
        return Finding("warning" if found.broken else "ok", "chroma", found.what, found.hint)
    with store.read() as session:
        behind = len(session.vectors.states(found.seq)[0])
    if behind and found.seq < counter:
        hint = "the next chat, browser, worker or amem maintain stores them"
        return Finding("ok", "chroma", f"not in it yet: {counted(behind, 'changed note')}", hint)
    return Finding("ok", "chroma", "every note is in it")


def _waiting(store: Store, settings: Settings) -> Iterator[Finding]:
    with store.read() as session:
        unfinished = session.notes.unfinished()
        reviews = len(session.reviews.open())
    degraded = sum(1 for _, state in unfinished if state == "degraded")
    if unfinished:
        what = f"{len(unfinished) - degraded} notes wait for analysis, {degraded} where it failed"
        yield Finding("warning", "analysis", what, "amem enrich finishes them")
    else:
        yield Finding("ok", "analysis", "every note is analysed")
    yield from _chats(store, settings)
    if reviews:
        yield Finding("warning", "reviews", f"{reviews} proposed changes wait", "amem review shows them")


def _chats(store: Store, settings: Settings) -> Iterator[Finding]:
    with store.read() as session:
        waiting = session.chats.unlearnt()
        today = session.chats.unlearnt(since=start_of_day(session.now, zone(settings.timezone)))
    if not waiting:
        return
    what = f"{waiting} turns of chats wait to be learnt from"
    if settings.chat_learning == "night" and today:
        what += f", {today} of them until the day is over"
    yield Finding("ok", "chats", what, "amem work does it in time, amem enrich now")


def _modes(settings: Settings, folder: Path | None, *, repair: bool) -> Iterator[Finding]:
    """Files with notes or keys that other users of the machine may open; with `repair`, not any more."""
    if os.name != "posix":
        return
    held = [] if folder is None else [folder, *(folder / f"{FILE_NAME}{end}" for end in ("", "-wal", "-shm"))]
    if settings.api_key is not None:
        held += [settings.home / name for name in (".env", "config.toml")]
    for path in held:
        if not path.exists() or not (mode := stat.S_IMODE(path.stat().st_mode)) & _OTHERS:
            continue
        if not repair:
            what = f"other users of this machine may open {path} (mode {mode:o})"
            yield Finding("warning", "modes", what, "amem doctor --repair keeps it to you")
            continue
        try:
            path.chmod(mode & ~_OTHERS)
        except OSError as error:
            yield Finding(
                "error", "modes", f"{path} cannot be kept to you: {error.strerror}", "change its mode by hand"
            )
        else:
            yield Finding("ok", "modes", f"{path} is yours alone now")


def _ids(store: Store) -> Iterator[Finding]:
    """Ids that an earlier amem took and this one refuses."""
    with store.read() as session:
        found = [visible_name(id) for id, status in session.notes.disguised() if status != Status.DELETED]
    if found:
        what = f"{len(found)} note{'s have ids' if len(found) > 1 else ' has an id'} with control characters"
        some = ", ".join(found[:5]) + (", …" if len(found) > 5 else "")
        yield Finding("warning", "ids", f"{what}: {some}", "amem delete takes such an id as it is shown here")


def _links(store: Store) -> Iterator[Finding]:
    with store.read() as session:
        dangling = session.links.dangling()
    if dangling:
        what = f"{dangling} links point to notes that do not exist (yet)"
        yield Finding("warning", "links", what)
    else:
        yield Finding("ok", "links", "every link resolves")


def _truth(store: Store) -> Iterator[Finding]:
    """What may not be so any more, and nobody has said."""
    with store.read() as session:
        flagged = len({flag.note for flag in session.flags.leaning()})
        lost = session.notes.behind_lost()
    if flagged:
        what = f"{counted(flagged, 'note')} may be out of date"
        yield Finding("warning", "flags", what, "amem review flags shows them")
    if lost:
        some = ", ".join(short_id(id) for id in lost[:5]) + (", …" if len(lost) > 5 else "")
        what = f"{len(lost)} superseded by a note that was deleted: {some}"
        yield Finding("warning", "successors", what, "amem unsupersede ID makes one stand again")
