"""Commands of ``amem`` as the browser shows them: copied into a shell, they are about the collection that is open."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from amem.settings import Settings, default_home

if TYPE_CHECKING:
    from collections.abc import Sequence


def command(settings: Settings, words: str) -> str:
    """``amem -c garden add "..."`` for ``add "..."``; home and collection are named where they are not the default."""
    return " ".join(["amem", *_named(settings), words])


def _named(settings: Settings) -> Sequence[str]:
    named: list[str] = []
    if settings.home != default_home():
        named += ["--home", str(settings.home)]
    # One that is set in a file, or was asked for, may be another than the next shell would take.
    if "collection" in settings.model_fields_set or settings.collection != Settings.model_fields["collection"].default:
        named += ["-c", settings.collection]
    return [shlex.quote(each) for each in named]
