"""What a rerun computes where items have an assignment: predictions of files are kept cell by cell."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchc.config.catalogue import Source
from benchc.config.load import Config
from benchc.config.settings import Corruptions, RunSettings
from benchc.corruptions.registry import recipe_of
from benchc.corruptions.variants import variants_of_image
from benchc.images import encode_png, pixel_hash
from benchc.models.cache.unit_cache import model_folder
from benchc.models.prediction_code import prediction_code
from benchc.planning import new_predictions
from benchc.planning.amounts import Amount
from benchc.planning.dry_run import PlannedJob
from benchc.planning.new_predictions import Renewed, _computes_all, expected_predictions
from benchc.planning.plan import Plan
from benchc.planning.size import ImageCounts, RunSize
from benchc.planning.stages import Stage
from benchc.schemas.answers import ANSWERS
from benchc.schemas.assignment import ASSIGNMENT
from benchc.schemas.items import ITEMS
from benchc.schemas.parquet import write_table
from benchc.schemas.pool import POOL
from tests.footers import footer_of
from tests.sources.tsv_files import row, write_tsv

SEED = 7
ANSWERED = "answers/mcq/m/all.parquet"
CELLS = [
    *(("s/1", "gaussian_noise", 1), ("s/2", "gaussian_noise", 3)),
    *(("s/2", "brightness", 1), ("s/3", "brightness", 3)),
]
IDS = ("s/1", "s/2", "s/3")
NO_IMAGES = ImageCounts(Amount(0), Amount(0))


def image(id_: str) -> bytes:
    return encode_png(np.random.default_rng(int(id_[-1])).integers(0, 256, (40, 40, 3), dtype=np.uint8))


def write_run(results: Path, cells: list[tuple[str, str, int]]) -> None:
    """Write the pool, the assignment, and the answers of a finished job to the items under ``cells``."""
    rows = [
        dict.fromkeys(POOL.columns)
        | {
            "id": id_,
            "options": None if id_ == "s/3" else [],
            "images": [{"bytes": image(id_), "path": None}],
            "image_keys": [f"{id_}#0"],
        }
        for id_ in IDS
    ]
    write_table(pl.DataFrame(rows, schema=pl.Schema(POOL.columns)), results / "pool/items.parquet", POOL)
    assign(results, cells)
    answers = [
        dict.fromkeys(ANSWERS.columns)
        | {"id": id_, "corruption": name, "severity": severity, "image_hash": shown(id_, name, severity)}
        for id_, name, severity in [*((id_, "clean", 0) for id_ in IDS), *cells]
    ]
    frame = pl.DataFrame(answers, schema=pl.Schema(ANSWERS.columns))
    write_table(frame, results / ANSWERED, ANSWERS, footer_of({"answers": len(answers)}))


def assign(results: Path, cells: list[tuple[str, str, int]]) -> None:
    table = pl.DataFrame(cells, schema=pl.Schema(ASSIGNMENT.columns), orient="row")
    write_table(table, results / "pool/assignment.parquet", ASSIGNMENT)


def shown(id_: str, name: str, severity: int) -> str:
    recipe = recipe_of(name)
    return pixel_hash([variants_of_image(f"{id_}#0", image(id_), recipe, [severity], SEED)[severity]])


def expected(
    results: Path,
    monkeypatch: pytest.MonkeyPatch,
    *made: str,
    seed: int = SEED,
    kind: type[RunSettings] = RunSettings,
    **origin: object,
) -> Amount | None:
    """Return the new answers if the job is run again, with the outputs ``made`` before it.

    ``kind``: of the settings; ``origin``: of the source, by default a file.
    """
    chosen = Corruptions(types=["gaussian_noise", "brightness"], severities=[1, 3, 5])
    settings = kind(benchmark="toy", name="trial", sources=["s"], seed=seed, corruptions=chosen)

    def plan(_: Config, __: Path, size: RunSize) -> Plan:
        # An open-ended question has no options.
        assert size.options is not None and size.options.get("s/3", 0) == 0
        # As many as before, where the assignment is not known.
        cells = len(CELLS) if size.assignment is None else size.assignment.height
        answers = Amount(size.pool.value + cells)
        outputs = (ANSWERED, "answers/mcq/{model}/absent.parquet")
        return Plan([Stage("answers", ("m",), size.pool, answers, outputs)], NO_IMAGES, [])

    monkeypatch.setattr(new_predictions, "plan_of", plan)
    monkeypatch.setattr(new_predictions, "_computes_all", lambda *_: False)
    jobs = [PlannedJob("answer", [], [str(results / output)], []) for output in (*made, ANSWERED)]
    source = Source(label="S", task_column="category", **origin or {"path": str(results / "s.tsv")})
    return expected_predictions(Config(settings, {"s": source}, {}), results, jobs, results / "cache")


def test_an_item_at_some_severities_is_not_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results = tmp_path / "results [1]"  # no pattern of names
    assert expected(results, monkeypatch) is None  # there is no pool yet
    write_run(results, CELLS)
    assert expected(results, monkeypatch) == Amount(0, "estimate")


def test_another_cell_is_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_run(tmp_path, CELLS)
    assign(tmp_path, [("s/1", "gaussian_noise", 3), *CELLS[1:]])
    assert expected(tmp_path, monkeypatch) == Amount(1, "estimate")
    assign(tmp_path, CELLS[1:])
    assert expected(tmp_path, monkeypatch) == Amount(0, "estimate")


def test_other_pixels_are_new_under_all_that_have_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_run(tmp_path, CELLS)
    # Not the clean images, and not those without random numbers.
    assert expected(tmp_path, monkeypatch, seed=8) == Amount(2, "estimate")


class Imported(RunSettings):
    """Of images that another program corrupted."""

    @property
    def imported_images(self) -> str:
        return "images.parquet"


def test_imported_images_that_are_read_again_are_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_run(tmp_path, CELLS)
    assert expected(tmp_path, monkeypatch, kind=Imported) == Amount(0, "estimate")
    again = expected(tmp_path, monkeypatch, "corrupted/brightness.parquet", kind=Imported)
    assert again == Amount(2, "estimate")


def test_of_an_assignment_that_is_made_again_all_answers_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_run(tmp_path, CELLS)
    assign(tmp_path, CELLS[1:])
    assert expected(tmp_path, monkeypatch, "pool/assignment.parquet") == Amount(0, "estimate")


def write_source(results: Path, *ids: str, redrawn: str = "", **questions: str) -> None:
    """Write the items of the source; the image of ``redrawn`` is another one."""
    rows = [
        dict.fromkeys(ITEMS.columns)
        | {"id": id_, "question": questions.get(id_[-1]), "category": "c"}
        | {"options": None if id_ == "s/3" else []}
        | {"images": [{"bytes": image("s/9" if id_ == redrawn else id_), "path": None}]}
        | {"image_keys": [f"{id_}#0"]}
        for id_ in ids
    ]
    frame = pl.DataFrame(rows, schema=pl.Schema(ITEMS.columns))
    write_table(frame, results / "sources/s.parquet", ITEMS, footer_of({"source": "s"}))


def test_of_a_pool_that_is_made_again_new_and_changed_items_are_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_run(tmp_path, CELLS)
    made = "pool/items.parquet"
    # The source is not on this machine.
    assert expected(tmp_path, monkeypatch, made) is None
    write_source(tmp_path, *IDS)
    assert expected(tmp_path, monkeypatch, made) == Amount(0, "estimate")
    # An item that is gone keeps the others.
    write_source(tmp_path, "s/2", "s/3")
    assert expected(tmp_path, monkeypatch, made) == Amount(2 + 4 - 2 - 3, "estimate")
    # One has another question, and one is new: two clean answers and three cells are kept.
    write_source(tmp_path, *IDS, "s/4", **{"1": "What?"})
    assert expected(tmp_path, monkeypatch, made) == Amount(4 + 4 - 2 - 3, "estimate")
    # One has another image: two clean answers and two cells are kept.
    write_source(tmp_path, *IDS, redrawn="s/2")
    assert expected(tmp_path, monkeypatch, made) == Amount(3 + 4 - 2 - 2, "estimate")
    # What the source will be is not known before it is read again, and where the run makes it.
    again = (made, "sources/s.parquet")
    assert expected(tmp_path, monkeypatch, *again) is None
    assert expected(tmp_path, monkeypatch, *again, generated={"groups": 3}) is None
    # Two of its items are there, with other questions and images.
    write_tsv(tmp_path / "s.tsv", [row(1), row(2)])
    assert expected(tmp_path, monkeypatch, *again) == Amount(2 + 4, "estimate")


def test_a_job_computes_everything_where_its_model_or_its_code_is_another(tmp_path: Path) -> None:
    path, made = tmp_path / ANSWERED, tmp_path / "model/weights"
    cache = tmp_path / "cache"
    modules = ["benchc.models.letter"]
    facts = {"model": "a/m", "modules": modules[0], "code": prediction_code(modules)}

    def computes_all(causes: Sequence[str] = (), inputs: Sequence[Path] = (), **changes: object) -> bool:
        rows = pl.DataFrame(schema=pl.Schema(ANSWERS.columns))
        write_table(rows, path, ANSWERS, footer_of({"answers": 0, **facts, **changes}))
        job = PlannedJob("answer", [], [str(path)], causes, [str(file) for file in inputs])
        return _computes_all(job, path, {made, tmp_path / "pool/items.parquet"}, cache)

    assert computes_all()  # the cache has nothing of the model
    model_folder(cache, "a/m").mkdir(parents=True)
    assert not computes_all()
    assert not computes_all(["seed: 1 -> 2"], [tmp_path / "pool/items.parquet", tmp_path / "other/file"])
    assert computes_all(["seed: 1 -> 2", 'model.dtype: none -> "bfloat16"'])
    assert computes_all(inputs=[made])
    assert computes_all(code="0") and computes_all(code="z")
    assert computes_all(modules="") and computes_all(model="other")
    entry = "benchc.models.classify"
    assert computes_all(entry=entry)
    assert not computes_all(entry=entry, code=prediction_code(modules, entry))


def test_a_new_item_is_taken_into_a_subset_as_often_as_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_run(tmp_path, CELLS)
    size = RunSize(Amount(5), dict.fromkeys([*IDS, "s/4", "s/5"], 0))
    renewed = Renewed(size, frozenset({"s/4", "s/5"}), frozenset())
    monkeypatch.setattr(new_predictions, "_renewed", lambda *_: renewed)
    monkeypatch.setattr(new_predictions, "_computes_all", lambda *_: False)
    own, part = "predictions/blind/m/clean.parquet", "predictions/part/m/all.parquet"
    write_table(
        pl.DataFrame({"id": ["o/1", "o/2"]}).select(
            pl.col(name) if name == "id" else pl.lit(None, kind).alias(name)
            for name, kind in ANSWERS.columns.items()
        ),
        tmp_path / own,
        ANSWERS,
        footer_of({"answers": 2}),
    )
    job = PlannedJob("answer", [], [str(tmp_path / file) for file in (ANSWERED, own, part)], [])
    for items, computed in (
        # Of the three items before, each of which has four predictions, the subset has two. One is missing.
        (Amount(2), 1 + 2 * (2 / 3) * 4),
        # Of a subset of one, no more than that is computed, though more are kept.
        (Amount(1), 2 * (1 / 3) * 4),
        # All items of the pool, the new ones included.
        (Amount(5), 20 - len(IDS) - len(CELLS)),
    ):
        predictions = Amount(4 * items.value)
        stages = [Stage("answers", ("m",), items, predictions, (ANSWERED,))]
        # No job of the second one runs, and the first one computes what the third one shows.
        stages.append(Stage("another", ("m",), items, predictions, ("absent/{model}.parquet",)))
        stages.append(Stage("part", ("m",), items, predictions, (part,), part_of="answers"))
        monkeypatch.setattr(new_predictions, "plan_of", lambda *_, stages=stages: Plan(stages, NO_IMAGES, []))
        found = expected_predictions(Config(None, {}, {}), tmp_path, [job], tmp_path / "cache")
        assert found == Amount(round(computed), "estimate")
        # Items of another pool are all kept, also those of a larger run.
        for asked, more in ((Amount(5), 3), (Amount(1), 0)):
            blind = Stage("blind", ("m",), asked, asked, (own,), own_items=True)
            every = [*stages, blind]
            monkeypatch.setattr(
                new_predictions, "plan_of", lambda *_, every=every: Plan(every, NO_IMAGES, [])
            )
            found = expected_predictions(Config(None, {}, {}), tmp_path, [job], tmp_path / "cache")
            assert found == Amount(round(computed + more), "estimate")
