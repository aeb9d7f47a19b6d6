"""The strengths are those that the released package lists for each corruption."""

import ast
import inspect
from typing import Any

import imagecorruptions.corruptions
import pytest

from benchc.corruptions.suites.imagenet_c import IMAGENET_C

TYPES = {type_.name: type_ for type_ in IMAGENET_C.types()}
# What the package does not list as a number: how it enlarges, which photographs it takes, copies for swaps.
NO_STRENGTHS = {"enlarge", "textures", "swap"}
# Of Hendrycks and Dietterich's elastic transform, which takes 244 pixels times a list.
ELASTIC = {
    "alpha": (2, 2, 0.05, 0.07, 0.12),
    "sigma": (0.7, 0.08, 0.01, 0.01, 0.01),
    "affine": (0.1, 0.2, 0.02, 0.02, 0.02),
}


def assigned(name: str, variable: str) -> list[Any]:
    """Return the list that the package's function assigns, whose elements are by severity."""
    tree = ast.parse(inspect.getsource(getattr(imagecorruptions.corruptions, name)))
    (value,) = (
        node.value.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and ast.unparse(node.targets[0]) == variable
        and isinstance(node.value, ast.Subscript)
        and isinstance(node.value.value, ast.List)
    )
    # Ranges are of their stop and step.
    return [
        eval(ast.unparse(each.args[1]) + "," + ast.unparse(each.args[2]))
        if isinstance(each, ast.Call)
        else eval(ast.unparse(each))
        for each in value.elts
    ]


@pytest.mark.parametrize("name", [type_.name for type_ in TYPES.values() if type_.in_default])
def test_strengths_are_those_of_the_package(name: str) -> None:
    found = [
        tuple(value for keyword, value in TYPES[name].at(severity).items() if keyword not in NO_STRENGTHS)
        for severity in IMAGENET_C.severities
    ]
    if name == "elastic_transform":
        # Shares of the sides, which are no list.
        expected = [(alpha, 0.01, 0.005) for alpha in assigned(name, "alpha")]
    else:
        listed = assigned(name, "c")
        expected = [each if isinstance(each, tuple) else (each,) for each in listed]
    assert [pytest.approx(each) for each in expected] == found


def test_alternatives_have_the_strengths_of_their_type_or_of_the_first_code() -> None:
    others = {type_.name: type_ for type_ in TYPES.values() if not type_.in_default}
    affine = others.pop("elastic_transform_affine")
    assert [type_.name for type_ in TYPES.values() if not type_.ordered] == ["saturate", affine.name]
    for keyword, shares in ELASTIC.items():
        assert affine.parameters[keyword].values == pytest.approx([244 * share for share in shares])
    for name, type_ in others.items():
        of = TYPES[str(type_.alternative_to)]
        (keyword,) = (each for each in type_.parameters if type_.parameters[each] != of.parameters[each])
        assert keyword in NO_STRENGTHS and type_.kernel == of.kernel and type_.noise == of.noise, name
    assert {each.at(1)["textures"] for each in (TYPES["frost"], others["frost_six"])} == {5, 6}
    assert [each.at(5)["swap"] for each in (TYPES["glass_blur"], others["glass_blur_swap"])] == [False, True]
