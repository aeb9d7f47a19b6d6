"""`benchc new`: what it writes is valid and names what was given; what it cannot write is one line."""

import json
import shlex
import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import huggingface_hub
import pytest
import yaml

from benchc.checking.check_items import check_items
from benchc.checking.sources import check_sources
from benchc.config.errors import ConfigError
from benchc.config.load import Config, load
from benchc.config.new_entries import Entry, served_entry, with_adapter
from benchc.errors import InputError
from scripts.benchc import main
from tests.checking.collected import collected
from tests.endpoint.replies import replying
from tests.sources.data_files import (
    question,
    write_as_folder,
    write_as_json_lines,
    write_as_parquet,
    write_json_lines,
)
from tests.sources.test_download import Handler, Server, server  # noqa: F401
from tests.sources.tsv_files import BLUE, RED, encoded, row, write_tsv

Capture = pytest.CaptureFixture[str]
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The part of a checkout that the command reads, with a TSV file; the working directory."""
    root = tmp_path / "checkout"
    for part in ("config", "envs"):
        shutil.copytree(ROOT / part, root / part)
    (root / "Snakefile").touch()
    write_tsv(root / "my.tsv", [row(1), row(2)])
    monkeypatch.chdir(root)
    return root


def checkpoint(folder: Path, **settings: object) -> Path:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(settings))
    return folder


def written(root: Path, *arguments: object) -> Config:
    """Run the command for config/mine.yaml; return the configuration that it wrote."""
    main(["new", "config/mine.yaml", *map(str, arguments)])
    return loaded(root, root / "config/mine.yaml")


def loaded(root: Path, file: Path) -> Config:
    raw: Mapping[str, Any] = yaml.safe_load(file.read_text())
    return load(raw, root, file=str(file))


def refused(capsys: Capture, *arguments: object) -> str:
    """Run the command; return its error, which must be one line."""
    with pytest.raises(SystemExit) as caught:
        main(["new", *map(str, arguments)])
    error = caught.value.code if isinstance(caught.value.code, str) else capsys.readouterr().err
    assert error.startswith("error: ") and error.rstrip("\n").count("\n") == 0
    return error


def test_own_data_and_models(root: Path, tmp_path: Path, capsys: Capture) -> None:
    far = write_tsv(tmp_path / "Far away.tsv", [row(1)])
    folders = [
        checkpoint(root / "models/One_7B", model_type="llava", dtype="bfloat16"),
        checkpoint(tmp_path / "two", model_type="llava_next", torch_dtype="float64"),
    ]
    # A whole model, in whose folder an adapter of it lies.
    (folders[0] / "adapter_config.json").write_text("{}")
    config = written(root, "--source", "my.tsv", far, "--model", *folders, "--gpus", 1)
    paths = {id_: source.path for id_, source in config.sources.items()}
    assert paths == {"my": "my.tsv", "far-away": str(far)}
    assert {source.task_column for source in config.sources.values()} == {"category"}
    one, two = config.models["one-7b"], config.models["two"]
    assert (one.label, one.family, one.path, one.dtype) == ("One_7B", None, "models/One_7B", "bfloat16")
    assert (two.family, two.path, two.dtype, two.gpus) == ("llava_next", str(folders[1]), "bfloat16", 1)
    assert config.settings.selectors == config.settings.targets == ["one-7b", "two"]
    assert config.settings.name == "mine" and config.settings.demo is None
    assert config.settings.pool.total == 4000 and len(config.settings.corruptions.types) == 19
    assert capsys.readouterr().out.splitlines() == [
        "wrote config/mine-sources.yaml, config/mine-models.yaml, config/mine.yaml: 2 sources, 2 models; "
        "results will be in results/mine",
        "next: benchc check config/mine.yaml",
        "then: benchc run config/mine.yaml --cores 9",
    ]
    for part, schema in (("", "bench-c"), ("-sources", "sources"), ("-models", "models")):
        first = (root / f"config/mine{part}.yaml").read_text().partition("\n")[0]
        assert first == f"# yaml-language-server: $schema=schema/{schema}.json"


def test_one_model_has_an_adapter(root: Path, capsys: Capture) -> None:
    base = checkpoint(root / "models/Base", model_type="llava", dtype="bfloat16")
    lora = root / "loras/My_LoRA"
    lora.mkdir(parents=True)
    (lora / "adapter_config.json").write_text('{"base_model_name_or_path": "owner/base"}')
    asked = ("--source", "my.tsv", "--model", base, "idefics3-8b")
    config = written(root, *asked, "--adapter", lora)
    assert config.settings.targets == ["base-my-lora", "idefics3-8b"]
    assert config.settings.selectors == config.settings.targets
    model = config.models["base-my-lora"]
    found = (model.label, model.path, model.adapter, model.dtype)
    assert found == ("Base + My_LoRA", "models/Base", "loras/My_LoRA", "bfloat16")
    assert config.models["idefics3-8b"].adapter is None
    # A model of a catalogue by its id on the Hub keeps its keys.
    hub = "HuggingFaceM4/Idefics3-8B-Llama3"
    main(["new", "b.yaml", "--source", "my.tsv", "--model", hub, "--adapter", "owner/lora@v1"])
    (model,) = loaded(root, root / "b.yaml").models.values()
    assert (model.label, model.repo, model.gpus) == ("Idefics3-Llama3 + lora", hub, 1)
    assert (model.adapter, model.adapter_revision) == ("owner/lora", "v1")
    capsys.readouterr()
    for models, adapter, expected in (
        (["idefics3-8b"], lora, "--adapter: needs exactly one --model that is a folder or a Hub id, but the"),
        ([base, hub], lora, "but there are 2; add the key `adapter` to the entries in the catalogue by hand"),
        ([base], "nowhere", '--adapter "nowhere": there is no such folder; give the folder of an adapter'),
    ):
        options = ("--source", "my.tsv", "--model", *models, "--adapter", adapter)
        assert expected in refused(capsys, "c.yaml", *options)
    alone = refused(capsys, "c.yaml", "--source", "my.tsv", "--model", lora)
    no_model = "is an adapter (adapter_config.json), not a model; give its base model ('owner/base') as -"
    assert no_model in alone
    assert not (root / "c.yaml").exists()
    # As `benchc evaluate` is given it.
    trained = Entry("tiny", {"label": "Tiny", "train": {"steps": 1}})
    with pytest.raises(InputError, match=r'^--adapter "o/lora": a run trains tiny, .* as --model$'):
        with_adapter(trained, "o/lora", root)


def test_the_first_three_models_select_where_none_is_named(root: Path) -> None:
    ids = ["qwen2.5-vl-7b", "idefics3-8b", "gemma3-12b", "emu3-chat"]
    (root / "mmstar").mkdir()  # an id of a catalogue is the one meant
    config = written(root, "--source", "mmstar", "--model", *ids)
    assert config.settings.targets == ids and config.settings.selectors == ids[:3]
    # The shipped catalogues have them all.
    assert not (root / "config/mine-models.yaml").exists()
    assert not (root / "config/mine-sources.yaml").exists()
    main(["new", "config/other.yaml", "--source", "mmstar", "--model", *ids, "--selector", "ovis2-1b"])
    assert loaded(root, root / "config/other.yaml").settings.selectors == ["ovis2-1b"]


def test_without_models_it_is_a_trial_with_models_of_the_demo(root: Path, capsys: Capture) -> None:
    config = written(root, "--source", "my.tsv")
    assert capsys.readouterr().out.endswith("\nthen: benchc run config/mine.yaml --cores 2 figure1a\n")
    demo = yaml.safe_load((root / "config/demo.yaml").read_text())
    settings = config.settings.model_dump()
    assert settings["selectors"] == demo["selectors"]
    assert all(model.train is not None for model in config.models.values())
    # Another size would train the models of the demo again.
    assert settings["demo"] == demo["demo"]
    assert settings["selection"]["image_encoder"]["name"] == "trained"


def test_a_configuration_and_catalogues_outside_the_repository(root: Path, tmp_path: Path) -> None:
    file = tmp_path / "elsewhere/deep/mine.yaml"
    main(["new", str(file), "--source", "my.tsv", "--model", "idefics3-8b", "tiny-llava-s"])
    config = loaded(root, file)
    assert config.settings.catalogues.models == str(file.with_name("mine-models.yaml"))
    assert list(config.models) == ["idefics3-8b", "tiny-llava-s"]
    assert config.models["idefics3-8b"].repo == "HuggingFaceM4/Idefics3-8B-Llama3"
    for path in file.parent.iterdir():
        schema = path.read_text().partition("\n")[0].partition("$schema=")[2]
        assert (file.parent / schema).is_file()


def test_the_task_type_is_the_first_column_of_two_or_the_one_named(root: Path) -> None:
    rows = [{key: value for key, value in row(1).items() if key != "category"}]
    write_tsv(root / "l2.tsv", rows)
    config = written(root, "--source", "l2.tsv", "--model", "idefics3-8b")
    assert config.sources["l2"].task_column == "l2_category"
    for number, column in enumerate(("l2_category", "l2-category")):
        options = ["--source", "my.tsv", "--model", "idefics3-8b", "--task-column", column]
        main(["new", f"b{number}.yaml", *options])
        assert loaded(root, root / f"b{number}.yaml").sources["my"].task_column == "l2_category"


def test_the_column_of_shared_images_is_one_of_the_file(root: Path, capsys: Capture) -> None:
    write_tsv(root / "shared.tsv", [row(1, photo="a"), row(2, photo="a")])
    arguments = ["--source", "shared.tsv", "drawn-text", "--model", "idefics3-8b"]
    config = written(root, *arguments, "--image-column", "photo")
    assert config.sources["shared"].reader.image_column == "photo"
    assert config.sources["drawn-text"].reader.image_column is None
    assert "# reader" not in (root / "config/mine-sources.yaml").read_text()
    error = refused(capsys, "a.yaml", *arguments, "--image-column", "phto")
    assert error.startswith('error: shared.tsv: has no column "phto"; its columns are index, image, ')
    # Without it, the catalogue says how, as a comment of the file's entry.
    main(["new", "a.yaml", *arguments])
    file = root / "a-sources.yaml"
    assert file.read_text().count("# reader: {image_column: NAME}") == 1
    text = file.read_text().replace("# reader: {image_column: NAME}", "reader: {image_column: photo}")
    file.write_text(text)
    assert loaded(root, root / "a.yaml").sources["shared"].reader.image_column == "photo"


@pytest.mark.parametrize("kind", ["csv", "folder", "jsonl", "shard", "split"])
def test_every_format_of_a_source_is_recognised(root: Path, kind: str) -> None:
    folder = root / "My data"
    folder.mkdir()
    questions = [question(1, [RED]), question(2, [BLUE])]
    path = {
        "csv": lambda: write_as_folder(folder, questions, "My data.csv"),
        "folder": lambda: write_as_folder(folder, questions, "metadata.csv", "file_name").parent,
        "jsonl": lambda: write_as_json_lines(folder, questions, paths=True).rename(folder / "My data.jsonl"),
        "shard": lambda: write_as_parquet(folder, questions),
        "split": lambda: write_as_parquet(folder, questions).parent,
    }[kind]()
    config = written(root, "--source", path.relative_to(root))
    ((id_, source),) = config.sources.items()
    assert id_ == ("test" if kind == "shard" else "my-data")
    assert (source.path, source.task_column) == (str(path.relative_to(root)), "category")
    found, _ = collected(check_sources(config))
    assert [finding.text.partition(",")[0] for finding in found if finding.level == "ok"] == ["2 items"]


def test_a_model_is_checked_on_items_of_a_parquet_file(root: Path) -> None:
    path = write_as_parquet(root, [question(1, [RED]), question(2, [BLUE])])
    assert check_items(path.name, 5)["id"].to_list() == ["test/1", "test/2"]
    (root / "other.parquet").write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match=r"other.parquet: is no pool of a run, or is damaged"):
        check_items("other.parquet", 5)


def test_keys_of_the_reader_are_written_and_used(root: Path, capsys: Capture) -> None:
    rows = [{"image": encoded(RED), "question": "?", "choices": ["x", "y"], "answer": 1, "topic": "maps"}]
    write_json_lines(root / "my.jsonl", rows)
    assert "has no column category or l2_category" in refused(capsys, "a.yaml", "--source", "my.jsonl")
    reader = {"answer_form": "index", "columns": {"category": "topic"}}
    config = written(root, "--source", "my.jsonl", "--reader", json.dumps(reader))
    source = config.sources["my"]
    assert (source.reader.answer_form, source.reader.columns) == ("index", {"category": "topic"})
    _, items = collected(check_sources(config))
    assert items["my"].texts.select("answer", "category").rows() == [(1, "maps")]
    options = ["--source", "my.jsonl", "--reader", '{"category_column": "topic"}']
    main(["new", "b.yaml", *options])
    assert loaded(root, root / "b.yaml").sources["my"].task_column == "category"
    for keys, sentence in {
        '{"answer_form": "number"}': 'reader.answer_form is "number", but should be',
        '{"columns": {"topic": "a"}}': "reader has columns.topic, but should have some of index, image",
        '{"columns": {"category": "kind"}}': "my.jsonl: has no column 'kind', which columns.category names",
        '["a"]': "--reader",
    }.items():
        assert sentence in refused(capsys, "a.yaml", "--source", "my.jsonl", "--reader", keys)


def test_a_file_without_a_task_type_is_refused(root: Path, capsys: Capture) -> None:
    write_tsv(root / "none.tsv", [{"index": "1", "topic": "maps"}])
    assert refused(capsys, "mine.yaml", "--source", "none.tsv") == (
        "error: none.tsv: has no column category or l2_category, the task type by which the "
        "pool is balanced; "
        "its columns are index, topic; name the column that has it by "
        """--reader '{"columns": {"category": "NAME"}}', or add a column category, which may have one """
        "value for all rows"
    )
    (root / "comma.tsv").write_text("index,image,question,category\n")
    assert refused(capsys, "mine.yaml", "--source", "comma.tsv").endswith(
        "are index,image,question,category, since its fields are not separated by tabs: save it with them"
    )
    assert not (root / "mine.yaml").exists()


@pytest.mark.parametrize(
    ("settings", "dtype"),
    [
        ({"torch_dtype": "float16"}, "float16"),  # of transformers before version 5
        ({"dtype": "bfloat16", "torch_dtype": "float16"}, "bfloat16"),
        ({"dtype": "float64"}, "float32"),
        ({}, "float32"),
    ],
)
def test_the_dtype_of_a_folder_is_that_of_its_config(
    root: Path, settings: dict[str, str], dtype: str
) -> None:
    folder = checkpoint(root / "one", model_type="llava", **settings)
    assert written(root, "--source", "my.tsv", "--model", folder).models["one"].dtype == dtype


def test_memory_is_for_the_weights_on_each_gpu(root: Path) -> None:
    folder = checkpoint(root / "one", model_type="llava", dtype="float16")
    memory = {}
    for gpus in (1, 3):
        main(["new", f"{gpus}.yaml", "--source", "my.tsv", "--model", str(folder), "--gpus", str(gpus)])
        model = loaded(root, root / f"{gpus}.yaml").models["one"]
        # The type of the checkpoint's weights, in which 7 billion parameters take 14 GB.
        assert model.dtype == "float16" and model.mem_mb > 14_000 * gpus
        memory[gpus] = model.mem_mb
    assert memory[3] == 3 * memory[1]


def test_a_model_of_the_hub(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    config = written(root, "--source", "mmstar", "--model", "HuggingFaceM4/Idefics3-8B-Llama3")
    assert list(config.models) == ["idefics3-8b"]  # of the catalogue
    file = checkpoint(tmp_path / "hub", model_type="smolvlm", dtype="float16") / "config.json"
    monkeypatch.setattr(huggingface_hub, "get_hf_file_metadata", lambda url: None)
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", lambda repo, name: str(file))
    capsys.readouterr()
    main(["new", "a.yaml", "--source", "mmstar", "--model", "owner/Small"])
    model = loaded(root, root / "a.yaml").models["small"]
    assert (model.repo, model.family, model.dtype) == ("owner/Small", None, "float16")
    assert capsys.readouterr().err == "owner/Small: no such folder here; asking the Hub\n"
    # A file in the cache is taken without a request.
    cached = checkpoint(tmp_path / "cache", model_type="smolvlm", dtype="bfloat16") / "config.json"
    monkeypatch.setattr(huggingface_hub, "try_to_load_from_cache", lambda repo, name: str(cached))
    monkeypatch.delattr(huggingface_hub, "hf_hub_download")
    main(["new", "b.yaml", "--source", "mmstar", "--model", "owner/Small"])
    assert loaded(root, root / "b.yaml").models["small"].dtype == "bfloat16"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Set the address of the Hub."""
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)

    def at(address: str) -> None:
        monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", address)
        template = address + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(huggingface_hub.constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)

    return at


