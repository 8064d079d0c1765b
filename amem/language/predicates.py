"""The table of predicates, and whether two of their values name one thing."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from amem.errors import InvalidInput
from amem.language import is_cjk, normalize
from amem.language.numerals import money_of
from amem.language.subjects import subject_key

# The table of predicates: which hold one value at a time, what else they are called, what hangs on what.

FILE_NAME = "predicates.toml"
_DEFAULT = Path(__file__).with_name(FILE_NAME)
_ROLES, _KINDS = "roles", "kinds"
#: Stands for the role of an object in `one`.
_BY_ROLE = "role"
#: InfluxDB, MyQL, Next.js; a name alone does not say that of Cassandra.
_WORD = re.compile(r"[a-z]+")
_TECHNOLOGY = re.compile(r"[A-Za-z]+(?:DB|SQL|QL|MQ|JS|\.js|\.io)\b(?! [A-Z])")
_VALUES = (
    *("name", "person", "place", "room", "title", "amount", "number", "email", "address", "date", "time", "version"),
    *("phrase", "school", "none"),
)


@dataclass(frozen=True, slots=True)
class Predicate:
    """One row of the table; `one` is True, False or ``"role"``, `value` what "my landlord is ..." names."""

    name: str
    one: bool | str = False
    aliases: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    hangs_on: str | None = None
    value: str = "name"
    personal: bool = False
    safety: bool = False
    known: frozenset[str] = frozenset()


# Compared by identity, so that what is made of a table can be kept by it.
@dataclass(frozen=True, slots=True, eq=False)
class Predicates:
    """The table as code asks it. A predicate that it does not know holds any number of values."""

    rows: Mapping[str, Predicate] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    kinds: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What a thing falls under ("latte": coffee, 咖啡), by its name and the general ones."""

    @property
    def role_names(self) -> frozenset[str]:
        """The roles that objects play ("database", "package_manager")."""
        return frozenset(self.roles.values())

    def canonical(self, name: str) -> str:
        """The table's name for a predicate, however it was written; an unknown one with underscores for spaces."""
        folded = normalize(name.replace("_", " "))
        return self.names.get(folded, folded.replace(" ", "_"))

    def meant(self, name: str) -> str:
        """As `canonical`, for what a person typed: a word that questions use (住), or the beginning of a name, will do.

        The beginning has to be that of one predicate's names only ("home" of "home city").
        """
        found, folded = self.canonical(name), normalize(name.replace("_", " "))
        if found in self.rows or not folded:
            return found
        asking = {row.name for row in self.rows.values() if folded in map(normalize, row.asks)}
        begun = asking or {predicate for known, predicate in self.names.items() if known.startswith(folded)}
        return begun.pop() if len(begun) == 1 else found

    def known(self, predicate: str, text: str) -> str:
        """The longest value in the predicate's list of known ones that `text` begins with, as it is written there."""
        row = self.rows.get(predicate)
        if row is None or not row.known:
            return ""
        plain = text.strip()
        if is_cjk(plain[:1]):
            sizes = range(min(len(plain), 8), 0, -1)
            return next((plain[:size] for size in sizes if normalize(plain[:size]) in row.known), "")
        words = plain.split()
        starts = (" ".join(words[:length]).strip(" .,;:!") for length in range(min(len(words), 4), 0, -1))
        return next((each for each in starts if normalize(each) in row.known), "")

    def general(self, text: str) -> list[str]:
        """The general names of what `text` speaks of: "coffee" and 咖啡 of "do I still drink lattes"."""
        folded = normalize(text)
        words = f" {' '.join(_WORD.findall(folded))} "
        found = (
            names
            for each, names in self.kinds.items()
            if (f" {each} " in words or f" {each}s " in words if each.isascii() else each in folded)
        )
        return list(dict.fromkeys(name for names in found for name in names))

    def within(self, object: str) -> list[str]:
        """The names of all that falls under a thing: "latte" of "coffee"; none for what has no kinds."""
        folded = normalize(object)
        return [each for each, names in self.kinds.items() if folded in names]

    def is_safety(self, predicate: str) -> bool:
        """Whether an answer that ignores a fact of this predicate may do harm: an allergy, a medication."""
        row = self.rows.get(self.canonical(predicate))
        return row is not None and row.safety

    def words(self, predicate: str, *, chinese: bool = False) -> str:
        """A canonical predicate as it is read: "works at", in Chinese its first Chinese alias, where it has one."""
        if chinese and (row := self.rows.get(predicate)) is not None:
            return next((alias for alias in row.aliases if is_cjk(alias)), _spaced(predicate))
        return _spaced(predicate)

    def phrase(self, predicate: str, object: str, *, chinese: bool = False) -> str:
        """What a fact says of its subject: "works at Marulho", 工作于：字节跳动."""
        said = self.words(predicate, chinese=chinese)
        return (f"{said}：{object}" if chinese and object else f"{said} {object}").rstrip()

    def role(self, object: str) -> str | None:
        """What an object is used as ("PostgreSQL 16" as "database"); None when the table does not know."""
        words = normalize(object).split()
        for length in range(len(words), 0, -1):
            if (role := self.roles.get(" ".join(words[:length]))) is not None:
                return role
        return None

    def is_technology(self, name: str) -> bool:
        """Whether the table knows the object as something that projects use, or its name looks like such a thing's."""
        return bool(self.role(name) or self.known("uses", name) or _TECHNOLOGY.match(name))

    def slot(self, predicate: str, object: str) -> str | None:
        """What a fact of a subject fills and no other may fill at the same time: "works_at", "uses database".

        None for a predicate that holds any number of values, and for an object of unknown role. `predicate` is
        canonical.
        """
        row = self.rows.get(predicate)
        if row is None or not row.one:
            return None
        if row.one is True:
            return predicate
        role = self.role(object)
        return None if role is None else f"{predicate} {role}"

    def hangs_on(self, predicate: str) -> str | None:
        """The predicate with whose change this one is presumed to end; None for one that stands by itself."""
        row = self.rows.get(predicate)
        return None if row is None else row.hangs_on

    def hanging_on(self, predicate: str) -> list[str]:
        """The predicates that are presumed to end when this one changes."""
        return [row.name for row in self.rows.values() if row.hangs_on == predicate]


