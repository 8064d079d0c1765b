"""The JSON of the OpenAI-compatible paths that Ollama serves beside its own."""

from __future__ import annotations

from typing import Any

from amem.testing.embedder import HashEmbedder
from amem.testing.ollama_replies import pieces

_CREATED = 1_767_225_600


def completion(request: dict[str, Any], text: str, *, complete: bool = True) -> dict[str, Any]:
    """``/v1/chat/completions`` saying `text` at once."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": _reason(complete)}
    return {**_head(request, "chat.completion"), "choices": [choice], "usage": _usage(request, text)}


def chunks(request: dict[str, Any], text: str, *, complete: bool = True) -> list[dict[str, Any]]:
    """The same in pieces; the cost comes last, and only where it was asked for."""
    head = _head(request, "chat.completion.chunk")
    deltas: list[tuple[str, str | None]] = [(piece, None) for piece in pieces(text)]
    deltas.append(("", _reason(complete)))
    said = [
        {**head, "choices": [{"index": 0, "delta": {"role": "assistant", "content": piece}, "finish_reason": end}]}
        for piece, end in deltas
    ]
    if (request.get("stream_options") or {}).get("include_usage"):
        said.append({**head, "choices": [], "usage": _usage(request, text)})
    return said


def embeddings(request: dict[str, Any]) -> dict[str, Any]:
    """``/v1/embeddings``: vectors of `HashEmbedder`."""
    texts = request.get("input", "")
    rows = HashEmbedder().embed([texts] if isinstance(texts, str) else texts).tolist()
    data = [{"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(rows)]
    return {"object": "list", "model": request["model"], "data": data, "usage": {"prompt_tokens": 1, "total_tokens": 1}}


def models(names: list[str]) -> dict[str, Any]:
    """``/v1/models``."""
    return {"object": "list", "data": [{"id": name, "object": "model", "created": _CREATED} for name in names]}


def refusal(reason: str, kind: str = "api_error") -> dict[str, Any]:
    """An error's body."""
    return {"error": {"message": reason, "type": kind, "param": None, "code": None}}


def _head(request: dict[str, Any], kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": kind, "created": _CREATED, "model": request["model"]}


def _usage(request: dict[str, Any], text: str) -> dict[str, int]:
    read = sum(len(str(message.get("content", "")).split()) for message in request.get("messages") or ())
    written = len(text.split())
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


def _reason(complete: bool) -> str:
    return "stop" if complete else "length"
