"""Wrong inputs of a run of R-Bench."""

import polars as pl

from benchc.schemas.assignment import ASSIGNMENT
from tests.refusals.case import ABSENT, Case, Table, case, key, write
from tests.refusals.intermediate import RUN_JOB, copied, cut, flipped, job, table
from tests.refusals.workspace import Workspace

CHECK = "benchc check CONFIG --no-models --no-network"
RUN = "results/pairs"
SCORES = f"{RUN}/judge_scores/texts.parquet"
HEADER = "id,corruption,severity,answer\n"
LLM = {"kind": "llm", "model": "m", "api_key_env": None, "repeats": 1}


def judged(kind: str, says: str, judge: object, *changes: object, **environment: str) -> Case:
    """Return the case of a judge whose scores of a model are made again."""
    found = job(kind, says, SCORES, key("judge", judge), *changes)  # type: ignore[arg-type]
    return case(kind, says, *found.changes, command=found.command, **environment)


def answers(kind: str, says: str, name: str, content: str) -> Case:
    """Return the case of another program's answers."""

    def change(workspace: Workspace) -> None:
        write(f"answers/{name}.csv", content)(workspace)
        key(f"answers_from.{name}", {"label": name, "file": f"answers/{name}.csv"})(workspace)

    return case(kind, says, change, command=f"{RUN}/judge_scores/{name}.parquet")


def judgements(kind: str, says: str, name: str, dis: str, ref: str = "name,result\n") -> Case:
    """Return the case of another program's judgements."""

    def change(workspace: Workspace) -> None:
        files = {part: f"judged/{name}-{part}.csv" for part in ("dis", "ref", "com")}
        for part, file in files.items():
            write(file, {"dis": dis, "ref": ref}.get(part, "name,result\n"))(workspace)
        key(f"judgements_from.{name}", {"label": name, **files})(workspace)

    return case(kind, says, change, command=f"{RUN}/judge_scores/{name}.parquet")