def load_predicates(home: Path | None = None) -> Predicates:
    """The table that comes with amem, with a person's own ``<home>/predicates.toml`` over it.

    Raises InvalidInput naming the file and what cannot be used in it.
    """
    tables = dict(_read(_DEFAULT))
    own = _DEFAULT if home is None else home / FILE_NAME
    for name, row in (_read(own) if own.is_file() else {}).items():
        tables[name] = {**tables.get(name, {}), **row}
    for name, row in tables.items():
        if name not in (_ROLES, _KINDS) and row.get("hangs_on", name) not in tables.keys() - {_ROLES, _KINDS}:
            raise _refused(own, name, f"hangs_on names {row['hangs_on']!r}, and there is no such predicate")
    roles = {normalize(value): role for role, values in tables.pop(_ROLES, {}).items() for value in values}
    kinds = {
        normalize(each): (general, *names[:1])
        for general, names in tables.pop(_KINDS, {}).items()
        for each in (general, *names)
    }
    rows = {
        name: Predicate(
            name,
            row.get("one", False),
            tuple(row.get("aliases", ())),
            tuple(row.get("asks", ())),
            row.get("hangs_on"),
            row.get("value", "name"),
            row.get("personal", False),
            row.get("safety", False),
            frozenset(map(normalize, row.get("known", ()))),
        )
        for name, row in tables.items()
    }
    names = {normalize(alias): name for name, row in rows.items() for alias in row.aliases}
    return Predicates(rows, roles, names | {normalize(name.replace("_", " ")): name for name in rows}, kinds)


def _read(path: Path) -> dict[str, dict[str, Any]]:
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInput(f"cannot read {path}: {error}", hint="mend it, or take it away") from error
    for name, row in tables.items():
        problem = _problem(name, row)
        if problem:
            raise _refused(path, name, problem)
    return tables


def _refused(path: Path, name: str, problem: str) -> InvalidInput:
    return InvalidInput(f"{path}: [{name}] {problem}", hint=f"the comments in {_DEFAULT} say what a row may hold")


