"""Wrong inputs of a run of MLLM-IC."""

import io

import polars as pl

from tests.refusals.case import Case, Table, case, edit, key, write
from tests.refusals.intermediate import RUN_JOB, copied, cut, flipped, job
from tests.refusals.workspace import Workspace

CHECK = "benchc check CONFIG --no-models --no-network"
RUN, MAP = "results/scenarios", "config/scenarios.csv"
HEADER = "id,corruption,severity,answer\n"


def parquet(**columns: list[object]) -> bytes:
    file = io.BytesIO()
    pl.DataFrame(columns).write_parquet(file)
    return file.getvalue()


def other(kind: str, says: str, name: str, content: str | bytes, block: str = "answers_from") -> Case:
    """Return the case of a model that benchc does not run."""
    file = f"answers/{name}.{'csv' if block == 'answers_from' else 'parquet'}"

    def change(workspace: Workspace) -> None:
        write(file, content)(workspace)
        key(f"{block}.{name}", {"label": name, "file": file})(workspace)

    return case(kind, says, change, command=f"{RUN}/outcomes/{name}.parquet")


def mapped(kind: str, says: str, old: str, new: str) -> Case:
    """Return the case of a wrong map of categories."""
    return case(kind, says, edit(MAP, old, new), command=CHECK)


