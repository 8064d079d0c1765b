"""The same tools by plain HTTP, for programs that speak no MCP: ``POST /tools/NAME`` with its arguments as JSON.

A result is ``{"result": ...}``; what a caller got wrong is ``{"error": ..., "hint": ...}`` with 400, 401 without the
token, 403 or 421 from another site or machine, 404 for a tool that there is not, 405 for another method, 413 for a body
that is too long. ``GET /tools`` lists the tools with the schemas of what they take and give.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import anyio.to_thread
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from starlette.responses import Response
from starlette.routing import Route

from amem.errors import AmemError
from amem.mcp.server import unexpected

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request

    from amem.mcp.collections import Collections

PATH = "/tools"
#: How a program says what it is called in the log, and what one that does not is called.
CLIENT, _UNNAMED = "X-Client", "http"
#: Bytes of a body: as many as the MCP door takes.
_LONGEST = 4 << 20
#: Every method, so that the ones that are not served are refused in the same shape.
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")
#: Why the SDK's guard refuses a request, and what to do, by the status that it gives.
_REFUSED = {
    400: ("the body is not said to be JSON", "add the header Content-Type: application/json (curl: -H or --json)"),
    403: ("a page of another site may not call this server", "leave the header Origin out"),
    421: ("the server is not called by that name", "call it by 127.0.0.1 or localhost, with its port"),
}


def routes(collections: Collections, allowed: TransportSecuritySettings) -> list[Route]:
    """The routes of the tools, for hosts and origins that are `allowed`; the token is for another to ask for."""
    guard = TransportSecurityMiddleware(allowed)

    async def answered(request: Request) -> Response:
        # Only a body is held to its content type, which no form of a web page can send.
        refused = await guard.validate_request(request, request.method == "POST" and _has_body(request))
        if refused is not None:
            return refusal(refused.status_code, *_REFUSED[refused.status_code])
        name = request.path_params.get("name", "")
        allow = "POST" if name else "GET"
        if request.method != allow and (name or request.method != "HEAD"):
            asked, wanted = f"{request.method} {request.url.path}", f"{allow} {request.url.path}"
            return refusal(405, f"there is no {asked}", f"send {wanted}", {"Allow": allow})
        if name:
            return await called(request, name)
        return _json(200, {"tools": await anyio.to_thread.run_sync(lambda: _tools(collections))})

    async def called(request: Request, name: str) -> Response:
        if name not in await anyio.to_thread.run_sync(collections.tools):
            return refusal(404, f"there is no tool {name!r}", f"GET {PATH} lists them")
        body = b""
        async for piece in request.stream():
            body += piece
            if len(body) > _LONGEST:
                return refusal(413, "the body is too long", f"send at most {_LONGEST:,} bytes")
        try:
            client = request.headers.get(CLIENT, _UNNAMED).encode("latin-1").decode()
        except UnicodeDecodeError:
            return refusal(400, f"the header {CLIENT} is not UTF-8", "send the name in UTF-8")
        try:
            given = body.decode()
            result = await anyio.to_thread.run_sync(
                lambda: collections.served(client, lambda whose: collections.toolbox(whose).run(name, given))
            )
        except UnicodeDecodeError:
            return refusal(400, "the body is not UTF-8", "send the arguments as a JSON object")
        except AmemError as error:
            return refusal(400, str(error), error.hint)
        except Exception as error:
            return refusal(500, unexpected(name, error), "")
        return _json(200, {"result": result})

    return [Route(path, answered, methods=_METHODS) for path in (PATH, f"{PATH}/{{name:path}}")]


def refusal(status: int, error: str, hint: str, headers: Mapping[str, str] | None = None) -> Response:
    """The answer to a request that is not served: what is wrong with it, and what to do about it."""
    return _json(status, {"error": error, "hint": hint}, headers)


def _has_body(request: Request) -> bool:
    return request.headers.get("content-length", "0") != "0" or "transfer-encoding" in request.headers


def _tools(collections: Collections) -> list[dict[str, Any]]:
    from amem.tools.toolbox import EVERY

    return [
        {"name": tool.name, "description": tool.description, "parameters": tool.schema, "result": dict(tool.result)}
        for tool in map(EVERY.__getitem__, collections.tools())
    ]


def _json(status: int, value: object, headers: Mapping[str, str] | None = None) -> Response:
    return Response(json.dumps(value, ensure_ascii=False), status, headers, "application/json")
