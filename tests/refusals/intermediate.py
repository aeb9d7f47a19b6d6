"""Files of a finished run that were damaged, exchanged or lost, and what commands say of them."""

import json
from collections.abc import Callable, Sequence

import polars as pl

from benchc.benchmarks.bench_c.schemas.embeddings import EMBEDDINGS
from benchc.schemas.corrupted import CORRUPTED
from benchc.schemas.parquet import TableType, read_footer, read_table, write_table
from benchc.schemas.predictions import PREDICTIONS as PREDICTED
from benchc.schemas.subset import SUBSET
from tests.footers import footer_of
from tests.refusals.case import (
    Case,
    Change,
    Table,
    altered,
    case,
    copied,
    cut,
    edit,
    flipped,
    folder,
    remove,
    write,
)
from tests.refusals.workspace import Workspace

RUN = "results/small"
POOL, KAPPA, SCORES = f"{RUN}/pool/items.parquet", f"{RUN}/selection/kappa.parquet", f"{RUN}/scores"
PREDICTIONS = f"{RUN}/predictions"
OF_SELECTION = (f"{RUN}/subsets/selected.parquet",)
OF_POOL = f"{RUN}/pool/duplicates.csv", f"{RUN}/pool/report.csv"
# Of cases that are called together, whose commands are their outputs.
RUN_JOB = "benchc run CONFIG --cores 1 --keep-going"
COMPARE, VERIFY = f"benchc compare {RUN} results/fly", f"benchc verify {RUN}"
PAGE = b"<!DOCTYPE html><html>Not found</html>"


def job(kind: str, says: str, output: str, *changes: Change, others: Sequence[str] = ()) -> Case:
    """Return the case of a job that makes an output again, and reads what the changes leave.

    ``others``: the job's other outputs, which Snakemake removes when the job begins.
    """
    target = output if output.startswith("results/") else f"{RUN}/{output}"
    return case(
        kind, says, *changes, remove(target, *others), command=f"benchc run CONFIG --cores 1 {target}"
    )


def texts_of(name: str, run: str = RUN) -> list[str]:
    """Return what the job that writes a table's csv may write beside it."""
    return [f"{run}/tables/{name}{ending}" for ending in (".md", ".tex", "_published.csv")]


def table(file: str, kind: TableType, alter: Callable[[pl.DataFrame], pl.DataFrame]) -> Change:
    """Return the change of a table's rows that gives it the hashes of the new ones, and leaves its time."""

    def change(workspace: Workspace) -> None:
        path = workspace.folder / file
        with workspace.same_time(path):
            write_table(alter(read_table(path, kind)), path, kind, footer_of(read_footer(path)))

    return change


def json_of(file: str, alter: Callable[[dict], object]) -> Change:  # type: ignore[type-arg]
    def altered_text(data: bytes) -> bytes:
        content = json.loads(data)
        alter(content)
        return json.dumps(content).encode()

    return altered(file, altered_text)


