"""HTML pages that need no network: a template with data as JSON, and images as text that scripts read.

Style and script are here, and not in files, so that an edit makes the pages anew.
"""

import base64
import json
from collections.abc import Callable, Iterable, Iterator
from importlib import resources

IMAGES, DATA, STYLE, SCRIPT = "@images@", "@data@", "@style@", "@script@"  # in a template

# What all pages share; a template follows with its own.
SHARED_STYLE = """\
* { box-sizing: border-box; }
body { font: 15px/1.45 system-ui, sans-serif; color: #222; background: #fff; margin: 0 auto; padding: .8rem 1rem 2rem; }
select, button { font: inherit; color: #222; max-width: 100%; }
table { border-collapse: collapse; }
figure { margin: 0; min-width: 0; }
figure img { display: block; width: 100%; object-fit: contain; background: #eee; border: 1px solid #ddd; }
.note { color: #555; font-size: .9rem; }"""  # noqa: E501
SHARED_SCRIPT = """\
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const get = id => document.getElementById(id);

function element(tag, text, name) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (name) made.className = name;
  return made;
}
function picture(number, description) {
  const image = element("img");
  image.src = "data:image/webp;base64," + get(`image-${number}`).textContent;
  image.alt = description;
  return image;
}"""


def data_page(
    package: str, file: str, content: Callable[[], object], images: Iterable[bytes] = ()
) -> Iterator[str]:
    """Yield the parts of a page, of which one has at most one image.

    Args:
        package: of the template.
        file: the template, with the marks of STYLE, SCRIPT and DATA, and of IMAGES where it has any.
        content: returns the data, JSON values without NaN; called after the last image.
        images: files of WebP; scripts get one by ``picture`` with its number, from 0.
    """
    template = resources.files(package).joinpath(file).read_text(encoding="utf-8")
    head, _, after = template.replace(STYLE, SHARED_STYLE).replace(SCRIPT, SHARED_SCRIPT).partition(DATA)
    before, _, between = head.partition(IMAGES)
    yield before
    for number, image in enumerate(images):
        encoded = base64.b64encode(image).decode()
        yield f'<script type="text/plain" id="image-{number}">{encoded}</script>\n'
    # A text such as "</script>" would end the script that contains the data.
    data = json.dumps(content(), ensure_ascii=False, allow_nan=False).replace("<", r"\u003c")
    yield f"{between}{data}{after}"
