"""The entries of the catalogues, config/sources.yaml and config/models.yaml."""

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import parse_qsl, urlsplit

from pydantic import BeforeValidator, Field, RootModel, model_validator

from benchc.config.server import Server, check_entry
from benchc.config.strict import (
    HUB_ID,
    Environment,
    Family,
    FileOrAddress,
    HubId,
    Id,
    Label,
    Md5,
    Mirrors,
    NotBlank,
    Revision,
    Scalar,
    Strict,
    WebAddress,
    is_address,
)
from benchc.demo.tiny.families import CLOSED_LISTS, FAMILIES
from benchc.letters import LETTERS
from benchc.models.adapter_files import NO_ADAPTER
from benchc.models.attentions import Attention, misfit
from benchc.models.auto_class_names import AutoClass
from benchc.models.image_backends import ImageBackend
from benchc.models.units_together import UnitsTogether
from benchc.schemas.revision import COMMIT
from benchc.sources.formats import FORMATS, Format
from benchc.sources.reader_options import MOST_REJECTED, STANDARD

IMAGE = "<image>"  # in the prompt of most models
# Parameters of addresses that give access; keys of links that everybody may have, such as rlkey, are not.
SECRET = re.compile(
    r"token|secret|passw|signature|credential|authorization|jwt|^(sig|key|auth|pwd)$"
    r"|(api|access|account|auth|private|subscription)[-_]?key",
    re.IGNORECASE,
)


class GeneratedSource(Strict):
    """A source that the run generates (benchc/demo)."""

    groups: int = Field(
        ge=1, le=10**4, description="Groups of items per category; a group has one item per option."
    )


class ReaderOptions(Strict):
    """How a data file differs from the standard columns: index, image, question, hint, A, B, ..., answer."""

    columns: dict[str, NotBlank | Annotated[list[NotBlank], Field(min_length=1)]] = Field(
        default_factory=dict,
        description="The file's name of a standard column where it has another one, by the standard name, "
        "such as `{question: prompt, options: answers}`. options is one column with a list of texts. image "
        "may be a list of columns. In files other than TSVs, `images`, `file_name` and `file_names` are read "
        "as image, and `choices` as options. Their rows are numbered from 0 without a column index.",
    )
    answer_form: Literal["letter", "index", "text"] = Field(
        default="letter",
        description="What the answer is: the letter of the right option, its index counted from 0, as in "
        "many data sets of the Hub, or its text. Class labels that a Parquet file declares have their names.",
    )
    max_rejected: float = Field(
        default=MOST_REJECTED,
        ge=0,
        le=1,
        description="Share of the rows above which rejected ones stop the run, with the most frequent "
        "reason. Rows that are left out by index_below or exclude do not count. It is for the source's next "
        "reading, and reruns nothing.",
    )

    options_column: str | None = Field(
        default=None,
        description="Column with all options as a Python list of strings such as `(A) red`; null if columns "
        "A, B, ... contain them.",
    )
    index_below: Annotated[int, Field(ge=1, le=10**12)] | None = Field(
        default=None,
        description="Omit rows with this index or a larger one (in MMBench, circular copies); null for none.",
    )
    image_column: str | None = Field(
        default=None,
        description="Column with the name of the row's image, such as `image_id`, or a Python list of names. "
        "Rows with the same name share an image, which is corrupted once. null if each row has its own.",
    )
    pixel_keys: bool = Field(
        default=False,
        description="Whether rows whose images have the same pixels share an image, also with other such "
        "sources (MMBench's circular copies). It is then corrupted once, with the same noise for all.",
    )
    one_image: bool = Field(
        default=False, description="Whether rows with several images are rejected, with the reason."
    )
    exclude: dict[str, str | Annotated[list[str], Field(min_length=1)]] = Field(
        default_factory=dict,
        description="Omit rows with this value in this column, such as `question_type: sort`, or with one of "
        "a list of values.",
    )
    answer_words: bool = Field(
        default=False,
        description="Whether the answer is a word in place of an option's letter: Yes or No, or the letter A "
        "or B of options that the question's text contains. These words are then the options.",
    )
    category_column: str | None = Field(
        default=None,
        description="Column with the category where it is not called category, such as `type`.",
    )
    open_ended: bool = Field(
        default=False,
        description="Whether rows without options are open-ended questions, in a file with columns of "
        "options; else they are rejected.",
    )
    answer_lists: bool = Field(
        default=False,
        description="Whether the answers to open-ended questions are lists of texts, in JSON or Python, such "
        "as the captions of an image. All are reference answers. A file with a column `answers` has the "
        "lists there, beside the one `answer`.",
    )

    @model_validator(mode="after")
    def _columns_that_are_read(self) -> Self:
        for name, given in self.columns.items():
            if name not in STANDARD:
                raise ValueError(f"has columns.{name}, but should have some of {', '.join(STANDARD)}")
            if name != "image" and not isinstance(given, str):
                raise ValueError(
                    f"has several columns of {name}, and only an image may have several; name one"
                )
        if "options" in self.columns and set(LETTERS) & self.columns.keys():
            raise ValueError("has columns of options and of single options; remove one of them")
        return self

    @model_validator(mode="after")
    def _one_kind_of_keys(self) -> Self:
        if self.pixel_keys and self.image_column is not None:
            raise ValueError("has pixel_keys and image_column, and an image has one key; remove one of them")
        return self

    @model_validator(mode="after")
    def _one_form_of_options(self) -> Self:
        if self.answer_words and self.options_column is not None:
            raise ValueError("has answer_words and options_column; remove the one that is not the file's")
        if self.open_ended and (self.answer_words or self.options_column is not None):
            raise ValueError(
                "has open_ended, which is for a file with the columns A, B, ..., and "
                f"{'answer_words' if self.answer_words else 'options_column'}; remove one of them"
            )
        return self


