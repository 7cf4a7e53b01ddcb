"""What is seen of a page, and what is not."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbeam.core.text import normalise_text
from weighbeam.senses.adapters.pages.limits import ParserLimits
from weighbeam.senses.adapters.pages.outcome import PageTooLarge, PageUnreadable
from weighbeam.senses.adapters.pages.parsing.markup import is_hidden_by_style
from weighbeam.senses.adapters.pages.parsing.parse import ParsedPage, parse_page


def read(html: str, robots: str = "") -> ParsedPage:
    return parse_page(html.encode(), "text/html; charset=utf-8", robots)


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>H<sub>2</sub>O and <b>bo</b>ld, <a href=x>li</a>nk</p>", "H2O and bold, link"),
        ("<p>a</p><p>b</p>", "a\nb"),
        ("a<br>b<br/>c", "a\nb\nc"),
        ("<div>a<div>b</div>c</div>", "a\nb\nc"),
        ("<ul><li>a<li>b</ul>c", "a\nb\nc"),
        ("<table><tr><td>a<td>b<tr><th>c</table>", "a\nb\nc"),
        ("<p>one\n two\t three\n\n four", "one two three four"),
        ("<p>a <b> b </b> c", "a b c"),
        ("<pre>a\n  b\nc</pre>", "a\nb\nc"),
        ("so&shy;ft zero\u200bwidth ﬁ Ⅷ &nbsp; x", "soft zerowidth fi VIII x"),
        ("<p>e\u0301<b>e</b>\u0301", "éé"),
        ("a<script>b</script>c<style>d</style>e", "ace"),
        ("a<template><p>b</p></template>c", "ac"),
        ("<p>a<noscript><p>b</p></noscript>c", "ac"),
        ("a<iframe>b</iframe>c<object>d</object>e", "ace"),
        ("a<svg><text>b</text><title>t</title></svg>c", "ac"),
        ("a<textarea>b</textarea>c<select><option>d</select>e", "ace"),
        ("a<input value=b placeholder=c>d", "ad"),
        ("a<!-- b -->c", "ac"),
        ("a<del>b</del>c<s>d</s>e<strike>f</strike>g", "aceg"),
        ("a<p hidden>b</p>c", "a\nc"),
        ("a<span hidden=until-found>b</span>c", "ac"),
        ("a<span style='display:none'>b<i>c</i></span>d", "ad"),
        ("<title>T</title><p>a", "a"),
        ("<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>", "漢kan"),
        ("a<ins>b</ins><details>c<summary>d</summary></details>", "ab\nc\nd"),
        ("plain text without a tag", "plain text without a tag"),
        ("a<span style='display:block'>b</span>c", "a\nb\nc"),
        ("a<span style='color:red; Display: inline-flex'>b</span>c", "abc"),
        ("<span style='display:flex'>a</span><a style='display:table-cell'>b</a>", "a\nb"),
        ("<span style='display:block;float:left'>W</span>ord", "Word"),
        ("<span class=t>Ten for Travel</span><span class=s>HealthGrove</span>", "Ten for Travel HealthGrove"),
        ("<a class=x><b>Ten for Travel</b></a><a class=y><i>Health</i></a>", "Ten for Travel Health"),
        ("<h2><i class=t>Travel</i><i class=s>Health</i></h2>", "Travel Health"),
        ("<span class=t>Travel</span> <span class=s>Health</span>", "Travel Health"),
        ("<span>Java</span><span>Script</span> <b>W</b>ord Mac<b class=x>Donald</b>", "JavaScript Word MacDonald"),
        (
            "<span class=a>W</span><span class=b>ord</span> <i class=a>Na</i><i class=b>H</i><i class=c>C</i>",
            "Word NaHC",
        ),
        ("<i class=a>H</i><sub class=b>2</sub><i class=a>O</i> <i class=a>can</i><i class=b>not</i>", "H2O cannot"),
        ("<i class=a>2014</i><i class=b>News</i> <i class=a>TRAVEL</i><i class=b>Health</i>", "2014News TRAVELHealth"),
        ("&lt;b&gt; &amp;amp; &#x41; &bogus; &#xD800;", "<b> &amp; A &bogus; \ufffd"),
        ("a\x00b", "ab"),
        ("", ""),
    ],
)
def test_visible_text(html: str, text: str) -> None:
    assert read(html).text == text


HIDING = [
    "display:none",
    "DISPLAY : NONE !important",
    "visibility:hidden",
    "visibility:collapse",
    "opacity:0",
    "opacity:0.0",
    "opacity:0%",
    "opacity:.001",
    "font-size:0",
    "font-size:0px",
    "font-size:0.4px",
    "font:0/0 a",
    "font: 0 serif",
    "position:absolute;left:-9999px",
    "top:-5000px",
    "text-indent:-9999px",
    "text-indent:-100%",
    "margin-left:-3000px",
    "left:-200vw",
    "left:-99em",
    "clip:rect(0,0,0,0)",
    "clip:rect(1px,1px,1px,1px)",
    "clip-path:inset(100%)",
    "clip-path:inset(50%)",
    "transform:scale(0)",
    "transform:translateX(-9999px)",
    "transform:translate(0,-5000px)",
    "display:/*x*/none",
    "d\\69splay:none",
    "color:red;;display:none",
    "content-visibility:hidden",
    "right:-2000px;x",
]

SHOWING = [
    "display:block",
    "display:inline",
    "visibility:visible",
    "opacity:1",
    "opacity:.5",
    "font-size:12px",
    "font-size:0.8em",
    "font:12px/1.5 serif",
    "font:bold 10pt x",
    "left:-3px",
    "margin-left:-20px",
    "top:9999px",
    "text-indent:2em",
    "transform:scale(1)",
    "transform:translateX(-50%)",
    "clip:auto",
    "clip:rect(10px,20px,30px,40px)",
    "color:red",
    "none",
    "display",
    ":none",
    "/* display:none */",
]


@pytest.mark.parametrize("style", HIDING)
def test_styles_that_hide(style: str) -> None:
    assert is_hidden_by_style(style)


@pytest.mark.parametrize("style", SHOWING)
def test_styles_that_do_not(style: str) -> None:
    assert not is_hidden_by_style(style)


@given(st.text(max_size=200))
def test_no_style_breaks_the_reader(style: str) -> None:
    is_hidden_by_style(style)


def test_the_full_text_has_what_the_markup_hides() -> None:
    page = read(
        "<p>seen</p><p hidden>one</p><i style='display:none'>two</i><!-- three --><del>four</del><script>five</script>"
    )
    assert page.text == "seen"
    assert page.full is not None
    assert page.full.split() == ["seen", "one", "two", "three", "four"]
    assert read("<p>seen</p><script>five</script>").full is None


@pytest.mark.parametrize(
    ("html", "spans"),
    [
        ("<p>article</p><div class='comments-area'><p>first</p><p>second</p></div><p>end", ["first\nsecond"]),
        ("<ol class=commentlist><li id=comment-1>a<li id=comment-2>b</ol>", ["a\nb"]),
        ("<div role=comment>a</div>b<div id=disqus_thread>c</div>", ["a", "c"]),
        ("<div class=forumPost>ﬁ a</div>ﬃ<div class='x Reply'>e\u0301</div>", ["fi a", "é"]),
        ("one <span class=reply>two</span> three", ["two"]),
        ("<div class=comment hidden>a</div>b", []),
        ("<body class='comments-open has-comments'><a class=comments-link>3</a><p class=commentary>x", []),
        ("<article class=post><div class=post-body>x</div></article>", []),
        ("<div class=comment>e</div>\u0301 x", ["e"]),
        ("<p>head<main><div class=postContent><p>the article itself</div></main>", []),
        ("<p>head<div class=postbody><p>the article itself</div>", []),
        ("<p>head<div class=PostBody>the article itself<div class=postContent>all of it</div></div>", []),
        (
            "<div class=postContent><p>the article itself, long<ol class=comments><li>well</ol></div>"
            "<div class=reply>a long reply that is as long as the article</div>",
            ["well", "a long reply that is as long as the article"],
        ),
        ("<div class=postcontent>first of two</div><div class=postcontent>second</div>", ["first of two", "second"]),
        ("<div class=postContent>one tweet</div><div class=postContent>two</div>", ["one tweet", "two"]),
        ("<p>an article that is longer<div class=postbody>a word</div>", ["a word"]),
        ("<body class='section-viewtopic'><div class=postbody>the only post of it</div>", ["the only post of it"]),
        ("<div id=forum-nav>nav</div><div class=postContent>the only post of it</div>", ["nav", "the only post of it"]),
        ("<div class=comment>a page of nothing but a comment</div>", ["a page of nothing but a comment"]),
        ("<main class=replies><div class=reply>all of it</div></main>", ["all of it"]),
    ],
)
def test_user_spans(html: str, spans: list[str]) -> None:
    page = read(html)
    assert [page.text[begin:end].strip() for begin, end in page.user_spans] == spans


@given(st.lists(st.tuples(st.sampled_from(["p", "i", "div", "br"]), st.booleans(), st.text(max_size=12)), max_size=12))
def test_text_is_clean_and_spans_lie_inside(parts: list[tuple[str, bool, str]]) -> None:
    html = "".join(f"<{tag} {'class=comment' if user else ''}>{text}</{tag}>" for tag, user, text in parts)
    page = parse_page(html.encode("utf-8", "replace"), "text/html; charset=utf-8")
    assert normalise_text(page.text) == page.text
    assert all(0 <= begin < end <= len(page.text) for begin, end in page.user_spans)
    assert page.text_sha256 == hashlib.sha256(page.text.encode()).hexdigest()


def test_title_and_headings() -> None:
    page = read("<title> Search\n ﬁne </title><h1>Results <i>for</i><br>x</h1><h2 hidden>no</h2><h3></h3><h6>last</h6>")
    assert page.title == "Search fine"
    assert page.headings == ("Results for x", "last")


@pytest.mark.parametrize(
    ("html", "filled"),
    [
        ("<input type=search value=cats>", True),
        ("<input type=search>", False),
        ("<input type=search value=' '>", False),
        ("<input name=q value=cats>", True),
        ("<form action=/search><input name=x value=cats></form>", True),
        ("<form role=search><div><input type=text value=cats></div></form>", True),
        ("<search><input value=cats></search>", True),
        ("<form action=/search><input type=submit value=Search></form>", False),
        ("<form action=/search><input type=hidden name=q value=x></form>", False),
        ("<form action=/subscribe><input name=email value=x></form>", False),
        ("<input value=x>", False),
    ],
)
def test_a_filled_search_box(html: str, filled: bool) -> None:
    assert read(html).search_box is filled


@pytest.mark.parametrize(
    ("html", "robots", "expected"),
    [
        ("<meta name=robots content='noindex, follow'>", "", True),
        ("<meta name=ROBOTS content=NONE>", "", True),
        ("<meta name=googlebot content=noindex>", "", True),
        ("<meta name=robots content='index,follow'>", "", False),
        ("<meta name=description content=noindex>", "", False),
        ("", "noindex", True),
        ("", "googlebot: noindex, nofollow", True),
        ("", "noarchive", False),
    ],
)
def test_noindex(html: str, robots: str, expected: bool) -> None:
    assert read(f"{html}<p>x", robots).noindex is expected


@pytest.mark.parametrize(
    ("html", "date"),
    [
        ("<meta property=article:published_time content=2024-05-06T07:08:09Z>", "2024-05-06"),
        ("<meta name=DC.date content=2024/05/06>", "2024-05-06"),
        ("<meta itemprop=datePublished content=20240506>", "2024-05-06"),
        ('<script type="application/ld+json">{"datePublished": "2023-01-02T00:00"}</script>', "2023-01-02"),
        ("<time datetime=2022-02-03>x</time>", "2022-02-03"),
        ("<meta name=date content=2024-13-45><time datetime=2022-02-03>x</time>", "2022-02-03"),
        ("<time>yesterday</time>", None),
    ],
)
def test_dates(html: str, date: str | None) -> None:
    assert read(html).date == date


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"\xef\xbb\xbfna\xc3\xafve", "text/html; charset=windows-1251"),
        ("naïve".encode("utf-16"), "text/html"),
        (b"\xfe\xff" + "naïve".encode("utf-16-be"), "text/html; charset=utf-8"),
        ("naïve".encode("latin-1"), "text/html; charset=ISO-8859-1"),
        ("naïve".encode(), 'text/html; charset="UTF-8"'),
        (b"<meta charset=iso-8859-1>na\xefve", "text/html"),
        (b"<meta http-equiv=x content='text/html; charset=latin1'>na\xefve", "text/html"),
        ("<meta charset=utf-16>naïve".encode(), "text/html"),
        ("<meta charset=windows-1251>naïve".encode(), "text/html; charset=utf-8"),
        ("naïve".encode(), "text/html"),
        (b"na\xefve", "text/html"),
        (b"na\xefve", "text/html; charset=utf-7"),
        (b"na\xefve", "text/html; charset=rot13"),
        ("naïve".encode(), "text/html; charset=unicode_escape"),
        ("naïve".encode(), "text/html; charset=../../etc/passwd"),
        ("naïve".encode(), "text/plain"),
    ],
)
def test_charsets(body: bytes, content_type: str) -> None:
    assert parse_page(body, content_type).text == "naïve"


def test_a_wrong_charset_is_legible_where_it_can_be() -> None:
    assert parse_page("naïve".encode("latin-1"), "text/html; charset=utf-8").text == "na\ufffdve"
    assert parse_page(b"+ADw-script+AD4-", "text/html; charset=utf-7").text == "+ADw-script+AD4-"


def test_plain_text_is_itself() -> None:
    page = parse_page(b"<b>one</b>\r\n\r\n  two\rthree", "text/plain")
    assert page.text == "<b>one</b>\ntwo\nthree"
    assert (page.title, page.full, page.user_spans) == ("", None, ())


def test_limits_of_the_tree() -> None:
    limits = ParserLimits(depth=20, nodes=100, characters=50)
    for html, error in (
        ("<i>" * 30 + "x", PageUnreadable),
        ("<p></p>" * 120, PageUnreadable),
        ("<p>" + "x" * 60, PageTooLarge),
    ):
        with pytest.raises(error):
            parse_page(html.encode(), "text/html", limits=limits)
    with pytest.raises(PageTooLarge):
        parse_page(b"<p>x<p hidden>" + b"y" * 60, "text/html", limits=limits)
    assert parse_page(b"<p>" + b"x" * 50, "text/html", limits=limits).text == "x" * 50
