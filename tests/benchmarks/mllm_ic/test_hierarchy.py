import io
import pickle
import tarfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch
from PIL import Image

from benchc.benchmarks.mllm_ic.cifar import BATCH, LARGEST, cifar_pictures
from benchc.benchmarks.mllm_ic.figures.figure3 import figure3
from benchc.benchmarks.mllm_ic.metrics.hierarchy import scenario_map, silhouette
from benchc.benchmarks.mllm_ic.schemas.hierarchy import FEATURES, TSNE
from benchc.benchmarks.mllm_ic.tables.hierarchy import hierarchy
from benchc.benchmarks.mllm_ic.wide_resnet import CIFAR, WideResNet, load_wide_resnet
from benchc.corruptions.apply import apply
from benchc.corruptions.recipe import Recipe
from benchc.corruptions.registry import recipe_of
from benchc.demo.encoder import TrainedEncoder, configuration_of, save_encoder
from benchc.errors import InputError
from benchc.images import decode
from benchc.models.asking import ShownImages
from benchc.models.encoders.encoders import load_image_encoder
from benchc.randomness import seed_of
from benchc.schemas.parquet import read_footer, read_table
from tests.benchmarks.mllm_ic.explored import picture_of, write_explored
from tests.benchmarks.mllm_ic.made_up import CATEGORIES, LEVELS
from tests.corruptions.photos import PHOTOS, photo
from tests.stages import call_stage

NAMES = ["brightness", "contrast", "average_pooling", "shot_noise", "fog", "rotate"]
RECIPES = {name: recipe_of(name, "mllm-ic") for name in NAMES}
IMAGES = ShownImages(recipes={"clean": Recipe("clean")} | RECIPES, seed=5, alpha="drop")
PICTURES = np.stack([photo(name, 32, 32) for name in PHOTOS])


def write_cifar(folder: Path, pictures: np.ndarray = PICTURES) -> Path:
    """Write pictures as the archive of CIFAR-10's Python version has them."""
    content = {b"data": pictures.transpose(0, 3, 1, 2).reshape(len(pictures), -1), b"labels": [0]}
    batch = pickle.dumps(content, protocol=2).replace(b"numpy._core", b"numpy.core")
    path = folder / "cifar-10-python.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        member = tarfile.TarInfo("cifar-10-batches-py/test_batch")
        member.size = len(batch)
        archive.addfile(member, io.BytesIO(batch))
    return path


def network() -> WideResNet:
    """Return a network with random weights whose statistics differ from those of a new one."""
    torch.manual_seed(3)
    made = WideResNet().eval()
    for name, value in made.state_dict().items():
        if "bn" in name and value.is_floating_point():
            value.uniform_(0.5, 1.5)
    return made


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("weights") / "wrn.pt"
    classifier = {"module.fc.weight": torch.zeros(10, 128), "module.fc.bias": torch.zeros(10)}
    own = {f"module.{name}": value for name, value in network().state_dict().items()}
    torch.save({"epoch": 200, "state_dict": own | classifier}, path)
    return path


def features(folder: Path, **options: object) -> Path:
    output = folder / "features.parquet"
    given = {"pool": folder / "items.parquet", "images": IMAGES, "count": 4, "seed": 0, "output": output}
    call_stage("mllm_ic.hierarchy_features", **given | options)
    return output


def mapped(folder: Path, source: Path) -> Path:
    output = folder / "tsne.parquet"
    of = {"corruption_categories": {name: CATEGORIES[name] for name in NAMES}, "levels": LEVELS}
    call_stage("mllm_ic.hierarchy_tsne", features=source, **of, perplexity=30, seed=0, output=output)
    return output


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, weights: Path) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("run")
    source = features(folder, pictures=write_cifar(folder), weights=weights)
    return source, mapped(folder, source)


