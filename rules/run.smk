"""The configuration of the run, and functions of it that the rules share. Contains no rules.

REQUIRED INPUTS: the configuration and the catalogues that it names
OUTPUTS: none
"""

import json
import shlex
from dataclasses import replace
from operator import attrgetter

from benchc.closure import code_digests, content_sample, module_file
from benchc.config.parts import parts
from benchc.config.benchmarks import package_of
from benchc.config.errors import ConfigError
from benchc.config.load import load
from benchc.config.paths import is_result
from benchc.config.source_files import VQAV2_FILES, source_files
from benchc.errors import InputError
from benchc.user_paths import relative_path
from benchc.corruptions.own_code import first_party_files, own_digests
from benchc.corruptions.own_suite import suite_with
from benchc.corruptions.recipe import CLEAN, own_file
from benchc.corruptions.registry import group_of, recipe_of
from benchc.rendering.declaration import figure, page, table
from benchc.schemas.revision import read_revision
from benchc.models.folder import deciding_files
from benchc.models.own_code_families import lacks_trust
from benchc.models.registry import ANSWERING, CLASSIFY, answering, scorer_modules
from benchc.models.server.modules import server_modules
from benchc.models.supported import is_supported

# Written by save_pretrained of transformers for a model and its processor.
MODEL_FILES = [
    "config.json",
    "generation_config.json",
    "model.safetensors",
    "processor_config.json",
    "chat_template.jinja",
    "tokenizer.json",
    "tokenizer_config.json",
]
# The same for a VQA head with a closed list of answers.
VQA_HEAD_FILES = [
    file for file in MODEL_FILES if file not in ("generation_config.json", "chat_template.jinja")
]
ENCODER_FOLDER = "results/models/image_encoder"
ENCODER_FILES = [
    f"{ENCODER_FOLDER}/open_clip_config.json",
    f"{ENCODER_FOLDER}/open_clip_model.safetensors",
]

if Path.cwd() != Path(workflow.basedir):
    raise WorkflowError(f"Run snakemake in {workflow.basedir}: all paths are relative to it.")

try:
    run = load(
        {key: value for key, value in config.items() if key != "pathvars"},
        Path(workflow.basedir),
        file=" ".join(str(file) for file in workflow.configfiles) or "config",
    )
except ConfigError as error:
    raise WorkflowError(str(error))

settings = run.settings
# The benchmark's name as an identifier: that of its rule file, scripts and package.
PACKAGE = package_of(settings.benchmark)
# Empty if the run generates and trains nothing itself.
demo = settings.demo.model_dump() if settings.demo else {}
# With the corruptions of the user's files.
SUITE = suite_with(settings.corruptions.suite, settings.corruptions.own_files)
PARTS = parts(settings.corruptions, settings.inference)


def image_folder(subset):
    """Return the folder of the images of a subset's items; None if the jobs generate them.

    BENCHMARK is defined by the benchmark's rule file, which is included after this one.
    """
    if settings.corruptions.corrupted == "files":
        return "corrupted"
    return "benchmark" if subset == BENCHMARK else None


# Imported by name in the jobs of models on a server, besides the modules of the scoring.
SERVED_MODULE = "scripts.served_model"


def modules_of(model, scoring):
    """Return the modules of a model's family and scoring; none where its family is not supported yet."""
    if model.server is not None:
        return (SERVED_MODULE, *server_modules(scoring))
    return scorer_modules(model.family, scoring) if is_supported(model.family) else ()


SCORER_MODULES = {id_: modules_of(model, model.scoring) for id_, model in run.models.items()}
UNSUPPORTED = [id_ for id_, modules in SCORER_MODULES.items() if not modules]
if UNSUPPORTED:
    logger.warning(
        f"{len(UNSUPPORTED)} models cannot be loaded, because their families are not supported yet "
        f"(docs/models.md): {', '.join(f'{id_} ({run.models[id_].family})' for id_ in UNSUPPORTED)}."
    )


UNTRUSTED = [id_ for id_, model in run.models.items() if lacks_trust(model)]
if UNTRUSTED:
    logger.warning(
        f"{len(UNTRUSTED)} models are loaded by Python code of their checkpoint, which is not trusted yet "
        f"(docs/models.md): {', '.join(UNTRUSTED)}."
    )


def keys_with(models):
    """Return the keys of the configuration that name any of the models."""
    return " and ".join(key for key in settings.MODEL_KEYS if set(models) & set(attrgetter(key)(settings)))


