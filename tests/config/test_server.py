"""Entries of the model catalogue with a server."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from benchc.config.catalogue import ModelCatalogue
from benchc.config.load import load
from benchc.config.resolved import resolved
from benchc.config.server import Server
from benchc.models.asking import Job
from benchc.workflow.models import Models
from tests.config.trial import MODELS, errors, rows_of

pytestmark = pytest.mark.usefixtures("toy")

URL = "server: {url: 'http://node7:8000'}"
COMMAND = "server: {command: 'vllm serve {model} --revision {revision} --port {port}'}"
LARGE = 'large: {label: Large, family: llava, scoring: letter, repo: owner/large, revision: "1"'


def with_entry(root: Path, keys: str) -> None:
    assert LARGE in MODELS
    (root / "models.yaml").write_text(
        MODELS.replace(LARGE, f"large: {{label: Large, scoring: letter, {keys}")
    )


INVALID = """
repo: owner/large, server: {}
    large.server needs exactly one of url, command, but has none of them.
repo: owner/large, server: {url: 'http://a', command: '{model} {port}'}
    large.server needs exactly one of url, command, but has url and command.
repo: owner/large, server: {command: 'SERVE'}
    large.server has a command without {port}, which a job replaces.
repo: owner/large, server: {command: 'SERVE --port {port}', api_key_env: KEY}
    large.server has an api_key_env, but a server that a job starts needs no key.
repo: owner/large, server: {url: 'node7:8000'}
    large.server has a url that is no web address (http or https); write http://host:port.
repo: owner/large, server: {url: 'ftp://me:secret@node7'}
    large.server has a url that is no web address (http or https); write http://host:port.
repo: owner/large, server: {url: 'http://node7:port/v1'}
    large.server has a url whose port is no number from 0 to 65535; write http://host:port.
repo: owner/large, server: {command: "SERVE 'a --revision {revision} --port {port}"}
    large.server has a command that cannot be split into arguments (No closing quotation); correct its
    quotes.
repo: owner/large, server: {command: 'SERVE --revision {revision} --api-key sk-1234 --port {port}'}
    large.server has a command with --api-key, which everybody can read; remove it, and set an environment
    variable that the server reads, such as HF_TOKEN.
repo: owner/large, server: {command: 'SERVE --revision {revision} --api_key=sk-1234 --port {port}'}
    large.server has a command with --api-key, which everybody can read; remove it, and set an environment
    variable that the server reads, such as HF_TOKEN.
repo: owner/large, server: {command: 'SERVE --revision {revision} --hf-token=hf_secret --port {port}'}
    large.server has a command with --hf-token, which everybody can read; remove it, and set an
    environment variable that the server reads, such as HF_TOKEN.
repo: owner/large, server: {url: 'https://me:secret@node7'}
    large.server has a url with more than host, port and path; give a key by `api_key_env`, and nothing
    else.
repo: owner/large, server: {url: 'http://a', api_key_env: 'sk-1234'}
    large.server has an api_key_env that is not the name of an environment variable (capitals, digits and
    _); set one to the key, and give its name.
repo: owner/large, server: {url: 'http://a', api_key_env: hf_secret}
    large.server has an api_key_env that is not the name of an environment variable (capitals, digits and
    _); set one to the key, and give its name.
repo: owner/large, server: {url: 'http://a', concurrency: 0}
    large.server.concurrency is 0, but should be greater than or equal to 1.
repo: owner/large, server: {url: 'http://a', concurrency: 1025}
    large.server.concurrency is 1025, but should be less than or equal to 1024.
repo: owner/large, server: {url: 'http://a', timeout_s: 0}
    large.server.timeout_s is 0, but should be greater than 0.
repo: owner/large, server: {url: 'http://a', timeout_s: 86401}
    large.server.timeout_s is 86401, but should be less than or equal to 86400.
repo: owner/large, server: {url: 'http://a', start_s: 0}
    large.server.start_s is 0, but should be greater than 0.
repo: owner/large, server: {url: 'http://a', start_s: 86401}
    large.server.start_s is 86401, but should be less than or equal to 86400.
