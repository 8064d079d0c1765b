"""The JSON schemas that model answers are held to, where a server can hold them.

Kept plain (no length, no pattern, no reference), because each server compiles a grammar from them and the simplest
server decides. What they cannot say the readers check.
"""

from __future__ import annotations

from typing import Any

from amem.note import Kind, LinkType

#: A topic or an episode summary is made by amem, from many notes; everything else may be one note's kind.
NOTE_KINDS = tuple(kind for kind in Kind if kind is not Kind.TOPIC)

#: What somebody states in a conversation; a procedure has a form of its own, an episode is the conversation.
STATEMENT_KINDS = tuple(kind for kind in NOTE_KINDS if kind not in (Kind.EPISODE, Kind.PROCEDURE))

#: What a new note may be to an old one in a model's eyes; ``derived_from`` is for amem to say.
LINK_TYPES = tuple(type_ for type_ in LinkType if type_ is not LinkType.DERIVED_FROM)

#: What one of two notes may be to the other in the eyes of a judge.
VERDICTS = ("contradicts", "supersedes", "supports", "related", "none")

_STRING = {"type": "string"}
_SHARE = {"type": "number"}
_YES_OR_NO = {"type": "boolean"}
_POSITION = {"type": "integer"}
#: How sure a model is: words, since small models give every number alike.
CERTAINTY = ("sure", "likely", "unsure")


def analysis_schema() -> dict[str, Any]:
    """What `analyze` asks for."""
    fact = _object(subject=_STRING, predicate=_STRING, object=_STRING)
    return _object(
        keywords=_list(_STRING),
        context=_STRING,
        tags=_list(_STRING),
        kind=_one_of(NOTE_KINDS),
        importance=_SHARE,
        entities=_list(_STRING),
        facts=_list(fact),
    )


def evolution_schema(handles: tuple[str, ...]) -> dict[str, Any]:
    """What `evolve` asks for; only the notes that were shown can be named.

    In every item the quote and the reason come before what follows from them: a model decides after it has read.
    """
    return _object(links=_list(_link(handles)), rewrites=_list(_rewrite(handles)), tags=_list(_STRING))


def batch_schema(names: tuple[str, ...], handles: tuple[str, ...]) -> dict[str, Any]:
    """What `analyze_all` asks for: new notes are `names` (``s1``, ...), old ones `handles`; without these no links."""
    fields = dict(analysis_schema()["properties"])
    note = _object(note=_one_of(names), **{name: fields[name] for name in fields if name != "kind"})
    if not handles:
        return _object(notes=_list(note))
    link = _object(**{"from": _one_of(names)}, **_link(handles)["properties"])
    return _object(notes=_list(note), links=_list(link), rewrites=_list(_rewrite(handles)))


def _link(handles: tuple[str, ...]) -> dict[str, Any]:
    type_, confidence = _one_of(LINK_TYPES), _one_of(CERTAINTY)
    return _object(to=_one_of(handles), quote=_STRING, reason=_STRING, type=type_, confidence=confidence)


def _rewrite(handles: tuple[str, ...]) -> dict[str, Any]:
    tags, confidence = _list(_STRING), _one_of(CERTAINTY)
    return _object(
        note=_one_of(handles), quote=_STRING, reason=_STRING, context=_STRING, tags=tags, confidence=confidence
    )


def extraction_schema(messages: tuple[str, ...], procedures: tuple[str, ...] = ()) -> dict[str, Any]:
    """What `extract` asks for; only the messages (``m1``, ...) and procedures (``p1``, ...) shown can be named.

    ``updates`` is ``""`` for a procedure that is new.
    """
    said_by = _list(_one_of(messages))
    statement = _object(text=_STRING, kind=_one_of(STATEMENT_KINDS), messages=said_by)
    procedure = _object(
        name=_STRING, trigger=_STRING, steps=_list(_STRING), messages=said_by, updates=_one_of(("", *procedures))
    )
    return _object(summary=_STRING, statements=_list(statement), procedures=_list(procedure))


def answer_schema() -> dict[str, Any]:
    """What `answer` asks for: a text, the numbers of the notes it rests on, and whether they answer the question.

    ``in_memory`` comes first, so that a model decides before it writes.
    """
    return _object(in_memory=_YES_OR_NO, answer=_STRING, cites=_list(_POSITION))


def rerank_schema(handles: tuple[str, ...]) -> dict[str, Any]:
    """What `rerank` asks for: the notes (``n1``, ...) that help to answer, the most helpful first."""
    return _object(best=_list(_one_of(handles)))


def judge_schema(handles: tuple[str, ...]) -> dict[str, Any]:
    """What `judge` asks for: one verdict for each pair that was shown (``c1``, ``c2``, ...)."""
    label, confidence = _one_of(VERDICTS), _one_of(CERTAINTY)
    verdict = _object(pair=_one_of(handles), quote=_STRING, reason=_STRING, verdict=label, confidence=confidence)
    return _object(verdicts=_list(verdict))


def merge_schema() -> dict[str, Any]:
    """What `merge` asks for: whether notes say the same, and the note (``merged``) that can stand for them."""
    verdict, confidence = _one_of(("same", "different")), _one_of(CERTAINTY)
    return _object(quote=_STRING, reason=_STRING, verdict=verdict, confidence=confidence, merged=_STRING)


def suffices_schema() -> dict[str, Any]:
    """What `suffices` asks for: words of the notes that answer, what is missing, and whether they hold the answer."""
    return _object(quote=_STRING, reason=_STRING, suffices=_YES_OR_NO)


def topic_page_schema(handles: tuple[str, ...]) -> dict[str, Any]:
    """What `topic_page` asks for: a page whose every statement names the notes (``n1``, ...) that it rests on."""
    shown = _list(_one_of(handles))
    return _object(title=_STRING, summary=_STRING, statements=_list(_object(text=_STRING, notes=shown)), gone=shown)


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _one_of(values: tuple[str, ...]) -> dict[str, Any]:
    return {"type": "string", "enum": [str(value) for value in values]}


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