class Conversion(Strict):
    """A data set of several files, of which the run makes a TSV with open-ended questions."""

    format: Format = Field(
        description="Whose files they are. vqav2: a split of VQAv2, whose category is the question type, and "
        "l2_category the answer type."
    )
    files: dict[str, FileOrAddress] = Field(
        description="Files by name: a web address, or a path as `path`. Of vqav2: `questions` and "
        "`annotations`, JSON files as published or their zips, and `images`, the zip as published, which is "
        "not unpacked, or a folder of the images."
    )
    md5: dict[str, Md5] = Field(
        default_factory=dict, description="MD5 of files at a web address, by name; without one, no check."
    )
    bytes: dict[str, Annotated[int, Field(ge=1, le=10**15)]] = Field(
        default_factory=dict,
        description="Bytes of files at a web address, by name; a file of another size is refused.",
    )
    mirrors: dict[str, Mirrors] = Field(
        default_factory=dict,
        description="Other addresses of files at a web address, by name, as for a source. They need an md5.",
    )
    take_images: Annotated[int, Field(ge=1, le=10**4)] | Annotated[str, Field(min_length=1)] | None = Field(
        default=None,
        description="How many images to take, with all their questions: the first in the order of a hash of "
        "their ids, so fewer are a subset. Or the path of a file with their ids or names, one per line. null "
        "for all whose files are there.",
    )

    @property
    def take(self) -> int | Path | None:
        """Return ``take_images``, of which a text is a path."""
        return Path(self.take_images) if isinstance(self.take_images, str) else self.take_images

    def with_paths(self, change: Callable[[str, str, str], str]) -> Self:
        """Return the entry with other local paths, from a function of the key, the path and what it names."""
        kinds = FORMATS[self.format]
        files = {
            name: given if is_address(given) else change(f"files.{name}", given, kinds[name])
            for name, given in self.files.items()
        }
        take = self.take_images
        if isinstance(take, str):
            take = change("take_images", take, "a file that lists images")
        return self.model_copy(update={"files": files, "take_images": take})

    @model_validator(mode="after")
    def _files_of_the_format(self) -> Self:
        names = FORMATS[self.format]
        if self.files.keys() != names.keys():
            raise ValueError(f"has the files {', '.join(self.files)}, but should have {', '.join(names)}")
        keys = {"an md5": [*self.md5], "bytes": [*self.bytes], "mirrors": [*self.mirrors]}
        for key, given in keys.items():
            for name in given:
                if not is_address(self.files.get(name, "")):
                    raise ValueError(f"has {key} of {name}, which is no download; only downloads are checked")
        _check_public([*filter(is_address, self.files.values()), *chain.from_iterable(self.mirrors.values())])
        for name, mirrors in self.mirrors.items():
            _checked_mirrors(self.files[name], mirrors, self.md5.get(name), f" of {name}")
        return self


