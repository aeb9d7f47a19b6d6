"""Check the models of a run: try those that are on this machine, and say where the others come from."""

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from benchc.checking.child import in_child
from benchc.checking.finding import Finding, Findings, reason
from benchc.checking.image_time import NO_IMAGES, JobImages
from benchc.checking.locate import STAGE, LocalModel, locate
from benchc.checking.pool import PoolFound
from benchc.checking.server import check_server
from benchc.checking.trial import AnswersTrial, Trial
from benchc.config.catalogue import Model
from benchc.config.load import Config
from benchc.config.settings import MAX_WORKERS, RunSettings
from benchc.corruptions.own_suite import suite_with
from benchc.corruptions.recipe import clean_recipe
from benchc.errors import InputError
from benchc.models.attentions import FLASH
from benchc.models.generation import Generation
from benchc.models.label_mass import low_label_mass
from benchc.models.label_prompt import YES_NO, LabelPrompt
from benchc.models.question import Question
from benchc.models.question_template import QuestionTemplate
from benchc.models.registry import ANSWERING, CLASSIFY, answering
from benchc.models.units import Recipes
from benchc.planning.amounts import Amount, digits_text
from benchc.planning.rates import Rate
from benchc.pluralize import pluralize
from benchc.progress import track
from benchc.schemas.parquet import write_table
from benchc.schemas.pool import POOL
from benchc.workflow.demo import TrainedModels

TOO_LARGE = "needs a GPU, and is too large for this machine's main memory; check it on a machine with one"


@dataclass(frozen=True)
class AskedOpenly:
    """How a run asks all its questions, those with options, too.

    ``templates``: the prompts of the sample's items, where subsets have their own; the limit of
    ``generation`` is then the largest.
    """

    generation: Generation
    templates: Mapping[str, QuestionTemplate] | None = None


def check_models(
    config: Config,
    pool: PoolFound,
    *,
    load: bool,
    network: bool = True,
    images: JobImages = NO_IMAGES,
) -> Findings[dict[str, Rate]]:
    """Yield what is wrong with each model, and return the rates of those that ran where the run runs them.

    ``images``: the time in which jobs make their images.
    """
    rates: dict[str, Rate] = {}
    local: dict[str, LocalModel] = {}
    results = Path("results") / config.settings.name
    trained = TrainedModels(config.models, config.settings.demo)
    # The Hub may take seconds for each.
    for id_, model in track(config.asked.items(), label="find models", unit="models"):
        if model.server is not None:
            if network:
                yield from check_server(id_, model, model.server, results)
            else:
                yield Finding(STAGE, "skipped", id_, "its server was not asked")
            continue
        try:
            folder = None if model.train is None else Path(trained.folder(id_))
            found = locate(id_, model, results, folder)
        except InputError as error:
            yield Finding(STAGE, "error", id_, reason(error).removeprefix(f"{id_}: "))
            continue
        if isinstance(found, Finding):
            yield found
        elif load:
            local[id_] = found
        else:
            yield Finding(STAGE, "skipped", id_, f"is here and was not loaded: {found.folder}")
    if not local:
        return rates
    asked_labels = config.settings.label_prompt
    form = None if asked_labels is None else LabelPrompt(**asked_labels.arguments())
    labelled = [] if form is None else labelled_questions(form, pool.texts)
    shown, asked = _images(config), _asked_openly(config.settings, pool)
    with TemporaryDirectory() as temporary:
        path, drawn = (Path(temporary) / f"{name}.parquet" for name in ("items", "drawn"))
        write_table(pool.sample, path, POOL)
        if pool.drawn is not None:
            write_table(pool.drawn, drawn, POOL)
        timed = None if pool.drawn is None else drawn
        for id_, found in track(local.items(), label="try models", unit="models"):
            entry = config.models[id_]
            began = time.monotonic()
            trial: Trial | AnswersTrial | None
            if asked is not None:
                trial = yield from _try_answers(id_, entry, found, path, shown, timed, asked)
            else:
                trial = yield from try_local(
                    id_, entry, found, path, shown, pool.options, form, labelled, timed
                )
            seconds = time.monotonic() - began
            if trial is not None and trial.device == found.source.device:
                rates[id_] = rate_of(trial, seconds, images, config.settings.inference.workers)
    return rates


def rate_of(trial: Trial | AnswersTrial, seconds: float, images: JobImages, workers: int) -> Rate:
    """Return the rate of a job that asks a model as a trial did, whose process took so many ``seconds``."""
    made, each = images.each, trial.seconds
    if trial.device == "cpu":
        # One thread makes images, encodes them and computes.
        each += made
    elif workers and trial.model_seconds is not None:
        # Worker processes prepare the next predictions while the device computes.
        made /= workers
        each = max(trial.model_seconds, made + (trial.seconds - trial.model_seconds) / workers)
    else:
        # A thread makes the next images while this one encodes and the device computes.
        each = max(made, each)
    count = trial.predictions if isinstance(trial, Trial) else trial.timed
    start = max(0.0, seconds - trial.asking) + images.start
    return Rate(Amount(each, "estimate"), count, images=made, start=start)


