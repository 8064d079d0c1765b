"""Which predicates a question asks about, by the words that the table has for them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from amem.text import normalize, query_terms
from amem.text.scripts import is_cjk
from amem.text.stopwords import ENGLISH

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from amem.truth.predicates import Predicates

_WORD = re.compile(r"\w+")
_MOST_WORDS = 40
_NONE: Mapping[frozenset[str], str] = {}
#: What the roles of amem's own table are called in Chinese; a role of one's own is called what it is.
ROLE_WORDS: Mapping[str, tuple[str, ...]] = {
    "database": ("数据库",),
    "cache": ("缓存",),
    "editor": ("编辑器",),
    "operating_system": ("操作系统",),
    "cloud": ("云服务", "云平台"),
    "message_queue": ("消息队列",),
    "language": ("编程语言", "什么语言"),
    "framework": ("框架",),
    "package_manager": ("包管理",),
    "vector_store": ("向量库", "向量数据库"),
    "chat": ("聊天工具", "通讯工具"),
    "theme": ("主题",),
}


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question asks about: predicates of the table, the roles it names ("database"), and in `words` any
    predicate that is not in the table, by its very name. With `by_role` it names the predicates that play roles only by
    a role ("our database"), not by a word for them ("use")."""

    predicates: frozenset[str]
    roles: frozenset[str]
    words: frozenset[str]
    by_role: bool = False

    def covers(self, predicate: str, role: str | None) -> bool:
        """Whether it asks for a fact of this (canonical) predicate, whose object plays this role.

        A question that names roles asks for objects in them, where the predicate tells roles apart.
        """
        if predicate not in self.predicates:
            return predicate in self.words
        return role is None or not self.roles or role in self.roles


class Asking:
    """The words of one table, looked up in questions."""

    def __init__(self, predicates: Predicates) -> None:
        self._latin: dict[str, list[tuple[frozenset[str], str]]] = {}
        self._chinese: list[tuple[str, str]] = []
        self._of_role = frozenset(name for name, row in predicates.rows.items() if row.one == "role")
        self._roles = predicates.role_names
        self._known = frozenset(predicates.rows)
        for name, row in predicates.rows.items():
            self._learn(name, (name.replace("_", " "), *row.asks))
        own = {terms: name for held in self._latin.values() for terms, name in held}
        for name, row in predicates.rows.items():
            # A single Chinese character is in too many words, unless the table says that questions use it so; and
            # "works as" is no more than "work", which asks for another predicate.
            self._learn(name, (each for each in row.aliases if len(each) > 1), own)
        for role in self._roles:
            self._learn(role, (role.replace("_", " "), *ROLE_WORDS.get(role, ())))

    def of(self, question: str) -> Asked:
        """What the question asks about; nothing where it uses no word of the table."""
        folded = normalize(question)
        words_zh = {word for word, _ in self._chinese if word in folded}
        # Whoever asks for 吃素 asks for a diet, and not for all that one may 吃.
        words_zh = {word for word in words_zh if not any(word != other and word in other for other in words_zh)}
        named = {name for word, name in self._chinese if word in words_zh}
        terms = frozenset(query_terms(question))
        for term in terms & self._latin.keys():
            named.update(name for needed, name in self._latin[term] if needed <= terms)
        roles = frozenset(named) & self._roles
        # Whoever asks for "our database" asks for what plays that role.
        asked = frozenset(named) - self._roles | (self._of_role if roles else frozenset())
        words = [word for word in _WORD.findall(folded)[:_MOST_WORDS] if word not in ENGLISH]
        by_role = bool(roles) and self._of_role.isdisjoint(named)
        return Asked(asked, roles, frozenset([*words, *map("_".join, pairwise(words))]) - self._known, by_role)

    def _learn(self, name: str, phrases: Iterable[str], taken: Mapping[frozenset[str], str] = _NONE) -> None:
        for phrase in phrases:
            folded = normalize(phrase)
            if is_cjk(folded[:1]):
                self._chinese.append((folded, name))
            elif not ENGLISH.issuperset(folded.split()):
                terms = query_terms(folded)
                if taken.get(frozenset(terms), name) == name:
                    self._latin.setdefault(terms[0], []).append((frozenset(terms), name))
