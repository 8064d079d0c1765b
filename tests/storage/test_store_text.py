"""Full text: ranked like BM25, honest about every script, and safe from its own query language."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from rank_bm25 import BM25Okapi
from storing import change, put, search

from amem.language import index_terms, query_terms, typed_words
from amem.note import Source, Status
from amem.storage.search_tables import Lengths

if TYPE_CHECKING:
    from amem.storage.store import Store

WORDS = [f"word{n}" for n in range(300)]


def test_ranking_equals_rank_bm25_on_rarer_terms(store: Store) -> None:
    chance = random.Random(7)
    texts = [" ".join(chance.choices(WORDS, k=chance.randint(5, 40))) for _ in range(400)]
    reference = BM25Okapi([index_terms(text) for text in texts], k1=1.2, b=0.75)
    with store.write() as session:
        operation = session.begin("import", "user")
        for text in texts:
            put(session, text, operation)
        for _ in range(20):
            terms = index_terms(" ".join(chance.sample(WORDS, 4)))
            ranked = list(search(session, terms).items())[:30]
            scores = reference.get_scores(terms)
            expected = sorted(range(len(texts)), key=lambda row: (-scores[row], row))[: len(ranked)]
            assert [key - 1 for key, _ in ranked] == expected
            assert [score for _, score in ranked] == pytest.approx([scores[row] for row in expected], rel=1e-6)


def test_what_single_terms_are_worth_adds_up_to_the_ranking_after_every_change(store: Store) -> None:
    chance = random.Random(8)
    lengths: Lengths | None = None
    ids: list[str] = []
    for step in range(12):
        with store.write() as session:
            operation = session.begin("import", "user")
            long = 400 if step == 5 else 30
            texts = [" ".join(chance.choices(WORDS[:40], k=chance.randint(3, long))) for _ in range(15)]
            ids += [put(session, text, operation) for text in texts]
            change(session, chance.choice(ids), content="word1 word2")
            change(session, ids.pop(3), status=str(Status.DELETED))
            session.notes.purge([ids.pop(7)])
        with store.read() as session:
            lengths = Lengths.of(session, lengths)
            terms = index_terms(" ".join(chance.sample(WORDS[:40], 4)))
            places, keys, worth = session.text.postings(terms, lengths)
            found = {key: float(worth[keys == key].sum()) for key in set(keys.tolist())}
            matched = " OR ".join(terms)
            asked = "SELECT rowid, -bm25(note_text) FROM note_text WHERE note_text MATCH :matched"
            assert found == pytest.approx(dict(session.rows(asked, matched=matched)))
            assert set(places.tolist()) == set(range(4))


def test_keywords_tags_and_context_are_searched_too(store: Store) -> None:
    with store.write() as session:
        put(session, "It moved.", keywords=["PostgreSQL"], tags=["database"], context="About invoices.")
        for word in ("postgresql", "databases", "invoice"):
            assert len(search(session, query_terms(word))) == 1, word


@pytest.mark.parametrize(
    ("content", "question"),
    [
        ("妈妈对花生过敏。", "花生过敏吗"),
        ("家里养了一只猫。", "猫"),
        ("我们用PostgreSQL v15.3。", "PostgreSQL"),
        ("我们用PostgreSQL v15.3。", "v15.3"),
        ("Set snake_case_name to 3.", "snake_case_name"),
        ("Set snake_case_name to 3.", "case"),
        ("Written in C++ and C#.", "c++"),
        ("Le café est fermé.", "cafe"),
        ("हिन्दी में लिखना", "हिन्दी"),
        ("ภาษาไทยกำลังดี", "ภาษาไทยกำลังดี"),
        ("Привет, мир", "привет"),
        ("שָׁלוֹם עולם", "שָׁלוֹם"),
    ],
)
def test_words_of_every_script_are_found_as_whole_terms(store: Store, content: str, question: str) -> None:
    with store.write() as session:
        put(session, content)
        terms = query_terms(question)
        assert len(search(session, terms)) == 1
        assert all(session.text.document_frequency(terms).values())


@pytest.mark.parametrize(
    "text", ['"', 'a" OR "b', "NEAR(a b)", "a AND NOT b", "content:x", "*", "(", "^a", "-a", "a'b"]
)
def test_the_query_language_stays_out(store: Store, text: str) -> None:
    with store.write() as session:
        put(session, "plain words")
        assert search(session, query_terms(text)) == {}
        session.text.typed(typed_words(text))


def test_typing_narrows_down(store: Store) -> None:
    with store.write() as session:
        for text in ("The databases moved.", "The data is old.", "数据库搬家了。"):
            put(session, text)
        sizes = []
        for typed in ("da", "data", "datab", "databases", "数", "数据库"):
            sizes.append(len(session.text.typed(typed_words(typed))))
        assert sizes == [2, 2, 1, 1, 1, 1]


def test_the_vocabulary_counts_notes_not_words(store: Store) -> None:
    with store.write() as session:
        one = put(session, "tea tea tea", tags=["Hot", "drink"], entities=["Ana"])
        put(session, "tea", tags=["hot"], entities=["ana", "Ben"])
        assert session.text.document_frequency(["tea", "milk"]) == {"tea": 2, "milk": 0}
        assert session.text.total == 2
        assert list(session.text.tags().items()) == [("hot", 2), ("drink", 1)]
        assert session.text.counts("entity", ["ANA", "Zoe"]) == {"ana": 2}
        assert session.text.holding("entity", ["ana", "ben"], 5) == [(2, ("ana", "ben")), (1, ("ana",))]
        change(session, one, status=str(Status.DELETED))
        assert session.text.document_frequency(["tea"]) == {"tea": 1}
        assert session.text.total == 1
        assert list(session.text.tags().items()) == [("hot", 1)]


def test_tokens_are_what_was_indexed(store: Store) -> None:
    with store.write() as session:
        put(session, "Green teas", tags=["hot"], context="For Ana")
        assert session.text.tokens() == {1: ["green", "tea", "hot", "for", "ana"]}


def test_sources_have_an_index_of_their_own(store: Store) -> None:
    with store.write() as session:
        operation = session.begin("add", "user")
        id = put(session, "She likes windows.", operation)
        source = Source("s1", "message", "talk", "D1:2", "Ana", session.now, "Book 14A again, please")
        key = session.sources.put(source, operation)
        assert session.sources.put(source, operation) == key
        session.sources.attach(1, key, operation)
        session.sources.attach(1, key, operation)
        assert session.sources.search(["14a"], 5) == [source]
        assert search(session, ["14a"]) == {}
        assert session.notes.sources_of([id]) == {id: [source]}
        assert session.sources.notes_of(["s1", "s2"]) == {"s1": id}
        assert session.sources.count() == 1
