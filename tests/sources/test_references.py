from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest

from benchc.errors import InputError
from benchc.schemas.parquet import read_footer, read_table, write_table
from benchc.schemas.pool import POOL
from benchc.schemas.pool_images import QUESTION_COLUMNS, pool_digest
from benchc.schemas.references import REFERENCES
from benchc.sources.pool import assemble, choose, task_types
from benchc.sources.reader_options import CONVERTED, ReaderOptions
from benchc.sources.references import AnswerFile, read_references
from benchc.sources.vlmevalkit import read_vlmevalkit
from tests.sources.data_files import write_parquet
from tests.sources.tsv_files import RED, open_row, row, write_tsv
from tests.sources.vqav2_files import annotation, convert_vqav2, question, read_vqav2, write_vqav2
from tests.stages import call_stage


def write_pool(folder: Path, **sources: pl.DataFrame) -> Path:
    choice = choose(task_types(sources, dict.fromkeys(sources, "category")), None, None)
    write_table(assemble(choice, sources), folder / "pool.parquet", POOL)
    return folder / "pool.parquet"


def test_each_kind_of_source(tmp_path, capsys) -> None:
    with_options = write_tsv(tmp_path / "o.tsv", [row(1, answer="B"), row(2, answer="C", C="3.50 ")])
    rows = [open_row(10), open_row(9, answer=" two words\n"), open_row("x", answer="A")]
    without = write_tsv(tmp_path / "t.tsv", rows)
    annotations = [annotation(73, 0, "no"), annotation(42, 1, "blue"), annotation(42, 0, "2")]
    files = write_vqav2(tmp_path, [question(42), question(42, 1), question(73)], annotations)
    items = {"o": read_vlmevalkit(with_options, "o")[0], "t": read_vlmevalkit(without, "t")[0]}
    pool = write_pool(tmp_path, **items, v=read_vqav2(files, "v")[0])
    expected = [
        *(("o/1", "blue", []), ("o/2", "3.50 ", [])),
        *(("t/9", "two words", []), ("t/10", "dark red", []), ("t/x", "A", [])),
        *(
            (f"v/{id_}", truth, [truth] * 8 + [f"not {truth}"] * 2)
            for id_, truth in ((42000, "2"), (42001, "blue"), (73000, "no"))
        ),
    ]
    answers = {
        "t": AnswerFile(without),
        "v": AnswerFile(convert_vqav2(files), CONVERTED.answer_lists),
        # Not read: all its items have options.
        "o": AnswerFile(tmp_path / "absent.tsv"),
    }
    assert read_references(pool, answers).rows() == expected
    named = {id_: answer._asdict() for id_, answer in answers.items()}
    output = tmp_path / "references.parquet"
    call_stage("references", pool=pool, files=named, output=output)
    assert capsys.readouterr().out == "references: 8 items\n"
    assert read_table(output, REFERENCES).rows() == expected
    assert read_footer(output) == {"pool": pool_digest(pool, QUESTION_COLUMNS)}


def test_of_rows_with_one_index_the_item_is_the_one_that_was_read(tmp_path: Path) -> None:
    path = write_tsv(tmp_path / "t.tsv", [open_row(1), open_row(1, question="Other?", answer="blue")])
    pool = write_pool(tmp_path, t=read_vlmevalkit(path, "t")[0])
    assert read_references(pool, {"t": AnswerFile(path)})["truth"].to_list() == ["dark red"]


def test_a_list_of_answers_has_several_references(tmp_path: Path) -> None:
    rows = [open_row(1, answer='["A dog. ", "It barks."]'), open_row(2, answer="['one']")]
    path = write_tsv(tmp_path / "t.tsv", rows)
    pool = write_pool(tmp_path, t=read_vlmevalkit(path, "t", ReaderOptions(answer_lists=True))[0])
    assert read_references(pool, {"t": AnswerFile(path, lists=True)}).rows() == [
        ("t/1", "A dog.", ["A dog.", "It barks."]),
        ("t/2", "one", []),
    ]


def test_images_beside_the_answers_are_not_read(tmp_path: Path) -> None:
    row = {
        "index": "1",
        "image": {"bytes": RED, "path": None},
        "question": "?",
        "answer": "red",
        "category": "c",
    }
    path = write_parquet(tmp_path / "t.parquet", [row])
    pool = write_pool(tmp_path, t=read_vlmevalkit(path, "t")[0])
    column = pq.read_metadata(path).row_group(0).column(1)
    start = column.dictionary_page_offset or column.data_page_offset
    with path.open("r+b") as file:
        file.seek(start)
        file.write(bytes(column.total_compressed_size))
    assert read_references(pool, {"t": AnswerFile(path)})["truth"].to_list() == ["red"]


def test_an_item_without_a_reference_is_named(tmp_path: Path) -> None:
    path = write_tsv(tmp_path / "t.tsv", [open_row(1), open_row(2), open_row(3)])
    pool = write_pool(tmp_path, t=read_vlmevalkit(path, "t")[0])
    write_tsv(path, [open_row(1), open_row(3, answer="")])
    absent = r"pool.parquet: item t/2 has no reference answer \(2 items like this\): .*t.tsv no"
    with pytest.raises(InputError, match=absent):
        read_references(pool, {"t": AnswerFile(path)})
    with pytest.raises(InputError, match=r"item t/1 has no reference answer .* and its source no answer"):
        read_references(pool, {})


def test_of_several_files_with_errors_the_first_is_named(tmp_path: Path) -> None:
    names = [f"t{number}" for number in range(30)]
    items = {name: read_vlmevalkit(write_tsv(tmp_path / "t.tsv", [open_row(1)]), name)[0] for name in names}
    files = {name: AnswerFile(tmp_path / f"{name}.tsv") for name in names}
    with pytest.raises(InputError, match=r"t0\.tsv"):
        read_references(write_pool(tmp_path, **items), files)


@pytest.mark.parametrize("text", ["t.tsv", '{"t": "t.tsv"}', '{"t": {"lists": true}}'])
def test_arguments_name_source_and_file(capsys, text) -> None:
    with pytest.raises(SystemExit):
        call_stage("references", pool="p", files=text, output="r")
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: Invalid value for --files: ")
