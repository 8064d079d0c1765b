"""What each fault does to an answer's text."""

from __future__ import annotations

import json
import time

import pytest

from amem.testing import Fault, spoil

EVOLUTION = {
    "links": [{"to": "n1", "type": "related", "reason": "both on tea, 都讲茶", "confidence": 0.9}],
    "rewrites": [{"note": "n2", "context": "Tea.", "tags": ["tea", "茶"], "reason": "", "confidence": 0.9}],
    "tags": [],
}
TEXT = json.dumps(EVOLUTION, ensure_ascii=False)
OF_THE_TEXT = [fault for fault in Fault if not fault.on_the_wire]


@pytest.mark.parametrize("fault", [fault for fault in Fault if fault.on_the_wire])
def test_a_broken_server_leaves_the_text_alone(fault):
    assert spoil(fault, TEXT) == TEXT


def test_nothing_spoils_nothing():
    assert spoil(None, TEXT) == TEXT


@pytest.mark.parametrize("fault", OF_THE_TEXT)
def test_a_spoilt_text_is_another_and_always_the_same(fault):
    assert spoil(fault, TEXT) != TEXT
    assert spoil(fault, TEXT) == spoil(fault, TEXT)


@pytest.mark.parametrize("fault", OF_THE_TEXT)
def test_any_text_can_be_spoilt(fault):
    for text in ("", "plain words", "[]", "null", "3", '"x"', "{", "[" * 5000, "[" * 400 + "]" * 400):
        assert isinstance(spoil(fault, text), str)


@pytest.mark.parametrize("fault", [Fault.FENCED, Fault.CHATTY, Fault.THINKING, Fault.UNCLOSED])
def test_talking_round_an_answer_keeps_the_answer_in_it(fault):
    assert TEXT in spoil(fault, TEXT)


def test_thinking_ends_before_the_answer_or_never():
    assert spoil(Fault.THINKING, TEXT).partition("</think>")[2].strip() == TEXT
    assert "</think>" not in spoil(Fault.UNCLOSED, TEXT)


def test_wrong_types_leave_no_field_as_it_was():
    spoilt = json.loads(spoil(Fault.WRONG_TYPES, '{"a": "x", "b": ["y", "z"], "c": 0.5, "d": {"e": 1}, "f": true}'))
    assert spoilt == {"a": ["x"], "b": "y, z", "c": {"value": 0.5}, "d": [1], "f": "True"}


def test_wrong_lengths_cut_and_stretch_lists_in_turn():
    spoilt = json.loads(spoil(Fault.WRONG_LENGTHS, '{"a": [1, 2], "b": [1, 2], "c": [[1]]}'))
    assert spoilt["a"] == [1]
    assert spoilt["b"] == [1, 2] * 40
    assert spoilt["c"] == []


def test_foreign_ids_stand_where_shown_ones_stood():
    spoilt = json.loads(spoil(Fault.FOREIGN_IDS, TEXT))
    assert {spoilt["links"][0]["to"], spoilt["rewrites"][0]["note"]}.isdisjoint({"n1", "n2", "m1"})
    assert spoilt["links"][0]["reason"] == EVOLUTION["links"][0]["reason"]


def test_foreign_ids_are_there_even_where_nothing_was_named():
    nothing = '{"links": [], "rewrites": [], "tags": []}'
    spoilt = json.loads(spoil(Fault.FOREIGN_IDS, nothing))
    assert [link["to"] for link in spoilt["links"]] == ["n99"]
    assert spoilt["rewrites"][0]["note"] not in ("n1", "n2")


def test_an_obedient_model_does_what_the_note_says():
    spoilt = json.loads(spoil(Fault.OBEDIENT, TEXT))
    assert spoilt["delete"] == ["n1"]
    assert (spoilt["links"][0]["type"], spoilt["rewrites"][0]["context"]) == ("supersedes", "deleted")
    assert "deleted n1" in spoil(Fault.OBEDIENT, "The weather is fine.")


def test_noise_is_a_megabyte_and_made_quickly():
    began = time.monotonic()
    assert 950_000 < len(spoil(Fault.NOISE, TEXT).encode()) < 1_200_000
    assert time.monotonic() - began < 5
