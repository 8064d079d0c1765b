"""The memory for MCP clients: editors, coding agents, assistants.

`collections` says which client gets which collection, `server` what it can do there, `rest` the same for programs that
speak no MCP, `serving` how both are reached, by stdio or HTTP, and `clients` how each program is told of it. Needs the
extra ``mcp``.
"""
