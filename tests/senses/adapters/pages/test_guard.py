"""No socket but to a checked address: every disguise of an internal address, direct and behind a redirect."""

import asyncio
from collections.abc import Iterator, Sequence

import pytest

from senses.adapters.pages.tls_servers import (
    LOOPBACK,
    QUICK,
    Network,
    Site,
    page,
    reading,
    redirect,
    serve_site,
    watching_sockets,
)
from weighbeam.core.addresses import is_public
from weighbeam.senses.adapters.pages.live import LivePages
from weighbeam.senses.adapters.pages.parsing.parsers import ParserPool

INTERNAL = """
0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.254 127.0.0.1 127.0.0.53 127.255.255.254 169.254.0.1
169.254.169.254 169.254.170.2 172.16.0.1 172.31.255.255 192.0.0.1 192.0.0.170 192.0.0.192 192.0.2.1 192.88.99.1
192.168.0.1 192.168.255.255 198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.9 224.0.0.1 239.255.255.250 240.0.0.1
255.255.255.255 :: ::1 ::7f00:1 ::127.0.0.1 ::10.0.0.1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254
::ffff:8.8.8.8 ::ffff:0:127.0.0.1 64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b::808:808 64:ff9b:1::1 64:ff9b:1:abcd::1
100::1 2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:2::1 2001:10::1 2001:20::1 2001:db8::1 2002:7f00:1::
2002:a9fe:a9fe::1 2002:808:808::1 3fff::1 5f00::1 fc00::1 fd00:ec2::254 fd12:3456::1 fe80::1 fe80::1%eth0 febf::1
fec0::1 feff::1 ff02::1 ff0e::1 4000::1 1::1 2606:4700::1%eth0
""".split()

DISGUISED = """
https://127.0.0.1/ https://127.1/ https://127.0.1/ https://2130706433/ https://017700000001/ https://0177.0.0.1/
https://0x7f000001/ https://0x7f.0.0.1/ https://0x7f.1/ https://0X7F.0x0.0x0.0x1/ https://127.0.0.1./
https://127.000.000.001/ https://127.0.0.0x1/ https://0/ https://0.0.0.0/ https://169.254.169.254/latest/meta-data/
https://2852039166/ https://0xa9fea9fe/ https://0251.0376.0251.0376/ https://169.254.43518/ https://10.0.0.1/
https://192.168.1.1/ https://100.64.0.1/ https://8.8.8.8/ https://1.1/ https://255.255.255.255/ https://99999999999/
https://1.2.3.4.5/ https://example.0x/ https://example.123/ https://[::1]/ https://[::]/ https://[::ffff:127.0.0.1]/
https://[::ffff:7f00:1]/ https://[::127.0.0.1]/ https://[64:ff9b::7f00:1]/ https://[2002:7f00:1::]/
https://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/ https://[fe80::1%25eth0]/ https://[fe80::1%eth0]/
https://[fd00:ec2::254]/ https://[2606:4700::1111]/ https://[v1.x]/ https://[::1/ https://::1/ https://[]/
https://[127.0.0.1]/ https://localhost/ https://LOCALHOST/ https://localhost./ https://intranet/ https://a.localhost/
https://printer.local/ https://metadata.google.internal/ https://metadata/ https://x.onion/
https://1.0.0.127.in-addr.arpa/ https://user@example.org/ https://user:secret@example.org/
https://example.org@127.0.0.1/ https://127.0.0.1@example.org/ https://example.org%40127.0.0.1/
https://example.org%2f@127.0.0.1/ https://%31%32%37.0.0.1/ https://127%2e0.0.1/ https://example.org:80/
https://example.org:8443/ https://example.org:22/ https://example.org:0/ https://example.org:65536/
https://example.org:443443/ https://example.org:443:80/ https://example.org:-443/ https://example.org:4４3/
https://example.org:443@127.0.0.1/ https://@example.org/ https:///example.org/ https:example.org https:/example.org/
https:// https://. https://.. https://.example.org/ https://a..example.org/ https://exa_mple.org/ https://-a.org/
http://example.org/ HTTP://example.org/ ftp://example.org/ file:///etc/passwd gopher://example.org:70/_x
data:text/html,x javascript:alert(1) ws://example.org/ wss://example.org/ dict://example.org:11211/
ldap://example.org/ jar:https://example.org!/ //example.org/ /etc/passwd example.org view-source:https://example.org/
blob:https://example.org/1 https://１２７.0.0.1/ https://①②⑦.⓪.⓪.①/ https://127。0。0。1/ https://127．0．0．1/
https://ⓛocalhost/ https://０x7f000001/
""".split()

