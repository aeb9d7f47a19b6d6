"""Write items to TSV files that VLMEvalKit reads as multiple-choice questions."""

import base64
import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from benchc.csv_cells import QuotedTsv
from benchc.images import decode, encode_png
from benchc.letters import LETTERS

# VLMEvalKit shows the images of larger files as JPEG files, which adds a corruption to each of them.
FILE_BYTES = 900 * 10**6
# A shorter text of an image is the index of another row to VLMEvalKit.
LONGEST_INDEX = 64


class TsvFiles:
    """The TSV files of one split, ``{folder}/{name}.tsv``, then ``{name}_2.tsv`` and so on.

    VLMEvalKit keeps images by the name of the file and the index of the row, so no two splits may share both.
    ``options``: the most options of an item. An item without options or answer is left out.
    """

    def __init__(self, folder: Path, name: str, options: int, most_bytes: int = FILE_BYTES) -> None:
        self._folder, self._name, self._most = folder, name, most_bytes
        self._letters = LETTERS[:options]
        self._count = self._written = 0
        self._file: IO[str] | None = None

    def append(self, index: int, item: Mapping[str, Any], images: Sequence[bytes]) -> None:
        """Append an item with its encoded images; ``item`` has the columns of a pool."""
        if not item["options"] or item["answer"] is None:
            return
        encoded = [_text_of(data) for data in images]
        image = encoded[0] if len(encoded) == 1 else str(encoded)
        names = [f"{index}{f'-{number}' if number else ''}.png" for number in range(len(encoded))]
        options = dict(zip(self._letters, item["options"], strict=False))
        cells = [index, image, item["question"], item["hint"]]
        cells += [options.get(name) for name in self._letters]
        cells += [LETTERS[item["answer"]], item["category"], item["l2_category"], item["id"]]
        # VLMEvalKit saves the images of a row with several by these names.
        cells += [names[0] if len(names) == 1 else str(names)]
        if self._file is None or self._written + len(image) > self._most:
            self._open()
        assert self._file is not None
        _writer(self._file).writerow(cells)
        self._written += len(image)

    def close(self) -> None:
        """Close the last file."""
        if self._file is not None:
            self._file.close()

    def _open(self) -> None:
        self.close()
        self._count += 1
        self._written = 0
        self._folder.mkdir(parents=True, exist_ok=True)
        part = f"_{self._count}" if self._count > 1 else ""
        path = self._folder / f"{self._name}{part}.tsv"
        self._file = path.open("w", encoding="utf-8", newline="")
        header = ["index", "image", "question", "hint", *self._letters]
        header += ["answer", "category", "l2-category", "id", "image_path"]
        _writer(self._file).writerow(header)


def _writer(file: IO[str]) -> Any:
    return csv.writer(file, QuotedTsv)


def _text_of(data: bytes) -> str:
    """Return an encoded image in base64, which is longer than an index: a WebP file of one colour is not."""
    text = base64.b64encode(data).decode()
    return text if len(text) > LONGEST_INDEX else base64.b64encode(encode_png(decode(data))).decode()
