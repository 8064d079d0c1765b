"""Every setting in one place, read from arguments, ``AMEM_*`` variables, an env file and ``config.toml``.

In that order: an argument wins over the environment, that over ``<home>/.env`` (or the file named by ``--env-file``),
that over ``<home>/config.toml``, that over the defaults below. Never a ``.env`` of the current folder: a cloned
repository must not be able to redirect a model endpoint.
"""

from __future__ import annotations

import json
import logging
import os
import re
import tomllib
from contextvars import ContextVar
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, get_origin

from platformdirs import user_cache_path, user_data_path
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator, model_validator

from amem.checks import checked
from amem.clock import zone
from amem.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping

    from amem.strength import Decay

#: The env file and what ``config.toml`` says, while settings are read.
_FILES: ContextVar[tuple[Path | None, dict[str, Any]]] = ContextVar("_FILES", default=(None, {}))

#: Settings of earlier versions that a file may still hold, and what replaces each.
REMOVED = {
    "entity_weight": "names are found as words are, see lexical_weight",
    "kind_weight": "procedures are found by meaning and words, see dense_weight and lexical_weight",
}
_log = logging.getLogger("amem.settings")


_AGENT = re.compile(r"[^\W_][\w.-]{0,39}")
#: Settings that other programs have variables for, too, and what all their variables are, the one that wins first.
_VARIABLES = {
    "api_key": ["AMEM_API_KEY", "OPENAI_API_KEY"],
    "ollama_host": ["AMEM_OLLAMA_HOST", "OLLAMA_HOST"],
}
#: What is the same for all agents of a home.
_NOT_OF_AN_AGENT = frozenset({"home", "cache", "agent", "agents"})


def default_home() -> Path:
    """Where collections live unless told otherwise: ``AMEM_HOME``, else (also where it is empty) the platform's."""
    named = os.environ.get("AMEM_HOME")
    return Path(named).expanduser() if named else user_data_path("amem", appauthor=False)


