import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from benchc.corruptions.registry import (
    KERNEL_MODULES,
    SUITES,
    corruptions_of,
    family_of,
    kernel_module,
)


def test_imagenet_c_has_bench_cs_five_families_of_3_5_4_4_and_3_corruptions() -> None:
    sizes = {family: len(names) for family, names in SUITES["imagenet-c"].items()}
    assert sizes == {"photometric": 3, "blur": 5, "noise": 4, "weather": 4, "digital": 3}
    assert len(set(corruptions_of("imagenet-c"))) == 19


@pytest.mark.parametrize("suite", SUITES)
def test_every_corruption_has_a_kernel_in_the_module_that_is_named(suite: str) -> None:
    assert KERNEL_MODULES[suite].keys() == SUITES[suite].keys()
    for name in corruptions_of(suite):
        assert name in SUITES[suite][family_of(name, suite)]
        assert callable(getattr(importlib.import_module(kernel_module(name, suite)), name))


def test_an_unknown_name_is_answered_with_the_nearest_and_an_unknown_suite_with_the_list() -> None:
    with pytest.raises(ValueError, match="did you mean 'gaussian_blur'"):
        family_of("gausian_blur")
    with pytest.raises(ValueError, match="there are brightness, contrast"):
        family_of("qqq")
    with pytest.raises(ValueError, match="no suite 'imagenet_c'; there are imagenet-c"):
        corruptions_of("imagenet_c")


def test_reading_the_registry_imports_no_array_library_and_no_kernel() -> None:
    code = (
        "import sys, benchc.corruptions.registry as r; r.kernel_module('fog'); "
        "print([m for m in sys.modules if m in ('numpy', 'imgaug', 'cv2', 'PIL', r.kernel_module('fog'))])"
    )
    root = Path(__file__).parents[2]
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root
    )
    assert printed.stdout.strip() == "[]"