def test_a_hub_that_cannot_be_reached_is_one_error_at_once(
    root: Path, capsys: Capture, hub: Callable[[str], None]
) -> None:
    hub("http://127.0.0.1:9")
    arguments = ["a.yaml", "--source", "mmstar", "--model", "checkpoints/my-model"]
    start = time.monotonic()
    error = refused(capsys, *arguments)
    assert time.monotonic() - start < 5  # the Hub's client would try again for 26 s
    assert error == (
        "error: checkpoints/my-model: there is no such folder here, and the Hub cannot be reached; check the "
        "name and the network, or give the family with --family, which needs no network (docs/models.md)"
    )
    assert capsys.readouterr().err == "checkpoints/my-model: no such folder here; asking the Hub\n"
    main(["new", *arguments, "--family", "llava"])
    assert loaded(root, root / "a.yaml").models["my-model"].family == "llava"
    assert capsys.readouterr().err == "checkpoints/my-model: no such folder here; taken as an id on the Hub\n"


def test_a_model_that_the_hub_does_not_have_is_refused(
    root: Path,
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
    hub: Callable[[str], None],
    server: Server,  # noqa: F811
) -> None:
    server.status = 404
    monkeypatch.setattr(Handler, "do_HEAD", Handler.do_GET, raising=False)
    hub(server.url)
    error = refused(capsys, "a.yaml", "--source", "mmstar", "--model", "owner/none")
    assert "the Hub answers 404 for its config.json; check the name" in error