class Settings(BaseModel):
    """amem's settings. `load_settings` reads them; a key of ``config.toml`` that is none of these is refused.

    What is not given is read from the environment.
    """

    model_config = ConfigDict(extra="ignore", validate_default=True, frozen=True)

    home: Path = Field(default_factory=default_home)
    """Folder that holds one sub-folder per collection."""
    cache: Path = Field(default_factory=lambda: user_cache_path("amem", appauthor=False))
    """Folder for exported models; can be thrown away."""
    collection: str = "memories"
    """Collection used when none is named."""
    catalogs: tuple[str, ...] = ()
    """Collections that are searched beside it and never written: what several agents share."""
    publish: tuple[str, ...] = ()
    """Those of the catalogs into which notes may be copied (``amem publish``)."""
    agent: str = ""
    """Which of the `agents` uses the memory; empty: a person, or a program without a name."""
    agents: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """Agents by name, each with what holds for it alone: collection (else its name), catalogs, publish, any setting.

    In ``config.toml`` a table for each, ``[agents.writer]``; docs/agents.md."""
    timezone: str = ""
    """IANA zone of times given without one; empty means the system's."""

    embed_model: str = "all-MiniLM-L6-v2"
    """A sentence-transformers name, a path, ``ollama/<model>`` or any LiteLLM embedding model."""
    embed_recipe: Literal["content", "paper"] = "content"
    """What is embedded: the speaker and the content, or A-Mem's content + context + keywords + tags (paper)."""
    dense_base: Literal["auto", "exact", "chroma"] = "auto"
    """Whether Chroma holds the notes too: auto asks it from a million notes on, chroma always, exact never."""
    lexical: Literal["fts5", "rank-bm25"] = "fts5"
    """Scorer of the lexical leg; rank-bm25 rebuilds on every change and takes your own k1 and b."""
    bm25_k1: float = Field(default=1.2, gt=0)
    """Term-frequency saturation; used by rank-bm25 only (FTS5 fixes 1.2)."""
    bm25_b: float = Field(default=0.75, ge=0, le=1)
    """Length normalisation; used by rank-bm25 only (FTS5 fixes 0.75)."""
    candidates: int = Field(default=80, ge=1, le=1000)
    """Candidates each retrieval leg hands to fusion."""
    router: bool = True
    """Whether a question is read for what kind of answer it wants (why, when, how, all about), or taken as it is."""
    fusion: Literal["convex", "rrf"] = "convex"
    """How the legs' answers become one score: a weighted mean of calibrated scores, or reciprocal ranks."""
    # The weights were chosen on the development questions of the benchmarks; what labelled questions teach in their
    # place is no better where it was not learnt (benchmarks/fusion_fit.py, and RESULTS.md beside it).
    dense_weight: float = Field(default=1.0, ge=0)
    """Weight of meaning."""
    late_weight: float = Field(default=1.3, ge=0)
    """Weight of meaning word by word (late interaction); at 0 the vectors of words are not made either."""
    lexical_weight: float = Field(default=1.0, ge=0)
    """Weight of words."""
    facts_weight: float = Field(default=1.65, ge=0)
    """Weight of facts that answer what is asked; more, and a fact of somebody outvotes words and meaning together."""
    speaker_weight: float = Field(default=0.25, ge=0)
    """Weight of having been said by whom the question names."""
    time_weight: float = Field(default=1.0, ge=0)
    """Weight of lying in the time that the question names."""
    rrf_k: float = Field(default=60, gt=0)
    """The constant of reciprocal rank fusion."""
    window: int = Field(default=3, ge=0, le=10)
    """Turns of a conversation on either side whose words count for a turn as well; 0 lets each stand alone."""
    window_decay: float = Field(default=0.85, ge=0, le=1)
    """What the words of the turn before are worth; each turn further, and that after, counts so much less again."""
    diversity: float = Field(default=0.0, ge=0, le=1)
    """How much a note loses for repeating one that stands above it (1 - lambda of maximal marginal relevance)."""
    rerank: Literal["auto", "on", "off"] = "auto"
    """Whether a cross-encoder reads the best candidates again; auto: where its weights are on this machine."""
    rerank_model: str = "cross-encoder/ms-marco-MiniLM-L6-v2"
    """Any sentence-transformers cross-encoder with one output, by name or folder."""
    rerank_candidates: int = Field(default=80, ge=1, le=1000)
    """Candidates it reads."""
    rerank_weight: float = Field(default=0.7, ge=0, le=1)
    """Its part in the score of what it has read."""
    rerank_ms: float = Field(default=500, gt=0)
    """Milliseconds it may take; what is not read by then keeps its fused place."""
    llm_rerank: bool = False
    """Whether the language model reads the best candidates again before ``amem ask`` answers: one call more."""
    context_tokens: int = Field(default=2000, ge=1)
    """Tokens of the context made for another program's prompt."""
    context_order: Literal["time", "relevance"] = "time"
    """How the notes of such a context are ordered: oldest first, or most relevant first."""
    prior_floor: float = Field(default=0.95, ge=0, le=1)
    """Least factor that retention and trust can put on a hit's relevance."""
    prior_floor_temporal: float = Field(default=0.7, ge=0, le=1)
    """That floor for a question that asks for what is recent ("lately", 最近)."""

    llm_backend: Literal["auto", "ollama", "openai", "litellm", "offline"] = "auto"
    """Who analyses notes; auto takes Ollama when it answers and has a model, else the offline rules."""
    llm_model: str = ""
    """Model name; without a prefix it belongs to the backend. Empty lets auto choose."""
    api_key: SecretStr | None = None
    """Key for the model server; never kept with notes, shown or logged."""
    api_base: str = ""
    """Base URL of an OpenAI-compatible server."""
    ollama_host: str = "http://127.0.0.1:11434"
    """Where Ollama listens."""
    llm_timeout: float = Field(default=60, gt=0)
    """Seconds one model call may take; of an answer that is streamed, each silence in it."""
    llm_stream_timeout: float = Field(default=900, gt=0)
    """Seconds a streamed answer may take in all."""
    llm_answer_bytes: int = Field(default=8_000_000, ge=1_000)
    """Most bytes of one answer of a model server; a larger one is given up."""
    llm_retries: int = Field(default=2, ge=0, le=10)
    """Times a call that failed in passing (a reset connection, an overloaded server) is tried again."""
    llm_context: int = Field(default=8192, ge=1024)
    """Tokens of the model's window that prompts and answers share; Ollama is asked for as many."""
    llm_keep_alive: str = "15m"
    """How long Ollama keeps the model in memory after a call: 15m, 1h, -1 for ever."""
    llm_parallel: int = Field(default=0, ge=0, le=64)
    """Notes analysed at the same time in a bulk write; 0 means 4 with a remote model and 1 with a local one."""
    llm_daily_tokens: int = Field(default=0, ge=0)
    """Tokens models may read and write in a day, per collection; 0 means no limit."""

    user_name: str = "user"
    """What the assistant's user is called in notes made from chats."""
    chat_learning: Literal["turn", "night", "off"] = "turn"
    """When a chat is learnt from: after each turn, a day at a time once it is over (half the model calls), or never.

    A day is learnt from by ``amem work`` after its midnight, or at once by ``amem enrich``."""
    core_tokens: int = Field(default=500, ge=0)
    """Most tokens of core notes (constraints, preferences, decisions, facts) in every chat prompt."""
    recall_tokens: int = Field(default=2000, ge=0)
    """Most tokens of recalled notes in a chat prompt."""

    max_note_chars: int = Field(default=20_000, ge=1)
    """Longest content one note may have; ``amem import`` splits longer text."""
    neighbours: int = Field(default=8, ge=0, le=20)
    """Nearest notes shown to the analyst when a note arrives; a model is shown the best eight of them at most."""
    max_rewrites: int = Field(default=3, ge=0, le=20)
    """Most neighbours one new note may rewrite."""
    rewrite_confidence: float = Field(default=0.9, ge=0, le=1)
    """Rewrites below this confidence wait in the review queue."""
    review_days: int = Field(default=30, ge=1)
    """Days after which an open review expires."""
    conflict_neighbours: int = Field(default=10, ge=0, le=50)
    """Nearest notes that a new one is held against for conflicts, besides all that fill the same slot."""
    conflict_score: float = Field(default=0.65, ge=0, le=1)
    """Least score at which the heuristic calls two notes a conflict: 0.65 asks 0.52 of a clear reason, else 0.81."""
    conflict_cosine: float = Field(default=0.4, ge=-1, le=1)
    """Least cosine between two notes at which a language model's verdict on them counts."""
    supersede_confidence: float = Field(default=0.8, ge=0, le=1)
    """Verdicts below this confidence hide nothing: both notes stay, linked, for a person to decide."""
    nli_model: str = "cross-encoder/nli-deberta-v3-small"
    """Cross-encoder that judges conflicts where its weights are on this machine; empty: none."""
    nli_confidence: float = Field(default=0.85, ge=0, le=1)
    """Least probability at which the cross-encoder's verdict counts."""
    trust_user: float = Field(default=0.9, ge=0, le=1)
    """How far what a person said is believed; kept with a note when it arrives. Half of it counts for a note's trust,
    beside how new it is (0.15 at first) and who else said so: a note of one's own begins with 0.60."""
    trust_document: float = Field(default=0.8, ge=0, le=1)
    """That of what comes from files."""
    trust_tool: float = Field(default=0.8, ge=0, le=1)
    """That of what a tool answered."""
    trust_agent: float = Field(default=0.6, ge=0, le=1)
    """That of what an agent inferred."""

    decay_by: Literal["kind", "type"] = "kind"
    """Whether each kind of note is forgotten at its own pace, or each memory type: episodic, semantic, procedural."""
    episodic_days: float = Field(default=180, ge=60, le=1825)
    """By type: days from the time that an episodic note is about until 1/e of it is kept."""
    semantic_days: float = Field(default=365, ge=60, le=1825)
    """By type: days from the last use of a semantic note until 1/e of it is kept. What is procedural never decays."""
    decay_rate: float | None = Field(default=None, gt=0)
    """Rate of forgetting for every note; none: ``stability ** -beta``, each kind at its own pace."""
    long_term_from: float = Field(default=0.7, ge=0)
    """Strength from which a note moves to long-term memory."""
    short_term_below: float = Field(default=0.3, ge=0)
    """Strength at and below which it moves back."""
    fade_below: float = Field(default=0.1, ge=0)
    """Strength below which a note that may fade is archived."""
    fade_after_days: float = Field(default=60, ge=0)
    """Days a note is left in peace before it may fade."""
    archive_own_notes: bool = False
    """Whether what you wrote by hand fades like the rest; off: only what came from chats and agents is archived."""
    merge_cosine: float = Field(default=0.9, ge=0, le=1)
    """Least cosine between notes that are merged into one."""
    merge_days: float = Field(default=45, ge=0)
    """Most days between them."""
    topic_size: int = Field(default=5, ge=2)
    """Related notes that make a topic."""
    nightly: bool = True
    """Whether the assistant, when idle, runs the nightly maintenance that is due."""
    idle_minutes: float = Field(default=5, ge=0)
    """Minutes without a word after which it counts as idle."""
    tui_theme: str = "amem"
    """Look of the terminal browser: amem, amem-light, amem-contrast, or the name of any Textual theme."""
    tui_keys: dict[str, str] = Field(default_factory=dict)
    """Keys of the terminal browser in place of its own, by what they do: ``{"browse.delete": "ctrl+d"}``.

    In ``config.toml`` a table ``[tui_keys]``; docs/browser.md lists what there is."""
    near_duplicate: float = Field(default=0.95, ge=0, le=1)
    """Cosine from which a new note is linked as a near-duplicate."""
    evo_threshold: int = Field(default=100, ge=1)
    """Evolutions between two consolidations."""
    batch_size: int = Field(default=64, ge=1, le=1024)
    """Notes that a bulk write embeds and commits together."""

    def __init__(self, **given: Any) -> None:
        env_file, from_file = _FILES.get()
        found: dict[str, Any] = {}
        for source in (given, _from_variables(os.environ), _from_env_file(env_file), from_file):
            found = _completed(found, source)
        try:
            super().__init__(**found)
        except ValidationError as error:
            raise InvalidInput(_complaint(error), hint="amem config lists the settings") from error
        except (TypeError, RecursionError) as error:  # of a value that pydantic cannot name in its complaint
            raise InvalidInput(f"a setting cannot be used: {error}", hint="amem config lists the settings") from error

    def replaced(self, **given: Any) -> Settings:
        """These settings with those given in place of their own. Raises InvalidInput for what cannot be used."""
        held = {name: getattr(self, name) for name in type(self).model_fields}
        # Through validation: model_copy would take any value as it is.
        return Settings(**(held | given))

    @property
    def decay(self) -> Decay:
        """At what pace notes are forgotten."""
        from amem.strength import Decay  # numpy takes longer to import than all settings to read

        return Decay(self.decay_by == "type", self.episodic_days, self.semantic_days, self.decay_rate)

    def as_agent(self, name: str, **given: Any) -> Settings:
        """These settings as they hold for an agent, with those `given` in place of its own. Raises InvalidInput."""
        if name not in self.agents:
            known = f"the agents are {', '.join(self.agents)}" if self.agents else "no agent has a name yet"
            raise InvalidInput(f"there is no agent {name!r}", hint=f"{known}; [agents.{name}] in config.toml adds one")
        own = {"collection": name} | self.agents[name]
        if given.get("collection", own["collection"]) != own["collection"]:
            raise InvalidInput(
                f"the agent {name} keeps its notes in {own['collection']!r}, not in {given['collection']!r}",
                hint="name the agent or the collection, not both; --agent '' sets AMEM_AGENT aside",
            )
        # Not when settings are read: a table that is wrong stops its agent alone.
        hint = f"look at [agents.{name}] in {self.home / 'config.toml'}"
        if not _AGENT.fullmatch(name):
            raise InvalidInput(f"{name!r} cannot name an agent: use letters, digits, '-', '_' and '.'", hint=hint)
        for key in own:
            if key not in type(self).model_fields or key in _NOT_OF_AN_AGENT:
                raise InvalidInput(f"the agent {name} has no setting {key!r} of its own", hint=hint)
        try:
            return self.replaced(**own | given, agent=name)
        except InvalidInput as error:
            raise InvalidInput(f"the agent {name}: {error}", hint=hint) from error

    @field_validator("home", "cache", mode="before")
    @classmethod
    def _named(cls, value: Any) -> Any:
        if isinstance(value, str) and not value.strip():
            raise ValueError("names no folder; . is the current one")
        return value

    @field_validator("home", "cache")
    @classmethod
    def _absolute(cls, value: Path) -> Path:
        try:
            return value.expanduser().absolute()
        except RuntimeError as error:  # ~somebody
            raise ValueError(str(error)) from error

    @field_validator("timezone")
    @classmethod
    def _known_zone(cls, value: str) -> str:
        zone(value)
        return value

    @model_validator(mode="after")
    def _layers_apart(self) -> Self:
        if self.short_term_below >= self.long_term_from:
            raise ValueError("short_term_below must be less than long_term_from, or notes would move to and fro")
        return self

    @field_validator("ollama_host")
    @classmethod
    def _with_scheme(cls, value: str) -> str:
        # Ollama's own OLLAMA_HOST is often just "host:port", and 0.0.0.0 is where it listens, not where to call.
        address = value if "://" in value else f"http://{value}"
        return address.replace("://0.0.0.0", "://127.0.0.1").rstrip("/")


