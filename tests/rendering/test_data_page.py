"""HTML pages with data and images: what a template gets."""

import json
import re

import pytest

from benchc.rendering.data_page import data_page

TEMPLATE = (
    '<style>@style@</style>@images@<script type="application/json" id="data">@data@</script>'
    "<script>@script@</script>"
)


@pytest.fixture
def package(tmp_path, monkeypatch):
    (tmp_path / "trial_pages").mkdir()
    (tmp_path / "trial_pages/page.html").write_text(TEMPLATE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    return "trial_pages"


def test_texts_end_no_script_and_marks_in_data_stay(package):
    given = {"text": "</script><b>@style@ @images@ é"}
    page = "".join(data_page(package, "page.html", lambda: given))
    found = re.search('id="data">(.*?)</script>', page)
    assert found is not None and json.loads(found[1]) == given
    assert page.count("<script") == 2 and "box-sizing" in page and "const get" in page


def test_images_come_one_by_one_and_the_data_may_count_them(package):
    taken: list[int] = []

    def images():
        for number in range(2):
            taken.append(number)
            yield b"image"

    parts = data_page(package, "page.html", lambda: {"images": len(taken)}, images())
    assert "id=" not in next(parts) and taken == []
    assert next(parts) == '<script type="text/plain" id="image-0">aW1hZ2U=</script>\n' and taken == [0]
    assert '{"images": 2}' in "".join(parts)


def test_values_without_json_are_errors(package):
    with pytest.raises(ValueError, match="not JSON compliant"):
        list(data_page(package, "page.html", lambda: [float("nan")]))
