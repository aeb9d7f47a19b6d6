"""The settings of a run of NaturalBench: the shared ones, curation, and what the paper leaves open."""

from collections.abc import Iterator
from datetime import date
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from benchc.benchmarks.naturalbench.crosscheck import (
    blind_errors,
    curation_errors,
    reading_errors,
    translation_errors,
    tuning_errors,
)
from benchc.benchmarks.naturalbench.kinds import READINGS, DecisionRule, Prior, QuestionType
from benchc.config import settings
from benchc.config.catalogue import Published
from benchc.config.language_model import LanguageModel
from benchc.config.raw import block
from benchc.config.settings import EncoderBatch, EncoderGpus
from benchc.config.strict import AnyIds, Id, Ids, Label, Strict, UserPath, unique
from benchc.models.encoders.names import BATCH
from benchc.models.tuning.settings import Modality, TuningSettings


class Pool(settings.Pool):
    """Groups are kept whole, so the pool has all items."""

    per_task: None = Field(default=None, description="null: groups are kept whole; see groups.limit.")
    total: None = Field(default=None, description="null: groups are kept whole; see groups.limit.")


class Corruptions(settings.Corruptions):
    """How images are corrupted."""

    types: Annotated[list[str], AfterValidator(unique)] = Field(
        default=[],
        description="Corruptions by name, in the order of tables and figures; none scores clean images only.",
    )


class Groups(Strict):
    """Which groups models are asked about, and the skills that they need."""

    limit: Annotated[int, Field(ge=1, le=10**7)] | None = Field(
        default=None,
        description="Maximum number of groups of each subset; null for all. Groups are taken in a hashed "
        "order, so a smaller number keeps some of those that a larger one keeps.",
    )
    tags: UserPath | None = Field(
        default=None,
        description="CSV file with the columns group, q_idx, i_idx and skill, one row for each skill of an "
        "item; null where there are no tags. Relative to the working directory.",
    )


class Prompt(settings.LabelPrompt):
    """How a model is asked about an item: the question, the separator, and the suffix of its type."""

    yes_no: str = Field(
        default="Please answer Yes or No.", description="Suffix of a question with the answers Yes and No."
    )
    multiple_choice: str = Field(
        default="Please output the letter corresponding to the correct option.",
        description="Suffix of a question with the options A and B.",
    )
    separator: Literal["space", "none"] = Field(
        default="space",
        description="What is between question and suffix: a space, or nothing, as in the paper's code.",
    )
    max_new_tokens: int = Field(
        default=32, ge=1, le=10**6, description="The most tokens of a generated answer."
    )


class Decoding(Strict):
    """How generated answers are understood."""

    extraction: Literal["strict", "official"] = Field(
        default="strict",
        description="How an answer is extracted from a reply: strict takes the whole word yes or no, and a "
        "capital A or B that stands alone; official repeats the paper's code. Of prompt.labels texts, "
        "which that code does not read, both take the first text that occurs.",
    )


class Encoder(Strict):
    """An encoder that embeds images and captions in one space."""

    label: Label = Field(description="Name in tables.")
    library: Literal["open_clip", "sentence_transformers", "blip2"] = Field(
        default="open_clip", description="Library that loads it; blip2 is transformers' BLIP-2 for retrieval."
    )
    name: str = Field(
        min_length=1,
        description="A model of the library, a folder, or `trained`: the small one that the run trains.",
    )
    pretrained: str | None = Field(
        default=None, description="open_clip's tag of the weights, or a file; null for a folder."
    )
    language: str | None = Field(
        default=None,
        min_length=1,
        description="Language of the captions, as the encoder's tokenizer calls it, such as zho_Hans; only "
        "of encoders whose tokenizer needs one (NLLB-CLIP).",
    )
    gpus: EncoderGpus = 0
    batch: EncoderBatch = BATCH


