"""Wrong inputs of a run of VQA-robustness, and of its tables of errors."""

from tests.refusals.case import ABSENT, Case, Table, case, key, write
from tests.refusals.intermediate import RUN_JOB, copied, cut, job
from tests.refusals.workspace import Workspace

CHECK = "benchc check CONFIG --no-models --no-network"
RUN = "results/open"
HEADER = "id,corruption,severity,answer"
ERRORS = "model,corruption,level,error\n"
LEVELS = [f"a,{name},{level},0.{level + 1}\n" for name in ("x", "y") for level in range(6)]


def answers(kind: str, says: str, name: str, content: object) -> Case:
    """Return the case of a program's answers. ``content``: of the file, or a function of the right one."""

    def change(workspace: Workspace) -> None:
        right = (workspace.folder / "answers/other.csv").read_text()
        text = content(right) if callable(content) else content
        write(f"answers/{name}.csv", text)(workspace)
        entry = {"label": name, "file": f"answers/{name}.csv"}
        key(f"answers_from.{name}", entry)(workspace)

    return case(kind, says, change, command=f"{RUN}/grades/pool/{name}.parquet")


def errors(kind: str, says: str, *rows: str) -> Case:
    return case(kind, says, write("errors.csv", "".join(rows)), command="benchc vre errors.csv")


