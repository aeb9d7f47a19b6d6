"""A small run with images: three items, one of each task, with the replies and scores of two models."""

from dataclasses import dataclass
from pathlib import Path

from benchc.benchmarks.r_bench.examples import Example, read_examples
from benchc.benchmarks.r_bench.schemas.judge_scores import JUDGE_SCORES
from benchc.benchmarks.r_bench.schemas.scores import SCORES
from benchc.benchmarks.r_bench.schemas.tasks import TASK_TABLE
from benchc.benchmarks.r_bench.tasks import KINDS
from benchc.corruptions.recipe import Recipe
from benchc.corruptions.registry import recipe_of
from benchc.images import encode_png
from benchc.models.asking import ShownImages
from benchc.schemas.answers import ANSWERS
from benchc.schemas.assignment import ASSIGNMENT
from benchc.schemas.parquet import write_table
from benchc.schemas.pool import POOL
from benchc.schemas.references import REFERENCES
from tests.benchmarks.made import frame_of
from tests.corruptions.photos import photo
from tests.footers import footer_of
from tests.stages import call_stage

ITEMS = {
    "s/m": ("mcq", "Which colour?", ["red", "blue"], 1, "blue", []),
    # It has options, and is asked without them.
    "s/v": ("vqa", "How many cups?", ["1", "2"], 1, "2", []),
    "s/c": ("cap", "Describe it.", [], None, "a cup", ["a cup", "coffee on a table"]),
}
PHOTOS = {"s/m": photo("coffee", 120, 160), "s/v": photo("cat", 128, 96), "s/c": photo("rocket", 100, 150)}
CELLS = [("s/m", "white_noise", 3), ("s/m", "jpeg", 1), ("s/v", "jpeg", 3), ("s/v", "lens_blur", 2)]
CELLS.append(("s/c", "dark_illumination_stand_in", 2))
DIMENSIONS = list(dict.fromkeys(name for _, name, _ in CELLS))
SEED = 7
RECIPES = {name: recipe_of(name, "r-bench") for name in DIMENSIONS} | {"clean": Recipe("clean")}
IMAGES = ShownImages(recipes=RECIPES, seed=SEED, alpha="drop")
LABELS = {"one": "Model </script>", "two": "Model & 2"}
HOSTILE = '</script><script>document.title = "taken"</script><b>&amp;'
# Of each model: the scores s_ref, s_dis and s_com of each cell.
SCORED = {
    "one": [(1.0, 0.0, 0.0), (1.0, 1.0, 1.0), (0.5, 0.7, 0.8), (0.5, 0.5, 1.0), (0.25, 0.0, 0.1)],
    "two": [(0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (1.0, 0.2, 0.3), (1.0, 1.0, 1.0), (0.75, 0.5, 0.6)],
}


@dataclass(frozen=True)
class Run:
    """The files of the run."""

    folder: Path

    def path(self, name: str) -> Path:
        return self.folder / f"{name}.parquet"

    @property
    def example_files(self) -> dict[str, Path | list[Path]]:
        """Return the inputs of what shows examples; the run has no replies of the second model."""
        return {
            **{name: self.path(name) for name in ("pairs", "pool", "references")},
            "answers": [self.path("answers_one")],
            "judge_scores": [self.path(f"judge_scores_{id_}") for id_ in LABELS],
            "scores": [self.path(f"scores_{id_}") for id_ in LABELS],
        }

    def examples(self) -> list[Example]:
        return read_examples(**self.example_files, labels=LABELS)  # type: ignore[arg-type]

    def choose(self, **options: object) -> None:
        """Run the stage that chooses pairs."""
        given = {"one_image": True, "number": 99, "seed": 0, "images": IMAGES} | options
        files = {name: self.path(name) for name in ("pool", "tasks", "assignment", "pairs", "gallery")}
        call_stage("r_bench.choose_pairs", **files, **given)


def write_run(folder: Path, judge: str = "rule") -> Run:
    """Write the files of the run, and choose its pairs."""
    run = Run(folder)
    pool = [
        {
            **{"id": id_, "source": "s", "task": task, "question": question, "hint": None},
            **{"options": options, "answer": answer, "category": None, "l2_category": None},
            "images": [{"bytes": encode_png(PHOTOS[id_]), "path": None}],
            "image_keys": [f"{id_}#0"],
        }
        for id_, (task, question, options, answer, *_) in ITEMS.items()
    ]
    write_table(frame_of(POOL, pool), run.path("pool"), POOL)
    references = [(id_, truth, answers) for id_, (*_, truth, answers) in ITEMS.items()]
    _write(run.path("references"), references, REFERENCES, {})
    _write(run.path("tasks"), [(id_, item[0]) for id_, item in ITEMS.items()], TASK_TABLE, {})
    _write(run.path("assignment"), CELLS, ASSIGNMENT, {})
    replies = [(id_, "clean", 0, f"{id_} clean") for id_ in ITEMS]
    replies += [(*cell, HOSTILE if cell[1] == "jpeg" else f"{cell[0]} {cell[1]}") for cell in CELLS]
    answers = [(*reply, "stop", 3, "p", "i") for reply in replies]
    _write(run.path("answers_one"), answers, ANSWERS, {"label": "one"})
    for id_, scored in SCORED.items():
        rows, judged = [], []
        for cell, (ref, dis, com) in zip(CELLS, scored, strict=True):
            task = ITEMS[cell[0]][0]
            rows.append((cell[0], task, cell[1], cell[2], dis, ref, com, dis, ref * com))
            judged += _judgements(cell, task, judge)
        footer = {"label": id_, "judge": judge}
        _write(run.path(f"scores_{id_}"), rows, SCORES, footer)
        unique = list(dict.fromkeys(judged))
        _write(run.path(f"judge_scores_{id_}"), unique, JUDGE_SCORES, footer)
    run.choose()
    return run


def _judgements(cell: tuple[str, str, int], task: str, judge: str) -> list[tuple[object, ...]]:
    """Return a letter's judgements of mcq; else 2, 1 of dis, 0, 1 of com, and 1, unreadable of ref.

    Under JPEG, a judge has read the letter of com as well.
    """
    rows: list[tuple[object, ...]] = []
    for kind in KINDS:
        place = ("clean", 0) if kind == "ref" else cell[1:]
        if task == "mcq":
            rows.append((cell[0], task, *place, kind, 0, 0, "letter", 1.0, True, None))
            if cell[1] == "jpeg" and kind == "com":
                rows += [(cell[0], task, *place, kind, 0, n, judge, 0.0, True, None) for n in range(2)]
            continue
        values = {"dis": (2.0, 1.0), "ref": (1.0, 0.0), "com": (0.0, 1.0)}[kind]
        for repeat, value in enumerate(values):
            readable = kind != "ref" or repeat == 0
            rows.append((cell[0], task, *place, kind, 0, repeat, judge, value, readable, None))
    return rows


def _write(path: Path, rows, table, footer: dict[str, object]) -> None:
    write_table(frame_of(table, rows), path, table, footer_of(footer))
