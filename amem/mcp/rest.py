"""The same tools by plain HTTP, for programs that speak no MCP: ``POST /tools/NAME`` with its arguments as JSON.

A result is ``{"result": ...}``; what a caller got wrong is ``{"error": ..., "hint": ...}`` with 400, 404 for a tool
that there is not, 413 for a body that is too long. ``GET /tools`` lists the tools with the schemas of what they take
and give.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import anyio.to_thread
from mcp.server.transport_security import TransportSecurityMiddleware
from starlette.responses import Response
from starlette.routing import Route

from amem.errors import AmemError
from amem.mcp.server import unexpected

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from mcp.server.transport_security import TransportSecuritySettings
    from starlette.requests import Request

    from amem.mcp.collections import Collections

PATH = "/tools"
#: How a program says what it is called in the log, and what one that does not is called.
CLIENT, _UNNAMED = "X-Client", "http"
#: Bytes of a body: as many as the MCP door takes.
_LONGEST = 4 << 20


def routes(collections: Collections, allowed: TransportSecuritySettings) -> list[Route]:
    """The routes of the tools, for hosts and origins that are `allowed`; the token is for another to ask for."""
    guard = TransportSecurityMiddleware(allowed)

    def guarded(answer: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        async def answered(request: Request) -> Response:
            # Only a POST is held to its content type, which no form of a web page can send.
            return await guard.validate_request(request, request.method == "POST") or await answer(request)

        return answered

    async def listed(request: Request) -> Response:
        return _json(200, {"tools": await anyio.to_thread.run_sync(lambda: _tools(collections))})

    async def called(request: Request) -> Response:
        name, client = request.path_params["name"], request.headers.get(CLIENT, _UNNAMED)
        if name not in await anyio.to_thread.run_sync(collections.tools):
            return _json(404, {"error": f"there is no tool {name!r}", "hint": f"GET {PATH} lists them"})
        body = b""
        async for piece in request.stream():
            body += piece
            if len(body) > _LONGEST:
                return _json(413, {"error": "the body is too long", "hint": f"send at most {_LONGEST:,} bytes"})
        try:
            given = body.decode()
            result = await anyio.to_thread.run_sync(
                lambda: collections.served(client, lambda whose: collections.toolbox(whose).run(name, given))
            )
        except UnicodeDecodeError:
            return _json(400, {"error": "the body is not UTF-8", "hint": "send the arguments as a JSON object"})
        except AmemError as error:
            return _json(400, {"error": str(error), "hint": error.hint})
        except Exception as error:
            return _json(500, {"error": unexpected(name, error), "hint": ""})
        return _json(200, {"result": result})

    return [
        Route(PATH, guarded(listed), methods=["GET"]),
        Route(f"{PATH}/{{name}}", guarded(called), methods=["POST"]),
    ]


def _tools(collections: Collections) -> list[dict[str, Any]]:
    from amem.tools.toolbox import EVERY

    return [
        {"name": tool.name, "description": tool.description, "parameters": tool.schema, "result": dict(tool.result)}
        for tool in map(EVERY.__getitem__, collections.tools())
    ]


def _json(status: int, value: object) -> Response:
    return Response(json.dumps(value, ensure_ascii=False), status, media_type="application/json")
