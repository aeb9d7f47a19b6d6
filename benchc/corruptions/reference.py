"""The page on corruptions: how to use them, and what each suite holds, made from the suites themselves."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from benchc.corruptions.registry import SUITES
from benchc.corruptions.suite import CorruptionType, Parameter, Suite, Value

# The tests run these three, so that they stay true.
CORRUPT_EXAMPLE = """\
from pathlib import Path

from benchc.corruptions.corrupt import corrupt
from benchc.images import decode, encode_png

pixels = decode(Path("photo.jpg").read_bytes())  # uint8[H, W, 3], RGB, upright
foggy = corrupt(pixels, "fog", 3, seed=1)
noisy = corrupt(pixels, "shot_noise", 5, seed=1, suite="vqa-robustness")
Path("foggy.png").write_bytes(encode_png(foggy))
"""
KERNEL_EXAMPLE = """\
import numpy as np


def draw_gain(generator, height, width, *, spread):
    return generator.uniform(1 - spread, 1 + spread)


def flicker(image, gain, *, spread):
    return np.clip(image * gain, 0, 255).astype(np.uint8)
"""
RECIPE_EXAMPLE = """\
from benchc.corruptions.apply import apply
from benchc.corruptions.recipe import Recipe

flicker = Recipe("flicker", "my_package.light.flicker", "draw_gain", {1: {"spread": 0.2}, 2: {"spread": 0.6}})
flickered = apply(flicker, pixels, 2, seed=1)
"""

_LEAD = """\
# Corruptions

A suite is a published set of corruptions: groups of types, each with a kernel and its parameters at every
severity. A run takes its types from one suite (`corruptions.suite` and `corruptions.types` of the
[configuration](configuration.md)).
"""

_USE = f"""\
`python -m scripts.contact_sheet --suite imagenet-c --image photo.jpg --output-prefix sheet` draws a suite on
a picture of yours. `python -m scripts.write_corruption_reference` makes this page from
`benchc/corruptions/suites/`.

## A folder of images

```sh
python -m scripts.corrupt --images photos --corruption fog --output corrupted --seed 1
```

writes every image of `photos` at every severity to `corrupted/fog/<severity>/<name>.png`, without Snakemake
and without a configuration. Run it again to go on after a stop, or to make anew what has changed in
`photos`. `--help` lists what else it can do.

## From Python

```python
{CORRUPT_EXAMPLE}```

The result has the shape of the image, unless the table below says that the type changes the size. It is a
pure function of pixels, type, severity, seed and suite; a type without randomness does not look at the seed.
With `engine="imgaug"`, imgaug's `imgcorruptlike` makes the types of imagenet-c instead; it is not safe under
threads.

## A corruption of your own

A kernel is a function `(image, **parameters)` from uint8[H, W, 3] to a new array of the same shape. What is
random in it comes from a second function, `(generator, height, width, **parameters)`, and is the kernel's
second argument:

```python
{KERNEL_EXAMPLE}```

Outside this repository, a recipe names both and gives the parameters by severity:

```python
{RECIPE_EXAMPLE}```

To have it in runs, put the module into `benchc/corruptions/kernels/`, add a `CorruptionType` to a group of a
suite (a file of `benchc/corruptions/suites/`; a new suite also goes into `SUITES` of
`benchc/corruptions/registry.py`), and name it in `corruptions.types`.

## How to read the tables

Values stand by severity, mildest first; one value alone holds at all severities. The origin of a parameter is
*published* (in the suite's paper or its authors' code), *library default* (the authors call a library and say
no more) or *decided here* (the authors left it open); the number leads to the source or the reason below the
suite's tables.

Types marked *off* are only in runs that name them: *variants*, which are other readings of a type;
*stand-ins*, which are synthetic substitutes for what the authors photographed; and types that the suite's
published results leave out. *No order*: the definition has no strength that could grow with severity.
"""

# What is known of a suite besides its numbers, by the suite's name.
_NOTES: Mapping[str, str] = {
    "imagenet-c": """\