@pytest.mark.parametrize("existing", ["mine.yaml", "mine-sources.yaml", "mine-models.yaml", "results/mine"])
def test_nothing_is_overwritten(root: Path, capsys: Capture, existing: str) -> None:
    folder = checkpoint(root / "one", model_type="llava")
    path = root / existing
    path.parent.mkdir(exist_ok=True)
    path.write_text("mine")
    error = refused(capsys, "mine.yaml", "--source", "my.tsv", "--model", folder)
    advice = {"mine.yaml": "another FILE than mine.yaml", "results/mine": "another --name"}
    other = advice.get(existing, "another FILE than mine.yaml, after which it is named")
    assert error.startswith(f"error: {existing}: exists already, ") and error.endswith(f"choose {other}")
    assert path.read_text() == "mine"
    assert {file.name for file in root.glob("mine*")} == {path.name} - {"mine"}


MANY = "more than once; name each once"
IN_CATALOGUE = "all models of the run are in a catalogue"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("", "--source"),
        ("--source no.tsv", '"no.tsv": there is no such file or folder, and no such id in conf'),
        ("--source mmsta", "(did you mean mmstar?)"),
        ("--source mmstar --selector ovis2-1b", "name at least one with --model"),
        ("--source mmstar --model config", "config: config.json cannot be read"),
        ("--source mmstar --model folder", "has no model_type; name the family with"),
        ("--source mmstar --model damaged", "damaged: config.json cannot be read (Expecting"),
        ("--source mmstar --model folder --family lava", "did you mean 'llava'"),
        ("--source mmstar --model own", "model type 'phi4mm' (config.json) is unknown"),
        ("--source my.tsv sub/my.tsv", "my.tsv and sub/my.tsv would have the same id my; rename one of"),
        ("--source mmstar sub/MMStar.tsv", "mmstar and sub/MMStar.tsv would have the same id mmstar; rename"),
        (
            "--source seedbench2-plus SEEDBench2+.tsv",
            "seedbench2-plus and SEEDBench2+.tsv would have the same label SEEDBench2+; rename one of them",
        ),
        ("--source my.tsv ./my.tsv --model idefics3-8b", f"error: --source has my {MANY}"),
        (
            "--source mmstar --model idefics3-8b HuggingFaceM4/Idefics3-8B-Llama3",
            f"error: --model has idefics3-8b {MANY}",
        ),
        (
            "--source mmstar --model emu3-chat --selector ovis2-1b ovis2-1b",
            f"error: --selector has ovis2-1b {MANY}",
        ),
        (
            "--source mmstar --name 'My run'",
            'error: --name is "My run", but should be lower-case letters, dig',
        ),
        (
            "--source sub/a{x}.tsv",
            'error: sub/a{x}.tsv: path is "sub/a{x}.tsv", but contains a brace or an angle bracket, by which',
        ),
        (
            "--source mmstar --model folder --family llava --gpus=-1",
            'error: Invalid value "-1" for --gpus: it should be at least 0; see benchc new --help',
        ),
        ("--source mmstar --model emu3-chat --family llava", f"--family: {IN_CATALOGUE}"),
        (
            "--source mmstar --model emu3-chat --gpus 1",
            f"--gpus: {IN_CATALOGUE}, whose entries have their own",
        ),
        ("--source mmstar --model 'my models/one'", "and it is no id of the Hub (owner/name)"),
        # A path is no id of the Hub.
        ("--source mmstar --model ./none", '"./none": there is no such file or folder, and no such id'),
        ("--source mmstar --model /none", '"/none": there is no such file or folder, and no such id'),
        ("--source mmstar --model a/b/c", '"a/b/c": there is no such file or folder, and no such id'),
        ("--source sub/+.tsv", "sub/+.tsv: its name has no letter or digit for an id; rename it"),
        (
            "--source my.tsv --task-column topic",
            "'topic' is not category or l2_category, the only names of a column with the task type; rename "
            "the column in the file",
        ),
    ],
)
def test_an_error_is_one_line(root: Path, capsys: Capture, arguments: str, sentence: str) -> None:
    checkpoint(root / "folder", architectures=[])
    checkpoint(root / "own", model_type="phi4mm")
    (checkpoint(root / "damaged") / "config.json").write_text("{")
    (root / "sub").mkdir()
    for name in ("my", "a{x}", "MMStar", "../SEEDBench2+", "+"):
        write_tsv(root / f"sub/{name}.tsv", [row(1)])
    assert sentence in refused(capsys, "a.yaml", *shlex.split(arguments))
    assert not list(root.glob("a*"))


