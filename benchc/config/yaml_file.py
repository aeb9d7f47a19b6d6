"""Read a YAML file, and refuse a key that is given twice.

PyYAML rather than ruamel.yaml, since Snakemake reads the configuration with it: `yes`, `010` and `1e-3` are
other values in ruamel.yaml's YAML 1.2.
"""

from pathlib import Path
from typing import Any

import yaml


class YamlError(ValueError):
    """A file is not YAML in UTF-8, or gives a key twice."""


class _Loader(yaml.SafeLoader):
    """A safe loader that refuses a key that a mapping gives twice, where PyYAML takes the last value."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        lines: dict[str, int] = {}
        for key, _ in node.value:
            line = key.start_mark.line + 1
            if isinstance(key, yaml.ScalarNode) and lines.setdefault(key.value, line) != line:
                raise YamlError(f"{key.value} is given twice, in lines {lines[key.value]} and {line}")
        return super().construct_mapping(node, deep)


def read_yaml(path: Path) -> Any:
    """Return the content of the YAML file at ``path``; raises OSError or YamlError."""
    with path.open(encoding="utf-8") as file:
        try:
            return yaml.load(file, _Loader)
        except yaml.MarkedYAMLError as error:
            line = error.problem_mark.line + 1 if error.problem_mark else "?"
            raise YamlError(f"line {line} is not YAML ({error.problem})") from error
        except (UnicodeDecodeError, yaml.reader.ReaderError) as error:
            raise YamlError(f"this is not YAML in UTF-8 ({error.reason})") from error