class Published(Strict):
    """What the publishers or the benchmark's paper state of a data set, before it is downloaded."""

    items: Annotated[int, Field(ge=1, le=10**9)] | None = Field(
        default=None, description="Items: rows, questions, or images with captions; null if not published."
    )
    rounded: bool = Field(default=False, description="Whether items is rounded, such as 1.9K.")
    images: Annotated[int, Field(ge=1, le=10**10)] | None = Field(
        default=None,
        description="Images that the items are about, where a run may take some of them; null elsewhere.",
    )
    megabytes: Annotated[float, Field(gt=0)] | None = Field(
        default=None, description="Size of the download in 10^6 bytes; null if not published."
    )
    licence: Label | None = Field(
        default=None,
        description="Licence of the data set: its SPDX id or its publishers' words; null if not known.",
    )


class Source(Strict):
    """A data set, from exactly one of url, path, generated and convert."""

    label: Label = Field(description="Name in figures.")
    url: WebAddress | None = Field(
        default=None,
        description="Address of the TSV. In this and in a local TSV, images are AVIF, BMP, GIF, JPEG, "
        "JPEG 2000, PNG, PPM, TIFF or WebP files of at most 40 megapixels, and 32,768 pixels a side; "
        "rows with others are rejected.",
    )
    md5: Md5 | None = Field(
        default=None, description="MD5 of the file at url; null if none is published, to skip the check."
    )
    bytes: Annotated[int, Field(ge=1, le=10**15)] | None = Field(
        default=None,
        description="Bytes of the file at url; one of another size is refused before it is downloaded. null "
        "if not known.",
    )
    mirrors: Mirrors = Field(
        default=[],
        description="Other addresses of the same file, tried in this order where url fails. They need the "
        "md5: a file that has another is refused, and the next address is tried.",
    )
    path: str | None = Field(
        default=None,
        description="Local TSV, or one packed by xz (.tsv.xz), or a csv, JSON Lines (.jsonl) or Parquet file "
        "with the same columns; or a folder with one csv or JSON Lines file, whose images are paths below "
        "the folder, or with the Parquet files of one split. Relative to the working directory. It may "
        "contain environment variables such as ${BENCHC_SHARED}, whose default is ../shared.",
    )
    generated: GeneratedSource | None = Field(
        default=None, description="Size of a source that the run generates."
    )
    convert: Conversion | None = Field(
        default=None, description="Files of which the run makes a TSV, such as those of VQAv2."
    )
    published: Published = Field(
        default_factory=Published,
        description="Size of the data set, for `benchc plan`, and beside the number of items that are read, "
        "and its licence, which decides whose images the results page shows; they change no number.",
    )
    reader: ReaderOptions = Field(
        default_factory=ReaderOptions, description="How the file differs from the standard columns."
    )
    # The TSV files of VLMEvalKit write it both ways; the items have one column.
    task_column: Annotated[
        Literal["category", "l2_category"],
        BeforeValidator(
            lambda column: "l2_category" if column == "l2-category" else column,
            json_schema_input_type=Literal["category", "l2_category", "l2-category"],
        ),
    ] = Field(
        description="Column with the task type, by which the pool is balanced; rows without one are "
        "rejected. l2-category and l2_category are the same column."
    )

    @model_validator(mode="before")
    @classmethod
    def _former_key(cls, content: Any) -> Any:
        if isinstance(content, dict) and "vqav2" in content:
            raise ValueError(
                "has vqav2, which is now convert, with format: vqav2, and with questions, annotations and "
                "images below files"
            )
        return content

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        _exactly_one(self, ("url", "path", "generated", "convert"))
        if self.convert is not None and self.reader != ReaderOptions():
            raise ValueError("has a reader, which is for published TSV files, and convert; remove one")
        for key, given in {"an md5": self.md5, "bytes": self.bytes, "mirrors": self.mirrors or None}.items():
            if given is not None and self.url is None:
                raise ValueError(f"has {key} without a url, but only downloads are checked")
        if self.url is not None:
            _check_public([self.url, *self.mirrors])
            _checked_mirrors(self.url, self.mirrors, self.md5)
        return self


