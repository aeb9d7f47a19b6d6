"""Wrong inputs of a run of NaturalBench."""

from collections.abc import Callable

from tests.refusals.case import ABSENT, Case, Table, altered, case, key, model, write
from tests.refusals.intermediate import copied, cut, flipped, job

CHECK = "benchc check CONFIG --no-models --no-network"
RUN = "results/groups"
REVIEWS = f"{RUN}/curate/reviews/pairs"
KEPT, REVIEWED = f"{RUN}/curate/kept_pairs.parquet", f"{RUN}/curate/reviewed/pairs.parquet"
GROUPS = "group,question,image,right\n"


def captions(kind: str, says: str, name: str, content: str | bytes) -> Case:
    """Return the case of a file of captions, with a folder of one image."""
    entry = {"label": name, "form": "csv", "file": f"captions/{name}.csv", "images": "photos"}
    return case(
        kind,
        says,
        write(f"captions/{name}.csv", content),
        write("photos/1.jpg", "x"),
        key(f"curate.captions.{name}", entry),
    )


def reviewed(kind: str, says: str, change: Callable[[bytes], bytes]) -> Case:
    """Return the case of a review of pairs, whose bytes are changed."""
    return job(kind, says, KEPT, altered(f"{REVIEWS}/first.csv", change), others=[REVIEWED])


def accuracies(kind: str, says: str, content: str) -> Case:
    return case(kind, says, write("groups.csv", content), command="benchc group-accuracy groups.csv")


