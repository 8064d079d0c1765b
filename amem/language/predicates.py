"""Subjects and predicates of facts: the one name of each, their table, and whether two values are one thing."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any

from amem.errors import InvalidInput
from amem.language import is_cjk, normalize
from amem.language.lexicon import is_everyday, is_place, lexicon
from amem.language.numerals import CHINESE, MONTHS, WEEKDAYS, WEEKDAYS_CHINESE, digits_of, month_number, weekday_number
from amem.language.scripts import ENGLISH, Patterns, read_list, word_list

#: Whoever speaks in notes that name no speaker, and "we" with all that is ours.
USER, WE = "user", "we"


@cache
def _in_both(section: str) -> Mapping[str, tuple[str, ...]]:
    """Every name in a section of ``words/two_languages.txt``, with all the names of the same thing."""
    found: dict[str, tuple[str, ...]] = {}
    for row in (line.split("  ") for of, line in read_list("two_languages.txt") if of == section):
        found |= {name: tuple(dict.fromkeys((*found.get(name, ()), *row))) for name in row}
    return found


_HEADS = ("project", "service", "app", "application", "system", "repo", "repository", "team", "项目", "服务", "系统")
#: Words and signs of currencies, by the code of each.
_CURRENCIES = {name: row[0] for name, row in _in_both("currencies").items() if name != row[0]}
_pattern = Patterns(
    "predicates",
    heads="|".join(_HEADS[:8]),
    sign="|".join(sorted(map(re.escape, _CURRENCIES), key=len, reverse=True)),
    month="|".join(f"{name[:3]}(?:{name[3:]})?" for name in MONTHS),
    **{"numerals": CHINESE, "weekdays": "|".join(WEEKDAYS), "weekdays_zh": WEEKDAYS_CHINESE},
)
_SELF, _USER, _US = (frozenset(_in_both("subjects")[name][1:]) for name in ("speaker", "user", "we"))


#: Relatives and others in Chinese, as a pattern.
KIN_ZH = "|".join(sorted(word_list("kin in chinese"), key=lambda word: (-len(word), word)))


def names_of(value: str) -> tuple[str, ...]:
    """A value under its names in both languages, itself where only one is known: "yoga", 瑜伽."""
    key = subject_key(value)
    return _in_both("things").get(key, (value,))


def other_names(key: str) -> tuple[str, ...]:
    """The keys under which notes may speak of the same relative: "user's son" is user的儿子, 我妈 is 我母亲."""
    for mark in ("'s ", "的"):
        owner, found, kin = key.partition(mark)
        if found:
            names = (name for name in _in_both("kin").get(kin, ()) if name != kin)
            return tuple(f"{owner}{chr(39) + 's ' if name.isascii() else '的'}{name}" for name in names)
    return ()


def canonical_subject(name: str, *, speaker: str | None = None, user: str = USER) -> str:
    """The one name of a subject. `speaker` is who says "I" (None: the user); `user` is what the user is called.

    The user is always ``user``, under whatever name; a group that the speaker belongs to is always ``we``. What is
    somebody's keeps the note's language: "my sister" is ``user's sister``, 我妹妹 is ``user的妹妹``.
    """
    plain = " ".join(name.split())
    folded = normalize(plain)
    if folded in _SELF:
        return USER if speaker is None else canonical_subject(speaker, user=user)
    if folded in _USER or folded == normalize(user):
        return USER
    if folded in _US:
        return WE
    if ours := _pattern.ours.match(plain):
        return bare_name(plain[ours.end() :])
    if (bare := bare_name(plain)) != plain:
        return bare
    owned = _pattern.owned.fullmatch(plain)
    if owned is None:
        return plain
    thing = owned["thing"] or owned["mine"] or owned["zh"] or owned["what"]
    return bare if (bare := bare_name(thing)) != thing else _owned(owned, speaker, user)


def bare_name(name: str) -> str:
    """A proper name without the general word beside it, so that "Heron project" and "Heron" are one subject."""
    found = _pattern.headed.fullmatch(name)
    if found is None:
        return name
    if found["zh"]:
        return name if found["zh"] in lexicon().chinese or is_place(found["zh"]) else found["zh"]
    bare = found["name"] or found["after"]
    # "The Search service" is one for search, "Payment Service" may be, "the Berlin team" is not Berlin.
    titled = (found["head"] or "")[:1].isupper() and is_everyday(bare)
    return name if titled or is_place(bare) or _pattern.no_names.fullmatch(bare) or bare.casefold() in ENGLISH else bare


def _owned(found: re.Match[str], speaker: str | None, user: str) -> str:
    if found["my"] or found["wo"]:
        owner = canonical_subject("I", speaker=speaker, user=user)
        return f"{owner}'s {found['mine']}" if found["my"] else f"{owner}的{found['zh']}"
    if found["of"]:
        return f"{canonical_subject(found['of'], speaker=speaker, user=user)}的{found['what']}"
    return f"{canonical_subject(found['owner'], speaker=speaker, user=user)}'s {found['thing']}"


def spellings(subject: str, user: str = USER) -> tuple[str, ...]:
    """Every name under which notes may speak of a canonical subject; `user` is what the user is called."""
    if subject == USER:
        return (USER, user, *sorted(_SELF | _USER))
    if subject == WE:
        return (WE, *sorted(_US))
    # Facts that were stored before such names were one: "Heron project".
    headed = (f"{subject} {head}" for head in _HEADS) if bare_name(f"{subject} project") == subject else ()
    return (subject, *headed)


def typed_subject(name: str, known: Iterable[str]) -> str:
    """The one of the `known` subjects that somebody means who types it in small letters, or without its accents.

    ("heron project" for Heron, "amelia" for Amélia); `name` as it is where none fits.
    """
    keys = {_unaccented(each): each for each in known}
    bare = (bare_name(cased) for cased in (name, name.capitalize(), name.title()))
    return next((keys[key] for each in bare if (key := _unaccented(each)) in keys), name)


def _unaccented(name: str) -> str:
    marks = unicodedata.normalize("NFKD", subject_key(name))
    return "".join(mark for mark in marks if not unicodedata.combining(mark))


def subject_key(name: str) -> str:
    """What two spellings of one subject share: case, width, articles and possessives left out."""
    folded = normalize(name)
    return _pattern.article.sub("", folded) or folded


# The table of predicates: which hold one value at a time, what else they are called, what hangs on what.

FILE_NAME = "predicates.toml"
_DEFAULT = Path(__file__).with_name(FILE_NAME)
_ROLES, _KINDS, _ROLE_WORDS = _APART = "roles", "kinds", "role_words"
#: Stands for the role of an object in `one`.
_BY_ROLE = "role"
#: InfluxDB, MyQL, Next.js; a name alone does not say that of Cassandra.
_WORD = re.compile(r"[a-z]+")
_VALUES = (
    *("name", "person", "place", "room", "title", "amount", "number", "email", "address", "date", "time", "version"),
    *("phrase", "school", "none"),
)


@dataclass(frozen=True, slots=True)
class Predicate:
    """One row of the table; `one` is True, False or ``"role"``, `value` what "my landlord is ..." names.

    `said` are its English verb ("work at") and its Chinese clause (在{}工作), '' each for a noun.
    """

    name: str
    one: bool | str = False
    aliases: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    hangs_on: str | None = None
    ends: str | None = None
    lasts: int | None = None
    value: str = "name"
    personal: bool = False
    safety: bool = False
    known: frozenset[str] = frozenset()
    said: tuple[str, ...] = ("", "")


# Compared by identity, so that what is made of a table can be kept by it.
@dataclass(frozen=True, eq=False)
class Predicates:
    """The table as code asks it. A predicate that it does not know holds any number of values."""

    rows: Mapping[str, Predicate] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    kinds: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What a thing falls under ("latte": coffee, 咖啡), by its name and the general ones."""
    role_words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What questions in Chinese call roles."""

    @cached_property
    def persons(self) -> tuple[str, ...]:
        """The names of what people are to one another, longest first: "landlord", "team lead", 房东."""
        named = {name for name, row in self.names.items() if self.rows[row].value == "person"}
        return tuple(sorted(named, key=lambda name: (-len(name), name)))

    @property
    def role_names(self) -> frozenset[str]:
        """The roles that objects play ("database", "package_manager")."""
        return frozenset(self.roles.values())

    def row(self, predicate: str) -> Predicate:
        """The row of a canonical predicate; for one that the table does not have a row that says no more than that."""
        return self.rows.get(predicate) or Predicate(predicate)

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
        row = self.row(predicate)
        if not row.known:
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

    def widened(self, text: str) -> str:
        """The text with what its things fall under in their place: 我还喝咖啡吗 of 我还喝美式吗."""
        for each, names in self.kinds.items():
            name = next((name for name in names if name.isascii() is each.isascii()), "")
            pattern = rf"\b{re.escape(each)}s?\b" if each.isascii() else re.escape(each)
            text = re.sub(pattern, name, text, flags=re.IGNORECASE) if name else text
        return text

    def within(self, object: str) -> list[str]:
        """The names of all that falls under a thing: "latte" of "coffee"; none for what has no kinds."""
        folded = normalize(object)
        return [each for each, names in self.kinds.items() if folded in names]

    def is_safety(self, predicate: str) -> bool:
        """Whether an answer that ignores a fact of this predicate may do harm: an allergy, a medication."""
        return self.row(self.canonical(predicate)).safety

    def words(self, predicate: str, *, chinese: bool = False) -> str:
        """A canonical predicate as it is read: "works at", in Chinese its first Chinese alias, where it has one."""
        names = (alias for alias in self.row(predicate).aliases if chinese and is_cjk(alias))
        return next(names, predicate.replace("_", " "))

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
        return bool(self.role(name) or self.known("uses", name) or _pattern.technology.match(name))

    def slot(self, predicate: str, object: str) -> str | None:
        """What a fact of a subject fills and no other may fill at the same time: "works_at", "uses database".

        None for a predicate that holds any number of values, and for an object of unknown role. `predicate` is
        canonical.
        """
        one = self.row(predicate).one
        if one != _BY_ROLE:
            return predicate if one else None
        role = self.role(object)
        return None if role is None else f"{predicate} {role}"

    def hangs_on(self, predicate: str) -> str | None:
        """The predicate with whose change this one is presumed to end; None for one that stands by itself."""
        return self.row(predicate).hangs_on

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
        for key in ("hangs_on", "ends") if name not in _APART else ():
            if row.get(key, name) not in tables.keys() - {*_APART}:
                raise _refused(own, name, f"{key} names {row[key]!r}, and there is no such predicate")
    roles = {normalize(value): role for role, values in tables.pop(_ROLES, {}).items() for value in values}
    kinds = {
        normalize(each): (*general.split("/"),)
        for general, names in tables.pop(_KINDS, {}).items()
        for each in (*general.split("/"), *names)
    }
    role_words = {role: tuple(names) for role, names in tables.pop(_ROLE_WORDS, {}).items()}
    rows = {
        name: Predicate(name, **{key: _frozen(key, value) for key, value in row.items()})
        for name, row in tables.items()
    }
    names = {normalize(alias): name for name, row in rows.items() for alias in row.aliases}
    names |= {normalize(name.replace("_", " ")): name for name in rows}
    return Predicates(rows, roles, names, kinds, role_words)


def _frozen(key: str, value: Any) -> Any:
    if key == "known":
        return frozenset(map(normalize, value))
    return tuple(value) if isinstance(value, list) else value


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


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) and each.strip() for each in value)


#: What the value of a key must be, and how it is said where it is not.
_CHECKS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "one": (lambda value: value in (True, False, _BY_ROLE), f'must be true, false or "{_BY_ROLE}"'),
    "value": (lambda value: value in _VALUES, f"must be one of {', '.join(_VALUES)}"),
    "lasts": (lambda value: type(value) is int and value >= 1, "must be a number of days"),
    "said": (lambda value: _texts(value) and len(value) == 2, "must be an English verb and a Chinese clause"),
    **dict.fromkeys(("personal", "safety"), (lambda value: isinstance(value, bool), "must be true or false")),
    **dict.fromkeys(("aliases", "asks", "known"), (_texts, "must be a list of texts")),
    **dict.fromkeys(("hangs_on", "ends"), (lambda value: isinstance(value, str), "must name a predicate")),
}


def _problem(name: str, row: Any) -> str:
    """What is wrong with a table of the file; '' when nothing is."""
    if not isinstance(row, Mapping):
        return "is not a table"
    if name in _APART:
        return "" if all(_texts(values) for values in row.values()) else "must hold lists of texts"
    for key, value in row.items():
        if key not in _CHECKS:
            return f"has no key {key!r}"
        fits, complaint = _CHECKS[key]
        if not fits(value):
            return f"{key} {complaint}"
    return ""


# Whether two objects of a predicate name one thing.

#: Values whose reading is kept: each is compared with many others.
_REMEMBERED = 10_000
#: What follows narrows down or adds nothing to what stands before: "Lisbon, Portugal", "Lisbon (Portugal)".
_QUALIFIER = re.compile(r"\s*[,，;；(（)）]\s*")
#: Words after a name that leave it the same thing: a version, a company's form.
_VERSION = re.compile(r"v?\d+(?:\.\w+)*")
_FORMS = frozenset(["inc", "ltd", "llc", "gmbh", "corp", "corporation", "company", "co", "plc", "ag", "sa"])


def money_of(text: str) -> tuple[str, str] | None:
    """An amount of money: its number in digits, and the code of its currency ('' where none is named); None for others.

    "1,150 euros", "€1150" and 一千一百五十欧元 are one amount.
    """
    match = _pattern.money.fullmatch(text.strip())
    number = match and digits_of(match["number"])
    if match is None or number is None or (number[0] == "0" and len(number) > 1 and number[1] != "."):
        return None
    return number, _CURRENCIES.get((match["before"] or match["behind"] or "").casefold(), "")


@lru_cache(maxsize=_REMEMBERED)
def value_key(value: str) -> str:
    """What two spellings of one value share: case, width, articles, the language, an amount, a day, a time."""
    key = subject_key(value)
    if (amount := money_of(key)) is not None:
        return " ".join(filter(None, amount))
    return _in_both("things").get(key, (_written_anew(key),))[0]


#: A number to call.
_DIALLED = re.compile(r"\+?[\d ()/.-]{6,}")


def _day_of(key: str) -> tuple[str, str, str] | None:
    """The year ('' where none is named), month and day of a value that is a date."""
    match = _pattern.day.fullmatch(key)
    if match is None:
        return None
    month = match["month"] or match["first"]
    number = str(month_number(month)) if month else digits_of(match["zh_month"] or match["iso_month"].lstrip("0"))
    day = digits_of((match["day"] or match["second"] or match["zh_day"] or match["iso_day"]).lstrip("0") or "0")
    return match["year"] or match["zh_year"] or match["iso"] or "", number or "", day or ""


def _written_anew(key: str) -> str:
    """A value that is a day, a weekday, a time of day or a telephone number in one spelling; others as they are."""
    if (day := _day_of(key)) is not None:
        return "-".join(filter(None, day))
    if match := _pattern.weekday.fullmatch(key):
        return WEEKDAYS[weekday_number(match["en"] or match["zh"])]
    match = _pattern.clock.fullmatch(key)
    if match and not key.isdecimal() and (hour := digits_of(match["hour"] or match["zh_hour"])) is not None:
        minute = "30" if match["zh_half"] else digits_of(match["minute"] or match["zh_minute"] or "0") or "0"
        late = match["half"] == "p" or match["part"] in ("下午", "傍晚", "晚上")
        number = int(hour) % 12 + 12 * late if late or match["half"] else int(hour)
        return f"{number}:{int(minute):02}"
    if _DIALLED.fullmatch(key):
        return re.sub(r"\D", "", key)
    return key


def same_value(one: str, other: str) -> bool:
    """Whether two objects name one thing: alike, or one says it more closely ("Lisbon", "Lisbon, Portugal").

    A version says it more closely than none ("PostgreSQL", "PostgreSQL 16"); two versions are two things. A longer name
    is another one: "Porto" and "Porto Alegre", "Google" and "Google DeepMind".
    """
    if value_key(one) == value_key(other):
        return True
    days = _day_of(subject_key(one)), _day_of(subject_key(other))
    if days[0] and days[1]:  # the same day, and one of them names no year
        return days[0][1:] == days[1][1:] and "" in (days[0][0], days[1][0])
    amounts = money_of(subject_key(one)), money_of(subject_key(other))
    if amounts[0] and amounts[1]:
        return amounts[0][0] == amounts[1][0] and "" in (amounts[0][1], amounts[1][1])
    first, second = _parts(one), _parts(other)
    closer, vaguer = (first, second) if len(first) > len(second) else (second, first)
    return _same_name(closer[0], vaguer[0]) and closer[1 : len(vaguer)] == vaguer[1:]


def may_be_same(one: str, other: str) -> bool:
    """Whether two objects that differ may still name one thing.

    They may where one is a longer or shorter name ("Ines", "Ines Keller"; "Dr. Wolf", "Martin Wolf"; "Bob", "Robert";
    陈建国, 老陈), where one is a country in which the other may lie, where one is written in another script (成都,
    "Chengdu"), and where both are one telephone number, with a country's code and without. Amounts, days and times that
    differ never are.
    """
    first, second = normalize(one), normalize(other)
    dialled = [re.sub(r"\D", "", each) for each in (first, second) if _DIALLED.fullmatch(each)]
    if len(dialled) == 2 and dialled[0][-9:] == dialled[1][-9:]:
        return True  # with the country's code and without
    if any(money_of(each) or _written_anew(each) != each for each in (first, second)):
        return False
    if is_cjk(first) and is_cjk(second) and max(len(first), len(second)) <= _NAME and set(first) & set(second):
        return True  # 陈建国, 老陈
    if is_cjk(first) != is_cjk(second) and not any(map(str.isdecimal, first + second)):
        return True
    if may_lie_in(one, other) or may_lie_in(other, one):
        return True
    one_has, other_has = (frozenset(each.replace(".", "").split()) - _TITLES for each in (first, second))
    return bool(one_has and other_has) and (_may_name(one_has, other_has) or _may_name(other_has, one_has))


def may_lie_in(one: str, other: str) -> bool:
    """Whether the other is a country or province and the one is none, and so may lie in it: Munich, Germany."""
    first, second = (normalize(each).replace(" ", "_") in _REGIONS for each in (one, other))
    return second and not first


def _may_name(words_: frozenset[str], others: frozenset[str]) -> bool:
    """Whether each word, short names written out, stands among the others."""
    meant = others.union(*(_SHORT_NAMES.get(each, ()) for each in others))
    return all(each in meant or not meant.isdisjoint(_SHORT_NAMES.get(each, ())) for each in words_)


#: Characters of the longest Chinese name.
_NAME = 4
_REGIONS = word_list("regions")
#: By what somebody is called for short, the full names.
_SHORT_NAMES: dict[str, set[str]] = {}
for _pair in word_list("short names"):
    _SHORT_NAMES.setdefault(_pair.partition("=")[0], set()).add(_pair.partition("=")[2])
_TITLES = frozenset({"dr", "mr", "mrs", "ms", "prof", "the"})


def closer(one: str, other: str) -> str:
    """Of two spellings of one value the one that says more; the first where they say as much."""
    return max(one, other, key=lambda each: (len(_parts(each)), len(_parts(each)[0].split())))


@lru_cache(maxsize=_REMEMBERED)
def _parts(value: str) -> tuple[str, ...]:
    """The name, then what qualifies it."""
    parts = [part for part in _QUALIFIER.split(normalize(value)) if part]
    return (_pattern.suffix.sub("", subject_key(parts[0])), *parts[1:]) if parts else ("",)


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