class Training(Strict):
    """How the run trains a tiny model; the options of scripts/train_demo_model.py."""

    hidden: int = Field(ge=24, le=24 * 1000, multiple_of=24, description="Width of all layers.")
    vision_layers: int = Field(
        ge=1,
        le=1000,
        description="Layers of the vision encoder. A vilt has one stack, of both numbers together.",
    )
    text_layers: int = Field(ge=1, le=1000, description="Layers of the language model.")
    patch: Literal[1, 2, 3, 4, 6, 8, 12, 24] = Field(
        description="Side of a patch in pixels: an image has 48 pixels a side, and an even number of patches."
    )
    steps: int = Field(ge=1, le=10**6, description="Training steps.")
    batch: int = Field(ge=1, le=10**5, description="Images per step.")
    learning_rate: float = Field(gt=0, description="Learning rate of the weight matrices (Muon).")
    noise: float = Field(default=0.0, ge=0, le=1, description="Fraction of items with noisy images.")
    text_share: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="Fraction of a letter model's steps, at the start, that train on option texts.",
    )
    seed: int = Field(ge=0, description="Seed of the weights, the batches and the noise.")
    captions: bool = Field(
        default=False,
        description="Whether the model is also trained to describe pictures; only with `scoring: text`.",
    )


class PublishedAccuracy(Strict):
    """A model's accuracy on the clean images of a source, as others published it."""

    percent: Annotated[float, Field(gt=0, le=100)] = Field(
        description="Share of the source's items that are answered correctly, in percent."
    )
    tolerance: Annotated[float, Field(gt=0, le=20)] = Field(
        default=2.0,
        description="Points by which a measured accuracy may differ: other prompts and ways to score an "
        "option make one or two.",
    )
    reference: NotBlank = Field(description="Where the number was published.")


