"""A collection of any size in seconds: 250 notes written in earnest, then copied set-wise in other words."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from amem.analysis import Analysis
from amem.collection import embedded_text
from amem.language import index_terms, search_terms
from amem.note import Kind, Layer, MemoryNote, Status
from amem.storage.note_reading import normal_hash
from amem.storage.rows import time_text
from amem.storage.vectors import packed_vectors, text_hash, unpacked_vectors
from amem.testing.embedder import HashEmbedder
from amem.testing.frozen_clock import FrozenClock
from amem.testing.scripted import ScriptedAnalyst

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping
    from pathlib import Path

    from amem.analysis import Draft
    from amem.memory_system import AgenticMemorySystem
    from amem.storage.store import Session


# What the notes of a crowd say.

_ENGLISH: Mapping[Kind, tuple[tuple[str, str], ...]] = {
    Kind.EPISODE: (
        ("family", "{who} and {other} walked along the river and talked about the {thing} until it rained"),
        ("travel", "The night train was late; {who} slept beside the {thing} on the platform"),
        ("music", "{who} played the {thing} piece by heart for the first time, {number} minutes without a break"),
    ),
    Kind.FACT: (
        ("family", "{who} was born in the year the {thing} was built and keeps a photograph of it"),
        ("garden", "The {thing} grows best behind the greenhouse, where {other} planted it {number} years ago"),
        ("health", "{who} is allergic to hazelnuts and carries the {thing} everywhere"),
        ("work", "{other} runs the team that looks after the {thing}; there are {number} of them"),
    ),
    Kind.PREFERENCE: (
        ("food", "{who} likes green tea at 80 degrees, never boiling, with the {thing}"),
        ("work", "{other} prefers reviewing the {thing} in the morning, before anyone is running about"),
        ("music", "{who} cannot stand loud music near the {thing}"),
    ),
    Kind.DECISION: (
        ("work", "We decided to move the {thing} to PostgreSQL and to keep the old one for {number} days"),
        ("home", "{who} and {other} will repaint the kitchen and leave the {thing} where it is"),
    ),
    Kind.CONSTRAINT: (
        ("work", "Nobody may deploy the {thing} on a Friday, {who} says, whatever the customers are promised"),
        ("health", "{other} must not lift more than {number} kilograms, the {thing} included"),
    ),
    Kind.CONFIG: (
        ("code", "The {thing} listens on port 80{number} and reads AMEM_HOME before anything else"),
        ("code", "retry_limit of the {thing} is {number}; {who} raised it after the outage"),
    ),
    Kind.CODE: (
        ("code", "rename_tag(old, new) in the {thing} returns how many notes were changed, says {who}"),
        ("code", "{other} replaced the loop in the {thing} by one numpy call and it ran {number} times faster"),
    ),
    Kind.ERROR: (
        ("code", "ConnectionResetError while the {thing} talks to the gateway, {number} times since noon"),
        ("work", "The {thing} printed yesterday's prices; {who} found that it had the wrong time zone"),
    ),
    Kind.QUESTION: (
        ("home", "Does anybody know why the {thing} hums at night? {who} hears it through {number} walls"),
        ("travel", "Which ferry takes bicycles and the {thing} across, {other} wonders"),
    ),
    Kind.CHITCHAT: (
        ("friends", "{who} says hello and that the {thing} made everybody laugh 🙂"),
        ("friends", "Ha, {other} wore the {thing} hat to the café again"),
    ),
    Kind.PROCEDURE: (
        ("home", "To descale the {thing}: fill it with vinegar, wait {number} minutes, rinse twice"),
        ("code", "To restore the {thing}: stop the worker, unpack the snapshot, start it with --safe"),
    ),
    Kind.TOPIC: (("garden", "Everything about the {thing}, what {who} tried and what came of it in {number} seasons"),),
}
_CHINESE: Mapping[Kind, tuple[tuple[str, str], ...]] = {
    Kind.EPISODE: (
        ("家庭", "{who}和{other}沿着河边散步，一直聊{thing}，直到下雨才回家"),
        ("旅行", "夜车晚点了{number}分钟，{who}在站台上抱着{thing}睡着了"),
    ),
    Kind.FACT: (
        ("家庭", "{who}的猫今年{number}岁，怕吸尘器，喜欢趴在{thing}上 🐱"),
        ("工作", "{other}的小组负责维护{thing}，一共{number}个人"),
    ),
    Kind.PREFERENCE: (
        ("饮食", "{who}喝绿茶只用八十度的水，从不用开水，旁边总放着{thing}"),
        ("工作", "{other}喜欢早上先看{thing}的代码，再开会"),
    ),
    Kind.DECISION: (("工作", "我们决定把{thing}的数据库换成 PostgreSQL，旧的再保留{number}天"),),
    Kind.CONSTRAINT: (("健康", "医生说{who}不能提超过{number}公斤的东西，{thing}也不行"),),
    Kind.CONFIG: (("代码", "{thing}的端口是80{number}，先读环境变量，再读配置文件"),),
    Kind.ERROR: (("代码", "{thing}昨晚超时{number}次，{who}怀疑是连接池太小"),),
    Kind.QUESTION: (("生活", "为什么{thing}半夜会响？{other}在隔壁都听见了"),),
    Kind.CHITCHAT: (("朋友", "{who}问大家好，说{thing}把所有人都逗笑了"),),
    Kind.PROCEDURE: (("生活", "清洗{thing}：倒进白醋，等{number}分钟，再用清水冲两遍"),),
}
_PEOPLE = ("Ana", "Bruno", "Carla", "Deniz", "Emre", "Femi", "Greta", "Hugo", "Inês", "Jonas", "Karim", "Zoë")
_RENMEN = ("李雷", "韩梅", "王芳", "陈红", "张伟", "刘洋", "赵敏", "孙丽", "吴昊")
_THINGS = (
    *("kettle", "importer", "plum tree", "search index", "cello", "bread oven", "login page", "telescope", "hedge"),
    *("nightly export", "rain barrel", "message queue", "sewing machine", "fig jam", "billing service", "bicycle"),
    *("report generator", "lavender", "espresso grinder", "chess clock", "router", "vegetable stew", "umbrella stand"),
)
_WUPIN = (
    "水壶",
    "导入脚本",
    "李子树",
    "搜索索引",
    "大提琴",
    "面包机",
    "登录页面",
    "望远镜",
    "报表",
    "缝纫机",
    "自行车",
    "路由器",
    "薰衣草",
)
_PLACES = (
    *("Porto", "Graz", "Leeds", "Ghent", "Turku", "Malmö", "Bologna", "Sevilla", "Izmir", "Kraków", "Lyon", "Bremen"),
    *("Cork", "Basel", "Tartu", "Bergen", "Nantes", "Verona", "Split", "Aarhus"),
)
_DIDIAN = (
    *("杭州", "成都", "西安", "厦门", "苏州", "大连", "昆明", "青岛", "长沙", "武汉", "南京", "桂林", "拉萨", "哈尔滨"),
    *("天津", "重庆", "福州", "三亚", "洛阳", "敦煌"),
)
#: Every third note is a Chinese one.
_CHINESE_EVERY = 3


@dataclass(frozen=True, slots=True)
class Said:
    """One note before it is written; `chinese` tells which of a copy's openings it gets."""

    content: str
    kind: Kind
    tag: str
    thing: str
    who: str
    chinese: bool


