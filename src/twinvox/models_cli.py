"""``twinvox models list | pull | path | verify | remove | inspect`` and ``voice list | pull``."""

import argparse
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from twinvox.errors import ModelFormatError, ModelNotFoundError

if TYPE_CHECKING:
    from twinvox.hub import Place
    from twinvox.mil.program import Feature

Run = Callable[[argparse.Namespace], None]


def add_model_actions(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(required=True, metavar="ACTION")

    def add(name: str, what: str, run: Run) -> argparse.ArgumentParser:
        action = actions.add_parser(name, help=what, description=what)
        action.set_defaults(run=run, error=action.error)
        return action

    add("list", "which published models are here", _list)
    pull = add("pull", "fetch models, or bring them up to date and repair them", _pull)
    path = add("path", "print the folder that is used", _path)
    for action in (pull, path):
        _add_model(action)
        _add_variant(action)
    _add_model(add("verify", "read every fetched file and compare its hash", _verify))
    _add_model(add("remove", "delete fetched models; files that were there before stay", _remove))
    inspect = add("inspect", "inputs, outputs, operators and weights of a model", _inspect)
    inspect.add_argument("path", type=Path, metavar="PATH", help=".mlpackage or .mlmodelc")
    inspect.add_argument("--json", action="store_true", help="print one JSON object")


def add_voice_actions(actions: Any) -> None:
    """The actions of ``twinvox voice`` that are about the published CosyVoice3 voices."""
    from twinvox.backends.cosyvoice3.folder import DEFAULT_VOICE

    listing = actions.add_parser("list", help="list the voices that ship and the published ones")
    _add_models_dir(listing)
    listing.add_argument("--offline", action="store_true", help="only those on this machine")
    listing.set_defaults(run=_voice_list)
    pull = actions.add_parser("pull", help="fetch a published CosyVoice3 voice; prints its file")
    pull.add_argument("voice", nargs="?", default=DEFAULT_VOICE, metavar="ID")
    _add_models_dir(pull)
    pull.set_defaults(run=_voice_pull)


def _add_model(parser: argparse.ArgumentParser) -> None:
    from twinvox.backends import PUBLISHED

    parser.add_argument("model", choices=PUBLISHED)
    _add_models_dir(parser)


def _add_models_dir(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--models-dir", type=Path, metavar="DIR", help="a folder of your own, not the hub's cache"
    )


def _add_variant(parser: argparse.ArgumentParser) -> None:
    from twinvox.backends.luxtts.folder import VARIANTS

    parser.add_argument("--variant", choices=VARIANTS, help="graph variant of the LuxTTS models")


def _files(arguments: argparse.Namespace) -> tuple[str, ...]:
    from twinvox.backends import published_files

    if arguments.variant is not None and arguments.model != "luxtts":
        arguments.error("--variant goes with luxtts")
    return published_files(arguments.model, arguments.variant)


def _place(name: str, models_dir: Path | None) -> "Place":
    from twinvox import hub

    folder = hub.given_folder(name, models_dir)
    if folder is not None:
        return hub.PlainFolder(folder)
    return hub.HubCache.of(hub.published(name).repository)


def _list(_: argparse.Namespace) -> None:
    from twinvox.backends import PUBLISHED
    from twinvox.backends.luxtts.folder import VARIANTS

    for name in PUBLISHED:
        for variant in VARIANTS if name == "luxtts" else (None,):
            print(f"{name:10}  {variant or '':3}  {_state(name, variant)}")


def _state(name: str, variant: str | None) -> str:
    from twinvox import hub
    from twinvox.backends import published_files

    given = hub.given_folder(name, None)
    if given is not None:
        return _state_of_own(name, variant, given)
    found = hub.find(name, published_files(name, variant))
    if found is None:
        return f"not here; fetched from {hub.published(name).repository} when it is used"
    root, problems = found
    return f"{root} (damaged)" if problems else str(root)


def _state_of_own(name: str, variant: str | None, folder: Path) -> str:
    """The state of a user's folder, whose layout is any that can be loaded."""
    from twinvox import hub
    from twinvox.backends import published_files
    from twinvox.backends.cosyvoice3 import folder as cosyvoice3
    from twinvox.backends.luxtts import folder as luxtts

    try:
        if variant is None:
            cosyvoice3.open_folder(folder)
        else:
            luxtts.open_folder(folder, variant)
        hub.check(name, folder, published_files(name, variant))
    except ModelNotFoundError:
        return f"not in {folder}"
    except ModelFormatError:
        return f"{folder} (damaged)"
    return str(folder)


def _pull(arguments: argparse.Namespace) -> None:
    from twinvox import hub

    model = hub.published(arguments.model)
    place = _place(arguments.model, arguments.models_dir)
    print(hub.pull(model, _files(arguments), place, model.revision))


def _path(arguments: argparse.Namespace) -> None:
    from twinvox import hub
    from twinvox.backends import model_folder

    _files(arguments)
    name = arguments.model
    folder = model_folder(name, arguments.models_dir, variant=arguments.variant, offline=True)
    if not folder.is_dir():
        raise ModelNotFoundError(
            f"there is no folder {folder}; run: {hub.pull_command(name, folder)}"
        )
    print(folder)


def _verify(arguments: argparse.Namespace) -> None:
    from twinvox import hub

    place = _place(arguments.model, arguments.models_dir)
    receipt, problems = hub.verify(place)
    for path, problem in problems.items():
        print(f"{path} {problem}")
    if problems:
        own = hub.given_folder(arguments.model, arguments.models_dir)
        raise ModelFormatError(
            f"{len(problems)} of {len(receipt.files)} files in {place.root(receipt.commit)} are "
            f"damaged; run: {hub.pull_command(arguments.model, own)}"
        )
    print(f"{len(receipt.files)} files are those of {receipt.repository} at {receipt.commit}")


def _remove(arguments: argparse.Namespace) -> None:
    from twinvox import hub

    place = _place(arguments.model, arguments.models_dir)
    print(f"{place.folder}: {hub.remove(place) / 1e6:,.1f} MB freed")


def _inspect(arguments: argparse.Namespace) -> None:
    from twinvox.mil import read_program

    program = read_program(arguments.path)
    folder = program.weights_folder
    operations = Counter(operation.kind for operation in program.operations)
    report: dict[str, Any] = {
        "opset": program.opset,
        "inputs": {feature.name: _describe(feature) for feature in program.features_in},
        "outputs": {feature.name: _describe(feature) for feature in program.features_out},
        "operations": dict(operations.most_common()),
        "weights_bytes": sum(file.stat().st_size for file in folder.iterdir()) if folder else 0,
    }
    if arguments.json:
        print(json.dumps(report))
        return
    print(f"{program.opset}, {report['weights_bytes']:,} bytes of weights")
    for title in ("inputs", "outputs", "operations"):
        print(title)
        for name, what in report[title].items():
            print(f"  {name:28}  {what}")


def _describe(feature: "Feature") -> str:
    dims = ", ".join("?" if size is None else str(size) for size in feature.shape)
    limits = feature.enumerated_shapes or feature.ranges
    return f"{feature.dtype} [{dims}]" + (f" within {limits}" if limits else "")


def _voice_list(arguments: argparse.Namespace) -> None:
    from twinvox import hub
    from twinvox.backends.cosyvoice3.folder import published_voice
    from twinvox.voice import shipped_voices

    tensors, sidecar = published_voice("*")
    given = hub.given_folder("cosyvoice3", arguments.models_dir)
    found = (given, {}) if given else hub.find("cosyvoice3", (tensors, sidecar))
    here = {path.stem for path in found[0].glob(tensors)} if found else set()
    remote: set[str] = set()
    if not (arguments.offline or hub.is_offline()):
        model = hub.published("cosyvoice3")
        files = hub.listing(model.repository, model.revision).files
        remote = {Path(path).stem for path in files if Path(path).match(tensors)}
    rows = dict.fromkeys(shipped_voices(), "ships with twinvox")
    for name in sorted(here | remote):
        rows[name] = "for cosyvoice3" + ("" if name in here else ", to be fetched: voice pull")
    for name, what in rows.items():
        print(f"{name:32}  {what}")


def _voice_pull(arguments: argparse.Namespace) -> None:
    from twinvox import hub
    from twinvox.backends.cosyvoice3.folder import published_voice

    if not re.fullmatch(r"[\w-]+", arguments.voice):
        raise ValueError(f"{arguments.voice!r} is no voice id; run: twinvox voice list")
    files = published_voice(arguments.voice)
    place = _place("cosyvoice3", arguments.models_dir)
    print(hub.pull(hub.published("cosyvoice3"), files, place) / files[0])
