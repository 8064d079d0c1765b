"""Who reads notes, in words, and retrying what waits for them."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from _judging_model import judging_model

from amem import load_settings
from amem.testing import FakeOllama, ScriptedAnalyst

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Open


def test_the_survey_names_the_model_and_says_what_to_do_when_it_is_down(open_memory: Open, home: Path) -> None:
    with FakeOllama(judging_model) as ollama:
        settings = load_settings(str(home), llm_backend="ollama", llm_model="llama3.2", ollama_host=ollama.host)
        memory = open_memory(settings=settings)
        told = dict(memory.survey())
        assert "llama3.2" in told["analysis"]
        assert told["ollama"] == f"answers at {ollama.host}"
        assert told["today"].startswith("0 ")
        assert "problem" not in told
    told = dict(memory.survey())
    assert told["ollama"].startswith("no Ollama answers")
    assert "ollama serve" in told["problem"]


def test_retrying_stops_after_the_note_it_is_at(open_memory: Open) -> None:
    stop = threading.Event()
    analyst = ScriptedAnalyst(local=False)
    memory = open_memory(analyst=analyst, background=False)
    for number in range(3):
        memory.add(f"note {number}", wait=False)
    report = memory.enrich(progress=lambda done, of: stop.set(), cancelled=stop)
    assert (report.done, report.remaining) == (1, 2)
    assert memory.enrich(cancelled=threading.Event()).remaining == 0