# fmt: off
CONFIGURATION = Table(
    "R-Bench",
    "finished_pairs",
    CHECK,
    [
        case("No pairs", "config/pairs.yaml: pairs is missing; docs/configuration.md describes it.", key("pairs", ABSENT)),
        case("Released pairs without their images", "config/pairs.yaml: released is missing, but pairs is released; name the distorted images that `benchc r-bench-pairs` wrote, or choose generated.", key("pairs", "released"), key("assignment", ABSENT)),
        case("Released pairs with an assignment", "config/pairs.yaml: has assignment, but released pairs have their dimensions and strengths; remove it, or choose generated.", key("pairs", "released"),
             key("released", "data/released.parquet")),
        case("Generated pairs with released images", "config/pairs.yaml: has released, but pairs is generated; remove it, or choose released.", key("released", "data/released.parquet")),
        case("A task of a source that the run lacks", "config/pairs.yaml: tasks is \"shape\", but there is no such id in sources (did you mean shapes?).", key("tasks.shape", "vqa")),
        case("An unknown task", "config/pairs.yaml: tasks.shapes is \"vqaa\", but should be 'mcq', 'vqa' or 'cap'.", key("tasks.shapes", "vqaa")),
        case("A strength beyond high", "config/pairs.yaml: corruptions.severities[2] is 4, but r-bench has the severities 1, 2, 3.", key("corruptions.severities", [1, 2, 4])),
        case("A suite of another benchmark", "config/pairs.yaml: corruptions.types[1] is \"jpeg\", but there is no such corruption in imagenet-c; there are brightness, contrast, saturate, defocus_blur, gaussian_blur, glass_blur, glass_blur_swap, motion_blur, zoom_blur, gaussian_noise, impulse_noise, shot_noise, speckle_noise, fog, frost, frost_six, snow, spatter, jpeg_compression, pixelate, pixelate_box, elastic_transform, elastic_transform_affine; one of your own needs corruptions.own_files.", key("corruptions.suite", "imagenet-c")),
        case("An assignment of no item", "config/pairs.yaml: assignment.per_task is 0, but should be greater than or equal to 1.", key("assignment.per_task", 0)),
        case("A prompt without a question", "config/pairs.yaml: answers has a prompt of vqa without {question}; add it.", key("answers.vqa.prompt", "Answer.")),
        case("A prompt with an unknown placeholder", "config/pairs.yaml: answers.mcq.prompt has {choices}, but the places of a prompt are {question}, {options}, {option_lines}.", key("answers.mcq.prompt", "{question} {choices}")),
        case("An unknown judge", "config/pairs.yaml: judge.kind is \"gpt\", but should be 'rule', 'llm' or 'human'.", key("judge.kind", "gpt")),
        case("A judge of people without scores", "config/pairs.yaml: judge has one of kind: human and scores; give both, or neither.", key("judge.kind", "human")),
        case("Scores of people for another judge", "config/pairs.yaml: judge has one of kind: human and scores; give both, or neither.", key("judge.scores", "scores.csv")),
        case("A judge of rules that always asks a model", "config/pairs.yaml: judge has always, which is of kind: llm alone; remove it.", key("judge.always", True)),
        case("No repeat of a judgement", "config/pairs.yaml: judge.repeats is 0, but should be greater than or equal to 1.", key("judge", {**LLM, "repeats": 0})),
        case("Answers of a model under the id of another", "config/pairs.yaml: answers_from has \"texts\", which is also one of models; give it another id.",
             key("answers_from.texts", {"label": "T", "file": "data/shapes.tsv"})),
        case("One file for all judgements", "config/pairs.yaml: judgements_from.other has one file twice; give each of dis, ref and com its own.",
             key("judgements_from.other", {"label": "O", "dis": "a.csv", "ref": "a.csv", "com": "a.csv"})),
        case("Two people, of whom none is left", "config/pairs.yaml: people has 2 files, but the best and the worst are left out; give at least 3, or none.", write("a.csv", ""), write("b.csv", ""),
             key("people", ["a.csv", "b.csv"])),
        case("One person twice", "config/pairs.yaml: people has a.csv twice; give each person's answers once.", write("a.csv", ""), write("b.csv", ""), key("people", ["a.csv", "b.csv", "a.csv"])),
        case("Released images of a file that is none", "images data/released.parquet: not a complete Parquet file (*); delete it and run snakemake again",
             key("pairs", "released"), key("assignment", ABSENT), write("data/released.parquet", "x"),
             key("released", "data/released.parquet")),
    ],
)
ANSWERS = Table(
    "R-Bench",
    "finished_pairs",
    RUN_JOB,
    [
        answers("Answers without a column", "job import_answers: answers/columnless.csv: has no column 'answer' (it has id, corruption, severity); it needs id, corruption, severity, answer, separated by commas; see logs/pairs/import_answers/columnless.log", "columnless", "id,corruption,severity\n"),
        answers("Answers without a row", "job import_answers: answers/rowless.csv: 36 missing answers: (drawn-captions/17, clean, 0), (drawn-captions/17, white_noise, 1), (drawn-captions/22, clean, 0), (drawn-captions/22, white_noise, 3), (drawn-captions/24, clean, 0), …; add a row with an empty answer where the model gave none; see logs/pairs/import_answers/rowless.log", "rowless", HEADER),
        answers("An answer to an item that was not assigned", "job import_answers: answers/beyond.csv: row 2: item 'shapes/999' is no item of the run, such as *; correct it, or remove the row; see logs/pairs/import_answers/beyond.log", "beyond", HEADER + "shapes/999,clean,0,red\n"),
        judgements("Judgements without a column", "job import_judgements: judged/unnamed-dis.csv: has no column 'name' (it has id, result); it needs name, result, separated by commas; see logs/pairs/import_judgements/unnamed.log", "unnamed", "id,result\n"),
        judgements("Judgements without a row", "job import_judgements: judged/unjudged-dis.csv: has no result of item drawn-captions/17; add a row with the name 17; see logs/pairs/import_judgements/unjudged.log", "unjudged", "name,result\n"),
        judgements("A judgement in words", "job import_judgements: judged/words-dis.csv: row 2: 'a' has the result 'good', no number in 0..1; see logs/pairs/import_judgements/words.log", "words", "name,result\na,good\n"),
    ],
    together=True,
)
FILES = Table(
    "R-Bench",
    "finished_pairs",
    "",
    [
        job("An assignment that is cut off", "job judge: results/pairs/pool/assignment.parquet: not a complete Parquet file (*); delete it and run snakemake again; see logs/pairs/judge/texts.log", SCORES, cut(f"{RUN}/pool/assignment.parquet")),
        job("An assignment twice", "job judge: results/pairs/pool/assignment.parquet: item drawn-captions/17 under white_noise at severity 1 is there twice; delete it and run snakemake again; see logs/pairs/judge/texts.log", SCORES,
            table(f"{RUN}/pool/assignment.parquet", ASSIGNMENT, lambda rows: pl.concat([rows, rows[:1]]))),
        job("An assignment at another strength", "job judge: results/pairs/pool/assignment.parquet: item drawn-captions/17 under white_noise at severity 9 is not of the run's severities; delete it and run snakemake again; see logs/pairs/judge/texts.log", SCORES,
            table(f"{RUN}/pool/assignment.parquet", ASSIGNMENT,
                  lambda rows: rows.with_columns(severity=pl.lit(9).cast(rows["severity"].dtype)))),
        job("Replies of another model", "job judge: results/pairs/answers/vqa/texts/all.parquet: its answers are those of trained, but its folder is texts; delete it and run snakemake again; see logs/pairs/judge/texts.log", SCORES,
            copied(f"{RUN}/answers/vqa/texts/all.parquet", f"{RUN}/answers/vqa/trained/all.parquet")),
        job("Judgements of which one bit differs", "job score: results/pairs/judge_scores/texts.parquet: cannot be read (*); delete it and run snakemake again; see logs/pairs/score/texts.log", f"{RUN}/scores/texts.parquet", flipped(SCORES)),
        judged("Kept replies of a judge, of which there are none", "job judge: results/.replies/c6/c646436a9d79d5c003e3143a5458ddfd.json: no answer to this request to /chat/completions was recorded; record it with the server, or use the server itself; see logs/pairs/judge/texts.log", {**LLM, "mode": "replay"}),
        judged("A judge whose key is not set", "job judge: the environment variable NOT_SET, which should have the server's key, is not set; set it, or give no `api_key_env` if the server needs no key; see logs/pairs/judge/texts.log", {**LLM, "mode": "live", "api_key_env": "NOT_SET"}),
        judged("A judge whose server does not answer", "job judge: http://127.0.0.1:9/v1/chat/completions: no server answers ([Errno 111] Connection refused); start it, or correct `url`; see logs/pairs/judge/texts.log",
               {**LLM, "mode": "live", "url": "http://127.0.0.1:9/v1", "timeout_s": 1}),
        judged("Scores of people without a column", "job judge: scores.csv: has no column 'corruption' (it has model, id); it needs model, id, corruption, severity, kind, reference, score, separated by commas; see logs/pairs/judge/texts.log", {"kind": "human", "scores": "scores.csv"},
               write("scores.csv", "model,id\n")),
        judged("Scores of people without a row of a reply", "job judge: scores.csv: has no score of model texts of drawn-captions/17 under clean at severity 0, kind ref, reference 0; add a row; see logs/pairs/judge/texts.log", {"kind": "human", "scores": "scores.csv"},
               write("scores.csv", "model,id,corruption,severity,kind,reference,score\n")),
        job("Answers of a person to no item", "job judge_people: p0.csv: has no answer to drawn-captions/17; add a row, with an empty answer for none; see logs/pairs/judge_people.log", f"{RUN}/people/scores.parquet",
            *(write(f"p{n}.csv", "id,answer\n") for n in range(3)), key("people", ["p0.csv", "p1.csv", "p2.csv"])),
        case("Released files that are not there", "none.parquet: no such file; correct the path",
             command="benchc r-bench-pairs none.parquet --tsv a.tsv --images a.parquet"),
        case("A released file that is none", "none.parquet: is not a complete Parquet file (*); fetch it again", write("none.parquet", "x"),
             command="benchc r-bench-pairs none.parquet --tsv a.tsv --images a.parquet"),
    ],
)
TABLES = [CONFIGURATION, ANSWERS, FILES]
