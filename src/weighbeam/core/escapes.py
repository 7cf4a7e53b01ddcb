"""Percent-escapes and dot segments of a URL's path or query (docs/spec/evidence.md § 4)."""

import re
import string

UNRESERVED = string.ascii_letters + string.digits + "-._~"
SUB_DELIMS = "!$&'()*+,;="
IN_PATH = UNRESERVED + SUB_DELIMS + ":@/%"
IN_QUERY = IN_PATH + "?"

PERCENT = re.compile("%([0-9A-Fa-f]{2})?")
ESCAPES = re.compile("(?:%[0-9A-Fa-f]{2})+")
NOT_IN_PATH = re.compile(f"[^{re.escape(IN_PATH)}]")
NOT_IN_QUERY = re.compile(f"[^{re.escape(IN_QUERY)}]")


def settle_escapes(text: str) -> str:
    """Escaped unreserved characters decoded, other escapes in upper case, a stray `%` escaped: all in one pass, so
    that no new escape can come about.

    >>> settle_escapes("c%7e%2fd%"), settle_escapes("%%34%31")
    ('c~%2Fd%25', '%2541')
    """
    return PERCENT.sub(_settle, text)


def escape_path(text: str) -> str:
    """What RFC 3986 does not allow in a path, escaped; the escapes in it are settled already.

    >>> escape_path("/é[%2F")
    '/%C3%A9%5B%2F'
    """
    return NOT_IN_PATH.sub(_escape, text)


def escape_query(text: str) -> str:
    """Likewise for a query, which may hold question marks."""
    return NOT_IN_QUERY.sub(_escape, text)


def decode(text: str) -> str:
    """What a text says without its escapes; bytes that are no UTF-8 become U+FFFD.

    >>> decode("Great%20Pyramid+%C3%A9")
    'Great Pyramid+é'
    """
    return ESCAPES.sub(lambda found: bytes.fromhex(found[0].replace("%", "")).decode("utf-8", "replace"), text)


def remove_dot_segments(path: str) -> str:
    """RFC 3986, section 5.2.4, for an absolute path.

    >>> remove_dot_segments("/a/./b/../c"), remove_dot_segments("/a//b/.."), remove_dot_segments("/../x/.")
    ('/a/c', '/a//', '/x/')
    """
    kept: list[str] = []
    segments = path.split("/")[1:]
    for segment in segments:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    if segments and segments[-1] in (".", ".."):
        kept.append("")
    return "/" + "/".join(kept)


def _settle(found: re.Match[str]) -> str:
    if found[1] is None:
        return "%25"
    character = chr(int(found[1], 16))
    return character if character in UNRESERVED else found[0].upper()


def _escape(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8"))
