"""The text that is handed to a model beside its prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.retrieval.hit import related_text

if TYPE_CHECKING:
    from asking import Collection


def test_each_hit_is_one_line_with_all_a_model_needs(collection: Collection) -> None:
    collection.add("Tea at five.\nWith\tmilk.", context="A habit.", keywords=["tea", "milk"], tags=["daily"])
    assert related_text(collection.ask("tea")) == (
        "memory index:0\ttalk start time:2026-01-01\tmemory content:Tea at five. With milk."
        "\tmemory context:A habit.\tmemory keywords:tea, milk\tmemory tags:daily\n"
    )


def test_no_hits_are_no_text() -> None:
    assert related_text([]) == ""
