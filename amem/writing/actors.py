"""Who writes: people, whose word machines do not overrule, and all others."""

from __future__ import annotations


def is_person(actor: str) -> bool:
    """True for ``user`` and ``user:<name>``: what they edit, machines may only propose to change."""
    return actor.split(":")[0] == "user"
