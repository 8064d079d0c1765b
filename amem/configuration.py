"""Settings as a person sees and changes them: each with its value and where that came from; set and unset in a file."""

from __future__ import annotations

import json
import os
import re
import tempfile
import tomllib
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dotenv import dotenv_values
from dotenv.parser import parse_stream
from pydantic import SecretStr

from amem.errors import InvalidInput
from amem.settings import Settings, default_home, load_settings, unknown_setting, variables

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping


_MASK = "********"
_HUB = re.compile(r"[\w.-]+/[\w.-]+")
_DURATION = re.compile(r"-?\d+|-?(\d+(\.\d+)?(h|m|s|ms))+")


@dataclass(frozen=True, slots=True)
class Configured:
    """A setting with its JSON-ready value (secrets masked) and its origin in words."""

    name: str
    value: Any
    origin: str

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {"name": self.name, "value": self.value, "from": self.origin}


def setting_name(key: str) -> str:
    """The setting that is meant by ``llm_model``, ``llm-model`` or ``AMEM_LLM_MODEL``. Raises InvalidInput."""
    plain = key.strip().lower().replace("-", "_")
    for name in Settings.model_fields:
        if plain == name or plain in map(str.lower, variables(name)):
            return name
    raise unknown_setting(key)


class Configuration:
    """The files of one home that hold settings. `env_file` is read and written in place of the home's ``.env``.

    `home` None is the default one; the files are those of the home that was asked for, not of one that they name.
    """

    def __init__(self, home: str | None = None, env_file: str | None = None) -> None:
        self._root = default_home() if home is None else Path(home).expanduser()
        self.env_file = Path(env_file) if env_file is not None else self._root / ".env"

    def every(self, settings: Settings, arguments: Iterable[str] = ()) -> list[Configured]:
        """Every setting, in the order of `Settings`; `arguments` are the names of those that were given with a call."""
        places = self._places(settings, arguments)
        return [Configured(name, _shown(settings, name), _origin(name, places)) for name in Settings.model_fields]

    def set(self, name: str, value: str, checks: Mapping[str, Callable[[str], object]]) -> None:
        """Set a setting in the env file. Raises InvalidInput for a value that it cannot have; nothing is changed then.

        `checks` raise InvalidInput for values that only a front end knows.
        """
        variable, *others = variables(name)
        text = with_key(read_env(self.env_file), variable, value, others)
        if dotenv_values(stream=StringIO(text)).get(variable) != value:
            hint = "leave ${ and control characters out"
            raise InvalidInput(f"an env file cannot hold this value of {name}", hint=hint)
        self._try(name, text)
        if value.strip():
            if name in checks:
                checks[name](value)
            elif name in _CHECKS:
                _CHECKS[name](name, value)
        write_env(self.env_file, text)

    def unset(self, name: str) -> bool:
        """Remove a setting from the env file; False where it does not stand in it."""
        before = read_env(self.env_file)
        text = without_keys(before, variables(name))
        if text == before:
            return False
        write_env(self.env_file, text)
        return True

    def _try(self, name: str, text: str) -> None:
        """Refuse an env file in which this setting cannot be used. Raises InvalidInput."""
        with tempfile.TemporaryDirectory() as folder:
            draft = Path(folder) / ".env"
            draft.write_text(text, encoding="utf-8")
            # A variable of the environment would hide what the file says.
            hidden = {each: os.environ.pop(each) for each in list(os.environ) if each.upper() in variables(name)}
            try:
                load_settings(self._root, env_file=draft)
            except InvalidInput as error:
                raise InvalidInput(f"{error}; nothing was changed", hint=".env.example says what it may be") from error
            finally:
                os.environ.update(hidden)

    def _places(self, settings: Settings, arguments: Iterable[str]) -> list[tuple[str, frozenset[str]]]:
        """(place in words, names given there in lower case), the one that wins first."""
        toml = self._root / "config.toml"
        held = tomllib.loads(toml.read_text(encoding="utf-8")) if toml.is_file() else {}
        # An agent without a collection of another name has that of its own.
        own = ["collection", *settings.agents[settings.agent]] if settings.agent else []
        return [
            ("argument", frozenset(arguments)),
            (f"{toml} [agents.{settings.agent}]", frozenset(own)),
            ("environment", _lower(os.environ)),
            (str(self.env_file), _lower(dotenv_values(stream=StringIO(read_env(self.env_file))))),
            (str(toml), _lower(held)),
        ]


def _lower(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name.lower() for name in names)


def _origin(name: str, places: list[tuple[str, frozenset[str]]]) -> str:
    for place, names in places:
        by_field = place == "argument" or place.endswith(("config.toml", "]"))
        if not names.isdisjoint({name} if by_field else map(str.lower, variables(name))):
            return place
    return "default"


