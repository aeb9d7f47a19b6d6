"""The models of a run: their files, and how jobs ask them. The rules that ask a model share these."""

from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from pathlib import Path
from typing import Any

from benchc.closure import module_file
from benchc.config.catalogue import Model
from benchc.config.load import Config
from benchc.errors import InputError
from benchc.models.adapter_files import adapter_files
from benchc.models.asking import OVER_HTTP, AskedModel, Job
from benchc.models.folder import deciding_files
from benchc.models.generation import Generation
from benchc.models.label_prompt import LabelPrompt
from benchc.models.question_template import QuestionTemplate
from benchc.models.registry import CLASSIFY, answering, scorer_modules
from benchc.models.remote_code_families import lacks_trust
from benchc.models.server.modules import server_modules
from benchc.models.supported import is_supported
from benchc.schemas.revision import read_revision
from benchc.workflow.code import By, Wildcards, code_of, contents_of
from benchc.workflow.demo import TrainedModels
from benchc.workflow.images import Images
from benchc.workflow.minutes import items, prediction_seconds, resumed_minutes, rows
from benchc.workflow.sources import local
from benchc.workflow.stage import WAITED_FOR, Unrecorded, unrecorded

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


class Models:
    """The models of a run: their entries in the catalogue by id, and what the rules that ask them have.

    Attributes:
        unsupported: those whose family no code loads, of the models that jobs may ask
        untrusted: those of them that run code of their checkpoint, which the user has not allowed yet
        trained: those that the run trains itself
        fetched: the records of the asked models on the Hub that a rule downloads
    """

    def __init__(
        self,
        config: Config,
        images: Images,
        subsets: Mapping[str, str | None],
        assignment: str | None = None,
    ) -> None:
        self.settings = config.settings
        self.entries = config.models
        self.images = images
        self.subsets = subsets
        self.assignment = assignment
        asked = config.asked
        self.unsupported = [id_ for id_, model in asked.items() if not self._modules(id_, model.scoring)]
        self.untrusted = [id_ for id_, model in asked.items() if lacks_trust(model)]
        self.trained = TrainedModels(self.entries, self.settings.demo)
        self.fetched = [
            f"<results>/revisions/{id_}.json" for id_, model in asked.items() if _is_fetched(model)
        ] + [
            f"<results>/revisions/adapters/{id_}.json"
            for id_, model in asked.items()
            if model.adapter_repo is not None
        ]

    # ---- What a rule that asks a model has ----

    def inputs(
        self, *, subset: bool = True, images: bool = True, pool: str = "<results>/pool/items.parquet"
    ) -> dict[str, Any]:
        """Return the inputs of a rule that asks a model: its files, the pool, and where wanted the rest.

        ``subset``: the items of the wildcard's subset; ``images``: the files of the job's images;
        ``pool``: another one than the run's.
        """
        found: dict[str, Any] = {
            # Of a local or trained model; one on the Hub is identified by its commit, and in the Hub's cache.
            WAITED_FOR: self.files,
            "revision_file": self.revision_file,
            "pool": pool,
        }
        if subset:
            found["subset"] = lambda wildcards: self.subsets[wildcards.subset] or []
        if images:
            found["corrupted"] = self.images.batch_files
            found["assignment"] = self.assignment or []
        return found

    def environment(self, wildcards: Wildcards) -> str:
        """Return the conda environment of a job, relative to the rules."""
        return f"../envs/{self.entries[wildcards.model].env or 'transformers'}.yaml"

    def threads(self, wildcards: Wildcards) -> int:
        """Return the cores of a job: those that prepare images for a model on a GPU, and one.

        The model has one thread (``AskedModel.threads``), whose number decides the last bits of a logit.
        """
        model = self.entries[wildcards.model]
        return 1 + (self.settings.inference.workers if model.gpus and model.server is None else 0)

    def resources(
        self, count: Callable[[Any], int] | None = None, *, answers: bool = False
    ) -> dict[str, Callable[..., int]]:
        """Return the resources of a rule that asks a model, with the minutes that its work may take.

        A job that reaches its time limit continues from the cache when it is retried.

        ``count``: the predictions of a job by its inputs; None for all items of its subset or the pool, under
        the corruptions of its part. ``answers``: whether the model answers in words.
        """

        def runtime(wildcards: Wildcards, input: Any) -> int:
            number = count(input) if count else self._predictions(wildcards, input)
            subset = getattr(wildcards, "subset", None)
            generation = self._generation(wildcards.model, subset) if answers else None
            tokens = 0 if generation is None else generation.max_new_tokens
            seconds = number * prediction_seconds(self.entries[wildcards.model], tokens)
            if count is None and {"part", "subset"} <= {*wildcards.keys()}:
                workers = max(1, self.threads(wildcards) - 1)
                seconds += self.images.generating_seconds(wildcards, input) / workers
            return resumed_minutes(seconds)

        return {
            "gpu": lambda wildcards: self.entries[wildcards.model].gpus,
            "mem_mb": lambda wildcards: self.entries[wildcards.model].mem_mb,
            "runtime": runtime,
        }

    def _predictions(self, wildcards: Wildcards, input: Any) -> int:
        """Return the most predictions that a job may have."""
        number = items(input)
        part = getattr(wildcards, "part", None)
        if part is None:
            return number
        most = number * self.images.variants(part)
        assignment = getattr(input, "assignment", None)
        # One row for each corrupted image of an item, which is shown on its clean image, too.
        return min(most, rows(assignment) + number) if isinstance(assignment, str) and assignment else most

    # ---- Settings of the stages ----

    @property
    def asked(self) -> By:
        """The model of a job, as an argument."""
        return self._by_model(self._asked)

    @property
    def scoring(self) -> By:
        """How the model of a job scores options."""
        return self._by_model(lambda id_: self.entries[id_].scoring)

    @property
    def answering(self) -> By:
        """How the model of a job answers: a key of ANSWERING."""
        return self._by_model(lambda id_: answering(self.entries[id_].scoring))

    @property
    def generation(self) -> By:
        """How the model of a job generates answers; None for one with a closed list."""
        return self._by_subset(self._generation)

    @property
    def label_prompt(self) -> LabelPrompt | None:
        """The benchmark's prompt that asks for Yes or No, or for a letter; None for the usual ones."""
        asked = self.settings.label_prompt
        return None if asked is None else LabelPrompt(**asked.arguments())

    @property
    def answer_prompts(self) -> By:
        """The prompt by which a model answers; one with a closed list reads the bare question."""
        return self._by_model(
            lambda id_: None if self.entries[id_].scoring == CLASSIFY else self.label_prompt
        )

    @property
    def question_template(self) -> By | None:
        """The prompt of a job's subset by which a model answers; None where no subset has its own."""
        return self._by_subset(self._question_template) if self.settings.subset_answers else None

    def job(self, suffix: str = "") -> Unrecorded:
        """Return how a job reaches its model and prepares images, which changes no prediction.

        ``suffix``: what distinguishes its files from those of other jobs of the same wildcards.
        """

        def job(wildcards: Wildcards, threads: int) -> Job:
            model = self.entries[wildcards.model]
            others = [value for name, value in wildcards.items() if name != "model"]
            name = "-".join([wildcards.model, *others, *([suffix] if suffix else [])])
            shard = f"{self.settings.name}-{name}"
            server = model.server
            if server is None:
                adapter = None
                if model.adapter_repo is not None:
                    adapter = self._record(wildcards.model, adapter=True)
                return Job(adapter_file=adapter, shard=shard, workers=threads - 1, gpus=max(1, model.gpus))
            return server.job(Path(f"logs/{self.settings.name}/servers/{name}.log"), model.gpus, shard)

        return unrecorded(job)

    def code(self) -> By:
        """Return the digests of a job's family and scoring, which are imported by name.

        An edit of another family reruns nothing.
        """
        return self._by_model(lambda id_: _code_of(self._modules(id_, self.entries[id_].scoring)))

    def answering_code(self) -> By:
        """Return the same for jobs that answer."""
        return self._by_model(lambda id_: _code_of(self._modules(id_, answering(self.entries[id_].scoring))))

    def described(self, models: Iterable[str], imported: Mapping[str, str]) -> list[dict[str, Any]]:
        """Return what tables and figures need to know about models; ``imported``: labels of others by id."""
        facts = {"label", "year", "parameters_b"}
        found = [{"id": id_, **self.entries[id_].model_dump(include=facts)} for id_ in models]
        return found + [{"id": id_, "label": label} for id_, label in imported.items()]

    # ---- Files ----

    def files(self, wildcards: Wildcards) -> list[str]:
        """Return the files that decide the predictions of a model in a folder, and those of its adapter.

        There are none for a model on the Hub, and the record of its commit for an adapter there.
        """
        model = self.entries[wildcards.model]
        adapter = [str(file) for file in self._adapter_files(model)]
        if model.adapter_repo is not None:
            adapter = ["<results>/revisions/adapters/{model}.json"]
        return [*self._model_files(wildcards), *adapter]

    def _model_files(self, wildcards: Wildcards) -> list[str]:
        model = self.entries[wildcards.model]
        if model.train is not None:
            names = VQA_HEAD_FILES if model.scoring == CLASSIFY else MODEL_FILES
            return [f"{self.trained.folder(wildcards.model)}/{file}" for file in names]
        if model.path is not None:
            files = deciding_files(
                Path(local(model.path)),
                remote_code=model.trust_remote_code,
                on_server=model.server is not None,
            )
            return [str(file) for file in files]
        return []

    def contents(self, wildcards: Wildcards) -> list[str]:
        """Return the contents of a local model's and adapter's files; none for one of the Hub or the run."""
        model = self.entries[wildcards.model]
        files = self._model_files(wildcards) if model.path is not None else []
        return contents_of([*files, *self._adapter_files(model)])

    def revision_file(self, wildcards: Wildcards) -> str | list[str]:
        """Return the file with the commit of a model on the Hub; none where no rule fetches it."""
        return "<results>/revisions/{model}.json" if _is_fetched(self.entries[wildcards.model]) else []

    def requested_revision(self, id_: str, *, adapter: bool = False) -> str | None:
        """Return the revision of a model to fetch; after that, pinning it to its commit is no change.

        ``adapter``: that of its adapter.
        """
        model = self.entries[id_]
        repo, revision = model.repo, model.revision
        if adapter:
            repo, revision = model.adapter_repo, model.adapter_revision
        try:
            found = read_revision(self._record(id_, adapter=adapter))
        except InputError:  # there is none yet, or reading it raises this again
            return revision
        same = (found.repo, found.commit) == (repo, revision)
        return found.revision if same else revision

    def _record(self, id_: str, *, adapter: bool) -> Path:
        folder = Path("results", self.settings.name, "revisions")
        return (folder / "adapters" if adapter else folder) / f"{id_}.json"

    def _adapter_files(self, model: Model) -> list[Path]:
        folder = model.adapter_folder
        return [] if folder is None else adapter_files(Path(local(folder)))

    def keys_with(self, models: Iterable[str]) -> str:
        """Return the keys of the configuration that name any of the models."""
        wanted = set(models)
        return " and ".join(
            key for key in self.settings.MODEL_KEYS if wanted & set(attrgetter(key)(self.settings))
        )

    def _by_model(self, value: Callable[[str], Any]) -> By:
        return By("model", {id_: value(id_) for id_ in self.entries})

    def _by_subset(self, value: Callable[[str, str | None], Any]) -> By:
        """Return values by model and subset, which is None in jobs without this wildcard."""
        values = {
            (id_, subset): value(id_, subset) for id_ in self.entries for subset in (None, *self.subsets)
        }
        return By(lambda wildcards: (wildcards.model, getattr(wildcards, "subset", None)), values)

    def _asked(self, id_: str) -> AskedModel:
        model = self.entries[id_]
        location = model.name_on_server or model.repo or self._folder(id_)
        # The commit of others is in their revision file.
        revision = None if model.repo is None or _is_fetched(model) else model.revision
        return asked_model(id_, model, location, revision)

    def _folder(self, id_: str) -> str:
        path = self.entries[id_].path
        return self.trained.folder(id_) if path is None else local(path)

    def _question_template(self, id_: str, subset: str | None) -> QuestionTemplate | None:
        asked = self.settings.subset_answers.get(subset or "")
        if asked is None or self.entries[id_].scoring == CLASSIFY:
            return None
        return QuestionTemplate(asked.prompt)

    def _generation(self, id_: str, subset: str | None) -> Generation | None:
        model, prompt = self.entries[id_], self.settings.label_prompt
        asked = self.settings.subset_answers.get(subset or "") or self.settings.open_answers
        if model.scoring == CLASSIFY:
            return None
        if prompt is not None:
            return Generation(prompt.max_new_tokens)
        if asked is not None:
            return Generation(**asked.generation())
        # By the prompt by which its options are scored.
        return Generation(model.max_new_tokens, lists_options=not model.scoring.startswith("text"))

    def _modules(self, id_: str, scoring: str) -> tuple[str, ...]:
        """Return the modules of a model's family and scoring; none where its family is not supported yet."""
        model = self.entries[id_]
        if model.server is not None:
            return (OVER_HTTP, *server_modules(scoring))
        adapter = model.adapter_repo is not None or model.adapter_folder is not None
        supported = is_supported(model.family)
        return scorer_modules(model.family, scoring, adapter=adapter) if supported else ()


def asked_model(label: str, model: Model, location: str, revision: str | None) -> AskedModel:
    """Return how jobs ask a model of the catalogue. ``location``: Hub id, folder, or name on a server."""
    return AskedModel(
        label=label,
        location=location,
        revision=revision,
        family=model.family,
        auto_class=model.auto_class,
        server_command=None if model.server is None else model.server.command,
        dtype=model.dtype,
        # As the device decides the last bits, it is recorded; the number of GPUs is a resource.
        device="cuda" if model.gpus else "cpu",
        units_together=model.units_together,
        image_backend=model.image_backend,
        compile=model.compile,
        trust_remote_code=model.trust_remote_code,
        processor=dict(sorted(model.processor.items())),
        system_prompt=model.system_prompt,
        chat_template=model.chat_template,
        attention=model.attention,
        adapter=model.adapter if model.adapter_folder is None else local(model.adapter_folder),
    )


def _is_fetched(model: Model) -> bool:
    """Return whether a rule downloads a model from the Hub; not that of a server which runs elsewhere."""
    return model.repo is not None and (model.server is None or model.server.url is None)


def _code_of(modules: Iterable[str]) -> list[str]:
    return code_of(*map(module_file, modules))
