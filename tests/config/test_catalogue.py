"""An invalid catalogue, or an entry that does not fit the run, is refused with one line per error."""

import os
from pathlib import Path
from typing import Any

import pytest

from benchc.config.load import load
from benchc.config.source_files import SourceFile, max_rejected, reader_options, source_files
from tests.config.trial import MODELS, SOURCES, errors, rows_of

pytestmark = pytest.mark.usefixtures("toy")

LAYERS = "vision_layers: 1, text_layers: 2, steps: 3, batch: 4, learning_rate: 0.01, seed: 1"
INVALID = """
PLAIN
    x needs exactly one of repo, path, train, but has none of them.
PLAIN, path: a, revision: b
    x has a revision without a repo, but only a repo has revisions.
PLAIN, repo: a/b, revision: 2025-01-09
    x.revision is 2025-01-09, but should be a valid string (put it in quotes).
PLAIN, repo: a/b, trust_remote_code: true
    x has trust_remote_code, which needs the commit whose code you have read as the revision: 40 hex
    digits, in quotes.
PLAIN, repo: a/b, trust_remote_code: true, revision: main
    x has trust_remote_code, which needs the commit whose code you have read as the revision: 40 hex
    digits, in quotes.
PLAIN, repo: a/b, trust_remote_code: true, revision: 0123abc
    x has trust_remote_code, which needs the commit whose code you have read as the revision: 40 hex
    digits, in quotes.
PLAIN, trust_remote_code: true, train: {TRAIN}
    x has trust_remote_code, but a model that the run trains contains no code.
family: eagle, scoring: text, path: ., gpus: 2
    x has gpus: 2, but the family eagle is loaded by its own code; remove it.
family: eagle, scoring: text, path: ., gpus: 2, compile: true
    x has compile: true, but the family eagle is loaded by its own code; remove it.
family: eagle, scoring: text, path: ., image_backend: torchvision
    x has image_backend: torchvision, but the family eagle is loaded by its own code; remove it.
family: eagle, scoring: text, path: ., attention: sdpa
    x has attention: sdpa, but the family eagle is loaded by its own code; remove it.
scoring: text, path: ., gpus: 1, attention: flash
    x.attention is "flash", but should be 'sdpa', 'eager' or 'flash_attention_2'.
scoring: text, path: ., attention: flash_attention_2, dtype: bfloat16
    x has attention: flash_attention_2 without gpus, but it computes on a GPU alone; set gpus: 1.
scoring: text, path: ., attention: flash_attention_2, gpus: 1
    x has attention: flash_attention_2 and dtype: float32, in which it cannot compute; set dtype:
    bfloat16.
scoring: text, repo: a/b, attention: sdpa, server: {url: 'http://a:1'}
    x has server and attention, but the server loads the model; remove it here, and give it to the server.
scoring: text, path: ., system_prompt: ' '
    x.system_prompt is " ", but should be a text that is not blank.
scoring: text, path: ., system_prompt: Look at <image> first.
    x has a system_prompt with <image>, which stands for an image of a question; remove it there.
family: eagle, scoring: text, path: ., system_prompt: Be brief.
    x has system_prompt, but the family eagle is loaded by its own code; remove it.
family: eagle, scoring: text, path: ., chat_template: Be brief.
    x has chat_template, but the family eagle is loaded by its own code; remove it.
family: eagle, scoring: text, path: ., auto_class: AutoModelForCausalLM
    x has auto_class, but the family eagle is loaded by its own code; remove it.
family: eagle, scoring: text, path: ., adapter: b
    x has adapter, but the family eagle is loaded by its own code; remove it.
PLAIN, path: a, adapter: b, gpus: 2
    x has adapter and gpus: 2, but an adapter is merged into a model of one device; merge it (peft's
    merge_and_unload), and give the folder of the result as `path`.
PLAIN, adapter: b, train: {TRAIN}
    x has adapter and train, but no adapter was made for a model that the run trains; give its folder as
    `path`.
PLAIN, path: a, adapter_revision: v1
    x has an adapter_revision without an adapter on the Hub, but only that has revisions.
PLAIN, path: a, adapter: ./b, adapter_revision: v1
    x has an adapter_revision without an adapter on the Hub, but only that has revisions.
scoring: text, adapter: a, server: {url: 'http://a', model: m}
    x has server and adapter, but the server loads the model; start it with the adapter (`vllm serve BASE
    --enable-lora --lora-modules NAME=FOLDER`), and give NAME as server.model.
PLAIN, train: {TRAIN, stesp: 600}
    unknown key x.train.stesp (did you mean steps?).
PLAIN, train: {TRAIN, text_share: 1.5}
    x.train.text_share is 1.5, but should be less than or equal to 1.
PLAIN, train: {hidden: 50, patch: 8, LAYERS}
    x.train.hidden is 50, but should be a multiple of 24.
PLAIN, train: {hidden: 48, patch: 5, LAYERS}
    x.train.patch is 5, but should be 1, 2, 3, 4, 6, 8, 12 or 24.
family: ovis2, scoring: text, train: {TRAIN}
    x has train and the family ovis2, but a run trains only llava, internvl, idefics3, vilt.
family: vilt, scoring: text, train: {TRAIN}
    x has scoring: text, but a run trains the family vilt for classify.
family: llava, scoring: classify, train: {TRAIN}
    x has scoring: classify, but a run trains the family llava for letter, text, text_mean or
    text_vqascore.
family: llava, scoring: letter, train: {TRAIN, captions: true}
    x has train.captions and scoring: letter, but captions are texts; set scoring: text.
family: llava, scoring: text_mean, train: {TRAIN, captions: true}
    x has train.captions and scoring: text_mean, but captions are texts; set scoring: text.
scoring: text_vqascore, repo: a/b, server: {url: 'http://a'}
    x has server and scoring: text_vqascore, but a server does not tell the token that ends an answer;
    load the model in the job, or set scoring: text.
scoring: classify, repo: a/b, server: {url: 'http://a'}
    x has server and scoring: classify, but a server generates answers; load the model in the job, or set
    scoring: generate.
PLAIN, repo: a/b, parameters_b: .inf
    x.parameters_b is Infinity, but should be a finite number.
PLAIN, repo: a/b, processor: {scale: .nan}
    x.processor.scale is NaN, but should be a valid boolean or a valid integer or a finite number or a
    valid string (put it in quotes).
PLAIN, repo: a/b, published: {My data: {percent: 50, reference: r}}
    id is "My data", but should be lower-case letters, digits, dots and dashes.
PLAIN, repo: a/..
    x.repo is "a/..", but should be a Hub id (owner/name).
PLAIN, repo: ../b
    x.repo is "../b", but should be a Hub id (owner/name).
PLAIN, repo: a/b..c
    x.repo is "a/b..c", but should be a Hub id (owner/name).
PLAIN, repo: a/b/c
    x.repo is "a/b/c", but should be a Hub id (owner/name).
PLAIN, repo: -a/b
    x.repo is "-a/b", but should be a Hub id (owner/name).
PLAIN, repo: a/b, revision: ../../x
    x.revision is "../../x", but should be a commit, tag or branch of the Hub.
PLAIN, repo: b
    x.repo is "b", but should be a Hub id (owner/name).
"""


