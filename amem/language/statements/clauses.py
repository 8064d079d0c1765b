"""A text in clauses that state something (no questions, no words of others), and whom each is about."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from amem.language import sentences, written_in_cjk
from amem.language.lexicon import is_everyday, is_person, is_place
from amem.language.predicates import USER, WE, Predicates, bare_name, canonical_subject
from amem.language.scripts import ENGLISH, Patterns, word_list, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


_pattern = Patterns("statements/clauses")

#: Nobody says more in one sentence, or in one clause; what is longer is pasted.
_LONGEST_SENTENCE, _LONGEST_CLAUSE = 600, 240
#: Facts are looked for in this much of a note.
_WINDOW = 20_000
#: Stands where a quotation was: nothing is read from it, nor across it.
GAP = "\ufffc"

_PASTED = re.compile(r"```.*?(?:```|\Z)|^[ \t]*>[^\n]*$", re.DOTALL | re.MULTILINE)
_BREAK = _pattern("break")


@dataclass(frozen=True, slots=True)
class Clause:
    """`text` of a clause, and what parts it from the clause before in the sentence (`opener`, in lower case)."""

    text: str
    opener: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """The clauses of a sentence that states something; `who` says it where a pasted talk names them."""

    clauses: tuple[Clause, ...]
    chinese: bool
    who: str | None = None
    goes_on: bool = False
    """Whether another sentence stands before it on its line, whose speaker is its own."""


def stated(text: str) -> Iterator[Sentence]:
    """The sentences of a text that state something."""
    plain = _pattern.quoted.sub(_unquoted, _PASTED.sub(f" {GAP} ", text[:_WINDOW]))
    every = sentences(plain)
    joking = "/s" in plain or _pattern.joke.search(plain) is not None
    end = 0
    for at, sentence in enumerate(every):
        start = plain.find(sentence, end)
        goes_on = at > 0 and "\n" not in plain[end:start]
        end = start + len(sentence)
        joke = joking and any(map(_pattern.joke.search, every[at : at + 2]))
        if len(sentence) <= _LONGEST_SENTENCE and not joke and _states(sentence):
            line = _pattern.line.match(sentence) if ":" in sentence or "：" in sentence else None
            body = sentence if line is None else sentence[line.end() :]
            who = None if line is None else line["who"]
            clauses = tuple(_clauses(body))
            if clauses:
                lettered = any(each.isalpha() for each in body)  # 换了手机号：139……
                yield Sentence(clauses, written_in_cjk(body if lettered else sentence), who, goes_on)


def _states(sentence: str) -> bool:
    return not (_pattern.question.search(sentence) or _pattern.supposed.search(sentence))


def _unquoted(found: re.Match[str]) -> str:
    """A quoted name stays ("Falcon"), what somebody said goes."""
    inside = next(group for group in found.groups() if group is not None)
    name = len(inside.split()) <= 3 and (inside.isascii() or len(inside) <= 6) and inside[-1] not in ".!?。！？,，"
    end = inside[-1] if inside[-1] in ".!?。！？" else ""
    return inside if name and not re.search(r"\b(?:I|my|we)\b|[我你]", inside) else f" {GAP}{end} "


def _clauses(sentence: str) -> Iterator[Clause]:
    start, opener = 0, ""
    lists = [each.span() for each in _pattern.list_zh.finditer(sentence)]
    for found in _BREAK.finditer(sentence):
        if any(first < found.start() < last for first, last in lists):
            continue
        if text := sentence[start : found.start()].strip():
            yield Clause(text[:_LONGEST_CLAUSE], opener.casefold())
            opener = ""
        start, opener = found.end(), f"{opener} {found[0].strip()}".strip()
    if text := sentence[start:].strip(" .。!！~～"):
        yield Clause(text[:_LONGEST_CLAUSE], opener.casefold())


_KIN = word_list("kin")
_CALENDAR = word_list("calendar")
_THIRD = {"he": "m", "him": "m", "she": "f", "they": "", "他": "m", "她": "f"}
_MEN = word_list("men")
_WOMEN = word_list("women")
_GENDER = {**dict.fromkeys(_MEN, "m"), **dict.fromkeys(_WOMEN, "f")}
_POSSESSIVES = {"my", "our", "his", "her", "their", "its"}
_SYSTEMS = words("production prod staging ci")
_PASSING = word_list("passing")
#: Whose they are goes without saying.
_PARENTS = word_list("parents")
_LONGEST = 4
_FORMER = words("former previous old last past")
#: "My boss at the new place", "at work": not where one spends free time.
_WORK = words("work office job company firm moment place new")
#: No noun phrase without an article holds one of these.
_NO_NOUNS = ENGLISH | _CALENDAR | words("everyone everybody nobody someone something everything nothing people")


@dataclass(frozen=True, slots=True)
class Subject:
    """A subject under its one name; `person` None where nothing tells whether it is somebody or something.

    `owner` and `noun` take "my manager", "the release deadline" apart: whose ('' for "the"), and what.
    """

    name: str
    person: bool | None
    owner: str | None = None
    noun: str = ""
    first: bool = False
    """Whether it is the one who speaks."""
    many: bool = False
    former: bool = False
    """Whether it is said to be so no more, or elsewhere ("my boss at my old job", "my boss at the choir")."""
    we: bool = False
    """Whether it was said as "we", so that whoever speaks is among them."""

    @property
    def plural(self) -> bool:
        """Whether its verbs stand as with "we"."""
        return self.first or self.many or (self.name == WE and self.noun != "everything")


@dataclass(slots=True)
class Cast:
    """Who speaks, and who was named so far in a note."""

    speaker: str | None
    predicates: Predicates
    people: dict[str, str] = field(default_factory=dict)
    """Persons named so far, each with its gender where that is known ('' else)."""
    things: dict[str, Subject] = field(default_factory=dict)
    unsure: dict[str, Subject] = field(default_factory=dict)
    """Of whom or what nothing tells which."""

    @property
    def me(self) -> Subject:
        """Whoever says "I"."""
        return Subject(canonical_subject("I", speaker=self.speaker), True, first=True)

    def meet(self, subject: Subject) -> Subject:
        """Take note of who or what a clause is about, and whose that is."""
        if subject.owner and subject.owner not in (self.me.name, USER, WE):
            self.people.setdefault(subject.owner, "")
        if subject.name in (self.me.name, USER, WE):
            return subject
        if subject.person is False:
            self.things[subject.name] = subject
        else:
            if subject.person is None:
                self.unsure[subject.name] = subject
            self.people.setdefault(subject.name, _GENDER.get(subject.noun.split()[-1] if subject.noun else "", ""))
        return subject

    def hear(self, clause: str, *, alone: bool = False) -> None:
        """Take note of persons that a clause mentions beside its subject.

        With `alone` no other clause is joined to it, so that a name by itself is of somebody it only speaks to.
        """
        if alone and _pattern.spoken_to.fullmatch(clause):
            return
        for found in _pattern.mention.finditer(clause):
            if found["kin"]:
                if found["whose"].casefold() in ("my", "our"):
                    self.people.setdefault(f"{self.me.name}'s {found['kin']}", _GENDER.get(found["kin"], ""))
                elif found["whose"][0].isupper() and found["whose"].casefold() not in _POSSESSIVES:
                    self.people.setdefault(found["whose"][:-2], "")
                    self.people.setdefault(f"{found['whose'][:-2]}'s {found['kin']}", _GENDER.get(found["kin"], ""))
            elif found["title"]:
                self.people.setdefault(
                    found["title"], {"Mr": "m", "Mrs": "f", "Ms": "f"}.get(found["title"][:3].strip(". "), "")
                )
            elif is_person(found["name"]) and not self._is_known(found["name"]):
                self.people[found["name"]] = ""

    def named_last(self, clause: Clause, opener: str) -> Subject | None:
        """The person, by name or a relative, whom "who" behind a clause (after `opener`) means: "lunch with Rob, who".

        None where it asks: "I wonder who", "I asked Rob who works there".
        """
        if "," not in opener and _pattern.asking.search(clause.text):
            return None
        listed = clause.text.split()
        fitting = (self.of(listed[-length:]) for length in range(min(len(listed), 4), 0, -1))
        found = next((each for each in fitting if each is not None), None)
        return found if found is not None and found.person and not found.first and found.name != WE else None

    def others_in(self, clause: str) -> bool | None:
        """Whether an English clause names somebody else; None where it names neither that nor who speaks."""
        if _pattern.relative.search(clause) or any(
            self._may_be_somebody(found) for found in _pattern.name.finditer(clause)
        ):
            return True
        return False if _pattern.ourselves.search(clause) else None

    def _may_be_somebody(self, found: re.Match[str]) -> bool:
        name = found["name"]
        if name.casefold() in _CALENDAR or name == self.me.name:
            return False
        if is_person(name):
            return True
        plain = is_everyday(name) or is_place(name) or self.predicates.role(name) is not None or name.isupper()
        return not plain and found["before"] is None

    def _is_known(self, name: str) -> bool:
        return name == self.me.name or any(name in known.split() for known in self.people)

    def third(self, pronoun: str) -> Subject | None:
        """The one other person whom "she", "he" or "they" can mean; None when there is none, or more."""
        wanted = _THIRD[pronoun]
        fitting = [name for name, gender in self.people.items() if not (wanted and gender and gender != wanted)]
        return Subject(fitting[0], True) if len(fitting) == 1 else None

    def of(self, listed: Sequence[str]) -> Subject | None:
        """The subject that these English words name; None when they name none."""
        if not listed or GAP in "".join(listed):
            return None
        folded = [word.casefold().replace("’", "'") for word in listed]
        if len(listed) == 1:
            if folded[0] == "i":
                return self.me
            if folded[0] == "we":
                return Subject(WE, True, we=True)
            if folded[0] in _THIRD:
                found = self.third(folded[0])
                return found and replace(found, many=folded[0] == "they")
            if folded[0] == "everything":
                return Subject(WE, False, "", "everything")
            if folded[0] == "it":
                meant = self.things or self.unsure
                only = next(iter(meant.values()), None) if len(meant) == 1 else None
                # "My email has changed, it's now ...": whose it is stays known.
                owned = only is not None and only.person is False and only.owner
                return only if owned or only is None else Subject(only.name, False, "", only.name)
        where = ("at", "in", "on") if folded[1:2] and folded[1] in self.predicates.persons else ("at",)
        at = next((at for at, word in enumerate(folded[:-1]) if at > 1 and word in where), 0)
        if at and (folded[0] in _POSSESSIVES or folded[0].endswith("'s")):  # "my manager at Acme"
            found = self.of(listed[:at])
            elsewhere = not _FORMER.isdisjoint(folded[at:]) or (
                folded[at] == "at" and self._is_pastime(folded[at - 1], listed[at + 1 :])
            )
            return found and replace(found, former=found.former or elsewhere)
        if len(listed) > 1 and (beside := _pattern.beside.match(" ".join(folded[1:]))):
            return self.of(listed[: len(listed) - len(beside[0].split())]) if is_person(listed[0]) else None
        pointed = folded[0] in _POSSESSIVES or folded[0] in ("the", "this")
        if thing := self._something_used(listed, folded) or (None if pointed else self._headed(listed)):
            return thing
        if pointed:
            return self._noun(folded[0], listed[1:], folded[1:])
        if folded[0].removesuffix("'s") in _PARENTS and listed[0][0].isupper():
            name = f"{self.me.name}'s {folded[0].removesuffix(chr(39) + 's')}"
            if len(listed) > 1 and folded[0].endswith("'s"):
                return self._owned(name, listed[1:], folded[1:])  # "Mum's phone"
            return Subject(name, True, noun=folded[0]) if len(listed) == 1 else None
        for at, word in enumerate(folded[:3]):
            if word.endswith("'s") and self._is_name(listed[: at + 1]):
                owner = " ".join(listed[: at + 1])[:-2]
                return self._owned(canonical_subject(owner), listed[at + 1 :], folded[at + 1 :])
        if len(listed) == 1 and folded[0] in _SYSTEMS:
            return Subject(folded[0], False)
        if self._is_name(listed):
            return Subject(" ".join(listed), self._is_somebody(listed))
        return None

    def _is_pastime(self, role: str, where: Sequence[str]) -> bool:
        """Whether a boss or landlord is one of another place than where one works or lives ("my boss at the choir")."""
        row = self.predicates.row(self.predicates.names.get(role, ""))
        named = any(word[0].isupper() for word in where) or where[0].casefold() in _POSSESSIVES
        return bool(row.hangs_on) and not named and _WORK.isdisjoint(where)

    def _headed(self, listed: Sequence[str]) -> Subject | None:
        """The thing that "Heron project" and "project Heron" name."""
        name = " ".join(listed)
        bare = bare_name(name)
        return None if bare == name else Subject(bare, False, "", name.casefold())

    def bare(self, listed: Sequence[str]) -> Subject | None:
        """A thing named without an article ("stand-up", "Heron", a name that is also a word of every day)."""
        folded = [word.casefold() for word in listed]
        plain = all(word.replace("-", "").replace("'", "").isalpha() and word not in _NO_NOUNS for word in folded)
        if not plain or not 0 < len(listed) <= 3 or folded[0] in _POSSESSIVES:
            return None
        return Subject(" ".join(listed), False, "", " ".join(folded))

    def _something_used(self, listed: Sequence[str], folded: Sequence[str]) -> Subject | None:
        """What plays a role for somebody or something: "Heron's cache", "the Heron service's database"."""
        at = next((at for at, word in enumerate(folded[:-1]) if word.endswith("'s")), None)
        noun = "" if at is None else " ".join(folded[at + 1 :])
        if at is None or noun.replace(" ", "_") not in self.predicates.role_names:
            return None
        whose = [*listed[:at], listed[at][:-2]]
        owner = self.of(whose) or (self.bare(whose) if whose[0][0].isupper() else None)
        return owner and Subject(f"{owner.name}'s {noun}", False, owner.name, noun)

    def _noun(self, pointer: str, listed: Sequence[str], folded: Sequence[str]) -> Subject | None:
        if not 0 < len(listed) <= _LONGEST + 1 or any(word in _POSSESSIVES or word == "i" for word in folded):
            return None
        if (headed := self._headed(listed)) is not None:
            return headed
        if pointer in ("the", "this"):
            named = canonical_subject(f"the {' '.join(listed)}")
            if named == WE:
                return Subject(WE, True)
            return Subject(named, False, "", " ".join(folded), many=_is_many(folded[-1]))
        if pointer == "our":
            named = canonical_subject(f"our {' '.join(listed)}")
            if named == WE:
                return Subject(WE, True)
            if folded[-1] in _KIN or (not _KIN.isdisjoint(folded) and listed[-1][0].isupper()):
                return self._owned(self.me.name, listed, folded)  # "our son", "our son Max"
            return Subject(named, False, WE, _told_apart(folded), many=_is_many(folded[-1]))
        if pointer == "my":
            return self._owned(self.me.name, listed, folded)
        owner = self.third({"his": "he", "her": "she", "their": "they"}[pointer]) if pointer != "its" else None
        return None if owner is None else self._owned(owner.name, listed, folded)

    def _owned(self, owner: str, listed: Sequence[str], folded: Sequence[str]) -> Subject | None:
        """ "My sister", "my friend Ana" (who is Ana), "Ana's manager"."""
        if not 0 < len(listed) <= _LONGEST:
            return None
        for at in range(1, len(listed)):
            if folded[at - 1] in _KIN and self._is_name(listed[at:]):
                return Subject(" ".join(listed[at:]), True)
        for at, word in enumerate(folded[:-1]):
            if word.endswith("'s") and word[:-2] in _KIN:  # "my son's school"
                whose = " ".join([*_told_apart(folded[:at]).split(), listed[at][:-2]]) if at else listed[0][:-2]
                return self._owned(f"{owner}'s {whose}", listed[at + 1 :], folded[at + 1 :])
        noun = _told_apart(folded)
        kept = " ".join(listed[len(folded) - len(noun.split()) :])
        former = not _FORMER.isdisjoint(folded[:-1])
        person = (
            folded[-1] in _KIN
            or folded[-1].removesuffix("s") in _KIN
            or folded[-1] in ("people", "children", *self.predicates.persons)
        )
        return Subject(f"{owner}'s {kept}", person, owner, noun, many=_is_many(folded[-1]), former=former)

    def _is_somebody(self, listed: Sequence[str]) -> bool | None:
        if self.predicates.role(" ".join(listed)) is not None:
            return False
        return True if is_person(listed[0]) else None

    def _is_name(self, listed: Sequence[str]) -> bool:
        """Whether the words are a proper name: capitals throughout, and no everyday word that only opens a sentence."""
        if not 0 < len(listed) <= 3 or not all(word[0].isupper() or word[0].isdigit() for word in listed):
            return False
        first = listed[0].removesuffix("'s").removesuffix("’s")
        if first.casefold() in _CALENDAR or first[0].isdigit():
            return False
        if is_person(first) or any(mark.isupper() for mark in first[1:]) or self.predicates.role(first) is not None:
            return True
        return not is_everyday(first) or (len(listed) > 1 and not is_everyday(listed[1]))


def _is_many(noun: str) -> bool:
    return (noun.endswith("s") and not noun.endswith(("ss", "us", "is"))) or noun in ("people", "children", "kids")


def _told_apart(folded: Sequence[str]) -> str:
    kept = list(folded)
    while len(kept) > 1 and kept[0] in _PASSING:
        kept.pop(0)
    return " ".join(kept)
