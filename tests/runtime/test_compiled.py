import logging
import multiprocessing
import shutil
import threading
from pathlib import Path

import numpy as np
import pytest

from tests import toy_models
from tests.fake_coreml import ERROR
from tests.runtime.processes import compile_in_process
from twinvox.errors import ModelFormatError, ModelNotFoundError

FRAMES = 8
MEL = np.random.default_rng(0).random((1, 100, FRAMES), np.float32)


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    path = tmp_path_factory.mktemp("toy") / "Vocoder.mlpackage"
    toy_models.write_vocoder(path, FRAMES)
    return path


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "compiled"


@pytest.fixture
def open_compiled(fake_coreml):
    from twinvox.runtime.compiled import open_compiled

    return open_compiled


def check(model):
    audio = model.predict({"mel": MEL})["audio"]
    np.testing.assert_allclose(audio, toy_models.vocoder(MEL), atol=1e-5)


def entries(folder):
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".lock")


def test_a_package_is_compiled_once(fake_coreml, open_compiled, package, folder):
    for units in ("all", "cpu_only"):
        check(open_compiled(package, units, folder))
    assert fake_coreml.state.compilations == 1
    assert fake_coreml.state.compute_units == 0
    assert len(entries(folder)) == 1


def test_a_compiled_model_is_opened_where_it_is(
    fake_coreml, open_compiled, package, folder, tmp_path
):
    compiled = tmp_path / "moved.mlmodelc"
    shutil.move(fake_coreml.module.compile_package(str(package)), compiled)
    check(open_compiled(compiled, "all", folder))
    assert not folder.exists()


def test_another_content_is_another_entry(fake_coreml, open_compiled, package, folder, tmp_path):
    other = tmp_path / package.name
    toy_models.write_vocoder(other, FRAMES + 1)
    check(open_compiled(package, "all", folder))
    assert open_compiled(other, "all", folder).inputs[0][1] == (1, 100, FRAMES + 1)
    assert len(entries(folder)) == 2


def test_another_content_behind_a_link_is_another_entry(
    fake_coreml, open_compiled, package, folder, tmp_path
):
    linked = tmp_path / package.name
    shutil.copytree(package, linked)
    (linked / "Data").rename(tmp_path / "elsewhere")
    (linked / "Data").symlink_to(tmp_path / "elsewhere")
    check(open_compiled(linked, "all", folder))
    toy_models.write_vocoder(tmp_path / "other.mlpackage", FRAMES + 1)
    shutil.copytree(
        tmp_path / "other.mlpackage" / "Data", tmp_path / "elsewhere", dirs_exist_ok=True
    )
    assert open_compiled(linked, "all", folder).inputs[0][1] == (1, 100, FRAMES + 1)


def linked(model, tmp_path):
    """The model as a hub's cache holds it: links to files that lie elsewhere."""
    snapshot = tmp_path / "snapshot" / model.name
    shutil.move(model, tmp_path / "blobs")
    for file in (tmp_path / "blobs").rglob("*"):
        if file.is_file():
            link = snapshot / file.relative_to(tmp_path / "blobs")
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(file)
    return snapshot


def test_a_package_of_links(fake_coreml, open_compiled, package, folder, tmp_path):
    snapshot = linked(shutil.copytree(package, tmp_path / package.name), tmp_path)
    for _ in range(2):
        check(open_compiled(snapshot, "all", folder))
    assert fake_coreml.state.compilations == 1
    (entry,) = entries(folder)
    assert sorted(path.name for path in (folder / entry).iterdir()) == [
        "model.mlmodelc",
        "sizes.json",
    ]
    assert all(path.is_symlink() for path in snapshot.rglob("*") if path.is_file())


def test_a_compiled_model_of_links(fake_coreml, open_compiled, package, folder, tmp_path):
    compiled = tmp_path / "Vocoder.mlmodelc"
    shutil.move(fake_coreml.module.compile_package(str(package)), compiled)
    snapshot = linked(compiled, tmp_path)
    for _ in range(2):
        check(open_compiled(snapshot, "all", folder))
    assert fake_coreml.state.compilations == 1
    (entry,) = entries(folder)
    weights = next((folder / entry).rglob("weight.bin"))
    assert weights.samefile(next(snapshot.rglob("weight.bin"))), "no second copy on the disk"