ODD = [
    "https://example.org\\@127.0.0.1/",
    "https:\\\\example.org/",
    "https://example.org\\.127.0.0.1/",
    "https://exa mple.org/",
    "https://example.org\t.internal/",
    "https://example.org\r\nHost: 127.0.0.1/",
    "https://example.org/\x00",
    "https://example.org/a\x7fb",
    "https://example.org/a b",
    "https://example.org/\u2028",
    "https://example.org/\x85",
    "https://exam\ud800ple.org/",
    "https://example.org/" + "a" * 2_048,
    "https://" + "a." * 130 + "org/",
    "https://" + "a" * 64 + ".org/",
    "https://xn--/",
    "https://xn--a.org/",
    "https://\u202eexample.org/",
    "",
    " ",
]

URLS = [*DISGUISED, *ODD]

REDIRECTED = [
    *(
        url
        for url in URLS
        if url.isascii() and url.isprintable() and url.strip() and " " not in url and "\\" not in url
    ),
    "//127.0.0.1/",
    "//localhost/x",
    "///127.0.0.1/",
    "https://example.org\\@127.0.0.1/",
    "\\\\127.0.0.1\\x",
]
RELATIVE = ("/etc/passwd", "example.org", "//example.org/")


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with serve_site({"/": page("<p>fine</p>")}) as running:
        yield running


@pytest.fixture(scope="module")
def network(site: Site) -> Network:
    return Network(site.port)


@pytest.fixture(scope="module")
def pages(network: Network, parsers: ParserPool) -> Iterator[LivePages]:
    with reading(network, parsers) as live:
        yield live


@pytest.fixture
def closed(network: Network) -> Iterator[Network]:
    """Fails the test if anything was dialled or looked up."""
    network.dialled.clear()
    network.asked.clear()
    with watching_sockets() as watch:
        yield network
    assert network.dialled == []
    assert watch.connected == []
    assert watch.looked_up == []


@pytest.mark.parametrize("url", URLS)
def test_a_url_in_disguise_opens_nothing(url: str, pages: LivePages, closed: Network) -> None:
    read = pages.read(url)
    assert (read.outcome, len(read.hops)) == ("refused", 1)
    assert read.fault in ("malformed_url", "non_https", "forbidden_target")
    assert closed.asked == []


@pytest.mark.parametrize("address", [address for address in INTERNAL if address != LOOPBACK])
def test_a_name_of_an_internal_address_opens_nothing(address: str, pages: LivePages, closed: Network) -> None:
    """Alone, and beside a good address on either side."""
    assert not is_public(address)
    for number, addresses in enumerate(([address], [LOOPBACK, address], [address, LOOPBACK], ["8.8.8.8", address])):
        host = f"bad{number}.example.org"
        closed.names[host] = addresses
        read = pages.read(f"https://{host}/")
        assert (read.outcome, read.fault) == ("refused", "address")
        assert closed.asked.count(host) == 1, "looked up once"
        closed.asked.clear()


@pytest.mark.parametrize("location", [url for url in REDIRECTED if url not in RELATIVE])
def test_a_redirect_in_disguise_is_not_followed(location: str, site: Site, network: Network, pages: LivePages) -> None:
    site.paths["/away"] = redirect(location)
    network.dialled.clear()
    with watching_sockets() as watch:
        read = pages.read("https://www.example.org/away")
    assert (read.outcome, len(read.hops)) == ("refused", 2)
    assert read.hops[0].status == 302
    assert read.hops[1].status is None
    assert network.dialled == [LOOPBACK]
    assert set(watch.connected) == {(LOOPBACK, site.port)}


@pytest.mark.parametrize("address", [address for address in INTERNAL if address != LOOPBACK])
def test_a_redirect_to_a_name_of_an_internal_address_is_not_followed(
    address: str, site: Site, network: Network, pages: LivePages
) -> None:
    network.names["inside.example.org"] = [address]
    site.paths["/inside"] = redirect("https://inside.example.org/")
    network.dialled.clear()
    with watching_sockets() as watch:
        read = pages.read("https://www.example.org/inside")
    assert (read.outcome, read.fault, read.url) == ("refused", "address", "https://inside.example.org/")
    assert network.dialled == [LOOPBACK]
    assert set(watch.connected) == {(LOOPBACK, site.port)}


