"""The images of a run: its corruptions, and whether jobs read them from files or generate them.

With ``corruptions.corrupted: files``, the rule ``corrupt`` writes the images of the whole pool, which all
jobs read. With ``on_the_fly``, each inference job generates what it shows (``ShownImages.recipes``), and only
the images of the benchmark's stored subset are written. The job does so in ``ImagesToCorrupt``
(``benchc/models/units.py``).
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from benchc.closure import module_file
from benchc.config.corruption_batches import corruption_batches
from benchc.config.settings import RunSettings
from benchc.corruptions.own_suite import suite_with
from benchc.corruptions.recipe import CLEAN, Recipe, own_file
from benchc.corruptions.registry import all_corruptions_of, group_of, type_of
from benchc.corruptions.user_file_digest import first_party_files, own_digests
from benchc.home import PACKAGE
from benchc.models.asking import ShownImages
from benchc.rendering.contact_pages import pages_of
from benchc.workflow.code import By, Wildcards, code_of
from benchc.workflow.minutes import corrupt_seconds, items


class Images:
    """The corruptions of a run, and the files that its jobs read or generate.

    Attributes:
        suite: with the corruptions of the user's files
        batches: the corruptions of each inference job by the name of its part
        recipes: of each corruption at the run's severities
        stored_subset: the subset whose images are written in any case; None for none
        imported: the corruptions whose images are imported: all of them, or none
        sheets: the corruptions of each contact sheet by its number
    """

    def __init__(self, settings: RunSettings, stored_subset: str | None) -> None:
        self.settings = settings
        self.chosen = settings.corruptions
        self.stored_subset = stored_subset
        self.suite = suite_with(self.chosen.suite, self.chosen.own_files)
        self.imported = [*self.chosen.types] if settings.imported_images else []
        self.batches = corruption_batches(self.chosen, settings.inference)
        # Computed here, since Snakemake treats finished files as up to date if an input function fails.
        self.recipes = {name: self.recipe(name) for name in [CLEAN, *self.chosen.types]}
        self.kernel_code = {name: kernel_code(recipe) for name, recipe in self.recipes.items()}
        # In the suite's order, which is that of the sheets. None shows images that are imported.
        self.sheet_types = [
            name
            for name in all_corruptions_of(self.suite)
            if name in self.chosen.types and name not in self.imported
        ]
        groups = [self.groups[name] for name in self.sheet_types]
        self.sheets = {
            str(number): [self.sheet_types[row] for row in page]
            for number, page in enumerate(pages_of(groups), start=1)
        }

    @property
    def photographed(self) -> By:
        """Whether the images of a corruption are photographs, whose sizes are their own."""
        return By("corruption", {name: type_of(name, self.suite).kernel is None for name in self.imported})

    @property
    def groups(self) -> dict[str, str]:
        """The group of each corruption of the run."""
        return {name: group_of(name, self.suite) for name in self.chosen.types}

    def folder(self, subset: str) -> str | None:
        """Return the folder of the images of a subset's items; None if the jobs generate them."""
        if self.settings.corrupted == "on_the_fly":
            return "benchmark" if subset == self.stored_subset else None
        return "corrupted"

    def files(self, subset: str, corruptions: list[str]) -> list[str]:
        """Return the files of a subset's corrupted images; none if the jobs generate them."""
        folder = self.folder(subset)
        return [] if folder is None else [f"<results>/{folder}/{name}.parquet" for name in corruptions]

    def batch_files(self, wildcards: Wildcards) -> list[str]:
        """Return the files of the images that an inference job shows; none if it generates them."""
        return self.files(wildcards.subset, self.batches[wildcards.part])

    def variants(self, part: str) -> int:
        """Return the images of an item that an inference job shows."""
        return sum(max(1, len(self.recipes[name].parameters)) for name in self.batches[part])

    def seconds(self, wildcards: Wildcards, input: Any) -> float:
        """Return the time of one core in which a job of the rule corrupt writes its images."""
        return corrupt_seconds(items(input), self.recipes[wildcards.corruption])

    def generating_seconds(self, wildcards: Wildcards, input: Any) -> float:
        """Return the time of one core in which an inference job generates its images; 0 if it reads them."""
        if self.folder(wildcards.subset) is not None:
            return 0.0
        return self.seconds_of(self.batches[wildcards.part], items(input))

    @property
    def mean_seconds(self) -> float:
        """The time of one core for an image under a corruption at all severities."""
        return self.seconds_of(self.recipes, 1) / len(self.recipes)

    def seconds_of(self, corruptions: Iterable[str], number: int) -> float:
        """Return the time of one core for ``number`` images under some corruptions at all severities."""
        return sum(corrupt_seconds(number, self.recipes[name]) for name in corruptions)

    @property
    def shown(self) -> By:
        """What an inference job shows: what it generates its images with, or its files were made with."""
        return By("part", {part: self.show(names) for part, names in self.batches.items()})

    def show(self, corruptions: list[str]) -> ShownImages:
        """Return the images under some corruptions, as an argument of a job."""
        recipes = {name: self.recipes[name] for name in corruptions}
        return ShownImages(recipes=recipes, seed=self.settings.seed, alpha=self.chosen.alpha)

    @property
    def generating_code(self) -> By:
        """Digests of the kernels of an inference job that generates its images; none where it reads files."""

        def part_generated(wildcards: Wildcards) -> str | None:
            return None if self.folder(wildcards.subset) else str(wildcards.part)

        values: dict[str | None, list[str]] = {
            part: sorted({line for name in names for line in self.kernel_code[name]})
            for part, names in self.batches.items()
        }
        return By(part_generated, {None: [], **values})

    @property
    def sheet_code(self) -> By:
        """Digests of the kernels of a contact sheet."""
        return By(
            "page",
            {
                page: sorted({line for name in names for line in self.kernel_code[name]})
                for page, names in self.sheets.items()
            },
        )

    @property
    def all_kernels(self) -> By:
        """Digests of the kernels of a job that generates images under all corruptions."""
        lines = sorted({line for code in self.kernel_code.values() for line in code})
        return By(lambda wildcards: None, {None: lines})

    def sheet_own_recipes(self, wildcards: Wildcards) -> list[str]:
        """Return the recipes of a contact sheet's corruptions of the user: no code has their parameters."""
        recipes = [self.recipes[name] for name in self.sheets[wildcards.page]]
        return [recipe.to_json() for recipe in recipes if own_file(recipe.kernel)]

    def recipe(self, corruption: str) -> Recipe:
        """Return the recipe of a corruption of the suite at the run's severities."""
        whole = self.settings.recipe(corruption, self.suite)
        parameters = {
            severity: values
            for severity, values in whole.parameters.items()
            if severity in self.chosen.severities
        }
        return replace(whole, parameters=parameters)


def kernel_code(recipe: Recipe) -> list[str]:
    """Return the digests of a corruption's kernel, which is imported by name, or from a user's file."""
    if recipe.kernel is None:
        return []
    file = own_file(recipe.kernel)
    if file is None:
        return code_of(module_file(recipe.kernel.rpartition(".")[0]))
    return [*own_digests(file), *code_of(*first_party_files(file, PACKAGE.parent))]