class Model(Strict):
    """A vision-language model, from exactly one of repo, path, train and server.model."""

    label: Label = Field(description="Name in tables and figures.")
    family: Family | None = Field(
        default=None,
        description="How the model is loaded: a family with a file in benchc/models/families, or the model "
        "type that its config.json must have; null for the class of transformers that config.json names.",
    )
    auto_class: AutoClass | None = Field(
        default=None,
        description="Auto class of transformers that loads the model; null for the first that has its class.",
    )
    scoring: Literal["letter", "text", "text_mean", "text_vqascore", "generate", "classify"] = Field(
        description="Score of an option: the logit of its letter, the log-likelihood of its text, or the "
        "log-likelihood per token (text_vqascore: the token that ends the answer included, as VQAScore of "
        "t2v_metrics for LLaVA-1.5). generate: none, for a model that only answers in its own words, such as "
        "one behind a provider's interface without log-probabilities. classify: none, for a VQA head that "
        "answers from a closed list."
    )
    max_new_tokens: int = Field(
        default=512,
        ge=1,
        le=10**6,
        description="The most tokens of a generated answer. A reasoning model needs thousands, since its "
        "reasoning counts.",
    )
    repo: HubId | None = Field(default=None, description="Id on the Hugging Face Hub.")
    revision: Revision | None = Field(
        default=None,
        description="Commit, tag or branch of repo, in quotes; null for the default branch. The commit of a "
        "tag or branch is looked up once per run and recorded in results/<name>/revisions; `benchc models "
        "pin` writes it here.",
    )
    trust_remote_code: bool = Field(
        default=False,
        description="Run Python files of the checkpoint, which can do anything on your machine. A repo then "
        "needs a commit (40 hex digits) as its revision.",
    )
    path: str | None = Field(
        default=None,
        description="Local folder in the Hub's format, relative to the working directory. It may contain "
        "environment variables, such as ${MODELS}.",
    )
    adapter: NotBlank | None = Field(
        default=None,
        description="Adapter of peft, such as LoRA, that is merged into the model: a local folder as `path`, "
        "or, where there is no such folder, an id on the Hub (docs/models.md). `none` for the model alone, "
        "where its folder has an adapter, too.",
    )
    adapter_revision: Revision | None = Field(
        default=None, description="As `revision`, of an adapter on the Hub; null for the default branch."
    )
    train: Training | None = Field(
        default=None,
        description="How the run trains the model; only for the families "
        f"{', '.join(FAMILIES[:-1])} and {FAMILIES[-1]}.",
    )
    server: Server | None = Field(
        default=None,
        description="The server that answers for the model; null to load it in the job (docs/models.md).",
    )
    processor: dict[str, Scalar] = Field(
        default_factory=dict,
        description="Settings of the image processor that override the checkpoint's, such as max_patches; "
        "image_processor_type is another class of transformers, without Pil or Fast.",
    )
    system_prompt: NotBlank | None = Field(
        default=None,
        description="Text of the system message before each question, in the model's chat template; null for "
        "none; some templates then write a text of their own (docs/models.md).",
    )
    chat_template: NotBlank | None = Field(
        default=None,
        description="Jinja template of the prompt, for a checkpoint without one; null for that of the "
        "checkpoint (docs/models.md).",
    )
    parameters_b: Annotated[float, Field(gt=0)] | None = Field(
        default=None, description="Billions of parameters, for Table 1; null if not published."
    )
    year: int | None = Field(default=None, description="Year of release, for Table 1.")
    dtype: Literal["float32", "bfloat16", "float16"] = Field(
        default="float32", description="Type of the weights during inference."
    )
    gpus: int = Field(
        default=0,
        ge=0,
        le=1024,
        description="GPUs per inference job; 0 is the CPU. A model that needs several is divided by its "
        "layers; their number is not meant to change predictions.",
    )
    image_backend: ImageBackend = Field(
        default="pil",
        description="Library of the image processor: pil, or torchvision. Their pixels differ: with bilinear "
        "or bicubic resizing by up to 2 of 255 levels, with nearest (`resample: 0`) by any amount. It is "
        "seldom faster (docs/benchmarks.md); use it to match another harness.",
    )
    compile: bool = Field(
        default=False,
        description="Compile the model's blocks by torch.compile, which needs a C++ compiler, Python.h and, "
        "for a GPU, a C compiler. It takes minutes at the start of a job, longer with `scoring: text`, and "
        "changes the last bits of a logit; these may then depend on the sizes that a job began with. It made "
        "the demo's models no faster on a CPU.",
    )
    attention: Attention | None = Field(
        default=None,
        description="How attention is computed: by torch (sdpa), by plain products (eager), or by the "
        "package flash_attn (flash_attention_2), on a GPU in half precision; null for sdpa where the "
        "model's class supports it, else eager. The last bits of a logit differ (docs/models.md).",
    )
    units_together: UnitsTogether = Field(
        default="never",
        description="Whether an item's corruptions pass through the model together, which fills a device "
        "that is large for the model: never, always, or where the first passes (64 of a job) are equal "
        "to the last bit. Each has predictions of its own in the cache.",
    )
    mem_mb: int = Field(default=2000, ge=1, le=10**8, description="Main memory per inference job, in MB.")
    env: Environment | None = Field(
        default="transformers",
        description="Software environment of the model's jobs: a file in envs, without .yaml; null if none "
        "is pinned yet.",
    )
    recommended: Literal["in_process", "server"] = Field(
        default="in_process",
        description="The way in which the model is best run: loaded by the job, or by a server "
        "(docs/models.md). It is information and changes nothing.",
    )
    state: Literal["not loaded", "loaded", "compared"] = Field(
        default="not loaded",
        description="What somebody did with the entry and the model's real weights: nothing; loaded them, "
        "with a high label mass; or compared accuracy and answers, too, as docs/models.md describes. It is "
        "information and changes nothing.",
    )
    published: dict[Id, PublishedAccuracy] = Field(
        default_factory=dict,
        description="Accuracies on clean images by the id of the source, for `benchc models verify`. They "
        "change nothing in a run.",
    )
    note: Label | None = Field(
        default=None, description="What one must know before running the model; null for nothing."
    )

    @property
    def adapter_repo(self) -> str | None:
        """Return the Hub id of the adapter; None where it is a folder, or there is none."""
        given = self.adapter or ""
        return given if re.match(HUB_ID, given) and not Path(given).is_dir() else None

    @property
    def adapter_folder(self) -> str | None:
        """Return the folder of the adapter; None where it is on the Hub, or there is none."""
        given = None if self.adapter == NO_ADAPTER else self.adapter
        return given if self.adapter_repo is None else None

    @property
    def name_on_server(self) -> str | None:
        """Return the model's name on a server, where that is not repo."""
        return None if self.server is None else self.server.model

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        if self.name_on_server is None:
            _exactly_one(self, ("repo", "path", "train"))
        check_entry(self)
        if IMAGE in (self.system_prompt or ""):
            raise ValueError(
                f"has a system_prompt with {IMAGE}, which stands for an image of a question; remove it there"
            )
        if self.revision is not None and self.repo is None:
            raise ValueError("has a revision without a repo, but only a repo has revisions")
        if self.adapter_revision is not None and self.adapter_repo is None:
            raise ValueError(
                "has an adapter_revision without an adapter on the Hub, but only that has revisions"
            )
        if self.adapter is not None and self.train is not None:
            raise ValueError(
                "has adapter and train, but no adapter was made for a model that the run trains; give its "
                "folder as `path`"
            )
        if self.adapter not in (None, NO_ADAPTER) and self.gpus > 1:
            raise ValueError(
                f"has adapter and gpus: {self.gpus}, but an adapter is merged into a model of one device; "
                "merge it (peft's merge_and_unload), and give the folder of the result as `path`"
            )
        if self.trust_remote_code and self.train is not None:
            raise ValueError("has trust_remote_code, but a model that the run trains contains no code")
        if self.trust_remote_code and self.repo is not None and not COMMIT.fullmatch(self.revision or ""):
            raise ValueError(
                "has trust_remote_code, which needs the commit whose code you have read as the revision: 40 "
                "hex digits, in quotes"
            )
        # Keys that the code of a checkpoint or a package does not take; a server has its own.
        needless = [
            text
            for text, is_set in {
                "auto_class": self.auto_class is not None,
                f"image_backend: {self.image_backend}": self.image_backend != "pil",
                "compile: true": self.compile,
                f"gpus: {self.gpus}": self.gpus > 1,
                "system_prompt": self.system_prompt is not None,
                "chat_template": self.chat_template is not None,
                "adapter": self.adapter is not None,
                f"attention: {self.attention}": self.attention is not None,
            }.items()
            if is_set
        ]
        if needless and self.family is not None and self.server is None:
            # Imported here because it imports numpy.
            from benchc.models.remote_code_families import OF_CHECKPOINT, OF_PACKAGE

            if self.family in (*OF_CHECKPOINT, *OF_PACKAGE):
                raise ValueError(
                    f"has {needless[0]}, but the family {self.family} is loaded by its own code; remove it"
                )
        reason = misfit(self.attention, self.dtype, on_gpu=self.gpus > 0)
        if reason is not None:
            raise ValueError(reason)
        if self.train is not None and self.family not in FAMILIES:
            given = "no family" if self.family is None else f"the family {self.family}"
            raise ValueError(f"has train and {given}, but a run trains only {', '.join(FAMILIES)}")
        if self.train is not None and (self.family in CLOSED_LISTS) != (self.scoring == "classify"):
            fitting = (
                "classify" if self.family in CLOSED_LISTS else "letter, text, text_mean or text_vqascore"
            )
            raise ValueError(
                f"has scoring: {self.scoring}, but a run trains the family {self.family} for {fitting}"
            )
        if self.train is not None and self.train.captions and self.scoring != "text":
            raise ValueError(
                f"has train.captions and scoring: {self.scoring}, but captions are texts; set scoring: text"
            )
        if self.scoring == "text_vqascore" and self.server is not None:
            raise ValueError(
                "has server and scoring: text_vqascore, but a server does not tell the token that ends an "
                "answer; load the model in the job, or set scoring: text"
            )
        if self.scoring == "classify" and self.server is not None:
            raise ValueError(
                "has server and scoring: classify, but a server generates answers; load the model in the "
                "job, or set scoring: generate"
            )
        return self