def test_pictures_are_those_of_the_archive_in_a_hashed_order(tmp_path):
    path = write_cifar(tmp_path)
    found = [*cifar_pictures(path, 6, 0)]
    numbers = [int(key.rpartition("/")[2]) for key, _ in found]
    assert len({*numbers}) == 6 and numbers != sorted(numbers)
    assert all((decode(data) == PICTURES[n]).all() for n, (_, data) in zip(numbers, found, strict=True))
    assert [*cifar_pictures(path, 3, 0)] == found[:3] and [*cifar_pictures(path, 6, 1)] != found
    with tarfile.open(path) as archive:
        archive.extractall(tmp_path, filter="data")
    assert [*cifar_pictures(tmp_path / "cifar-10-batches-py", 6, 0)] == found


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (pickle.dumps({b"data": print}), "it needs builtins.print"),
        *((content, "is not CIFAR-10") for content in (b"PK", b"source,category", pickle.dumps([1]))),
        (pickle.dumps({b"labels": [1]}), "give cifar-10-python.tar.gz or the folder"),
    ],
)
def test_other_files_are_refused(tmp_path, content, message):
    (tmp_path / "test_batch").write_bytes(content)
    with pytest.raises(InputError, match=message):
        next(cifar_pictures(tmp_path, 1, 0))


def written_out(own: WideResNet, pixels: torch.Tensor) -> torch.Tensor:
    """Return the features by functions of torch, as the paper describes the network."""
    state, function = own.state_dict(), torch.nn.functional

    def normal(x: torch.Tensor, name: str) -> torch.Tensor:
        mean, variance = state[f"{name}.running_mean"], state[f"{name}.running_var"]
        return function.batch_norm(x, mean, variance, state[f"{name}.weight"], state[f"{name}.bias"]).relu()

    x = function.conv2d(pixels, state["conv1.weight"], padding=1)
    for block in (1, 2, 3):
        for layer in range(6):
            name, stride = f"block{block}.layer.{layer}", 2 if block > 1 and layer == 0 else 1
            before = normal(x, f"{name}.bn1")
            inner = function.conv2d(before, state[f"{name}.conv1.weight"], stride=stride, padding=1)
            after = function.conv2d(normal(inner, f"{name}.bn2"), state[f"{name}.conv2.weight"], padding=1)
            short = state.get(f"{name}.convShortcut.weight")
            x = after + (x if short is None else function.conv2d(before, short, stride=stride))
    return function.avg_pool2d(normal(x, "bn1"), 8).flatten(1)


def test_the_network_is_that_of_the_paper(weights):
    assert sum(each.numel() for each in network().parameters()) == 2_243_546 - 1_290  # without the classifier
    loaded = load_wide_resnet(weights)
    mean, deviation = (np.array(values, np.float32) for values in CIFAR)
    pixels = torch.from_numpy(((PICTURES[:2] / np.float32(255) - mean) / deviation).transpose(0, 3, 1, 2))
    with torch.inference_mode():
        expected = written_out(network(), pixels.float()).numpy()
    np.testing.assert_allclose(np.stack([*loaded.encode(PICTURES[:2])]), expected, rtol=1e-3, atol=1e-4)


