"""Write the images of README and docs from the finished demo: `make docs-images`."""

import shutil
import tempfile
import time
from pathlib import Path

from tests.browser import chromium

ROOT = Path(__file__).resolve().parents[1]
DEMO, IMAGES = ROOT / "results/demo", ROOT / "docs/images"
READY = "return document.getElementById('viewer').dataset.ready === 'true'"
SAMPLE = "document.querySelector('#chart-box').scrollIntoView()"


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    shutil.copyfile(DEMO / "figures/figure1a.png", IMAGES / "figure1a.png")
    with tempfile.TemporaryDirectory() as folder, chromium(Path(folder)) as browser:
        browser.resize(1280, 1000)
        browser.open(DEMO / "index.html")
        while not browser.run(READY):
            time.sleep(0.1)
        browser.screenshot(IMAGES / "results_page.png")
        browser.run(SAMPLE)
        time.sleep(1)
        browser.screenshot(IMAGES / "samples.png")


if __name__ == "__main__":
    main()
