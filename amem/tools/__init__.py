"""Memory as tools for agents: what each tool takes, does and returns, said in one place for every way to call it.

`tool` says what a tool is and which notes it may touch, `finding` and `changing` hold the tools, `toolbox` picks some
of them and runs calls.
"""

from amem.tools.toolbox import Toolbox

__all__ = ["Toolbox"]
