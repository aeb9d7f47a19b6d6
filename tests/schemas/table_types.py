"""The types of tables in a package, to compare with those of files that finished runs have."""

import ast
import inspect
import pkgutil
from dataclasses import MISSING, fields
from hashlib import blake2b
from importlib import import_module

from benchc.schemas.footer import Footer
from benchc.schemas.parquet import TableType

# By `module:NAME`: version and digest of the columns, or what a footer without a fact means, unless null.
Recorded = dict[str, tuple[int, str] | dict[str, object]]


def table_types(package: str) -> Recorded:
    """Return what is recorded of the types of tables and footers in the modules of a package."""
    found: Recorded = {}
    for each in pkgutil.iter_modules(import_module(package).__path__):
        module = import_module(f"{package}.{each.name}")
        for name in _defined(inspect.getsource(module)):
            value = getattr(module, name)
            if isinstance(value, TableType):
                found[f"{module.__name__}:{name}"] = value.version, _digest(value)
            elif isinstance(value, type) and issubclass(value, Footer):
                defaults = {field.name: field.default for field in fields(value)}
                if known := {key: one for key, one in defaults.items() if one not in (None, MISSING)}:
                    found[f"{module.__name__}:{name}"] = known
    return found


def _defined(source: str) -> list[str]:
    names = []
    for each in ast.parse(source).body:
        if isinstance(each, ast.Assign):
            names += [target.id for target in each.targets if isinstance(target, ast.Name)]
        elif isinstance(each, ast.ClassDef):
            names.append(each.name)
    return names


def _digest(table: TableType) -> str:
    columns = "\n".join(f"{name} {dtype!r}" for name, dtype in table.columns.items())
    return blake2b(f"{table.name}\n{columns}".encode(), digest_size=4).hexdigest()