def test_another_form_of_file_and_a_benchmark_whose_configuration_is_copied_are_not_offered(
    root: Path, capsys: Capture
) -> None:
    assert "a.txt: is no name of a YAML file" in refused(capsys, "a.txt", "--source", "mmstar")
    error = refused(capsys, "config/mine.yaml", "--source", "my.tsv", "--benchmark", "naturalbench")
    assert "copy config/naturalbench.yaml and edit name, catalogues, sources and models" in error
    assert not (root / "config/mine.yaml").exists()
    main(["new", "--help"])
    assert "naturalbench" not in capsys.readouterr().out
    # A shipped catalogue that was damaged is named.
    (root / "config/models.yaml").write_text("a: ]")
    error = refused(capsys, "b.yaml", "--source", "my.tsv", "--model", "emu3-chat")
    assert error.startswith("error: config/models.yaml: line 1 is not YAML")
    assert error.rstrip().endswith("; mend or restore it")
    (root / "config/models.yaml").write_text("a:\n")
    for model in ("emu3-chat", "owner/name"):
        error = refused(capsys, "b.yaml", "--source", "my.tsv", "--model", model)
        assert error == "error: config/models.yaml: a is null, and no entry; mend or restore it"
    (root / "config/demo.yaml").write_text("- a\n")
    error = refused(capsys, "b.yaml", "--source", "my.tsv", "--model", "emu3-chat")
    assert error == "error: config/demo.yaml: not a mapping of keys to values; mend or restore it"
    (root / "config/demo.yaml").write_text("benchmark: bench-c\nselectors: []\ntargets: []\n")
    error = refused(capsys, "b.yaml", "--source", "my.tsv", "--model", "emu3-chat")
    assert error == "error: config/demo.yaml: demo is missing; mend or restore it"


