"""Every reader of a file and parser of a text that a person, another program or a model wrote."""

import io
import json
import lzma
import pickle
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from safetensors.numpy import save

from benchc.benchmarks.mllm_ic.categories import read_categories
from benchc.benchmarks.mllm_ic.cifar import cifar_pictures
from benchc.benchmarks.mllm_ic.found_outcomes import Question, imported_logits, imported_options
from benchc.benchmarks.naturalbench.curation.caption_sets import CaptionSet
from benchc.benchmarks.naturalbench.curation.captions import read_caption_set
from benchc.benchmarks.naturalbench.curation.content import read_contents
from benchc.benchmarks.naturalbench.curation.reply import read_reply
from benchc.benchmarks.naturalbench.curation.retrieval_pairs import read_retrieval_pairs
from benchc.benchmarks.naturalbench.curation.review_files import answers_digest, check_file, read_answers
from benchc.benchmarks.naturalbench.curation.shorten import Shortener
from benchc.benchmarks.naturalbench.groups import Member
from benchc.benchmarks.naturalbench.places import Source, read_places
from benchc.benchmarks.naturalbench.published_files import SUFFIXES, hub_groups, read_split, write_groups
from benchc.benchmarks.naturalbench.tags import read_tags
from benchc.benchmarks.naturalbench.translation import Text, read_translation
from benchc.benchmarks.r_bench.judging.human import read_people
from benchc.benchmarks.r_bench.judging.language_model import read_score
from benchc.benchmarks.r_bench.judging.letter import named_option
from benchc.benchmarks.r_bench.judging.released import read_results
from benchc.benchmarks.r_bench.judging.rule import token_f1
from benchc.benchmarks.r_bench.released import released_pairs, write_pairs
from benchc.benchmarks.vqa_robustness.schemas.errors import read_errors
from benchc.cluster.site import read_site
from benchc.config.load import read_config
from benchc.config.new_entries import model_entry, source_entry
from benchc.config.yaml_file import YamlError, read_yaml
from benchc.csv_rows import read_rows
from benchc.endpoint.answer import Answer
from benchc.endpoint.language_model import UnusableError, reply_text
from benchc.endpoint.recording import Recording, request_hash
from benchc.endpoint.template import Template, read_template
from benchc.errors import LONGEST, InputError
from benchc.export.manifest import FILE as MANIFEST
from benchc.export.manifest import Manifest, read_manifest
from benchc.images import decode
from benchc.judges.option_reply import option_of
from benchc.judges.short_answer import soft_accuracy
from benchc.models.adapter_files import only_an_adapter
from benchc.models.adapter_problem import adapter_problem
from benchc.models.cards import weight_bytes
from benchc.models.checkpoint_files import check_files
from benchc.models.folder import deciding_files
from benchc.models.generation import Generation
from benchc.models.protocol import CheckpointSource
from benchc.models.server.chat import ServedChat
from benchc.models.server.generate import ServedGenerator
from benchc.models.server.letter import ServedLetterScorer
from benchc.models.server.served import served_model, served_models
from benchc.models.server.sglang import SglangChat, entries
from benchc.models.server.sglang_letter import SglangLetterScorer
from benchc.models.server.sglang_text import SglangTextScorer
from benchc.models.server.text import ServedTextScorer
from benchc.models.weights import weights_problem
from benchc.schemas.answers_csv import read_answers as read_imported_answers
from benchc.schemas.items import ITEMS
from benchc.schemas.models import Model, Models, models_text, read_models
from benchc.schemas.parquet import TableFile, read_footer, read_table, write_table
from benchc.schemas.printed import csv_text, read_table_csv
from benchc.schemas.revision import Revision, read_revision, revision_text
from benchc.sources.conversion import convert
from benchc.sources.error import InvalidRowError
from benchc.sources.image_choice import chosen_images
from benchc.sources.image_store import opened_images
from benchc.sources.item_text import read_answer_list, read_item_text
from benchc.sources.reader_options import ReaderOptions
from benchc.sources.references import AnswerFile, _answers
from benchc.sources.rows import data_file, referenced_files
from benchc.sources.transfer import Part
from benchc.sources.vlmevalkit import opened_source
from benchc.user_table import read_user_table
from benchc.workflow.run_record import FILE as RECORD
from benchc.workflow.run_record import FORMAT, read_record
from tests.benchmarks.naturalbench.test_published_files import LETTERS, hub_row
from tests.benchmarks.r_bench.test_released import ROWS as PAIRS
from tests.benchmarks.r_bench.test_released import write_parquet as write_pairs_file
from tests.fuzzing.mutations import Form
from tests.sources.tsv_files import BLUE, RED, encoded, image_bytes, open_row, row, write_tsv
from tests.sources.vqav2_files import annotation, question, write_annotations, write_images, write_questions

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Reader:
    """A reader or parser.

    ``seed``: a valid content of ``file``, or a text of a parser, which has no file. ``call``: reads the path
    of the file, or the text. ``others``: valid files beside it. ``errors``: those that it may raise.
    """

    name: str
    form: Form
    seed: bytes
    call: Callable[[Any], object]
    file: str | None = None
    others: Callable[[Path], object] = lambda folder: None
    errors: tuple[type[Exception], ...] = (InputError,)