def _asked_openly(settings: RunSettings, pool: PoolFound) -> AskedOpenly | None:
    """Return how a run asks all its questions; None where it scores options."""
    subsets = settings.subset_answers
    if subsets:
        items = pl.concat([each.drop("images") for each in (pool.sample, pool.drawn) if each is not None])
        templates = {
            row["id"]: QuestionTemplate(subsets[settings.subset_of(row)].prompt)
            for row in items.iter_rows(named=True)
        }
        return AskedOpenly(Generation(max(each.max_new_tokens for each in subsets.values())), templates)
    asked = settings.open_answers
    return None if asked is None else AskedOpenly(Generation(**asked.generation()))


def _images(config: Config) -> Recipes:
    """Return the clean images and the run's first corruption, if it generates any."""
    chosen = config.settings.corruptions
    if not chosen.types or config.settings.imported_images:
        return Recipes([clean_recipe()], config.settings.seed, chosen.alpha)
    corruption = chosen.recipe(chosen.types[0], suite_with(chosen.suite, chosen.own_files))
    severities = {level: corruption.parameters[level] for level in chosen.severities}
    recipes = [clean_recipe(), replace(corruption, parameters=severities)]
    return Recipes(recipes, config.settings.seed, chosen.alpha)


def try_local(
    id_: str,
    entry: Model,
    model: LocalModel,
    pool: Path,
    images: Recipes,
    options: int,
    form: LabelPrompt | None = None,
    labelled: Sequence[Question] = (),
    drawn: Path | None = None,
) -> Findings[Trial | None]:
    """Yield what is wrong with a model, and return what was measured; None where it was not tried.

    ``pool`` is a POOL table of a few items, ``images`` are the recipes to apply to them, clean first, and
    ``options`` is the most options of an item. ``form``, ``labelled`` and ``drawn``: the run's prompt with
    labels, questions that it asks, and items on which time is measured, as in ``try_model``.
    """
    if entry.scoring in ANSWERING:
        yield from _try_answers(id_, entry, model, pool, images)
        return None
    try:
        trial: Trial | None = in_child(
            "benchc.checking.try_model",
            "try_model",
            *(model.source, entry.scoring, pool, images, options, model.weights, form, labelled, drawn),
        )
    except InputError as error:
        yield Finding(STAGE, "error", id_, reason(error))
        return None
    if trial is None:
        yield Finding(STAGE, "skipped", id_, TOO_LARGE)
        return None
    yield from judged(id_, entry, trial)
    return trial


def labelled_questions(form: LabelPrompt, texts: pl.DataFrame) -> list[Question]:
    """Return one question as it is asked for each of its labels in the run; without items, two examples.

    ``texts``: items with the columns of POOL but for images.
    """
    items = texts.filter(pl.col("options").list.len() > 0)
    rows = items.select("question", "options", "hint", "category").rows()
    rows = rows or [("Is it so?", [*YES_NO], None, None), ("Which is it?", ["this", "that"], None, None)]
    asked = (form.asked(Question(text, tuple(options), hint), kind) for text, options, hint, kind in rows)
    return list({question.labels: question for question in asked}.values())


def _try_answers(
    id_: str,
    entry: Model,
    model: LocalModel,
    pool: Path,
    images: Recipes,
    drawn: Path | None = None,
    asked: AskedOpenly | None = None,
) -> Findings[AnswersTrial | None]:
    """Yield what a model's answers say, and return what was measured; None where it was not tried.

    ``asked``: how all questions are asked openly, if they are.
    """
    generation = Generation(entry.max_new_tokens) if asked is None else asked.generation
    templates = None if asked is None else asked.templates
    try:
        trial: AnswersTrial | None = in_child(
            "benchc.checking.try_model",
            "try_answers",
            *(model.source, answering(entry.scoring), generation, pool, images, model.weights, drawn),
            templates,
        )
    except InputError as error:
        yield Finding(STAGE, "error", id_, reason(error))
        return None
    if trial is None:
        yield Finding(STAGE, "skipped", id_, TOO_LARGE)
    elif asked is not None:
        yield open_finding(id_, entry, trial, "its prompt in answers" if templates else "answers.instruction")
    else:
        yield answers_finding(id_, entry, trial)
    return trial


def open_finding(id_: str, model: Model, trial: AnswersTrial, prompt: str) -> Finding:
    """Return what a trial says about a model that is asked openly; ``prompt``: the setting of its prompt."""
    on_cpu = _on_cpu(model, trial)
    examples = " and ".join(repr(reply[:30]) for reply in trial.examples)
    facts = (
        f"{_loaded(trial)}{digits_text(trial.seconds)} s per answer{_apart(trial)}, {trial.cut_off} of "
        f"{pluralize(trial.answers, 'answer')} cut off, such as {examples}"
    )
    if trial.cut_off == trial.answers or not any(trial.examples):
        advice = _advice(trial, prompt, "answers.max_new_tokens")
        return Finding(STAGE, "warning", id_, facts + advice + on_cpu)
    return Finding(STAGE, "ok", id_, facts + on_cpu)