@cache
def said(number: int) -> Said:
    """The note of that number, from 0; no two of the first 300 alike."""
    thirds, rest = divmod(number, _CHINESE_EVERY)
    chinese = rest == _CHINESE_EVERY - 1
    turn = thirds if chinese else thirds * (_CHINESE_EVERY - 1) + rest
    lines = _CHINESE if chinese else _ENGLISH
    flat = [(kind, tag, line) for kind, some in lines.items() for tag, line in some]
    again, place = divmod(turn, len(flat))
    kind, tag, line = flat[place]
    if kind is Kind.TOPIC and again:  # of topics there are few
        kind = Kind.FACT
    people, things = (_RENMEN, _WUPIN) if chinese else (_PEOPLE, _THINGS)
    who, other = people[turn % len(people)], people[(turn * 5 + 1) % len(people)]
    thing = things[(place + 3 * again) % len(things)]
    content = line.format(who=who, other=other, thing=thing, number=10 + turn * 13 % 80)
    return Said(content, kind, tag, thing, who, chinese)


def openings(copy: int) -> tuple[str, str]:
    """What the English and the Chinese notes of a copy begin with; no two copies alike."""
    week, place = divmod(copy, len(_PLACES))
    return f"{_PLACES[place]}, week {week + 1}: ", f"{_DIDIAN[place]}第{week + 1}周："


def place_tags(copy: int) -> tuple[str, str]:
    """The tag that the English and the Chinese notes of a copy carry for their place."""
    place = copy % len(_PLACES)
    return _PLACES[place].casefold(), _DIDIAN[place]


# Copies of the notes of a crowd, made by SQLite itself: each copy in other words, under other ids, somewhat later.

