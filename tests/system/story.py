"""Half a year told in forty messages, and what a person who had listened would answer to questions about it.

Employer, city, database and diet change twice each. January is told of late, in April; one who tells it to note after
note tells the sessions in disorder, too. The rest is chatter, plans that come to nothing, and other people's facts.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_FOLDER = Path(__file__).parents[1] / "data" / "story"
#: The last session first, then back and forth; what takes something back stays behind it.
_DISORDER = (5, 2, 0, 4, 1, 3)

JANUARY = datetime(2026, 1, 20, 12, tzinfo=UTC)
MARCH = datetime(2026, 3, 31, 12, tzinfo=UTC)
NOW = datetime(2026, 7, 15, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Course:
    """What was so one after the other: a subject's values of a predicate, and when each gave way to the next.

    `question` asks for it. A change is the first and the last moment at which it may be put; None where the story
    does not say.
    """

    subject: str
    predicate: str
    question: str
    values: tuple[str, ...]
    changes: tuple[tuple[str, str] | None, ...]

    def value(self, moment: datetime) -> str:
        """What it was in January, in March, or now."""
        return self.values[{JANUARY: 0, MARCH: 1, NOW: 2}[moment]]


@dataclass(frozen=True, slots=True)
class Story:
    """A story's messages, and what has to be known after it."""

    messages: tuple[Mapping[str, str], ...]
    courses: tuple[Course, ...]
    #: What was said as of its own present and is not so any more: none of it may answer unasked.
    outdated: tuple[str, ...]
    #: Said, and taken back; and how one asks for it.
    taken_back: str
    asked_back: str
    #: What hung on the second employer with nothing new in its place, and its value.
    left_behind: str
    left_value: str
    #: The value of the present office, and of the one before.
    offices: tuple[str, str]
    #: Others, with what is so of them and never was of the user.
    others: Mapping[str, str] = field(default_factory=dict)
    #: Never more than plans.
    plans: tuple[str, ...] = ()

    def as_notes(self) -> list[Mapping[str, str]]:
        """The user's own messages, session by session in disorder.

        A note says by itself what it is about: where somebody who talks says "forget that", it has words of its own.
        """
        sessions = [list(group) for _, group in groupby(self.messages, key=lambda message: message["at"][:10])]
        said = [message for place in _DISORDER for message in sessions[place] if message["role"] == "user"]
        return [{"content": message.get("noted", message["content"]), "at": message["at"]} for message in said]


def _messages(name: str) -> tuple[Mapping[str, str], ...]:
    lines = (_FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines()
    return tuple(json.loads(line) for line in lines)


#: When what the user has, in order, gave way to the next; the same in both languages.
_CHANGES: Mapping[str, tuple[tuple[str, str] | None, ...]] = {
    "works_at": (("2026-03-02", "2026-03-03"), ("2026-05-25", "2026-06-01")),
    "lives_in": (("2026-02-14", "2026-02-15"), ("2026-05-09", "2026-05-10")),
    "uses": (("2026-03-10", "2026-03-11"), ("2026-05-08", "2026-05-09")),
    "diet": (None, ("2026-05-01", "2026-05-02")),
    "manager": (None, ("2026-05-25", "2026-06-11")),
}


def _courses(*told: tuple[str, str, str]) -> tuple[Course, ...]:
    """A (subject, question, values) for each of the changes, in their order."""
    return tuple(
        Course(subject, predicate, question, tuple(values.split(", ")), changes)
        for (predicate, changes), (subject, question, values) in zip(_CHANGES.items(), told, strict=True)
    )


ENGLISH = Story(
    messages=_messages("en"),
    courses=_courses(
        ("me", "Where do I work?", "Northwind, Helio, Kestrel"),
        ("me", "Where do I live?", "Lisbon, Porto, Braga"),
        ("we", "Which database do we use?", "PostgreSQL, MySQL, CockroachDB"),
        ("me", "Am I vegetarian, vegan or do I eat meat?", "meat, vegetarian, vegan"),
        ("me", "Who is my manager?", "Carla Nunes, Tom Berger, Ines Prado"),
    ),
    outdated=(
        "I work at Helio, I started there on 2 March 2026.",
        "My manager is Tom Berger.",
        "I live in Porto, I moved here on 14 February 2026.",
        "I'm vegetarian.",
        "We migrated the project from PostgreSQL to MySQL on 10 March 2026.",
        "My office is in the Boavista tower.",
        "I'm allergic to strawberries.",
    ),
    taken_back="I'm allergic to strawberries.",
    asked_back="Am I allergic to strawberries?",
    left_behind="I'm on the payments team.",
    left_value="payments",
    offices=("cannery", "Boavista"),
    others={"Pedro": "Helio", "Tom Berger": "Goa"},
    plans=("Madrid", "MongoDB", "bike"),
)

CHINESE = Story(
    messages=_messages("zh"),
    courses=_courses(
        ("我", "我在哪里上班？", "远景科技, 星河数据, 青禾网络"),
        ("我", "我住在哪里？", "北京, 上海, 北京"),
        ("我们", "项目用的是什么数据库？", "MySQL, PostgreSQL, TiDB"),
        ("我", "我吃素、吃纯素还是吃肉？", "肉, 素, 纯素"),
        ("我", "我的经理是谁？", "陈红, 郭涛, 宋梅"),
    ),
    outdated=(
        "我在星河数据上班，2026年3月2日入职的。",
        "我的经理是郭涛。",
        "我住在上海，2026年2月14日搬过来的。",
        "我是素食者。",
        "2026年3月10日我们把项目从 MySQL 迁移到了 PostgreSQL。",
        "我的办公室在漕河泾。",
        "我对草莓过敏。",
    ),
    taken_back="我对草莓过敏。",
    asked_back="我对草莓过敏吗？",
    left_behind="我在支付团队。",
    left_value="支付",
    offices=("望京", "漕河泾"),
    others={"小林": "星河数据", "郭涛": "三亚"},
    plans=("成都", "MongoDB", "自行车"),
)
