from pathlib import Path

import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure

from benchc.benchmarks.mllm_ic.capabilities import label_of
from benchc.benchmarks.mllm_ic.figures.figure1 import figure1
from benchc.benchmarks.mllm_ic.figures.figure2 import figure2
from benchc.benchmarks.mllm_ic.figures.figure5 import figure5
from benchc.benchmarks.mllm_ic.schemas.capabilities import CAPABILITIES
from benchc.benchmarks.mllm_ic.schemas.gallery import GALLERY
from benchc.corruptions.recipe import CLEAN, Recipe
from benchc.corruptions.registry import recipe_of
from benchc.corruptions.variants import variants_of_image
from benchc.images import decode, encode_png
from benchc.models.asking import ShownImages
from benchc.pixels import Pixels
from benchc.rendering.example_image import example_image
from benchc.schemas.parquet import read_footer, read_table, write_table
from benchc.schemas.pool import POOL
from tests.benchmarks.mllm_ic.made_up import CATEGORIES, CORRUPTIONS, LEVELS, items_of, write_pool
from tests.corruptions.photos import photo
from tests.stages import call_stage

TYPES = ["fog", "brightness", "gaussian_noise", "rotate"]
OF_TYPES = {name: CATEGORIES[name] for name in TYPES}


def write_items(folder: Path, items: pl.DataFrame, questions: dict[str, dict] | None = None) -> None:
    """Write pool.parquet and capabilities.parquet; ``questions``: other values of POOL, by id."""
    write_pool(folder / "pool.parquet", items)
    if questions:
        rows = read_table(folder / "pool.parquet", POOL).to_dicts()
        changed = [row | questions.get(row["id"], {}) for row in rows]
        write_table(pl.DataFrame(changed, schema=dict(POOL.columns)), folder / "pool.parquet", POOL)
    write_table(items, folder / "capabilities.parquet", CAPABILITIES)


@pytest.fixture(scope="module")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gallery")
    write_items(folder, items_of(["ocr"], 3))
    recipes = {name: recipe_of(name, "mllm-ic") for name in TYPES} | {CLEAN: Recipe(CLEAN)}
    output = folder / "gallery.parquet"
    images = ShownImages(recipes=recipes, seed=7, alpha="drop")
    call_stage("mllm_ic.gallery", pool=folder / "pool.parquet", images=images, output=output)
    return output


def texts_of(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.texts]


def shown(figure: Figure) -> list[Pixels]:
    return [np.asarray(image.get_array()) for axes in figure.axes for image in axes.images]


def test_the_gallery_has_one_image_as_models_see_it(gallery: Path) -> None:
    rows = read_table(gallery, GALLERY)
    key, clean = example_image(gallery.with_name("pool.parquet"))
    expected = {(CLEAN, 0): clean}
    for name in TYPES:
        recipe = recipe_of(name, "mllm-ic")
        found = variants_of_image(key, encode_png(clean), recipe, [1, 2, 3, 4, 5], 7)
        expected |= {(name, severity): image for severity, image in found.items()}
    assert rows["key"].unique().to_list() == [key]
    # Small images are not changed by their encoding.
    pixels = {(row["corruption"], row["severity"]): decode(row["image"]["bytes"]) for row in rows.to_dicts()}
    assert [*pixels] == [*expected]
    assert all((pixels[each] == expected[each]).all() for each in expected)
    assert read_footer(gallery)["seed"] == 7


def test_figure_2_has_each_type_at_the_highest_severity_beside_its_category_and_level(gallery: Path) -> None:
    figure = figure2(gallery, OF_TYPES, LEVELS)
    order = ["fog", "brightness", "rotate", "gaussian_noise"]  # global ones together
    rows = read_table(gallery, GALLERY).filter(severity=5)
    images = {row["corruption"]: decode(row["image"]["bytes"]) for row in rows.to_dicts()}
    assert len(figure.axes) == 4
    assert all((a == images[name]).all() for a, name in zip(shown(figure), order, strict=True))
    tops = [axes.get_position().y1 for axes in figure.axes]
    assert tops == sorted(tops, reverse=True)
    texts = texts_of(figure)
    for names in (
        ["Weather", "Color", "Geometric", "Noise"],
        ["Regional", "Global", "Pixel"],
        ["Fog", "Brightness", "Rotate", "Gaussian noise"],
    ):
        assert [text for text in texts if text in names] == names
    assert texts.count("1 type") == 4