class Captions(Strict):
    """A data set of captioned images."""

    label: Label = Field(description="Name in tables, and the subset of its groups.")
    form: Literal["csv", "tsv", "flickr30k", "docci", "xm3600", "generated"] = Field(
        description="Form of the file: csv has the columns image and caption; tsv is VLMEvalKit's; "
        "flickr30k, docci and xm3600 are as published; generated is drawn by the run "
        "(docs/naturalbench.md)."
    )
    file: UserPath | None = Field(
        default=None, description="File with the captions, relative to the working directory."
    )
    images: UserPath | None = Field(
        default=None,
        description="Folder of the images, relative to the working directory; null for a tsv.",
    )
    count: Annotated[int, Field(ge=2, le=10**5)] | None = Field(
        default=None, description="Number of images that the run draws; only of generated."
    )
    locale: str | None = Field(
        default=None,
        min_length=1,
        description="Which captions of the file are taken, such as zh or hi; only of xm3600, which has those "
        "of 36 locales.",
    )
    language: str = Field(
        default="English",
        min_length=1,
        description="Language of the questions to write and of shortened captions.",
    )
    published: Published = Field(
        default_factory=Published,
        description="Size of a data set that is not here, for `benchc plan`; it changes nothing in a run.",
    )

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.form == "generated":
            if self.count is None or self.file is not None or self.images is not None:
                raise ValueError("has the form generated, which needs count, and neither file nor images")
        elif self.file is None or self.count is not None:
            raise ValueError(f"has the form {self.form}, which needs file, and no count")
        elif self.images is None and self.form != "tsv":
            raise ValueError(f"has the form {self.form}, which needs the folder images")
        if (self.locale is not None) != (self.form == "xm3600"):
            needs = "needs locale, such as zh" if self.form == "xm3600" else "has no locale; remove it"
            raise ValueError(f"has the form {self.form}, which {needs}")
        return self


class Shorten(Strict):
    """How the writer shortens captions that are too long for encoders, before pairs are mined."""

    below: int = Field(
        default=230,
        ge=2,
        le=10**6,
        description="A caption with as many characters or more is shortened to fewer; 230 is the paper's for "
        "DOCCI.",
    )
    template: UserPath = Field(
        default="config/prompts/naturalbench_shorten.txt",
        description="Prompt: a text file with the placeholders {caption}, {below} and, if wanted, "
        "{language}.",
    )
    attempts: int = Field(
        default=4,
        ge=1,
        le=100,
        description="Requests for a caption, until a reply is short enough; a sample whose caption none "
        "shortens is left out, and listed.",
    )


class Mine(Strict):
    """How pairs of samples are found that encoders mismatch (paper, eq. 1)."""

    encoders: Ids = Field(description="Ids in encoders; a mined pair is mismatched by all of them.")
    captions: Literal["first", "all"] = Field(
        default="first",
        description="Whether an image's first caption is a sample, or each; a pair has two images.",
    )
    keep: int = Field(
        default=64,
        ge=1,
        le=10**6,
        description="The most mismatches that are kept of each sample; the others are counted.",
    )
    keep_by: Literal["hash", "hardest"] = Field(
        default="hash",
        description="Which are kept: a uniform draw by a hash, or those of the largest margin.",
    )
    pairs: int = Field(default=2000, ge=1, le=10**7, description="The most pairs that are chosen in all.")
    random_pairs: int = Field(
        default=0, ge=0, le=10**7, description="Pairs drawn at random beside the mined ones, for Table 6."
    )