@pytest.mark.parametrize(
    ("entry", "sentence"),
    rows_of(
        INVALID, PLAIN="family: llava, scoring: text", TRAIN="hidden: 48, patch: 8, LAYERS", LAYERS=LAYERS
    ),
)
def test_an_invalid_catalogue_entry(raw: dict[str, Any], root: Path, entry: str, sentence: str) -> None:
    (root / "models.yaml").write_text(f"{MODELS}x: {{label: X, {entry}}}\n")
    assert errors(raw, root) == (f"models.yaml: {sentence}",)


def test_the_code_of_a_commit_or_of_a_folder_can_be_trusted(raw: dict[str, Any], root: Path) -> None:
    trusted = f'repo: owner/large, revision: "{"0f" * 20}", trust_remote_code: true'
    (root / "models.yaml").write_text(MODELS.replace('repo: owner/large, revision: "1"', trusted))
    assert load(raw, root).models["large"].trust_remote_code
    (root / "model").mkdir()
    trusted = "path: model, trust_remote_code: true"
    (root / "models.yaml").write_text(MODELS.replace('repo: owner/large, revision: "1"', trusted))
    models = load(raw, root).models
    assert models["large"].trust_remote_code
    assert not models["small"].trust_remote_code


def test_an_adapter_is_a_folder_an_id_on_the_hub_or_none(
    raw: dict[str, Any], root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("model", "lora", "owner/lora"):
        (root / folder).mkdir(parents=True)
    (root / "file").touch()

    def write(keys: str) -> None:
        path = "path: '${HERE}/model'"
        (root / "models.yaml").write_text(
            MODELS.replace('repo: owner/large, revision: "1"', f"{path}, {keys}")
        )

    def found(keys: str) -> tuple[str | None, str | None, str | None]:
        write(keys)
        model = load(raw, root, environment={"HERE": "."}).models["large"]
        assert model.path == "./model"
        return model.adapter, model.adapter_repo, model.adapter_folder

    assert found("adapter: '${HERE}/lora', gpus: 1") == ("./lora", None, "./lora")
    hub = "adapter: owner/lora, adapter_revision: v1"
    assert found(hub) == ("owner/lora", "owner/lora", None)
    # The model alone, though its folder may have an adapter.
    assert found("adapter: none, gpus: 2") == ("none", None, None)
    for adapter, problem in (
        ("gone", "there is no gone"),
        ("file", "file is a file, not the folder of an adapter"),
    ):
        write(f"adapter: {adapter}")
        assert errors(raw, root, HERE=".") == (f'models.yaml: large.adapter is "{adapter}", but {problem}.',)
    # A folder of this name is the one that is meant.
    monkeypatch.chdir(root)
    assert found("adapter: owner/lora") == ("owner/lora", None, "owner/lora")
    write(hub)
    assert "without an adapter on the Hub" in errors(raw, root)[0]


def test_an_invalid_id_is_refused(raw: dict[str, Any], root: Path) -> None:
    (root / "models.yaml").write_text(
        MODELS + "My Model: {label: X, family: llava, scoring: text, repo: a/b}\n"
    )
    assert errors(raw, root) == (
        'models.yaml: id is "My Model", but should be lower-case letters, digits, dots and dashes.',
    )


def test_a_repeated_entry_is_refused(raw: dict[str, Any], root: Path) -> None:
    (root / "models.yaml").write_text(MODELS + "small: {label: X, family: llava, scoring: text, repo: a/b}\n")
    assert errors(raw, root)[0] == "models.yaml: small is given twice, in lines 2 and 9."


def test_a_file_that_is_not_yaml_is_refused_with_the_line(raw: dict[str, Any], root: Path) -> None:
    (root / "models.yaml").write_text("a: {b: c\nd: e")
    assert errors(raw, root)[0].startswith("models.yaml: line 2, or the line before, is not YAML")


def test_paths_expand_variables_and_a_missing_file_names_them(raw: dict[str, Any], root: Path) -> None:
    (root / "sources.yaml").write_text(
        "drawn-text: {label: A, path: '${BENCHC_SHARED}/a.tsv', task_column: category}\n"
    )
    raw["sources"] = ["drawn-text"]
    (root / "data").mkdir()
    (root / "data" / "a.tsv").touch()
    config = load(raw, root, environment={"BENCHC_SHARED": "data"})
    assert config.sources["drawn-text"].path == "data/a.tsv"
    assert errors(raw, root, BENCHC_SHARED="elsewhere") == (
        'sources.yaml: drawn-text.path is "${BENCHC_SHARED}/a.tsv", but there is no elsewhere/a.tsv; '
        "set the environment variable BENCHC_SHARED to change it.",
    )
    assert "there is no ../shared/a.tsv" in errors(raw, root)[0]


def test_a_file_that_a_run_writes_need_not_exist(raw: dict[str, Any], root: Path) -> None:
    entry = "drawn-text: {label: A, path: results/other/curate/groups.tsv, task_column: category}\n"
    (root / "sources.yaml").write_text(entry)
    raw["sources"] = ["drawn-text"]
    assert load(raw, root).sources["drawn-text"].path == "results/other/curate/groups.tsv"
    for other in ("resulted", "results2"):
        (root / "sources.yaml").write_text(entry.replace("results", other))
        assert f"there is no {other}/other" in errors(raw, root)[0]
    (root / "results/other/curate/groups.tsv").mkdir(parents=True)
    (root / "sources.yaml").write_text(entry)
    assert "has no csv, JSON Lines or Parquet file" in errors(raw, root)[0]
    # A run writes no model, and no adapter.
    for change in ("path: ./results/m", "path: envs, adapter: ./results/m"):
        (root / "models.yaml").write_text(MODELS.replace('repo: owner/large, revision: "1"', change))
        assert "there is no ./results/m" in errors(raw, root)[-1]


def test_an_unset_variable_is_named(raw: dict[str, Any], root: Path) -> None:
    (root / "sources.yaml").write_text(
        "drawn-text: {label: A, path: '${DATA}/${FILE}.tsv', task_column: category}\n"
    )
    raw["sources"] = ["drawn-text"]
    assert "the environment variable DATA is not set" in errors(raw, root)[0]


def test_two_models_of_a_run_with_one_label_are_refused(raw: dict[str, Any], root: Path) -> None:
    third = "third: {label: Small, family: llava, scoring: text, repo: a/b}\n"
    (root / "models.yaml").write_text(MODELS + third)
    load(raw, root)  # the run does not use the third model
    raw["selectors"] = ["small", "third"]
    assert errors(raw, root) == (
        'models.yaml: third.label is "Small", and so is small.label; a run that uses both needs two labels.',
    )
    (root / "models.yaml").write_text(MODELS + third.replace("label: Small", "label: small"))
    assert errors(raw, root) == (
        'models.yaml: third.label is "small", which is the id of another; a run that uses both needs another '
        "label.",
    )


def test_two_sources_with_one_label_are_refused(raw: dict[str, Any], root: Path) -> None:
    (root / "sources.yaml").write_text(SOURCES.replace("label: B", "label: A"))
    assert errors(raw, root) == (
        'sources.yaml: drawn-charts.label is "A", and so is drawn-text.label; a run that uses both needs '
        "two labels.",
    )


def test_a_source_that_the_run_cannot_generate_is_refused(raw: dict[str, Any], root: Path) -> None:
    (root / "sources.yaml").write_text(
        SOURCES + "drawn-shape: {label: C, generated: {groups: 3}, task_column: category}\n"
    )
    assert errors(raw, root) == (
        "sources.yaml: drawn-shape has generated, but is not a source of the demo "
        "(did you mean drawn-shapes?).",
    )


def test_an_environment_without_a_file_is_refused(raw: dict[str, Any], root: Path) -> None:
    (root / "models.yaml").write_text(MODELS.replace('revision: "1"', 'revision: "1", env: transformer'))
    assert errors(raw, root) == (
        'models.yaml: large.env is "transformer", but there is no such file in envs '
        "(did you mean transformers?).",
    )
    (root / "models.yaml").write_text(MODELS.replace('revision: "1"', 'revision: "1", env: null'))
    assert load(raw, root).models["large"].env is None


@pytest.mark.parametrize("content", [b"a: \xff", b"a: \x00"])
def test_a_catalogue_that_is_not_utf8_is_refused(raw: dict[str, Any], root: Path, content: bytes) -> None:
    (root / "models.yaml").write_bytes(content)
    assert errors(raw, root)[0].startswith("models.yaml: the content is not YAML in UTF-8 (")


def test_a_path_of_the_wrong_kind_is_refused(raw: dict[str, Any], root: Path) -> None:
    (root / "model").touch()
    (root / "models.yaml").write_text(MODELS.replace('repo: owner/large, revision: "1"', "path: model"))
    (root / "sources.yaml").write_text(SOURCES + "table: {label: T, path: envs, task_column: category}\n")
    raw["sources"] = ["table", "drawn-text"]
    assert errors(raw, root) == (
        'sources.yaml: table.path is "envs", but has no csv, JSON Lines or Parquet file; add '
        "metadata.csv, or give a file or another folder.",
        'models.yaml: large.path is "model", but model is a file, not a folder in the Hub\'s format.',
    )


@pytest.mark.parametrize("scoring", ["letter", "text", "text_mean"])
def test_every_scoring_is_valid(raw: dict[str, Any], root: Path, scoring: str) -> None:
    (root / "models.yaml").write_text(MODELS.replace("scoring: text", f"scoring: {scoring}"))
    assert load(raw, root).models["small"].scoring == scoring


@pytest.mark.parametrize("revision", ["main", "refs/pr/1", "v1.0-rc.1", "0123456789abcdef", "a/.b"])
@pytest.mark.parametrize("repo", ["Qwen/Qwen2.5-VL-7B-Instruct", "_a/b__c-d.e", "OpenGVLab/InternVL3-8B"])
def test_ids_and_revisions_of_the_hub_are_valid(
    raw: dict[str, Any], root: Path, repo: str, revision: str
) -> None:
    changed = MODELS.replace("owner/large", repo).replace('revision: "1"', f'revision: "{revision}"')
    (root / "models.yaml").write_text(changed)
    assert load(raw, root).models["large"].repo == repo


@pytest.mark.parametrize("path", ["..", "envs/..", ".", "./", "${HERE}", "${HERE}/envs/.."])
def test_the_folder_of_a_model_has_a_name(raw: dict[str, Any], root: Path, path: str) -> None:
    local = MODELS.replace('repo: owner/large, revision: "1"', f'path: "{path}"')
    (root / "models.yaml").write_text(local)
    (only,) = errors(raw, root, HERE=".")
    assert only.startswith(f'models.yaml: large.path is "{path}", but should end in the name of the model')


def test_a_path_without_printable_characters_alone_is_refused(raw: dict[str, Any], root: Path) -> None:
    (root / "a\nb").mkdir()
    local = MODELS.replace('repo: owner/large, revision: "1"', r'path: "a\nb"')
    (root / "models.yaml").write_text(local)
    assert errors(raw, root) == (
        r'models.yaml: large.path is "a\nb", but contains a control character; rename the file or folder.',
    )


@pytest.mark.parametrize("path", ["a{b}", "a<b>", "${HERE}/a"])
def test_a_path_with_a_placeholder_of_snakemake_is_refused(
    raw: dict[str, Any], root: Path, path: str
) -> None:
    (root / path).mkdir(parents=True)
    local = MODELS.replace('repo: owner/large, revision: "1"', f'path: "{path}"')
    (root / "models.yaml").write_text(local)
    (only,) = errors(raw, root, HERE="{b}")
    assert only.startswith(f'models.yaml: large.path is "{path}", but contains a brace or an angle bracket, ')


def test_a_pipe_is_no_source(raw: dict[str, Any], root: Path) -> None:
    os.mkfifo(root / "pipe.tsv")
    (root / "sources.yaml").write_text(SOURCES + "p: {label: P, path: pipe.tsv, task_column: category}\n")
    raw["sources"] = ["p", "drawn-text"]
    assert errors(raw, root) == (
        'sources.yaml: p.path is "pipe.tsv", but pipe.tsv is a pipe or device, not a TSV, csv, JSON Lines or '
        "Parquet file, or a folder with one.",
    )


@pytest.mark.parametrize("spelling", ["l2_category", "l2-category"])
def test_both_spellings_of_the_task_column_are_the_same(
    raw: dict[str, Any], root: Path, spelling: str
) -> None:
    (root / "sources.yaml").write_text(SOURCES.replace("task_column: category", f"task_column: {spelling}"))
    assert {source.task_column for source in load(raw, root).sources.values()} == {"l2_category"}


READER = "r: {label: R, path: r.tsv, task_column: category, reader: {%s}}\n"


def test_excluded_values_are_in_one_order(raw: dict[str, Any], root: Path) -> None:
    (root / "r.tsv").touch()
    excluded = "exclude: {kind: [sort, count], category: [look], a: b}, pixel_keys: true, one_image: true"
    excluded += ", columns: {image: [left, right], options: choices}"
    (root / "sources.yaml").write_text(SOURCES + READER % excluded)
    raw["sources"] = ["r", "drawn-text"]
    options = reader_options(load(raw, root).sources["r"])
    # Another order in the catalogue is no other param of the rule, and so reruns nothing.
    assert list(options.exclude.items()) == [("a", "b"), ("category", ["look"]), ("kind", ["count", "sort"])]
    assert options.pixel_keys and options.one_image and options.columns["image"] == ["left", "right"]


FILES = "questions: q.json, annotations: a.zip, images: i"
VQAV2 = f"v: {{label: V, task_column: category, convert: {{format: vqav2, files: {{{FILES}}}%s}}%s}}\n"


def test_files_to_convert_are_local_or_downloaded(raw: dict[str, Any], root: Path) -> None:
    for name in ("q.json", "a.zip", "list.txt"):
        (root / name).touch()
    (root / "i").mkdir()
    text = VQAV2.replace("q.json", "'${HERE}/q.json'").replace("a.zip", "https://x.org/a.zip")
    md5 = "0f" * 16
    (root / "sources.yaml").write_text(
        SOURCES
        + text
        % (
            f", take_images: list.txt, md5: {{annotations: {md5}}}, bytes: {{annotations: 7}}, "
            "mirrors: {annotations: ['https://y.org/a.zip']}",
            "",
        )
    )
    raw["sources"] = ["v", "drawn-text"]
    source = load(raw, root, environment={"HERE": "."}).sources["v"]
    assert source_files("v", source) == {
        "questions": SourceFile("./q.json"),
        "annotations": SourceFile(
            "results/downloads/v/annotations", "https://x.org/a.zip", md5, 7, ("https://y.org/a.zip",)
        ),
        "images": SourceFile("i"),
    }
    assert source.convert is not None and source.convert.take == Path("list.txt")
    assert max_rejected(source) == 1
    (root / "sources.yaml").write_text(SOURCES + text % (", take_images: 5", ""))
    source = load(raw, root, environment={"HERE": "."}).sources["v"]
    assert source.convert is not None and source.convert.take == 5


# A sentence that ends in no full stop goes on.
INVALID_SOURCES = """
path: r.tsv, reader: {pixel_keys: true, image_column: photo}
    v.reader has pixel_keys and image_column, and an image has one key; remove one of them.
path: r.tsv, reader: {answer_words: true, options_column: o}
    v.reader has answer_words and options_column; remove the one that is not the file's.
path: r.tsv, reader: {open_ended: true, answer_words: true}
    v.reader has open_ended, which is for a file with the columns A, B, ..., and answer_words; remove one
    of them.
path: r.tsv, reader: {open_ended: true, options_column: o}
    v.reader has open_ended, which is for a file with the columns A, B, ..., and options_column; remove one
    of them.
path: r.tsv, reader: {columns: {answer: [a, b]}}
    v.reader has several columns of answer, and only an image may have several; name one.
path: r.tsv, reader: {columns: {question: [a, b]}}
    v.reader has several columns of question, and only an image may have several; name one.
path: r.tsv, reader: {columns: {options: a, A: b}}
    v.reader has columns of options and of single options; remove one of them.
path: r.tsv, reader: {max_rejected: 1.5}
    v.reader.max_rejected is 1.5, but should be less than or equal to 1.
path: r.tsv, reader: {exclude: {kind: []}}
    v.reader.exclude.kind is [], but should be
path: r.tsv, reader: {exclude: {kind: 3}}
    v.reader.exclude.kind is 3, but should be a valid string (put it in quotes) or a valid list.
path: r.tsv, reader: {exclude: {kind: [3]}}
    v.reader.exclude.kind is [3], but should be
path: r.tsv, reader: {pixel_keys: kind}
    v.reader.pixel_keys is "kind", but should be
convert: {format: vqav2, files: {FILES}}, path: t.tsv
    v needs exactly one of url, path, generated, convert, but has path and convert.
convert: {format: vqav2, files: {FILES}}, reader: {index_below: 3}
    v has a reader, which is for published TSV files, and convert; remove one.
convert: {format: vqav2, files: {FILES}, take_images: 0}
    v.convert.take_images is 0, but should be
convert: {format: vqav2, files: {FILES}, take_images: true}
    v.convert.take_images is true, but should be
convert: {format: vqav2, files: {FILES}, take: 3}
    unknown key v.convert.take; there are format,
convert: {format: vqav2, files: {FILES}, md5: {images: DIGEST}}
    v.convert has an md5 of images, which is no download; only downloads are checked.
convert: {format: vqav2, files: {FILES}, bytes: {images: 5}}
    v.convert has bytes of images, which is no download; only downloads are checked.
convert: {format: vqav2, files: {FILES}, mirrors: {images: ['https://x.org/i.zip']}}
    v.convert has mirrors of images, which is no download; only downloads are checked.
convert: {format: vqav2, files: {FILES, more: m}}
    v.convert has the files questions, annotations, images, more, but should have questions, annotations,
    images.
convert: {format: vqav2, files: {questions: q.json}}
    v.convert has the files questions, but should have questions, annotations, images.
convert: {format: coco, files: {FILES}}
    v.convert.format is "coco", but should be 'vqav2'.
vqav2: {FILES}
    v has vqav2, which is now convert, with format: vqav2, and with questions, annotations and images
    below files.
url: 'https://x.org/t.tsv', mirrors: ['https://y.org/t.tsv']
    v has mirrors without an md5, which tells that they have the same file; add the MD5 that is published,
    or remove the mirrors.
url: 'https://x.org/t.tsv', md5: DIGEST, mirrors: ['https://x.org/t.tsv']
    v has https://x.org/t.tsv also among its mirrors; remove it there.
url: 'https://x.org/t.tsv', md5: DIGEST, mirrors: [data/t.tsv]
    v.mirrors[0] is "data/t.tsv", but should be a web address (http or https).
url: 'https://x.org/t.tsv', md5: DIGEST, mirrors: ['https://y.org', 'https://y.org']
    v.mirrors has https://y.org more than once; name each once.
path: t.tsv, mirrors: ['https://y.org']
    v has mirrors without a url, but only downloads are checked.
path: t.tsv, md5: DIGEST
    v has an md5 without a url, but only downloads are checked.
path: t.tsv, bytes: 5
    v has bytes without a url, but only downloads are checked.
convert: {format: vqav2, files: {REMOTE}, mirrors: {annotations: ['https://y.org/a.zip']}}
    v.convert has mirrors of annotations without an md5, which tells that they have the same file; add the
    MD5 that is published, or remove the mirrors.
"""
REMOTE = FILES.replace("a.zip", "https://x.org/a.zip")


@pytest.mark.parametrize(
    ("given", "sentence"), rows_of(INVALID_SOURCES, FILES=FILES, REMOTE=REMOTE, DIGEST="0f" * 16)
)
def test_an_invalid_source(raw: dict[str, Any], root: Path, given: str, sentence: str) -> None:
    (root / "sources.yaml").write_text(f"{SOURCES}v: {{label: V, task_column: category, {given}}}\n")
    (only,) = errors(raw, root)
    assert only.startswith(f"sources.yaml: {sentence}")
    assert only == f"sources.yaml: {sentence}" or not sentence.endswith(".")


def test_paths_of_files_to_convert_are_checked(raw: dict[str, Any], root: Path) -> None:
    (root / "q.json").mkdir()
    (root / "i").touch()
    # A run writes TSVs, and no other file of a source.
    entry = VQAV2.replace("a.zip", "results/a.zip") % (", take_images: '${LISTS}/l.txt'", "")
    (root / "sources.yaml").write_text(SOURCES + entry)
    raw["sources"] = ["v", "drawn-text"]
    assert errors(raw, root, LISTS="none") == (
        'sources.yaml: v.convert.files.questions is "q.json", but q.json is a folder, not a JSON file or its '
        "zip.",
        'sources.yaml: v.convert.files.annotations is "results/a.zip", but there is no results/a.zip.',
        'sources.yaml: v.convert.take_images is "${LISTS}/l.txt", but there is no none/l.txt; set the '
        "environment variable LISTS to change it.",
    )


def test_errors_of_addresses_have_no_secret(raw: dict[str, Any], root: Path) -> None:
    key = "?key=AIzaSECRET99"
    raw["sources"] = ["drawn-text", "v"]
    for given in (
        f"url: 'https://x.org/t.tsv{key}', md5: {'0f' * 16}, mirrors: ['https://x.org/t.tsv{key}']",
        f"url: 'HTTPS://x.org/t.tsv{key}'",
        f"url: 'ftp://x.org/t.tsv{key}'",
        f"url: ' https://x.org/t.tsv{key}'",
        f"url: ['https://x.org/t.tsv{key}']",
        f"url: 'https://x.org/t.tsv', md5: {'0f' * 16}, mirrors: ['http//x.org/t.tsv{key}']",
        "url: 'ftp://x.org/t.tsv?sig=AIzaSECRET99'",
        # Where it is cut off, in other parts, and in what is hardly an address.
        f"url: 'ftp://x.org/{'a' * 24}{key}SECRET99SECRET99SECRET99'",
        f"url: 'ftp://{'a' * 30}:SECRET99SECRET99SECRET99@x.org/t.tsv'",
        "url: 'ftp://x.org/t.tsv#token=AIzaSECRET99'",
        "url: 'ftp://x.org/t.tsv?a=1;pwd=AIza+SECRET99'",
        f"url: 'https:/x.org/t.tsv{key}'",
        "url: 'ftp://me:pa ssSECRET@x.org/t.tsv'",
        "url: '//me:SECRETSECRET@x.org/t.tsv'",
        "url: 'ftp://x.org/t.tsv?api[key]=AIzaSECRET99&k%65y=AIza SECRET99'",
        f"url: 'https://x.org/t.tsv', md5: {'0f' * 16}, mirrors: ['https://x.org/a{key}', 'https://x.org/a{key}']",
        f"url: 'https://[x.org/t.tsv{key}', md5: {'0f' * 16}, mirrors: ['https://[x.org/t.tsv{key}']",
        f"path: 'https://x.org/t.tsv{key}'",
        f"'https://x.org/t.tsv{key}': 1",
        f"url: 'ftp://[x.org/t.tsv{key}'",
        "convert: {format: vqav2, files: {questions: 'https://x.org/q.zip#token=SECRET', images: i, "
        f"annotations: a.json}}, md5: {{questions: {'0f' * 16}}}, "
        "mirrors: {questions: ['https://x.org/q.zip#token=SECRET']}}",
    ):
        (root / "sources.yaml").write_text(SOURCES + f"v: {{label: V, task_column: category, {given}}}\n")
        found = errors(raw, root)
        assert found and "SECRET" not in "".join(found), found
    (root / "sources.yaml").write_text(f"- {{url: 'https://x.org/t.tsv{key}'}}\n")
    assert "key=***" in errors(raw, root)[0]


@pytest.mark.parametrize(
    ("given", "secret"),
    [
        ("url: 'https://me:pass@x.org/t.tsv'", "v has an address with a user or password"),
        ("url: 'https://x.org/t.tsv?se=1&sig=a%2Fb'", "v has an address with sig"),
        ("url: 'https://x.org/t.tsv?X-Amz-Signature=ab'", "v has an address with X-Amz-Signature"),
        (
            f"url: 'https://x.org/t.tsv', md5: {'0f' * 16}, mirrors: ['https://y.org/t?access_token=ab']",
            "v has an address with access_token",
        ),
        (
            'convert: {format: vqav2, files: {questions: "http://x?apikey=b", annotations: a, images: i}}',
            "v.convert has an address with apikey",
        ),
        ("url: 'https://x.org/t.tsv?alt=media&key=AIza'", "v has an address with key"),
        ("url: 'https://x.org/t.tsv?a=1;pwd=b'", "v has an address with pwd"),
        ("url: 'https://x.org/t.tsv#token=b'", "v has an address with token"),
        ("url: 'https://x.org/t.tsv?subscription-key=b'", "v has an address with subscription-key"),
        ("url: 'https://x.org/t.tsv?author=b'", None),
        ("url: 'https://x.org/t.tsv?download=true&rlkey=public'", None),
        ("url: 'https://[x/t.tsv'", None),  # no address, which has no secret either
    ],
)
def test_addresses_that_results_show_have_no_secret(
    raw: dict[str, Any], root: Path, given: str, secret: str | None
) -> None:
    (root / "sources.yaml").write_text(SOURCES + f"v: {{label: V, task_column: category, {given}}}\n")
    end = ", which the run's pages and exports would show; download the file, and give its path."
    if secret is None:
        load(raw, root)
    else:
        assert errors(raw, root) == (f"sources.yaml: {secret}{end}",)