# fmt: off
COMMANDS = Table(
    "Intermediate files",
    "finished",
    f"benchc compare {RUN} results/fly",
    [
        case("A run that is not there", "results/smal: there is no such folder; give results/<name> of a finished run", command="benchc compare results/smal results/fly"),
        case("A folder that is no run", "results/generated/models.json: there is no such file; run snakemake again, which writes it", command="benchc compare results/small results/generated"),
        case("No list of the run's models", "results/small/models.json: there is no such file; run snakemake again, which writes it", remove(f"{RUN}/models.json")),
        case("A list of models that is no JSON", "results/small/models.json: is not JSON in UTF-8; delete it and run snakemake again, which writes it", write(f"{RUN}/models.json", "{")),
        case("A list of models without a label", "results/small/models.json: must contain benchmark and models, and each model's label, year and parameters_b; delete it and run snakemake again, which writes it",
             json_of(f"{RUN}/models.json", lambda content: content["models"]["other"].pop("label"))),
        case("A list of models with a year in words", "results/small/models.json: must contain benchmark and models, and each model's label, year and parameters_b; delete it and run snakemake again, which writes it",
             json_of(f"{RUN}/models.json", lambda content: content["models"]["other"].update(year="new"))),
        case("A list of models that is another benchmark's", "results/small is a run of r-bench, and results/fly is one of bench-c; compare two runs of one benchmark",
             json_of(f"{RUN}/models.json", lambda content: content.update(benchmark="r-bench"))),
        case("Scores that are cut off", "results/small/scores/other.parquet: not a complete Parquet file (*); delete it and run snakemake again", cut(f"{SCORES}/other.parquet")),
        case("Scores of which one bit differs", "results/small/scores/other.parquet: cannot be read (*); delete it and run snakemake again", flipped(f"{SCORES}/other.parquet")),
        case("The scores of another model", "results/small/scores/other.parquet: its scores are those of trained; delete it and run snakemake again", copied(f"{SCORES}/other.parquet", f"{SCORES}/trained.parquet")),
        case("A web page in place of scores", "results/small/scores/other.parquet: not a complete Parquet file (*); delete it and run snakemake again", write(f"{SCORES}/other.parquet", PAGE)),
        case("Another table in place of scores", "results/small/scores/other.parquet: expected a scores table of version 1, found kappa of version 1; delete it and run snakemake again", copied(f"{SCORES}/other.parquet", KAPPA)),
        case("A folder in place of scores", "results/small/scores/other.parquet: not a complete Parquet file (*); delete it and run snakemake again", folder(f"{SCORES}/other.parquet")),
        case("An empty file in place of scores", "results/small/scores/other.parquet: not a complete Parquet file (*); delete it and run snakemake again", write(f"{SCORES}/other.parquet", b"")),
        case("An output that was edited", "results/small: does not match its record; delete what was changed, then make it by name (benchc run results/small/config.yaml results/small/tables/table1.csv --cores 2), then run its configuration again, or copy it again if it is a copy", edit(f"{RUN}/tables/table1.csv", "0", "1"), command=VERIFY),
        case("An output that is lost", "results/small: does not match its record; make what is missing by name (benchc run results/small/config.yaml results/small/tables/table1.csv --cores 2), or copy it again if it is a copy", remove(f"{RUN}/tables/table1.csv"), command=VERIFY),
        case("An input that was edited", "results/small: does not match its record; run its configuration again, or copy it again if it is a copy", edit("data/shapes.tsv", "0", "1"), command=VERIFY),
        case("No record of the run", "results/small/run.json: there is none; give a run that has ended, which writes it, and no copy by `benchc view --copy`, which leaves it out", remove(f"{RUN}/run.json"), command=VERIFY),
        case("A record that is cut off", "results/small/run.json: is no record of a run that this version reads; a run writes it when it ends", cut(f"{RUN}/run.json"), command=VERIFY),
        case("A record that is a list", "results/small/run.json: is no record of a run that this version reads; a run writes it when it ends", write(f"{RUN}/run.json", "[]"), command=VERIFY),
        case("A run without a page", "results/small/index.html: there is no results page; give results/<name> of a finished run, or run benchc run results/small/config.yaml", remove(f"{RUN}/index.html"), command=f"benchc view {RUN} --no-open"),
        case("A run beside itself", "results/small: is the first run; give another one", command=f"benchc view {RUN} {RUN} --no-open"),
        case("A page without samples", "results/small: its page has no samples; give runs that evaluate models", remove(f"{RUN}/page/samples.js"),
             command=f"benchc view {RUN} results/fly --no-open"),
        case("A copy over a folder that is there", "copy: is there already; give a new folder, or remove it", folder("copy"),
             command=f"benchc view {RUN} --copy copy --no-open"),
        case("A folder without tables", "results/none: there is no table; give results/<name> of a run", folder("results/none"), command="benchc versions results/none"),
        case("An export of a run that has not finished", "results/small is not finished: tables/table1.csv is missing; finish that run first: benchc run results/small/config.yaml --cores all", remove(f"{RUN}/tables/table1.csv"),
             command=f"benchc export {RUN} out"),
        case("An export over a folder that is there", "out: exists already, and nothing is overwritten; choose another FOLDER", write("out/a", ""), command=f"benchc export {RUN} out"),
        case("An export of a damaged pool", "results/small/pool/items.parquet: cannot be read (*); delete it and run snakemake again", flipped(POOL), command=f"benchc export {RUN} out"),
        case("An export to an id that is none", "--repo name: is no id of a data set on the Hub, OWNER/NAME", command=f"benchc export {RUN} out --repo name"),
        case("A folder that is no export", "config: is no export, since its manifest.json cannot be read (No such file or directory); give the folder that `benchc export` wrote", command="benchc rebuild config"),
        case("A pruning without a condition", "give at least one of --model, --unused-for and --outdated", command="benchc cache prune"),
        case("A pruning of a model that is not cached", "results/.cache: no model 'none'; choose from letters, open_clip/results/models/image_encoder-*, other, sentence_transformers/all-MiniLM-L6-v2, texts, trained-*", command="benchc cache prune --model none"),
        case("An image of a damaged pool", "results/small/pool/items.parquet: not a complete Parquet file (*); delete it and run snakemake again", cut(POOL),
             command=f"benchc image {RUN} shapes/1 shot_noise 3 --output a.png"),
        case("A table that was edited", "1 file without a record of how it was made, or changed since, such as results/small/tables/table1.csv; copy a run with its times and its folder .provenance (cp -a), delete each such file and make it by name, or accept all as they are: snakemake --configfile *config/small.yaml --touch --forceall --cores 1", edit(f"{RUN}/tables/table1.csv", "0", "1"),
             command="benchc run CONFIG -n"),
        case("Results without the records of how they were made", "* files without a record of how they were made, or changed since, such as results/small/config-models.yaml; copy a run with its times and its folder .provenance (cp -a), delete each such file and make it by name, or accept all as they are: snakemake --configfile *config/small.yaml --touch --forceall --cores 1", remove(f"{RUN}/.provenance", ".snakemake"),
             command="benchc run CONFIG -n"),
        case("A plan of a damaged pool", "results/small/pool/items.parquet: not a complete Parquet file (*); delete it and run snakemake again", cut(POOL), command="benchc plan CONFIG"),
    ],
)
JOBS = Table(
    "Intermediate files",
    "finished",
    "",
    [
        job("Items of a source that are cut off", "job pool: results/small/sources/shapes.parquet: not a complete Parquet file (*); delete it and run snakemake again; see logs/small/pool.log", "pool/items.parquet", cut(f"{RUN}/sources/shapes.parquet"),
            others=OF_POOL),
        job("Items of another source", "job pool: --sources: two of the files have the same source; give one file per source; see logs/small/pool.log", "pool/items.parquet",
            copied(f"{RUN}/sources/shapes.parquet", f"{RUN}/sources/drawn-text.parquet"), others=OF_POOL),
        job("A pool of which one bit differs", "job corrupt: results/small/pool/items.parquet: cannot be read (*); delete it and run snakemake again; see logs/small/corrupt/corrupted/shot_noise.log", "corrupted/shot_noise.parquet", flipped(POOL)),
        job("Corrupted images of which one bit differs", "job infer: results/small/corrupted/shot_noise.parquet: cannot be read (*); delete it and run snakemake again; see logs/small/infer/pool/letters/all.log", "predictions/pool/letters/all.parquet",
            flipped(f"{RUN}/corrupted/shot_noise.parquet")),
        job("Images of another corruption", "job infer: results/small/corrupted/shot_noise.parquet: its images are under gaussian_noise, so it was moved; delete it and run snakemake again; see logs/small/infer/pool/letters/all.log", "predictions/pool/letters/all.parquet",
            copied(f"{RUN}/corrupted/shot_noise.parquet", f"{RUN}/corrupted/gaussian_noise.parquet")),
        job("Images of which one is lost", "job infer: results/small/corrupted/clean.parquet: images of 1 item missing, first drawn-text/2; delete the file and run snakemake again; see logs/small/infer/pool/letters/all.log", "predictions/pool/letters/all.parquet",
            table(f"{RUN}/corrupted/clean.parquet", CORRUPTED, lambda rows: rows[1:])),
        job("An image that is damaged", "job infer: results/small/corrupted/clean.parquet: image drawn-text/2#0: these * bytes are not a complete image (could not create decoder object); delete the file and run snakemake again; see logs/small/infer/pool/letters/all.log", "predictions/pool/letters/all.parquet",
            table(f"{RUN}/corrupted/clean.parquet", CORRUPTED, lambda rows: rows.with_columns(
                pl.col("image").map_elements(lambda image: {**image, "bytes": image["bytes"][:60]},
                                             return_dtype=CORRUPTED.columns["image"])))),
        job("Predictions that are cut off", "job kappa: results/small/predictions/pool/letters/all.parquet: not a complete Parquet file (*); delete it and run snakemake again; see logs/small/kappa.log", "selection/kappa.parquet",
            cut(f"{PREDICTIONS}/pool/letters/all.parquet")),
        job("Predictions of another model", "job kappa: results/small/predictions/pool/letters/all.parquet: its predictions are those of texts, but its folder is letters; delete it and run snakemake again; see logs/small/kappa.log", "selection/kappa.parquet",
            copied(f"{PREDICTIONS}/pool/letters/all.parquet", f"{PREDICTIONS}/pool/texts/all.parquet")),
        job("Predictions of which one is lost", "job score: other: 1 missing prediction: (drawn-text/4, clean, 0); every item of the subset needs its clean prediction and one under every corruption and severity (or set scores.allow_missing to true to exclude the items that lack one); delete results/small/predictions/selected/other and run snakemake again; see logs/small/score/other.log", "scores/other.parquet",
            table(f"{PREDICTIONS}/selected/other/all.parquet", PREDICTED, lambda rows: rows[1:])),
        job("A prediction twice", "job score: other: 1 repeated prediction: (drawn-text/4, clean, 0); pass all files of predictions of this run and subset, each once; delete results/small/predictions/selected/other and run snakemake again; see logs/small/score/other.log", "scores/other.parquet",
            table(f"{PREDICTIONS}/selected/other/all.parquet", PREDICTED, lambda rows: pl.concat([rows, rows[:1]]))),
        job("A prediction that is no number", "job score: other: 16 predictions with NaN, +inf or no finite logit; first (shapes/15, clean, 0) with [-inf, -inf]: check how its model scores it, then rerun its inference; delete results/small/predictions/selected/other and run snakemake again; see logs/small/score/other.log", "scores/other.parquet",
            table(f"{PREDICTIONS}/selected/other/all.parquet", PREDICTED,
                  lambda rows: rows.with_columns(logits=pl.col("logits").list.eval(pl.lit(float("-inf"), pl.Float32))))),
        job("A prediction of more options than the item has", "job score: other: (drawn-text/4, clean, 0) has 6 logits, its item has 3 options (80 predictions like this): the predictions are of another pool; delete results/small/predictions/selected/other and run snakemake again; see logs/small/score/other.log", "scores/other.parquet",
            table(f"{PREDICTIONS}/selected/other/all.parquet", PREDICTED,
                  lambda rows: rows.with_columns(logits=pl.concat_list("logits", "logits")))),
        job("A selection of items that the pool lacks", "job infer: results/small/subsets/selected.parquet: 5 items not in results/small/pool/items.parquet, such as shapes/xdrawn-text/13; delete the subset and run snakemake again; see logs/small/infer/selected/other/all.log", "predictions/selected/other/all.parquet",
            table(f"{RUN}/subsets/selected.parquet", SUBSET, lambda rows: rows.with_columns(id=pl.lit("shapes/x") + pl.col("id")))),
        job("A selection without an item", "job score: other: 80 unexpected predictions: (drawn-text/13, clean, 0), (drawn-text/13, gaussian_blur, 1), (drawn-text/13, gaussian_blur, 2), (drawn-text/13, gaussian_blur, 3), (drawn-text/13, gaussian_blur, 4), …; pass all files of predictions of this run and subset, each once; delete results/small/predictions/selected/other and run snakemake again; see logs/small/score/other.log", "scores/other.parquet",
            table(f"{RUN}/subsets/selected.parquet", SUBSET, lambda rows: rows[:0])),
        job("Kappa that is cut off", "job select: results/small/selection/kappa.parquet: not a complete Parquet file (*); delete it and run snakemake again; see logs/small/select.log", "selection/selected.parquet", cut(KAPPA), others=OF_SELECTION),
        job("Embeddings of which one is lost", "job select: embeddings lacks 1 item that the other table has: drawn-text/2; make both for the same pool; see logs/small/select.log", "selection/selected.parquet",
            table(f"{RUN}/selection/embeddings.parquet", EMBEDDINGS, lambda rows: rows[1:]), others=OF_SELECTION),
        job("Scores that are cut off, for a table", "job table1: results/small/scores/other.parquet: not a complete Parquet file (*); delete it and run snakemake again; see logs/small/table1.log", "tables/table1.csv", cut(f"{SCORES}/other.parquet"),
            others=texts_of("table1")),
        job("A list of models that lacks one", "job table1: results/small/models.json: it lists trained, and results/small/scores/other.parquet is of none of them; give the scores of one run; see logs/small/table1.log", "tables/table1.csv",
            json_of(f"{RUN}/models.json", lambda content: content["models"].pop("other")), others=texts_of("table1")),
        job("Option orders that are cut off", "job option_order: results/small/orders/other.parquet: not a complete Parquet file (*); delete it and run snakemake again; see logs/small/option_order.log", "tables/option_order.csv", cut(f"{RUN}/orders/other.parquet"),
            others=texts_of("option_order")),
        job("A checkpoint without weights", "job infer: checkpoints/letters: cannot be loaded (Error no file named model.safetensors, or pytorch_model.bin, found in directory checkpoints/letters.); check the folder and its files, or download the checkpoint again; see logs/small/infer/pool/letters/all.log", "predictions/pool/letters/all.parquet",
            lambda workspace: workspace.own_checkpoints(), remove("checkpoints/letters/model.safetensors")),
    ],
)
RAS = Table(
    "Intermediate files",
    "finished",
    "benchc ras a.csv",
    [
        case("Predictions without a column", "a.csv: has no column 'logits' (it has id, corruption, severity, answer); it needs id, corruption, severity, answer, logits, separated by commas", write("a.csv", "id,corruption,severity,answer\n1,clean,0,A\n")),
        case("Predictions without a clean row", "a.csv: 1 missing prediction: (1, clean, 0); every item of the subset needs its clean prediction and one under every corruption and severity", write("a.csv", "id,corruption,severity,answer,logits\n"
                                                          "1,fog,1,A,1 2\n")),
        case("A severity in words", "a.csv: row 2: severity is 'none'; it should be a whole number, 0 for clean", write("a.csv", "id,corruption,severity,answer,logits\n"
                                              "1,clean,none,A,1 2\n")),
        case("A logit in words", "a.csv: row 2: logits is '1 two'; it should be a number for each option, separated by spaces: two or more, below inf, and not all of them -inf", write("a.csv", "id,corruption,severity,answer,logits\n1,clean,0,A,1 two\n")),
        case("An answer beyond the options", "a.csv: item 1: the answer is number 3 from 0 (D), but it has 2 options; correct it", write("a.csv", "id,corruption,severity,answer,logits\n"
                                                       "1,clean,0,D,1 2\n1,fog,1,D,1 2\n")),
        case("A file that is not there", "b.csv: cannot be read (No such file or directory); correct the path", command="benchc ras b.csv"),
    ],
)
TABLES = [COMMANDS, JOBS, RAS]
