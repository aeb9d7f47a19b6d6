import importlib
import inspect
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pydantic import TypeAdapter

from benchc.corruptions.apply import apply
from benchc.corruptions.recipe import CLEAN, Recipe, imported_recipe
from benchc.corruptions.registry import (
    SUITES,
    all_corruptions_of,
    corruptions_of,
    group_of,
    kernel_module,
    recipe_of,
    type_of,
)
from benchc.errors import InputError
from benchc.workflow.stage import options
from scripts.command import call

ROOT = Path(__file__).parents[2]
TYPES = [
    (suite, type_.name) for suite in SUITES for type_ in SUITES[suite].types() if type_.kernel is not None
]
PHOTOGRAPHED = [type_.name for type_ in SUITES["r-bench"].types() if type_.kernel is None]
# The numbers that the suites' papers give: types in the default set, severities.
SIZES = {"imagenet-c": (19, 5), "mllm-ic": (40, 5), "r-bench": (28, 3), "vqa-robustness": (14, 5)}


def test_the_suites_and_bench_cs_five_families_have_the_sizes_of_their_papers() -> None:
    found = {name: (len(corruptions_of(name)), len(SUITES[name].severities)) for name in SUITES}
    assert found == SIZES
    groups = SUITES["imagenet-c"].groups.items()
    sizes = {family: sum(type_.in_default for type_ in types) for family, types in groups}
    assert sizes == {"photometric": 3, "blur": 5, "noise": 4, "weather": 4, "digital": 3}


def test_sizes_in_pixels_grow_with_the_image_unless_it_is_switched_off() -> None:
    assert recipe_of("motion_blur", "r-bench").pixels == ("length",)
    assert recipe_of("motion_blur", "r-bench", scale_with_image=False).pixels == ()


@pytest.mark.parametrize(("suite", "name"), TYPES)
def test_every_type_has_a_kernel_that_takes_its_parameters_which_have_sources(suite: str, name: str) -> None:
    type_ = type_of(name, suite)
    assert type_ in SUITES[suite].groups[group_of(name, suite)]
    module = importlib.import_module(kernel_module(name, suite))
    kernel = getattr(module, type_.kernel.rpartition(".")[2])
    for severity in SUITES[suite].severities:
        field = [None] if type_.noise else []
        inspect.signature(kernel).bind(None, *field, **type_.at(severity))
        if type_.noise:
            inspect.signature(getattr(module, type_.noise)).bind(None, 32, 32, **type_.at(severity))
    assert type_.summary.endswith(".")
    for keyword, parameter in type_.parameters.items():
        assert len(parameter.source) > 10, keyword
    constant = all(len(set(parameter.values)) == 1 for parameter in type_.parameters.values())
    assert not (constant and type_.ordered), "a strength that grows needs a parameter that changes"


@pytest.mark.parametrize("suite", SUITES)
def test_levels_and_steps_are_partitions_and_variants_are_next_to_their_type(suite: str) -> None:
    found = SUITES[suite]
    for partition, of in ((found.levels, found.groups), (found.steps, all_corruptions_of(suite))):
        members = [member for part in partition.values() for member in part]
        assert not partition or sorted(members) == sorted(of)
    for type_ in SUITES[suite].types():
        if type_.alternative_to is not None:
            assert not type_.in_default
            assert group_of(type_.alternative_to, suite) == group_of(type_.name, suite)
        assert not (type_.stand_in and type_.in_default)


@pytest.mark.parametrize("name", PHOTOGRAPHED)
def test_no_photographed_type_is_generated(name: str) -> None:
    message = f"{name} of r-bench was photographed, .* import its images, or take {name}_stand_in$"
    with pytest.raises(InputError, match=message):
        recipe_of(name, "r-bench")
    image = np.zeros((40, 40, 3), np.uint8)
    recipe = imported_recipe(name, [1, 3])
    with pytest.raises(InputError, match=f"images under {name} were imported, so that none can be generated"):
        apply(recipe, image, 3, seed=1)
    assert (apply(recipe, image, 0, seed=1) == image).all()
    assert read(*options("recipe", recipe)) == TypeAdapter(Recipe).validate_json(recipe.to_json()) == recipe


def read(*words: str) -> Recipe:
    """Return the recipe of a command line."""

    def stage(*, recipe: Recipe) -> Recipe:
        return recipe

    return call(stage, words, "stage")


@pytest.mark.parametrize(("suite", "name"), [*TYPES, ("imagenet-c", CLEAN)])
def test_a_recipe_arrives_as_it_is(suite: str, name: str) -> None:
    recipe = recipe_of(name, suite)
    by_options = read(*options("recipe", recipe))
    as_json = TypeAdapter(Recipe).validate_json(recipe.to_json())
    assert by_options == as_json == recipe
    reordered = {severity: dict(reversed(call.items())) for severity, call in recipe.parameters.items()}
    assert replace(recipe, parameters=reordered).to_json() == recipe.to_json()
    # Footers have the types of numbers, too.
    assert by_options.to_json() == as_json.to_json() == recipe.to_json()


KERNEL, PARAMETERS = "--recipe.kernel=a.b", '--recipe.parameters={"1": {}}'


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "--recipe.name is missing"),
        ([KERNEL, PARAMETERS], "--recipe.name is missing"),
        *(
            (["--recipe.name=a", KERNEL, f"--recipe.parameters={wrong}"], "recipe.parameters")
            for wrong in ("mild", '{"1": 2}', '{"mild": {}}')
        ),
        (["--recipe.name=a", KERNEL, PARAMETERS, "--recipe.colour=1"], "--recipe.colour"),
    ],
)
def test_other_options_are_refused(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        read(*words)
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("name", ["a", "snow"])
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "the recipe of {} lacks kernel and parameters; only clean leaves"),
        ([PARAMETERS], "the recipe of {} lacks kernel; only clean leaves"),
        ([KERNEL], "the recipe of {} lacks parameters; only clean leaves"),
        (["--recipe.kernel=flicker", PARAMETERS], "'flicker' is not a dotted path of a function"),
    ],
)
def test_a_recipe_without_a_part_is_refused(words: list[str], message: str, name: str) -> None:
    with pytest.raises(InputError, match=message.format(name)):
        read(f"--recipe.name={name}", *words)


def test_the_error_of_an_unknown_name_suggests_the_nearest_and_of_an_unknown_suite_lists_all() -> None:
    with pytest.raises(ValueError, match="did you mean 'gaussian_blur'"):
        group_of("gausian_blur")
    with pytest.raises(ValueError, match="choose one of brightness, contrast"):
        group_of("qqq")
    with pytest.raises(ValueError, match="unknown suite 'imagenet_c'; choose one of imagenet-c, mllm-ic"):
        corruptions_of("imagenet_c")
    with pytest.raises(InputError, match="'clean' has no kernel"):
        kernel_module("clean")
    own = replace(SUITES["imagenet-c"], name="a")
    for name, suite in (("frost_six", "imagenet-c"), ("fog", "mllm-ic"), ("fog", own)):
        with pytest.raises(ValueError, match="engine 'imgaug' has only the 19 corruptions of imagenet-c"):
            recipe_of(name, suite, engine="imgaug")


def test_the_registry_imports_neither_numpy_nor_kernels() -> None:
    code = (
        "import sys, benchc.corruptions.registry as r\n"
        "for name in r.corruptions_of('imagenet-c'): r.recipe_of(name)\n"
        "print([m for m in sys.modules if m in ('numpy', 'imgaug', 'cv2', 'PIL') or '.kernels' in m])"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True, cwd=ROOT) == "[]\n"