def made(write: Callable[[Path], object], name: str = "file") -> bytes:
    """Return the content of a file that a function writes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        write(path)
        return path.read_bytes()


def parquet(rows: Sequence[dict[str, Any]]) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(rows)), file)
    return file.getvalue()


def zipped(files: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return file.getvalue()


def lines(*rows: str) -> bytes:
    return "".join(f"{one}\n" for one in rows).encode()


def source(path: Path, options: ReaderOptions | None = None) -> None:
    with opened_source(data_file(path), "s", options) as found:
        for frame in found.frames():
            assert frame["id"].null_count() == 0
    list(referenced_files(path))


def sources(name: str, form: Form, seed: bytes, file: str) -> Iterator[Reader]:
    for what, options in (("", None), (", keys of pixels", ReaderOptions(pixel_keys=True))):
        yield Reader(f"source {name}{what}", form, seed, partial(source, options=options), file)


SOURCE = made(lambda path: write_tsv(path, [row(1), row(2, hint="Look."), row(3, image="1")]))
OPEN = made(lambda path: write_tsv(path, [open_row(1, answer="['a', 'b']"), open_row(2, image="1")]))
LISTS = made(lambda path: write_tsv(path, [row(1, choices="['(A) red', '(B) blue']", A="", B="")]))
COMMAS = SOURCE.replace(b"\t", b",")
QUESTIONS = [
    {
        "index": 1,
        "image": {"bytes": RED, "path": "a.png"},
        "question": "?",
        "options": ["x", "y"],
        "answer": "A",
        "category": "c",
    },
    {
        "index": 2,
        "image": {"bytes": BLUE, "path": None},
        "question": "!",
        "options": ["x", "z"],
        "answer": "B",
        "category": "c",
    },
]
AS_JSON = [{**each, "image": encoded(each["image"]["bytes"])} for each in QUESTIONS]
JSON_LINES = lines(*map(json.dumps, AS_JSON))

IMAGE_IDS = (42, 73)
ASKED = made(lambda path: write_questions(path, [question(one) for one in IMAGE_IDS]))
ANNOTATED = made(lambda path: write_annotations(path, [annotation(one) for one in IMAGE_IDS]))


def vqav2(path: Path, annotations: bool = False) -> None:
    other = path.with_name("other.json")
    other.write_bytes(ASKED if annotations else ANNOTATED)
    names = (
        {"questions": other, "annotations": path}
        if annotations
        else {"questions": path, "annotations": other}
    )
    convert("vqav2", {**names, "images": path.parent / "images"}, None, path.with_name("out.tsv"))


def images_of_coco(folder: Path) -> None:
    write_images(
        folder / "images", {f"COCO_val2014_{one:012d}.jpg": image_bytes(form="JPEG") for one in IMAGE_IDS}
    )


def images(folder: Path) -> None:
    write_images(folder / "images", {"a.png": RED, "b.png": BLUE, "a.jpg": RED, "b.jpg": BLUE})


CAPTIONS: dict[str, tuple[Form, bytes]] = {
    "csv": ("csv", lines("image,caption", "a.png,A red square.", 'b.png,"Blue, a square"')),
    "flickr30k": ("text", lines("a.png#0\tA red square.", "b.png#1\tBlue.")),
    "flickr30k ": ("text", lines("image_name| comment_number| comment", "a.png| 0| Red.", "b.png| 1| Blue.")),
    "docci": (
        "json lines",
        lines(*(json.dumps({"image_file": f"{one}.png", "description": one}) for one in "ab")),
    ),
    "xm3600": (
        "json lines",
        lines(*(json.dumps({"image/key": one, "de": {"caption": [one]}}) for one in "ab")),
    ),
    "tsv": (
        "tsv",
        made(
            lambda path: write_tsv(
                path, [open_row(1, answer="['a', 'b']"), open_row(2, image=encoded(BLUE), answer="['c']")]
            )
        ),
    ),
}


def captions(path: Path, form: str) -> None:
    folder = None if form == "tsv" else path.parent / "images"
    read_caption_set(CaptionSet("c", form.strip(), path, folder, "English", "de"), "all")  # type: ignore[arg-type]


REVIEW = lines("id,annotator,question,choices,answer", "r1,ann,?,Yes / No,yes", "r2,ann,!,A / B,B")
CHOICES = {"ann": {"1": ("Yes", "No"), "2": ("A", "B")}}


def review(path: Path) -> None:
    answers_digest(path)
    try:
        check_file(path)
    finally:
        read_answers(CHOICES, path.parent, path.parent / "forms", "0")


GROUPS = made(
    lambda path: write_tsv(
        path,
        [
            {
                **row(2 * q + i, category="yes_no"),
                "group": "g",
                "q_idx": str(q),
                "img_idx": str(i),
                "image_file": f"{i}.png",
                "method": "mined",
            }
            for q, i in product((0, 1), repeat=2)
        ],
    )
)
SPLIT = json.dumps(
    [
        [f"Is it {q}?{SUFFIXES['yes_no']}", f"{i}.png", "Yes" if q == i else "No", "yes_no"]
        for q, i in product((0, 1), repeat=2)
    ]
).encode()
MEMBERS = [Member("s", "g", q, i, f"s/{q}{i}", True) for q, i in product((0, 1), repeat=2)]

KEYS = [(id_, *cell) for id_ in ("s/1", "s/2") for cell in (("clean", 0), ("fog", 1))]
ANSWERS = lines("id,corruption,severity,answer", *(f"{id_},{name},{level},A" for id_, name, level in KEYS))
LOGITS = parquet(
    [{"id": id_, "corruption": name, "severity": level, "logits": [0.5, 1.5]} for id_, name, level in KEYS]
)
ERRORS = lines("model,corruption,level,error,n,wrong", *(f"m,fog,{level},0.5,10,5" for level in range(6)))
ERROR_ROWS = [{"model": "m", "corruption": "fog", "level": level, "error": 0.5} for level in range(6)]
OPTIONS = {id_: Question(["red", "blue"], 0) for id_ in ("s/1", "s/2")}


def cifar() -> bytes:
    data = {b"data": np.zeros((2, 3072), np.uint8), b"labels": [1, 2]}
    batch = pickle.dumps(data, protocol=2).replace(b"numpy._core", b"numpy.core")
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        member = tarfile.TarInfo("cifar-10-batches-py/test_batch")
        member.size = len(batch)
        archive.addfile(member, io.BytesIO(batch))
    return file.getvalue()


ITEM = {
    "id": "s/1",
    "question": "?",
    "hint": None,
    "options": ["a", "b"],
    "answer": 0,
    "image_keys": ["s/1#0"],
}
TABLE = made(
    lambda path: write_table(
        pl.DataFrame(
            [{**dict.fromkeys(ITEMS.columns), **ITEM}, {**dict.fromkeys(ITEMS.columns), **ITEM, "id": "s/2"}],
            schema=pl.Schema(ITEMS.columns),
        ),
        path,
        ITEMS,
    )
)


def table(path: Path) -> None:
    try:
        read_footer(path)
        read_table(path, ITEMS)
    finally:
        with TableFile(path, ITEMS) as file:
            file.rows([1])


CONFIG_JSON = json.dumps(
    {
        "model_type": "llava",
        "architectures": ["LlavaForConditionalGeneration"],
        "text_config": {"model_type": "llama", "attn_implementation": "sdpa"},
        "vision_config": {"hidden_size": 8},
        "auto_map": {"AutoModel": "modeling.Model"},
        "dtype": "float32",
    }
).encode()
INDEX = json.dumps(
    {"metadata": {}, "weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}}
).encode()
TENSORS = save({"a": np.zeros((2, 3), np.float32), "b": np.ones(4, np.float16)})
ADAPTER = json.dumps(
    {
        "peft_type": "LORA",
        "r": 8,
        "base_model_name_or_path": "a/b",
        "init_lora_weights": True,
        "target_modules": ["q"],
    }
).encode()


def model_folder(path: Path) -> None:
    folder = path.parent
    checkpoint = CheckpointSource(str(folder), trust_remote_code=True)
    deciding_files(folder, on_server=True)
    weights_problem(folder)
    weight_bytes(CheckpointSource(str(folder)))
    try:
        check_files(checkpoint, None)
    finally:
        model_entry(str(folder), ROOT, None, 0)


def weights(folder: Path) -> None:
    (folder / "config.json").write_bytes(CONFIG_JSON)
    for name in ("model-1.safetensors", "model-2.safetensors"):
        (folder / name).write_bytes(TENSORS)


def adapter(path: Path) -> None:
    adapter_problem(path.parent)
    only_an_adapter("a", path)


class Client:
    """A client of a server that answers everything with one JSON text, as those of jobs check it."""

    def __init__(self, text: str) -> None:
        self._answer = Answer(200, text)

    def get(self, path: str) -> Answer:
        return self._answer

    def post(self, path: str, body: object) -> Answer:
        return self._answer

    def post_all(self, path: str, bodies: Sequence[object]) -> list[Answer]:
        return [self._answer for _ in bodies]

    def optional(self, path: str, body: object = None) -> Answer:
        return self._answer


def is_json(text: str) -> bool:
    """Return whether a client returns an answer of success with this text."""
    try:
        Answer(200, text).content()
    except ValueError:
        return False
    return True


def server(text: str) -> None:
    if not is_json(text):
        return
    client = Client(text)
    chat = ServedChat(client, "m", {})
    sglang, answer = SglangChat(client, "m", {}), Answer(200, text)
    content = answer.content()
    for call in (
        lambda: served_models(client, "m"),
        lambda: served_model(client, {"m"}),
        lambda: chat.tokens("?"),
        lambda: chat.text_of([1]),
        lambda: set(chat.first_tokens()),
        lambda: chat.log_probability(content, "it"),
        lambda: chat.by_token(entries(content)),
        lambda: ServedLetterScorer(chat).returned(answer),
        lambda: ServedTextScorer(chat)._log_likelihood(answer, [1, 2], "x"),
        lambda: SglangLetterScorer(sglang).returned(answer),
        lambda: SglangTextScorer(sglang)._log_likelihood(answer, [1, 2], "x"),
        sglang.first_tokens,
        lambda: ServedGenerator(chat, Generation(8), {})._reply(answer),
    ):
        try:
            call()
        except InputError as error:
            assert_one_line(error)


def assert_one_line(error: Exception) -> None:
    assert error.args and all(
        isinstance(line, str) and 0 < len(line.strip()) <= LONGEST + 3 for line in error.args
    )


LOGPROB = {"token": "token_id:1", "logprob": -0.5, "top_logprobs": [{"token": "token_id:2", "logprob": -1.5}]}
SERVED = json.dumps(
    {
        "data": [{"id": "m", "root": "m", "owned_by": "vllm"}],
        "choices": [
            {"message": {"content": "a"}, "finish_reason": "stop", "logprobs": {"content": [LOGPROB]}}
        ],
        "usage": {"completion_tokens": 3},
        "prompt_logprobs": [None, {"1": {"logprob": -0.5}}, {"2": {"logprob": -1.5}}],
        "meta_info": {
            "input_token_logprobs": [[-0.5, 1, None], [-1.5, 2, None]],
            "output_token_ids_logprobs": [[[-0.5, 1, None], [-1.5, 2, None]]],
        },
        "tokens": [1, 2],
        "prompt": "x",
        "text": "x",
        "version": "1",
        "prompt_token_ids": [1],
    }
).encode()
CHAT_REPLY = json.dumps(
    {
        "choices": [{"message": {"content": "Score: 2"}, "finish_reason": "stop"}],
        "error": {"code": "content_filter", "message": "no"},
    }
).encode()


def reply(text: str) -> None:
    Answer(200, text).shown()
    for status in (200, 400) if is_json(text) else (400,):
        try:
            reply_text(Answer(status, text), "m")
        except (InputError, UnusableError) as error:
            assert_one_line(error)


def recorded(path: Path) -> object:
    return reply_text(Recording(path.parent).read("POST", "/x", {}), "m")


ENGLISH = json.dumps({"Question": "What is it?", "Hint": "h", "Option A": "cat", "Option B": "dog"}).encode()
TRANSLATED = Text("Was ist es?", "Tipp", ("Katze", "Hund"))


def written(question_0: str, answers: tuple[str, str], **more: str) -> bytes:
    def one(number: int) -> dict[str, str]:
        first, second = answers if number == 0 else answers[::-1]
        return {"question": question_0, "caption 1 answer": first, "caption 2 answer": second, **more}

    return b"Here:\n```json\n" + json.dumps({"0": one(0), "1": one(1)}).encode() + b"\n```"


def free_answer(text: str) -> None:
    soft_accuracy(text, ["two dogs", "2 dogs", text])
    token_f1(text, "two dogs")
    named_option(text, ["two dogs", text])
    for task, reading in product(("mcq", "vqa", "cap"), ("last_line", "last_char")):
        read_score(text, task, reading)  # type: ignore[arg-type]


def of_options(text: str) -> None:
    option_of(text, ["red", "dark red", "A dog", "I do", text[:100]])


REPLY_SEED = b"<think>Not B. The red dog, or A?</think>I am sorry, the answer is (C) or B. Option A: dark red\nB) not red"

MANIFEST_TEXT = (
    Manifest(
        format=1,
        benchc="1",
        run="r",
        benchmark="bench-c",
        images_folder=None,
        recipes={"fog": {"a": 1}},
        seed=1,
        alpha="drop",
        libraries={"numpy": "2"},
        footers={},
        pool=["a"],
        files={"run/config.yaml": {"bytes": 1, "sha256": "0"}},
    )
    .to_json()
    .encode()
)
MODELS_TEXT = models_text(Models("bench-c", {"a": Model("a", "A", 2024, 7.0)})).encode()
DEMO = (ROOT / "config/demo.yaml").read_bytes()

SHORTENER = Shortener("m", 0.0, Template("{caption}"), 300, 1)
RECORDING = f"{request_hash('POST', '/x', {})}.json"
RUN = {"format": FORMAT, "calls": [{"result": "finished", "benchc": "1", "revision": None, "modified": None}]}


def read_zip(path: Path) -> None:
    with opened_images(path) as read:
        read("a.png")


# fmt: off
READERS: list[Reader] = [
    *sources("TSV", "tsv", SOURCE, "my.tsv"),
    Reader("open source", "tsv", OPEN, partial(source, options=ReaderOptions(open_ended=True, answer_lists=True)), "my.tsv"),
    Reader("source with lists", "tsv", LISTS, partial(source, options=ReaderOptions(options_column="choices")), "my.tsv"),
    *sources("csv", "csv", COMMAS, "my.csv"),
    *sources("JSON Lines", "json lines", JSON_LINES, "my.jsonl"),
    *sources("Parquet", "parquet", parquet(QUESTIONS), "my.parquet"),
    Reader("source xz", "bytes", lzma.compress(SOURCE), source, "my.tsv.xz"),
    Reader("entry of a source", "csv", COMMAS, lambda path: source_entry(str(path), path.parent), "my.csv"),
    Reader("answers of a source", "tsv", OPEN, lambda path: str([*_answers(AnswerFile(path, lists=True), {"1", "2"}).values()]).encode(), "my.tsv"),
    Reader("VQAv2 questions", "json", ASKED, vqav2, "q.json", images_of_coco),
    Reader("VQAv2 annotations", "json", ANNOTATED, partial(vqav2, annotations=True), "a.json", images_of_coco),
    Reader("VQAv2 zip", "bytes", zipped({"q.json": ASKED}), vqav2, "q.zip", images_of_coco),
    Reader("list of images", "text", b"42\nCOCO_val2014_000000000073.jpg\n", lambda path: chosen_images({42: "a.jpg", 73: "COCO_val2014_000000000073.jpg"}, path, path), "take.txt"),
    Reader("zip of images", "bytes", zipped({"x/a.png": RED, "b.png": BLUE}), read_zip, "images.zip", errors=(InputError, InvalidRowError)),
    *(
        Reader(f"{form} image", "bytes", image_bytes(form=form), lambda path: decode(path.read_bytes()), f"a.{form.lower()}")
        for form in ("PNG", "JPEG", "WEBP", "TIFF", "GIF", "BMP", "PPM", "JPEG2000", "AVIF")
    ),
    *(
        Reader(f"captions {form}", kind, seed, partial(captions, form=form), "captions", images)
        for form, (kind, seed) in CAPTIONS.items()
    ),
    Reader("retrieval pairs", "csv", lines("pair,image_0,image_1,caption_0,caption_1", "p,a.png,b.png,red,blue"), lambda path: read_retrieval_pairs(path, path.parent / "images"), "pairs.csv", images),
    Reader("release of groups", "tsv", GROUPS, read_contents, "groups.tsv"),
    Reader("places of groups", "tsv", GROUPS, lambda path: read_places(Source(path, "S")), "groups.tsv"),
    Reader("NaturalBench Parquet", "parquet", parquet([hub_row(1, (0, 1)), hub_row(2, (2, 3), **LETTERS)]), lambda path: write_groups(hub_groups(path), path.with_name("out.tsv")), "hub.parquet"),
    Reader("NaturalBench split", "json", SPLIT, read_split, "split.json"),
    Reader("NaturalBench split xz", "bytes", lzma.compress(SPLIT), read_split, "split.json.xz"),
    Reader("review", "csv", REVIEW, review, "ann.csv"),
    Reader("skill tags", "csv", lines("group,q_idx,i_idx,skill", "g,0,1,animal", "s/g,1,1,own"), lambda path: read_tags(path, MEMBERS), "tags.csv"),
    Reader("categories", "csv", lines("source,category,capability,reason", "s,c,ocr,", "s,d,,odd"), lambda path: read_categories(path, {"s"}), "categories.csv"),
    Reader("CIFAR-10", "bytes", cifar(), lambda path: list(cifar_pictures(path, 2, 0)), "cifar.tar"),
    Reader("imported options", "csv", ANSWERS, lambda path: imported_options(path, OPTIONS, ["fog"], [1]), "answers.csv"),
    Reader("imported answers", "csv", ANSWERS, lambda path: read_imported_answers(path, [*OPTIONS], ["fog"], [1], {"fog": {"s/1": (1,), "s/2": (1,)}}), "answers.csv"),
    Reader("imported logits", "parquet", LOGITS, imported_logits, "logits.parquet"),
    Reader("errors csv", "csv", ERRORS, read_errors, "errors.csv"),
    Reader("errors Parquet", "parquet", parquet(ERROR_ROWS), read_errors, "errors.parquet"),
    Reader("released judgements", "csv", lines("name,result", "a.jpg,1", "b.jpg,0.5"), read_results, "dis.csv"),
    Reader("judgements of people", "csv", lines("model,id,corruption,severity,kind,reference,score", "m,s/1,fog,1,dis,0,2"), lambda path: read_people(path, "m"), "people.csv"),
    Reader("released pairs", "parquet", made(lambda path: write_pairs_file(path, PAIRS)), lambda path: write_pairs(released_pairs([path]), "r", path.with_name("out.tsv"), path.with_name("out.parquet")), "pairs.parquet"),
    Reader("csv of any encoding", "csv", "name,x\né,1\n狗,2\n".encode(), lambda path: list(read_rows(path, ("name",))), "a.csv"),
    Reader("user table csv", "csv", ANSWERS, lambda path: read_user_table(path, ("id", "severity")), "a.csv"),
    Reader("user table Parquet", "parquet", LOGITS, lambda path: read_user_table(path, ("id", "severity", "logits")), "a.parquet"),
    Reader("printed table", "csv", csv_text(pl.DataFrame({"model": ["=a", "b"], "x": [0.5, None]})).encode(), read_table_csv, "table.csv"),
    Reader("table and footer", "parquet", TABLE, table, "items.parquet"),
    Reader("YAML", "yaml", DEMO, read_yaml, "a.yaml", errors=(YamlError,)),
    Reader("configuration", "yaml", DEMO, read_config, "a.yaml"),
    Reader("site of a cluster", "yaml", yaml.safe_dump({"partitions": {"cpu": {"max_runtime": "1-00:00:00"}, "gpu": {"max_gpu": 8}}}).encode(), read_site, "site.yaml"),
    Reader("prompt template", "text", b"Ask {caption}, {below} in {language}.", lambda path: read_template(path, ("caption", "below"), ("language",)), "t.txt"),
    Reader("models.json", "json", MODELS_TEXT, read_models, "models.json"),
    Reader("revision", "json", revision_text(Revision("a/b", None, "0" * 40)).encode(), read_revision, "m.json"),
    Reader("manifest of an export", "json", MANIFEST_TEXT, lambda path: read_manifest(path.parent), MANIFEST),
    Reader("recorded answer", "json", json.dumps({"request": {}, "status": 200, "text": CHAT_REPLY.decode()}).encode(), recorded, RECORDING, errors=(InputError, UnusableError)),
    Reader("record of a run", "json", json.dumps(RUN).encode(), lambda path: read_record(path.parent), RECORD),
    Reader("record of a download", "json", b'{"url": "https://a.b/c", "etag": "x", "last_modified": null, "size": 3}', lambda path: Part(path.with_name("a")).origin(), "a.part.json"),
    Reader("config.json", "json", CONFIG_JSON, model_folder, "model/config.json"),
    Reader("index of weights", "json", INDEX, model_folder, "model/model.safetensors.index.json", weights),
    Reader("safetensors", "bytes", TENSORS, model_folder, "model/model.safetensors", weights),
    Reader("adapter", "json", ADAPTER, adapter, "model/adapter_config.json"),
    Reader("answer of a model's server", "json", SERVED, server),
    Reader("answer of a language model", "json", CHAT_REPLY, reply),
    Reader("reply with options", "text", REPLY_SEED, of_options),
    Reader("free answer", "text", b"Well, the two dogs aren't 1,000.5!\nA. Score: 2.0", free_answer),
    *(
        Reader(f"questions of a reply, {kind}", "text", seed, partial(read_reply, kind=kind), errors=(UnusableError,))
        for kind, seed in {
            "yes_no": written("Is it red?", ("Yes", "No, blue")),
            "multiple_choice": written("Which? Options: A: red; B: blue", ("A", "Option B: blue")),
        }.items()
    ),
    Reader("translation", "json", ENGLISH, lambda text: read_translation(text, TRANSLATED), errors=(UnusableError,)),
    Reader("shortened caption", "json", CHAT_REPLY, lambda text: is_json(text) and SHORTENER.shortened(Answer(200, text)).encode(), errors=(InputError, UnusableError)),
    Reader("list of answers", "json", b'["a", "b"]', read_answer_list, errors=(InvalidRowError,)),
    Reader("list of options", "text", b"['(A) red', '(B) blue']", lambda text: read_item_text({"question": "?", "o": text, "answer": "A"}, "o"), errors=(InvalidRowError,)),
]
