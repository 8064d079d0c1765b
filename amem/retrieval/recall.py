"""The search flow in eight steps, from reading the question to counting the use; search with catalogs."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from amem.checks import is_wordless
from amem.clock import zone
from amem.collection import LanguageCache, dense_trust
from amem.language import index_terms, normalize
from amem.protocols import Literate
from amem.query import Grouping
from amem.retrieval.confidence import Confidences
from amem.retrieval.explanation import Explanation, LegShare, bounds, matched_words
from amem.retrieval.fact_leg import LONGEST, Slots
from amem.retrieval.fusion import LEG as RERANK
from amem.retrieval.fusion import Reranking, pool
from amem.retrieval.hit import Hit, groups_of, kept_out, spread_over
from amem.retrieval.ranking import Priors, Ranked, Ranker, ReadQuestion, legs_of
from amem.retrieval.router import plain_reading
from amem.retrieval.words import LateLeg, LexicalAnswer, translations
from amem.storage.usage import Uses

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Sequence

    from amem.collection import Collection
    from amem.note import MemoryNote, Source
    from amem.protocols import Embedder, Matrix, Reranker, Vector
    from amem.query import Query
    from amem.retrieval.confidence import Judged
    from amem.retrieval.explanation import Lent
    from amem.retrieval.fusion import Part
    from amem.retrieval.hit import Group
    from amem.retrieval.legs import Answer
    from amem.retrieval.question import Reading
    from amem.retrieval.ranking import Ranking
    from amem.storage.store import Session

#: So many sentences of a note are looked at for the one nearest in meaning.
_SENTENCES = 64
#: So many sentences are embedded for the hits of one question.
_AT_ONCE = 96


class Recall:
    """Finds notes by meaning, words, facts, speakers, times and links. Safe to use from many threads.

    `reranker` finds what reads the best candidates again: called with False one that is on this machine, with True one
    that may be fetched. What it, the embedder or the store raise comes through; what a reranker raises while it reads
    does not.
    """

    def __init__(
        self,
        collection: Collection,
        *,
        reranker: Callable[[bool], Reranker | None] | None = None,
        uses: Uses | None = None,
    ) -> None:
        self.store = collection.store
        self._dense = collection.dense
        self._vectorizer = collection.vectorizer
        self._embedder = collection.vectorizer.embedder
        settings = self._settings = collection.settings
        self.name = settings.collection
        self._reranking = Reranking(reranker or (lambda fetch: None), settings)
        embedder, predicates = self._embedder, collection.predicates
        trust = partial(dense_trust, embedder)
        self._ranker = Ranker(self._dense, settings, predicates, self._reranking, trust)
        nearness = self._nearness if isinstance(embedder, Literate) else None
        self._confidences = Confidences(self._ranker.frequencies, Slots(settings, predicates), trust, nearness)
        self._languages = LanguageCache()
        self._uses = uses or Uses(collection.store, collection.clock)

    def search(self, query: Query) -> list[Hit]:
        """The best `query.k` notes, best first; equal scores newest first. A question without a word finds nothing.

        Grouped, those of a group stand one behind the other; the place in their explanations is that of the ranking.
        """
        return self.search_batch([query])[0]

    def search_batch(self, queries: Sequence[Query], *, vectors: dict[str, Vector] | None = None) -> list[list[Hit]]:
        """As `search` for each query, with one embedding call for all and on one snapshot.

        `vectors` are those of texts that were embedded before by the same embedder; it takes in what is embedded here.
        """
        asked = {place: query for place, query in enumerate(queries) if query.k > 0 and not is_wordless(query.text)}
        answers: list[list[Hit]] = [[] for _ in queries]
        if not asked:
            return answers
        # 1 and 2: read the questions, embed what meaning is asked.
        questions = self._understand(asked.values(), {} if vectors is None else vectors)
        self._reranking.prepare(asked.values())
        used: list[int] = []
        with self.store.read() as session:
            for place, query in asked.items():
                question = questions[query.text]
                with session.within(query.filter.scope):
                    # 3: ask the legs, fuse, follow links, read again, weigh by standing (`Ranker.rank`, ranking.py).
                    wide = query if query.group_by is None else replace(query, k=pool(query.k))
                    ranking = self._ranker.rank(session, wide, question)
                    # 4: choose.
                    least = query.minimum_score
                    able = [each for each in ranking.order[: wide.k] if least is None or each.score >= least]
                    chosen, groups = self._grouped(session, query, able)
                    # 5 and 6: hydrate and explain; say how sure each is.
                    hits = self._hits(session, query, ranking, chosen, groups)
                if query.passages:
                    # 7: find the sentence nearest in meaning.
                    told = self._with_sentences([hit.explanation for hit in hits], question.vector)
                    hits = [replace(hit, explanation=each) for hit, each in zip(hits, told, strict=True)]
                answers[place] = hits
                if query.touch:
                    left = {hit.id for hit in hits}
                    used += [each.key for each in chosen if each.id in left]
        # 8: count the use.
        self._uses.count(used)
        return answers

    def opened(self, ids: Sequence[str]) -> None:
        """Count notes that were read by their id as used; best effort, as with hits."""
        self._uses.opened(ids)

    def explain(self, query: Query, id: str) -> Explanation:
        """Why the note is among the hits, or what kept it out. Counts as no use. Raises NoteNotFound."""
        asked = [query] if query.text.strip() else []
        question = self._understand(asked, {}).get(query.text, ReadQuestion(plain_reading(query.text)))
        self._reranking.prepare(asked)
        with self.store.read() as session, session.within(query.filter.scope):
            note, key = session.notes.existing(id, deleted=True), session.notes.key_of(id)
            prior = Priors(query, question.reading, self._settings).of(session, [key])[key]
            local = zone(self._settings.timezone)
            if not asked:
                out = kept_out(session, query, None, key, note, local)
                return Explanation(id, 0.0, 0.0, prior, kept_out=out, reading=question.reading, content=note.content)
            ranking = self._ranker.rank(session, query, question, every=True, also=[key])
            places = {each.key: place for place, each in enumerate(ranking.order, start=1)}
            place = places.get(key)
            ranked = Ranked(key, id, "", {}, 0.0, (), prior) if place is None else ranking.order[place - 1]
            found = explained(ranking, ranked, note, place=place)
            found = replace(
                found,
                legs=(*found.legs, *silent(ranking, key, {leg.leg for leg in found.legs})),
                kept_out=kept_out(session, query, ranking, key, note, local),
                among=len(places),
            )
        return self._with_sentences([found], question.vector)[0]

    def _understand(self, queries: Iterable[Query], vectors: dict[str, Vector]) -> dict[str, ReadQuestion]:
        """Each question by its text, read, with its vectors, new ones added to `vectors`; refreshes the dense leg."""
        asked = list(queries)
        if not asked:
            return {}
        with self.store.read() as session:
            counter = session.counter
            languages = self._languages.of(session)
            readings = {query.text: self._ranker.read(session, query) for query in asked}
            for text in readings:
                if languages.foreign_to(text, self._embedder):
                    readings[text] = _translated(session, readings[text], self._embedder)
        self._dense.refresh(counter)
        meant: dict[str, tuple[str, str]] = {
            text: (reading.meaning or text, "" if reading.event is None else reading.event.text)
            for text, reading in readings.items()
        }
        embedded = [
            query.text for query in asked if "dense" in legs_of(query) or query.filter.minimum_cosine is not None
        ]
        texts = dict.fromkeys(text for each in embedded for text in meant[each] if text)
        if missing := [text for text in texts if text not in vectors]:
            vectors |= zip(missing, self._vectorizer.compute(missing), strict=True)
        found = {text: [vectors.get(each) for each in texts] for text, texts in meant.items()}
        return {text: ReadQuestion(reading, *found[text]) for text, reading in readings.items()}

    def _grouped(
        self, session: Session, query: Query, found: Sequence[Ranked]
    ) -> tuple[Sequence[Ranked], Sequence[Group | None]]:
        """Choose the candidates for the places, with the group of each; all, where no groups were asked for."""
        if query.group_by is None:
            return found, [None] * len(found)
        notes = {each.key: each.id for each in found}
        groups = groups_of(session, Grouping(query.group_by), notes, zone(self._settings.timezone))
        places = spread_over(groups, [each.score for each in found], query.k)
        return [found[place] for place in places], [groups[place] for place in places]

    def _hits(
        self,
        session: Session,
        query: Query,
        ranking: Ranking,
        chosen: Sequence[Ranked],
        groups: Sequence[Group | None],
    ) -> list[Hit]:
        ids = [each.id for each in chosen]
        notes = session.notes.shown(ids, history=False, usage=False, deleted=True)
        sources = session.notes.sources_of(ids)
        places = {each.key: place for place, each in enumerate(ranking.order, start=1)}
        found = [
            (each.key, explained(ranking, each, notes[each.id], place=places[each.key]), notes[each.id])
            for each in chosen
        ]
        judged = self._confidences.of(session, query, ranking, found)
        least = query.minimum_confidence
        return [
            _hit(note, sources[note.id], replace(explanation, signs=how.signs), how, self.name, group)
            for (_, explanation, note), how, group in zip(found, judged, groups, strict=True)
            if least is None or how.confidence >= least
        ]

    def _with_sentences(self, found: Sequence[Explanation], vector: Vector | None) -> list[Explanation]:
        """Each with the sentence nearest in meaning, where its note has several and holds no word asked for."""
        if vector is None:
            return list(found)
        places = [() if each.passage.spans else tuple(bounds(each.content)[:_SENTENCES]) for each in found]
        wanted = [(place, span) for place, spans in enumerate(places) if len(spans) > 1 for span in spans][:_AT_ONCE]
        if not wanted:
            return list(found)
        vectors = self._embedder.embed([found[place].content[start:end] for place, (start, end) in wanted])
        nearest: dict[int, tuple[float, tuple[int, int]]] = {}
        for (place, span), each in zip(wanted, vectors, strict=True):
            cosine = float(np.dot(each, vector))
            if place not in nearest or cosine > nearest[place][0]:
                nearest[place] = cosine, span
        return [
            replace(each, sentence=nearest[place][1]) if place in nearest else each for place, each in enumerate(found)
        ]

    def _nearness(self, texts: Sequence[str], keys: Sequence[int]) -> Matrix:
        """The cosine of each text with each of these notes, shape (len(texts), len(keys)); NaN without a vector."""
        return self._embedder.embed(texts) @ self._dense.vectors(np.array(keys, dtype=np.int64)).T


#: A question of which the embedding model knows less than this is compared by its words in the other language.
_KNOWN = 0.5


def _translated(session: Session, reading: Reading, embedder: Embedder) -> Reading:
    """The reading of a question that some notes are in another language than, with what its words are there."""
    found = translations(reading.lexical) if len(reading.text) <= LONGEST else {}
    names = {said: others for said, others in found.items() if normalize(said) not in reading.names}
    read = replace(reading, foreign=True, translated=names)
    terms = {said: index_terms(said) for said in names}
    held = session.text.document_frequency([term for each in terms.values() for term in each])
    lacking = [said for said, each in terms.items() if not all(held[term] for term in each)]
    # What notes say in the question's own language is found by its words. One word alone may be a name that is also
    # a word: 芝麻 is somebody's cat, and sesame no question.
    if len(names) > 1 and 2 * len(lacking) >= len(names) and dense_trust(embedder, reading.text) < _KNOWN:
        read = replace(read, meaning=" ".join(each[0] for each in names.values()))
    return read


def _hit(
    note: MemoryNote,
    sources: Sequence[Source],
    explanation: Explanation,
    judged: Judged,
    collection: str,
    group: Group | None,
) -> Hit:
    legs = tuple(leg.leg for leg in explanation.legs if leg.leg not in (RERANK, LateLeg.name))
    return Hit(
        id=note.id,
        content=note.content,
        context=note.context,
        keywords=tuple(note.keywords),
        tags=tuple(note.tags),
        timestamp=note.timestamp,
        category=note.category,
        score=explanation.score,
        # More than half of its score, that is: a good answer that a link lifted a little is an answer of its own.
        is_neighbor=2 * explanation.link_share > explanation.score,
        kind=note.kind,
        matched_by=(*legs, "link") if explanation.via else legs,
        via=explanation.via,
        sources=tuple(sources),
        explanation=explanation,
        links=tuple(note.links),
        confidence=judged.confidence,
        support=judged.support,
        overturned=tuple(note.overturned),
        doubts=tuple(note.doubts),
        collection=collection,
        group=group,
    )


# What a ranking knows of one note, as an explanation of its score.


def explained(ranking: Ranking, ranked: Ranked, note: MemoryNote, *, place: int | None) -> Explanation:
    """Why a ranked note has its score: the shares of all that gave it any."""
    factor = ranked.prior.factor
    return Explanation(
        id=ranked.id,
        score=ranked.score,
        relevance=ranked.relevance,
        prior=ranked.prior,
        legs=tuple(
            _share(ranking, ranking.results.answers.get(leg), ranked.key, leg, part, factor)
            for leg, part in ranked.parts.items()
        ),
        link_share=max(0.0, ranked.relevance - ranked.direct) * factor if ranked.via else 0.0,
        via=ranked.via,
        place=place,
        reading=ranking.reading,
        fusion=ranking.fusion,
        notes=(*ranking.notes, *ranked.notes),
        content=note.content,
    )


def silent(ranking: Ranking, key: int, told: Container[str]) -> tuple[LegShare, ...]:
    """The shares (of 0) of the legs not yet `told` of, which gave nothing to a note's score."""
    # Where raw input answered for them, the legs' own opinions are told.
    told_by = ranking.of_legs
    return tuple(
        _share(ranking, told_by.answers.get(leg), key, leg, part, 0.0)
        for leg, part in told_by.fused.parts(key, silent=True).items()
        if leg not in told and not math.isnan(part.raw)
    )


