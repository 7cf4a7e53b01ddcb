"""Copies in a web archive (spec § 4): what they are copies of is judged too."""

import re
from dataclasses import dataclass

from weighbeam.mechanisms.evidence.read_url import SCHEME, Unparsed, Url, read_url

HOST = "web.archive.org"
COPY = re.compile(r"/web/[0-9]{4,14}[A-Za-z_]*/(.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Layers:
    """A URL and, if it is an archive's, the URL inside it, and so on; `fault` is why the innermost did not parse."""

    urls: tuple[Url, ...]
    fault: Unparsed | None = None

    @property
    def archived(self) -> bool:
        return len(self.urls) > 1 or self.fault is not None

    @property
    def inner(self) -> Url | None:
        """The URL that counts."""
        return None if self.fault else self.urls[-1]


def unwrap(url: Url) -> Layers:
    """Every layer is shorter than the one around it, so that this ends.

    >>> copy = read_url("https://web.archive.org/web/2020id_/example.org/a")
    >>> [layer.text for layer in unwrap(copy).urls]
    ['https://web.archive.org/web/2020id_/example.org/a', 'http://example.org/a']
    """
    layers = [url]
    while (copied := _find_copied(layers[-1])) is not None:
        inner = read_url(copied, ("https", "http"))
        if isinstance(inner, str):
            return Layers(tuple(layers), inner)
        layers.append(inner)
    return Layers(tuple(layers))


def _find_copied(url: Url) -> str | None:
    found = COPY.fullmatch(url.given) if url.host.name == HOST else None
    if found is None:
        return None
    return found[1] if SCHEME.match(found[1]) else f"http://{found[1]}"
