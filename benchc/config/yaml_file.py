"""Read a YAML file and refuse what YAML readers pass over in silence."""

from pathlib import Path
from typing import Any

import yaml


class YamlError(ValueError):
    """A file is not YAML in UTF-8, or gives one key twice."""


class _Loader(yaml.SafeLoader):
    """A safe loader for which a key that stands twice in a mapping is an error, not a replacement."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        lines: dict[str, int] = {}
        for key, _ in node.value:
            line = key.start_mark.line + 1
            if isinstance(key, yaml.ScalarNode) and lines.setdefault(key.value, line) != line:
                raise YamlError(f"{key.value} stands twice, in lines {lines[key.value]} and {line}")
        return super().construct_mapping(node, deep)


def read_yaml(path: Path) -> Any:
    """Return the content of the YAML file at ``path``.

    Raises OSError, and YamlError where the file is not YAML in UTF-8 or a mapping gives a key twice.
    """
    with path.open(encoding="utf-8") as file:
        try:
            return yaml.load(file, _Loader)
        except yaml.MarkedYAMLError as error:
            line = error.problem_mark.line + 1 if error.problem_mark else "?"
            raise YamlError(f"line {line} is not YAML ({error.problem})") from error
        except (UnicodeDecodeError, yaml.reader.ReaderError) as error:
            raise YamlError(f"the whole is not YAML in UTF-8 ({error.reason})") from error
