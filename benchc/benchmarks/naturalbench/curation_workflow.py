"""The part of a run of NaturalBench that makes a set of groups from captioned images."""

import time
import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path

from benchc.benchmarks.naturalbench.curation.caption_sets import CaptionSet, DrawnCaptions
from benchc.benchmarks.naturalbench.curation.review_files import (
    PAIRS_REVIEW,
    THEN_RUN_AGAIN,
    ReviewError,
    answers_digest,
    choices_of_form,
    read_answers,
)
from benchc.benchmarks.naturalbench.encoder_workflow import Encoders
from benchc.benchmarks.naturalbench.settings import Captions, Curate, Settings
from benchc.errors import InputError
from benchc.home import HOME
from benchc.workflow.code import contents_of
from benchc.workflow.records import CLOCK
from benchc.workflow.sources import local

CAPTIONS = "<results>/curate/captions.parquet"
LONG_CAPTIONS = "<results>/curate/long_captions.parquet"
PAIRS = "<results>/curate/pairs.parquet"
KEPT_PAIRS = "<results>/curate/kept_pairs.parquet"
GROUPS = "<results>/curate/groups.tsv"


class Curation:
    """The data sets, questions and reviews of a run that makes a set of groups.

    A review is of pairs (``pairs``), or of a round of questions (``0``, ``1``, ...); its number is None or
    that of its round.

    Attributes:
        caption_sets: the data sets of captions
        caption_files: the file of each that is not drawn
        read_captions: the samples as they are read: CAPTIONS, or those that are then shortened to it
        subsets: the subset of the groups of each
        embeddings: of the encoders that find the pairs
        weights: the own files of each of these encoders
        rounds: of questions
        reviews: those of the run by name
        used_pairs: those that questions are written about
        questions, kept, reviewed: the files of all rounds, and of all reviews
        templates: the prompt of each type of questions
        shorten_template: the prompt by which long captions are shortened; None where they are not
        reviews_folder: has the annotators' files, {review}/{annotator}.csv
        forms: the folder of the forms that they fill in
        recordings: the folder of the writer's replies
        service: how jobs reach the writer
        simulated: whether all images are drawn, so that the run itself writes replies and reviews
        records_replies: whether it writes the replies that it replays
        started_at: when the rules were read, in seconds since the epoch
    """

    def __init__(self, settings: Settings, curate: Curate, encoders: Encoders) -> None:
        self.curate, self.encoders = curate, encoders
        self.logs = Path("logs", settings.name)
        folder = f"results/{settings.name}/curate"
        mining, writer, review = curate.mine, curate.writer, curate.review
        seed = settings.demo.seed if settings.demo else 0
        self.caption_sets = [_caption_set(id_, each, seed) for id_, each in curate.captions.items()]
        self.caption_files = {
            source.id: str(source.file) for source in self.caption_sets if isinstance(source, CaptionSet)
        }
        self.read_captions = LONG_CAPTIONS if curate.shorten else CAPTIONS
        self.subsets = {id_: each.label for id_, each in curate.captions.items()}
        self.embeddings = [f"<results>/curate/embeddings/{id_}.parquet" for id_ in mining.encoders]
        self.weights = {id_: encoders.files(id_) for id_ in mining.encoders}
        self.rounds = range(1 + writer.more_rounds)
        self.reviews = [*([PAIRS_REVIEW] if review.pairs else []), *map(str, self.rounds)]
        self.used_pairs = KEPT_PAIRS if review.pairs else PAIRS
        self.questions = [f"<results>/curate/questions/{number}.parquet" for number in self.rounds]
        self.kept = [f"<results>/curate/kept/{number}.parquet" for number in self.rounds]
        self.reviewed = [f"<results>/curate/reviewed/{name}.parquet" for name in self.reviews]
        self.templates = {kind: local(writer.templates[kind]) for kind in writer.types}
        self.shorten_template = local(curate.shorten.template) if curate.shorten else None
        prompts = {f"writer.templates.{kind}": file for kind, file in self.templates.items()}
        prompts |= {"shorten.template": self.shorten_template} if self.shorten_template else {}
        for key, file in prompts.items():
            if not Path(file).is_file():
                raise InputError(f"curate.{key}: there is no file {file}; correct the path.")
        self.reviews_folder, self.forms = local(review.folder), f"{folder}/review"
        self.recordings = f"{folder}/recordings" if writer.recordings is None else local(writer.recordings)
        self.simulated = settings.demo is not None and not self.caption_files
        self.records_replies = self.simulated and writer.mode == "replay" and writer.recordings is None
        self.service = writer.service(self.recordings)
        self.older_releases = [local(file) for file in curate.release.older]
        self.started_at = time.time()

    @property
    def reported(self) -> list[str]:
        """The record of the release, and the forms, which the report requires."""
        return [
            "<results>/curate/groups.json",
            *(
                f"<results>/curate/review/{review}/{annotator}.html"
                for review in self.reviews
                for annotator in self.curate.review.annotators
            ),
        ]

    @property
    def version(self) -> str:
        """The version of benchc."""
        return str(tomllib.loads((HOME / "pyproject.toml").read_text())["project"]["version"])

    def template_contents(self) -> list[str]:
        """Return the contents of the prompts."""
        return contents_of(self.templates.values())

    def release_contents(self) -> list[str]:
        """Return the contents of the files of captions, and of the user's own files of encoders."""
        weights = [line for id_ in self.curate.mine.encoders for line in self.encoders.contents(id_)]
        return [*contents_of(self.caption_files.values()), *weights]

    def kept_before(self, round_: str) -> str | list[str]:
        """Return the file that says which questions of the round before were kept; none for round 0."""
        return f"<results>/curate/kept/{int(round_) - 1}.parquet" if int(round_) else []

    def number(self, review: str) -> int | None:
        """Return the round whose questions are reviewed; None for a review of pairs."""
        return None if review == PAIRS_REVIEW else int(review)

    def pairs_of(self, review: str) -> str:
        """Return the pairs that are reviewed, or that the reviewed questions are about."""
        return PAIRS if review == PAIRS_REVIEW else self.used_pairs

    def questions_of(self, review: str) -> str | list[str]:
        """Return the questions that are reviewed; none in a review of pairs."""
        return [] if review == PAIRS_REVIEW else f"<results>/curate/questions/{review}.parquet"

    def returned_to(self, review: str, annotator: str) -> str:
        """Return the file that an annotator of a review writes."""
        return f"{self.reviews_folder}/{review}/{annotator}.csv"

    def review_files(self, review: str) -> list[str]:
        """Return the annotators' files of a review: those that are here, or that the run itself writes."""
        files = [self.returned_to(review, annotator) for annotator in self.curate.review.annotators]
        return files if self.simulated else [file for file in files if Path(file).is_file()]

    def review_contents(self, review: str) -> list[str]:
        """Return the answers in the files of people, as digests."""
        if self.simulated:
            return []
        return [f"{file} {answers_digest(Path(file))}" for file in self.review_files(review)]

    def open_forms(self, review: str) -> list[str]:
        """Return the forms of a review that people have not returned, which the job's error names.

        A newer form changes no review. Were all forms inputs as ancient, Snakemake would not look for changes
        of jobs behind a form that it writes anew.
        """
        annotators = self.curate.review.annotators
        if len(self.review_files(review)) == len(annotators):
            return []
        return [f"<results>/curate/review/{review}/{annotator}.html" for annotator in annotators]

    def faults_of_reviews(self, renewed: Collection[tuple[str, Mapping[str, str]]]) -> list[str]:
        """Return what is wrong with reviews that a job has read: it would delete its outputs.

        Not of a review whose forms the run writes anew: its old form says nothing of the answers.
        ``renewed``: rule and wildcards of each job that is going to run.
        """
        if self.simulated:
            return []
        written_anew = {wildcards["review"] for rule, wildcards in renewed if rule == "review_form"}
        lines: list[str] = []
        for review in self.reviews:
            kept = "kept_pairs" if review == PAIRS_REVIEW else f"kept/{review}"
            folder = Path(self.forms, review)
            forms = {name: folder / f"{name}.csv" for name in self.curate.review.annotators}
            outputs = [folder.parents[1] / f"{kept}.parquet", *forms.values()]
            if review in written_anew or not all(path.is_file() for path in outputs):
                continue
            choices = {annotator: choices_of_form(form) for annotator, form in forms.items()}
            try:
                read_answers(choices, Path(self.reviews_folder, review), folder, review)
            except ReviewError as error:
                lines += error.args
        return lines

    def stopped_by_reviews(self) -> list[str]:
        """Return what the jobs of this process that read reviews stopped with."""
        logs = [self.logs / "keep_pairs.log", *sorted(self.logs.glob("keep_reviewed/*.log"))]
        # That of an earlier run stays where no job begins.
        recent = [path for path in logs if path.is_file() and path.stat().st_mtime >= self.started_at - CLOCK]
        texts = [path.read_text() for path in recent]
        return [
            line for text in texts if text.rstrip().endswith(THEN_RUN_AGAIN) for line in text.splitlines()
        ]


def _caption_set(id_: str, captions: Captions, seed: int) -> CaptionSet | DrawnCaptions:
    if captions.form == "generated":
        assert captions.count is not None, "checked by Captions"
        return DrawnCaptions(id_, captions.count, seed, captions.language)
    assert captions.file is not None, "checked by Captions"
    images = Path(local(captions.images)) if captions.images else None
    file, language, locale = Path(local(captions.file)), captions.language, captions.locale
    return CaptionSet(id_, captions.form, file, images, language, locale)
