"""On which of a Mac's processors Core ML runs each stage of a backend."""

from collections.abc import Mapping

UNITS = ("all", "cpu_only", "cpu_and_gpu", "cpu_and_ne")

ComputeUnits = str | Mapping[str, str]
"""A unit for every stage, or units of single stages: a dict, or "flow=all,hift=cpu_only"."""


def stage_units(defaults: Mapping[str, str], override: ComputeUnits | None) -> dict[str, str]:
    """The compute units of each stage.

    ``defaults`` are the backend's. ``override`` is the caller's choice and wins, also where the
    default is there because another unit is known to fail.
    Raises ValueError that names the choices for an unknown stage or unit.
    """
    if override is None:
        return dict(defaults)
    if isinstance(override, str) and "=" not in override:
        return dict.fromkeys(defaults, check_unit(override))
    chosen = _parse(override) if isinstance(override, str) else override
    if unknown := sorted(chosen.keys() - defaults.keys()):
        raise ValueError(
            f"compute_units names the stage {', '.join(map(repr, unknown))}; expected one of "
            f"{', '.join(defaults)}"
        )
    return {**defaults, **{stage: check_unit(unit) for stage, unit in chosen.items()}}


def check_unit(unit: str) -> str:
    if unit not in UNITS:
        raise ValueError(f"compute_units has {unit!r}; expected one of {', '.join(UNITS)}")
    return unit


def _parse(text: str) -> dict[str, str]:
    pairs = [part.partition("=") for part in text.split(",")]
    chosen = {stage.strip(): unit.strip() for stage, _, unit in pairs}
    if len(chosen) < len(pairs):
        raise ValueError(f"compute_units {text!r} names a stage twice")
    return chosen
