"""The text of docs/corruptions.md: how to use corruptions, and the types of every suite."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from benchc.corruptions.registry import SUITES
from benchc.corruptions.suite import CorruptionType, Origin, Parameter, Suite, Value

# The tests run these three.
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

A suite is a published set of corruptions, in groups of types. A run takes its types from one suite
(`corruptions.suite` and `corruptions.types` of the [configuration](configuration.md)).
"""

_USE = f"""\
`python -m scripts.contact_sheet --suite imagenet-c --image photo.jpg --output-prefix sheet` renders a suite
on your own image. `python -m scripts.write_corruption_reference` writes this page.

## A folder of images

```sh
python -m scripts.corrupt --images photos --corruption fog --output corrupted --seed 1
```

writes every image of `photos` at every severity to `corrupted/fog/<severity>/<name>.png`. Rerun it to
resume, or after a change in `photos`. `--help` lists all options.

## From Python

```python
{CORRUPT_EXAMPLE}```

The result has the shape of the image, unless the type *changes the size*. It is a pure function of the
arguments. `engine="imgaug"` uses imgaug's `imgcorruptlike` for the types of imagenet-c; it is not
thread-safe.

## Add a corruption

A kernel is a function `(image, **parameters)` from uint8[H, W, 3] to a new array of the same shape. Its
second argument, if it needs random numbers, is what a second function returns,
`(generator, height, width, **parameters)`:

```python
{KERNEL_EXAMPLE}```

Outside this repository, a recipe names both functions and the parameters by severity:

```python
{RECIPE_EXAMPLE}```

For use in runs, put the module into `benchc/corruptions/kernels/`, add a `CorruptionType` to a suite in
`benchc/corruptions/suites/` (add a new suite to `SUITES` in `benchc/corruptions/registry.py`), and name it in
`corruptions.types`.

## How to read the tables

Values are listed by severity, mildest first; a single value applies to all severities. A number in
brackets refers to the list below a suite's tables, with the origin of the values before it: *published* in
the paper or its code, *library default* of the library that the authors call, or *decided here*, where the
authors do not specify the value.

Types marked *off* are applied only in runs that name them: *variants* (alternative definitions of a type),
*stand-ins* (synthetic substitutes for what the authors photographed), and types without published results.
With *no order*, strength does not grow with severity by definition.
"""

# Notes on a suite, by its name.
_NOTES: Mapping[str, str] = {
    "imagenet-c": """\
With the same random numbers, images equal those of imagecorruptions up to one grey level.

As published, strength does not always grow with severity. By median 1 - SSIM on 31 photographs, severity 4 is
weaker than 3 for `glass_blur`, `frost` and `spatter`, 3 is weaker than 2 for `zoom_blur` and `snow`, and 5 is
weaker than 4 for `zoom_blur`, whose severity 5 is only 1.2 times as strong as 1.
"""
}


def corruption_page() -> str:
    """Return the page in Markdown, with the origin of every parameter."""
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
    sources: dict[tuple[Origin, str], int] = {}
    tables = []
    for group, types in suite.groups.items():
        rows = [_row(type_, suite, sources) for type_ in types]
        header = ("type", "what it does", "parameters")
        tables.append(f"### {_plain(group).capitalize()} ({suite.name})\n\n{_table(header, rows)}")
    listed = (f"{n}. *{origin.value}*: {_escaped(source)}\n" for (origin, source), n in sources.items())
    return "\n".join(
        [
            f"## {suite.name}\n\n{_escaped(suite.source)}.\n",
            *([_NOTES[suite.name]] if suite.name in _NOTES else []),
            *_partitions(suite),
            *tables,
            "Origins:\n\n" + "".join(listed),
        ]
    )


def _partitions(suite: Suite) -> Iterator[str]:
    if suite.levels:
        rows = [(_plain(level), ", ".join(map(_plain, groups))) for level, groups in suite.levels.items()]
        yield _table(("level", "groups"), rows)
    if suite.steps:
        rows = [(_plain(step), f"`{'`, `'.join(types)}`") for step, types in suite.steps.items()]
        yield _table(("step", "types"), rows)


def _row(type_: CorruptionType, suite: Suite, sources: dict[tuple[Origin, str], int]) -> tuple[str, ...]:
    name = f"`{type_.name}`{_marks(type_)}"
    first = next(other for other in SUITES.values() if type_ in other.types())
    if first != suite:
        return name, f"as in [{first.name}](#{first.name})", ""
    parts: list[str] = []
    for origin, same in groupby(type_.parameters.items(), lambda item: (item[1].origin, item[1].source)):
        values = "; ".join(f"`{keyword}` {_values(parameter)}" for keyword, parameter in same)
        parts.append(f"{values} [{sources.setdefault(origin, len(sources) + 1)}]")
    return name, _escaped(type_.summary), "; ".join(parts)


def _marks(type_: CorruptionType) -> str:
    marks = {
        f"variant of `{type_.variant_of}`": type_.variant_of is not None,
        "stand-in": type_.stand_in,
        "off": not type_.in_default,
        "no order": not type_.ordered,
        "changes the size": type_.resizes,
    }
    present = ", ".join(mark for mark, applies in marks.items() if applies)
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
