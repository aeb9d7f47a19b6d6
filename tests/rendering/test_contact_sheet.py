from itertools import combinations, groupby, pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.lines import Line2D

from benchc.corruptions.apply import apply
from benchc.corruptions.registry import SUITES, group_of, recipe_of
from benchc.errors import InputError
from benchc.images import encode_png
from benchc.pixels import Pixels
from benchc.randomness import seed_of
from benchc.rendering import example_image
from benchc.rendering.contact_pages import MAX_ROWS, pages_of
from benchc.rendering.contact_sheet import Row, contact_sheet
from benchc.rendering.example_image import colour_entropy
from benchc.rendering.save import save
from benchc.rendering.style import TEXT_WIDTH
from benchc.schemas.parquet import write_table
from benchc.schemas.pool import POOL
from tests.corruptions.own_files import written
from tests.stages import call_stage

PAGE_HEIGHT = 8.875  # inches of text on a page of CVPR's template


def sample_image(height: int = 30, width: int = 40, seed: int = 0) -> Pixels:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


def runs(sizes: list[int]) -> list[str]:
    return [f"group {index}" for index, size in enumerate(sizes) for _ in range(size)]


def test_pages_contain_whole_groups_and_are_of_similar_size() -> None:
    assert [len(page) for page in pages_of(runs([3, 5, 4, 4, 3]))] == [8, 11]
    assert [len(page) for page in pages_of(runs([6, 2, 2, 2]))] == [6, 6]
    assert [len(page) for page in pages_of(runs([25]))] == [8, 8, 9]
    assert pages_of([]) == []
    with pytest.raises(ValueError, match="are not contiguous: a, b, a"):
        pages_of(["a", "b", "a"])


@given(st.lists(st.integers(1, 11), min_size=1, max_size=7))
def test_no_other_split_has_fewer_pages_or_a_shorter_longest_page(sizes: list[int]) -> None:
    pages = pages_of(runs(sizes))
    assert [row for page in pages for row in page] == list(range(sum(sizes)))
    starts = [sum(sizes[:group]) for group in range(len(sizes) + 1)]
    assert {page.start for page in pages} <= set(starts)
    longest = max(map(len, pages))
    assert longest <= MAX_ROWS
    for count in range(1, len(pages) + 1):
        for cuts in combinations(starts[1:-1], count - 1):
            ends = [0, *cuts, starts[-1]]
            other = max(stop - start for start, stop in pairwise(ends))
            assert other > MAX_ROWS or (count == len(pages) and other >= longest)


def test_a_row_shows_the_clean_image_and_then_each_severity() -> None:
    clean = sample_image()
    rows = [
        Row(group, name, [sample_image(seed=seed), sample_image(seed=seed + 1)])
        for seed, (group, name) in enumerate([("big_blur", "soft"), ("noise", "salt_and_pepper")], start=1)
    ]
    figure = contact_sheet(clean, rows, severities=[1, 4], name="s/7#0")
    drawn = [axes.images[0].get_array() for axes in figure.axes]
    assert len(drawn) == 6
    expected = [image for row in rows for image in (clean, *row.images)]
    assert all((a == b).all() for a, b in zip(drawn, expected, strict=True))
    places = [axes.get_position() for axes in figure.axes]
    assert [place.x0 for place in places[:3]] == sorted(place.x0 for place in places[:3])
    assert places[3].y1 < places[0].y0 and places[3].x0 == places[0].x0
    texts = [text.get_text().replace("\n", " ") for text in figure.texts]
    headings = ["clean", "severity 1", "severity 4"]
    assert texts == [*headings, "big blur", "soft", "noise", "salt and pepper", "image: s/7#0"]


def test_images_share_one_scale_and_keep_their_aspect_ratio() -> None:
    clean = sample_image(100, 50)
    figure = contact_sheet(clean, [Row("a", "b", [sample_image(40, 20)])], severities=[1])
    whole, small = (axes.get_window_extent() for axes in figure.axes)
    assert whole.height / whole.width == pytest.approx(2)
    assert small.height / whole.height == pytest.approx(0.4)
    assert small.width / whole.width == pytest.approx(0.4)
    assert (small.y0 + small.y1) / 2 == pytest.approx((whole.y0 + whole.y1) / 2)


