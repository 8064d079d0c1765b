"""Import libraries that read the environment and log (LiteLLM, torch) without changing the process."""

from __future__ import annotations

import logging
import os
import sys
import threading
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from amem.server_call import watch

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


# Environment variables for the length of an import, for libraries that read them at no other time.


@contextmanager
def defaults(**variables: str) -> Iterator[None]:
    """Set those `variables` that are not set yet, and take them away again afterwards."""
    with _environment({name: value for name, value in variables.items() if name not in os.environ}):
        yield


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


# LiteLLM: quiet and at home.

#: Without the first, LiteLLM fetches a price list over the network while it is imported; without the second it reads
#: a ``.env`` it finds near the program, and a cloned repository could redirect a model endpoint that way.
QUIET = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION"}

#: Providers that amem's own ``api_key`` is meant for. It never goes to anybody else, since it may be OpenAI's: LiteLLM
#: finds the other providers' keys in their own variables (``ANTHROPIC_API_KEY``, ...).
OPENAI_COMPATIBLE = frozenset(("openai", "hosted_vllm", "litellm_proxy", "lm_studio", "llamafile"))

#: What LiteLLM logs by handlers of its own, on standard error: advice, and failures that it raises as well.
_LOGGERS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy")
#: Types whose pydantic schemas are made with the first answer, which warns of their definitions.
_ANSWERS = ("ModelResponse", "ModelResponseStream", "EmbeddingResponse")

_importing = threading.Lock()


def import_litellm() -> Any:
    """The ``litellm`` module, which takes seconds the first time."""
    loaded = sys.modules.get("litellm")
    if loaded is not None and getattr(loaded, "suppress_debug_info", False):
        return loaded
    with _importing:
        with _environment(QUIET), warnings.catch_warnings():
            # Deprecations between LiteLLM and pydantic are not the caller's to mend.
            warnings.simplefilter("ignore")
            import litellm

            for name in _ANSWERS:
                getattr(litellm.types.utils, name)()
        for logger in map(logging.getLogger, _LOGGERS):
            if logger.level <= logging.WARNING:
                logger.setLevel(logging.CRITICAL)
        litellm.telemetry = False
        _watch_clients(litellm)
        # Set last: it marks the module as ready, and keeps LiteLLM from printing advice to standard output.
        litellm.suppress_debug_info = True
        return litellm


def _watch_clients(litellm: Any) -> None:
    """Have every HTTP client that LiteLLM makes or made tell amem's calls, and nobody else's, of what passes through.

    LiteLLM bounds neither the time nor the size of an answer, and follows redirects to any server, prompt and all.
    """
    from litellm.llms.custom_httpx.http_handler import HTTPHandler
    from litellm.llms.openai.common_utils import BaseOpenAILLM

    made, given = HTTPHandler.__init__, BaseOpenAILLM._get_sync_http_client

    def make(self: Any, *arguments: Any, **options: Any) -> None:
        made(self, *arguments, **options)
        watch(self.client)

    def give() -> Any:
        client = given()
        if client is not None:
            watch(client)
        return client

    HTTPHandler.__init__ = make
    BaseOpenAILLM._get_sync_http_client = staticmethod(give)
    watch(litellm.module_level_client.client)
