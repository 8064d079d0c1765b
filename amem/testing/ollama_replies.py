"""The JSON that Ollama's paths reply with, as the parts that are streamed or joined into one."""

from __future__ import annotations

from typing import Any

from amem.testing.embedder import HashEmbedder

_CREATED = "2026-01-01T00:00:00Z"
_PIECE = 16


def chat(request: dict[str, Any], text: str) -> list[dict[str, Any]]:
    """``/api/chat`` saying `text`."""
    prompt = " ".join(str(message.get("content", "")) for message in request.get("messages", ()))
    said = [_part(request, message={"role": "assistant", "content": piece}) for piece in _pieces(text)]
    return [*said, _end(request, prompt, text, message={"role": "assistant", "content": ""})]


def generate(request: dict[str, Any], text: str) -> list[dict[str, Any]]:
    """``/api/generate`` saying `text`."""
    said = [_part(request, response=piece) for piece in _pieces(text)]
    return [*said, _end(request, str(request.get("prompt", "")), text, response="")]


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


def show(request: dict[str, Any]) -> dict[str, Any]:
    """``/api/show``: what the model can do."""
    entry = listed(str(request.get("model") or request.get("name")))
    capability = "embedding" if "embed" in entry["name"] else "completion"
    return {"details": entry["details"], "model_info": {}, "template": "", "capabilities": [capability]}


def listed(name: str) -> dict[str, Any]:
    """One entry of ``/api/tags``."""
    family = "nomic-bert" if "embed" in name else "llama"
    details = {"format": "gguf", "family": family, "families": [family], "parameter_size": "3B"}
    return {"name": name, "model": name, "modified_at": _CREATED, "size": 1, "digest": "0" * 64, "details": details}


def _part(request: dict[str, Any], **said: Any) -> dict[str, Any]:
    return {"model": request["model"], "created_at": _CREATED, "done": False, **said}


def _end(request: dict[str, Any], prompt: str, text: str, **said: Any) -> dict[str, Any]:
    counts = {"prompt_eval_count": len(prompt.split()), "eval_count": len(text.split()), "total_duration": 1}
    return {**_part(request, **said), "done": True, "done_reason": "stop", **counts}


def _pieces(text: str) -> list[str]:
    return [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]