def test_layouts_of_common_checkpoints_are_known(tmp_path, weights):
    state = network().state_dict()
    augmix = {f"module.{name.replace('convShortcut', 'conv_shortcut')}": state[name] for name in state}
    buffers = {"mu": torch.full((1, 3, 1, 1), 0.5), "sigma": torch.full((1, 3, 1, 1), 0.5)}
    half = (PICTURES[0].astype(np.float32) / 255 - 0.5) / 0.5
    for number, checkpoint in enumerate([{"net": augmix}, state | buffers]):
        torch.save(checkpoint, tmp_path / f"{number}.pt")
        found = load_wide_resnet(tmp_path / f"{number}.pt")
        scaled = found.preprocess(Image.fromarray(PICTURES[0]))
        np.testing.assert_allclose(scaled.numpy(), half.transpose(2, 0, 1), atol=1e-6)
        assert all((found.model.state_dict()[name] == state[name]).all() for name in state)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda state: {"conv1.weight": state["conv1.weight"]}, "is not a WRN-40-2 in a known layout"),
        (lambda state: state | {"block1.layer.6.bn1.weight": torch.ones(32)}, r"block1\.layer\.6"),
        (lambda state: state | {"bn1.weight": torch.ones(640)}, "bn1.weight is missing, unknown or of"),
        (lambda state: [1], "has no weights by name"),
        *((text, r"other\.pt: cannot be read as weights \(.+\)") for text in (b"", b"source,cat\n", b"PK")),
    ],
)
def test_other_weights_are_refused(tmp_path, change, message):
    if isinstance(change, bytes):
        (tmp_path / "other.pt").write_bytes(change)
    else:
        torch.save(change(network().state_dict()), tmp_path / "other.pt")
    with pytest.raises(InputError, match=message):
        load_wide_resnet(tmp_path / "other.pt")


def test_a_feature_is_the_mean_over_the_pictures(run, tmp_path, weights):
    table = read_table(run[0], FEATURES)
    assert table.height == 1 + 5 * len(NAMES) and read_footer(run[0])["pictures"] == "4 pictures of CIFAR-10"
    row = table.row(by_predicate=(pl.col("corruption") == "average_pooling") & (pl.col("severity") == 4))
    files = cifar_pictures(write_cifar(tmp_path), 4, 0)
    shown = [apply(RECIPES["average_pooling"], decode(data), 4, 0) for _, data in files]
    expected = np.stack([*load_wide_resnet(weights).encode(shown)]).mean(axis=0)
    np.testing.assert_allclose(row[2], expected, rtol=1e-4, atol=1e-5)


def test_pictures_of_the_pool_are_taken_once_each(tmp_path):
    import benchc.hugging_face  # noqa: F401, sets up torchvision

    # isort: split
    import open_clip

    torch.manual_seed(0)
    configuration = configuration_of(24)
    save_encoder(TrainedEncoder(open_clip.CLIP(**configuration), configuration), tmp_path / "encoder")
    run = write_explored(tmp_path, ["image_topic", "ocr"], NAMES, {"a": 0.9}, images=False)
    source = features(tmp_path, encoder=tmp_path / "encoder", count=3)
    assert read_footer(source)["pictures"] == "3 pictures of the pool"
    table = read_table(source, FEATURES)
    assert table.height == 1 + 5 * len(NAMES)
    # Two questions share a picture each: four pictures, of which the first three by a hash are taken.
    encoder = load_image_encoder(str(tmp_path / "encoder"))
    keys = sorted(run.items["picture"].unique(), key=lambda key: seed_of(0, "hierarchy", key))
    assert len(keys) == 4
    shown = [decode(picture_of(key)) for key in keys[:3]]
    clean = table.filter(corruption="clean")["feature"][0].to_list()
    expected = np.stack([*encoder.encode(shown)]).mean(axis=0)
    np.testing.assert_allclose(clean, expected, rtol=1e-4, atol=1e-5)


def test_the_map_has_clean_and_no_weather_and_the_same_bits_twice(run, tmp_path):
    table = read_table(run[1], TSNE)
    assert set(table["corruption"]) == {"clean", *NAMES} - {"fog"} and table.height == 26
    clean = table.filter(corruption="clean").select("category", "level", "severity").row(0)
    assert clean == (None, None, 0)
    levels = dict(table.select("corruption", "level").iter_rows())
    found = (levels["rotate"], levels["average_pooling"], levels["shot_noise"])
    assert found == ("global", "regional", "pixel")
    assert mapped(tmp_path, run[0]).read_bytes() == run[1].read_bytes()
    # The figure joins the severities of each type.
    axes = figure3(run[1]).axes[0]
    lines = [line for line in axes.lines if line.get_linestyle() == "-"]
    assert [len(line.get_xdata()) for line in lines] == [5] * (len(NAMES) - 1)
    rows = table.filter(corruption="rotate").sort("severity")
    assert any((line.get_xdata() == rows["x"].to_numpy()).all() for line in lines)
    texts = {text.get_text() for text in axes.texts}
    assert texts == {"Clean", "Brightness", "Contrast", "Average pooling", "Shot noise", "Rotate"}