Images agree with those of the package imagecorruptions within one grey level, for the same random draws.
Areas of one flat colour may differ as a whole by that one level.

The published numbers do not make every type strictly stronger with severity. By 1 - SSIM, on the median of 31
photographs, severity 4 is weaker than 3 for `glass_blur`, `frost` and `spatter`, severity 3 is weaker than 2
for `zoom_blur` and `snow`, and severity 5 is weaker than 4 for `zoom_blur`, whose severity 5 is 1.2 times as
strong as its severity 1. The numbers are left as published.
"""
}


def corruption_page() -> str:
    """Return the Markdown page on all suites: how to use them, and every parameter with its origin."""
    return "\n".join([_LEAD, _overview(), _USE, *(_section(suite) for suite in SUITES.values())])


def _overview() -> str:
    rows = []
    for suite in SUITES.values():
        default = sum(type_.in_default for type_ in suite.types())
        off = len(suite.types()) - default
        groups = ", ".join(map(_plain, suite.groups))
        rows.append(
            (f"[{suite.name}](#{suite.name})", str(default), str(off), str(len(suite.severities)), groups)
        )
    return _table(("suite", "types", "off", "severities", "groups"), rows)


def _section(suite: Suite) -> str:
    sources = _Sources()
    tables = []
    for group, types in suite.groups.items():
        rows = [row for type_ in types for row in _rows(type_, sources)]
        header = ("type", "what it does", "parameter", "values", "origin", "source")
        tables.append(f"### {_plain(group).capitalize()} ({suite.name})\n\n{_table(header, rows)}")
    return "\n".join(
        [
            f"## {suite.name}\n\n{_escaped(suite.source)}.\n",
            *([_NOTES[suite.name]] if suite.name in _NOTES else []),
            *_partitions(suite),
            *tables,
            sources.listed(),
        ]
    )


def _partitions(suite: Suite) -> Iterator[str]:
    if suite.levels:
        rows = [(_plain(level), ", ".join(map(_plain, groups))) for level, groups in suite.levels.items()]
        yield _table(("level", "groups"), rows)
    if suite.steps:
        rows = [(_plain(step), f"`{'`, `'.join(types)}`") for step, types in suite.steps.items()]
        yield _table(("step", "types"), rows)


class _Sources:
    """Sources and reasons, numbered as they come up."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, source: str) -> int:
        return self._numbers.setdefault(source, len(self._numbers) + 1)

    def listed(self) -> str:
        lines = (f"{number}. {_escaped(source)}\n" for source, number in self._numbers.items())
        return "Sources and reasons:\n\n" + "".join(lines)


def _rows(type_: CorruptionType, sources: _Sources) -> Iterator[tuple[str, ...]]:
    first = (f"`{type_.name}`{_marks(type_)}", _escaped(type_.summary))
    if not type_.parameters:
        yield (*first, "none", "", "", "")
    for name, parameter in type_.parameters.items():
        number = str(sources.number(parameter.source))
        yield (*first, f"`{name}`", _values(parameter), parameter.origin.value, number)
        first = ("", "")


def _marks(type_: CorruptionType) -> str:
    marks = {
        f"variant of `{type_.variant_of}`": type_.variant_of is not None,
        "stand-in": type_.stand_in,
        "off": not type_.in_default,
        "no order": not type_.ordered,
        "changes the size": type_.resizes,
    }
    present = ", ".join(mark for mark, holds in marks.items() if holds)
    return f" ({present})" if present else ""


def _values(parameter: Parameter) -> str:
    values = [_value(value) for value in parameter.values]
    return values[0] if len(set(values)) == 1 else ", ".join(values)


def _value(value: Value) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_value, value))})"
    return format(value, ".12g") if isinstance(value, float) else _escaped(str(value))


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _plain(name: str) -> str:
    return name.replace("_", " ")


def _escaped(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("*", "\\*")
