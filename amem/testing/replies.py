"""The JSON that Ollama's own and OpenAI-compatible paths reply with."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from amem.testing.embedder import HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator


# The JSON that Ollama's paths reply with, as the parts that are streamed or joined into one.

_CREATED = "2026-01-01T00:00:00Z"
_PIECE = 16
#: A longer text comes in this many pieces; thousands of lines would test nothing but patience.
_MOST_PIECES = 200
_LAYERS = (("model", 2_019_377_376), ("template", 1_429), ("params", 96))


def chat(request: dict[str, Any], text: str, *, complete: bool = True) -> list[dict[str, Any]]:
    """``/api/chat`` saying `text`; an answer that is not `complete` ran into its length limit."""
    prompt = " ".join(str(message.get("content", "")) for message in request.get("messages") or ())
    said = [_part(request, message={"role": "assistant", "content": piece}) for piece in pieces(text)]
    return [*said, _end(request, prompt, text, complete, message={"role": "assistant", "content": ""})]


def generate(request: dict[str, Any], text: str, *, complete: bool = True) -> list[dict[str, Any]]:
    """``/api/generate`` saying `text`."""
    said = [_part(request, response=piece) for piece in pieces(text)]
    return [*said, _end(request, str(request.get("prompt", "")), text, complete, response="")]


def joined(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Streamed parts as the one reply that is sent without streaming."""
    whole = dict(parts[-1])
    if "message" in whole:
        whole["message"] = {"role": "assistant", "content": "".join(part["message"]["content"] for part in parts)}
    else:
        whole["response"] = "".join(part["response"] for part in parts)
    return whole


def embed(request: dict[str, Any]) -> dict[str, Any]:
    """``/api/embed``: vectors of `HashEmbedder`."""
    texts = request.get("input", "")
    vectors = HashEmbedder().embed([texts] if isinstance(texts, str) else texts)
    return {"model": request["model"], "embeddings": vectors.tolist()}


def show(name: str, context: int) -> dict[str, Any]:
    """``/api/show``: what the model can do, and how many tokens it can read (`context`)."""
    entry = listed(name)
    family = entry["details"]["family"]
    info = {"general.architecture": family, "general.parameter_count": 3_212_749_888}
    capability = "embedding" if "embed" in name else "completion"
    return {
        "details": entry["details"],
        "model_info": {**info, f"{family}.context_length": context, f"{family}.embedding_length": 3072},
        "modified_at": _CREATED,
        "template": "{{ .Prompt }}",
        "capabilities": [capability],
    }


def listed(name: str) -> dict[str, Any]:
    """One entry of ``/api/tags``."""
    family = "nomic-bert" if "embed" in name else "llama"
    details = {
        "format": "gguf",
        "family": family,
        "families": [family],
        "parameter_size": "3.2B",
        "quantization_level": "Q4_K_M",
    }
    size = sum(layer for _, layer in _LAYERS)
    return {
        "name": name,
        "model": name,
        "modified_at": _CREATED,
        "size": size,
        "digest": digest(name),
        "details": details,
    }


def pulled(name: str) -> Iterator[dict[str, Any]]:
    """``/api/pull``: the progress of a download, layer by layer, up to ``success``."""
    yield {"status": "pulling manifest"}
    for layer, total in _LAYERS:
        key = digest(f"{name} {layer}")
        status = {"status": f"pulling {key[:12]}", "digest": f"sha256:{key}", "total": total}
        yield status
        yield from ({**status, "completed": total * quarter // 4} for quarter in (1, 2, 3, 4))
    for step in ("verifying sha256 digest", "writing manifest", "success"):
        yield {"status": step}


def digest(text: str) -> str:
    """A digest that looks like Ollama's."""
    return hashlib.sha256(text.encode()).hexdigest()


def pieces(text: str) -> list[str]:
    """`text` as a model streams it, bit by bit."""
    size = max(_PIECE, -(-len(text) // _MOST_PIECES))
    return [text[start : start + size] for start in range(0, len(text), size)]


def _part(request: dict[str, Any], **said: Any) -> dict[str, Any]:
    return {"model": request["model"], "created_at": _CREATED, "done": False, **said}


def _end(request: dict[str, Any], prompt: str, text: str, complete: bool, **said: Any) -> dict[str, Any]:
    counts = {"prompt_eval_count": len(prompt.split()), "eval_count": len(text.split()), "total_duration": 1}
    return {**_part(request, **said), "done": True, "done_reason": "stop" if complete else "length", **counts}


# The JSON of the OpenAI-compatible paths that Ollama serves beside its own.

_CREATED_SECONDS = 1_767_225_600


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
    return {"object": "list", "data": [{"id": name, "object": "model", "created": _CREATED_SECONDS} for name in names]}


def refusal(reason: str, kind: str = "api_error") -> dict[str, Any]:
    """An error's body."""
    return {"error": {"message": reason, "type": kind, "param": None, "code": None}}


def _head(request: dict[str, Any], kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": kind, "created": _CREATED_SECONDS, "model": request["model"]}


def _usage(request: dict[str, Any], text: str) -> dict[str, int]:
    read = sum(len(str(message.get("content", "")).split()) for message in request.get("messages") or ())
    written = len(text.split())
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


def _reason(complete: bool) -> str:
    return "stop" if complete else "length"
