"""All suites of corruptions, and lookups in them.

Kernels are not imported here, so importing the registry is fast.
"""

import difflib
from collections.abc import Mapping
from functools import cache
from typing import Literal, get_args

from benchc.corruptions.recipe import CLEAN, Recipe, clean_recipe
from benchc.corruptions.suite import CorruptionType, Suite, Value
from benchc.corruptions.suites.imagenet_c import IMAGENET_C
from benchc.corruptions.suites.mllm_ic import MLLM_IC
from benchc.corruptions.suites.r_bench import R_BENCH
from benchc.corruptions.suites.vqa_robustness import VQA_ROBUSTNESS
from benchc.errors import InputError

Engine = Literal["benchc", "imgaug"]

SUITES: Mapping[str, Suite] = {suite.name: suite for suite in (IMAGENET_C, MLLM_IC, R_BENCH, VQA_ROBUSTNESS)}

# The engine imgaug, and its only suite.
IMGAUG_KERNEL = "benchc.corruptions.kernels.imgcorruptlike.imgcorruptlike"
IMGAUG_NOISE = "draw_seed"
IMGAUG_SUITE = "imagenet-c"


def suite_of(name: str | Suite) -> Suite:
    """Return a suite by name, or the given one. Raises InputError for an unknown name."""
    if isinstance(name, Suite):
        return name
    if name not in SUITES:
        raise InputError(f"unknown suite {name!r}; choose one of {', '.join(SUITES)}")
    return SUITES[name]


def corruptions_of(suite: str | Suite) -> tuple[str, ...]:
    """Return the names of a suite's default corruptions, group by group.

    Raises InputError for an unknown suite.
    """
    return tuple(type_.name for type_ in suite_of(suite).types() if type_.in_default)


def all_corruptions_of(suite: str | Suite) -> tuple[str, ...]:
    """Return the names of all corruptions of a suite, also outside its default set."""
    return tuple(type_.name for type_ in suite_of(suite).types())


def type_of(name: str, suite: str | Suite = "imagenet-c") -> CorruptionType:
    """Return a corruption of a suite. Raises InputError for an unknown name or suite."""
    types = {type_.name: type_ for type_ in suite_of(suite).types()}
    if name in types:
        return types[name]
    nearest = difflib.get_close_matches(name, types)
    hint = f"did you mean {nearest[0]!r}?" if nearest else f"choose one of {', '.join(types)}"
    raise InputError(f"suite {suite_of(suite).name!r} has no corruption {name!r}; {hint}")


def group_of(name: str, suite: str | Suite = "imagenet-c") -> str:
    """Return the group of a corruption in the suite. Raises InputError for unknown names."""
    type_ = type_of(name, suite)
    return next(group for group, types in suite_of(suite).groups.items() if type_ in types)


@cache
def recipe_of(
    name: str,
    suite: str | Suite = "imagenet-c",
    engine: Engine = "benchc",
    scale_with_image: bool = True,
) -> Recipe:
    """Return the recipe of a corruption at all severities of its suite.

    ``scale_with_image``: whether sizes in pixels that have a reference grow with the image.

    Raises InputError for an unknown name, suite or engine, and for a type that the engine lacks or that was
    photographed.
    """
    if engine not in get_args(Engine):
        raise InputError(f"unknown engine {engine!r}; choose one of {', '.join(get_args(Engine))}")
    if name == CLEAN:
        return clean_recipe()
    type_ = type_of(name, suite)
    whole = suite_of(suite)
    if engine == "imgaug":
        if whole.name != IMGAUG_SUITE or not type_.in_default:
            raise InputError(
                f"engine 'imgaug' has only the {len(corruptions_of(IMGAUG_SUITE))} corruptions of "
                f"{IMGAUG_SUITE}, not {name!r} of {whole.name!r}; use engine 'benchc'"
            )
        calls: dict[int, dict[str, Value]]
        calls = {severity: {"corruption": name, "severity": severity} for severity in whole.severities}
        return Recipe(name, IMGAUG_KERNEL, IMGAUG_NOISE, calls)
    if type_.kernel is None:
        others = [each.name for each in whole.types() if each.alternative_to == name]
        instead = f", or take {' or '.join(others)}" if others else ""
        raise InputError(
            f"{name} of {whole.name} was photographed, so that no image can be generated; import its images"
            f"{instead}"
        )
    calls_of_kernel = {severity: type_.at(severity) for severity in whole.severities}
    pixels = tuple(key for key, parameter in type_.parameters.items() if parameter.pixels)
    return Recipe(
        name,
        type_.kernel,
        type_.noise,
        calls_of_kernel,
        type_.resizes,
        type_.code,
        pixels if scale_with_image else (),
        type_.one_draw,
    )


def kernel_module(name: str, suite: str | Suite = "imagenet-c", engine: Engine = "benchc") -> str:
    """Return the dotted path of the module of a corruption's kernel."""
    kernel = recipe_of(name, suite, engine).kernel
    if kernel is None:
        raise InputError(f"{name!r} has no kernel")
    return kernel.rpartition(".")[0]
