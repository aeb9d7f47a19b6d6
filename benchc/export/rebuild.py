"""Make the folder of a finished run again from its export."""

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
import yaml

from benchc.atomic import write_text
from benchc.config.catalogue import Source, SourceCatalogue
from benchc.config.evaluation import RECORD, part_of_record
from benchc.config.load import validate
from benchc.config.paths import expand_path
from benchc.config.source_files import reader_options, source_files
from benchc.config.yaml_file import read_mapping
from benchc.corruptions.chunks import library_versions, locked
from benchc.corruptions.recipe import CLEAN, Recipe
from benchc.errors import InputError
from benchc.export.finished import ASSIGNMENT_FILE, POOL_FILE, REFERENCES_FILE
from benchc.export.items import DATA, WITHHELD, cell_name, generate_images, pixel_hashes
from benchc.export.manifest import FILE, INPUTS, RUN, Manifest, check_files, read_manifest
from benchc.export.run_files import IMAGE_BYTES, POOL_BYTES, append_images, footer_of, pool_hashes
from benchc.export.shards import Row, read_rows, shards_of
from benchc.export.trust import refuse_untrusted
from benchc.progress import track
from benchc.schemas.assignment import read_assignment
from benchc.schemas.corrupted import CORRUPTED, CorruptedFooter
from benchc.schemas.corrupted_images import StoredImage, encoded_images
from benchc.schemas.footer import ImageFooter
from benchc.schemas.items import ITEMS, ItemsFooter
from benchc.schemas.parquet import TableFile, read_table, write_table
from benchc.schemas.pool import POOL, PoolFooter
from benchc.schemas.pool_images import image_levels
from benchc.schemas.references import REFERENCES
from benchc.schemas.row_groups import table_writer
from benchc.sources.conversion import convert
from benchc.sources.download import data_folder, download
from benchc.sources.references import AnswerFile, read_references
from benchc.sources.vlmevalkit import read_vlmevalkit

REBUILT = Path("results/exported")
AGAIN = "fetch the export again"


def rebuild(export: Path, *, root: Path, trusted: bool = False) -> Path:
    """Return the folder of the finished run of an export, below ``root``, and make it unless it is there.

    It is named by the run and the content of the export, which is checked before. A killed call leaves no
    incomplete folder. ``trusted``: whether what its author chose may run, and be asked. Raises InputError
    where it may not, a file of the export is missing or was changed, an image that is made again has other
    pixels, or a source's file is not what it was; SourceError where it cannot be downloaded.
    """
    manifest = read_manifest(export)
    folder = REBUILT / f"{manifest.run}-{manifest.digest}"
    made = (root / folder / FILE).is_file()
    if not (made or trusted):
        refuse_untrusted(export, manifest, root)
    check_files(export, manifest, (RUN, INPUTS, DATA, WITHHELD), content=not made)
    if made:
        return folder
    (root / REBUILT).mkdir(parents=True, exist_ok=True)
    partial = root / REBUILT / f".{folder.name}"
    partial.mkdir(exist_ok=True)
    with locked(partial):
        if (root / folder / FILE).is_file():  # since made by another process
            return folder
        target = partial / "run"
        shutil.rmtree(target, ignore_errors=True)
        with TemporaryDirectory(dir=partial) as scratch:
            _Rebuilt(export, manifest, target, Path(scratch), root).make()
        _take_inputs(export, manifest, target, folder)
        # Last, as the sign that the folder is complete.
        shutil.copyfile(export / FILE, target / FILE)
        target.rename(root / folder)
    shutil.rmtree(partial, ignore_errors=True)
    return folder