def test_a_model_on_a_server_has_a_name_that_the_server_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """As for `benchc evaluate`, which takes servers, too."""

    def listed(*names: str) -> tuple[int, dict[str, str], str]:
        return 200, {}, json.dumps({"data": [{"id": name} for name in names]})

    with replying(listed("owner/My_VL")) as asked:
        entry = served_entry(f"{asked.url}/v1/", None)
        served = {"url": asked.url, "model": "owner/My_VL"}
        assert entry.id == "my-vl"
        assert entry.content == {"label": "My_VL", "scoring": "letter", "server": served}
        with pytest.raises(InputError, match=r"#owner/My_V: the server does not serve .*mean owner/My_VL\?"):
            served_entry(f"{asked.url}#owner/My_V", None)
    monkeypatch.setenv("MY_KEY", "sk-12345678")
    with replying(listed("a/one", "/models/two/")) as asked:
        entry = served_entry(f"{asked.url}#/models/two/", "MY_KEY")
        assert (entry.content["label"], entry.content["server"]["api_key_env"]) == ("two", "MY_KEY")
        assert entry.content["server"]["model"] == "/models/two/"
        assert asked.requests[-1][3]["Authorization"] == "Bearer sk-12345678"
        with pytest.raises(InputError, match=rf"serves 2 models; name one, such as {asked.url}#a/one$"):
            served_entry(asked.url, None)
    with replying((503, {}, "busy")) as asked, pytest.raises(InputError, match=r"busy.* after 2 attempts"):
        served_entry(asked.url, None)
    with pytest.raises(ConfigError, match=r"node7:8000: .*has a url that is no web address"):
        served_entry("node7:8000", None)
