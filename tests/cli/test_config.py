"""``amem config`` reads and writes settings; ``amem help`` explains commands."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest

from amem.configuration import with_key, without_keys

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Cli

HAND_MADE = "# mine\n\nAMEM_BATCH_SIZE=16  # small\nexport amem_rrf_k=50\n\n# the end"


def test_a_setting_is_set_and_unset_and_the_rest_of_the_file_stays(cli: Cli) -> None:
    cli.home.mkdir()
    file = cli.home / ".env"
    file.write_text(HAND_MADE)
    assert cli.ok("config", "set", "neighbours", "5") == f"neighbours = 5 (from {file})\n"
    assert cli.json("config", "set", "AMEM_RRF_K", "70") == {
        "name": "rrf_k",
        "value": 70.0,
        "from": str(file),
        "path": str(file),
    }
    assert file.read_text() == (
        "# mine\n\nAMEM_BATCH_SIZE=16  # small\nAMEM_RRF_K='70'\n\n# the end\nAMEM_NEIGHBOURS='5'\n"
    )
    assert cli.ok("config", "unset", "rrf-k") == "rrf_k = 60.0 (the default)\n"
    assert "not set in" in cli("config", "unset", "rrf_k").stderr
    assert cli.ok("config", "get", "neighbours", "batch_size").splitlines() == [
        f"neighbours\t5\t{file}",
        f"batch_size\t16\t{file}",
    ]
    assert cli.json("config", "neighbours") == [{"name": "neighbours", "value": 5, "from": str(file)}]
    assert cli.json("config", "list") == cli.json("config")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("embed_model", "paraphrase-multilingual-MiniLM-L12-v2"),
        ("embed_model", "BAAI/bge-m3"),
        ("embed_model", "ollama/nomic-embed-text"),
        ("embed_model", "openai/text-embedding-3-small"),
        ("nli_model", ""),
        ("llm_model", "hf.co/bartowski/Llama-3.2-3B-Instruct-GGUF:Q4_K_M"),
        ("ollama_host", "0.0.0.0:11434"),
        ("llm_keep_alive", "-1"),
        ("tui_theme", "nord"),
    ],
)
def test_every_form_of_a_name_is_taken(cli: Cli, key: str, value: str) -> None:
    assert cli.ok("config", "set", key, value).startswith(f"{key} = ")


def test_a_new_env_file_is_its_owners_alone_and_a_link_stays_a_link(cli: Cli, tmp_path: Path) -> None:
    cli.ok("config", "set", "user_name", "安娜 O'Brien\\")
    assert cli.json("config", "user_name")[0]["value"] == "安娜 O'Brien\\"
    assert stat.S_IMODE((cli.home / ".env").stat().st_mode) == 0o600
    mine = tmp_path / "mine.env"
    (cli.home / ".env").rename(mine)
    (cli.home / ".env").symlink_to(mine)
    cli.ok("config", "set", "user_name", "Ana")
    assert (cli.home / ".env").is_symlink()
    assert mine.read_text() == "AMEM_USER_NAME='Ana'\n"
    assert [each.name for each in cli.home.iterdir()] == [".env"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("set", "neighbours", "many"), "setting neighbours: it should be a whole number"),
        (("set", "llm_backend", "gpt"), "setting llm_backend: it should be 'auto', 'ollama'"),
        (("set", "short_term_below", "0.9"), "settings: short_term_below must be less than long_term_from"),
        (("set", "timezone", "Mars"), "setting timezone: "),
        (
            ("set", "embed_model", "nonsense"),
            "there is no embedding model 'nonsense' (name one of sentence-transformers",
        ),
        (("set", "embed_model", "./nowhere"), "no embedding model at ./nowhere ("),
        (("set", "nli_model", "nonsense"), "nli_model: there is no cross-encoder 'nonsense' (name it as organisation/"),
        (("set", "llm_model", "llama 3"), "llm_model: 'llama 3' is no name of a model (names look like"),
        (("set", "cache", __file__), f"cache: {__file__} is a file (name a folder"),
        (("set", "collection", "a/b"), "'a/b' cannot name a collection ("),
        (("set", "ollama_host", "http://"), "ollama_host: 'http://' is no address (give it as http://127.0.0.1:11434"),
        (("set", "api_base", "models"), "api_base: 'models' is no address (give it as https://"),
        (("set", "tui_theme", "nope"), "tui_theme: there is no theme 'nope' (use one of amem, "),
        (("set", "llm_keep_alive", "soon"), "llm_keep_alive: 'soon' is no length of time ("),
        (("set", "user_name", "${HOME}"), "an env file cannot hold this value of user_name"),
        (("set", "llm_modle", "x"), "unknown setting 'llm_modle' (did you mean llm_model? amem config lists them all)"),
        (("unset", "colour"), "unknown setting 'colour' (amem config lists them all)"),
        (("get", "AMEM_NEIGHBORS"), "unknown setting 'AMEM_NEIGHBORS' (did you mean neighbours"),
    ],
)
def test_what_cannot_be_used_is_refused_and_nothing_changes(cli: Cli, words: tuple[str, ...], said: str) -> None:
    cli.home.mkdir()
    (cli.home / ".env").write_text(HAND_MADE)
    # The environment wins over the file, and must not hide that the file's new value is wrong.
    env = {"AMEM_NEIGHBOURS": "3", "AMEM_LLM_BACKEND": "offline"}
    assert cli.refused("config", *words, **env).startswith(said)
    assert (cli.home / ".env").read_text() == HAND_MADE


def test_a_secret_is_read_from_standard_input_and_never_shown(cli: Cli) -> None:
    shown = cli("config", "set", "api_key", "-", input="sk-secret\n").output + cli.ok("config", "get", "api_key")
    assert "sk-secret" not in shown
    assert "********" in shown
    assert (cli.home / ".env").read_text() == "AMEM_API_KEY='sk-secret'\n"


def test_a_value_that_the_environment_hides_is_said_to_be_hidden(cli: Cli) -> None:
    done = cli("config", "set", "user_name", "Ana", AMEM_USER_NAME="Wen")
    assert done.stdout == "user_name = Wen (from the environment)\n"
    assert "what the environment says wins" in done.stderr


def test_of_a_key_given_twice_the_last_line_is_the_one_that_changes() -> None:
    text = "AMEM_A=1\n# why\namem_a=2\nOTHER=3\n"
    assert with_key(text, "AMEM_A", "9") == "# why\nAMEM_A='9'\nOTHER=3\n"
    assert with_key(text, "AMEM_B", "1", ["OTHER"]) == "AMEM_A=1\n# why\namem_a=2\nAMEM_B='1'\n"
    assert without_keys(text, ["AMEM_A"]) == "# why\nOTHER=3\n"


def test_help_explains_a_command_as_its_own_option_does(cli: Cli) -> None:
    assert cli.ok("help") == cli.ok("--help")
    assert cli.ok("help", "search") == cli.ok("search", "--help")
    assert cli.ok("help", "tags", "rename") == cli.ok("tags", "rename", "--help")
    assert cli.refused("help", "serach", code=2).startswith("no such command 'serach'. Did you mean 'search'")
    assert "amem list has no command 'all'" in cli.refused("help", "list", "all", code=2)