#: Every so many-th note names a ticket of its own, so that the vocabulary is as long as a real one.
_TICKETED = 4
#: Length of the noise by which a copy's vector differs from the unit vector that it was copied from.
_NOISE = 0.45


class Copies:
    """Writes copies 1, 2, … of all that is there, each `step` seconds later than the one before it."""

    def __init__(self, session: Session, copies: int, step: int) -> None:
        self._session = session
        self._driver: sqlite3.Connection = session.connection
        self._copies = copies
        self._step = step
        self._next = {
            table: self._one(f"SELECT coalesce(max({key}), 0) FROM {table}")
            for table, key in (
                *(("notes", "key"), ("operations", "id"), ("versions", "id"), ("links", "key"), ("link_changes", "id")),
            )
        }

    def make(self) -> None:
        """All of them, within the session's transaction."""
        for name, function, arguments in (
            ("copied", _copied, 2),
            ("copied_changes", _copied_changes, 2),
            ("normal_of", normal_hash, 1),
            ("hash_of", _hash_of, 3),
            ("tagged", _tagged, 2),
        ):
            self._driver.create_function(name, arguments, function, deterministic=True)
        self._openings()
        self._operations()
        self._notes()
        self._links()
        self._text()
        self._vectors()
        for table in ("copies", "bodies"):
            self._driver.execute(f"DROP TABLE temp.{table}")

    def _openings(self) -> None:
        """What differs: the opening of every copy, and what the originals say after their own."""
        self._driver.execute(
            "CREATE TEMP TABLE copies (number INTEGER, chinese INTEGER, opening TEXT, opening_terms TEXT,"
            " old_tag TEXT, tag TEXT, tag_terms TEXT, PRIMARY KEY (number, chinese))"
        )
        self._driver.execute(
            "CREATE TEMP TABLE bodies (note INTEGER PRIMARY KEY, chinese INTEGER, body TEXT, terms TEXT)"
        )
        for number in range(1, self._copies):
            each = zip(openings(number), place_tags(0), place_tags(number), strict=True)
            for chinese, (opening, old_tag, tag) in enumerate(each):
                row = (number, chinese, opening, _terms(opening), old_tag, tag, " ".join(index_terms(tag)))
                self._driver.execute("INSERT INTO temp.copies VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        for key, content in self._driver.execute("SELECT key, content FROM notes").fetchall():
            chinese = content.startswith(openings(0)[1])
            body = content.removeprefix(openings(0)[chinese])
            self._driver.execute("INSERT INTO temp.bodies VALUES (?, ?, ?, ?)", (key, chinese, body, _terms(body)))

    def _operations(self) -> None:
        self._insert(
            "operations",
            "id, parent, action, actor, cause, at, undoes, undone_by, prompts",
            f"id + number * :operations, parent + number * :operations, action, actor, cause, {self._later('at')},"
            " NULL, NULL, prompts",
            "operations",
        )

    def _notes(self) -> None:
        kept = "keywords, entities, facts, context, category"
        same = "kind, layer, status"
        rest = "conversation_id, ordinal, speaker, metadata, enrichment, analyst, version, edited"
        # 'content' first with its own opening, then with the copy's; every fourth with a ticket.
        self._driver.execute(
            f"INSERT INTO notes (key, id, content, normal, tags, {kept}, timestamp, at, {same}, importance,"
            f" reliability, pinned, superseded_by, valid_from, valid_to, recorded_at, {rest}, text_hash, seq,"
            " vector_seq)"
            f" SELECT place, copied(id, number), said, normal_of(said), tagged(tags, tag), {kept},"
            f" strftime('%Y-%m-%dT%H:%M:%S+00:00', at, later), {self._later('at')}, {same},"
            " round(min(1.0, max(0.05, importance + (number % 7 - 3) * 0.05)), 2), reliability,"
            f" pinned AND number % 40 = 0, copied(superseded_by, number), {self._later('valid_from')},"
            f" {self._later('valid_to')}, {self._later('recorded_at')}, {rest},"
            " hash_of(kind, speaker, said), :seq, :seq"
            f" FROM (SELECT *, opening || body || {_ticket(' (OPS-{})')} AS said"
            " FROM (SELECT *, notes.key + number * :notes AS place, (number * :step) || ' seconds' AS later"
            " FROM notes JOIN temp.bodies ON note = notes.key JOIN temp.copies USING (chinese) ORDER BY number, note))",
            self._given(),
        )
        self._insert(
            "versions",
            "id, operation, note, version, changes, owned",
            "id + number * :versions, operation + number * :operations, note + number * :notes, version,"
            " copied_changes(changes, number), owned",
            "versions",
        )
        self._insert(
            "usage",
            "note, recalls, last_access, growth, since_archived",
            f"note + number * :notes, 1 + (recalls + number) % 13, {self._later('last_access')}, growth,"
            " since_archived",
            "notes",
            key="note",
        )
        self._insert("note_terms", "role, term, note", "role, term, note + number * :notes", "notes", key="note",
                     more=" AND NOT (role = 1 AND term IN (SELECT old_tag FROM temp.copies))")  # fmt: skip
        self._driver.execute(
            "INSERT INTO note_terms (role, term, note) SELECT 1, tag, held.note + number * :notes"
            " FROM note_terms AS held JOIN temp.copies ON held.role = 1 AND held.term = old_tag"
            " WHERE held.note <= :notes",
            self._given(),
        )

    def _links(self) -> None:
        self._insert(
            "links",
            "key, source, target, type, reason, confidence, made_by, at, operation, weight",
            "key + number * :links, copied(source, number), copied(target, number), type, reason, confidence, made_by,"
            f" {self._later('at')}, operation + number * :operations, weight",
            "links",
            key="key",
        )
        self._insert(
            "link_changes",
            "id, operation, source, target, type, before, after",
            "id + number * :link_changes, operation + number * :operations, copied(source, number),"
            " copied(target, number), type, before, after",
            "link_changes",
        )

    def _text(self) -> None:
        self._driver.execute(
            "INSERT INTO note_text (rowid, content, keywords, tags, context)"
            f" SELECT place, opening_terms || ' ' || terms || {_ticket(' ops-{0} op {0}')},"
            " keywords, replace(tags, old_tag, tag_terms), context"
            " FROM (SELECT *, note + number * :notes AS place FROM temp.bodies"
            " JOIN note_text ON note_text.rowid = note JOIN temp.copies USING (chinese) ORDER BY number, note)",
            self._given(),
        )
        self._driver.execute("INSERT INTO note_text (note_text) VALUES ('optimize')")

    def _vectors(self) -> None:
        space = self._session.vectors.space()
        assert space is not None
        # By the notes, of which the copies have no vectors yet.
        held = dict(
            self._driver.execute(
                "SELECT notes.key, vector FROM notes JOIN vectors ON hash = text_hash AND space = ?", (space.id,)
            )
        )
        hashes = dict(self._driver.execute("SELECT key, text_hash FROM notes"))
        unit = unpacked_vectors(b"".join(held[key] for key in range(1, self._next["notes"] + 1)), space.dimension)
        chance = np.random.default_rng(7)
        for number in range(1, self._copies):
            noise = chance.standard_normal(unit.shape, dtype=np.float32) * (_NOISE / unit.shape[1] ** 0.5)
            near = (unit + noise).astype("<f4")
            near /= np.linalg.norm(near, axis=1, keepdims=True)
            first = number * self._next["notes"] + 1
            self._driver.executemany(
                "INSERT INTO vectors (space, hash, vector) VALUES (?, ?, ?)",
                ((space.id, hashes[first + row], blob) for row, blob in enumerate(packed_vectors(near))),
            )

    def _insert(self, table: str, columns: str, values: str, of: str, *, key: str = "id", more: str = "") -> None:
        """Every row of a table once for each copy, in the order of the copies."""
        self._driver.execute(
            f"INSERT INTO {table} ({columns}) SELECT {values}"
            " FROM (SELECT DISTINCT number, (number * :step) || ' seconds' AS later FROM temp.copies)"
            f" CROSS JOIN {table} WHERE {key} <= :{of}{more} ORDER BY number",
            self._given(),
        )

    def _later(self, column: str) -> str:
        return f"strftime('%Y-%m-%dT%H:%M:%S.000000Z', {column}, later)"

    def _given(self) -> dict[str, int]:
        return {**self._next, "step": self._step, "seq": self._session.seq}

    def _one(self, query: str) -> int:
        return int(self._driver.execute(query).fetchone()[0])


def _terms(text: str) -> str:
    return " ".join(search_terms(text))


def _ticket(form: str) -> str:
    """The name of a ticket in this form, for some of the notes, in SQL; `place` is the note's key."""
    text = "".join(f"'{each}' || place || " for each in form.replace("{0}", "{}").split("{}"))
    return f"CASE place % {_TICKETED} WHEN 0 THEN {text.removesuffix(' || place || ')} ELSE '' END"


def _copied(id: str | None, copy: int) -> str | None:
    """The id of the note in a copy that `id` was in the original."""
    if id is None:
        return None
    made = blake2b(f"{copy}:{id}".encode(), digest_size=16).hexdigest()
    return f"{made[:8]}-{made[8:12]}-{made[12:16]}-{made[16:20]}-{made[20:]}"


def _copied_changes(changes: str, copy: int) -> str:
    if "superseded_by" not in changes:
        return changes
    held = json.loads(changes)
    held["superseded_by"] = [_copied(id, copy) for id in held["superseded_by"]]
    return json.dumps(held, ensure_ascii=False)


def _hash_of(kind: str, speaker: str | None, content: str) -> bytes:
    return text_hash(embedded_text(MemoryNote(content, kind=Kind(kind), speaker=speaker), "content"))


def _tagged(tags: str, place: str) -> str:
    """The tags with another place in the place of the last one."""
    return json.dumps([*json.loads(tags)[:-1], place], ensure_ascii=False)


#: Notes that are written in earnest; a crowd is so many, or a multiple of it.
EARNEST = 250
ENDS = "2026-03-01T09:00"
_SPAN = timedelta(days=3 * 365)
#: Who writes, in turn.
_ACTORS = ("user", "agent:helper", "user", "mcp")


def make_crowd(home: Path, notes: int = 100_000, *, dimension: int = 64, ends: str = ENDS) -> int:
    """Write a collection (of the default name) under `home`; returns how many notes it holds, of any status.

    That is `notes` rounded up to a multiple of 250, the newest recorded shortly before `ends` (ISO 8601, UTC). Open it
    with ``HashEmbedder(dimension)``. 100,000 take about fifteen seconds and 230 MB, and with 384 dimensions 540 MB.
    """
    from amem.memory_system import AgenticMemorySystem
    from amem.settings import Settings

    copies = -(-max(notes, 1) // EARNEST)
    step = int(_SPAN.total_seconds()) // copies
    clock = FrozenClock(ends, seed="crowd")
    clock.advance(-timedelta(seconds=step * copies))
    with AgenticMemorySystem(
        settings=Settings(home=home, dense_base="exact", timezone="UTC", llm_backend="offline", conflict_score=1.0),
        clock=clock,
        embedder=HashEmbedder(dimension),
        analyst=ScriptedAnalyst(_analyse),
    ) as memory:
        _write(memory, clock, timedelta(seconds=step // (EARNEST + 1)))
        with memory._store.write() as session:
            Copies(session, copies, step).make()
    return copies * EARNEST


def _write(memory: AgenticMemorySystem, clock: FrozenClock, pause: timedelta) -> None:
    """The notes that all others are copies of, by the API as anybody would write them."""
    ids: list[str] = []
    for number in range(EARNEST):
        note = said(number)
        clock.advance(pause)
        # A fifth of them speak of a time before they were written.
        at = clock.now() - timedelta(hours=number % 90) * (number % 5 == 0)
        writer = memory.acting_as(_ACTORS[number % len(_ACTORS)])
        fields: dict[str, Any] = {"speaker": note.who} if number % 3 == 0 else {}
        content = openings(0)[note.chinese] + note.content
        ids.append(writer.add_note(content, at, importance=round(0.2 + number % 8 / 10, 1), **fields))
        if number % 2:
            types = ("related", "supports", "caused_by", "part_of", "contradicts")
            writer.link(ids[-1], ids[(number - 1) * 2 // 3], types[number % 5], f"both are about the {note.thing}")
        if number % 10 == 9:
            memory.link(ids[-1], ids[0], "related", "how it began")
    for number in range(20, EARNEST, 25):
        memory.supersede(ids[number], ids[number + 1], "it has changed since")
    for number in range(5, EARNEST, 50):
        memory.delete(ids[number])
    for number in range(0, EARNEST, 40):
        memory.pin(ids[number])
    with memory._store.write() as session:
        operation = session.begin("maintain", "amem", "faded")
        for number in range(12, EARNEST, 20):
            session.notes.change(ids[number], {"status": str(Status.ARCHIVED)}, operation)
        for number in range(1, EARNEST, 4):
            session.notes.change(ids[number], {"layer": str(Layer.LONG_TERM)}, operation)
        keys = session.notes.keys_of(ids)
        for number, key in enumerate(keys[id] for id in ids):
            if number % 3:
                uses = 1 + number % 11
                session.usage.carry_over(key, uses, time_text(session.now), growth=1.3 ** min(uses, 8))


def _analyse(draft: Draft) -> Analysis:
    content = draft.content
    for number in range(EARNEST):
        note = said(number)
        if content.endswith(note.content):
            place = place_tags(0)[note.chinese]
            return Analysis((note.thing,), f"About the {note.thing}", (note.tag, place), note.kind, 0.5, (note.who,))
    raise LookupError(content)
