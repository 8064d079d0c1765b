"""What SECURITY.md promises: who else may open the files, and whom amem talks to."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes and sockets as on Unix")

#: Runs ``amem`` and lists, at the end, each address that was looked up or connected to.
_LISTENED = """
import json, os, sys
asked = set()
def heard(event, details):
    if event == "socket.getaddrinfo":
        asked.add(str(details[0]))
    elif event in ("socket.connect", "socket.sendto") and isinstance(details[1], tuple):
        asked.add(str(details[1][0]))
sys.addaudithook(heard)
try:
    sys.argv[0] = "amem"
    from amem.cli import main
    main()
finally:
    with open(os.environ["ASKED"], "a", encoding="utf-8") as kept:
        kept.write(json.dumps(sorted(asked)) + "\\n")
"""


def _amem(home: Path, cache: Path, *words: str) -> tuple[str, list[str]]:
    """What a command printed, and whom it asked."""
    asked = home.parent / "asked"
    asked.unlink(missing_ok=True)
    env = {"AMEM_HOME": str(home), "AMEM_CACHE": str(cache), "AMEM_LLM_BACKEND": "offline", "ASKED": str(asked)}
    others = {name: value for name, value in os.environ.items() if not name.startswith(("AMEM_", "OLLAMA_"))}
    run = subprocess.run(
        [sys.executable, "-c", _LISTENED, *words], env=others | env, capture_output=True, text=True, umask=0
    )
    assert run.returncode == 0, run.stderr
    return run.stdout, json.loads(asked.read_text(encoding="utf-8"))


@pytest.mark.thorough
def test_without_a_model_nothing_is_asked_of_anybody_and_every_file_is_private(
    tmp_path: Path, model_cache: Path
) -> None:
    home = tmp_path / "home"
    commands = [
        ["add", "Wen is allergic to shrimp."],
        ["add", "I moved to Lisbon."],
        ["search", "Wen"],
        ["ask", "Who is Wen?"],
    ]
    # `maintain` and `doctor --repair` open Chroma, which must tell nobody of it either.
    for words in [*commands, ["maintain"], ["doctor", "--repair"], ["copy", "other"]]:
        said, asked = _amem(home, model_cache, *words)
        # `doctor` looks whether an Ollama runs on this machine.
        assert set(asked) <= ({"127.0.0.1"} if words[0] == "doctor" else set()), words
        assert said or words == ["maintain"], words
    _amem(home, model_cache, "export", str(home / "notes.jsonl"))
    open_to_others = [
        path
        for path in (home, *home.rglob("*"))
        if stat.S_IMODE(path.stat().st_mode) & 0o077
        # Chroma makes its own files; the folder that holds them is private.
        and "chroma" not in path.parent.parts[len(home.parts) :]
    ]
    assert open_to_others == []
    assert (home / "memories" / "chroma" / "chroma.sqlite3").exists()


def test_the_doctor_finds_files_that_others_may_open_and_closes_them(tmp_path: Path) -> None:
    from amem import AgenticMemorySystem
    from amem.settings import load_settings

    (tmp_path / ".env").write_text("AMEM_API_KEY=sk-0123456789\n", encoding="utf-8")
    settings = load_settings(tmp_path, llm_backend="offline")
    with AgenticMemorySystem(settings=settings) as memory:
        memory.add("Wen is allergic to shrimp.")
        database = tmp_path / "memories" / "amem.db"
        database.chmod(0o644)
        (tmp_path / ".env").chmod(0o644)
        found = [each for each in memory.doctor() if each.about == "modes"]
        assert {each.level for each in found} == {"warning"}
        assert [str(path) in "".join(each.what for each in found) for path in (database, tmp_path / ".env")] == [
            True
        ] * 2
        memory.doctor(repair=True)
        assert [each for each in memory.doctor() if each.about == "modes"] == []
        assert stat.S_IMODE(database.stat().st_mode) == 0o600