# fmt: off
CONFIGURATION = Table(
    "VQA-robustness",
    "finished_open",
    CHECK,
    [
        case("An unknown grade", "config/open.yaml: grade is \"normalized\", but should be 'exact', 'normalised' or 'soft'.", key("grade", "normalized")),
        case("Levels that are not those of the paper", "config/open.yaml: vre.levels is \"0..4\", but should be '0..5' or '1..5'.", key("vre.levels", "0..4")),
        case("Four weights for five metrics", "config/open.yaml: vre.weights is [1, 1, 1, 1], but should have at least 5 items, not 4.", key("vre.weights", [1, 1, 1, 1])),
        case("A negative weight", "config/open.yaml: vre.weights[4] is -2, but should be greater than or equal to 0.", key("vre.weights", [1, 1, 1, 1, -2])),
        case("Weights of which all are 0", "config/open.yaml: vre has weights with the sum 0; raise one of them.", key("vre.weights", [0, 0, 0, 0, 0])),
        case("A mean over a corruption that the run lacks", "config/open.yaml: vre.corruptions[0] is \"fog\", but there is no such corruption in corruptions.types; there are shot_noise, snow, zoom_blur, grayscale.", key("vre.corruptions", ["fog"])),
        case("A mean over no corruption", "config/open.yaml: vre.corruptions is [], but should have at least 1 item, not 0.", key("vre.corruptions", [])),
        case("Fewer severities than VRE needs", "config/open.yaml: corruptions has the severities [1, 2, 3], but VRE needs [1, 2, 3, 4, 5].", key("corruptions.severities", [1, 2, 3])),
        case("A corruption of no default set", "config/open.yaml: corruptions.types[0] is \"fogg\", but there is no such corruption in vqa-robustness; there are shot_noise, gaussian_noise, impulse_noise, speckle_noise, salt_and_pepper, random_valued_impulse_noise, binary_threshold, defocus_blur, zoom_blur, glass_blur, snow, brightness, contrast, saturate, inverse, grayscale, grayscale_luma, grayscale_inverse, grayscale_inverse_luma, elastic_transform, spatter, pixelate, pixelate_upscaled, jpeg_compression; one of your own needs corruptions.own_files.", key("corruptions.types", ["fogg"])),
        case("Answers of a model under the id of another", "config/open.yaml: answers_from has \"texts\", which is also one of models; give it another id.",
             key("answers_from.texts", {"label": "T", "file": "answers/other.csv"})),
        case("Answers of two models in one file", "config/open.yaml: answers_from.twin.file is \"answers/other.csv\", which is also a file of other; give each model its own.",
             key("answers_from.twin", {"label": "Twin", "file": "answers/other.csv"})),
        case("Answers of a file that is not there", "answers_from.other names answers/none.csv, which does not exist; write it, or remove the entry", key("answers_from.other.file", "answers/none.csv")),
        case("Answers without a label", "config/open.yaml: answers_from.other.label is missing; docs/configuration.md describes it.", key("answers_from.other.label", ABSENT)),
        case("Answers with an empty instruction's place", "config/open.yaml: answers.instruction_place is \"between\", but should be 'before' or 'after'.", key("answers.instruction_place", "between")),
        case("Answers of no token", "config/open.yaml: answers.max_new_tokens is 0, but should be greater than or equal to 1.", key("answers.max_new_tokens", 0)),
        case("A scale of a table that is not there", "vre.scale_of: there is no file none.csv; correct the path, or give null.", key("vre.scale_of", "none.csv"),
             command=f"benchc run CONFIG --cores 1 {RUN}/tables/vre_model.csv"),
        case("A selector, which is Bench-C's", "config/open.yaml: unknown key selectors; there are benchmark, name, seed, catalogues, sources, pool, corruptions, inference, results_page, evaluate, demo, models, answers, answers_from, grade, vre, tables.", key("selectors", ["texts"])),
    ],
)
ANSWERS = Table(
    "VQA-robustness",
    "finished_open",
    RUN_JOB,
    [
        answers("Answers without a column", "job import_answers: answers/columnless.csv: has no column 'answer' (it has id, corruption, severity); it needs id, corruption, severity, answer, separated by commas; see logs/open/import_answers/columnless.log", "columnless", "id,corruption,severity\n"),
        answers("Answers with a column twice", "job import_answers: answers/double.csv: has two columns 'answer'; remove one; see logs/open/import_answers/double.log", "double", f"{HEADER},answer\n"),
        answers("Answers without a row", "job import_answers: answers/rowless.csv: 441 missing answers: (drawn-text/10, clean, 0), (drawn-text/10, grayscale, 1), (drawn-text/10, grayscale, 2), (drawn-text/10, grayscale, 3), (drawn-text/10, grayscale, 4), …; add a row with an empty answer where the model gave none; see logs/open/import_answers/rowless.log", "rowless", f"{HEADER}\n"),
        answers("An answer that is lost", "job import_answers: answers/lost.csv: 1 missing answer: (shapes/18, grayscale, 5); add a row with an empty answer where the model gave none; see logs/open/import_answers/lost.log", "lost", lambda text: text.rsplit("\n", 2)[0] + "\n"),
        answers("An answer twice", "job import_answers: answers/twice.csv: row 443: item 'shapes/18' has a second answer; remove one; see logs/open/import_answers/twice.log", "twice", lambda text: text + text.splitlines()[-1] + "\n"),
        answers("An answer to an item that the pool lacks", "job import_answers: answers/beyond.csv: row 443: item 'shapes/999' is no item of the run, such as *; correct it, or remove the row; see logs/open/import_answers/beyond.log", "beyond",
                lambda text: text + "shapes/999,clean,0,red\n"),
        answers("An answer under a corruption that the run lacks", "job import_answers: answers/foggy.csv: row 443: item 'drawn-text/2' is under 'fog', which is none of clean, shot_noise, snow, zoom_blur, grayscale; correct it, or remove the row; see logs/open/import_answers/foggy.log", "foggy",
                lambda text: text + text.splitlines()[1].split(",")[0] + ",fog,1,red\n"),
        answers("A clean answer at severity 1", "job import_answers: answers/severe.csv: row 2: item 'drawn-text/2' has the severity '1'; it should be 0 for clean, and one of 1, 2, 3, 4, 5 for others; see logs/open/import_answers/severe.log", "severe", lambda text: text.replace("clean,0", "clean,1", 1)),
        answers("A severity in words", "job import_answers: answers/wordy.csv: row 2: item 'drawn-text/2' has the severity 'none'; it should be 0 for clean, and one of 1, 2, 3, 4, 5 for others; see logs/open/import_answers/wordy.log", "wordy", lambda text: text.replace("clean,0", "clean,none", 1)),
        answers("A row that is too short", "job import_answers: answers/short.csv: row 443: has fewer cells than the header; complete it; see logs/open/import_answers/short.log", "short", lambda text: text + "shapes/1,clean\n"),
        answers("Semicolons in place of commas", "job import_answers: answers/semicolons.csv: has no column 'id' (it has id;corruption;severity;answer); it needs id, corruption, severity, answer, separated by commas; see logs/open/import_answers/semicolons.log", "semicolons", lambda text: text.replace(",", ";")),
        answers("Bytes that are not UTF-8", "job import_answers: answers/latin.csv: row 2: the byte 0xff is not of UTF-8; save the file as UTF-8; see logs/open/import_answers/latin.log", "latin", f"{HEADER}\nx,clean,0,".encode() + b"\xff\n"),
        answers("An empty file of answers", "job import_answers: answers/empty.csv: has no column 'id' (it has none); it needs id, corruption, severity, answer, separated by commas; see logs/open/import_answers/empty.log", "empty", ""),
    ],
    together=True,
)
FILES = Table(
    "VQA-robustness",
    "finished_open",
    "",
    [
        job("Reference answers that are cut off", "job judge_short_answers: results/open/pool/references.parquet: not a complete Parquet file (*); delete it and run snakemake again; see logs/open/judge_short_answers/pool/texts.log", f"{RUN}/grades/pool/texts.parquet",
            cut(f"{RUN}/pool/references.parquet")),
        job("Answers of another model", "job judge_short_answers: results/open/answers/pool/texts/all.parquet: its answers are those of trained, but its folder is texts; delete it and run snakemake again; see logs/open/judge_short_answers/pool/texts.log", f"{RUN}/grades/pool/texts.parquet",
            copied(f"{RUN}/answers/pool/texts/all.parquet", f"{RUN}/answers/pool/trained/all.parquet")),
        job("Grades of another model", "job errors: results/open/grades/pool/trained.parquet: a second file of the grades of trained; give one for each model; see logs/open/errors.log", f"{RUN}/tables/errors.csv",
            copied(f"{RUN}/grades/pool/texts.parquet", f"{RUN}/grades/pool/trained.parquet")),
        errors("Errors in a file that is not there", "errors.csv: cannot be read as CSV (empty CSV); correct the file"),
        errors("Errors without a column", "errors.csv: has no column 'level' (it has model, corruption, severity, error); it needs model, corruption, level, error, separated by commas", "model,corruption,severity,error\n", *LEVELS),
        errors("Errors without a row", "errors.csv: has no rows; add one for each model, corruption and level", ERRORS),
        errors("An error above 1", "errors.csv: row 13: error '20' is no number from 0 to 1; give errors, not per cent", ERRORS, *LEVELS[:-1], "a,y,5,20\n"),
        errors("An error that is no number", "errors.csv: row 13: error 'none' is no number from 0 to 1; give errors, not per cent", ERRORS, *LEVELS[:-1], "a,y,5,none\n"),
        errors("An error that is lost", "errors.csv: a has no error under y at level 5; add the row (each model needs the levels 0 to 5 of each corruption of the file)", ERRORS, *LEVELS[:-1]),
        errors("An error twice", "errors.csv: row 14: a has a second error under y at level 5; remove one", ERRORS, *LEVELS, LEVELS[-1]),
        errors("A level of no paper", "errors.csv: row 14: level '6' is no level from 0 to 5; correct it", ERRORS, *LEVELS, "a,y,6,0.5\n"),
        errors("A model without a name", "errors.csv: row 14: model '' is no name; name the model", ERRORS, *LEVELS, ",y,5,0.5\n"),
        errors("A corruption of one model alone", "errors.csv: b has no error under x at level 1; add the row (each model needs the levels 0 to 5 of each corruption of the file)", ERRORS, *LEVELS, "b,x,0,0.1\n"),
        case("A weight for a metric that is negative", "weights 1, 1, 1, 1, -2: must be numbers of at least 0; correct them", write("errors.csv", ERRORS + "".join(LEVELS)),
             command="benchc vre errors.csv --weights 1 1 1 1 -2"),
        case("Three weights for five metrics", "Command \"vre\" parameter --weights requires 5 positional arguments. Only got 3; see benchc vre --help", write("errors.csv", ERRORS + "".join(LEVELS)),
             command="benchc vre errors.csv --weights 1 1 1"),
        case("A scale of a file that is not there", "none.csv: no such file; give a CSV file with model, corruption, level, error", write("errors.csv", ERRORS + "".join(LEVELS)),
             command="benchc vre errors.csv --scale-of none.csv"),
    ],
)
TABLES = [CONFIGURATION, ANSWERS, FILES]