# fmt: off
CONFIGURATION = Table(
    "NaturalBench",
    "finished_groups",
    CHECK,
    [
        case("An encoder that is not defined", "config/groups.yaml: curate.mine.encoders[0] is \"clip\", but there is no such id in encoders (did you mean tiny-clip?).", key("curate.mine.encoders", ["clip"])),
        case("An encoder of an unknown library", "config/groups.yaml: encoders.other.library is \"clip\", but should be 'open_clip', 'sentence_transformers' or 'blip2'.", key("encoders.other", {"label": "O", "library": "clip", "name": "a"})),
        case("One annotator", "config/groups.yaml: curate.review.annotators is [\"first\"], but should have at least 2 items, not 1.", key("curate.review.annotators", ["first"])),
        case("A form of captions with what it lacks", "config/groups.yaml: curate.captions.drawings has the form generated, which needs count, and neither file nor images.", key("curate.captions.drawings.file", "a.csv")),
        case("Captions without their images", "config/groups.yaml: curate.captions.own has the form csv, which needs the folder images.",
             key("curate.captions", {"own": {"label": "O", "form": "csv", "file": "a.csv"}})),
        case("A date that no calendar has", "config/groups.yaml: curate.release.date is \"2026-02-30\", which no calendar has; give a day as YYYY-MM-DD.", key("curate.release.date", "2026-02-30")),
        case("A type of question without a template", "config/groups.yaml: curate.writer has no template of multiple_choice; add it to templates, or remove multiple_choice from types.", key("curate.writer.templates", {"yes_no": "a.txt"})),
        case("A template that is not there", "yes_no curate.writer.templates.yes_no names none.txt, which does not exist; correct the path",
             key("curate.writer.templates", {"yes_no": "none.txt", "multiple_choice": "none.txt"})),
        case("Drawn captions that are to be shortened", "config/groups.yaml: curate.shorten is given, but curate.captions.drawings is drawn, whose captions are short; remove curate.shorten.", key("curate.shorten", {})),
        case("A limit on the pool's items, of which groups need all", "config/groups.yaml: pool.per_task is 5, but should be null.", key("pool", {"per_task": 5})),
        case("An unknown reading", "config/groups.yaml: readings[1] is \"guess\", but should be 'decoding', 'deterministic', 'post_hoc', 'global' or 'sample'.", key("readings", ["decoding", "guess"])),
        case("Models without groups", "config/groups.yaml: models are given without sources, whose groups they answer; add a source.", key("sources", [])),
        case("Retrieval without pairs", "config/groups.yaml: retrieval.pairs is missing, since the run curates no pairs; give a file of pairs.", key("curate", ABSENT), key("sources", [])),
        case("Pairs of retrieval without their images", "config/groups.yaml: retrieval has one of pairs and images; give both, or neither for the pairs of curation.", key("retrieval.pairs", "pairs.csv")),
        case("A model to tune that the run lacks", "config/groups.yaml: fine_tuning.models[0] is \"train\", but there is no such id in models (did you mean trained?).", key("fine_tuning.models", ["train"])),
        case("A model to tune that cannot be", "config/groups.yaml: fine_tuning.models[0] is \"texts\", which cannot be tuned: in config/small-models.yaml, a server answers for it (server); remove it from fine_tuning.models.", key("fine_tuning.models", ["texts"]),
             model("texts", {"label": "T", "scoring": "text", "server": {"url": "http://a", "model": "m"}})),
        case("A blind model that the run lacks", "config/groups.yaml: blind.models[0] is \"text\", but there is no such id in models (did you mean texts?).", key("blind.models", ["text"])),
        case("No reading of single answers", "config/groups.yaml: readings has neither decoding nor deterministic, one of which Tables 1 and 5 and the figures need; add one.", key("readings", ["global"])),
        case("A small encoder without training", "config/groups.yaml: demo.image_encoder is missing, but needed for encoders.tiny-clip; give its steps.", key("demo.image_encoder", ABSENT)),
        case("Tags of a file that is not there", "tags tags.csv: cannot be read (No such file or directory); correct the path", key("groups.tags", "tags.csv")),
    ],
)
CAPTIONS = Table(
    "NaturalBench",
    "finished_groups",
    CHECK,
    [
        captions("Captions without a column", "columnless captions/columnless.csv: has no column 'caption'; its columns are image, text; give it a header with these names, separated by commas", "columnless", "image,text\n1.jpg,A dog\n"),
        captions("Captions without a row", "rowless captions/rowless.csv: none of its rows became a sample; the reason of the first: it has no rows", "rowless", "image,caption\n"),
        captions("A caption of an image that is not there", "absent captions/absent.csv: none of its rows became a sample; the reason of the first: image '2.jpg' is no file below the folder of images", "absent", "image,caption\n2.jpg,A dog\n"),
        captions("Captions of an image that cannot be read", "unread captions/unread.csv: none of its rows became a sample; the reason of the first: image 1.jpg: these * bytes are not a complete image in a known format (AVIF, BMP, GIF, JPEG, JPEG2000, PNG, PPM, TIFF, WEBP)", "unread", "image,caption\n1.jpg,A dog\n"),
        captions("Captions that are not UTF-8", "latin captions/latin.csv: the file is not UTF-8 (*); save it as UTF-8", "latin", b"image,caption\n1.jpg,\xff\n"),
    ],
    together=True,
)
FILES = Table(
    "NaturalBench",
    "finished_groups",
    "",
    [
        reviewed("A review without a column", "job keep_pairs: results/groups/curate/reviews/pairs/first.csv: has no column 'answer'; keep the columns id, annotator, answer of the form; see logs/groups/keep_pairs.log", lambda _: b"id,annotator\n"),
        reviewed("A review of rows that nobody asked for", "job keep_pairs: results/groups/curate/reviews/pairs/first.csv: row 12: id 'r0123' is not in round pairs; remove the row, or review the present form; see logs/groups/keep_pairs.log", lambda data: data + b"r0123,first,Yes\n"),
        reviewed("An answer that is none of the choices", "job keep_pairs: results/groups/curate/reviews/pairs/first.csv: row 2: the answer 'Nope' is none of Yes, No; correct it; see logs/groups/keep_pairs.log", lambda data: data.replace(b"No", b"Nope", 1)),
        reviewed("The review of another person", "job keep_pairs: results/groups/curate/reviews/pairs/first.csv: row 2: is a review by 'second', not by first; give each their own file; see logs/groups/keep_pairs.log", lambda data: data.replace(b"first", b"second", 1)),
        reviewed("A review that is no CSV", "job keep_pairs: results/groups/curate/reviews/pairs/first.csv: cannot be read as CSV in UTF-8 (*); save it as such; see logs/groups/keep_pairs.log", lambda _: b"\xff\xfe"),
        reviewed("A row that is reviewed twice", "job keep_pairs: results/groups/curate/reviews/pairs/first.csv: row 12: id * is also in row 2; remove one of them; see logs/groups/keep_pairs.log", lambda data: data + data.splitlines()[1] + b"\n"),
        job("Captions that are cut off", "job embed_captions: results/groups/curate/captions.parquet: not a complete Parquet file (*); delete it and run snakemake again; see logs/groups/embed_captions/tiny-clip.log", f"{RUN}/curate/embeddings/tiny-clip.parquet",
            cut(f"{RUN}/curate/captions.parquet")),
        job("Vectors of which one bit differs", "job mine: results/groups/curate/embeddings/tiny-clip.parquet: cannot be read (*); delete it and run snakemake again; see logs/groups/mine.log", f"{RUN}/curate/mismatches.parquet",
            flipped(f"{RUN}/curate/embeddings/tiny-clip.parquet")),
        job("Kept replies of the writer that are cut off", "job write_questions: results/groups/curate/recordings/*.json: is not a recorded answer; delete it and record it again; see logs/groups/write_questions/0.log", f"{RUN}/curate/questions/0.parquet",
            lambda workspace: [cut(path.relative_to(workspace.folder).as_posix())(workspace)
                               for path in (workspace.folder / RUN / "curate/recordings").rglob("*.json")]),
        job("Groups that are cut off", "job score_groups: results/groups/pool/groups.parquet: not a complete Parquet file (*); delete it and run snakemake again; see logs/groups/score_groups/texts.log", f"{RUN}/scores/texts.parquet", cut(f"{RUN}/pool/groups.parquet")),
        job("Predictions without an image of another model", "job score_groups: results/groups/predictions/questions/texts/no_image.parquet: its predictions are those of trained, but its folder is texts; delete it and run snakemake again; see logs/groups/score_groups/texts.log", f"{RUN}/scores/texts.parquet",
            copied(f"{RUN}/predictions/questions/texts/no_image.parquet",
                   f"{RUN}/predictions/questions/trained/no_image.parquet")),
        case("Tags of an item that no group has", "tags tags.csv: row 2: there is no group 'x' in the sources; correct or remove the row", write("tags.csv", "group,q_idx,i_idx,skill\nx,0,0,counting\n"),
             key("groups.tags", "tags.csv"), command=CHECK),
        accuracies("Right answers without a column", "groups.csv: has no column 'question' (it has group, correct); it needs group, question, image, right, separated by commas", "group,correct\n1,1\n"),
        accuracies("Right answers without a row", "groups.csv: there are no rows; each group needs one row for each question and image (0 and 1)", GROUPS),
        accuracies("A group of three answers", "groups.csv: group 'g' has 3 rows; each group needs one row for each question and image (0 and 1)", GROUPS + "g,0,0,1\ng,0,1,1\ng,1,0,1\n"),
        accuracies("An answer that is neither right nor wrong", "groups.csv: row 2: right is 'maybe'; it should be 0 or 1", GROUPS + "g,0,0,maybe\n"),
        case("Published groups that are not there", "none.parquet: no such file; correct the path",
             command="benchc naturalbench-tsv none.parquet --output a.tsv"),
        case("Published groups that are no Parquet file", "none.parquet: is not a complete Parquet file (*); fetch it again", write("none.parquet", "x"),
             command="benchc naturalbench-tsv none.parquet --output a.tsv"),
    ],
)
TABLES = [CONFIGURATION, CAPTIONS, FILES]
