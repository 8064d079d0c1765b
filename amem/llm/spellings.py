"""Kinds, link types and verdicts as models write them: in any case, with spaces for underscores, and in Chinese."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amem.llm.reading import clean
from amem.llm.schemas import LINK_TYPES, NOTE_KINDS, VERDICTS
from amem.note import Kind, LinkType

if TYPE_CHECKING:
    from collections.abc import Mapping

CHINESE_KINDS = {
    "事实": Kind.FACT,
    "偏好": Kind.PREFERENCE,
    "决定": Kind.DECISION,
    "约束": Kind.CONSTRAINT,
    "配置": Kind.CONFIG,
    "代码": Kind.CODE,
    "错误": Kind.ERROR,
    "问题": Kind.QUESTION,
    "闲聊": Kind.CHITCHAT,
    "流程": Kind.PROCEDURE,
    "经历": Kind.EPISODE,
}
CHINESE_LINK_TYPES = {
    "相关": LinkType.RELATED,
    "支持": LinkType.SUPPORTS,
    "矛盾": LinkType.CONTRADICTS,
    "取代": LinkType.SUPERSEDES,
    "起因": LinkType.CAUSED_BY,
    "属于": LinkType.PART_OF,
}

_KINDS: Mapping[str, Kind] = {**{str(kind): kind for kind in NOTE_KINDS}, **CHINESE_KINDS}
_LINK_TYPES: Mapping[str, LinkType] = {**{str(type_): type_ for type_ in LINK_TYPES}, **CHINESE_LINK_TYPES}
_VERDICTS: Mapping[str, str] = {
    **{verdict: verdict for verdict in VERDICTS},
    **{word: str(type_) for word, type_ in CHINESE_LINK_TYPES.items() if str(type_) in VERDICTS},
    "无": "none",
    "无关": "none",
}


def spelled(value: Any) -> str:
    """The word as it is looked up; '' for what is no text."""
    return clean(value, 20).casefold().strip(" .。*`\"'").replace(" ", "_").replace("-", "_")


def kind_named(value: Any) -> Kind | None:
    """The kind of note that `value` names."""
    return _KINDS.get(spelled(value))


def link_type_named(value: Any) -> LinkType | None:
    """The type of link that `value` names."""
    return _LINK_TYPES.get(spelled(value))


def verdict_named(value: Any) -> str | None:
    """The verdict that `value` names."""
    return _VERDICTS.get(spelled(value))
