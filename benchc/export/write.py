"""Export the benchmark of a finished run: a data set repository of the Hub, on which models are evaluated."""

import csv
import importlib.metadata
import shutil
from collections.abc import Collection
from pathlib import Path
from tempfile import TemporaryDirectory

from benchc.atomic import atomic_folder
from benchc.corruptions.chunks import library_versions
from benchc.corruptions.recipe import CLEAN
from benchc.errors import InputError
from benchc.export.card import write_descriptions
from benchc.export.finished import Finished
from benchc.export.items import Exported, write_items
from benchc.export.licences import licence_of, redistributable
from benchc.export.manifest import FORMAT, INPUTS, RUN, Manifest, write_manifest
from benchc.export.run_files import copy_run, footer_of, pool_hashes


def write_export(
    finished: Finished, folder: Path, *, redistribute: Collection[str] = (), repo: str, tsv: bool = True
) -> tuple[Manifest, Exported]:
    """Write the export of a finished run to ``folder``, which is absent or empty.

    An error or a killed process leaves ``folder`` as it was.

    Args:
        finished: the run
        folder: to write
        redistribute: ids of sources that are passed on whatever the catalogue says of their licence
        repo: id of the data set on the Hub, OWNER/NAME, which files of results name
        tsv: whether to write files for VLMEvalKit

    Raises:
        InputError: ``folder`` is taken, ``redistribute`` has an unknown id, or items of sources that may not
            be passed on cannot be kept apart, or made again elsewhere.
    """
    _refuse_taken(folder)
    if folder.resolve().is_relative_to(finished.folder.resolve()):
        raise InputError(
            f"{folder}: is in the folder of the run, which stays as it is; choose another FOLDER"
        )
    withheld = withheld_sources(finished, redistribute)
    left_out = sorted(finished.shows_items) if withheld else []
    settings, images = finished.run.settings, finished.run.images
    with atomic_folder(folder) as target, TemporaryDirectory(dir=folder.parent, prefix=".images.") as scratch:
        inputs = {
            path: f"{INPUTS}/{number}-{Path(path).name}" for number, path in enumerate(finished.inputs())
        }
        for path, copy in inputs.items():
            (target / INPUTS).mkdir(exist_ok=True)
            shutil.copyfile(path, target / copy)
        # First, since it finds what cannot be exported.
        copy_run(finished, withheld, left_out, target / RUN)
        written = write_items(finished, withheld, target, Path(scratch), tsv=tsv)
        _write_selected(finished, target)
        write_descriptions(finished, written, withheld, repo, target)
        stored = finished.images_folder
        tables = {} if stored is None else dict.fromkeys(images.recipes, finished.folder / stored)
        footers = {name: footer_of(path / f"{name}.parquet") for name, path in tables.items()}
        for name, footer in footers.items():
            if footer.get("seed", settings.seed) != settings.seed:
                raise InputError(
                    f"{tables[name] / name}.parquet: was made with the seed {footer['seed']}, but "
                    f"config.yaml has {settings.seed}; restore it, or finish the run again"
                )
        manifest = Manifest(
            format=FORMAT,
            benchc=importlib.metadata.version("benchc"),
            run=settings.name,
            benchmark=settings.benchmark,
            images_folder=stored,
            recipes={name: recipe.content() for name, recipe in images.recipes.items()},
            seed=settings.seed,
            alpha=settings.corruptions.alpha,
            libraries=footers.get(CLEAN, {}).get("libraries", library_versions()),
            footers=footers,
            pool=pool_hashes(finished.pool),
            withheld=withheld,
            left_out=left_out,
            inputs=inputs,
        )
        write_manifest(target, manifest)
        # Somebody may have put a file there since.
        _refuse_taken(folder)
    return manifest, written


def _refuse_taken(folder: Path) -> None:
    if folder.is_symlink() or folder.resolve() == Path.cwd():
        what = "a link" if folder.is_symlink() else "the working directory"
        raise InputError(f"{folder}: is {what}; choose another FOLDER")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder}: exists already, and nothing is overwritten; choose another FOLDER")


def withheld_sources(finished: Finished, redistribute: Collection[str]) -> list[str]:
    """Return the sources whose licence is not known to allow that their items are passed on, sorted.

    Raises InputError where ``redistribute`` has an id that is no source, or images of such a source were
    imported, so that nobody else can make them again.
    """
    sources = finished.run.config.all_sources
    for id_ in sorted(finished.pool_sources.difference(sources)):
        raise InputError(
            f"{finished.pool}: has items of {id_}, but config-sources.yaml of the run has no such id; "
            "restore it"
        )
    if unknown := sorted(set(redistribute).difference(sources)):
        raise InputError(
            f"--redistribute: the run has no source {unknown[0]}; its sources are {', '.join(sources)}"
        )
    withheld = sorted(
        id_ for id_, source in sources.items() if id_ not in redistribute and not redistributable(source)
    )
    if withheld and finished.run.images.imported:
        id_ = withheld[0]
        raise InputError(
            f"source {id_}: its licence ({licence_of(sources[id_])}) is not known to allow that it is passed "
            "on, and its corrupted images were imported, so that nobody can make them again; state the "
            "licence in the source catalogue, or give --redistribute if the publishers allow it"
        )
    return withheld


def _write_selected(finished: Finished, folder: Path) -> None:
    """Write which items the benchmark has selected, and what it has selected them by, where it does."""
    stored = finished.run.benchmark.stored_subset
    if stored is None:
        return
    rows = finished.item_columns()
    with (folder / f"{stored}.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(rows.columns)
        writer.writerows(rows.iter_rows())