class Writer(LanguageModel):
    """The language model that writes the questions, behind an OpenAI-compatible endpoint."""

    types: Annotated[list[QuestionType], Field(min_length=1), AfterValidator(unique)] = Field(
        default=["yes_no", "multiple_choice"], description="Types of questions that are written for a pair."
    )
    templates: dict[QuestionType, UserPath] = Field(
        default={
            "yes_no": "config/prompts/naturalbench_yes_no.txt",
            "multiple_choice": "config/prompts/naturalbench_multiple_choice.txt",
        },
        description="Prompt of each type: a text file with the placeholders {caption_0}, {caption_1} and, if "
        "wanted, {language}.",
    )
    more_rounds: int = Field(
        default=3, ge=0, le=3, description="How often questions that were not kept are written anew."
    )

    @model_validator(mode="after")
    def _has_templates(self) -> Self:
        for kind in self.types:
            if kind not in self.templates:
                raise ValueError(
                    f"has no template of {kind}; add it to templates, or remove {kind} from types"
                )
        return self


class Review(Strict):
    """The people who check the pairs and questions."""

    annotators: Annotated[Ids, Field(min_length=2)] = Field(
        description="Two or more; a question is kept if all choose its expected answers."
    )
    folder: UserPath = Field(
        description="Folder of the reviews, {round}/{annotator}.csv, relative to the working directory; the "
        "rounds are pairs, 0, 1, 2 and 3."
    )
    pairs: bool = Field(
        default=True,
        description="Whether people first drop the pairs of which one caption describes both images.",
    )


def _day(text: str) -> str:
    """Return ``text``, a date that the calendar has; raises ValueError."""
    try:
        date.fromisoformat(text)
    except ValueError as error:
        raise ValueError(f'is "{text}", which no calendar has; give a day as YYYY-MM-DD') from error
    return text


class Release(Strict):
    """What is published."""

    name: Label = Field(description="Name of the data set.")
    date: Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$"), AfterValidator(_day)] = Field(
        description="Date of the release, as YYYY-MM-DD, in quotes."
    )
    older: list[UserPath] = Field(
        default=[],
        description="TSV files of older releases; the table `overlap` counts what this one shares with them.",
    )


class Curate(Strict):
    """How a new set of groups is made from captioned images."""

    captions: Annotated[dict[Id, Captions], Field(min_length=1)] = Field(
        description="Data sets of captioned images, by an id of your own."
    )
    shorten: Shorten | None = Field(
        default=None,
        description="How the writer shortens long captions first; null: captions are taken as they are.",
    )
    mine: Mine = Field(description="How pairs are found that encoders mismatch (paper, eq. 1).")
    writer: Writer = Field(description="The language model that writes the questions.")
    review: Review = Field(description="The people who check the pairs and questions.")
    release: Release = Field(description="What is published.")


class Translate(LanguageModel):
    """The language model that translates questions in other languages into English (Table 5)."""

    template: UserPath = Field(
        default="config/prompts/naturalbench_translate.txt",
        description="Prompt: a text file with the placeholders {text} (the question, and what else models "
        "read of it, as JSON) and, if wanted, {language}.",
    )
    attempts: int = Field(
        default=4,
        ge=1,
        le=100,
        description="Requests for a question, until a reply is a translation; a group of which none of them "
        "translates a question is left out of Table 5, and counted.",
    )


class Retrieval(Strict):
    """Image-text retrieval on pairs of captioned images (Table 7)."""

    encoders: Ids = Field(description="Ids in encoders, in the order of the table.")
    pairs: UserPath | None = Field(
        default=None,
        description="CSV file with the columns pair, image_0, image_1, caption_0 and caption_1; null for the "
        "pairs of curation.",
    )
    images: UserPath | None = Field(
        default=None, description="Folder of the images of pairs; null where pairs is."
    )

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.pairs is None) != (self.images is None):
            raise ValueError("has one of pairs and images; give both, or neither for the pairs of curation")
        return self


class Lora(Strict):
    """Low-rank adaptation: what is learned beside the weights of a model, and then merged into them."""

    rank: int = Field(
        default=128,
        ge=1,
        le=10**5,
        description="Rank of the matrices; 128 is that of LLaVA-1.5's script for LoRA.",
    )
    alpha: int = Field(default=256, ge=1, le=10**6, description="Their product counts alpha / rank times.")
    modules: Annotated[list[Label], Field(min_length=1), AfterValidator(unique)] | None = Field(
        default=None,
        description="Names of the layers that are adapted, such as q_proj; null for all linear layers but "
        "the language head.",
    )


