"""The size of a file that the run will download."""

import httpx2 as httpx

from benchc.sources.download import explained

# Shorter than that of the download itself: a check of several sources must not wait minutes.
TIMEOUT = httpx.Timeout(5.0)


def download_size(url: str) -> int | None:
    """Return the bytes of the file at ``url``, None where the server does not say; downloads nothing.

    Raises SourceError where the server refuses the file or cannot be reached.
    """
    with (
        explained(url),
        httpx.Client(follow_redirects=True, timeout=TIMEOUT) as client,
        # Not HEAD, which some servers of files refuse.
        client.stream("GET", url, headers={"Accept-Encoding": "identity"}) as response,
    ):
        response.raise_for_status()
        size = response.headers.get("Content-Length", "")
        return int(size) if size.isdecimal() else None
