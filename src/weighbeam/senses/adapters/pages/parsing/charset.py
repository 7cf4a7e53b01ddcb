"""Bytes to characters: BOM, header, meta, UTF-8, windows-1252, in this order.

Labels are read as browsers read them. A label that is none of a page's encodings (UTF-7 among them, with which a page
would say one thing to a filter and another to a reader) counts as absent.
"""

import codecs
import re
from collections.abc import Mapping

BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
META_BYTES = 1_024
META = re.compile(rb"""<meta[^>]{0,500}?charset\s*=\s*["']?\s*([-\w:.]{1,40})""", re.IGNORECASE)
HEADER = re.compile(r"""charset\s*=\s*["']?\s*([-\w:.]{1,40})""", re.IGNORECASE)

LABELS: Mapping[str, str] = {
    label: codec
    for codec, labels in {
        "utf-8": "utf-8 utf8 unicode-1-1-utf-8",
        "utf-16-le": "utf-16 utf-16le",
        "utf-16-be": "utf-16be",
        "cp1252": "windows-1252 cp1252 iso-8859-1 iso8859-1 latin1 latin-1 l1 us-ascii ascii",
        "cp1250": "windows-1250 cp1250",
        "cp1251": "windows-1251 cp1251",
        "cp1253": "windows-1253 cp1253",
        "cp1254": "windows-1254 cp1254 iso-8859-9 latin5",
        "cp1255": "windows-1255 cp1255",
        "cp1256": "windows-1256 cp1256",
        "cp1257": "windows-1257 cp1257",
        "cp1258": "windows-1258 cp1258",
        "cp874": "windows-874 tis-620 iso-8859-11",
        "iso8859-2": "iso-8859-2 latin2",
        "iso8859-3": "iso-8859-3 latin3",
        "iso8859-4": "iso-8859-4 latin4",
        "iso8859-5": "iso-8859-5",
        "iso8859-6": "iso-8859-6",
        "iso8859-7": "iso-8859-7",
        "iso8859-8": "iso-8859-8 iso-8859-8-i",
        "iso8859-10": "iso-8859-10 latin6",
        "iso8859-13": "iso-8859-13",
        "iso8859-14": "iso-8859-14",
        "iso8859-15": "iso-8859-15 latin9",
        "iso8859-16": "iso-8859-16",
        "koi8-r": "koi8-r",
        "koi8-u": "koi8-u",
        "gb18030": "gb18030 gbk gb2312 x-gbk",
        "big5hkscs": "big5 big5-hkscs",
        "euc_jp": "euc-jp",
        "cp932": "shift_jis shift-jis sjis windows-31j",
        "iso2022_jp": "iso-2022-jp",
        "cp949": "euc-kr ks_c_5601-1987 windows-949",
    }.items()
    for label in labels.split()
}


def load_codecs() -> None:
    """Load every codec now, for a process that will not be able to open files."""
    for codec in set(LABELS.values()):
        codecs.lookup(codec)


def decode_text(body: bytes, content_type: str, html: bool = True) -> str:
    """The characters of a body; what cannot be decoded becomes U+FFFD.

    >>> decode_text("naïve".encode("latin-1"), "text/html")
    'naïve'
    """
    for bom, codec in BOMS:
        if body.startswith(bom):
            return body[len(bom) :].decode(codec, "replace")
    named = HEADER.search(content_type)
    codec = LABELS.get(named[1].lower(), "") if named else ""
    if not codec and html:
        codec = _find_meta(body)
    if codec:
        return body.decode(codec, "replace")
    try:
        return body.decode()
    except UnicodeDecodeError:
        return body.decode("cp1252", "replace")


def _find_meta(body: bytes) -> str:
    """The encoding a page names inside; UTF-16 cannot be true where ASCII could be read."""
    found = META.search(body[:META_BYTES])
    codec = LABELS.get(found[1].decode("ascii", "replace").lower(), "") if found else ""
    return "utf-8" if codec.startswith("utf-16") else codec
