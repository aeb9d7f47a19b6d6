"""`benchc group-accuracy` gives the four accuracies of a file of right and wrong answers."""

from itertools import product
from pathlib import Path

import pytest

from scripts.benchc import main

PLACES = [*product((0, 1), (0, 1))]


def written(folder: Path, groups: dict[str, str]) -> str:
    """Write groups, whose right answers to q0 i0, q0 i1, q1 i0 and q1 i1 are digits."""
    rows = [
        f"{name},{question},{image},{right}"
        for name, rights in groups.items()
        for (question, image), right in zip(PLACES, rights, strict=False)
    ]
    path = folder / "mine.csv"
    path.write_text("\n".join(["group,question,image,right", *reversed(rows)]) + "\n")
    return str(path)


def test_accuracies_of_groups(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # All right; question 0 right on both images; image 0 with both questions right; each answer to half.
    main(["group-accuracy", written(tmp_path, {"a": "1111", "b": "1100", "c": "1010", "d": "1001"})])
    *_, line = capsys.readouterr().out.splitlines()
    assert [cell.strip() for cell in line.strip("|").split("|")] == [
        "mine", "4", "0.625", "0.375", "0.375", "0.250",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("groups", "sentence"),
    [
        ({"a": "111"}, "group 'a' has 3 rows; each group needs one row for each question and image"),
        ({"a": "1121"}, "right is '2'; it should be 0 to 1"),
        ({}, "there are no rows"),
    ],
)
def test_an_invalid_file_is_one_line(groups: dict[str, str], sentence: str, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"^error: ") as stopped:
        main(["group-accuracy", written(tmp_path, groups)])
    assert sentence in str(stopped.value) and "\n" not in str(stopped.value)
