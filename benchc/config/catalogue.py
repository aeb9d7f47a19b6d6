"""The entries of the catalogues: what config/sources.yaml and config/models.yaml may say."""

from typing import Annotated, Literal, Self

from pydantic import Field, RootModel, model_validator

from benchc.config.strict import Environment, Family, HubId, Id, Label, Md5, Scalar, Strict, WebAddress
from benchc.demo.tiny.families import FAMILIES


class Drawn(Strict):
    """A source that the run draws itself (benchc/demo)."""

    groups: int = Field(ge=1, description="Groups of items per category; a group has one item per option.")


class Predictor(Strict):
    """Where a TSV departs from the plain form: index, image, question, hint, A, B, ..., answer, category."""

    options_column: str | None = Field(
        default=None,
        description="Column that holds all options as one Python list of texts such as `(A) red`; null where "
        "they stand in columns A, B, ...",
    )
    index_below: Annotated[int, Field(ge=1)] | None = Field(
        default=None,
        description="Leave out rows whose index is this or larger: circular copies, in MMBench. null: none.",
    )
    image_column: str | None = Field(
        default=None,
        description="Column that names the row's image, such as `image_id`, or its images as one Python "
        "list: rows of one name show one image, which is corrupted once. null: every row has its own.",
    )
    leave_out: dict[str, str] = Field(
        default_factory=dict,
        description="Leave out rows that have this value in this column, such as `question_type: sort`.",
    )


class Source(Strict):
    """A multiple-choice data set. Exactly one of url, path and drawn says where it comes from."""

    label: Label = Field(description="Name in figures.")
    url: WebAddress | None = Field(
        default=None,
        description="Address of the TSV.",
    )
    md5: Md5 | None = Field(
        default=None,
        description="MD5 of the file at url; null where none is published, and then nothing is checked.",
    )
    path: str | None = Field(
        default=None,
        description="The TSV on this machine, from the repository's root; may hold ${VARIABLES} of the "
        "environment. ${BENCHC_SHARED} is ../shared where it is not set.",
    )
    drawn: Drawn | None = Field(default=None, description="Drawn by the run: how much of it.")
    reader: Predictor = Field(
        default_factory=Predictor, description="Where the TSV departs from the plain form."
    )
    task_column: Literal["category", "l2_category"] = Field(
        description="Column that holds the task type by which the pool is balanced."
    )

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        _exactly_one(self, ("url", "path", "drawn"))
        if self.md5 is not None and self.url is None:
            raise ValueError("has an md5 without a url, but only a download is checked by one")
        return self


class Training(Strict):
    """A tiny model that the run trains: the options of scripts/train_demo_model.py."""

    hidden: int = Field(ge=24, multiple_of=24, description="Width of all layers.")
    vision_layers: int = Field(ge=1, description="Layers of the part that sees.")
    text_layers: int = Field(ge=1, description="Layers of the part that reads and answers.")
    patch: Literal[1, 2, 3, 4, 6, 8, 12, 24] = Field(
        description="Side of a patch in pixels; a picture has 48, and so an even number of patches a side."
    )
    steps: int = Field(ge=1, description="Training steps. More takes longer.")
    batch: int = Field(ge=1, description="Pictures per step.")
    learning_rate: float = Field(gt=0, description="Learning rate of the weight matrices (Muon).")
    noise: float = Field(default=0.0, ge=0, le=1, description="Share of items seen through noise.")
    text_share: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="Share of a letter model's steps, the first, that ask for texts.",
    )
    seed: int = Field(ge=0, description="Seed of the weights and of the order of items.")


class Model(Strict):
    """A vision-language model. Exactly one of repo, path and train says where it comes from."""

    label: Label = Field(description="Name in tables and figures.")
    family: Family = Field(
        description="How the model is loaded: one of the families in docs/models.md.",
    )
    scoring: Literal["letter", "text", "text_mean"] = Field(
        description="What stands for an option: the logit of its letter, the log-likelihood of its text, or "
        "that log-likelihood per token."
    )
    repo: HubId | None = Field(
        default=None,
        description="Id on the Hugging Face Hub.",
    )
    revision: str | None = Field(
        default=None,
        description="Commit, tag or branch of repo (in quotes); null where none has been pinned yet.",
    )
    path: str | None = Field(
        default=None,
        description="Folder of the Hub's form on this machine, from the repository's root; may hold "
        "${VARIABLES} of the environment.",
    )
    train: Training | None = Field(
        default=None,
        description=f"Trained by the run, where family is {', '.join(FAMILIES[:-1])} or {FAMILIES[-1]}: how.",
    )
    processor: dict[str, Scalar] = Field(
        default_factory=dict,
        description="Settings of the image processor that replace the checkpoint's own, such as max_patches.",
    )
    parameters_b: Annotated[float, Field(gt=0)] | None = Field(
        default=None, description="Parameters in billions, for Table 1; null where not published."
    )
    year: int | None = Field(default=None, description="Year of the release, for Table 1.")
    dtype: Literal["float32", "bfloat16", "float16"] = Field(
        default="float32", description="Type of the weights during inference."
    )
    gpus: int = Field(default=0, ge=0, description="GPUs that one inference job asks for.")
    mem_mb: int = Field(default=2000, ge=1, description="Main memory that one inference job asks for, in MB.")
    env: Environment | None = Field(
        default="transformers",
        description="Software environment of the model's jobs: a file in envs, without .yaml; null where "
        "none has been pinned yet.",
    )

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        _exactly_one(self, ("repo", "path", "train"))
        if self.revision is not None and self.repo is None:
            raise ValueError("has a revision without a repo, but only a repo has revisions")
        if self.train is not None and self.family not in FAMILIES:
            raise ValueError(
                f"has a train with the family {self.family}, but a run trains only {', '.join(FAMILIES)}"
            )
        return self


class SourceCatalogue(RootModel[dict[Id, Source]]):
    """Data sources by id."""


class ModelCatalogue(RootModel[dict[Id, Model]]):
    """Models by id."""


def _exactly_one(entry: Strict, keys: tuple[str, ...]) -> None:
    given = [key for key in keys if getattr(entry, key) is not None]
    if len(given) != 1:
        found = " and ".join(given) if given else "none of them"
        raise ValueError(f"needs exactly one of {', '.join(keys)}, and has {found}")