class FineTuning(Strict):
    """How models are tuned on one half of the groups and tested on the other (Figure 5)."""

    models: Ids = Field(description="Ids in models, in the order of the figure.")
    modality: Annotated[list[Modality], Field(min_length=1), AfterValidator(unique)] = Field(
        default=["images", "text"],
        description="What a model is tuned and tested with: the images, or the text of the questions alone "
        "(blind). Each is a job of its own.",
    )
    seed: int = Field(default=0, ge=0, description="Seed of the split and of the training.")
    epochs: int = Field(
        default=10, ge=1, le=10**4, description="Passes over the training half; 10 in the paper."
    )
    batch: int = Field(default=16, ge=1, le=10**5, description="Items of a step; 16 in the paper.")
    learning_rate: float = Field(
        default=2e-4,
        gt=0,
        description="Highest rate of AdamW. The paper's 2e-5 is that of LLaVA-1.5's script that trains all "
        "weights, 2e-4 that of its script for LoRA.",
    )
    lora: Lora = Field(default_factory=Lora, description="What is learned.")

    def tuning(self) -> TuningSettings:
        """Return how each model is tuned."""
        lora = self.lora
        return TuningSettings(
            epochs=self.epochs,
            batch=self.batch,
            learning_rate=self.learning_rate,
            rank=lora.rank,
            alpha=lora.alpha,
            modules=None if lora.modules is None else tuple(lora.modules),
            seed=self.seed,
        )


class Blind(Strict):
    """Other benchmarks, which models answer with their images and without (Figures 3 and 4)."""

    sources: AnyIds = Field(
        default=[],
        description="Ids of data sets of multiple-choice or yes-or-no questions in the source catalogue, in "
        "the order of tables and figures. They are no part of the groups.",
    )
    items: Annotated[int, Field(ge=1, le=10**7)] | None = Field(
        default=500,
        description="Maximum number of items of each source, in a hashed order; null for all.",
    )
    models: Ids | None = Field(
        default=None,
        description="Ids in models that are asked; null for all that have probabilities. They are asked by "
        "the usual prompt of questions with options, not by prompt.",
    )
    share: float = Field(
        default=1.0,
        gt=0,
        le=1,
        description="Share of these models that answer a question of figure 3 rightly without its image.",
    )


class Bootstrap(settings.Bootstrap):
    """How the groups are resampled for intervals and tests."""

    rank_draws: int = Field(
        default=20000,
        ge=100,
        le=10**6,
        description="Resamples for the test of rank swaps. After Holm's correction over the 1,378 pairs of "
        "53 models, fewer than 55,119 cannot make any pair significant at 0.05; 20,000 are enough for 32.",
    )


class Tables(Strict):
    """Settings of the tables."""

    bootstrap: Bootstrap = Field(
        default_factory=Bootstrap, description="How the groups are resampled for intervals and tests."
    )
    ranking: settings.LabelRanking = Field(
        default_factory=settings.LabelRanking, description="Which models are ranked."
    )


class Demo(settings.Demo):
    """Data and models that the run generates and trains."""

    image_encoder: settings.TrainedEncoder | None = Field(
        default=None, description="The small image encoder that the run trains."
    )


