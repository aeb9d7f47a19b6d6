"""Read a YAML file, and refuse a key that is given twice and a value that YAML 1.1 and 1.2 read differently.

PyYAML rather than ruamel.yaml, since Snakemake reads the configuration with it, by YAML 1.1: `1:30` is 90 and
`010` is 8. What YAML 1.2 reads as another value is refused, so that both have the same.
"""

import re
from pathlib import Path
from typing import Any

import yaml

from benchc.config.errors import shown
from benchc.errors import InputError

# Values that aliases may repeat: far more than a configuration needs. Every reader visits each of them.
MAX_REPEATED = 10_000

# By type, the values of PyYAML that are the same in YAML 1.2 (its core schema).
SAME = {
    "int": re.compile(r"[-+]?(0|[1-9][0-9]*)|0x[0-9a-fA-F]+"),
    "float": re.compile(r"[^_:]+"),  # PyYAML takes no text without them that is another number
    "bool": re.compile(r"true|false", re.IGNORECASE),
}

SyntaxErrors = yaml.scanner.ScannerError | yaml.parser.ParserError


class YamlError(ValueError):
    """A file is not YAML in UTF-8, has a value that cannot be used, gives a key twice, or is no file."""


class _Loader(yaml.SafeLoader):
    """A safe loader that refuses a key that a mapping gives twice, where PyYAML takes the last value.

    And numbers and booleans that are others in YAML 1.2.
    """

    def get_single_node(self) -> yaml.Node | None:
        node = super().get_single_node()
        sizes: dict[int, int] = {}
        repeated = 0 if node is None else _size(node, sizes) - len(sizes)
        if repeated > MAX_REPEATED:
            raise YamlError(
                f"its aliases repeat {repeated:,} values, more than the limit of {MAX_REPEATED:,}; use fewer"
            )
        return node

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        line, kind = node.start_mark.line + 1, node.tag.rpartition(":")[2]
        try:
            value = super().construct_object(node, deep)
            if kind in SAME and not SAME[kind].fullmatch(node.value):
                # 1:30 is a time, whose number of seconds or minutes is seldom meant.
                number = "" if ":" in node.value else f", or write {shown(value)}"
                raise YamlError(
                    f"line {line}: {node.value} is {shown(value)} in YAML 1.1, but not in YAML 1.2; put it "
                    f"in quotes{number}"
                )
            return value
        except YamlError:
            raise
        # PyYAML lets the errors of int(), datetime and the like pass.
        except (ValueError, LookupError, AttributeError, OverflowError) as error:
            raise YamlError(f"line {line} is not YAML ({shown(node.value)} is not a valid {kind})") from error


def read_yaml(path: Path) -> Any:
    """Return the content of the YAML file at ``path``; raises OSError or YamlError."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise YamlError("a pipe or device is not read; give a file")
    with path.open(encoding="utf-8") as file:
        try:
            return yaml.load(file, _Loader)
        except yaml.MarkedYAMLError as error:
            line = error.problem_mark.line + 1 if error.problem_mark else 1
            # PyYAML finds a quote or bracket without an end only in what follows.
            before = isinstance(error, SyntaxErrors) and line > 1
            where = f"line {line}, or the line before," if before else f"line {line}"
            raise YamlError(f"{where} is not YAML ({error.problem})") from error
        except (UnicodeDecodeError, yaml.reader.ReaderError) as error:
            raise YamlError(f"the content is not YAML in UTF-8 ({error.reason})") from error
        except RecursionError as error:
            raise YamlError("the content is not YAML (it is nested too deeply)") from error


def read_mapping(path: Path, mend: str, name: str | None = None) -> dict[Any, Any]:
    """Return the content of the YAML file at ``path``.

    ``name`` is that of the file in errors, and ``mend`` what mends them. Raises InputError where it cannot be
    read, or is no mapping.
    """
    name = name or str(path)
    try:
        content = read_yaml(path)
    except (OSError, YamlError) as error:
        reason = f"cannot be read ({error.strerror})" if isinstance(error, OSError) else error
        raise InputError(f"{name}: {reason}; {mend}") from error
    if not isinstance(content, dict):
        raise InputError(f"{name}: not a mapping of keys to values; {mend}")
    return content


def _refuse_repeated_keys(node: yaml.MappingNode) -> None:
    lines: dict[str, int] = {}
    for key, _ in node.value:
        if isinstance(key, yaml.ScalarNode):
            line = key.start_mark.line + 1
            if key.value in lines:
                first = lines[key.value]
                where = f"line {line}" if first == line else f"lines {first} and {line}"
                raise YamlError(f"{key.value} is given twice, in {where}")
            lines[key.value] = line


def _size(node: yaml.Node, sizes: dict[int, int]) -> int:
    """Return the number of values in ``node`` with aliases written out, and add that of each to ``sizes``."""
    known = sizes.get(id(node))
    if known is not None:
        if known == 0:
            raise YamlError(f"line {node.start_mark.line + 1}: an alias is inside of what it stands for")
        return known
    sizes[id(node)] = 0
    parts: list[yaml.Node] = []
    if isinstance(node, yaml.MappingNode):
        _refuse_repeated_keys(node)
        parts = [part for pair in node.value for part in pair]
    elif isinstance(node, yaml.SequenceNode):
        parts = node.value
    sizes[id(node)] = size = 1 + sum(_size(part, sizes) for part in parts)
    return size