def _take_inputs(export: Path, manifest: Manifest, target: Path, folder: Path) -> None:
    """Copy the user's files to ``target``; its configuration names them where they will be in ``folder``."""
    if not manifest.inputs:
        return

    def renamed(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: renamed(each) for key, each in value.items()}
        if isinstance(value, list):
            return [renamed(each) for each in value]
        return str(folder / manifest.inputs[value]) if value in manifest.inputs else value

    for name in manifest.inputs.values():
        (target / name).parent.mkdir(exist_ok=True)
        shutil.copyfile(export / name, target / name)
    record = target / RECORD
    write_text(
        record, yaml.safe_dump(renamed(read_mapping(record, AGAIN)), sort_keys=False, allow_unicode=True)
    )


class _Rebuilt:
    """The making of one finished run's folder."""

    def __init__(self, export: Path, manifest: Manifest, target: Path, scratch: Path, root: Path) -> None:
        self._export, self._manifest = export, manifest
        self._target, self._scratch, self._root = target, scratch, root
        self._withheld: pl.DataFrame | None = None
        try:
            self._recipes = {name: _recipe(content) for name, content in manifest.recipes.items()}
            self._footers = {name: CorruptedFooter(**facts) for name, facts in manifest.footers.items()}
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"{export / FILE}: its recipes are not those of a corruption; copy the whole export again"
            ) from error
        if paths := shards_of(export / WITHHELD, "items"):
            self._withheld = pl.read_parquet(paths, glob=False)

    def make(self) -> None:
        """Write all files of the run."""
        made_here = (
            {f"{RUN}/{name}" for name in (POOL_FILE, REFERENCES_FILE)} if self._manifest.withheld else set()
        )
        for name in track([*self._manifest.files], label="copy", unit="files"):
            path = Path(name)
            # Tables of images are merged from these and others.
            if path.parts[0] == RUN and path.parts[1] != "corrupted" and name not in made_here:
                (self._target / path.relative_to(RUN)).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(self._export / path, self._target / path.relative_to(RUN))
        if self._manifest.withheld:
            self._make_pool()
        pool = read_table(self._target / POOL_FILE, POOL, ["id", "source", "image_keys"])
        self._keys = {id_: keys for id_, _, keys in pool.iter_rows()}
        self._numbers = {id_: number for number, id_ in enumerate(pool["id"])}
        for corruption in self._manifest.recipes:
            generated = self._generate(corruption, dict(pool.select("id", "source").iter_rows()))
            if generated is not None:
                self._check_pixels(corruption, *generated)
            if self._manifest.images_folder is not None:
                self._merge(corruption, generated)

    def _make_pool(self) -> None:
        """Fill in the items of sources that are not passed on, from the publishers' files."""
        tsv = {id_: self._tsv(id_, source) for id_, source in self._sources().items()}
        stripped = self._export / RUN / POOL_FILE
        footer = PoolFooter(**footer_of(stripped))
        with ExitStack() as stack:
            files: dict[str, tuple[TableFile, dict[str, int], str]] = {}
            for id_, (path, source) in tsv.items():
                items, _ = read_vlmevalkit(path, id_, reader_options(source))
                table = self._scratch / f"{id_}.parquet"
                write_table(items, table, ITEMS, ItemsFooter(source=id_))
                numbers = {item: number for number, item in enumerate(items["id"])}
                files[id_] = stack.enter_context(TableFile(table, ITEMS)), numbers, source.task_column
            given = stack.enter_context(TableFile(stripped, POOL))
            target = self._target / POOL_FILE
            target.parent.mkdir(parents=True, exist_ok=True)
            writer = stack.enter_context(table_writer(target, POOL, POOL_BYTES, footer, compression="zstd"))
            for number in track(range(given.height), label="pool", unit="items"):
                row = given.rows([number])
                id_, source_id = row["id"][0], row["source"][0]
                if source_id in files:
                    file, numbers, task = files[source_id]
                    if id_ not in numbers:
                        raise InputError(
                            f"item {id_}: {tsv[source_id][0]} has no such item, so it is another file than "
                            "that of the export; get the one that its source catalogue names"
                        )
                    found = file.rows([numbers[id_]])
                    row = found.select(
                        pl.lit(source_id).alias("source"), pl.col(task).alias("task"), pl.all()
                    ).select(list(POOL.columns))
                writer.append(row)
        if pool_hashes(target) != self._manifest.pool:
            named = " or ".join(str(path) for path, _ in tsv.values())
            raise InputError(
                f"{named}: has other questions, options or images than the export was made from; get the "
                "files that its source catalogue names"
            )
        if f"{RUN}/{REFERENCES_FILE}" in self._manifest.files:
            self._make_references(
                {
                    id_: AnswerFile(path, reader_options(source).answer_lists)
                    for id_, (path, source) in tsv.items()
                }
            )

    def _make_references(self, files: Mapping[str, AnswerFile]) -> None:
        """Fill in the reference answers of items that are not passed on."""
        stripped = self._export / RUN / REFERENCES_FILE
        rows = read_table(stripped, REFERENCES)
        found = read_references(self._target / POOL_FILE, files, known=rows["id"])
        ids = read_table(self._target / POOL_FILE, POOL, ["id"])
        merged = ids.join(pl.concat([rows, found]), on="id", how="left", maintain_order="left")
        footer = ImageFooter(**footer_of(stripped))
        write_table(merged, self._target / REFERENCES_FILE, REFERENCES, footer)

    def _sources(self) -> dict[str, Source]:
        """Return the sources that are not passed on, with their paths on this machine."""
        path = self._export / RUN / part_of_record("sources")
        errors: list[str] = []
        catalogue = validate(SourceCatalogue, read_mapping(path, AGAIN), str(path), errors)
        if catalogue is None:
            raise InputError(*errors)
        found = {
            id_: expand_path(catalogue.root[id_], f"{path}: {id_}.", self._root, os.environ, errors)
            for id_ in self._manifest.withheld
        }
        if errors:
            raise InputError(*errors)
        return found

    def _tsv(self, id_: str, source: Source) -> tuple[Path, Source]:
        """Return the TSV file of a source, which is downloaded and converted if it is not here."""
        for file in source_files(id_, source).values():
            path = self._root / file.path
            if file.url is not None and not path.is_file():
                download(file.url, path, file.md5, mirrors=file.mirrors, size=file.size, folder=data_folder())
        files = {name: self._root / file.path for name, file in source_files(id_, source).items()}
        if source.convert is None:
            return files["tsv"], source
        path = self._scratch / f"{id_}.tsv"
        convert(source.convert.format, files, source.convert.take, path)
        return path, source

    def _generate(
        self, corruption: str, sources: Mapping[str, str]
    ) -> tuple[Path, dict[str, list[int]]] | None:
        """Corrupt the images of items that are not passed on; return the table, and the items' severities."""
        if self._withheld is None:
            return None
        recipe = self._recipes[corruption]
        ids = set(self._withheld["id"])
        if self._manifest.images_folder == "corrupted":
            ids |= {id_ for id_ in self._other_ids() if sources[id_] in self._manifest.withheld}
        levels = {id_: [*recipe.severities] for id_ in ids}
        assignment = self._target / ASSIGNMENT_FILE
        if assignment.is_file() and corruption != CLEAN:
            cells = read_assignment(assignment, {corruption: recipe.severities})[corruption]
            levels = {id_: [*cells[id_]] for id_ in ids if id_ in cells}
        levels = dict(sorted(levels.items(), key=lambda item: self._numbers[item[0]]))
        if not levels:
            return None
        pool, path = self._target / POOL_FILE, self._scratch / f"{corruption}.parquet"
        by_key = image_levels(pool, levels.keys(), levels)
        manifest = self._manifest
        generate_images(pool, levels.keys(), recipe, manifest.seed, manifest.alpha, path, by_key)
        return path, levels

    def _other_ids(self) -> set[str]:
        """Return the ids of subsets on which models are compared, beside the benchmark."""
        found: set[str] = set()
        for path in sorted((self._target / "subsets").glob("*.parquet")):
            found.update(pl.read_parquet(path, columns=["id"], glob=False)["id"])
        return found

    def _check_pixels(self, corruption: str, table: Path, levels: Mapping[str, list[int]]) -> None:
        """Raise InputError for the first image whose pixels are not those of the run."""
        assert self._withheld is not None
        rows = self._withheld.filter(pl.col("corruption") == corruption)
        wanted = {
            (id_, level): found
            for id_, level, found in rows.select("id", "severity", "pixel_hash").iter_rows()
        }
        keys = {id_: self._keys[id_] for id_ in levels}
        images = encoded_images(table, keys, assigned=levels)
        for id_, files in track(images, label=f"check {corruption}", unit="items", total=len(keys)):
            for level, found in pixel_hashes(files).items():
                if wanted.get((id_, level), found) != found:
                    here = library_versions()
                    made_with = self._manifest.libraries.items()
                    other = [f"{name} {version}" for name, version in made_with if here.get(name) != version]
                    raise InputError(
                        f"item {id_} under {corruption} at severity {level}: has other pixels than in the "
                        f"run {self._manifest.run}; install benchc {self._manifest.benchc}"
                        f"{''.join(f', {each}' for each in other)}, with which it was made"
                    )

    def _merge(self, corruption: str, generated: tuple[Path, dict[str, list[int]]] | None) -> None:
        """Write the run's table of images under a corruption from all places where they are."""
        manifest, seen = self._manifest, set[tuple[str, int]]()
        assert manifest.images_folder is not None
        name = f"{corruption}.parquet"
        footer = self._footers[corruption]
        with table_writer(
            self._target / manifest.images_folder / name, CORRUPTED, IMAGE_BYTES, footer
        ) as writer:
            append_images(writer, self._of_data(corruption), seen)
            other = self._export / RUN / "corrupted" / name
            if other.is_file():
                append_images(writer, _of_table(other), seen)
            if generated is not None:
                path, levels = generated
                keys = {id_: self._keys[id_] for id_ in levels}
                append_images(
                    writer, (images for _, images in encoded_images(path, keys, assigned=levels)), seen
                )
                path.unlink()

    def _of_data(self, corruption: str) -> Iterator[list[StoredImage]]:
        """Yield the images of each item of the splits of a corruption by severity, in the pool's order."""
        severities = self._recipes[corruption].severities
        heads = {}
        for level in severities:
            shards = shards_of(self._export / DATA, cell_name(corruption, level))
            if shards:
                rows = read_rows(shards, ["id", "image_keys", "image", "images"])
                heads[level] = (next(rows), rows)
        while heads:
            id_ = min((row["id"] for row, _ in heads.values()), key=self._numbers.__getitem__)
            shown = {level: row for level, (row, _) in heads.items() if row["id"] == id_}
            keys = next(iter(shown.values()))["image_keys"]
            yield [
                (key, {level: _files(row)[position] for level, row in shown.items()})
                for position, key in enumerate(keys)
            ]
            for level in shown:
                following = next(heads[level][1], None)
                if following is None:
                    del heads[level]
                else:
                    heads[level] = following, heads[level][1]


def _files(row: Row) -> list[bytes]:
    images = row["images"] if "images" in row else [row["image"]]
    return [image["bytes"] for image in images]


def _of_table(path: Path) -> Iterator[list[StoredImage]]:
    """Yield the images of a CORRUPTED table by key and severity."""
    with TableFile(path, CORRUPTED) as file:
        for number in range(file.height):
            key, severity, image = file.rows([number]).row(0)
            yield [(key, {severity: image["bytes"]})]


def _recipe(content: Mapping[str, Any]) -> Recipe:
    """Return a recipe from its content, in which JSON has made texts of severities."""
    parameters = {int(severity): values for severity, values in content["parameters"].items()}
    return Recipe(**{**content, "parameters": parameters, "pixels": tuple(content.get("pixels", ()))})
