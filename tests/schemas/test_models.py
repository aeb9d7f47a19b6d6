"""models.json round-trips; an invalid file is refused in one line."""

import json

import pytest

from benchc.errors import InputError
from benchc.schemas.models import Model, Models, models_text, read_models

FOUND = Models(
    "a-benchmark",
    {
        "z-7b": Model("z-7b", "Zé 7B", 2024, 7.0),
        "a-1b": Model("a-1b", "A", None, None),
    },
)


def test_the_file_round_trips_in_order(tmp_path):
    path = tmp_path / "models.json"
    path.write_text(models_text(FOUND), encoding="utf-8")
    assert read_models(path) == FOUND
    assert list(read_models(path).models) == ["z-7b", "a-1b"]


def test_the_text():
    assert models_text(Models("b", {"m": Model("m", "é", 2024, 7)})) == (
        '{\n  "benchmark": "b",\n  "models": {\n    "m": {\n      "label": "é",\n      "year": 2024,\n'
        '      "parameters_b": 7.0\n    }\n  }\n}\n'
    )


def test_a_missing_file(tmp_path):
    with pytest.raises(InputError, match=r"models.json: there is no such file; run snakemake again"):
        read_models(tmp_path / "models.json")


def test_a_folder_in_its_place(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_models(tmp_path)


@pytest.mark.parametrize("text", ["{", "\x00", models_text(FOUND)[:-9]])
def test_a_file_that_is_cut_off(tmp_path, text):
    path = tmp_path / "models.json"
    path.write_text(text)
    with pytest.raises(InputError, match="is not JSON") as caught:
        read_models(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [
        [],
        3,
        {"benchmark": "b"},
        {"models": {}},
        {"benchmark": 1, "models": {}},
        {"benchmark": "b", "models": []},
        {"benchmark": "b", "models": {"m": None}},
        {"benchmark": "b", "models": {"m": {"year": 1}}},
        {"benchmark": "b", "models": {"m": {"label": 3}}},
        {"benchmark": "b", "models": {"m": {"label": "M", "year": "2024"}}},
        {"benchmark": "b", "models": {"m": {"label": "M", "parameters_b": True}}},
        {"benchmark": "b", "models": {"m": {"label": "M", "size": 7}}},
        {"benchmark": "b", "models": {}, "more": 1},
    ],
)
def test_a_file_of_another_form(tmp_path, content):
    path = tmp_path / "models.json"
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match="must contain benchmark and models") as caught:
        read_models(path)
    assert "\n" not in str(caught.value)