repo: owner/large, server: {url: 'http://a', top_logprobs: 0}
    large.server.top_logprobs is 0, but should be greater than or equal to 1.
repo: owner/large, server: {url: 'http://a', top_logprobs: 1001}
    large.server.top_logprobs is 1001, but should be less than or equal to 1000.
repo: owner/large, server: {url: 'http://a', model: ''}
    large.server.model is "", but should have at least 1 character.
repo: owner/large, server: {command: ''}
    large.server.command is "", but should have at least 1 character.
repo: owner/large, server: {url: 'http://node7:8000'}, dtype: bfloat16, family: llava
    large has server and family and dtype, but the server loads the model; remove it here, and give it to
    the server.
repo: owner/large, server: {command: 'SERVE --revision {revision} --port {port}'}, chat_template: Be brief.
    large has server and chat_template, but the server loads the model; remove it here, and give it to the
    server.
repo: owner/large, server: {command: 'SERVE --revision {revision} --port {port}'}, processor: {max_patches: 3}
    large has server and processor, but the server loads the model; remove it here, and give it to the
    server.
repo: owner/large, server: {command: 'SERVE --port {port}'}
    large has repo and a server.command without {revision}, whose server may load another commit than is
    recorded; add it, such as `--revision {revision}`.
repo: owner/large, server: {url: 'http://node7:8000'}, gpus: 1
    large has server.url and gpus, but a job that only asks a server needs no GPU; remove gpus.
server: {command: '{model} {port}', model: gpt-4o}
    large.server has command and model, but a server that a job starts is asked by repo or path.
repo: owner/large, server: {url: 'http://a', model: gpt-4o}
    large has server.model and repo, but one of them is the name on the server; remove one.
server: {url: 'http://a'}
    large needs exactly one of repo, path, train, but has none of them.