@pytest.mark.parametrize("suite", SUITES.values(), ids=lambda suite: suite.name)
def test_pages_of_the_suites_fit_in_print_and_no_labels_overlap(suite) -> None:
    names = [type_.name for type_ in suite.types()]
    groups = [group_of(name, suite.name) for name in names]
    image = sample_image(3, 4)
    for page in pages_of(groups):
        rows = [Row(groups[row], names[row], [image] * len(suite.severities)) for row in page]
        figure = contact_sheet(
            image, rows, severities=suite.severities, name="a-source-of-images://photo_0123.jpg"
        )
        assert figure.get_figwidth() <= TEXT_WIDTH + 0.1 and figure.get_figheight() <= PAGE_HEIGHT
        renderer = FigureCanvasAgg(figure).get_renderer()
        labels = [text.get_window_extent(renderer) for text in figure.texts]
        lines = [line.get_window_extent(renderer) for line in figure.findobj(Line2D)]
        assert len(lines) == len({groups[row] for row in page})
        images = [axes.get_window_extent(renderer) for axes in figure.axes]
        edge = figure.get_window_extent(renderer)
        for label, text in zip(labels, figure.texts, strict=True):
            inside = (
                edge.x0 <= label.x0 and label.x1 <= edge.x1 and label.y1 <= edge.y1 and label.y0 >= edge.y0
            )
            assert inside, text.get_text()
            others = [*(other for other in labels if other is not label), *lines, *images]
            assert not label.count_overlaps(others), text.get_text()


def test_the_same_sheet_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        figure = contact_sheet(sample_image(), [Row("a", "b", [sample_image(seed=1)])], severities=[1])
        save(figure, png=tmp_path / f"{name}.png", pdf=tmp_path / f"{name}.pdf")
    for form in ("png", "pdf"):
        assert (tmp_path / f"one.{form}").read_bytes() == (tmp_path / f"two.{form}").read_bytes()


def test_no_rows_or_a_row_that_is_too_short_are_refused() -> None:
    with pytest.raises(InputError, match="no corruption was given"):
        contact_sheet(sample_image(), [], severities=[1])
    with pytest.raises(InputError, match="b has 1 images for 2 severities"):
        contact_sheet(sample_image(), [Row("a", "b", [sample_image()])], severities=[1, 2])


@pytest.fixture
def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Pixels]:
    """Write pool.parquet and images to the current folder; return the images by item and file."""
    images = {
        "s/0": sample_image(90, 400),
        "s/1": sample_image(150, 128, 1),
        "s/2": sample_image(200, 200, 2) // 4 + 190,
    }
    rows = [
        {"id": id_, "source": "s", "task": "t", "images": [{"bytes": encode_png(pixels), "path": None}] * 2}
        | {"image_keys": [f"{id_}#0", f"{id_}#1"]}
        for id_, pixels in images.items()
    ]
    frame = pl.DataFrame(rows, schema={**POOL.columns})
    write_table(
        frame.with_columns(answer=pl.lit(0).cast(POOL.columns["answer"])), tmp_path / "pool.parquet", POOL
    )
    images["s.png"] = sample_image(50, 60, 3)
    (tmp_path / "s.png").write_bytes(encode_png(images["s.png"]))
    monkeypatch.chdir(tmp_path)
    return images


class Sheets(list[tuple[Pixels, list[Row]]]):
    """The pages that the stage draws, and the names of their images."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []


@pytest.fixture
def sheets(monkeypatch: pytest.MonkeyPatch) -> Sheets:
    """Return a list to which the stage adds each page that it draws."""
    drawn = Sheets()

    def record(clean, rows, *, severities, name):
        drawn.names.append(name)
        drawn.append((clean, rows))
        return contact_sheet(clean[:9, :9], [Row("a", "b", [clean[:9, :9]])], severities=[1])

    monkeypatch.setattr("benchc.rendering.contact_sheet.contact_sheet", record)
    return drawn


def run(*words: str, **arguments: object) -> None:
    call_stage("contact_sheet", *words, **arguments, output_prefix="out/sheet")


TYPES = ["contrast", "gaussian_noise"]


def test_the_pixels_are_those_of_the_run(pool, sheets) -> None:
    run(pool="pool.parquet", seed=7, severities=[2, 5], corruptions=TYPES)
    ((clean, rows),) = sheets
    assert (clean == pool["s/1"]).all()  # of those of this size, the one with the most colours
    assert sheets.names == ["s/1#0"]
    assert [(row.group, row.name) for row in rows] == [
        ("photometric", "contrast"),
        ("noise", "gaussian_noise"),
    ]
    for row in rows:
        for severity, image in zip((2, 5), row.images, strict=True):
            seed = seed_of(7, "s/1", 0, row.name, severity)
            assert (image == apply(recipe_of(row.name), clean, severity, seed)).all()
    assert sorted(path.name for path in Path("out").iterdir()) == ["sheet_1.pdf", "sheet_1.png"]


@pytest.mark.parametrize(
    ("arguments", "item"),
    [
        (["--pool", "pool.parquet", "--item", "s/2"], "s/2"),
        (["--pool", "pool.parquet", "--item", "s/0"], "s/0"),
        (["--image", "s.png"], "s.png"),
    ],
)
def test_the_named_image_is_used(pool, sheets, arguments, item) -> None:
    run(*arguments, "--corruptions", "impulse_noise")
    clean, (row,) = sheets[0]
    assert (clean == pool[item]).all()
    seed = seed_of(0, item, 0, "impulse_noise", 5)
    assert (row.images[4] == apply(recipe_of("impulse_noise"), clean, 5, seed)).all()


def test_own_corruptions_are_below_those_of_their_group(pool, sheets, tmp_path) -> None:
    code = """
