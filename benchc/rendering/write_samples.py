"""Write the samples of the results page: an index of numbers, and a script for each sample."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from benchc.atomic import atomic_folder, write_text
from benchc.errors import InputError
from benchc.progress import track
from benchc.rendering.results_page.pictures import picture_name
from benchc.rendering.results_page.samples import Samples
from benchc.rendering.results_page.script import as_script, packed

MISSING = 255  # grade and state that an answer does not have
FULL = 200  # a grade of 1
UNIT = 10_000  # a probability or measure of 1
NO_MEASURE = -32_768
SEARCHED, SHOWN = 600, 20_000  # the most characters of a sample that are searched, and of one text

Numbers = npt.NDArray[Any]


def write(result: Samples, *, prefix: Path) -> None:
    """Write PREFIX/../samples.js and PREFIX/../items/.

    Args:
        prefix: path to write to, without the suffix
    """
    folder = prefix.parent
    store = _Store(result)
    models = [*result.labels]
    for number, id_ in enumerate(track(models, label="read answers", unit="models")):
        store.add(number, result.answers(id_))
    write_text(folder / "samples.js", as_script("samples", store.index()))
    with atomic_folder(folder / "items") as items:
        for number in track(range(store.samples), label="write samples", unit="samples", total=store.samples):
            (items / f"{number}.js").write_text(as_script(f"item {number}", store.item(number)), "utf-8")


class _Store:
    """The answers of all models as arrays, by question, model and scenario."""

    def __init__(self, of: Samples) -> None:
        self.of = of
        self.rows = of.questions.to_dicts()
        names = of.questions["sample"].unique(maintain_order=True).to_list()
        place = {name: number for number, name in enumerate(names)}
        self.names = names
        self.members: list[list[int]] = [[] for _ in names]
        for number, row in enumerate(self.rows):
            self.members[place[row["sample"]]].append(number)
        self.samples = len(names)
        shape = (len(self.rows), len(of.labels), len(of.scenarios))
        self.grades = np.full(shape, np.nan, np.float32)
        self.states = np.full(shape, MISSING, np.uint8)
        self.measures = {each.name: np.full(shape, np.nan, np.float32) for each in of.measures}
        self.replies, self.notes = (np.full(shape, -1, np.int32) for _ in range(2))
        self.texts: dict[str, int] = {}
        counts = [len(row["options"] or []) for row in self.rows]
        self.first = [0, *accumulate(shape[1] * shape[2] * count for count in counts)]
        self.counts = counts
        self.probabilities = np.full(self.first[-1], 65_535, np.uint16)
        self.questions = {row["id"]: number for number, row in enumerate(self.rows)}
        self.scenarios = {cell: number for number, cell in enumerate(of.scenarios)}

    @cached_property
    def known_texts(self) -> list[str]:
        """The replies and notes by number, once all answers are added."""
        return [*self.texts]

    def add(self, model: int, answers: pl.DataFrame) -> None:
        """Add the answers of a model, those about other items or scenarios left out."""
        for row in answers.iter_rows(named=True):
            question = self.questions.get(row["id"])
            scenario = self.scenarios.get((row["corruption"], row["severity"]))
            if question is None or scenario is None:
                continue
            at = question, model, scenario
            if row["grade"] is not None:
                self.grades[at] = row["grade"]
            for name, values in self.measures.items():
                if row[name] is not None:
                    values[at] = row[name]
            if row.get("state") is not None:
                self.states[at] = self.of.states.index(row["state"])
            for texts, name in ((self.replies, "reply"), (self.notes, "note")):
                text = row.get(name)
                if text is not None:
                    texts[at] = self.texts.setdefault(_short(text), len(self.texts))
            given = row.get("probabilities")
            if given is not None:
                self._add_probabilities(at, given)

    def _add_probabilities(self, at: tuple[int, int, int], given: Sequence[float]) -> None:
        question, model, scenario = at
        count = self.counts[question]
        if len(given) != count:
            raise InputError(
                f"item {self.rows[question]['id']}: it has {count} options and {len(given)} probabilities; "
                "delete the predictions of the run and run snakemake again"
            )
        start = self.first[question] + (model * self.grades.shape[2] + scenario) * count
        rounded = np.rint(np.asarray(given) * UNIT)
        # Rounding leaves the most probable option the first that is most probable.
        if rounded.argmax() != np.argmax(given):
            rounded[np.argmax(given)] += 1
        self.probabilities[start : start + count] = rounded

    def index(self) -> dict[str, object]:
        """Return what all samples have in common, and the numbers by which they are filtered and sorted."""
        of = self.of
        first = [self.rows[members[0]] for members in self.members]
        sources, tasks = (sorted({row[key] for row in self.rows}) for key in ("source", "task"))
        facts = of.questions.select("sample").unique(maintain_order=True)
        one = of.facts.unique("sample", keep="first", maintain_order=True)
        facts = facts.join(one, on="sample", how="left", maintain_order="left")
        return {
            "models": [{"id": id_, "label": label} for id_, label in of.labels.items()],
            "corruptions": [{"id": name, "group": group} for name, group in of.corruptions.items()],
            "severities": [*of.severities],
            "right": of.right,
            "threshold": of.threshold,
            "full": FULL,
            "unit": UNIT,
            "candidates": of.candidates,
            "note": of.note,
            "sources": sources,
            "tasks": tasks,
            "states": [*of.states],
            "stateLabel": of.state_label,
            "measures": [
                {"label": each.label, "change": each.change, "values": packed(self._measured(each.name))}
                for each in of.measures
            ],
            "grades": packed(self._graded()),
            "stateValues": packed(self._combined(self.states)) if of.states else None,
            "ids": self.names,
            "texts": [self._searched(members) for members in self.members],
            "sourceOf": [sources.index(row["source"]) for row in first],
            "taskOf": [tasks.index(row["task"]) for row in first],
            "facts": [
                {
                    "label": name,
                    "values": facts[name].fill_nan(None).round(4).to_list()
                    if facts[name].dtype.is_float()
                    else facts[name].to_list(),
                }
                for name in facts.columns[1:]
            ],
        }

    def _combined(self, values: Numbers) -> Numbers:
        """Return the values of the samples' first questions."""
        return values[[members[0] for members in self.members]]

    def _graded(self) -> Numbers:
        """Return the grade of each sample: the least of its questions."""
        return _in_steps(np.stack([self.grades[members].min(axis=0) for members in self.members]))

    def _measured(self, name: str) -> Numbers:
        mean = np.stack([self.measures[name][members].mean(axis=0) for members in self.members])
        kept = np.clip(np.rint(np.nan_to_num(mean) * UNIT), NO_MEASURE + 1, -NO_MEASURE - 1)
        return np.where(np.isnan(mean), NO_MEASURE, kept).astype(np.int16)

    def _searched(self, members: Sequence[int]) -> str:
        texts = [self.rows[member]["question"] for member in members]
        texts += [text for member in members for text in (self.rows[member]["options"] or [])]
        return " · ".join(dict.fromkeys(texts))[:SEARCHED]

    def item(self, number: int) -> dict[str, object]:
        """Return everything about a sample."""
        return {
            "id": self.names[number],
            "questions": [self._question(self.rows[member], member) for member in self.members[number]],
        }

    def _question(self, row: Mapping[str, Any], number: int) -> dict[str, object]:
        used: dict[int, int] = {}

        def numbered(places: Numbers) -> list[int]:
            return [
                -1 if place < 0 else used.setdefault(place, len(used)) for place in places.ravel().tolist()
            ]

        replies, notes = self.replies[number], self.notes[number]
        told = {"replies": numbered(replies), "notes": numbered(notes)} if (replies >= 0).any() else {}
        start, end = self.first[number], self.first[number + 1]
        shown = self.probabilities[start:end]
        return {
            "id": row["id"],
            "name": row["name"] or "",
            "question": _short(row["question"]),
            "hint": None if row["hint"] is None else _short(row["hint"]),
            "options": [_short(text) for text in row["options"] or []],
            "answer": row["answer"],
            "truths": [_short(text) for text in row["truths"]],
            "pictures": [picture_name(key) for key in row["image_keys"] or []],
            "grades": packed(_in_steps(self.grades[number])),
            "probabilities": packed(shown) if (shown != 65_535).any() else None,
            **told,
            "texts": [self.known_texts[place] for place in used],
        }


def _in_steps(grades: Numbers) -> Numbers:
    """Return grades, NaN where there is none, in steps of 1 / FULL."""
    return np.where(np.isnan(grades), MISSING, np.rint(np.nan_to_num(grades) * FULL)).astype(np.uint8)


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]} … ({len(text):,} characters)"
