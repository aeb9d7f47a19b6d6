"""The data of the page as scripts."""

import base64
import json
import re
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from benchc.errors import InputError
from benchc.rendering.results_page.samples import probabilities
from benchc.rendering.results_page.script import as_script, packed
from benchc.rendering.write_samples import SHOWN, write
from tests.rendering.results_page.made_up import CELLS, answers, questions, samples


def value(path: Path) -> Any:
    found = re.fullmatch(r'benchcData\("[^"]+", (.*)\);\n', path.read_text())
    assert found is not None
    return json.loads(found[1])


def numbers(data: dict[str, str], *shape: int) -> np.ndarray:
    raw = zlib.decompress(base64.b64decode(data["deflate"]))
    return np.frombuffer(raw, np.dtype(data["type"])).reshape(shape)


def test_a_script_is_one_line_that_ends_no_script() -> None:
    text = as_script("x", ["</script>", "\u2028", '"', "\x00", "é", float(1)])
    assert text.count("\n") == 1 and "<" not in text and text.isascii()
    with pytest.raises(ValueError, match="JSON compliant"):
        as_script("x", float("nan"))


def test_numbers_are_little_endian() -> None:
    found = packed(np.array([1, -2], dtype=">i2"))
    assert found["type"] == "int16" and numbers(found, 2).tolist() == [1, -2]


def test_grades_probabilities_and_measures_are_by_sample_model_and_scenario(tmp_path: Path) -> None:
    of = questions(["a", "b"])
    by_model = {
        "m": answers(["s/0", "s/1"], {("s/1", "fog", 2): 0.25}),
        # Without an answer to s/0 under blur, and with one to an item that is not shown.
        "n": answers(["s/0", "s/1", "s/7"], {}).filter(
            (pl.col("id") != "s/0") | (pl.col("corruption") != "blur")
        ),
    }
    write(samples(of, by_model), prefix=tmp_path / "samples")
    index = value(tmp_path / "samples.js")
    grades = numbers(index["grades"], 2, 2, len(CELLS))
    expected = np.full((2, 2, len(CELLS)), 200)
    expected[1, 0, CELLS.index(("fog", 2))] = 0
    expected[0, 1, 3:] = 255
    np.testing.assert_array_equal(grades, expected)
    ras = numbers(index["measures"][0]["values"], 2, 2, len(CELLS))
    assert ras[1, 0, 2] == -6500 and ras[0, 1, 3] == -32768 and ras[0, 0, 0] == 0
    item = value(tmp_path / "items/1.js")["questions"][0]
    shown = numbers(item["probabilities"], 2, len(CELLS), 2)
    assert shown[0, 2].tolist() == [2500, 7500] and shown[1, 2].tolist() == [9000, 1000]


def test_a_sample_is_as_good_as_the_worst_of_its_questions(tmp_path: Path) -> None:
    of = questions(["a", "b", "c"], sample=["g", "g", "h"])
    given = answers(["s/0", "s/1", "s/2"], {("s/1", "fog", 1): 0.1, ("s/2", "blur", 1): 0.1})
    write(samples(of, {"m": given}), prefix=tmp_path / "samples")
    grades = numbers(value(tmp_path / "samples.js")["grades"], 2, 1, len(CELLS))
    assert grades[:, 0].tolist() == [[200, 0, 200, 200, 200], [200, 200, 200, 0, 200]]
    assert [len(value(tmp_path / f"items/{number}.js")["questions"]) for number in (0, 1)] == [2, 1]


def test_replies_are_written_once_and_long_ones_are_cut(tmp_path: Path) -> None:
    long = "x" * (SHOWN + 5)
    of = questions(["a"], options=[[]], answer=[None], truths=[["red"]])
    rows = [
        ("s/0", name, level, 1.0, long if name == "blur" else "red", "the truth") for name, level in CELLS
    ]
    columns = ["id", "corruption", "severity", "grade", "reply", "note"]
    given = pl.DataFrame(rows, schema=columns, orient="row")
    write(samples(of, {"m": given}, measures=[]), prefix=tmp_path / "samples")
    item = value(tmp_path / "items/0.js")["questions"][0]
    assert item["texts"] == ["red", f"{'x' * SHOWN} … ({SHOWN + 5:,} characters)", "the truth"]
    assert item["replies"] == [0, 0, 0, 1, 1] and item["notes"] == [2] * 5
    assert item["probabilities"] is None and item["truths"] == ["red"]