def test_near_scenarios_are_near_on_the_map_and_equal_ones_in_one_place():
    for count in (1, 3):
        assert (scenario_map(np.ones((count, 4)), 30, 0) == np.zeros((count, 2))).all()
    points = np.repeat(np.eye(3, 8) * 50, 8, axis=0) + np.random.default_rng(0).normal(0, 0.1, (24, 8))
    places = scenario_map(points, 30, 0)
    far = np.linalg.norm(places[:, None] - places[None], axis=2)
    assert all((np.argsort(row)[:8] // 8 == number // 8).all() for number, row in enumerate(far))
    # The perplexity is at most a third of the 23 other points, and at least 1.
    assert (scenario_map(points, 23 / 3, 0) == places).all() and (
        scenario_map(points, 7.6, 0) != places
    ).any()
    assert scenario_map(np.eye(2, 4), 30, 0).shape == (2, 2)
    # Groups that cannot be compared.
    for groups in (["a", "b", "c"], ["a", "a", "a"]):
        assert np.isnan(silhouette(np.arange(6.0).reshape(3, 2), groups))
    # By hand: 1 - 1 / 4 and 1 - 1 / 3, and 0 for a point alone.
    mean = (3 / 4 + 2 / 3 + 0) / 3
    assert silhouette(np.array([[0.0], [1], [4]]), ["a", "a", "b"]) == pytest.approx(mean)


def test_the_table_has_silhouettes_and_distances(run):
    frame = hierarchy(*run).frame
    assert frame["measure"].to_list() == [
        *(f"silhouette by {name}" for name in ("level", "category", "type")),
        *(f"distance from clean, severity {level}" for level in range(1, 6)),
    ]
    rows = read_table(run[0], FEATURES).filter(pl.col("corruption") != "fog")
    places = {level: np.array(rows.filter(severity=level)["feature"].to_list()) for level in range(6)}
    means = [np.linalg.norm(places[level] - places[0], axis=1).mean() for level in range(1, 6)]
    assert frame["features"][3:].to_list() == pytest.approx([mean / means[-1] for mean in means])
    assert -1 <= frame["map"][0] <= 1 and frame["features"][2] > frame["features"][0]


def test_without_cifar_the_figure_and_the_table_say_so(tmp_path):
    absent = {"pictures": tmp_path / "absent.tar.gz", "weights": tmp_path / "absent.pt"}
    source = features(tmp_path, **absent)
    points = mapped(tmp_path, source)
    (text,) = figure3(points).texts
    both = f"{absent['pictures']} and {absent['weights']} are not here"
    assert text.get_text() == f"Figure 3 is not made: {both}."
    table = hierarchy(source, points)
    assert table.frame.is_empty() and "absent.pt are not here" in " ".join(table.markdown.split())


@pytest.mark.parametrize("size", [None, LARGEST + 1])
def test_an_archive_whose_batch_is_a_folder_or_fills_the_memory_is_not_cifar(
    tmp_path: Path, size: int | None
) -> None:
    member = tarfile.TarInfo(BATCH)
    member.type, member.size = (tarfile.DIRTYPE, 0) if size is None else (tarfile.REGTYPE, size)
    path = tmp_path / "cifar-10-python.tar.gz"
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        archive.addfile(member, io.BytesIO(bytes(size or 0)))
    with pytest.raises(
        InputError, match=r"is not CIFAR-10 \(cifar-10-batches-py/test_batch is no file of up"
    ):
        next(cifar_pictures(path, 1, 0))