# Files that the benchmark requires beside its outputs.
REPORTED = []
# Folders of outputs that people may fill in, which no job computes with.
CHANGED_BY_PEOPLE = []
# Functions of the benchmark that return lines: those of the first stop a run before any output is removed, those of
# the second end one that failed.
AT_START = []
AT_ERROR = []


# Dry runs skip this: they work for a configuration that cannot be run yet.
onstart:
    if UNTRUSTED:
        raise WorkflowError(
            "Run `benchc models pin ID`, which writes the commit into the model catalogue, read the code at that "
            "commit, and set `trust_remote_code: true` there, or remove the models from "
            f"{keys_with(UNTRUSTED)}: {', '.join(UNTRUSTED)}."
        )
    if UNSUPPORTED:
        raise WorkflowError(
            f"Remove the models that cannot be loaded from {keys_with(UNSUPPORTED)}, or correct "
            f"their family: {', '.join(UNSUPPORTED)}."
        )
    faults = [line for lines in AT_START for line in lines()]
    if faults:
        raise WorkflowError("\n".join(faults))


def code_of(*files):
    """Return a digest of each source file that a rule runs. As its params, they rerun it when code changes.

    Each is a param of its own, so that a dry run names the files that changed. Comments, docstrings and
    formatting do not change a digest.
    """
    return code_digests(files, workflow.basedir)


def code_by_wildcards(code, values):
    """Return digests that depend on wildcards as params: those of all jobs, and functions for the others.

    ``code`` returns the digests of a job, one of ``values``, from its wildcards. A job has at least one empty
    line, so that a longer list of another job does not add one, which would rerun this job.
    """
    every = [set(digests) for digests in values]
    common = set.intersection(*every) if every else set()

    def line(wildcards, number):
        own = [digest for digest in code(wildcards) if digest not in common]
        return own[number] if number < len(own) else ""

    functions = [
        lambda wildcards, number=number: line(wildcards, number)
        for number in range(1 + max((len(digests - common) for digests in every), default=0))
    ]
    return [*sorted(common), *functions]


def option(flag, value):
    """Return a command-line option, empty if ``value`` is None.

    The flag is part of the param, since Snakemake compares params without their names: it would not notice
    two swapped numbers.
    """
    return "" if value is None else f"{flag} {shlex.quote(str(value))}"


def options_of(values):
    """Return a mapping of scalars as command-line options: `steps: 900` becomes `--steps 900`.

    They are sorted, so that a new order of keys in a file reruns nothing.
    """
    return " ".join(
        option(f"--{key.replace('_', '-')}", value) for key, value in sorted((values or {}).items())
    )


def local(path):
    """Return a user's path; below the working directory, it is relative however it is written."""
    return relative_path(path, Path.cwd())


def contents_of(files):
    """Return a param that changes with the content of a user's files, which Snakemake misses if they are older.

    A file of more than 1 MB is read at 16 places only.
    """
    return [f"{file} {content_sample(file)}" for file in files if Path(file).is_file()]


SOURCE_FILES = {id_: source_files(id_, source) for id_, source in run.sources.items()}
VQAV2_SOURCES = [id_ for id_, source in run.sources.items() if source.vqav2 is not None]
TSV_SOURCES = [id_ for id_ in run.sources if id_ not in VQAV2_SOURCES]
NO_WILDCARD = "(?!)"  # matches nothing


def file_of(source, name):
    """Return a file of a source, named as in source_files: downloaded, generated or local."""
    return str(local(SOURCE_FILES[source][name].path))


def tsv_of(wildcards):
    """Return the TSV file of a source."""
    return file_of(wildcards.source, "tsv")


def image_list_of(source):
    """Return the file that lists the images of VQAv2 to take; none where a number does."""
    taken = run.sources[source].vqav2.take_images
    return [str(local(taken))] if isinstance(taken, str) else []


def own_contents(source, names):
    """Return the contents of those of a source's files that are local; none for files that a rule makes."""
    if run.sources[source].generated is not None:
        return []
    own = [file_of(source, name) for name in names if SOURCE_FILES[source][name].url is None]
    return contents_of(file for file in own if not is_result(file))


def source_contents(source):
    """Return the contents of a source's local files, and of the list of its images."""
    listed = image_list_of(source) if source in VQAV2_SOURCES else []
    return own_contents(source, SOURCE_FILES[source]) + contents_of(listed)


def vqav2_memory(source):
    """Return the memory for reading VQAv2, in MB: its images are held; val2014 has 40,504."""
    taken = run.sources[source].vqav2.take_images
    return 2000 + (taken if isinstance(taken, int) else 40_504) // 3