class Settings(settings.RunSettings):
    """A run of NaturalBench: `config/naturalbench.yaml` and others."""

    SOURCE_KEYS = ("sources", "blind.sources")
    MODEL_KEYS = ("models",)

    benchmark: Literal["naturalbench"] = Field(description="Benchmark that the run builds.")
    sources: AnyIds = Field(description="Ids of the data sets of groups, in the order of figures.")
    pool: Pool = Field(default_factory=Pool, description="Groups are kept whole, so the pool has all items.")
    corruptions: Corruptions = Field(
        default_factory=Corruptions, description="How images are corrupted; by default they are not."
    )
    models: AnyIds = Field(
        default=[], description="Ids of the models that are scored, in the order of tables and figures."
    )
    groups: Groups = Field(
        default_factory=Groups, description="Which groups models are asked about, and the skills they need."
    )
    prompt: Prompt = Field(default_factory=Prompt, description="How a model is asked about an item.")
    decoding: Decoding = Field(default_factory=Decoding, description="How generated answers are understood.")
    readings: Annotated[list[DecisionRule], Field(min_length=1), AfterValidator(unique)] = Field(
        default=list(READINGS),
        description="How predictions are read: decoding (a generated answer), deterministic (the more "
        "probable one, tau = 0), post_hoc (relative to a pass without the image), global (one tau for all "
        "groups) and sample (the best tau of each question, image or group).",
    )
    prior: Prior = Field(
        default="no_image",
        description="Where post_hoc takes P(answer | question) from: the question alone, or a grey image, "
        "for models that need one.",
    )
    encoders: dict[Id, Encoder] = Field(
        default={}, description="Encoders of curation and retrieval, by an id of your own."
    )
    curate: Curate | None = Field(
        default=None, description="How a new set of groups is made from captioned images; null for none."
    )
    retrieval: Retrieval | None = Field(
        default=None, description="Image-text retrieval on pairs of captioned images; null for none."
    )
    fine_tuning: FineTuning | None = Field(
        default=None,
        description="How models are tuned on one half of the groups and tested on the other (Figure 5); null "
        "for none.",
    )
    blind: Blind = Field(
        default_factory=Blind,
        description="Other benchmarks, which models answer with their images and without; by default none.",
    )
    translate: Translate | None = Field(
        default=None,
        description="How questions in other languages are translated into English, which models then answer "
        "too (Table 5); null: they are not.",
    )
    tables: Tables = Field(default_factory=Tables, description="Settings of the tables.")
    demo: Demo | None = Field(
        default=None,
        description="Data and models that the run generates and trains; null if all are real.",
    )

    @property
    def label_prompt(self) -> settings.LabelPrompt:
        return self.prompt

    @property
    def table_reading(self) -> DecisionRule:
        """The reading of tables that have one."""
        preferred: tuple[DecisionRule, ...] = ("decoding", "deterministic")
        return [*(reading for reading in preferred if reading in self.readings), self.readings[0]][0]

    @property
    def made_sources(self) -> tuple[str, ...]:
        return () if self.curate is None else (f"results/{self.name}/curate/groups.tsv",)

    @property
    def encoder_gpus(self) -> int:
        return max((self.encoders[id_].gpus for id_ in self.used_encoders), default=0)

    @property
    def used_encoders(self) -> list[str]:
        """Return the ids of the encoders of curation and retrieval."""
        mining = self.curate.mine.encoders if self.curate else []
        return [*dict.fromkeys([*mining, *(self.retrieval.encoders if self.retrieval else [])])]

    @classmethod
    def trained_encoders(cls, raw: settings.Raw) -> list[str]:
        encoders = block(raw, "encoders")
        return ["the image encoder"] if any(_trained(encoders, id_) for id_ in encoders) else []

    @classmethod
    def benchmark_errors(cls, raw: settings.Raw, file: str) -> Iterator[str]:
        yield from curation_errors(raw, file)
        yield from blind_errors(raw, file)
        yield from translation_errors(raw, file)
        yield from reading_errors(raw, file)

    @classmethod
    def model_errors(
        cls, raw: settings.Raw, models: settings.Raw, file: str, catalogue: str
    ) -> Iterator[str]:
        yield from tuning_errors(raw, models, file, catalogue)


def _trained(encoders: settings.Raw, id_: str) -> bool:
    return block(encoders, id_).get("name") == "trained"