def test_figure_5_has_the_clean_image_and_each_severity_of_a_row(gallery: Path) -> None:
    figure = figure5(gallery, ["gaussian_noise", "fog"], OF_TYPES)
    rows = read_table(gallery, GALLERY)
    clean = rows.filter(corruption=CLEAN)
    expected = [
        decode(image["bytes"])
        for name in ("gaussian_noise", "fog")
        for image in pl.concat([clean, rows.filter(corruption=name).sort("severity")])["image"]
    ]
    assert all((a == b).all() for a, b in zip(shown(figure), expected, strict=True))
    texts = [text.get_text().replace("\n", " ") for text in figure.texts]
    assert texts[1:6] == [f"severity {level}" for level in range(1, 6)]
    assert {"Noise", "Gaussian noise", "Weather", "Fog"} <= set(texts)


def test_figure_2_of_all_types_fits_on_a_page(tmp_path: Path) -> None:
    image = {"bytes": encode_png(photo("cat", 160, 120)), "path": None}  # higher than wide
    table = pl.DataFrame(
        [("key", name, 5, image) for name in CORRUPTIONS], schema=dict(GALLERY.columns), orient="row"
    )
    write_table(table, tmp_path / "gallery.parquet", GALLERY)
    figure = figure2(tmp_path / "gallery.parquet", CATEGORIES, LEVELS)
    assert len(figure.axes) == 40 and figure.get_figheight() < 9
    check_room(figure)


def check_room(figure: Figure) -> None:
    """Check that texts are inside the page, and do not overlap each other or a picture."""
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in figure.texts]
    pictures = [axes.get_window_extent() for axes in figure.axes]
    for place, box in enumerate(boxes):
        text = figure.texts[place].get_text()
        assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1, text
        assert figure.bbox.y0 - 1 <= box.y0 and box.y1 <= figure.bbox.y1 + 1, text
        assert not box.count_overlaps([*boxes[:place], *pictures]), text


def test_figure_1_has_all_capabilities_with_their_numbers_of_questions(tmp_path: Path) -> None:
    items = items_of(None, 3, rotations=2).filter(~pl.col("id").str.starts_with("made/2-2"))
    write_items(tmp_path, items)
    figure = figure1(tmp_path / "pool.parquet", tmp_path / "capabilities.parquet")
    texts = texts_of(figure)
    counts = dict(items["capability"].value_counts().iter_rows())
    assert counts["image_emotion"] == 4 and len(counts) == 34
    for name, count in counts.items():
        assert texts[texts.index(label_of(name)) + 1] == f"{count}"
    assert {"Perception", "Reasoning", "34 questions", "48 questions"} <= set(texts)
    assert not any("Capabilities with" in text for text in texts)
    assert len(figure.axes) == 5
    check_room(figure)


def test_figure_1_shows_a_short_original_question_with_the_right_answer_in_bold(tmp_path: Path) -> None:
    items = items_of(["ocr"], 4, rotations=2)
    one = "made/33-2-0"
    others = {id_: {"question": "Which word? " * 30} for id_ in items["id"] if not id_.startswith(one[:-1])}
    image = {"bytes": encode_png(photo("cat", 60, 80)), "path": None}
    own = {"question": "What is it?", "options": ["left", "right", "stop"], "answer": 2, "images": [image]}
    copy = {one[:-1] + "1": {"question": "What is copied?"}}
    write_items(tmp_path, items, others | {one: own} | copy)
    figure = figure1(tmp_path / "pool.parquet", tmp_path / "capabilities.parquet")
    texts = {text.get_text(): text for text in figure.texts}
    assert "What is it?" in texts and "What is copied?" not in texts
    options = ["A. left", "B. right", "C. stop"]
    assert [texts[option].get_fontweight() for option in options] == ["normal", "normal", "bold"]
    np.testing.assert_array_equal(shown(figure)[0], photo("cat", 60, 80))
    assert "Capabilities with questions in this run: 1 of 34." in texts
    check_room(figure)


def test_long_questions_are_shortened(tmp_path: Path) -> None:
    items = items_of(["ocr", "image_topic"], 2)
    long = {"question": "Which of the words is written there? " * 20, "options": ["an option " * 20] * 6}
    write_items(tmp_path, items, dict.fromkeys(items["id"], long))
    figure = figure1(tmp_path / "pool.parquet", tmp_path / "capabilities.parquet")
    assert len([text for text in figure.texts if text.get_text().endswith("…")]) == 2 * 7
    check_room(figure)