def reader_options(source):
    """Return how the TSV of a source differs from the standard columns, as options of read_source."""
    reader = run.sources[source].reader
    rows = [f"{column}={value}" for column, value in sorted(reader.exclude.items())]
    return " ".join(
        [
            option("--options-column", reader.options_column),
            option("--index-below", reader.index_below),
            option("--image-column", reader.image_column),
            option("--task-column", run.sources[source].task_column),
            *(option("--exclude", row) for row in rows),
            *(["--answer-words"] if reader.answer_words else []),
            *([option("--category-column", reader.category_column)] if reader.category_column else []),
        ]
    ).strip()


def recipe(corruption):
    """Return the recipe of a corruption at the configured severities, as one line of JSON."""
    chosen = settings.corruptions
    whole = recipe_of(corruption, SUITE, chosen.engine)
    parameters = {
        severity: values for severity, values in whole.parameters.items() if severity in chosen.severities
    }
    return replace(whole, parameters=parameters).to_json()


def kernel_code(corruption):
    """Return the code of the corruption's kernel, which is imported by name, or from a user's file."""
    found = recipe_of(corruption, SUITE, settings.corruptions.engine)
    if found.kernel is None:
        return []
    if own_file(found.kernel) is None:
        return code_of(module_file(found.kernel.rpartition(".")[0]))
    files = first_party_files(found.kernel, found.noise, Path(workflow.basedir))
    return [*own_digests(found.kernel, found.noise), *code_of(*files)]


def trainer_code(model):
    """Return the code of the training script and of the model's architecture."""
    family = run.models[model].family
    return code_of("scripts/train_demo_model.py", f"benchc/demo/tiny/{family}.py")


def image_encoder_options(encoder):
    """Return the name of an image encoder and of its weights as options; of `trained`, the run's own folder."""
    if encoder.name == "trained":
        return option("--image-encoder", ENCODER_FOLDER)
    return " ".join([option("--image-encoder", encoder.name), option("--pretrained", encoder.pretrained)])


def tag_on_hub(pretrained):
    """Return a tag of open_clip, whose weights are on the Hub; None for a file of weights, and without either."""
    return None if pretrained is None or Path(pretrained).exists() else pretrained


def files_of_encoders(names):
    """Return the files of encoders that are paths of the user; of a model on the Hub or in a package none."""
    return [
        str(file)
        for name in names
        if name and Path(name).exists()
        for file in sorted([Path(name), *Path(name).rglob("*")])
        if file.is_file()
    ]


# Computed here, since Snakemake silently treats finished files as up to date if an input function fails.
RECIPES = {name: recipe(name) for name in [CLEAN, *settings.corruptions.types]}
KERNEL_CODE = {name: kernel_code(name) for name in RECIPES}
SCORER_CODE = {
    id_: code_of("scripts/infer.py", *map(module_file, modules)) for id_, modules in SCORER_MODULES.items()
}
# Of the kernels of an inference job that generates its images.
PART_CODE = {
    part: sorted({line for name in names for line in KERNEL_CODE[name]}) for part, names in PARTS.items()
}
TRAINER_CODE = {id_: trainer_code(id_) for id_, model in run.models.items() if model.train is not None}
# Answer from a closed list.
VQA_HEADS = {id_ for id_, model in run.models.items() if model.scoring == CLASSIFY}


def model_files(wildcards):
    """Return the files that decide the predictions of a model in a folder; none for a model on the Hub."""
    model = run.models[wildcards.model]
    if model.train is not None:
        names = VQA_HEAD_FILES if wildcards.model in VQA_HEADS else MODEL_FILES
        return [f"results/models/{wildcards.model}/{file}" for file in names]
    if model.path is not None:
        on_server = model.server is not None
        files = deciding_files(local(model.path), own_code=model.trust_remote_code, on_server=on_server)
        return [str(file) for file in files]
    return []


def model_contents(wildcards):
    """Return the contents of a local model's files; none for a model of the Hub or of the run."""
    return contents_of(model_files(wildcards)) if run.models[wildcards.model].path is not None else []


def is_fetched(model):
    """Return whether a rule downloads a model from the Hub; not that of a server which runs elsewhere."""
    return model.repo is not None and (model.server is None or model.server.url is None)


def revision_file(wildcards):
    """Return the file with the commit of a model on the Hub, which is here then; none where it is not fetched."""
    return "<results>/revisions/{model}.json" if is_fetched(run.models[wildcards.model]) else []