def answers_finding(id_: str, model: Model, trial: AnswersTrial) -> Finding:
    """Return what a trial says about a model that scores no options."""
    on_cpu = _on_cpu(model, trial)
    facts = (
        f"{_loaded(trial)}{digits_text(trial.seconds)} s per answer{_apart(trial)}, {trial.with_option} of "
        f"{pluralize(trial.answers, 'answer')} choose an option"
    )
    if model.scoring == CLASSIFY:  # its closed list need not contain an option
        return Finding(STAGE, "ok", id_, facts + on_cpu)
    facts += f", {trial.cut_off} cut off"
    # The answer to a bare question need not name one of its options.
    if trial.cut_off == trial.answers if trial.bare else trial.with_option == 0:
        advice = _advice(trial, "its prompt", "max_new_tokens in the model catalogue")
        return Finding(STAGE, "warning", id_, facts + advice + on_cpu)
    return Finding(STAGE, "ok", id_, facts + on_cpu)


def _advice(trial: AnswersTrial, prompt: str, limit: str) -> str:
    """Return what to do about answers; nothing where neither the prompt nor the limit can be changed."""
    advice = [] if trial.bare else [f"look at {prompt}"]
    advice += [f"raise {limit}"] if trial.may_be_longer else []
    return f"; {', or '.join(advice)}" if advice else ""


def judged(id_: str, model: Model, trial: Trial) -> Iterator[Finding]:
    """Yield what a trial says about a model."""
    peak = "" if trial.peak_mb is None else f", peak memory {trial.peak_mb:,.0f} MB"
    gpu = "" if trial.gpu_mb is None else f", of the GPU {trial.gpu_mb:,.0f} MB"
    facts = (
        f"{_loaded(trial)}{digits_text(trial.seconds)} s per prediction{_apart(trial)}, label mass "
        f"{100 * trial.label_mass:.0f} %{peak}{gpu}"
    )
    if not trial.uses_images:
        text = "its predictions do not change if the images become grey; check its processor and weights"
        yield Finding(STAGE, "error", id_, text)
    else:
        yield Finding(STAGE, "ok", id_, facts + _on_cpu(model, trial))
    if trial.one_by_one:
        text = (
            "its logits of an image depend on the other severities that pass through it together: jobs ask "
            "about each alone, which takes longer"
        )
        yield Finding(STAGE, "warning", id_, text)
    yield from _workers(id_, trial)
    if (low := low_label_mass(model.scoring, [trial.label_mass])) is not None:
        yield Finding(STAGE, "warning", id_, low)
    if trial.peak_mb is not None and trial.peak_mb > model.mem_mb:
        text = (
            f"its peak memory is {trial.peak_mb:,.0f} MB, but mem_mb in the model catalogue "
            f"{model.mem_mb:,}: a cluster ends its jobs; set mem_mb to {_rounded_up(1.25 * trial.peak_mb)}"
        )
        yield Finding(STAGE, "warning", id_, text)


def _on_cpu(model: Model, trial: Trial | AnswersTrial) -> str:
    """Return what to say of a model of GPUs that was tried on the CPU; nothing of others."""
    if not model.gpus or trial.device != "cpu":
        return ""
    without = f" and without {FLASH}" if model.attention == FLASH else ""
    found = "no GPU" if model.gpus == 1 else f"fewer than {model.gpus} GPUs"
    return (
        f"; on the CPU{without}, since torch finds {found} of CUDA or ROCm: a job on this machine would be "
        "refused"
    )


def _loaded(trial: Trial | AnswersTrial) -> str:
    return "" if trial.loading is None else f"loaded in {trial.loading:.0f} s, "


def _workers(id_: str, trial: Trial) -> Iterator[Finding]:
    """Yield how many worker processes prepare as much as the model computes, where that is on a GPU."""
    if trial.device != "cuda" or trial.model_seconds is None or trial.image_seconds is None:
        return
    encoding = trial.seconds - trial.model_seconds
    needed = math.ceil((trial.image_seconds + encoding) / trial.model_seconds)
    text = (
        f"a worker process takes {digits_text(trial.image_seconds)} s to make the images of a prediction and "
        f"{digits_text(encoding)} s to encode them, so that the GPU needs {pluralize(needed, 'worker')}; set "
        f"`inference.workers: {min(MAX_WORKERS, needed)}`, if there are so many cores"
    )
    yield Finding(STAGE, "ok", id_, text)


def _apart(trial: Trial | AnswersTrial) -> str:
    """Return what of the seconds is whose, where that was measured."""
    if trial.model_seconds is None:
        return ""
    device = "CPU" if trial.device == "cpu" else "GPU"
    model, encoding = map(digits_text, (trial.model_seconds, trial.seconds - trial.model_seconds))
    return f" ({model} s in the model on the {device}, {encoding} s encoding)"


def _rounded_up(megabytes: float) -> int:
    return int(-(-megabytes // 1000) * 1000)