def _shown(settings: Settings, name: str) -> Any:
    value = getattr(settings, name)
    if isinstance(value, SecretStr):
        return _MASK
    if isinstance(value, tuple | dict):
        return json.dumps(value, ensure_ascii=False)
    return value if value is None or isinstance(value, bool | int | float) else str(value)


# What is refused beyond what a setting's type says: names that no model, folder or address has.
#
# Only what this machine knows is asked: a name in the right form may still be one that its server or hub does not have.


def _embedding_model(name: str, value: str) -> None:
    from amem.embedding.embedder_choice import check_name

    check_name(value)


def _cross_encoder(name: str, value: str) -> None:
    folder = Path(value).expanduser()
    if not ((folder / "config.json").is_file() if folder.is_dir() else _HUB.fullmatch(value)):
        raise InvalidInput(
            f"{name}: there is no cross-encoder {value!r}",
            hint="name it as organisation/model, for example cross-encoder/ms-marco-MiniLM-L6-v2, or give its folder",
        )


def _chat_model(name: str, value: str) -> None:
    if "://" in value or any(char.isspace() for char in value):
        raise InvalidInput(
            f"{name}: {value!r} is no name of a model",
            hint="names look like llama3.2, qwen3:4b, openai/gpt-4o-mini or anthropic/claude-3-5-haiku-latest",
        )


def _folder(name: str, value: str) -> None:
    path = Path(value).expanduser()
    if path.exists() and not path.is_dir():
        raise InvalidInput(f"{name}: {value} is a file", hint="name a folder, or one that is not there yet")


def _collection(name: str, value: str) -> None:
    from amem.collection_folders import folder_of

    folder_of(Path(), value)


def _address(name: str, value: str) -> None:
    from urllib.parse import urlsplit

    found = urlsplit(value if "://" in value or name == "api_base" else f"http://{value}")
    try:
        usable = found.scheme in ("http", "https") and found.hostname and found.port != 0 and " " not in value
    except ValueError:  # a port that is no number
        usable = False
    if not usable:
        form = "https://models.example.com/v1" if name == "api_base" else "http://127.0.0.1:11434 or host:port"
        raise InvalidInput(f"{name}: {value!r} is no address", hint=f"give it as {form}")


def _duration(name: str, value: str) -> None:
    if not _DURATION.fullmatch(value):
        raise InvalidInput(f"{name}: {value!r} is no length of time", hint="give it as 90s, 15m, 1h, or -1 for ever")


_CHECKS: dict[str, Callable[[str, str], None]] = {
    "embed_model": _embedding_model,
    "rerank_model": _cross_encoder,
    "nli_model": _cross_encoder,
    "llm_model": _chat_model,
    "home": _folder,
    "cache": _folder,
    "collection": _collection,
    "api_base": _address,
    "ollama_host": _address,
    "llm_keep_alive": _duration,
}


# Env files (``KEY='value'`` lines): keys set and removed, with comments, order and all other lines kept.


def with_key(text: str, key: str, value: str, others: Collection[str] = ()) -> str:
    """Return the text of an env file in which `key` has this value, in the place of its last line or at the end.

    Keys are compared without case, as settings are. Lines of the same key, and of `others`, are removed.
    """
    quoted = value.replace("\\", "\\\\").replace("'", "\\'")
    line = f"{key}='{quoted}'\n"
    same = {key.casefold(), *(each.casefold() for each in others)}
    pieces = list(parse_stream(StringIO(text)))
    places = [at for at, piece in enumerate(pieces) if piece.key is not None and piece.key.casefold() in same]
    kept = [
        _before(piece.original.string) + line if places and at == places[-1] else piece.original.string
        for at, piece in enumerate(pieces)
        if at not in places[:-1]
    ]
    made = "".join(kept)
    return made if places else made + ("" if not made or made.endswith("\n") else "\n") + line


def without_keys(text: str, keys: Collection[str]) -> str:
    """Return the text of an env file without the lines of these keys, compared without case."""
    gone = {key.casefold() for key in keys}
    return "".join(
        _before(piece.original.string)
        if piece.key is not None and piece.key.casefold() in gone
        else piece.original.string
        for piece in parse_stream(StringIO(text))
    )


def _before(original: str) -> str:
    """The empty lines that the parser counts to the line that follows them."""
    return original[: len(original) - len(original.lstrip("\n"))]


def read_env(path: Path) -> str:
    """Return the file's text; a file that is not there is empty. Raises InvalidInput for one that is not UTF-8."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return ""
    except ValueError as error:
        raise InvalidInput(f"{path} is not UTF-8 ({error}); nothing was changed", hint="mend it by hand") from error


def write_env(path: Path, text: str) -> None:
    """Replace the file in one step. It keeps its permissions; a new one is for its owner alone."""
    path = path.resolve()  # a link to where somebody keeps such files stays one
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
    draft = path.with_name(f".{path.name}.{os.getpid()}.amem")
    try:
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except OSError as error:
        error.filename = str(path)  # which people know, and not the draft
        raise
    finally:
        draft.unlink(missing_ok=True)