def _checked_mirrors(url: str, mirrors: Sequence[str], md5: str | None, of: str = "") -> None:
    """Raise ValueError for mirrors that nothing tells from other files, or that are the address itself."""
    if mirrors and md5 is None:
        raise ValueError(
            f"has mirrors{of} without an md5, which tells that they have the same file; add the MD5 that is "
            "published, or remove the mirrors"
        )
    if url in mirrors:
        raise ValueError(f"has {url} also among its mirrors{of}; remove it there")


def _check_public(urls: Iterable[str]) -> None:
    """Raise ValueError, without the address, where one has a password or a key: results show addresses."""
    for secret in filter(None, map(_secret_of, urls)):
        raise ValueError(
            f"has an address with {secret}, which the run's pages and exports would show; download the file, "
            "and give its path"
        )


def _secret_of(url: str) -> str | None:
    """Return what is secret in an address, by its name; None where nothing is, or it is no address."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    if "@" in parts.netloc:
        return "a user or password"
    found = [name for name, _ in parse_qsl(f"{parts.query}&{parts.fragment}".replace(";", "&"))]
    return next(filter(SECRET.search, found), None)


class SourceCatalogue(RootModel[dict[Id, Source]]):
    """Data sets by id."""


class ModelCatalogue(RootModel[dict[Id, Model]]):
    """Models by id."""


def _exactly_one(entry: Strict, keys: tuple[str, ...]) -> None:
    given = [key for key in keys if getattr(entry, key) is not None]
    if len(given) != 1:
        found = " and ".join(given) if given else "none of them"
        raise ValueError(f"needs exactly one of {', '.join(keys)}, but has {found}")