"""


@pytest.mark.parametrize(("keys", "sentence"), rows_of(INVALID, SERVE="vllm serve {model}"))
def test_an_invalid_entry_is_one_sentence(raw: dict[str, Any], root: Path, keys: str, sentence: str) -> None:
    with_entry(root, keys)
    assert errors(raw, root) == (f"models.yaml: {sentence}",)


def test_a_running_server_may_give_the_model_another_name(raw: dict[str, Any], root: Path) -> None:
    with_entry(root, "server: {url: 'http://a', model: gpt-4o}")
    assert load(raw, root).models["large"].name_on_server == "gpt-4o"


def test_a_model_that_only_generates_is_used_only_where_nothing_is_scored(
    raw: dict[str, Any], root: Path
) -> None:
    entry = "large: {label: Large, scoring: generate, server: {url: 'http://a', model: gpt-4o}}"
    (root / "models.yaml").write_text(MODELS.replace(MODELS[MODELS.index("large:") :], entry))
    sentence = (
        'config.yaml: targets[0] is "large", whose scoring in models.yaml is generate, but targets need '
        "models that score options; list it elsewhere, or choose letter, text, text_mean or text_vqascore."
    )
    assert errors(raw, root) == (sentence,)
    config = load(raw | {"targets": ["small"], "more": {"speakers": ["large"]}}, root)
    assert list(config.models) == ["small", "large"]
    closed = "large: {label: Large, scoring: classify, repo: owner/large}"
    (root / "models.yaml").write_text(MODELS.replace(MODELS[MODELS.index("large:") :], closed))
    assert errors(raw, root) == (sentence.replace("is generate", "is classify"),)


def test_an_unknown_model_in_a_block_is_named_by_its_place(raw: dict[str, Any], root: Path) -> None:
    (only,) = errors(raw | {"more": {"speakers": ["small", "larg"]}}, root)
    assert only.startswith('config.yaml: more.speakers[1] is "larg", but there is no such id in models.yaml')


def test_a_running_server_cannot_load_a_folder(raw: dict[str, Any], root: Path) -> None:
    (root / "model").mkdir()
    with_entry(root, f"path: model, {URL}")
    (only,) = errors(raw, root)
    assert only.startswith("models.yaml: large has server.url and path, but only a server that a job starts")
    # A folder has no revision.
    with_entry(root, "path: model, gpus: 2, server: {command: 'vllm serve {model} --port {port}'}")
    assert load(raw, root).models["large"].gpus == 2


@pytest.mark.parametrize(
    "entry",
    [
        f"repo: owner/large, {URL}",
        f"repo: owner/large, {COMMAND}",
        "repo: owner/large, server: {url: 'https://a/b', timeout_s: 5, api_key_env: _K}",
        "server: {url: 'https://a/b', model: gpt-4o}",
        "server: {url: 'https://a', api_path: /v1beta/openai, model: gpt-4o}",
    ],
)
def test_the_record_of_a_run_with_a_server_loads_as_the_same_run(
    raw: dict[str, Any], root: Path, entry: str
) -> None:
    with_entry(root, entry)
    before = load(raw, root)
    assert before.models["large"].family is None
    files = resolved(before, "results/trial", root)
    (root / "results/trial").mkdir(parents=True)
    for path, text in files.items():
        (root / path).write_text(text)
    again = load(yaml.safe_load(files["results/trial/config.yaml"]), root)
    assert again.models["large"] == before.models["large"]


def test_a_job_knows_how_its_server_is_reached(raw: dict[str, Any], root: Path) -> None:
    settings = "api_path: /beta, api_key_env: K, concurrency: 3, timeout_s: 4, start_s: 5, top_logprobs: 6"
    with_entry(root, f"repo: owner/large, server: {{url: 'http://a', {settings}}}")
    config = load(raw, root)
    wildcards = {"model": "large", "subset": "all"}
    job = Models(config, None, {}).job().value(SimpleNamespace(**wildcards, items=wildcards.items), 2)  # type: ignore[arg-type]
    assert (job.server_url, job.server_api_path, job.api_key_env) == ("http://a", "/beta", "K")
    assert (job.concurrency, job.timeout_s, job.start_timeout_s, job.top_logprobs) == (3, 4, 5, 6)


def test_a_job_without_settings_asks_as_a_server_of_the_catalogue_without_settings() -> None:
    assert Server(url="http://a").job(Job.server_log, 1) == Job(server_url="http://a")


@pytest.mark.parametrize(("gpus", "of_job"), [(0, 1), (2, 2)])
def test_a_job_takes_the_gpus_of_the_server_that_it_starts(
    raw: dict[str, Any], root: Path, gpus: int, of_job: int
) -> None:
    server = "{command: 'vllm serve {model} --port {port}'}"
    with_entry(root, f"path: {root}, gpus: {gpus}, server: {server}")
    wildcards = {"model": "large", "subset": "all"}
    job = (
        Models(load(raw, root), None, {})
        .job()
        .value(  # type: ignore[arg-type]
            SimpleNamespace(**wildcards, items=wildcards.items), 2
        )
    )
    assert job.gpus == of_job


@pytest.mark.parametrize("path", ["v1", "/v1/", "/a b", "/a?key=1", "//"])
def test_an_api_path_is_a_path(raw: dict[str, Any], root: Path, path: str) -> None:
    with_entry(root, f"repo: owner/large, server: {{url: 'http://a', api_path: '{path}'}}")
    (only,) = errors(raw, root)
    assert only.endswith(
        f'large.server.api_path is "{path.replace("key=1", "key=***")}", but '
        "should be a path that begins with a slash and ends in none, or empty."
    )


def test_the_entries_of_the_documentation_are_valid() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs/models.md").read_text()
    section = page.split("## Over a server")[1].split("## Add a family")[0]
    blocks = re.findall(r"```yaml\n(.*?)```", section, re.DOTALL)
    models = [
        m for block in blocks for m in ModelCatalogue.model_validate(yaml.safe_load(block)).root.values()
    ]
    assert [model.server is not None and model.server.url is None for model in models] == [
        False,
        True,
        False,
        False,
    ]
    assert [model.scoring for model in models] == ["letter", "letter", "letter", "generate"]
