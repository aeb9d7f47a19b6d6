"""What `compile: true` needs of a machine. Imports no torch, as a check needs none."""

import os
import shutil
import sysconfig
from pathlib import Path

from benchc.models.protocol import ModelError

# Language, the variable that names its compiler, and those that are used without it. torch compiles C++, and
# on a GPU Triton compiles C.
CPP = ("C++", "CXX", ("g++",))
C = ("C", "CC", ("gcc", "clang"))


def require_compilers(name: str, device: str) -> None:
    """Raise ModelError where torch.compile would fail, for want of a compiler or of Python.h.

    It fails when the model, called ``name`` in the error, is asked about its first item. ``device``: where
    the model runs, cpu or cuda.
    """
    for language, variable, usual in (CPP, C) if device == "cuda" else (CPP,):
        named = os.environ.get(variable)
        if not any(map(shutil.which, (named,) if named else usual)):
            absent, fix = (
                (f"{named} ({variable})", f"correct {variable}")
                if named
                else (" or ".join(usual), f"install {usual[0]}")
            )
            raise ModelError(
                f"{name}: `compile: true` needs a {language} compiler, and there is no {absent}; {fix}, or "
                "remove the key in the model catalogue"
            )
    headers = Path(sysconfig.get_path("include"))
    if not (headers / "Python.h").is_file():
        raise ModelError(
            f"{name}: `compile: true` needs Python.h, which is not in {headers}; install Python's headers "
            f"(Debian's {headers.name}-dev), or remove the key in the model catalogue"
        )
