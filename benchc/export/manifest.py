"""The manifest of an export: what it is of, how its images were made, and a hash of each of its files."""

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import TypeAdapter, ValidationError

from benchc.atomic import write_text
from benchc.errors import InputError
from benchc.json_content import json_content
from benchc.progress import track
from benchc.transparency import Alpha
from benchc.workflow.evaluation import EXPORT

FILE = EXPORT
FORMAT = 1
RUN = "run"  # folder with the files of the finished run
INPUTS = "inputs"  # folder with the user's files
NAME = re.compile(r"\w[\w.-]*")  # of runs, corruptions and sources


@dataclass(frozen=True)
class Manifest:
    """An export.

    Attributes:
        format: version of the layout of exports
        benchc: version that wrote it
        run, benchmark: the names of the finished run and its benchmark
        images_folder: that of the run's corrupted images; None where its jobs generate them
        recipes: how images were corrupted, by corruption, as in footers
        seed, alpha: of all corruptions
        libraries: with which the images were made, with their versions
        footers: of the run's tables of corrupted images by corruption; none where its jobs generate them
        pool: hashes of the columns of the pool, which a pool that is made again must have
        withheld: ids of the sources that are not passed on
        left_out: tables, figures and pages of the run that are not passed on, since they show such items
        inputs: files of the user that the configuration names, by the path there: where the export has them
        files: bytes and SHA-256 of every other file by its path
    """

    format: int
    benchc: str
    run: str
    benchmark: str
    images_folder: str | None
    recipes: dict[str, dict[str, Any]]
    seed: int
    alpha: Alpha
    libraries: dict[str, str]
    footers: dict[str, dict[str, Any]]
    pool: list[str]
    withheld: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    inputs: dict[str, str] = field(default_factory=dict)
    files: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """A hash of the manifest, and so of all files that it lists."""
        return hashlib.blake2b(_text(asdict(self)).encode(), digest_size=6).hexdigest()

    def to_json(self) -> str:
        """Return the content of the file, which ends with the digest of the rest."""
        return _text({**asdict(self), "~digest": self.digest})


def is_export(folder: Path) -> bool:
    """Return whether a folder has the manifest of an export."""
    return (folder / FILE).is_file()


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest, with the hashes of all files in ``folder``."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    for path in track(paths, label="hash", unit="files"):
        name = path.relative_to(folder).as_posix()
        manifest.files[name] = {"bytes": path.stat().st_size, "sha256": sha256(path)}
    write_text(folder / FILE, manifest.to_json())


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of an export. Raises InputError where there is none that this version reads."""
    path = folder / FILE
    try:
        content = json_content(path.read_text(encoding="utf-8"))
        version, by = content["format"], content["benchc"]
    except OSError as error:
        raise InputError(
            f"{folder}: is no export, since its {FILE} cannot be read ({error.strerror}); give the folder "
            "that `benchc export` wrote"
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise _damaged(path) from error
    if isinstance(version, int) and version > FORMAT:
        raise InputError(f"{path}: was written by a newer version of benchc ({by}); update benchc")
    try:
        digest = content.pop("~digest")
        manifest = TypeAdapter(Manifest).validate_json(json.dumps(content), strict=True)
    except (KeyError, TypeError, ValidationError) as error:
        raise _damaged(path) from error
    if digest != manifest.digest or version != FORMAT or not _is_valid(manifest):
        raise _damaged(path)
    return manifest


def check_files(folder: Path, manifest: Manifest, folders: Iterable[str], *, content: bool) -> None:
    """Check all files in some ``folders`` of an export: their sizes, and with ``content`` their hashes.

    Raises InputError for the first that is missing, was changed, or is none of the export.
    """
    parts = tuple(f"{name}/" for name in folders)
    chosen = sorted(name for name in manifest.files if name.startswith(parts))
    for path in sorted(path for part in parts for path in (folder / part).rglob("*") if path.is_file()):
        if path.relative_to(folder).as_posix() not in manifest.files:
            raise InputError(f"{path}: is no file of the export ({FILE} does not have it); delete it")
    for name in track(chosen, label="check", unit="files") if content else chosen:
        path, facts = folder / name, manifest.files[name]
        if not path.is_file():
            raise InputError(f"{path}: is missing; copy the whole export again")
        if path.stat().st_size != facts["bytes"] or (content and sha256(path) != facts["sha256"]):
            raise InputError(
                f"{path}: was changed after the export ({FILE} has another size or SHA-256); copy the whole "
                "export again"
            )


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _is_valid(manifest: Manifest) -> bool:
    """Return whether a manifest, which may be a stranger's, agrees with itself and stays in its folder."""
    names = [manifest.run, *manifest.recipes, *manifest.footers, *manifest.withheld]
    paths = [PurePosixPath(name) for name in manifest.files]
    tables = () if manifest.images_folder is None else manifest.recipes
    return (
        manifest.images_folder in (None, "corrupted", "benchmark")
        and all(NAME.fullmatch(name) for name in names)
        and not any(path.is_absolute() or ".." in path.parts for path in paths)
        and all(
            isinstance(facts.get("bytes"), int) and isinstance(facts.get("sha256"), str)
            for facts in manifest.files.values()
        )
        and f"{RUN}/config.yaml" in manifest.files
        and all(name in manifest.files and name.startswith(f"{INPUTS}/") for name in manifest.inputs.values())
        and {*tables} == {*manifest.footers}
    )


def _text(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _damaged(path: Path) -> InputError:
    return InputError(f"{path}: was changed or is incomplete; copy the whole export again")
