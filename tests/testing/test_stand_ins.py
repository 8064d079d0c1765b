"""The stand-ins that amem ships for tests."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from amem.analysis import Analysis, Draft, Evolution
from amem.errors import BadModelAnswer
from amem.protocols import Analyst, ChatModel, Embedder
from amem.testing import FrozenClock, HashEmbedder, ScriptedAnalyst, ScriptedChat


def test_a_frozen_clock_moves_only_when_told():
    clock = FrozenClock("2026-03-01T09:00")
    assert clock.now() == clock.now() == datetime(2026, 3, 1, 9, tzinfo=UTC)
    clock.advance(days=1, minutes=30)
    clock.advance(timedelta(hours=1))
    assert clock.now() == datetime(2026, 3, 2, 10, 30, tzinfo=UTC)


def test_a_frozen_clock_makes_the_same_ids_in_every_run_and_never_one_twice():
    first, second, other = FrozenClock(), FrozenClock(), FrozenClock(seed="other")
    ids = [first.new_id() for _ in range(100)]
    assert ids == [second.new_id() for _ in range(100)]
    assert len({*ids, *(other.new_id() for _ in range(100))}) == 200


def test_texts_with_common_words_get_similar_vectors():
    embedder = HashEmbedder(256)
    assert isinstance(embedder, Embedder)
    vectors = embedder.embed(
        [
            "The team chose PostgreSQL for billing",
            "Billing runs on PostgreSQL",
            "My mother is allergic to peanuts",
            "妈妈对花生过敏",
            "点菜时注意妈妈花生过敏",
            "",
        ]
    )
    assert vectors.shape == (6, 256)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    cosines = vectors @ vectors.T
    assert cosines[0, 1] > 0.3 > cosines[0, 2]
    assert cosines[3, 4] > 0.3 > cosines[3, 0]


@pytest.mark.thorough
def test_vectors_are_the_same_in_another_process():
    script = "from amem.testing import HashEmbedder; print(HashEmbedder(16).embed(['量子 annealing']).tolist())"
    other = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert other.stdout.strip() == str(HashEmbedder(16).embed(["量子 annealing"]).tolist())


def test_nothing_embeds_to_nothing():
    assert HashEmbedder(8).embed([]).shape == (0, 8)


def test_a_scripted_analyst_answers_in_order_and_remembers_what_it_was_asked():
    first, second = Analysis(context="one"), Analysis(context="two")
    analyst = ScriptedAnalyst([first, second], local=False)
    assert isinstance(analyst, Analyst)
    assert not analyst.local
    assert [analyst.analyze(Draft(text), None) for text in "ab"] == [first, second]
    assert [draft.content for draft in analyst.drafts] == ["a", "b"]
    with pytest.raises(LookupError, match="no analyses left"):
        analyst.analyze(Draft("c"), None)


def test_a_scripted_analyst_may_be_a_function_or_say_nothing_special():
    analyst = ScriptedAnalyst(evolutions=lambda draft, analysis, shown: Evolution(tags=(draft.content,)))
    analysis = analyst.analyze(Draft("PostgreSQL runs billing"), None)
    assert analysis.keywords
    assert analysis.context == "PostgreSQL runs billing"
    assert analyst.evolve(Draft("x"), analysis, [], None).tags == ("x",)
    assert ScriptedAnalyst().evolve(Draft("x"), analysis, [], None) == Evolution()


def test_a_scripted_analyst_fails_while_it_is_told_to():
    analyst = ScriptedAnalyst(fail=BadModelAnswer("nonsense"))
    with pytest.raises(BadModelAnswer):
        analyst.analyze(Draft("x"), None)
    with pytest.raises(BadModelAnswer):
        analyst.evolve(Draft("x"), Analysis(), [], None)
    analyst.fail = None
    assert analyst.analyze(Draft("x"), None).context == "x"


def test_a_scripted_chat_says_texts_json_and_exceptions():
    chat = ScriptedChat(["hello", {"忘": 1}, BadModelAnswer("no")])
    assert isinstance(chat, ChatModel)
    assert chat.complete("say hello") == "hello"
    assert chat.complete("json", schema={"type": "object"}) == '{"忘": 1}'
    with pytest.raises(BadModelAnswer):
        chat.complete("third")
    assert chat.prompts == ["say hello", "json", "third"]
    assert chat.schemas == [None, {"type": "object"}, None]
    assert chat.usage.calls == 2
    with pytest.raises(LookupError, match="no answers left"):
        chat.complete("fourth")


def test_a_scripted_chat_may_be_a_function_of_the_prompt():
    assert ScriptedChat(lambda prompt: prompt[::-1]).complete("abc") == "cba"