# fmt: off
CONFIGURATION = Table(
    "MLLM-IC",
    "finished_scenarios",
    CHECK,
    [
        case("A category of corruptions without a type", "config/scenarios.yaml: figures.figure5.types[1] is \"gaussian_noise\", but there is no such corruption in this run; there are brightness, rotate, fog.",
             key("corruptions.types", ["brightness", "rotate", "fog"])),
        case("Severities that averages lack", "config/scenarios.yaml: corruptions has the severities [1, 3, 5], but averages need [1, 2, 3, 4, 5]; leave the key out.", key("corruptions.severities", [1, 3, 5])),
        case("A suite of another benchmark", "config/scenarios.yaml: corruptions.types[7] is \"jigsaw\", but there is no such corruption in imagenet-c; there are brightness, contrast, saturate, defocus_blur, gaussian_blur, glass_blur, glass_blur_swap, motion_blur, zoom_blur, gaussian_noise, impulse_noise, shot_noise, speckle_noise, fog, frost, frost_six, snow, spatter, jpeg_compression, pixelate, pixelate_box, elastic_transform, elastic_transform_affine; one of your own needs corruptions.own_files.", key("corruptions.suite", "imagenet-c")),
        case("A map of categories that is not there", "capabilities none.csv: cannot be read (No such file or directory); correct the path", key("capabilities.categories", "none.csv")),
        case("An unknown way with categories of no capability", "config/scenarios.yaml: capabilities.unmapped is \"drop\", but should be 'stop' or 'keep'.", key("capabilities.unmapped", "drop")),
        case("Circular copies of a source that the run lacks", "config/scenarios.yaml: capabilities.circular[0] is \"shape\", but there is no such id in sources (did you mean shapes?).", key("capabilities.circular", ["shape"])),
        case("A small set without a question", "config/scenarios.yaml: mini is 0, but should be greater than or equal to 1.", key("mini", 0)),
        case("An unknown model of Figure 10", "config/scenarios.yaml: figures.figure10.model is \"leters\", but there is no such model of the run (did you mean letters?).", key("figures.figure10", {"model": "leters"})),
        case("A figure of a corruption that the run lacks", "config/scenarios.yaml: figures.figure5.types[0] is \"snow\", but there is no such corruption in this run; there are brightness, rotate, gaussian_blur, sharpen, cutout, average_pooling, fog, jigsaw, gaussian_noise.", key("figures.figure5.types", ["snow"])),
        case("A figure without all models", "config/scenarios.yaml: figures.left_out has all models of the run; keep one for Figures 6 to 9.", key("figures.left_out", ["letters", "words"])),
        case("A figure without an unknown model", "config/scenarios.yaml: figures.left_out[0] is \"leters\", but there is no such model of the run (did you mean letters?).", key("figures.left_out", ["leters"])),
        case("Pictures of the hierarchy without a network", "config/scenarios.yaml: hierarchy has one of images and weights; give both, or neither.", key("hierarchy.weights", None)),
        case("One picture of the hierarchy", "config/scenarios.yaml: hierarchy.count is 1, but should be greater than or equal to 2.", key("hierarchy.count", 1)),
        case("A perplexity of 0", "config/scenarios.yaml: hierarchy.perplexity is 0, but should be greater than 0.", key("hierarchy.perplexity", 0)),
        case("Answers of a model under the id of another", "config/scenarios.yaml: answers_from has \"letters\", which is also one of models; give it another id.",
             key("answers_from.letters", {"label": "L", "file": MAP})),
        case("Answers and predictions of one model", "config/scenarios.yaml: x is in answers_from and in predictions_from; give one another id.",
             key("answers_from.x", {"label": "X", "file": MAP}),
             key("predictions_from.x", {"label": "Y", "file": MAP})),
        case("Predictions of a file that is not there", "predictions_from.x names none.parquet, which does not exist; write it, or remove the entry",
             key("predictions_from.x", {"label": "X", "file": "none.parquet"})),
    ],
)
OTHERS = Table(
    "MLLM-IC",
    "finished_scenarios",
    RUN_JOB,
    [
        other("Answers without a column", "job outcomes: answers/columnless.csv: has no column 'answer' (it has id, corruption, severity); it needs id, corruption, severity, answer, separated by commas; see logs/scenarios/outcomes/columnless.log", "columnless", "id,corruption,severity\n"),
        other("Answers without a row", "job outcomes: answers/rowless.csv: 552 missing answers: (drawn-text/10, average_pooling, 1), (drawn-text/10, average_pooling, 2), (drawn-text/10, average_pooling, 3), (drawn-text/10, average_pooling, 4), (drawn-text/10, average_pooling, 5), …; add a row with an empty answer where the model gave none; see logs/scenarios/outcomes/rowless.log", "rowless", HEADER),
        other("An answer to an item that the pool lacks", "job outcomes: answers/beyond.csv: row 2: item 'shapes/999' is no item of the run, such as *; correct it, or remove the row; see logs/scenarios/outcomes/beyond.log", "beyond", HEADER + "shapes/999,clean,0,A\n"),
        other("Predictions that are no Parquet file", "job outcomes: answers/text.parquet: is not a complete Parquet file (*); fetch it again; see logs/scenarios/outcomes/text.log", "text", "x", "predictions_from"),
        other("Predictions without a column", "job outcomes: answers/narrow.parquet: has no column 'corruption' (it has id); it needs id, corruption, severity, logits; see logs/scenarios/outcomes/narrow.log", "narrow", parquet(id=["shapes/1"]), "predictions_from"),
        other("Predictions of which most are lost", "job outcomes: answers/few.parquet: 1 unexpected prediction: (shapes/1, clean, 0); ask the model about exactly the items of results/scenarios/subsets/questions.parquet, clean (severity 0) and under the corruptions of the run, named as in docs/corruptions.md, at each severity; see logs/scenarios/outcomes/few.log", "few",
              parquet(id=["shapes/1"], corruption=["clean"], severity=[0], logits=[[1.0, 2.0]]),
              "predictions_from"),
        other("Predictions in words", "job outcomes: answers/letter.parquet: id and corruption should be texts, severity a whole number, and logits lists of numbers; correct the types of the columns; see logs/scenarios/outcomes/letter.log", "letter",
              parquet(id=["shapes/1"], corruption=["clean"], severity=[0], logits=["A"]), "predictions_from"),
    ],
    together=True,
)
FILES = Table(
    "MLLM-IC",
    "finished_scenarios",
    "",
    [
        mapped("A map of categories without a column", "capabilities config/scenarios.csv: has no column 'capability' (it has source, category, ability, reason); it needs source, category, capability, reason, separated by commas", "capability,reason", "ability,reason"),
        mapped("An unknown capability", "capabilities config/scenarios.csv: row 3: there is no capability 'ocrs' (did you mean ocr?)", "ocr", "ocrs"),
        mapped("A category without a capability or reason", "capabilities config/scenarios.csv: row 7: size comparison of shapes needs a capability, or a reason to leave it out; give one of them", "left out by the test", ""),
        mapped("A category with a capability and a reason", "capabilities config/scenarios.csv: row 3: digit reading of drawn-text needs a capability, or a reason to leave it out; give one of them", "digit reading,ocr,", "digit reading,ocr,no"),
        mapped("A category twice", "capabilities config/scenarios.csv: row 9: rotation of shapes is there twice; remove one", "shapes,shape kind", "shapes,rotation,ocr,\nshapes,shape kind"),
        mapped("A category of the pool that the map lacks", "rotation of shapes 2 items of a category that config/scenarios.csv does not have; add it, with a capability or a reason", "shapes,rotation,spatial_relation,\n", ""),
        job("Features of the hierarchy that are cut off", "job hierarchy_tsne: results/scenarios/hierarchy/features.parquet: not a complete Parquet file (*); delete it and run snakemake again; see logs/scenarios/hierarchy_tsne.log", f"{RUN}/hierarchy/tsne.parquet",
            cut(f"{RUN}/hierarchy/features.parquet")),
        job("Outcomes of another model", "job cube: *: a second file of the outcomes of words; give one for each model; see logs/scenarios/cube.log", f"{RUN}/tables/ic_cube.parquet",
            copied(f"{RUN}/outcomes/letters.parquet", f"{RUN}/outcomes/words.parquet")),
        job("Capabilities of which one bit differs", "job score_capabilities: results/scenarios/pool/capabilities.parquet: *; delete it and run snakemake again; see logs/scenarios/*.log", f"{RUN}/scores/letters.parquet",
            flipped(f"{RUN}/pool/capabilities.parquet")),
        job("Outcomes that are cut off", "job cube: results/scenarios/outcomes/letters.parquet: not a complete Parquet file (*); delete it and run snakemake again; see logs/scenarios/cube.log", f"{RUN}/tables/ic_cube.parquet",
            cut(f"{RUN}/outcomes/letters.parquet")),
    ],
)
TABLES = [CONFIGURATION, OTHERS, FILES]
