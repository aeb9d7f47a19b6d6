"""The sources of a run: where their files are, and how they are read."""

from collections.abc import Iterable, Mapping
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Any

from benchc.closure import content_sample
from benchc.config.catalogue import Conversion
from benchc.config.load import Config
from benchc.config.paths import is_result
from benchc.config.source_files import (
    DOWNLOADS,
    max_rejected,
    published_text,
    reader_options,
    source_files,
)
from benchc.home import shipped
from benchc.sources.error import SourceError
from benchc.sources.rows import referenced_files, shards_of
from benchc.user_paths import relative_path
from benchc.workflow.code import Wildcards, code_of, contents_of
from benchc.workflow.made_once import named


def local(path: str | Path) -> str:
    """Return a user's path; below the working directory, it is relative however it is written.

    Where there is none, it is that of a file that benchc ships.
    """
    return str(relative_path(shipped(path, Path.cwd()), Path.cwd()))


class Sources:
    """The sources of a run by id: ``all`` of the pool sorted, and the ``readers`` of their files.

    ``entries``: also those that a benchmark uses beside the pool. ``generated`` and ``converted``: the ids of
    those whose TSV the run generates or converts, by the names of these files. ``conversions``: what
    is converted, by the same names. ``downloads``: what the run downloads, by the paths in DOWNLOADS.
    ``published``: how many items a source has as published. ``max_rejected``: the share of rows that may
    be rejected. ``answers``: the file with the answers to a
    source's open-ended questions.
    """

    def __init__(self, config: Config) -> None:
        self.entries = config.all_sources
        self.all = sorted(config.sources)
        self.published = {id_: published_text(source) for id_, source in self.entries.items()}
        self.max_rejected = {id_: max_rejected(source) for id_, source in self.entries.items()}
        self.readers = {id_: reader_options(source) for id_, source in self.entries.items()}
        seed = config.settings.demo and config.settings.demo.seed
        self.generated = {
            named(id_, seed, source.generated.groups, code_of("scripts/generate_demo_source.py")): id_
            for id_, source in self.entries.items()
            if source.generated is not None
        }
        self._files = {id_: source_files(id_, source) for id_, source in self.entries.items()}
        self.downloads = {
            str(Path(file.path).relative_to(DOWNLOADS)): file
            for files in self._files.values()
            for file in files.values()
            if file.url is not None
        }
        self.converted = {
            named(id_, _identity(source.convert), code_of("scripts/convert_source.py")): id_
            for id_, source in self.entries.items()
            if source.convert is not None
        }
        self.conversions = {name: self._conversion(id_) for name, id_ in self.converted.items()}
        made = {id_: name for name, id_ in (self.generated | self.converted).items()}
        self._tsv = {
            id_: f"results/generated/{made[id_]}.tsv" if id_ in made else local(files["tsv"].path)
            for id_, files in self._files.items()
        }
        # Snakemake asks several times.
        self._images_contents: dict[str, list[str]] = {}
        self.answers = {
            id_: {"path": self._tsv[id_], "lists": self.readers[id_].answer_lists}
            # Only where there are some, so that other records stay as they were.
            | ({"columns": self.readers[id_].columns} if self.readers[id_].columns else {})
            for id_ in self.all
        }

    def file(self, source: str) -> str:
        """Return the data file of a source: downloaded, generated, converted or local; the first shard."""
        return self._tsv[source]

    def tsv_of(self, wildcards: Wildcards) -> str:
        """Return the data file of a job's source."""
        return self.file(wildcards.source)

    def shards(self, wildcards: Wildcards) -> list[str]:
        """Return the Parquet files of a job's source beside the first; none of other sources."""
        return [str(path) for path in shards_of(Path(self.tsv_of(wildcards)))[1:]]

    def download_is(self, file: str) -> list[str]:
        """Return what a download is, whoever serves it: its MD5, or else its address."""
        found = self.downloads[file]
        assert found.url is not None
        return [found.url if found.md5 is None else found.md5]

    def contents(self, *sources: str) -> list[str]:
        """Return the contents of the local files of sources; none of files that a rule makes."""
        files = chain.from_iterable(shards_of(Path(self.file(source))) for source in sources)
        found = own_contents(map(str, files))
        for source in sources:
            if source not in self._images_contents:
                path = self.file(source)
                columns = self.readers[source].columns
                self._images_contents[source] = [] if is_result(path) else images_content(Path(path), columns)
            found += self._images_contents[source]
        return found

    def _conversion(self, source: str) -> Conversion:
        """Return what is converted to the TSV of a source, with the paths of its files on this machine."""
        convert = self.entries[source].convert
        assert convert is not None
        found = convert.with_paths(lambda _key, path, _kind: local(path))
        return found.model_copy(
            update={"files": {name: local(file.path) for name, file in self._files[source].items()}}
        )


def _identity(conversion: Conversion) -> Mapping[str, Any]:
    """Return what a conversion is, whoever serves its files: an MD5 stands for the address of a file."""
    files = {name: conversion.md5.get(name, given) for name, given in conversion.files.items()}
    return conversion.model_dump(exclude={"bytes", "mirrors"}) | {"files": files}


def converted_from(conversion: Conversion) -> list[str]:
    """Return the files that a conversion reads: those of the data set, and the list of images to take."""
    listed = conversion.take_images
    return [*conversion.files.values(), *([listed] if isinstance(listed, str) else [])]


def images_content(path: Path, columns: Mapping[str, str | list[str]]) -> list[str]:
    """Return the content of the image files that a local data file names, as one text; none without any.

    Other files beside them do not count.
    """
    try:
        folder = str(path.absolute().parent.resolve())
        files = sorted({str(file) for file in referenced_files(path, columns)})
        lines = [f"{file.removeprefix(folder)} {content_sample(file)}" for file in files]
    except (SourceError, OSError):
        return []  # which the reader reports
    digest = blake2b("\n".join(lines).encode(errors="surrogateescape"), digest_size=16).hexdigest()
    return [f"{path.parent} {len(lines)} {digest}"] if lines else []


def own_contents(files: Iterable[str]) -> list[str]:
    """Return the contents of local files; none of those that a rule makes."""
    return contents_of(file for file in files if not is_result(file))
