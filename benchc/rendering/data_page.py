"""HTML pages that need no network: a template with data as JSON, and images as text that scripts read.

Style and script are here, and not in files, so that an edit makes the pages anew.
"""

import base64
import json
from collections.abc import Callable, Iterable, Iterator
from importlib import resources

IMAGES, DATA, STYLE, SCRIPT = "@images@", "@data@", "@style@", "@script@"  # in a template

# What all pages share; a template follows with its own.
DARK = """--ink: #e4e8ee; --soft: #9aa5b3; --line: #333c48; --ground: #14181e; --panel: #1c222b;
  --track: #2a323d; --mark: #e4e8ee; --accent: #6cb6f5; --bar: #3d7fb8; --right: #5fce8c; --wrong: #ff8a80;"""
SHARED_STYLE = f"""\
:root {{ color-scheme: light dark; --ink: #1d2430; --soft: #5b6573; --line: #d9dee5; --ground: #fff;
  --panel: #f6f8fa; --track: #e8ecf1; --mark: #1d2430; --accent: #0a5fa8; --bar: #4c8fca; --right: #17703c;
  --wrong: #b3261e; }}
@media (prefers-color-scheme: dark) {{ :root:not([data-theme=light]) {{ {DARK} }} }}
:root[data-theme=dark] {{ color-scheme: dark; {DARK} }}
:root[data-theme=light] {{ color-scheme: light; }}
* {{ box-sizing: border-box; }}
body {{ font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; color: var(--ink);
  background: var(--ground); margin: 0; }}
a {{ color: var(--accent); }}
button, select, input, textarea {{ font: inherit; color: inherit; background: var(--panel); max-width: 100%;
  border: 1px solid var(--line); border-radius: 5px; padding: .15rem .5rem; }}
input[type=range] {{ padding: 0; }}
:focus-visible {{ outline: 2px solid var(--accent); outline-offset: 1px; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; }}
figure {{ margin: 0; min-width: 0; }}
.note {{ color: var(--soft); font-size: .88rem; }}
.right {{ color: var(--right); }} .wrong {{ color: var(--wrong); }}"""
# Of pages with one column and images.
PAGE_STYLE = """\
body { margin: 0 auto; padding: .8rem 1rem 2rem; }
figure img { display: block; width: 100%; object-fit: contain; background: var(--track);
  border: 1px solid var(--line); }"""
SHARED_SCRIPT = """\
"use strict";
const get = id => document.getElementById(id);

function element(tag, text, name) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (name) made.className = name;
  return made;
}"""
# Of pages with their data in them.
DATA_SCRIPT = """\
const data = JSON.parse(get("data").textContent);
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
    template = template.replace(STYLE, f"{SHARED_STYLE}\n{PAGE_STYLE}")
    head, _, after = template.replace(SCRIPT, f"{SHARED_SCRIPT}\n{DATA_SCRIPT}").partition(DATA)
    before, _, between = head.partition(IMAGES)
    yield before
    for number, image in enumerate(images):
        encoded = base64.b64encode(image).decode()
        yield f'<script type="text/plain" id="image-{number}">{encoded}</script>\n'
    # A text such as "</script>" would end the script that contains the data.
    data = json.dumps(content(), ensure_ascii=False, allow_nan=False).replace("<", r"\u003c")
    yield f"{between}{data}{after}"