PUBLIC = "8.8.8.8 1.1.1.1 93.184.216.34 2606:4700:4700::1111 2001:4860:4860::8888 2a00:1450::1 2400::1".split()


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_public(address: str) -> None:
    assert is_public(address)


def test_what_is_no_address_is_not_public() -> None:
    assert not any(
        map(is_public, ("", "localhost", "127.1", "0x7f.1", "2130706433", "8.8.8.8:443", "[::1]", "8.8.8.8/32"))
    )


def test_a_name_that_changes_its_mind_gains_nothing(site: Site, parsers: ParserPool) -> None:
    """The first answer is checked and used; a second look-up, which would lead inside, does not happen."""

    class Rebinding(Network):
        async def resolve(self, host: str, port: int) -> Sequence[str]:
            self.asked.append(host)
            return [LOOPBACK] if len(self.asked) == 1 else ["169.254.169.254"]

    network = Rebinding(site.port)
    with watching_sockets() as watch, reading(network, parsers) as live:
        assert live.read("https://rebind.example.org/").outcome == "read"
        assert network.asked == ["rebind.example.org"]
        assert live.read("https://rebind.example.org/").outcome == "refused"
    assert watch.connected == [(LOOPBACK, site.port)]
    assert watch.looked_up == []


def test_a_redirect_to_itself_is_looked_up_anew_and_refused_when_the_name_moved_inside(
    site: Site, parsers: ParserPool
) -> None:
    class Rebinding(Network):
        async def resolve(self, host: str, port: int) -> Sequence[str]:
            self.asked.append(host)
            return [LOOPBACK] if len(self.asked) == 1 else ["10.0.0.1"]

    site.paths["/again"] = redirect("/again2")
    network = Rebinding(site.port)
    with watching_sockets() as watch, reading(network, parsers) as live:
        assert live.read("https://rebind.example.org/again").outcome == "refused"
    assert watch.connected == [(LOOPBACK, site.port)]


def test_another_peer_than_the_checked_one_is_hung_up_on(site: Site, parsers: ParserPool) -> None:
    """A connector that is led astray: checked is a public address, reached is loopback."""
    network = Network(site.port, {"www.example.org": ["8.8.8.8"]})

    async def astray(address: str, port: int):
        return await Network.connect(network, LOOPBACK, port)

    guard = network.guard(allowed=())
    guard = type(guard)(network.resolve, astray, guard.context)
    before = len(site.requests)
    with reading(network, parsers, guard=guard) as live:
        read = live.read("https://www.example.org/")
    assert (read.outcome, read.fault) == ("refused", "peer")
    assert len(site.requests) == before


def test_by_default_not_even_loopback_is_allowed(site: Site, parsers: ParserPool) -> None:
    network = Network(site.port)
    with watching_sockets() as watch, reading(network, parsers, guard=network.guard(allowed=())) as live:
        assert live.read("https://www.example.org/").outcome == "refused"
    assert watch.connected == []


def test_a_name_without_address_is_unreachable(site: Site, parsers: ParserPool) -> None:
    network = Network(site.port, {"none.example.org": []})
    with reading(network, parsers) as live:
        assert live.read("https://none.example.org/").outcome == "unreachable"


def test_a_name_server_that_hangs_costs_the_time_to_connect(site: Site, parsers: ParserPool) -> None:
    class Hanging(Network):
        async def resolve(self, host: str, port: int) -> Sequence[str]:
            await asyncio.sleep(60)
            return []

    with reading(Hanging(site.port), parsers, QUICK) as live:
        read = live.read("https://slow.example.org/")
    assert (read.outcome, read.fault) == ("unreachable", "connect_timeout")


def test_the_system_resolver_gives_each_address_once() -> None:
    from weighbeam.senses.adapters.pages.web.guard import look_up_host

    found = list(asyncio.run(look_up_host("localhost", 443)))
    assert found
    assert len(found) == len(set(found))
    assert not any(map(is_public, found))


def test_every_host_that_is_fine_is_read_under_one_name(site: Site, pages: LivePages) -> None:
    for url in (
        "https://WWW.Example.ORG/",
        "https://www.example.org.:443/",
        "https://ｗｗｗ.example.org/#x",
        "https://www.example。org:/",
    ):
        assert pages.read(url).outcome == "read", url
        assert site.requests[-1].host == "www.example.org"