def requested_revision(id_):
    """Return the revision of a model to fetch; once it is fetched, pinning it to its commit is no change."""
    revision = run.models[id_].revision
    try:
        found = read_revision(Path("results", settings.name, "revisions", f"{id_}.json"))
    except InputError:  # there is none yet, or reading it raises this again
        return revision
    same = (found.repo, found.commit) == (run.models[id_].repo, revision)
    return found.revision if same else revision


# The records of models on the Hub that a rule has downloaded. The benchmark adds its encoders'.
FETCHED = [f"<results>/revisions/{id_}.json" for id_, model in run.models.items() if is_fetched(model)]
# Of a model, as options of fetch_model.
REQUESTED = {id_: option("--revision", requested_revision(id_)) for id_ in run.models}


def model_options(wildcards):
    """Return the location and settings of a model, as options of infer and answer."""
    model = run.models[wildcards.model]
    location = (
        model.name_on_server
        or model.repo
        or (local(model.path) if model.path else f"results/models/{wildcards.model}")
    )
    overrides = [f"{key}={value}" for key, value in sorted(model.processor.items())]
    return " ".join(
        [
            option("--label", wildcards.model),
            option("--location", location),
            # The commit of others is in their revision file.
            *([] if model.repo is None or is_fetched(model) else [option("--revision", model.revision)]),
            option("--family", model.family),
            option("--auto-class", model.auto_class),
            *([] if model.server is None else [option("--server-command", model.server.command)]),
            option("--dtype", model.dtype),
            # As the device decides the last bits, it is a param; the number of GPUs is a resource.
            option("--device", "cuda" if model.gpus else "cpu"),
            *([] if model.units_together == "never" else [option("--units-together", model.units_together)]),
            *([] if model.image_backend == "pil" else [option("--image-backend", model.image_backend)]),
            *(["--compile"] if model.compile else []),
            *(["--trust-remote-code"] if model.trust_remote_code else []),
            *(option("--processor", setting) for setting in overrides),
        ]
    )


def inference_threads(wildcards):
    """Return the cores of an inference job: those that prepare images for a model on a GPU, and one."""
    model = run.models[wildcards.model]
    return 1 + (settings.inference.workers if model.gpus and model.server is None else 0)


def label_prompt_option():
    """Return the benchmark's prompt that asks for Yes or No, or for a letter; none for the usual ones."""
    asked = settings.label_prompt
    if asked is None:
        return ""
    # As in declarations of outputs.
    return option("--label-prompt", json.dumps(asked.arguments(), ensure_ascii=False, sort_keys=True))


def scoring_option(wildcards):
    """Return how a model scores options, as an option of infer."""
    scoring = option("--scoring", run.models[wildcards.model].scoring)
    return f"{scoring} {label_prompt_option()}".strip()


def generation_options(wildcards):
    """Return how a model is asked for answers, as options of answer."""
    model, asked = run.models[wildcards.model], settings.open_answers
    if model.scoring == CLASSIFY:
        return option("--scoring", CLASSIFY)
    if settings.label_prompt is not None:
        return f"{option('--max-new-tokens', settings.label_prompt.max_new_tokens)} {label_prompt_option()}"
    if asked is not None:
        return " ".join(
            [
                option("--max-new-tokens", asked.max_new_tokens),
                option("--instruction", asked.instruction or None),
                "--without-options",
            ]
        )
    # By the prompt by which its options are scored.
    without = ["--without-options"] if model.scoring.startswith("text") else []
    return " ".join([option("--max-new-tokens", model.max_new_tokens), *without])


def connection(wildcards, threads, suffix=""):
    """Return how a job reaches its model and prepares images, as options of infer and answer.

    Snakemake records no param whose function takes threads: these change no prediction.
    """
    model = run.models[wildcards.model]
    server = model.server
    if server is None:
        workers = [option("--workers", threads - 1)] if threads > 1 else []
        return " ".join([*workers, *([option("--gpus", model.gpus)] if model.gpus > 1 else [])])
    log = f"logs/{settings.name}/servers/{'-'.join(wildcards)}{suffix}.log"
    return " ".join(
        [
            option("--server-url", server.url),
            option("--api-key-env", server.api_key_env),
            option("--concurrency", server.concurrency),
            option("--timeout", server.timeout_s),
            option("--start-timeout", server.start_s),
            option("--top-logprobs", server.top_logprobs),
            option("--server-log", log),
        ]
    )


def recipe_options(wildcards):
    """Return how an inference job generates its images, or what its files must contain, as options of infer."""
    recipes = [option("--recipe", RECIPES[name]) for name in PARTS[wildcards.part]]
    return " ".join(
        [option("--seed", settings.seed), option("--alpha", settings.corruptions.alpha), *recipes]
    )
