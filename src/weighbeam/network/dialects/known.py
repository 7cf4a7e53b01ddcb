"""Dialects by name, and the one a request is written in."""

from collections.abc import Mapping, Sequence

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.network.dialects.btauth import Btauth
from weighbeam.network.dialects.contract import Dialect
from weighbeam.network.dialects.epistula import Epistula
from weighbeam.network.verify_request import Headers

DEFAULT = Btauth.name
DIALECTS: Mapping[str, Dialect] = {Btauth.name: Btauth(), Epistula.name: Epistula()}


def find_dialect(name: str) -> Dialect:
    """The dialect called `name`.

    >>> find_dialect("epistula/2").version_header
    'epistula-version'
    """
    if name not in DIALECTS:
        raise WeighbeamError("unknown_dialect", f"no dialect is called {name!r}", f"use one of: {', '.join(DIALECTS)}")
    return DIALECTS[name]


def tell_dialect(accepted: Sequence[Dialect], headers: Headers) -> Dialect:
    """Of those accepted, the one whose version header is there; the first if none is, for it to say what is missing."""
    given = {name.lower() for name, _ in headers}
    spoken = [dialect for dialect in accepted if dialect.version_header in given]
    require(len(spoken) <= 1, "malformed_auth", "signed in two dialects", "sign in one")
    return spoken[0] if spoken else accepted[0]