def variables(name: str) -> list[str]:
    """The environment variables that give a setting, the one that wins first. Any case will do."""
    return _VARIABLES.get(name, [f"AMEM_{name.upper()}"])


def _from_variables(named: Mapping[str, str | None]) -> dict[str, Any]:
    """The settings that variables give; an empty one gives none, lists and tables are JSON. Raises InvalidInput."""
    values = {name.lower(): value for name, value in named.items() if value}
    found: dict[str, Any] = {}
    for name, field in Settings.model_fields.items():
        value = next((value for each in variables(name) if (value := values.get(each.lower()))), None)
        if value is not None:
            found[name] = _parsed(name, value) if get_origin(field.annotation) in (tuple, dict) else value
    return found


def _parsed(name: str, value: str) -> Any:
    try:
        return json.loads(value)
    except ValueError as error:
        raise InvalidInput(f"setting {name}: not JSON ({error})", hint="amem config lists the settings") from error


def _from_env_file(path: Path | None) -> dict[str, Any]:
    """The settings of an env file, also where another process pipes it; none where it is not there."""
    if path is None or not (path.is_file() or path.is_fifo()):
        return {}
    from dotenv import dotenv_values

    return _from_variables(dotenv_values(path, encoding="utf-8"))


def _completed(found: dict[str, Any], source: Mapping[str, Any]) -> dict[str, Any]:
    """What was found, with what only a weaker source says, in tables too."""
    weaker = dict(source)
    for name, value in found.items():
        other = weaker.get(name)
        both = isinstance(value, dict) and isinstance(other, dict)
        weaker[name] = _completed(value, weaker[name]) if both else value
    return weaker


