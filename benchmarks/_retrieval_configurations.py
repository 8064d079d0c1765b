"""The ways in which amem can be asked: as it comes, with one leg alone, with something left out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from amem.query import Query
from amem.retrieval.ranking import LEGS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection, Mapping

DEFAULT = "default"
RRF = "RRF, k=60"
PLAIN = "plain hybrid"


@dataclass(frozen=True, slots=True)
class Configuration:
    """Settings that differ from the defaults, and how each question is put; no `legs` means all of them.

    At `most` so many notes are asked for, spread over sessions or topics where `group_by` says so.
    """

    name: str
    group: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    legs: tuple[str, ...] = ()
    links: bool = False
    rerank: bool | None = None
    group_by: str | None = None
    most: int | None = None

    def query(self, text: str, k: int) -> Query:
        """The question as it is put to `ask`; a benchmark's questions are no use of a note."""
        most = k if self.most is None else min(k, self.most)
        return Query(
            text, most, legs=self.legs, expand=self.links, rerank=self.rerank, group_by=self.group_by, touch=False
        )


def as_asked(given: argparse.Namespace) -> Configuration:
    """What the flags ask for: amem's own defaults, but for what they take away or name."""
    off = [leg for leg in LEGS if getattr(given, f"no_{leg}")]
    settings: dict[str, Any] = {}
    if given.no_window:
        settings["window"] = 0
    if given.no_router:
        settings["router"] = False
    if given.fusion is not None:
        settings["fusion"] = given.fusion
    names = [f"no {leg}" for leg in off] + [f"{name}={value}" for name, value in settings.items()]
    names += ["with links"] * given.links + ["no rerank"] * given.no_rerank
    return Configuration(
        ", ".join(names) or DEFAULT,
        settings=settings,
        legs=tuple(leg for leg in LEGS if leg not in off) if off else (),
        links=given.links,
        rerank=False if given.no_rerank else None,
    )


#: Notes that `ask` reads for one thing and for several.
FEW, SEVERAL = 8, 16


def for_several() -> list[Configuration]:
    """The notes that `ask` reads where a question asks for several things, and the same many spread over sessions."""
    return [
        Configuration("with links", links=True),
        Configuration("by session", links=True, group_by="session", most=SEVERAL),
    ]


#: The kinds of ablations.
GROUPS = ("alone", "without", "otherwise")


def ablations(groups: Collection[str] = GROUPS) -> list[Configuration]:
    """Everything worth holding against the default, of these groups."""
    rest = {leg: tuple(each for each in LEGS if each != leg) for leg in LEGS}
    every = [
        *(Configuration(f"{leg} alone", "alone", legs=(leg,)) for leg in LEGS),
        *(Configuration(f"no {leg}", "without", legs=rest[leg]) for leg in LEGS),
        Configuration("no window", "without", {"window": 0}),
        Configuration("no router", "without", {"router": False}),
        Configuration(RRF, "otherwise", {"fusion": "rrf", "rrf_k": 60}),
        Configuration("RRF, k=5", "otherwise", {"fusion": "rrf", "rrf_k": 5}),
        Configuration(PLAIN, "otherwise", HYBRID, legs=("dense", "lexical")),
        Configuration("with links", "otherwise", links=True),
    ]
    return [each for each in every if each.group in groups]


#: What a hybrid search is elsewhere: two legs, fused by rank, each note by itself, the question as it is.
HYBRID: Mapping[str, Any] = {"fusion": "rrf", "rrf_k": 60, "window": 0, "router": False}
