from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchc.benchmarks.mllm_ic.metrics.draws import cluster_counts
from benchc.benchmarks.mllm_ic.run_outcomes import RunOutcomes, check_models, read_run
from benchc.benchmarks.mllm_ic.schemas.outcomes import OUTCOMES, OutcomesFooter
from benchc.errors import InputError
from benchc.schemas.parquet import read_footer, read_table, write_table
from tests.benchmarks.mllm_ic.made_up import CATEGORIES, averages, items_of, run_of, write_run


@pytest.fixture(scope="module")
def run() -> RunOutcomes:
    items = items_of(["image_topic", "image_style", "ocr", "text_recognition", "instance_counting"], 7, 2)
    # An unbalanced set, so that the averages differ.
    return run_of({"a": 0.9, "b": 0.6}, items.filter(~pl.col("id").str.contains("made/0-[3-6]")))


def test_the_sample_is_the_mean_over_questions_and_scenarios(run: RunOutcomes) -> None:
    columns = run.columns(category_of=CATEGORIES)
    sizes = {"clean": 1, "corrupted": 200, "severity_3": 40, "noise": 25, "geometric_transform": 30, "fog": 5}
    assert {name: len(own) for name, own in columns.items()}.items() >= sizes.items()
    assert all(run.scenarios[place][1] == 3 for place in columns["severity_3"])
    assert {run.scenarios[place][0] for place in columns["occlusion"]} == {"cutout", "coarse_dropout"}
    found = run.draws(["a", "b"], columns, 0, 0)
    wanted = {f"severity_{level}": {"level": level} for level in range(1, 6)}
    wanted |= {name: {"name": name} for name in run.corruptions}
    wanted |= {name: {"category": name} for name in CATEGORIES.values()}
    wanted |= {"clean": {"level": 0}, "corrupted": {"level": range(1, 6)}}
    assert wanted.keys() == columns.keys()
    for place, name in enumerate(columns):
        expected = averages(run, "b", **wanted[name])
        for number, each in enumerate(run.capabilities):
            assert found[0, 1, place, number] == pytest.approx(expected[each.name]), name


def test_the_three_averages(run: RunOutcomes) -> None:
    values = np.array([0.1, 0.3, 0.5, 0.7, 0.9])
    names = ["image_topic", "image_style", "instance_counting", "text_recognition", "ocr"]
    assert [each.name for each in run.capabilities] == names
    assert run.average(values) == pytest.approx((0.2 + 0.5 + 0.8) / 3)
    assert run.average(values, "capabilities") == pytest.approx(0.5)
    sizes = [6, 14, 14, 14, 14]
    assert run.questions.tolist() == sizes
    assert run.average(values, "micro") == pytest.approx(np.dot(sizes, values) / sum(sizes))
    mids = {"global_context_sensing": 0.2, "spatial_perception": 0.5, "logic_reasoning": 0.8}
    assert {mid: round(float(each), 9) for mid, each in run.by_mid(values).items()} == mids


def test_resamples_draw_the_pictures_of_a_capability(run: RunOutcomes) -> None:
    columns = {"clean": np.array([0]), "fog": run.columns()["fog"]}
    shown = run.items["picture"].to_numpy()
    found = run.draws(["a", "b"], columns, 4, 3)
    for number, each in enumerate(run.capabilities):
        rows = np.flatnonzero(run.capability == number)
        pictures = np.unique(shown[rows])
        counts = cluster_counts(len(pictures), 4, 3, each.name)
        assert (counts.sum(axis=1) == len(pictures)).all() and (counts[0] == 1).all()
        for draw in range(5):
            drawn = [
                row
                for picture, count in zip(pictures, counts[draw], strict=True)
                for row in rows[shown[rows] == picture].tolist() * int(count)
            ]
            for place, own in enumerate(columns.values()):
                for m, model in enumerate("ab"):
                    expected = run.right(model)[drawn][:, own].mean()
                    assert found[draw, m, place, number] == pytest.approx(expected)


def test_a_circular_answer_is_right_if_all_copies_are(run: RunOutcomes) -> None:
    right, circular = run.right("a"), run.circular("a")
    groups = run.items["circular_group"].to_list()
    for row, group in enumerate(groups):
        copies = [other for other, name in enumerate(groups) if name == group]
        assert len(copies) == 2
        assert (circular[row] == right[copies].all(axis=0)).all()
    assert circular.mean() < right.mean()


def test_a_run_is_read_as_it_was_written(run: RunOutcomes, tmp_path: Path) -> None:
    outcomes, capabilities = write_run(tmp_path, run)
    found = read_run(outcomes, capabilities)
    assert (found.corruptions, found.severities) == (run.corruptions, run.severities)
    assert found.items.equals(run.items)
    assert all((found.codes[id_] == run.codes[id_]).all() for id_ in run.codes)


def test_outcomes_of_other_items_or_corruptions_are_refused(run: RunOutcomes, tmp_path: Path) -> None:
    outcomes, capabilities = write_run(tmp_path, run)
    (tmp_path / "other").mkdir()
    fewer = RunOutcomes({}, run.items.head(5), run.corruptions, run.severities)
    with pytest.raises(InputError, match=r"a\.parquet: its items are not those of .*other/capabilities"):
        read_run(outcomes, write_run(tmp_path / "other", fewer)[1])
    other = RunOutcomes({"c": run.codes["a"]}, run.items, run.corruptions[::-1], run.severities)
    with pytest.raises(InputError, match=r"c\.parquet: its corruptions are not those of the files before"):
        read_run(outcomes + write_run(tmp_path / "other", other)[0], capabilities)
    with pytest.raises(InputError, match="there is no model to show"):
        check_models(run, {})


@pytest.mark.parametrize("code", [None, -1, 6])
def test_an_outcome_that_is_none_is_refused(run: RunOutcomes, tmp_path: Path, code: int | None) -> None:
    (path, *others), capabilities = write_run(tmp_path, run)
    table, footer = read_table(path, OUTCOMES), OutcomesFooter(**read_footer(path))  # type: ignore[arg-type]
    lists = table["outcomes"].to_list()
    lists[3][7] = code
    for wrong, message in (
        (lists, r"a\.parquet: an outcome is none of 0 to 5"),
        ([None, *lists[1:]], r"a\.parquet: an item has not 201 outcomes"),
    ):
        column = pl.Series(wrong, dtype=pl.List(pl.Int8))
        write_table(table.with_columns(outcomes=column), path, OUTCOMES, footer)
        with pytest.raises(InputError, match=message):
            read_run([path, *others], capabilities)