def _problem(name: str, row: Any) -> str:
    """What is wrong with a table of the file; '' when nothing is."""
    if not isinstance(row, Mapping):
        return "is not a table"
    if name in (_ROLES, _KINDS):
        return "" if all(_texts(values) for values in row.values()) else "must hold lists of texts"
    unknown = sorted(row.keys() - {"one", "aliases", "asks", "hangs_on", "value", "personal", "safety", "known"})
    if unknown:
        return f"has no key {unknown[0]!r}"
    if row.get("one", False) not in (True, False, _BY_ROLE):
        return f'one must be true, false or "{_BY_ROLE}"'
    if row.get("value", "name") not in _VALUES:
        return f"value must be one of {', '.join(_VALUES)}"
    for key in ("personal", "safety"):
        if not isinstance(row.get(key, False), bool):
            return f"{key} must be true or false"
    for key in ("aliases", "asks", "known"):
        if not _texts(row.get(key, [])):
            return f"{key} must be a list of texts"
    return "" if isinstance(row.get("hangs_on", ""), str) else "hangs_on must name a predicate"


def _spaced(predicate: str) -> str:
    return predicate.replace("_", " ")


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) and each.strip() for each in value)


# Whether two objects of a predicate name one thing.

#: Values whose reading is kept: each is compared with many others.
_REMEMBERED = 10_000
#: What follows narrows down or adds nothing to what stands before: "Lisbon, Portugal", "Lisbon (Portugal)".
_QUALIFIER = re.compile(r"\s*[,，;；(（)）]\s*")
#: Words after a name that leave it the same thing: a version, a company's form.
_VERSION = re.compile(r"v?\d+(?:\.\w+)*")
_FORMS = frozenset(["inc", "ltd", "llc", "gmbh", "corp", "corporation", "company", "co", "plc", "ag", "sa"])
#: The same for Chinese, where nothing stands between the name and its form.
_SUFFIX = re.compile(r"(?<=..)(?:股份有限公司|有限公司|公司|集团|市|省|县|区|镇)$")


#: Diets by their names in both languages: whoever is "vegetarian" and then 不再吃素 is so no more.
_DIETS = {
    **dict.fromkeys(("素", "吃素", "素食", "素食者", "素食主义"), "vegetarian"),
    **dict.fromkeys(("纯素", "全素", "纯素食", "纯素食者"), "vegan"),
}


@lru_cache(maxsize=_REMEMBERED)
def value_key(value: str) -> str:
    """What two spellings of one value share: case, width, articles left out, the language of a diet, an amount."""
    key = subject_key(value)
    amount = money_of(key)
    return _DIETS.get(key, key) if amount is None else " ".join(filter(None, amount))


def same_value(one: str, other: str) -> bool:
    """Whether two objects name one thing: alike, or one says it more closely ("Lisbon", "Lisbon, Portugal").

    A version says it more closely than none ("PostgreSQL", "PostgreSQL 16"); two versions are two things. A longer name
    is another one: "Porto" and "Porto Alegre", "Google" and "Google DeepMind".
    """
    if value_key(one) == value_key(other):
        return True
    amounts = money_of(subject_key(one)), money_of(subject_key(other))
    if amounts[0] and amounts[1]:
        return amounts[0][0] == amounts[1][0] and "" in (amounts[0][1], amounts[1][1])
    first, second = _parts(one), _parts(other)
    closer, vaguer = (first, second) if len(first) > len(second) else (second, first)
    return _same_name(closer[0], vaguer[0]) and closer[1 : len(vaguer)] == vaguer[1:]


def closer(one: str, other: str) -> str:
    """Of two spellings of one value the one that says more; the first where they say as much."""
    return max(one, other, key=lambda each: (len(_parts(each)), len(_parts(each)[0].split())))


@lru_cache(maxsize=_REMEMBERED)
def _parts(value: str) -> tuple[str, ...]:
    """The name, then what qualifies it."""
    parts = [part for part in _QUALIFIER.split(normalize(value)) if part]
    return (_SUFFIX.sub("", subject_key(parts[0])), *parts[1:]) if parts else ("",)


def _same_name(one: str, other: str) -> bool:
    first, second = _words(one), _words(other)
    longer, shorter = (first, second) if len(first) > len(second) else (second, first)
    more = longer[len(shorter) :]
    return (
        bool(shorter)
        and longer[: len(shorter)] == shorter
        and all(_VERSION.fullmatch(word) or word in _FORMS for word in more)
    )


def _words(name: str) -> list[str]:
    words = [word.rstrip(".") for word in name.split()]
    return [word[1:] if word[:1] == "v" and _VERSION.fullmatch(word) else word for word in words]
