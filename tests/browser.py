"""A headless Chromium, driven by chromedriver through W3C's WebDriver protocol, which is JSON over HTTP."""

import base64
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the key of an element's id, by the standard
# A container has neither a sandbox for Chromium nor much shared memory; background services need a network.
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-background-networking",
]
ARROW_LEFT, ARROW_RIGHT, HOME, END = "\ue012", "\ue014", "\ue011", "\ue010"


class Browser:
    """One page in one window."""

    def __init__(self, session: str) -> None:
        self._session = session

    def open(self, path: Path, fragment: str = "") -> None:
        """Open a file, at a fragment such as ``#top``."""
        self._post("url", url=path.resolve().as_uri() + fragment)

    def resize(self, width: int, height: int) -> None:
        """Set the size of the window, in CSS pixels."""
        self._post("window/rect", width=width, height=height)

    def find(self, selector: str) -> str:
        """Return the first element of a CSS selector."""
        return str(self._post("element", using="css selector", value=selector)[ELEMENT])

    def press(self, element: str, *keys: str) -> None:
        """Press keys on an element, as a user does."""
        self._post(f"element/{element}/value", text="".join(keys))

    def click(self, element: str) -> None:
        """Click an element."""
        self._post(f"element/{element}/click")

    def texts(self, selector: str) -> list[str]:
        """Return the texts of all elements of a selector."""
        script = "return [...document.querySelectorAll(arguments[0])].map(each => each.textContent)"
        return list(self.run(script, selector))

    def run(self, script: str, *arguments: object) -> Any:
        """Return what a script returns."""
        return self._post("execute/sync", script=script, args=list(arguments))

    def enter(self, frame: str | None) -> None:
        """Let scripts run in the page of an iframe; None for the outer page."""
        self._post("frame", id=None if frame is None else {ELEMENT: frame})

    def messages(self) -> list[str]:
        """Return the errors and warnings of the console since the last call."""
        found = self._post("se/log", type="browser")
        return [each["message"] for each in found if each["level"] in ("SEVERE", "WARNING")]

    def screenshot(self, path: Path) -> None:
        """Write what the window shows as PNG."""
        path.write_bytes(base64.b64decode(_value(httpx2.get(f"{self._session}/screenshot", timeout=60))))

    def close(self) -> None:
        """Close the browser."""
        _value(httpx2.delete(self._session, timeout=60))

    def _post(self, command: str, **content: object) -> Any:
        return _value(httpx2.post(f"{self._session}/{command}", json=content, timeout=60))


def _value(reply: httpx2.Response) -> Any:
    value = reply.json()["value"]
    assert reply.is_success, value["message"]
    return value


def program(names: Sequence[str]) -> str:
    """Return the path of the first program that is installed."""
    found = next(filter(None, map(shutil.which, names)), None)
    assert found is not None, f"{names[0]} is not installed; run `make browser`"
    return found


@contextmanager
def chromium(folder: Path) -> Iterator[Browser]:
    """Start a browser whose profile is in ``folder``."""
    binary = program(["chromium", "google-chrome", "chromium-browser"])
    log = folder / "chromedriver.log"
    with log.open("w") as output:
        command = [program(["chromedriver"]), "--port=0"]
        driver = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=output, text=True)
    try:
        assert driver.stdout is not None
        lines = iter(driver.stdout.readline, "")
        line = next((line for line in lines if "started successfully on port" in line), None)
        assert line is not None, log.read_text()
        server = f"http://127.0.0.1:{line.rstrip().rstrip('.').rpartition(' ')[2]}"
        options = {"binary": binary, "args": [*FLAGS, f"--user-data-dir={folder / 'profile'}"]}
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        capabilities = {"capabilities": {"alwaysMatch": wanted}}
        session = _value(httpx2.post(f"{server}/session", json=capabilities, timeout=120))
        browser = Browser(f"{server}/session/{session['sessionId']}")
        try:
            yield browser
        finally:
            browser.close()
    finally:
        driver.terminate()
        driver.communicate()
