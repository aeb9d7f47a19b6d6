"""The sources of a run: where their files are, and how they are read."""

from collections.abc import Iterable
from pathlib import Path

from benchc.config.catalogue import Vqav2Source
from benchc.config.load import Config
from benchc.config.paths import is_result
from benchc.config.source_files import SourceFile, source_files
from benchc.sources.reader_options import ReaderOptions
from benchc.user_paths import relative_path
from benchc.workflow.code import Wildcards, code_of, contents_of
from benchc.workflow.made_once import named


def local(path: str | Path) -> str:
    """Return a user's path; below the working directory, it is relative however it is written."""
    return str(relative_path(path, Path.cwd()))


class Sources:
    """The sources of a run by id: ``all`` of the pool sorted, those of TSV files, and those of VQAv2's files.

    ``entries``: also those that a benchmark uses beside the pool. ``generated``: the ids of those that the
    run generates, by the names of their files.
    """

    def __init__(self, config: Config) -> None:
        self.entries = config.all_sources
        self.all = sorted(config.sources)
        self.vqav2 = [id_ for id_, source in self.entries.items() if source.vqav2 is not None]
        self.tsv = [id_ for id_ in self.entries if id_ not in self.vqav2]
        self.published = {id_: source_files(id_, source) for id_, source in self.entries.items()}
        seed = config.settings.demo and config.settings.demo.seed
        self.generated = {
            named(id_, seed, source.generated.groups, code_of("scripts/generate_demo_source.py")): id_
            for id_, source in self.entries.items()
            if source.generated is not None
        }
        for name, id_ in self.generated.items():
            self.published[id_] = {"tsv": SourceFile(f"results/generated/{name}.tsv")}
        # The file with the answers to the open-ended questions of each source.
        self.answers = {
            id_: {"kind": "vqav2", "path": self.file(id_, "annotations")}
            if id_ in self.vqav2
            else {
                "kind": "tsv_lists" if self.entries[id_].reader.answer_lists else "tsv",
                "path": self.file(id_),
            }
            for id_ in self.all
        }

    def file(self, source: str, name: str = "tsv") -> str:
        """Return a file of a source, named as in source_files: downloaded, generated or local."""
        return local(self.published[source][name].path)

    def tsv_of(self, wildcards: Wildcards) -> str:
        """Return the TSV file of a job's source."""
        return self.file(wildcards.source)

    def taken_images(self, source: str) -> int | str | None:
        """Return which of VQAv2's images are taken: a number, a file that lists them, or None for all."""
        taken = self._vqav2(source).take_images
        return local(taken) if isinstance(taken, str) else taken

    def image_list(self, source: str) -> list[str]:
        """Return the file that lists the images of VQAv2 to take; none where a number does."""
        taken = self.taken_images(source)
        return [taken] if isinstance(taken, str) else []

    def memory(self, source: str) -> int:
        """Return the memory for reading VQAv2, in MB: its images are held; val2014 has 40,504."""
        taken = self.taken_images(source)
        return 2000 + (taken if isinstance(taken, int) else 40_504) // 3

    def contents(self, source: str) -> list[str]:
        """Return the contents of a source's local files, and of the list of its images."""
        listed = self.image_list(source) if source in self.vqav2 else []
        return self.own_contents(source, self.published[source]) + contents_of(listed)

    def answer_contents(self) -> list[str]:
        """Return the contents of the local files with answers."""
        names = {id_: ["annotations" if id_ in self.vqav2 else "tsv"] for id_ in self.all}
        return [line for id_ in self.all for line in self.own_contents(id_, names[id_])]

    def own_contents(self, source: str, names: Iterable[str]) -> list[str]:
        """Return the contents of a source's local files, of these names; none for files that a rule makes."""
        if self.entries[source].generated is not None:
            return []
        own = [self.file(source, name) for name in names if self.published[source][name].url is None]
        return contents_of(file for file in own if not is_result(file))

    def reader(self, source: str) -> ReaderOptions:
        """Return how the TSV of a source differs from the standard columns."""
        reader = self.entries[source].reader
        return ReaderOptions(
            reader.options_column,
            reader.index_below,
            dict(sorted(reader.exclude.items())),
            reader.image_column,
            self.entries[source].task_column,
            reader.answer_words,
            reader.category_column,
            reader.open_ended,
            reader.answer_lists,
        )

    def _vqav2(self, source: str) -> Vqav2Source:
        found = self.entries[source].vqav2
        assert found is not None, f"{source} is no source of VQAv2"
        return found