def test_a_compiled_model_of_links_that_cannot_be_kept(
    fake_coreml, open_compiled, package, folder, tmp_path, monkeypatch
):
    compiled = tmp_path / "Vocoder.mlmodelc"
    shutil.move(fake_coreml.module.compile_package(str(package)), compiled)
    snapshot = linked(compiled, tmp_path)
    folder.write_bytes(b"a file")
    with pytest.raises(ModelFormatError, match=r"snapshot/Vocoder\.mlmodelc is no model"):
        open_compiled(snapshot, "all", folder)
    folder.unlink()

    def other_disk(source, target):
        raise OSError("another disk")

    monkeypatch.setattr("os.link", other_disk)
    check(open_compiled(snapshot, "all", folder))


def shorten_weights(entry):
    weights = next(entry.rglob("weight.bin"))
    weights.write_bytes(weights.read_bytes()[:-1])


def lengthen_weights(entry):
    """What the runtime does not see."""
    with next(entry.rglob("weight.bin")).open("ab") as weights:
        weights.write(b"x")


def spoil_model(entry):
    """Keeps every size."""
    (entry / "model.mlmodelc" / "coremldata.bin").write_bytes(b"damaged!")


@pytest.mark.parametrize(
    "damage",
    [
        shorten_weights,
        lengthen_weights,
        spoil_model,
        lambda entry: next(entry.rglob("weight.bin")).unlink(),
        lambda entry: (entry / "sizes.json").unlink(),
        lambda entry: (entry / "sizes.json").write_text("{"),
        lambda entry: shutil.rmtree(entry / "model.mlmodelc"),
    ],
    ids=["shortened", "lengthened", "spoiled", "file missing", "unlisted", "list torn", "emptied"],
)
def test_a_damaged_entry_is_compiled_again(fake_coreml, open_compiled, package, folder, damage):
    check(open_compiled(package, "all", folder))
    damage(folder / entries(folder)[0])
    for _ in range(2):
        check(open_compiled(package, "all", folder))
    assert fake_coreml.state.compilations == 2


def test_what_a_stopped_process_left_is_no_entry(fake_coreml, open_compiled, package, folder):
    check(open_compiled(package, "all", folder))
    entry = folder / entries(folder)[0]
    entry.rename(entry.with_suffix(".partial"))
    shorten_weights(entry.with_suffix(".partial"))
    check(open_compiled(package, "all", folder))
    assert entries(folder) == [entry.name]


def test_a_folder_that_cannot_be_written(fake_coreml, open_compiled, package, folder, caplog):
    folder.write_bytes(b"a file")
    with caplog.at_level(logging.WARNING):
        model = open_compiled(package, "all", folder)
    assert "cannot keep the compiled model" in caplog.text
    check(model)
    compiled = Path(next(path for path in fake_coreml.loaded if "Vocoder_" in path))
    assert compiled.exists()
    del model
    assert not compiled.exists(), "it goes with the model"


def test_a_model_that_core_ml_refuses(fake_coreml, open_compiled, package, folder):
    fake_coreml.state.load_fault = ERROR
    with pytest.raises(ModelFormatError, match=r"Vocoder\.mlpackage: .*loading failed"):
        open_compiled(package, "all", folder)
    fake_coreml.state.load_fault = 0
    fake_coreml.state.compile_fault = ERROR
    shutil.rmtree(folder)
    with pytest.raises(ModelFormatError, match=r"compile \S+Vocoder\.mlpackage: compiling failed"):
        open_compiled(package, "all", folder)
    fake_coreml.state.compile_fault = 0
    check(open_compiled(package, "all", folder))


def test_no_model(open_compiled, folder, tmp_path):
    with pytest.raises(ModelNotFoundError, match=r"no model at .*none\.mlpackage"):
        open_compiled(tmp_path / "none.mlpackage", "all", folder)
    (tmp_path / "empty.mlmodelc").mkdir()
    with pytest.raises(ModelFormatError, match=r"empty\.mlmodelc is no model"):
        open_compiled(tmp_path / "empty.mlmodelc", "all", folder)


def test_threads_compile_once(fake_coreml, open_compiled, package, folder):
    models = []
    threads = [
        threading.Thread(target=lambda: models.append(open_compiled(package, "all", folder)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(models) == 4
    for model in models:
        check(model)
    assert fake_coreml.state.compilations == 1


def test_processes_compile_once(fake_coreml, package, folder):
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(3), context.Queue()
    extension = Path(fake_coreml.module.__file__)
    processes = [
        context.Process(
            target=compile_in_process,
            args=(extension, package, folder, {"mel": MEL}, barrier, results),
        )
        for _ in range(3)
    ]
    for process in processes:
        process.start()
    outcomes = [results.get(timeout=120) for _ in processes]
    for process in processes:
        process.join()
    assert sorted(compilations for compilations, _ in outcomes) == [0, 0, 1]
    for _, outputs in outcomes:
        np.testing.assert_allclose(outputs["audio"], toy_models.vocoder(MEL), atol=1e-5)
