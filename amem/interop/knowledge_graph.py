"""``memory.json`` of the reference MCP memory server: a line for each entity with its observations, and each relation.

An entity becomes a note, each of its observations another that is part of it: what the server learnt since the last
import is then new, and nothing else is. A relation becomes a link between the notes of two entities.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from amem.errors import InvalidInput
from amem.interop.decoding import decode
from amem.interop.items import Incoming, Read, Refused, Wanted, source_id
from amem.interop.jsonl import lines_of, object_of
from amem.note import LinkType, Source
from amem.writing.intake import NewNote

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime
    from typing import BinaryIO

#: Relations whose words say what one of our types of link says; all others are `related`, with their words as reason.
_TYPES = {
    "part_of": LinkType.PART_OF,
    "is_part_of": LinkType.PART_OF,
    "caused_by": LinkType.CAUSED_BY,
    "derived_from": LinkType.DERIVED_FROM,
    "supports": LinkType.SUPPORTS,
    "contradicts": LinkType.CONTRADICTS,
}
_MAKER = "mcp-memory"


def read_knowledge_graph(stream: BinaryIO, name: str, written: datetime | None) -> Iterator[Read]:
    """The entities and observations of a stream, which is read twice: relations stand behind what they relate.

    A line that cannot be used is refused by its number, the others go on. `written` is when the file was.
    """
    start = stream.tell()
    relations: dict[str, list[Wanted]] = defaultdict(list)
    refused: list[Refused] = []
    for where, held in _objects(stream):
        if isinstance(held, Refused):
            refused.append(held)
        elif held.get("type") == "relation":
            source, wanted = _relation(held)
            if wanted is None:
                refused.append(Refused(where, "a relation has a from, a to and a relationType, all text"))
            else:
                relations[source].append(wanted)
    yield from refused
    stream.seek(start)
    for where, held in _objects(stream):
        if isinstance(held, Refused) or held.get("type") == "relation":
            continue
        if held.get("type") == "entity":
            yield from _entity(held, where, name, written, tuple(relations.get(str(held.get("name")), ())))
        else:
            yield Refused(where, "neither an entity nor a relation")


def _objects(stream: BinaryIO) -> Iterator[tuple[str, dict[str, Any] | Refused]]:
    for number, place, line in lines_of(stream):
        where = f"line {number}"
        if line is None:
            yield where, Refused(where, "longer than a line may be")
        elif line.strip():
            try:
                yield where, object_of(decode(line, "the line", at=place))
            except InvalidInput as error:
                yield where, Refused(where, str(error))


def _relation(held: Mapping[str, Any]) -> tuple[str, Wanted | None]:
    source, target, said = held.get("from"), held.get("to"), held.get("relationType")
    if not (isinstance(source, str) and isinstance(target, str) and isinstance(said, str) and said.strip()):
        return "", None
    type = _TYPES.get(re.sub(r"[\s-]+", "_", said.strip().lower()), LinkType.RELATED)
    return source, Wanted(_called(target), said.strip().replace("_", " "), type, made_by=_MAKER)


def _entity(
    held: Mapping[str, Any], where: str, file: str, written: datetime | None, relations: tuple[Wanted, ...]
) -> Iterator[Read]:
    name, kind, observations = held.get("name"), held.get("entityType"), held.get("observations", [])
    if not (isinstance(name, str) and name.strip() and isinstance(observations, list)):
        yield Refused(where, "an entity has a name, and a list of observations")
        return
    name, kind = name.strip(), kind.strip() if isinstance(kind, str) else ""
    fields = {"entities": [name], "tags": [kind] if kind else [], "metadata": {"entity": name}}

    def note(content: str, *of: str) -> NewNote:
        source = Source(source_id("mcp-memory", name, *of), "file", None, f"{file}: {name}", None, written, content)
        return NewNote(content, written, source, fields)

    whole = f"{name} ({kind})" if kind else name
    yield Incoming(note(whole, kind), where, names=(_called(name),), wanted=relations)
    for number, said in enumerate(observations, start=1):
        place = f"{where}, observation {number}"
        if not isinstance(said, str) or not said.strip():
            yield Refused(place, "an observation is text")
            continue
        # Found alone, it must say whom it is about.
        about = said.strip() if name.lower() in said.lower() else f"{name}: {said.strip()}"
        yield Incoming(note(about, kind, said), place, wanted=(Wanted(_called(name), "observed", LinkType.PART_OF),))


def _called(name: str) -> str:
    # Beside the names that links between Markdown files go by.
    return f"entity {name.strip()}"
