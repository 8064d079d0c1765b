"""What ``AgenticMemorySystem`` can do, a class for each kind of thing, all on the ground of `Wiring`.

Each call is delegated to the room that does it; no algorithm lives here. Programs import the whole from
``amem.memory_system``.
"""
