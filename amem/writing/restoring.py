"""Notes of an export put back as they were: nothing of them is analysed, linked or dated anew."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING, Any

from amem import checks
from amem.clock import parse_time
from amem.errors import AmemError, InvalidInput
from amem.note import Enrichment, MemoryNote, Receipt, Source, Status
from amem.storage.operations import Version
from amem.storage.rows import VERSIONED, from_plain, time_text
from amem.storage.whole import Use, Whole, put_whole
from amem.writing.fields import ENRICH_JOB, as_timestamp, clean, clean_content
from amem.writing.intake import scope_of

if TYPE_CHECKING:
    from amem.collection import Collection
    from amem.settings import Settings
    from amem.storage.store import Session

#: Fields that are checked as those of a new note are; the others are amem's own.
_CHECKED = (
    *("keywords", "tags", "entities", "context", "category", "kind", "layer", "importance", "pinned"),
    *("conversation_id", "ordinal", "speaker", "metadata"),
)
_OWNERS = frozenset({"given", "edited"})


@dataclass(frozen=True, slots=True)
class Exported:
    """A line of an export: its `record`, and the sources it came from, the first its very text where `own`."""

    record: Mapping[str, Any]
    sources: tuple[Source, ...]
    own: bool


@dataclass(frozen=True, slots=True)
class _Checked:
    exported: Exported
    note: MemoryNote
    whole: Whole
    versions: tuple[Version, ...]


@dataclass(frozen=True, slots=True)
class Restorer:
    """Puts exported notes back into one collection; `known` says which operations those of the export became."""

    collection: Collection

    def restore(
        self,
        items: Sequence[Exported],
        *,
        actor: str,
        cause: str,
        parent: int | None,
        progress: Callable[[int, int], None] | None = None,
        on_refused: Callable[[int, AmemError], None] | None = None,
        at_last: Callable[[Session, Sequence[Receipt]], None] | None = None,
    ) -> list[Receipt]:
        """Store the notes, as one operation or as part of `parent`, in batches; receipts as those of `add_notes`.

        Raises EmbedderMismatch.
        """
        self.collection.vectorizer.check()
        checked = []
        for position, item in enumerate(items):
            try:
                checked.append(_checked(item, self.collection.settings))
            except InvalidInput as error:
                if on_refused is None:
                    raise
                on_refused(position, error)
        receipts: list[Receipt] = []
        known: dict[int, int] = {}
        size = self.collection.settings.batch_size
        for start in range(0, len(checked), size):
            some = checked[start : start + size]
            vectors, _ = self.collection.vectorizer.embed([self.collection.vectorizer.text(each.note) for each in some])
            with self.collection.store.write() as session:
                self.collection.vectorizer.keep(session, vectors)
                if parent is None:
                    parent = session.begin("import", actor, cause)
                stored = [self._put(session, each, parent, known) for each in some]
                if at_last is not None:
                    at_last(session, stored)
            receipts += stored
            if progress is not None:
                progress(len(receipts), len(checked))
        return receipts

    def _put(self, session: Session, each: _Checked, operation: int, known: dict[int, int]) -> Receipt:
        note = each.note
        hashed = self.collection.vectorizer.hash(note)
        key = put_whole(session, note, each.whole, each.versions, operation, text_hash=hashed, known=known)
        for place, source in enumerate(each.exported.sources):
            gathered = place > 0 or not each.exported.own
            session.sources.attach(key, session.sources.put(source, operation), operation, gathered=gathered)
        if note.enrichment is not Enrichment.DONE and note.status is not Status.DELETED:
            session.jobs.put(ENRICH_JOB, note.id, operation)
        return Receipt(note.id, "stored", note.enrichment, note.analyst, operation)


def _checked(item: Exported, settings: Settings) -> _Checked:
    """The note that a line tells of. Raises InvalidInput."""
    record = item.record
    try:
        kept = record["kept"]
        values = {name: from_plain(name, record[name]) for name in VERSIONED if name not in (*_CHECKED, "facts")}
        values["at"] = parse_time(record["at"], UTC)
        for name in ("valid_from", "valid_to"):
            values[name] = None if record[name] is None else parse_time(record[name], UTC)
        values["timestamp"] = as_timestamp(record["timestamp"], settings)[0]
        values |= clean({name: record[name] for name in _CHECKED}, settings)
        values["facts"] = clean({"facts": from_plain("facts", kept["facts"])}, settings)["facts"]
        values["content"] = clean_content(record["content"], settings)
        scope_of(values["metadata"])
        for name in ("status", "enrichment"):
            values[name] = type(getattr(MemoryNote(""), name))(record[name])
        note = MemoryNote(
            id=checks.identifier("an id", record["id"]), recorded_at=parse_time(record["recorded_at"], UTC), **values
        )
        checks.text("analyst", note.analyst)
        if note.superseded_by is not None:
            checks.identifier("superseded_by", note.superseded_by)
        whole = _whole(kept)
        versions = tuple(_version(each, number) for number, each in enumerate(record.get("versions", []), start=1))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, IndexError) as error:
        raise InvalidInput(f"not a line amem exported: {error}") from error
    except AmemError as error:
        raise error if isinstance(error, InvalidInput) else InvalidInput(str(error)) from error
    return _Checked(item, note, whole, versions)


def _whole(kept: Mapping[str, Any]) -> Whole:
    owned = {checks.text("a field", name): by for name, by in kept["owned"].items() if by in _OWNERS}
    use = None
    if kept["use"] is not None:
        recalls, last, growth, since = kept["use"]
        whole = [checks.whole("a count of uses", each, least=0) for each in (recalls, since)]
        use = Use(whole[0], time_text(parse_time(last, UTC)), checks.number("growth", growth, 0.0, 1e9), whole[1])
    witnesses = tuple((checks.text("who", who), time_text(parse_time(at, UTC))) for who, at in kept["witnesses"])
    flags = tuple(
        (
            checks.identifier("a cause", because),
            checks.text("a reason", reason),
            time_text(parse_time(at, UTC)),
            dismissed is True,
        )
        for because, reason, at, dismissed in kept["flags"]
    )
    return Whole(checks.number("reliability", kept["reliability"], 0.0, 1.0), owned, use, witnesses, flags)


def _version(held: Mapping[str, Any], number: int) -> Version:
    if held["version"] != number or not isinstance(held["changes"], Mapping):
        raise ValueError(f"version {number} is missing")
    changes = {}
    for name, pair in held["changes"].items():
        if name not in VERSIONED:
            raise ValueError(f"a version changes {name!r}")
        for value in (pair["before"], pair["after"]):
            from_plain(name, value)
        changes[name] = (pair["before"], pair["after"])
    said = [checks.text(name, held[name]) for name in ("actor", "action", "cause", "prompts")]
    actor, action, cause, prompts = said
    operation = checks.whole("operation", held["operation"])
    return Version(number, parse_time(held["at"], UTC), actor, action, cause, operation, changes, prompts)