def _share(ranking: Ranking, answer: Answer | None, key: int, leg: str, part: Part, factor: float) -> LegShare:
    question = ranking.reading.text
    matched = () if answer is None else answer.matched(key)
    lent: tuple[Lent, ...] = ()
    if isinstance(answer, LexicalAnswer):
        matched = matched_words(question, matched)
        lent = tuple(replace(each, words=matched_words(question, each.words)) for each in answer.lent(key))
    if leg == "speaker":
        matched = (ranking.reading.named,)
    return LegShare(leg, part.rank, part.raw, part.share * factor, matched, part.scaled, part.weight, lent)


# Catalogs: collections that are searched beside a memory's own and never written by it.


class JoinedRecall:
    """Recall over a collection and its `catalogs`, which use one embedder.

    A question is embedded once, and each collection ranks its notes as it does alone. Scores of the convex fusion say
    how well a note answers, on one scale in all of them (ranks do not, so reciprocal ranks are refused where there are
    catalogs): hits are merged by score, spread over their groups where groups are asked for, and cut at the `k` of the
    query. Uses count in the memory's own notes alone.
    """

    def __init__(self, own: Recall, catalogs: Sequence[Recall] = ()) -> None:
        self._own = own
        self._catalogs = tuple(catalogs)

    def search(self, query: Query) -> list[Hit]:
        """As `search_batch` for one query."""
        return self.search_batch([query])[0]

    def search_batch(self, queries: Sequence[Query]) -> list[list[Hit]]:
        """The best `query.k` notes of all collections for each query, best first."""
        own = self._own
        if not self._catalogs:
            return own.search_batch(queries)
        vectors: dict[str, Vector] = {}
        asked = [replace(query, touch=False) for query in queries]
        found = [own.search_batch(asked, vectors=vectors)]
        for each in self._catalogs:
            answers = each.search_batch(asked, vectors=vectors)
            found.append([[replace(hit, is_catalog=True) for hit in hits] for hits in answers])
        merged = [_merged(answers, query.k) for query, *answers in zip(queries, *found, strict=True)]
        used = [hit for query, hits in zip(queries, merged, strict=True) if query.touch for hit in hits]
        if ids := [hit.id for hit in used if not hit.is_catalog]:
            own.opened(ids)
        return merged

    def opened(self, ids: Sequence[str]) -> None:
        """Count the memory's own among these notes as used."""
        self._own.opened(ids)

    def reading(self, hits: Sequence[Hit]) -> Iterator[tuple[Session, list[Hit]]]:
        """Each collection that some of the hits are from, open to be read, with these."""
        for place, each in enumerate((self._own, *self._catalogs)):
            some = [hit for hit in hits if hit.collection == each.name and hit.is_catalog is (place > 0)]
            if some:
                with each.store.read() as session:
                    yield session, some


def _merged(answers: Sequence[Sequence[Hit]], k: int) -> list[Hit]:
    """The best hits, of equal scores the memory's own first; what several collections say is told by the first."""
    told: set[str] = set()
    kept: list[Hit] = []
    for hits in answers:
        fresh = [hit for hit in hits if told.isdisjoint((hit.id, normalize(hit.content)))]
        told.update(word for hit in fresh for word in (hit.id, normalize(hit.content)))
        kept += fresh
    kept.sort(key=lambda hit: -hit.score)
    best = [replace(hit, explanation=replace(hit.explanation, place=place)) for place, hit in enumerate(kept, start=1)]
    groups = [hit.group for hit in best if hit.group is not None]
    return [best[place] for place in spread_over(groups, [hit.score for hit in best], k)] if groups else best[:k]
