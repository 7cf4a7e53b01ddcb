"""A cluster's senses are this machine's: the same names, and the same results to the bit."""

from dataclasses import replace

import numpy as np
import pytest

from senses.adapters.cluster.nodes import need_ray
from senses.adapters.cluster.trades import LoopbackPages, open_pages
from senses.adapters.pages.tls_servers import AUTHORITY, PATIENT, page, redirect, serve_site
from weighbeam.core.errors import WeighbeamError
from weighbeam.senses.adapters.cluster.senses import ClusterEmbedder, ClusterEntailment, ClusterPages, check_spread
from weighbeam.senses.adapters.pages.archive.pages import ArchivePages
from weighbeam.senses.adapters.pages.live import LiveSettings
from weighbeam.senses.local import LocalSenses

need_ray()
pytestmark = pytest.mark.alone

TEXTS = ["", "Light.", *(f"Sentence {i} of a text that is {'very ' * (i % 23)}long." for i in range(70))]
PAIRS = [(premise, hypothesis) for premise in TEXTS[:12] for hypothesis in TEXTS[2:5]]


def test_vectors_and_verdicts_are_equal_to_the_bit(join, cache) -> None:
    cluster = join(min_workers=1, max_workers=1)
    here = LocalSenses(cache=cache, remember=False, workers=1)
    there = LocalSenses(cache=cache, remember=False, workers=1, cluster=cluster)
    assert isinstance(there.embedder.inner, ClusterEmbedder)
    assert isinstance(there.entailment.inner, ClusterEntailment)
    for sense in (there.embedder.inner, there.entailment.inner):
        check_spread(sense)
    mine, theirs = here.embedder, there.embedder
    assert (mine.id, mine.digest, mine.dimensions) == (theirs.id, theirs.digest, theirs.dimensions)
    assert np.array_equal(mine.embed(TEXTS), theirs.embed(TEXTS))
    assert theirs.inner.embed([]).shape == (0, mine.dimensions)
    assert (here.entailment.id, here.entailment.digest) == (there.entailment.id, there.entailment.digest)
    assert np.array_equal(here.entailment.judge(PAIRS), there.entailment.judge(PAIRS))
    assert cluster.count_workers(there.embedder.inner.steady.terms.key).ready == 1
    assert cluster.look()["cpus"] == 2
    with pytest.raises(WeighbeamError) as fault:
        there.embedder.inner.embed(["\ud800"])
    with pytest.raises(WeighbeamError) as mine_too:
        here.embedder.inner.embed(["\ud800"])
    assert str(fault.value) == str(mine_too.value)


def test_live_pages_are_read_by_the_cluster_as_they_are_here(join) -> None:
    paths = {
        "/": page("<title>Known</title><p>Light is <b>fast</b>.</p><p hidden>no</p>"),
        "/old": redirect("https://news.example.org/"),
        "/zero": page("\x00" * 9, "Content-Type: application/pdf"),
    }
    hosts = ("www.example.org", "news.example.org", "blog.example.net")
    urls = [f"https://{host}{path}" for host in hosts for path in ("/", "/old", "/zero", "/none")]
    urls += [urls[0], "http://www.example.org/", "no url", "https://[broken/"]
    with serve_site(paths) as site:
        spec = LoopbackPages(
            LiveSettings(limits=PATIENT, probe_urls=()), port=site.port, authority=AUTHORITY.cert_pem.bytes().decode()
        )
        local = open_pages(spec)
        spread = ClusterPages(join(), spec, local)
        check_spread(spread)
        here, asked = local.read_all(urls), len(site.requests)
        there = spread.read_all(urls)
        assert [replace(one, seconds={}) for one in there] == [replace(one, seconds={}) for one in here]
        assert len(site.requests) == 2 * asked
        assert {one.outcome for one in there} >= {"read", "gone", "not_text", "refused"}
        local.close()


def test_what_was_saved_is_read_here_and_keys_stay_here(join, tmp_path) -> None:
    from weighbeam.mechanisms.evidence.task import find_archive
    from weighbeam.senses.adapters.cluster.models import is_spread

    senses = LocalSenses(pages=f"archive:{find_archive()}", cluster=join())
    assert isinstance(senses.pages, ArchivePages)
    assert senses.ages is senses.pages
    assert not is_spread("openai:m@https://a.example")