def _read(path: Path) -> dict[str, Any]:
    if not os.path.isfile(path):
        return {}
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInput(f"cannot read {path}: {error}") from error


def _complaint(error: ValidationError) -> str:
    first = error.errors()[0]
    what = ".".join(str(part) for part in first["loc"])
    why = first["msg"].removeprefix("Value error, ")
    if first["type"] == "tuple_type":
        why = 'give a list, as in ["team"]'
    return f"setting {what}: {why}" if what else f"settings: {why}"


def unknown_setting(name: str) -> InvalidInput:
    """The error for a name that is no setting, with what replaces it or those that are spelt nearly so."""
    plain = name.lower().removeprefix("amem_").replace("-", "_")
    if plain in REMOVED:
        return InvalidInput(f"setting {plain} was removed: {REMOVED[plain]}", hint="amem config lists all settings")
    near = get_close_matches(plain, Settings.model_fields, 3, 0.7)
    meant = f"did you mean {' or '.join(near)}? " if near else ""
    return InvalidInput(f"unknown setting {name!r}", hint=f"{meant}amem config lists them all")


@checked
def load_settings(home: str | Path | None = None, *, env_file: str | Path | None = None, **overrides: Any) -> Settings:
    """Read the settings for `home` (None: the default one); `overrides` that are None count as not given.

    Raises InvalidInput naming the setting that cannot be used, or an `env_file` that is not there.
    """
    given = {name: value for name, value in overrides.items() if value is not None}
    root = Path(home).expanduser() if home is not None else default_home()
    if home is not None:
        given["home"] = root
    if env_file is not None and not os.path.isfile(env_file):
        raise InvalidInput(f"no env file at {env_file}", hint="check the path given to --env-file")

    from_file = _read(root / "config.toml")
    # A variable meant for another program may share an env file; a key in amem's own file that amem does not know is
    # a typing error that would otherwise be silently ignored.
    for name in from_file.keys() & REMOVED.keys():
        del from_file[name]
        # As an error, so that the shell shows it.
        _log.error("%s: setting %s was removed and does nothing: %s", root / "config.toml", name, REMOVED[name])
    for name in (*given, *from_file):
        if name not in Settings.model_fields:
            raise unknown_setting(name)
    reading = _FILES.set((root / ".env" if env_file is None else Path(env_file), from_file))
    try:
        settings = Settings(**given)
    except InvalidInput as error:
        raise InvalidInput(
            str(error), hint=f"look for it in {root / 'config.toml'}, .env and AMEM_* variables"
        ) from error
    except OSError as error:
        why = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        raise InvalidInput(f"cannot read {why}", hint="check its permissions, or name another --home") from error
    except ValueError as error:
        raise InvalidInput(f"cannot read the settings of {root}: {error}") from error
    finally:
        _FILES.reset(reading)
    named = given.pop("agent", None)
    if not settings.agent:
        return settings
    own = settings.agents.get(settings.agent, {}).get("collection", settings.agent)
    if named is None and given.get("collection", own) != own:
        return settings.replaced(agent="")  # an argument wins over the environment
    return settings.as_agent(settings.agent, **given)