def test_probabilities_of_other_options_are_refused(tmp_path: Path) -> None:
    of = questions(["a"], options=[["yes", "no", "maybe"]])
    with pytest.raises(InputError, match=r"^item s/0: it has 3 options and 2 probabilities; delete"):
        write(samples(of, {"m": answers(["s/0"], {})}), prefix=tmp_path / "samples")


def test_probabilities_are_a_softmax_that_takes_minus_infinity() -> None:
    frame = pl.DataFrame({"logits": [[1000.0, 1000.0, float("-inf")], [0.0, 1.0986123]]})
    found = frame.select(p=probabilities())["p"].to_list()
    np.testing.assert_allclose(found[0], [0.5, 0.5, 0])
    np.testing.assert_allclose(found[1], [0.25, 0.75], rtol=1e-6)


def test_measures_beyond_the_range_are_at_its_ends_and_means_of_a_group(tmp_path: Path) -> None:
    of = questions(["a", "b", "c"], sample=["g", "g", "h"])
    values = {"s/0": 0.5, "s/1": -0.1, "s/2": 99.0}
    given = answers([*values], {}).with_columns(ras=pl.col("id").replace_strict(values))
    low = given.with_columns(ras=-pl.col("ras"))
    write(samples(of, {"m": given, "n": low}), prefix=tmp_path / "samples")
    ras = numbers(value(tmp_path / "samples.js")["measures"][0]["values"], 2, 2, len(CELLS))
    # -32,768 is an answer without a measure.
    assert ras[:, :, 1].tolist() == [[2000, -2000], [32767, -32767]]


def test_a_group_with_a_missing_answer_has_none(tmp_path: Path) -> None:
    of = questions(["a", "b"], sample=["g", "g"])
    given = answers(["s/0", "s/1"], {("s/0", "fog", 1): 0.1})
    lacking = given.filter(~((pl.col("id") == "s/1") & (pl.col("corruption") == "fog")))
    absent = lacking.with_columns(grade=pl.when(corruption="blur", id="s/0").then(None).otherwise("grade"))
    write(samples(of, {"m": absent}), prefix=tmp_path / "samples")
    index = value(tmp_path / "samples.js")
    assert numbers(index["grades"], 1, 1, len(CELLS)).ravel().tolist() == [200, 255, 255, 255, 255]
    assert index["measures"][0]["values"] != packed(np.zeros((1, 1, len(CELLS)), np.int16))
    # The answers that are there are shown.
    first = value(tmp_path / "items/0.js")["questions"][0]
    assert numbers(first["grades"], 1, len(CELLS)).ravel().tolist() == [200, 0, 200, 255, 255]


def test_states_are_those_of_the_first_question_and_texts_are_searched_in_part(tmp_path: Path) -> None:
    of = questions(["q" * 700, "b"], sample=["g", "h"], options=[["yes", "no"], ["no", "no"]])
    given = answers(["s/0", "s/1"], {}).with_columns(
        state=pl.when(corruption="fog", severity=2).then(pl.lit("lost")).otherwise(None)
    )
    write(samples(of, {"m": given}, states=["kept", "lost"]), prefix=tmp_path / "samples")
    index = value(tmp_path / "samples.js")
    states = numbers(index["stateValues"], 2, 1, len(CELLS))
    assert states[:, 0].tolist() == [[255, 255, 1, 255, 255]] * 2
    # Equal texts are there once.
    assert index["texts"] == ["q" * 600, "b · no"]
    assert index["sourceOf"] == [index["sources"].index(name) for name in ("two", "one")]


def test_facts_are_of_their_samples_and_have_no_nan(tmp_path: Path) -> None:
    of = questions(["a", "b", "c"])
    facts = pl.DataFrame({"sample": ["s/2", "s/0"], "κ": [float("nan"), 0.123456], "kind": ["x", None]})
    write(samples(of, {"m": answers(["s/0"], {})}, facts=facts), prefix=tmp_path / "samples")
    assert value(tmp_path / "samples.js")["facts"] == [
        {"label": "κ", "values": [0.1235, None, None]},
        {"label": "kind", "values": [None, None, "x"]},
    ]
