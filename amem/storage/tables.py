"""The tables as SQLAlchemy Core sees them; ``migrations/*.sql`` is what makes them."""

from __future__ import annotations

from sqlalchemy import TableClause, column, table


def _table(name: str, columns: str) -> TableClause:
    return table(name, *(column(each) for each in columns.split()))


meta = _table("meta", "key value")
counter = _table("counter", "id value")
operations = _table("operations", "id parent action actor cause at undoes undone_by prompts")
notes = _table(
    "notes",
    "key id content normal keywords tags entities facts context category timestamp at kind layer status importance"
    " reliability pinned superseded_by valid_from valid_to recorded_at conversation_id ordinal speaker metadata"
    " enrichment analyst version edited text_hash seq vector_seq overturned",
)
note_counts = _table("note_counts", "status notes")
note_terms = _table("note_terms", "role term note")
term_counts = _table("term_counts", "role term notes")
links = _table("links", "key source target type reason confidence made_by at operation weight")
versions = _table("versions", "id operation note version changes owned")
link_changes = _table("link_changes", "id operation source target type before after")
facts = _table(
    "facts",
    "note place subject predicate object subject_key predicate_key object_key holds valid_from valid_to",
)
flags = _table("flags", "id note because reason at operation dismissed")
runs = _table("runs", "id cycle operation started_at finished_at seq phase progress owner lease_until")
usage = _table("usage", "note recalls last_access growth since_archived")
corroborations = _table("corroborations", "note who at operation")
sources = _table("sources", "key id kind conversation ref speaker at ordinal text operation")
note_sources = _table("note_sources", "note source operation gathered")
spaces = _table("spaces", "id model dimension recipe active")
vectors = _table("vectors", "key space hash vector")
reviews = _table("reviews", "id note operation base_version changes reason confidence made_by created_at expires_at")
decisions = _table("decisions", "id review state operation")
jobs = _table("jobs", "id kind note operation owner lease_until attempts error")
spending = _table("spending", "day model calls tokens_in tokens_out")
sessions = _table("sessions", "key id started_at scope")
turns = _table(
    "turns",
    "key session number at question answer state model prompt error recalled supported tokens_in tokens_out learning"
    " learnt_by episode owner lease_until",
)
tombstones = _table("tombstones", "note id seq")
vaults = _table("vaults", "id identity path counter operation synced_ns")
vault_files = _table("vault_files", "vault note path text digest mtime_ns size refs gone")
note_text = _table("note_text", "rowid content keywords tags context")
note_vocabulary = _table("note_vocabulary", "term doc cnt")
source_text = _table("source_text", "rowid content")