@corruption({"strength": [0.1, 0.2, 0.3, 0.4, 0.5]}, group="noise")
def darken(image, *, strength):
    return np.rint(image * (1 - strength)).astype(np.uint8)
"""
    arguments = ["--image", "s.png", "--own-files", written(tmp_path, code)]
    run(*arguments, "--corruptions", "fog", "darken", "gaussian_noise")
    clean, rows = sheets[0]
    assert [(row.group, row.name) for row in rows] == [
        ("noise", "gaussian_noise"),
        ("noise", "darken"),
        ("weather", "fog"),
    ]
    assert (rows[1].images[4] == np.rint(clean * 0.5)).all()


def test_if_all_are_small_the_largest_is_used(pool, sheets, monkeypatch) -> None:
    monkeypatch.setattr(example_image, "SIDE", 1000)
    run("--pool", "pool.parquet", "--corruptions", "contrast")
    # Of the first items alone, so that a large pool is not read.
    monkeypatch.setattr(example_image, "CANDIDATES", 1)
    run("--pool", "pool.parquet", "--corruptions", "contrast")
    assert sheets.names == ["s/2#0", "s/0#0"]


def test_the_entropy_of_colours() -> None:
    """Entropies by hand: 0 for one colour, 1 bit for two equal halves, 2 bits for four."""
    one = np.full((8, 8, 3), 250, np.uint8)
    two, four = one.copy(), one.copy()
    two[:4] = 10
    four[:4], four[:, 4:, 0], four[4:, 4:, 0] = 10, 90, 170
    assert [colour_entropy(image) for image in (one, two, four)] == [0, 1, 2]
    # Noise that no eye sees is no detail; values of one cell are one colour.
    assert colour_entropy(one - np.arange(8, dtype=np.uint8)[:, None] % 3) == 0
    assert colour_entropy(sample_image(300, 300)) == pytest.approx(9, abs=0.01)


def test_pages_are_numbered_and_can_be_rendered_alone(pool, sheets, monkeypatch) -> None:
    monkeypatch.setattr("scripts.contact_sheet.pages_of", lambda groups: [range(0, 1), range(1, 2)])
    arguments = ["--image", "s.png", "--severities", "1", "--corruptions", *reversed(TYPES)]
    run(*arguments, "--page", "2")
    assert [row.name for row in sheets[0][1]] == ["gaussian_noise"]
    assert sorted(path.name for path in Path("out").iterdir()) == ["sheet_2.pdf", "sheet_2.png"]
    run(*arguments)
    assert [[row.name for row in rows] for _, rows in sheets[1:]] == [["contrast"], ["gaussian_noise"]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--image", "s.png", "--item", "s/0"], "--item is of a pool"),
        ([], "one image is needed"),
        (["--image", "s.png", "--pool", "pool.parquet"], "one image is needed"),
        (["--image", "s.png", "--severities", "1", "9"], "--severities: imagenet-c has 1, 2, 3, 4, 5"),
        (["--image", "s.png", "--corruptions", "fogg"], "suite 'imagenet-c' has no corruption 'fogg'"),
        (["--image", "s.png", "--suite", "imagenet"], "unknown suite 'imagenet'"),
        (["--image", "s.png", "--page", "4"], "--page: there are 2 pages, counted from 1"),
    ],
)
def test_invalid_arguments_are_refused(arguments, message, pool) -> None:
    with pytest.raises(InputError, match=message):
        run(*arguments)


def test_a_missing_image_is_named(pool) -> None:
    with pytest.raises(InputError, match=r"none\.png.*give another --image"):
        run("--image", "none.png")
    with pytest.raises(InputError, match=r"pool\.parquet: there is no item 's/9'; the first is 's/0'"):
        run("--pool", "pool.parquet", "--item", "s/9")


def test_groups_of_every_suite_are_contiguous() -> None:
    for suite in SUITES.values():
        groups = [group_of(type_.name, suite.name) for type_ in suite.types()]
        assert [group for group, _ in groupby(groups)] == list(suite.groups)
