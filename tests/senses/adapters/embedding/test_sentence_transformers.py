"""Any sentence-transformers model by name. Needs torch: `make test-torch`."""

from pathlib import Path

import numpy as np
import pytest

from weighbeam.core.errors import WeighbeamError
from weighbeam.senses.adapters.model_files import find_minilm
from weighbeam.senses.local import LocalSenses, load_embedder

pytest.importorskip("sentence_transformers")

TEXTS = ["The tide turns.", "A violin is carved from maple and spruce, then varnished.", "Short.", "Short."]


@pytest.fixture(scope="module")
def embedder():
    return load_embedder(f"st:{find_minilm().weights.parent}", Path("unused"))


def test_it_agrees_with_the_built_in_embedder(embedder, senses: LocalSenses) -> None:
    theirs, ours = embedder.embed(TEXTS) / 1e6, senses.embedder.embed(TEXTS) / 1e6
    assert (theirs * ours).sum(axis=1).min() >= 0.9999
    assert embedder.dimensions == 384


def test_the_batch_around_a_text_does_not_change_its_vector(embedder) -> None:
    together = embedder.embed(TEXTS)
    assert np.array_equal(together, np.concatenate([embedder.embed([text]) for text in TEXTS]))


def test_a_model_that_is_not_there_is_named() -> None:
    with pytest.raises(WeighbeamError, match="no_such_model"):
        load_embedder("st:/no/such/model", Path("unused"))
