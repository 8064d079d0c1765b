"""The memory for MCP clients: editors, coding agents, assistants.

`collections` says which client gets which collection, `server` what it can do there, `serving` how it is reached, by
stdio or HTTP, and `clients` how each program is told of it. Needs the extra ``mcp``.
"""
